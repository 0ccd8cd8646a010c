"""How lists of numbers are laid out in programs."""

from __future__ import annotations

from collections.abc import Iterable

from skewboost.errors import InputError

WIDTH = 100


def number(value: float) -> str:
    """A number with all its digits, as Python, C and SQL read it."""
    return repr(float(value))


def utf8(text: str) -> bytes:
    """Text as bytes, or an error that names it."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{text!r} holds half a character, which is no Unicode. Rename it, or write Python."
        ) from error


def filled(items: Iterable[str], indent: str = "    ") -> str:
    """Items with commas between and behind them, on as many lines as it takes."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += f"{item}, "
    lines.append(line.rstrip())
    return "\n".join(lines)
