"""Sections that are mostly drawings, by the displays of `skewboost.plots`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from skewboost.metrics import brier_under_prior
from skewboost.plots.goal_frontier_display import GoalFrontierDisplay
from skewboost.plots.learning_curve_display import LearningCurveDisplay
from skewboost.plots.report.blocks import Figures, Pre, Section, Text
from skewboost.plots.report.evidence import PROBABILITY, innermost
from skewboost.plots.report.words import count, digits, label, percent

if TYPE_CHECKING:
    from skewboost.plots.report.sections import Subject

WHY = "Why it decides as it does"
MOST_SHAPES = 9
HALF_A_PAGE = (4.9, 3.5)  # inches; letters stay readable where it is all the width of a phone
OTHERS = "Permutation importance or partial dependence, both in sklearn.inspection, work for any model."


def learning(subject: Subject) -> Section | None:
    """How it got better with the rounds."""
    curve = subject.learning_curve
    if curve is None:
        return None
    names = [name for name in ("cost", "error") if name in curve.measures] or list(curve.measures[:1])
    shown = names[:2]
    figures = subject.album.panels(
        lambda axes: [LearningCurveDisplay(curve, measures=name).plot(ax=ax) for name, ax in zip(shown, axes)],
        len(shown),
        HALF_A_PAGE,
    )
    text = (
        f"Means over {count(len(curve.folds))} fits of {curve.name} to parts of the data, and their spread. Where "
        "the curve of the test rows turns up, further rounds do harm."
    )
    return Section("learning", "Learning curves", [Text(text), Figures(figures)])


def curves(subject: Subject) -> Section:
    """ROC and precision-recall curve, with the operating point."""
    from skewboost.plots import OperatingPointDisplay

    e = subject.evidence
    said = np.where(e.flagged, e.pos_label, e.neg_label)
    prices = {e.pos_label: e.costs.positive, e.neg_label: e.costs.negative}
    how: dict[str, Any] = {"y_pred": said, "cost": prices, "pos_label": e.pos_label, "sample_weight": e.weights}
    figures = [
        subject.album.draw(partial(OperatingPointDisplay.from_predictions, e.y, e.ranks, kind=kind, **how))
        for kind in ("roc", "pr")
    ]
    area = roc_auc_score(e.positive, e.ranks, sample_weight=e.weights)
    average = average_precision_score(e.positive, e.ranks, sample_weight=e.weights)
    text = (
        f"The area under the ROC curve is {digits(area, 4)}: the chance that a positive scores higher than a negative. "
        f"The average precision is {digits(average, 3)}, where flagging at random has "
        f"{digits(subject.table.prevalence, 3)}; with rare positives it says more. Percentages at dotted lines: of "
        "what the cheaper of flagging all and flagging none costs."
    )
    return Section("curves", "All thresholds", [Text(text), Figures(figures)])


def calibration(subject: Subject) -> Section | None:
    """Whether probabilities are what they say."""
    from skewboost.plots import CalibrationDisplay

    e = subject.evidence
    if e.kind != PROBABILITY:
        return None
    said, seen = (float(np.average(v, weights=e.weights)) for v in (e.scores, e.positive))
    drawing = subject.album.draw(
        lambda: CalibrationDisplay.from_predictions(e.y, e.scores, pos_label=e.pos_label, sample_weight=e.weights)
    )
    brier = brier_under_prior(e.positive, e.scores, pos_label=True, sample_weight=e.weights)
    text = (
        f"On average the model says {percent(said)}, and {percent(seen)} are positive. Points above the diagonal: "
        f"more are positive than it says. The Brier score is {digits(brier, 3)}; always saying "
        f"{percent(seen)} would have {digits(seen * (1 - seen), 3)}. "
        "Where probabilities are off, thresholds from costs are off with them: calibrate, or take the best threshold."
    )
    return Section("calibration", "Are the probabilities right?", [Text(text), Figures([drawing])])


def explained(model: Any) -> Any:
    """The model that decides: of a search for a goal the one it chose."""
    return getattr(model, "estimator_", model) if hasattr(model, "certificate_") else model


def explanation(subject: Subject) -> Section:
    """What the features do, or the tree."""
    from skewboost.plots import AlternatingTreeDisplay

    model = explained(subject.model)
    if hasattr(model, "export_text") and hasattr(model, "tree"):
        text = (
            "A row follows every branch whose test it passes; the sum of the numbers on its way is its score. Numbers "
            "in boxes: the round in which a test came."
        )
        drawing = subject.album.draw(lambda: AlternatingTreeDisplay.from_estimator(model), large=True)
        return Section("why", WHY, [Text(text), Figures([drawing], wide=True), Pre(model.export_text())])
    name = type(innermost(model)).__name__
    if innermost(model) is not model:
        why = f"{name} sees what the steps before it make of the columns, so its functions are not shown. {OTHERS}"
        return Section("why", WHY, [Text(why)])
    if not hasattr(model, "shape_functions"):
        return Section("why", WHY, [Text(f"{name} has no explanation that could be shown here. {OTHERS}")])
    try:
        shapes = model.shape_functions()
    except ValueError as error:  # some boosters cannot be taken apart, and say why
        return Section("why", WHY, [Text(str(error))])
    return _shapes(subject, model, shapes)


def _shapes(subject: Subject, model: Any, shapes: list[Any]) -> Section:
    """What each of the most important features adds to the score."""
    from skewboost.plots import ShapeFunctionDisplay

    order = np.argsort(-np.asarray(model.feature_importances_), kind="stable")
    used = [int(j) for j in order if model.feature_importances_[j] > 0]
    if not used:
        return Section("why", WHY, [Text("The model looks at no feature: it says the same of every row.")])
    first = used[:MOST_SHAPES]
    # a figure for each, on one scale, so that they can stand below each other where there is no room
    figures = subject.album.panels(
        lambda axes: ShapeFunctionDisplay.from_estimator(model, features=first, ax=axes), len(first)
    )
    exact = all(shape.exact for shape in shapes)
    text = (
        "The score is the sum of these functions and a constant: what each feature adds, whole and exact. "
        if exact
        else "What each feature adds to the score on average, the others unknown; what they do together is left out. "
    )
    shown = f"The {len(figures)} most important of {len(shapes)} features, in this order."
    if len(figures) == len(used):
        shown = f"{len(used)} of {len(shapes)} features are used; the most important come first."
    side = f"Above zero, a value speaks for {label(model.pos_label_)}; all have the same scale."
    return Section("why", WHY, [Text(text + shown + " " + side), Figures(figures, small=True)])


def certificate(subject: Subject) -> Section | None:
    """What was promised, and what could be had."""
    model = subject.model
    if not hasattr(model, "frontier_") or not hasattr(model, "goal_"):
        return None
    shown = model.certificate_
    text = f"{shown}." if shown is not None else "The goal was reached in cross-validation; nothing was certified."
    own = (
        "The rows that the certificate speaks of were held out in training; they are others than those of this report, "
        "whose numbers may differ by chance."
    )
    blocks = [Text(text), Figures([subject.album.draw(lambda: GoalFrontierDisplay.from_estimator(model))])]
    if shown is not None:
        blocks.insert(1, Text(own, soft=True))
    return Section("goal", f"The goal: {model.goal_}", blocks)
