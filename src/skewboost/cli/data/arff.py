"""ARFF, the format of Weka and of many published data sets."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from skewboost.cli.data.column_types import DATE, EMPTY, FLOAT, TEXT, ColumnType, as_number
from skewboost.cli.data.content import Content
from skewboost.cli.data.source import TextSource, cells_of

NOMINAL = "nominal"
KINDS = {"numeric": FLOAT, "real": FLOAT, "integer": FLOAT, "string": TEXT, "date": DATE}
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
    categories: Collection[str] = ()


class Arff(TextSource):
    """ARFF, dense or sparse. Nominal attributes are categorical, with categories in the order of their declaration."""

    format = "arff"

    def __init__(self, content: Content) -> None:
        super().__init__(content)
        content.keep_all()  # the last row decides whether numbers are integers
        self.attributes = self._declared()
        self.columns = [attribute.name for attribute in self.attributes]
        self.check_names()
        self._by_name = {attribute.name: attribute for attribute in self.attributes}

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that are neither blank nor comments, with their numbers."""
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
                raise self.fail(f"{line[:30]!r} is not a declaration", "Put @data before the rows.", line=number)
        raise self.fail("there is no @data", "Put it before the rows, or check whether the file is cut short.")

    def _attribute(self, line: str, number: int) -> Attribute:
        match = _ATTRIBUTE.fullmatch(line)
        if match is None or not match[2]:
            raise self.fail(f"cannot read {line[:40]!r}", "Write @attribute name type.", line=number)
        name, kind = _unquoted(match[1]), match[2].strip()
        if kind.startswith("{"):
            end = kind.rfind("}")
            if end < 0:
                raise self.fail("the list of categories has no end", "Close it with }.", line=number, column=name)
            cells = [_unquoted(cell) for cell in _cells(kind[1:end]) or ()]
            if not cells or len(set(cells)) < len(cells):
                problem = "the list of categories cannot be read, or has a category twice"
                raise self.fail(problem, "List each category once, and close quotes.", line=number, column=name)
            return Attribute(name, NOMINAL, dict.fromkeys(cells))
        kind = kind.split("%")[0].strip()
        word = kind.split(None, 1)[0].lower() if kind else ""
        if word not in KINDS:
            remedy = f"Use {', '.join(KINDS)} or a list of categories."
            raise self.fail(f"cannot read the type {kind[:30]!r}", remedy, line=number, column=name)
        return Attribute(name, KINDS[word])

    def _rows(self) -> Iterator[tuple[list[Any], list[str]]]:
        """Yield rows of values, and of cells as they are written, but without quotes."""
        lines = self._lines()
        for _, line in lines:
            if line.split(None, 1)[0].lower() == "@data":
                break
        width = len(self.attributes)
        for number, line in lines:
            cells = self._sparse(line, number) if line.startswith("{") else _cells(line)
            if cells is None:
                raise self.fail("a quote is not closed, or text follows it", "Correct that row.", line=number)
            if len(cells) != width:
                counted = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise self.fail(f"{counted}, but there are {width} attributes", "Correct that row.", line=number)
            plain = list(map(_unquoted, cells))
            values = [
                None if cell in ("?", "") else self._read_cell(text, attribute, number)
                for cell, text, attribute in zip(cells, plain, self.attributes)
            ]
            yield values, plain

    def _read_cell(self, cell: str, attribute: Attribute, number: int) -> Any:
        """Return the text of a cell, or its number; None if it is missing."""
        if attribute.kind == NOMINAL and cell not in attribute.categories:
            remedy = "Add it to the list of that attribute."
            raise self.fail(f"{cell!r} is not a declared category", remedy, line=number, column=attribute.name)
        if attribute.kind != FLOAT:
            return cell
        try:
            value = as_number(cell)
        except ValueError:
            remedy = "Correct it; a missing cell is a question mark."
            raise self.fail(f"{cell!r} is not a number", remedy, line=number, column=attribute.name) from None
        if math.isnan(value) or attribute.name in self.text:
            return None if math.isnan(value) else cell
        return int(cell) if _WHOLE.fullmatch(cell) and -(2**63) <= int(cell) < 2**63 else value

    def _sparse(self, line: str, number: int) -> list[str]:
        """Return a row that is zero, or the first category, in columns that the line does not mention."""
        cells = [next(iter(a.categories), "0") for a in self.attributes]
        inner, at = line[1 : line.rfind("}")], 0
        while inner[at:].strip():
            match = _PAIR.match(inner, at)
            if match is None or int(match[1]) >= len(cells):
                raise self.fail("cannot read this sparse row", "Write {column value, column value}.", line=number)
            cells[int(match[1])], at = match[2], match.end()
        return cells

    def _blocks(
        self, n_rows: int, types: dict[str, ColumnType] | None, names: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        import pandas as pd

        rows = self._rows()
        while block := list(islice(rows, n_rows)):
            frame = pd.DataFrame([values for values, _ in block], columns=self.columns, dtype=object)
            for name, attribute in self._by_name.items():
                if attribute.kind == FLOAT and name not in self.text:
                    frame[name] = pd.to_numeric(frame[name])  # int64 if all are integers
            yield frame, cells_of([plain for _, plain in block], self.columns, names)

    def _settle(self) -> dict[str, ColumnType]:
        types = super()._settle()
        for name, attribute in self._by_name.items():
            if attribute.kind == DATE and name in types and name not in self.text:
                if types[name].name not in (DATE, EMPTY):
                    remedy = "Write them as 2026-01-31 or 2026-01-31T12:00:00, or declare the attribute as a string."
                    raise self.fail("its dates are not in ISO format", remedy, column=name)
                types[name] = ColumnType(DATE)  # also if all are missing
        return types

    def _convert(self, column: Any, kind: ColumnType) -> Any:
        import pandas as pd

        attribute = self._by_name[column.name]
        if column.name in self.text or attribute.kind == TEXT:
            return self.as_text(column)
        if attribute.kind == NOMINAL:
            return column.astype(pd.CategoricalDtype(list(attribute.categories)))
        return super()._convert(column, kind)


def _cells(line: str) -> list[str] | None:
    """Split a row into cells, which keep their quotes; return None if it cannot be read."""
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


def _unquoted(cell: str) -> str:
    if cell[:1] in ("'", '"') and len(cell) > 1:
        return _ESCAPED.sub(lambda m: _ESCAPES.get(m[1], m[1]), cell[1:-1])
    return cell
