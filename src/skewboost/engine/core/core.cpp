// The C interface that Python calls. Sizes are int64, numbers are double, and arrays are contiguous. Arrays must
// outlive the call, and those of a training set must outlive the set. A status other than 0 means a lack of memory.
#include "api.h"
#include "branch.h"
#include "cuts.h"
#include "explain.h"
#include "level.h"
#include "members.h"
#include "reweight.h"
#include "score.h"

using namespace skew;

namespace {
struct TrainingSet {
    Rows rows;
    Grower grower{rows};
    Branches branches{rows};
};

// PyCapsule_GetPointer of Python. Python owns objects of the core by capsules, whose destructors are
// `free_training_set` and `free_model`. Finalizers in Python would run Python code, in which an interruption by the
// user is lost.
void* (*capsule_pointer)(void* capsule, const char* name) = nullptr;
}  // namespace

// Changes with every signature: library.py accepts only its own number.
SKEWBOOST_API int32_t skewboost_abi_version() {
    return 12;
}
SKEWBOOST_API void skewboost_start(void* (*get_pointer)(void*, const char*)) {
    capsule_pointer = get_pointer;
    watch_forks();
}

// ----------------------------------------------------------------------------------------------------- tables

// The cuts of columns: `cut_columns`. `weights` may be null.
SKEWBOOST_API int skewboost_cuts_32(const float* const* columns, const int64_t* steps, int64_t n_columns,
                                    int64_t n_rows, const double* weights, int64_t max_bins, double* cuts,
                                    int64_t* n_cuts, int64_t n_jobs) {
    return cut_columns(columns, steps, n_columns, n_rows, weights, max_bins, cuts, n_cuts, n_jobs);
}
SKEWBOOST_API int skewboost_cuts_64(const double* const* columns, const int64_t* steps, int64_t n_columns,
                                    int64_t n_rows, const double* weights, int64_t max_bins, double* cuts,
                                    int64_t* n_cuts, int64_t n_jobs) {
    return cut_columns(columns, steps, n_columns, n_rows, weights, max_bins, cuts, n_cuts, n_jobs);
}

SKEWBOOST_API int skewboost_encode_32(const float* X, int64_t row_stride, int64_t column_stride, int64_t n_rows,
                                      int64_t n_columns, const int64_t* column, const int64_t* feature,
                                      const double* cuts, const int64_t* n_cuts, uint64_t* words, int64_t n_jobs) {
    Matrix<float> matrix{X, row_stride, column_stride};
    return encode(matrix, n_rows, n_columns, column, feature, cuts, n_cuts, words, n_jobs);
}
SKEWBOOST_API int skewboost_encode_64(const double* X, int64_t row_stride, int64_t column_stride, int64_t n_rows,
                                      int64_t n_columns, const int64_t* column, const int64_t* feature,
                                      const double* cuts, const int64_t* n_cuts, uint64_t* words, int64_t n_jobs) {
    Matrix<double> matrix{X, row_stride, column_stride};
    return encode(matrix, n_rows, n_columns, column, feature, cuts, n_cuts, words, n_jobs);
}
SKEWBOOST_API void skewboost_store_codes(const uint8_t* codes, int64_t n_rows, int64_t feature, uint64_t* words) {
    store_codes(codes, n_rows, feature, words);
}
SKEWBOOST_API void skewboost_look_up(const uint64_t* words, int64_t n_rows, int64_t feature, const double* values,
                                     double* out, int64_t n_jobs) {
    look_up(words, n_rows, feature, values, out, n_jobs);
}

// ----------------------------------------------------------------------------------------------- training sets

SKEWBOOST_API int skewboost_new_training_set(const Spec* spec, TrainingSet** out) {
    *out = nullptr;
    void* memory = malloc(sizeof(TrainingSet));
    if (memory == nullptr) return NO_MEMORY;
    TrainingSet* made = new (Place{memory}) TrainingSet();
    if (made->rows.prepare(*spec) != DONE || made->grower.prepare() != DONE) {
        made->~TrainingSet();
        free(memory);
        return NO_MEMORY;
    }
    *out = made;
    return DONE;
}
SKEWBOOST_API void skewboost_free_training_set(void* capsule) {
    TrainingSet* set = static_cast<TrainingSet*>(capsule_pointer(capsule, nullptr));
    set->~TrainingSet();
    free(set);
}
SKEWBOOST_API double skewboost_assign(TrainingSet* set, const double* weights) {
    set->grower.forget_root();
    return set->rows.assign(weights);
}
SKEWBOOST_API void skewboost_weights(const TrainingSet* set, int64_t start, int64_t stop, double* out) {
    set->rows.weights(start, stop, out);
}
SKEWBOOST_API void skewboost_sums_of_leaves(const TrainingSet* set, const int64_t* leaf, int64_t n_leaves,
                                            const double* times, double* out) {
    set->rows.sums_of_leaves(leaf, n_leaves, times, out);
}
SKEWBOOST_API double skewboost_reweight_leaves(TrainingSet* set, const int64_t* leaf, const double* factors) {
    set->grower.forget_root();
    return set->rows.reweight_leaves(leaf, factors);
}
SKEWBOOST_API int skewboost_sum_vector(TrainingSet* set, const double* values, double* out) {
    return set->rows.sum_vector(values, out);
}
SKEWBOOST_API double skewboost_sum_squares(const TrainingSet* set, const double* z, const double* w) {
    return set->rows.sum_squares({z, w});
}

// Writes the partition that was grown last. Per split: feature, threshold, polarity, number of children and three
// links; value, before and gain; the child of every code. For all leaves: whether they abstain, their numbers of
// examples (trees only), and their sums per plane.
SKEWBOOST_API void skewboost_grown(const TrainingSet* set, int64_t n_planes, int64_t* splits, double* values,
                                   uint8_t* child, double* leaves) {
    const Grower& g = set->grower;
    for (int64_t k = 0; k < g.n_splits(); ++k) {
        const Node& node = g.node_of_split(k);
        const Split& split = node.split;
        int64_t* own = splits + 7 * k;
        own[0] = split.feature, own[1] = set->rows.table.ordered(split.feature) ? -1 : split.threshold;
        own[2] = split.polarity, own[3] = node.n_children;
        for (int64_t side = 0; side < 3; ++side)
            own[4 + side] = side < node.n_children ? g.link(node.children + side) : 0;
        values[3 * k] = split.value, values[3 * k + 1] = split.before, values[3 * k + 2] = g.gain(k);
        memcpy(child + N_CODES * k, split.child, N_CODES);
    }
    for (int64_t k = 0; k < g.n_leaves(); ++k) {
        leaves[k] = g.leaf(k).abstains, leaves[g.n_leaves() + k] = g.cover(k);
        memcpy(leaves + 2 * g.n_leaves() + n_planes * k, g.sums(k), size_t(n_planes) * sizeof(double));
    }
}
// Grows a stump or tree; z and w are null for labels, and restrictions if there are none. Writes the number of splits
// and leaves to `sizes`, and calls `skewboost_grown` if there are at most `capacity` leaves.
SKEWBOOST_API int skewboost_grow(TrainingSet* set, const Request* request, int64_t max_depth, int64_t max_leaf_nodes,
                                 const Restrictions* restrictions, uint64_t key, const double* z, const double* w,
                                 int64_t* sizes, int64_t capacity, int64_t* splits, double* values, uint8_t* child,
                                 double* leaves) {
    Responses responses{z, w};
    TRY(set->grower.grow(*request, {max_depth, max_leaf_nodes}, restrictions, key,
                         z == nullptr ? nullptr : &responses));
    sizes[0] = set->grower.n_splits();
    sizes[1] = set->grower.n_leaves();
    if (sizes[1] <= capacity)
        skewboost_grown(set, z == nullptr ? set->rows.n_planes() : 2, splits, values, child, leaves);
    return DONE;
}
// Writes the value of every row's leaf in the tree that was grown last. Since then there may only have been calls that
// read or reweight.
SKEWBOOST_API void skewboost_leaf_values(const TrainingSet* set, const double* values, double* out) {
    set->grower.leaf_values(values, out);
}
// Writes the sum of weights before normalisation, and whether weights are stored in other units now (`rescaled`).
SKEWBOOST_API int skewboost_reweight(TrainingSet* set, const double* factors, double* total, int64_t* rescaled) {
    bool changed = false;
    TRY(set->grower.reweight(factors, *total, changed));
    *rescaled = changed;
    return DONE;
}
SKEWBOOST_API int skewboost_reweight_codes(TrainingSet* set, int64_t feature, const uint8_t* leaf_of_code,
                                           int64_t n_leaves, const double* factors, double* total, int64_t* rescaled) {
    bool changed = false;
    TRY(set->grower.reweight_codes(feature, leaf_of_code, n_leaves, factors, *total, changed));
    *rescaled = changed;
    return DONE;
}
SKEWBOOST_API int skewboost_feature_sums(TrainingSet* set, int64_t feature, double* out) {
    return set->grower.feature_sums(feature, out);
}
// `[label][feature][class][code]`, including the features that pad the last block; valid until the next call.
SKEWBOOST_API int skewboost_root_histogram(TrainingSet* set, const double** sums) {
    return set->grower.root_histogram(*sums);
}

// ------------------------------------------------------------------------------- persistent nodes

SKEWBOOST_API Branch* skewboost_new_branch(TrainingSet* set) {
    return set->branches.make();
}
SKEWBOOST_API int skewboost_fill_root_branch(TrainingSet* set, Branch* root) {
    return set->branches.fill_root(*root);
}
SKEWBOOST_API int skewboost_split_branch(TrainingSet* set, Branch* branch, int64_t feature, const uint8_t* child,
                                         Branch** sides, int64_t n_sides) {
    TRY(set->branches.split(*branch, feature, child, sides, n_sides));
    for (int64_t side = 0; side < n_sides; ++side) {
        sides[side]->parent = branch;
        sides[side]->n_family = n_sides;
        for (int64_t k = 0; k < n_sides; ++k) sides[side]->family[k] = sides[k];
    }
    return DONE;
}
// Writes feature (-1: none), threshold and polarity to `found`, value and before to `values`, and the child of every
// code to `child`.
SKEWBOOST_API int skewboost_search_branch(TrainingSet* set, Branch* branch, const Request* request, int64_t keep,
                                          int64_t* found, double* values, uint8_t* child) {
    Split split;
    TRY(set->branches.search(*branch, *request, keep != 0, split));
    bool ordered = split.feature >= 0 && set->rows.table.ordered(split.feature);
    found[0] = split.feature, found[1] = ordered ? -1 : split.threshold, found[2] = split.polarity;
    values[0] = split.value, values[1] = split.before;
    if (split.feature >= 0) memcpy(child, split.child, N_CODES);
    return DONE;
}
SKEWBOOST_API void skewboost_branch_totals(TrainingSet* set, const Branch* branch, double* out) {
    set->branches.totals(*branch, out);
}
SKEWBOOST_API double skewboost_branch_examples(TrainingSet* set, const Branch* branch) {
    return set->branches.examples(*branch);
}
SKEWBOOST_API void skewboost_forget_branch(Branch* branch) {
    branch->forget();
}
SKEWBOOST_API void skewboost_reweight_branches(TrainingSet* set, const Branch* left, const Branch* right,
                                               const double* factors, double* total, int64_t* rescaled) {
    bool changed = false;
    set->branches.reweight(*left, *right, factors, *total, changed);
    set->grower.forget_root();
    *rescaled = changed;
}

// ------------------------------------------------------------------------------------------------------ scoring

// Makes an ensemble for scoring: see `Model.load`.
SKEWBOOST_API int skewboost_new_model(Model** out, int64_t n_features, const double* cuts, const int64_t* n_cuts,
                                      const uint8_t* in_table, const double* tables, int64_t n_trees,
                                      const int64_t* roots, int64_t n_nodes, const int64_t* feature,
                                      const int64_t* threshold, const int64_t* which, int64_t n_sets,
                                      const uint8_t* sets, const int64_t* links, int64_t n_values,
                                      const double* values) {
    *out = nullptr;
    void* memory = malloc(sizeof(Model));
    if (memory == nullptr) return NO_MEMORY;
    Model* made = new (Place{memory}) Model();
    if (made->load(n_features, cuts, n_cuts, in_table, tables, n_trees, roots, n_nodes, feature, threshold, which,
                   n_sets, sets, links, n_values, values) != DONE) {
        made->~Model();
        free(memory);
        return NO_MEMORY;
    }
    *out = made;
    return DONE;
}
SKEWBOOST_API void skewboost_free_model(void* capsule) {
    Model* model = static_cast<Model*>(capsule_pointer(capsule, nullptr));
    model->~Model();
    free(model);
}
// Adds the values of the ensemble to F; there is a column for every feature that it uses.
SKEWBOOST_API void skewboost_score(const Model* model, const Column* columns, int64_t n_rows, double* F,
                                   int64_t n_jobs) {
    model->score(columns, n_rows, F, n_jobs);
}

// Writes the leaf of every row in one tree: node k tests feature[k] and goes on to links[k][child[k][code]].
SKEWBOOST_API void skewboost_leaves(const uint64_t* words, int64_t n_rows, const int64_t* feature, const uint8_t* child,
                                    const int64_t* links, int64_t* out, int64_t n_jobs) {
    find_leaves(words, n_rows, feature, child, links, out, n_jobs);
}

// -------------------------------------------------------------------------------------------------- portfolios

SKEWBOOST_API int skewboost_new_portfolio(const PortfolioSpec* spec, Portfolio** out) {
    *out = nullptr;
    void* memory = malloc(sizeof(Portfolio));
    if (memory == nullptr) return NO_MEMORY;
    *out = new (Place{memory}) Portfolio(*spec);
    return DONE;
}
SKEWBOOST_API void skewboost_free_portfolio(void* capsule) {
    Portfolio* portfolio = static_cast<Portfolio*>(capsule_pointer(capsule, nullptr));
    portfolio->~Portfolio();
    free(portfolio);
}
SKEWBOOST_API int skewboost_add_member(Portfolio* portfolio, const MemberSpec* spec) {
    return portfolio->add(*spec);
}
SKEWBOOST_API int skewboost_train_members(Portfolio* portfolio, const int64_t* which, const int64_t* n_trees,
                                          int64_t n) {
    return portfolio->train(which, n_trees, n);
}
// Writes the numbers of trees, nodes, leaves and sets.
SKEWBOOST_API void skewboost_member_sizes(const Portfolio* portfolio, int64_t member, int64_t* sizes) {
    const Trees& trees = (*portfolio)[member].trees;
    sizes[0] = trees.n_trees, sizes[1] = trees.n_nodes, sizes[2] = trees.n_leaves, sizes[3] = trees.n_sets;
}
// Writes the trees of a member. Per node: feature, threshold, set, whether missing values go left, and two links.
SKEWBOOST_API void skewboost_member_trees(const Portfolio* portfolio, int64_t member, int64_t* first_node,
                                          int64_t* first_leaf, int64_t* nodes, double* gains, uint64_t* sets,
                                          double* values, double* covers) {
    const Member& own = (*portfolio)[member];
    const Trees& trees = own.trees;
    if (trees.n_trees == 0) return;
    memcpy(first_node, trees.first_node.data(), size_t(trees.n_trees + 1) * sizeof(int64_t));
    memcpy(first_leaf, trees.first_leaf.data(), size_t(trees.n_trees + 1) * sizeof(int64_t));
    for (int64_t k = 0; k < trees.n_nodes; ++k) {
        const TreeNode& node = trees.nodes[k];
        int64_t* to = nodes + 6 * k;
        to[0] = node.feature, to[1] = node.threshold, to[2] = node.set, to[3] = node.missing_left;
        to[4] = node.link[0], to[5] = node.link[1];
        gains[k] = node.gain;
    }
    for (int64_t k = 0; k < trees.n_sets; ++k) memcpy(sets + 4 * k, trees.sets[k].bits, sizeof trees.sets[k].bits);
    memcpy(values, trees.values.data(), size_t(trees.n_leaves * own.n_outputs()) * sizeof(double));
    memcpy(covers, trees.covers.data(), size_t(trees.n_leaves) * sizeof(double));
}
SKEWBOOST_API void skewboost_member_start(const Portfolio* portfolio, int64_t member, double* out) {
    const Member& own = (*portfolio)[member];
    memcpy(out, own.start(), size_t(own.n_outputs()) * sizeof(double));
}
SKEWBOOST_API void skewboost_member_covers(const Portfolio* portfolio, int64_t member, double* out) {
    (*portfolio)[member].covers(out);
}
SKEWBOOST_API void skewboost_member_losses(const Portfolio* portfolio, int64_t member, double* out) {
    const Member& own = (*portfolio)[member];
    memcpy(out, own.losses(), size_t(own.trees.n_trees) * sizeof(double));
}
// Adds the values of trees to `sums`, `[row][width]`, for the given rows, and counts the trees of each.
SKEWBOOST_API void skewboost_member_scores(const Portfolio* portfolio, int64_t member, const uint32_t* rows, int64_t n,
                                           int64_t n_trees, const double* values, int64_t width, int64_t out_of_bag,
                                           double* sums, double* counts) {
    (*portfolio)[member].scores(rows, n, n_trees, values, width, out_of_bag != 0, sums, counts);
}

// --------------------------------------------------------------------------------------------------- explaining

// The largest number of features on a path of trees.
SKEWBOOST_API int skewboost_longest_path(const GivenTrees* trees, int64_t* longest) {
    Edges edges;
    TRY(edges.prepare(*trees));
    *longest = edges.longest();
    return DONE;
}

// Adds the Shapley values of trees to `contributions`, `[row][feature]`.
SKEWBOOST_API int skewboost_contributions(const GivenTrees* trees, const uint64_t* words, int64_t n_rows,
                                          int64_t n_features, const double* points, const double* weights,
                                          int64_t width, double* contributions, int64_t n_jobs) {
    Edges edges;
    TRY(edges.prepare(*trees));
    Table table{words, n_rows, n_features, nullptr, nullptr};
    return add_contributions(edges, table, {points, weights, width}, contributions, n_jobs);
}

// Adds the effects of trees given one feature, less their mean, to `effects`, `[feature][code]`.
SKEWBOOST_API int skewboost_main_effects(const GivenTrees* trees, double* effects) {
    Edges edges;
    TRY(edges.prepare(*trees));
    return Effects::add(edges, effects);
}
