"""What `learning_curve` returns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.quantiles import MARGIN_LEVELS, WEIGHT_LEVELS
from skewboost.metrics.measures import MEASURES
from skewboost.typing import Array

PARTS = ("train", "test")


@dataclass(frozen=True)
class LearningCurve:
    """What `learning_curve` measured: an entry per fit and round.

    Attributes
    ----------
    rounds : ndarray of shape (n_rounds,)
        1, 2, … up to the longest fit.
    n_rounds : ndarray of shape (n_fits,)
        How many rounds each fit has. A model that ended before others stays what it is: its measures and margins are
        carried on, its weights are NaN, as no round was fitted under any.
    measures : tuple of str
        The names that `values` takes.
    margin_quantiles : dict of "train" and "test" to ndarray of shape (n_fits, n_rounds, n_levels), or None
        Of ``y F / Σ|terms|`` where `margins` is "votes", else of ``y F``; None where there is no F.
    margin_levels, weight_levels : tuple of float
        Which quantiles; 0 is the least and 1 the largest.
    margins : str
        "votes": in [-1, 1]; "raw": F is no sum of votes, or of another library; "" where there is none.
    weight_quantiles : ndarray of shape (n_fits, n_rounds, n_levels) or None
        Of the weights that a round was fitted under, times the number of examples, so that equal ones are 1. None
        for estimators of other libraries, and for more than two classes.
    weight_of_positives : ndarray of shape (n_fits, n_rounds) or None
        The share of the weight that the positive class had in a round.
    folds : ndarray of shape (n_fits, 2)
        The repeat and the fold of each fit; all are of repeat 0 where `cv` is no number.
    pos_label : label or None
        The positive class.
    name : str
        Of the estimator.
    """

    rounds: Array
    n_rounds: Array
    measures: tuple[str, ...]
    folds: Array
    pos_label: Any
    name: str
    margins: str
    margin_quantiles: dict[str, Array] | None
    weight_quantiles: Array | None
    weight_of_positives: Array | None
    margin_levels: tuple[float, ...] = MARGIN_LEVELS
    weight_levels: tuple[float, ...] = WEIGHT_LEVELS
    _values: dict[tuple[str, str], Array] = field(repr=False, default_factory=dict)

    def values(self, measure: str, part: str = "test") -> Array:
        """One row per fit, one column per round; NaN where the measure has nothing to divide by."""
        if measure not in self.measures:
            raise InputError(f"measure={measure!r} was not measured. Take one of {', '.join(self.measures)}.")
        if part not in PARTS:
            raise InputError(f"part={part!r} must be 'train' or 'test'.")
        return self._values[measure, part]

    def mean(self, measure: str, part: str = "test") -> Array:
        """The mean over fits, per round; fits where the measure is NaN are left out."""
        return over_fits(self.values(measure, part))[0]

    def spread(self, measure: str, part: str = "test") -> Array:
        """The standard deviation over fits, per round; NaN where there are fewer than two."""
        return over_fits(self.values(measure, part))[1]

    def best_round(self, measure: str = "error", part: str = "test") -> int:
        """The round at which the mean is best, and the first of them in a tie.

        It was chosen on the test rows, so its value there flatters; hold out others, or use `early_stopping`.
        """
        mean = MEASURES[measure].sign * self.mean(measure, part)
        if np.isnan(mean).all():
            raise InputError(f"{measure} is NaN in every round of {part!r}: no round is best. Take another measure.")
        return int(self.rounds[np.nanargmax(mean)])

    def as_frame(self) -> Any:
        """A tidy table: a row per fit, round, part and measure; quantiles are measures such as "weight_q95" too."""
        import pandas as pd

        parts = [self._table(pd, measure, part, values) for (measure, part), values in self._values.items()]
        for part, values in (self.margin_quantiles or {}).items():
            for k, level in enumerate(self.margin_levels):
                parts.append(self._table(pd, f"margin_q{100 * level:.0f}", part, values[:, :, k]))
        if self.weight_quantiles is not None and self.weight_of_positives is not None:
            for k, level in enumerate(self.weight_levels):
                parts.append(self._table(pd, f"weight_q{100 * level:.0f}", "train", self.weight_quantiles[:, :, k]))
            parts.append(self._table(pd, "weight_of_positives", "train", self.weight_of_positives))
        return pd.concat(parts, ignore_index=True)

    def _table(self, pd: Any, measure: str, part: str, values: Array) -> Any:
        n_fits, n_rounds = values.shape
        repeats, folds = np.repeat(self.folds, n_rounds, axis=0).T
        columns = {
            "repeat": repeats,
            "fold": folds,
            "round": np.tile(self.rounds, n_fits),
            "part": part,
            "measure": measure,
            "value": values.ravel(),
        }
        return pd.DataFrame(columns)


def over_fits(values: Array, axis: int = 0) -> tuple[Array, Array]:
    """Mean and standard deviation along an axis, without what is NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing to average is NaN
        return np.asarray(np.nanmean(values, axis=axis)), np.asarray(np.nanstd(values, axis=axis, ddof=1))
