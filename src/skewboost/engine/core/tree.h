// Growing a tree: the choice of the next node to split (`growing._Tree`).
#pragma once
#include "children.h"

namespace skew {

inline Status Grower::push(QueuedNode item) {
    TRY(queue_.grow(n_waiting_ + 1));
    int64_t k = n_waiting_++;
    for (; k > 0 && item.before(queue_[(k - 1) / 2]); k = (k - 1) / 2) queue_[k] = queue_[(k - 1) / 2];
    queue_[k] = item;
    return DONE;
}

inline int64_t Grower::pop() {
    int64_t first = queue_[0].node;
    QueuedNode last = queue_[--n_waiting_];
    int64_t k = 0;
    for (;;) {
        int64_t child = 2 * k + 1;
        if (child >= n_waiting_) break;
        if (child + 1 < n_waiting_ && queue_[child + 1].before(queue_[child])) ++child;
        if (!queue_[child].before(last)) break;
        queue_[k] = queue_[child];
        k = child;
    }
    queue_[k] = last;
    return first;
}

// Queues a node if its best split has a gain.
inline Status Grower::offer(int64_t index) {
    const Node& node = nodes_[index];
    if (node.abstains || node.split.feature < 0) return DONE;
    double gained = node.split.before - node.split.value;
    if (gained <= 1e-12 * absolute(node.split.before)) return DONE;
    // rounded to thirty bits, so that equal gains stay equal whatever the order in which weights were summed
    double c = gained * 8388609.0;
    double rounded = c - (c - gained);
    return push({limits_.max_leaf_nodes > 0 ? -rounded : double(node.depth), index});
}

inline Status Grower::split_best_first() {
    n_waiting_ = 0;
    TRY(offer(0));
    int64_t n_voting = 1;
    while (n_waiting_ > 0 && !(limits_.max_leaf_nodes > 0 && n_voting >= limits_.max_leaf_nodes)) {
        int64_t index = pop();
        bool last = limits_.max_leaf_nodes > 0 && n_voting + 1 >= limits_.max_leaf_nodes;
        TRY(expand(index, last));
        if (nodes_[index].children < 0) continue;  // its only split was a rounding error
        n_voting += 1;
        TRY(note_split(index));
        for (int64_t side = 0; side < nodes_[index].n_children; ++side) TRY(offer(nodes_[index].children + side));
    }
    return DONE;
}

inline Status Grower::note_split(int64_t index) {
    TRY(split_nodes_.grow(n_splits_ + 1));
    split_nodes_[n_splits_] = index;
    for (int64_t side = 0; side < nodes_[index].n_children; ++side) {
        Node& child = nodes_[nodes_[index].children + side];
        child.link[0] = n_splits_;
        child.link[1] = side;
    }
    n_splits_ += 1;
    return DONE;
}

// Restricts what the children of a node may choose from.
inline Status Grower::restrict_children(int64_t index) {
    const Node& node = nodes_[index];
    double middle = 0.0;
    if (restricted_.direction(node.split.feature) != 0)
        for (int64_t side = LEFT; side <= RIGHT; ++side) {
            const Node& child = nodes_[node.children + side];
            double sums[2];
            for (int64_t g = 0; g < n_groups_; ++g) rows_.totals(rows_of(child, g), child.size[g], g, responses_, sums);
            middle += 0.5 * with_criterion(request_, [&](const auto& c) { return c.mean(sums[0], sums[1]); });
        }
    return restricted_.restrict_children(index, node.children, node.n_children, n_splits_, node.split.feature, middle);
}

// Makes the children of a node, with their histograms and best splits unless they will not be split.
inline Status Grower::expand(int64_t index, bool last) {
    for (;;) {
        int64_t n_before = n_nodes_;
        TRY(make_children(index));
        bool empty = nodes_[nodes_[index].children].n_rows(n_groups_) == 0 ||
                     nodes_[nodes_[index].children + 1].n_rows(n_groups_) == 0;
        if (!empty) break;
        // A rounding error left some weight in a bin without rows. Direct sums have no such errors.
        n_nodes_ = n_before;
        nodes_[index].children = -1;
        nodes_[index].n_children = 0;
        TRY(sum_directly(nodes_[index]));
        TRY(search_sums(nodes_[index]));
        if (nodes_[index].split.feature < 0) return DONE;
    }
    bool final = last || (limits_.max_depth > 0 && nodes_[index].depth + 1 >= limits_.max_depth);
    if (final) return DONE;
    if (restricted_.active()) TRY(restrict_children(index));
    if (!is_small(nodes_[index]) && !restricted_.need_direct_sums()) TRY(give_histograms(index));
    Node* children = &nodes_[nodes_[index].children];
    if (two_planes_ && !restricted_.active() && !counted() && !is_small(nodes_[index]) && rows_.n_jobs > 1 &&
        children[0].slot >= 0 && children[1].slot >= 0 && rows_.table.n_features < SERIAL_SEARCH) {
        parallel(2, 2, [&](int64_t side) { search_planes(children[side], lowest_.data() + side * rows_.n_padded()); });
        for (int64_t side = 0; side < 2; ++side) TRY(search_again(children[side]));
    } else {
        for (int64_t side = 0; side < nodes_[index].n_children; ++side)
            if (!children[side].abstains) TRY(search(children[side]));
    }
    if (!is_small(nodes_[index])) {  // the histograms of small children are not needed again
        for (int64_t side = 0; side < nodes_[index].n_children; ++side) {
            Node& child = nodes_[nodes_[index].children + side];
            if (is_small(child)) slots_.give(child.slot);
        }
    }
    return DONE;
}

}  // namespace skew
