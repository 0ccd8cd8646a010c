"""Split search in compiled loops: the same candidates, options and ties as `reference.ReferenceEngine.search`.

Beyond the reference it weighs the rounding error of derived histograms: if another candidate could be the best one,
given the bounds, the choice is called doubtful.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skewboost.engine.boundary import LONGEST_STEP, Array
from skewboost.engine.cost_kernels import ROUGH, cost_loss, rough_cost_losses, step, step_losses
from skewboost.engine.jit import kernel

# The order of `boundary.CRITERIA`.
ERROR, MAJORITY, GINI, ENTROPY, Z, ZBAR, SQUARES, COST_LOSS, COST_STEP = range(9)
_STEEPEST = float(np.exp(LONGEST_STEP))  # how many times a wrong weight can count after a step
_N = 255  # thresholds per feature; code 255 is missing


class Terms(NamedTuple):
    """A request in numbers, and the tolerances of a search."""

    criterion: int
    learn: bool
    min_count: float
    min_weight: float
    max_enumerated: int
    tie: float  # a share of the node's weight, as is the next
    max_error: float
    cost0: float  # of the negatives, and of the positives
    cost1: float
    delta: float


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
def _forced(criterion: int) -> bool:
    """Whether it is one of `boundary.FORCED`."""
    return criterion in (ERROR, ZBAR, COST_STEP)


@kernel
def _loss(terms: Terms, a: float, b: float, sign: int) -> float:
    """`reference.leaf_loss`."""
    criterion = terms.criterion
    value = 0.0
    if criterion == Z:
        value = 2.0 * np.sqrt(a * b)
    elif criterion == ERROR:
        value = a if sign > 0 else b
    elif criterion == MAJORITY:
        value = min(a, b)
    elif criterion == GINI:
        if a + b > 0.0:
            value = 2.0 * a * b / (a + b)
    elif criterion == ENTROPY:
        if a > 0.0:
            value += a * np.log((a + b) / a)
        if b > 0.0:
            value += b * np.log((a + b) / b)
    elif criterion == ZBAR:
        agrees = b >= a if sign > 0 else a >= b
        value = 2.0 * np.sqrt(a * b) if agrees else a + b
    elif criterion == COST_LOSS:
        value = cost_loss(a, b, terms.cost1 / terms.cost0, terms.cost1 / (terms.cost0 + terms.cost1), terms.delta)
    elif criterion == COST_STEP:
        value = a + b
    elif a > 0.0:
        value = -b * b / a
    return value


@kernel
def _abstain(terms: Terms, a: float, b: float) -> float:
    """`reference.abstain_loss`."""
    if terms.criterion in (COST_LOSS, COST_STEP):
        return a + b
    half = 0.0 if terms.criterion == SQUARES else 0.5 * (a + b)
    return _loss(terms, half, half, 1)


@kernel
def _shares(terms: Terms) -> tuple[float, float]:
    """The costs as shares of the larger one."""
    larger = max(terms.cost0, terms.cost1)
    return terms.cost0 / larger, terms.cost1 / larger


@kernel
def _split_loss(terms: Terms, a0: float, a1: float, b0: float, b1: float, sign: int, enough: float) -> float:
    """`reference.split_loss`; where it is not below `enough`, any number that is not either will do."""
    if terms.criterion == COST_STEP:
        c0, c1 = _shares(terms)
        if sign > 0:
            return step(b0, a1, a0, b1, c0, c1, 0.0, enough)[0]
        return step(a0, b1, b0, a1, c0, c1, 0.0, enough)[0]
    return _loss(terms, a0, a1, -sign) + _loss(terms, b0, b1, sign)


@kernel
def _before(terms: Terms, a: float, b: float) -> float:
    """The criterion without a split, which forces no signs."""
    if terms.criterion == ERROR:
        return min(a, b)
    return 2.0 * float(np.sqrt(a * b)) if terms.criterion == ZBAR else _loss(terms, a, b, 1)


@kernel
def _weight(criterion: int, a: float, b: float) -> float:
    return a if criterion == SQUARES else a + b


@kernel
def _width(criterion: int, tie: float, value: float) -> float:
    """`reference.tie_width`; the tie is absolute, for squares a share of the value."""
    return tie * abs(value) if criterion == SQUARES else tie


@kernel
def losses(terms: Terms, a: Array, b: Array, sign: int, out: Array) -> None:
    """`_loss` of many leaves; the choice of formula is outside the loop so that the loop can be vectorised."""
    n, criterion = a.shape[0], terms.criterion
    if criterion == Z:
        for k in range(n):
            out[k] = 2.0 * np.sqrt(a[k] * b[k])
    elif criterion == ERROR:
        for k in range(n):
            out[k] = a[k] if sign > 0 else b[k]
    elif criterion == GINI:
        for k in range(n):
            total = a[k] + b[k]
            out[k] = 2.0 * a[k] * b[k] / total if total > 0.0 else 0.0
    elif criterion == SQUARES:
        for k in range(n):
            out[k] = -b[k] * b[k] / a[k] if a[k] > 0.0 else 0.0
    elif criterion == COST_LOSS:
        ratio, share, delta = terms.cost1 / terms.cost0, terms.cost1 / (terms.cost0 + terms.cost1), terms.delta
        for k in range(n):
            out[k] = cost_loss(a[k], b[k], ratio, share, delta)
    else:
        for k in range(n):
            out[k] = _loss(terms, a[k], b[k], sign)


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
def _lowest(value: Array) -> float:
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
    low = _lowest(value)
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
    near = _lowest(value) * (1.0 + 4.0 * ROUGH)
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
    rest = 0.0 if learn else _abstain(terms, m0, m1)
    n_polarities = 2 if _forced(criterion) else 1
    c0, c1 = _shares(terms)
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
            wa, wb = _weight(criterion, a0[k], a1[k]), _weight(criterion, b0[k], b1[k])
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
                if v < value[k] and (value[k] == np.inf or v < value[k] - _width(criterion, tie, value[k])):
                    value[k] = v
                    option[k] = n_polarities * side + q


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
    for k in range(_N):
        value[k] = np.inf
        option[k] = 0
    m = order_categories(h0, h1, criterion, learn, order)
    order[m:] = -1
    if m < 2:
        return 0
    counted = counts.shape[0] > 0
    rest = 0.0 if learn else _abstain(terms, h0[255], h1[255])
    forced = _forced(criterion)
    if forced and m <= terms.max_enumerated:
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
            if wa < min_weight or wb < min_weight or (counted and (ca < min_count or cb < min_count)):
                continue
            v = _split_loss(terms, a0, a1, b0, b1, 1, value[0] - tie - rest) + rest
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
        if wa < min_weight or wb < min_weight or (counted and (ca < min_count or right_count[j] < min_count)):
            continue
        for q in range(2 if forced else 1):
            sign = 1 - 2 * q
            v = _split_loss(terms, a0, a1, right0[j], right1[j], sign, np.inf) + rest
            if value[j] == np.inf or v < value[j] - _width(criterion, tie, value[j]):
                value[j] = v
                option[j] = q
    return 0


@kernel
def _wobble(terms: Terms, a: float, b: float, e0: float, e1: float, sign: int) -> float:
    """How far a leaf's loss can be off when its sums are off by e0 and e1."""
    v = _loss(terms, a, b, sign)
    low0 = max(a - e0, 0.0)
    low1 = b - e1 if terms.criterion == SQUARES else max(b - e1, 0.0)
    up = abs(_loss(terms, a + e0, b + e1, sign) - v)
    down = abs(_loss(terms, low0, low1, sign) - v)
    one = abs(_loss(terms, a + e0, low1, sign) - v)
    other = abs(_loss(terms, low0, b + e1, sign) - v)
    return max(max(up, down), max(one, other))


@kernel
def _step_wobble(terms: Terms, a0: float, a1: float, b0: float, b1: float, e0: float, e1: float, sign: int) -> float:
    """The same of a split that takes one step: its loss grows with every sum."""
    v = _split_loss(terms, a0, a1, b0, b1, sign, np.inf)
    up = _split_loss(terms, a0 + e0, a1 + e1, b0 + e0, b1 + e1, sign, np.inf) - v
    a0, a1, b0, b1 = max(a0 - e0, 0.0), max(a1 - e1, 0.0), max(b0 - e0, 0.0), max(b1 - e1, 0.0)
    return max(up, v - _split_loss(terms, a0, a1, b0, b1, sign, np.inf))


@kernel
def _candidate_error(terms: Terms, a0: float, a1: float, t0: float, t1: float, e0: float, e1: float) -> float:
    """How far a candidate's criterion can be off: its left side has a0, a1 of the node's t0, t1."""
    b0 = max(t0 - a0, 0.0)
    b1 = t1 - a1 if terms.criterion == SQUARES else max(t1 - a1, 0.0)
    if terms.criterion == COST_STEP:
        plus = _step_wobble(terms, a0, a1, b0, b1, e0, e1, 1)
        return max(plus, _step_wobble(terms, a0, a1, b0, b1, e0, e1, -1))
    plus = _wobble(terms, a0, a1, e0, e1, -1) + _wobble(terms, b0, b1, e0, e1, 1)
    minus = _wobble(terms, a0, a1, e0, e1, 1) + _wobble(terms, b0, b1, e0, e1, -1)
    return max(plus, minus)


@kernel
def _reach(terms: Terms, size: float, e0: float, e1: float) -> float:
    """Bounds how far errors can move any two candidates of a node towards each other; `size` is its weight."""
    if terms.criterion == COST_STEP:  # J grows with a wrong weight by e^(cx) times that, with others by no more than it
        return 2.0 * (_STEEPEST + 2.0) * (e0 + e1)
    reach = 100.0 * (e0 + e1)
    if terms.criterion == COST_LOSS:
        # With r = C+ (b + δ) / (C- (a + δ)), the loss of a leaf grows with a by at most 2 r^(1 - share), apart from
        # multiples of a. That is most where a is least, and its first e0 add up to no more than
        # 2 e0 r^(1 - share) / share with a + δ = max(e0, δ). Likewise for b, and four leaves.
        ratio, share = terms.cost1 / terms.cost0, terms.cost1 / (terms.cost0 + terms.cost1)
        most = size + terms.delta
        if e0 > 0.0:
            reach += 8.0 * e0 * (ratio * most / max(e0, terms.delta)) ** (1.0 - share) / share
        if e1 > 0.0:
            reach += 8.0 * e1 * (most / max(e1, terms.delta) / ratio) ** share / (1.0 - share)
        return reach
    return reach + 8.0 * float(np.sqrt((e0 + e1) * size))


@kernel
def _may_regroup(criterion: int, h0: Array, h1: Array, below: int, above: int, e0: float, e1: float) -> bool:
    """Whether errors could have changed which of two neighbouring categories has the larger p."""
    if above < 0:
        return True
    w, v = _weight(criterion, h0[below], h1[below]), _weight(criterion, h0[above], h1[above])
    return bool(h1[above] / v - h1[below] / w <= (e0 + e1) * (1.0 / w + 1.0 / v))


@kernel
def doubt(
    scan: Scan,
    h0: Array,
    h1: Array,
    nominal: bool,
    terms: Terms,
    e0: float,
    e1: float,
    own: int,
    own_error: float,
    band: float,
    floor_before: float,
    floor_after: float,
) -> float:
    """Infinite if errors might lift a candidate of a feature over the chosen one, else the error of candidate `own`.

    Candidates before `own` must surely lie above `floor_before`, those after it above `floor_after`; those above
    `band` are too far away to look at.
    """
    value, order = scan.value, scan.order
    if nominal and order[0] < 0:
        return np.inf  # its subsets were enumerated, and only the best of them is known
    m0, m1 = h0[255], h1[255]
    t0, t1 = (m0, m1) if terms.learn else (0.0, 0.0)
    for k in range(255):
        t0 += h0[k]
        t1 += h1[k]
    rest_error = 0.0 if terms.learn or terms.criterion == SQUARES else e0 + e1
    either_side = terms.learn and not nominal and (m0 != 0.0 or m1 != 0.0)
    a0, a1 = 0.0, 0.0
    error_of_own = 0.0
    for k in range(_N):
        code = order[k] if nominal else k
        if code < 0:
            break
        a0 += h0[code]
        a1 += h1[code]
        if value[k] > band:
            continue
        if nominal and _may_regroup(terms.criterion, h0, h1, code, order[k + 1], e0, e1):
            return np.inf
        error = _candidate_error(terms, a0, a1, t0, t1, e0, e1) + rest_error
        if either_side:  # missing values may be on the left
            error = max(error, _candidate_error(terms, a0 + m0, a1 + m1, t0, t1, e0, e1))
        if k == own:
            error_of_own = error
        elif value[k] - own_error - error <= (floor_before if k < own else floor_after):
            return np.inf
    return error_of_own


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
def fill_child(
    h0: Array,
    h1: Array,
    order: Array,
    nominal: bool,
    criterion: int,
    learn: bool,
    threshold: int,
    option: int,
    mask: int,
    child: Array,
) -> int:
    """The child of every code under a chosen candidate (`reference.make_split`); returns the polarity."""
    forced = _forced(criterion)
    n_polarities = 2 if forced else 1
    polarity = 1 - 2 * (option % n_polarities) if forced else 0
    missing_to = 2 if not learn else option // n_polarities
    on_left, on_right = 0.0, 0.0
    if nominal:
        for code in range(256):
            child[code] = 3  # not seen in this node
        if mask:
            j = 0
            for code in range(256 if learn else 255):
                if h0[code] + h1[code] > 0.0:
                    child[code] = 0 if (mask >> j) & 1 else 1
                    j += 1
        else:
            for j in range(256):
                if order[j] < 0:
                    break
                child[order[j]] = 0 if j <= threshold else 1
        missing_to = child[255] if learn else 2
    else:
        for code in range(255):
            child[code] = 0 if code <= threshold else 1
    for code in range(255):
        w = _weight(criterion, h0[code], h1[code])
        if child[code] == 0:
            on_left += w
        elif child[code] == 1:
            on_right += w
    if learn and not _weight(criterion, h0[255], h1[255]) > 0.0:  # nothing missing to learn from: the heavier side
        missing_to = 0 if 2.0 * on_left >= (on_left + on_right) * (1.0 - 1e-9) else 1
    for code in range(255):
        if child[code] == 3:
            child[code] = missing_to
    child[255] = missing_to
    return polarity


@kernel
def choice_is_doubtful(
    h0: Array,
    h1: Array,
    counts: Array,
    features: Features,
    terms: Terms,
    width: float,
    e0: float,
    e1: float,
    g: int,
    t: int,
    best: float,
    own: float,
    before: float,
    lowest: Array,
    scan: Scan,
) -> int:
    """1 if the bounds e0, e1 leave in doubt that candidate t of feature g is the one to choose, else 0.

    `scan` holds feature g's candidates when called.
    """
    criterion = terms.criterion
    t0, t1, size = 0.0, 0.0, 0.0
    for k in range(256):
        t0 += h0[0, k]
        t1 += h1[0, k]
        size += abs(h0[0, k]) + abs(h1[0, k])
    total = t0 if criterion == SQUARES else t0 + t1
    if e0 > terms.max_error * total or (criterion != SQUARES and e1 > terms.max_error * total):
        return 1
    gained = abs(before - own) if _forced(criterion) else before - own  # forced signs may be worse than no split
    if gained <= _width(criterion, width, before):
        return 1  # too little is gained to tell candidates from traces of rounding
    nominal = features.nominal
    for code in range(256):  # is a trace of weight rounding, or a row?
        matters = nominal[g] or code == 255 or code == t
        if matters and 0.0 < abs(h0[g, code]) + abs(h1[g, code]) <= e0 + e1:
            return 1
    near = _width(criterion, width, best)
    band = best + near + _reach(terms, size, e0, e1)
    none = -np.inf
    own_error = doubt(scan, h0[g], h1[g], nominal[g], terms, e0, e1, t, 0.0, band, none, none)
    for f in range(nominal.shape[0]):
        if lowest[f] > band:
            continue
        scan_feature(h0, h1, counts, features, f, terms, width, band - best + near, scan)
        at = _N if f < g else (t if f == g else -1)
        if doubt(
            scan, h0[f], h1[f], nominal[f], terms, e0, e1, at, own_error, band, best + near, own - near
        ) == np.inf:  # fmt: skip
            return 1
    return 0


@kernel
def new_scan() -> Scan:
    """Room for the candidates of a feature."""
    return Scan(np.empty(_N), np.empty(_N, np.uint8), np.empty(256, np.int64), np.empty((16, _N)))


@kernel
def tie_of(h0: Array, h1: Array, terms: Terms) -> float:
    """The absolute tie of a node; `h0` and `h1` are one feature's part of its histogram."""
    if terms.criterion == SQUARES:
        return terms.tie
    total = 0.0
    for k in range(256):
        total += h0[k] + h1[k]
    return terms.tie * total


@kernel
def scan_features(
    h0: Array, h1: Array, counts: Array, features: Features, start: int, stop: int, terms: Terms, tie: float, out: Array
) -> None:
    """The lowest criterion of each feature of a range."""
    scan = new_scan()
    criterion = terms.criterion
    # of Z only where the squares of products of weights do not underflow
    simple = criterion in (ERROR, GINI) or (criterion == Z and tie > 1e-70 * terms.tie)
    rough = criterion == COST_LOSS and terms.delta > 1e-30
    for f in range(start, stop):
        plain = counts.shape[1] == 0 and not features.nominal[f] and h0[f, 255] == 0.0 and h1[f, 255] == 0.0
        if plain and simple:
            out[f] = lowest_of_numeric(h0[f], h1[f], features.n_bins[f], criterion, terms.min_weight, scan)
            continue
        if plain and rough:
            out[f] = lowest_cost_loss(h0[f], h1[f], features.n_bins[f], terms, scan)
            continue
        scan_feature(h0, h1, counts, features, f, terms, tie, 2.0 * tie, scan)
        out[f] = _lowest(scan.value)


@kernel
def choose(
    h0: Array,
    h1: Array,
    counts: Array,
    features: Features,
    terms: Terms,
    tie: float,
    lowest: Array,
    e0: float,
    e1: float,
    child: Array,
    found: Array,
    after_before: Array,
) -> None:
    """The first candidate that ties with the best: ``found = feature, threshold, doubtful, polarity``.

    `lowest` is what `scan_features` found. An error beyond `terms.max_error` makes any choice doubtful, and so does a
    candidate which the bounds e0, e1 on the errors of sums do not rule out: an earlier one must surely be worse than
    the best by more than the tie, a later one must not possibly be better than the chosen by more than the tie.
    The features that matter are scanned a second time, which is cheaper than keeping the candidates of all of them.
    """
    criterion = terms.criterion
    best = np.inf
    for f in range(lowest.shape[0]):
        best = min(best, lowest[f])
    found[0] = -1
    found[2] = 0
    if best == np.inf:
        return
    near = _width(criterion, tie, best)
    g, t = 0, 0
    while lowest[g] > best + near:
        g += 1
    scan = new_scan()
    mask = scan_feature(h0, h1, counts, features, g, terms, tie, 2.0 * tie, scan)
    while scan.value[t] > best + near:
        t += 1
    own = scan.value[t]
    t0, t1 = 0.0, 0.0
    for k in range(256):
        t0 += h0[0, k]
        t1 += h1[0, k]
    before = _before(terms, t0, t1)
    after_before[0], after_before[1] = own, before
    nominal = features.nominal[g]
    found[0], found[1] = g, -1 if nominal else t
    found[3] = fill_child(h0[g], h1[g], scan.order, nominal, criterion, terms.learn, t, scan.option[t], mask, child)
    if e0 == 0.0 and e1 == 0.0:
        return
    found[2] = choice_is_doubtful(
        h0, h1, counts, features, terms, tie, e0, e1, g, t, best, own, before, lowest, scan
    )  # fmt: skip


@kernel
def search(
    h0: Array,
    h1: Array,
    counts: Array,
    features: Features,
    terms: Terms,
    e0: float,
    e1: float,
    child: Array,
    found: Array,
    after_before: Array,
) -> None:
    """`scan_features` and `choose`."""
    n = features.nominal.shape[0]
    lowest = np.empty(n)
    tie = tie_of(h0[0], h1[0], terms)
    scan_features(h0, h1, counts, features, 0, n, terms, tie, lowest)
    choose(h0, h1, counts, features, terms, tie, lowest, e0, e1, child, found, after_before)
