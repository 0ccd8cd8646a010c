"""What is in a table before anything is learned from it: what is rare, missing, categorical, or suspicious."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.table import CLEARLY_TEXT, Nominal, as_frame, read_column, read_numbers
from skewboost.errors import InputError
from skewboost.evaluate import summary_warnings
from skewboost.evaluate.summary_counts import NO_CLASS, CategoryTally, NumberTally, RepeatTally
from skewboost.names import spell
from skewboost.typing import Array

QUANTILES = (0.25, 0.5, 0.75)
TOP = 5


@dataclass(frozen=True)
class ColumnSummary:
    """One column."""

    name: str
    kind: str  # "number", "category", "text" (no two cells are equal), "date", "constant" or "empty"
    n_missing: int
    missing_share: float
    n_distinct: int | None  # None: more than 10 000
    minimum: float | str | None = None
    maximum: float | str | None = None
    mean: float | None = None
    quantiles: tuple[float, ...] = ()  # at 25, 50 and 75 percent
    exact: bool = True  # whether the quantiles are; else they are those of 10 000 of the distinct values
    top: tuple[tuple[str, int], ...] = ()  # the most frequent categories


@dataclass(frozen=True)
class TargetSummary:
    """The classes, the most frequent first."""

    name: str
    classes: tuple[tuple[Any, int, float], ...]  # label, count and share of the labelled rows
    n_missing: int
    positive: Any  # the rarer of two classes, as estimators choose it; None if there are not two
    imbalance: float  # the most frequent class by the rarest
    one_in: float  # of so many rows one is positive, or of the rarest class


@dataclass(frozen=True)
class Summary:
    """A table in numbers, and in warnings.

    Attributes
    ----------
    n_rows, n_columns : int
        Without the target.
    columns : tuple of ColumnSummary
        In the order of the table.
    target : TargetSummary or None
        The classes.
    n_repeats : int or None
        Rows that are equal to an earlier one, target included; None if there are too many rows to tell.
    warnings, suggestions : tuple of str
        A sentence each.
    ids : tuple of str
        Columns that look like names of the rows: no two cells are equal.
    """

    n_rows: int
    n_columns: int
    columns: tuple[ColumnSummary, ...]
    target: TargetSummary | None
    n_repeats: int | None
    warnings: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON knows."""
        found = asdict(self)
        if self.target is not None:
            found["target"]["classes"] = [
                {"label": _plain(label), "count": count, "share": share} for label, count, share in self.target.classes
            ]
        return _for_json(found)  # type: ignore[no-any-return]

    @classmethod
    def from_chunks(
        cls, chunks: Iterable[Any], *, target: str | None = None, names: Sequence[str] | None = None
    ) -> Summary:
        """Of a table that comes in chunks, in memory that does not grow with the number of rows.

        Parameters
        ----------
        chunks : iterable of tables
            Of the same columns and types.
        target : str or None
            The column that holds the classes.
        names : sequence of str or None
            Names of columns, for arrays.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import numpy as np
        >>> from skewboost.evaluate.summary import Summary
        >>> chunks = (np.full((10, 1), k) for k in range(3))
        >>> Summary.from_chunks(chunks).columns[0].quantiles
        (0.0, 1.0, 2.0)
        """
        counting = _Counting()
        for chunk in chunks:
            columns = _columns(chunk, names)
            if target is not None and target not in columns:
                raise InputError(f"there is no column {target!r}. The columns are {', '.join(list(columns)[:20])}.")
            counting.target_name = target
            y = None if target is None else columns.pop(target)
            counting.add(columns, y)
        return counting.summary()


def summarise(X: Any, y: Any = None, *, names: Sequence[str] | None = None) -> Summary:
    """What is in a table.

    Parameters
    ----------
    X : array or table
        NumPy, pandas, polars or Arrow.
    y : array-like, str or None
        The class of every row, or the name of the column of X that holds it.
    names : sequence of str or None
        Names of columns, for arrays.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from skewboost.datasets import make_fraud
    >>> from skewboost.evaluate.summary import summarise
    >>> X, y = make_fraud(2000)
    >>> summary = summarise(X, y)
    >>> summary.n_rows, summary.target.positive, round(summary.target.one_in)
    (2000, 1, 50)
    >>> [column.name for column in summary.columns if column.kind == "category"]
    ['merchant', 'country', 'device']
    """
    if isinstance(y, str):
        return Summary.from_chunks([X], target=y, names=names)
    counting = _Counting()
    counting.add(_columns(X, names), None if y is None else _series(y))
    return counting.summary()


def _columns(X: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """By name: narwhals' series of a table, or the columns of an array."""
    frame = as_frame(X)
    if frame is not None:
        return {str(series.name): series for series in frame.iter_columns()}
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise InputError(f"X must be a table of rows and columns; got {matrix.ndim} dimension(s).")
    if matrix.dtype.kind not in "iufb":
        raise InputError(
            "X is an array that does not hold numbers. Pass a pandas, polars or Arrow table, whose text columns are "
            "read as categories."
        )
    titles = [str(n) for n in names] if names is not None else [f"x{k}" for k in range(matrix.shape[1])]
    if len(titles) != matrix.shape[1]:
        raise InputError(f"names has {len(titles)} entries, but X has {matrix.shape[1]} columns.")
    return dict(zip(titles, matrix.T))


def _series(y: Any) -> Any:
    series = nw.from_native(y, series_only=True, allow_series=True, pass_through=True)
    return series if isinstance(series, nw.Series) else np.asarray(y)


class _Counting:
    """Sums over chunks."""

    def __init__(self) -> None:
        self.n_rows = 0
        self.names: list[str] = []
        self.tallies: list[NumberTally | CategoryTally] = []
        self.dates: set[int] = set()
        self.repeats = RepeatTally()
        self.target_name: str | None = None
        self.labels: dict[Any, int] = {}  # label → code, in order of appearance
        self.n_labels: list[int] = []
        self.n_unlabelled = 0

    def add(self, chunk: dict[str, Any], y: Any) -> None:
        """A chunk, by columns."""
        n_rows = len(next(iter(chunk.values()))) if chunk else 0 if y is None else len(y)
        if y is not None and len(y) != n_rows:
            raise InputError(f"y has {len(y)} labels, but X has {n_rows} rows.")
        columns = [self._read(j, series) for j, series in enumerate(chunk.values())]
        if not self.names:
            self.names = list(chunk)
            self.tallies = [CategoryTally() if isinstance(c, Nominal) else NumberTally() for c in columns]
        classes = self._classes(y, n_rows)
        self.n_rows += n_rows
        for j, column in enumerate(columns):
            tally = self.tallies[j]
            if isinstance(tally, NumberTally) and isinstance(column, Nominal) and not tally.n_present:
                tally = self.tallies[j] = CategoryTally()  # nothing was in it so far
            if isinstance(tally, CategoryTally) and not isinstance(column, Nominal) and (column != column).all():
                column = Nominal(np.full(n_rows, -1), ())
            tally.add(column, classes)  # type: ignore[arg-type]
        self.repeats.add([*columns, classes.astype(np.float64)], n_rows)

    def _read(self, j: int, series: Any) -> Array | Nominal:
        if isinstance(series, np.ndarray):
            return series.astype(np.float64)
        if series.dtype in (nw.Datetime, nw.Date):
            self.dates.add(j)
            days: Array = series.to_numpy().astype("datetime64[us]")
            return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
        if series.dtype.is_numeric():
            return read_numbers(series).astype(np.float64)  # infinities are for others to refuse
        return read_column(series)

    def _classes(self, y: Any, n_rows: int) -> Array:
        if y is None:
            return np.full(n_rows, NO_CLASS)
        values = y.to_list() if isinstance(y, nw.Series) else y.tolist()
        codes = np.empty(n_rows, dtype=np.int64)
        for i, label in enumerate(values):
            if label is None or label != label:
                codes[i] = NO_CLASS
                self.n_unlabelled += 1
                continue
            if label not in self.labels:
                self.labels[label] = len(self.n_labels)
                self.n_labels.append(0)
            codes[i] = self.labels[label]
        for code, count in zip(*np.unique(codes[codes >= 0], return_counts=True)):
            self.n_labels[code] += int(count)
        return codes

    def summary(self) -> Summary:
        """Of all chunks."""
        columns = tuple(self._column(j) for j in range(len(self.names)))
        target = self._target() if self.target_name is not None or self.labels or self.n_unlabelled else None
        n_classes = len(self.labels)
        leaks = [name for name, tally in zip(self.names, self.tallies) if n_classes > 1 and tally.separates(n_classes)]
        undated = [
            (name, tally) for j, (name, tally) in enumerate(zip(self.names, self.tallies)) if j not in self.dates
        ]
        ids = [name for name, tally in undated if self._looks_like_id(tally)]
        n_repeats = self.repeats.n_repeats
        warnings = summary_warnings.warnings_about(self.n_rows, columns, target, n_repeats, leaks, ids)
        suggestions = summary_warnings.suggestions_for(target)
        return Summary(self.n_rows, len(columns), columns, target, n_repeats, warnings, suggestions, tuple(ids))

    @staticmethod
    def _looks_like_id(tally: NumberTally | CategoryTally) -> bool:
        if tally.n_present < CLEARLY_TEXT or not tally.all_distinct:
            return False
        return isinstance(tally, CategoryTally) or tally.whole

    def _column(self, j: int) -> ColumnSummary:
        name, tally = self.names[j], self.tallies[j]
        n_missing = self.n_rows - tally.n_present
        share = n_missing / self.n_rows if self.n_rows else 0.0
        found: dict[str, Any] = {}
        if isinstance(tally, CategoryTally):
            kind = "text" if tally.full or self._looks_like_id(tally) else "category"
            found["top"] = tally.top(TOP)
        else:
            kind = "date" if j in self.dates else "number"
            if tally.n_present:
                found = self._numbers(tally, as_dates=j in self.dates)
        if tally.n_present == 0:
            kind = "empty"
        elif tally.n_distinct == 1 and kind != "date":  # one date is a date, which no estimator takes
            kind = "constant"
        return ColumnSummary(name, kind, n_missing, share, tally.n_distinct, **found)

    @staticmethod
    def _numbers(tally: NumberTally, as_dates: bool) -> dict[str, Any]:
        if as_dates:
            ends = (str(np.datetime64(int(v), "us")) for v in (tally.minimum, tally.maximum))
            return {key: end.removesuffix("T00:00:00.000000") for key, end in zip(("minimum", "maximum"), ends)}
        return {
            "minimum": tally.minimum,
            "maximum": tally.maximum,
            "mean": tally.mean,
            "quantiles": tally.quantiles(QUANTILES),
            "exact": not tally.full,
        }

    def _target(self) -> TargetSummary:
        total = sum(self.n_labels)
        counted = [(label, self.n_labels[code]) for label, code in self.labels.items()]
        # by count, then as np.unique sorts them where it can
        try:
            counted.sort(key=lambda item: item[0])
        except TypeError:
            counted.sort(key=lambda item: spell(item[0]))
        positive = None
        if len(counted) == 2:  # as targets.choose_positive: the rarer, and the larger label in a tie
            positive = counted[0][0] if counted[0][1] < counted[1][1] else counted[1][0]
        counted.sort(key=lambda item: -item[1])
        classes = tuple((_plain(label), count, count / total) for label, count in counted)
        rarest = min((count for _, count in counted), default=0)
        imbalance = counted[0][1] / rarest if rarest else float("nan")
        one_in = total / rarest if rarest else float("nan")
        return TargetSummary(self.target_name or "y", classes, self.n_unlabelled, _plain(positive), imbalance, one_in)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _for_json(value: Any) -> Any:
    """Lists for tuples; what is no finite number is nothing, or a word."""
    if isinstance(value, dict):
        return {key: _for_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
