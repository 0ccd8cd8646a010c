"""What is in a table, on the screen or as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from skewboost.cli.data import DataError, Source, open_data
from skewboost.cli.output import emit, named, out, say, some
from skewboost.cli.target_column import dropping
from skewboost.evaluate.summary import ColumnSummary, Summary, TargetSummary
from skewboost.evaluate.summary_warnings import COMMANDS, percent, suggestions_for
from skewboost.names import shortened, shown, side_by_side, visible

FEW_COLUMNS = 40  # that are listed one by one
MOST_WARNINGS = 12
MOST_CLASSES = 12
NAME_WIDTH = 28
CATEGORY_WIDTH = 16
BAR = 24


def run(path: str, target: str | None = None, as_json: bool = False) -> None:
    """Print what is in a table.

    Parameters
    ----------
    path : str
        Of the file; "-" is standard input.
    target : str or None
        The column that holds the classes.
    as_json : bool
        Whether to print JSON instead of tables.
    """
    source = open_data(path, keep=True)
    if target is not None and target not in source.columns:
        raise DataError(f"{source.path}: there is no column {target!r}. The columns are {some(source.columns, 12)}.")
    summary = Summary.from_chunks(source.chunks(), target=target)
    summary = replace(summary, suggestions=suggestions_for(summary.target, COMMANDS, _as_told(path, target, summary)))
    if as_json:
        about = {"path": source.path, "format": source.format, "bytes": source.n_bytes}
        emit({**about, **summary.as_dict()})
    else:
        show(source, summary, out())


def _as_told(path: str, target: str | None, summary: Summary) -> str:
    """The data and the target as other commands are told, without columns that cannot be learned from."""
    left_out = [c.name for c in summary.columns if c.kind == "date" or c.name in summary.ids]
    told = shlex.join(["DATA" if path == "-" else path, *([] if target is None else ["--target", target])])
    return f"{told} {dropping(left_out)}".rstrip()


def show(source: Source, summary: Summary, console: Console) -> None:
    """Tables, warnings and suggestions."""
    size = "" if source.n_bytes is None else f", {_bytes(source.n_bytes)}"
    n_columns = summary.n_columns + (summary.target is not None)
    where = Text(visible(named(source.path)), style="bold")
    console.print(Text.assemble(where, f": {source.format}{size}"), soft_wrap=True)
    say(f"{_count(summary.n_rows, 'row')}, {_count(n_columns, 'column')}")
    say()
    if summary.target is not None:
        _show_target(summary.target, console)
    _show_columns(summary, console)
    _show_sentences("Look at this", summary.warnings, "yellow", console)
    suggestions = summary.suggestions if summary.target is not None else (_ask_for_target(summary),)
    _show_sentences("What next", suggestions, "green", console)


def likely_targets(summary: Summary) -> list[str]:
    """Columns that may hold classes: two values and none missing, the last column first."""
    fitting = [c.name for c in summary.columns if c.n_distinct == 2 and not c.n_missing]
    named = [n for n in fitting if n.lower() in ("target", "class", "label", "y", "outcome")]
    last = [n for n in fitting if n == summary.columns[-1].name]
    return list(dict.fromkeys([*named, *last, *reversed(fitting)]))[:3]


def _ask_for_target(summary: Summary) -> str:
    likely = likely_targets(summary)
    if not likely:
        return "Name the column that holds the classes with --target; none has exactly two values."
    return f"Name the column that holds the classes with --target. Two values each: {some(likely)}."


def _show_target(target: TargetSummary, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left", title_style="bold")
    table.title = f"Target {shortened(shown(target.name))}"
    table.add_column("class", overflow="fold")
    table.add_column("rows", justify="right")
    table.add_column("share", justify="right")
    table.add_column("")
    listed = target.classes[:MOST_CLASSES]
    for name, (label, count, share) in zip(side_by_side([label for label, _, _ in listed], NAME_WIDTH), listed):
        bar = Text("█" * max(1, round(BAR * share)), style="cyan")
        positive = target.positive is not None and label == target.positive
        note = Text(" positive", style="bold") if positive else Text("")
        table.add_row(name, f"{count:,}", percent(share), Text.assemble(bar, note))
    console.print(table)
    if len(target.classes) > MOST_CLASSES:
        say(f"and {len(target.classes) - MOST_CLASSES} more classes")
    if len(target.classes) > 1:
        what = "positive" if target.positive is not None else "of the rarest class"
        say(f"1 row in {target.one_in:.3g} is {what}; the classes are {target.imbalance:.3g} to 1.")
    say()


def _show_columns(summary: Summary, console: Console) -> None:
    listed = summary.columns
    if len(listed) > FEW_COLUMNS:
        kinds: dict[str, int] = {}
        for column in listed:
            kinds[column.kind] = kinds.get(column.kind, 0) + 1
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda k: (-k[1], k[0])))
        say(f"Columns by kind: {counted}.")
        say(f"The first {FEW_COLUMNS} of {len(listed)}; --json has them all.")
        listed = listed[:FEW_COLUMNS]
    table = Table(box=None, pad_edge=False, header_style="bold")
    # Fixed widths: Rich would shrink all columns alike, down to nothing. What is left is for the values.
    most = NAME_WIDTH if console.width >= 100 else NAME_WIDTH - 6
    names = side_by_side([column.name for column in summary.columns], most)[: len(listed)]
    widths = (max([6, *map(len, names)]), 8, 7, 8)
    left = max(12, console.width - sum(widths) - 2 * len(widths))
    for heading, width, right in zip(("column", "kind", "missing", "distinct"), widths, (False, False, True, True)):
        table.add_column(heading, width=width, no_wrap=True, overflow="ellipsis", justify="right" if right else "left")
    ends = "lowest … median … highest"
    heading = f"{ends}, or shares" if left > 36 else ends
    table.add_column(heading, max_width=left, overflow="ellipsis", no_wrap=True)
    for name, column in zip(names, listed):
        missing = percent(column.missing_share) if column.n_missing else ""
        distinct = ">10,000" if column.n_distinct is None else f"{column.n_distinct:,}"
        style = "dim" if column.kind in ("empty", "constant") else ""
        table.add_row(name, column.kind, missing, distinct, _values(column, summary.n_rows), style=style)
    console.print(table)


def _values(column: ColumnSummary, n_rows: int) -> str:
    if column.top:
        present = max(1, n_rows - column.n_missing)
        if column.kind == "text":
            return f"{shortened(shown(column.top[0][0]))}, …"
        names = side_by_side([name for name, _ in column.top], CATEGORY_WIDTH)
        told = [f"{name} {percent(count / present)}" for name, (_, count) in zip(names, column.top)]
        more = (column.n_distinct or 0) > len(column.top)
        return ", ".join(told) + (", …" if more else "")
    if column.minimum is None:
        return ""
    if isinstance(column.minimum, str):
        return f"{column.minimum} … {column.maximum}"
    if column.kind == "constant":
        return _number(column.minimum)
    median = f"{'' if column.exact else '≈'}{_number(column.quantiles[1])}" if column.quantiles else ""
    return f"{_number(column.minimum)} … {median} … {_number(column.maximum)}"


def _show_sentences(title: str, sentences: Sequence[str], style: str, console: Console) -> None:
    if not sentences:
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style=style, no_wrap=True)
    table.add_column(overflow="fold")
    for sentence in sentences[:MOST_WARNINGS]:
        table.add_row("•", sentence)
    say()
    console.print(title, style="bold")
    console.print(table)
    if len(sentences) > MOST_WARNINGS:
        say(f"and {len(sentences) - MOST_WARNINGS} more; --json has them all.")


def _number(value: Any) -> str:
    plain = 1e3 <= abs(value) < 1e9 or (float(value).is_integer() and abs(value) < 1e9)
    return f"{value:,.0f}" if plain else f"{value:.4g}"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _bytes(n: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return _count(n, "byte")
