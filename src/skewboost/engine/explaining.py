"""Explaining an ensemble: the exact contribution of each feature to F.

The rounds on one feature sum to a function of it. The values of trees are attributed to their features by Shapley
values (`shapley`). Contributions are centred: they are differences from the mean of F over the training examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.partition import View
from skewboost.engine.scoring import REACH, Scorer, power_of_two
from skewboost.engine.shapley import Conjunction, Conjunctive, add_shapley
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.table import Table


@dataclass(frozen=True)
class Spread:
    """The number of training examples with a value in each column, and the mean, minimum and maximum of these.

    The rounding error of a mean may be large compared with the variation of a column. `rest` is this error, in units of
    `power_of_two` of the largest absolute value.
    """

    known: Array
    mean: Array
    rest: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Support:
    """The distribution of the training examples; counts are sums of `sample_weight`."""

    n_examples: float
    per_code: Array | None = None  # [feature, code]
    spread: Spread | None = None  # for learners that use the numbers themselves


def spread_of(table: Table, examples: Array) -> Spread:
    """Return the spread of the columns of the training data; nominal columns have no values."""
    found = np.zeros((5, table.n_features))
    for j, column in table.numeric_columns():
        present = column == column
        if present.any():
            x, weights = np.asarray(column[present], dtype=np.float64), examples[present]
            unit = power_of_two(np.abs(x).max())  # sums must not overflow
            mean = unit * np.average(x / unit, weights=weights)
            rest = np.average(x / unit - mean / unit, weights=weights)
            found[:, j] = weights.sum(), mean, rest, x.min(), x.max()
    return Spread(*found)


class Explainer:
    """The centred parts of an ensemble that is a sum of functions of one feature and of conjunctions.

    ``tables[feature, code]`` are centred. `lines`, by feature and scale, are centred once ``off[feature]`` is added;
    for a missing cell, ``off[feature]`` is the whole contribution. `joint` are the conjunctions of several features,
    and `mean` is the mean of F.
    """

    def __init__(self, scorer: Scorer, support: Support) -> None:
        self.bins = scorer.bins
        self.support = support
        self.mean = scorer.constant
        self.tables = np.zeros_like(scorer.tables)
        self.lines = dict(sorted(scorer.lines.items()))
        self.off = np.zeros(len(self.tables))
        self.joint: list[Conjunction] = []
        self._add_tables(scorer)
        self._add_lines()
        for term in (*scorer.trees, *scorer.others):
            assert isinstance(term, Conjunctive)
            for c in term.conjunctions():
                self._add(c)

    def _add_tables(self, scorer: Scorer) -> None:
        used = scorer.table_features
        if not len(used):
            return
        assert self.support.per_code is not None
        means = (scorer.tables[used] * self.support.per_code[used]).sum(axis=1) / self.support.n_examples
        self.tables[used] = scorer.tables[used] - means[:, None]
        self.mean += float(means.sum())

    def _add_lines(self) -> None:
        spread = self.support.spread
        for (j, scale), line in self.lines.items():
            assert spread is not None
            unit = power_of_two(max(abs(spread.low[j]), abs(spread.high[j])))
            at_mean = line.at(spread.mean[j]) + line.rise * spread.rest[j] * min(unit / scale, REACH)
            mean = float(at_mean * (spread.known[j] / self.support.n_examples))
            self.off[j] -= mean
            self.mean += mean

    def _add(self, c: Conjunction) -> None:
        self.mean += c.mean
        if len(c.features) == 1:
            self.tables[c.features[0]] += c.value * (c.allowed[0] - c.fractions[0])
        elif c.value != 0.0:
            self.joint.append(c)

    def main_effects(self) -> Array:
        """Return the expectation of F given one feature, less the mean of F: ``[feature, code]``, centred.

        Functions of one feature count fully. A conjunction counts with its value if the feature passes, times the
        fractions of the other features: v({j}) of `shapley`.
        """
        tables = self.tables.copy()
        for c in self.joint:
            for k, j in enumerate(c.features):
                others = float(np.delete(c.fractions, k).prod())
                tables[j] += c.value * others * (c.allowed[k] - c.fractions[k])
        if self.joint:
            assert self.support.per_code is not None
            means = (tables * self.support.per_code).sum(axis=1) / self.support.n_examples
            used = np.flatnonzero(tables.any(axis=1))
            tables[used] -= means[used, None]
        return tables

    def contributions(self, view: View) -> Array:
        """Return the contribution of each feature to F, less its mean, for every row: ``[row, feature]``."""
        out = np.zeros((view.n_rows, len(self.tables)))
        for j in np.flatnonzero(self.tables.any(axis=1)).tolist():
            out[:, j] += view.lookup(j, self.tables[j])
        out += self.off
        for (j, _), line in self.lines.items():
            x = np.asarray(view.table.column(j), dtype=np.float64)
            out[:, j] += np.where(np.isnan(x), 0.0, line.at(x))
        add_shapley(self.joint, view.column, out)
        return out
