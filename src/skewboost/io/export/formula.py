"""A fitted model as a formula, which is all that the writers of programs read.

F starts from a constant. Step functions of numbers and look-ups of categories are added in the order of the columns,
then trees, then the sum of all lines. The model adds them in the same order, so programs that keep to it have the same
F to the last bit. The link gives the meaning of F. Values are tuples with one number per output: one for two classes,
one per class for more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.calibration import Isotonic, Sigmoid
from skewboost.boosting.estimator import BaseBooster
from skewboost.boosting.link import ManyClasses, TwoClasses
from skewboost.boosting.model import Model
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Split
from skewboost.engine.scoring import LeafTerm, LineTerm, Scorer
from skewboost.errors import InputError, InputTypeError
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.typing import Array

CAN_BE = (
    "Only boosters of skewboost whose F is a sum of stumps, trees, histograms, lines or alternating trees can be "
    "exported, and GoalSearchCV around them"
)
REMEDIES = {  # by an attribute of a model that cannot be exported as a whole
    "reject_cost": "Its forests are no sum of scores. Save it by skewboost.io.save, and predict in Python.",
    "steps": "Export the last step of the pipeline, and apply the steps before it yourself.",
    "best_estimator_": "Export its best_estimator_.",
    "estimators_": "Export each of its estimators_ that can be exported, and combine their results yourself.",
    "expected_costs": "Export its estimator_ if it can be exported, and decide by its probabilities and cost_.",
}
WIDTH = 100  # of a line of a program
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
    """A value per category of the column; `missing` is also the value of categories that training has not seen."""

    feature: int
    values: tuple[Values, ...]
    missing: Values


@dataclass(frozen=True)
class Node:
    """A test, ``x <= cut`` or to which of two sets a category belongs. Its links are for yes, no and missing.

    A link ``>= 0`` is another node, a link ``< 0`` is the leaf ``~link``. An infinite cut only tests for missing cells.
    A category in neither set is treated as missing.
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

    def cases(self, tests_of: Callable[[Node], Tests], link: int = 0) -> Cases:
        """The tree from a link on as cases: the first whose test is true decides.

        The branch with most leaves continues the same list, the others have lists of their own. So every test is
        written once, and lists are nested no deeper than the logarithm of the number of leaves.
        """
        found = []
        while link >= 0:
            *ways, (link, _) = sorted(_ways(self.nodes[link], tests_of), key=lambda way: self._n_leaves[way[0]])
            found += [(test, self.cases(tests_of, to)) for to, test in ways]
        return Cases(found, self.values[~link])

    @cached_property
    def _n_leaves(self) -> dict[int, int]:
        """The number of leaves below each link."""
        found = {~leaf: 1 for leaf in range(len(self.values))}
        for at in reversed(range(len(self.nodes))):
            found[at] = sum(found[link] for link in set(self.nodes[at].links))
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


def _ways(node: Node, tests_of: Callable[[Node], Tests]) -> list[tuple[int, str]]:
    """The links of a node with their conditions, exactly one of which holds for every row."""
    yes, no, missing = node.links
    if yes == no == missing:
        return [(yes, "")]
    tests = tests_of(node)
    ways = list(zip((yes, no), tests.plain))
    if missing in (yes, no):
        ways[missing == no] = (missing, tests.with_missing[missing == no])
    else:
        ways.append((missing, tests.missing))
    return [(link, test) for link, test in ways if test]


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
    ``F + decision_shift``. The positive class is predicted where ``D >= threshold``. The probability is logistic in the
    log-odds minus `cost_offset`.
    """

    positive: int  # the place of the positive class
    scale: float
    shifts: tuple[float, ...]
    pieces: tuple[Piece, ...]
    margin: float  # the distance that the probabilities of pieces keep from 0 and 1
    calibrated: bool
    decision_shift: float
    cost_offset: float
    threshold: float | None


@dataclass(frozen=True)
class Formula:
    """A fitted model."""

    title: str  # the class and the number of rounds
    notes: tuple[str, ...]  # lines of the header
    columns: tuple[Column, ...]
    classes: tuple[Any, ...]  # str, int, float or bool
    constant: Values
    tables: tuple[Steps | LookUp, ...]
    trees: tuple[Tree, ...]
    lines: tuple[LineTerm, ...]
    link: Odds | ManyClasses

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return len(self.constant)

    @property
    def used(self) -> list[int]:
        """The features in use."""
        in_trees = (node.feature for tree in self.trees for node in tree.nodes if len(set(node.links)) > 1)
        return sorted({*(part.feature for part in (*self.tables, *self.lines)), *in_trees})

    def header(self) -> list[str]:
        """The lines of a header that describes the model. Names are quoted, so that they stay on one line."""
        shown = list(enumerate(self.columns))[:200]
        names = [f"{j}: {c.name!r}" + ("" if c.categories is None else " (category)") for j, c in shown]
        more = [f"... and {len(self.columns) - len(names)} more"] if len(names) < len(self.columns) else []
        classes = ", ".join(map(repr, self.classes))
        lines = [self.title, "", f"Classes: {classes}", *self.notes, "Features, by position:"]
        lines += [f"  {name}" for name in (*names, *more)]
        counts = [(len(self.tables), "function"), (len(self.trees), "tree"), (len(self.lines), "line")]
        parts = [
            f"{n} {what}{'s' if n > 1 else ''}{' of one feature' * (what == 'function')}" for n, what in counts if n
        ]
        return [*lines, f"F is a constant{''.join(' + ' + p for p in parts)}."]


# ------------------------------------------------------------------------------------- reading a model


def read_formula(model: Any) -> Formula:
    """Return the formula of a fitted model, or raise an error that says why there is none."""
    if isinstance(model, type):
        raise InputTypeError(f"model is the class {model.__name__}.", "Pass a fitted instance of it.")
    name, booster, threshold = type(model).__name__, model, None
    if isinstance(model, GoalSearchCV):
        check_is_fitted(model)
        if model.lower_threshold_ is not None:
            raise InputTypeError(
                "A GoalSearchCV that refers rows cannot be exported: a formula has one threshold.",
                "Export its estimator_, and compare scores with threshold_ and lower_threshold_.",
            )
        booster, threshold = model.estimator_, float(model.threshold_)
        name = f"{name} around {type(booster).__name__}"
    if not isinstance(booster, BaseBooster):
        remedy = next((text for attribute, text in REMEDIES.items() if hasattr(model, attribute)), "")
        raise InputTypeError(f"{name} cannot be exported. {CAN_BE}.", remedy)
    check_is_fitted(booster)
    fitted, n_rounds = booster._model, booster._model.n_rounds
    link: Odds | ManyClasses
    if isinstance(fitted.link, TwoClasses):
        link = _odds(fitted.link, n_rounds, threshold)
    elif isinstance(fitted.link, ManyClasses):
        link = fitted.link
    else:
        raise InputTypeError(
            f"{name} was fitted to several labels per example, and cannot be exported. {CAN_BE}.",
            "Fit one model per label and export each.",
        )
    if threshold is not None and model.pos_label_ != booster.pos_label_:
        raise InputTypeError(
            f"{type(model).__name__} and its estimator have different positive classes: {model.pos_label_!r} and "
            f"{booster.pos_label_!r}.",
            "Set pos_label of both to the same class.",
        )
    scorers = _scorers_of(fitted, name)
    columns = _columns(booster)
    ignored = frozenset(getattr(booster, "_empty_columns", ()))
    return Formula(
        title=f"{name}, {n_rounds} round{'s' if n_rounds != 1 else ''}",
        notes=tuple(_notes(booster, link)),
        columns=columns,
        classes=_classes(booster),
        constant=tuple(float(s.constant) for s in scorers),
        tables=tuple(_table(scorers, j, columns, ignored) for j in scorers[0].table_features.tolist()),
        trees=tuple(_trees(scorers, columns, ignored)),
        lines=tuple(line for (j, _), line in sorted(scorers[0].lines.items()) if j not in ignored),
        link=link,
    )


def _scorers_of(fitted: Model, name: str) -> list[Scorer]:
    """The compiled ensemble of each output, if it is a sum of parts that can be exported."""
    if not fitted.is_sum:
        raise InputTypeError(
            f"{name} cannot be exported: its F is not a sum, because what a round adds depends on earlier rounds. "
            f"{CAN_BE}.",
            "AdaBoostRegClassifier and GentleBoostClassifier are robust against label noise, too.",
        )
    scorers = fitted.scorers
    if scorers[0].others:
        raise InputTypeError(
            f"{name} cannot be exported: its rounds are of type {type(scorers[0].others[0]).__name__}. {CAN_BE}.",
            "Set estimator='stump' or 'tree'.",
        )
    return scorers


def _columns(booster: Any) -> tuple[Column, ...]:
    names = getattr(booster, "feature_names_in_", [f"x{j}" for j in range(booster.n_features_in_)])
    bins = booster._model.bins
    found = []
    for j, (name, nominal) in enumerate(zip(names, booster._nominal)):
        known = () if bins is None or not nominal else tuple(sorted(bins.features[j].code_of))
        found.append(Column(str(name), known if nominal else None))
    return tuple(found)


def _classes(booster: Any) -> tuple[Any, ...]:
    classes = tuple(booster.classes_.tolist())
    for label in classes:
        if not isinstance(label, str | bool | int | float):
            raise InputTypeError(
                f"classes_ holds {label!r} of type {type(label).__name__}, which cannot be exported.",
                "Fit the model to labels that are texts, numbers or booleans.",
            )
    return classes


def _notes(booster: Any, link: Odds | ManyClasses) -> list[str]:
    classes = booster.classes_.tolist()
    if isinstance(link, ManyClasses):
        costs = ", ".join(f"{c!r}: {cost:.6g}" for c, cost in zip(classes, link.costs))
        return [f"Costs of misclassifying a class: {costs}"] if len(set(link.costs)) > 1 else []
    notes = [f"Positive class: {classes[link.positive]!r}; positive scores favour {classes[1]!r}"]
    ratio = booster._model.link.cost_ratio
    if ratio != 1.0:
        notes.append(f"Costs: a miss of {classes[link.positive]!r} costs {ratio:.6g} times a false alarm")
    if link.threshold is not None:
        notes.append(f"Threshold: {link.threshold!r}, which is subtracted from the score")
    return notes


# ------------------------------------------------------------------------------------- the link


def _odds(link: TwoClasses, n_rounds: int, threshold: float | None) -> Odds:
    """The link of two classes as programs compute it."""
    calibrator, pending = link.calibrator(n_rounds), link.pending_after(n_rounds)
    scale, margin = link.scale, 0.0
    shifts: tuple[float, ...] = (pending,)
    pieces: tuple[Piece, ...] = ()
    if isinstance(calibrator, Sigmoid):
        scale, shifts = calibrator.slope, (calibrator.intercept, link.cost_offset)
    elif isinstance(calibrator, Isotonic):
        shifts, pieces, margin = (link.cost_offset,), _pieces(calibrator), calibrator.margin
    return Odds(
        positive=link.positive,
        scale=scale,
        shifts=tuple(shift for shift in shifts if shift != 0.0),
        pieces=pieces,
        margin=margin,
        calibrated=calibrator is not None,
        decision_shift=pending / link.scale,
        cost_offset=link.cost_offset,
        threshold=threshold,
    )


def _pieces(calibrator: Isotonic) -> tuple[Piece, ...]:
    """The lines between the points of an isotonic regression, constant at both ends."""
    knots, heights = calibrator.scores.tolist(), calibrator.levels.tolist()
    log_odds = calibrator.log_odds(calibrator.scores).tolist()
    pieces = [Piece(-math.inf, heights[0], 0.0, log_odds[0])]
    for k, (start, p) in enumerate(zip(knots, heights)):
        last = k + 1 == len(knots)
        slope = 0.0 if last else (heights[k + 1] - p) / (knots[k + 1] - start)
        pieces.append(Piece(start, p, slope, log_odds[k]))
    return tuple(pieces)


# ------------------------------------------------------------------------------------- the parts of F


def _rows(values: Array) -> tuple[Values, ...]:
    """``[row, output]`` as tuples, without negative zeros."""
    return tuple(tuple(row) for row in (values + 0.0).tolist())


def _table(scorers: Sequence[Scorer], j: int, columns: Sequence[Column], ignored: frozenset[int]) -> Steps | LookUp:
    """What one feature adds to F: a step function, or a value per category."""
    bins = scorers[0].bins
    assert bins is not None
    values = np.column_stack([s.tables[j] for s in scorers])
    (missing,) = _rows(values[[MISSING]])
    if j in ignored:
        return Steps(j, (), (missing,), missing)
    feature = bins.features[j]
    categories = columns[j].categories
    if categories is not None:
        return LookUp(j, _rows(values[[feature.code_of[c] for c in categories]]), missing)
    heights = values[: len(feature.cuts) + 1]
    jumps = np.flatnonzero((heights[1:] != heights[:-1]).any(axis=1))
    return Steps(j, tuple(feature.cuts[jumps].tolist()), _rows(heights[np.append(jumps, len(heights) - 1)]), missing)


def _trees(scorers: Sequence[Scorer], columns: Sequence[Column], ignored: frozenset[int]) -> list[Tree]:
    found = []
    for terms in zip(*(s.trees for s in scorers)):
        first: LeafTerm = terms[0]
        bins = scorers[0].bins
        assert bins is not None
        partition = first.partition
        nodes = tuple(
            _node(split, links, bins, columns, ignored) for split, links in zip(partition.splits, partition.links)
        )
        found.append(Tree(nodes, _rows(np.column_stack([term.values for term in terms]))))
    return found


def _node(split: Split, links: tuple[int, ...], bins: Bins, columns: Sequence[Column], ignored: frozenset[int]) -> Node:
    missing = links[split.child[MISSING]]
    feature, categories = bins.features[split.feature], columns[split.feature].categories
    if split.feature in ignored:
        return Node(split.feature, math.inf, None, (missing, missing, missing))
    if categories is None:
        inside = 0 <= split.threshold < len(feature.cuts)
        cut = float(feature.cuts[split.threshold]) if inside else math.inf
        assert split.threshold >= 0, "a numeric feature has a threshold"
        return Node(split.feature, cut, None, (links[0], links[1], missing))
    child = {c: int(split.child[feature.code_of[c]]) for c in categories}
    assert ABSTAIN not in child.values() or links[ABSTAIN] == missing, "they share the link of missing cells"
    yes, no = (frozenset(c for c in categories if child[c] == side) for side in (LEFT, RIGHT))
    return Node(split.feature, math.nan, (yes, no), (links[0], links[1], missing))


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
