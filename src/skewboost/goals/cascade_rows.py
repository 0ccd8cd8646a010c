"""The rows that a cascade is trained on: those that passed its stages so far, and new negatives from a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skewboost.datasets.chunks import count_rows, stack
from skewboost.engine.computed import ComputedTable
from skewboost.engine.table import as_frame, take_rows
from skewboost.errors import InputError, SkewBoostError
from skewboost.goals.cascade_stages import Cascade
from skewboost.goals.rows import SearchRows
from skewboost.parameters import refusal
from skewboost.typing import Array

END = object()  # of a source


class Source:
    """New negatives, table by table, of which those that pass a cascade are kept."""

    def __init__(self, tables: Any, readable: Callable[[Any], Any]) -> None:
        tables = _called(tables) if callable(tables) else tables
        if _is_one_table(tables):
            raise InputError(
                f"negatives is one table, of type {type(tables).__name__}.",
                "Pass several, as in negatives=[table], or a function without arguments that returns them.",
            )
        try:
            self._tables: Iterator[Any] = iter(() if tables is None else tables)
        except TypeError as error:
            raise InputError(
                f"negatives is of type {type(tables).__name__}.",
                "Pass an iterable of tables, or a function without arguments that returns one.",
            ) from error
        self._readable = readable
        self.n_tables = self.n_seen = 0

    def passing(self, cascade: Cascade, n: int, rng: Any) -> list[Any]:
        """Return tables with up to n rows that pass a cascade, fewer only if the source ends."""
        found: list[Any] = []
        while n > 0 and (table := next(self._tables, END)) is not END:
            self.n_tables += 1
            if isinstance(table, tuple) or table is None:
                raise InputError(
                    f"Table {self.n_tables} of negatives is {'None' if table is None else 'a tuple'}.",
                    "Pass tables; `windows` of HaarFeatures returns one and the places of its rows: "
                    "(haar.windows(picture)[0] for picture in pictures).",
                )
            if _is_empty(table):
                continue
            try:
                X = self._readable(table)
            except SkewBoostError as error:
                raise type(error)(f"Table {self.n_tables} of negatives: {error.problem}", error.remedy) from error
            self.n_seen += count_rows(X)
            rows = np.flatnonzero(cascade.reached(X).passed)
            if len(rows) > n:
                rows = np.sort(rng.permutation(rows)[:n])
            if len(rows):
                found.append(take_rows(X, rows))
                n -= len(rows)
        return found


def _called(tables: Callable[[], Any]) -> Any:
    why_not = refusal(tables)
    if why_not is not None:
        raise InputError(
            f"negatives is a function that needs arguments ({why_not}).",
            "Pass one without arguments, such as lambda: read(path), or an iterable of tables.",
        )
    return tables()


def _is_one_table(tables: Any) -> bool:
    if isinstance(tables, np.ndarray):
        return tables.ndim < 3
    return isinstance(tables, str | ComputedTable) or issparse(tables) or as_frame(tables) is not None


def _is_empty(table: Any) -> bool:
    try:
        return count_rows(table) == 0
    except (TypeError, IndexError):  # no table, which is said when it is read
        return False


def check_same_kind(table: Any, first: Any) -> None:
    """Raise if a table cannot be put below the first one: frames of other libraries, frames and arrays."""
    frames = [as_frame(t) for t in (table, first)]
    kinds = {None if frame is None else frame.implementation for frame in frames}
    if isinstance(table, ComputedTable) and isinstance(first, ComputedTable):
        one = np.arange(1)
        if first.take(one).followed_by([table.take(one)]) is None:
            raise InputError(
                "its columns are not computed as those of X are.",
                "Make both with the same transformer, such as one HaarFeatures.",
            )
    if len(kinds) > 1:
        names = [f"{type(t).__module__.partition('.')[0]}.{type(t).__name__}" for t in (table, first)]
        raise InputError(f"it is of type {names[0]}, and X of type {names[1]}.", "Pass tables of the type of X.")


@dataclass(frozen=True)
class StageRows:
    """The rows of the next stage: those to train on, and those to choose its threshold on."""

    training: SearchRows
    validation: SearchRows
    pos_label: Any
    neg_label: Any

    def passing(self, cascade: Cascade) -> StageRows:
        """Return the rows that pass a cascade."""
        return replace(self, training=cascade.passing(self.training), validation=cascade.passing(self.validation))

    def n_negatives(self) -> tuple[int, int]:
        """Return the numbers of negatives to train on, and to choose the threshold on."""
        return int((self.training.y != self.pos_label).sum()), int((self.validation.y != self.pos_label).sum())

    def refilled(self, cascade: Cascade, source: Source, wanted: tuple[int, int], rng: Any) -> StageRows:
        """Return the rows with new negatives that pass a cascade, up to the numbers that are wanted of each part."""
        lacking = [max(0, n - have) for n, have in zip(wanted, self.n_negatives())]
        tables = source.passing(cascade, sum(lacking), rng)
        if not tables:
            return self
        new = stack(tables)
        shuffled = rng.permutation(count_rows(new))
        n = round(len(shuffled) * lacking[0] / sum(lacking))
        training, validation = (
            with_negatives(part, take_rows(new, np.sort(rows)), self.neg_label) if len(rows) else part
            for part, rows in ((self.training, shuffled[:n]), (self.validation, shuffled[n:]))
        )
        return replace(self, training=training, validation=validation)

    def at_most(self, n: int | None, rng: Any) -> SearchRows:
        """Return the rows to train on, with no more than n negatives, drawn at random."""
        rows = self.training
        negatives = np.flatnonzero(rows.y != self.pos_label)
        if n is None or len(negatives) <= n:
            return rows
        in_order = negatives[np.argsort(rows.units[negatives], kind="stable")]  # which does not depend on that of X
        drawn = in_order[rng.permutation(len(negatives))[:n]]
        return rows.take(np.sort(np.concatenate((np.flatnonzero(rows.y == self.pos_label), drawn))))


def with_negatives(rows: SearchRows, X: Any, label: Any) -> SearchRows:
    """Return rows with further negatives, each of them a unit and an example of its own."""
    n = count_rows(X)
    units = np.append(rows.units, rows.units.max(initial=-1) + 1 + np.arange(n))
    params = {name: _longer(name, values, units) for name, values in rows.params.items()}
    y = np.append(rows.y, np.full(n, label, dtype=rows.y.dtype))
    return replace(rows, X=stack([rows.X, X]), y=y, units=units, params=params)


def _longer(name: str, values: Any, units: Array) -> Array:
    if name == "groups":
        return units
    assert name == "sample_weight", name  # others were refused
    values = np.asarray(values, dtype=np.float64)
    return np.append(values, np.ones(len(units) - len(values)))
