// The members of a portfolio: boosters and forests of Newton trees, which are trained side by side on one table.
//
// A booster minimises the log-loss. Its score is F = start + Σ learning rate · tree, the log-odds of two classes or the
// softmax scores of many. After each round the log-loss of the validation rows is noted. A tree of a forest is grown on
// a bootstrap sample; its leaves hold class shares. Whether a row is in a sample is a function of the seed, the number
// of the tree and the row, so the rows out of the bag of a tree need not be stored.
#pragma once
#include "newton.h"

namespace skew {

enum MemberKind : int64_t { BOOSTER = 0, FOREST = 1 };

struct MemberSpec {
    int64_t kind;
    uint64_t seed;
    const double* weights;     // of the training rows; rows of weight 0 are not trained on
    const double* validation;  // the weights of the rows that the loss is computed on; null: none
    double row_fraction;       // of rows in the sample of a tree; 1: all of them, or a bootstrap of a forest
    double learning_rate;
    TreeSettings tree;
};

struct PortfolioSpec {
    const uint64_t* words;
    int64_t n_rows, n_features;
    const int64_t* n_bins;
    const uint8_t* kinds;
    int64_t n_classes;
    const uint16_t* classes;  // of the rows
    const int64_t* units;     // rows of one unit are in a bootstrap sample together
    int64_t n_jobs;
};

class Member {
    static constexpr int64_t NONE = -1;

public:
    Trees trees;

    // `by_row` are the words of the table [row][block], in which trees find the leaves of rows.
    Status prepare(const PortfolioSpec& data, const uint64_t* by_row, const MemberSpec& spec) {
        data_ = data;
        by_row_ = by_row;
        spec_ = spec;
        K_ = data.n_classes == 2 ? 1 : data.n_classes;
        if (spec.kind == FOREST) return DONE;
        TRY(start_.reserve(K_));
        set_start();
        TRY(F_.reserve(data.n_rows * K_));
        for (int64_t i = 0; i < data.n_rows; ++i)
            for (int64_t k = 0; k < K_; ++k) F_[i * K_ + k] = start_[k];
        return DONE;
    }

    // Grows n more trees.
    Status advance(int64_t n) {
        Table table{data_.words, data_.n_rows, data_.n_features, data_.n_bins, data_.kinds};
        NewtonGrower grower;
        Buffer<double> pairs, weights;
        TRY(grower.prepare(table, by_row_, spec_.tree, K_, data_.n_jobs));
        TRY(pairs.reserve(data_.n_rows * 2 * K_));
        TRY(weights.reserve(data_.n_rows));
        for (int64_t k = 0; k < n; ++k)
            TRY(spec_.kind == FOREST ? grow_bagged(grower, pairs.data(), weights.data()) : boost(grower, pairs.data()));
        return DONE;
    }

    // Adds up the values of trees, `width` numbers per leaf, for some of the rows, and counts the trees. With
    // `out_of_bag` only trees are added whose sample does not have the row.
    void scores(const uint32_t* rows, int64_t n, int64_t n_trees, const double* values, int64_t width, bool out_of_bag,
                double* sums, double* counts) const {
        int64_t n_tasks = max_of<int64_t>(1, n / 256);
        parallel(n_tasks, data_.n_jobs, [&](int64_t task) {
            int64_t first = bound(n, n_tasks, task), stop = bound(n, n_tasks, task + 1);
            for (int64_t t = 0; t < min_of(n_trees, trees.n_trees); ++t) {
                uint64_t key = bag_key(t);
                for (int64_t i = first; i < stop; ++i) {
                    int64_t row = rows[i];
                    if (out_of_bag && spec_.weights[row] > 0.0 && copies(key, data_.units[row], only_[t]) > 0) continue;
                    const double* own = values + trees.leaf(t, words_of(row)) * width;
                    for (int64_t k = 0; k < width; ++k) sums[i * width + k] += own[k];
                    counts[i] += 1.0;
                }
            }
        });
    }

    // The weights of all training rows in the leaves, not only of those that a tree was grown on.
    void covers(double* out) const {
        for (int64_t k = 0; k < trees.n_leaves; ++k) out[k] = 0.0;
        int64_t n = data_.n_rows;
        parallel(trees.n_trees, data_.n_jobs, [&](int64_t t) {
            for (int64_t i = 0; i < n; ++i)
                if (spec_.weights[i] > 0.0) out[trees.leaf(t, words_of(i))] += spec_.weights[i];
        });
    }

    int64_t n_outputs() const { return K_; }
    const double* start() const { return start_.data(); }
    const double* losses() const { return losses_.data(); }

private:
    const uint64_t* words_of(int64_t row) const { return by_row_ + row * ((data_.n_features + BLOCK - 1) / BLOCK); }
    uint64_t tree_key(int64_t tree) const { return mixed(spec_.seed ^ mixed(uint64_t(tree))); }
    uint64_t bag_key(int64_t tree) const { return mixed(tree_key(tree) ^ 7); }
    // How often the sample of a tree of a forest has the rows of a unit: a Poisson number of mean 1 in a bootstrap
    // sample, else at most once. A sample that would be empty has one unit, `only`; others have NONE.
    int64_t copies(uint64_t key, int64_t unit, int64_t only) const {
        if (unit == only) return 1;
        if (spec_.row_fraction < 1.0) return uniform(key, uint64_t(unit)) < spec_.row_fraction;
        double u = uniform(key, uint64_t(unit)), p = 0.36787944117144233, sum = p;
        int64_t n = 0;
        while (u >= sum && n < 12) {
            n += 1;
            p /= double(n);
            sum += p;
        }
        return n;
    }

    // The unit of a sample that would be empty, the one that came closest to being drawn; NONE if there is another.
    int64_t only_unit(uint64_t key) const {
        bool part = spec_.row_fraction < 1.0;
        double closest = -2.0;
        int64_t found = NONE;
        for (int64_t i = 0; i < data_.n_rows; ++i) {
            if (!(spec_.weights[i] > 0.0)) continue;
            int64_t unit = data_.units[i];
            if (copies(key, unit, NONE) > 0) return NONE;
            double u = uniform(key, uint64_t(unit));
            if (part) u = -u;
            if (u > closest || (u == closest && unit < found)) {
                closest = u;
                found = unit;
            }
        }
        return found;
    }

    // The log-odds of the class frequencies, which one example more of each class keeps finite.
    void set_start() {
        if (K_ == 1) {
            double w[2] = {0.5, 0.5};
            for (int64_t i = 0; i < data_.n_rows; ++i) w[data_.classes[i]] += spec_.weights[i];
            start_[0] = log_of(w[1]) - log_of(w[0]);
            return;
        }
        for (int64_t k = 0; k < K_; ++k) start_[k] = 1.0 / double(K_);
        for (int64_t i = 0; i < data_.n_rows; ++i) start_[data_.classes[i]] += spec_.weights[i];
        double total = 0.0;
        for (int64_t k = 0; k < K_; ++k) total += start_[k];
        for (int64_t k = 0; k < K_; ++k) start_[k] = log_of(start_[k] / total);
    }

    static double logistic(double t) { return 1.0 / (1.0 + exp_of(-t)); }
    void softmax(const double* F, double* p) const {
        double high = F[0], total = 0.0;
        for (int64_t k = 1; k < K_; ++k) high = max_of(high, F[k]);
        for (int64_t k = 0; k < K_; ++k) total += p[k] = exp_of(F[k] - high);
        for (int64_t k = 0; k < K_; ++k) p[k] /= total;
    }

    Status boost(NewtonGrower& grower, double* pairs) {
        int64_t n = data_.n_rows, tree = trees.n_trees, m = 0;
        uint64_t key = tree_key(tree), rows_key = bag_key(tree);
        uint32_t* list = grower.list();
        int64_t n_tasks = max_of<int64_t>(1, n / ROWS_PER_TASK);
        Buffer<double> p;
        TRY(p.reserve(n_tasks * K_));
        TRY(in_sample_.reserve(n));
        parallel(n_tasks, data_.n_jobs, [&](int64_t task) {
            for (int64_t i = bound(n, n_tasks, task); i < bound(n, n_tasks, task + 1); ++i) {
                in_sample_[i] = spec_.weights[i] > 0.0 &&
                                (spec_.row_fraction >= 1.0 || uniform(rows_key, uint64_t(i)) < spec_.row_fraction);
                if (in_sample_[i]) gradient(i, pairs + i * 2 * K_, p.data() + task * K_);
            }
        });
        for (int64_t i = 0; i < n; ++i)
            if (in_sample_[i]) list[m++] = uint32_t(i);
        TRY(grower.grow(pairs, spec_.weights, m, key, spec_.learning_rate, trees));
        const double* values = trees.values.data() + trees.first_leaf[tree] * K_;
        grower.for_leaves([&](int64_t leaf, const uint32_t* rows, int64_t size) {
            for (int64_t i = 0; i < size; ++i)
                for (int64_t k = 0; k < K_; ++k) F_[int64_t(rows[i]) * K_ + k] += values[leaf * K_ + k];
        });
        parallel(n_tasks, data_.n_jobs, [&](int64_t task) {
            for (int64_t i = bound(n, n_tasks, task); i < bound(n, n_tasks, task + 1); ++i) {
                if (in_sample_[i]) continue;
                int64_t leaf = trees.leaf(tree, words_of(i)) - trees.first_leaf[tree];
                for (int64_t k = 0; k < K_; ++k) F_[i * K_ + k] += values[leaf * K_ + k];
            }
        });
        TRY(losses_.grow(tree + 1));
        losses_[tree] = spec_.validation == nullptr ? 0.0 : loss(p.data());
        return DONE;
    }

    // The gradients and Hessians of a row; p has room for the probabilities.
    void gradient(int64_t i, double* own, double* p) const {
        double w = spec_.weights[i];
        if (K_ == 1) {
            double q = logistic(F_[i]);
            own[0] = w * (q - double(data_.classes[i]));
            own[1] = w * q * (1.0 - q);
            return;
        }
        softmax(F_.data() + i * K_, p);
        for (int64_t k = 0; k < K_; ++k) {
            own[2 * k] = w * (p[k] - double(data_.classes[i] == k));
            own[2 * k + 1] = w * p[k] * (1.0 - p[k]);
        }
    }

    // Σ weight · log-loss of the validation rows.
    double loss(double* p) const {
        double total = 0.0;
        for (int64_t i = 0; i < data_.n_rows; ++i) {
            double w = spec_.validation[i];
            if (!(w > 0.0)) continue;
            if (K_ == 1) {
                double t = data_.classes[i] ? F_[i] : -F_[i];
                total += w * (t > 0.0 ? log_of(1.0 + exp_of(-t)) : log_of(1.0 + exp_of(t)) - t);
            } else {
                softmax(F_.data() + i * K_, p);
                total -= w * log_of(max_of(p[data_.classes[i]], 1e-300));
            }
        }
        return total;
    }

    Status grow_bagged(NewtonGrower& grower, double* pairs, double* weights) {
        int64_t n = data_.n_rows, tree = trees.n_trees, m = 0;
        uint64_t key = tree_key(tree), rows_key = bag_key(tree);
        uint32_t* list = grower.list();
        TRY(only_.grow(tree + 1));
        only_[tree] = only_unit(rows_key);
        for (int64_t i = 0; i < n; ++i) {
            if (!(spec_.weights[i] > 0.0)) continue;
            double w = spec_.weights[i] * double(copies(rows_key, data_.units[i], only_[tree]));
            if (!(w > 0.0)) continue;
            weights[i] = w;
            list[m++] = uint32_t(i);
            double* own = pairs + i * 2 * K_;
            for (int64_t k = 0; k < K_; ++k) {
                bool on = K_ == 1 ? data_.classes[i] == 1 : data_.classes[i] == k;
                own[2 * k] = on ? -w : 0.0;
                own[2 * k + 1] = w;
            }
        }
        return grower.grow(pairs, weights, m, key, 1.0, trees);
    }

    PortfolioSpec data_{};
    MemberSpec spec_{};
    const uint64_t* by_row_ = nullptr;
    int64_t K_ = 1;
    Buffer<double> start_, F_, losses_;
    Buffer<int64_t> only_;
    Buffer<uint8_t> in_sample_;
};

class Portfolio {
public:
    explicit Portfolio(const PortfolioSpec& data) : data_(data) {}
    ~Portfolio() {
        for (int64_t k = 0; k < n_; ++k) {
            members_[k]->~Member();
            free(members_[k]);
        }
    }
    Status add(const MemberSpec& spec) {
        if (n_ == 0) TRY(order_by_row());
        TRY(members_.grow(n_ + 1));
        void* memory = malloc(sizeof(Member));
        if (memory == nullptr) return NO_MEMORY;
        Member* made = new (Place{memory}) Member();
        members_[n_++] = made;
        return made->prepare(data_, by_row_.data(), spec);
    }
    // Grows n_trees[k] more trees of each member which[k], one member per thread.
    Status train(const int64_t* which, const int64_t* n_trees, int64_t n) {
        Buffer<int> status;
        TRY(status.reserve(n));
        parallel(n, data_.n_jobs, [&](int64_t k) { status[k] = members_[which[k]]->advance(n_trees[k]); });
        for (int64_t k = 0; k < n; ++k) TRY(Status(status[k]));
        return DONE;
    }
    Member& operator[](int64_t k) const { return *members_[k]; }

private:
    Status order_by_row() {
        int64_t n = data_.n_rows, n_blocks = (data_.n_features + BLOCK - 1) / BLOCK;
        TRY(by_row_.reserve(n * n_blocks));
        for (int64_t b = 0; b < n_blocks; ++b)
            for (int64_t i = 0; i < n; ++i) by_row_[i * n_blocks + b] = data_.words[b * n + i];
        return DONE;
    }

    PortfolioSpec data_;
    Buffer<uint64_t> by_row_;
    Buffer<Member*> members_;
    int64_t n_ = 0;
};

}  // namespace skew
