// Explaining trees by the effects of single features; `walk.h` has their Shapley values.
#pragma once
#include "walk.h"

namespace skew {

// The leaves of trees as conjunctions: the distinct features on the path to a leaf, the codes of each that pass, and
// the fraction of the training examples that pass, among those that reach its tests.
class Conjunctions {
public:
    struct Test {
        int64_t feature;
        double fraction;
        CodeSet passes;
    };

    Status prepare(const GivenTrees& trees) {
        int64_t n_leaves = trees.first_leaf[trees.n_trees];
        TRY(first_.reserve(n_leaves + 1));
        TRY(values_.reserve(n_leaves));
        first_[0] = 0;
        for (int64_t t = 0; t < trees.n_trees; ++t) TRY(add_tree(trees, t));
        return DONE;
    }
    int64_t size() const { return n_; }
    int64_t n_tests(int64_t k) const { return first_[k + 1] - first_[k]; }
    const Test* tests(int64_t k) const { return tests_.data() + first_[k]; }
    double value(int64_t k) const { return values_[k]; }

    // The mean over the training examples.
    double mean() const {
        double total = 0.0;
        for (int64_t k = 0; k < n_; ++k) {
            double part = values_[k];
            for (int64_t j = 0; j < n_tests(k); ++j) part *= tests(k)[j].fraction;
            total += part;
        }
        return total;
    }

private:
    Status add_tree(const GivenTrees& trees, int64_t t) {
        int64_t first = trees.first_node[t], n_nodes = trees.first_node[t + 1] - first, leaf0 = trees.first_leaf[t];
        int64_t n_leaves = trees.first_leaf[t + 1] - leaf0;
        TRY(cover_.grow(max_of<int64_t>(n_nodes, 1)));
        TRY(parent_.grow(max_of<int64_t>(n_nodes, 1)));
        TRY(leaf_parent_.grow(n_leaves));
        auto cover_of = [&](int64_t link) { return link >= 0 ? cover_[link] : trees.covers[leaf0 + ~link]; };
        for (int64_t k = 0; k < n_nodes; ++k)
            for (int64_t side = 0; side < 2; ++side) {
                int64_t link = trees.links[2 * (first + k) + side];
                (link >= 0 ? parent_[link] : leaf_parent_[~link]) = 2 * k + side;
            }
        for (int64_t k = n_nodes - 1; k >= 0; --k)  // children come after their parents
            cover_[k] = cover_of(trees.links[2 * (first + k)]) + cover_of(trees.links[2 * (first + k) + 1]);
        for (int64_t leaf = 0; leaf < n_leaves; ++leaf) {
            int64_t start = n_all_;
            for (int64_t at = n_nodes > 0 ? leaf_parent_[leaf] : -1; at >= 0; at = at / 2 == 0 ? -1 : parent_[at / 2]) {
                int64_t node = first + at / 2;
                bool left = at % 2 == 0;
                double share = cover_of(trees.links[2 * node + at % 2]) / cover_[at / 2];
                TRY(add_test(start, trees.feature[node], cover_[at / 2] > 0.0 ? share : 0.0, codes(trees, node, left)));
            }
            values_[n_] = trees.values[leaf0 + leaf];
            first_[++n_] = n_all_;
        }
        return DONE;
    }

    static CodeSet codes(const GivenTrees& trees, int64_t node, bool left) {
        CodeSet found{{0, 0, 0, 0}};
        int64_t threshold = trees.threshold[node];
        const uint64_t* set = threshold >= 0 ? nullptr : trees.sets + 4 * trees.which[node];
        for (int code = 0; code < N_CODES; ++code) {
            bool goes = set == nullptr ? code <= threshold : ((set[code >> 6] >> (code & 63)) & 1) != 0;
            if (code == MISSING) goes = trees.missing_left[node] != 0;
            if (goes == left) found.add(code);
        }
        return found;
    }

    // Adds a test to the conjunction that starts at `start`; tests of one feature are joined.
    Status add_test(int64_t start, int64_t feature, double fraction, const CodeSet& passes) {
        for (int64_t k = start; k < n_all_; ++k)
            if (tests_[k].feature == feature) {
                tests_[k].fraction *= fraction;
                for (int q = 0; q < 4; ++q) tests_[k].passes.bits[q] &= passes.bits[q];
                return DONE;
            }
        TRY(tests_.grow(n_all_ + 1));
        tests_[n_all_++] = {feature, fraction, passes};
        return DONE;
    }

    Buffer<Test> tests_;
    Buffer<int64_t> first_, parent_, leaf_parent_;
    Buffer<double> values_, cover_;
    int64_t n_ = 0, n_all_ = 0;
};

// Adds the expectation of the trees given one feature, less their mean, to out[feature][code].
inline void add_main_effects(const Conjunctions& all, double* out) {
    for (int64_t k = 0; k < all.size(); ++k)
        for (int64_t j = 0; j < all.n_tests(k); ++j) {
            const Conjunctions::Test& own = all.tests(k)[j];
            double others = all.value(k);
            for (int64_t i = 0; i < all.n_tests(k); ++i)
                if (i != j) others *= all.tests(k)[i].fraction;
            double* to = out + own.feature * N_CODES;
            for (int code = 0; code < N_CODES; ++code)
                to[code] += others * ((own.passes.has(code) ? 1.0 : 0.0) - own.fraction);
        }
}

}  // namespace skew
