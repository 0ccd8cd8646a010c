// The training rows: their codes, classes and weights, and sums over them (`training_set.TrainingSet` in Python).
//
// Weights are stored up to a scale per plane, that is per (label, class) pair. So a round that reweights leaves need
// not touch the rows of the largest leaf. Rows are listed in groups: one group per class if there are two classes, and
// otherwise one group of all rows.
#pragma once
#include "histogram.h"
#include "joint.h"

namespace skew {

constexpr int64_t TASKS = 16;  // the intended number of tasks: enough for many cores, and few enough to add their sums
constexpr int64_t ROWS_PER_SLICE = 32768;
constexpr int64_t SERIAL_CELLS = 50000;         // with fewer cell updates, another thread costs more than it saves
constexpr int64_t MAX_POOL = int64_t(1) << 30;  // the largest size in bytes of the histograms of a growing tree

// A bound on the relative error of a histogram of n weights. Rounding errors are practically random: those of 256 bins
// with n/256 additions each sum to about ε√n/1500 of the total. The bound is about twenty standard deviations, and
// includes the sums over slices and bins.
inline double direct_error(int64_t n) {
    return EPSILON * (4.0 + square_root(double(n)) / 64.0);
}

struct Spec {
    const uint64_t* words;
    int64_t n_rows, n_features;
    const int64_t* n_bins;
    const uint8_t* kinds;
    int64_t n_labels, n_classes;
    const uint16_t* classes;  // [label][row]
    const double* examples;   // per row; null: one each
    int64_t n_jobs;
};

// Histograms for reuse; their memory is not freed.
class HistogramPool {
public:
    ~HistogramPool() {
        for (int64_t k = 0; k < n_made_; ++k) made_[k].clear();
    }
    void set_length(int64_t length) { length_ = length; }
    int64_t length() const { return length_; }
    double* operator[](int64_t slot) const { return made_[slot].data(); }

    // Gives -1 if the pool has reached its largest size; a lack of memory is a status.
    Status take(int64_t& slot) {
        if (n_free_ > 0) {
            slot = free_[--n_free_];
            return DONE;
        }
        slot = -1;
        if (n_made_ > 4 && (n_made_ + 1) * length_ * int64_t(sizeof(double)) > MAX_POOL) return DONE;
        TRY(made_.grow(n_made_ + 1));
        TRY(free_.grow(n_made_ + 1));
        Buffer<double>* fresh = &made_[n_made_];
        memset(static_cast<void*>(fresh), 0, sizeof *fresh);  // an empty buffer consists of zeros
        TRY(fresh->reserve(length_));
        memset(fresh->data(), 0, size_t(length_) * sizeof(double));
        slot = n_made_++;
        return DONE;
    }
    // Sets all histograms to zero, because different kinds of histograms use different cells.
    void wipe() {
        for (int64_t k = 0; k < n_made_; ++k) memset(made_[k].data(), 0, size_t(length_) * sizeof(double));
    }
    void give(int64_t& slot) {
        if (slot >= 0) free_[n_free_++] = slot;
        slot = -1;
    }

private:
    Buffer<Buffer<double>> made_;
    Buffer<int64_t> free_;
    int64_t n_made_ = 0, n_free_ = 0, length_ = 0;
};

// The responses z and their weights w.
struct Responses {
    const double* z = nullptr;
    const double* w = nullptr;
};

class Rows {
public:
    Table table;
    int64_t n_labels = 1, n_classes = 2;
    int64_t n_jobs = 1;
    const double* examples = nullptr;

    Status prepare(const Spec& spec) {
        table = {spec.words, spec.n_rows, spec.n_features, spec.n_bins, spec.kinds};
        n_labels = spec.n_labels;
        n_classes = spec.n_classes;
        n_jobs = max_of<int64_t>(spec.n_jobs, 1);
        examples = spec.examples;
        classes_ = spec.classes;
        int64_t n = table.n_rows;
        TRY(stored_.reserve(n_labels * n));
        TRY(scale_.reserve(n_planes()));
        TRY(all_.reserve(n));
        int64_t counts[2] = {0, 0};
        by_class_ = n_labels == 1 && n_classes == 2;
        if (by_class_)
            for (int64_t i = 0; i < n; ++i) counts[classes_[i]] += 1;
        else
            counts[0] = n;
        begin_[0] = 0;
        begin_[1] = counts[0];
        begin_[2] = n;
        int64_t at[2] = {0, counts[0]};
        for (int64_t i = 0; i < n; ++i) all_[at[by_class_ ? classes_[i] : 0]++] = uint32_t(i);
        return DONE;
    }

    int64_t n_planes() const { return n_labels * n_classes; }
    int64_t n_padded() const { return table.n_blocks() * BLOCK; }
    bool by_class() const { return by_class_; }
    int64_t n_groups(bool responses) const { return by_class_ && !responses ? 2 : 1; }
    const uint32_t* all() const { return all_.data(); }
    // The beginning of a group in the list of all rows; responses have one group.
    int64_t begin(int64_t group, bool responses) const { return responses ? 0 : begin_[group]; }
    int64_t end(int64_t group, bool responses) const { return responses ? table.n_rows : begin_[group + 1]; }

    // The list of all rows in the order of the table, for responses.
    Status in_order(const uint32_t*& rows) {
        if (!by_class_) {
            rows = all_.data();
            return DONE;
        }
        if (in_order_.size() == 0) {
            TRY(in_order_.reserve(table.n_rows));
            for (int64_t i = 0; i < table.n_rows; ++i) in_order_[i] = uint32_t(i);
        }
        rows = in_order_.data();
        return DONE;
    }

    // ------------------------------------------------------------------------------------------- weights

    // Sets the weights of all (label, row), normalised to sum to one. Returns their sum before normalisation.
    double assign(const double* weights) {
        int64_t n = n_labels * table.n_rows;
        double total = sum_of(weights, n);
        int64_t n_tasks = max_of<int64_t>(1, n / ROWS_PER_TASK);
        parallel(n_tasks, n_jobs, [&](int64_t task) {
            for (int64_t i = bound(n, n_tasks, task); i < bound(n, n_tasks, task + 1); ++i)
                stored_[i] = weights[i] / total;
        });
        for (int64_t p = 0; p < n_planes(); ++p) scale_[p] = 1.0;
        return total;
    }

    // Writes the weights of the rows [start, stop), label by label.
    void weights(int64_t start, int64_t stop, double* out) const {
        int64_t n = stop - start, n_tasks = max_of<int64_t>(1, n / ROWS_PER_TASK);
        for (int64_t l = 0; l < n_labels; ++l) {
            const double *own = stored(l) + start, *scale = scale_.data() + l * n_classes;
            const uint16_t* cls = classes(l) + start;
            double* to = out + l * n;
            parallel(n_tasks, n_jobs, [&](int64_t task) {
                for (int64_t i = bound(n, n_tasks, task); i < bound(n, n_tasks, task + 1); ++i)
                    to[i] = own[i] * scale[cls[i]];
            });
        }
    }

    // Multiplies the stored weights by the scales of their planes, before stored weights overflow or underflow. The
    // weights themselves may be as small as exp(-`state.MAX_SPREAD`). Returns whether it did so.
    bool fold_scales() {
        double low = scale_[0], high = scale_[0];
        for (int64_t p = 1; p < n_planes(); ++p) {
            low = min_of(low, scale_[p]);
            high = max_of(high, scale_[p]);
        }
        if (low > 1e-100 && high < 1e25) return false;
        weights(0, table.n_rows, stored_.data());
        double total = sum_of(stored_.data(), n_labels * table.n_rows);
        for (int64_t i = 0; i < n_labels * table.n_rows; ++i) stored_[i] /= total;
        for (int64_t p = 0; p < n_planes(); ++p) scale_[p] = 1.0;
        return true;
    }

    double* stored(int64_t label) const { return stored_.data() + label * table.n_rows; }
    const uint16_t* classes(int64_t label) const { return classes_ + label * table.n_rows; }
    double& scale(int64_t plane) const { return scale_[plane]; }

    // The weights of some rows per plane, summed in parts so that the error does not grow with the number of rows.
    void totals(const uint32_t* rows, int64_t n, int64_t group, const Responses* responses, double* out) const {
        constexpr int64_t PART = 1024;
        if (responses != nullptr) {
            double a = 0.0, b = 0.0;
            for (int64_t start = 0; start < n; start += PART) {
                double pa = 0.0, pb = 0.0;
                for (int64_t i = start; i < min_of(start + PART, n); ++i) {
                    double w = responses->w[rows[i]];
                    pa += w;
                    pb += w * responses->z[rows[i]];
                }
                a += pa;
                b += pb;
            }
            out[0] = a;
            out[1] = b;
            return;
        }
        if (by_class_) {
            double total = 0.0;
            for (int64_t start = 0; start < n; start += PART) {
                double part = 0.0;
                for (int64_t i = start; i < min_of(start + PART, n); ++i) part += stored_[rows[i]];
                total += part;
            }
            out[group] = scale_[group] * total;
            return;
        }
        for (int64_t l = 0; l < n_labels; ++l) {
            double* own = out + l * n_classes;
            for (int64_t c = 0; c < n_classes; ++c) own[c] = 0.0;
            for (int64_t i = 0; i < n; ++i) own[classes(l)[rows[i]]] += stored(l)[rows[i]];
            for (int64_t c = 0; c < n_classes; ++c) own[c] *= scale_[l * n_classes + c];
        }
    }

    double examples_in(const uint32_t* rows, int64_t n) const {
        if (examples == nullptr) return double(n);
        double total = 0.0;
        for (int64_t start = 0; start < n; start += 1024) {
            double part = 0.0;
            for (int64_t i = start; i < min_of(start + 1024, n); ++i) part += examples[rows[i]];
            total += part;
        }
        return total;
    }

    // The weights per (leaf, plane), multiplied by the vector `times` if it is not null; `leaf` is the leaf of every
    // row.
    void sums_of_leaves(const int64_t* leaf, int64_t n_leaves, const double* times, double* out) const {
        for (int64_t k = 0; k < n_leaves * n_planes(); ++k) out[k] = 0.0;
        for (int64_t l = 0; l < n_labels; ++l)
            for (int64_t i = 0; i < table.n_rows; ++i) {
                int64_t p = l * n_classes + classes(l)[i];
                double w = stored(l)[i] * scale_[p];
                out[leaf[i] * n_planes() + p] += times == nullptr ? w : w * times[i];
            }
    }

    // Multiplies the weights of each (leaf, plane) by its factor and normalises. Returns their sum before
    // normalisation.
    double reweight_leaves(const int64_t* leaf, const double* factors) {
        int64_t n = table.n_rows;
        for (int64_t l = 0; l < n_labels; ++l)
            for (int64_t i = 0; i < n; ++i) {
                int64_t p = l * n_classes + classes(l)[i];
                stored(l)[i] *= scale_[p] * factors[leaf[i] * n_planes() + p];
            }
        return assign(stored_.data());
    }

    // ------------------------------------------------------------------------------------------- histograms

    // The histogram of a vector over all rows, `[feature][code]`.
    Status sum_vector(const double* values, double* out) {
        return sum(1, table.n_rows, 1, 0, 1, out, [&](int64_t, int64_t block, int64_t a, int64_t b, double* to) {
            const uint64_t* words = table.block(block);
            with_width(table, block, [&](auto width) {
                for (int64_t i = a; i < b; ++i) add_word(words[i], values[i], to, N_CODES, width);
            });
        });
    }

    // Σ w z², in parts that are summed on several threads.
    double sum_squares(const Responses& responses) const {
        constexpr int64_t PART = 1024, MAX_PARTS = 64;
        int64_t n = table.n_rows, n_parts = min_of(MAX_PARTS, max_of<int64_t>(1, n / ROWS_PER_TASK));
        double sums[MAX_PARTS];
        parallel(n_parts, n_jobs, [&](int64_t part) {
            int64_t stop = bound(n, n_parts, part + 1);
            double own[PART], total = 0.0;
            for (int64_t start = bound(n, n_parts, part); start < stop; start += PART) {
                int64_t m = min_of(PART, stop - start);
                const double *z = responses.z + start, *w = responses.w + start;
                for (int64_t i = 0; i < m; ++i) own[i] = w[i] * z[i] * z[i];
                total += sum_of(own, m);
            }
            sums[part] = total;
        });
        return sum_of(sums, n_parts);
    }

    int64_t slot_length(bool responses) const {
        return responses ? n_padded() * 2 * N_CODES : n_padded() * n_planes() * N_CODES;
    }

    // Calls work(offset, length) for the cells of some planes of a block that can be occupied. Other cells are never
    // written and stay zero.
    template <class Work>
    void for_cells(int64_t block, int64_t planes, int64_t first, int64_t count, Work&& work) const {
        for (int64_t k = 0; k < BLOCK; ++k) {
            int64_t f = block * BLOCK + k;
            int64_t n = f < table.n_features ? table.n_bins[f] : 1;
            for (int64_t p = first; p < first + count; ++p) {
                work((k * planes + p) * N_CODES, n);
                work((k * planes + p) * N_CODES + MISSING, int64_t(1));
            }
        }
    }

    // Calls work(offset, length) for the cells of one plane of a histogram.
    template <class Work>
    void for_plane(int64_t plane, Work&& work) const {
        int64_t blocks = table.n_blocks(), length = BLOCK * n_classes * N_CODES, label = plane / n_classes;
        for (int64_t block = 0; block < blocks; ++block)
            for_cells(block, n_classes, plane % n_classes, 1,
                      [&](int64_t at, int64_t m) { work((label * blocks + block) * length + at, m); });
    }

    // The number of slices into which rows are divided. It depends only on the shape of the data, and so does the order
    // of sums.
    int64_t n_slices(int64_t n) const {
        int64_t wanted = (TASKS + table.n_blocks() - 1) / table.n_blocks();
        return max_of<int64_t>(1, min_of(wanted, n / ROWS_PER_SLICE));
    }

    // Sums `count` planes, from `first` on, of a histogram `[part][block][feature][plane][code]`. A task is a part, a
    // slice of the rows and a block, and calls add(part, block, first row, end row, cells). Slices after the first have
    // memory of their own and are added in order.
    template <class Add>
    Status sum(int64_t n_parts, int64_t n, int64_t planes, int64_t first, int64_t count, double* out, Add&& add) {
        int64_t slices = n_slices(n), blocks = table.n_blocks(), length = BLOCK * planes * N_CODES;
        int64_t units = n_parts * blocks;
        if (slices > 1) TRY(slices_.reserve((slices - 1) * units * length));
        int64_t jobs = n * units * BLOCK > SERIAL_CELLS ? n_jobs : 1;
        parallel(slices * units, jobs, [&](int64_t task) {
            int64_t slice = task / units, unit = task % units, block = unit % blocks;
            double* to = slice == 0 ? out + unit * length : slices_.data() + ((slice - 1) * units + unit) * length;
            for_cells(block, planes, first, count,
                      [&](int64_t at, int64_t m) { memset(to + at, 0, size_t(m) * sizeof(double)); });
            add(unit / blocks, block, bound(n, slices, slice), bound(n, slices, slice + 1), to);
        });
        if (slices == 1) return DONE;
        parallel(units, jobs, [&](int64_t unit) {
            for (int64_t s = 1; s < slices; ++s) {
                const double* from = slices_.data() + ((s - 1) * units + unit) * length;
                double* to = out + unit * length;
                for_cells(unit % blocks, planes, first, count, [&](int64_t at, int64_t m) {
                    for (int64_t k = at; k < at + m; ++k) to[k] += from[k];
                });
            }
        });
        return DONE;
    }

    // The histogram of all rows of two classes, in the order of the table and without a list of rows.
    Status sum_all(double* out) {
        return sum(1, table.n_rows, 2, 0, 2, out, [&](int64_t, int64_t block, int64_t a, int64_t b, double* to) {
            const uint64_t* words = table.block(block);
            with_width(table, block, [&](auto width) {
                for (int64_t i = a; i < b; ++i) {
                    int64_t cls = classes_[i];
                    add_word(words[i], scale_[cls] * stored_[i], to + cls * N_CODES, 2 * N_CODES, width);
                }
            });
        });
    }

    // One plane of the histogram of some rows of two classes, given the values of these rows.
    Status sum_class(const uint32_t* rows, const double* values, int64_t n, int64_t plane, double* out) {
        return sum(1, n, 2, plane, 1, out, [&](int64_t, int64_t block, int64_t a, int64_t b, double* to) {
            add_plane(table, block, rows + a, values + a, b - a, 2 * N_CODES, to + plane * N_CODES);
        });
    }

    // The histogram of rows with more than two classes, or with several labels. The values of some rows are looked up
    // at a time. With several labels a task is a label, so that the values serve all blocks.
    Status sum_classes(const uint32_t* rows, int64_t n, double* out) {
        int64_t blocks = table.n_blocks(), length = BLOCK * n_classes * N_CODES;
        if (n_labels == 1)
            return sum(1, n, n_classes, 0, n_classes, out,
                       [&](int64_t, int64_t block, int64_t a, int64_t b, double* to) {
                           for_values(0, rows + a, b - a,
                                      [&](const uint32_t* some, const double* values, const uint16_t* of, int64_t m) {
                                          add_classes(table, block, some, values, of, m, n_classes * N_CODES, to);
                                      });
                       });
        parallel(n_labels, n * n_labels * n_padded() > SERIAL_CELLS ? n_jobs : 1, [&](int64_t l) {
            double* to = out + l * blocks * length;
            for (int64_t block = 0; block < blocks; ++block)
                for_cells(block, n_classes, 0, n_classes, [&](int64_t at, int64_t m) {
                    memset(to + block * length + at, 0, size_t(m) * sizeof(double));
                });
            for_values(l, rows, n, [&](const uint32_t* some, const double* values, const uint16_t* of, int64_t m) {
                for (int64_t block = 0; block < blocks; ++block)
                    add_classes(table, block, some, values, of, m, n_classes * N_CODES, to + block * length);
            });
        });
        return DONE;
    }

    // Calls work(rows, values, classes, number of rows) for parts of the rows.
    template <class Work>
    void for_values(int64_t label, const uint32_t* rows, int64_t n, Work&& work) const {
        constexpr int64_t PART = 1024;
        double values[PART];
        uint16_t planes[PART];
        for (int64_t start = 0; start < n; start += PART) {
            int64_t m = min_of(PART, n - start);
            for (int64_t i = 0; i < m; ++i) {
                uint32_t row = rows[start + i];
                planes[i] = classes(label)[row];
                values[i] = scale_[label * n_classes + planes[i]] * stored(label)[row];
            }
            work(rows + start, values, planes, m);
        }
    }

    // The histogram of responses: Σw and Σwz. `pairs` are the pairs (w, wz) of the rows, or null if these are all rows
    // in order.
    Status sum_responses(const uint32_t* rows, const double* pairs, const Responses& responses, int64_t n,
                         double* out) {
        return sum(1, n, 2, 0, 2, out, [&](int64_t, int64_t block, int64_t a, int64_t b, double* to) {
            alignas(64) double cells[BLOCK * 2 * N_CODES];
            memset(cells, 0, sizeof cells);
            const uint64_t* words = table.block(block);
            with_width(table, block, [&](auto width) {
                if (pairs == nullptr)
                    for (int64_t i = a; i < b; ++i) {
                        double w = responses.w[i];
                        add_pair(words[i], Pair{w, w * responses.z[i]}, cells, width);
                    }
                else
                    for_words(words, rows + a, b - a, [&](int64_t i, uint64_t v) {
                        const double* own = pairs + 2 * (a + i);
                        add_pair(v, Pair{own[0], own[1]}, cells, width);
                    });
            });
            planes_of_pairs(cells, to);
        });
    }

    // Adds the number of examples per cell to `[feature][code]`; without examples, the number of rows.
    void count(const uint32_t* rows, int64_t n, double* out) const {
        int64_t jobs = n * n_padded() > SERIAL_CELLS ? n_jobs : 1;
        parallel(table.n_blocks(), jobs, [&](int64_t block) {
            double* to = out + block * BLOCK * N_CODES;
            for_words(table.block(block), rows, n, [&](int64_t i, uint64_t v) {
                add_word(v, examples == nullptr ? 1.0 : examples[rows[i]], to, N_CODES);
            });
        });
    }

    // Copies the values of rows: stored weights of one class times a scale, or pairs (w, wz).
    Status gather(const uint32_t* rows, int64_t n, double scale, const Responses* responses, Buffer<double>& values) {
        TRY(values.reserve(responses != nullptr ? 2 * n : n));
        int64_t n_tasks = max_of<int64_t>(1, n / ROWS_PER_TASK);
        double* out = values.data();
        parallel(n_tasks, n_jobs, [&](int64_t task) {
            int64_t a = bound(n, n_tasks, task), b = bound(n, n_tasks, task + 1);
            if (responses != nullptr) {
                for (int64_t i = a; i < b; ++i) {
                    double w = responses->w[rows[i]];
                    out[2 * i] = w;
                    out[2 * i + 1] = w * responses->z[rows[i]];
                }
            } else {
                for (int64_t i = a; i < b; ++i) out[i] = scale * stored_[rows[i]];
            }
        });
        return DONE;
    }

private:
    bool by_class_ = true;
    const uint16_t* classes_ = nullptr;
    Buffer<double> stored_, scale_, slices_;
    Buffer<uint32_t> all_, in_order_;
    int64_t begin_[3] = {0, 0, 0};
};

}  // namespace skew
