"""A summary of a table before training: classes, missing cells, types of columns, and possible problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw
import numpy as np

from skewboost.engine.row_hash import bits_of, row_hashes
from skewboost.engine.table import CLEARLY_TEXT, Nominal, as_frame, read_column, read_numbers
from skewboost.errors import InputError
from skewboost.evaluate import summary_warnings
from skewboost.evaluate.summary_counts import NO_CLASS, CategoryCounts, NumberCounts
from skewboost.meta.inner_labels import plain
from skewboost.names import spell
from skewboost.typing import Array

QUANTILES = (0.25, 0.5, 0.75)
TOP = 5
ROW_LIMIT = 20_000_000  # rows among which repeats are counted, at eight bytes each


@dataclass(frozen=True)
class ColumnSummary:
    """The summary of a column."""

    name: str
    kind: str  # "number", "category", "text" (no two cells are equal), "date", "constant" or "empty"
    n_missing: int
    missing_share: float
    n_distinct: int | None  # None if there are more than 10 000
    minimum: float | str | None = None
    maximum: float | str | None = None
    mean: float | None = None
    quantiles: tuple[float, ...] = ()  # at 25, 50 and 75 percent
    exact: bool = True  # whether quantiles are exact, or computed from 10 000 of the distinct values
    top: tuple[tuple[str, int], ...] = ()  # the most frequent categories
    amounts: str = ""  # if they are numbers that are spelled as text: what they are, and how to write them


@dataclass(frozen=True)
class TargetSummary:
    """The classes of the target, the most frequent one first."""

    name: str
    classes: tuple[tuple[Any, int, float], ...]  # label, count and proportion of the labelled rows
    n_missing: int
    positive: Any  # the rarer of two classes, as in estimators; None if there are not two
    imbalance: float  # the count of the most frequent class, divided by that of the rarest
    one_in: float  # one in this many rows is positive, or of the rarest class


@dataclass(frozen=True)
class Summary:
    """The summary of a table, with warnings and suggestions.

    Attributes
    ----------
    n_rows, n_columns : int
        The size of the table, without the target.
    columns : tuple of ColumnSummary
        The columns, in the order of the table.
    target : TargetSummary or None
        The classes.
    n_repeats : int or None
        The number of rows that are equal to an earlier one, target included; None if there are too many rows to count.
    warnings, suggestions : tuple of str
        What may be wrong with the table, and what to do next.
    ids : tuple of str
        Columns that look like identifiers of the rows: no two cells are equal.
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
        """Return the summary in types that JSON supports."""
        found = asdict(self)
        if self.target is not None:
            found["target"]["classes"] = [
                {"label": plain(label), "count": count, "share": share} for label, count, share in self.target.classes
            ]
        return _for_json(found)  # type: ignore[no-any-return]

    @classmethod
    def from_chunks(
        cls, chunks: Iterable[Any], *, target: str | None = None, names: Sequence[str] | None = None
    ) -> Summary:
        """Summarise a table that is read in chunks, in memory that does not grow with the number of rows.

        Parameters
        ----------
        chunks : iterable of tables
            Tables with the same columns and types.
        target : str or None, default=None
            The column of the classes.
        names : sequence of str or None, default=None
            The names of columns, if chunks are arrays.

        Examples
        --------
        >>> import numpy as np
        >>> from skewboost.evaluate.summary import Summary
        >>> chunks = (np.full((10, 1), k) for k in range(3))
        >>> Summary.from_chunks(chunks).columns[0].quantiles
        (0.0, 1.0, 2.0)
        """
        counts = _TableCounts(target)
        for chunk in chunks:
            columns = _columns(chunk, names)
            if target is not None and target not in columns:
                raise InputError(f"There is no column {target!r}.", f"The columns are {', '.join(list(columns)[:20])}.")
            y = None if target is None else columns.pop(target)
            counts.add(columns, y)
        return counts.summary()


def summarise(X: Any, y: Any = None, *, names: Sequence[str] | None = None) -> Summary:
    """Summarise a table.

    Parameters
    ----------
    X : array or table
        A NumPy array of numbers, or a pandas, polars or Arrow table.
    y : array-like, str or None, default=None
        The class of every row, or the name of the column of X that holds it.
    names : sequence of str or None, default=None
        The names of columns, if X is an array.

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
    counts = _TableCounts(None if y is None else "y")
    labels = nw.from_native(y, series_only=True, allow_series=True, pass_through=True)
    labels = labels if isinstance(labels, nw.Series) or y is None else np.asarray(y)
    counts.add(_columns(X, names), labels)
    return counts.summary()


def _columns(X: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the columns by name: series of narwhals, or columns of an array."""
    frame = as_frame(X)
    if frame is not None:
        return {str(series.name): series for series in frame.iter_columns()}
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise InputError(f"X must be a table of rows and columns; got {matrix.ndim} dimension(s).")
    if matrix.dtype.kind not in "iufb":
        raise InputError(
            "X is an array that does not hold numbers.",
            "Pass a pandas, polars or Arrow table, whose text columns are read as categories.",
        )
    titles = [str(n) for n in names] if names is not None else [f"x{k}" for k in range(matrix.shape[1])]
    if len(titles) != matrix.shape[1]:
        raise InputError(f"names has {len(titles)} entries, but X has {matrix.shape[1]} columns.")
    return dict(zip(titles, matrix.T))


class _TableCounts:
    """Counts over the chunks of a table, of which `target` is the name of the classes, if there are any."""

    def __init__(self, target: str | None) -> None:
        self.target = target
        self.n_rows = 0
        self.columns: dict[str, NumberCounts | CategoryCounts] = {}
        self.dates: set[str] = set()
        self.hashes: list[Array] = []  # of rows, unless there are too many
        self.codes: dict[Any, int] = {}  # of labels, in order of appearance
        self.n_with_code: Counter[int] = Counter()

    def add(self, chunk: dict[str, Any], y: Any) -> None:
        """Count a chunk."""
        n_rows = len(next(iter(chunk.values()))) if chunk else 0 if y is None else len(y)
        if y is not None and len(y) != n_rows:
            raise InputError(f"y has {len(y)} labels, but X has {n_rows} rows.")
        classes = self._classes(y, n_rows)
        self.n_rows += n_rows
        columns = [self._read(name, series) for name, series in chunk.items()]
        for name, column in zip(chunk, columns):
            counts = self.columns.get(name)
            if counts is None or (isinstance(column, Nominal) and not counts.n_present):  # only missing cells before
                counts = self.columns[name] = CategoryCounts() if isinstance(column, Nominal) else NumberCounts()
            if isinstance(counts, CategoryCounts) and not isinstance(column, Nominal) and (column != column).all():
                column = Nominal(np.full(n_rows, -1), ())
            counts.add(column, classes)  # type: ignore[arg-type]
        if self.n_rows <= ROW_LIMIT:
            cells = [*columns, classes.astype(np.float64)]
            self.hashes.append(row_hashes(map(bits_of, cells), np.zeros(n_rows)))
        else:
            self.hashes = []

    def _read(self, name: str, series: Any) -> Array | Nominal:
        if isinstance(series, np.ndarray):
            return series.astype(np.float64)
        if series.dtype in (nw.Datetime, nw.Date):
            self.dates.add(name)
            days: Array = series.to_numpy().astype("datetime64[us]")
            return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
        if series.dtype.is_numeric():
            return read_numbers(series).astype(np.float64)  # with infinities, which estimators refuse
        return read_column(series)

    def _classes(self, y: Any, n_rows: int) -> Array:
        """Return the code of the class of every row."""
        if y is None:
            return np.full(n_rows, NO_CLASS)
        labels = y.to_list() if isinstance(y, nw.Series) else y.tolist()
        codes = [
            NO_CLASS if label is None or label != label else self.codes.setdefault(label, len(self.codes))
            for label in labels
        ]
        self.n_with_code.update(codes)
        return np.array(codes, dtype=np.int64)

    def summary(self) -> Summary:
        """Return the summary of all chunks."""
        columns = tuple(self._column(name, counts) for name, counts in self.columns.items())
        target = None if self.target is None else self._target(self.target)
        n_classes = len(self.codes)
        leaks = [name for name, counts in self.columns.items() if n_classes > 1 and counts.separates(n_classes)]
        ids = [name for name, counts in self.columns.items() if name not in self.dates and _looks_like_id(counts)]
        n_repeats = None
        if self.n_rows <= ROW_LIMIT:
            n_repeats = self.n_rows - len(np.unique(np.concatenate(self.hashes))) if self.hashes else 0
        warnings = summary_warnings.warnings_about(self.n_rows, columns, target, n_repeats, leaks, ids)
        suggestions = summary_warnings.suggestions_for(target)
        return Summary(self.n_rows, len(columns), columns, target, n_repeats, warnings, suggestions, tuple(ids))

    def _column(self, name: str, counts: NumberCounts | CategoryCounts) -> ColumnSummary:
        n_missing = self.n_rows - counts.n_present
        values: dict[str, Any] = {}
        if isinstance(counts, CategoryCounts):
            kind = "text" if counts.full or _looks_like_id(counts) else "category"
            values["top"] = counts.top(TOP)
            values["amounts"] = str(counts.amounts) if counts.amounts else ""
        else:
            kind = "date" if name in self.dates else "number"
            if counts.n_present:
                values = self._numbers(counts, as_dates=name in self.dates)
        if counts.n_present == 0:
            kind = "empty"
        elif counts.n_distinct == 1 and kind != "date":  # estimators refuse a date even if it is constant
            kind = "constant"
        return ColumnSummary(name, kind, n_missing, n_missing / max(self.n_rows, 1), counts.n_distinct, **values)

    @staticmethod
    def _numbers(counts: NumberCounts, as_dates: bool) -> dict[str, Any]:
        if as_dates:
            ends = (str(np.datetime64(int(v), "us")) for v in (counts.minimum, counts.maximum))
            return {key: end.removesuffix("T00:00:00.000000") for key, end in zip(("minimum", "maximum"), ends)}
        return {
            "minimum": counts.minimum,
            "maximum": counts.maximum,
            "mean": counts.mean,
            "quantiles": counts.quantiles(QUANTILES),
            "exact": not counts.full,
        }

    def _target(self, name: str) -> TargetSummary:
        labels = [(label, self.n_with_code[code]) for label, code in self.codes.items()]
        try:
            labels.sort(key=lambda item: item[0])  # as np.unique does
        except TypeError:
            labels.sort(key=lambda item: spell(item[0]))
        positive = None
        if len(labels) == 2:  # as in estimators: the rarer label, and the larger one in a tie
            positive = labels[0][0] if labels[0][1] < labels[1][1] else labels[1][0]
        labels.sort(key=lambda item: -item[1])
        total = sum(count for _, count in labels)
        classes = tuple((plain(label), count, count / total) for label, count in labels)
        most, least = (labels[0][1], labels[-1][1]) if labels else (np.nan, np.nan)
        n_missing = self.n_with_code[NO_CLASS]
        return TargetSummary(name, classes, n_missing, plain(positive), most / least, total / least)


def _looks_like_id(counts: NumberCounts | CategoryCounts) -> bool:
    if counts.n_present < CLEARLY_TEXT or not counts.all_distinct:
        return False
    return isinstance(counts, CategoryCounts) or counts.whole


def _for_json(value: Any) -> Any:
    """Return lists for tuples, null for NaN, and text for infinities and other objects."""
    if isinstance(value, dict):
        return {key: _for_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
