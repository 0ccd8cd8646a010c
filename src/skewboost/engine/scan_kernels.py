"""The candidates of one feature: the criterion of every threshold, or partition of categories, and the lowest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.cost_kernels import ROUGH, cost_loss, rough_cost_losses, step_losses
from skewboost.engine.criterion_kernels import (
    COST_STEP,
    ERROR,
    N_THRESHOLDS,
    SQUARES,
    Terms,
    Z,
    abstain_loss,
    cost_shares,
    is_forced,
    losses,
    split_loss,
    tie_width,
    weight_of,
)
from skewboost.engine.jit import kernel


class Features(NamedTuple):
    """What a search has to know of each feature."""

    n_bins: Array
    nominal: Array


class Scan(NamedTuple):
    """The candidates of one feature, and the room in which they are worked out."""

    value: Array
    option: Array
    order: Array
    scratch: Array


@kernel
def cumulate(h0: Array, h1: Array, l0: Array, l1: Array, r0: Array, r1: Array) -> None:
    """Sums up to and beyond each bin.

    The latter are added up from the right, not subtracted from the total: a side without weight must be exactly zero.
    Four chains in one loop hide the latency of the additions.
    """
    n = l0.shape[0]
    up0, up1, down0, down1 = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        j = n - 1 - k
        r0[j] = down0
        r1[j] = down1
        up0 += h0[k]
        up1 += h1[k]
        down0 += h0[j]
        down1 += h1[j]
        l0[k] = up0
        l1[k] = up1


@kernel
def lowest_of(value: Array) -> float:
    """The minimum of 255 values, in five chains that do not wait for each other."""
    a, b, c, d, e = np.inf, np.inf, np.inf, np.inf, np.inf
    for k in range(51):
        a = min(a, value[k])
        b = min(b, value[k + 51])
        c = min(c, value[k + 102])
        d = min(d, value[k + 153])
        e = min(e, value[k + 204])
    return min(min(min(a, b), min(c, d)), e)


@kernel
def lowest_of_numeric(h0: Array, h1: Array, n: int, criterion: int, min_weight: float, scan: Scan) -> float:
    """The lowest criterion (error, Gini or Z) of a numeric feature without missing values, without all the options.

    The loops vectorise. For Z they compare squares: as ``(√x + √y)² = x + y + 2√(xy)``, that saves one of two roots,
    which are most of the work.
    """
    l0, l1, r0, r1 = scan.scratch[0, :n], scan.scratch[1, :n], scan.scratch[2, :n], scan.scratch[3, :n]
    value = scan.value
    cumulate(h0, h1, l0, l1, r0, r1)
    least = max(min_weight, 5e-324)
    if criterion == Z:
        for k in range(n):
            x, y = l0[k] * l1[k], r0[k] * r1[k]
            value[k] = x + y + 2.0 * np.sqrt(x * y)
    elif criterion == ERROR:
        for k in range(n):
            one, other = l1[k] + r0[k], l0[k] + r1[k]
            value[k] = one if one < other else other
    else:
        for k in range(n):
            a, b = l0[k] + l1[k], r0[k] + r1[k]
            value[k] = 2.0 * (l0[k] * l1[k] / a + r0[k] * r1[k] / b)
    for k in range(n):
        allowed = (l0[k] + l1[k] >= least) & (r0[k] + r1[k] >= least)
        value[k] = value[k] if allowed else np.inf
    value[n:] = np.inf
    low = lowest_of(value)
    return 2.0 * float(np.sqrt(low)) if criterion == Z else low


@kernel
def lowest_cost_loss(h0: Array, h1: Array, n: int, terms: Terms, scan: Scan) -> float:
    """The same of the exponential loss with costs, smoothed: exactly where a rough value says that it may be lowest."""
    l0, l1, r0, r1 = scan.scratch[0, :n], scan.scratch[1, :n], scan.scratch[2, :n], scan.scratch[3, :n]
    on_left, on_right, value = scan.scratch[4, :n], scan.scratch[5, :n], scan.value
    cumulate(h0, h1, l0, l1, r0, r1)
    ratio, share, delta = terms.cost1 / terms.cost0, terms.cost1 / (terms.cost0 + terms.cost1), terms.delta
    rough_cost_losses(l0, l1, ratio, share, delta, scan.scratch[6, :n], scan.scratch[7, :n], on_left)
    rough_cost_losses(r0, r1, ratio, share, delta, scan.scratch[6, :n], scan.scratch[7, :n], on_right)
    least = max(terms.min_weight, 5e-324)
    for k in range(n):
        allowed = (l0[k] + l1[k] >= least) & (r0[k] + r1[k] >= least)
        value[k] = on_left[k] + on_right[k] if allowed else np.inf
    value[n:] = np.inf
    near = lowest_of(value) * (1.0 + 4.0 * ROUGH)
    low = np.inf
    if near < np.inf:
        for k in range(n):
            if value[k] <= near:
                low = min(
                    low, cost_loss(l0[k], l1[k], ratio, share, delta) + cost_loss(r0[k], r1[k], ratio, share, delta)
                )
    return low


@kernel
def scan_numeric(
    h0: Array,
    h1: Array,
    counts: Array,
    n: int,
    terms: Terms,
    tie: float,
    margin: float,
    scan: Scan,
) -> None:
    """Criterion and option of every threshold of one feature; `counts` has no entries where nothing is counted.

    Of a threshold that is worse than the best by more than `margin`, only that need be known.
    """
    criterion, learn, min_count, min_weight = terms.criterion, terms.learn, terms.min_count, terms.min_weight
    scratch, value, option = scan.scratch, scan.value, scan.option
    l0, l1, r0, r1 = scratch[0, :n], scratch[1, :n], scratch[2, :n], scratch[3, :n]
    shifted0, shifted1, on_left, on_right = scratch[4, :n], scratch[5, :n], scratch[6, :n], scratch[7, :n]
    left_count, right_count, closed = scratch[8, :n], scratch[9, :n], scratch[10, :n]
    cumulate(h0, h1, l0, l1, r0, r1)
    counted = counts.shape[0] > 0
    if counted:
        up0, down0 = 0.0, 0.0
        for k in range(n):
            up0 += counts[k]
            left_count[k] = up0
            right_count[n - 1 - k] = down0
            down0 += counts[n - 1 - k]
    m0, m1 = h0[255], h1[255]
    both_sides = learn and (m0 != 0.0 or m1 != 0.0)
    rest = 0.0 if learn else abstain_loss(terms, m0, m1)
    n_polarities = 2 if is_forced(criterion) else 1
    c0, c1 = cost_shares(terms)
    option[:] = 0
    value[n:] = np.inf
    if not counted and not both_sides and n_polarities == 1:  # the common case in loops that vectorise
        losses(terms, l0, l1, 0, on_left)
        losses(terms, r0, r1, 0, on_right)
        for k in range(n):
            wa, wb = (l0[k], r0[k]) if criterion == SQUARES else (l0[k] + l1[k], r0[k] + r1[k])
            allowed = (wa > 0.0) & (wb > 0.0) & (wa >= min_weight) & (wb >= min_weight)
            occupied = (h0[k] != 0.0) | (h1[k] != 0.0)
            value[k] = on_left[k] + on_right[k] + rest if allowed & occupied else np.inf
        return
    value[:n] = np.inf
    lowest = np.inf
    for side in range(2 if both_sides else 1):
        a0, a1, b0, b1 = l0, l1, r0, r1
        if both_sides:  # missing values join the left, then the right
            for k in range(n):
                shifted0[k] = m0 + (l0[k] if side == 0 else r0[k])
                shifted1[k] = m1 + (l1[k] if side == 0 else r1[k])
            if side == 0:
                a0, a1 = shifted0, shifted1
            else:
                b0, b1 = shifted0, shifted1
        for k in range(n):
            wa, wb = weight_of(criterion, a0[k], a1[k]), weight_of(criterion, b0[k], b1[k])
            occupied = h0[k] != 0.0 or h1[k] != 0.0
            allowed = occupied and wa > 0.0 and wb > 0.0 and wa >= min_weight and wb >= min_weight
            if counted and allowed:
                on_a = left_count[k] + (counts[255] if learn and side == 0 else 0.0)
                on_b = right_count[k] + (counts[255] if learn and side == 1 else 0.0)
                allowed = on_a >= min_count and on_b >= min_count
            closed[k] = 0.0 if allowed else np.inf
        if criterion == COST_STEP:  # both polarities in one go
            best, minus = on_left, on_right
            lowest = step_losses(a0, a1, b0, b1, closed, c0, c1, lowest, margin, tie, scratch[11:], best, minus)
            for k in range(n):
                v = best[k] + rest
                if v < value[k] and (value[k] == np.inf or v < value[k] - tie):
                    value[k] = v
                    option[k] = 2 * side + int(minus[k])
            continue
        for q in range(n_polarities):
            sign = 1 - 2 * q
            losses(terms, a0, a1, -sign, on_left)
            losses(terms, b0, b1, sign, on_right)
            for k in range(n):
                v = on_left[k] + on_right[k] + rest + closed[k]
                if v < value[k] and (value[k] == np.inf or v < value[k] - tie_width(criterion, tie, value[k])):
                    value[k] = v
                    option[k] = n_polarities * side + q


@kernel
def order_categories(h0: Array, h1: Array, criterion: int, learn: bool, order: Array) -> int:
    """The codes that have weight, by p and then by code; returns how many. `candidates.sort_key`."""
    n = 256 if learn else 255
    m = 0
    key = np.empty(256)
    scale = 1.0
    if criterion == SQUARES:
        square, total = 0.0, 0.0
        for k in range(n):
            if h0[k] > 0.0:
                square += h1[k] * h1[k] / h0[k]
                total += h0[k]
        scale = 1e12 / np.sqrt(square / total) if square > 0.0 else 1.0
    for k in range(n):
        a, b = h0[k], h1[k]
        if weight_of(criterion, a, b) > 0.0:
            if criterion == SQUARES:
                key_k = np.floor(b / a * scale + 0.5)
            elif a > 0.0 and b > 0.0:
                key_k = np.floor((np.log(b) - np.log(a)) * 1e11 + 0.5)
            else:
                key_k = np.inf if b > 0.0 else -np.inf
            j = m
            while j > 0 and key[j - 1] > key_k:
                key[j] = key[j - 1]
                order[j] = order[j - 1]
                j -= 1
            key[j] = key_k
            order[j] = k
            m += 1
    return m


@kernel
def subset_loss(h0: Array, h1: Array, counts: Array, codes: Array, mask: int, terms: Terms, enough: float) -> float:
    """`split_loss` with the codes of a mask on the left and the others on the right; infinite if not allowed."""
    a0, a1, b0, b1, ca, cb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    counted = counts.shape[0] > 0
    for j in range(codes.shape[0]):
        k = codes[j]
        if (mask >> j) & 1:
            a0 += h0[k]
            a1 += h1[k]
            ca += counts[k] if counted else 0.0
        else:
            b0 += h0[k]
            b1 += h1[k]
            cb += counts[k] if counted else 0.0
    if a0 + a1 < terms.min_weight or b0 + b1 < terms.min_weight:
        return np.inf
    if counted and (ca < terms.min_count or cb < terms.min_count):
        return np.inf
    return split_loss(terms, a0, a1, b0, b1, 1, enough)


@kernel
def scan_nominal(
    h0: Array,
    h1: Array,
    counts: Array,
    terms: Terms,
    tie: float,
    scan: Scan,
) -> int:
    """Criterion and option of the partitions of one feature's categories.

    Candidate k has ``order[:k + 1]`` on its left. Where subsets are enumerated, the best one is candidate 0 and the
    return value is its bit mask over the codes that have weight, in their order; otherwise it is 0.
    """
    criterion, learn, min_count, min_weight = terms.criterion, terms.learn, terms.min_count, terms.min_weight
    order, value, option = scan.order, scan.value, scan.option
    for k in range(N_THRESHOLDS):
        value[k] = np.inf
        option[k] = 0
    m = order_categories(h0, h1, criterion, learn, order)
    order[m:] = -1
    if m < 2:
        return 0
    counted = counts.shape[0] > 0
    rest = 0.0 if learn else abstain_loss(terms, h0[255], h1[255])
    forced = is_forced(criterion)
    if forced and m <= terms.max_enumerated:
        codes = np.sort(order[:m])
        order[0] = -1
        low = np.inf
        for mask in range(1, 2**m - 1):
            low = min(low, subset_loss(h0, h1, counts, codes, mask, terms, low - rest) + rest)
        if low == np.inf:
            return 0
        enough = low + tie  # the first that ties with the best, not the first that nothing later beats by a tie
        for mask in range(1, 2**m - 1):
            v = subset_loss(h0, h1, counts, codes, mask, terms, enough - rest + tie) + rest
            if v <= enough:
                value[0] = v
                return mask
    right0, right1 = np.zeros(m + 1), np.zeros(m + 1)
    right_count = np.zeros(m + 1)
    for j in range(m - 1, 0, -1):
        right0[j - 1] = right0[j] + h0[order[j]]
        right1[j - 1] = right1[j] + h1[order[j]]
        if counted:
            right_count[j - 1] = right_count[j] + counts[order[j]]
    a0, a1, ca = 0.0, 0.0, 0.0
    for j in range(m - 1):
        a0 += h0[order[j]]
        a1 += h1[order[j]]
        if counted:
            ca += counts[order[j]]
        wa, wb = weight_of(criterion, a0, a1), weight_of(criterion, right0[j], right1[j])
        if wa < min_weight or wb < min_weight or (counted and (ca < min_count or right_count[j] < min_count)):
            continue
        for q in range(2 if forced else 1):
            sign = 1 - 2 * q
            v = split_loss(terms, a0, a1, right0[j], right1[j], sign, np.inf) + rest
            if value[j] == np.inf or v < value[j] - tie_width(criterion, tie, value[j]):
                value[j] = v
                option[j] = q
    return 0


@kernel
def scan_feature(
    h0: Array,
    h1: Array,
    counts: Array,
    features: Features,
    f: int,
    terms: Terms,
    tie: float,
    margin: float,
    scan: Scan,
) -> int:
    """`scan_numeric` or `scan_nominal` of feature f; returns the latter's mask."""
    if features.nominal[f]:
        return scan_nominal(h0[f], h1[f], counts[f], terms, tie, scan)
    scan_numeric(h0[f], h1[f], counts[f], features.n_bins[f], terms, tie, margin, scan)
    return 0


@kernel
def new_scan() -> Scan:
    """Room for the candidates of a feature."""
    return Scan(
        np.empty(N_THRESHOLDS), np.empty(N_THRESHOLDS, np.uint8), np.empty(256, np.int64), np.empty((16, N_THRESHOLDS))
    )


@kernel
def tie_of(h0: Array, h1: Array, terms: Terms) -> float:
    """The absolute tie of a node; `h0` and `h1` are one feature's part of its histogram."""
    if terms.criterion == SQUARES:
        return terms.tie
    total = 0.0
    for k in range(256):
        total += h0[k] + h1[k]
    return terms.tie * total
