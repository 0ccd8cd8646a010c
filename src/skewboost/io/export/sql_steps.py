"""The steps of an SQL query, and how names, texts and numbers are written in it."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from skewboost.errors import InputError
from skewboost.io.export.formula import utf8


@dataclass
class Step:
    """A query that adds columns to the one before."""

    columns: list[tuple[str, str]] = field(default_factory=list)  # name and formula
    uses: set[str] = field(default_factory=set)  # columns of earlier steps


class Query:
    """The steps of a query; columns are added to the last one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps = [Step()]
        self.results: list[str] = []  # columns of earlier steps that are results

    def next_step(self) -> None:
        """Start a step, which may use the columns of the steps before."""
        if self.steps[-1].columns:
            self.steps.append(Step())

    def add(self, name: str, formula: str) -> None:
        """Add a column; the empty name is that of the label."""
        self.steps[-1].columns.append((name, formula))

    def get(self, name: str) -> str:
        """A column of an earlier step, for use in this one."""
        self.steps[-1].uses.add(name)
        return cell(self.called(name))

    def called(self, name: str) -> str:
        """The full name of a column."""
        return f"{self.name}_{name}" if name else self.name

    def text(self, table: str, keep: Sequence[str] | None) -> str:
        """The query. Steps are materialized: otherwise databases copy their formulas to every place of use."""
        written, source, known = [], quoted(table), list[str]()
        for k, step in enumerate(self.steps, 1):
            later = set(self.results).union(*(s.uses for s in self.steps[k:]))
            passed_on = [*(keep or ()), *(self.called(c) for c in known if c in later)]
            columns = ["t.*"] if keep is None else list(map(cell, passed_on))
            columns += [f"{formula} AS {quoted(self.called(c))}" for c, formula in step.columns]
            known += [c for c, _ in step.columns]
            listed = ",\n  ".join(columns)  # a category may hold a line break, so steps are not indented
            written.append(f"SELECT\n  {listed}\nFROM {source} AS t")
            source = quoted(self.called(f"step_{k}"))
        *before, end = written
        steps = [f"{quoted(self.called(f'step_{k}'))} AS MATERIALIZED (\n{s}\n)" for k, s in enumerate(before, 1)]
        return f"WITH {', '.join(steps)}\n{end};\n" if steps else f"{end};\n"


def first_case(whens: Sequence[tuple[str, str]], other: str, indent: str = "    ") -> str:
    """The first formula whose condition holds. The last one must be a double, so that all others are, too."""
    if not whens:
        return other
    return (
        "CASE\n" + "".join(f"{indent}WHEN {test} THEN {then}\n" for test, then in whens) + f"{indent}ELSE {other} END"
    )


# ----------------------------------------------------------------------------------------- names, texts and numbers


def quoted(name: str) -> str:
    """The name of a table or column in quotes."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(
            f"{name!r} is not the name of a table or column. Pass a non-empty text without null characters."
        )
    utf8(name)
    return '"' + name.replace('"', '""') + '"'


def cell(name: str) -> str:
    """A column of the step before. Without the ``t.`` SQLite reads an unknown name as a text."""
    return f"t.{quoted(name)}"


def literal(value: str) -> str:
    """A text literal."""
    if "\0" in value:
        raise InputError(f"{value!r} holds a null character, which cannot be written in SQL. Rename it.")
    utf8(value)
    return "'" + value.replace("'", "''") + "'"


def label(value: Any) -> str:
    """A class label: a text, a number or a boolean."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise InputError(f"classes_ holds {value}, but integers have 64 bits in databases. Rename it.")
        return str(value)
    return double(value) if isinstance(value, float) else literal(value)


def double(value: float) -> str:
    """A number of type double."""
    return f"CAST({number(value)} AS DOUBLE PRECISION)"


def number(value: float) -> str:
    """A number for use with doubles, which PostgreSQL may read as a decimal.

    Negative numbers are in brackets, because two minus signs begin a comment.
    """
    digits = repr(float(value))
    digits = digits if "e" in digits else f"{digits}E0"
    if not _reads(digits, value):
        digits = fraction(value)
    return f"({digits})" if digits.startswith("-") else digits


@cache
def _sqlite() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


def _reads(digits: str, value: float) -> bool:
    """Whether SQLite, which rounds some decimals incorrectly, reads exactly this number."""
    plain = len(digits) < 17 and (value == 0.0 or 1e-9 < abs(value) < 1e9)
    return plain or bool(_sqlite().execute(f"SELECT {digits}").fetchone()[0] == value)


def fraction(value: float) -> str:
    """A double as integers and powers of two, which all databases read exactly."""
    mantissa, exponent = math.frexp(value)
    text, exponent = f"CAST({int(mantissa * 2**53)} AS DOUBLE PRECISION)", exponent - 53
    while exponent:
        step = max(-62, min(62, exponent))
        text += f" {'*' if step > 0 else '/'} {2.0 ** abs(step):.0f}"
        exponent -= step
    return f"({text})"
