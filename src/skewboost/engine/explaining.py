"""An ensemble taken apart: what every feature adds to F, exactly.

Rounds on one feature add up to a function of it; what trees add is shared among their features by `shapley`. Every
part is centred, so that it says by how much a feature moves F from its mean over the training examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skewboost.engine.partition import View
from skewboost.engine.scoring import REACH, Scorer, power_of_two
from skewboost.engine.shapley import Conjunction, Conjunctive, add_shapley
from skewboost.engine.table import Nominal, Table
from skewboost.typing import Array


@dataclass(frozen=True)
class Spread:
    """How many training examples have a number in each column, and their mean, least and largest.

    A mean that is rounded may be far off compared with how much a column varies. So `rest` is what the rounding leaves
    out, in units of `power_of_two` of the numbers.
    """

    known: Array
    mean: Array
    rest: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Support:
    """Where the training examples are; counts are sums of `sample_weight`."""

    n_examples: float
    per_code: Array | None = None  # [feature, code]
    spread: Spread | None = None  # for learners that look at numbers


def spread_of(table: Table, examples: Array) -> Spread:
    """The spread of the columns of the training data; in one of categories no example has a number."""
    found = np.zeros((5, table.n_features))
    for j in range(table.n_features):
        column = table.column(j)
        if isinstance(column, Nominal):
            continue
        present = column == column
        if present.any():
            x, weights = np.asarray(column[present], dtype=np.float64), examples[present]
            unit = power_of_two(np.abs(x).max())  # so that sums do not overflow
            mean = unit * np.average(x / unit, weights=weights)
            rest = np.average(x / unit - mean / unit, weights=weights)
            found[:, j] = weights.sum(), mean, rest, x.min(), x.max()
    return Spread(*found)


class Explainer:
    """The parts of an ensemble that is a sum of functions, of one feature or of conjunctions.

    ``tables[feature, code]`` are centred, and so are `lines`, by feature and scale, if ``off[feature]`` is added, which
    is all there is where the cell is missing; `joint` are the conjunctions of several features; `mean` is that of F.
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

    @staticmethod
    def foreign(scorer: Scorer) -> list[object]:
        """The terms that cannot be looked into."""
        return [term for term in scorer.others if not isinstance(term, Conjunctive)]

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
            self.tables[c.features[0]] += c.value * (c.allowed[0] - c.shares[0])
        elif c.value != 0.0:
            self.joint.append(c)

    def main_effects(self) -> Array:
        """What F is expected to be where one feature is known, less its mean: ``[feature, code]``, centred.

        Of functions of one feature, that is these. A conjunction adds its value where the feature passes, times the
        shares of the others: the v({j}) of `shapley`.
        """
        tables = self.tables.copy()
        for c in self.joint:
            for k, j in enumerate(c.features):
                others = float(np.delete(c.shares, k).prod())
                tables[j] += c.value * others * (c.allowed[k] - c.shares[k])
        if self.joint:
            assert self.support.per_code is not None
            means = (tables * self.support.per_code).sum(axis=1) / self.support.n_examples
            tables[self.tables_in_use(tables)] -= means[self.tables_in_use(tables), None]
        return tables

    @staticmethod
    def tables_in_use(tables: Array) -> Array:
        """The features that say anything."""
        return np.flatnonzero(tables.any(axis=1))

    def contributions(self, view: View) -> Array:
        """What each feature adds to the mean of F, for every row: ``[row, feature]``."""
        out = np.zeros((view.n_rows, len(self.tables)))
        for j in np.flatnonzero(self.tables.any(axis=1)).tolist():
            out[:, j] += self.tables[j][view.column(j)]
        out += self.off
        for (j, _), line in self.lines.items():
            x = np.asarray(view.table.column(j), dtype=np.float64)
            out[:, j] += np.where(np.isnan(x), 0.0, line.at(x))
        add_shapley(self.joint, view.column, out)
        return out
