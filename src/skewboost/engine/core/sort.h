// Radix sort of floating-point numbers. If the sign bit of positive numbers and all bits of negative numbers are
// flipped, the bit patterns sort like the numbers.
#pragma once
#include "base.h"

namespace skew {

// The unsigned type of the same size as a floating-point type.
template <class T>
struct PatternOf;
template <>
struct PatternOf<float> {
    using type = uint32_t;
};
template <>
struct PatternOf<double> {
    using type = uint64_t;
};

template <class T>
using Key = typename PatternOf<T>::type;

template <class T>
constexpr Key<T> SIGN = Key<T>(1) << (8 * sizeof(T) - 1);

// Both zeros have the same key.
template <class T>
inline Key<T> key_of(T value) {
    value += T(0);
    Key<T> k;
    memcpy(&k, &value, sizeof k);
    return k ^ (SIGN<T> | Key<T>(Key<T>(0) - (k >> (8 * sizeof(T) - 1))));
}

template <class T>
inline double number_of(Key<T> k) {
    k ^= SIGN<T> | Key<T>((k >> (8 * sizeof(T) - 1)) - Key<T>(1));
    T value;
    memcpy(&value, &k, sizeof value);
    return double(value);
}

// A key with a weight.
template <class K>
struct Weighted {
    K key;
    double weight;
};

inline uint32_t key(uint32_t item) {
    return item;
}
inline uint64_t key(uint64_t item) {
    return item;
}
template <class K>
inline K key(const Weighted<K>& item) {
    return item.key;
}

// A stable sort by key. Many items are divided by their leading eleven bits, and the parts are sorted by the remaining
// bits. A part that fits into the cache is sorted from its last digit to its first, and a small part by merging.
template <class Item>
class Sort {
public:
    static constexpr int DIGIT = 11, N_DIGITS = 1 << DIGIT;
    static constexpr int64_t SMALL = 256, CACHED = 32768;

    // All keys agree in the bits from `bits` on; `scratch` is as long as the items.
    static void sort(Item* items, int64_t n, int bits, Item* scratch) {
        if (n < 2 || bits <= 0) return;
        if (n <= SMALL) {
            merge_sort(items, int(n), scratch);
            return;
        }
        if (n_equal(items, n) == n) return;
        if (n <= CACHED && bits <= 2 * DIGIT) {
            sort_by_digits(items, n, bits, scratch);
            return;
        }
        int shift = max_of(0, bits - DIGIT), n_digits = 1 << (bits - shift);
        int64_t start[N_DIGITS + 1];
        memset(start, 0, sizeof start);
        for (int64_t i = 0; i < n; ++i) start[digit(items[i], shift, n_digits) + 1] += 1;
        for (int d = 0; d < n_digits; ++d) start[d + 1] += start[d];
        for (int64_t i = 0; i < n; ++i) scratch[start[digit(items[i], shift, n_digits)]++] = items[i];
        memcpy(static_cast<void*>(items), scratch, size_t(n) * sizeof(Item));
        int64_t from = 0;
        for (int d = 0; d < n_digits; ++d) {  // `start` is now the beginning of the next part
            sort(items + from, start[d] - from, shift, scratch + from);
            from = start[d];
        }
    }

    // The number of leading items that have the same key.
    static int64_t n_equal(const Item* items, int64_t n) {
        int64_t k = 1;
        while (k < n && key(items[k]) == key(items[0])) ++k;
        return k;
    }

private:
    static int64_t digit(const Item& item, int shift, int n_digits) {
        return int64_t((key(item) >> shift) & decltype(key(item))(n_digits - 1));
    }

    static void sort_by_digits(Item* items, int64_t n, int bits, Item* scratch) {
        Item *from = items, *to = scratch;
        for (int shift = 0; shift < bits; shift += DIGIT) {
            int32_t count[N_DIGITS];
            memset(count, 0, sizeof count);
            for (int64_t i = 0; i < n; ++i) count[digit(from[i], shift, N_DIGITS)] += 1;
            if (count[digit(from[0], shift, N_DIGITS)] == n) continue;
            int32_t total = 0;
            for (int d = 0; d < N_DIGITS; ++d) {
                int32_t own = count[d];
                count[d] = total;
                total += own;
            }
            for (int64_t i = 0; i < n; ++i) to[count[digit(from[i], shift, N_DIGITS)]++] = from[i];
            Item* other = from;
            from = to;
            to = other;
        }
        if (from != items) memcpy(static_cast<void*>(items), from, size_t(n) * sizeof(Item));
    }

    static void merge_sort(Item* items, int n, Item* scratch) {
        constexpr int RUN = 12;
        for (int a = 0; a < n; a += RUN)
            for (int i = a + 1; i < min_of(a + RUN, n); ++i) {
                Item item = items[i];
                int j = i;
                for (; j > a && key(item) < key(items[j - 1]); --j) items[j] = items[j - 1];
                items[j] = item;
            }
        Item *from = items, *to = scratch;
        for (int width = RUN; width < n; width *= 2) {
            for (int a = 0; a < n; a += 2 * width) {
                int middle = min_of(a + width, n), stop = min_of(a + 2 * width, n), i = a, j = middle, k = a;
                while (i < middle && j < stop) {
                    bool right = key(from[j]) < key(from[i]);
                    to[k++] = right ? from[j] : from[i];
                    i += !right;
                    j += right;
                }
                memcpy(static_cast<void*>(to + k), from + (i < middle ? i : j), size_t(stop - k) * sizeof(Item));
            }
            Item* other = from;
            from = to;
            to = other;
        }
        if (from != items) memcpy(static_cast<void*>(items), from, size_t(n) * sizeof(Item));
    }
};

}  // namespace skew
