"""The members of a vote: how one is fitted to its bite, and how they vote on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from skewboost.datasets.chunks import count_rows
from skewboost.engine.table import take_rows
from skewboost.engine.threads import parallel
from skewboost.typing import Array

# A task votes on so many rows. Where tasks begin depends on the number of rows only, never on that of threads.
FEWEST_ROWS, MOST_ROWS, TASKS = 2048, 16_384, 8


def fit_member(estimator: Any, X: Any, labels: Array, seed: int) -> Any:
    """Fit a copy of the estimator to a bite; of a bite of one class all that can be learned is that class."""
    if (labels == labels[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    member = clone(estimator)
    seeded = {k: seed for k in member.get_params() if k == "random_state" or k.endswith("__random_state")}
    return member.set_params(**seeded).fit(X, labels)


@dataclass(frozen=True)
class Voters:
    """How members vote: a vote each for the class they predict, or their probabilities."""

    classes: Array
    soft: bool
    n_jobs: int

    @property
    def dtype(self) -> Any:
        """What votes are counted in."""
        return np.float64 if self.soft else np.int32

    def count(self, members: Sequence[Any], X: Any, absent: Array | None = None) -> Array:
        """The votes of all members on each row, by class; `absent` are pairs (row, member) that do not count."""
        n_rows = count_rows(X)
        size = min(max(FEWEST_ROWS, -(-n_rows // TASKS)), MOST_ROWS)
        starts = range(0, n_rows, size)

        def task(k: int) -> Array:
            start, stop = starts[k], min(starts[k] + size, n_rows)
            part = _part(X, start, stop)
            votes = np.zeros((stop - start, len(self.classes)), dtype=self.dtype)
            for m, member in enumerate(members):
                these = self.ballot(member, part)
                if absent is not None:
                    these[_absentees(absent, m, start, stop)] = 0
                votes += these
            return votes

        return np.concatenate(parallel(task, len(starts), self.n_jobs))

    def ballot(self, member: Any, X: Any) -> Array:
        """The vote of one member on each row."""
        n_rows = count_rows(X)
        ballot = np.zeros((n_rows, len(self.classes)), dtype=self.dtype)
        if self.soft:
            ballot[:, np.searchsorted(self.classes, member.classes_)] = member.predict_proba(X)
        else:
            ballot[np.arange(n_rows), np.searchsorted(self.classes, member.predict(X))] = 1
        return ballot


def _absentees(absent: Array, member: int, start: int, stop: int) -> Array:
    """Which rows of a part the member does not vote on; the pairs are sorted by member."""
    first, last = np.searchsorted(absent[:, 1], (member, member + 1))
    rows = absent[first:last, 0]
    return np.asarray(rows[(rows >= start) & (rows < stop)] - start)


def _part(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, np.ndarray):
        return X[start:stop]
    return X if stop - start == count_rows(X) else take_rows(X, np.arange(start, stop))


def chance_of_error(votes: Array, codes: Array) -> Array:
    """How likely the vote on a row is wrong if ties are broken at random; no vote at all is a tie of all classes."""
    tied = votes == votes.max(axis=1, keepdims=True)
    right = tied[np.arange(len(codes)), codes] / tied.sum(axis=1)
    return np.asarray(1.0 - right)
