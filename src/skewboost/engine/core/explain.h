// The effects of single features on trees; `walk.h` has their Shapley values.
#pragma once
#include "walk.h"

namespace skew {

// Visits the leaves of trees with the tests on the way to them.
class Effects {
public:
    // Adds the expectation of the trees given one feature, less their mean, to out[feature][code].
    static Status add(const Edges& edges, double* out) {
        Effects own(edges, out);
        int64_t levels = edges.deepest() + 1;
        TRY(own.path_.reserve(levels));
        TRY(own.passes_.reserve(levels));
        TRY(own.tests_.reserve(levels));
        TRY(own.product_.reserve(levels + 1));
        TRY(own.steps_.reserve(levels + 1));
        for (int64_t t = 0; t < edges.trees().n_trees; ++t) own.add_tree(t);
        return DONE;
    }

private:
    struct Step {
        int64_t link, edge, level;
    };

    Effects(const Edges& edges, double* out) : edges_(edges), out_(out) {}

    void add_tree(int64_t t) {
        const GivenTrees& trees = edges_.trees();
        int64_t first = trees.first_node[t], n = 0;
        if (trees.first_node[t + 1] == first) return;
        steps_[n++] = {0, -1, 0};
        while (n > 0) {
            Step step = steps_[--n];
            if (step.level > 0) take(step.edge, step.level - 1);
            if (step.link < 0) {
                add_leaf(trees.values[trees.first_leaf[t] + ~step.link], step.level);
                continue;
            }
            for (int64_t side = 0; side < 2; ++side) {
                int64_t edge = 2 * (first + step.link) + side;
                steps_[n++] = {trees.links[edge], edge, step.level + 1};
            }
        }
    }

    // Puts an edge on the path, with the codes of its feature that pass all tests down to it.
    void take(int64_t edge, int64_t level) {
        path_[level] = edge;
        CodeSet& own = passes_[level];
        own = CodeSet{{0, 0, 0, 0}};
        for (int code = 0; code < N_CODES; ++code)
            if (edges_.goes_left(edge >> 1, code) == ((edge & 1) == 0)) own.add(code);
        for (int64_t k = 0; k < level; ++k)
            if (path_[k] == edges_.before(edge))
                for (int q = 0; q < 4; ++q) own.bits[q] &= passes_[k].bits[q];
    }

    void add_leaf(double value, int64_t n_levels) {
        int64_t n = 0;
        for (int64_t level = n_levels - 1; level >= 0; --level) {  // of each feature the last edge
            bool known = false;
            for (int64_t j = 0; j < n && !known; ++j) known = feature(tests_[j]) == feature(level);
            if (!known) tests_[n++] = level;
        }
        product_[n] = 1.0;  // of the fractions of the tests from here on
        for (int64_t j = n - 1; j >= 0; --j) product_[j] = product_[j + 1] * fraction(tests_[j]);
        for (int64_t j = 0; j < n; ++j) {
            double own = fraction(tests_[j]), others = value * product_[j + 1];
            double* to = out_ + feature(tests_[j]) * N_CODES;
            for (int code = 0; code < N_CODES; ++code)
                to[code] += others * ((passes_[tests_[j]].has(code) ? 1.0 : 0.0) - own);
            value *= own;
        }
    }
    int64_t feature(int64_t level) const { return edges_.trees().feature[path_[level] >> 1]; }
    double fraction(int64_t level) const { return edges_.fraction(path_[level]); }

    const Edges& edges_;
    double* out_;
    Buffer<int64_t> path_, tests_;
    Buffer<CodeSet> passes_;
    Buffer<double> product_;
    Buffer<Step> steps_;
};

}  // namespace skew
