// Growing a stump (`growing._stump`), which needs much less work than a tree.
#pragma once
#include "grow.h"

namespace skew {

// The sum of the values of codes that go to a side.
inline double sum_of_side(const double* values, const uint8_t* child, int64_t side) {
    double own[N_CODES];
    for (int k = 0; k < N_CODES; ++k) own[k] = child[k] == side ? values[k] : 0.0;
    return sum_of_codes(own);
}

// Splits the root of a stump. In each group the rows of the largest child are neither listed nor summed: reweighting
// multiplies the scale of the whole group by its factor, and its sums are those of the root less the other children.
// For responses, whose weights all change anyway, no child is listed.
inline Status Grower::split_root() {
    const double* per_code;
    TRY(responses_ != nullptr ? count_responses(per_code) : rows_per_code(per_code));
    for (int attempt = 0; attempt < 2; ++attempt) {
        Node& root = nodes_[0];
        if (root.split.feature < 0) return DONE;
        int64_t sizes[3][2] = {{0, 0}, {0, 0}, {0, 0}};
        for (int64_t g = 0; g < n_groups_; ++g) {
            const double* own = per_code + (g * rows_.n_padded() + root.split.feature) * N_CODES;
            for (int side = LEFT; side <= ABSTAIN; ++side)
                sizes[side][g] = int64_t(sum_of_side(own, root.split.child, side));
        }
        bool empty = sizes[0][0] + sizes[0][1] == 0 || sizes[1][0] + sizes[1][1] == 0;
        if (empty && attempt == 0) {
            // A rounding error left some weight in a bin without rows. Direct sums have no such errors.
            TRY(sum_directly(root));
            TRY(search_sums(root));
            continue;
        }
        if (empty) root.split.feature = -1;
        if (root.split.feature < 0) return DONE;
        bool three = root.split.child[MISSING] == ABSTAIN;
        int64_t n_children = three ? 3 : 2;
        for (int64_t side = 0; side < n_children; ++side) {
            int64_t made;
            TRY(new_node(made));
            nodes_[made].depth = 1;
            nodes_[made].abstains = side == ABSTAIN;
            for (int64_t g = 0; g < n_groups_; ++g) nodes_[made].size[g] = sizes[side][g];
        }
        nodes_[0].children = 1;
        nodes_[0].n_children = n_children;
        TRY(note_split(0));
        return responses_ != nullptr ? DONE : list_smaller_children();
    }
    return DONE;
}

inline Status Grower::count_responses(const double*& counts) {
    if (!rows_.by_class()) return rows_per_code(counts);
    const double* by_group;
    TRY(rows_per_code(by_group));
    int64_t length = rows_.n_padded() * N_CODES;
    if (rows_per_cell_.size() == 0) {
        TRY(rows_per_cell_.reserve(length));
        for (int64_t k = 0; k < length; ++k) rows_per_cell_[k] = by_group[k] + by_group[length + k];
    }
    counts = rows_per_cell_.data();
    return DONE;
}

// Lists and sums the rows of all children of the root except the largest of each group.
inline Status Grower::list_smaller_children() {
    for (int64_t g = 0; g < n_groups_; ++g) {
        Node& root = nodes_[0];
        Node* children = &nodes_[1];
        int64_t largest = 0;
        for (int64_t side = 1; side < root.n_children; ++side)
            if (children[side].size[g] > children[largest].size[g]) largest = side;
        rest_[g] = largest;
        int64_t at = root.begin[g];
        for (int64_t side = 0; side < root.n_children; ++side) {
            Node& child = children[side];
            if (side == largest) continue;
            child.begin[g] = at;
            at += child.size[g];
            TRY(select(rows_of(root, g), root.size[g], root.split.feature, root.split.child, uint8_t(side),
                       list_.data() + child.begin[g], spare_.data() + root.begin[g]));
            if (sums_all()) continue;
            if (child.slot < 0) TRY(slots_.take(child.slot));
            if (child.slot < 0) return NO_MEMORY;
            TRY(sum_group(list_.data() + child.begin[g], child.size[g], g, slots_[child.slot]));
            note_error(child, g);
        }
    }
    return DONE;
}

// Copies the rows that go to a side, in order.
inline Status Grower::select(const uint32_t* from, int64_t n, int64_t feature, const uint8_t* child, uint8_t side,
                             uint32_t* to, uint32_t* spare) {
    const uint64_t* words = rows_.table.block(feature >> 3);
    int shift = int(8 * (feature & 7));
    int64_t n_tasks = max_of<int64_t>(1, n / ROWS_PER_TASK);
    TRY(lengths_.reserve(n_tasks + 1));
    int64_t* lengths = lengths_.data();
    parallel(n_tasks, rows_.n_jobs, [&](int64_t task) {
        int64_t start = bound(n, n_tasks, task), stop = bound(n, n_tasks, task + 1), k = start;
        for (int64_t i = start; i < stop; ++i) {
            uint32_t row = from[i];
            spare[k] = row;
            k += child[(words[row] >> shift) & 255] == side;
        }
        lengths[task] = k - start;
    });
    int64_t at = 0;
    for (int64_t k = 0; k < n_tasks; ++k) {
        memcpy(to + at, spare + bound(n, n_tasks, k), size_t(lengths[k]) * sizeof(uint32_t));
        at += lengths[k];
    }
    return DONE;
}

// The sums of a stump's sides. For labels they come from the histograms of the children, and for the largest child of
// each group from the root less the others. For responses they come from the root.
inline void Grower::sum_sides() {
    const Node& root = nodes_[0];
    double* sums = sums_.data();
    for (int64_t k = 0; k < n_leaves_ * n_planes_; ++k) sums[k] = 0.0;
    const double* whole = slots_[root.slot];
    for (int64_t p = 0; p < n_planes_; ++p) {
        int64_t g = n_groups_ > 1 ? p : 0;
        int64_t planes = two_planes_ ? 2 : rows_.n_classes;
        bool from_root = responses_ != nullptr || sums_all();
        int64_t feature = from_root ? root.split.feature : 0;
        int64_t at = (((p / planes) * rows_.n_padded() + feature) * planes + p % planes) * N_CODES;
        if (from_root) {
            for (int64_t side = 0; side < n_leaves_; ++side)
                sums[side * n_planes_ + p] = sum_of_side(whole + at, root.split.child, side);
            continue;
        }
        double total = sum_of_codes(whole + at), others = 0.0;
        for (int64_t side = 0; side < root.n_children; ++side) {
            if (side == rest_[g]) continue;
            double sum = sum_of_codes(slots_[nodes_[1 + side].slot] + at);
            sums[side * n_planes_ + p] = sum;
            others += sum;
        }
        double left = total - others;
        sums[rest_[g] * n_planes_ + p] = left < MIN_REMAINDER * total ? sum_rest(g, p) : left;
    }
}

// The weight of the rows of a plane on the side that is not listed.
inline double Grower::sum_rest(int64_t group, int64_t plane) const {
    const Node& root = nodes_[0];
    const Split& split = root.split;
    const uint64_t* words = rows_.table.block(split.feature >> 3);
    const uint32_t* own = rows_of(root, group);
    int64_t label = plane / rows_.n_classes;
    uint16_t cls = uint16_t(plane % rows_.n_classes);
    double total = 0.0;
    for (int64_t start = 0; start < root.size[group]; start += 1024) {
        double part = 0.0;
        for (int64_t i = start; i < min_of<int64_t>(start + 1024, root.size[group]); ++i) {
            uint32_t row = own[i];
            if (split.child[code_in(words[row], split.feature)] == rest_[group] && rows_.classes(label)[row] == cls)
                part += rows_.stored(label)[row];
        }
        total += part;
    }
    return rows_.scale(plane) * total;
}

}  // namespace skew
