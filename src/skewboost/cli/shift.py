"""Whether new rows are like those of training: what `fit` notes of these, and what later commands warn of.

A warning takes two things. The difference must be *clear*: twice the odds for shares of classes, a tenth or a fifth of
the rows for columns. And chance must not explain it: under the hypothesis that training rows and new rows were dealt at
random from one table, all tests together warn with a probability of at most `RISK`. They are exact (hypergeometric), or
bounds (Kolmogorov and Smirnov's distance), and hold for rows that repeat each other too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.table import Nominal, read_column
from skewboost.errors import InputError
from skewboost.evaluate.summary_warnings import percent
from skewboost.names import spell
from skewboost.typing import Array

RISK = 0.005  # of any warning at all, where nothing has changed
TIMES = 2.0  # the odds of a class
MISSING, UNSEEN, MOVED = 0.1, 0.05, 0.2  # shares of the rows
CUTS = np.arange(1, 20) / 20
MOST_CATEGORIES = 200  # that are noted of a column
MOST_UNSEEN = 10_000  # new ones that are told apart
MOST_TOLD = 5  # columns that a warning names


# ------------------------------------------------------------------------------- noting


@dataclass(frozen=True)
class Numbers:
    """A column of numbers in training."""

    n: int  # rows with a value
    missing: int
    low: float = 0.0
    high: float = 0.0
    cuts: tuple[float, ...] = ()  # about twentieths
    below: tuple[int, ...] = ()  # rows up to each of them

    @classmethod
    def of(cls, column: Array) -> Numbers:
        """Of all rows."""
        x = column[column == column].astype(np.float64)
        if not len(x):
            return cls(0, len(column))
        rounded = {float(f"{q:.6g}") for q in np.quantile(x, CUTS, method="inverted_cdf")}
        cuts = sorted(rounded)
        below = np.bincount(np.searchsorted(cuts, x), minlength=len(cuts) + 1).cumsum()[:-1]
        return cls(len(x), len(column) - len(x), float(x.min()), float(x.max()), tuple(cuts), tuple(below.tolist()))


@dataclass(frozen=True)
class Categories:
    """A column of categories in training."""

    n: int
    missing: int
    counts: dict[str, int]  # the most frequent
    once: int  # categories of one row

    @classmethod
    def of(cls, column: Nominal) -> Categories:
        """Of all rows."""
        present = column.codes[column.codes >= 0]
        found = np.bincount(present, minlength=len(column.categories))
        order = np.argsort(-found, kind="stable")[:MOST_CATEGORIES]
        counts = {column.categories[k]: int(found[k]) for k in order if found[k]}
        return cls(len(present), len(column.codes) - len(present), counts, int((found == 1).sum()))

    @property
    def complete(self) -> bool:
        """Whether all categories are noted."""
        return sum(self.counts.values()) == self.n


Column = Numbers | Categories
Shares = dict[str, float]  # of the classes, which add up to the number of rows that they are as good as


def shares_of(labels: Array, weights: Array | None = None) -> Shares:
    """How many rows of each class; weighted ones as many as would be as uncertain (Kish)."""
    classes, codes = np.unique(labels, return_inverse=True)
    w = np.ones(len(labels)) if weights is None else weights
    found = np.bincount(codes, weights=w, minlength=len(classes))
    square = float((w**2).sum())
    scale = float(w.sum()) / square if square > 0 else 0.0
    return {spell(c): float(scale * k) for c, k in zip(classes.tolist(), found)}


@dataclass(frozen=True)
class Profile:
    """What `fit` notes of the rows of training, to compare others with."""

    columns: dict[str, Column]
    truth: Shares
    said: Shares = field(default_factory=dict)  # by the model, of rows that it was not fitted to; if there are any

    @classmethod
    def of(cls, X: Any, truth: Shares, said: Shares) -> Profile:
        """Of a table of features."""
        read = {name: _read(X[name]) for name in X.columns}
        columns = {str(n): Categories.of(c) if isinstance(c, Nominal) else Numbers.of(c) for n, c in read.items()}
        return cls(columns, truth, said)

    def as_dict(self) -> dict[str, Any]:
        """In the types of JSON."""
        return {
            "columns": {name: dict(vars(column)) for name, column in self.columns.items()},
            "truth": self.truth,
            "said": self.said,
        }

    @classmethod
    def read(cls, told: Any) -> Profile | None:
        """What `as_dict` gave; None where it is something else, which a model file may hold."""
        try:
            columns = {str(name): _column(**about) for name, about in told["columns"].items()}
            truth, said = ({str(c): _count(k) for c, k in told[what].items()} for what in ("truth", "said"))
        except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError):
            return None
        return cls(columns, truth, said)


def _column(n: Any, missing: Any, counts: Any = None, once: Any = 0, low: Any = 0, high: Any = 0, cuts: Any = (),
            below: Any = ()) -> Column:  # fmt: skip
    """A column as it is noted in a file."""
    rows = int(_count(n)), int(_count(missing))
    if counts is not None:
        noted = {str(name): int(_count(k)) for name, k in counts.items()}
        return Categories(*rows, noted, int(_count(once))) if noted else Categories(0, rows[1], {}, 0)
    pairs = [(float(cut), int(_count(k))) for cut, k in zip(cuts, below, strict=True)]
    return Numbers(*rows, float(low), float(high), *zip(*pairs)) if pairs else Numbers(0, rows[1])


def _count(value: Any) -> float:
    """A number of rows, which may be weighed."""
    if not 0 <= (found := float(value)) < math.inf:
        raise InputError(f"{value!r} is no number of rows")
    return found


def _read(series: Any) -> Array | Nominal:
    return read_column(nw.from_native(series, series_only=True))


# ----------------------------------------------------------------------------- watching


class Watch:
    """New rows, chunk by chunk, and how they differ from those of training.

    Parameters
    ----------
    profile : Profile or None
        None: nothing is known of the rows of training, so nothing is said.
    """

    def __init__(self, profile: Profile | None) -> None:
        self.profile = profile
        columns = {} if profile is None else profile.columns
        self._columns = {name: _ColumnWatch(about) for name, about in columns.items()}
        self._truth: Shares = {}
        self._said: Shares = {}

    def rows(self, X: Any) -> None:
        """Look at a chunk of features, which the model could read."""
        for name, watch in self._columns.items():
            if name in X.columns:
                watch.add(_read(X[name]))

    def said(self, labels: Array) -> None:
        """Look at what the model says of a chunk."""
        for label, k in shares_of(labels).items():
            self._said[label] = self._said.get(label, 0.0) + k

    def truth(self, labels: Array, weights: Array | None = None) -> None:
        """Look at the labels of all rows."""
        self._truth = shares_of(labels, weights)

    def warnings(self, positive: Any, remedy: Callable[[float, float], str] | None = None) -> list[str]:
        """What is clearly different, a sentence each, the gravest first; then what to do about it.

        Parameters
        ----------
        positive : label or None
            The class to find, of two.
        remedy : callable or None
            Given the share of the positive class in training and now, what else there is to do.
        """
        if self.profile is None:
            return []
        classes = sorted(self.profile.truth) if positive is None else [spell(positive)]
        risk = RISK / (3 * len(self._columns) + 2 * len(classes))
        found = []
        for label in classes:
            of_truth = _changed(self.profile.truth, self._truth, label, risk)
            of_answers = _changed(self.profile.said, self._said, label, risk)
            if of_truth is not None:
                was, now = of_truth
                what_else = "" if remedy is None else remedy(was, now)
                found.append(f"{percent(now)} of the rows are {label}, against {percent(was)} in training{what_else}")
            elif of_answers is not None:
                was, now = of_answers
                told = f"{percent(now)} of the rows are said to be {label}, against {percent(was)} when it was fitted"
                found.append(told)
        found += self._about_columns(risk)
        if not found:
            return []
        measure = "" if self._truth else "measure it with `skewboost evaluate` on such rows whose truth is known, or "
        return [*found, f"the model may decide badly on rows like these: {measure}fit it again to them"]

    def _about_columns(self, risk: float) -> list[str]:
        told = []
        for name, watch in self._columns.items():
            differences = watch.differences(risk)
            if differences:
                told.append((max(differences)[0], f"{name!r} {differences[0][1]}"))
        told.sort(key=lambda item: -item[0])
        found = [sentence for _, sentence in told[:MOST_TOLD]]
        if len(told) > MOST_TOLD:
            found.append(f"{len(told) - MOST_TOLD} more columns differ from the training rows")
        return found


def _changed(before: Shares, now: Shares, label: str, risk: float) -> tuple[float, float] | None:
    """The share of a class before and now, if its odds are others."""
    n0, n1 = sum(before.values()), sum(now.values())
    if not n0 or not n1:
        return None
    k0, k1 = before.get(label, 0.0), now.get(label, 0.0)
    odds = [(k + 0.5) / (n - k + 0.5) for k, n in ((k0, n0), (k1, n1))]
    if max(odds) < TIMES * min(odds) or unlikely(k0, n0, k1, n1) > risk:
        return None
    return k0 / n0, k1 / n1


def unlikely(k0: float, n0: float, k1: float, n1: float) -> float:
    """How likely chance makes shares differ that much, if k0 + k1 marked rows are dealt into n0 and n1 (both sides)."""
    from scipy.stats import hypergeom

    a, b, n, m = (round(v) for v in (k0, k1, n0, n1))
    dealt = hypergeom(n + m, a + b, m)
    return float(min(1.0, 2 * min(dealt.sf(b - 1), dealt.cdf(b))))


class _ColumnWatch:
    """One column of new rows, beside what it was in training."""

    def __init__(self, before: Column) -> None:
        self.before = before
        self.n = self.missing = 0
        self.below = np.zeros(len(before.cuts), dtype=np.int64) if isinstance(before, Numbers) else np.zeros(0)
        self.outside = [0, 0]  # below the lowest and above the highest number
        self.counts: dict[str, int] = {}
        self.unseen: dict[str, int] = {}
        self.n_unseen = 0

    def add(self, column: Array | Nominal) -> None:
        """A chunk."""
        if isinstance(column, Nominal):
            present = column.codes[column.codes >= 0]
            found = np.bincount(present, minlength=len(column.categories)).tolist()
            self._add_categories({name: k for name, k in zip(column.categories, found) if k})
        else:
            present = column[column == column].astype(np.float64)
            self._add_numbers(present)
        self.n += len(present)
        self.missing += (len(column.codes) if isinstance(column, Nominal) else len(column)) - len(present)

    def _add_numbers(self, x: Array) -> None:
        if isinstance(self.before, Numbers) and self.before.n:
            self.below += np.bincount(np.searchsorted(self.before.cuts, x), minlength=len(self.below) + 1).cumsum()[:-1]
            self.outside[0] += int((x < self.before.low).sum())
            self.outside[1] += int((x > self.before.high).sum())

    def _add_categories(self, found: Mapping[str, int]) -> None:
        if not isinstance(self.before, Categories):
            return
        for name, k in found.items():
            if name in self.before.counts:
                self.counts[name] = self.counts.get(name, 0) + k
            else:
                self.n_unseen += k
                if name in self.unseen or len(self.unseen) < MOST_UNSEEN:
                    self.unseen[name] = self.unseen.get(name, 0) + k

    def differences(self, risk: float) -> list[tuple[float, str]]:
        """How large, and what to say, of all that is clear and not by chance; the most telling first."""
        before, n0, n1 = self.before, self.before.n + self.before.missing, self.n + self.missing
        found = []
        if n0 and n1:
            was, now = before.missing / n0, self.missing / n1
            if abs(now - was) >= MISSING and unlikely(before.missing, n0, self.missing, n1) <= risk:
                found.append(
                    (abs(now - was), f"is missing in {percent(now)} of the rows, against {percent(was)} in training")
                )
        if before.n and self.n:
            found += self._of_numbers(before, risk) if isinstance(before, Numbers) else self._of_categories(risk)
        return found

    def _of_numbers(self, before: Numbers, risk: float) -> list[tuple[float, str]]:
        found = []
        beyond = sum(self.outside) / self.n
        if beyond >= UNSEEN and 2 * min(_all_new(k, before.n, self.n) for k in self.outside) <= risk:
            found.append(
                (beyond, f"is outside of {before.low:.6g} to {before.high:.6g}, the range in training, in "
                         f"{percent(beyond)} of the rows")
            )  # fmt: skip
        now, was = self.below / self.n, np.array(before.below) / before.n
        apart = np.abs(now - was)
        k = int(np.argmax(apart))
        if apart[k] >= MOVED and _kolmogorov(float(apart[k]), before.n, self.n) <= risk:
            told = (
                f"is up to {before.cuts[k]:.6g} in {percent(now[k])} of the rows, against {percent(was[k])} in training"
            )
            found.append((float(apart[k]), told))
        return found

    def _of_categories(self, risk: float) -> list[tuple[float, str]]:
        before = self.before
        assert isinstance(before, Categories)
        found = []
        fresh = self.n_unseen / self.n - before.once / before.n  # rows of new categories beyond what is usual
        if before.complete and fresh >= UNSEEN and self._chance_of_unseen(before) <= risk:
            name = max(self.unseen, key=lambda c: self.unseen[c])
            share = percent(self.n_unseen / self.n)
            found.append(
                (fresh, f"has categories that were not there in training in {share} of the rows, such as {name!r}")
            )
        apart = {name: self.counts.get(name, 0) / self.n - k / before.n for name, k in before.counts.items()}
        name = max(apart, key=lambda c: abs(apart[c]))
        now, was = self.counts.get(name, 0), before.counts[name]
        if abs(apart[name]) >= MOVED and len(apart) * unlikely(was, before.n, now, self.n) <= risk:
            told = f"is {name} in {percent(now / self.n)} of the rows, against {percent(was / before.n)} in training"
            found.append((abs(apart[name]), told))
        return found

    def _chance_of_unseen(self, before: Categories) -> float:
        """By the most frequent of them, and by how many there are where one row in so many had its own in training."""
        distinct = len(before.counts) + len(self.unseen)
        largest = distinct * _all_new(max(self.unseen.values()), before.n, self.n)
        return 2 * min(largest, unlikely(before.once, before.n, len(self.unseen), self.n))


def _all_new(k: int, n0: int, n1: int) -> float:
    """How likely k given rows of n0 + n1 are all among the n1."""
    if k > n1:
        return 0.0
    log = math.lgamma(n1 + 1) - math.lgamma(n1 - k + 1) - math.lgamma(n0 + n1 + 1) + math.lgamma(n0 + n1 - k + 1)
    return math.exp(min(0.0, log))


def _kolmogorov(distance: float, n0: int, n1: int) -> float:
    """How likely chance makes two distributions that far apart at most, with the constant of Wei and Dudley (2012)."""
    return math.e * math.exp(-2.0 * distance**2 * n0 * n1 / (n0 + n1))
