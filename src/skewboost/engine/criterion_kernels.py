"""What the sides of a split add to a criterion, in compiled loops: `reference.leaf_loss` and its like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.cost_kernels import cost_loss, step
from skewboost.engine.jit import kernel

# The order of `boundary.CRITERIA`.
ERROR, MAJORITY, GINI, ENTROPY, Z, ZBAR, SQUARES, COST_LOSS, COST_STEP = range(9)
N_THRESHOLDS = 255  # per feature; code 255 is missing


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


@kernel
def is_forced(criterion: int) -> bool:
    """Whether it is one of `boundary.FORCED`."""
    return criterion in (ERROR, ZBAR, COST_STEP)


@kernel
def leaf_loss(terms: Terms, a: float, b: float, sign: int) -> float:
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
def abstain_loss(terms: Terms, a: float, b: float) -> float:
    """`reference.abstain_loss`."""
    if terms.criterion in (COST_LOSS, COST_STEP):
        return a + b
    half = 0.0 if terms.criterion == SQUARES else 0.5 * (a + b)
    return leaf_loss(terms, half, half, 1)


@kernel
def cost_shares(terms: Terms) -> tuple[float, float]:
    """The costs as shares of the larger one."""
    larger = max(terms.cost0, terms.cost1)
    return terms.cost0 / larger, terms.cost1 / larger


@kernel
def split_loss(terms: Terms, a0: float, a1: float, b0: float, b1: float, sign: int, enough: float) -> float:
    """`reference.split_loss`; where it is not below `enough`, any number that is not either will do."""
    if terms.criterion == COST_STEP:
        c0, c1 = cost_shares(terms)
        if sign > 0:
            return step(b0, a1, a0, b1, c0, c1, 0.0, enough)[0]
        return step(a0, b1, b0, a1, c0, c1, 0.0, enough)[0]
    return leaf_loss(terms, a0, a1, -sign) + leaf_loss(terms, b0, b1, sign)


@kernel
def loss_before(terms: Terms, a: float, b: float) -> float:
    """The criterion without a split, which forces no signs."""
    if terms.criterion == ERROR:
        return min(a, b)
    return 2.0 * float(np.sqrt(a * b)) if terms.criterion == ZBAR else leaf_loss(terms, a, b, 1)


@kernel
def weight_of(criterion: int, a: float, b: float) -> float:
    """What a side weighs: of responses the first plane, else both."""
    return a if criterion == SQUARES else a + b


@kernel
def tie_width(criterion: int, tie: float, value: float) -> float:
    """`reference.tie_width`; the tie is absolute, for squares a share of the value."""
    return tie * abs(value) if criterion == SQUARES else tie


@kernel
def losses(terms: Terms, a: Array, b: Array, sign: int, out: Array) -> None:
    """`leaf_loss` of many leaves; the choice of formula is outside the loop so that the loop can be vectorised."""
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
            out[k] = leaf_loss(terms, a[k], b[k], sign)
