// Newton trees: trees grown on gradients and Hessians, with sampled columns, random thresholds and constraints.
//
// `newton.py` specifies them. A row has a gradient g and a Hessian h per output. A leaf with the sums G and H lowers
// the loss by G²/2(H + λ), at the value -G/(H + λ). With h = weight and g = -weight · y the gain is the decrease of the
// Gini index, and the same code grows the trees of forests. A tree is grown on one thread; the trees of different
// members of a portfolio (members.h) are grown side by side.
#pragma once
#include "draws.h"
#include "interactions.h"
#include "mathematics.h"
#include "scan_block.h"
#include "table.h"
#include "threads.h"

namespace skew {

// ------------------------------------------------------------------------------------------------------- settings

// How a tree is grown (`newton.TreeSettings` in Python).
struct TreeSettings {
    int64_t max_leaves;         // 0: no limit
    int64_t max_depth;          // 0: no limit
    int64_t n_columns_of_tree;  // columns drawn for a tree, and of these for a node
    int64_t n_columns_of_node;
    int64_t random_thresholds;  // whether a node draws one threshold, or one set of categories, per column
    double l2;
    double min_hessian;      // of a leaf
    double category_l2;      // added to the Hessian of a category before categories are sorted
    const int8_t* monotone;  // per column -1, 0, +1; or null
    Interactions interactions;
};

// A tree in arrays: node k tests a column and goes on to link[side]; a link < 0 is the leaf ~link. Trees are appended
// one after the other, and links count from the first node and leaf of their own tree.
struct TreeNode {
    int32_t feature;
    int32_t threshold;  // codes up to it go left; -1: the set says which
    int32_t set;        // the number of a set of codes that go left; -1: none
    int32_t missing_left;
    int32_t link[2];
    double gain;
};
struct CodeSet {
    uint64_t bits[4];
    bool has(int code) const { return (bits[code >> 6] >> (code & 63)) & 1; }
    void add(int code) { bits[code >> 6] |= uint64_t(1) << (code & 63); }
};

// The trees of a member.
struct Trees {
    Buffer<TreeNode> nodes;
    Buffer<CodeSet> sets;
    Buffer<double> values;  // [leaf][output]
    Buffer<double> covers;  // [leaf]: the weight of the training rows
    Buffer<int64_t> first_node, first_leaf;
    int64_t n_trees = 0, n_nodes = 0, n_leaves = 0, n_sets = 0;

    bool goes_left(const TreeNode& node, int code) const {
        if (code == MISSING) return node.missing_left != 0;
        return node.threshold >= 0 ? code <= node.threshold : sets[node.set].has(code);
    }
    // The leaf of a row, given its words one after the other; leaves are counted over all trees.
    int64_t leaf(int64_t tree, const uint64_t* words) const {
        const TreeNode* own = nodes.data() + first_node[tree];
        int64_t at = first_node[tree + 1] > first_node[tree] ? 0 : -1;
        while (at >= 0) {
            const TreeNode& node = own[at];
            int code = code_in(words[node.feature >> 3], node.feature);
            at = node.link[goes_left(node, code) ? 0 : 1];
        }
        return first_leaf[tree] + ~at;
    }
};

// --------------------------------------------------------------------------------------------------------- growing

// Grows trees of one table. A workspace belongs to one thread.
class NewtonGrower {
public:
    // `by_row` are the words of the table [row][block]. Threads beyond those that grow other trees help with large
    // nodes.
    Status prepare(const Table& table, const uint64_t* by_row, const TreeSettings& settings, int64_t n_outputs,
                   int64_t n_jobs) {
        n_jobs_ = n_jobs;
        table_ = table;
        by_row_ = by_row;
        settings_ = settings;
        K_ = n_outputs;
        int64_t p = table.n_features;
        TRY(list_.reserve(table.n_rows));
        TRY(spare_.reserve(table.n_rows));
        TRY(columns_.reserve(p));
        TRY(drawn_.reserve(p));
        TRY(marks_.reserve(p / 64 + 1));
        TRY(offsets_.reserve(p + 1));
        TRY(block_starts_.reserve(table.n_blocks() + 1));
        TRY(cells_.reserve((N_CODES + 1) * 2 * K_));
        TRY(left_.reserve(2 * K_));
        TRY(own_pairs_.reserve(table.n_rows * 2 * K_));
        memset(cells_.data(), 0, size_t(N_CODES + 1) * 2 * size_t(K_) * sizeof(double));
        by_node_ = settings.n_columns_of_node < settings.n_columns_of_tree;
        two_sided_ = settings.random_thresholds != 0 && K_ == 1;
        if (two_sided_) TRY(tile_.reserve(min_of(FEW, table.n_rows) * TILE));
        return DONE;
    }
    uint32_t* list() { return list_.data(); }

    // Grows a tree on the first n rows of `list()` and appends it. `pairs` are [row][output](g, h), `weights` per row.
    Status grow(const double* pairs, const double* weights, int64_t n, uint64_t key, double scale, Trees& out) {
        pairs_ = pairs;
        key_ = key;
        for (int64_t j = 0; j < table_.n_features; ++j) columns_[j] = int32_t(j);
        n_columns_ = draw_front(columns_.data(), table_.n_features, settings_.n_columns_of_tree, key_of_tree(key),
                                marks_.data());
        int64_t at = 0;
        for (int64_t k = 0; k < n_columns_; ++k) {
            offsets_[k] = at;
            at += table_.n_bins[columns_[k]] + 1;
        }
        offsets_[n_columns_] = at;
        n_nodes_ = n_waiting_ = n_splits_ = 0;
        n_slots_free_ = n_slots_;
        for (int64_t k = 0; k < n_slots_; ++k) free_slots_[k] = k;
        slot_length_ = 2 * K_ * at;
        by_block_ = K_ == 1 && !two_sided_ && !by_node_ && settings_.monotone == nullptr && slot_length_ > CACHED;
        if (by_block_) TRY(found_.reserve(n_columns_));
        first_node_ = out.n_nodes;
        TRY(paths_.start(settings_.interactions, table_.n_features));
        int64_t root;
        TRY(new_node(root, 0, n, 0));
        total_of(nodes_[root]);
        TRY(search(root));
        while (n_waiting_ > 0 && !(settings_.max_leaves > 0 && n_splits_ + 1 >= settings_.max_leaves)) {
            TRY(split(pop(), out));
        }
        return finish(weights, scale, out);
    }

    // The leaf nodes of the tree that was grown last: calls work(leaf number within the tree, rows, n).
    template <class Work>
    void for_leaves(Work&& work) const {
        int64_t leaf = 0;
        for (int64_t k = 0; k < n_nodes_; ++k)
            if (nodes_[k].left < 0) work(leaf++, list_.data() + nodes_[k].begin, nodes_[k].size);
    }

private:
    static constexpr int64_t SMALL = 96;  // rows of a node whose columns are summed one after the other
    // … of a node without a histogram that is kept, if one side of a random threshold is summed, or if the histogram
    // would be too large for a cache
    static constexpr int64_t FEW = 4096;
    static constexpr int64_t TILE = 64;                  // columns at a time, of which one side is summed
    static constexpr int64_t CACHED = int64_t(1) << 14;  // numbers of a histogram
    // Above this number of rows of a node, the words of a column are read from its block, which is nearly contiguous;
    // below, from the rows, whose columns are next to each other
    static constexpr int64_t SCATTERED = 4096;
    static constexpr int64_t BLOCKS_PER_TASK = 16;  // of columns: some ten microseconds each
    static constexpr int64_t LARGE = 16384;  // rows of a node whose blocks of columns are summed by several threads

    struct Candidate {
        double gain = 0.0;
        int32_t feature = -1, threshold = -1;
        int32_t missing_left = 0;
        bool nominal = false;
        CodeSet set;
    };
    // The best thresholds of a column, if missing values go right, and if they go left.
    struct Found {
        double score[2];
        int at[2];
    };
    // A histogram over the columns of the tree, with the number of rows per cell if thresholds are random.
    struct Slot {
        Buffer<double> sums;
        Buffer<int32_t> counts;
    };
    struct Node {
        int64_t begin, size, depth;
        int64_t slot;         // of its histogram; -1: none
        int64_t left, right;  // -1: a leaf
        int64_t number;       // among the splits of the tree
        double low, high;     // the bounds of its value
        Candidate best;
    };

    // --------------------------------------------------------------------------------------------- nodes

    Status new_node(int64_t& index, int64_t begin, int64_t size, int64_t depth) {
        TRY(nodes_.grow(n_nodes_ + 1));
        TRY(totals_.grow((n_nodes_ + 1) * 2 * K_));
        index = n_nodes_++;
        Node& node = nodes_[index];
        node.begin = begin;
        node.size = size;
        node.depth = depth;
        node.slot = node.left = node.right = -1;
        node.low = -INFINITE;
        node.high = INFINITE;
        return DONE;
    }
    double* total(const Node& node) const { return totals_.data() + (&node - nodes_.data()) * 2 * K_; }
    void total_of(const Node& node) const {
        double* out = total(node);
        const uint32_t* rows = list_.data() + node.begin;
        for (int64_t k = 0; k < 2 * K_; ++k) out[k] = 0.0;
        for (int64_t i = 0; i < node.size; ++i) {
            const double* own = pairs_ + int64_t(rows[i]) * 2 * K_;
            for (int64_t k = 0; k < 2 * K_; ++k) out[k] += own[k];
        }
    }

    Status take_slot(int64_t& slot) {
        if (n_slots_free_ > 0) {
            slot = free_slots_[--n_slots_free_];
        } else {
            TRY(slots_.grow(n_slots_ + 1));
            TRY(free_slots_.grow(n_slots_ + 1));
            memset(static_cast<void*>(&slots_[n_slots_]), 0, sizeof slots_[0]);
            slot = n_slots_++;
        }
        if (counted()) TRY(slots_[slot].counts.reserve(offsets_[n_columns_]));
        return slots_[slot].sums.reserve(slot_length_);
    }
    void give_slot(int64_t& slot) {
        if (slot >= 0) free_slots_[n_slots_free_++] = slot;
        slot = -1;
    }

public:
    ~NewtonGrower() {
        for (int64_t k = 0; k < n_slots_; ++k) slots_[k].sums.clear(), slots_[k].counts.clear();
    }

private:
    // -------------------------------------------------------------------------------------------- search

    // Finds the best split of a node, and queues the node if there is one.
    Status search(int64_t index) {
        Node& node = nodes_[index];
        node.best = Candidate();
        bool too_deep = settings_.max_depth > 0 && node.depth >= settings_.max_depth;
        if (node.size < 2 || too_deep || !splittable(node)) {
            give_slot(node.slot);
            return DONE;
        }
        parent_score_ = score_of(total(node), node);
        const int32_t* columns = columns_.data();
        int64_t n = n_columns_;
        paths_.open(index);
        if (paths_.restricted() || settings_.n_columns_of_node < n_columns_) {
            n = 0;
            for (int64_t k = 0; k < n_columns_; ++k)
                if (paths_.allows(columns_[k])) drawn_[n++] = int32_t(k);
            if (settings_.n_columns_of_node < n_columns_)
                n = draw_front(drawn_.data(), n, settings_.n_columns_of_node, key_of_node(key_, index), marks_.data());
        } else {
            for (int64_t k = 0; k < n; ++k) drawn_[k] = int32_t(k);
        }
        bool direct = by_node_ || is_small(node);
        if (!direct && node.slot < 0) {
            TRY(take_slot(node.slot));
            sum_rows(nodes_[index], slots_[nodes_[index].slot]);
        }
        Node& own = nodes_[index];
        if (direct) gather(own);
        bool two_sided = two_sided_ && own.size <= FEW;
        if (two_sided) try_two_sides(own, index, n);
        bool by_block = by_block_ && own.size > SMALL && own.size <= FEW;
        if (by_block) try_blocks(own, n);
        for (int64_t k = 0; k < n && !two_sided && !by_block; ++k) {
            int32_t place = drawn_[k], f = columns[place];
            const double* cells = cells_.data();
            if (direct)
                sum_column(own, f);
            else
                cells = slots_[own.slot].sums.data() + offsets_[place] * 2 * K_;
            if (settings_.random_thresholds) {
                if (!direct) find_seen(slots_[own.slot].counts.data() + offsets_[place], int(table_.n_bins[f]) + 1);
                try_random(own, f, cells, key_of_column(key_, index, f));
            } else {
                try_column(own, f, cells);
            }
            if (direct) clear_column();
        }
        if (own.best.feature < 0) {
            give_slot(own.slot);
            return DONE;
        }
        if (direct) give_slot(own.slot);
        return push(index);
    }

    // Whether the columns of a node are summed from its rows, without a histogram that is kept.
    bool is_small(const Node& node) const { return node.size <= (two_sided_ || by_block_ ? FEW : SMALL); }

    // A node of one class, or of too small a Hessian, is not searched.
    bool splittable(const Node& node) const {
        const double* t = total(node);
        double h = 0.0;
        for (int64_t k = 0; k < K_; ++k) h += t[2 * k + 1];
        if (h < 2.0 * settings_.min_hessian) return false;
        const uint32_t* rows = list_.data() + node.begin;
        const double* first = pairs_ + int64_t(rows[0]) * 2 * K_;
        for (int64_t i = 1; i < node.size; ++i) {
            const double* own = pairs_ + int64_t(rows[i]) * 2 * K_;
            // equal responses g/h cannot be separated; without division: g·h' = g'·h
            for (int64_t k = 0; k < K_; ++k)
                if (own[2 * k] * first[2 * k + 1] != first[2 * k] * own[2 * k + 1]) return true;
        }
        return false;
    }

    double value_of(double g, double h, const Node& node) const {
        double b = h + settings_.l2;  // weights that differ by more than a double can tell may cancel
        double v = b > 0.0 ? -g / b : 0.0;
        return min_of(max_of(v, node.low), node.high);
    }
    double score_at(double g, double h, double v) const { return -(2.0 * g * v + (h + settings_.l2) * v * v); }
    // Twice the decrease of the loss by a leaf with these sums.
    double score_of(const double* sums, const Node& node) const {
        double score = 0.0;
        for (int64_t k = 0; k < K_; ++k) {
            double g = sums[2 * k], h = sums[2 * k + 1];
            if (settings_.monotone != nullptr)
                score += score_at(g, h, value_of(g, h, node));
            else if (h + settings_.l2 > 0.0)
                score += g * g / (h + settings_.l2);
        }
        return score;
    }

    // The gain of a split of the totals into `left` and the rest; negative if it is not allowed.
    double gain_of(const Node& node, const double* left, int direction) const {
        const double* t = total(node);
        if (K_ == 1 && settings_.monotone == nullptr) {
            double gl = left[0], hl = left[1], gr = t[0] - gl, hr = t[1] - hl;
            if (hl < settings_.min_hessian || hr < settings_.min_hessian) return -1.0;
            double a = hl + settings_.l2, b = hr + settings_.l2;
            return (gl * gl * b + gr * gr * a) / (a * b) - parent_score_;
        }
        double hl = 0.0, hr = 0.0, score = 0.0;
        for (int64_t k = 0; k < K_; ++k) {
            hl += left[2 * k + 1];
            hr += t[2 * k + 1] - left[2 * k + 1];
        }
        if (hl < settings_.min_hessian || hr < settings_.min_hessian) return -1.0;
        for (int64_t k = 0; k < K_; ++k) {
            double gl = left[2 * k], bl = left[2 * k + 1], gr = t[2 * k] - gl, br = t[2 * k + 1] - bl;
            if (settings_.monotone != nullptr) {
                double vl = value_of(gl, bl, node), vr = value_of(gr, br, node);
                if (double(direction) * (vr - vl) < 0.0) return -1.0;
                score += score_at(gl, bl, vl) + score_at(gr, br, vr);
            } else {
                double a = bl + settings_.l2, b = br + settings_.l2;
                score += (a > 0.0 ? gl * gl / a : 0.0) + (b > 0.0 ? gr * gr / b : 0.0);
            }
        }
        return score - parent_score_;
    }

    // A candidate replaces the best one only if it is better by more than a tie.
    bool better(double gain, const Node& node) const {
        return gain > node.best.gain + TIE * absolute(node.best.gain) && gain > 1e-12 * (1.0 + absolute(parent_score_));
    }
    int direction_of(int32_t f) const {
        return settings_.monotone == nullptr || table_.nominal(f) ? 0 : settings_.monotone[f];
    }

    // Copies the pairs of a node, which the sums of all its columns need, into one place.
    void gather(const Node& node) {
        const uint32_t* rows = list_.data() + node.begin;
        for (int64_t i = 0; i < node.size; ++i) {
            const double* own = pairs_ + int64_t(rows[i]) * 2 * K_;
            for (int64_t k = 0; k < 2 * K_; ++k) own_pairs_[i * 2 * K_ + k] = own[k];
        }
    }
    // Tries the thresholds of n drawn columns, those of one block at a time, whose sums stay in the cache. Threads that
    // have no other tree to grow help. The best thresholds of the columns are compared in the order of the columns.
    void try_blocks(Node& node, int64_t n) {
        int64_t n_blocks = 0;
        for (int64_t k = 0; k < n; ++k)
            if (k == 0 || block_of(k) != block_of(k - 1)) block_starts_[n_blocks++] = k;
        block_starts_[n_blocks] = n;
        double lowest = lowest_score(node);
        int64_t n_tasks = max_of<int64_t>(1, n_blocks / BLOCKS_PER_TASK);
        parallel(n_tasks, n_jobs_, [&](int64_t task) {
            SplitRule rule{total(node)[0], total(node)[1], settings_.l2, settings_.min_hessian, lowest};
            for (int64_t b = bound(n_blocks, n_tasks, task); b < bound(n_blocks, n_tasks, task + 1); ++b)
                search_block(node, block_starts_[b], block_starts_[b + 1], rule);
        });
        for (int64_t k = 0; k < n; ++k) {
            int32_t f = columns_[drawn_[k]];
            if (table_.nominal(f)) {
                sum_column(node, f);
                try_categories(node, f, cells_.data());
                clear_column();
                continue;
            }
            for (int side = 0; side < 2; ++side)
                note_score(node, f, found_[k].score[side], found_[k].at[side], side == 1);
        }
    }
    int64_t block_of(int64_t k) const { return columns_[drawn_[k]] >> 3; }
    // Finds the best thresholds of drawn columns k to end - 1, which are in one block.
    void search_block(const Node& node, int64_t k, int64_t end, SplitRule& rule) {
        constexpr int LANES = BlockScan::LANES, WIDTH = BlockScan::WIDTH;
        double cells[(N_CODES + 1) * WIDTH];
        int m = int(end - k), shifts[LANES], missing[LANES], most = 0;
        for (int j = 0; j < m; ++j) {
            int32_t f = columns_[drawn_[k + j]];
            shifts[j] = int(8 * (f & 7));
            missing[j] = int(table_.n_bins[f]);
            most = max_of(most, missing[j]);
        }
        memset(cells, 0, size_t(most + 1) * WIDTH * sizeof(double));
        const uint32_t* rows = list_.data() + node.begin;
        const uint64_t* words = table_.block(block_of(k));
        const double* pairs = own_pairs_.data();
        for (int64_t i = 0; i < node.size; ++i, pairs += 2) {
            uint64_t word = words[rows[i]];
            for (int j = 0; j < m; ++j) {
                int code = int((word >> shifts[j]) & 255);
                double* to = cells + (code == MISSING ? missing[j] : code) * WIDTH + j;
                to[0] += pairs[0];
                to[LANES] += pairs[1];
            }
        }
        int64_t last[LANES] = {}, last_of_rest[LANES] = {};  // thresholds if missing values go right, and left
        double none[WIDTH] = {}, left[WIDTH] = {};
        for (int j = 0; j < m; ++j) {
            const double* own = cells + missing[j] * WIDTH + j;
            bool some = own[LANES] > 1e-9 * rule.h;
            last[j] = missing[j] - 1 + int(some);
            last_of_rest[j] = some ? missing[j] - 1 : 0;
            left[j] = own[0];
            left[LANES + j] = own[LANES];
        }
        BlockScan scan;
        for (int side = 0; side < 2; ++side) {
            scan.search(cells, side == 0 ? last : last_of_rest, side == 0 ? none : left, rule);
            for (int j = 0; j < m; ++j) {
                found_[k + j].score[side] = scan.score[j];
                found_[k + j].at[side] = scan.at[j];
                rule.lowest = max_of(rule.lowest, scan.score[j] * (1.0 - 1e-6));
            }
        }
    }
    // Sums the gathered rows of a node per code of one column; the missing values are in the cell after the last code.
    void sum_column(const Node& node, int32_t f) {
        if (node.size > SCATTERED)
            sum_words(node, f, table_.block(f >> 3), 1);
        else
            sum_words(node, f, by_row_ + (f >> 3), table_.n_blocks());
        sparse_ = true;
    }
    void sum_words(const Node& node, int32_t f, const uint64_t* words, int64_t stride) {
        if (K_ == 1)
            sum_words_as<true>(node, f, words, stride);
        else
            sum_words_as<false>(node, f, words, stride);
    }
    template <bool ONE_OUTPUT>
    void sum_words_as(const Node& node, int32_t f, const uint64_t* words, int64_t stride) {
        const uint32_t* rows = list_.data() + node.begin;
        const double* pairs = own_pairs_.data();
        double* cells = cells_.data();
        int64_t n = node.size, width = ONE_OUTPUT ? 2 : 2 * K_;
        int shift = int(8 * (f & 7)), missing = int(table_.n_bins[f]);
        uint64_t seen[4] = {0, 0, 0, 0};
        for (int64_t i = 0; i < n; ++i, pairs += width) {
            int code = int((words[int64_t(rows[i]) * stride] >> shift) & 255);
            code = code == MISSING ? missing : code;
            double* to = cells + int64_t(code) * width;
            to[0] += pairs[0];
            to[1] += pairs[1];
            for (int64_t k = 2; !ONE_OUTPUT && k < width; ++k) to[k] += pairs[k];
            seen[(code & 255) >> 6] |= uint64_t(1) << (code & 63);
        }
        for (int q = 0; q < 4; ++q) seen_[q] = seen[q];
    }
    void clear_column() {
        double* cells = cells_.data();
        if (K_ == 1)
            for_seen([&](int c) { cells[2 * c] = cells[2 * c + 1] = 0.0; });
        else
            for_seen([&](int c) { memset(cells + int64_t(c) * 2 * K_, 0, size_t(2 * K_) * sizeof(double)); });
        sparse_ = false;
    }
    void find_seen(const int32_t* counts, int n) {
        seen_[0] = seen_[1] = seen_[2] = seen_[3] = 0;
        for (int c = 0; c < n; ++c) seen_[c >> 6] |= uint64_t(counts[c] != 0) << (c & 63);
    }

    void try_column(Node& node, int32_t f, const double* cells) {
        if (table_.nominal(f))
            try_categories(node, f, cells);
        else
            try_thresholds(node, f, cells);
    }

    void try_thresholds(Node& node, int32_t f, const double* cells) {
        int n = int(table_.n_bins[f]);
        const double* missing = cells + int64_t(n) * 2 * K_;
        bool any_missing = false;
        for (int64_t k = 0; k < K_; ++k)
            any_missing = any_missing || missing[2 * k + 1] > 1e-9 * total(node)[2 * k + 1];
        int direction = direction_of(f);
        double* left = left_.data();
        for (int side = 0; side <= int(any_missing); ++side) {
            // side 1: missing values go left
            for (int64_t k = 0; k < 2 * K_; ++k) left[k] = side == 1 ? missing[k] : 0.0;
            if (K_ == 1 && settings_.monotone == nullptr) {
                scan_one(node, f, cells, n, side, any_missing, left[0], left[1]);
                continue;
            }
            int last = n - 1 + int(any_missing && side == 0);
            for (int t = 0; t < last; ++t) {
                const double* own = cells + int64_t(t) * 2 * K_;
                for (int64_t k = 0; k < 2 * K_; ++k) left[k] += own[k];
                if (sparse_ && !((seen_[t >> 6] >> (t & 63)) & 1)) continue;
                double gain = gain_of(node, left, direction);
                if (better(gain, node)) note(node, gain, f, t, side == 1);
            }
        }
    }

    // The thresholds of one column for one output: the loop in which most time is spent.
    void scan_one(Node& node, int32_t f, const double* cells, int n, int side, bool any_missing, double gl, double hl) {
        const double* t = total(node);
        double G = t[0], H = t[1], l2 = settings_.l2, least = settings_.min_hessian, most = H - least;
        double best = -1.0;
        double lowest = lowest_score(node);
        int at = -1, last = n - 1 + int(any_missing && side == 0);
        auto consider = [&](int c) {
            if (hl < least || hl > most) return;
            double gr = G - gl, a = hl + l2, b = H - hl + l2;
            double sum = gl * gl * b + gr * gr * a, product = a * b;
            if (sum < lowest * product) return;
            double score = sum / product;
            if (score > best + TIE * best) {
                lowest = max_of(lowest, score);
                best = score;
                at = c;
            }
        };
        if (sparse_) {
            for (int q = 0; q < 4; ++q)
                for (uint64_t left = seen_[q]; left != 0; left &= left - 1) {
                    int c = 64 * q + __builtin_ctzll(left);
                    if (c >= last) break;
                    gl += cells[2 * c];
                    hl += cells[2 * c + 1];
                    consider(c);
                }
        } else {
            for (int c = 0; c < last; ++c) {
                gl += cells[2 * c];
                hl += cells[2 * c + 1];
                if (cells[2 * c + 1] != 0.0) consider(c);
            }
        }
        note_score(node, f, best, at, side == 1);
    }
    // Scores that are lower than that of another column cannot become the best one, and need no division. The margin is
    // far above the sum of all ties.
    double lowest_score(const Node& node) const { return (node.best.gain + parent_score_) * (1.0 - 1e-6); }
    void note_score(Node& node, int32_t f, double score, int threshold, bool missing_left) {
        if (threshold < 0 || !better(score - parent_score_, node)) return;
        note(node, score - parent_score_, f, threshold, missing_left);
    }

    void note(Node& node, double gain, int32_t f, int threshold, bool missing_left) {
        node.best.gain = gain;
        node.best.feature = f;
        node.best.threshold = threshold;
        node.best.missing_left = missing_left;
        node.best.nominal = false;
    }

    // Sorts categories by their smoothed response and tries every prefix; missing values are a category.
    void try_categories(Node& node, int32_t f, const double* cells) {
        int n = int(table_.n_bins[f]), m = 0;
        struct Item {
            double key;
            int code;
        } items[N_CODES + 1];
        int64_t n_orders = K_ == 1 ? 1 : K_;
        for (int64_t o = 0; o < n_orders; ++o) {
            m = 0;
            for (int c = 0; c <= n; ++c) {
                double h = 0.0;
                for (int64_t k = 0; k < K_; ++k) h += cells[(int64_t(c) * K_ + k) * 2 + 1];
                if (!(h > 1e-12 * total(node)[1])) continue;
                const double* own = cells + (int64_t(c) * K_ + o) * 2;
                items[m++] = {-own[0] / (own[1] + settings_.category_l2), c};
            }
            if (m < 2) return;
            for (int i = 1; i < m; ++i) {
                Item own = items[i];
                int j = i;
                for (; j > 0 && (items[j - 1].key > own.key); --j) items[j] = items[j - 1];
                items[j] = own;
            }
            double* left = left_.data();
            for (int64_t k = 0; k < 2 * K_; ++k) left[k] = 0.0;
            int at = -1;
            for (int i = 0; i + 1 < m; ++i) {
                const double* own = cells + int64_t(items[i].code) * 2 * K_;
                for (int64_t k = 0; k < 2 * K_; ++k) left[k] += own[k];
                double gain = gain_of(node, left, 0);
                if (better(gain, node)) {
                    note(node, gain, f, -1, false);
                    node.best.nominal = true;
                    at = i;
                }
            }
            if (at < 0) continue;
            // categories without rows follow missing values; without these, the side of more weight (see `partition`)
            CodeSet set{{0, 0, 0, 0}};
            bool missing_left = false, missing_seen = false;
            for (int i = 0; i < m; ++i) {
                if (items[i].code == n) missing_seen = true, missing_left = i <= at;
                if (i <= at && items[i].code < n) set.add(items[i].code);
            }
            node.best.set = set;
            node.best.missing_left = missing_seen ? int32_t(missing_left) : -1;
        }
    }

    // Tries one random threshold between the lowest and the highest code of the node, or a random set of its
    // categories. `seen_` says which cells have rows.
    void try_random(Node& node, int32_t f, const double* cells, uint64_t key) {
        int n = int(table_.n_bins[f]);
        bool nominal = table_.nominal(f), any_missing = is_seen(n);
        int low = -1, high = -1;
        for_seen([&](int c) {
            if (c >= n) return;
            low = low < 0 ? c : low;
            high = c;
        });
        int threshold = -1;
        if (!nominal && high > low)
            threshold = low + int(uniform_below(key, 0, high - low));
        else if (!nominal && any_missing)
            threshold = high;  // separates known from missing values
        if (!nominal && threshold < 0) return;
        CodeSet set{{0, 0, 0, 0}};
        double* left = left_.data();
        for (int64_t k = 0; k < 2 * K_; ++k) left[k] = 0.0;
        for_seen([&](int c) {
            bool goes = nominal ? (mixed(key + uint64_t(c)) >> 63) != 0 : c <= threshold;
            if (c >= n || !goes) return;
            set.add(c);
            for (int64_t k = 0; k < 2 * K_; ++k) left[k] += cells[int64_t(c) * 2 * K_ + k];
        });
        auto add_missing = [&]() {
            for (int64_t k = 0; k < 2 * K_; ++k) left[k] += cells[int64_t(n) * 2 * K_ + k];
        };
        bool missing_left = nominal && any_missing && (mixed(key + uint64_t(n)) >> 63) != 0;
        if (missing_left) add_missing();
        offer_random(node, f, threshold, set, nominal && !any_missing ? -1 : int32_t(missing_left));
        if (nominal || !any_missing || high <= low) return;
        add_missing();
        offer_random(node, f, threshold, set, 1);
    }
    void offer_random(Node& node, int32_t f, int threshold, const CodeSet& set, int32_t missing_left) {
        double gain = gain_of(node, left_.data(), direction_of(f));
        if (!better(gain, node)) return;
        note(node, gain, f, threshold, false);
        node.best.missing_left = missing_left;
        node.best.nominal = threshold < 0;
        node.best.set = set;
    }

    // Tries one random threshold in each of n drawn columns, for one output. The sums of the left side are all that is
    // needed of a column of numbers without missing values, and these are added up in several columns at a time.
    void try_two_sides(Node& node, int64_t index, int64_t n) {
        for (int64_t start = 0; start < n; start += TILE) {
            const int32_t* places = drawn_.data() + start;
            int64_t m = min_of(TILE, n - start);
            uint8_t low[TILE], high[TILE];
            read_tile(node, places, m, low, high);
            int64_t thresholds[TILE];
            double sums[2 * TILE];
            for (int64_t k = 0; k < TILE; ++k) {
                bool divisible = k < m && low[k] < high[k] && high[k] < MISSING;
                thresholds[k] = -1;
                if (!divisible || table_.nominal(columns_[places[k]])) continue;
                uint64_t key = key_of_column(key_, index, columns_[places[k]]);
                thresholds[k] = low[k] + uniform_below(key, 0, high[k] - low[k]);
            }
            for (int64_t k = 0; k < m; k += 16) sum_left(node, k, thresholds, sums);
            for (int64_t k = 0; k < m; ++k) {
                int32_t f = columns_[places[k]];
                if (thresholds[k] >= 0) {
                    left_[0] = sums[2 * k];
                    left_[1] = sums[2 * k + 1];
                    offer_random(node, f, int(thresholds[k]), CodeSet{{0, 0, 0, 0}}, 0);
                } else if (high[k] == MISSING || table_.nominal(f)) {
                    sum_column(node, f);
                    try_random(node, f, cells_.data(), key_of_column(key_, index, f));
                    clear_column();
                }
            }
        }
    }
    // Copies the codes of some columns of a node to the tile [row][column], and finds the lowest and the highest ones.
    void read_tile(const Node& node, const int32_t* places, int64_t m, uint8_t* low, uint8_t* high) {
        int32_t words[TILE], shifts[TILE];
        for (int64_t k = 0; k < TILE; ++k) {
            int32_t f = columns_[places[k < m ? k : 0]];
            words[k] = f >> 3;
            shifts[k] = 8 * (f & 7);
            low[k] = 255;
            high[k] = 0;
        }
        const uint32_t* rows = list_.data() + node.begin;
        for (int64_t i = 0; i < node.size; ++i) {
            const uint64_t* from = by_row_ + int64_t(rows[i]) * table_.n_blocks();
            uint8_t* to = tile_.data() + i * TILE;
            for (int64_t k = 0; k < TILE; ++k) to[k] = uint8_t(from[words[k]] >> shifts[k]);
            for (int64_t k = 0; k < TILE; ++k) low[k] = min_of(low[k], to[k]);
            for (int64_t k = 0; k < TILE; ++k) high[k] = max_of(high[k], to[k]);
        }
    }
    // Sums the pairs of the rows whose codes are up to the thresholds, in the columns from `first` to `first` + 15.
    void sum_left(const Node& node, int64_t first, const int64_t* thresholds, double* sums) const {
        Whole upto[4];
        Four g[4], h[4];
        for (int q = 0; q < 4; ++q) {
            memcpy(&upto[q], thresholds + first + 4 * q, sizeof upto[q]);
            g[q] = h[q] = Four{0.0, 0.0, 0.0, 0.0};
        }
        const double* pairs = own_pairs_.data();
        const uint8_t* codes = tile_.data() + first;
        for (int64_t i = 0; i < node.size; ++i, pairs += 2, codes += TILE) {
            Whole own_g = Whole(Four{pairs[0], pairs[0], pairs[0], pairs[0]});
            Whole own_h = Whole(Four{pairs[1], pairs[1], pairs[1], pairs[1]});
            for (int q = 0; q < 4; ++q) {
                FourBytes code;
                memcpy(&code, codes + 4 * q, sizeof code);
                Whole goes = __builtin_convertvector(code, Whole) <= upto[q];
                g[q] += Four(own_g & goes);
                h[q] += Four(own_h & goes);
            }
        }
        for (int q = 0; q < 4; ++q)
            for (int j = 0; j < 4; ++j) {
                sums[2 * (first + 4 * q + j)] = g[q][j];
                sums[2 * (first + 4 * q + j) + 1] = h[q][j];
            }
    }

    bool is_seen(int c) const { return ((seen_[c >> 6] >> (c & 63)) & 1) != 0; }
    template <class Work>
    void for_seen(Work&& work) const {
        for (int q = 0; q < 4; ++q)
            for (uint64_t left = seen_[q]; left != 0; left &= left - 1) work(64 * q + __builtin_ctzll(left));
    }

    // The histogram of a node over the columns of the tree.
    void sum_rows(const Node& node, const Slot& out) {
        memset(out.sums.data(), 0, size_t(slot_length_) * sizeof(double));
        if (counted()) memset(out.counts.data(), 0, size_t(offsets_[n_columns_]) * sizeof(int32_t));
        add_rows(node, out, 1.0);
    }
    // Adds the rows of a node, times the sign, to a histogram.
    void add_rows(const Node& node, const Slot& out, double sign) {
        if (K_ > 1 && counted())
            add_rows_as<false, true>(node, out, sign);
        else if (K_ > 1)
            add_rows_as<false, false>(node, out, sign);
        else if (counted())
            add_rows_as<true, true>(node, out, sign);
        else
            add_rows_as<true, false>(node, out, sign);
    }
    template <bool ONE_OUTPUT, bool COUNTED>
    void add_rows_as(const Node& node, const Slot& out, double sign) {
        int64_t n_blocks = 0;
        for (int64_t k = 0; k < n_columns_; ++k)
            if (k == 0 || columns_[k] >> 3 != columns_[k - 1] >> 3) block_starts_[n_blocks++] = k;
        block_starts_[n_blocks] = n_columns_;
        parallel(n_blocks, node.size >= LARGE ? n_jobs_ : 1, [&](int64_t b) {
            add_block<ONE_OUTPUT, COUNTED>(node, out, sign, block_starts_[b], block_starts_[b + 1]);
        });
    }
    // Adds the rows of a node to the histograms of columns k to end - 1, which are in one block.
    template <bool ONE_OUTPUT, bool COUNTED>
    void add_block(const Node& node, const Slot& out, double sign, int64_t k, int64_t end) {
        const uint32_t* rows = list_.data() + node.begin;
        const uint64_t* words = table_.block(columns_[k] >> 3);
        int shifts[BLOCK], missing[BLOCK], n = int(end - k);
        double* cells[BLOCK];
        int32_t* counts[BLOCK];
        for (int j = 0; j < n; ++j) {
            shifts[j] = int(8 * (columns_[k + j] & 7));
            cells[j] = out.sums.data() + offsets_[k + j] * 2 * K_;
            counts[j] = out.counts.data() + offsets_[k + j];
            missing[j] = int(table_.n_bins[columns_[k + j]]);
        }
        for (int64_t i = 0; i < node.size; ++i) {
            uint64_t word = words[rows[i]];
            const double* own = pairs_ + int64_t(rows[i]) * 2 * K_;
            double g = sign * own[0], h = sign * own[1];
            for (int j = 0; j < n; ++j) {
                int code = int((word >> shifts[j]) & 255);
                code = code == MISSING ? missing[j] : code;
                if (COUNTED) counts[j][code] += int32_t(sign);
                double* to = cells[j] + int64_t(code) * (ONE_OUTPUT ? 2 : 2 * K_);
                to[0] += g;
                to[1] += h;
                for (int64_t q = 2; !ONE_OUTPUT && q < 2 * K_; ++q) to[q] += sign * own[q];
            }
        }
    }
    bool counted() const { return settings_.random_thresholds != 0; }
    void subtract(const Slot& rest, const Slot& part) {
        for (int64_t k = 0; k < slot_length_; ++k) rest.sums[k] -= part.sums[k];
        if (counted())
            for (int64_t k = 0; k < offsets_[n_columns_]; ++k) rest.counts[k] -= part.counts[k];
    }

    // ------------------------------------------------------------------------------------------ splitting

    Status split(int64_t index, Trees& out) {
        {
            const Candidate& best = nodes_[index].best;
            TRY(out.nodes.grow(out.n_nodes + 1));
            int32_t set = -1;
            if (best.nominal) {
                TRY(out.sets.grow(out.n_sets + 1));
                out.sets[out.n_sets] = best.set;
                set = int32_t(out.n_sets++);
            }
            out.nodes[out.n_nodes] = {best.feature, best.nominal ? -1 : best.threshold, set, 0, {0, 0}, best.gain};
        }
        int64_t n_left = divide(nodes_[index], out.nodes[out.n_nodes], out);
        if (table_.ordered(nodes_[index].best.feature)) TRY(set_up_to(out.nodes[out.n_nodes], out));
        nodes_[index].number = n_splits_++;
        out.n_nodes += 1;
        int64_t begin = nodes_[index].begin, size = nodes_[index].size, depth = nodes_[index].depth;
        int64_t left, right;
        TRY(new_node(left, begin, n_left, depth + 1));
        TRY(new_node(right, begin + n_left, size - n_left, depth + 1));
        Node& node = nodes_[index];
        node.left = left;
        node.right = right;
        Node *a = &nodes_[left], *b = &nodes_[right];
        total_of(*a);
        for (int64_t k = 0; k < 2 * K_; ++k) total(*b)[k] = total(node)[k] - total(*a)[k];
        if (b->size < a->size) {
            total_of(*b);
            for (int64_t k = 0; k < 2 * K_; ++k) total(*a)[k] = total(node)[k] - total(*b)[k];
        }
        TRY(constrain(index, left, right));
        bool last = settings_.max_leaves > 0 && n_splits_ + 1 >= settings_.max_leaves;
        if (last) {
            give_slot(nodes_[index].slot);
            return DONE;
        }
        // the larger child takes over the histogram of the parent, less the rows of the smaller one
        int64_t larger = nodes_[left].size >= nodes_[right].size ? left : right,
                smaller = larger == left ? right : left;
        if (nodes_[index].slot >= 0) {
            if (!is_small(nodes_[larger])) {
                int64_t own = -1;
                if (!is_small(nodes_[smaller])) {
                    TRY(take_slot(own));
                    sum_rows(nodes_[smaller], slots_[own]);
                    subtract(slots_[nodes_[index].slot], slots_[own]);
                } else {
                    add_rows(nodes_[smaller], slots_[nodes_[index].slot], -1.0);
                }
                nodes_[smaller].slot = own;
                nodes_[larger].slot = nodes_[index].slot;
                nodes_[index].slot = -1;
            } else {
                give_slot(nodes_[index].slot);
            }
        }
        TRY(search(left));
        return search(right);
    }

    // A threshold of ordered categories is written as the set of those up to it.
    static Status set_up_to(TreeNode& made, Trees& out) {
        TRY(out.sets.grow(out.n_sets + 1));
        CodeSet set{{0, 0, 0, 0}};
        for (int code = 0; code <= made.threshold; ++code) set.add(code);
        out.sets[out.n_sets] = set;
        made.set = int32_t(out.n_sets++);
        made.threshold = -1;
        return DONE;
    }

    // Moves the rows that go left to the front, in order, and puts a threshold in the middle of its gap.
    int64_t divide(const Node& node, TreeNode& made, const Trees& out) {
        uint32_t* rows = list_.data() + node.begin;
        const uint64_t* words = table_.block(made.feature >> 3);
        int shift = int(8 * (made.feature & 7));
        const Candidate& best = node.best;
        bool missing_left = best.missing_left > 0;
        if (best.nominal && best.missing_left < 0) {  // no row is missing: where most rows go
            int64_t n = 0;
            for (int64_t i = 0; i < node.size; ++i) n += best.set.has(int((words[rows[i]] >> shift) & 255));
            missing_left = 2 * n >= node.size;
        }
        made.missing_left = missing_left;
        if (best.nominal && missing_left) {  // categories that the node does not have go where missing values go
            CodeSet present{{0, 0, 0, 0}};
            for (int64_t i = 0; i < node.size; ++i) {
                int code = int((words[rows[i]] >> shift) & 255);
                if (code != MISSING) present.add(code);
            }
            for (int q = 0; q < 4; ++q) out.sets[made.set].bits[q] |= ~present.bits[q];
        }
        int64_t a = 0, b = 0, n_missing = 0;
        int highest = -1, lowest = MISSING;
        for (int64_t i = 0; i < node.size; ++i) {
            uint32_t row = rows[i];
            int code = int((words[row] >> shift) & 255);
            bool goes;
            if (code == MISSING) {
                goes = missing_left;
                n_missing += 1;
            } else {
                goes = best.nominal ? best.set.has(code) : code <= best.threshold;
                if (goes)
                    highest = max_of(highest, code);
                else
                    lowest = min_of(lowest, code);
            }
            rows[a] = row;
            spare_[b] = row;
            a += goes;
            b += !goes;
        }
        memcpy(rows + a, spare_.data(), size_t(b) * sizeof(uint32_t));
        if (!best.nominal) {
            // a threshold above all codes separates known from missing values
            if (highest >= 0 && lowest < MISSING)
                made.threshold = (highest + lowest - 1) / 2 < highest ? highest : (highest + lowest - 1) / 2;
            else if (highest >= 0)
                made.threshold = int32_t(table_.n_bins[made.feature]) - 1;
            if (n_missing == 0) made.missing_left = 2 * a >= node.size;
        }
        return a;
    }

    // Monotone columns bound the values of the children by the middle; interactions restrict their columns.
    Status constrain(int64_t index, int64_t left, int64_t right) {
        Node &node = nodes_[index], &a = nodes_[left], &b = nodes_[right];
        a.low = b.low = node.low;
        a.high = b.high = node.high;
        int direction = direction_of(node.best.feature);
        if (direction != 0) {
            double vl = value_of(total(a)[0], total(a)[1], node), vr = value_of(total(b)[0], total(b)[1], node);
            double middle = 0.5 * (vl + vr);
            if (direction > 0)
                a.high = min_of(a.high, middle), b.low = max_of(b.low, middle);
            else
                a.low = max_of(a.low, middle), b.high = min_of(b.high, middle);
        }
        TRY(paths_.extend(left, index, node.best.feature));
        return paths_.extend(right, index, node.best.feature);
    }

    // Numbers the leaves in the order of the nodes, links them, and writes their values.
    Status finish(const double* weights, double scale, Trees& out) {
        int64_t n_leaves = n_splits_ + 1, leaf = 0;
        TRY(out.first_node.grow(out.n_trees + 2));
        TRY(out.first_leaf.grow(out.n_trees + 2));
        TRY(out.values.grow((out.n_leaves + n_leaves) * K_));
        TRY(out.covers.grow(out.n_leaves + n_leaves));
        if (out.n_trees == 0) out.first_node[0] = out.first_leaf[0] = 0;
        TRY(links_.grow(n_nodes_));
        for (int64_t k = 0; k < n_nodes_; ++k) {
            const Node& node = nodes_[k];
            if (node.left >= 0) {
                links_[k] = node.number;
                continue;
            }
            double cover = 0.0;
            const uint32_t* rows = list_.data() + node.begin;
            for (int64_t i = 0; i < node.size; ++i) cover += weights[rows[i]];
            out.covers[out.n_leaves + leaf] = cover;
            for (int64_t q = 0; q < K_; ++q)
                out.values[(out.n_leaves + leaf) * K_ + q] =
                    scale * value_of(total(node)[2 * q], total(node)[2 * q + 1], node);
            links_[k] = ~leaf++;
        }
        for (int64_t k = 0; k < n_nodes_; ++k)
            if (nodes_[k].left >= 0) {
                TreeNode& own = out.nodes[first_node_ + nodes_[k].number];
                own.link[0] = int32_t(links_[nodes_[k].left]);
                own.link[1] = int32_t(links_[nodes_[k].right]);
            }
        out.n_trees += 1;
        out.n_leaves += n_leaves;
        out.first_node[out.n_trees] = out.n_nodes;
        out.first_leaf[out.n_trees] = out.n_leaves;
        return DONE;
    }

    // --------------------------------------------------------------------------------------------- queue

    bool before(int64_t a, int64_t b) const {
        if (settings_.max_leaves == 0) return a < b;
        double x = nodes_[a].best.gain, y = nodes_[b].best.gain;
        return x > y || (x == y && a < b);
    }
    Status push(int64_t index) {
        TRY(queue_.grow(n_waiting_ + 1));
        queue_[n_waiting_++] = index;
        return DONE;
    }
    // The next node to split: the one of the largest gain; the last one if all are split.
    int64_t pop() {
        int64_t at = n_waiting_ - 1;
        if (settings_.max_leaves > 0)
            for (int64_t k = 0; k < n_waiting_; ++k)
                if (before(queue_[k], queue_[at])) at = k;
        int64_t found = queue_[at];
        queue_[at] = queue_[--n_waiting_];
        return found;
    }

    Table table_{};
    const uint64_t* by_row_ = nullptr;
    TreeSettings settings_{};
    int64_t K_ = 1, n_jobs_ = 1;
    const double* pairs_ = nullptr;
    uint64_t key_ = 0;
    bool by_node_ = false, sparse_ = false, two_sided_ = false, by_block_ = false;
    double parent_score_ = 0.0;
    uint64_t seen_[4];
    int64_t n_columns_ = 0, n_nodes_ = 0, n_waiting_ = 0, n_splits_ = 0, first_node_ = 0;
    Buffer<int32_t> columns_, drawn_;
    Buffer<Found> found_;
    Buffer<int64_t> offsets_, block_starts_, queue_, links_, free_slots_;
    Buffer<uint64_t> marks_;
    Buffer<uint32_t> list_, spare_;
    Buffer<Node> nodes_;
    Buffer<double> totals_, cells_, left_, own_pairs_;
    Buffer<uint8_t> tile_;
    Paths paths_;
    Buffer<Slot> slots_;
    int64_t n_slots_ = 0, n_slots_free_ = 0, slot_length_ = 0;
};

}  // namespace skew
