"""A fitted model as a formula, which is all that the writers of programs read.

F is an offset plus weighted scores. Each score is a sum, or the log-odds of shares that a sum gives. A booster is one
sum, and a portfolio has one per family. A sum starts from a constant. Step functions of numbers and look-ups of
categories are added in the order of the columns, then trees, then the sum of all lines. The model adds them in the same
order, so programs that keep to it have the same sums to the last bit. The link gives the meaning of F. Values are
tuples with one number per output: one for two classes, one per class for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skewboost.boosting.link import ManyClasses
from skewboost.engine.scoring import LineTerm
from skewboost.errors import InputError
from skewboost.meta.portfolio.components import Components
from skewboost.typing import Array

WIDTH = 100  # of a line of a program
Values = tuple[float, ...]
Sides = tuple[frozenset[str], frozenset[str]]  # the categories that a node answers with yes and with no


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
    """A value per category of the column; `missing` is also the value of categories that training has not seen."""

    feature: int
    values: tuple[Values, ...]
    missing: Values


class Node(NamedTuple):
    """A test, ``x <= cut`` or to which of two sets a category belongs.

    An infinite cut only tests for missing cells. A category in neither set is treated as missing.
    """

    feature: int
    cut: float
    sides: Sides | None  # None where the column holds numbers


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays, one after the other, parents before children.

    Node k tests ``feature[k]`` by ``cut[k]``, or by ``sides[which[k]]`` where ``which[k] >= 0``. ``links[k]`` are for
    yes, no and missing. A link ``>= 0`` is another node, a link ``< 0`` is the leaf ``~link``; roots are such links,
    too. ``values`` are ``[leaf, output]``.
    """

    roots: Array
    feature: Array
    cut: Array
    which: Array
    sides: tuple[Sides, ...]
    links: Array
    values: Array

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def features(self) -> list[int]:
        """The features that are tested, in order."""
        return [int(j) for j in np.unique(self.feature)]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.feature)

    @property
    def n_listed(self) -> int:
        """The number of categories that the nodes name in all."""
        sizes = np.array([len(yes) + len(no) for yes, no in self.sides], dtype=np.int64)
        return int(sizes[self.which[self.which >= 0]].sum()) if len(sizes) else 0

    def node(self, k: int) -> Node:
        """The test of a node."""
        which = int(self.which[k])
        return Node(int(self.feature[k]), float(self.cut[k]), None if which < 0 else self.sides[which])

    def value(self, link: int) -> Values:
        """The values of the leaf that a link stands for."""
        return tuple(self.values[~link].tolist())

    def n_leaves(self, tree: int) -> int:
        """The number of leaves of a tree."""
        return int(self._n_leaves[self.roots[tree]])

    def cases(self, tree: int, tests_of: Callable[[Node], Tests]) -> Cases:
        """A tree as cases, of which the first whose test is true decides."""
        return self._cases(tests_of, int(self.roots[tree]))

    def _cases(self, tests_of: Callable[[Node], Tests], link: int) -> Cases:
        """A tree from a link on.

        The branch with most leaves continues the same list, the others have lists of their own. So every test is
        written once, and lists are nested no deeper than the logarithm of the number of leaves.
        """
        found = []
        while link >= 0:
            *ways, (link, _) = sorted(self._ways(link, tests_of), key=lambda way: self._n_leaves[way[0]])
            found += [(test, self._cases(tests_of, to)) for to, test in ways]
        return Cases(found, self.value(link))

    def _ways(self, k: int, tests_of: Callable[[Node], Tests]) -> list[tuple[int, str]]:
        """The links of a node with their conditions, exactly one of which holds for every row."""
        yes, no, missing = map(int, self.links[k])
        tests = tests_of(self.node(k))
        ways = list(zip((yes, no), tests.plain))
        if missing in (yes, no):
            ways[missing == no] = (missing, tests.with_missing[missing == no])
        else:
            ways.append((missing, tests.missing))
        return [(link, test) for link, test in ways if test]

    @cached_property
    def _n_leaves(self) -> dict[int, int]:
        """The number of leaves below each link."""
        found = {~leaf: 1 for leaf in range(len(self.values))}
        links = self.links.tolist()
        for at in reversed(range(len(links))):
            found[at] = sum(found[link] for link in set(links[at]))
        return found


class Tests(NamedTuple):
    """The conditions of a node as text; an empty one is never true."""

    plain: tuple[str, str]  # for yes and for no
    with_missing: tuple[str, str]  # the same where missing cells take that link, too
    missing: str


class Cases(NamedTuple):
    """Conditions with what follows where they are the first to hold, and the value where none holds."""

    tests: list[tuple[str, Cases]]
    other: Values


@dataclass(frozen=True, eq=False)
class Sum:
    """A constant, functions of one feature, trees and lines.

    With `floor` they are shares: of the positive class, or of each of several. Their score is then
    ``log(max(share, floor))``, for two classes less ``log(max(1 - share, floor))``.
    """

    constant: Values
    tables: tuple[Steps | LookUp, ...]
    forest: Forest
    lines: tuple[LineTerm, ...] = ()
    floor: Values | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class Piece:
    """From `start` up to the start of the next piece, the probability is ``p + slope (F - start)``.

    If the slope is zero, `log_odds` are its log-odds.
    """

    start: float
    p: float
    slope: float
    log_odds: float


@dataclass(frozen=True)
class Odds:
    """The meaning of F for two classes: the numbers of the link after the rounds of the model.

    The log-odds of the positive class, which include the costs, are ``scale · F``, or those of the calibrated
    probability in `pieces`, plus each of `shifts` in turn. The decision D is half the log-odds if `calibrated`, else
    ``F + decision_shift``. The positive class is predicted where ``D >= threshold``, and rows from `lower` up to the
    threshold, if it is given, get `reject_label`. The probability is logistic in the log-odds minus `cost_offset`.
    """

    positive: int  # the place of the positive class
    scale: float = 1.0
    shifts: tuple[float, ...] = ()
    pieces: tuple[Piece, ...] = ()
    margin: float = 0.0  # the distance that the probabilities of pieces keep from 0 and 1
    calibrated: bool = False
    decision_shift: float = 0.0
    cost_offset: float = 0.0
    threshold: float | None = None
    lower: float | None = None
    reject_label: Any = None

    @property
    def refers(self) -> bool:
        """Whether rows may be referred."""
        return self.lower is not None


@dataclass(frozen=True)
class ExpectedCosts:
    """F are the log-odds of the positive of two classes, or a score per class whose softmax are the probabilities.

    The class of least expected cost ``Σ_j p_j costs[j][k]``, added in this order, is predicted, the first one if
    several tie. Where the least one exceeds `reject_cost`, the prediction is `reject_label`. The score is minus the
    expected cost, for two classes the log-odds of the second one plus `shift`.
    """

    costs: tuple[Values, ...]  # [true][predicted]
    positive: int | None = None  # the place of the positive class of two
    shift: float = 0.0
    reject_cost: float | None = None
    reject_label: Any = None

    @property
    def refers(self) -> bool:
        """Whether rows may be referred."""
        return self.reject_cost is not None

    def terms(self, k: int) -> list[tuple[int, float]]:
        """The classes whose probability is in the expected cost of predicting class k, and what they cost."""
        return [(j, row[k]) for j, row in enumerate(self.costs) if row[k] != 0.0]


@dataclass(frozen=True, eq=False)
class Formula:
    """A fitted model."""

    title: str  # the class, and the number of rounds or trees
    notes: tuple[str, ...]  # lines of the header
    columns: tuple[Column, ...]
    classes: tuple[Any, ...]  # str, int, float or bool
    offset: Values
    sums: tuple[Sum, ...]
    link: Odds | ManyClasses | ExpectedCosts
    components: Components | None = None  # columns that programs compute, numbered behind those of the input

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return len(self.offset)

    @property
    def is_one_sum(self) -> bool:
        """Whether F is a sum, rather than a combination of the scores of sums."""
        return (
            len(self.sums) == 1 and self.sums[0].floor is None and self.sums[0].weight == 1.0 and not any(self.offset)
        )

    @property
    def labels(self) -> tuple[Any, ...]:
        """What may be predicted: the classes and, if rows may be referred, the label of these."""
        if isinstance(self.link, ManyClasses) or not self.link.refers:
            return self.classes
        return *self.classes, self.link.reject_label

    @property
    def labels_of_one_type(self) -> tuple[Any, ...]:
        """The same for languages where results have one type: text if some are no numbers or some no booleans."""
        found = self.labels
        if any(isinstance(label, str) for label in found) or len({isinstance(label, bool) for label in found}) > 1:
            return tuple(map(str, found))
        return found

    def check_listed(self, most: int, what: str) -> None:
        """Refuse a form in which every node names its categories, if that would be gigabytes."""
        n = sum(own.forest.n_listed for own in self.sums)
        if n > most:
            raise InputError(
                f"The trees name {n} categories in all, but {what} at most {most}. Merge rare categories of columns "
                "that have many, or export C or Python, where equal sets are written once."
            )

    @cached_property
    def tested(self) -> tuple[Column, ...]:
        """The columns of the input, and the components."""
        n = 0 if self.components is None else self.components.n_components
        return *self.columns, *(Column(f"component {k}") for k in range(1, n + 1))

    @property
    def used(self) -> list[int]:
        """The features in use."""
        tables = {part.feature for own in self.sums for part in (*own.tables, *own.lines)}
        found = tables.union(*(own.forest.features for own in self.sums))
        if self.components is not None:
            found |= set(self.components.features.tolist())
        return sorted(j for j in found if j < len(self.columns))

    def header(self) -> list[str]:
        """The lines of a header that describes the model. Names are quoted, so that they stay on one line."""
        shown = list(enumerate(self.columns))[:200]
        names = [f"{j}: {c.name!r}" + ("" if c.categories is None else " (category)") for j, c in shown]
        more = [f"... and {len(self.columns) - len(names)} more"] if len(names) < len(self.columns) else []
        classes = ", ".join(map(repr, self.classes))
        lines = [self.title, "", f"Classes: {classes}", *self.notes, "Features, by position:"]
        lines += [f"  {name}" for name in (*names, *more)]
        if self.components is not None:
            n, many = self.components.n_components, len(self.components.features)
            lines.append(f"{n} principal components of {many} of them are further columns that trees test.")
        if self.is_one_sum:
            return [*lines, f"F is {_described(self.sums[0])}."]
        lines.append("F is an offset plus")
        for own in self.sums:
            log_odds = "" if own.floor is None else "the log-odds of " if self.n_outputs == 1 else "the logarithm of "
            lines.append(f"  {own.weight:.6g} times {log_odds}{_described(own)}")
        return lines


def _described(own: Sum) -> str:
    counts = [(len(own.tables), "function"), (len(own.forest), "tree"), (len(own.lines), "line")]
    parts = [f"{n} {what}{'s' if n > 1 else ''}{' of one feature' * (what == 'function')}" for n, what in counts if n]
    return f"a constant{''.join(' + ' + p for p in parts)}"


# ------------------------------------------------------------------------------------- text of programs


def number(value: float) -> str:
    """A number with all its digits, for Python and C."""
    return repr(float(value))


def utf8(text: str) -> bytes:
    """A text as UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{text!r} holds half a surrogate pair, which is not valid Unicode. Rename it, or export Python."
        ) from error


def filled(items: Iterable[str], indent: str = "    ") -> str:
    """Items with a comma after each, on lines of limited width."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += f"{item}, "
    lines.append(line.rstrip())
    return "\n".join(lines)
