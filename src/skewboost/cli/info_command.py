"""The command `info`: a summary of a table."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.table import Table
from rich.text import Text

from skewboost.cli.commands import Info
from skewboost.cli.data import DataError, Source, open_data
from skewboost.cli.labels import FOLD
from skewboost.cli.output import count, get_console, list_names, print_json, print_line, source_name
from skewboost.cli.target_column import drop_options
from skewboost.evaluate.summary import ColumnSummary, Summary, TargetSummary
from skewboost.evaluate.summary_warnings import COMMANDS, percent, suggestions_for
from skewboost.metrics.targets import alike
from skewboost.names import shortened, shown, side_by_side, visible

MOST_COLUMNS = 40
MOST_SENTENCES = 12
MOST_CLASSES = 12
NAME_WIDTH = 28
CATEGORY_WIDTH = 16
BAR = 24


def run(request: Info) -> None:
    """Print a summary of a table."""
    source, target = open_data(request.data, keep=True), request.target
    if target is not None and target not in source.columns:
        columns = list_names(source.columns, 12)
        raise DataError(f"{source.path}: there is no column {target!r}.", f"The columns are {columns}.")
    summary = Summary.from_chunks(source.chunks(), target=target)
    arguments = _arguments(request.data, target, summary)
    summary = replace(summary, suggestions=suggestions_for(summary.target, COMMANDS, arguments))
    if request.as_json:
        file = {"path": source.path, "format": source.format, "bytes": source.n_bytes}
        print_json({**file, **summary.as_dict()})
    else:
        _print(source, summary)


def _arguments(path: str, target: str | None, summary: Summary) -> str:
    """The arguments of other commands for this table, which leave out columns that cannot be learned from."""
    unusable = [c.name for c in summary.columns if c.kind == "date" or c.name in summary.ids]
    words = ["DATA" if path == "-" else path, *([] if target is None else ["--target", target])]
    if summary.target is not None and alike(label for label, _, _ in summary.target.classes):
        words += ["--labels", FOLD]
    return f"{shlex.join(words)} {drop_options(unusable)}".rstrip()


def _print(source: Source, summary: Summary) -> None:
    console = get_console()
    size = "" if source.n_bytes is None else f", {_size(source.n_bytes)}"
    path = Text(visible(source_name(source.path)), style="bold")
    console.print(Text.assemble(path, f": {source.format}{size}"), soft_wrap=True)
    n_columns = summary.n_columns + (summary.target is not None)
    print_line(f"{count(summary.n_rows, 'row')}, {count(n_columns, 'column')}")
    print_line()
    if summary.target is not None:
        _print_target(summary.target)
    _print_columns(summary)
    _print_sentences("Warnings", summary.warnings, "yellow")
    suggestions = summary.suggestions if summary.target is not None else (_ask_for_target(summary),)
    _print_sentences("Next", suggestions, "green")


def _ask_for_target(summary: Summary) -> str:
    """Name up to three columns of two values without missing cells; usual names come first, then the last columns."""
    candidates = [c.name for c in reversed(summary.columns) if c.n_distinct == 2 and not c.n_missing]
    likely = sorted(candidates, key=lambda name: name.lower() not in ("target", "class", "label", "y", "outcome"))[:3]
    named = f"Columns with two values: {list_names(likely)}." if likely else "No column has exactly two values."
    return f"Name the column of the classes with --target. {named}"


def _print_target(target: TargetSummary) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left", title_style="bold")
    table.title = f"Target {shortened(shown(target.name))}"
    table.add_column("class", overflow="fold")
    table.add_column("rows", justify="right")
    table.add_column("fraction", justify="right")
    table.add_column("")
    listed = target.classes[:MOST_CLASSES]
    for name, (label, n, fraction) in zip(side_by_side([label for label, _, _ in listed], NAME_WIDTH), listed):
        bar = Text("█" * max(1, round(BAR * fraction)), style="cyan")
        positive = target.positive is not None and label == target.positive
        mark = Text(" positive", style="bold") if positive else Text("")
        table.add_row(name, f"{n:,}", percent(fraction), Text.assemble(bar, mark))
    get_console().print(table)
    if len(target.classes) > MOST_CLASSES:
        print_line(f"and {len(target.classes) - MOST_CLASSES} more classes")
    if len(target.classes) > 1:
        rare = "positive" if target.positive is not None else "of the rarest class"
        print_line(f"1 row in {target.one_in:.3g} is {rare}; the classes are {target.imbalance:.3g} to 1.")
    print_line()


def _print_columns(summary: Summary) -> None:
    console, listed = get_console(), summary.columns
    if len(listed) > MOST_COLUMNS:
        kinds = Counter(column.kind for column in sorted(listed, key=lambda column: column.kind))
        print_line(f"Columns by kind: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}.")
        print_line(f"The first {MOST_COLUMNS} of {len(listed)}; --json has them all.")
        listed = listed[:MOST_COLUMNS]
    table = Table(box=None, pad_edge=False, header_style="bold")
    # Fixed widths, because Rich would shrink all columns alike. The values get the rest of the line.
    name_width = NAME_WIDTH if console.width >= 100 else NAME_WIDTH - 6
    names = side_by_side([column.name for column in summary.columns], name_width)[: len(listed)]
    widths = (max([6, *map(len, names)]), 8, 7, 8)
    for heading, width in zip(("column", "kind", "missing", "distinct"), widths):
        justify: Any = "right" if heading in ("missing", "distinct") else "left"
        table.add_column(heading, width=width, no_wrap=True, overflow="ellipsis", justify=justify)
    rest = max(12, console.width - sum(widths) - 2 * len(widths))
    heading = "lowest … median … highest" + (", or fractions" if rest > 40 else "")
    table.add_column(heading, max_width=rest, overflow="ellipsis", no_wrap=True)
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
        texts = [f"{name} {percent(n / present)}" for name, (_, n) in zip(names, column.top)]
        more = (column.n_distinct or 0) > len(column.top)
        return ", ".join(texts) + (", …" if more else "")
    if column.minimum is None:
        return ""
    if isinstance(column.minimum, str):
        return f"{column.minimum} … {column.maximum}"
    if column.kind == "constant":
        return _number(column.minimum)
    median = f"{'' if column.exact else '≈'}{_number(column.quantiles[1])}" if column.quantiles else ""
    return f"{_number(column.minimum)} … {median} … {_number(column.maximum)}"


def _print_sentences(title: str, sentences: Sequence[str], style: str) -> None:
    if not sentences:
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style=style, no_wrap=True)
    table.add_column(overflow="fold")
    for sentence in sentences[:MOST_SENTENCES]:
        table.add_row("•", sentence)
    print_line()
    get_console().print(title, style="bold")
    get_console().print(table)
    if len(sentences) > MOST_SENTENCES:
        print_line(f"and {len(sentences) - MOST_SENTENCES} more; --json has them all.")


def _number(value: Any) -> str:
    plain = 1e3 <= abs(value) < 1e9 or (float(value).is_integer() and abs(value) < 1e9)
    return f"{value:,.0f}" if plain else f"{value:.4g}"


def _size(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return count(n_bytes, "byte")
