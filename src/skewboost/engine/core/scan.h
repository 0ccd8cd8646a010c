// The candidates of one feature: the criterion of every threshold, or of every partition of categories
// (`split_search.numeric_candidates` and `split_search.nominal_candidates` for two planes).
#pragma once
#include "restrict.h"
#include "step.h"

namespace skew {

// The histogram of one feature in a node, and the number of examples per code if these are limited.
struct Cells {
    const double* h0;
    const double* h1;
    const double* counts;  // or null
    int n_bins;
    bool nominal;
    const Restriction* restriction;  // or null
};

// The candidates of one feature, and the workspace in which they are computed.
struct Scan {
    double value[N_CODES];
    uint8_t option[N_CODES];
    int16_t order[N_CODES];  // of categories: candidate k has order[0..k] on the left; ends with -1
    int mask;                // the categories on the left, if subsets were enumerated; otherwise 0
    double l0[N_CODES], l1[N_CODES], r0[N_CODES], r1[N_CODES];
    double left_count[N_CODES], right_count[N_CODES];
    double one[N_CODES], other[N_CODES], closed[N_CODES];
    bool minus[N_CODES];
    double g0[N_CODES], g1[N_CODES], counts[N_CODES];  // the sums of categories in their order
    StepWorkspace step;
};

// The sums up to and after each cell. The latter are summed from the right, not subtracted from the total, because an
// empty side must be exactly zero. Four independent sums in one loop hide the latency of additions.
inline void cumulate(const double* h0, const double* h1, int n, Scan& s) {
    double up0 = 0.0, up1 = 0.0, down0 = 0.0, down1 = 0.0;
    for (int k = 0; k < n; ++k) {
        int j = n - 1 - k;
        s.r0[j] = down0;
        s.r1[j] = down1;
        up0 += h0[k];
        up1 += h1[k];
        down0 += h0[j];
        down1 += h1[j];
        s.l0[k] = up0;
        s.l1[k] = up1;
    }
}

inline double lowest_of(const double* value, int n) {
    if (n <= 0) return INFINITE;
    Four low = {INFINITE, INFINITE, INFINITE, INFINITE}, other = low;
    int k = 0;
    for (; k + 8 <= n; k += 8) {
        Four a, b;
        memcpy(&a, value + k, sizeof a);
        memcpy(&b, value + k + 4, sizeof b);
        low = a < low ? a : low;
        other = b < other ? b : other;
    }
    low = other < low ? other : low;
    double found = min_of(min_of(low[0], low[1]), min_of(low[2], low[3]));
    for (; k < n; ++k) found = min_of(found, value[k]);
    return found;
}

// How missing values are treated and signs are assigned.
struct Options {
    int n_sides;       // 2 if missing values may join either side
    int n_polarities;  // 2 if signs are forced
    double m0, m1;     // the weights of missing values that join a side
    double m_count;
    double rest;  // the loss of rows that abstain
};

// The criterion and option of the first n_candidates cuts through n cells in order; infinite if a cut is not allowed.
// Candidates that are worse than the best by more than `margin` need not be exact. An option replaces an earlier one
// only if it is better by more than a tie.
template <class C>
void scan_cuts(const C& c, const double* h0, const double* h1, const double* counts, int n, int n_candidates,
               const Options& o, const Request& request, double tie, double margin, Scan& s,
               const Restriction* restriction = nullptr) {
    int direction = restriction == nullptr ? 0 : restriction->direction;
    cumulate(h0, h1, n, s);
    if (counts != nullptr) {
        double up = 0.0, down = 0.0;
        for (int k = 0; k < n; ++k) {
            up += counts[k];
            s.left_count[k] = up;
            s.right_count[n - 1 - k] = down;
            down += counts[n - 1 - k];
        }
    }
    for (int k = 0; k < N_CODES; ++k) s.value[k] = INFINITE;
    memset(s.option, 0, sizeof s.option);
    double lowest = INFINITE;
    for (int side = 0; side < o.n_sides; ++side) {
        // zero if there are no missing values, or if they abstain
        double la0 = side == 0 ? o.m0 : 0.0, la1 = side == 0 ? o.m1 : 0.0;
        double ra0 = side == 1 ? o.m0 : 0.0, ra1 = side == 1 ? o.m1 : 0.0;
        if (o.n_sides > 1) {
            for (int k = 0; k < n_candidates; ++k) {
                s.l0[k] += la0, s.l1[k] += la1;
                s.r0[k] += ra0, s.r1[k] += ra1;
            }
        }
        for (int k = 0; k < n_candidates; ++k) {
            double wa = C::weight(s.l0[k], s.l1[k]), wb = C::weight(s.r0[k], s.r1[k]);
            bool occupied = (h0[k] != 0.0) | (h1[k] != 0.0);
            bool allowed = occupied & (wa > 0.0) & (wb > 0.0) & (wa >= request.min_weight) & (wb >= request.min_weight);
            s.closed[k] = allowed ? 0.0 : INFINITE;
        }
        if (counts != nullptr) {
            double on_left = request.learn && side == 0 ? o.m_count : 0.0;
            double on_right = request.learn && side == 1 ? o.m_count : 0.0;
            for (int k = 0; k < n_candidates; ++k)
                if (s.left_count[k] + on_left < request.min_count || s.right_count[k] + on_right < request.min_count)
                    s.closed[k] = INFINITE;
        }
        if constexpr (!C::forced) {
            if (restriction != nullptr && restriction->orders())
                for (int k = 0; k < n_candidates; ++k)
                    if (!restriction->in_order(c, s.l0[k], s.l1[k], s.r0[k], s.r1[k])) s.closed[k] = INFINITE;
        }
        if constexpr (C::step) {  // both polarities at once, unless the column has a direction
            if (direction == 0)
                lowest = step_losses(c, s.l0, s.l1, s.r0, s.r1, s.closed, n_candidates, lowest, margin, tie, s.step,
                                     s.one, s.minus);
            for (int k = 0; direction != 0 && k < n_candidates; ++k) {
                s.minus[k] = direction < 0;
                s.one[k] = split_loss(c, s.l0[k], s.l1[k], s.r0[k], s.r1[k], direction, INFINITE);
            }
            for (int k = 0; k < n_candidates; ++k) {
                double v = s.one[k] + o.rest + s.closed[k];
                if (v < s.value[k] && (s.value[k] == INFINITE || v < s.value[k] - tie)) {
                    s.value[k] = v;
                    s.option[k] = uint8_t(2 * side + s.minus[k]);
                }
            }
        } else {
            for (int q = 0; q < o.n_polarities; ++q) {
                int sign = C::forced ? 1 - 2 * q : 0;
                if (C::forced && direction != 0 && sign != direction) continue;
                for (int k = 0; k < n_candidates; ++k)
                    s.one[k] = c.leaf(s.l0[k], s.l1[k], -sign) + c.leaf(s.r0[k], s.r1[k], sign) + o.rest + s.closed[k];
                if (side == 0 && q == 0) {
                    memcpy(s.value, s.one, size_t(n_candidates) * sizeof(double));
                    continue;
                }
                for (int k = 0; k < n_candidates; ++k) {
                    double v = s.one[k];
                    if (v < s.value[k] && (s.value[k] == INFINITE || v < s.value[k] - C::tie_width(tie, s.value[k]))) {
                        s.value[k] = v;
                        s.option[k] = uint8_t(o.n_polarities * side + q);
                    }
                }
            }
        }
        if (side + 1 < o.n_sides)
            for (int k = 0; k < n_candidates; ++k) {  // remove the missing values again, without rounding errors
                s.l0[k] = k == 0 ? h0[0] : s.l0[k - 1] + h0[k];
                s.l1[k] = k == 0 ? h1[0] : s.l1[k - 1] + h1[k];
            }
    }
}

template <class C>
Options options_of(const C& c, const Cells& f, const Request& request) {
    double m0 = f.h0[MISSING], m1 = f.h1[MISSING];
    bool joins = request.learn && !f.nominal;
    return {joins && (m0 != 0.0 || m1 != 0.0) ? 2 : 1,
            C::forced ? 2 : 1,
            joins ? m0 : 0.0,
            joins ? m1 : 0.0,
            joins && f.counts != nullptr ? f.counts[MISSING] : 0.0,
            request.learn ? 0.0 : c.abstain(m0, m1)};
}

// Sets all candidates but one to infinity, and moves that one.
inline void keep_one(double* value, uint8_t* option, int from, int to) {
    double kept = value[from];
    uint8_t its_option = option[from];
    for (int k = 0; k < N_CODES; ++k) value[k] = INFINITE;
    value[to] = kept;
    option[to] = its_option;
}

// `split_search._keep_random_thresholds`: a random threshold divides the rows like the occupied one below it.
template <class Occupied>
void keep_random_threshold(const Restriction& restriction, int n, bool any_missing, double* value, uint8_t* option,
                           Occupied&& occupied) {
    int t = restriction.draw_threshold(n, any_missing, occupied);
    if (t < 0) {
        for (int k = 0; k < N_CODES; ++k) value[k] = INFINITE;
        return;
    }
    int from = t;
    while (!occupied(from)) --from;
    keep_one(value, option, from, t);
}

template <class C>
void scan_numeric(const C& c, const Cells& f, const Request& request, double tie, double margin, Scan& s) {
    const Restriction* own = f.restriction;
    bool random = own != nullptr && own->random;
    scan_cuts(c, f.h0, f.h1, f.counts, f.n_bins, f.n_bins, options_of(c, f, request), request, tie,
              random ? INFINITE : margin, s, own);
    if (random)
        keep_random_threshold(*own, f.n_bins, f.h0[MISSING] != 0.0 || f.h1[MISSING] != 0.0, s.value, s.option,
                              [&](int k) { return f.h0[k] != 0.0 || f.h1[k] != 0.0; });
}

// ------------------------------------------------------------------------------------------------- categories

struct Keyed {
    double key;
    int code;
};

// A random order of categories, by the key of their column.
inline void shuffle_categories(uint64_t key, int16_t* order, int m) {
    uint64_t keys[N_CODES];
    for (int j = 0; j < m; ++j) keys[j] = mixed(key + 1 + uint64_t(order[j]));
    for (int i = 1; i < m; ++i) {
        uint64_t own = keys[i];
        int16_t code = order[i];
        int j = i;
        for (; j > 0 && keys[j - 1] > own; --j) keys[j] = keys[j - 1], order[j] = order[j - 1];
        keys[j] = own;
        order[j] = code;
    }
}

// Sorts by key, then by code: runs of eight by insertion, then by merging runs of twice the length.
inline void sort_keyed(Keyed* items, int n, Keyed* scratch) {
    auto before = [](const Keyed& a, const Keyed& b) { return a.key < b.key || (a.key == b.key && a.code < b.code); };
    constexpr int RUN = 8;
    for (int a = 0; a < n; a += RUN)
        for (int i = a + 1; i < min_of(a + RUN, n); ++i) {
            Keyed item = items[i];
            int j = i;
            for (; j > a && before(item, items[j - 1]); --j) items[j] = items[j - 1];
            items[j] = item;
        }
    Keyed *from = items, *to = scratch;
    for (int width = RUN; width < n; width *= 2) {
        for (int a = 0; a < n; a += 2 * width) {
            int middle = min_of(a + width, n), stop = min_of(a + 2 * width, n);
            int i = a, j = middle;
            for (int k = a; k < stop; ++k)
                to[k] = j >= stop || (i < middle && !before(from[j], from[i])) ? from[i++] : from[j++];
        }
        Keyed* other = from;
        from = to;
        to = other;
    }
    if (from != items) memcpy(items, from, size_t(n) * sizeof(Keyed));
}

inline double log_odds_key(double a, double b) {
    if (a > 0.0 && b > 0.0) return floor_of((log_of(b) - log_of(a)) * 1e11 + 0.5);
    return b > 0.0 ? INFINITE : -INFINITE;
}

// Sorts the codes that have weight by p, then by code, and returns their number. The key is that of
// `split_search.sort_key`, which ignores rounding errors. Logarithms are computed only if ratios are so close that
// their order could depend on rounding errors.
template <class C>
int order_categories(const double* h0, const double* h1, bool learn, int16_t* order) {
    Keyed items[N_CODES], scratch[N_CODES];
    int n = learn ? N_CODES : N_CODES - 1, m = 0;
    double scale = 1.0;
    if constexpr (C::squares) {
        double square = 0.0, total = 0.0;
        for (int k = 0; k < n; ++k)
            if (h0[k] > 0.0) {
                square += h1[k] * h1[k] / h0[k];
                total += h0[k];
            }
        scale = square > 0.0 ? 1e12 / square_root(square / total) : 1.0;
    }
    bool ratios = !C::squares;
    for (int k = 0; k < n; ++k) {
        double a = h0[k], b = h1[k];
        if (!(C::weight(a, b) > 0.0)) continue;
        if constexpr (C::squares) {
            items[m++] = {floor_of(b / a * scale + 0.5), k};
        } else {
            bool tiny = (a > 0.0 && a < 1e-140) || (b > 0.0 && b < 1e-140);
            ratios = ratios && !tiny;
            items[m++] = {a > 0.0 ? b / a : INFINITE, k};
        }
    }
    if constexpr (!C::squares) {
        if (!ratios)
            for (int i = 0; i < m; ++i) items[i].key = log_odds_key(h0[items[i].code], h1[items[i].code]);
    }
    sort_keyed(items, m, scratch);
    if constexpr (!C::squares) {
        if (ratios)
            for (int a = 0; a < m;) {
                int b = a + 1;
                while (b < m && items[b].key <= items[b - 1].key * (1.0 + 1e-10)) ++b;
                if (b > a + 1) {
                    for (int i = a; i < b; ++i) items[i].key = log_odds_key(h0[items[i].code], h1[items[i].code]);
                    sort_keyed(items + a, b - a, scratch);
                }
                a = b;
            }
    }
    for (int i = 0; i < m; ++i) order[i] = int16_t(items[i].code);
    if (m < N_CODES) order[m] = -1;
    return m;
}

// The sums over every subset of a few cells, as the sum of two halves.
class SubsetSums {
public:
    void fill(const double* values, const int16_t* codes, int m) {
        half_ = m / 2;
        fill_half(values, codes, half_, low_);
        fill_half(values, codes + half_, m - half_, high_);
    }
    double of(int mask) const { return low_[mask & ((1 << half_) - 1)] + high_[mask >> half_]; }

private:
    static void fill_half(const double* values, const int16_t* codes, int m, double* out) {
        out[0] = 0.0;
        for (int j = 0; j < m; ++j)
            for (int mask = 0; mask < (1 << j); ++mask) out[mask | (1 << j)] = out[mask] + values[codes[j]];
    }
    int half_ = 0;
    double low_[1 << (MAX_ENUMERATED / 2)], high_[1 << ((MAX_ENUMERATED + 1) / 2)];
};

// With forced signs the best partition need not be a prefix, so all subsets of a few categories are tried. The first
// subset that ties with the best becomes candidate 0; the bits of its mask are the codes that have weight, in order.
template <class C>
void scan_subsets(const C& c, const Cells& f, int m, const Options& o, const Request& request, double tie, Scan& s) {
    int16_t codes[N_CODES];
    int found = 0;
    for (int k = 0; k < N_CODES && found < m; ++k)
        if ((request.learn || k != MISSING) && C::weight(f.h0[k], f.h1[k]) > 0.0) codes[found++] = int16_t(k);
    SubsetSums sums0, sums1, sums_of_counts;
    sums0.fill(f.h0, codes, m);
    sums1.fill(f.h1, codes, m);
    if (f.counts != nullptr) sums_of_counts.fill(f.counts, codes, m);
    int all = (1 << m) - 1;
    auto loss = [&](int mask, double enough) {
        double a0 = sums0.of(mask), a1 = sums1.of(mask), b0 = sums0.of(all ^ mask), b1 = sums1.of(all ^ mask);
        if (a0 + a1 < request.min_weight || b0 + b1 < request.min_weight) return INFINITE;
        if (f.counts != nullptr &&
            (sums_of_counts.of(mask) < request.min_count || sums_of_counts.of(all ^ mask) < request.min_count))
            return INFINITE;
        return split_loss(c, a0, a1, b0, b1, 1, enough - o.rest) + o.rest;
    };
    double low = INFINITE;
    for (int mask = 1; mask < all; ++mask) low = min_of(low, loss(mask, low));
    s.order[0] = -1;
    if (low == INFINITE) return;
    for (int mask = 1; mask < all; ++mask) {
        double v = loss(mask, low + 2.0 * tie);
        if (v <= low + tie) {
            s.value[0] = v;
            s.mask = mask;
            return;
        }
    }
}

template <class C>
void scan_nominal(const C& c, const Cells& f, const Request& request, double tie, double margin, Scan& s) {
    s.mask = 0;
    const Restriction* own = f.restriction;
    bool random = own != nullptr && own->random;
    int m = random ? 0 : order_categories<C>(f.h0, f.h1, request.learn, s.order);
    if (random) {
        for (int k = 0; k < (request.learn ? N_CODES : MISSING); ++k)
            if (C::weight(f.h0[k], f.h1[k]) > 0.0) s.order[m++] = int16_t(k);
        shuffle_categories(own->key, s.order, m);
        if (m < N_CODES) s.order[m] = -1;
    }
    Options o = options_of(c, f, request);
    if (m < 2 || (C::forced && m <= MAX_ENUMERATED && !random)) {
        for (int k = 0; k < N_CODES; ++k) s.value[k] = INFINITE;
        memset(s.option, 0, sizeof s.option);
        if (m >= 2) scan_subsets(c, f, m, o, request, tie, s);
        return;
    }
    for (int j = 0; j < m; ++j) {
        s.g0[j] = f.h0[s.order[j]];
        s.g1[j] = f.h1[s.order[j]];
        if (f.counts != nullptr) s.counts[j] = f.counts[s.order[j]];
    }
    scan_cuts(c, s.g0, s.g1, f.counts != nullptr ? s.counts : nullptr, m, m - 1, o, request, tie,
              random ? INFINITE : margin, s, own);
    if (random) {
        int t = int(uniform_below(own->key, 0, m - 1));
        keep_one(s.value, s.option, t, t);
    }
}

template <class C>
void scan_feature(const C& c, const Cells& f, const Request& request, double tie, double margin, Scan& s) {
    s.mask = 0;
    if (f.nominal)
        scan_nominal(c, f, request, tie, margin, s);
    else
        scan_numeric(c, f, request, tie, margin, s);
}

// ------------------------------------------------------------------------------------------ the lowest of a feature

// Sets the value of cuts that leave too little weight on a side to infinity.
inline void close_light(double least_weight, int n, Scan& s) {
    for (int k = 0; k < n; ++k) {
        bool allowed = (s.l0[k] + s.l1[k] >= least_weight) & (s.r0[k] + s.r1[k] >= least_weight);
        s.value[k] = allowed ? s.value[k] : INFINITE;
    }
}

// The range of cuts that leave enough weight on both sides. It is contiguous because the weight to the left of a cut
// increases from one cut to the next.
struct Range {
    int first, last;
};
inline Range heavy_enough(const double* h0, const double* h1, int n, double least_weight) {
    Range found{n, -1};
    double sum = 0.0;
    for (int k = 0; k < n && found.first == n; ++k) {
        sum += h0[k] + h1[k];
        if (sum >= least_weight) found.first = k;
    }
    sum = 0.0;
    for (int k = n - 1; k > 0 && found.last < 0; --k) {
        sum += h0[k] + h1[k];
        if (sum >= least_weight) found.last = k - 1;
    }
    return found;
}

// The lowest criterion of a numeric feature without missing values, by loops that vectorise; returns false if the
// criterion has no such shortcut. For Z squares are compared: since (√x + √y)² = x + y + 2√(xy), this saves one of two
// roots.
inline bool lowest_cut(const ZCriterion&, const double* h0, const double* h1, int n, const Request& r, double tie,
                       Scan& s, double& low) {
    if (!(tie > 1e-70 * TIE)) return false;  // products of squared weights would underflow
    Range cuts = heavy_enough(h0, h1, n, max_of(r.min_weight, 5e-324));
    double up0 = 0.0, up1 = 0.0, down0 = 0.0, down1 = 0.0;
    for (int k = 0; k < n; ++k) {  // four independent sums
        int j = n - 1 - k;
        s.other[j] = down0 * down1;
        up0 += h0[k];
        up1 += h1[k];
        down0 += h0[j];
        down1 += h1[j];
        s.one[k] = up0 * up1;
    }
    for (int k = cuts.first; k <= cuts.last; ++k) {
        double x = s.one[k], y = s.other[k];
        s.value[k] = x + y + 2.0 * square_root(x * y);
    }
    low = 2.0 * square_root(lowest_of(s.value + cuts.first, cuts.last - cuts.first + 1));
    return true;
}

// With d the weight of the negatives less that of the positives on the left, the errors of the two polarities are T- -
// d and T+ + d.
inline bool lowest_cut(const ErrorCriterion&, const double* h0, const double* h1, int n, const Request& r, double,
                       Scan&, double& low) {
    Range cuts = heavy_enough(h0, h1, n, max_of(r.min_weight, 5e-324));
    double t0 = 0.0, t1 = 0.0, surplus = 0.0, highest = -INFINITE, lowest = INFINITE;
    for (int k = 0; k < n; ++k) {
        t0 += h0[k];
        t1 += h1[k];
        surplus += h0[k] - h1[k];
        if (k >= cuts.first && k <= cuts.last) {
            highest = max_of(highest, surplus);
            lowest = min_of(lowest, surplus);
        }
    }
    low = cuts.first > cuts.last ? INFINITE : max_of(0.0, min_of(t0 - highest, t1 + lowest));
    return true;
}

inline bool lowest_cut(const GiniCriterion&, const double* h0, const double* h1, int n, const Request& r, double,
                       Scan& s, double& low) {
    cumulate(h0, h1, n, s);
    for (int k = 0; k < n; ++k) {
        double a = s.l0[k] + s.l1[k], b = s.r0[k] + s.r1[k];
        s.value[k] = 2.0 * (s.l0[k] * s.l1[k] / a + s.r0[k] * s.r1[k] / b);
    }
    close_light(max_of(r.min_weight, 5e-324), n, s);
    low = lowest_of(s.value, n);
    return true;
}

inline bool lowest_cut(const SquaresCriterion& c, const double* h0, const double* h1, int n, const Request& r, double,
                       Scan& s, double& low) {
    cumulate(h0, h1, n, s);
    double least_weight = max_of(r.min_weight, 5e-324);
    for (int k = 0; k < n; ++k) {
        double v = -(s.l1[k] * s.l1[k] / (s.l0[k] + c.l2)) - s.r1[k] * s.r1[k] / (s.r0[k] + c.l2);
        bool allowed = (s.l0[k] >= least_weight) & (s.r0[k] >= least_weight);
        s.value[k] = allowed ? v : INFINITE;
    }
    low = lowest_of(s.value, n);
    return true;
}

constexpr double ROUGH = 1e-5;

// `CostLossCriterion.leaf` of many leaves to a relative error of ROUGH, for δ > 0. The power is 2^(-fraction log2 r).
// The logarithm is the exponent of the floating-point number plus a short series of its mantissa m in (m - 1)/(m + 1),
// and the exponential is computed likewise.
inline void rough_cost_losses(const CostLossCriterion& c, const double* a, const double* b, int n, double* out) {
    for (int k = 0; k < n; ++k) {
        double r = c.ratio * ((b[k] + c.delta) / (a[k] + c.delta));
        uint64_t bits = bits_of(r);
        // the exponent as a double, as (2^52 + e) - 2^52, because a conversion would not vectorise
        double e = from_bits((bits >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023.0);
        double m = from_bits((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
        double t = (m - 1.0) / (m + 1.0), q = t * t;
        double log2 = e + 2.885390081777927 * t * (1.0 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9)))));
        double x = -c.fraction * log2;
        double shifted = x + 0x1.8p52;  // rounds x to an integer, which is in the low bits
        double whole = shifted - 0x1.8p52;
        double f = 0.6931471805599453 * (x - whole);
        double y = 1.0 + f * (1.0 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 + f * (1.0 / 720))))));
        double power = from_bits(bits_of(y) + (bits_of(shifted) << 52));
        out[k] = power * (b[k] + a[k] * r);
    }
}

// Computes exact values only for candidates whose rough value may be the lowest.
inline bool lowest_cut(const CostLossCriterion& c, const double* h0, const double* h1, int n, const Request& r, double,
                       Scan& s, double& low) {
    if (!(c.delta > 1e-30)) return false;
    cumulate(h0, h1, n, s);
    rough_cost_losses(c, s.l0, s.l1, n, s.one);
    rough_cost_losses(c, s.r0, s.r1, n, s.other);
    for (int k = 0; k < n; ++k) s.value[k] = s.one[k] + s.other[k];
    close_light(max_of(r.min_weight, 5e-324), n, s);
    double near = lowest_of(s.value, n) * (1.0 + 4.0 * ROUGH);
    low = INFINITE;
    if (near < INFINITE)
        for (int k = 0; k < n; ++k)
            if (s.value[k] <= near) low = min_of(low, c.leaf(s.l0[k], s.l1[k], 0) + c.leaf(s.r0[k], s.r1[k], 0));
    return true;
}

template <class C>
inline bool lowest_cut(const C&, const double*, const double*, int, const Request&, double, Scan&, double&) {
    return false;
}

// The lowest criterion of a feature.
template <class C>
double lowest_of_feature(const C& c, const Cells& f, const Request& request, double tie, Scan& s) {
    double low;
    if (f.counts == nullptr && !f.nominal && f.restriction == nullptr && f.h0[MISSING] == 0.0 && f.h1[MISSING] == 0.0 &&
        lowest_cut(c, f.h0, f.h1, f.n_bins, request, tie, s, low))
        return low;
    scan_feature(c, f, request, tie, 2.0 * tie, s);
    return lowest_of(s.value, N_THRESHOLDS);
}

}  // namespace skew
