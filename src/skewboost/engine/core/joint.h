// The search for the best split with several labels or more than two classes: `split_search.best_split` for Z summed
// over the labels, and for the error and the Gini index of classes.
#pragma once
#include "search.h"

namespace skew {

// The histogram of a node, `[label][feature][class][code]`, and its counts `[feature][code]` or null.
struct ManyPlanes {
    const double* sums;
    const double* counts;
    int64_t n_labels, n_classes;
    int64_t n_features;    // including those that pad the last block
    const int32_t* mixed;  // the labels that are on for some rows of the node and off for others
    int64_t n_mixed;
    const Candidates* candidates;  // or null: all
    bool allows(int64_t f) const { return candidates == nullptr || candidates->allowed[f] != 0; }
    // The restriction of a feature to one random threshold; or null.
    const Restriction* random(int64_t f) const { return candidates == nullptr ? nullptr : candidates->of(f); }
    const double* plane(int64_t f, int64_t label, int64_t cls) const {
        return sums + ((label * n_features + f) * n_classes + cls) * N_CODES;
    }
    double weight(int64_t f, int code) const {
        double total = 0.0;
        for (int64_t l = 0; l < n_labels; ++l)
            for (int64_t c = 0; c < n_classes; ++c) total += plane(f, l, c)[code];
        return total;
    }
    const double* counts_of(int64_t f) const { return counts == nullptr ? nullptr : counts + f * N_CODES; }
};

constexpr int MAX_SETS = 1 << (MAX_ENUMERATED - 1);

// The sides of candidates while they are summed plane by plane. Z is summed over the labels. For classes, the error
// needs the heaviest class, and the Gini index the sum of squares.
struct Sides {
    double loss[MAX_SETS];  // of Z
    double total[MAX_SETS], top[MAX_SETS], squares[MAX_SETS];

    void clear(int n) {
        for (int k = 0; k < n; ++k) loss[k] = total[k] = top[k] = squares[k] = 0.0;
    }
    void add_label(int k, double a, double b) {
        loss[k] += 2.0 * square_root(a * b);
        total[k] += a + b;
    }
    void add_class(int k, double a) {
        total[k] += a;
        squares[k] += a * a;
        top[k] = max_of(top[k], a);
    }
    double of_classes(int k, bool gini) const {
        if (!gini) return total[k] - top[k];
        return total[k] > 0.0 ? (total[k] * total[k] - squares[k]) / total[k] : 0.0;  // exactly 0 if the side is pure
    }
};

struct JointWorkspace {
    Sides left, right, left_with_missing, right_with_missing;
    double a[2][N_CODES], b[2][N_CODES];
    double present[N_CODES];
    double value[N_CODES];
    uint8_t option[N_CODES];
    SubsetSums sums[2];
    uint8_t on_left[N_CODES];  // the categories on the left of a partition
};

inline bool enough(double weight, const Request& r) {
    return weight > 0.0 && weight >= r.min_weight;
}

class JointSearch {
public:
    JointSearch(const Table& table, const ManyPlanes& node, const Request& request)
        : table_(table),
          node_(node),
          request_(request),
          by_class_(request.criterion >= CLASS_ERROR),
          gini_(request.criterion == CLASS_GINI) {
        double total = 0.0;
        for (int64_t l = 0; l < node.n_labels; ++l)
            for (int64_t c = 0; c < node.n_classes; ++c) total += sum_of_codes(node.plane(0, l, c));
        tie_ = TIE * total;
    }

    double tie() const { return tie_; }

    // The lowest criterion of a feature.
    double lowest(int64_t f, JointWorkspace& work) const {
        if (!table_.nominal(f)) {
            scan_numeric(f, work);
            return lowest_of(work.value, N_THRESHOLDS);
        }
        double low = INFINITE;
        visit_partitions(f, work, [&](double value, const uint8_t*) {
            low = min_of(low, value);
            return false;
        });
        return low;
    }

    // The split of the first candidate of a feature at or below a level.
    void choose(int64_t f, double level, JointWorkspace& work, Split& split) const {
        split.feature = f;
        split.polarity = 0;
        split.threshold = -1;
        uint8_t missing_to = ABSTAIN;
        double weights[N_CODES] = {0.0};
        for (int64_t l = 0; l < node_.n_labels; ++l)
            for (int64_t c = 0; c < node_.n_classes; ++c)
                for (int k = 0; k < N_CODES; ++k) weights[k] += node_.plane(f, l, c)[k];
        if (table_.nominal(f)) {
            visit_partitions(f, work, [&](double value, const uint8_t* on_left) {
                if (value > level) return false;
                split.value = value;
                for (int k = 0; k < N_CODES; ++k) split.child[k] = on_left[k] ? LEFT : RIGHT;
                return true;
            });
            if (request_.learn) missing_to = split.child[MISSING];
        } else {
            scan_numeric(f, work);
            int t = 0;
            while (t < N_THRESHOLDS - 1 && work.value[t] > level) ++t;
            split.threshold = t;
            split.value = work.value[t];
            for (int k = 0; k < MISSING; ++k) split.child[k] = k <= t ? LEFT : RIGHT;
            if (request_.learn) missing_to = work.option[t];
        }
        if (request_.learn && !(weights[MISSING] > 0.0)) {
            double on_left = 0.0, all = 0.0;
            for (int k = 0; k < MISSING; ++k) {
                all += weights[k];
                if (split.child[k] == LEFT) on_left += weights[k];
            }
            missing_to = 2.0 * on_left >= all * (1.0 - SLACK) ? LEFT : RIGHT;
        }
        split.child[MISSING] = missing_to;
        if (table_.nominal(f))
            for (int k = 0; k < N_CODES; ++k)
                if (!(weights[k] > 0.0)) split.child[k] = missing_to;
        split.before = before();
    }

    // The number of candidates of a feature at or below a level.
    int64_t count_up_to(int64_t f, double level, JointWorkspace& work) const {
        int64_t n = 0;
        if (table_.nominal(f))
            visit_partitions(f, work, [&](double value, const uint8_t*) {
                n += value <= level;
                return false;
            });
        else {
            scan_numeric(f, work);
            for (int k = 0; k < N_THRESHOLDS; ++k) n += work.value[k] <= level;
        }
        return n;
    }

    // The criterion without a split.
    double before() const {
        double loss = 0.0, total = 0.0, top = 0.0, squares = 0.0;
        for (int64_t i = 0; i < node_.n_mixed; ++i) {
            double of_class[2] = {0.0, 0.0};
            for (int64_t c = 0; c < node_.n_classes; ++c) {
                double sum = sum_of_codes(node_.plane(0, node_.mixed[i], c));
                if (!by_class_) of_class[c & 1] = sum;
                total += sum;
                squares += sum * sum;
                top = max_of(top, sum);
            }
            loss += 2.0 * square_root(of_class[0] * of_class[1]);
        }
        if (!by_class_) return loss;
        if (!gini_) return total - top;
        return total > 0.0 ? (total * total - squares) / total : 0.0;
    }

    // The distance from the best beyond which errors cannot make a candidate the best. An error of e changes the
    // criteria of classes by at most 2e, and √(ab) by at most √(e(a + b)), on both sides.
    double margin(const double* error) const {
        double sum = 0.0, roots = 0.0;
        for (int64_t p = 0; p < node_.n_labels * node_.n_classes; ++p) sum += error[p];
        for (int64_t i = 0; i < node_.n_mixed; ++i) {
            double worst = 0.0, own = 0.0;
            for (int64_t c = 0; c < node_.n_classes; ++c) {
                worst = max_of(worst, error[node_.mixed[i] * node_.n_classes + c]);
                own += sum_of_codes(node_.plane(0, node_.mixed[i], c));
            }
            roots += square_root(worst * own);
        }
        for (int64_t f = 0; f < table_.n_features; ++f)
            if (table_.nominal(f))
                for (int k = 0; k < N_CODES; ++k) {
                    double w = node_.weight(f, k);
                    // a category may exist only by a rounding error, and their number decides how to search
                    if (w > 0.0 && w <= 2.0 * sum) return INFINITE;
                }
        return 4.0 * (by_class_ ? sum : roots);
    }

private:
    double loss_of(const Sides& s, int k) const { return by_class_ ? s.of_classes(k, gini_) : s.loss[k]; }

    // `split_search.numeric_candidates`: missing values go to the better side, and to the left on a tie.
    void scan_numeric(int64_t f, JointWorkspace& work) const {
        int n = int(table_.n_bins[f]);
        double of_missing = node_.weight(f, MISSING);
        bool joins = request_.learn && of_missing > 0.0;
        work.left.clear(n), work.right.clear(n);
        if (joins) work.left_with_missing.clear(n), work.right_with_missing.clear(n);
        if (by_class_)
            add_classes_of(f, n, joins, work);
        else
            add_labels_of(f, n, joins, work);
        double rest = request_.learn ? 0.0 : (by_class_ ? 0.5 * of_missing : of_missing);
        const double* counts = node_.counts_of(f);
        double up[N_CODES], down[N_CODES];
        if (counts != nullptr) cumulate_both(counts, n, up, down);
        double m_count = counts != nullptr && joins ? counts[MISSING] : 0.0;
        auto counted = [&](int k, double more_left, double more_right) {
            return counts == nullptr ||
                   (up[k] + more_left >= request_.min_count && down[k] + more_right >= request_.min_count);
        };
        const Sides& on_left = joins ? work.left_with_missing : work.left;
        for (int k = 0; k < N_CODES; ++k) {
            work.value[k] = INFINITE;
            work.option[k] = 0;
            if (k >= n || work.present[k] == 0.0) continue;
            double low = INFINITE;
            if (enough(on_left.total[k], request_) && enough(work.right.total[k], request_) && counted(k, m_count, 0.0))
                low = loss_of(on_left, k) + loss_of(work.right, k) + rest;
            work.value[k] = low;
            if (!joins) continue;
            if (!enough(work.left.total[k], request_) || !enough(work.right_with_missing.total[k], request_)) continue;
            if (!counted(k, 0.0, m_count)) continue;
            double other = loss_of(work.left, k) + loss_of(work.right_with_missing, k);
            if (other < low - tie_) {
                work.value[k] = other;
                work.option[k] = 1;
            }
        }
        const Restriction* own = node_.random(f);
        if (own != nullptr)
            keep_random_threshold(*own, n, of_missing > 0.0, work.value, work.option,
                                  [&](int k) { return work.present[k] != 0.0; });
    }

    static void cumulate_both(const double* h, int n, double* up, double* down) {
        double u = 0.0, d = 0.0;
        for (int k = 0; k < n; ++k) {
            u += h[k];
            up[k] = u;
            down[n - 1 - k] = d;
            d += h[n - 1 - k];
        }
    }

    // The contribution of each label on both sides of every threshold, with and without missing values. A label that is
    // on in all rows or in none contributes nothing. A row with weight has some weight in every label.
    void add_labels_of(int64_t f, int n, bool joins, JointWorkspace& work) const {
        double *x = work.a[0], *y = work.b[0];
        for (int k = 0; k < n; ++k) work.present[k] = 0.0;
        double missing = 0.0;
        for (int64_t i = 0; i < node_.n_mixed; ++i) {
            const double *h0 = node_.plane(f, node_.mixed[i], 0), *h1 = node_.plane(f, node_.mixed[i], 1);
            for (int k = 0; k < n; ++k) work.present[k] += h0[k] + h1[k];
            add_products(h0, h1, n, 0.0, 0.0, 0.0, 0.0, x, y);
            if (!joins) {  // only the sum of both sides is needed
                for (int k = 0; k < n; ++k) work.left.loss[k] += 2.0 * (square_root(x[k]) + square_root(y[k]));
                continue;
            }
            for (int k = 0; k < n; ++k) work.left.loss[k] += 2.0 * square_root(x[k]);
            for (int k = 0; k < n; ++k) work.right.loss[k] += 2.0 * square_root(y[k]);
            double m0 = h0[MISSING], m1 = h1[MISSING];
            missing += m0 + m1;
            add_products(h0, h1, n, m0, m1, m0, m1, x, y);
            for (int k = 0; k < n; ++k) work.left_with_missing.loss[k] += 2.0 * square_root(x[k]);
            for (int k = 0; k < n; ++k) work.right_with_missing.loss[k] += 2.0 * square_root(y[k]);
        }
        cumulate_both(work.present, n, work.left.total, work.right.total);
        if (joins)
            for (int k = 0; k < n; ++k) {
                work.left_with_missing.total[k] = work.left.total[k] + missing;
                work.right_with_missing.total[k] = work.right.total[k] + missing;
            }
    }

    // The products W- W+ up to and after each threshold, with additional weights on both sides.
    static void add_products(const double* h0, const double* h1, int n, double l0, double l1, double r0, double r1,
                             double* left, double* right) {
        double up0 = 0.0, up1 = 0.0, down0 = 0.0, down1 = 0.0;
        for (int k = 0; k < n; ++k) {
            int j = n - 1 - k;
            right[j] = (down0 + r0) * (down1 + r1);
            up0 += h0[k];
            up1 += h1[k];
            down0 += h0[j];
            down1 += h1[j];
            left[k] = (up0 + l0) * (up1 + l1);
        }
    }

    void add_classes_of(int64_t f, int n, bool joins, JointWorkspace& work) const {
        for (int k = 0; k < n; ++k) work.present[k] = 0.0;
        for (int64_t c = 0; c < node_.n_classes; ++c) {
            const double* h = node_.plane(f, 0, c);
            cumulate_both(h, n, work.a[0], work.b[0]);
            for (int k = 0; k < n; ++k) {
                work.present[k] += h[k];
                work.left.add_class(k, work.a[0][k]);
                work.right.add_class(k, work.b[0][k]);
            }
            if (!joins) continue;
            for (int k = 0; k < n; ++k) {
                work.left_with_missing.add_class(k, work.a[0][k] + h[MISSING]);
                work.right_with_missing.add_class(k, work.b[0][k] + h[MISSING]);
            }
        }
    }

    // Calls visit(value, on_left) for every partition of a feature's categories, in the order of
    // `split_search.nominal_candidates`, until it returns true.
    template <class Visit>
    void visit_partitions(int64_t f, JointWorkspace& work, Visit&& visit) const {
        int16_t codes[N_CODES];
        int m = 0;
        for (int k = 0; k < (request_.learn ? N_CODES : MISSING); ++k)
            if (node_.weight(f, k) > 0.0) codes[m++] = int16_t(k);
        if (m < 2) return;
        double rest = 0.0;
        if (!request_.learn) rest = node_.weight(f, MISSING) * (by_class_ ? 0.5 : 1.0);
        const Restriction* random = node_.random(f);
        if (random != nullptr) {
            shuffle_categories(random->key, codes, m);
            visit_prefixes_of(f, codes, m, int(uniform_below(random->key, 0, m - 1)), rest, work, visit);
        } else if (m <= MAX_ENUMERATED)
            visit_subsets(f, codes, m, rest, work, visit);
        else
            visit_prefixes(f, codes, m, rest, work, visit);
    }

    // A set and its complement are the same partition; the set that has the first category is taken.
    template <class Visit>
    void visit_subsets(int64_t f, const int16_t* codes, int m, double rest, JointWorkspace& work, Visit&& visit) const {
        int n_sets = (1 << (m - 1)) - 1, all = (1 << m) - 1;
        work.left.clear(n_sets), work.right.clear(n_sets);
        int64_t step = by_class_ ? 1 : 2;
        for (int64_t l = 0; l < node_.n_labels; ++l)
            for (int64_t c = 0; c < node_.n_classes; c += step) {
                for (int p = 0; p < int(step); ++p) work.sums[p].fill(node_.plane(f, l, c + p), codes, m);
                for (int k = 0; k < n_sets; ++k) {
                    int mask = 2 * k + 1;
                    if (by_class_) {
                        work.left.add_class(k, work.sums[0].of(mask));
                        work.right.add_class(k, work.sums[0].of(all ^ mask));
                    } else {
                        work.left.add_label(k, work.sums[0].of(mask), work.sums[1].of(mask));
                        work.right.add_label(k, work.sums[0].of(all ^ mask), work.sums[1].of(all ^ mask));
                    }
                }
            }
        const double* counts = node_.counts_of(f);
        if (counts != nullptr) work.sums[0].fill(counts, codes, m);
        for (int k = 0; k < n_sets; ++k) {
            int mask = 2 * k + 1;
            if (!enough(work.left.total[k], request_) || !enough(work.right.total[k], request_)) continue;
            if (counts != nullptr &&
                (work.sums[0].of(mask) < request_.min_count || work.sums[0].of(all ^ mask) < request_.min_count))
                continue;
            memset(work.on_left, 0, sizeof work.on_left);
            for (int j = 0; j < m; ++j) work.on_left[codes[j]] = uint8_t((mask >> j) & 1);
            if (visit(loss_of(work.left, k) + loss_of(work.right, k) + rest, work.on_left)) return;
        }
    }

    // The prefixes of the categories in the order of each label's p, or of each class versus the rest.
    template <class Visit>
    void visit_prefixes(int64_t f, const int16_t* codes, int m, double rest, JointWorkspace& work,
                        Visit&& visit) const {
        Keyed items[N_CODES], merging[N_CODES];
        int64_t n_orders = by_class_ ? node_.n_classes : node_.n_labels;
        for (int64_t by = 0; by < n_orders; ++by) {
            for (int j = 0; j < m; ++j) {
                int k = codes[j];
                double a, b;
                if (by_class_) {
                    b = node_.plane(f, 0, by)[k];
                    a = max_of(node_.weight(f, k) - b, 0.0);
                } else {
                    a = node_.plane(f, by, 0)[k];
                    b = node_.plane(f, by, 1)[k];
                }
                bool unknown = !(a > 0.0) && !(b > 0.0);  // categories in which the label has no weight come last
                double key = unknown ? INFINITE : log_odds_key(a, b);
                items[j] = {key, unknown ? N_CODES + k : k};
            }
            sort_keyed(items, m, merging);
            int16_t order[N_CODES];
            for (int j = 0; j < m; ++j) order[j] = int16_t(items[j].code & 255);
            if (visit_prefixes_of(f, order, m, -1, rest, work, visit)) return;
        }
    }

    // The prefixes of the categories in one order, or only prefix number `only`; returns whether visit returned true.
    template <class Visit>
    bool visit_prefixes_of(int64_t f, const int16_t* order, int m, int only, double rest, JointWorkspace& work,
                           Visit&& visit) const {
        const double* counts = node_.counts_of(f);
        int n = m - 1;
        work.left.clear(n), work.right.clear(n);
        int64_t step = by_class_ ? 1 : 2;
        for (int64_t l = 0; l < node_.n_labels; ++l)
            for (int64_t c = 0; c < node_.n_classes; c += step) {
                for (int p = 0; p < int(step); ++p) {
                    const double* h = node_.plane(f, l, c + p);
                    double up = 0.0, down = 0.0;
                    for (int k = 0; k < m; ++k) {
                        up += h[order[k]];
                        work.a[p][k] = up;
                    }
                    for (int k = m - 1; k >= 0; --k) {
                        work.b[p][k] = down;
                        down += h[order[k]];
                    }
                }
                for (int k = 0; k < n; ++k)
                    if (by_class_) {
                        work.left.add_class(k, work.a[0][k]);
                        work.right.add_class(k, work.b[0][k]);
                    } else {
                        work.left.add_label(k, work.a[0][k], work.a[1][k]);
                        work.right.add_label(k, work.b[0][k], work.b[1][k]);
                    }
            }
        double on_left = 0.0, all = 0.0;
        if (counts != nullptr)
            for (int k = 0; k < m; ++k) all += counts[order[k]];
        memset(work.on_left, 0, sizeof work.on_left);
        for (int k = 0; k < n; ++k) {
            work.on_left[order[k]] = 1;
            if (counts != nullptr) on_left += counts[order[k]];
            if (only >= 0 && k != only) continue;
            if (!enough(work.left.total[k], request_) || !enough(work.right.total[k], request_)) continue;
            if (counts != nullptr && (on_left < request_.min_count || all - on_left < request_.min_count)) continue;
            if (visit(loss_of(work.left, k) + loss_of(work.right, k) + rest, work.on_left)) return true;
        }
        return false;
    }

    const Table& table_;
    const ManyPlanes& node_;
    const Request& request_;
    bool by_class_, gini_;
    double tie_;
};

// The best split of a node. It is uncertain if another candidate is so close that errors could change the choice.
inline Status search_joint(const Table& table, const ManyPlanes& node, const Request& request, const double* error,
                           bool derived, double* lowest, int64_t n_jobs, Split& split) {
    JointSearch of(table, node, request);
    int64_t n_tasks = (table.n_features + 1) / 2;
    Buffer<JointWorkspace> workspaces;  // too large for the stack
    TRY(workspaces.reserve(n_tasks == 0 ? 1 : min_of(n_tasks, max_of<int64_t>(n_jobs, 1))));
    int64_t n_workspaces = workspaces.size();
    parallel(n_workspaces, n_jobs, [&](int64_t k) {
        for (int64_t f = bound(table.n_features, n_workspaces, k); f < bound(table.n_features, n_workspaces, k + 1);
             ++f)
            lowest[f] = node.allows(f) ? of.lowest(f, workspaces[k]) : INFINITE;
    });
    double best = INFINITE;
    for (int64_t f = 0; f < table.n_features; ++f) best = min_of(best, lowest[f]);
    split.feature = -1;
    split.uncertain = 0;
    if (!(best < INFINITE)) return DONE;
    int64_t g = 0;
    while (lowest[g] > best + of.tie()) ++g;
    of.choose(g, best + of.tie(), workspaces[0], split);
    if (!derived) return DONE;
    double most_off = 0.0;
    for (int64_t p = 0; p < node.n_labels * node.n_classes; ++p) most_off += 2.0 * error[p];
    const int64_t codes[2] = {MISSING, split.threshold};
    for (int64_t code : codes) {  // is a tiny weight a rounding error, or a row?
        double weight = code >= 0 ? node.weight(g, int(code)) : 0.0;
        if (weight > 0.0 && weight <= most_off) split.uncertain = 1;
    }
    if (split.uncertain) return DONE;
    double margin = of.margin(error);
    int64_t n_near = 0;
    for (int64_t f = 0; f < table.n_features && n_near < 2; ++f)
        if (lowest[f] <= best + margin) n_near += of.count_up_to(f, best + margin, workspaces[0]);
    split.uncertain = n_near > 1;
    return DONE;
}

}  // namespace skew
