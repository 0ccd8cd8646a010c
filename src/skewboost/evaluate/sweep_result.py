"""The results of sweeps: measures at several levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.staged_curves import over_fits
from skewboost.metrics.measures import find_measure
from skewboost.typing import Array


@dataclass(frozen=True)
class Sweep:
    """Measures of several estimators on the same folds at several levels.

    Attributes
    ----------
    what : str
        What was swept, as figures label it.
    levels : ndarray of shape (n_levels,)
        Its values.
    estimators, measures : tuple of str
        The names that `values` takes.
    n_fits : int
        The number of fits per level and estimator.
    pos_label : label
        The positive class.
    """

    what: str
    levels: Array
    estimators: tuple[str, ...]
    measures: tuple[str, ...]
    n_fits: int
    pos_label: Any
    _values: dict[tuple[str, str], Array] = field(repr=False, default_factory=dict)

    def values(self, measure: str, estimator: str | None = None) -> Array:
        """Return values on the test parts, one row per level and one column per fit.

        `estimator` may be omitted if there is only one.
        """
        if estimator is None and len(self.estimators) == 1:
            estimator = self.estimators[0]
        if estimator not in self.estimators:
            raise InputError(f"estimator={estimator!r} must be one of {', '.join(map(repr, self.estimators))}.")
        return self._values[estimator, find_measure(measure, among=self.measures).name]

    def mean(self, measure: str, estimator: str | None = None) -> Array:
        """Return the mean over fits at each level, without fits where the measure is NaN."""
        return over_fits(self.values(measure, estimator), axis=1)[0]

    def spread(self, measure: str, estimator: str | None = None) -> Array:
        """Return the standard deviation over fits at each level."""
        return over_fits(self.values(measure, estimator), axis=1)[1]

    def as_frame(self) -> Any:
        """Return a tidy table with a row per estimator, level, fit and measure."""
        import pandas as pd

        tables = []
        for (estimator, measure), values in self._values.items():
            level, fit = np.meshgrid(self.levels, np.arange(values.shape[1]), indexing="ij")
            columns = {"level": level.ravel(), "fit": fit.ravel(), "measure": measure, "value": values.ravel()}
            tables.append(pd.DataFrame({"estimator": estimator, **columns}))
        return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True)
class CostSweep(Sweep):
    """Measures of one estimator at several costs, or values of another parameter, also from pooled counts.

    Attributes
    ----------
    param : str
        The parameter that was set, or how costs were passed.
    """

    param: str = ""
    _pooled: dict[str, Array] = field(repr=False, default_factory=dict)

    @property
    def costs(self) -> Array:
        """The levels."""
        return self.levels

    def pooled(self, measure: str) -> Array:
        """Return measures of the counts of all test parts together, one number per level.

        Pooled counts avoid rates with the denominator 0 in small folds.
        """
        return self._pooled[find_measure(measure, among=self._pooled).name]

    def best(self, measure: str = "f1") -> float:
        """Return the level with the best pooled measure, the first one in a tie."""
        values = find_measure(measure, among=self._pooled).sign * self.pooled(measure)
        if np.isnan(values).all():
            raise InputError(f"{measure} is NaN at every level.", "Choose another measure.")
        return float(self.levels[np.nanargmax(values)])
