"""A table that is read from a file or a pipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
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
        """Name columns that are not used: their cells need not be of one type, and tables may lack them."""
        self.left_out = frozenset(names)

    @abstractmethod
    def chunks_and_cells(self, n_rows: int, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Yield chunks, and the cells of some columns as they are in the file, whether or not these are left out.

        Cells are a pandas table of text, spelled as in the file; or an Arrow table, if the file is one; or None without
        `names`.
        """

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Yield pandas tables of `n_rows` rows each, the last one with fewer; all have the same types."""
        return (chunk for chunk, _ in self.chunks_and_cells(n_rows, ()))

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
    def _blocks(
        self, n_rows: int, types: dict[str, ColumnType] | None, names: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield pandas tables of `n_rows` rows, in which text has its spelling, and the cells of columns.

        `types` is None in the first pass.
        """

    def chunks_and_cells(self, n_rows: int, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Yield pandas tables of `n_rows` rows each, and the cells of some columns as text."""
        if self._types is None:
            self._types = self._settle()
        start = 0
        for block, cells in self._blocks(n_rows, self._types, names):
            for name, kind in self._types.items():
                try:
                    block[name] = self._convert(block[name], kind)
                except (ValueError, TypeError) as error:  # only in a pipe, or in a file that has changed
                    raise self._misfit(block[name], start, kind) from error
                if name in self.text:
                    block[name] = self.as_text(block[name])
            yield block[list(self._types)], cells
            start += len(block)

    def _settle(self) -> dict[str, ColumnType]:
        """The types of the columns that are not left out."""
        used = [name for name in self.columns if name not in self.left_out]
        types = {name: ColumnType(TEXT if name in self.text else EMPTY) for name in used}
        n_rows = 0
        for block, _ in self._blocks(SETTLING_ROWS, None):
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


def cells_of(rows: Sequence[Sequence[str]], columns: Sequence[str], names: Sequence[str]) -> Any:
    """Return a table of text with the cells of some columns; None if there are no names."""
    import pandas as pd

    if not names:
        return None
    places = [(name, columns.index(name)) for name in names]
    return pd.DataFrame({name: [row[k] for row in rows] for name, k in places}, dtype=object)


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
