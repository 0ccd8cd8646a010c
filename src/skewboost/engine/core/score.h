// Scoring new rows by tables over the codes of one feature and by trees. `scoring.Scorer` defines the order in which
// terms are added.
#pragma once
#include "table.h"

namespace skew {

// The numbers of a feature, which are `step` elements apart.
struct Column {
    int64_t kind;  // 0: float, 1: double, 2: codes (uint8_t)
    const void* data;
    int64_t step;
};

// An ensemble for scoring: the features that it uses, the tables of rounds on one feature, and the nodes of all trees.
// All arrays are copied.
class Model {
public:
    struct Node {
        int32_t next[2];  // a node, or ~ the number of a leaf value
        int32_t missing;  // the third link, for missing values; for a nominal node the number of its set
        uint8_t threshold, shift, kind;
        uint8_t unused;
        int32_t feature;  // the index among the used features
    };
    // NUMERIC: codes up to the threshold go left. A missing value has the highest code and goes right; if it should go
    // left, codes are shifted by one, so that its code wraps around to 0. ASIDE: missing values have a link of their
    // own.
    enum Kind : uint8_t { NUMERIC, ASIDE, NOMINAL };

    Status load(int64_t n_features, const double* cuts, const int64_t* n_cuts, const uint8_t* in_table,
                const double* tables, int64_t n_trees, const int64_t* roots, int64_t n_nodes, const int64_t* feature,
                const int64_t* threshold, const int64_t* which, int64_t n_sets, const uint8_t* sets,
                const int64_t* links, int64_t n_values, const double* values) {
        n_features_ = n_features;
        n_trees_ = n_trees;
        TRY(cuts_.reserve(max_of<int64_t>(n_features, 1)));
        for (int64_t f = 0; f < n_features; ++f) cuts_[f].set(cuts + f * N_CODES, n_cuts[f]);
        TRY(copy(in_table, n_features, in_table_));
        TRY(copy(tables, n_features * N_CODES, tables_));
        TRY(copy(roots, n_trees, roots_));
        TRY(copy(sets, n_sets * N_CODES, sets_));
        TRY(copy(values, n_values, values_));
        TRY(nodes_.reserve(n_nodes + 1));
        for (int64_t k = 0; k < n_nodes; ++k) {
            const int64_t* link = links + 3 * k;
            Node& node = nodes_[k];
            node = {{int32_t(link[0]), int32_t(link[1])}, int32_t(link[2]), 0, 0, NUMERIC, 0, int32_t(feature[k])};
            if (threshold[k] < 0) {
                node.kind = NOMINAL;
                node.missing = int32_t(which[k]);
                aside_ = true;
            } else {
                bool to_left = link[2] == link[0];
                node.shift = to_left;
                node.threshold = uint8_t(threshold[k] + to_left);
                node.kind = to_left || link[2] == link[1] ? NUMERIC : ASIDE;
                aside_ = aside_ || node.kind == ASIDE;
            }
        }
        missing_.clear();
        if (aside_) {  // nominal nodes need all three links
            TRY(missing_.reserve(n_nodes + 1));
            for (int64_t k = 0; k < n_nodes; ++k) missing_[k] = int32_t(links[3 * k + 2]);
        }
        return DONE;
    }

    // Adds tables, in the order of the features, and then trees, in their order, to F.
    void score(const Column* columns, int64_t n_rows, double* F, int64_t n_jobs) const {
        int64_t n_tasks = max_of<int64_t>(1, n_rows / (16 * CHUNK));
        parallel(n_tasks, n_jobs, [&](int64_t task) {
            int64_t stop = bound(n_rows, n_tasks, task + 1);
            Buffer<uint8_t> codes;
            bool enough_memory = n_trees_ == 0 || codes.reserve(CHUNK * n_features_) == DONE;
            for (int64_t a = bound(n_rows, n_tasks, task); a < stop; a += CHUNK)
                score_chunk(columns, a, min_of(CHUNK, stop - a), enough_memory ? codes.data() : nullptr, F + a);
        });
    }

private:
    static constexpr int64_t CHUNK = 256;  // rows that are scored together, so that their codes stay in the L1 cache
    static constexpr int64_t ABREAST = 8;  // rows that descend a tree together, so that their memory accesses overlap

    template <class T>
    static Status copy(const T* from, int64_t n, Buffer<T>& to) {
        TRY(to.reserve(max_of<int64_t>(n, 1)));
        memcpy(to.data(), from, size_t(n) * sizeof(T));
        return DONE;
    }

    template <class T>
    static void encode(const T* x, int64_t step, int64_t n, const Cuts& cuts, uint8_t* out) {
        for (int64_t i = 0; i < n; ++i) out[i] = cuts.code(double(x[i * step]));
    }

    void code_column(const Column& column, int64_t feature, int64_t start, int64_t n, uint8_t* out) const {
        const Cuts& cuts = cuts_[feature];
        int64_t at = start * column.step;
        if (column.kind == 0)
            encode(static_cast<const float*>(column.data) + at, column.step, n, cuts, out);
        else if (column.kind == 1)
            encode(static_cast<const double*>(column.data) + at, column.step, n, cuts, out);
        else
            for (int64_t i = 0; i < n; ++i) out[i] = static_cast<const uint8_t*>(column.data)[at + i * column.step];
    }

    // `codes` is memory for [row][feature]. If it is null, for lack of memory, every code is computed when it is
    // needed.
    void score_chunk(const Column* columns, int64_t start, int64_t n, uint8_t* codes, double* F) const {
        uint8_t own[CHUNK];
        for (int64_t f = 0; f < n_features_; ++f) {
            if (!in_table_[f] && codes == nullptr) continue;
            code_column(columns[f], f, start, n, own);
            if (in_table_[f]) {
                const double* table = tables_.data() + f * N_CODES;
                for (int64_t i = 0; i < n; ++i) F[i] += table[own[i]];
            }
            if (codes != nullptr)
                for (int64_t i = 0; i < n; ++i) codes[i * n_features_ + f] = own[i];
        }
        if (n_trees_ == 0) return;
        if (codes == nullptr) {
            for (int64_t i = 0; i < n; ++i)
                for (int64_t tree = 0; tree < n_trees_; ++tree) F[i] += walk_alone(columns, start + i, tree);
            return;
        }
        for (int64_t tree = 0; tree < n_trees_; ++tree) {
            int64_t i = 0;
            if (!aside_)
                for (; i + ABREAST <= n; i += ABREAST) walk_abreast(tree, codes + i * n_features_, F + i);
            for (; i < n; ++i) F[i] += walk(tree, codes + i * n_features_);
        }
    }

    void walk_abreast(int64_t tree, const uint8_t* codes, double* F) const {
        int64_t at[ABREAST];
        for (int64_t j = 0; j < ABREAST; ++j) at[j] = roots_[tree];
        for (bool any = roots_[tree] >= 0; any;) {
            any = false;
            for (int64_t j = 0; j < ABREAST; ++j) {
                int64_t k = at[j];
                const Node& node = nodes_[k < 0 ? 0 : k];
                uint8_t code = uint8_t(codes[j * n_features_ + node.feature] + node.shift);
                int64_t next = node.next[code > node.threshold];
                at[j] = k < 0 ? k : next;
                any = any || at[j] >= 0;
            }
        }
        for (int64_t j = 0; j < ABREAST; ++j) F[j] += values_[~at[j]];
    }

    int64_t next_of(int64_t k, uint8_t code) const {
        const Node& node = nodes_[k];
        if (node.kind == NUMERIC) return node.next[uint8_t(code + node.shift) > node.threshold];
        if (code == MISSING) return missing_[k];
        if (node.kind == ASIDE) return node.next[code > node.threshold];
        uint8_t side = sets_[int64_t(node.missing) * N_CODES + code];
        return side < 2 ? node.next[side] : missing_[k];
    }

    double walk(int64_t tree, const uint8_t* codes) const {
        int64_t k = roots_[tree];
        while (k >= 0) k = next_of(k, codes[nodes_[k].feature]);
        return values_[~k];
    }

    double walk_alone(const Column* columns, int64_t row, int64_t tree) const {
        int64_t k = roots_[tree];
        while (k >= 0) {
            uint8_t code;
            code_column(columns[nodes_[k].feature], nodes_[k].feature, row, 1, &code);
            k = next_of(k, code);
        }
        return values_[~k];
    }

    int64_t n_features_ = 0, n_trees_ = 0;
    bool aside_ = false;
    Buffer<Cuts> cuts_;
    Buffer<double> tables_, values_;
    Buffer<uint8_t> in_table_, sets_;
    Buffer<int64_t> roots_;
    Buffer<Node> nodes_;
    Buffer<int32_t> missing_;
};

// Writes the leaf of every row in one tree: `Partition.leaves`. Node k tests feature[k] and goes on to
// links[k][child[k][code]].
inline void find_leaves(const uint64_t* words, int64_t n_rows, const int64_t* feature, const uint8_t* child,
                        const int64_t* links, int64_t* out, int64_t n_jobs) {
    int64_t n_tasks = max_of<int64_t>(1, n_rows / ROWS_PER_TASK);
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        for (int64_t i = bound(n_rows, n_tasks, task); i < bound(n_rows, n_tasks, task + 1); ++i) {
            int64_t k = 0;
            while (k >= 0) {
                int64_t f = feature[k];
                k = links[3 * k + child[k * N_CODES + code_in(words[(f >> 3) * n_rows + i], f)]];
            }
            out[i] = ~k;
        }
    });
}

}  // namespace skew
