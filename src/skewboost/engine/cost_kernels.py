"""The exponential loss with costs, in compiled loops: of a leaf, and of a split whose two sides take one step.

A split tells the rows of one side that they are negative and those of the other that they are positive. Of each class
some weight is wrong then and some is right, and after a step x the loss is (`reference.step_loss`)
``J(x) = wrong0 e^(c0 x) + right0 e^(-c0 x) + wrong1 e^(c1 x) + right1 e^(-c1 x)``, with costs c0, c1 whose larger is 1.

Finding the lowest J takes a few iterations, too many for every candidate. But J, J' and J'' at any x are sums of
products, and say how low J can be elsewhere: as no rate exceeds 1, |J'''| <= J'', so ``J''(x + t) >= J''(x) e^-|t|``.
Integrated twice, with s = |J'|/J'' < 1, J falls from x by at most ``J'' (s + (1 - s) ln(1 - s))``, whose series is
``J'' (s²/2 + s³/6 + s⁴/12 + …)``; being convex, also by at most |J'| times the room there is. At no step, and at one
that suits the best candidate, these bounds rule out nearly all the others.
"""

from __future__ import annotations

import numpy as np

from skewboost.engine.boundary import LONGEST_STEP, Array
from skewboost.engine.jit import kernel

ROUGH = 1e-5
_PRECISE = 1e-15  # a share of J that does not matter


@kernel
def cost_loss(a: float, b: float, ratio: float, share: float, delta: float) -> float:
    """`reference.leaf_loss` of ``cost_loss``, with `ratio` C+/C- and `share` C+/(C+ + C-).

    With r = (b + δ) C+ / ((a + δ) C-) it is ``b r^-share + a r^(1 - share)``, a single power.
    """
    x, y = a + delta, b + delta
    if not (x > 0.0 and y > 0.0):
        return 0.0  # of one class only
    if x > 1e-280 and y > 1e-280:
        r = ratio * (y / x)
        return float(np.exp(-share * np.log(r)) * (b + a * r))
    r = np.log(ratio) + np.log(y) - np.log(x)  # weights of next to nothing, in logarithms
    of_positives = np.exp(np.log(b) - share * r) if b > 0.0 else 0.0
    return float(of_positives + np.exp(np.log(a) + (1.0 - share) * r)) if a > 0.0 else of_positives


@kernel
def rough_cost_losses(
    a: Array, b: Array, ratio: float, share: float, delta: float, bits: Array, exponents: Array, out: Array
) -> None:
    """`cost_loss` of many leaves to a relative error of `ROUGH`, in loops that vectorise; δ > 0.

    A power is ``2^(-share log2 r)``. The logarithm is the exponent of a floating-point number and a short series of its
    mantissa m in (m - 1)/(m + 1); the exponential likewise.
    """
    n = a.shape[0]
    as_bits = bits.view(np.int64)
    for k in range(n):
        bits[k] = ratio * ((b[k] + delta) / (a[k] + delta))
        out[k] = bits[k]
    for k in range(n):
        exponents[k] = np.float64((as_bits[k] >> 52) - 1023)
        as_bits[k] = (as_bits[k] & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000
    for k in range(n):
        t = (bits[k] - 1.0) / (bits[k] + 1.0)
        q = t * t
        log2 = exponents[k] + 2.885390081777927 * t * (1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9)))))
        x = -share * log2
        whole = np.floor(x + 0.5)
        exponents[k] = whole
        f = 0.6931471805599453 * (x - whole)
        bits[k] = 1.0 + f * (1.0 + f * (1 / 2 + f * (1 / 6 + f * (1 / 24 + f * (1 / 120 + f * (1 / 720))))))
    for k in range(n):
        as_bits[k] += np.int64(exponents[k]) << 52
    for k in range(n):
        out[k] = bits[k] * (b[k] + a[k] * out[k])


@kernel
def _gap(slope: float, curvature: float, room: float) -> float:
    """How far J can fall within `room`; all terms of the series from the fourth on are at most s⁵/4."""
    steepness = abs(slope)
    s = steepness / curvature
    gap = steepness * s * (1 / 2 + s * (1 / 6 + s * (1 / 12 + s * (1 / 4))))
    return min(gap, steepness * room) if s < 1.0 else steepness * room


@kernel
def step(
    wrong0: float, wrong1: float, right0: float, right1: float, c0: float, c1: float, x: float, enough: float
) -> tuple[float, float]:
    """The lowest J and the step to it, from x on; some other J not below `enough` if the lowest is not either.

    Newton's iteration on ln(rising part of J' / falling part), which is nearly straight: with equal costs it is.
    """
    low, high = -1.0, LONGEST_STEP + 1.0  # the minimum lies between; both ends of the interval can still be tried
    value = 0.0
    for _ in range(100):
        e0, e1 = np.exp(c0 * x), np.exp(c1 * x)
        up0, up1, down0, down1 = wrong0 * e0, wrong1 * e1, right0 / e0, right1 / e1
        value = up0 + up1 + down0 + down1
        rising, falling = c0 * up0 + c1 * up1, c0 * down0 + c1 * down1
        bend_up, bend_down = c0 * c0 * up0 + c1 * c1 * up1, c0 * c0 * down0 + c1 * c1 * down1
        slope = rising - falling
        if slope < 0.0:
            low = x
        else:
            high = x
        room = min(high, LONGEST_STEP) - x if slope < 0.0 else x - max(low, 0.0)
        gap = _gap(slope, bend_up + bend_down, room)
        if gap <= _PRECISE * value or value - gap >= enough:
            break
        if rising > 0.0 and falling > 0.0:
            x -= np.log(rising / falling) / (bend_up / rising + bend_down / falling)
            x = min(max(x, 0.0), LONGEST_STEP)
        else:
            x = LONGEST_STEP if slope < 0.0 else 0.0
        if not low < x < high:
            x = 0.5 * (max(low, 0.0) + min(high, LONGEST_STEP))
    return value, x


@kernel
def bound_steps(
    wrong0: Array,
    wrong1: Array,
    right0: Array,
    right1: Array,
    closed: Array,
    c0: float,
    c1: float,
    x: float,
    value: Array,
    bound: Array,
) -> None:
    """J after a step x, and raise `bound` to what it says of the lowest J. The loop vectorises."""
    e0, e1 = np.exp(c0 * x), np.exp(c1 * x)
    f0, f1 = 1.0 / e0, 1.0 / e1
    for k in range(closed.shape[0]):
        up0, up1, down0, down1 = wrong0[k] * e0, wrong1[k] * e1, right0[k] * f0, right1[k] * f1
        slope = c0 * (up0 - down0) + c1 * (up1 - down1)
        curvature = c0 * c0 * (up0 + down0) + c1 * c1 * (up1 + down1)
        value[k] = up0 + up1 + down0 + down1 + closed[k]
        bound[k] = max(bound[k], value[k] - _gap(slope, curvature, LONGEST_STEP - x if slope < 0.0 else x))


@kernel
def step_losses(
    a0: Array,
    a1: Array,
    b0: Array,
    b1: Array,
    closed: Array,
    c0: float,
    c1: float,
    lowest: float,
    margin: float,
    tie: float,
    scratch: Array,
    out: Array,
    minus: Array,
) -> float:
    """The lowest J of splits with a0, a1 on the left, b0, b1 on the right, for the better polarity: is it -1?

    Candidates that are `closed` (infinity, else 0) are left out. Returns the lowest of all, or `lowest` if it is less;
    of candidates that are beyond that by more than `margin`, `out` is just some number that is beyond it too.
    """
    n = closed.shape[0]
    wrong0, wrong1, right0, right1 = scratch[0, :n], scratch[1, :n], scratch[2, :n], scratch[3, :n]
    bound = scratch[4, :n]
    for k in range(n):  # with one of the polarities J rises from the start: nothing is better than no step
        flip = c0 * (b0[k] - a0[k]) + c1 * (a1[k] - b1[k]) > 0.0
        wrong0[k], right0[k] = (a0[k], b0[k]) if flip else (b0[k], a0[k])
        wrong1[k], right1[k] = (b1[k], a1[k]) if flip else (a1[k], b1[k])
        minus[k] = 1.0 if flip else 0.0
    bound[:] = 0.0
    bound_steps(wrong0, wrong1, right0, right1, closed, c0, c1, 0.0, out, bound)
    x = 0.25
    for _ in range(2):  # the best candidate for a step, and the best step for that candidate
        bound_steps(wrong0, wrong1, right0, right1, closed, c0, c1, x, out, bound)
        k = int(np.argmin(out))
        if closed[k] > 0.0:
            return lowest
        value, x = step(wrong0[k], wrong1[k], right0[k], right1[k], c0, c1, x, np.inf)
        lowest = min(lowest, value)
    bound_steps(wrong0, wrong1, right0, right1, closed, c0, c1, x, out, bound)
    for k in range(n):
        if bound[k] < lowest + margin:
            out[k] = step(wrong0[k], wrong1[k], right0[k], right1[k], c0, c1, x, lowest + margin)[0]
            lowest = min(lowest, out[k])
        total = wrong0[k] + wrong1[k] + right0[k] + right1[k]
        if minus[k] and out[k] >= total - tie:
            out[k], minus[k] = total + closed[k], 0.0
    return lowest
