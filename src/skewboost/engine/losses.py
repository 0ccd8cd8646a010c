"""The criteria of splits in NumPy, which specify `criterion.h` and `step.h` of the native core."""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import LONGEST_STEP, OF_CLASSES, ZBAR_PRINTED, Request
from skewboost.typing import Array


def leaf_loss(
    criterion: str, a: Array, b: Array, sign: int, costs: tuple[float, float] = (1.0, 1.0), delta: float = 0.0
) -> Array:
    """Return the contribution of a leaf to the criterion.

    `a` and `b` are the weights of its negatives and positives (for ``squares``: Σw and Σwz, the constant Σwz² is left
    out, and `delta` is the L2 penalty). `sign` is the label that criteria with forced signs assign to the leaf. With
    ``cost_step`` both leaves take the same step (`split_loss`), and a single leaf takes none.
    """
    if criterion == "error":
        return np.asarray(a if sign > 0 else b)
    if criterion == "majority":
        return np.minimum(a, b)
    if criterion == "z":
        return np.asarray(2 * np.sqrt(a * b))
    total = a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        if criterion == "gini":
            return np.where(total > 0, 2 * a * b / total, 0.0)
        if criterion == "entropy":
            return np.where(a > 0, a * np.log(total / a), 0.0) + np.where(b > 0, b * np.log(total / b), 0.0)
        if criterion == "zbar":
            return np.where(b >= a if sign > 0 else a >= b, 2 * np.sqrt(a * b), total)
        if criterion == ZBAR_PRINTED:
            # with |½ ln(W+ / W-)|, whatever the sign: infinite if a side is pure and has the sign of the other class
            opposed = np.where(a * b > 0, (a * a + b * b) / np.sqrt(a * b), np.where(total > 0, np.inf, 0.0))
            return np.where(b >= a if sign > 0 else a >= b, 2 * np.sqrt(a * b), opposed)
        if criterion == "cost_loss":
            # g = ln((b + δ) C+ / ((a + δ) C-)) / (C+ + C-), and then b e^(-C+ g) + a e^(C- g)
            g = np.log(b + delta) - np.log(a + delta) + np.log(costs[1]) - np.log(costs[0])
            g = g / (costs[0] + costs[1])
            of_positives = np.where(b > 0, np.exp(np.log(b) - costs[1] * g), 0.0)
            return of_positives + np.where(a > 0, np.exp(np.log(a) + costs[0] * g), 0.0)
        if criterion == "cost_step":
            return np.asarray(total)
        return np.where(a > 0, -b * b / (a + delta), 0.0)


def abstain_loss(criterion: str, a: Array, b: Array) -> Array:
    """Return the contribution of rows that abstain: the loss of a leaf with p = 1/2 (of mean 0 for ``squares``).

    For the criteria with costs it is the weight of the rows, which is the loss without a vote.
    """
    if criterion == "squares":
        return np.zeros_like(a)
    if criterion in ("cost_loss", "cost_step"):
        return np.asarray(a + b)
    half = (a + b) / 2
    return leaf_loss(criterion, half, half, 1)


def class_loss(criterion: str, sums: Array) -> Array:
    """Return the contribution of a leaf with more than two classes, given ``[class, ...]`` sums."""
    total = sums.sum(axis=0)
    if criterion == "class_error":
        return np.asarray(total - sums.max(axis=0))
    # exactly zero for a pure leaf, without a rounding error
    mixed = np.square(total) - np.square(sums).sum(axis=0)
    return np.asarray(np.divide(mixed, total, out=np.zeros_like(total), where=total > 0))


def planes_of_labels(planes: Array) -> list[Array]:
    """Return the two planes of each label."""
    return [planes[k : k + 2] for k in range(0, len(planes), 2)]


def one_versus_rest(criterion: str, planes: Array) -> list[Array]:
    """Return the weights without and with each label, or outside and inside each class."""
    if criterion not in OF_CLASSES:
        return planes_of_labels(planes)
    total = planes.sum(axis=0)
    return [np.array((np.maximum(total - own, 0.0), own)) for own in planes]


def sums_loss(
    criterion: str, sums: Array, sign: int, costs: tuple[float, float] = (1.0, 1.0), delta: float = 0.0
) -> Array:
    """Return the contribution of a leaf, given its ``[plane, ...]`` sums; it is summed over the labels."""
    if criterion in OF_CLASSES:
        return class_loss(criterion, sums)
    return np.asarray(sum(leaf_loss(criterion, a, b, sign, costs, delta) for a, b in planes_of_labels(sums)))


def silent_loss(criterion: str, sums: Array) -> Array:
    """Return `abstain_loss` for ``[plane, ...]`` sums; with more than two classes it is half the weight."""
    if criterion in OF_CLASSES:
        return np.asarray(sums.sum(axis=0) / 2)
    return np.asarray(sum(abstain_loss(criterion, a, b) for a, b in planes_of_labels(sums)))


def split_loss(request: Request, left: Array, right: Array, polarity: int) -> Array:
    """Return the criterion of a split, given the ``[plane, ...]`` sums of its sides."""
    if request.criterion == "cost_step":
        no, yes = (left, right) if polarity > 0 else (right, left)
        return step_loss(no, yes, request.costs, step_length(no, yes, request.costs))
    criterion, costs, delta = request.criterion, request.costs, request.delta
    on_left = sums_loss(criterion, left, -polarity, costs, delta)
    return on_left + sums_loss(criterion, right, polarity, costs, delta)


def step_loss(no: Array, yes: Array, costs: tuple[float, float], alpha: Array) -> Array:
    """Return the loss J(α) = Σ wrong·e^(Cα) + right·e^(-Cα) after a step α, summed over the classes.

    `no` and `yes` are the class weights ``[plane, ...]`` of the rows that get the label -1 and +1.
    """
    e0, e1 = np.exp(costs[0] * alpha), np.exp(costs[1] * alpha)
    return np.asarray(yes[0] * e0 + no[0] / e0 + no[1] * e1 + yes[1] / e1)


def step_length(no: Array, yes: Array, costs: tuple[float, float]) -> Array:
    """Return the step 0 <= α <= `LONGEST_STEP` / max(costs) that minimises the convex J.

    Thirty bisections are followed by one Newton step, which squares the remaining relative error of 1e-9 and reaches
    the ends of the interval.
    """
    c0, c1 = costs

    def derivatives(alpha: Array) -> tuple[Array, Array]:
        e0, e1 = np.exp(c0 * alpha), np.exp(c1 * alpha)
        slope = c0 * (yes[0] * e0 - no[0] / e0) + c1 * (no[1] * e1 - yes[1] / e1)
        return slope, c0**2 * (yes[0] * e0 + no[0] / e0) + c1**2 * (no[1] * e1 + yes[1] / e1)

    longest = LONGEST_STEP / max(costs)
    low, high = np.zeros(np.shape(no[0])), np.full(np.shape(no[0]), longest)
    for _ in range(30):
        middle = (low + high) / 2
        rises = derivatives(middle)[0] >= 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    slope, curvature = derivatives(low)
    step = np.divide(slope, curvature, out=np.zeros_like(low), where=curvature > 0)
    return np.asarray(np.clip(low - step, 0.0, longest))
