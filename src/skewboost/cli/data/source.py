"""A table that is read from a file or a pipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from skewboost.cli.data.column_types import as_number
from skewboost.cli.data.content import Content, DataError
from skewboost.names import spell

CHUNK_ROWS = 100_000


class Source(ABC):
    """A table in a file or a pipe.

    Parameters
    ----------
    content : Content
        The bytes.
    text : collection of str
        Columns to read as text. A mapping of column to categories says how the categories are spelled: a cell that is
        not one of them, but is the same number or truth value as one, becomes that one.

    Attributes
    ----------
    path : str
        The path that was passed.
    format : str
        "csv", "parquet", "arrow", "arff" or "libsvm".
    columns : list of str
        The names of the columns.
    n_bytes : int or None
        The size of the file; None for a pipe.
    """

    format: str
    columns: list[str]
    left_out: frozenset[str] = frozenset()

    def __init__(self, content: Content, text: Collection[str] = ()) -> None:
        self.content = content
        self.path = content.path
        self.n_bytes = content.n_bytes
        self.text = text

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
        """Raise if two columns have the same name, or if a column to be read as text does not exist."""
        seen: dict[str, int] = {}
        for k, name in enumerate(self.columns, 1):
            if name in seen:
                raise self.fail(f"columns {seen[name]} and {k} are both called {name!r}", "Rename one of them.")
            seen[name] = k
        unknown = [name for name in self.text if name not in seen]
        if unknown:
            raise self.fail(f"there is no column {unknown[0]!r}", f"The columns are {_some(self.columns)}.")

    def as_text(self, column: Any) -> Any:
        """Return a column of any type as text, spelled as the categories of a model are."""
        known = self.text.get(column.name) if isinstance(self.text, Mapping) else None
        spellings = {v: _known_spelling(v, known) for v in column.dropna().unique()}
        return column.map(spellings, na_action="ignore").astype("str" if _has_str() else object)


def _has_str() -> bool:
    """Whether pandas has a type for text (3.0 and later)."""
    import pandas as pd

    return bool(pd.Series(["a"]).dtype != object)


def _known_spelling(value: Any, known: Collection[str] | None) -> str:
    name = spell(value)
    if known is None or name in known:
        return name
    try:
        number = spell(as_number(name))
    except ValueError:
        number = name.capitalize()  # true is True
    return number if number in known else name


def _some(names: list[str], most: int = 12) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
