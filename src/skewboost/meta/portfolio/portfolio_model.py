"""A fitted portfolio as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Engine
from skewboost.engine.explaining import Support
from skewboost.engine.newton import Trees
from skewboost.engine.scoring import Scorer
from skewboost.engine.table import Table
from skewboost.typing import Array


@dataclass(frozen=True, eq=False)
class Part:
    """The trees of a family, and the weight of their score.

    The sum of the trees is `start` plus the values of the leaves. It is the score itself, or with `floor` the shares of
    the classes, whose log-odds are the score; shares below the floor are raised to it.
    """

    name: str
    weight: float
    trees: Trees
    start: Array  # per output
    floor: Array | None = None  # per output

    def score(self, sums: Array) -> Array:
        """Return the score ``[row, output]``, given the sums of the trees."""
        if self.floor is None:
            return sums
        shares = np.maximum(sums, self.floor)
        if len(self.start) > 1:
            return np.log(shares)
        return np.log(shares) - np.log(np.maximum(1.0 - sums, self.floor))


@dataclass(frozen=True, eq=False)
class PortfolioModel:
    """The score is `offset` plus the weighted scores of the parts: log-odds, or softmax scores of several classes."""

    parts: tuple[Part, ...]
    offset: Array
    bins: Bins
    support: Support
    n_features: int

    @property
    def n_outputs(self) -> int:
        """The number of outputs: one for two classes."""
        return len(self.offset)

    @cached_property
    def scorers(self) -> list[list[Scorer]]:
        """The scorers of each part, one per output."""
        return [
            [
                Scorer.of_trees(part.trees, k, self.bins, self.n_features, float(part.start[k]))
                for k in range(self.n_outputs)
            ]
            for part in self.parts
        ]

    def score(self, engine: Engine, table: Table) -> Array:
        """Return the scores of new rows, ``[row, output]``."""
        S = np.tile(self.offset, (table.n_rows, 1))
        for part, scorers in zip(self.parts, self.scorers):
            sums = np.column_stack([engine.score(scorer, table) for scorer in scorers])
            S += part.weight * part.score(sums)
        return S

    def importances(self) -> Array:
        """Return the decrease of the loss due to each feature, summing to one in each part and weighted by parts."""
        total = np.zeros(self.n_features)
        for part in self.parts:
            gains = np.bincount(part.trees.feature, part.trees.gains, minlength=self.n_features)
            if gains.sum() > 0:
                total += part.weight * gains / gains.sum()
        return total


def probabilities(scores: Array) -> Array:
    """Return the probabilities of the classes; of two classes, the positive one is the second column."""
    if scores.shape[1] == 1:
        return np.asarray(expit(np.column_stack((-scores[:, 0], scores[:, 0]))))
    return np.asarray(softmax(scores, axis=1))


def log_probabilities(scores: Array) -> Array:
    """Return the logarithms of `probabilities`."""
    if scores.shape[1] == 1:
        return np.asarray(log_expit(np.column_stack((-scores[:, 0], scores[:, 0]))))
    return np.asarray(log_softmax(scores, axis=1))
