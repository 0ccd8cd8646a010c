"""Whether new rows are like the training rows: what `fit` records, and what later commands warn of.

A warning needs two things. The difference must be clear: twice the odds for the fractions of classes, a tenth or a
fifth of the rows for columns. And it must be significant: if training rows and new rows were dealt at random from one
table, all tests together would warn with a probability of at most `RISK`. The tests are exact (hypergeometric) or
bounds (Kolmogorov-Smirnov distance), and also hold if rows repeat each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import narwhals as nw
import numpy as np

from skewboost.engine.table import Nominal, read_column
from skewboost.evaluate.summary_warnings import percent
from skewboost.io.structure import COUNT, FieldError, list_of, map_of, nullable, record, register, require
from skewboost.names import spell
from skewboost.typing import Array

RISK = 0.005  # of any warning if nothing has changed
ODDS_RATIO = 2.0  # of a class
MISSING, UNSEEN, MOVED = 0.1, 0.05, 0.2  # fractions of the rows
QUANTILES = np.arange(1, 20) / 20
MOST_CATEGORIES = 200  # that are recorded of a column
MOST_UNSEEN = 10_000  # new categories that are counted one by one
MOST_COLUMNS = 5  # that warnings name

ClassSizes = dict[str, float]  # rows of each class


def class_sizes(labels: Array, weights: Array | None = None) -> ClassSizes:
    """The number of rows of each class. Weighted rows are scaled to their effective number (Kish)."""
    classes, codes = np.unique(labels, return_inverse=True)
    w = np.ones(len(labels)) if weights is None else weights
    sizes = np.bincount(codes, weights=w, minlength=len(classes))
    square = float((w**2).sum())
    scale = float(w.sum()) / square if square > 0 else 0.0
    return {spell(c): float(scale * n) for c, n in zip(classes.tolist(), sizes)}


@dataclass(frozen=True)
class ColumnProfile:
    """A column in training: of numbers, or of categories if it has `counts`."""

    n: int  # rows with a value
    missing: int
    low: float = 0.0
    high: float = 0.0
    cuts: tuple[float, ...] = ()  # about the twentieths of the distribution
    below: tuple[int, ...] = ()  # rows up to each cut
    counts: dict[str, int] | None = None  # of the most frequent categories
    once: int = 0  # the number of categories with one row

    @classmethod
    def of(cls, column: Array | Nominal) -> ColumnProfile:
        """The profile of a column."""
        if isinstance(column, Nominal):
            present = column.codes[column.codes >= 0]
            sizes = np.bincount(present, minlength=len(column.categories))
            order = np.argsort(-sizes, kind="stable")[:MOST_CATEGORIES]
            counts = {column.categories[k]: int(sizes[k]) for k in order if sizes[k]}
            missing = len(column.codes) - len(present)
            return cls(len(present), missing, counts=counts, once=int((sizes == 1).sum()))
        x = column[column == column].astype(np.float64)
        if not len(x):
            return cls(0, len(column))
        cuts = sorted({float(f"{q:.6g}") for q in np.quantile(x, QUANTILES, method="inverted_cdf")})
        below = tuple(_count_below(x, cuts).tolist())
        return cls(len(x), len(column) - len(x), float(x.min()), float(x.max()), tuple(cuts), below)


OPTIONAL = {"low": 0, "high": 0, "cuts": [], "below": [], "counts": None, "once": 0}  # entries of a column


@dataclass(frozen=True)
class TrainingProfile:
    """What `fit` records about the training rows, for later comparisons."""

    columns: dict[str, ColumnProfile]
    labels: ClassSizes
    predictions: ClassSizes = field(default_factory=dict)  # for held-out rows; empty if there were none

    @classmethod
    def of(cls, X: Any, labels: ClassSizes, predictions: ClassSizes) -> TrainingProfile:
        """The profile of a table of features."""
        return cls({str(name): ColumnProfile.of(_read(X[name])) for name in X.columns}, labels, predictions)

    def as_dict(self) -> Any:
        """The profile in the types of JSON."""
        return record(TrainingProfile).write(self)

    @classmethod
    def from_dict(cls, written: Any) -> TrainingProfile | None:
        """The profile that `as_dict` gave; None if it is anything else, since model files may hold anything."""
        try:
            columns = {name: {**OPTIONAL, **column} for name, column in written["columns"].items()}
            return cast(TrainingProfile, record(TrainingProfile).read({**written, "columns": columns}))
        except (FieldError, TypeError, KeyError, AttributeError):
            return None


def _check_column(column: ColumnProfile) -> None:
    require(len(column.cuts) == len(column.below), "must have as many entries as cuts", "below")


def _check_sizes(profile: TrainingProfile) -> None:
    require(min([0.0, *profile.labels.values(), *profile.predictions.values()]) == 0, "must not be negative")


register(
    ColumnProfile, _check_column, n=COUNT, missing=COUNT, once=COUNT, below=list_of(COUNT, tuple),
    counts=nullable(map_of(COUNT)),
)  # fmt: skip
register(TrainingProfile, _check_sizes)


def _read(series: Any) -> Array | Nominal:
    return read_column(nw.from_native(series, series_only=True))


def _count_below(x: Array, cuts: Any) -> Array:
    """How many numbers are at most each of the cuts."""
    return np.bincount(np.searchsorted(cuts, x), minlength=len(cuts) + 1).cumsum()[:-1]


class ShiftDetector:
    """Compares new rows, chunk by chunk, with the training rows. Without a profile of these there are no warnings."""

    def __init__(self, profile: TrainingProfile | None) -> None:
        self.profile = profile
        columns = {} if profile is None else profile.columns
        self._columns = {name: NewColumn(column) for name, column in columns.items()}
        self._labels: ClassSizes = {}
        self._predictions: Any = Counter()

    def add_rows(self, X: Any) -> None:
        """Add a chunk of features."""
        for name, new in self._columns.items():
            if name in X.columns:
                new.add(_read(X[name]))

    def add_predictions(self, labels: Array) -> None:
        """Add the predictions for a chunk."""
        self._predictions.update(class_sizes(labels))

    def add_labels(self, labels: Array, weights: Array | None = None) -> None:
        """Set the labels of all rows."""
        self._labels = class_sizes(labels, weights)

    def warnings(self, positive: Any, cost_ratio: float | None = None) -> list[str]:
        """Sentences about the differences, and what to do about them.

        `positive` is the positive class; None if there are more than two classes. With `cost_ratio`, the cost of a miss
        in false alarms, a threshold is recommended if the fraction of positives has changed.
        """
        if self.profile is None:
            return []
        classes = sorted(self.profile.labels) if positive is None else [spell(positive)]
        risk = RISK / (3 * len(self._columns) + 2 * len(classes))
        found = []
        for label in classes:
            of_labels = _changed_fraction(self.profile.labels, self._labels, label, risk)
            of_predictions = _changed_fraction(self.profile.predictions, self._predictions, label, risk)
            if of_labels is not None:
                before, now = map(percent, of_labels)
                advice = "" if cost_ratio is None else _threshold_advice(cost_ratio, *of_labels)
                found.append(f"{now} of the rows are {label}, against {before} in training{advice}")
            elif of_predictions is not None:
                before, now = map(percent, of_predictions)
                found.append(f"{now} of the rows are predicted to be {label}, against {before} when it was fitted")
        found += self._column_warnings(risk)
        if not found:
            return []
        measure = "" if self._labels else "measure it with `skewboost evaluate` on such rows with known labels, or "
        return [*found, f"the model may be wrong more often on such rows: {measure}fit it again to them"]

    def _column_warnings(self, risk: float) -> list[str]:
        largest = []
        for name, new in self._columns.items():
            differences = list(new.differences(risk))
            if differences:
                largest.append((max(size for size, _ in differences), f"{name!r} {differences[0][1]}"))
        largest.sort(key=lambda difference: -difference[0])
        found = [text for _, text in largest[:MOST_COLUMNS]]
        if len(largest) > MOST_COLUMNS:
            found.append(f"{len(largest) - MOST_COLUMNS} more columns differ from the training rows")
        return found


class NewColumn:
    """One column of the new rows, beside its profile in training."""

    def __init__(self, before: ColumnProfile) -> None:
        self.before = before
        self.n = self.missing = self.n_unseen = 0
        self.below = np.zeros(len(before.cuts), dtype=np.int64)
        self.outside = np.zeros(2, dtype=np.int64)  # below the lowest and above the highest number in training
        self.counts: Counter[str] = Counter()
        self.unseen: Counter[str] = Counter()

    def add(self, column: Array | Nominal) -> None:
        """Add a chunk."""
        before = self.before
        present = column.codes >= 0 if isinstance(column, Nominal) else column == column
        self.n += int(present.sum())
        self.missing += int((~present).sum())
        if isinstance(column, Nominal) != (before.counts is not None):
            return
        if isinstance(column, Nominal):
            sizes = np.bincount(column.codes[present], minlength=len(column.categories)).tolist()
            for name, k in zip(column.categories, sizes):
                if k and name in (before.counts or ()):
                    self.counts[name] += k
                elif k:
                    self.n_unseen += k
                    if name in self.unseen or len(self.unseen) < MOST_UNSEEN:
                        self.unseen[name] += k
        else:
            x = column[present].astype(np.float64)
            self.below += _count_below(x, before.cuts)
            self.outside += (x < before.low).sum(), (x > before.high).sum()

    def differences(self, risk: float) -> Iterator[tuple[float, str]]:
        """The clear and significant differences, the most informative first: how large, and in words."""
        before = self.before
        n_before, n_now = before.n + before.missing, self.n + self.missing
        if n_before and n_now:
            was, now = before.missing / n_before, self.missing / n_now
            if abs(now - was) >= MISSING and split_p_value(before.missing, n_before, self.missing, n_now) <= risk:
                yield abs(now - was), f"is missing in {percent(now)} of the rows, against {percent(was)} in training"
        if before.n and self.n and before.counts:
            yield from self._changed_categories(before.counts, risk)
        elif before.n and self.n and before.cuts:
            yield from self._changed_numbers(risk)

    def _changed_numbers(self, risk: float) -> Iterator[tuple[float, str]]:
        before = self.before
        beyond = self.outside.sum() / self.n
        if beyond >= UNSEEN and 2 * all_new_probability(int(self.outside.max()), before.n, self.n) <= risk:
            interval = f"{before.low:.6g} to {before.high:.6g}"
            yield beyond, f"is outside of the training range, {interval}, in {percent(beyond)} of the rows"
        now, was = self.below / self.n, np.array(before.below) / before.n
        distance = np.abs(now - was)
        k = int(np.argmax(distance))
        if distance[k] >= MOVED and _kolmogorov_bound(float(distance[k]), before.n, self.n) <= risk:
            fractions = f"{percent(now[k])} of the rows, against {percent(was[k])} in training"
            yield float(distance[k]), f"is at most {before.cuts[k]:.6g} in {fractions}"

    def _changed_categories(self, known: dict[str, int], risk: float) -> Iterator[tuple[float, str]]:
        before = self.before
        complete = sum(known.values()) == before.n  # whether all categories are recorded
        new = self.n_unseen / self.n - before.once / before.n  # rows of new categories beyond what is usual
        if complete and new >= UNSEEN and self._unseen_p_value(len(known)) <= risk:
            rows, name = percent(self.n_unseen / self.n), max(self.unseen, key=lambda c: self.unseen[c])
            yield new, f"has categories in {rows} of the rows that training did not have, such as {name!r}"
        change = {name: self.counts[name] / self.n - k / before.n for name, k in known.items()}
        name = max(change, key=lambda c: abs(change[c]))
        now, was = self.counts[name], known[name]
        if abs(change[name]) >= MOVED and len(change) * split_p_value(was, before.n, now, self.n) <= risk:
            fractions = f"{percent(now / self.n)} of the rows, against {percent(was / before.n)} in training"
            yield abs(change[name]), f"is {name} in {fractions}"

    def _unseen_p_value(self, n_known: int) -> float:
        """From the most frequent new category, and from the number of new ones against that of single ones before."""
        n_before, n_new = self.before.n, len(self.unseen)
        largest = (n_known + n_new) * all_new_probability(max(self.unseen.values()), n_before, self.n)
        return 2 * min(largest, split_p_value(self.before.once, n_before, n_new, self.n))


def _changed_fraction(before: ClassSizes, now: ClassSizes, label: str, risk: float) -> tuple[float, float] | None:
    """The fraction of a class before and now, if it has changed clearly and significantly."""
    n0, n1 = sum(before.values()), sum(now.values())
    if not n0 or not n1:
        return None
    k0, k1 = before.get(label, 0.0), now.get(label, 0.0)
    odds = [(k + 0.5) / (n - k + 0.5) for k, n in ((k0, n0), (k1, n1))]
    if max(odds) < ODDS_RATIO * min(odds) or split_p_value(k0, n0, k1, n1) > risk:
        return None
    return k0 / n0, k1 / n1


def _threshold_advice(cost_ratio: float, before: float, now: float) -> str:
    """The threshold for another fraction of positives."""
    if not (0 < before < 1 and 0 < now < 1):
        return ""
    odds = before / (1 - before) * (1 - now) / now / cost_ratio
    return (
        f"; if nothing else has changed, --threshold {odds / (1 + odds):.3g} corrects for it (in Python, "
        f"MinimumRiskClassifier(prior={now:.3g}))"
    )


def split_p_value(k0: float, n0: float, k1: float, n1: float) -> float:
    """The two-sided p-value of k1 marked rows among n1, if k0 + k1 marked rows are dealt at random into n0 and n1."""
    from scipy.stats import hypergeom

    a, b, n, m = (round(v) for v in (k0, k1, n0, n1))
    distribution = hypergeom(n + m, a + b, m)
    return float(min(1.0, 2 * min(distribution.sf(b - 1), distribution.cdf(b))))


def all_new_probability(k: int, n0: int, n1: int) -> float:
    """The probability that k given rows of n0 + n1 are all among the n1."""
    from scipy.stats import hypergeom

    return float(hypergeom.pmf(k, n0 + n1, k, n1))


def _kolmogorov_bound(distance: float, n0: int, n1: int) -> float:
    """A bound on the p-value of a Kolmogorov-Smirnov distance, with the constant of Wei and Dudley (2012)."""
    return math.e * math.exp(-2.0 * distance**2 * n0 * n1 / (n0 + n1))
