"""Split search in compiled loops: the same candidates, options and ties as `reference.ReferenceEngine.search`.

Beyond the reference it weighs the rounding error of derived histograms: if another candidate could be the best one,
given the bounds, the choice is called doubtful.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.jit import inline, kernel

# The order of `boundary.CRITERIA`.
ERROR, MAJORITY, GINI, ENTROPY, Z, ZBAR, SQUARES = range(7)
_N = 255  # thresholds per feature; code 255 is missing
_LEFT, _RIGHT, _ABSTAIN = 0, 1, 2


@inline
def _loss(criterion, a, b, sign):  # type: ignore[no-untyped-def]
    """`reference.leaf_loss`."""
    value = 0.0
    if criterion == 4:
        value = 2.0 * np.sqrt(a * b)
    elif criterion == 0:
        value = a if sign > 0 else b
    elif criterion == 1:
        value = min(a, b)
    elif criterion == 2:
        if a + b > 0.0:
            value = 2.0 * a * b / (a + b)
    elif criterion == 3:
        if a > 0.0:
            value += a * np.log((a + b) / a)
        if b > 0.0:
            value += b * np.log((a + b) / b)
    elif criterion == 5:
        agrees = b >= a if sign > 0 else a >= b
        value = 2.0 * np.sqrt(a * b) if agrees else a + b
    elif a > 0.0:
        value = -b * b / a
    return value


@inline
def _abstain(criterion, a, b):  # type: ignore[no-untyped-def]
    """`reference.abstain_loss`."""
    half = 0.0 if criterion == 6 else 0.5 * (a + b)
    return _loss(criterion, half, half, 1)


@inline
def _weight(criterion, a, b):  # type: ignore[no-untyped-def]
    return a if criterion == 6 else a + b


@kernel
def scan_numeric(
    h0: Array,
    h1: Array,
    counts: Array,
    n_bins: int,
    criterion: int,
    learn: bool,
    min_count: float,
    min_weight: float,
    tie: float,
    value: Array,
    option: Array,
) -> None:
    """Criterion and option of every threshold of one feature; `counts` has no entries where nothing is counted."""
    right0, right1, right_count = np.zeros(_N), np.zeros(_N), np.zeros(_N)
    counted = counts.shape[0] > 0
    for k in range(n_bins - 2, -1, -1):
        right0[k] = right0[k + 1] + h0[k + 1]
        right1[k] = right1[k + 1] + h1[k + 1]
        if counted:
            right_count[k] = right_count[k + 1] + counts[k + 1]
    m0, m1 = h0[255], h1[255]
    has_missing = m0 != 0.0 or m1 != 0.0
    m_count = counts[255] if counted else 0.0
    n_polarities = 2 if criterion in (0, 5) else 1
    n_sides = 2 if learn and has_missing else 1
    rest = 0.0 if learn else _abstain(criterion, m0, m1)
    enough = min_count * (1 - 1e-9)
    l0, l1, l_count = 0.0, 0.0, 0.0
    for k in range(n_bins):
        value[k] = np.inf
        option[k] = 0
        if h0[k] == 0.0 and h1[k] == 0.0:
            continue
        l0 += h0[k]
        l1 += h1[k]
        if counted:
            l_count += counts[k]
        for side in range(n_sides):
            to_left = learn and side == 0
            to_right = learn and side == 1
            a0, a1 = (l0 + m0, l1 + m1) if to_left else (l0, l1)
            b0, b1 = (right0[k] + m0, right1[k] + m1) if to_right else (right0[k], right1[k])
            wa, wb = _weight(criterion, a0, a1), _weight(criterion, b0, b1)
            if not (wa > 0.0 and wb > 0.0 and wa >= min_weight and wb >= min_weight):
                continue
            if counted:
                ca = l_count + m_count if to_left else l_count
                cb = right_count[k] + m_count if to_right else right_count[k]
                if ca < enough or cb < enough:
                    continue
            for q in range(n_polarities):
                sign = 1 - 2 * q
                v = _loss(criterion, a0, a1, -sign) + _loss(criterion, b0, b1, sign) + rest
                if v < value[k] - tie or value[k] == np.inf:
                    value[k] = v
                    option[k] = n_polarities * side + q
    for k in range(n_bins, _N):
        value[k] = np.inf
        option[k] = 0


@kernel
def order_categories(h0: Array, h1: Array, criterion: int, learn: bool, order: Array) -> int:
    """The codes that have weight, by p and then by code; returns how many. `reference.sort_key`."""
    m = 0
    key = np.empty(256)
    for k in range(256 if learn else 255):
        w = _weight(criterion, h0[k], h1[k])
        if w > 0.0:
            key_k = np.floor(h1[k] / w * 1e12 + 0.5)
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
def scan_nominal(
    h0: Array,
    h1: Array,
    counts: Array,
    criterion: int,
    learn: bool,
    min_count: float,
    min_weight: float,
    max_enumerated: int,
    tie: float,
    order: Array,
    value: Array,
    option: Array,
) -> int:
    """Criterion and option of the partitions of one feature's categories.

    Candidate k has ``order[:k + 1]`` on its left. Where subsets are enumerated, the best one is candidate 0 and the
    return value is its bit mask over the codes that have weight, in their order; otherwise it is 0.
    """
    for k in range(_N):
        value[k] = np.inf
        option[k] = 0
    m = order_categories(h0, h1, criterion, learn, order)
    order[m:] = -1
    if m < 2:
        return 0
    counted = counts.shape[0] > 0
    enough = min_count * (1 - 1e-9)
    rest = 0.0 if learn else _abstain(criterion, h0[255], h1[255])
    forced = criterion in (0, 5)
    if forced and m <= max_enumerated:
        codes = np.sort(order[:m])
        order[0] = -1
        best = 0
        for mask in range(1, 2**m - 1):
            a0, a1, b0, b1, ca, cb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(m):
                k = codes[j]
                if (mask >> j) & 1:
                    a0 += h0[k]
                    a1 += h1[k]
                    ca += counts[k] if counted else 0.0
                else:
                    b0 += h0[k]
                    b1 += h1[k]
                    cb += counts[k] if counted else 0.0
            wa, wb = a0 + a1, b0 + b1
            if wa < min_weight or wb < min_weight or (counted and (ca < enough or cb < enough)):
                continue
            v = _loss(criterion, a0, a1, -1) + _loss(criterion, b0, b1, 1) + rest
            if v < value[0] - tie or value[0] == np.inf:
                value[0] = v
                best = mask
        return best
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
        wa, wb = _weight(criterion, a0, a1), _weight(criterion, right0[j], right1[j])
        if wa < min_weight or wb < min_weight or (counted and (ca < enough or right_count[j] < enough)):
            continue
        for q in range(2 if forced else 1):
            sign = 1 - 2 * q
            v = _loss(criterion, a0, a1, -sign) + _loss(criterion, right0[j], right1[j], sign) + rest
            if v < value[j] - tie or value[j] == np.inf:
                value[j] = v
                option[j] = q
    return 0


@inline
def _wobble(criterion, a, b, e0, e1, sign):  # type: ignore[no-untyped-def]
    """How far a leaf's loss can be off when its sums are off by e0 and e1."""
    v = _loss(criterion, a, b, sign)
    low0 = max(a - e0, 0.0)
    low1 = b - e1 if criterion == 6 else max(b - e1, 0.0)
    up = abs(_loss(criterion, a + e0, b + e1, sign) - v)
    down = abs(_loss(criterion, low0, low1, sign) - v)
    one = abs(_loss(criterion, a + e0, low1, sign) - v)
    other = abs(_loss(criterion, low0, b + e1, sign) - v)
    return max(max(up, down), max(one, other))


@kernel
def candidate_error(
    h0: Array, h1: Array, order: Array, nominal: bool, criterion: int, threshold: int, e0: float, e1: float
) -> float:
    """A bound on the error of a candidate's criterion; infinite for a set of categories that errors may have made."""
    if nominal:
        below, above = order[threshold], order[threshold + 1]
        w, v = _weight(criterion, h0[below], h1[below]), _weight(criterion, h0[above], h1[above])
        if above < 0 or h1[above] / v - h1[below] / w <= (e0 + e1) * (1.0 / w + 1.0 / v):
            return np.inf
    a0, a1, b0, b1 = 0.0, 0.0, 0.0, 0.0
    for j in range(_N):
        code = order[j] if nominal else j
        if code < 0:
            break
        if j <= threshold:
            a0 += h0[code]
            a1 += h1[code]
        else:
            b0 += h0[code]
            b1 += h1[code]
    error = 0.0
    for sign in (-1, 1):
        error = max(error, _wobble(criterion, a0, a1, e0, e1, -sign) + _wobble(criterion, b0, b1, e0, e1, sign))
    return error


@kernel
def pick(
    value: Array,
    h0: Array,
    h1: Array,
    order: Array,
    nominal: Array,
    criterion: int,
    tie: float,
    e0: float,
    e1: float,
    out: Array,
) -> None:
    """The first candidate within `tie` of the best one: ``out = feature, threshold, doubtful``.

    Doubtful means that a candidate which the bounds e0, e1 do not rule out would have been chosen instead. Only
    candidates in a generous band above the best are looked at that closely. ``order[f, 0] < 0`` marks a nominal
    feature whose subsets were enumerated; it is always in doubt.
    """
    n_features = value.shape[0]
    best = np.inf
    for f in range(n_features):
        for k in range(_N):
            if value[f, k] < best:
                best = value[f, k]
    out[0] = -1
    out[2] = 0
    if best == np.inf:
        return
    if criterion == 6:
        tie *= abs(best)
    for f in range(n_features):
        if out[0] >= 0:
            break
        for k in range(_N):
            if value[f, k] <= best + tie:
                out[0], out[1] = f, k
                break
    if e0 == 0.0 and e1 == 0.0:
        return
    weight = 0.0
    for k in range(256):
        weight += abs(h0[0, k]) + abs(h1[0, k])
    band = best + tie + 8.0 * np.sqrt((e0 + e1) * weight) + 100.0 * (e0 + e1)
    g, t = out[0], out[1]
    own = value[g, t]
    out[2] = 1
    if nominal[g] and order[g, 0] < 0:
        return
    own_error = candidate_error(h0[g], h1[g], order[g], nominal[g], criterion, t, e0, e1)
    if own_error == np.inf:
        return
    for f in range(n_features):
        for k in range(_N):
            v = value[f, k]
            if v > band or (f == g and k == t):
                continue
            if nominal[f] and order[f, 0] < 0:
                return
            error = own_error + candidate_error(h0[f], h1[f], order[f], nominal[f], criterion, k, e0, e1)
            earlier = f < g or (f == g and k < t)
            # an earlier one must be clearly beyond the tie, a later one must not possibly win by more than the tie
            if (earlier and v - error <= best + tie) or (not earlier and v - error < own - tie):
                return
    out[2] = 0
