// What the sides of a split add to a criterion: `losses.leaf_loss` and its like, one type per criterion so that the
// loops over candidates are compiled for each. a, b are the weights of the negatives and positives of a leaf; for
// `Squares` Σw and Σwz.
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

// A request in numbers; limits are a little below what was asked, so that they do not fail by the rounding of sums.
struct Request {
    int64_t criterion;
    int64_t learn;  // whether missing values go to the better side; else they abstain
    double min_count;
    double min_weight;
    double cost0, cost1;
    double delta;
};

// What most criteria have in common.
struct Plain {
    static constexpr bool forced = false;  // whether the two sides must carry opposite signs
    static constexpr bool squares = false;
    static constexpr bool step =
        false;  // whether the two sides share one step, so that they have no losses of their own
    static double weight(double a, double b) { return a + b; }
    static double tie_width(double tie, double) { return tie; }
};

struct OfError : Plain {
    static constexpr bool forced = true;
    double leaf(double a, double b, int sign) const { return sign > 0 ? a : b; }
    double abstain(double a, double b) const { return 0.5 * (a + b); }
    double before(double a, double b) const { return least(a, b); }
};

struct OfMajority : Plain {
    double leaf(double a, double b, int) const { return least(a, b); }
    double abstain(double a, double b) const { return 0.5 * (a + b); }
    double before(double a, double b) const { return least(a, b); }
};

struct OfGini : Plain {
    double leaf(double a, double b, int) const {
        double total = a + b;
        return total > 0.0 ? 2.0 * a * b / total : 0.0;
    }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

struct OfEntropy : Plain {
    double leaf(double a, double b, int) const {
        double value = 0.0;
        if (a > 0.0) value += a * log_of((a + b) / a);
        if (b > 0.0) value += b * log_of((a + b) / b);
        return value;
    }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

struct OfZ : Plain {
    double leaf(double a, double b, int) const { return 2.0 * square_root(a * b); }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

struct OfZbar : Plain {
    static constexpr bool forced = true;
    double leaf(double a, double b, int sign) const {
        bool agrees = sign > 0 ? b >= a : a >= b;
        return agrees ? 2.0 * square_root(a * b) : a + b;
    }
    double abstain(double a, double b) const { return leaf(0.5 * (a + b), 0.5 * (a + b), 1); }
    double before(double a, double b) const { return 2.0 * square_root(a * b); }
};

struct OfSquares : Plain {
    static constexpr bool squares = true;
    static double weight(double a, double) { return a; }
    static double tie_width(double tie, double value) { return tie * size_of(value); }
    double leaf(double a, double b, int) const { return a > 0.0 ? -b * b / a : 0.0; }
    double abstain(double, double) const { return 0.0; }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

// The exponential loss with costs, every leaf at its own minimum: with r = (b + δ) C+ / ((a + δ) C-) it is
// b r^-share + a r^(1 - share), share = C+ / (C+ + C-): a single power.
struct OfCostLoss : Plain {
    double ratio, share, delta;
    explicit OfCostLoss(const Request& r)
        : ratio(r.cost1 / r.cost0), share(r.cost1 / (r.cost0 + r.cost1)), delta(r.delta) {}

    double leaf(double a, double b, int) const {
        double x = a + delta, y = b + delta;
        if (!(x > 0.0 && y > 0.0)) return 0.0;  // of one class only
        if (x > 1e-280 && y > 1e-280) {
            double r = ratio * (y / x);
            return exp_of(-share * log_of(r)) * (b + a * r);
        }
        double r = log_of(ratio) + log_of(y) - log_of(x);  // weights of next to nothing, in logarithms
        double of_positives = b > 0.0 ? exp_of(log_of(b) - share * r) : 0.0;
        return a > 0.0 ? of_positives + exp_of(log_of(a) + (1.0 - share) * r) : of_positives;
    }
    double abstain(double a, double b) const { return a + b; }
    double before(double a, double b) const { return leaf(a, b, 1); }
};

// The same after one step for both sides (`step.h`); a leaf by itself takes none.
struct OfCostStep : Plain {
    static constexpr bool forced = true;
    static constexpr bool step = true;
    double c0, c1;  // the costs as shares of the larger one
    explicit OfCostStep(const Request& r)
        : c0(r.cost0 / most(r.cost0, r.cost1)), c1(r.cost1 / most(r.cost0, r.cost1)) {}
    double leaf(double a, double b, int) const { return a + b; }
    double abstain(double a, double b) const { return a + b; }
    double before(double a, double b) const { return a + b; }
};

// Call work(criterion) with the one that a request names; those of many classes are not among them.
template <class Work>
inline auto with_criterion(const Request& request, Work&& work) {
    switch (int(request.criterion)) {
        case ERROR:
            return work(OfError());
        case MAJORITY:
            return work(OfMajority());
        case GINI:
            return work(OfGini());
        case ENTROPY:
            return work(OfEntropy());
        case ZBAR:
            return work(OfZbar());
        case SQUARES:
            return work(OfSquares());
        case COST_LOSS:
            return work(OfCostLoss(request));
        case COST_STEP:
            return work(OfCostStep(request));
        default:
            return work(OfZ());
    }
}

}  // namespace skew
