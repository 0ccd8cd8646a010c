// The rounding guard: whether rounding errors of a derived histogram could have changed the choice of a split. Given
// bounds on the errors of the sums, it bounds the errors of the candidates' criteria.
#pragma once
#include "scan.h"

namespace skew {

constexpr double STEEPEST = 98715.77101076044;  // e^LONGEST_STEP: the largest factor of a wrong weight after a step

// The largest error of a leaf's loss if the errors of its sums are e0 and e1.
template <class C>
double leaf_error(const C& c, double a, double b, double e0, double e1, int sign) {
    double v = c.leaf(a, b, sign);
    double low0 = max_of(a - e0, 0.0), low1 = C::squares ? b - e1 : max_of(b - e1, 0.0);
    double up = absolute(c.leaf(a + e0, b + e1, sign) - v), down = absolute(c.leaf(low0, low1, sign) - v);
    double one = absolute(c.leaf(a + e0, low1, sign) - v), other = absolute(c.leaf(low0, b + e1, sign) - v);
    return max_of(max_of(up, down), max_of(one, other));
}

// The same for a split that takes one step, whose loss increases with every sum.
inline double step_error(const CostStepCriterion& c, double a0, double a1, double b0, double b1, double e0, double e1,
                         int sign) {
    double v = split_loss(c, a0, a1, b0, b1, sign, INFINITE);
    double up = split_loss(c, a0 + e0, a1 + e1, b0 + e0, b1 + e1, sign, INFINITE) - v;
    a0 = max_of(a0 - e0, 0.0), a1 = max_of(a1 - e1, 0.0), b0 = max_of(b0 - e0, 0.0), b1 = max_of(b1 - e1, 0.0);
    return max_of(up, v - split_loss(c, a0, a1, b0, b1, sign, INFINITE));
}

// The largest error of a candidate's criterion; its left side has a0, a1 of the node's t0, t1.
template <class C>
double candidate_error(const C& c, double a0, double a1, double t0, double t1, double e0, double e1) {
    double b0 = max_of(t0 - a0, 0.0), b1 = C::squares ? t1 - a1 : max_of(t1 - a1, 0.0);
    if constexpr (C::step) {
        return max_of(step_error(c, a0, a1, b0, b1, e0, e1, 1), step_error(c, a0, a1, b0, b1, e0, e1, -1));
    } else {
        double plus = leaf_error(c, a0, a1, e0, e1, -1) + leaf_error(c, b0, b1, e0, e1, 1);
        double minus = leaf_error(c, a0, a1, e0, e1, 1) + leaf_error(c, b0, b1, e0, e1, -1);
        return max_of(plus, minus);
    }
}

// A bound on how much errors can change the difference of two candidates of a node; `size` is its weight.
template <class C>
double largest_shift(const C&, double size, double e0, double e1) {
    if constexpr (C::step)  // J changes by e^(cx) times the change of a wrong weight, and by no more than that of a
                            // right one
        return 2.0 * (STEEPEST + 2.0) * (e0 + e1);
    else
        return 100.0 * (e0 + e1) + 8.0 * square_root((e0 + e1) * size);
}
// With r = C+ (b + δ) / (C- (a + δ)), the derivative of a leaf's loss by a is at most 2 r^(1 - fraction), apart from a
// bounded factor. It is largest for small a, and its integral over the first e0 is at most 2 e0 r^(1 - fraction) /
// fraction with a + δ = max(e0, δ). The same holds for b, and there are four leaves.
inline double largest_shift(const CostLossCriterion& c, double size, double e0, double e1) {
    double shift = 100.0 * (e0 + e1), largest = size + c.delta;
    if (e0 > 0.0)
        shift += 8.0 * e0 * exp_of((1.0 - c.fraction) * log_of(c.ratio * largest / max_of(e0, c.delta))) / c.fraction;
    if (e1 > 0.0)
        shift += 8.0 * e1 * exp_of(c.fraction * log_of(largest / max_of(e1, c.delta) / c.ratio)) / (1.0 - c.fraction);
    return shift;
}

// The key by which categories are sorted (p, or the mean response) and its largest error.
template <class C>
void proportion_of(double a, double b, double e0, double e1, double& p, double& off) {
    double w = C::weight(a, b);
    p = b / w;
    off = (C::squares ? e1 + absolute(p) * e0 : e0 + e1) / w;
}

// Returns infinity if errors could make another candidate of the feature the chosen one, and otherwise the error of the
// candidate `own`. Candidates before `own` must lie above `floor_before` whatever the errors, those after it above
// `floor_after`. Candidates above `band` are too far away to matter.
template <class C>
double rounding_guard(const C& c, const Scan& s, const Cells& f, const Request& request, double e0, double e1, int own,
                      double own_error, double band, double floor_before, double floor_after) {
    if (f.nominal && s.order[0] < 0) return INFINITE;  // subsets were enumerated, and only the best is known
    double m0 = f.h0[MISSING], m1 = f.h1[MISSING];
    double t0 = sum_of(f.h0, MISSING) + (request.learn ? m0 : 0.0);
    double t1 = sum_of(f.h1, MISSING) + (request.learn ? m1 : 0.0);
    double rest_error = request.learn || C::squares ? 0.0 : e0 + e1;
    bool either_side = request.learn && !f.nominal && (m0 != 0.0 || m1 != 0.0);
    double lowest_beyond[N_CODES + 1];  // the lowest possible p of the categories from each place on
    if (f.nominal) {
        lowest_beyond[N_CODES] = INFINITE;
        int m = 0;
        while (m < N_CODES && s.order[m] >= 0) ++m;
        for (int k = N_CODES - 1; k >= 0; --k) {
            lowest_beyond[k] = lowest_beyond[k + 1];
            if (k < m) {
                double p, off;
                proportion_of<C>(f.h0[s.order[k]], f.h1[s.order[k]], e0, e1, p, off);
                lowest_beyond[k] = min_of(lowest_beyond[k], p - off);
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
            proportion_of<C>(f.h0[code], f.h1[code], e0, e1, p, off);
            highest = max_of(highest, p + off);
        }
        if (s.value[k] > band) continue;
        if (f.nominal && highest >= lowest_beyond[k + 1])
            return INFINITE;  // errors could put other categories on the left
        double error = candidate_error(c, a0, a1, t0, t1, e0, e1) + rest_error;
        if (either_side) error = max_of(error, candidate_error(c, a0 + m0, a1 + m1, t0, t1, e0, e1));
        if (k == own)
            error_of_own = error;
        else if (s.value[k] - own_error - error <= (k < own ? floor_before : floor_after))
            return INFINITE;
    }
    return error_of_own;
}

}  // namespace skew
