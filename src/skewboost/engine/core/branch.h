// A persistent node, as alternating trees need them: its rows of two classes, and its histogram in the units of the
// stored weights, so that it stays valid while these do not change.
#pragma once
#include "rows.h"

namespace skew {

struct Branch {
    Buffer<uint32_t> rows[2];
    int64_t size[2] = {0, 0};
    Buffer<double> sums;  // empty: unknown
    double error[2] = {0.0, 0.0};
    bool derived = false;
    Branch* parent = nullptr;
    Branch* family[3] = {nullptr, nullptr, nullptr};  // all children of the parent's split, including this one
    int64_t n_family = 0;
    Branch* made_before = nullptr;  // the list of all branches

    bool known() const { return sums.size() > 0; }
    void forget() {
        sums.clear();
        derived = false;
    }
};

class Branches {
public:
    explicit Branches(Rows& rows) : rows_(rows) {}
    Branches(const Branches&) = delete;
    Branches& operator=(const Branches&) = delete;
    ~Branches() {
        while (last_ != nullptr) {
            Branch* gone = last_;
            last_ = gone->made_before;
            gone->~Branch();
            free(gone);
        }
    }

    // Makes a branch without rows, which is freed together with all others; null if there is no memory.
    Branch* make() {
        void* memory = malloc(sizeof(Branch));
        if (memory == nullptr) return nullptr;
        Branch* made = new (Place{memory}) Branch();
        made->made_before = last_;
        return last_ = made;
    }

    Status fill_root(Branch& root) {
        for (int g = 0; g < 2; ++g) {
            int64_t begin = rows_.begin(g, false), n = rows_.end(g, false) - begin;
            TRY(root.rows[g].reserve(max_of<int64_t>(n, 1)));
            memcpy(root.rows[g].data(), rows_.all() + begin, size_t(n) * sizeof(uint32_t));
            root.size[g] = n;
        }
        return DONE;
    }

    // Divides the rows of a branch into the sides of a split.
    Status split(const Branch& branch, int64_t feature, const uint8_t* child, Branch** sides, int64_t n_sides) {
        const uint64_t* words = rows_.table.block(feature >> 3);
        for (int g = 0; g < 2; ++g) {
            int64_t counts[3] = {0, 0, 0};
            const uint32_t* own = branch.rows[g].data();
            for (int64_t i = 0; i < branch.size[g]; ++i) counts[child[code_in(words[own[i]], feature)]] += 1;
            uint32_t* out[3] = {nullptr, nullptr, nullptr};
            for (int64_t side = 0; side < n_sides; ++side) {
                TRY(sides[side]->rows[g].reserve(max_of<int64_t>(counts[side], 1)));
                sides[side]->size[g] = counts[side];
                out[side] = sides[side]->rows[g].data();
            }
            for (int64_t i = 0; i < branch.size[g]; ++i) *out[child[code_in(words[own[i]], feature)]]++ = own[i];
        }
        return DONE;
    }

    // The best split under the current weights; the histogram is kept if `keep` is true.
    Status search(Branch& branch, const Request& request, bool keep, Split& split) {
        TRY(lowest_.reserve(rows_.n_padded()));
        if (!branch.known() && branch.parent != nullptr && branch.parent->known()) TRY(derive(branch));
        if (!branch.known()) TRY(sum_directly(branch));
        for (int attempt = 0; attempt < 2; ++attempt) {
            TRY(search_once(branch, request, split));
            if (split.feature < 0 || attempt > 0 || (!split.uncertain && !lost_rows(branch, split))) break;
            TRY(sum_directly(branch));
        }
        if (!keep) branch.forget();
        return DONE;
    }

    void totals(const Branch& branch, double* out) const {
        for (int g = 0; g < 2; ++g) rows_.totals(branch.rows[g].data(), branch.size[g], g, nullptr, out);
    }
    double examples(const Branch& branch) const {
        return rows_.examples_in(branch.rows[0].data(), branch.size[0]) +
               rows_.examples_in(branch.rows[1].data(), branch.size[1]);
    }

    // Multiplies the weights of two branches by their factors and all others by the last one, and normalises.
    void reweight(const Branch& left, const Branch& right, const double* factors, double& total, bool& rescaled) {
        const Branch* sides[2] = {&left, &right};
        total = 0.0;
        for (int g = 0; g < 2; ++g) {
            double whole[2], others = 0.0;
            rows_.totals(rows_.all() + rows_.begin(g, false), rows_.end(g, false) - rows_.begin(g, false), g, nullptr,
                         whole);
            for (int side = 0; side < 2; ++side) {
                double own[2];
                rows_.totals(sides[side]->rows[g].data(), sides[side]->size[g], g, nullptr, own);
                others += own[g];
                total += own[g] * factors[2 * side + g];
            }
            total += max_of(whole[g] - others, 0.0) * factors[4 + g];
        }
        for (int g = 0; g < 2; ++g) {
            for (int side = 0; side < 2; ++side) {
                double ratio = factors[2 * side + g] / factors[4 + g];
                const uint32_t* own = sides[side]->rows[g].data();
                for (int64_t i = 0; i < sides[side]->size[g]; ++i) rows_.stored(0)[own[i]] *= ratio;
            }
            rows_.scale(g) *= factors[4 + g] / total;
        }
        rescaled = rows_.fold_scales();
    }

private:
    Status reserve(Branch& branch) {
        if (branch.known()) return DONE;
        int64_t length = rows_.slot_length(false);
        TRY(branch.sums.reserve(length));
        memset(branch.sums.data(), 0, size_t(length) * sizeof(double));
        return DONE;
    }

    Status sum_group(Branch& branch, int g) {
        TRY(rows_.gather(branch.rows[g].data(), branch.size[g], 1.0, nullptr, values_));
        TRY(rows_.sum_class(branch.rows[g].data(), values_.data(), branch.size[g], g, branch.sums.data()));
        double total = 0.0;
        for (int k = 0; k < N_CODES; ++k) total += branch.sums[g * N_CODES + k];
        branch.error[g] = direct_error(branch.size[g]) * total;
        return DONE;
    }

    Status sum_directly(Branch& branch) {
        Status status = reserve(branch);
        for (int g = 0; g < 2 && status == DONE; ++g) status = sum_group(branch, g);
        if (status != DONE) branch.forget();
        branch.derived = false;
        return status;
    }

    // In each class the largest of the siblings is the parent less the others, which are summed.
    Status derive(Branch& branch) {
        Branch& parent = *branch.parent;
        Branch* lacking[3];
        int64_t n = 0;
        for (int64_t k = 0; k < branch.n_family; ++k)
            if (!branch.family[k]->known()) lacking[n++] = branch.family[k];
        Status status = DONE;
        for (int64_t k = 0; k < n && status == DONE; ++k) status = reserve(*lacking[k]);
        for (int g = 0; g < 2 && status == DONE; ++g) {
            Branch* heir = lacking[0];
            for (int64_t k = 1; k < n; ++k)
                if (lacking[k]->size[g] > heir->size[g]) heir = lacking[k];
            for (int64_t k = 0; k < n && status == DONE; ++k)
                if (lacking[k] != heir) status = sum_group(*lacking[k], g);
            if (status == DONE) subtract(parent, branch, *heir, g);
        }
        if (status != DONE)
            for (int64_t k = 0; k < n; ++k) lacking[k]->forget();
        return status;
    }

    void subtract(const Branch& parent, const Branch& one, Branch& heir, int g) const {
        heir.error[g] = parent.error[g];
        double* to = heir.sums.data();
        rows_.for_plane(
            g, [&](int64_t at, int64_t m) { memcpy(to + at, parent.sums.data() + at, size_t(m) * sizeof(double)); });
        for (int64_t k = 0; k < one.n_family; ++k) {
            const Branch* other = one.family[k];
            if (other == &heir) continue;
            const double* by = other->sums.data();
            rows_.for_plane(g, [&](int64_t at, int64_t m) {
                for (int64_t j = at; j < at + m; ++j) to[j] -= by[j];
            });
            heir.error[g] += other->error[g];
        }
        rows_.for_plane(g, [&](int64_t at, int64_t m) {
            for (int64_t j = at; j < at + m; ++j) to[j] = to[j] > 0.0 ? to[j] : 0.0;
        });
        heir.derived = true;
    }

    Status search_once(const Branch& branch, const Request& request, Split& split) {
        int64_t length = rows_.slot_length(false);
        const double* sums = branch.sums.data();
        double s0 = rows_.scale(0), s1 = rows_.scale(1);
        if (s0 != 1.0 || s1 != 1.0) {
            TRY(scaled_.reserve(length));
            for (int64_t k = 0; k < length; k += 2 * N_CODES)
                for (int64_t j = k; j < k + N_CODES; ++j) {
                    scaled_[j] = sums[j] * s0;
                    scaled_[j + N_CODES] = sums[j + N_CODES] * s1;
                }
            sums = scaled_.data();
        }
        const double* counts = nullptr;
        if (request.min_count > 0.0) {
            TRY(counts_.reserve(rows_.n_padded() * N_CODES));
            memset(counts_.data(), 0, size_t(rows_.n_padded() * N_CODES) * sizeof(double));
            for (int g = 0; g < 2; ++g) rows_.count(branch.rows[g].data(), branch.size[g], counts_.data());
            counts = counts_.data();
        }
        double e0 = branch.derived ? branch.error[0] * s0 : 0.0, e1 = branch.derived ? branch.error[1] * s1 : 0.0;
        TwoPlanes planes{sums, counts, nullptr};
        with_criterion(request, [&](const auto& c) {
            skew::search(c, rows_.table, planes, request, e0, e1, lowest_.data(), rows_.n_jobs, split);
        });
        return DONE;
    }

    // `Grower.lost_rows`.
    bool lost_rows(const Branch& branch, const Split& split) const {
        if (!branch.derived || branch.parent == nullptr || split.threshold >= 0) return false;
        const double* own = branch.sums.data() + split.feature * 2 * N_CODES;
        const uint64_t* words = rows_.table.block(split.feature >> 3);
        for (int g = 0; g < 2; ++g)
            for (int64_t i = 0; i < branch.size[g]; ++i) {
                int code = code_in(words[branch.rows[g][i]], split.feature);
                if (own[code] == 0.0 && own[N_CODES + code] == 0.0) return true;
            }
        return false;
    }

    Rows& rows_;
    Branch* last_ = nullptr;
    Buffer<double> values_, scaled_, counts_, lowest_;
};

}  // namespace skew
