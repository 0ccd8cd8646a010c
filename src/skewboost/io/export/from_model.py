"""From a fitted model to its formula, or to an error that says why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.estimator import BoostingClassifier
from skewboost.boosting.many_classes import JointClassifier
from skewboost.boosting.rule import Rule
from skewboost.boosting.training import Ensemble
from skewboost.boosting.variants.adaboost_mh import AdaBoostMH
from skewboost.boosting.variants.adac2_m1 import AdaC2M1
from skewboost.boosting.variants.adamec import Calibrated, Isotonic, Sigmoid
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, RIGHT, Array, Split
from skewboost.engine.scoring import LeafTerm, Scorer
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.io.export.formula import (
    Column,
    Formula,
    Line,
    LookUp,
    ManyClasses,
    Node,
    Piece,
    Steps,
    Tree,
    TwoClasses,
    Values,
)

CAN_BE = (
    "Boosters of skewboost whose F is a sum of stumps, trees, histograms, lines or an alternating tree can be "
    "exported, and GoalSearchCV around one"
)
PROBES = np.array([0.0, 1.0, -1.0, 0.3, -0.7, 2.9, -11.3, 1e-7, 123.456])


def read_formula(model: Any) -> Formula:
    """The formula of a fitted model."""
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}. Pass a fitted instance of it.")
    threshold, booster, outer = None, model, type(model).__name__
    if isinstance(model, GoalSearchCV):
        check_is_fitted(model)
        booster, threshold = model.estimator_, float(model.threshold_)
    if not isinstance(booster, BoostingClassifier):
        raise TypeError(_refusal(model, booster))
    check_is_fitted(booster)
    if isinstance(booster, JointClassifier) and booster.multilabel_:
        raise TypeError(
            f"{outer} was fitted to several labels per example, which programs do not tell. {CAN_BE}. Fit a model per "
            "label and export each."
        )
    scorers = [_scorer_of(e, outer) for e in booster._ensembles]
    columns = _columns(booster)
    ignored = frozenset(getattr(booster, "_empty_columns", ()))
    title = outer if booster is model else f"{outer} around {type(booster).__name__}"
    n_rounds = booster._ensembles[0].n_rounds
    if isinstance(booster, JointClassifier) and booster._joint:
        link: TwoClasses | ManyClasses = _many_classes(booster)
    else:
        if threshold is not None and model.pos_label_ != booster.pos_label_:
            raise TypeError(
                f"{outer} and the estimator in it differ in the positive class ({model.pos_label_!r} and "
                f"{booster.pos_label_!r}). {CAN_BE} that has the same; set pos_label of both."
            )
        link = _two_classes(booster, threshold)
    return Formula(
        title=f"{title}, {n_rounds} round{'s' if n_rounds != 1 else ''}",
        notes=tuple(_notes(booster, link)),
        columns=columns,
        named=hasattr(booster, "feature_names_in_"),
        classes=_classes(booster),
        constant=tuple(float(s.constant) for s in scorers),
        tables=tuple(_table(scorers, j, columns, ignored) for j in scorers[0].table_features.tolist()),
        trees=tuple(_trees(scorers, columns, ignored)),
        lines=tuple(_lines(scorers[0], ignored)),
        link=link,
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


def _scorer_of(ensemble: Ensemble, outer: str) -> Scorer:
    """The compiled ensemble, if it is a sum of things that can be written down."""
    rule, scorer = ensemble.rule, ensemble.scorer
    if type(rule).combine is not Rule.combine:
        raise TypeError(
            f"{outer} cannot be exported: what a round adds depends on the rounds before it, so F is no sum. {CAN_BE}; "
            "AdaBoostRegClassifier or GentleBoostClassifier stand label noise too."
        )
    if scorer.others:
        raise TypeError(
            f"{outer} cannot be exported: its rounds are {type(scorer.others[0]).__name__}s, of another kind of weak "
            f"learner. {CAN_BE}; set estimator='stump' or 'tree'."
        )
    return scorer


def _columns(booster: Any) -> tuple[Column, ...]:
    names = getattr(booster, "feature_names_in_", [f"x{j}" for j in range(booster.n_features_in_)])
    bins = booster._ensembles[0].bins
    found = []
    for j, (name, nominal) in enumerate(zip(names, booster._nominal)):
        known = () if bins is None or not nominal else tuple(sorted(bins.features[j].code_of))
        found.append(Column(str(name), known if nominal else None))
    return tuple(found)


def _classes(booster: Any) -> tuple[Any, ...]:
    classes = tuple(booster.classes_.tolist())
    for label in classes:
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"classes_ holds {label!r} of type {type(label).__name__}. Labels that are text, numbers or booleans "
                "can be exported; fit the model to such."
            )
    return classes


def _notes(booster: Any, link: TwoClasses | ManyClasses) -> list[str]:
    classes = booster.classes_.tolist()
    if isinstance(link, ManyClasses):
        costs = ", ".join(f"{c!r}: {cost:.6g}" for c, cost in zip(classes, link.costs))
        return [f"Costs of getting a class wrong: {costs}"] if len(set(link.costs)) > 1 else []
    notes = [f"Positive class: {classes[link.positive]!r}; scores above zero speak for {classes[1]!r}"]
    costs = booster._ensembles[0].rule.costs
    if costs.ratio != 1.0:
        notes.append(f"Costs: a miss of {classes[link.positive]!r} costs {costs.ratio:.6g} times a false alarm")
    if link.threshold is not None:
        notes.append(f"Threshold: {link.threshold!r}, which has been taken off the score")
    return notes


# ----------------------------------------------------------------------------------------- what F means


def _two_classes(booster: Any, threshold: float | None) -> TwoClasses:
    ensemble: Ensemble = booster._ensembles[0]
    rule, n_rounds = ensemble.rule, ensemble.n_rounds
    positive = booster.classes_.tolist().index(booster.pos_label_)
    to_come = rule.costs_to_come(n_rounds)
    halved = isinstance(rule, Calibrated) or to_come != 0.0
    parts: dict[str, Any] = {"scale": rule.link_scale(), "shifts": (to_come,)}
    if isinstance(rule, Calibrated):
        log_ratio, calibrator = math.log(rule.costs.ratio), rule.calibrator(n_rounds)
        if isinstance(calibrator, Sigmoid):
            parts = {"scale": calibrator.slope, "shifts": (calibrator.intercept, log_ratio)}
        elif isinstance(calibrator, Isotonic):
            parts = {"pieces": _pieces(calibrator), "margin": calibrator.margin, "shifts": (log_ratio,)}
    parts["shifts"] = tuple(shift for shift in parts["shifts"] if shift != 0.0)
    link = TwoClasses(positive, **parts, halved=halved, tilt=rule.tilt(), threshold=threshold)
    _check_link(link, rule, n_rounds)
    return link


def _pieces(calibrator: Isotonic) -> tuple[Piece, ...]:
    """The interpolated steps of an isotonic regression, with level ends on both sides."""
    knots, heights = (np.asarray(a, dtype=np.float64).tolist() for a in (calibrator.scores, calibrator.levels))
    log_odds = calibrator(np.array(knots)).tolist()
    pieces = [Piece(-math.inf, heights[0], 0.0, log_odds[0])]
    for k, (start, p) in enumerate(zip(knots, heights)):
        last = k + 1 == len(knots)
        slope = 0.0 if last else (heights[k + 1] - p) / (knots[k + 1] - start)
        pieces.append(Piece(start, p, slope, log_odds[k]))
    return tuple(pieces)


def _check_link(link: TwoClasses, rule: Rule, n_rounds: int) -> None:
    """Refuse a rule that says otherwise than its link: a variant that this module does not know."""
    starts = np.array([piece.start for piece in link.pieces[1:]])
    F = np.concatenate((PROBES, starts, (starts[1:] + starts[:-1]) / 2))
    t = link.scale * F if not link.pieces else np.array([_log_odds_of_pieces(link, f) for f in F.tolist()])
    for shift in link.shifts:
        t = t + shift
    known = np.allclose(t, rule.log_odds(F, n_rounds), rtol=1e-13, atol=1e-13)
    decision = 0.5 * t if link.halved else F
    known &= np.allclose(decision, rule.decide(F, n_rounds), rtol=1e-13, atol=1e-13)
    with np.errstate(over="ignore"):
        p = 1.0 / (1.0 + np.exp(link.tilt - t))
    known &= np.allclose(p, rule.probability(F, n_rounds), rtol=1e-13, atol=1e-13)
    if not known:
        raise TypeError(
            f"{type(rule).__name__} gives F a meaning that cannot be written down as a formula. {CAN_BE}, and have the "
            "links that come with the library."
        )


def _log_odds_of_pieces(link: TwoClasses, F: float) -> float:
    piece = [piece for piece in link.pieces if piece.start <= F][-1]
    if piece.slope == 0.0:
        return piece.log_odds
    p = min(max(piece.slope * (F - piece.start) + piece.p, link.margin), 1.0 - link.margin)
    return math.log(p / (1.0 - p))


def _many_classes(booster: Any) -> ManyClasses:
    rule = booster._joint_rule_
    if type(rule) not in (AdaBoostMH, AdaC2M1):
        raise TypeError(f"{type(booster).__name__} gives F a meaning that cannot be written down. {CAN_BE}.")
    costs = tuple(float(c) for c in rule.of_class)
    return ManyClasses(costs, softmax=isinstance(rule, AdaC2M1))


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
