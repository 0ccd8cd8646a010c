// A binned table: `words[block][row]` holds the codes of eight features of a row, with feature 8·block + k in byte k.
// One load per row serves the sums of eight features.
#pragma once
#include "threads.h"

namespace skew {

constexpr int64_t ROWS_AT_A_TIME =
    512;  // rows that are encoded together, column by column, so that they stay in the cache
constexpr int64_t ROWS_PER_TASK = 8192;

struct Table {
    const uint64_t* words;
    int64_t n_rows;
    int64_t n_features;
    const int64_t* n_bins;  // codes in use, per feature
    const uint8_t* kinds;   // per feature 0: numbers, 1: categories, 2: categories that are split in the order of codes

    bool nominal(int64_t f) const { return kinds[f] == 1; }
    bool ordered(int64_t f) const { return kinds[f] == 2; }
    int64_t n_blocks() const { return (n_features + BLOCK - 1) / BLOCK; }
    const uint64_t* block(int64_t b) const { return words + b * n_rows; }
};

inline int code_in(uint64_t word, int64_t feature) {
    return int((word >> (8 * (feature & 7))) & 255);
}

// The cuts of a feature with a lookup table: the range of the cuts is divided into cells of equal width, and `first_`
// is the number of cuts in the cells before each. Only the cuts of one cell remain to be searched by bisection without
// branches: one or two if the cuts are spread evenly, all of them at worst.
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
            largest = max_of(largest, count[c]);
        }
        half_ = 1;
        while (2 * half_ <= uint64_t(largest)) half_ *= 2;
    }

    // The number of cuts below x: cuts in earlier cells are below x, and cuts in later cells are above it.
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

    double cuts_[2 * N_CODES];  // padded with infinity
    double low_ = 0.0, scale_ = 0.0;
    uint64_t half_ = 1;  // the largest power of two up to the largest number of cuts in a cell
    uint8_t first_[N_CELLS];
};

// A matrix with any strides (in elements).
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
    int64_t n_tasks = max_of<int64_t>(1, n_rows / (16 * ROWS_AT_A_TIME));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        int64_t stop = bound(n_rows, n_tasks, task + 1);
        for (int64_t a = bound(n_rows, n_tasks, task); a < stop; a += ROWS_AT_A_TIME) {
            int64_t b = min_of(a + ROWS_AT_A_TIME, stop);
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

// Writes the given codes of one feature into the table.
inline void store_codes(const uint8_t* codes, int64_t n_rows, int64_t feature, uint64_t* words) {
    uint64_t* out = words + (feature >> 3) * n_rows;
    int shift = int(8 * (feature & 7));
    for (int64_t i = 0; i < n_rows; ++i) out[i] |= uint64_t(codes[i]) << shift;
}

// Writes values[code] of one feature for all rows.
inline void look_up(const uint64_t* words, int64_t n_rows, int64_t feature, const double* values, double* out,
                    int64_t n_jobs) {
    int64_t n_tasks = max_of<int64_t>(1, n_rows / ROWS_PER_TASK);
    const uint64_t* block = words + (feature >> 3) * n_rows;
    int shift = int(8 * (feature & 7));
    parallel(n_tasks, n_jobs, [&](int64_t task) {
        int64_t stop = bound(n_rows, n_tasks, task + 1);
        for (int64_t i = bound(n_rows, n_tasks, task); i < stop; ++i) out[i] = values[(block[i] >> shift) & 255];
    });
}

}  // namespace skew
