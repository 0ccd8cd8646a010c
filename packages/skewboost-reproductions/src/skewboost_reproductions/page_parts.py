"""The parts of a page about an experiment: text, tables beside the printed ones, figures, and claims with verdicts."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skewboost.plots.style import BLUE, GREY, RED, import_pyplot
from skewboost_reproductions.estimates import Estimate
from skewboost_reproductions.verdicts import Claim

FEWEST = 3  # numbers whose mean difference says anything


@dataclass(frozen=True)
class Cell:
    """A number of ours and the printed one, if there is one."""

    ours: Estimate
    printed: float | None = None

    @property
    def difference(self) -> float:
        """Ours less the printed number."""
        return math.nan if self.printed is None else self.ours.mean - self.printed

    @property
    def comparable(self) -> bool:
        """Whether there are two numbers."""
        return self.printed is not None and math.isfinite(self.ours.mean)

    def text(self, digits: int) -> str:
        """Return our number, the printed one and the difference."""
        if self.printed is None:
            return self.ours.text(digits)
        apart = f" ({round(self.difference, digits) + 0.0:+.{digits}f})" if self.comparable else ""  # never -0.000
        return f"{self.ours.text(digits)}<br>{self.printed:.{digits}f}{apart}"


@dataclass(frozen=True)
class Table:
    """Numbers by row and column, next to the printed ones.

    Attributes
    ----------
    name : str
        For the names of its files.
    title : str
        The heading.
    corner : str
        What the rows are.
    cells : mapping of (row, column) to Cell
        The numbers; rows and columns have the order in which they first appear.
    digits : int, default=3
        Decimals that are shown.
    note : str, default=""
        Text below the table.
    drawn : bool, default=True
        Whether it is drawn, too.
    """

    name: str
    title: str
    corner: str
    cells: Mapping[tuple[str, str], Cell]
    digits: int = 3
    note: str = ""
    drawn: bool = True
    rows: tuple[str, ...] = field(init=False)
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(dict.fromkeys(row for row, _ in self.cells)))
        object.__setattr__(self, "columns", tuple(dict.fromkeys(column for _, column in self.cells)))

    def markdown(self) -> str:
        """Return the table, and below it how many numbers agree with the printed ones."""
        header = [self.corner, *self.columns]
        lines = [_line(header), _line(["---"] * len(header))]
        for row in self.rows:
            cells = [self.cells.get((row, column)) for column in self.columns]
            lines.append(_line([row, *("" if cell is None else cell.text(self.digits) for cell in cells)]))
        return "\n\n".join(text for text in ("\n".join(lines), self.agreement(), self.note) if text)

    def agreement(self) -> str:
        """Return a sentence on how far our numbers are from the printed ones."""
        both = [cell for cell in self.cells.values() if cell.comparable]
        if len(both) < FEWEST:
            return ""
        mean = sum(abs(cell.difference) for cell in both) / len(both)
        known = [cell for cell in both if cell.ours.error > 0.0]
        near = sum(abs(cell.difference) <= 2.0 * cell.ours.error for cell in known)
        within = f"; {near} of {len(known)} differ by at most two standard errors of ours" if known else ""
        return f"Mean absolute difference to the printed numbers: {mean:.{self.digits}f}{within}."

    def csv(self) -> str:
        """Return the numbers as text, a line per cell."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", "column", "ours", "standard_error", "n", "printed", "difference"])
        for (row, column), cell in self.cells.items():
            numbers = (cell.ours.mean, cell.ours.error, cell.ours.n, cell.printed, cell.difference)
            writer.writerow([row, column, *("" if x is None or x != x else f"{x:.6g}" for x in numbers)])
        return text.getvalue()

    def draw(self) -> Any:
        """Draw a panel per column: our numbers with two standard errors, and the printed ones."""
        plt = import_pyplot()
        columns = [c for c in self.columns if any(self._has(row, c) for row in self.rows)]
        n_down = max(1, -(-len(columns) // 4))
        n_across = max(1, -(-len(columns) // n_down))
        height = 0.9 + 0.27 * len(self.rows)
        figure, axes = plt.subplots(
            n_down, n_across, figsize=(2.6 + 2.4 * n_across, n_down * height), sharey=True, squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for axis in axes.ravel()[len(columns) :]:
            axis.set_visible(False)
        for axis, column in zip(axes.ravel(), columns):
            self._draw_column(axis, column)
        handles, labels = axes.ravel()[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=2, frameon=False)
        figure.suptitle(self.title, x=0.01, ha="left", fontsize="medium")
        return figure

    def _has(self, row: str, column: str) -> bool:
        cell = self.cells.get((row, column))
        return cell is not None and (math.isfinite(cell.ours.mean) or cell.printed is not None)

    def _draw_column(self, axis: Any, column: str) -> None:
        places = [k for k, row in enumerate(self.rows) if self._has(row, column)]
        cells = [self.cells[self.rows[k], column] for k in places]
        errors = [2.0 * c.ours.error if math.isfinite(c.ours.error) else 0.0 for c in cells]
        axis.errorbar(
            [c.ours.mean for c in cells], places, xerr=errors, fmt="o", color=BLUE, markersize=4, linewidth=1.2,
            label="ours, ± two standard errors",
        )  # fmt: skip
        both = [(c.printed, k) for c, k in zip(cells, places) if c.printed is not None]
        if both:
            axis.plot(*zip(*both), "D", color=RED, markersize=5, fillstyle="none", label="printed", linestyle="none")
        axis.set_title(column, fontsize="small")
        axis.set_yticks(range(len(self.rows)), self.rows, fontsize="small")
        axis.set_ylim(len(self.rows) - 0.5, -0.5)
        axis.tick_params(axis="x", labelsize="x-small")
        axis.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.6)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)


@dataclass(frozen=True)
class Figure:
    """A drawing: `draw` returns a figure of Matplotlib."""

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Claims:
    """The claims of the paper that the experiment is about, or what is asked instead."""

    claims: Sequence[Claim]

    def markdown(self) -> str:
        """Return a table."""
        asks = "what the paper says" if any(claim.of_paper for claim in self.claims) else "what is asked"
        lines = [_line([asks, "here", "evidence"]), _line(["---"] * 3)]
        return "\n".join([*lines, *(_line([c.text, f"**{c.verdict}**", c.evidence]) for c in self.claims)])


Part = str | Table | Figure | Claims


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
