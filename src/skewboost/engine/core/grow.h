// Growing stumps and trees in one call (`growing.grow` in Python), and reweighting their leaves.
//
// Only the smaller child of a split is summed, class by class; the larger child is derived by subtraction from the
// parent. Every histogram has a bound on its rounding errors. If these could have changed the choice of a split
// (rounding_guard.h), the rows of the node are summed and searched again, so the splits are those of direct sums. If
// the weights are multiplied by factor[leaf][plane], the next root is the sum of the leaves' histograms times these
// factors, without a pass over the rows.
#pragma once
#include "rows.h"

namespace skew {

constexpr int64_t SMALL_NODE = 128;   // summing the rows of such a node is as fast as a subtraction, and more accurate
constexpr int64_t SMALL_TABLE = 640;  // summing so few rows is as fast as deriving the next root, and more accurate
constexpr double MAX_ROOT_ERROR = 1e-13;  // a derived root with a larger relative error is summed again
constexpr double MIN_REMAINDER = 1e-3;  // a remainder that is a smaller fraction of the total has lost too many digits

struct Limits {
    int64_t max_depth;       // 0: none
    int64_t max_leaf_nodes;  // 0: none; otherwise nodes are split best first
    bool one_split() const { return max_leaf_nodes == 2 || max_depth == 1; }
};

struct Node {
    int64_t begin[2], size[2];  // the range of its rows in the list of rows, per group
    int64_t depth;
    int64_t slot;      // of its histogram; -1: none
    int64_t link[2];   // the split and side that lead to it; -1: the root
    int64_t children;  // the first child; -1: a leaf
    int64_t n_children;
    bool in_all;   // whether it is the root, whose rows are in the list of all rows
    bool derived;  // whether a plane was derived rather than summed
    bool abstains;
    Split split;

    int64_t n_rows(int64_t n_groups) const { return size[0] + (n_groups > 1 ? size[1] : 0); }
};

// The decrease in the exponential loss, or in the squared error of responses: `growing.gain`. For more than two classes
// it is the decrease in the Gini index, because most splits near the root do not change the error.
inline double gain_of(const Request& request, const double* left, const double* right, int64_t n_labels,
                      int64_t n_classes) {
    double gained = 0.0;
    if (request.criterion >= CLASS_ERROR) {
        double totals[3] = {0, 0, 0}, squares[3] = {0, 0, 0};
        for (int64_t c = 0; c < n_classes; ++c) {
            double parts[3] = {left[c] + right[c], left[c], right[c]};
            for (int k = 0; k < 3; ++k) totals[k] += parts[k], squares[k] += parts[k] * parts[k];
        }
        double gini[3];
        for (int k = 0; k < 3; ++k) gini[k] = totals[k] > 0.0 ? (totals[k] * totals[k] - squares[k]) / totals[k] : 0.0;
        return max_of(0.0, gini[0] - gini[1] - gini[2]);
    }
    for (int64_t l = 0; l < n_labels; ++l) {
        double a0 = left[2 * l], a1 = left[2 * l + 1], b0 = right[2 * l], b1 = right[2 * l + 1];
        double own;
        if (request.criterion == SQUARES) {
            double l2 = request.delta;
            own = (a0 > 0.0 ? a1 * a1 / (a0 + l2) : 0.0) + (b0 > 0.0 ? b1 * b1 / (b0 + l2) : 0.0);
            double t0 = a0 + b0, t1 = a1 + b1;
            own -= t0 > 0.0 ? t1 * t1 / (t0 + l2) : 0.0;
        } else {
            own = 2.0 * square_root((a0 + b0) * (a1 + b1)) - (2.0 * square_root(a0 * a1) + 2.0 * square_root(b0 * b1));
        }
        gained += max_of(0.0, own);
    }
    return gained;
}

class Grower {
public:
    explicit Grower(Rows& rows) : rows_(rows) {}

    Status prepare() {
        int64_t n = rows_.table.n_rows;
        TRY(list_.reserve(n));
        TRY(spare_.reserve(n));
        slots_.set_length(max_of(rows_.slot_length(false), rows_.slot_length(true)));
        TRY(lowest_.reserve(2 * rows_.n_padded()));
        TRY(root_error_.reserve(max_of<int64_t>(2, rows_.n_planes())));
        return DONE;
    }

    // ------------------------------------------------------------------------------------------ what was grown

    int64_t n_splits() const { return n_splits_; }
    int64_t n_leaves() const { return n_leaves_; }
    const Node& node_of_split(int64_t k) const { return nodes_[split_nodes_[k]]; }
    const Node& leaf(int64_t k) const { return nodes_[leaf_nodes_[k]]; }
    int64_t link(int64_t node) const { return links_[node]; }  // the number of a split, or ~ the number of a leaf
    const double* sums(int64_t leaf) const { return sums_.data() + leaf * n_planes_; }
    double cover(int64_t leaf) const { return covers_[leaf]; }
    double gain(int64_t split) const { return gains_[split]; }

    void forget_root() {
        root_known_ = grown_ = false;
        slots_.give(root_slot_);
    }

    // The histogram of all rows under the current weights.
    Status root_histogram(const double*& sums) {
        use(nullptr);
        TRY(start());
        if (nodes_[0].slot < 0) TRY(sum_directly(nodes_[0]));
        keep_root();
        sums = slots_[root_slot_];
        return DONE;
    }

    // The number of rows per group and cell, `[group][feature][code]`.
    Status rows_per_code(const double*& counts) {
        int64_t length = rows_.n_padded() * N_CODES, n_groups = rows_.n_groups(false);
        if (rows_per_code_.size() == 0) {
            Buffer<double> made;
            TRY(made.reserve(n_groups * length));
            memset(made.data(), 0, size_t(n_groups * length) * sizeof(double));
            const double* examples = rows_.examples;
            rows_.examples = nullptr;
            for (int64_t g = 0; g < n_groups; ++g)
                rows_.count(rows_.all() + rows_.begin(g, false), rows_.end(g, false) - rows_.begin(g, false),
                            made.data() + g * length);
            rows_.examples = examples;
            rows_per_code_.take(made);
        }
        counts = rows_per_code_.data();
        return DONE;
    }

    Status grow(const Request& request, const Limits& limits, const Restrictions* restrictions, uint64_t key,
                const Responses* responses) {
        request_ = request;
        limits_ = limits;
        use(responses);
        TRY(restricted_.start(restrictions, rows_.table.n_features, key));
        if (restricted_.need_direct_sums() && root_derived_) forget_root();
        TRY(start());
        if (limits.one_split() && nodes_[0].slot < 0) TRY(sum_directly(nodes_[0]));
        TRY(search(nodes_[0]));
        if (limits.one_split())
            TRY(split_root());
        else
            TRY(split_best_first());
        TRY(finish());
        grown_ = responses == nullptr;
        return DONE;
    }

    // Writes the value of every row's leaf in the tree that was grown last.
    void leaf_values(const double* values, double* out) const {
        parallel(n_leaves_, rows_.table.n_rows > 4 * ROWS_PER_TASK ? rows_.n_jobs : 1, [&](int64_t k) {
            const Node& node = leaf(k);
            for (int64_t g = 0; g < n_groups_; ++g) {
                const uint32_t* list = rows_of(node, g);
                for (int64_t i = 0; i < node.size[g]; ++i) out[list[i]] = values[k];
            }
        });
    }

    // Multiplies the weights of each (leaf, plane) of the last growth by its factor and normalises. Gives the sum
    // before normalisation, and whether `Rows::fold_scales` changed the units of stored weights.
    Status reweight(const double* factors, double& total, bool& rescaled);

    // The same for any partition of the codes of one feature, for rows of two classes.
    Status reweight_codes(int64_t feature, const uint8_t* leaf_of_code, int64_t n_leaves, const double* factors,
                          double& total, bool& rescaled);

    // The histogram of one feature over all rows, `[plane][code]`, for rows of two classes.
    Status feature_sums(int64_t feature, double* out);

private:
    // ---------------------------------------------------------------------------------------------- nodes

    void use_labels() {
        n_groups_ = rows_.n_groups(false);
        n_planes_ = rows_.n_planes();
        two_planes_ = n_planes_ == 2;
        if (responses_ != nullptr) grown_ = false;
        responses_ = nullptr;
    }

    void use(const Responses* responses) {
        bool other = responses != nullptr;
        if (other != of_responses_ && !rows_.by_class()) {
            for (int64_t k = 0; k < n_nodes_; ++k) slots_.give(nodes_[k].slot);
            forget_root();
            slots_.wipe();
        }
        of_responses_ = other;
        responses_ = responses;
        n_groups_ = rows_.n_groups(responses != nullptr);
        n_planes_ = responses != nullptr ? 2 : rows_.n_planes();
        two_planes_ = n_planes_ == 2;
        grown_ = false;
    }

    Status new_node(int64_t& index) {
        TRY(nodes_.grow(n_nodes_ + 1));
        TRY(errors_.grow((n_nodes_ + 1) * n_planes_));
        TRY(links_.grow(n_nodes_ + 1));
        index = n_nodes_++;
        Node& node = nodes_[index];
        node.begin[0] = node.begin[1] = node.size[0] = node.size[1] = 0;
        node.depth = 0;
        node.slot = -1;
        node.link[0] = -1;
        node.link[1] = 0;
        node.children = -1;
        node.n_children = 0;
        node.in_all = node.derived = node.abstains = false;
        node.split.feature = -1;
        for (int64_t p = 0; p < n_planes_; ++p) errors_[index * n_planes_ + p] = 0.0;
        return DONE;
    }

    double* error_of(const Node& node) { return errors_.data() + (&node - nodes_.data()) * n_planes_; }

    // Returns the histograms of the last growth to the pool, and makes the root a node again.
    Status start() {
        for (int64_t k = 0; k < n_nodes_; ++k) slots_.give(nodes_[k].slot);
        n_nodes_ = n_splits_ = n_leaves_ = 0;
        int64_t index;
        TRY(new_node(index));
        Node& root = nodes_[0];
        root.in_all = true;
        for (int64_t g = 0; g < n_groups_; ++g) {
            root.begin[g] = rows_.begin(g, responses_ != nullptr);
            root.size[g] = rows_.end(g, responses_ != nullptr) - root.begin[g];
        }
        all_ = rows_.all();
        if (responses_ != nullptr) TRY(rows_.in_order(all_));
        if (root_derived_ && limits_.one_split() && sums_all()) forget_root();
        if (root_known_ && responses_ == nullptr) {
            root.slot = root_slot_;
            root_slot_ = -1;
            root_known_ = false;
            root.derived = root_derived_;
            for (int64_t p = 0; p < n_planes_; ++p) error_of(root)[p] = root_error_[p];
        }
        return DONE;
    }

    void keep_root() {
        Node& root = nodes_[0];
        root_slot_ = root.slot;
        root.slot = -1;
        root_derived_ = root.derived;
        for (int64_t p = 0; p < n_planes_; ++p) root_error_[p] = error_of(root)[p];
        root_known_ = true;
    }

    const uint32_t* rows_of(const Node& node, int64_t group) const {
        return (node.in_all ? all_ : list_.data()) + node.begin[group];
    }

    bool is_small(const Node& node) const { return two_planes_ && node.n_rows(n_groups_) <= SMALL_NODE; }
    bool counted() const { return request_.min_count > 0.0; }

    // ------------------------------------------------------------------------------------------ histograms

    // Sums the rows of one group into a histogram.
    Status sum_group(const uint32_t* list, int64_t n, int64_t group, double* out) {
        if (!two_planes_) return rows_.sum_classes(list, n, out);
        if (responses_ != nullptr && n == rows_.table.n_rows)
            return rows_.sum_responses(list, nullptr, *responses_, n, out);
        TRY(rows_.gather(list, n, rows_.scale(group), responses_, values_));
        if (responses_ != nullptr) return rows_.sum_responses(list, values_.data(), *responses_, n, out);
        return rows_.sum_class(list, values_.data(), n, group, out);
    }

    // Σ|h| of one plane over the codes of the first feature.
    double size_of_plane(const double* sums, int64_t plane) const {
        int64_t label = plane / rows_.n_classes, cls = plane % rows_.n_classes;
        const double* h = responses_ != nullptr ? sums + plane * N_CODES
                                                : sums + (label * rows_.n_padded() * rows_.n_classes + cls) * N_CODES;
        double total = 0.0;
        for (int k = 0; k < N_CODES; ++k) total += absolute(h[k]);
        return total;
    }

    // The planes of a group.
    int64_t first_plane(int64_t group) const { return n_groups_ > 1 ? group : 0; }
    int64_t end_plane(int64_t group) const { return n_groups_ > 1 ? group + 1 : n_planes_; }

    void note_error(Node& node, int64_t group) {
        for (int64_t p = first_plane(group); p < end_plane(group); ++p)
            error_of(node)[p] = direct_error(node.size[group]) * size_of_plane(slots_[node.slot], p);
    }

    Status sum_directly(Node& node) {
        if (node.slot < 0) TRY(slots_.take(node.slot));
        if (node.slot < 0) return NO_MEMORY;
        if (node.in_all && n_groups_ > 1) TRY(rows_.sum_all(slots_[node.slot]));
        for (int64_t g = 0; g < n_groups_; ++g) {
            if (!(node.in_all && n_groups_ > 1)) TRY(sum_group(rows_of(node, g), node.size[g], g, slots_[node.slot]));
            note_error(node, g);
        }
        node.derived = false;
        return DONE;
    }

    // ---------------------------------------------------------------------------------------------- search

    Status search(Node& node) {
        if (is_small(node) && node.slot < 0) return search_small(node);
        if (node.slot < 0) TRY(sum_directly(node));
        TRY(search_sums(node));
        TRY(search_again(node));
        // nothing is derived from it, unless it is the root of a stump, which is summed from it
        if (restricted_.need_direct_sums() && !limits_.one_split()) slots_.give(node.slot);
        return DONE;
    }

    // Sums the rows and searches again if rounding errors could have changed the choice.
    Status search_again(Node& node) {
        if (node.split.feature < 0 || (!node.split.uncertain && !lost_rows(node))) return DONE;
        TRY(sum_directly(node));
        return search_sums(node);
    }

    Status counts_of(const Node& node, const double*& counts) {
        counts = nullptr;
        if (!counted()) return DONE;
        int64_t length = rows_.n_padded() * N_CODES;
        TRY(counts_.reserve(length));
        memset(counts_.data(), 0, size_t(length) * sizeof(double));
        for (int64_t g = 0; g < n_groups_; ++g) rows_.count(rows_of(node, g), node.size[g], counts_.data());
        counts = counts_.data();
        return DONE;
    }

    Status search_sums(Node& node) {
        const double* counts;
        TRY(counts_of(node, counts));
        const double* error = error_of(node);
        if (!two_planes_) {
            int64_t n_mixed;
            TRY(find_mixed(node, n_mixed));
            ManyPlanes planes{slots_[node.slot], counts,        rows_.n_labels, rows_.n_classes,
                              rows_.n_padded(),  mixed_.data(), n_mixed,        restricted_.of(&node - nodes_.data())};
            return search_joint(rows_.table, planes, request_, error, node.derived, lowest_.data(), rows_.n_jobs,
                                node.split);
        }
        search_planes(node, lowest_.data(), counts);
        return DONE;
    }

    // Finds the labels that are on for some rows of a node and off for others. All labels count if leaves must have a
    // minimum weight, or if there is no such label, because a stump splits even a pure root.
    Status find_mixed(const Node& node, int64_t& n_mixed) {
        TRY(mixed_.reserve(rows_.n_labels));
        n_mixed = 0;
        const uint32_t* list = rows_of(node, 0);
        int64_t jobs = rows_.n_labels * node.size[0] > SERIAL_CELLS ? rows_.n_jobs : 1;
        parallel(rows_.n_labels, jobs, [&](int64_t l) {
            const uint16_t* cls = rows_.classes(l);
            int64_t i = 1;
            while (i < node.size[0] && cls[list[i]] == cls[list[0]]) ++i;
            mixed_[l] = i < node.size[0];
        });
        for (int64_t l = 0; l < rows_.n_labels; ++l)
            if (mixed_[l]) mixed_[n_mixed++] = int32_t(l);
        if (rows_.n_labels > 1 && n_mixed > 0 && !(request_.min_weight > 0.0)) return DONE;
        for (n_mixed = 0; n_mixed < rows_.n_labels; ++n_mixed) mixed_[n_mixed] = int32_t(n_mixed);
        return DONE;
    }

    void search_planes(Node& node, double* lowest, const double* counts = nullptr) {
        const double* error = error_of(node);
        TwoPlanes planes{slots_[node.slot], counts, restricted_.of(&node - nodes_.data())};
        double e0 = node.derived ? error[0] : 0.0, e1 = node.derived ? error[1] : 0.0;
        with_criterion(request_, [&](const auto& c) {
            skew::search(c, rows_.table, planes, request_, e0, e1, lowest, rows_.n_jobs, node.split);
        });
    }

    Status search_small(Node& node);
    template <class C>
    void search_small_node(const C& c, Node& node, const double* counts);
    static void add_small(const uint64_t* words, int shift, int m, const double* v0, const double* v1, double* cells,
                          uint64_t* seen);
    static void clear_small(double* cells, const uint64_t* seen);
    template <class C>
    double lowest_of_small(const C& c, int64_t f, const double* cells, const uint64_t* seen, const double* counts,
                           const Restriction* restriction, double tie, Scan& s);
    bool lost_rows(const Node& node);
    // ------------------------------------------------------------------------------------------------ rows

    Status divide(const uint32_t* from, int64_t n, int64_t feature, const uint8_t* child, uint8_t side, uint32_t* to,
                  uint32_t* spare, int64_t& front);
    Status make_children(int64_t index);
    Status give_histograms(int64_t index);
    // Calls work(offset, length) for the occupied cells of the planes of a group, on several threads if there are many.
    template <class Work>
    void for_group(int64_t group, Work&& work) const {
        int64_t planes = two_planes_ ? 2 : rows_.n_classes, n_parts = two_planes_ ? 1 : rows_.n_labels;
        int64_t first = n_groups_ > 1 ? group : 0, count = n_groups_ > 1 ? 1 : planes;
        int64_t blocks = rows_.table.n_blocks(), length = BLOCK * planes * N_CODES, units = n_parts * blocks;
        parallel(units, units * count > 64 ? rows_.n_jobs : 1, [&](int64_t unit) {
            rows_.for_cells(unit % blocks, planes, first, count,
                            [&](int64_t at, int64_t m) { work(unit * length + at, m); });
        });
    }

    void subtract(double* rest, const double* part, int64_t group) const;
    void exchange(double* whole, double* part, int64_t group) const;
    // ----------------------------------------------------------------------------------------------- trees

    struct QueuedNode {
        double priority;
        int64_t node;
        bool before(const QueuedNode& other) const {
            return priority < other.priority || (priority == other.priority && node < other.node);
        }
    };

    Status push(QueuedNode item);
    int64_t pop();
    Status offer(int64_t index);
    Status split_best_first();
    Status note_split(int64_t index);
    Status expand(int64_t index, bool last);
    Status restrict_children(int64_t index);
    // --------------------------------------------------------------------------------------------- stumps

    Status split_root();
    Status count_responses(const double*& counts);
    Status list_smaller_children();
    Status select(const uint32_t* from, int64_t n, int64_t feature, const uint8_t* child, uint8_t side, uint32_t* to,
                  uint32_t* spare);
    // --------------------------------------------------------------------------------------------- results

    // Whether the table is so small that the root of every stump is summed, and its children are not.
    bool sums_all() const { return responses_ == nullptr && n_groups_ > 1 && rows_.table.n_rows <= SMALL_TABLE; }
    bool is_stump() const { return n_splits_ > 0 && limits_.one_split(); }

    // Numbers splits and leaves in the order in which they were made, and sums the leaves.
    Status finish() {
        n_leaves_ = 0;
        for (int64_t k = 0; k < n_nodes_; ++k) n_leaves_ += nodes_[k].children < 0;
        TRY(leaf_nodes_.grow(n_leaves_));
        TRY(sums_.grow(n_leaves_ * n_planes_));
        TRY(covers_.grow(n_leaves_));
        TRY(gains_.grow(n_splits_ + 1));
        int64_t leaf = 0;
        for (int64_t k = 0; k < n_nodes_; ++k)
            if (nodes_[k].children < 0) {
                links_[k] = ~leaf;
                leaf_nodes_[leaf++] = k;
            }
        for (int64_t k = 0; k < n_splits_; ++k) links_[split_nodes_[k]] = k;
        if (is_stump())
            sum_sides();
        else
            parallel(n_leaves_, rows_.n_labels * rows_.table.n_rows > 4 * ROWS_PER_TASK ? rows_.n_jobs : 1,
                     [&](int64_t k) {
                         const Node& node = nodes_[leaf_nodes_[k]];
                         covers_[k] = 0.0;
                         for (int64_t g = 0; g < n_groups_; ++g) {
                             rows_.totals(rows_of(node, g), node.size[g], g, responses_, sums_.data() + k * n_planes_);
                             covers_[k] += rows_.examples_in(rows_of(node, g), node.size[g]);
                         }
                     });
        return note_gains();
    }

    void sum_sides();
    double sum_rest(int64_t group, int64_t plane) const;
    Status note_gains() {
        TRY(split_sums_.grow((n_splits_ + 1) * n_planes_));
        for (int64_t k = n_splits_ - 1; k >= 0; --k) {  // children come after their parents
            const Node& node = nodes_[split_nodes_[k]];
            const double* sides[2];
            for (int64_t side = 0; side < 2; ++side) {
                int64_t link = links_[node.children + side];
                sides[side] = link >= 0 ? split_sums_.data() + link * n_planes_ : sums_.data() + ~link * n_planes_;
            }
            for (int64_t p = 0; p < n_planes_; ++p) split_sums_[k * n_planes_ + p] = sides[0][p] + sides[1][p];
            gains_[k] = gain_of(request_, sides[0], sides[1], responses_ != nullptr ? 1 : rows_.n_labels,
                                responses_ != nullptr ? 2 : rows_.n_classes);
        }
        return DONE;
    }

    // ------------------------------------------------------------------------------------------- reweighting

    double total_of(const double* factors, const double* sums, int64_t n_leaves) const {
        double total = 0.0;
        for (int64_t k = 0; k < n_leaves * n_planes_; ++k) total += sums[k] * factors[k];
        return total;
    }
    bool too_large(double error, const double* factors, double total, int64_t plane) const {
        double weight = 0.0;
        for (int64_t k = plane; k < n_leaves_ * n_planes_; k += n_planes_) weight += sums_[k] * factors[k] / total;
        return error > MAX_ROOT_ERROR * weight;
    }
    double* known_root();
    bool root_after_stump(const double* factors, double total);
    Status root_after_tree(const double* factors, double total, bool& known);
    Status add_rows_of_leaves(const double* factors, double total, double* out);
    void scale_rows(const uint32_t* list, int64_t n, int64_t group, const double* ratios);

    Rows& rows_;
    Request request_{};
    Limits limits_{};
    RestrictedTree restricted_;
    const Responses* responses_ = nullptr;
    int64_t n_groups_ = 1, n_planes_ = 2;
    bool two_planes_ = true, grown_ = false, of_responses_ = false;
    const uint32_t* all_ = nullptr;

    HistogramPool slots_;
    Buffer<Node> nodes_;
    Buffer<double> errors_, values_, ratios_, counts_, lowest_, sums_, covers_, gains_, split_sums_;
    Buffer<uint32_t> list_, spare_;
    Buffer<uint64_t> fetched_;
    Buffer<int32_t> mixed_;
    Buffer<int64_t> lengths_, links_, split_nodes_, leaf_nodes_;
    Buffer<QueuedNode> queue_;
    Buffer<double> rows_per_code_, rows_per_cell_;
    int64_t n_nodes_ = 0, n_splits_ = 0, n_leaves_ = 0, n_waiting_ = 0;
    int64_t rest_[2] = {0, 0};

    bool root_known_ = false, root_derived_ = false;
    int64_t root_slot_ = -1;
    Buffer<double> root_error_;
};

}  // namespace skew
