"""A table that is read from a file or a pipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from skewboost.cli.data.column_types import EMPTY, TEXT, ColumnType, as_number, convert, first_misfit, type_of
from skewboost.cli.data.content import Content, DataError
from skewboost.names import spell

CHUNK_ROWS = SETTLING_ROWS = 100_000


class Source(ABC):
    """A table in a file or a pipe.

    The keys of `text` are columns to read as text whatever they look like. The values say how categories are spelled: a
    cell that is not one of them, but is the same number or truth value as one, becomes that one.
    """

    format: str  # "csv", "parquet", "arrow", "arff" or "libsvm"
    columns: list[str]
    left_out: frozenset[str] = frozenset()

    def __init__(self, content: Content) -> None:
        self.content = content
        self.path = content.path
        self.n_bytes = content.n_bytes  # None for a pipe
        self.text: dict[str, Collection[str]] = {}

    def leave_out(self, names: Iterable[str]) -> None:
        """Name columns that are not used: they may have a type that cannot be read, and may be left out of tables."""
        self.left_out = frozenset(names)

    @abstractmethod
    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Yield pandas tables of `n_rows` rows each, the last one with fewer; all have the same types."""

    def read(self) -> Any:
        """Return all rows as one pandas table."""
        import pandas as pd

        self.content.keep_all()
        pieces = list(self.chunks())
        return pieces[0] if len(pieces) == 1 else pd.concat(pieces, ignore_index=True)

    def fail(self, problem: str, remedy: str, *, line: int | None = None, column: str | None = None) -> DataError:
        """Return the error to raise, with the place in the file."""
        place = "" if line is None else f", line {line}"
        place += "" if column is None else f", column {column!r}"
        return DataError(f"{self.content.name}{place}: {problem}.", remedy)

    def check_names(self) -> None:
        """Raise if two columns have the same name."""
        seen: dict[str, int] = {}
        for k, name in enumerate(self.columns, 1):
            if name in seen:
                raise self.fail(f"columns {seen[name]} and {k} are both called {name!r}", "Rename one of them.")
            seen[name] = k

    def as_text(self, column: Any) -> Any:
        """Return a column of any type as text, spelled as the categories of a model are."""
        known = self.text.get(column.name)
        spellings = {v: _known_spelling(v, known) for v in column.dropna().unique()}
        return column.map(spellings, na_action="ignore").astype("str" if _has_str() else object)


class TextSource(Source):
    """A table of text cells (CSV, ARFF), read in two passes: the first one settles the types of columns."""

    _types: dict[str, ColumnType] | None = None

    @abstractmethod
    def _blocks(self, n_rows: int, types: dict[str, ColumnType] | None) -> Iterator[Any]:
        """Yield pandas tables of `n_rows` rows, in which text has its spelling; None in the first pass."""

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Yield pandas tables of `n_rows` rows each."""
        if self._types is None:
            self._types = self._settle()
        start = 0
        for block in self._blocks(n_rows, self._types):
            for name, kind in self._types.items():
                try:
                    block[name] = self._convert(block[name], kind)
                except (ValueError, TypeError) as error:  # only in a pipe, or in a file that has changed
                    raise self._misfit(block[name], start, kind) from error
                if name in self.text:
                    block[name] = self.as_text(block[name])
            yield block
            start += len(block)

    def _settle(self) -> dict[str, ColumnType]:
        types = {name: ColumnType(TEXT if name in self.text else EMPTY) for name in self.columns}
        n_rows = 0
        for block in self._blocks(SETTLING_ROWS, None):
            n_rows += len(block)
            types = {name: kind | type_of(block[name]) for name, kind in types.items()}
        if n_rows == 0:
            raise self.fail("there are column names, but no rows", "Add rows below them.")
        return types

    def _convert(self, column: Any, kind: ColumnType) -> Any:
        return convert(column, kind)

    def _misfit(self, column: Any, start: int, kind: ColumnType) -> DataError:
        row = first_misfit(column, kind)
        value = "a missing cell" if column.isna().iloc[row] else repr(str(column.iloc[row]))
        return self.fail(
            f"data row {start + row + 1} holds {value}, but the rows before it made this a column of type {kind.name}",
            "Save the data to a file, which is read twice to settle types.",
            column=str(column.name),
        )


def _has_str() -> bool:
    """Whether pandas has a type for text (3.0 and later)."""
    import pandas as pd

    return bool(pd.Series(["a"]).dtype != object)


def _known_spelling(value: Any, known: Collection[str] | None) -> str:
    name = spell(value)
    if not known or name in known:
        return name
    try:
        number = spell(as_number(name))
    except ValueError:
        number = name.capitalize()  # true is True
    return number if number in known else name
