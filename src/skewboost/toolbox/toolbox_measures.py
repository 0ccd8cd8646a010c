"""What predictions are worth: error, precision, recall and F1 of the positive class, once or after every round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import repeat
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.metrics import Counts
from skewboost.typing import Array


@dataclass(frozen=True)
class Measures:
    """Shares of 1; NaN where there is nothing to divide by, as in the precision of one who never says +1."""

    error: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, positive: Array, F: Array) -> Measures:
        """Of the predictions sgn F; where F is zero they are +1, as in `predict`."""
        counts = Counts.of(positive, F >= 0)
        return cls(*map(float, (counts.error, counts.precision, counts.recall, counts.f1)))

    def __str__(self) -> str:
        names = ("error", "precision", "recall", "F1")
        return ", ".join(f"{name} {_text(value)}" for name, value in zip(names, astuple(self)))


@dataclass(frozen=True, eq=False)
class Curves:
    """`Measures` after every round: arrays of length M.

    Where training ended before round M, the last value stays.
    """

    error: Array
    precision: Array
    recall: Array
    f1: Array

    @classmethod
    def of(cls, estimator: Any, X: Array, positive: Array, M: int) -> Curves:
        """Of a fitted booster on some rows."""
        stages: Iterable[Array] = estimator.staged_decision_function(X)
        rows = [Measures.of(positive, F) for F in stages]
        rows.extend(repeat(rows[-1], M - len(rows)))
        return cls(*np.array([astuple(row) for row in rows]).T)

    @classmethod
    def mean(cls, curves: Sequence[Curves]) -> Curves:
        """The mean over folds, of those in which a measure is defined."""
        return cls(*(_mean([getattr(c, field.name) for c in curves]) for field in fields(cls)))

    def after(self, m: int) -> Measures:
        """The measures after round m, which counts from 1; -1 is the last.

        Examples
        --------
        >>> import numpy as np
        >>> from skewboost.toolbox import Curves
        >>> print(Curves(*np.array([[0.3, 0.2], [0.5, 0.6], [0.9, 0.9], [0.64, 0.72]])).after(2))
        error 0.200, precision 0.600, recall 0.900, F1 0.720
        """
        n = len(self.error)
        if not (1 <= m <= n or m == -1):
            raise InputError(f"m={m} is no round: give a number from 1 to {n}, or -1 for the last.")
        return Measures(*(float(getattr(self, field.name)[m - (m > 0)]) for field in fields(self)))


def _text(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


def _mean(values: Sequence[Array]) -> Array:
    table = np.array(values)
    defined = ~np.isnan(table)
    count = defined.sum(axis=0)
    total = np.where(defined, table, 0.0).sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))
