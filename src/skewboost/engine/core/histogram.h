// Sums over rows per feature and code: `reference_set.histogram`.
//
// A histogram is `[feature][plane][code]`. A plane is a (label, class) pair; responses have the planes Σw and Σwz.
#pragma once
#include "table.h"

namespace skew {

typedef double Pair __attribute__((vector_size(16)));

// The number of cells of one feature; its planes are stored one after the other.
constexpr int64_t cells_of(int64_t n_planes) {
    return n_planes * N_CODES;
}

// The number of features in a block. Features that only pad the last block are skipped: their cell would be the same
// for every row, so each addition would wait for the previous one.
template <int N>
struct Width {
    static constexpr int value = N;
};
template <class Work>
inline void with_width(const Table& table, int64_t block, Work&& work) {
    switch (table.n_features - block * BLOCK) {
        case 1:
            return work(Width<1>{});
        case 2:
            return work(Width<2>{});
        case 3:
            return work(Width<3>{});
        case 4:
            return work(Width<4>{});
        case 5:
            return work(Width<5>{});
        case 6:
            return work(Width<6>{});
        case 7:
            return work(Width<7>{});
        default:
            return work(Width<BLOCK>{});
    }
}

// Adds x to the cells of one row in a block's histogram; features are `step` numbers apart.
template <class W = Width<BLOCK>>
inline void add_word(uint64_t v, double x, double* out, int64_t step, W = {}) {
#pragma GCC unroll 8
    for (int k = 0; k < W::value; ++k) out[k * step + ((v >> (8 * k)) & 255)] += x;
}

constexpr int64_t FETCH = 512;  // scattered words that are fetched before any of them is used

// Calls add(i, word) for the words of rows[0..n). If rows are far apart, every word is a cache miss: a loop that only
// fetches has many requests in flight, whereas a loop that also updates eight cells has few.
template <class Add>
inline void for_words(const uint64_t* words, const uint32_t* rows, int64_t n, Add&& add) {
    if (n == 0) return;
    if (int64_t(rows[n - 1]) - int64_t(rows[0]) < 8 * n) {
        for (int64_t i = 0; i < n; ++i) add(i, words[rows[i]]);
        return;
    }
    uint64_t fetched[FETCH];
    for (int64_t a = 0; a < n; a += FETCH) {
        int64_t m = min_of(FETCH, n - a);
        for (int64_t i = 0; i < m; ++i) fetched[i] = words[rows[a + i]];
        for (int64_t i = 0; i < m; ++i) add(a + i, fetched[i]);
    }
}

// Adds values[i] to the cells of row rows[i] in one plane, for rows of one class.
inline void add_plane(const Table& table, int64_t block, const uint32_t* rows, const double* values, int64_t n,
                      int64_t step, double* out) {
    with_width(table, block, [&](auto width) {
        for_words(table.block(block), rows, n,
                  [=](int64_t i, uint64_t v) { add_word(v, values[i], out, step, width); });
    });
}

// The same for rows of any class, with the plane of each row.
inline void add_classes(const Table& table, int64_t block, const uint32_t* rows, const double* values,
                        const uint16_t* plane, int64_t n, int64_t step, double* out) {
    with_width(table, block, [&](auto width) {
        for_words(table.block(block), rows, n, [=](int64_t i, uint64_t v) {
            add_word(v, values[i], out + int64_t(plane[i]) * N_CODES, step, width);
        });
    });
}

// Adds a pair (w, wz) to the cells of an interleaved histogram of eight features.
template <class W>
inline void add_pair(uint64_t v, Pair x, double* out, W) {
    for (int k = 0; k < W::value; ++k) {
        double* cell = out + 2 * N_CODES * k + 2 * ((v >> (8 * k)) & 255);
        Pair sum;
        memcpy(&sum, cell, sizeof sum);
        sum += x;
        memcpy(cell, &sum, sizeof sum);
    }
}

// Turns the interleaved pairs of a block into two planes per feature.
inline void planes_of_pairs(const double* pairs, double* out) {
    for (int f = 0; f < BLOCK; ++f) {
        const double* from = pairs + 2 * N_CODES * f;
        double* to = out + 2 * N_CODES * f;
        for (int k = 0; k < N_CODES; ++k) {
            to[k] = from[2 * k];
            to[N_CODES + k] = from[2 * k + 1];
        }
    }
}

}  // namespace skew
