"""From a fitted model to its formula, or to an error that says why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.estimator import BaseBooster
from skewboost.boosting.link import Labels, ManyClasses, TwoClasses
from skewboost.boosting.model import Model
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Split
from skewboost.engine.scoring import LeafTerm, Scorer
from skewboost.errors import InputTypeError
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.io.export.formula import Column, Formula, Line, LookUp, Node, Odds, Steps, Tree, Values, odds_of
from skewboost.typing import Array

CAN_BE = (
    "Boosters of skewboost whose F is a sum of stumps, trees, histograms, lines or an alternating tree can be "
    "exported, and GoalSearchCV around one"
)


def read_formula(model: Any) -> Formula:
    """The formula of a fitted model."""
    if isinstance(model, type):
        raise InputTypeError(f"model is the class {model.__name__}. Pass a fitted instance of it.")
    threshold, booster, outer = None, model, type(model).__name__
    if isinstance(model, GoalSearchCV):
        check_is_fitted(model)
        booster, threshold = model.estimator_, float(model.threshold_)
    if not isinstance(booster, BaseBooster):
        raise InputTypeError(_refusal(model, booster))
    check_is_fitted(booster)
    fitted = booster._model
    if isinstance(fitted.link, Labels):
        raise InputTypeError(
            f"{outer} was fitted to several labels per example, which programs do not tell. {CAN_BE}. Fit a model per "
            "label and export each."
        )
    scorers = _scorers_of(fitted, outer)
    columns = _columns(booster)
    ignored = frozenset(getattr(booster, "_empty_columns", ()))
    title = outer if booster is model else f"{outer} around {type(booster).__name__}"
    n_rounds, link = fitted.n_rounds, fitted.link
    if isinstance(link, TwoClasses):
        if threshold is not None and model.pos_label_ != booster.pos_label_:
            raise InputTypeError(
                f"{outer} and the estimator in it differ in the positive class ({model.pos_label_!r} and "
                f"{booster.pos_label_!r}). {CAN_BE} that has the same; set pos_label of both."
            )
        meaning: Odds | ManyClasses = odds_of(link, n_rounds, threshold)
    else:
        assert isinstance(link, ManyClasses)
        meaning = link
    return Formula(
        title=f"{title}, {n_rounds} round{'s' if n_rounds != 1 else ''}",
        notes=tuple(_notes(booster, meaning)),
        columns=columns,
        named=hasattr(booster, "feature_names_in_"),
        classes=_classes(booster),
        constant=tuple(float(s.constant) for s in scorers),
        tables=tuple(_table(scorers, j, columns, ignored) for j in scorers[0].table_features.tolist()),
        trees=tuple(_trees(scorers, columns, ignored)),
        lines=tuple(_lines(scorers[0], ignored)),
        link=meaning,
    )


def _refusal(model: Any, booster: Any) -> str:
    """Why something is not exported, and what to do."""
    what = type(model).__name__ if booster is model else f"{type(model).__name__} around {type(booster).__name__}"
    said = f"{what} cannot be exported. {CAN_BE}."
    if hasattr(model, "steps"):
        return f"{said} Export the last step of the pipeline, and apply the steps before it yourself."
    if type(model).__name__ == "MinimumRiskClassifier":
        return f"{said} Export its estimator_ if that is one, and decide by its probabilities and cost_."
    if hasattr(model, "best_estimator_"):
        return f"{said} Export its best_estimator_."
    if hasattr(model, "estimators_"):
        return f"{said} Export each of its estimators_ if they are such, and combine them yourself."
    return said


def _scorers_of(fitted: Model, outer: str) -> list[Scorer]:
    """The compiled ensemble, if it is a sum of things that can be written down."""
    if not fitted.is_sum:
        raise InputTypeError(
            f"{outer} cannot be exported: what a round adds depends on the rounds before it, so F is no sum. {CAN_BE}; "
            "AdaBoostRegClassifier or GentleBoostClassifier stand label noise too."
        )
    scorers = fitted.scorers
    if scorers[0].others:
        raise InputTypeError(
            f"{outer} cannot be exported: its rounds are {type(scorers[0].others[0]).__name__}s, of another kind of "
            f"weak learner. {CAN_BE}; set estimator='stump' or 'tree'."
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
                f"classes_ holds {label!r} of type {type(label).__name__}. Labels that are text, numbers or booleans "
                "can be exported; fit the model to such."
            )
    return classes


def _notes(booster: Any, link: Odds | ManyClasses) -> list[str]:
    classes = booster.classes_.tolist()
    if isinstance(link, ManyClasses):
        costs = ", ".join(f"{c!r}: {cost:.6g}" for c, cost in zip(classes, link.costs))
        return [f"Costs of getting a class wrong: {costs}"] if len(set(link.costs)) > 1 else []
    notes = [f"Positive class: {classes[link.positive]!r}; scores above zero speak for {classes[1]!r}"]
    ratio = booster._model.link.cost_ratio
    if ratio != 1.0:
        notes.append(f"Costs: a miss of {classes[link.positive]!r} costs {ratio:.6g} times a false alarm")
    if link.threshold is not None:
        notes.append(f"Threshold: {link.threshold!r}, which has been taken off the score")
    return notes


# ------------------------------------------------------------------------------------------ what F adds


def _rows(values: Array) -> tuple[Values, ...]:
    """``[row, output]`` as tuples; minus zero would be written as such."""
    return tuple(tuple(row) for row in (values + 0.0).tolist())


def _table(scorers: Sequence[Scorer], j: int, columns: Sequence[Column], ignored: frozenset[int]) -> Steps | LookUp:
    """What one feature adds: where it jumps, or the value of each category."""
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
        assert split.threshold >= 0, "a number is tested against a threshold"
        return Node(split.feature, cut, None, (links[0], links[1], missing))
    child = {c: int(split.child[feature.code_of[c]]) for c in categories}
    assert ABSTAIN not in child.values() or links[ABSTAIN] == missing, "categories abstain where missing cells do"
    yes, no = (frozenset(c for c in categories if child[c] == side) for side in (LEFT, RIGHT))
    return Node(split.feature, math.nan, (yes, no), (links[0], links[1], missing))


def _lines(scorer: Scorer, ignored: frozenset[int]) -> list[Line]:
    used = [line for (j, _), line in sorted(scorer.lines.items()) if j not in ignored]
    return [Line(line.feature, line.rise, line.height, line.centre, line.scale, line.reach) for line in used]
