"""Long curves of few trials at a time, so that trials of one data set run on several processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from skewboost_reproductions.estimates import Estimate, estimate
from skewboost_reproductions.papers.cuendet.curve_trials import TRIALS, rows_of

BLOCK = 5  # trials of a task
KINDS = ("train", "test", "weighted train", "weighted test")


def blocks(quick: bool) -> range:
    """Return the first trials of the tasks."""
    return range(0, BLOCK if quick else TRIALS, BLOCK)


def rounds_kept(n_rounds: int) -> list[int]:
    """Return every round up to 50, and later ones at growing distances, hundreds among them."""
    later = np.geomspace(50, n_rounds, 60).round().astype(int).tolist() if n_rounds > 50 else []
    hundreds = [m for m in range(100, n_rounds + 1, 100) if m <= 1000 or m % 500 == 0]
    return sorted({*range(1, min(n_rounds, 50) + 1), *later, *hundreds, n_rounds})


def errors_of_block(data: str, first: int, rounds: Sequence[int], made: Callable[[float], Any]) -> dict[str, list[Any]]:
    """Return errors in percent by trial and round, and those with weights that make the classes equal.

    They are those after the rounds that are given. ``made(ratio)`` returns a booster, given the ratio of the class
    frequencies in training, negative to positive. A booster that ends early keeps its last error.
    """
    X, y = rows_of(data)
    labels = np.asarray(y)
    folds = list(StratifiedKFold(TRIALS, shuffle=True, random_state=0).split(X, labels))
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for train, test in folds[first : first + BLOCK]:
        positive = labels[train] == 1
        ratio = float((~positive).sum() / positive.sum())
        model = made(ratio).fit(_rows(X, train), labels[train])
        for part, rows in (("train", train), ("test", test)):
            wrong = np.array([np.asarray(stage) != labels[rows] for stage in model.staged_predict(_rows(X, rows))])
            kept = wrong[np.minimum(np.asarray(rounds), len(wrong)) - 1]
            weights = np.where(labels[rows] == 1, ratio, 1.0)
            found[part].append(np.round(100.0 * kept.mean(axis=1), 4).tolist())
            found[f"weighted {part}"].append(np.round(100.0 * kept @ weights / weights.sum(), 4).tolist())
    return found


def _rows(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


class Blocks:
    """The errors of all trials of a booster, in percent by kind, trial and round."""

    def __init__(self, found: Sequence[dict[str, list[Any]]], rounds: Sequence[int], test_to_train: float) -> None:
        self.rounds, self.test_to_train = list(rounds), test_to_train
        self.errors = {kind: np.concatenate([np.array(one[kind]) for one in found]) for kind in KINDS}

    def at(self, number: int, kind: str = "test") -> Any:
        """Return the errors of all trials after a round that was kept."""
        return self.errors[kind][:, self.rounds.index(number)]

    @property
    def last(self) -> int:
        """The number of rounds."""
        return self.rounds[-1]

    def best_round(self, kind: str = "test") -> int:
        """Return the round with the lowest mean error, the first one in a tie."""
        return self.rounds[int(self.errors[kind].mean(axis=0).round(9).argmin())]

    def changes(self, first: int, last: int, kind: str = "train") -> Any:
        """Return the mean absolute change from round to round between two rounds of all that were kept in between."""
        start, end = self.rounds.index(first), self.rounds.index(last)
        return np.abs(np.diff(self.errors[kind][:, start : end + 1], axis=1)).mean(axis=1)

    def mean(self, values: Any) -> Estimate:
        """Return the mean of values of trials."""
        return estimate(values, self.test_to_train)
