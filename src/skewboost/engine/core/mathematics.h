// Logarithm and exponential that give the same bits on every machine; those of C libraries differ between systems and
// processors. They use plain arithmetic in a fixed order and are accurate to about one unit in the last place.
#pragma once
#include "base.h"

namespace skew {

inline double square_root(double x) {
    return __builtin_sqrt(x);
}  // correctly rounded on all platforms
inline double floor_of(double x) {
    return __builtin_floor(x);
}

inline uint64_t bits_of(double x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}
inline double from_bits(uint64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

constexpr double LN2_HIGH = 0x1.62e42fefa3800p-1;  // its low bits are zero, so small multiples are exact
constexpr double LN2_LOW = 0x1.ef35793c76730p-45;

// ln x = e ln 2 + ln m with m in [√½, √2), and ln m = 2 atanh(s) with s = (m - 1)/(m + 1).
inline double log_of(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -INFINITE : __builtin_nan("");
    if (x == INFINITE) return x;
    int64_t e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t b = bits_of(x);
    e += int64_t(b >> 52) - 1023;
    double m = from_bits((b & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e += 1;
    }
    double f = m - 1.0, s = f / (2.0 + f), q = s * s;
    double series =
        q * (2.0 / 3 +
             q * (2.0 / 5 +
                  q * (2.0 / 7 +
                       q * (2.0 / 9 + q * (2.0 / 11 +
                                           q * (2.0 / 13 +
                                                q * (2.0 / 15 + q * (2.0 / 17 + q * (2.0 / 19 + q * (2.0 / 21))))))))));
    // 2s + s·series, computed as f - (f²/2 - s (f²/2 + series)), which keeps all digits of f
    double half = 0.5 * f * f;
    double k = double(e);
    return k * LN2_HIGH - ((half - (s * (half + series) + k * LN2_LOW)) - f);
}

// exp x = 2^k exp r with |r| <= ln 2 / 2.
inline double exp_of(double x) {
    if (x != x) return x;
    if (x > 709.782712893384) return INFINITE;
    if (x < -745.2) return 0.0;
    double k = floor_of(x * 1.4426950408889634 + 0.5);
    double high = x - k * LN2_HIGH, low = k * LN2_LOW;
    double r = high - low;
    double q = r * r;
    // r coth(r/2) = 2 + q/6 - q²/360 + …; exp r = 1 + 2r / (r coth(r/2) - r)
    double c = r - q * (1.0 / 6 - q * (1.0 / 360 - q * (1.0 / 15120 - q * (1.0 / 604800 - q * (1.0 / 23950080)))));
    double y = 1.0 - ((low - r * c / (2.0 - c)) - high);
    int64_t n = int64_t(k);
    if (n > 1023) return y * 0x1p1023 * from_bits(uint64_t(n - 1023 + 1023) << 52);
    if (n < -1021) return y * from_bits(uint64_t(n + 1077) << 52) * 0x1p-54;
    return y * from_bits(uint64_t(n + 1023) << 52);
}

}  // namespace skew
