// The cuts of numeric columns: `binning.cuts_of` of their `binning.summary`.
//
// Quantiles need only a few hundred order statistics: `select` sorts the parts of a column that contain them. If a
// number may be so frequent that it fills a bin alone, or if there are weights, the whole column is sorted.
#pragma once
#include "sort.h"
#include "threads.h"

namespace skew {

// The number at some rank of a column, how often it occurs, and the next larger number.
template <class K>
struct OrderStatistic {
    int64_t rank;
    K here, next;
    int64_t n_equal;
    bool is_last;  // whether no larger number is known
};

template <class T>
class Selection {
public:
    using K = Key<T>;
    using Rank = OrderStatistic<K>;

    // Finds the numbers at the given ranks, which are sorted.
    static Status select(K* keys, int64_t n, Rank* ranks, int64_t n_ranks) {
        // Numbers that are spread more or less evenly are best divided by value. What remains together is divided by
        // bits.
        K low = keys[0], high = keys[0];
        for (int64_t i = 1; i < n; ++i) {
            low = min_of(low, keys[i]);
            high = max_of(high, keys[i]);
        }
        int bits = 0;
        while (bits < BITS && (low ^ high) >> bits != 0) ++bits;
        double first = number_of<T>(low), width = number_of<T>(high) - first;
        int64_t n_digits = 1 << DIGIT;
        while (n_digits < (1 << MOST_BITS) && 4 * n_digits < n) n_digits *= 2;
        double scale = double(n_digits - 1) / width;
        if (n <= SMALL || !(width < INFINITE && scale < INFINITE)) return select(keys, n, bits, ranks, n_ranks);
        return divide(keys, n, bits, n_digits, ranks, n_ranks,
                      [=](K key) { return int64_t((number_of<T>(key) - first) * scale); });
    }

private:
    static constexpr int64_t SMALL = 192, DENSE = 8;  // so few numbers, in all or per rank, are sorted
    static constexpr int DIGIT = 8, MOST_BITS = 15, BITS = int(8 * sizeof(T));

    // All keys agree in the bits from `bits` on.
    static Status select(K* keys, int64_t n, int bits, Rank* ranks, int64_t n_ranks) {
        if (Sort<K>::n_equal(keys, n) == n) {
            for (int64_t k = 0; k < n_ranks; ++k) ranks[k] = {0, keys[0], keys[0], n, true};
            return DONE;
        }
        if (n < DENSE * n_ranks || n <= SMALL || bits <= 0) {
            K few[SMALL];
            Buffer<K> many;
            if (n > SMALL) TRY(many.reserve(n));
            Sort<K>::sort(keys, n, bits, n > SMALL ? many.data() : few);
            for (int64_t k = 0; k < n_ranks; ++k) {
                if (k > 0 && keys[ranks[k].rank] == ranks[k - 1].here)
                    ranks[k] = ranks[k - 1];  // except for its rank, which is not needed again
                else
                    read(keys, n, ranks[k]);
            }
            return DONE;
        }
        int digit = DIGIT;
        while (digit < MOST_BITS && (int64_t(4) << digit) < n) ++digit;
        int shift = max_of(0, bits - digit);
        K mask = (K(1) << (bits - shift)) - K(1);
        return divide(keys, n, shift, int64_t(mask) + 1, ranks, n_ranks,
                      [=](K key) { return int64_t((key >> shift) & mask); });
    }

    // Divides the keys into parts of equal digits, and continues with the parts that contain ranks. The part after such
    // a part gives the next larger number.
    template <class Digit>
    static Status divide(K* keys, int64_t n, int bits, int64_t n_digits, Rank* ranks, int64_t n_ranks, Digit&& digit) {
        struct Part {
            int64_t begin, size, first, n_ranks;
        };
        Buffer<Part> parts;
        Buffer<uint32_t> count, wanted;  // `wanted` is 1 for the digits of parts that are kept, otherwise 0
        TRY(parts.reserve(2 * n_ranks));
        TRY(count.reserve(n_digits));
        TRY(wanted.reserve(n_digits));
        memset(count.data(), 0, size_t(n_digits) * sizeof(uint32_t));
        for (int64_t i = 0; i < n; ++i) count[digit(keys[i])] += 1;
        if (count[digit(keys[0])] == n) return select(keys, n, bits, ranks, n_ranks);
        // These parts are stored one after the other. All other keys go to the place after them, which is not read.
        int64_t n_parts = 0, n_wanted = 0, before = 0, k = 0;
        bool is_next = false;
        for (int64_t d = 0; d < n_digits; ++d) {
            int64_t own = count[d], first = k;
            wanted[d] = 0;
            if (own == 0) continue;
            while (k < n_ranks && ranks[k].rank < before + own) ranks[k++].rank -= before;
            count[d] = uint32_t(n_wanted);
            if (k > first || is_next) {
                wanted[d] = 1;
                parts[n_parts++] = {n_wanted, own, first, k - first};
                n_wanted += own;
            }
            is_next = k > first;
            before += own;
        }
        for (int64_t d = 0; d < n_digits; ++d)
            if (!wanted[d]) count[d] = uint32_t(n_wanted);
        Buffer<K> some;
        TRY(some.reserve(n_wanted + 1));
        for (int64_t i = 0; i < n; ++i) {
            int64_t d = digit(keys[i]);
            some[count[d]] = keys[i];
            count[d] += wanted[d];
        }
        for (int64_t p = 0; p < n_parts; ++p) {
            if (parts[p].n_ranks == 0) continue;
            Rank* own = ranks + parts[p].first;
            TRY(select(some.data() + parts[p].begin, parts[p].size, bits, own, parts[p].n_ranks));
            if (p + 1 == n_parts) continue;
            const K* following = some.data() + parts[p + 1].begin;
            K next = following[0];
            for (int64_t i = 1; i < parts[p + 1].size; ++i) next = min_of(next, following[i]);
            for (int64_t j = 0; j < parts[p].n_ranks; ++j)
                if (own[j].is_last) own[j].next = next, own[j].is_last = false;
        }
        return DONE;
    }

    static void read(const K* sorted, int64_t n, Rank& rank) {
        rank.here = sorted[rank.rank];
        int64_t before = rank.rank, after = rank.rank + 1;
        while (before > 0 && sorted[before - 1] == rank.here) --before;
        while (after < n && sorted[after] == rank.here) ++after;
        rank.n_equal = after - before;
        rank.is_last = after == n;
        if (!rank.is_last) rank.next = sorted[after];
    }
};

// Computes the cuts of columns one after another, with reused memory.
template <class T>
class Cutter {
public:
    using K = Key<T>;
    static constexpr int BITS = int(8 * sizeof(T));

    explicit Cutter(int64_t max_bins) : max_bins_(max_bins) {}

    // For keys of equal weight.
    Status cut(K* keys, int64_t n, double* cuts, int64_t& n_cuts) {
        bool done = false;
        TRY(at_quantiles(keys, n, cuts, n_cuts, done));
        if (done) return DONE;
        Buffer<K> scratch;
        TRY(scratch.reserve(n));
        Sort<K>::sort(keys, n, BITS, scratch.data());
        TRY(values_.reserve(n));
        TRY(mass_.reserve(n));
        int64_t m = 0;
        for (int64_t i = 0; i < n; ++m) {
            int64_t from = i;
            while (i < n && keys[i] == keys[from]) ++i;
            values_[m] = number_of<T>(keys[from]);
            mass_[m] = double(i - from);
        }
        return of_masses(m, cuts, n_cuts);
    }

    Status cut(Weighted<K>* items, int64_t n, double* cuts, int64_t& n_cuts) {
        Buffer<Weighted<K>> scratch;
        TRY(scratch.reserve(n));
        Sort<Weighted<K>>::sort(items, n, BITS, scratch.data());
        TRY(values_.reserve(n));
        TRY(mass_.reserve(n));
        int64_t m = 0;
        for (int64_t i = 0; i < n; ++m) {
            K own = items[i].key;
            values_[m] = number_of<T>(own);
            mass_[m] = 0.0;
            for (; i < n && items[i].key == own; ++i) mass_[m] += items[i].weight;
        }
        return of_masses(m, cuts, n_cuts);
    }

private:
    // Cuts at quantiles, unless some number fills a bin alone. More than n/B equal numbers cannot lie between two
    // neighbouring B-quantiles, so such a number is one of the quantiles.
    Status at_quantiles(K* keys, int64_t n, double* cuts, int64_t& n_cuts, bool& done) {
        done = false;
        if (n < 2 * max_bins_) return DONE;
        TRY(ranks_.reserve(max_bins_));
        int64_t n_ranks = max_bins_ - 1;
        for (int64_t q = 0; q < n_ranks; ++q) ranks_[q].rank = rank_of(q + 1, n);
        TRY(Selection<T>::select(keys, n, ranks_.data(), n_ranks));
        for (int64_t q = 0; q < n_ranks; ++q)
            if (ranks_[q].n_equal * max_bins_ > n) return DONE;
        n_cuts = 0;
        for (int64_t q = 0; q < n_ranks; ++q) {
            if (ranks_[q].is_last) continue;
            double cut = middle(number_of<T>(ranks_[q].here), number_of<T>(ranks_[q].next));
            if (n_cuts == 0 || cut > cuts[n_cuts - 1]) cuts[n_cuts++] = cut;
        }
        done = true;
        return DONE;
    }

    int64_t rank_of(int64_t quantile, int64_t n) const {
        double exact = double(quantile * n) / double(max_bins_);
        int64_t whole = int64_t(exact);
        return double(whole) < exact ? whole : whole - 1;
    }

    // `binning.cuts_of` for the first m values and weights.
    Status of_masses(int64_t m, double* cuts, int64_t& n_cuts) {
        n_cuts = 0;
        if (m <= max_bins_) {
            for (int64_t k = 0; k + 1 < m; ++k) cuts[n_cuts++] = middle(values_[k], values_[k + 1]);
            return DONE;
        }
        TRY(heavy_.reserve(m));
        int64_t n_light = find_heavy(m);
        double total = sum_of_light(m), light = 0.0;
        bool whole = true;
        for (int64_t k = 0; k < m && whole; ++k) whole = is_whole(mass_[k]);
        int64_t q = 1;
        // cut after the value at which the light weight reaches the target, and around every heavy value
        for (int64_t k = 0; k + 1 < m; ++k) {
            light += heavy_[k] ? 0.0 : mass_[k];
            bool reached = false;
            while (q < n_light && light >= target(q, total, n_light, whole)) reached = true, ++q;
            if (reached || heavy_[k] || heavy_[k + 1]) cuts[n_cuts++] = middle(values_[k], values_[k + 1]);
        }
        return DONE;
    }

    // Finds the values that fill a bin alone, and returns the number of bins for the others.
    int64_t find_heavy(int64_t m) {
        for (int64_t k = 0; k < m; ++k) heavy_[k] = 0;
        for (;;) {
            int64_t n_heavy = 0, n_runs = heavy_[0] == 0;
            for (int64_t k = 0; k < m; ++k) n_heavy += heavy_[k];
            for (int64_t k = 1; k < m; ++k) n_runs += !heavy_[k] && heavy_[k - 1];
            int64_t n_light = max_bins_ - n_heavy - (n_heavy > 0 ? n_runs : 0);
            if (n_light < 1) {
                for (int64_t k = 0; k < m; ++k) heavy_[k] = 0;
                return max_bins_;
            }
            double mean = sum_of_light(m) / double(n_light);
            bool more = false;
            for (int64_t k = 0; k < m; ++k)
                if (!heavy_[k] && mass_[k] > mean) heavy_[k] = more = true;
            if (!more) return n_light;
        }
    }

    double sum_of_light(int64_t m) const {
        double total = 0.0;
        for (int64_t k = 0; k < m; ++k) total += heavy_[k] ? 0.0 : mass_[k];
        return total;
    }

    static bool is_whole(double x) { return x >= 9007199254740992.0 || double(int64_t(x)) == x; }

    static double target(int64_t q, double total, int64_t n_light, bool whole) {
        double exact = double(q) * total / double(n_light);
        if (!whole) return exact * (1 - 1e-12);
        if (exact >= 9007199254740992.0) return exact;
        double floor = double(int64_t(exact));
        return floor < exact ? floor + 1.0 : floor;
    }

    // `binning._midpoints`
    static double middle(double below, double above) {
        double half = (below + above) / 2;
        if (!(half < INFINITE && half > -INFINITE)) half = below / 2 + above / 2;
        return half >= below && half < above ? half : below;
    }

    int64_t max_bins_;
    Buffer<OrderStatistic<K>> ranks_;
    Buffer<uint8_t> heavy_;
    Buffer<double> values_, mass_;
};

constexpr int64_t BYTES_AT_A_TIME =
    32;  // the width of a group of columns that are read together, because they share cache lines

// Writes the cuts of columns, at most max_bins - 1 each, to rows of N_CODES numbers. The numbers of a column are `step`
// elements apart. NaN and numbers of zero weight are ignored.
template <class T>
Status cut_columns(const T* const* columns, const int64_t* steps, int64_t n_columns, int64_t n, const double* weights,
                   int64_t max_bins, double* cuts, int64_t* n_cuts, int64_t n_jobs) {
    constexpr int64_t AT_A_TIME = BYTES_AT_A_TIME / int64_t(sizeof(T));
    int64_t group = max_of<int64_t>(1, min_of(AT_A_TIME, n_columns / n_jobs));
    if (weights != nullptr) group = 1;
    int64_t n_tasks = (n_columns + group - 1) / group;
    int failed = DONE;
    parallel(n_tasks, n * n_columns > 8192 ? n_jobs : 1, [&](int64_t task) {
        int64_t first = task * group, m = min_of(group, n_columns - first);
        Cutter<T> cutter(max_bins);
        auto work = [&]() -> Status {
            if (weights != nullptr) {
                Buffer<Weighted<Key<T>>> items;
                TRY(items.reserve(n + 1));
                int64_t found = 0;
                for (int64_t i = 0; i < n; ++i) {
                    T value = columns[first][i * steps[first]];
                    items[found] = {key_of(value), weights[i]};
                    found += value == value && weights[i] > 0.0;
                }
                return cutter.cut(items.data(), found, cuts + first * N_CODES, n_cuts[first]);
            }
            Buffer<Key<T>> keys;
            TRY(keys.reserve(m * (n + 1)));
            int64_t found[AT_A_TIME] = {0};
            for (int64_t from = 0; from < n; from += 256)
                for (int64_t c = 0; c < m; ++c) {
                    const T* x = columns[first + c];
                    Key<T>* own = keys.data() + c * (n + 1);
                    int64_t step = steps[first + c], at = found[c];
                    for (int64_t i = from; i < min_of<int64_t>(from + 256, n); ++i) {
                        T value = x[i * step];
                        own[at] = key_of(value);
                        at += value == value;
                    }
                    found[c] = at;
                }
            for (int64_t c = 0; c < m; ++c)
                TRY(cutter.cut(keys.data() + c * (n + 1), found[c], cuts + (first + c) * N_CODES, n_cuts[first + c]));
            return DONE;
        };
        if (work() != DONE) __atomic_store_n(&failed, int(NO_MEMORY), __ATOMIC_RELAXED);
    });
    return Status(failed);
}

}  // namespace skew
