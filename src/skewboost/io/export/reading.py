"""Reads a fitted model as a formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.calibration import Isotonic, Sigmoid
from skewboost.boosting.estimator import BaseBooster
from skewboost.boosting.link import ManyClasses, TwoClasses
from skewboost.boosting.model import Model
from skewboost.boosting.whole_columns import on_whole_columns
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import LEFT, MISSING, RIGHT
from skewboost.engine.scoring import Scorer
from skewboost.errors import InputTypeError
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.io.export.formula import (
    Column,
    ExpectedCosts,
    Forest,
    Formula,
    LookUp,
    Odds,
    Piece,
    Sides,
    Steps,
    Sum,
    Values,
)
from skewboost.meta.portfolio.portfolio_classifier import PortfolioClassifier
from skewboost.typing import Array

CAN_BE = (
    "Only boosters of skewboost whose F is a sum of stumps, trees, histograms, lines or alternating trees can be "
    "exported, SkewBoostClassifier, and GoalSearchCV around them"
)
REMEDIES = {  # by an attribute of a model that cannot be exported as a whole
    "steps": "Export the last step of the pipeline, and apply the steps before it yourself.",
    "best_estimator_": "Export its best_estimator_.",
    "stages_": "Export the model of each stage, which reads its columns. A row is positive if it reaches the threshold "
    "of every stage.",
    "estimators_": "Export each of its estimators_ that can be exported, and combine their results yourself.",
    "expected_costs": "Export its estimator_ if it can be exported, and decide by its probabilities and cost_.",
}


def read_formula(model: Any) -> Formula:
    """Return the formula of a fitted model, or raise an error that says why there is none."""
    if isinstance(model, type):
        raise InputTypeError(f"model is the class {model.__name__}.", "Pass a fitted instance of it.")
    name, inner, threshold = type(model).__name__, model, None
    if isinstance(model, GoalSearchCV):
        model._check_decisions()
        inner, threshold = model.estimator_, float(model.threshold_)
        name = f"{name} around {type(inner).__name__}"
    if not isinstance(inner, BaseBooster | PortfolioClassifier):
        remedy = next((text for attribute, text in REMEDIES.items() if hasattr(model, attribute)), "")
        raise InputTypeError(f"{name} cannot be exported. {CAN_BE}.", remedy)
    check_is_fitted(inner)
    read = _read_booster if isinstance(inner, BaseBooster) else _read_portfolio
    formula = read(inner, name, threshold)
    return formula if getattr(model, "lower_threshold_", None) is None else _referring(formula, model)


def _referring(formula: Formula, model: Any) -> Formula:
    """The formula of a goal that refers rows, whose scores are between two thresholds."""
    assert isinstance(formula.link, Odds)
    label, lower = _plain(model.reject_label_), float(model.lower_threshold_)
    _check_label(label, "reject_label_ is")
    note = f"The label is {label!r} below the threshold, from {lower!r} on"
    link = replace(formula.link, lower=lower, reject_label=label)
    return replace(formula, link=link, notes=(*formula.notes, note))


def _read_booster(booster: Any, name: str, threshold: float | None) -> Formula:
    fitted, n_rounds = on_whole_columns(booster._model), booster._model.n_rounds
    deciding = booster._deciding_link
    link: Odds | ManyClasses
    notes = []
    if isinstance(deciding, TwoClasses):
        link = _odds(deciding, n_rounds, threshold)
        notes = _notes_of_two(booster, deciding.cost_ratio, threshold)
    elif isinstance(deciding, ManyClasses):
        link = deciding
        costs = ", ".join(f"{c!r}: {cost:.6g}" for c, cost in zip(booster.classes_.tolist(), link.costs))
        notes = [f"Costs of misclassifying a class: {costs}"] if len(set(link.costs)) > 1 else []
    else:
        raise InputTypeError(
            f"{name} was fitted to several labels per example, and cannot be exported. {CAN_BE}.",
            "Fit one model per label and export each.",
        )
    scorers = _scorers_of(fitted, name)
    columns = _columns(booster, fitted.bins)
    return Formula(
        title=f"{name}, {n_rounds} round{'s' if n_rounds != 1 else ''}",
        notes=tuple(notes),
        columns=columns,
        classes=_classes(booster),
        offset=(0.0,) * len(scorers),
        sums=(_sum(scorers, columns, _ignored(booster)),),
        link=link,
    )


def _read_portfolio(portfolio: Any, name: str, threshold: float | None) -> Formula:
    fitted = portfolio._model
    columns, ignored = _columns(portfolio, fitted.bins), _ignored(portfolio)
    link = _portfolio_link(portfolio, threshold)
    formula = Formula(
        title=f"{name}, {fitted.title}",
        notes=tuple(_notes_of_portfolio(portfolio, link)),
        columns=columns,
        classes=_classes(portfolio),
        offset=tuple(fitted.offset.tolist()),
        sums=(),
        link=link,
        components=fitted.components,
    )
    sums = (
        _sum(scorers, formula.tested, ignored, None if part.floor is None else tuple(part.floor.tolist()), part.weight)
        for part, scorers in zip(fitted.parts, fitted.scorers)
    )
    return replace(formula, sums=tuple(sums))


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
            "Fit a booster of stumps or trees.",
        )
    return scorers


def _ignored(model: Any) -> frozenset[int]:
    """The columns that were empty in training, so that their cells say nothing."""
    return frozenset(getattr(model, "_empty_columns", ()))


def _columns(model: Any, bins: Bins | None) -> tuple[Column, ...]:
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    found = []
    for j, (name, nominal) in enumerate(zip(names, model._nominal)):
        known = () if bins is None or not nominal else tuple(sorted(bins.features[j].code_of))
        found.append(Column(str(name), known if nominal else None))
    return tuple(found)


def _classes(model: Any) -> tuple[Any, ...]:
    classes = tuple(model.classes_.tolist())
    for label in classes:
        _check_label(label, "classes_ holds")
    return classes


def _check_label(label: Any, where: str) -> None:
    if not isinstance(label, str | bool | int | float):
        raise InputTypeError(
            f"{where} {label!r} of type {type(label).__name__}, which cannot be exported.",
            "Fit the model to labels that are texts, numbers or booleans.",
        )


def _notes_of_two(model: Any, cost_ratio: float, threshold: float | None) -> list[str]:
    notes = [f"Positive class: {_plain(model.pos_label_)!r}; positive scores favour {_plain(model.classes_[1])!r}"]
    if cost_ratio != 1.0:
        notes.append(f"Costs: a miss of {_plain(model.pos_label_)!r} costs {cost_ratio:.6g} times a false alarm")
    if threshold is not None:
        notes.append(f"Threshold: {threshold!r}, which is subtracted from the score")
    return notes


def _notes_of_portfolio(portfolio: Any, link: Odds | ExpectedCosts) -> list[str]:
    if isinstance(link, Odds):
        return _notes_of_two(portfolio, 1.0, link.threshold)
    notes = [] if link.positive is None else _notes_of_two(portfolio, 1.0, None)
    rows = [", ".join(f"{cost:.6g}" for cost in row) for row in link.costs]
    notes.append("Costs, a row per true class and a column per prediction:")
    notes += [f"  {row}" for row in rows]
    if link.reject_cost is not None:
        notes.append(f"Where every decision is expected to cost more than {link.reject_cost:.6g}, the label is "
                     f"{link.reject_label!r}")  # fmt: skip
    return notes


def _plain(label: Any) -> Any:
    """A label as Python object."""
    return label.item() if isinstance(label, np.generic) else label


# ------------------------------------------------------------------------------------- the link


def _portfolio_link(portfolio: Any, threshold: float | None) -> Odds | ExpectedCosts:
    """The link of a portfolio: a threshold if there is a goal, else expected costs."""
    portfolio._check_decisions()
    two = len(portfolio.classes_) == 2
    positive = portfolio.classes_.tolist().index(portfolio.pos_label_) if two else None
    if threshold is not None:  # of a search around the portfolio, whose score includes the costs
        assert positive is not None
        return Odds(positive, decision_shift=portfolio._sign * portfolio._cost_offset, threshold=threshold)
    own = getattr(portfolio, "threshold_", None)
    if own is not None:
        assert positive is not None
        return Odds(positive, threshold=float(own))
    label = None
    if portfolio.reject_cost is not None:
        label = _plain(portfolio.reject_label_)
        _check_label(label, "reject_label_ is")
    return ExpectedCosts(
        costs=tuple(tuple(row) for row in np.asarray(portfolio.cost_, dtype=np.float64).tolist()),
        positive=positive,
        shift=portfolio._cost_offset if two else 0.0,
        reject_cost=None if label is None else float(portfolio.reject_cost),
        reject_label=label,
    )


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


# ------------------------------------------------------------------------------------- the parts of a sum


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


def _sum(
    scorers: Sequence[Scorer],
    columns: Sequence[Column],
    ignored: frozenset[int],
    floor: Values | None = None,
    weight: float = 1.0,
) -> Sum:
    """The sum that the scorers of all outputs compute; they differ in their values only."""
    first = scorers[0]
    return Sum(
        constant=tuple(float(s.constant) for s in scorers),
        tables=tuple(_table(scorers, j, columns, ignored) for j in first.table_features.tolist()),
        forest=_forest(scorers, columns, ignored),
        lines=tuple(line for (j, _), line in sorted(first.lines.items()) if j not in ignored),
        floor=floor,
        weight=weight,
    )


def _forest(scorers: Sequence[Scorer], columns: Sequence[Column], ignored: frozenset[int]) -> Forest:
    packed, bins = scorers[0].packed, scorers[0].bins
    feature, threshold, links = packed.feature, packed.threshold, packed.links
    cut = np.full(len(feature), math.inf)
    which = np.full(len(feature), -1)
    sides: dict[tuple[int, bytes], int] = {}
    found: list[Sides] = []
    for j in np.unique(feature).tolist():
        assert bins is not None
        own, known = np.flatnonzero(feature == j), columns[j].categories
        if known is None:
            cuts = np.append(bins.features[j].cuts, math.inf)
            cut[own] = cuts[np.minimum(threshold[own], len(cuts) - 1)]
            continue
        codes = [bins.features[j].code_of[c] for c in known]
        cut[own] = math.nan
        for k in own:
            child = packed.sets[packed.which[k], codes]
            key = j, child.tobytes()
            if key not in sides:
                sides[key] = len(found)
                yes, no = (frozenset(c for c, way in zip(known, child) if way == side) for side in (LEFT, RIGHT))
                found.append((yes, no))
            which[k] = sides[key]
    values = np.column_stack([s.packed.values for s in scorers]) + 0.0  # without negative zeros
    forest = Forest(packed.roots, feature, cut, which, tuple(found), links, values)
    return _without(forest, ignored)


def _without(forest: Forest, ignored: frozenset[int]) -> Forest:
    """The trees without nodes on given features, whose cells are treated as missing."""
    passed = np.isin(forest.feature, sorted(ignored))
    if not passed.any():
        return forest
    to = np.where(passed, forest.links[:, 2], np.arange(forest.n_nodes))

    def end(links: Array) -> Array:
        while (skip := (links >= 0) & passed[np.maximum(links, 0)]).any():
            links = np.where(skip, to[np.maximum(links, 0)], links)
        return links

    place = np.cumsum(~passed) - 1

    def renumbered(links: Array) -> Array:
        links = end(links)
        return np.where(links >= 0, place[np.maximum(links, 0)], links)

    kept = ~passed
    return Forest(
        renumbered(forest.roots),
        forest.feature[kept],
        forest.cut[kept],
        forest.which[kept],
        forest.sides,
        renumbered(forest.links)[kept],
        forest.values,
    )
