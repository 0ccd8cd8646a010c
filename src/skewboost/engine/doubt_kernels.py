"""Whether rounding could have changed the choice of a split, given bounds on the errors of a derived histogram."""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import LONGEST_STEP, Array
from skewboost.engine.criterion_kernels import (
    COST_LOSS,
    COST_STEP,
    N_THRESHOLDS,
    SQUARES,
    Terms,
    is_forced,
    leaf_loss,
    split_loss,
    tie_width,
    weight_of,
)
from skewboost.engine.jit import kernel
from skewboost.engine.scan_kernels import Features, Scan, scan_feature

_STEEPEST = float(np.exp(LONGEST_STEP))  # how many times a wrong weight can count after a step


@kernel
def _wobble(terms: Terms, a: float, b: float, e0: float, e1: float, sign: int) -> float:
    """How far a leaf's loss can be off when its sums are off by e0 and e1."""
    v = leaf_loss(terms, a, b, sign)
    low0 = max(a - e0, 0.0)
    low1 = b - e1 if terms.criterion == SQUARES else max(b - e1, 0.0)
    up = abs(leaf_loss(terms, a + e0, b + e1, sign) - v)
    down = abs(leaf_loss(terms, low0, low1, sign) - v)
    one = abs(leaf_loss(terms, a + e0, low1, sign) - v)
    other = abs(leaf_loss(terms, low0, b + e1, sign) - v)
    return max(max(up, down), max(one, other))


@kernel
def _step_wobble(terms: Terms, a0: float, a1: float, b0: float, b1: float, e0: float, e1: float, sign: int) -> float:
    """The same of a split that takes one step: its loss grows with every sum."""
    v = split_loss(terms, a0, a1, b0, b1, sign, np.inf)
    up = split_loss(terms, a0 + e0, a1 + e1, b0 + e0, b1 + e1, sign, np.inf) - v
    a0, a1, b0, b1 = max(a0 - e0, 0.0), max(a1 - e1, 0.0), max(b0 - e0, 0.0), max(b1 - e1, 0.0)
    return max(up, v - split_loss(terms, a0, a1, b0, b1, sign, np.inf))


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
def _lowest_beyond(criterion: int, h0: Array, h1: Array, order: Array, e0: float, e1: float) -> Array:
    """How low the p of any category from each place in the order on could be, given the errors."""
    lowest = np.full(order.shape[0] + 1, np.inf)
    for k in range(order.shape[0] - 1, -1, -1):
        lowest[k] = lowest[k + 1]
        if order[k] >= 0:
            p, off = _share(criterion, h0[order[k]], h1[order[k]], e0, e1)
            lowest[k] = min(lowest[k], p - off)
    return lowest


@kernel
def _share(criterion: int, a: float, b: float, e0: float, e1: float) -> tuple[float, float]:
    """What categories are sorted by, p or the mean response, and how far errors can have moved it."""
    w = weight_of(criterion, a, b)
    p = b / w
    return p, (e1 + abs(p) * e0 if criterion == SQUARES else e0 + e1) / w


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
    highest = -np.inf  # that the p of any category up to here could be
    lowest_beyond = _lowest_beyond(terms.criterion, h0, h1, order, e0, e1) if nominal else np.empty(0)
    for k in range(N_THRESHOLDS):
        code = order[k] if nominal else k
        if code < 0:
            break
        a0 += h0[code]
        a1 += h1[code]
        if nominal:
            p, off = _share(terms.criterion, h0[code], h1[code], e0, e1)
            highest = max(highest, p + off)
        if value[k] > band:
            continue
        if nominal and highest >= lowest_beyond[k + 1]:  # errors could have changed which categories are on the left
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
    gained = abs(before - own) if is_forced(criterion) else before - own  # forced signs may be worse than no split
    if gained <= tie_width(criterion, width, before):
        return 1  # too little is gained to tell candidates from traces of rounding
    nominal = features.nominal
    for code in range(256):  # is a trace of weight rounding, or a row?
        matters = nominal[g] or code == 255 or code == t
        if matters and 0.0 < abs(h0[g, code]) + abs(h1[g, code]) <= e0 + e1:
            return 1
    near = tie_width(criterion, width, best)
    band = best + near + _reach(terms, size, e0, e1)
    none = -np.inf
    own_error = doubt(scan, h0[g], h1[g], nominal[g], terms, e0, e1, t, 0.0, band, none, none)
    for f in range(nominal.shape[0]):
        if lowest[f] > band:
            continue
        scan_feature(h0, h1, counts, features, f, terms, width, band - best + near, scan)
        at = N_THRESHOLDS if f < g else (t if f == g else -1)
        if doubt(
            scan, h0[f], h1[f], nominal[f], terms, e0, e1, at, own_error, band, best + near, own - near
        ) == np.inf:  # fmt: skip
            return 1
    return 0
