// The children of a node: their rows, and their histograms by subtraction.
#pragma once
#include "grow.h"

namespace skew {

// Copies the rows of [from, from + n) that go to a side to the front of `to`, followed by the others, both in order.
// `to` may be `from`. `front` is the number of rows of the side.
inline Status Grower::divide(const uint32_t* from, int64_t n, int64_t feature, const uint8_t* child, uint8_t side,
                             uint32_t* to, uint32_t* spare, int64_t& front) {
    const uint64_t* words = rows_.table.block(feature >> 3);
    int shift = int(8 * (feature & 7));
    int64_t n_tasks = max_of<int64_t>(1, n / (4 * ROWS_PER_TASK));  // the parts have to be joined again
    if (n_tasks == 1) {
        int64_t a = 0, b = 0;
        for (int64_t i = 0; i < n; ++i) {
            uint32_t row = from[i];
            bool goes = child[(words[row] >> shift) & 255] == side;
            to[a] = row;
            spare[b] = row;
            a += goes;
            b += !goes;
        }
        memcpy(to + a, spare, size_t(b) * sizeof(uint32_t));
        front = a;
        return DONE;
    }
    TRY(lengths_.reserve(n_tasks + 1));
    int64_t* lengths = lengths_.data();
    // each part has the rows of the side at its beginning, and the others backwards from its end
    parallel(n_tasks, rows_.n_jobs, [&](int64_t task) {
        int64_t start = bound(n, n_tasks, task), stop = bound(n, n_tasks, task + 1);
        int64_t a = start, b = stop - 1;
        for (int64_t i = start; i < stop; ++i) {
            uint32_t row = from[i];
            bool goes = child[(words[row] >> shift) & 255] == side;
            spare[goes ? a : b] = row;
            a += goes;
            b -= !goes;
        }
        lengths[task] = a - start;
    });
    front = 0;
    for (int64_t k = 0; k < n_tasks; ++k) front += lengths[k];
    parallel(n_tasks, rows_.n_jobs, [&](int64_t task) {
        int64_t start = bound(n, n_tasks, task), stop = bound(n, n_tasks, task + 1);
        int64_t before = 0;
        for (int64_t k = 0; k < task; ++k) before += lengths[k];
        memcpy(to + before, spare + start, size_t(lengths[task]) * sizeof(uint32_t));
        uint32_t* behind = to + front + (start - before);
        for (int64_t i = stop - 1, k = 0; i >= start + lengths[task]; --i, ++k) behind[k] = spare[i];
    });
    return DONE;
}

// Makes the children of a node with their rows: left, right and, if any code does, abstaining.
inline Status Grower::make_children(int64_t index) {
    bool three = nodes_[index].split.child[MISSING] == ABSTAIN;
    int64_t n_children = three ? 3 : 2, first = n_nodes_;
    for (int64_t side = 0; side < n_children; ++side) {
        int64_t made;
        TRY(new_node(made));
        Node& child = nodes_[made];
        child.depth = nodes_[index].depth + 1;
        child.abstains = side == ABSTAIN;
    }
    Node& node = nodes_[index];
    for (int64_t g = 0; g < n_groups_; ++g) {
        uint32_t* to = list_.data() + node.begin[g];
        uint32_t* spare = spare_.data() + node.begin[g];
        int64_t n_left, n_right;
        const Split& split = node.split;
        TRY(divide(rows_of(node, g), node.size[g], split.feature, split.child, LEFT, to, spare, n_left));
        n_right = node.size[g] - n_left;
        if (three)
            TRY(divide(to + n_left, node.size[g] - n_left, split.feature, split.child, RIGHT, to + n_left, spare,
                       n_right));
        int64_t sizes[3] = {n_left, n_right, node.size[g] - n_left - n_right}, at = node.begin[g];
        for (int64_t side = 0; side < n_children; ++side) {
            nodes_[first + side].begin[g] = at;
            nodes_[first + side].size[g] = sizes[side];
            at += sizes[side];
        }
    }
    node.children = first;
    node.n_children = n_children;
    return DONE;
}

// Computes the histograms of children. In each group the largest child is the heir, which is the parent less the other
// children; these are summed. The heir of the first group takes over the memory of the parent.
inline Status Grower::give_histograms(int64_t index) {
    Node& node = nodes_[index];
    Node* children = &nodes_[node.children];
    int64_t n = node.n_children, heirs[2] = {0, 0};
    for (int64_t g = 0; g < n_groups_; ++g)
        for (int64_t side = 1; side < n; ++side)
            if (children[side].size[g] > children[heirs[g]].size[g]) heirs[g] = side;
    bool enough_slots = node.slot >= 0;
    for (int64_t side = 0; side < n; ++side) {
        if (children[side].slot >= 0 || (enough_slots && side == heirs[0])) continue;
        TRY(slots_.take(children[side].slot));
        if (children[side].slot < 0) enough_slots = false;
    }
    if (!enough_slots) {  // the pool is full: sum the children that have memory
        for (int64_t side = 0; side < n; ++side)
            if (children[side].slot >= 0) TRY(sum_directly(children[side]));
        return DONE;
    }
    children[heirs[0]].slot = node.slot;
    node.slot = -1;
    for (int64_t g = 0; g < n_groups_; ++g) {
        Node& heir = children[heirs[g]];
        bool direct = heir.size[g] <= SMALL_NODE;
        bool elsewhere = heirs[g] != heirs[0] && !direct;  // the parent's plane is in the memory of another child
        Node& holder = children[heirs[0]];
        for (int64_t side = 0; side < n; ++side) {
            Node& child = children[side];
            if (side == heirs[g] && !direct) continue;
            double* out = slots_[elsewhere && side == heirs[0] ? heir.slot : child.slot];
            TRY(sum_group(rows_of(child, g), child.size[g], g, out));
            for (int64_t p = first_plane(g); p < end_plane(g); ++p)
                error_of(child)[p] = direct_error(child.size[g]) * size_of_plane(out, p);
        }
        if (direct) continue;
        for (int64_t p = first_plane(g); p < end_plane(g); ++p) error_of(heir)[p] = error_of(node)[p];
        if (elsewhere) exchange(slots_[holder.slot], slots_[heir.slot], g);
        for (int64_t side = 0; side < n; ++side) {
            if (side == heirs[g]) continue;
            if (!(elsewhere && side == heirs[0])) subtract(slots_[heir.slot], slots_[children[side].slot], g);
            for (int64_t p = first_plane(g); p < end_plane(g); ++p) error_of(heir)[p] += error_of(children[side])[p];
        }
        heir.derived = true;
    }
    return DONE;
}

// rest = rest - part. Class weights stay nonnegative.
inline void Grower::subtract(double* rest, const double* part, int64_t group) const {
    bool is_signed = responses_ != nullptr;
    for_group(group, [=](int64_t at, int64_t m) {
        if (is_signed)
            for (int64_t k = at; k < at + m; ++k) rest[k] -= part[k];
        else
            for (int64_t k = at; k < at + m; ++k) {
                double left = rest[k] - part[k];
                rest[k] = left > 0.0 ? left : 0.0;
            }
    });
}

// Moves `part` to `whole`, which has the sums of the parent, and the remainder of the parent to `part`.
inline void Grower::exchange(double* whole, double* part, int64_t group) const {
    for_group(group, [=](int64_t at, int64_t m) {
        for (int64_t k = at; k < at + m; ++k) {
            double left = whole[k] - part[k];
            whole[k] = part[k];
            part[k] = left > 0.0 ? left : 0.0;
        }
    });
}

// Whether the weight of a category that has rows in the node was lost by a subtraction. The split would treat it as a
// category without rows. At the root all categories have weight.
inline bool Grower::lost_rows(const Node& node) {
    const Split& split = node.split;
    if (!node.derived || node.depth == 0 || split.threshold >= 0) return false;
    int64_t planes = two_planes_ ? 2 : rows_.n_classes, labels = two_planes_ ? 1 : rows_.n_labels;
    bool gone[N_CODES], any = false;
    for (int k = 0; k < N_CODES; ++k) {
        gone[k] = k < rows_.table.n_bins[split.feature] || k == MISSING;
        for (int64_t l = 0; l < labels && gone[k]; ++l)
            for (int64_t p = 0; p < planes; ++p)
                if (slots_[node.slot][((l * rows_.n_padded() + split.feature) * planes + p) * N_CODES + k] != 0.0)
                    gone[k] = false;
        any = any || gone[k];
    }
    if (!any) return false;
    const uint64_t* words = rows_.table.block(split.feature >> 3);
    for (int64_t g = 0; g < n_groups_; ++g) {
        const uint32_t* own = rows_of(node, g);
        for (int64_t i = 0; i < node.size[g]; ++i)
            if (gone[code_in(words[own[i]], split.feature)]) return true;
    }
    return false;
}

}  // namespace skew
