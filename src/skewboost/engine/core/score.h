// Scoring new rows: step functions of one feature on the numbers themselves, trees on codes. `scoring.Scorer` says in
// which order terms are added.
#pragma once
#include "table.h"

namespace skew {

// Add each column's step function to F: values[c][number of cuts below x], missing[c] for NaN.
template <class T>
void add_steps(Matrix<T> X, int64_t n_rows, int64_t n_columns, const int64_t* column, const double* cuts,
               const double* values, const double* missing, double* F, int64_t n_jobs) {
    int64_t n_tasks = most<int64_t>(1, n_rows / (4 * ROWS_AT_A_TIME));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        int64_t stop = bound(n_rows, n_tasks, task + 1);
        for (int64_t a = bound(n_rows, n_tasks, task); a < stop; a += ROWS_AT_A_TIME) {
            int64_t b = least(a + ROWS_AT_A_TIME, stop);
            for (int64_t c = 0; c < n_columns; ++c) {
                const double *cut = cuts + c * N_CODES, *value = values + c * N_CODES;
                double absent = missing[c];
                for (int64_t i = a; i < b; ++i) {
                    double x = X.at(i, column[c]);
                    double v = value[count_below(cut, x)];
                    F[i] += x != x ? absent : v;
                }
            }
        }
    });
}

// Trees as `scoring.PackedTrees` has them.
struct Trees {
    int64_t n_trees;
    const int64_t* roots;
    const int64_t* feature;
    const int64_t* threshold;
    const int64_t* which;
    const uint8_t* sets;
    const int64_t* links;  // [node][left, right, missing]
    const double* values;
};

inline int64_t next_node(const Trees& t, const uint64_t* words, int64_t n_rows, int64_t row, int64_t k) {
    int64_t f = t.feature[k];
    int code = code_in(words[(f >> 3) * n_rows + row], f);
    if (code == MISSING) return t.links[3 * k + 2];
    int64_t threshold = t.threshold[k];
    if (threshold >= 0) return t.links[3 * k + (code > threshold)];
    return t.links[3 * k + t.sets[t.which[k] * N_CODES + code]];
}

// Add to F the leaf values of rows in every tree, tree after tree.
inline void add_trees(const Trees& t, const uint64_t* words, int64_t n_rows, double* F, int64_t n_jobs) {
    int64_t n_tasks = most<int64_t>(1, n_rows / (4 * ROWS_AT_A_TIME));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        int64_t stop = bound(n_rows, n_tasks, task + 1);
        for (int64_t a = bound(n_rows, n_tasks, task); a < stop; a += ROWS_AT_A_TIME) {
            int64_t b = least(a + ROWS_AT_A_TIME, stop);
            for (int64_t tree = 0; tree < t.n_trees; ++tree)
                for (int64_t i = a; i < b; ++i) {
                    int64_t k = t.roots[tree];
                    while (k >= 0) k = next_node(t, words, n_rows, i, k);
                    F[i] += t.values[~k];
                }
        }
    });
}

// The leaf of every row in one tree: `Partition.leaves`. Node k tests feature[k] and goes to links[k][child[k][code]].
inline void find_leaves(const uint64_t* words, int64_t n_rows, const int64_t* feature, const uint8_t* child,
                        const int64_t* links, int64_t* out, int64_t n_jobs) {
    int64_t n_tasks = most<int64_t>(1, n_rows / ROWS_PER_TASK);
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
