// Reweighting leaves, and the histogram of the next root (`TrainingSet.reweight`).
#pragma once
#include "small_nodes.h"
#include "stump.h"
#include "tree.h"

namespace skew {

// Multiplies the stored weights of rows by the ratio of their plane.
inline void Grower::scale_rows(const uint32_t* list, int64_t n, int64_t group, const double* ratios) {
    int64_t parts = max_of<int64_t>(1, n / ROWS_PER_TASK);
    if (n_groups_ > 1) {
        double *stored = rows_.stored(0), ratio = ratios[group];
        parallel(parts, rows_.n_jobs, [&](int64_t part) {
            for (int64_t i = bound(n, parts, part); i < bound(n, parts, part + 1); ++i) stored[list[i]] *= ratio;
        });
        return;
    }
    int64_t jobs = n * rows_.n_labels > ROWS_PER_TASK ? rows_.n_jobs : 1;
    parallel(rows_.n_labels * parts, jobs, [&](int64_t task) {
        int64_t l = task / parts, part = task % parts;
        double* stored = rows_.stored(l);
        const uint16_t* cls = rows_.classes(l);
        const double* own = ratios + l * rows_.n_classes;
        for (int64_t i = bound(n, parts, part); i < bound(n, parts, part + 1); ++i)
            stored[list[i]] *= own[cls[list[i]]];
    });
}

inline Status Grower::reweight(const double* factors, double& total, bool& rescaled) {
    total = total_of(factors, sums_.data(), n_leaves_);
    bool known = false;
    if (restricted_.need_direct_sums())
        known = false;  // the next root is summed
    else if (!is_stump())
        TRY(root_after_tree(factors, total, known));
    else if (!sums_all())
        known = root_after_stump(factors, total);
    TRY(ratios_.reserve(n_planes_));
    for (int64_t g = 0; g < n_groups_; ++g) {
        // the rows of the largest leaf are not touched: their factor goes into the scale of the group
        int64_t rest = 0;
        for (int64_t k = 1; k < n_leaves_; ++k)
            if (leaf(k).size[g] > leaf(rest).size[g]) rest = k;
        if (is_stump()) rest = rest_[g];
        for (int64_t k = 0; k < n_leaves_; ++k) {
            if (k == rest || leaf(k).size[g] == 0) continue;
            for (int64_t p = first_plane(g); p < end_plane(g); ++p)
                ratios_[p] = factors[k * n_planes_ + p] / factors[rest * n_planes_ + p];
            scale_rows(rows_of(leaf(k), g), leaf(k).size[g], g, ratios_.data());
        }
        for (int64_t p = first_plane(g); p < end_plane(g); ++p) rows_.scale(p) *= factors[rest * n_planes_ + p] / total;
    }
    if (!known) slots_.give(root_slot_);
    root_known_ = known;
    grown_ = false;
    rescaled = rows_.fold_scales();
    if (rescaled) forget_root();
    return DONE;
}

// The histogram of all rows under the current weights, if it is known: that of the next root, or of the last stump.
inline double* Grower::known_root() {
    if (root_known_) return slots_[root_slot_];
    if (!grown_ || n_splits_ > 1 || nodes_[0].slot < 0) return nullptr;
    keep_root();
    return slots_[root_slot_];
}

inline Status Grower::feature_sums(int64_t feature, double* out) {
    use_labels();
    const double* root = known_root();
    if (root == nullptr) TRY(root_histogram(root));
    memcpy(out, root + feature * 2 * N_CODES, 2 * N_CODES * sizeof(double));
    return DONE;
}

// The stored weights of the largest leaf stay unchanged. The next root is the old one plus the changes of the others.
inline Status Grower::reweight_codes(int64_t feature, const uint8_t* leaf_of_code, int64_t n_leaves,
                                     const double* factors, double& total, bool& rescaled) {
    const double* per_code;
    TRY(rows_per_code(per_code));
    double sums[2 * N_CODES];
    TRY(feature_sums(feature, sums));
    total = 0.0;
    for (int p = 0; p < 2; ++p)
        for (int k = 0; k < N_CODES; ++k) total += sums[p * N_CODES + k] * factors[2 * leaf_of_code[k] + p];
    double* root = known_root();
    int64_t change;
    TRY(slots_.take(change));
    if (change < 0) return NO_MEMORY;
    bool known = true;
    const uint64_t* words = rows_.table.block(feature >> 3);
    for (int64_t g = 0; g < 2; ++g) {
        const double* own = per_code + (g * rows_.n_padded() + feature) * N_CODES;
        double sizes[N_CODES] = {0.0};
        for (int k = 0; k < N_CODES; ++k) sizes[leaf_of_code[k]] += own[k];
        int64_t rest = 0;
        for (int64_t k = 1; k < n_leaves; ++k)
            if (sizes[k] > sizes[rest]) rest = k;
        double moves[N_CODES];
        uint8_t stays[N_CODES];
        for (int k = 0; k < N_CODES; ++k) {
            moves[k] = factors[2 * leaf_of_code[k] + g] / factors[2 * rest + g];
            stays[k] = moves[k] == 1.0;
        }
        int64_t begin = rows_.begin(g, false), n = rows_.end(g, false) - begin, n_moved = 0;
        for (int k = 0; k < N_CODES; ++k) n_moved += stays[k] ? 0 : int64_t(own[k]);
        uint32_t* list = list_.data() + begin;
        TRY(select(rows_.all() + begin, n, feature, stays, 0, list, spare_.data() + begin));
        TRY(values_.reserve(n_moved));
        double *stored = rows_.stored(0), scale = rows_.scale(g), factor = factors[2 * rest + g] / total;
        for (int64_t i = 0; i < n_moved; ++i) {
            uint32_t row = list[i];
            double before = stored[row];
            stored[row] = before * moves[code_in(words[row], feature)];
            values_[i] = scale * (stored[row] - before);
        }
        rows_.scale(g) *= factor;
        TRY(rows_.sum_class(list, values_.data(), n_moved, g, slots_[change]));
        double moved = size_of_plane(slots_[change], g), weight = 0.0;
        const double* by = slots_[change];
        rows_.for_plane(g, [=](int64_t at, int64_t m) {
            for (int64_t k = at; k < at + m; ++k) {
                double sum = root[k] + by[k];
                root[k] = (sum > 0.0 ? sum : 0.0) * factor;
            }
        });
        weight = size_of_plane(root, g);
        root_error_[g] = factor * (root_error_[g] + direct_error(n_moved) * moved) + EPSILON * weight;
        known = known && root_error_[g] <= MAX_ROOT_ERROR * weight;
    }
    slots_.give(change);
    root_derived_ = true;
    grown_ = false;
    if (!known) forget_root();
    rescaled = rows_.fold_scales();
    if (rescaled) forget_root();
    return DONE;
}

// The next root after a stump: Σ factor · part, plus the last factor times the whole less the parts.
inline bool Grower::root_after_stump(const double* factors, double total) {
    Node& root = nodes_[0];
    for (int64_t p = 0; p < n_planes_; ++p) {
        int64_t rest = rest_[n_groups_ > 1 ? p : 0];
        double of_rest = factors[rest * n_planes_ + p] / total, weight = 0.0;
        double lost = error_of(root)[p], error = 0.0;
        for (int64_t k = 0; k < n_leaves_; ++k) {
            weight += sums_[k * n_planes_ + p] * factors[k * n_planes_ + p] / total;
            if (k == rest) continue;
            double own = error_of(leaf(k))[p];
            lost += own;
            error += own * (factors[k * n_planes_ + p] / total);
        }
        root_error_[p] = EPSILON * weight + of_rest * lost + error;
        if (too_large(root_error_[p], factors, total, p)) return false;
    }
    double* whole = slots_[root.slot];
    for (int64_t p = 0; p < n_planes_; ++p) {
        int64_t rest = rest_[n_groups_ > 1 ? p : 0];
        double of_rest = factors[rest * n_planes_ + p] / total;
        int64_t one = rest == 0 ? 1 : 0,
                other = 3 - one - rest;  // the other sides; the last of three if there is one
        const double* a = slots_[leaf(one).slot];
        double fa = factors[one * n_planes_ + p] / total;
        if (n_leaves_ == 2) {
            rows_.for_plane(p, [=](int64_t at, int64_t m) {
                for (int64_t k = at; k < at + m; ++k) {
                    double left = whole[k] - a[k];
                    whole[k] = (left > 0.0 ? left : 0.0) * of_rest + fa * a[k];
                }
            });
            continue;
        }
        const double* b = slots_[leaf(other).slot];
        double fb = factors[other * n_planes_ + p] / total;
        rows_.for_plane(p, [=](int64_t at, int64_t m) {
            for (int64_t k = at; k < at + m; ++k) {
                double left = whole[k] - a[k] - b[k];
                whole[k] = (left > 0.0 ? left : 0.0) * of_rest + (fa * a[k] + fb * b[k]);
            }
        });
    }
    root_slot_ = root.slot;
    root.slot = -1;
    root_derived_ = true;
    return true;
}

// The next root after a tree: Σ factor · histogram over the leaves. Rows of leaves without a histogram are added one by
// one.
inline Status Grower::root_after_tree(const double* factors, double total, bool& known) {
    known = false;
    int64_t per_label = n_planes_ / rows_.n_labels;
    if (n_leaves_ * (N_CODES / 2) * per_label > rows_.table.n_rows) return DONE;  // summing all rows is cheaper
    for (int64_t k = 0; k < n_splits_; ++k) {
        int64_t index = split_nodes_[k];
        if (nodes_[index].slot >= 0 && !is_small(nodes_[index])) TRY(give_histograms(index));
    }
    int64_t first = -1;
    for (int64_t k = 0; k < n_leaves_ && first < 0; ++k)
        if (leaf(k).slot >= 0) first = k;
    if (first < 0) return DONE;
    for (int64_t p = 0; p < n_planes_; ++p) {
        double weight = 0.0, error = 0.0;
        for (int64_t k = 0; k < n_leaves_; ++k) {
            double own = sums_[k * n_planes_ + p] * factors[k * n_planes_ + p] / total;
            weight += own;
            error += leaf(k).slot >= 0 ? error_of(leaf(k))[p] * (factors[k* n_planes_ + p] / total)
                                       : direct_error(rows_.table.n_rows) * own;
        }
        root_error_[p] = EPSILON * weight + error;
        if (too_large(root_error_[p], factors, total, p)) return DONE;
    }
    double* out = slots_[leaf(first).slot];
    for (int64_t p = 0; p < n_planes_; ++p) {
        double own = factors[first * n_planes_ + p] / total;
        rows_.for_plane(p, [=](int64_t at, int64_t m) {
            for (int64_t k = at; k < at + m; ++k) out[k] *= own;
        });
        for (int64_t k = first + 1; k < n_leaves_; ++k) {
            if (leaf(k).slot < 0) continue;
            const double* h = slots_[leaf(k).slot];
            double f = factors[k * n_planes_ + p] / total;
            rows_.for_plane(p, [=](int64_t at, int64_t m) {
                for (int64_t j = at; j < at + m; ++j) out[j] += f * h[j];
            });
        }
    }
    TRY(add_rows_of_leaves(factors, total, out));
    root_slot_ = leaf(first).slot;
    nodes_[leaf_nodes_[first]].slot = -1;
    root_derived_ = known = true;
    return DONE;
}

inline Status Grower::add_rows_of_leaves(const double* factors, double total, double* out) {
    for (int64_t k = 0; k < n_leaves_; ++k) {
        if (leaf(k).slot >= 0) continue;
        for (int64_t g = 0; g < n_groups_; ++g) {
            const uint32_t* list = rows_of(leaf(k), g);
            int64_t n = leaf(k).size[g];
            for (int64_t l = 0; l < (n_groups_ > 1 ? 1 : rows_.n_labels); ++l) {
                double* to = out + l * rows_.n_padded() * rows_.n_classes * N_CODES;
                for (int64_t i = 0; i < n; ++i) {
                    int64_t cls = rows_.classes(l)[list[i]], p = l * rows_.n_classes + cls;
                    double w = rows_.scale(p) * rows_.stored(l)[list[i]] * (factors[k * n_planes_ + p] / total);
                    for (int64_t block = 0; block < rows_.table.n_blocks(); ++block)
                        add_word(rows_.table.block(block)[list[i]], w,
                                 to + (block * BLOCK * rows_.n_classes + cls) * N_CODES, rows_.n_classes * N_CODES);
                }
            }
        }
    }
    return DONE;
}

}  // namespace skew
