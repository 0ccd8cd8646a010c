"""ARFF, the format of Weka and of many published data sets."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from skewboost.cli.data.content import Content
from skewboost.cli.data.kinds import DATE, EMPTY, FLOAT, INTEGER, TEXT, Kind, as_number, convert, kind_of, wider
from skewboost.cli.data.source import CHUNK_ROWS, Source

NOMINAL = "nominal"
_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(,|$)")
_PAIR = re.compile(rf"\s*([0-9]{{1,9}})\s+({_QUOTED}|[^,]*?)\s*(,|$)")
_WHOLE = re.compile(r"[-+]?0*[0-9]{1,19}")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Attribute(NamedTuple):
    """A column as it is declared."""

    name: str
    kind: str  # FLOAT, TEXT, DATE or NOMINAL
    categories: tuple[str, ...] = ()


class Arff(Source):
    """ARFF, dense or sparse. Nominal attributes are categories, in the order in which they are declared."""

    format = "arff"

    def __init__(self, content: Content, text: Collection[str] = ()) -> None:
        super().__init__(content, text)
        content.keep_all()  # whether numbers are whole is known at the end
        self.attributes = self._declared()
        self.columns = [attribute.name for attribute in self.attributes]
        self.check_names()
        self._known = [frozenset(attribute.categories) for attribute in self.attributes]
        self._kinds: dict[str, Kind] | None = None

    def _lines(self) -> Iterator[tuple[int, str]]:
        """What is neither blank nor a comment, with its number."""
        with self.content.explained(), io.TextIOWrapper(self.content.open(), encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                plain = line.strip()
                if plain and not plain.startswith("%"):
                    yield number, plain

    def _declared(self) -> list[Attribute]:
        found: list[Attribute] = []
        for number, line in self._lines():
            word = line.split(None, 1)[0].lower()
            if word == "@data":
                if not found:
                    raise self.fail("no @attribute comes before @data", "Declare the columns.", line=number)
                return found
            if word == "@attribute":
                found.append(self._attribute(line, number))
            elif word != "@relation":
                raise self.fail(f"{line[:30]!r} is no declaration", "Put @data before the rows.", line=number)
        raise self.fail("there is no @data", "Put it before the rows; or the file is cut short.")

    def _attribute(self, line: str, number: int) -> Attribute:
        match = _ATTRIBUTE.fullmatch(line)
        if match is None or not match[2]:
            raise self.fail(f"cannot read {line[:40]!r}", "Write @attribute name type.", line=number)
        name, kind = _plain(match[1]), match[2].split("%")[0].strip() if "{" not in match[2] else match[2].strip()
        if kind.startswith("{"):
            end = kind.rfind("}")
            if end < 0:
                raise self.fail("the list of categories has no end", "Close it with }.", line=number, column=name)
            cells = [_plain(cell) for cell in _cells(kind[1:end]) or ()]
            if not cells or len(set(cells)) < len(cells):
                what = "the list of categories cannot be read, or names one twice"
                raise self.fail(what, "Name each once, and close quotes.", line=number, column=name)
            return Attribute(name, NOMINAL, tuple(cells))
        word = kind.split(None, 1)[0].lower() if kind else ""
        kinds = {"numeric": FLOAT, "real": FLOAT, "integer": FLOAT, "string": TEXT, "date": DATE}
        if word not in kinds:
            raise self.fail(
                f"cannot read the type {kind[:30]!r}", "Derive flat columns first.", line=number, column=name
            )
        return Attribute(name, kinds[word])

    def _rows(self) -> Iterator[list[str | None]]:
        """Cells as text, None where they are missing."""
        begun = False
        width = len(self.attributes)
        for number, line in self._lines():
            if not begun:
                begun = line.split(None, 1)[0].lower() == "@data"
                continue
            cells = self._sparse(line, number) if line.startswith("{") else _cells(line)
            if cells is None:
                raise self.fail("a quote is not closed, or text follows it", "Mend that row.", line=number)
            if len(cells) != width:
                counted = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise self.fail(f"{counted}, but there are {width} attributes", "Mend that row.", line=number)
            row: list[str | None] = []
            for cell, attribute, known in zip(cells, self.attributes, self._known):
                row.append(None if cell in ("?", "") else self._checked(_plain(cell), attribute, known, number))
            yield row

    def _checked(self, cell: str, attribute: Attribute, known: frozenset[str], number: int) -> str | None:
        if attribute.kind == NOMINAL and cell not in known:
            remedy = "Declare it in the list of that attribute."
            raise self.fail(f"{cell!r} is not a declared category", remedy, line=number, column=attribute.name)
        if attribute.kind == FLOAT:
            try:
                return None if math.isnan(as_number(cell)) else cell
            except ValueError:
                remedy = "Mend it; a missing cell is a question mark."
                raise self.fail(f"{cell!r} is not a number", remedy, line=number, column=attribute.name) from None
        return cell

    def _sparse(self, line: str, number: int) -> list[str]:
        """Zero, or the first category, where a column is not mentioned."""
        cells = [a.categories[0] if a.categories else "0" for a in self.attributes]
        inner, at = line[1 : line.rfind("}")], 0
        while inner[at:].strip():
            match = _PAIR.match(inner, at)
            if match is None or int(match[1]) >= len(cells):
                raise self.fail("cannot read this sparse row", "Write {column value, column value}.", line=number)
            cells[int(match[1])], at = match[2], match.end()
        return cells

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Any]:
        """Pandas tables of so many rows each."""
        if self._kinds is None:
            self._kinds = self._settle()
        for block in self._blocks(n_rows):
            for attribute in self.attributes:
                block[attribute.name] = self._converted(block[attribute.name], attribute)
            yield block

    def _blocks(self, n_rows: int) -> Iterator[Any]:
        import pandas as pd

        rows: list[list[str | None]] = []
        for row in self._rows():
            rows.append(row)
            if len(rows) == n_rows:
                yield pd.DataFrame(rows, columns=self.columns, dtype=object)
                rows = []
        if rows:
            yield pd.DataFrame(rows, columns=self.columns, dtype=object)

    def _settle(self) -> dict[str, Kind]:
        """Which numbers are whole, and whether dates are."""
        kinds = {a.name: Kind(EMPTY) for a in self.attributes}
        found = False
        for block in self._blocks(CHUNK_ROWS):
            found = True
            for attribute in self.attributes:
                column = block[attribute.name]
                kind = _kind_of_numbers(column) if attribute.kind == FLOAT else kind_of(column)
                kinds[attribute.name] = wider(kinds[attribute.name], kind)
        if not found:
            raise self.fail("there are attributes, but no rows", "Add rows below @data.")
        for attribute in self.attributes:
            if attribute.kind == DATE and kinds[attribute.name].name not in (DATE, EMPTY):
                remedy = "Write them as 2026-01-31 or 2026-01-31T12:00:00, or declare the attribute a string."
                raise self.fail("its dates are not in ISO format", remedy, column=attribute.name)
        return kinds

    def _converted(self, column: Any, attribute: Attribute) -> Any:
        import pandas as pd

        assert self._kinds is not None
        if column.name in self.text or attribute.kind == TEXT:
            return self.as_text(column)
        if attribute.kind == NOMINAL:
            return column.astype(pd.CategoricalDtype(list(attribute.categories)))
        kind = self._kinds[attribute.name]
        if attribute.kind == DATE:
            return convert(column, Kind(DATE))  # also where all are missing
        read = int if kind.dtype == "int64" else float
        numbers = [math.nan if cell is None else read(cell) for cell in column]
        return pd.Series(numbers, name=column.name, dtype=kind.dtype)


def _kind_of_numbers(column: Any) -> Kind:
    """Whether they are whole, of those that are spelled so and fit in 64 bits."""
    cells = column.dropna()
    whole = all(_WHOLE.fullmatch(cell) and -(2**63) <= int(cell) < 2**63 for cell in cells)
    return Kind(EMPTY if not len(cells) else INTEGER if whole else FLOAT, len(cells) < len(column))


def _cells(line: str) -> list[str] | None:
    """The cells of a row, quotes and all; None if it cannot be read."""
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    cells, at = [], 0
    while True:
        match = _CELL.match(line, at)
        if match is None or (match[1][:1] in ("'", '"') and not re.fullmatch(_QUOTED, match[1])):
            return None
        cells.append(match[1])
        at = match.end()
        if not match[2]:
            return cells


def _plain(cell: str) -> str:
    """Without its quotes."""
    if cell[:1] in ("'", '"') and len(cell) > 1:
        return _ESCAPED.sub(lambda m: _ESCAPES.get(m[1], m[1]), cell[1:-1])
    return cell
