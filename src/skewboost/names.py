"""Names that come from data, as people see them: nothing in them acts on what is around, and no two look the same."""

from __future__ import annotations

from collections.abc import Container, Iterable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

CUT = "…"
QUOTES = ("'", '"')


def shown(name: Any, unlike: Container[str] = ()) -> str:
    r"""A name (of a column, a category, a class, a file) as it is, or quoted where it would not be seen as it is.

    Quoted as in Python are names that are empty, begin or end with a space, have two spaces in a row or characters
    that do not show (control characters, escape sequences of terminals, marks that turn the direction of writing), and
    those that are in quotation marks themselves. So names that differ are shown differently. `unlike` are the words
    that are used beside the names, such as "missing": a name that is one of them is quoted, too.

    Examples
    --------
    >>> from skewboost.names import shown
    >>> print(shown("weight [kg]"), shown(""), shown("a\nb"), shown("'a'"))
    weight [kg] '' 'a\nb' "'a'"
    """
    text = spell(name)
    plain = text.isprintable() and text == text.strip() != "" and "  " not in text
    in_quotes = len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES
    return text if plain and not in_quotes and text not in unlike else quoted(text)


def spell(value: Any) -> str:
    """The name of a category. A column of whole numbers with missing cells holds floats in pandas: 1.0 is 1."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's, without importing it
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))  # by way of a float, long ids would lose their last digits
    if isinstance(value, Real | Decimal):
        number = float(value)
        return f"{number:.0f}" if number.is_integer() else repr(number)
    return str(value)


def quoted(name: Any) -> str:
    """A name in quotation marks, and anything else as Python writes it, without the name of its NumPy type."""
    text = repr(name.item() if hasattr(name, "item") else name)
    while "  " in text:  # where spaces are joined, as in HTML, they would not be seen
        text = text.replace("  ", r" \x20")
    return text


def visible(text: str) -> str:
    r"""Text whose characters that do not show are escapes: the last guard, for text in which names are already.

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
    """Text that is too long, without its middle: both ends tell names apart."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}{CUT}{text[-half:]}"


def literal(text: str) -> str:
    """Text for Matplotlib to draw as it is: dollar signs are no formula."""
    from matplotlib import rcParams

    return text.replace("$", r"\$") if rcParams["text.parse_math"] else text


def side_by_side(
    names: Iterable[Any], longest: int = 28, unlike: Container[str] = (), *, quotes: bool = False
) -> list[str]:
    """Names that are seen together: as `shown` (or `quoted`), not longer than that, and different ones differently.

    Where the ends of long names are equal, what they differ in is kept instead.

    Examples
    --------
    >>> from skewboost.names import side_by_side
    >>> side_by_side(["satisfied with the food in our hotel", "satisfied with the room in our hotel"], 24)
    ['satisfied…food…our hotel', 'satisfied…room…our hotel']
    """
    whole = [quoted(name) if quotes else shown(name, unlike) for name in names]
    short = {text: shortened(text, longest) for text in whole}
    for alike in _alike(short):
        start = _same_start(alike)
        end = _same_start([text[start:][::-1] for text in alike])
        for text in alike:
            own = shortened(text[start : len(text) - end], max(3, longest // 2))
            room = max(2, longest - len(own) - 2)
            short[text] = f"{text[: room - room // 2]}{CUT}{own}{CUT}{text[-(room // 2) :]}"
    taken: set[str] = set()
    for text, told in short.items():
        k = 1
        while short[text] in taken:  # they differ in more than there is room for
            k += 1
            short[text] = f"{told[: longest - 1 - len(str(k))]}#{k}"
        taken.add(short[text])
    return [short[text] for text in whole]


def _alike(short: dict[str, str]) -> list[list[str]]:
    """The names that are equal when they are shortened."""
    groups: dict[str, list[str]] = {}
    for text, told in short.items():
        groups.setdefault(told, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _same_start(texts: list[str]) -> int:
    """How many letters at the beginning all have in common."""
    first, last = min(texts), max(texts)
    return next((k for k, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
