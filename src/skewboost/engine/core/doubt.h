// Whether rounding could have changed the choice of a split, given bounds on the errors of a derived histogram.
#pragma once
#include "scan.h"

namespace skew {

constexpr double STEEPEST = 98715.77101076044;  // e^LONGEST_STEP: how many times a wrong weight can count after a step

// How far a leaf's loss can be off when its sums are off by e0 and e1.
template <class C>
double wobble(const C& c, double a, double b, double e0, double e1, int sign) {
    double v = c.leaf(a, b, sign);
    double low0 = most(a - e0, 0.0), low1 = C::squares ? b - e1 : most(b - e1, 0.0);
    double up = size_of(c.leaf(a + e0, b + e1, sign) - v), down = size_of(c.leaf(low0, low1, sign) - v);
    double one = size_of(c.leaf(a + e0, low1, sign) - v), other = size_of(c.leaf(low0, b + e1, sign) - v);
    return most(most(up, down), most(one, other));
}

// The same of a split that takes one step: its loss grows with every sum.
inline double step_wobble(const OfCostStep& c, double a0, double a1, double b0, double b1, double e0, double e1,
                          int sign) {
    double v = split_loss(c, a0, a1, b0, b1, sign, INFINITE);
    double up = split_loss(c, a0 + e0, a1 + e1, b0 + e0, b1 + e1, sign, INFINITE) - v;
    a0 = most(a0 - e0, 0.0), a1 = most(a1 - e1, 0.0), b0 = most(b0 - e0, 0.0), b1 = most(b1 - e1, 0.0);
    return most(up, v - split_loss(c, a0, a1, b0, b1, sign, INFINITE));
}

// How far a candidate's criterion can be off: its left side has a0, a1 of the node's t0, t1.
template <class C>
double candidate_error(const C& c, double a0, double a1, double t0, double t1, double e0, double e1) {
    double b0 = most(t0 - a0, 0.0), b1 = C::squares ? t1 - a1 : most(t1 - a1, 0.0);
    if constexpr (C::step) {
        return most(step_wobble(c, a0, a1, b0, b1, e0, e1, 1), step_wobble(c, a0, a1, b0, b1, e0, e1, -1));
    } else {
        double plus = wobble(c, a0, a1, e0, e1, -1) + wobble(c, b0, b1, e0, e1, 1);
        double minus = wobble(c, a0, a1, e0, e1, 1) + wobble(c, b0, b1, e0, e1, -1);
        return most(plus, minus);
    }
}

// Bounds how far errors can move any two candidates of a node towards each other; `size` is its weight.
template <class C>
double reach_of(const C&, double size, double e0, double e1) {
    if constexpr (C::step)  // J grows with a wrong weight by e^(cx) times that, with others by no more than it
        return 2.0 * (STEEPEST + 2.0) * (e0 + e1);
    else
        return 100.0 * (e0 + e1) + 8.0 * square_root((e0 + e1) * size);
}
// With r = C+ (b + δ) / (C- (a + δ)), the loss of a leaf grows with a by at most 2 r^(1 - share), apart from multiples
// of a. That is most where a is least, and its first e0 add up to no more than 2 e0 r^(1 - share) / share with a + δ =
// max(e0, δ). Likewise for b, and four leaves.
inline double reach_of(const OfCostLoss& c, double size, double e0, double e1) {
    double reach = 100.0 * (e0 + e1), largest = size + c.delta;
    if (e0 > 0.0) reach += 8.0 * e0 * exp_of((1.0 - c.share) * log_of(c.ratio * largest / most(e0, c.delta))) / c.share;
    if (e1 > 0.0) reach += 8.0 * e1 * exp_of(c.share * log_of(largest / most(e1, c.delta) / c.ratio)) / (1.0 - c.share);
    return reach;
}

// What categories are sorted by, p or the mean response, and how far errors can have moved it.
template <class C>
void share_of(double a, double b, double e0, double e1, double& p, double& off) {
    double w = C::weight(a, b);
    p = b / w;
    off = (C::squares ? e1 + size_of(p) * e0 : e0 + e1) / w;
}

// Infinite if errors might lift a candidate of a feature over the chosen one, else the error of candidate `own`.
// Candidates before `own` must surely lie above `floor_before`, those after it above `floor_after`; those above `band`
// are too far away to look at.
template <class C>
double doubt(const C& c, const Scan& s, const Cells& f, const Request& request, double e0, double e1, int own,
             double own_error, double band, double floor_before, double floor_after) {
    if (f.nominal && s.order[0] < 0) return INFINITE;  // subsets were enumerated, and only the best of them is known
    double m0 = f.h0[MISSING], m1 = f.h1[MISSING];
    double t0 = sum_of(f.h0, MISSING) + (request.learn ? m0 : 0.0);
    double t1 = sum_of(f.h1, MISSING) + (request.learn ? m1 : 0.0);
    double rest_error = request.learn || C::squares ? 0.0 : e0 + e1;
    bool either_side = request.learn && !f.nominal && (m0 != 0.0 || m1 != 0.0);
    double lowest_beyond[N_CODES + 1];  // how low the p of any category from each place in the order on could be
    if (f.nominal) {
        lowest_beyond[N_CODES] = INFINITE;
        int m = 0;
        while (m < N_CODES && s.order[m] >= 0) ++m;
        for (int k = N_CODES - 1; k >= 0; --k) {
            lowest_beyond[k] = lowest_beyond[k + 1];
            if (k < m) {
                double p, off;
                share_of<C>(f.h0[s.order[k]], f.h1[s.order[k]], e0, e1, p, off);
                lowest_beyond[k] = least(lowest_beyond[k], p - off);
            }
        }
    }
    double a0 = 0.0, a1 = 0.0, error_of_own = 0.0, highest = -INFINITE;
    for (int k = 0; k < N_THRESHOLDS; ++k) {
        int code = f.nominal ? s.order[k] : k;
        if (code < 0) break;
        a0 += f.h0[code];
        a1 += f.h1[code];
        if (f.nominal) {
            double p, off;
            share_of<C>(f.h0[code], f.h1[code], e0, e1, p, off);
            highest = most(highest, p + off);
        }
        if (s.value[k] > band) continue;
        if (f.nominal && highest >= lowest_beyond[k + 1]) return INFINITE;  // other categories could be on the left
        double error = candidate_error(c, a0, a1, t0, t1, e0, e1) + rest_error;
        if (either_side) error = most(error, candidate_error(c, a0 + m0, a1 + m1, t0, t1, e0, e1));
        if (k == own)
            error_of_own = error;
        else if (s.value[k] - own_error - error <= (k < own ? floor_before : floor_after))
            return INFINITE;
    }
    return error_of_own;
}

}  // namespace skew
