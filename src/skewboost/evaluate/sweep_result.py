"""What sweeps return: measures at several levels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.learning_curve_result import over_fits
from skewboost.metrics.measures import MEASURES
from skewboost.typing import Array


@dataclass(frozen=True)
class Sweep:
    """Measures of several estimators on the same folds at several levels.

    Attributes
    ----------
    what : str
        What was swept, as drawings name it.
    levels : ndarray of shape (n_levels,)
        Its values.
    estimators, measures : tuple of str
        The names that `values` takes.
    n_fits : int
        Fits per level and estimator.
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
        """On the test parts: one row per level, one column per fit. `estimator` may be left out if there is one."""
        if estimator is None and len(self.estimators) == 1:
            estimator = self.estimators[0]
        if estimator not in self.estimators:
            raise InputError(f"estimator={estimator!r} must be one of {', '.join(map(repr, self.estimators))}.")
        if measure not in self.measures:
            raise InputError(f"measure={measure!r} was not measured. Take one of {', '.join(self.measures)}.")
        return self._values[estimator, measure]

    def mean(self, measure: str, estimator: str | None = None) -> Array:
        """The mean over fits at each level, without those where the measure is NaN."""
        return over_fits(self.values(measure, estimator), axis=1)[0]

    def spread(self, measure: str, estimator: str | None = None) -> Array:
        """The standard deviation over fits at each level."""
        return over_fits(self.values(measure, estimator), axis=1)[1]

    def as_frame(self) -> Any:
        """A tidy table: a row per estimator, level, fit and measure."""
        import pandas as pd

        tables = []
        for (estimator, measure), values in self._values.items():
            level, fit = np.meshgrid(self.levels, np.arange(values.shape[1]), indexing="ij")
            columns = {"level": level.ravel(), "fit": fit.ravel(), "measure": measure, "value": values.ravel()}
            tables.append(pd.DataFrame({"estimator": estimator, **columns}))
        return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True)
class CostSweep(Sweep):
    """Measures of one estimator at several costs, or values of another parameter; also from pooled counts.

    Attributes
    ----------
    param : str
        What was set: a parameter, or how costs were told.
    """

    param: str = ""
    _pooled: dict[str, Array] = field(repr=False, default_factory=dict)

    @property
    def costs(self) -> Array:
        """The levels."""
        return self.levels

    def pooled(self, measure: str) -> Array:
        """From the counts of all test parts together, one number per level: no fold is too small to divide by."""
        if measure not in self._pooled:
            raise InputError(f"measure={measure!r} is not one of counts: take one of {', '.join(self._pooled)}.")
        return self._pooled[measure]

    def best(self, measure: str = "f1") -> float:
        """The level whose pooled measure is best, and the first of them in a tie."""
        values = MEASURES[measure].sign * self.pooled(measure)
        if np.isnan(values).all():
            raise InputError(f"{measure} is NaN at every level: none is best. Take another measure.")
        return float(self.levels[np.nanargmax(values)])
