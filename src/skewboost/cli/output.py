"""Printing. Results go to stdout, everything else to stderr; with --json, stdout has one JSON document.

Commands print through these functions only. They print names of columns, classes and files literally: nothing is taken
for mark-up, and control characters are escaped.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from skewboost.names import quoted, side_by_side, visible
from skewboost.progress import ProgressBar

if TYPE_CHECKING:  # imported where it is used, so that `skewboost --help` is quick
    from rich.console import Console

LONG_NAME = 60  # characters of a name in a sentence
SHORT_NAME = 28  # characters of a name in a table


def get_console() -> Console:
    """The console for results. It uses colours on a terminal only, and prints every text literally."""
    from rich.console import Console
    from rich.text import Text

    class PlainConsole(Console):
        def render_str(
            self, text: str, *, style: Any = "", justify: Any = None, overflow: Any = None, **_: Any
        ) -> Text:
            """Text as Rich prints it, also in the cells and titles of tables."""
            return Text("\n".join(map(visible, text.split("\n"))), style=style, justify=justify, overflow=overflow)

    return PlainConsole(highlight=False, markup=False, emoji=False)


def print_line(text: str = "") -> None:
    """Print a line of the result without wrapping it."""
    typer.echo(visible(text))


def print_text(text: str) -> None:
    """Print a sentence of the result, wrapped between words on a terminal."""
    console = get_console()
    console.print(visible(text), soft_wrap=not console.is_terminal)


def note(text: str) -> None:
    """Print a line on stderr."""
    typer.echo(visible(text), err=True)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings on stderr."""
    for warning in warnings:
        note(f"warning: {warning}")


def print_json(document: Any) -> None:
    """Print the result as JSON."""
    typer.echo(json_text(document))


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    caption: str | None = None,
    first_width: int = 0,
    left: Sequence[int] = (0,),
    blank_line: bool = True,
) -> None:
    """Print a table, and an empty line after it. `left` are the columns that are aligned to the left."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title=title, caption=caption, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1),
        title_justify="left", caption_justify="left", title_style="bold", caption_style="",
    )  # fmt: skip
    for k, heading in enumerate(headings):
        table.add_column(
            heading, justify="left" if k in left else "right", min_width=first_width if k == 0 else None,
            no_wrap=k not in left, overflow="fold",
        )  # fmt: skip
    for row in rows:
        table.add_row(*map(visible, row))
    get_console().print(table, *([""] if blank_line else []))


def write_raw(text: str) -> None:
    """Write a part of a table or a program to stdout as it is. A terminal gets no control characters."""
    sys.stdout.write("\n".join(map(visible, text.split("\n"))) if sys.stdout.isatty() else text)


def json_text(document: Any, indent: int | None = 2) -> str:
    """A document as JSON. NaN and infinity become null, and characters that do not print are escaped."""
    text = json.dumps(json_types(document), indent=indent, ensure_ascii=False, allow_nan=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def json_types(value: Any) -> Any:
    """The same value in the types of JSON; keys become strings."""
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_types(v) for key, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_types(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def fraction(value: float) -> str:
    """A number between 0 and 1 with three digits; a dash for NaN."""
    return "-" if value != value else f"{value:.3f}"


def number(value: float) -> str:
    """A number with separators, such as 1,234 or 0.0123; a dash for NaN."""
    if value != value:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1e5 else f"{value:,.4g}"


def count(n: float, thing: str) -> str:
    """A number of things: "1 row", "1,234 rows"."""
    return f"{number(n)} {thing}" if n == 1 else f"{number(n)} {thing}s"


def list_names(names: Iterable[Any], most: int = 6, *, quotes: bool = False) -> str:
    """The first names of a list, separated by commas, and how many more there are."""
    names = list(names)
    texts = list(map(quoted, names[:most])) if quotes else side_by_side(names[:most], LONG_NAME)
    return and_more(texts, len(names))


def and_more(texts: Sequence[str], n: int) -> str:
    """These texts, separated by commas, and how many more of n there are."""
    return ", ".join(texts) + (f" and {n - len(texts)} more" if n > len(texts) else "")


def source_name(path: str) -> str:
    """What to call a source of data in a message."""
    return "standard input" if path == "-" else path


def waiting(what: str) -> ProgressBar:
    """Show what is going on while it takes an unknown time."""
    return ProgressBar(None, what, transient=True)
