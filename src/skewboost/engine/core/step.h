// The exponential loss with costs of a split whose two sides take one step (`losses.step_loss`, `losses.step_length`).
//
// A split labels the rows of one side negative and those of the other positive. In each class some weight is then wrong
// and some is right, and after a step x the loss is J(x) = wrong0 e^(c0 x) + right0 e^(-c0 x) + wrong1 e^(c1 x) +
// right1 e^(-c1 x), where the larger of the costs c0, c1 is 1.
//
// Minimising J takes a few iterations, which is too slow for every candidate. But J, J' and J'' at any x are cheap, and
// bound J elsewhere: since no rate exceeds 1, |J'''| <= J'', so J''(x + t) >= J''(x) e^-|t|. Integrated twice, with s =
// |J'|/J'' < 1, J falls from x by at most J'' (s + (1 - s) ln(1 - s)), whose series is J'' (s²/2 + s³/6 + s⁴/12 + …).
// Since J is convex, it also falls by at most |J'| times the remaining distance. The bounds at x = 0 and at the best
// step of the best candidate exclude nearly all other candidates.
#pragma once
#include "criterion.h"

namespace skew {

constexpr double PRECISE = 1e-15;  // a relative error of J that does not matter

// A bound on the decrease in J within `distance`; all terms of the series from the fourth on are at most s⁵/4.
inline double gap_of(double slope, double curvature, double distance) {
    double steepness = absolute(slope), s = steepness / curvature;
    double gap = steepness * s * (1.0 / 2 + s * (1.0 / 6 + s * (1.0 / 12 + s * (1.0 / 4))));
    double whole = steepness * distance;
    return s < 1.0 ? min_of(gap, whole) : whole;
}

struct Step {
    double value, x;
};

// The minimum of J and its step, starting from x. If the minimum is not below `enough`, any value that is not below
// `enough` may be returned. It is Newton's iteration on ln(rising part of J' / falling part), which is nearly linear,
// and exactly linear for equal costs.
inline Step best_step(double wrong0, double wrong1, double right0, double right1, double c0, double c1, double x,
                      double enough) {
    double low = -1.0, high = LONGEST_STEP + 1.0;  // the minimum lies between them; both ends can still be reached
    double value = 0.0;
    for (int k = 0; k < 100; ++k) {
        double e0 = exp_of(c0 * x), e1 = exp_of(c1 * x);
        double up0 = wrong0 * e0, up1 = wrong1 * e1, down0 = right0 / e0, down1 = right1 / e1;
        value = up0 + up1 + down0 + down1;
        double rising = c0 * up0 + c1 * up1, falling = c0 * down0 + c1 * down1;
        double bend_up = c0 * c0 * up0 + c1 * c1 * up1, bend_down = c0 * c0 * down0 + c1 * c1 * down1;
        double slope = rising - falling;
        (slope < 0.0 ? low : high) = x;
        double distance = slope < 0.0 ? min_of(high, LONGEST_STEP) - x : x - max_of(low, 0.0);
        double gap = gap_of(slope, bend_up + bend_down, distance);
        if (gap <= PRECISE * value || value - gap >= enough) break;
        if (rising > 0.0 && falling > 0.0) {
            x -= log_of(rising / falling) / (bend_up / rising + bend_down / falling);
            x = min_of(max_of(x, 0.0), LONGEST_STEP);
        } else {
            x = slope < 0.0 ? LONGEST_STEP : 0.0;
        }
        if (!(low < x && x < high)) x = 0.5 * (max_of(low, 0.0) + min_of(high, LONGEST_STEP));
    }
    return {value, x};
}

// `losses.split_loss`; if it is not below `enough`, any number that is not below `enough` may be returned.
template <class C>
inline double split_loss(const C& c, double a0, double a1, double b0, double b1, int sign, double enough) {
    if constexpr (C::step) {
        if (sign > 0) return best_step(b0, a1, a0, b1, c.c0, c.c1, 0.0, enough).value;
        return best_step(a0, b1, b0, a1, c.c0, c.c1, 0.0, enough).value;
    } else {
        (void)enough;
        return c.leaf(a0, a1, -sign) + c.leaf(b0, b1, sign);
    }
}

// The workspace of `step_losses`.
struct StepWorkspace {
    double wrong0[N_CODES], wrong1[N_CODES], right0[N_CODES], right1[N_CODES], bound[N_CODES];
};

// Computes J after a step x, and raises the lower bounds on the minimum of J accordingly. The loop vectorises.
inline void bound_steps(StepWorkspace& work, const double* closed, int n, double c0, double c1, double x,
                        double* value) {
    double e0 = exp_of(c0 * x), e1 = exp_of(c1 * x), f0 = 1.0 / e0, f1 = 1.0 / e1;
    for (int k = 0; k < n; ++k) {
        double up0 = work.wrong0[k] * e0, up1 = work.wrong1[k] * e1;
        double down0 = work.right0[k] * f0, down1 = work.right1[k] * f1;
        double slope = c0 * (up0 - down0) + c1 * (up1 - down1);
        double curvature = c0 * c0 * (up0 + down0) + c1 * c1 * (up1 + down1);
        value[k] = up0 + up1 + down0 + down1 + closed[k];
        double lowest = value[k] - gap_of(slope, curvature, slope < 0.0 ? LONGEST_STEP - x : x);
        work.bound[k] = work.bound[k] < lowest ? lowest : work.bound[k];
    }
}

// The minimum of J for splits with a0, a1 on the left and b0, b1 on the right, for the better polarity, and whether
// that is -1. Candidates that are `closed` (infinity, otherwise 0) are skipped. Returns the lowest minimum, or `lowest`
// if that is lower. For candidates above it by more than `margin`, `value` is only some number above that.
inline double step_losses(const CostStepCriterion& c, const double* a0, const double* a1, const double* b0,
                          const double* b1, const double* closed, int n, double lowest, double margin, double tie,
                          StepWorkspace& work, double* value, bool* minus) {
    for (int k = 0; k < n; ++k) {  // for one of the polarities J increases from x = 0 on, so the best step is 0
        bool flip = c.c0 * (b0[k] - a0[k]) + c.c1 * (a1[k] - b1[k]) > 0.0;
        work.wrong0[k] = flip ? a0[k] : b0[k];
        work.right0[k] = flip ? b0[k] : a0[k];
        work.wrong1[k] = flip ? b1[k] : a1[k];
        work.right1[k] = flip ? a1[k] : b1[k];
        minus[k] = flip;
        work.bound[k] = 0.0;
    }
    auto best_from = [&](int k, double x, double enough) {
        return best_step(work.wrong0[k], work.wrong1[k], work.right0[k], work.right1[k], c.c0, c.c1, x, enough);
    };
    bound_steps(work, closed, n, c.c0, c.c1, 0.0, value);
    double x = 0.25;
    for (int attempt = 0; attempt < 2;
         ++attempt) {  // the best candidate for this step, then the best step for that candidate
        bound_steps(work, closed, n, c.c0, c.c1, x, value);
        int k = 0;
        for (int j = 1; j < n; ++j)
            if (value[j] < value[k]) k = j;
        if (closed[k] > 0.0) return lowest;
        Step found = best_from(k, x, INFINITE);
        x = found.x;
        lowest = min_of(lowest, found.value);
    }
    bound_steps(work, closed, n, c.c0, c.c1, x, value);
    for (int k = 0; k < n; ++k) {
        if (work.bound[k] < lowest + margin) {
            value[k] = best_from(k, x, lowest + margin).value + closed[k];
            lowest = min_of(lowest, value[k]);
        }
        double total = work.wrong0[k] + work.wrong1[k] + work.right0[k] + work.right1[k];
        if (minus[k] && value[k] >= total - tie) {
            value[k] = total + closed[k];
            minus[k] = false;
        }
    }
    return lowest;
}

}  // namespace skew
