"""How commands speak: results on stdout, all else on stderr; one JSON document where machines listen."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table


def out() -> Console:
    """For results; no colours unless it is a terminal, and no guesses at what is a number."""
    return Console(highlight=False)


def say(text: str = "") -> None:
    """A line of the result, as it is: no markup, and not wrapped."""
    typer.echo(text)


def prose(text: str) -> None:
    """A sentence of the result, broken between words where a terminal is too narrow for it."""
    console = out()
    console.print(text, markup=False, soft_wrap=not console.is_terminal)


def note(text: str) -> None:
    """A line beside the result."""
    typer.echo(text, err=True)


def emit(document: Any) -> None:
    """The result for machines: nothing else is on stdout."""
    typer.echo(as_json(document))


def as_json(document: Any, indent: int | None = 2) -> str:
    """Text of what may hold NumPy's numbers, and NaN, which JSON does not know: null."""
    return json.dumps(plain(document), indent=indent, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """The same in the types of JSON; keys become text."""
    if isinstance(value, np.ndarray | np.generic):
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
        made.add_row(*row)
    return made


def share(value: float) -> str:
    """A share with three digits, and a dash where there is none."""
    return "-" if value != value else f"{value:.3f}"


def number(value: float) -> str:
    """A number as people write it: 1,234 or 0.0123."""
    if value != value:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1e5 else f"{value:,.4g}"


def some(items: Iterable[Any], most: int = 6) -> str:
    """The first few of a list, in words."""
    told = [str(item) for item in items]
    return ", ".join(told[:most]) + (f" and {len(told) - most} more" if len(told) > most else "")


def named(path: str) -> str:
    """What people call a source of rows."""
    return "standard input" if path == "-" else path


def count(n: float, thing: str) -> str:
    """So many things: "1 row", "1,234 rows"."""
    return f"{number(n)} {thing}" if n == 1 else f"{number(n)} {thing}s"


def progress(*, counted: bool = True, hidden: bool = False) -> Progress:
    """A bar on stderr that vanishes: what stays on the screen is the result, and stdout holds nothing else."""
    columns: list[Any] = [TextColumn("{task.description}")]
    columns += [BarColumn(), MofNCompleteColumn()] if counted else [SpinnerColumn()]
    console = Console(stderr=True)
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
