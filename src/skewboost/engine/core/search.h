// The search for the best split of a node: `split_search.best_split` for two planes, with the same candidates, options
// and ties.
//
// Unlike the reference, it takes the rounding errors of derived histograms into account. If another candidate could be
// the best one within the error bounds, the split is marked as uncertain, and the caller sums the rows of the node and
// searches again.
#pragma once
#include "rounding_guard.h"
#include "table.h"

namespace skew {

struct Split {
    int64_t feature = -1;  // -1: none
    int64_t threshold = -1;
    int64_t polarity = 0;
    int64_t uncertain = 0;
    double value = 0.0, before = 0.0;
    uint8_t child[N_CODES];
};

// The histogram of a node with two planes, `[feature][plane][code]`, and its counts `[feature][code]` or null.
struct TwoPlanes {
    const double* sums;
    const double* counts;
    const Candidates* candidates;  // or null: all
    Cells of(const Table& table, int64_t f) const {
        const double* own = sums + f * 2 * N_CODES;
        return {own,
                own + N_CODES,
                counts == nullptr ? nullptr : counts + f * N_CODES,
                int(table.n_bins[f]),
                table.nominal(f),
                candidates == nullptr ? nullptr : candidates->of(f)};
    }
    bool allows(int64_t f) const { return candidates == nullptr || candidates->allowed[f] != 0; }
};

// Writes the child of every code for a candidate: `split_search.make_split`. Codes without weight go to the side of
// missing values, and missing values go to the heavier side if the node has none.
template <class C>
void fill_child(const Cells& f, const Request& request, const Scan& s, int threshold, Split& split) {
    constexpr int n_polarities = C::forced ? 2 : 1;
    int option = s.option[threshold];
    split.polarity = C::forced ? 1 - 2 * (option % n_polarities) : 0;
    uint8_t missing_to = request.learn ? uint8_t(option / n_polarities) : uint8_t(ABSTAIN);
    uint8_t* child = split.child;
    if (f.nominal) {
        memset(child, UNSEEN, N_CODES);
        if (s.mask != 0) {
            int j = 0;
            for (int code = 0; code < (request.learn ? N_CODES : MISSING); ++code)
                if (f.h0[code] + f.h1[code] > 0.0) child[code] = ((s.mask >> j++) & 1) ? LEFT : RIGHT;
        } else {
            for (int j = 0; j < N_CODES && s.order[j] >= 0; ++j) child[s.order[j]] = j <= threshold ? LEFT : RIGHT;
        }
        missing_to = request.learn ? child[MISSING] : uint8_t(ABSTAIN);
    } else {
        for (int code = 0; code < MISSING; ++code) child[code] = code <= threshold ? LEFT : RIGHT;
    }
    if (request.learn && !(C::weight(f.h0[MISSING], f.h1[MISSING]) > 0.0)) {
        double on_left[MISSING], on_right[MISSING];
        for (int code = 0; code < MISSING; ++code) {
            double w = C::weight(f.h0[code], f.h1[code]);
            on_left[code] = child[code] == LEFT ? w : 0.0;
            on_right[code] = child[code] == RIGHT ? w : 0.0;
        }
        double left = sum_of(on_left, MISSING), right = sum_of(on_right, MISSING);
        missing_to = 2.0 * left >= (left + right) * (1.0 - SLACK) ? LEFT : RIGHT;
    }
    for (int code = 0; code < MISSING; ++code)
        if (child[code] == UNSEEN) child[code] = missing_to;
    child[MISSING] = missing_to;
}

// The tie tolerance of a node: relative to its weight, or for squares relative to the value.
template <class C>
double tie_of(const Cells& any_feature) {
    if (C::squares) return TIE;
    return TIE * (sum_of_codes(any_feature.h0) + sum_of_codes(any_feature.h1));
}

template <class C>
bool rounding_may_change_choice(const C& c, const Table& table, const TwoPlanes& node, const Request& request,
                                double tie, const double* lowest, double e0, double e1, int64_t g, int t, double best,
                                double own, double before, Scan& s) {
    Cells any = node.of(table, 0);
    double t0 = sum_of_codes(any.h0), t1 = sum_of_codes(any.h1), size = t0 + t1;
    if (C::squares) {  // responses can be negative
        size = t0;
        for (int k = 0; k < N_CODES; ++k) size += absolute(any.h1[k]);
    }
    double total = C::squares ? t0 : t0 + t1;
    if (e0 > MAX_NODE_ERROR * total || (!C::squares && e1 > MAX_NODE_ERROR * total)) return true;
    double gained =
        C::forced ? absolute(before - own) : before - own;  // with forced signs a split can be worse than none
    if (gained <= C::tie_width(tie, before)) return true;   // too small to distinguish candidates from rounding errors
    Cells chosen = node.of(table, g);
    for (int code = 0; code < N_CODES; ++code) {  // is a tiny weight a rounding error, or a row?
        bool matters = chosen.nominal || code == MISSING || code == t;
        double weight = absolute(chosen.h0[code]) + absolute(chosen.h1[code]);
        if (matters && 0.0 < weight && weight <= e0 + e1) return true;
    }
    double near = C::tie_width(tie, best), band = best + near + largest_shift(c, size, e0, e1);
    double own_error = rounding_guard(c, s, chosen, request, e0, e1, t, 0.0, band, -INFINITE, -INFINITE);
    for (int64_t f = 0; f < table.n_features; ++f) {
        if (lowest[f] > band) continue;
        Cells cells = node.of(table, f);
        scan_feature(c, cells, request, tie, band - best + near, s);
        int at = f < g ? N_THRESHOLDS : (f == g ? t : -1);
        if (rounding_guard(c, s, cells, request, e0, e1, at, own_error, band, best + near, own - near) == INFINITE)
            return true;
    }
    return false;
}

// The first candidate of a feature at or below a level. If there is none, because the level was computed by another
// formula with other rounding errors, the best candidate.
inline int first_up_to(const Scan& s, double level) {
    int t = 0;
    while (t < N_THRESHOLDS && s.value[t] > level) ++t;
    if (t < N_THRESHOLDS) return t;
    double low = lowest_of(s.value, N_THRESHOLDS);
    for (t = 0; s.value[t] > low; ++t) {
    }
    return t;
}

// Chooses the first candidate that ties with the best. `lowest` is the lowest criterion of each feature. The features
// that matter are scanned a second time, which is cheaper than keeping the candidates of all features.
template <class C>
void choose(const C& c, const Table& table, const TwoPlanes& node, const Request& request, double tie,
            const double* lowest, double e0, double e1, Scan& s, Split& split) {
    double best = INFINITE;
    for (int64_t f = 0; f < table.n_features; ++f) best = min_of(best, lowest[f]);
    split.feature = -1;
    split.uncertain = 0;
    if (!(best < INFINITE)) return;
    double near = C::tie_width(tie, best);
    int64_t g = 0;
    while (lowest[g] > best + near) ++g;
    Cells chosen = node.of(table, g);
    scan_feature(c, chosen, request, tie, 2.0 * tie, s);
    int t = first_up_to(s, best + near);
    Cells any = node.of(table, 0);
    split.feature = g;
    split.threshold = chosen.nominal ? -1 : t;
    split.value = s.value[t];
    split.before = c.before(sum_of_codes(any.h0), sum_of_codes(any.h1));
    fill_child<C>(chosen, request, s, t, split);
    if (e0 == 0.0 && e1 == 0.0) return;
    split.uncertain = rounding_may_change_choice(c, table, node, request, tie, lowest, e0, e1, g, t, best, s.value[t],
                                                 split.before, s);
}

constexpr int64_t FEATURES_PER_TASK = 8;
constexpr int64_t SERIAL_SEARCH = 64;  // with fewer features, waking a thread costs more than it saves

// Computes `lowest_of_feature` of all features, and calls `choose`.
template <class C>
void search(const C& c, const Table& table, const TwoPlanes& node, const Request& request, double e0, double e1,
            double* lowest, int64_t n_jobs, Split& split) {
    double tie = tie_of<C>(node.of(table, 0));
    auto scan_range = [&](int64_t start, int64_t stop) {
        Scan s;
        for (int64_t f = start; f < stop; ++f)
            lowest[f] = node.allows(f) ? lowest_of_feature(c, node.of(table, f), request, tie, s) : INFINITE;
    };
    if (table.n_features < SERIAL_SEARCH) {
        scan_range(0, table.n_features);
    } else {
        int64_t n_tasks = (table.n_features + FEATURES_PER_TASK - 1) / FEATURES_PER_TASK;
        parallel(n_tasks, n_jobs, [&](int64_t task) {
            int64_t start = task * FEATURES_PER_TASK;
            scan_range(start, min_of(start + FEATURES_PER_TASK, table.n_features));
        });
    }
    Scan s;
    choose(c, table, node, request, tie, lowest, e0, e1, s, split);
}

}  // namespace skew
