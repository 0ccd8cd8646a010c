// The search of a small node. Its rows occupy few cells, so the features are summed one after the other in the same
// memory, and no histogram is kept.
#pragma once
#include "grow.h"

namespace skew {

// Searches a node of at most SMALL_NODE rows.
inline Status Grower::search_small(Node& node) {
    TRY(fetched_.reserve(SMALL_NODE * rows_.table.n_blocks()));
    const double* counts;
    TRY(counts_of(node, counts));
    with_criterion(request_, [&](const auto& c) { search_small_node(c, node, counts); });
    return DONE;
}

template <class C>
void Grower::search_small_node(const C& c, Node& node, const double* counts) {
    const Table& table = rows_.table;
    uint32_t list[SMALL_NODE];
    double v0[SMALL_NODE], v1[SMALL_NODE];
    int m = 0;
    double total = 0.0;
    for (int64_t g = 0; g < n_groups_; ++g) {
        const uint32_t* own = rows_of(node, g);
        for (int64_t i = 0; i < node.size[g]; ++i, ++m) {
            list[m] = own[i];
            if (responses_ != nullptr) {
                v0[m] = responses_->w[own[i]];
                v1[m] = v0[m] * responses_->z[own[i]];
            } else {
                double w = rows_.scale(g) * rows_.stored(0)[own[i]];
                v0[m] = g == 0 ? w : 0.0;
                v1[m] = g == 0 ? 0.0 : w;
                total += w;
            }
        }
    }
    double tie = C::squares ? TIE : TIE * total;
    Scan s;
    double cells[2 * N_CODES];
    memset(cells, 0, sizeof cells);
    double* lowest = lowest_.data();
    const Candidates* candidates = restricted_.of(&node - nodes_.data());
    for (int64_t block = 0; block < table.n_blocks(); ++block) {
        uint64_t* words = fetched_.data() + block * SMALL_NODE;
        for (int i = 0; i < m; ++i) words[i] = table.block(block)[list[i]];
        for (int64_t f = block * BLOCK; f < min_of((block + 1) * BLOCK, table.n_features); ++f) {
            lowest[f] = INFINITE;
            if (candidates != nullptr && !candidates->allowed[f]) continue;
            uint64_t seen[4];
            add_small(words, int(8 * (f & 7)), m, v0, v1, cells, seen);
            const Restriction* restriction = candidates == nullptr ? nullptr : candidates->of(f);
            lowest[f] = lowest_of_small(c, f, cells, seen, counts, restriction, tie, s);
            clear_small(cells, seen);
        }
    }
    double best = INFINITE;
    for (int64_t f = 0; f < table.n_features; ++f) best = min_of(best, lowest[f]);
    node.split.feature = -1;
    node.split.uncertain = 0;
    if (!(best < INFINITE)) return;
    double level = best + C::tie_width(tie, best);
    int64_t g = 0;
    while (lowest[g] > level) ++g;
    uint64_t seen[4];
    add_small(fetched_.data() + (g >> 3) * SMALL_NODE, int(8 * (g & 7)), m, v0, v1, cells, seen);
    Cells chosen{cells,
                 cells + N_CODES,
                 counts == nullptr ? nullptr : counts + g * N_CODES,
                 int(table.n_bins[g]),
                 table.nominal(g),
                 candidates == nullptr ? nullptr : candidates->of(g)};
    scan_feature(c, chosen, request_, tie, 2.0 * tie, s);
    int t = first_up_to(s, level);
    double t0 = 0.0, t1 = 0.0;
    for (int k = 0; k < N_CODES; ++k) t0 += cells[k], t1 += cells[N_CODES + k];
    node.split.feature = g;
    node.split.threshold = chosen.nominal ? -1 : t;
    node.split.value = s.value[t];
    node.split.before = c.before(t0, t1);
    fill_child<C>(chosen, request_, s, t, node.split);
}

inline void Grower::add_small(const uint64_t* words, int shift, int m, const double* v0, const double* v1,
                              double* cells, uint64_t* seen) {
    seen[0] = seen[1] = seen[2] = seen[3] = 0;
    for (int i = 0; i < m; ++i) {
        int code = int((words[i] >> shift) & 255);
        cells[code] += v0[i];
        cells[N_CODES + code] += v1[i];
        seen[code >> 6] |= uint64_t(1) << (code & 63);
    }
}

inline void Grower::clear_small(double* cells, const uint64_t* seen) {
    for (int q = 0; q < 4; ++q)
        for (uint64_t left = seen[q]; left != 0; left &= left - 1) {
            int code = 64 * q + __builtin_ctzll(left);
            cells[code] = cells[N_CODES + code] = 0.0;
        }
}

template <class C>
double Grower::lowest_of_small(const C& c, int64_t f, const double* cells, const uint64_t* seen, const double* counts,
                               const Restriction* restriction, double tie, Scan& s) {
    const Table& table = rows_.table;
    if (counts == nullptr && restriction == nullptr && !table.nominal(f) && !(seen[3] >> 63)) {
        double g0[SMALL_NODE], g1[SMALL_NODE];
        int n = 0;
        for (int q = 0; q < 4; ++q)
            for (uint64_t left = seen[q]; left != 0; left &= left - 1) {
                int code = 64 * q + __builtin_ctzll(left);
                g0[n] = cells[code];
                g1[n++] = cells[N_CODES + code];
            }
        double low;
        if (n < 2) return INFINITE;
        if (lowest_cut(c, g0, g1, n, request_, tie, s, low)) return low;
        Options o{1, C::forced ? 2 : 1, 0.0, 0.0, 0.0, 0.0};
        scan_cuts(c, g0, g1, nullptr, n, n, o, request_, tie, 2.0 * tie, s);
        return lowest_of(s.value, n);
    }
    Cells own{cells,
              cells + N_CODES,
              counts == nullptr ? nullptr : counts + f * N_CODES,
              int(table.n_bins[f]),
              table.nominal(f),
              restriction};
    scan_feature(c, own, request_, tie, 2.0 * tie, s);
    return lowest_of(s.value, N_THRESHOLDS);
}

}  // namespace skew
