"""Names of columns, categories, classes and files, made safe to print: visible, never mark-up, and never ambiguous."""

from __future__ import annotations

from collections.abc import Container, Iterable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

ELLIPSIS = "…"


def shown(name: Any, reserved: Container[str] = ()) -> str:
    r"""A name as it is, or quoted as in Python if it would not be visible or could be mistaken.

    Quoted are names that are empty, begin or end with a space, have two spaces in a row, have characters that do not
    print (control characters, escape sequences, marks that change the direction of writing) or are in quotation marks
    themselves. So different names are shown differently. Names that are `reserved` words, such as "missing", are
    quoted, too.

    Examples
    --------
    >>> from skewboost.names import shown
    >>> print(shown("weight [kg]"), shown(""), shown("a\nb"), shown("'a'"))
    weight [kg] '' 'a\nb' "'a'"
    """
    text = spell(name)
    plain = text.isprintable() and text == text.strip() != "" and "  " not in text
    in_quotes = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text if plain and not in_quotes and text not in reserved else quoted(text)


def spell(value: Any) -> str:
    """A category as text. Whole numbers have no decimals: pandas holds integers with missing cells as floats."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's, without importing it
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))  # a float would lose the last digits of long ids
    if isinstance(value, Real | Decimal):
        number = float(value)
        return f"{number:.0f}" if number.is_integer() else repr(number)
    return str(value)


def quoted(name: Any) -> str:
    """A name in quotation marks; other values as Python writes them, without the name of a NumPy type."""
    text = repr(name.item() if hasattr(name, "item") else name)
    while "  " in text:  # HTML would show two spaces as one
        text = text.replace("  ", r" \x20")
    return text


def visible(text: str) -> str:
    r"""Text with escapes for characters that do not print. Apply it to everything that is printed.

    Examples
    --------
    >>> from skewboost.names import visible
    >>> print(visible("no \x1b[31mred\n"))
    no \x1b[31mred\n
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shortened(text: str, longest: int = 28) -> str:
    """Text without its middle if it is too long."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}{ELLIPSIS}{text[-half:]}"


def in_short(value: Any, longest: int = 60) -> str:
    """The representation of a value on one line, without its middle if it is too long."""
    return shortened(" ".join(repr(value).split()), longest)


def literal(text: str) -> str:
    """Text that Matplotlib draws literally: dollar signs do not begin a formula."""
    from matplotlib import rcParams

    return text.replace("$", r"\$") if rcParams["text.parse_math"] else text


def side_by_side(
    names: Iterable[Any], longest: int = 28, reserved: Container[str] = (), *, quotes: bool = False
) -> list[str]:
    """Names that appear together, as `shown` (or `quoted`) and shortened, such that different names stay different.

    If shortening would make names equal, the part in which they differ is kept.

    Examples
    --------
    >>> from skewboost.names import side_by_side
    >>> side_by_side(["satisfied with the food in our hotel", "satisfied with the room in our hotel"], 24)
    ['satisfied…food…our hotel', 'satisfied…room…our hotel']
    """
    texts = [quoted(name) if quotes else shown(name, reserved) for name in names]
    short = {text: shortened(text, longest) for text in texts}
    groups: dict[str, list[str]] = {}
    for text, shorter in short.items():
        groups.setdefault(shorter, []).append(text)
    for equal in groups.values():
        if len(equal) > 1:
            short |= _keep_difference(equal, longest)
    used: set[str] = set()
    for text, shorter in short.items():
        k = 1
        while short[text] in used:  # the difference is too long: number the names
            k += 1
            short[text] = f"{shorter[: longest - 1 - len(str(k))]}#{k}"
        used.add(short[text])
    return [short[text] for text in texts]


def _keep_difference(texts: list[str], longest: int) -> dict[str, str]:
    """Shorten texts to their beginning, the part in which they differ, and their end."""
    start = _common_prefix(texts)
    end = _common_prefix([text[start:][::-1] for text in texts])
    short = {}
    for text in texts:
        own = shortened(text[start : len(text) - end], max(3, longest // 2))
        room = max(2, longest - len(own) - 2)
        short[text] = f"{text[: room - room // 2]}{ELLIPSIS}{own}{ELLIPSIS}{text[-(room // 2) :]}"
    return short


def _common_prefix(texts: list[str]) -> int:
    """The number of characters at the beginning that all texts have in common."""
    first, last = min(texts), max(texts)
    return next((k for k, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
