// Which columns may be tested together on a path of a tree: `restrictions.Interactions`.
#pragma once
#include "base.h"

namespace skew {

struct Interactions {
    int64_t most;              // distinct columns on a path; 0: any number
    int64_t n_groups;          // of features that may be tested together; 0: all may
    const int64_t* first;      // [group + 1]: where the members of a group begin
    const int32_t* members;    // the features of each group, sorted
    const int32_t* column_of;  // of each feature, if some columns are several features that follow one another; or null

    bool any() const { return most > 0 || n_groups > 0; }
};

// The features that were tested above the nodes of a tree, and what may therefore be tested in them.
class Paths {
public:
    Status start(const Interactions& given, int64_t n_features) {
        given_ = given;
        n_features_ = n_features;
        every_ = true;
        if (!given.any()) return DONE;
        TRY(allowed_.reserve(n_features));
        TRY(steps_.grow(1));
        steps_[0] = {-1, -1};
        return DONE;
    }

    // Notes that a node is below the test of a feature in another node; the root is node 0.
    Status extend(int64_t node, int64_t parent, int64_t feature) {
        if (!given_.any()) return DONE;
        TRY(steps_.grow(node + 1));
        steps_[node] = {parent, int32_t(feature)};
        return DONE;
    }

    // Finds what may be tested in a node; `allows` is about the node that was opened last.
    void open(int64_t node) {
        every_ = !given_.any() || node == 0;
        if (every_) return;
        memset(allowed_.data(), 0, size_t(n_features_));
        if (given_.most > 0) {
            int64_t n = 0;
            for (int64_t k = node; k > 0; k = steps_[k].parent) n += allow_column_of(steps_[k].feature);
            every_ = n < given_.most;
            return;
        }
        for (int64_t g = 0; g < given_.n_groups; ++g) {
            const int32_t *begin = given_.members + given_.first[g], *end = given_.members + given_.first[g + 1];
            bool open = true;
            for (int64_t k = node; k > 0 && open; k = steps_[k].parent) open = has(begin, end, steps_[k].feature);
            for (; open && begin < end; ++begin) allowed_[*begin] = 1;
        }
    }
    bool restricted() const { return !every_; }
    bool allows(int64_t feature) const { return every_ || allowed_[feature] != 0; }

private:
    struct Step {
        int64_t parent;
        int32_t feature;
    };

    // Allows all features of a column; returns whether they were not allowed before.
    bool allow_column_of(int32_t feature) {
        if (allowed_[feature]) return false;
        const int32_t* column = given_.column_of;
        int64_t first = feature, last = feature;
        while (column != nullptr && first > 0 && column[first - 1] == column[feature]) --first;
        while (column != nullptr && last + 1 < n_features_ && column[last + 1] == column[feature]) ++last;
        for (int64_t f = first; f <= last; ++f) allowed_[f] = 1;
        return true;
    }
    static bool has(const int32_t* begin, const int32_t* end, int32_t feature) {
        while (begin < end) {
            const int32_t* middle = begin + (end - begin) / 2;
            if (*middle == feature) return true;
            if (*middle < feature)
                begin = middle + 1;
            else
                end = middle;
        }
        return false;
    }

    Interactions given_{};
    int64_t n_features_ = 0;
    bool every_ = true;
    Buffer<Step> steps_;
    Buffer<uint8_t> allowed_;
};

}  // namespace skew
