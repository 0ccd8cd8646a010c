"""Comparisons as text, Markdown and HTML tables."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from skewboost.errors import InputError, MissingPackageError
from skewboost.evaluate.results_file import Row
from skewboost.metrics.measures import MEASURES
from skewboost.names import shown, visible

if TYPE_CHECKING:
    from skewboost.evaluate.comparison_result import Comparison

SHOWN = ("cost", "recall", "precision", "g_mean", "roc_auc", "brier", "fit_seconds")  # by default
OF_MANY = ("cost", "error", "balanced_accuracy", "g_mean", "fit_seconds")
NONE = "–"
MARKUP = re.compile(r"[\\`*_\[\]<>|~$&#]|:(?=\w+:)")  # characters that Markdown would interpret
MOST_NOTES = 3  # about means over fewer folds


class Summary(list[Row]):
    """Rows of a summary: method, measure, mean, sd, n, n_failed, mean_rank and best."""

    def __init__(self, rows: list[Row], methods: list[str]) -> None:
        super().__init__(rows)
        self.methods = methods

    @property
    def measures(self) -> list[str]:
        """The measures of the rows."""
        return list(dict.fromkeys(row["measure"] for row in self))

    def as_frame(self) -> Any:
        """Return the rows as a pandas table."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError(
                "as_frame needs pandas.", "Run pip install pandas, or use the summary as a list of dicts."
            ) from error
        return pd.DataFrame(list(self))

    def as_markdown(self) -> str:
        """Return a Markdown table with a row for each method and a column for each measure."""
        heads, rows = _wide(self)
        lines = [_bar(heads), "|---|" + "---:|" * (len(heads) - 1)]
        cells = [[f"**{_markdown(c)}**" if b else _markdown(c) for c, b in row] for row in rows]
        return "\n".join(lines + [_bar(row) for row in cells]) + "\n"

    def as_html(self) -> str:
        """Return the same as an HTML table."""
        heads, rows = _wide(self)
        right, left = ' style="text-align:right"', ' style="text-align:left"'
        head = "".join(f"<th{right if j else left}>{html.escape(h)}</th>" for j, h in enumerate(heads))
        body = "".join(
            "<tr>" + "".join(f"<td{right if j else left}>{_cell(c, b)}</td>" for j, (c, b) in enumerate(row)) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        heads, rows = _wide(self)
        cells = [[f"{head} " for head in heads], *([f"{c}{'*' if b else ' '}" for c, b in row] for row in rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(heads))]
        return "\n".join("  ".join(_padded(row, widths)).rstrip() for row in cells)

    def _repr_html_(self) -> str:
        return self.as_html()


def _wide(summary: Summary) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    """Return the headings, and for each method its cells and whether each is the best of its column."""
    measures = summary.measures
    cells = {(row["method"], row["measure"]): row for row in summary}
    heads = [
        "method",
        *(f"{MEASURES[m].label} {'↑' if MEASURES[m].higher_is_better else '↓'}" for m in measures),
        "rank",
    ]
    rows = []
    for method in summary.methods:
        row = [(shown(method), False)]
        for m in measures:
            cell = cells[method, m]
            row.append((_number(cell["mean"], cell["sd"]), bool(cell["best"]) and len(summary.methods) > 1))
        rank = cells[method, measures[0]]["mean_rank"]
        rows.append([*row, (NONE if rank is None else f"{rank:.2f}", False)])
    return heads, rows


def _padded(cells: list[str], widths: list[int]) -> list[str]:
    """Align names to the left and numbers to the right."""
    return [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))]


def _number(mean: float, sd: float) -> str:
    if mean != mean:
        return NONE
    digits = 3 if abs(mean) < 10 else 1
    return f"{mean:.{digits}f}" + ("" if sd != sd else f" ± {sd:.{digits}f}")


def _bar(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    """Escape text for Markdown."""
    return MARKUP.sub(r"\\\g<0>", text)


def _cell(text: str, best: bool) -> str:
    return f"<b>{html.escape(text)}</b>" if best else html.escape(text)


def _shown(comparison: Comparison, measures: list[str] | None) -> Summary:
    if measures is None:
        available = [*comparison.measures, "fit_seconds"]
        measures = [m for m in (SHOWN if "recall" in available else OF_MANY) if m in available]
    if not measures:
        raise InputError("measures is empty.", "Name some, or leave it at None.")
    rows = [row for m in measures for row in comparison.summary(m)]
    return Summary(rows, comparison.ordered(rows[0]["measure"]))


def notes(comparison: Comparison, table: Summary) -> list[str]:
    """Return the notes below a table: the folds, missing values and failures."""
    n_sets, n_fits = len(comparison.data_sets), len(comparison.folds)
    n_folds = len({(row["data_set"], row["repeat"], row["fold"]) for row in comparison.folds})
    where = f"{n_sets} data sets" if n_sets > 1 else "one data set"
    over = "data sets" if n_sets > 1 else "folds"
    folds = f"{n_folds} fold{'s' * (n_folds > 1)}"
    lines = [f"{folds} of {where}; mean ± standard deviation over {over}; rank by the first measure."]
    if not comparison.complete:
        lines.append(f"Interrupted: {n_fits} of {comparison.n_fits} fits are finished.")
    most = {m: max(row["n"] for row in table if row["measure"] == m) for m in table.measures}
    fewer = [row for row in table if 0 < row["n"] < most[row["measure"]]]
    for row in fewer[:MOST_NOTES]:
        of = f"{row['n']} of {most[row['measure']]} folds only"
        lines.append(
            f"{shown(row['method'])} has {MEASURES[row['measure']].label} on {of}: its mean cannot be compared."
        )
    if len(fewer) > MOST_NOTES:
        lines.append(f"The same holds for {len(fewer) - MOST_NOTES} other means: see n in summary().")
    for method in comparison.methods:
        messages = [row["failed"] for row in comparison.failures if row["method"] == method]
        if messages:
            total = sum(row["method"] == method for row in comparison.folds)
            lines.append(f"{shown(method)} failed in {len(messages)} of {total} fits: {visible(messages[0])}")
    return lines


def as_text(comparison: Comparison, measures: list[str] | None = None) -> str:
    """Return text for a terminal; the best of a column has an asterisk."""
    if not comparison.folds:
        return f"No fit is finished: 0 of {comparison.n_fits}."
    table = _shown(comparison, measures)
    return "\n".join([str(table), "", *notes(comparison, table)])


def as_markdown(comparison: Comparison, measures: list[str] | None = None) -> str:
    """Return Markdown; the best of a column is bold."""
    if not comparison.folds:
        return as_text(comparison) + "\n"
    table = _shown(comparison, measures)
    return table.as_markdown() + "\n" + "\n\n".join(map(_markdown, notes(comparison, table))) + "\n"


def as_html(comparison: Comparison, measures: list[str] | None = None) -> str:
    """Return HTML for notebooks and reports."""
    if not comparison.folds:
        return f"<p>{html.escape(as_text(comparison))}</p>"
    table = _shown(comparison, measures)
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes(comparison, table))
    return f"<div>{table.as_html()}{below}</div>"
