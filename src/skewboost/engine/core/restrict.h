// What the splits of a tree are restricted to: `restrictions.py`.
#pragma once
#include "criterion.h"
#include "draws.h"
#include "interactions.h"

namespace skew {

constexpr double ORDER = 1e-12;  // `restrictions.ORDER`

// `restrictions.Restrictions`.
struct Restrictions {
    int64_t n_of_tree, n_of_node;
    int64_t random_thresholds;
    const int8_t* monotonic;  // per column -1, 0, +1; or null
    Interactions interactions;

    // Whether thresholds depend on which codes a node has, or on the order of means. Rounding errors of derived
    // histograms would change these, so that every node is summed.
    bool need_direct_sums() const { return random_thresholds != 0 || monotonic != nullptr; }
};

// The restrictions of the candidates of one column in a node.
struct Restriction {
    int direction;     // -1, 0, +1
    double low, high;  // the bounds of the means of both sides
    bool random;
    uint64_t key;  // by which the threshold is drawn

    bool orders() const { return direction != 0 || low > -INFINITE || high < INFINITE; }

    // `Candidates.in_order` for criteria without forced signs; a0, a1 and b0, b1 are the sums of the sides.
    template <class C>
    bool in_order(const C& c, double a0, double a1, double b0, double b1) const {
        double a = c.mean(a0, a1), b = c.mean(b0, b1);
        double slack = ORDER * (C::squares ? absolute(a) + absolute(b) : 1.0);
        return double(direction) * (b - a) >= -slack && min_of(a, b) >= low - slack && max_of(a, b) <= high + slack;
    }

    // A threshold between the lowest and the highest of n codes; `any_missing` values can be separated from one code.
    // Returns -1 if there is none. `occupied(k)` tells whether a code has rows.
    template <class Occupied>
    int draw_threshold(int n, bool any_missing, Occupied&& occupied) const {
        int first = 0, last = n - 1;
        while (first < n && !occupied(first)) ++first;
        if (first == n) return -1;
        while (!occupied(last)) --last;
        if (last > first) return first + int(uniform_below(key, 0, last - first));
        return any_missing ? last : -1;
    }
};

// What a node may choose from.
struct Candidates {
    const uint8_t* allowed;           // per column
    const Restriction* restrictions;  // per column; or null

    const Restriction* of(int64_t f) const {
        if (restrictions == nullptr) return nullptr;
        const Restriction& own = restrictions[f];
        return own.random || own.orders() ? &own : nullptr;
    }
};

// The candidates of the nodes of a tree: `restrictions.RestrictedTree`.
class RestrictedTree {
public:
    bool active() const { return active_; }
    bool need_direct_sums() const { return active_ && given_.need_direct_sums(); }

    Status start(const Restrictions* given, int64_t n_features, uint64_t key) {
        active_ = given != nullptr;
        if (!active_) return DONE;
        given_ = *given;
        n_features_ = n_features;
        key_ = key;
        TRY(columns_.reserve(n_features));
        TRY(drawn_.reserve(n_features));
        TRY(marks_.reserve(n_features / 64 + 1));
        TRY(allowed_.reserve(n_features));
        if (need_direct_sums()) TRY(restrictions_.reserve(n_features));
        for (int64_t f = 0; f < n_features; ++f) columns_[f] = int32_t(f);
        n_columns_ = draw_front(columns_.data(), n_features, given_.n_of_tree, key_of_tree(key), marks_.data());
        TRY(nodes_.grow(1));
        nodes_[0] = {0, -INFINITE, INFINITE};
        return paths_.start(given_.interactions, n_features);
    }

    // The candidates of a node; they are valid until the next call.
    const Candidates* of(int64_t node) {
        if (!active_) return nullptr;
        const Own& own = nodes_[node];
        int64_t n = 0;
        paths_.open(node);
        for (int64_t k = 0; k < n_columns_; ++k)
            if (paths_.allows(columns_[k])) drawn_[n++] = columns_[k];
        n = draw_front(drawn_.data(), n, given_.n_of_node, key_of_node(key_, own.number), marks_.data());
        memset(allowed_.data(), 0, size_t(n_features_));
        for (int64_t k = 0; k < n; ++k) allowed_[drawn_[k]] = 1;
        candidates_ = {allowed_.data(), nullptr};
        if (need_direct_sums()) {
            bool random = given_.random_thresholds != 0;
            for (int64_t k = 0; k < n; ++k) {
                int32_t f = drawn_[k];
                restrictions_[f] = {given_.monotonic == nullptr ? 0 : given_.monotonic[f], own.low, own.high, random,
                                    random ? key_of_column(key_, own.number, f) : 0};
            }
            candidates_.restrictions = restrictions_.data();
        }
        return &candidates_;
    }

    int direction(int64_t f) const { return active_ && given_.monotonic != nullptr ? given_.monotonic[f] : 0; }

    // Restricts the children of split number `split` of a node, which are the nodes from `first` on. `middle` is that
    // of the means of both sides, if the column has a direction.
    Status restrict_children(int64_t node, int64_t first, int64_t n, int64_t split, int64_t feature, double middle) {
        TRY(nodes_.grow(first + n));
        for (int64_t side = 0; side < n; ++side) {
            Own own = nodes_[node];
            own.number = 3 * split + 1 + side;
            int upwards = direction(feature) * (side == LEFT ? -1 : 1);
            if (side <= RIGHT && upwards > 0) own.low = max_of(own.low, middle);
            if (side <= RIGHT && upwards < 0) own.high = min_of(own.high, middle);
            TRY(paths_.extend(first + side, node, feature));
            nodes_[first + side] = own;
        }
        return DONE;
    }

private:
    struct Own {
        int64_t number;    // as in `growing`, by which its columns and thresholds are drawn
        double low, high;  // the bounds of its mean
    };

    Restrictions given_{};
    bool active_ = false;
    int64_t n_features_ = 0, n_columns_ = 0;
    uint64_t key_ = 0;
    Buffer<int32_t> columns_, drawn_;
    Buffer<uint64_t> marks_;
    Buffer<uint8_t> allowed_;
    Paths paths_;
    Buffer<Restriction> restrictions_;
    Buffer<Own> nodes_;
    Candidates candidates_{nullptr, nullptr};
};

}  // namespace skew
