"""Means with standard errors, and paired differences, over folds or repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error.

    Attributes
    ----------
    mean : float
        The mean, NaN if there is none.
    error : float
        The standard error of the mean, NaN if it is unknown, as for a single run.
    n : int
        The number of values.
    """

    mean: float
    error: float = math.nan
    n: int = 1

    @property
    def p_value(self) -> float:
        """Two-sided, of the hypothesis that the mean is 0, by Student's t distribution."""
        if self.n < 2 or not math.isfinite(self.error):
            return math.nan
        if self.error == 0.0:
            return 0.0 if self.mean else 1.0
        return float(2.0 * stats.t.sf(abs(self.mean / self.error), self.n - 1))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval of the mean."""
        if self.n < 2:
            return (math.nan, math.nan)
        half = float(stats.t.ppf(0.5 + confidence / 2.0, self.n - 1)) * self.error
        return (self.mean - half, self.mean + half)

    def text(self, digits: int = 3) -> str:
        """Return the mean, and the standard error if it is known."""
        if not math.isfinite(self.mean):
            return "–"
        error = f" ± {self.error:.{digits}f}" if math.isfinite(self.error) else ""
        return f"{self.mean:.{digits}f}{error}"


def estimate(values: Sequence[float] | Any, test_to_train: float = 0.0) -> Estimate:
    """Return the mean of values without those that are NaN, and its standard error.

    Parameters
    ----------
    values : sequence of float
        One value per fold or repetition.
    test_to_train : float, default=0
        The number of test rows per training row if the values come from folds of one data set, whose training rows
        overlap: the variance of the mean is :math:`(1/n + n_{test}/n_{train}) s^2` [nadeau2003]_. 0 means independent
        values.

    Returns
    -------
    Estimate
        The mean.

    References
    ----------
    .. [nadeau2003] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from skewboost_reproductions.estimates import estimate
    >>> estimate([0.5, 0.7]).text(2)
    '0.60 ± 0.10'
    """
    found = np.asarray(values, dtype=np.float64).ravel()
    found = found[np.isfinite(found)]
    n = len(found)
    if n == 0:
        return Estimate(math.nan, math.nan, 0)
    if n == 1:
        return Estimate(float(found[0]))
    return Estimate(float(found.mean()), float(found.std(ddof=1)) * math.sqrt(1.0 / n + test_to_train), n)


def difference(of: Any, less: Any, test_to_train: float = 0.0) -> Estimate:
    """Return the mean of the paired differences ``of - less``, as `estimate` does."""
    return estimate(np.asarray(of, dtype=np.float64) - np.asarray(less, dtype=np.float64), test_to_train)


def average(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates, such as those of several data sets.

    Examples
    --------
    >>> from skewboost_reproductions.estimates import Estimate, average
    >>> average([Estimate(0.5, 0.3, 10), Estimate(0.7, 0.4, 10)]).text(2)
    '0.60 ± 0.25'
    """
    k = len(estimates)
    error = math.sqrt(sum(e.error**2 for e in estimates)) / k
    return Estimate(sum(e.mean for e in estimates) / k, error, sum(e.n for e in estimates) - k + 1)
