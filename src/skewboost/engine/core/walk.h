// The Shapley values of trees, as specified by `shapley.py`, by one walk of each tree for a batch of rows.
//
// On the way to a leaf a row has G(t) = Π (o t + z (1 - t)) over the features of the path: o is 1 if the row passes all
// tests of the feature so far, and z is the fraction of the training examples that do. The Shapley value of a feature
// is the sum over the leaves of value · (o - z) · ∫ G(t) / (o t + z (1 - t)) dt. So a walk keeps G at the points of a
// quadrature, sums value · G of the leaves below each edge, S(t), and adds (o - z) Σ weight · S / factor to the feature
// of the edge. Leaves below a later edge of the same feature have the factor of that one, so it takes back what the
// edge before adds for them.
#pragma once
#include "newton.h"

namespace skew {

// Trees as `newton.Trees` in Python has them, with the values of one output.
struct GivenTrees {
    int64_t n_trees;
    const int64_t *first_node, *first_leaf, *feature, *threshold, *which, *missing_left, *links;
    const uint64_t* sets;
    const double *covers, *values;
};

// Points and weights that integrate polynomials over [0, 1]: row m - 1 has 4m of them, of `width`.
struct Quadrature {
    const double *points, *weights;
    int64_t width;
    const double* points_of(int64_t m) const { return points + (m - 1) * width; }
    const double* weights_of(int64_t m) const { return weights + (m - 1) * width; }
};

// What walks need of the edges, which are numbered 2 · node + side.
class Edges {
public:
    Status prepare(const GivenTrees& trees) {
        trees_ = trees;
        int64_t n_nodes = trees.first_node[trees.n_trees];
        TRY(fractions_.reserve(2 * n_nodes));
        TRY(before_.reserve(2 * n_nodes));
        TRY(longest_.reserve(max_of<int64_t>(1, trees.n_trees)));
        for (int64_t t = 0; t < trees.n_trees; ++t) TRY(add_tree(t));
        return DONE;
    }
    // The fraction of the training examples that pass the tests of the feature down to this edge.
    double fraction(int64_t edge) const { return fractions_[edge]; }
    // The edge before that tests the same feature; -1: none.
    int64_t before(int64_t edge) const { return before_[edge]; }
    // The largest number of features on a path of a tree, and of nodes.
    int64_t longest(int64_t t) const { return longest_[t]; }
    int64_t longest() const {
        int64_t most = 0;
        for (int64_t t = 0; t < trees_.n_trees; ++t) most = max_of(most, longest_[t]);
        return most;
    }
    int64_t deepest() const { return deepest_; }
    const GivenTrees& trees() const { return trees_; }

    bool goes_left(int64_t node, int code) const {
        if (code == MISSING) return trees_.missing_left[node] != 0;
        int64_t threshold = trees_.threshold[node];
        if (threshold >= 0) return code <= threshold;
        return (trees_.sets[4 * trees_.which[node] + (code >> 6)] >> (code & 63)) & 1;
    }

private:
    struct Step {
        int64_t link, edge, features;  // where to, through which edge, and how many features are on the path to it
    };

    Status add_tree(int64_t t) {
        int64_t first = trees_.first_node[t], n_nodes = trees_.first_node[t + 1] - first, leaf0 = trees_.first_leaf[t];
        TRY(cover_.grow(max_of<int64_t>(n_nodes, 1)));
        auto cover_of = [&](int64_t link) { return link >= 0 ? cover_[link] : trees_.covers[leaf0 + ~link]; };
        for (int64_t k = n_nodes - 1; k >= 0; --k)  // children come after their parents
            cover_[k] = cover_of(trees_.links[2 * (first + k)]) + cover_of(trees_.links[2 * (first + k) + 1]);
        longest_[t] = 0;
        if (n_nodes == 0) return DONE;
        // `steps_` holds what is still to be visited, and `path_` the edge that leads to each node on the way
        int64_t n = 0;
        TRY(steps_.grow(n_nodes + 2));
        TRY(parent_.grow(n_nodes));
        steps_[n++] = {0, -1, 0};
        while (n > 0) {
            Step step = steps_[--n];
            if (step.link < 0) {
                longest_[t] = max_of(longest_[t], step.features);
                continue;
            }
            int64_t k = step.link, node = first + k, before = -1, depth = 1;
            parent_[k] = step.edge;
            for (int64_t at = step.edge; at >= 0; at = parent_[(at >> 1) - first], ++depth)
                if (before < 0 && trees_.feature[at >> 1] == trees_.feature[node]) before = at;
            deepest_ = max_of(deepest_, depth);
            for (int64_t side = 1; side >= 0; --side) {
                int64_t edge = 2 * node + side, link = trees_.links[edge];
                double share = cover_[k] > 0.0 ? cover_of(link) / cover_[k] : 0.0;
                fractions_[edge] = before < 0 ? share : fractions_[before] * share;
                before_[edge] = before;
                TRY(steps_.grow(n + 1));
                steps_[n++] = {link, edge, step.features + (before < 0)};
            }
        }
        return DONE;
    }

    GivenTrees trees_{};
    Buffer<double> fractions_, cover_;
    Buffer<int64_t> before_, longest_, parent_;
    Buffer<Step> steps_;
    int64_t deepest_ = 0;
};

inline void get(Four& to, const double* from) {
    memcpy(&to, from, sizeof to);
}
inline void put(double* to, const Four& from) {
    memcpy(to, &from, sizeof from);
}

// The walks of one thread, for at most `ROWS` rows at a time.
class Walker {
public:
    static constexpr int64_t ROWS = 32;

    Status prepare(const Edges& edges, const Table& table, const Quadrature& rule, double* out) {
        edges_ = &edges;
        table_ = table;
        rule_ = rule;
        out_ = out;
        int64_t levels = edges.deepest() + 2;
        TRY(products_.reserve(levels * ROWS * rule.width));
        TRY(sums_.reserve(levels * ROWS * rule.width));
        TRY(coefficients_.reserve(levels * N_COEFFICIENTS * rule.width));
        TRY(levels_.reserve(levels));
        return passes_.reserve(2 * edges.trees().first_node[edges.trees().n_trees] + 1);
    }

    // Adds the Shapley values of rows first to stop - 1.
    void add(int64_t first, int64_t stop) {
        first_row_ = first;
        n_rows_ = stop - first;
        for (int64_t t = 0; t < edges_->trees().n_trees; ++t) {
            int64_t m = (edges_->longest(t) + 7) / 8;  // 4m points are exact for 8m features
            if (m == 0) continue;
            if (m == 1)
                walk<1>(t, m);
            else if (m == 2)
                walk<2>(t, m);
            else if (m == 3)
                walk<3>(t, m);
            else
                walk<0>(t, m);
        }
    }

private:
    // A node on the path: which rows pass the tests of its feature above it, and go left.
    struct Level {
        int64_t node, side;
        uint32_t earlier, left;
    };
    // By point, what G of a row is multiplied by at an edge, and S below it, if the row passes the test of the edge;
    // and if it does not, but has passed those of the same feature before. The last two are those of the edge before.
    enum : int64_t { FACTOR, FACTOR_OUT, SHARE, SHARE_OUT, INVERSE_BEFORE, TAKEN_BACK, N_COEFFICIENTS };

    // `M` is the number of points divided by 4, if the compiler is to know it.
    template <int M>
    void walk(int64_t t, int64_t m) {
        const GivenTrees& trees = edges_->trees();
        const int64_t n_points = 4 * (M > 0 ? M : m), first = trees.first_node[t], leaf0 = trees.first_leaf[t];
        for (int64_t i = 0; i < n_rows_ * n_points; ++i) products_[i] = 1.0;
        int64_t at = 0;
        open<M>(0, first, m);
        for (;;) {
            Level& level = levels_[at];
            if (level.side == 2) {  // both sides of the node are done
                if (at-- == 0) return;
                leave<M>(at, m);
                continue;
            }
            int64_t edge = 2 * level.node + level.side++, link = trees.links[edge];
            uint32_t passed = passes_[edge] = level.earlier & (edge & 1 ? ~level.left : level.left);
            if (passed == 0 && !(edges_->fraction(edge) > 0.0)) continue;
            prepare_edge<M>(at, edge, m);
            if (link < 0) {
                leaf<M>(at, edge, m, trees.values[leaf0 + ~link]);
            } else {
                enter<M>(at, edge, m);
                open<M>(++at, first + link, m);
            }
        }
    }

    double* product(int64_t level) { return products_.data() + level * ROWS * rule_.width; }
    double* sum(int64_t level) { return sums_.data() + level * ROWS * rule_.width; }
    double* coefficients(int64_t level) { return coefficients_.data() + level * N_COEFFICIENTS * rule_.width; }
    // How the fraction of an edge is related to that of the edge before it.
    double ratio_of(int64_t edge) const {
        int64_t before = edges_->before(edge);
        double z = before < 0 ? 1.0 : edges_->fraction(before);
        return z > 0.0 ? edges_->fraction(edge) / z : 0.0;
    }

    // Begins with a node: sends the rows left and right, and computes what both edges need.
    template <int M>
    void open(int64_t at, int64_t node, int64_t m) {
        const int64_t n_points = 4 * (M > 0 ? M : m), f = edges_->trees().feature[node],
                      edge = edges_->before(2 * node);
        const uint32_t every = n_rows_ == 32 ? ~uint32_t(0) : (uint32_t(1) << n_rows_) - 1;
        uint32_t left = 0;
        const uint64_t* words = table_.block(f >> 3) + first_row_;
        for (int64_t r = 0; r < n_rows_; ++r) left |= uint32_t(edges_->goes_left(node, code_in(words[r], int(f)))) << r;
        levels_[at] = {node, 0, edge < 0 ? every : passes_[edge], left};
        double* c = coefficients(at);
        const double *points = rule_.points_of(n_points / 4), *weights = rule_.weights_of(n_points / 4);
        const double z = edge < 0 ? 1.0 : edges_->fraction(edge);
        for (int64_t k = 0; k < n_points;
             k += 4) {  // without an edge before, its factor is 1, and it has added nothing
            Four t, weight, inverse = Four{} + 1.0, taken_back{};
            get(t, points + k);
            get(weight, weights + k);
            if (edge >= 0) {
                inverse = 1.0 / (t + (1.0 - t) * z);
                taken_back = weight * (1.0 - z) * inverse;
            }
            put(c + INVERSE_BEFORE * n_points + k, inverse);
            put(c + TAKEN_BACK * n_points + k, taken_back);
        }
        double* own = sum(at);
        for (int64_t i = 0; i < n_rows_ * n_points; ++i) own[i] = 0.0;
    }

    template <int M>
    void prepare_edge(int64_t at, int64_t edge, int64_t m) {
        const int64_t n_points = 4 * (M > 0 ? M : m);
        const double *points = rule_.points_of(n_points / 4), *weights = rule_.weights_of(n_points / 4);
        const double z = edges_->fraction(edge);
        double* c = coefficients(at);
        for (int64_t k = 0; k < n_points; k += 4) {
            Four t, weight, inverse, taken_back;
            get(t, points + k);
            get(weight, weights + k);
            get(inverse, c + INVERSE_BEFORE * n_points + k);
            get(taken_back, c + TAKEN_BACK * n_points + k);
            Four factor = t + (1.0 - t) * z;
            put(c + FACTOR * n_points + k, factor * inverse);
            put(c + FACTOR_OUT * n_points + k, (1.0 - t) * z * inverse);
            put(c + SHARE * n_points + k, weight * (1.0 - z) / factor - taken_back);
            put(c + SHARE_OUT * n_points + k, -weight / (1.0 - t) - taken_back);
        }
    }

    // Multiplies G by the factors of an edge.
    template <int M>
    void enter(int64_t at, int64_t edge, int64_t m) {
        const int64_t n_points = 4 * (M > 0 ? M : m);
        const uint32_t earlier = levels_[at].earlier, passed = passes_[edge];
        const double *c = coefficients(at), ratio = ratio_of(edge);
        const double* from = product(at);
        double* to = product(at + 1);
        for (int64_t r = 0; r < n_rows_; ++r, from += n_points, to += n_points) {
            const bool changes = (earlier >> r) & 1;
            const double* factors = c + ((passed >> r) & 1 ? FACTOR : FACTOR_OUT) * n_points;
            for (int64_t k = 0; k < n_points; k += 4) {
                Four own, factor = Four{} + ratio;
                get(own, from + k);
                if (changes) get(factor, factors + k);
                put(to + k, own * factor);
            }
        }
    }

    // Adds what the leaves below an edge say about its feature, and their sums to those of the node above.
    template <int M>
    void leave(int64_t at, int64_t m) {
        const int64_t n_points = 4 * (M > 0 ? M : m), edge = 2 * levels_[at].node + levels_[at].side - 1;
        const uint32_t earlier = levels_[at].earlier, passed = passes_[edge];
        const double* c = coefficients(at);
        const double* below = sum(at + 1);
        double* above = sum(at);
        double* out = out_of(edge);
        for (int64_t r = 0; r < n_rows_; ++r, above += n_points, below += n_points, out += table_.n_features) {
            const double* shares = c + ((passed >> r) & 1 ? SHARE : SHARE_OUT) * n_points;
            Four lanes{}, share, own, total;
            for (int64_t k = 0; k < n_points; k += 4) {
                get(own, below + k);
                get(share, shares + k);
                get(total, above + k);
                put(above + k, total + own);
                lanes += own * share;
            }
            if ((earlier >> r) & 1) *out += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);  // else nothing changes
        }
    }

    // Enters and leaves an edge that leads to a leaf.
    template <int M>
    void leaf(int64_t at, int64_t edge, int64_t m, double value) {
        const int64_t n_points = 4 * (M > 0 ? M : m);
        const uint32_t earlier = levels_[at].earlier, passed = passes_[edge];
        const double *c = coefficients(at), ratio = ratio_of(edge);
        const double* from = product(at);
        double* above = sum(at);
        double* out = out_of(edge);
        for (int64_t r = 0; r < n_rows_; ++r, above += n_points, from += n_points, out += table_.n_features) {
            const bool changes = (earlier >> r) & 1, pass = (passed >> r) & 1;
            const double* factors = c + (pass ? FACTOR : FACTOR_OUT) * n_points;
            const double* shares = c + (pass ? SHARE : SHARE_OUT) * n_points;
            Four lanes{}, share, own, total;
            for (int64_t k = 0; k < n_points; k += 4) {
                Four factor = Four{} + ratio;
                get(own, from + k);
                if (changes) get(factor, factors + k);
                own *= factor * value;
                get(share, shares + k);
                get(total, above + k);
                put(above + k, total + own);
                lanes += own * share;
            }
            if (changes) *out += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        }
    }
    double* out_of(int64_t edge) const {
        return out_ + first_row_ * table_.n_features + edges_->trees().feature[edge >> 1];
    }

    const Edges* edges_ = nullptr;
    Table table_{};
    Quadrature rule_{};
    double* out_ = nullptr;
    int64_t first_row_ = 0, n_rows_ = 0;
    Buffer<double> products_, sums_, coefficients_;  // by level
    Buffer<Level> levels_;
    Buffer<uint32_t> passes_;  // the rows that pass the tests of the feature down to an edge
};

// Adds the Shapley values of all trees to out[row][feature].
inline Status add_contributions(const Edges& edges, const Table& table, const Quadrature& rule, double* out,
                                int64_t n_jobs) {
    constexpr int64_t ROWS_OF_A_TASK = Walker::ROWS;
    int64_t n_tasks = (table.n_rows + ROWS_OF_A_TASK - 1) / ROWS_OF_A_TASK;
    Buffer<int> status;
    TRY(status.reserve(n_tasks));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        Walker walker;
        status[task] = walker.prepare(edges, table, rule, out);
        int64_t stop = min_of((task + 1) * ROWS_OF_A_TASK, table.n_rows);
        for (int64_t row = task * ROWS_OF_A_TASK; status[task] == DONE && row < stop; row += Walker::ROWS)
            walker.add(row, min_of(row + Walker::ROWS, stop));
    });
    for (int64_t task = 0; task < n_tasks; ++task) TRY(Status(status[task]));
    return DONE;
}

}  // namespace skew
