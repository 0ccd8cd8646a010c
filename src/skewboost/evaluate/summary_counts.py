"""Counts over the chunks of a table, in bounded memory, which do not depend on the order of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from skewboost.engine.row_hash import mixed
from skewboost.engine.table import Nominal
from skewboost.evaluate.amounts import Amounts
from skewboost.typing import Array

LIMIT = 10_000  # distinct values of a column that are counted
NO_CLASS = -1


@dataclass
class NumberCounts:
    """Counts of a numeric column. Of more than `LIMIT` distinct values, those with the smallest hashes are kept.

    Which values are kept does not depend on the order of rows, and they are like a random sample.
    """

    values: Array = field(default_factory=lambda: np.empty(0))
    counts: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    lowest: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # the lowest class a value occurs with
    highest: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    full: bool = False
    n_present: int = 0
    average: float = 0.0
    minimum: float = np.inf
    maximum: float = -np.inf
    whole: bool = True
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)  # per class

    def add(self, column: Array, classes: Array) -> None:
        """Count the cells of a chunk, with the class of every row."""
        present = column == column
        x, classes = column[present].astype(np.float64) + 0.0, classes[present]
        if not len(x):
            return
        self.n_present += len(x)
        fraction = len(x) / self.n_present  # means are averaged, because a sum may overflow
        self.average = (1.0 - fraction) * self.average + fraction * float((np.sort(x) / len(x)).sum())
        self.minimum, self.maximum = min(self.minimum, float(x.min())), max(self.maximum, float(x.max()))
        self.whole = self.whole and bool((x == np.floor(x)).all())
        for k in np.unique(classes[classes != NO_CLASS]).tolist():
            own = x[classes == k]
            low, high = self.ranges.get(k, (np.inf, -np.inf))
            self.ranges[k] = (min(low, float(own.min())), max(high, float(own.max())))
        self._merge(x, np.ones(len(x), dtype=np.int64), classes, classes)

    def _merge(self, x: Array, counts: Array, lowest: Array, highest: Array) -> None:
        values, where = np.unique(np.concatenate([self.values, x]), return_inverse=True)
        n = len(values)
        merged = np.zeros(n, dtype=np.int64)
        np.add.at(merged, where, np.concatenate([self.counts, counts]))
        low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, np.iinfo(np.int64).min)
        np.minimum.at(low, where, np.concatenate([self.lowest, lowest]))
        np.maximum.at(high, where, np.concatenate([self.highest, highest]))
        if n > LIMIT:
            self.full = True
            kept = np.sort(np.argpartition(mixed(values.view(np.uint64)), LIMIT)[:LIMIT])
            values, merged, low, high = values[kept], merged[kept], low[kept], high[kept]
        self.values, self.counts, self.lowest, self.highest = values, merged, low, high

    @property
    def n_distinct(self) -> int | None:
        """The number of distinct values; None if there are more than `LIMIT`."""
        return None if self.full else len(self.values)

    @property
    def all_distinct(self) -> bool:
        """Whether no value occurs twice."""
        return self.n_present > 1 and bool((self.counts == 1).all())

    @property
    def mean(self) -> float:
        """The mean to twelve digits, which do not depend on the order of rows."""
        exact = float(np.sum(self.values * (self.counts / self.n_present)))
        return float(f"{self.average if self.full else exact:.12g}")

    def quantiles(self, at: tuple[float, ...]) -> tuple[float, ...]:
        """Return quantiles, which are exact unless values were dropped."""
        reached = np.cumsum(self.counts) / self.counts.sum()
        where = np.minimum(np.searchsorted(reached, at), len(reached) - 1)
        return tuple(self.values[where].tolist())

    def separates(self, n_classes: int) -> bool:
        """Whether the column separates the classes: no two of them have a value, or a range, in common."""
        if len(self.ranges) != n_classes or len(self.values) < 2:
            return False
        spans = sorted(self.ranges.values())
        if all(a[1] < b[0] for a, b in pairwise(spans)):
            return True
        pure = not self.full and bool((self.lowest == self.highest).all())
        return pure and 2 * len(self.values) <= self.n_present


@dataclass
class CategoryCounts:
    """Counts of a categorical column. With more than `LIMIT` categories, only cells that are present are counted."""

    counts: dict[str, list[int]] = field(default_factory=dict)  # category: count, lowest and highest class
    full: bool = False
    n_present: int = 0
    amounts: Amounts = field(default_factory=Amounts)

    def add(self, column: Nominal, classes: Array) -> None:
        """Count the cells of a chunk, with the class of every row."""
        present = column.codes >= 0
        codes, classes = column.codes[present], classes[present]
        self.n_present += len(codes)
        n = len(column.categories)
        count = np.bincount(codes, minlength=n)
        self.amounts.add(column.categories, count.tolist())
        if self.full:
            return
        low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, np.iinfo(np.int64).min)
        np.minimum.at(low, codes, classes)
        np.maximum.at(high, codes, classes)
        for name, k, a, b in zip(column.categories, count.tolist(), low.tolist(), high.tolist()):
            if k:
                known = self.counts.setdefault(name, [0, a, b])
                known[:] = known[0] + k, min(known[1], a), max(known[2], b)
        if len(self.counts) > LIMIT:
            self.full, self.counts = True, {}

    @property
    def n_distinct(self) -> int | None:
        """The number of distinct values; None if there are more than `LIMIT`."""
        return None if self.full else len(self.counts)

    @property
    def all_distinct(self) -> bool:
        """Whether no category occurs twice; False if there are too many to know."""
        return not self.full and 1 < len(self.counts) == self.n_present

    def top(self, most: int) -> tuple[tuple[str, int], ...]:
        """Return the most frequent categories with their counts, ties by name."""
        order = sorted(self.counts.items(), key=lambda item: (-item[1][0], item[0]))
        return tuple((name, known[0]) for name, known in order[:most])

    def separates(self, n_classes: int) -> bool:
        """Whether every category occurs with one class only, and categories repeat."""
        found = self.counts.values()
        pure = bool(found) and all(known[1] == known[2] for known in found)
        return pure and len({known[1] for known in found}) == n_classes and 2 * len(self.counts) <= self.n_present
