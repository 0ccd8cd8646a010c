// The contributions of leaves to the criteria (`losses.leaf_loss` and others), with one type per criterion, so that the
// loops over candidates are compiled for each. a and b are the weights of the negatives and positives of a leaf; for
// squares they are Σw and Σwz.
#pragma once
#include "mathematics.h"

namespace skew {

// The order of `boundary.CRITERIA`, then that of `boundary.OF_CLASSES`.
enum Criterion : int {
    ERROR,
    MAJORITY,
    GINI,
    ENTROPY,
    Z,
    ZBAR,
    SQUARES,
    COST_LOSS,
    COST_STEP,
    CLASS_ERROR,
    CLASS_GINI
};

// The request of `boundary.py`; limits are lowered a little, so that rounding errors of sums cannot violate them.
struct Request {
    int64_t criterion;
    int64_t learn;  // whether missing values go to the better side; otherwise they abstain
    double min_count;
    double min_weight;
    double cost0, cost1;
    double delta;  // the L2 penalty of squares, and the smoothing of the loss with costs
};

// The common part of the criteria.
struct CriterionBase {
    static constexpr bool forced = false;  // whether the two sides must have opposite signs
    static constexpr bool squares = false;
    static constexpr bool step =
        false;  // whether both sides take one common step, so that leaves have no losses of their own
    static double weight(double a, double b) { return a + b; }
    static double tie_width(double tie, double) { return tie; }
    static double mean(double a, double b) { return a + b > 0.0 ? b / (a + b) : 0.0; }
};

struct ErrorCriterion : CriterionBase {
    static constexpr bool forced = true;
    double leaf(double a, double b, int sign) const { return sign > 0 ? a : b; }
    double abstain(double a, double b) const { return 0.5 * (a + b); }
    double before(double a, double b) const { return min_of(a, b); }
};

struct MajorityCriterion : CriterionBase {
    double leaf(double a, double b, int) const { return min_of(a, b); }
    double abstain(double a, double b) const { return 0.5 * (a + b); }
    double before(double a, double b) const { return min_of(a, b); }
};

struct GiniCriterion : CriterionBase {
    double leaf(double a, double b, int) const {
        double total = a + b;
        return total > 0.0 ? 2.0 * a * b / total : 0.0;
    }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

struct EntropyCriterion : CriterionBase {
    double leaf(double a, double b, int) const {
        double value = 0.0;
        if (a > 0.0) value += a * log_of((a + b) / a);
        if (b > 0.0) value += b * log_of((a + b) / b);
        return value;
    }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

struct ZCriterion : CriterionBase {
    double leaf(double a, double b, int) const { return 2.0 * square_root(a * b); }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

struct ZbarCriterion : CriterionBase {
    static constexpr bool forced = true;
    double leaf(double a, double b, int sign) const {
        bool agrees = sign > 0 ? b >= a : a >= b;
        return agrees ? 2.0 * square_root(a * b) : a + b;
    }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return 2.0 * square_root(a * b); }
};

struct SquaresCriterion : CriterionBase {
    static constexpr bool squares = true;
    double l2;
    explicit SquaresCriterion(const Request& r) : l2(r.delta) {}
    static double weight(double a, double) { return a; }
    static double tie_width(double tie, double value) { return tie * absolute(value); }
    double mean(double a, double b) const { return a + l2 > 0.0 ? b / (a + l2) : 0.0; }
    double leaf(double a, double b, int) const { return a > 0.0 ? -b * b / (a + l2) : 0.0; }
    double abstain(double, double) const { return 0.0; }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

// The exponential loss with costs after the best step of each leaf. With r = (b + δ) C+ / ((a + δ) C-) and fraction =
// C+ / (C+ + C-) it is b r^-fraction + a r^(1 - fraction), which needs a single power.
struct CostLossCriterion : CriterionBase {
    double ratio, fraction, delta;
    explicit CostLossCriterion(const Request& r)
        : ratio(r.cost1 / r.cost0), fraction(r.cost1 / (r.cost0 + r.cost1)), delta(r.delta) {}

    double leaf(double a, double b, int) const {
        double x = a + delta, y = b + delta;
        if (!(x > 0.0 && y > 0.0)) return 0.0;  // only one class
        if (x > 1e-280 && y > 1e-280) {
            double r = ratio * (y / x);
            return exp_of(-fraction * log_of(r)) * (b + a * r);
        }
        double r = log_of(ratio) + log_of(y) - log_of(x);  // tiny weights, by logarithms
        double of_positives = b > 0.0 ? exp_of(log_of(b) - fraction * r) : 0.0;
        return a > 0.0 ? of_positives + exp_of(log_of(a) + (1.0 - fraction) * r) : of_positives;
    }
    double abstain(double a, double b) const { return a + b; }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

// The exponential loss with costs after one step for both sides (`step.h`); a single leaf takes no step.
struct CostStepCriterion : CriterionBase {
    static constexpr bool forced = true;
    static constexpr bool step = true;
    double c0, c1;  // the costs divided by the larger one
    explicit CostStepCriterion(const Request& r)
        : c0(r.cost0 / max_of(r.cost0, r.cost1)), c1(r.cost1 / max_of(r.cost0, r.cost1)) {}
    double leaf(double a, double b, int) const { return a + b; }
    double abstain(double a, double b) const { return a + b; }
    double before(double a, double b) const { return a + b; }
};

// Calls work(criterion) with the criterion of a request, which must not be one of those for more than two classes.
template <class Work>
inline auto with_criterion(const Request& request, Work&& work) {
    switch (int(request.criterion)) {
        case ERROR:
            return work(ErrorCriterion());
        case MAJORITY:
            return work(MajorityCriterion());
        case GINI:
            return work(GiniCriterion());
        case ENTROPY:
            return work(EntropyCriterion());
        case ZBAR:
            return work(ZbarCriterion());
        case SQUARES:
            return work(SquaresCriterion(request));
        case COST_LOSS:
            return work(CostLossCriterion(request));
        case COST_STEP:
            return work(CostStepCriterion(request));
        default:
            return work(ZCriterion());
    }
}

}  // namespace skew
