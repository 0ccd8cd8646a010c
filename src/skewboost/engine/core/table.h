// A binned table: `words[block][row]` holds the codes of eight features of a row, feature 8·block + k in byte k.
// Summing a block takes one load per row for eight features.
#pragma once
#include "threads.h"

namespace skew {

constexpr int64_t ROWS_AT_A_TIME = 512;  // that are gone through column by column: they stay in the cache
constexpr int64_t ROWS_PER_TASK = 32768;

struct Table {
    const uint64_t* words;
    int64_t n_rows;
    int64_t n_features;
    const int64_t* n_bins;   // codes in use, per feature
    const uint8_t* nominal;  // whether the codes are names rather than ranks

    int64_t n_blocks() const { return (n_features + BLOCK - 1) / BLOCK; }
    const uint64_t* block(int64_t b) const { return words + b * n_rows; }
};

inline int code_in(uint64_t word, int64_t feature) {
    return int((word >> (8 * (feature & 7))) & 255);
}

// The cuts of a feature, and a guide to them: the range of the cuts is divided into cells of equal width, and `first`
// says how many cuts lie in the cells before each. What is left are the cuts of one cell, one or two where they are
// spread evenly and all of them at worst, found by halvings without a branch.
class Cuts {
public:
    void set(const double* cuts, int64_t n) {
        for (int64_t k = 0; k < 2 * N_CODES; ++k) cuts_[k] = k < n ? cuts[k] : INFINITE;
        low_ = n > 0 ? cuts[0] : 0.0;
        double width = n > 0 ? cuts[n - 1] - low_ : 0.0;
        scale_ = width > 0.0 && width < INFINITE ? double(N_CELLS - 1) / width : 0.0;
        int count[N_CELLS] = {0}, largest = 0, total = 0;
        for (int64_t k = 0; k < n; ++k) count[cell(cuts[k])] += 1;
        for (int c = 0; c < N_CELLS; ++c) {
            first_[c] = uint8_t(total);
            total += count[c];
            largest = most(largest, count[c]);
        }
        half_ = 1;
        while (2 * half_ <= uint64_t(largest)) half_ *= 2;
    }

    // The number of cuts below x: a cut in a cell before that of x is below it, one in a cell behind it is above.
    uint64_t below(double x) const {
        uint64_t k = first_[cell(x)];
        for (uint64_t step = half_; step > 0; step >>= 1) k += cuts_[k + step - 1] < x ? step : 0;
        return k;
    }

    uint8_t code(double x) const { return x != x ? uint8_t(MISSING) : uint8_t(below(x)); }

private:
    static constexpr int N_CELLS = 1024;

    int cell(double x) const {
        double at = (x - low_) * scale_;
        return int(at > 0.0 ? (at < double(N_CELLS - 1) ? at : double(N_CELLS - 1)) : 0.0);
    }

    double cuts_[2 * N_CODES];  // the last ones infinite
    double low_ = 0.0, scale_ = 0.0;
    uint64_t half_ = 1;  // the largest power of two that is not beyond the cuts of a cell
    uint8_t first_[N_CELLS];
};

// Numbers in a matrix of any strides (in elements).
template <class T>
struct Matrix {
    const T* data;
    int64_t row_stride, column_stride;
    double at(int64_t row, int64_t column) const { return double(data[row * row_stride + column * column_stride]); }
};

// `ReferenceEngine.encode` of numeric columns: column[c] of X becomes feature[c], with n_cuts[c] of the given cuts.
template <class T>
Status encode(Matrix<T> X, int64_t n_rows, int64_t n_columns, const int64_t* column, const int64_t* feature,
              const double* cuts, const int64_t* n_cuts, uint64_t* words, int64_t n_jobs) {
    Buffer<Cuts> guides;
    TRY(guides.reserve(n_columns));
    for (int64_t c = 0; c < n_columns; ++c) guides[c].set(cuts + c * N_CODES, n_cuts[c]);
    int64_t n_tasks = most<int64_t>(1, n_rows / (16 * ROWS_AT_A_TIME));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        int64_t stop = bound(n_rows, n_tasks, task + 1);
        for (int64_t a = bound(n_rows, n_tasks, task); a < stop; a += ROWS_AT_A_TIME) {
            int64_t b = least(a + ROWS_AT_A_TIME, stop);
            for (int64_t c = 0; c < n_columns; ++c) {
                const Cuts& guide = guides[c];
                uint64_t* out = words + (feature[c] >> 3) * n_rows;
                int shift = int(8 * (feature[c] & 7));
                for (int64_t i = a; i < b; ++i) out[i] |= uint64_t(guide.code(X.at(i, column[c]))) << shift;
            }
        }
    });
    return DONE;
}

// Put ready codes of one feature into the table.
inline void store_codes(const uint8_t* codes, int64_t n_rows, int64_t feature, uint64_t* words) {
    uint64_t* out = words + (feature >> 3) * n_rows;
    int shift = int(8 * (feature & 7));
    for (int64_t i = 0; i < n_rows; ++i) out[i] |= uint64_t(codes[i]) << shift;
}

// values[code] of one feature for all rows.
inline void look_up(const uint64_t* words, int64_t n_rows, int64_t feature, const double* values, double* out,
                    int64_t n_jobs) {
    int64_t n_tasks = most<int64_t>(1, n_rows / ROWS_PER_TASK);
    const uint64_t* block = words + (feature >> 3) * n_rows;
    int shift = int(8 * (feature & 7));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        int64_t stop = bound(n_rows, n_tasks, task + 1);
        for (int64_t i = bound(n_rows, n_tasks, task); i < stop; ++i) out[i] = values[(block[i] >> shift) & 255];
    });
}

// Sorting numbers by the bits that order like them: flipping the sign bit of a positive number, and every bit of a
// negative one, makes patterns sort like numbers. Many keys are divided by their leading eleven bits, and the parts
// sorted by the next ones; as soon as a part fits into the cache it is sorted from its last digit to its first, or if
// it is small by merging.
template <class Key>
class KeySort {
public:
    static constexpr int DIGIT = 11, N_DIGITS = 1 << DIGIT, BITS = int(8 * sizeof(Key)), LAST = BITS - 1;
    static constexpr int64_t SMALL = 256, CACHED = 32768;

    // The numbers of a column without NaN, as keys; returns how many there are.
    template <class T>
    static int64_t keys_of(const T* x, int64_t step, int64_t n, Key* keys) {
        int64_t m = 0;
        for (int64_t i = 0; i < n; ++i) {
            T value = x[i * step];
            Key k;
            memcpy(&k, &value, sizeof k);
            keys[m] = k ^ (SIGN | Key(Key(0) - (k >> LAST)));
            m += value == value;
        }
        return m;
    }

    static void numbers_of(Key* keys, int64_t n) {
        for (int64_t i = 0; i < n; ++i) keys[i] ^= SIGN | Key((keys[i] >> LAST) - Key(1));
    }

    // Sort keys of which all bits from `bits` on are equal; `room` is as long.
    static void sort(Key* keys, int64_t n, int bits, Key* room) {
        if (n < 2 || bits <= 0) return;
        if (n <= SMALL) {
            merge_sort(keys, int(n), room);
            return;
        }
        if (n <= CACHED && bits <= 2 * DIGIT) {
            sort_by_digits(keys, n, bits, room);
            return;
        }
        int shift = most(0, bits - DIGIT), n_digits = 1 << (bits - shift);
        int64_t start[N_DIGITS + 1];
        memset(start, 0, sizeof start);
        for (int64_t i = 0; i < n; ++i) start[((keys[i] >> shift) & Key(n_digits - 1)) + 1] += 1;
        for (int d = 0; d < n_digits; ++d) start[d + 1] += start[d];
        for (int64_t i = 0; i < n; ++i) room[start[(keys[i] >> shift) & Key(n_digits - 1)]++] = keys[i];
        memcpy(keys, room, size_t(n) * sizeof(Key));
        int64_t from = 0;
        for (int d = 0; d < n_digits; ++d) {  // `start` has moved on to where the next part begins
            sort(keys + from, start[d] - from, shift, room + from);
            from = start[d];
        }
    }

private:
    static constexpr Key SIGN = Key(1) << LAST;

    static void sort_by_digits(Key* keys, int64_t n, int bits, Key* room) {
        Key *from = keys, *to = room;
        for (int shift = 0; shift < bits; shift += DIGIT) {
            int32_t count[N_DIGITS];
            memset(count, 0, sizeof count);
            for (int64_t i = 0; i < n; ++i) count[(from[i] >> shift) & (N_DIGITS - 1)] += 1;
            if (count[(from[0] >> shift) & (N_DIGITS - 1)] == n) continue;
            int32_t total = 0;
            for (int d = 0; d < N_DIGITS; ++d) {
                int32_t own = count[d];
                count[d] = total;
                total += own;
            }
            for (int64_t i = 0; i < n; ++i) to[count[(from[i] >> shift) & (N_DIGITS - 1)]++] = from[i];
            Key* other = from;
            from = to;
            to = other;
        }
        if (from != keys) memcpy(keys, from, size_t(n) * sizeof(Key));
    }

    static void merge_sort(Key* keys, int n, Key* room) {
        constexpr int RUN = 12;
        for (int a = 0; a < n; a += RUN)
            for (int i = a + 1; i < least(a + RUN, n); ++i) {
                Key key = keys[i];
                int j = i;
                for (; j > a && key < keys[j - 1]; --j) keys[j] = keys[j - 1];
                keys[j] = key;
            }
        Key *from = keys, *to = room;
        for (int width = RUN; width < n; width *= 2) {
            for (int a = 0; a < n; a += 2 * width) {
                int middle = least(a + width, n), stop = least(a + 2 * width, n), i = a, j = middle, k = a;
                while (i < middle && j < stop) {
                    bool right = from[j] < from[i];
                    to[k++] = right ? from[j] : from[i];
                    i += !right;
                    j += right;
                }
                memcpy(to + k, from + (i < middle ? i : j), size_t(stop - k) * sizeof(Key));
            }
            Key* other = from;
            from = to;
            to = other;
        }
        if (from != keys) memcpy(keys, from, size_t(n) * sizeof(Key));
    }
};

// The numbers of a column, `step` elements apart, in order and without NaN; `n_found` is how many there are.
template <class T, class Key>
Status sort_column(const T* x, int64_t step, int64_t n, T* sorted, int64_t& n_found) {
    Buffer<Key> keys, room;
    TRY(keys.reserve(n + 1));
    TRY(room.reserve(n + 1));
    n_found = KeySort<Key>::keys_of(x, step, n, keys.data());
    KeySort<Key>::sort(keys.data(), n_found, KeySort<Key>::BITS, room.data());
    KeySort<Key>::numbers_of(keys.data(), n_found);
    memcpy(sorted, keys.data(), size_t(n_found) * sizeof(T));
    return DONE;
}

}  // namespace skew
