"""Names, texts and numbers as SQL writes them."""

from __future__ import annotations

import math
import sqlite3
from functools import cache
from typing import Any

from skewboost.errors import InputError
from skewboost.io.export.layout import utf8


def quoted(name: str) -> str:
    """A name of a table or column, whatever is in it."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(
            f"{name!r} is no name of a table or column. Pass text that is not empty, without null characters."
        )
    utf8(name)
    return '"' + name.replace('"', '""') + '"'


def cell(name: str) -> str:
    """A column of the query below. Without the ``t.`` SQLite takes a name that it does not know for a text."""
    return f"t.{quoted(name)}"


def literal(value: str) -> str:
    """A text."""
    if "\0" in value:
        raise InputError(f"{value!r} holds a null character, which SQL has no literal for. Rename it.")
    utf8(value)
    return "'" + value.replace("'", "''") + "'"


def label(value: Any) -> str:
    """A class: text, a number or a boolean."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise InputError(
                f"classes_ holds {value}, which is no integer of 64 bits, as databases have them. Rename it."
            )
        return str(value)
    return double(value) if isinstance(value, float) else literal(value)


def double(value: float) -> str:
    """A number of type double by itself."""
    return f"CAST({number(value)} AS DOUBLE PRECISION)"


def number(value: float) -> str:
    """A number that is read as a double, or as a decimal where PostgreSQL compares it with doubles or adds it to them.

    In brackets where negative, for two minus signs begin a comment.
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
    """Whether SQLite, which rounds decimals with less care than others, reads this number."""
    plain = len(digits) < 17 and (value == 0.0 or 1e-9 < abs(value) < 1e9)
    return plain or bool(_sqlite().execute(f"SELECT {digits}").fetchone()[0] == value)


def fraction(value: float) -> str:
    """A double as whole numbers and powers of two, which everybody reads alike."""
    mantissa, exponent = math.frexp(value)
    text, exponent = f"CAST({int(mantissa * 2**53)} AS DOUBLE PRECISION)", exponent - 53
    while exponent:
        step = max(-62, min(62, exponent))
        text += f" {'*' if step > 0 else '/'} {2.0 ** abs(step):.0f}"
        exponent -= step
    return f"({text})"
