"""What CSV and ARFF share: cells are text, from which the types of columns are found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from skewboost.cli.data.column_types import EMPTY, TEXT, ColumnType, convert, first_misfit, type_of
from skewboost.cli.data.content import DataError
from skewboost.cli.data.source import CHUNK_ROWS, Source

SETTLING_ROWS = 100_000


class TextSource(Source):
    """A table of text cells, which is read in two passes: the first one settles the types of columns."""

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
