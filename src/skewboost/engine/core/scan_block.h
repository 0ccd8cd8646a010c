// The best thresholds of the columns of a block, which are searched side by side: one lane of a vector per column.
//
// Sums are [code][g of every lane, h of every lane]. Every lane does what a loop over the codes of its column would do,
// in the same order, so the result is the same to the bit.
#pragma once
#include "table.h"

namespace skew {

// What a split of one output must satisfy, and what it is worth, as in `NewtonGrower::scan_one`.
struct SplitRule {
    double g, h;  // the totals of the node
    double l2, least;
    double lowest;  // scores below this one cannot become the best
};

struct BlockScan {
    static constexpr int LANES = int(BLOCK), WIDTH = 2 * LANES;
    double score[LANES];
    int at[LANES];  // the last code that goes left; -1: none

    // `last` are the numbers of thresholds of the lanes, and `left` the sums that go left whatever the threshold: those
    // of missing values, or zeros.
    void search(const double* cells, const int64_t* last, const double* left, const SplitRule& rule) {
        Half halves[2];
        int64_t most = 0;
        for (int q = 0; q < 2; ++q) {
            Half& own = halves[q];
            memcpy(&own.g, left + 4 * q, sizeof own.g);
            memcpy(&own.h, left + LANES + 4 * q, sizeof own.h);
            memcpy(&own.last, last + 4 * q, sizeof own.last);
            own.lowest = Four{} + rule.lowest;
        }
        for (int j = 0; j < LANES; ++j) {
            score[j] = -1.0;
            at[j] = -1;
            most = max_of(most, last[j]);
        }
        for (int64_t c = 0; c < most; ++c, cells += WIDTH) {
            Four sum[2], product[2];
            Whole open[2];
            for (int q = 0; q < 2; ++q) halves[q].add(cells + 4 * q, c, rule, sum[q], product[q], open[q]);
            if (!any(open)) continue;
            for (int j = 0; j < LANES; ++j)
                if (open[j >> 2][j & 3]) note(j, int(c), sum[j >> 2][j & 3] / product[j >> 2][j & 3], halves);
        }
    }

private:
    // Four of the lanes.
    struct Half {
        Four g, h, lowest;
        Whole last;

        // Adds the cells of a code, and says in which lanes a threshold after it may be the best one.
        void add(const double* cells, int64_t code, const SplitRule& rule, Four& sum, Four& product, Whole& open) {
            Four own_g, own_h, zero{};
            memcpy(&own_g, cells, sizeof own_g);
            memcpy(&own_h, cells + LANES, sizeof own_h);
            g += own_g;
            h += own_h;
            Four rest = rule.g - g, a = h + rule.l2, b = rule.h - h + rule.l2;
            sum = g * g * b + rest * rest * a;
            product = a * b;
            open = (own_h != zero) & (h >= zero + rule.least) & (h <= zero + (rule.h - rule.least)) &
                   (sum >= lowest * product) & (last > code);
        }
    };

    // Whether a lane of one of two halves is set.
    static bool any(const Whole* open) {
        Whole both = open[0] | open[1];
#ifdef __AVX__
        return __builtin_ia32_vtestzpd256(Four(both), Four(both)) == 0;
#else
        return (both[0] | both[1] | both[2] | both[3]) != 0;
#endif
    }
    void note(int j, int code, double found, Half* halves) {
        if (!(found > score[j] + TIE * score[j])) return;
        score[j] = found;
        at[j] = code;
        Four& lowest = halves[j >> 2].lowest;
        lowest[j & 3] = max_of(lowest[j & 3], found);
    }
};

}  // namespace skew
