"""A fitted model as a formula: all that the writers of programs know of it.

F starts from a constant; step functions of numbers and look-ups of categories are added in the order of the columns,
then trees, then the sum of all lines. That is the order in which the model adds them, so that programs which keep to it
have the same F to the last bit. A link says what F means. Values are tuples with one number per output: one for two
classes, one per class for more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from skewboost.boosting.calibration import Isotonic, Sigmoid
from skewboost.boosting.link import ManyClasses, TwoClasses

Values = tuple[float, ...]


@dataclass(frozen=True)
class Column:
    """A column of the input: numbers, or the sorted categories that were seen in training."""

    name: str
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Steps:
    """``values[number of cuts strictly below x]``, so that ``x <= cut`` is left of a cut."""

    feature: int
    cuts: tuple[float, ...]
    values: tuple[Values, ...]
    missing: Values


@dataclass(frozen=True)
class LookUp:
    """A value per category of the column; `missing` is also that of a category that was not seen in training."""

    feature: int
    values: tuple[Values, ...]
    missing: Values


@dataclass(frozen=True)
class Node:
    """A test: ``x <= cut``, or of which of two sets a category is. Its links are for yes, no and missing.

    A link ``>= 0`` is another node, a link ``< 0`` is the leaf ``~link``. An infinite cut asks whether there is a
    number. A category that is in neither set is as good as missing.
    """

    feature: int
    cut: float
    sides: tuple[frozenset[str], frozenset[str]] | None  # for yes and no; None where the column holds numbers
    links: tuple[int, int, int]


@dataclass(frozen=True)
class Tree:
    """Nodes, parents before children, and the values of leaves."""

    nodes: tuple[Node, ...]
    values: tuple[Values, ...]

    @cached_property
    def depth(self) -> int:
        """The number of tests on the longest way."""
        below = [0] * len(self.nodes)
        for k in reversed(range(len(self.nodes))):
            below[k] = 1 + max((below[link] for link in self.nodes[k].links if link >= 0), default=0)
        return below[0] if below else 0


@dataclass(frozen=True)
class Line:
    """``rise · (x / scale - centre) + height``, level beyond ±reach, and nothing where x is missing."""

    feature: int
    rise: float
    height: float
    centre: float
    scale: float
    reach: float


@dataclass(frozen=True)
class Piece:
    """From `start` on (and up to the next piece's) the probability is ``p + slope (F - start)``.

    Where that is level, `log_odds` are those of it.
    """

    start: float
    p: float
    slope: float
    log_odds: float


@dataclass(frozen=True)
class Odds:
    """What F means for two classes: the numbers of a link, after the rounds of the model.

    The log-odds of the positive class, with the costs in them, are ``scale · F``, or the log-odds of what `pieces` say,
    plus each of `shifts` in turn. The decision D is half of these if `halved`, else F; the positive class is predicted
    where ``D >= threshold``; the probability is logistic in the log-odds less `cost_offset`.
    """

    positive: int  # its place among the classes
    scale: float
    shifts: tuple[float, ...]
    pieces: tuple[Piece, ...]
    margin: float  # how far the probabilities of pieces keep from 0 and 1
    halved: bool
    cost_offset: float
    threshold: float | None


def odds_of(link: TwoClasses, n_rounds: int, threshold: float | None) -> Odds:
    """The link of two classes as programs compute it."""
    pending, calibrator = link.pending_after(n_rounds), link.calibrator(n_rounds)
    scale, margin = link.scale, 0.0
    shifts: tuple[float, ...] = (pending,)
    pieces: tuple[Piece, ...] = ()
    if isinstance(calibrator, Sigmoid):
        scale, shifts = calibrator.slope, (calibrator.intercept, link.cost_offset)
    elif isinstance(calibrator, Isotonic):
        shifts, pieces, margin = (link.cost_offset,), _pieces(calibrator), calibrator.margin
    halved = calibrator is not None or pending != 0.0
    assert calibrator is not None or pending == 0.0 or scale == 2.0, "where costs are pending, F is half the log-odds"
    shifts = tuple(shift for shift in shifts if shift != 0.0)
    return Odds(link.positive, scale, shifts, pieces, margin, halved, link.cost_offset, threshold)


def _pieces(calibrator: Isotonic) -> tuple[Piece, ...]:
    """The interpolated steps of an isotonic regression, with level ends on both sides."""
    knots, heights = calibrator.scores.tolist(), calibrator.levels.tolist()
    log_odds = calibrator.log_odds(calibrator.scores).tolist()
    pieces = [Piece(-math.inf, heights[0], 0.0, log_odds[0])]
    for k, (start, p) in enumerate(zip(knots, heights)):
        last = k + 1 == len(knots)
        slope = 0.0 if last else (heights[k + 1] - p) / (knots[k + 1] - start)
        pieces.append(Piece(start, p, slope, log_odds[k]))
    return tuple(pieces)


@dataclass(frozen=True)
class Formula:
    """A fitted model."""

    title: str  # the class, and what is to be said of it
    notes: tuple[str, ...]  # lines for a header
    columns: tuple[Column, ...]
    named: bool  # whether the columns had names in training
    classes: tuple[Any, ...]  # str, int, float or bool
    constant: Values
    tables: tuple[Steps | LookUp, ...]
    trees: tuple[Tree, ...]
    lines: tuple[Line, ...]
    link: Odds | ManyClasses

    @property
    def n_outputs(self) -> int:
        """How many F there are."""
        return len(self.constant)

    @property
    def used(self) -> list[int]:
        """The features that matter."""
        in_trees = (node.feature for tree in self.trees for node in tree.nodes if len(set(node.links)) > 1)
        return sorted({*(part.feature for part in (*self.tables, *self.lines)), *in_trees})

    def header(self) -> list[str]:
        """What a program is about, line by line; names are quoted, so that they stay on one line."""
        names = [f"{j}: {c.name!r}" + ("" if c.categories is None else " (category)") for j, c in self._shown]
        more = [f"... and {len(self.columns) - len(names)} more"] if len(names) < len(self.columns) else []
        classes = ", ".join(map(repr, self.classes))
        lines = [self.title, "", f"Classes: {classes}", *self.notes, "Features, by position:"]
        lines += [f"  {name}" for name in (*names, *more)]
        counts = [(len(self.tables), "function"), (len(self.trees), "tree"), (len(self.lines), "line")]
        parts = [
            f"{n} {what}{'s' if n > 1 else ''}{' of one feature' * (what == 'function')}" for n, what in counts if n
        ]
        return [*lines, f"F is a constant{''.join(' + ' + p for p in parts)}."]

    @property
    def _shown(self) -> list[tuple[int, Column]]:
        return list(enumerate(self.columns))[:200]
