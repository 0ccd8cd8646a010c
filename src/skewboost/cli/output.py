"""How commands speak: results on stdout, all else on stderr; one JSON document where machines listen.

All that is printed goes through here, and nothing in it is interpreted: names of columns, classes and files are not
taken for mark-up, and control characters in them reach no terminal.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from skewboost.names import quoted, side_by_side, visible

if TYPE_CHECKING:  # imported where they are used: `skewboost --help` waits for none of them
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

LONG_NAME = 60  # letters, in a sentence
SHORT_NAME = 28  # in a table


def out(*, stderr: bool = False) -> Console:
    """For results; no colours unless it is a terminal, no guesses at what is a number, and no mark-up."""
    from skewboost.cli.console import PlainConsole

    return PlainConsole(stderr=stderr)


def say(text: str = "") -> None:
    """A line of the result, not wrapped."""
    typer.echo(visible(text))


def prose(text: str) -> None:
    """A sentence of the result, broken between words where a terminal is too narrow for it."""
    console = out()
    console.print(visible(text), soft_wrap=not console.is_terminal)


def note(text: str) -> None:
    """A line beside the result."""
    typer.echo(visible(text), err=True)


def emit(document: Any) -> None:
    """The result for machines: nothing else is on stdout."""
    typer.echo(as_json(document))


class Verbatim:
    """Standard output for what is kept as it is, a table or a program; only a terminal is spared control codes."""

    def write(self, text: str) -> None:
        """Add text."""
        if sys.stdout.isatty():
            text = "\n".join(map(visible, text.split("\n")))
        sys.stdout.write(text)


def as_json(document: Any, indent: int | None = 2) -> str:
    """Text of what may hold NumPy's numbers, and NaN, which JSON does not know: null."""
    text = json.dumps(plain(document), indent=indent, ensure_ascii=False, allow_nan=False)
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    """The same JSON without characters that do not show."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def plain(value: Any) -> Any:
    """The same in the types of JSON; keys become text."""
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None, caption: str | None = None,
    first: int = 0, left: Sequence[int] = (0,),
) -> Table:  # fmt: skip
    """A plain table: numbers to the right; `first` is how wide the first column is at least."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(
        title=title, caption=caption, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1),
        title_justify="left", caption_justify="left", title_style="bold", caption_style="",
    )  # fmt: skip
    for k, heading in enumerate(headings):
        justify: Any = "left" if k in left else "right"
        made.add_column(
            heading, justify=justify, min_width=first if k == 0 else None, no_wrap=k not in left, overflow="fold"
        )
    for row in rows:
        made.add_row(*map(visible, row))
    return made


def share(value: float) -> str:
    """A share with three digits, and a dash where there is none."""
    return "-" if value != value else f"{value:.3f}"


def number(value: float) -> str:
    """A number as people write it: 1,234 or 0.0123."""
    if value != value:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1e5 else f"{value:,.4g}"


def some(names: Iterable[Any], most: int = 6, *, quotes: bool = False) -> str:
    """The first few of a list of names, in words; in quotation marks where that is wanted."""
    listed = list(names)
    told = list(map(quoted, listed[:most])) if quotes else side_by_side(listed[:most], LONG_NAME)
    return few(told, len(listed))


def few(told: Sequence[str], n: int) -> str:
    """These of n things, in words."""
    return ", ".join(told) + (f" and {n - len(told)} more" if n > len(told) else "")


def named(path: str) -> str:
    """What people call a source of rows."""
    return "standard input" if path == "-" else path


def count(n: float, thing: str) -> str:
    """So many things: "1 row", "1,234 rows"."""
    return f"{number(n)} {thing}" if n == 1 else f"{number(n)} {thing}s"


def progress(*, counted: bool = True, hidden: bool = False) -> Progress:
    """A bar on stderr that vanishes: what stays on the screen is the result, and stdout holds nothing else."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TimeElapsedColumn

    from skewboost.cli.console import Doing

    columns: list[Any] = [Doing()]
    columns += [BarColumn(), MofNCompleteColumn()] if counted else [SpinnerColumn()]
    console = out(stderr=True)
    hidden = hidden or not console.is_terminal
    console.quiet = hidden  # a bar that nobody watches would still leave an empty line
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=hidden)


@contextmanager
def rounds(what: str, total: int) -> Iterator[Callable[[int, Any], None]]:
    """A bar over the rounds of a fit; yields what to give to `callbacks`."""
    with progress() as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, _: bar.update(task, completed=done)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Something is going on, nobody knows for how long."""
    with progress(counted=False) as bar:
        bar.add_task(what, total=None)
        yield
