// Random draws of trees: `draws.py`. A random number is a function of a key and a counter, so that no draw depends on
// an earlier one.
#pragma once
#include "base.h"

namespace skew {

// The finaliser of splitmix64, as `row_hash.mixed`.
inline uint64_t mixed(uint64_t bits) {
    uint64_t z = bits + 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
// A number in [0, 1).
inline double uniform(uint64_t key, uint64_t counter) {
    return double(mixed(key + counter * 0x9E3779B97F4A7C15ull) >> 11) * 0x1p-53;
}
inline int64_t uniform_below(uint64_t key, uint64_t counter, int64_t n) {
    return min_of(int64_t(uniform(key, counter) * double(n)), n - 1);
}

// Draws k of n numbers, which are sorted, without replacement by a partial Fisher-Yates shuffle, and sorts those;
// returns how many. `marks` has room for a bit per number.
inline int64_t draw_front(int32_t* numbers, int64_t n, int64_t k, uint64_t key, uint64_t* marks) {
    if (k >= n) return n;
    int64_t n_words = numbers[n - 1] / 64 + 1;
    for (int64_t j = 0; j < n_words; ++j) marks[j] = 0;
    for (int64_t j = 0; j < k; ++j) {
        int64_t other = j + uniform_below(key, uint64_t(j), n - j);
        int32_t own = numbers[other];
        numbers[other] = numbers[j];
        marks[own >> 6] |= uint64_t(1) << (own & 63);
    }
    int64_t at = 0;
    for (int64_t j = 0; j < n_words; ++j)
        for (uint64_t left = marks[j]; left != 0; left &= left - 1)
            numbers[at++] = int32_t(64 * j + __builtin_ctzll(left));
    return k;
}

// The keys of the columns of a tree, of those of a node, and of the threshold of a column, given the key of the tree.
inline uint64_t key_of_tree(uint64_t key) {
    return mixed(key ^ 1);
}
inline uint64_t key_of_node(uint64_t key, int64_t node) {
    return mixed(key ^ mixed(uint64_t(node) * 4 + 2));
}
inline uint64_t key_of_column(uint64_t key, int64_t node, int64_t feature) {
    return mixed(key ^ mixed((uint64_t(node) * 4 + 3) ^ (uint64_t(feature) << 32)));
}

}  // namespace skew
