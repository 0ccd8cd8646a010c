"""Tests of bounds on rates, from counts on held-out rows.

Each function returns a p-value: the probability of counts as good as these, or better, if the rate were at the bound or
on its wrong side. P-values are exact for proportions of independent rows, and valid (never too small) for the others.

References
----------
.. [clopper1934] C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
   binomial", Biometrika 26 (1934) 404-413.
.. [waudby2024] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the
   Royal Statistical Society B 86 (2024) 1-27.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

from skewboost.typing import Array

N_BETS = 10


def at_least(successes: Any, trials: Any, bound: Any) -> Any:
    """``P(Bin(trials, bound) >= successes)``: the p-value of "the rate is less than the bound" ([clopper1934]_)."""
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    p = bdtrc(np.maximum(k, 1.0) - 1.0, np.maximum(n, 1.0).astype(np.int64), bound)
    return np.where((n > 0) & (k > 0), p, 1.0)[()]


def at_most(successes: Any, trials: Any, bound: float) -> Any:
    """``P(Bin(trials, bound) <= successes)``: the p-value of "the rate is more than the bound" ([clopper1934]_)."""
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    p = bdtr(k, np.maximum(n, 1.0).astype(np.int64), bound)
    return np.where(n > 0, p, 1.0)[()]


def product_at_least(first: tuple[Any, Any], second: tuple[Any, Any], bound: float, n_steps: int = 50) -> Any:
    """The p-value of "the product of two rates, each (successes, trials), is less than the bound".

    If it is, the rates a and b lie below some point of the curve a b = bound. At each point the p-values of the two
    independent counts are combined by Fisher's method: ``q (1 - ln q)`` for their product q. The result is the largest
    over the curve. On the stretch between two grid points the rates are rounded so that the p-value can only grow.
    """
    if bound >= 1.0:
        return np.ones(np.broadcast(*(np.asarray(v) for v in (*first, *second))).shape)[()]
    edges = np.exp(np.linspace(math.log(bound), 0.0, n_steps + 1))
    # on a stretch of the curve a is at most its upper end, and b at most that of its lower end
    along = [np.asarray(v, dtype=np.float64)[..., None] for v in (*first, *second)]
    p = at_least(along[0], along[1], edges[1:]) * at_least(along[2], along[3], np.minimum(1.0, bound / edges[:-1]))
    q = np.maximum(p, 1e-300)
    return np.minimum(1.0, q * (1.0 - np.log(q))).max(axis=-1)[()]


def mean_at_most(counts: Array, values: Array, bound: float) -> Any:
    """The p-value of "the mean is more than the bound", for a variable with ``counts[k]`` observations of `values[k]`.

    The counts may have further axes after the first. With two distinct values the mean is a proportion. Three values
    are treated exactly too, and more by betting. Sample means above the bound have the p-value 1.
    """
    counts, (values, merged) = np.asarray(counts, dtype=np.float64), np.unique(values, return_inverse=True)
    together = np.zeros((len(values), *counts.shape[1:]))
    np.add.at(together, merged, counts)
    if bound >= values[-1]:
        return np.zeros(counts.shape[1:])[()]
    if bound <= values[0]:
        return np.ones(counts.shape[1:])[()]
    if len(values) == 2:
        return at_most(together[1], together.sum(axis=0), (bound - values[0]) / (values[1] - values[0]))
    test = _three_values if len(values) == 3 else _betting
    flat = together.reshape(len(values), -1)
    hopeful = values @ flat <= bound * flat.sum(axis=0)
    p = np.ones(flat.shape[1])
    p[hopeful] = [test(column, values, bound) for column in flat[:, hopeful].T]
    return p.reshape(counts.shape[1:])[()]


def _three_values(counts: Array, values: Array, bound: float, n_steps: int = 50) -> float:
    """The largest probability of such a low sum over all distributions of three values whose mean is the bound.

    The probabilities (a, b) of the middle and of the highest value lie on a line, and the result decreases in both. So
    on each stretch of the line it is evaluated at the smallest a and the smallest b.
    """
    n = round(counts.sum())
    middle, high = values[1:] - values[0]
    total = middle * counts[1] + high * counts[2] + 1e-9 * high
    edges = np.linspace(
        max(0.0, (bound - values[0] - middle) / (high - middle)), (bound - values[0]) / high, n_steps + 1
    )
    b, a = edges[:-1, None], (bound - values[0] - high * edges[1:, None]) / middle
    k = np.arange(min(n, math.floor(total / high)) + 1)[None, :]  # the number of highest values
    of_high = np.exp(
        gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, b) + xlog1py(n - k, -np.minimum(b, 1 - 1e-15))
    )
    of_middle = np.minimum(np.floor((total - high * k) / middle), n - k)
    p_middle = np.clip(a / (1.0 - b), 0.0, 1.0)
    below = np.where(of_middle >= n - k, 1.0, bdtr(of_middle, np.maximum(n - k, 1), p_middle))
    return float(min(1.0, (of_high * below).sum(axis=1).max()))


def _betting(counts: Array, values: Array, bound: float) -> float:
    """A p-value by betting ([waudby2024]_).

    If the mean is not below the bound, the capital ``K(λ) = Π (1 + λ (bound - x))`` of a gambler who bets on smaller
    values exceeds 1/p with a probability of at most p. The capitals of several λ are averaged.
    """
    stakes = np.linspace(0.05, 0.95, N_BETS) / (values[-1] - bound)  # with 1, a single row could lose everything
    log_capital = np.log1p(stakes[:, None] * (bound - values)) @ counts
    top = log_capital.max()
    return float(min(1.0, np.exp(-top) / np.mean(np.exp(log_capital - top))))


def perfect_needed(bound: float, delta: float) -> float:
    """The number of trials, all of them successes, that show a rate of at least the bound; inf if no number does."""
    if bound >= 1.0:
        return math.inf
    return max(1.0, math.ceil(math.log(delta) / math.log(bound) - 1e-9)) if bound > 0 else 1.0
