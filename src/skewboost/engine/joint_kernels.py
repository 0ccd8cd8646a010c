"""The numeric splits of rows with several labels, or of more than two classes.

They are `candidates.numeric_candidates` for Z, label by label, and for the error and the Gini index of classes.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import MISSING, Array
from skewboost.engine.jit import kernel


@kernel
def enough(weight: float, min_weight: float) -> bool:
    """Whether a side may be that light."""
    return weight > 0.0 and weight >= min_weight


@kernel
def scan_joint(
    histogram: Array, n_bins: Array, learn: bool, min_weight: float, tie: float, value: Array, option: Array
) -> None:
    """Criterion and option of every (feature, threshold): on which side missing values do better, the first on a tie.

    The histogram is ``[plane, feature, code]`` with two planes per label.
    """
    n_planes, n_features = histogram.shape[0], histogram.shape[1]
    a0, a1, b0, b1 = np.empty(MISSING), np.empty(MISSING), np.empty(MISSING), np.empty(MISSING)
    left, right, present = np.empty(MISSING), np.empty(MISSING), np.empty(MISSING)
    on_left, on_right = np.empty(MISSING), np.empty(MISSING)
    for f in range(n_features):
        n = n_bins[f]
        left[:n], right[:n], present[:n], on_left[:n], on_right[:n] = 0.0, 0.0, 0.0, 0.0, 0.0
        of_missing = 0.0
        for p in range(0, n_planes, 2):
            h0, h1 = histogram[p, f], histogram[p + 1, f]
            m0, m1 = h0[MISSING], h1[MISSING]
            of_missing += m0 + m1
            s0, s1 = 0.0, 0.0
            for k in range(n):
                s0 += h0[k]
                s1 += h1[k]
                a0[k], a1[k] = s0, s1
            # summed from the right rather than subtracted from the total: a side without weight must be exactly zero
            s0, s1 = 0.0, 0.0
            for k in range(n - 1, -1, -1):
                b0[k], b1[k] = s0, s1
                s0 += h0[k]
                s1 += h1[k]
            for k in range(n):
                present[k] += h0[k] + h1[k]
                left[k] += a0[k] + a1[k]
                right[k] += b0[k] + b1[k]
            if learn:
                for k in range(n):
                    on_left[k] += 2 * (np.sqrt((a0[k] + m0) * (a1[k] + m1)) + np.sqrt(b0[k] * b1[k]))
                if m0 != 0.0 or m1 != 0.0:
                    for k in range(n):
                        on_right[k] += 2 * (np.sqrt(a0[k] * a1[k]) + np.sqrt((b0[k] + m0) * (b1[k] + m1)))
                else:
                    for k in range(n):
                        on_right[k] += 2 * (np.sqrt(a0[k] * a1[k]) + np.sqrt(b0[k] * b1[k]))
            else:
                for k in range(n):
                    on_left[k] += 2 * (np.sqrt(a0[k] * a1[k]) + np.sqrt(b0[k] * b1[k]))
        more_left = of_missing if learn else 0.0
        rest = 0.0 if learn else of_missing
        for k in range(MISSING):
            value[f, k], option[f, k] = np.inf, 0
            if k >= n or present[k] == 0.0:
                continue
            low = np.inf
            if enough(left[k] + more_left, min_weight) and enough(right[k], min_weight):
                low = on_left[k] + rest
            value[f, k] = low
            both = enough(left[k], min_weight) and enough(right[k] + of_missing, min_weight)
            if learn and of_missing > 0.0 and both and on_right[k] < low - tie:
                value[f, k], option[f, k] = on_right[k], 1


@kernel
def impurity(sums: Array, more: Array, with_more: bool, gini: bool) -> float:
    """`losses.class_loss` of one leaf, to which `more` may come."""
    total, largest, squares = 0.0, 0.0, 0.0
    for k in range(len(sums)):
        s = sums[k] + more[k] if with_more else sums[k]
        total += s
        squares += s * s
        largest = max(largest, s)
    if gini:
        return total - squares / total if total > 0.0 else 0.0
    return total - largest


@kernel
def scan_classes(
    histogram: Array,
    n_bins: Array,
    learn: bool,
    gini: bool,
    min_weight: float,
    tie: float,
    value: Array,
    option: Array,
) -> None:
    """`scan_joint` for the error or the Gini index of many classes; the histogram has a plane per class."""
    n_classes, n_features = histogram.shape[0], histogram.shape[1]
    right = np.empty((MISSING, n_classes))
    left, missing = np.empty(n_classes), np.empty(n_classes)
    for f in range(n_features):
        n = n_bins[f]
        of_missing = 0.0
        for p in range(n_classes):
            missing[p] = histogram[p, f, MISSING]
            of_missing += missing[p]
            left[p] = 0.0
            total = 0.0
            # summed from the right rather than subtracted from the total: a side without weight must be exactly zero
            for k in range(n - 1, -1, -1):
                right[k, p] = total
                total += histogram[p, f, k]
        rest = 0.0 if learn else of_missing / 2
        for k in range(MISSING):
            value[f, k], option[f, k] = np.inf, 0
            if k >= n:
                continue
            present, on_left, on_right = 0.0, 0.0, 0.0
            for p in range(n_classes):
                present += histogram[p, f, k]
                left[p] += histogram[p, f, k]
                on_left += left[p]
                on_right += right[k, p]
            if present == 0.0:
                continue
            low = np.inf
            if enough(on_left + of_missing if learn else on_left, min_weight) and enough(on_right, min_weight):
                low = impurity(left, missing, learn, gini) + impurity(right[k], missing, False, gini) + rest
            value[f, k] = low
            both = enough(on_left, min_weight) and enough(on_right + of_missing, min_weight)
            if learn and of_missing > 0.0 and both:
                other = impurity(left, missing, False, gini) + impurity(right[k], missing, True, gini)
                if other < low - tie:
                    value[f, k], option[f, k] = other, 1
