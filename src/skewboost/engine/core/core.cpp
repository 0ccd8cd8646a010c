// The C interface: what Python calls. Sizes are int64, numbers are double, arrays are contiguous and outlive the call; those
// of a training set outlive the set. A status other than 0 is a lack of memory.
#include "level.h"
#include "reweight.h"
#include "score.h"

using namespace skew;

#ifdef _WIN32
#define API extern "C" __declspec(dllexport)
#else
#define API extern "C" __attribute__((visibility("default")))
#endif

namespace {
struct TrainingSet {
    Rows rows;
    Grower grower{rows};
};
}  // namespace

API int64_t skewboost_abi() { return 1; }
API void skewboost_start() { watch_forks(); }

// ----------------------------------------------------------------------------------------------------- tables

API int skewboost_sort_32(const uint32_t* keys, int64_t n, uint32_t* sorted) { return sort_keys<uint32_t, 3>(keys, n, sorted); }
API int skewboost_sort_64(const uint64_t* keys, int64_t n, uint64_t* sorted) { return sort_keys<uint64_t, 6>(keys, n, sorted); }

API void skewboost_encode_32(const float* X, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns,
                             const int64_t* column, const int64_t* feature, const double* cuts, uint64_t* words,
                             int64_t n_jobs) {
    encode(Matrix<float>{X, row_stride, column_stride}, n_rows, n_columns, column, feature, cuts, words, n_jobs);
}
API void skewboost_encode_64(const double* X, int64_t row_stride, int64_t column_stride, int64_t n_rows, int64_t n_columns,
                             const int64_t* column, const int64_t* feature, const double* cuts, uint64_t* words,
                             int64_t n_jobs) {
    encode(Matrix<double>{X, row_stride, column_stride}, n_rows, n_columns, column, feature, cuts, words, n_jobs);
}
API void skewboost_store_codes(const uint8_t* codes, int64_t n_rows, int64_t feature, uint64_t* words) {
    store_codes(codes, n_rows, feature, words);
}
API void skewboost_look_up(const uint64_t* words, int64_t n_rows, int64_t feature, const double* values, int64_t add,
                           double* out, int64_t n_jobs) {
    look_up(words, n_rows, feature, values, add != 0, out, n_jobs);
}

// ----------------------------------------------------------------------------------------------- training sets

API int skewboost_open(const Spec* spec, TrainingSet** out) {
    *out = nullptr;
    void* room = malloc(sizeof(TrainingSet));
    if (room == nullptr) return NO_MEMORY;
    TrainingSet* made = new (room) TrainingSet();
    if (made->rows.open(*spec) != DONE || made->grower.open() != DONE) {
        made->~TrainingSet();
        free(room);
        return NO_MEMORY;
    }
    *out = made;
    return DONE;
}
API void skewboost_close(TrainingSet* set) {
    if (set == nullptr) return;
    set->~TrainingSet();
    free(set);
}
API void skewboost_assign(TrainingSet* set, const double* weights) {
    set->rows.assign(weights);
    set->grower.forget_root();
}
API void skewboost_weights(const TrainingSet* set, double* out) { set->rows.weights(out); }

// Grow a stump or tree; z and w are null for labels. Returns how many splits and leaves there are.
API int skewboost_grow(TrainingSet* set, const Request* request, int64_t max_depth, int64_t max_leaf_nodes, const double* z,
                       const double* w, int64_t* sizes) {
    Responses responses{z, w};
    TRY(set->grower.grow(*request, {max_depth, max_leaf_nodes}, z == nullptr ? nullptr : &responses));
    sizes[0] = set->grower.n_splits();
    sizes[1] = set->grower.n_leaves();
    return DONE;
}

// What was grown. Per split: feature, threshold, polarity, number of children, links; value, before, gain; child of every
// code. Per leaf: whether it abstains; cover, sums per plane.
API void skewboost_grown(const TrainingSet* set, int64_t* splits, double* values, uint8_t* child, int64_t* abstains,
                         double* covers, double* sums, int64_t n_planes) {
    const Grower& g = set->grower;
    for (int64_t k = 0; k < g.n_splits(); ++k) {
        const Node& node = g.node_of_split(k);
        const Split& split = node.split;
        int64_t* own = splits + 7 * k;
        own[0] = split.feature, own[1] = split.threshold, own[2] = split.polarity, own[3] = node.n_children;
        for (int64_t side = 0; side < 3; ++side) own[4 + side] = side < node.n_children ? g.link(node.children + side) : 0;
        values[3 * k] = split.value, values[3 * k + 1] = split.before, values[3 * k + 2] = g.gain(k);
        memcpy(child + N_CODES * k, split.child, N_CODES);
    }
    for (int64_t k = 0; k < g.n_leaves(); ++k) {
        abstains[k] = g.leaf(k).abstains;
        covers[k] = g.cover(k);
        memcpy(sums + n_planes * k, g.sums(k), size_t(n_planes) * sizeof(double));
    }
}

API int skewboost_reweight(TrainingSet* set, const double* factors, double* total) {
    return set->grower.reweight(factors, *total);
}
API int skewboost_root_histogram(TrainingSet* set, const double** sums) { return set->grower.root_histogram(*sums); }

// ------------------------------------------------------------------------------------------------------ scoring

API void skewboost_add_steps_32(const float* X, int64_t row_stride, int64_t column_stride, int64_t n_rows,
                                int64_t n_columns, const int64_t* column, const double* cuts, const double* values,
                                const double* missing, double* F, int64_t n_jobs) {
    add_steps(Matrix<float>{X, row_stride, column_stride}, n_rows, n_columns, column, cuts, values, missing, F, n_jobs);
}
API void skewboost_add_steps_64(const double* X, int64_t row_stride, int64_t column_stride, int64_t n_rows,
                                int64_t n_columns, const int64_t* column, const double* cuts, const double* values,
                                const double* missing, double* F, int64_t n_jobs) {
    add_steps(Matrix<double>{X, row_stride, column_stride}, n_rows, n_columns, column, cuts, values, missing, F, n_jobs);
}
API void skewboost_add_trees(int64_t n_trees, const int64_t* roots, const int64_t* feature, const int64_t* threshold,
                             const int64_t* which, const uint8_t* sets, const int64_t* links, const double* values,
                             const uint64_t* words, int64_t n_rows, double* F, int64_t n_jobs) {
    add_trees({n_trees, roots, feature, threshold, which, sets, links, values}, words, n_rows, F, n_jobs);
}
