"""The rows of delimited text, and their cells as they are written.

The csv module of Python limits the length of a cell, and it cannot tell a space that belongs to a cell from one before
a quote. The rules here are those by which pandas divides a file into cells, so that both find the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple


class Record(NamedTuple):
    """A row: its text with the line end, its cells without quotes, and the number of its first line."""

    text: str
    cells: list[str]
    line: int
    is_closed: bool = True  # False if a quoted cell has no end

    @property
    def is_blank(self) -> bool:
        """Whether it comes from a blank line."""
        return len(self.cells) == 1 and not self.cells[0].strip()


def records(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """Yield the rows that are not blank. A row has several lines if quoted cells have.

    Parameters
    ----------
    lines : iterable of str
        Lines with their ends.
    delimiter : str
        A character.

    Examples
    --------
    >>> from skewboost.cli.data.records import records
    >>> [record.cells for record in records(['01, a, "b,c"'], ",")]
    [['01', ' a', 'b,c']]
    """
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if '"' not in line and delimiter != " ":
            record = Record(line, line.rstrip("\r\n").split(delimiter), number)
        else:
            record = _quoted(line, number, delimiter)
            while not record.is_closed and (more := _until_quote(line for _, line in numbered)):
                record = _quoted(record.text + more, number, delimiter)
        if not record.is_blank:
            yield record


def _until_quote(lines: Iterator[str]) -> str:
    """The next lines, up to one with a quote."""
    found = []
    for line in lines:
        found.append(line)
        if '"' in line:
            break
    return "".join(found)


def _quoted(text: str, number: int, delimiter: str) -> Record:
    """A row that may have quotes. If one is not closed, its cell is the rest of the text."""
    cells: list[str] = []
    at, cell = 0, _pattern(delimiter)
    while True:
        found = cell.match(text, at)
        assert found is not None  # it matches the empty text
        quoted, rest, end = found.groups()
        if quoted is None and rest.lstrip(" ").startswith('"'):
            return Record(text, [*cells, text[at:]], number, False)
        cells.append(rest if quoted is None else quoted.replace('""', '"') + rest)
        at = found.end()
        if end != delimiter:
            return Record(text, cells, number)


@lru_cache
def _pattern(delimiter: str) -> re.Pattern[str]:
    """A cell: text in quotes, what follows it or is not quoted, and the delimiter or the line end.

    Spaces before a quote are not part of a cell. If the delimiter is a space, none of several is. Quotes within a cell
    that does not begin with one have no meaning.
    """
    quoted = r'"([^"]*+(?:""[^"]*+)*+)"'
    begins = rf" *+(?:{quoted})?" if delimiter == " " else rf"(?: *+{quoted})?"
    end = re.escape(delimiter)
    return re.compile(rf"{begins}([^{end}\r\n]*)({end}|\r\n|\r|\n|\Z)")
