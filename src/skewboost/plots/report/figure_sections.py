"""Sections of the report that consist of figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from skewboost.metrics import brier_under_prior
from skewboost.metrics.measures import MEASURES
from skewboost.names import shown, side_by_side
from skewboost.plots.alternating_tree_display import AlternatingTreeDisplay
from skewboost.plots.calibration_display import CalibrationDisplay
from skewboost.plots.comparison_display import ComparisonDisplay
from skewboost.plots.goal_frontier_display import GoalFrontierDisplay
from skewboost.plots.operating_point_display import OperatingPointDisplay
from skewboost.plots.report.evidence import PROBABILITY, last_step
from skewboost.plots.report.number_format import NONE, count, digits, percent
from skewboost.plots.report.page_blocks import Figures, Picture, Section, Table, Text, Warnings
from skewboost.plots.shape_function_display import ShapeFunctionDisplay
from skewboost.plots.staged_curve_display import StagedCurveDisplay

if TYPE_CHECKING:
    from skewboost.plots.report.report import Report

WHY = "Why it decides as it does"
MAX_SHAPES = 9
HALF_A_PAGE = (4.9, 3.5)  # inches; text stays readable on the width of a phone
COMPARED = ("cost", "savings", "recall", "precision", "pr_auc", "roc_auc", "brier")  # measures of the comparison
LONGEST = 60  # characters of a name
OTHER_METHODS = "Permutation importance and partial dependence, both in sklearn.inspection, work for any model."


def certificate(report: Report) -> Section | None:
    """The goal of a `GoalSearchCV`, its certificate, and the trade-offs."""
    model = report.model
    if not hasattr(model, "frontier_") or not hasattr(model, "goal_"):
        return None
    blocks: list[Any] = [Text("The goal was reached in cross-validation; there is no certificate.")]
    if model.certificate_ is not None:
        note = (
            "The certificate is based on rows that were held out in training. They are not the rows of this report, "
            "so the numbers may differ by chance."
        )
        blocks = [Text(f"{model.certificate_}."), Text(note, "note")]
    blocks.append(Figures([report.figures.draw(lambda: GoalFrontierDisplay.from_estimator(model))]))
    return Section("goal", f"The goal: {model.goal_}", blocks)


def comparison(report: Report) -> Section | None:
    """Other methods on the same folds: a table of means, and a figure of the first measure."""
    result = report.comparison
    if result is None:
        return None
    measures = [name for name in COMPARED if name in result.measures] or list(result.measures[:5])
    first = measures[0]
    by_method: dict[str, dict[str, Any]] = {}
    for measure in measures:
        for row in result.summary(measure):
            by_method.setdefault(row["method"], {})[measure] = row
    order = result.ordered(first)
    names = side_by_side(order, LONGEST)
    rows = [(name, *(_mean(by_method[method].get(m)) for m in measures)) for name, method in zip(names, order)]
    own = type(report.model).__name__
    classes = [method.partition(":")[0] for method in order]  # parameters may follow the name
    chosen = next((k for k, name in enumerate(classes) if name in (own, own.removesuffix("Classifier"))), -1)
    text = (
        f"{len(order)} methods on the same folds, the best by {MEASURES[first].label} first. The table shows mean ± "
        "standard deviation; * marks the best of a column. These are fits to parts of the data, not the model of this "
        "report."
    )
    head = ("method", *(MEASURES[m].label for m in measures))
    blocks: list[Any] = [Text(text), Table(rows, head, (False, *[True] * len(measures)), chosen=chosen)]
    if not result.complete:
        blocks.insert(1, Warnings(["The comparison was interrupted: some folds are missing."]))
    return Section("comparison", "Compared with others", [*blocks, Figures(_comparison_figure(report, first))])


def _comparison_figure(report: Report, measure: str) -> list[Picture]:
    """The values of the folds of one data set, or the ranks on several."""
    draw = partial(ComparisonDisplay.from_comparison, report.comparison, measure=measure)
    if len(report.comparison.data_sets) > 1:
        return [report.figures.draw(draw)]
    size = (4.9, 1.3 + 0.3 * len(report.comparison.methods))
    return report.figures.panels(lambda axes: draw(ax=axes[0]), 1, size)


def _mean(row: dict[str, Any] | None) -> str:
    if row is None or row["mean"] is None or row["mean"] != row["mean"]:
        return NONE
    spread = f" ± {digits(row['sd'], 2)}" if row["sd"] == row["sd"] else ""
    return f"{digits(row['mean'], 3)}{spread}{' *' if row['best'] else ''}"


def learning(report: Report) -> Section | None:
    """Measures over the boosting rounds."""
    curve = report.staged_curve
    if curve is None:
        return None
    names = [name for name in ("cost", "error") if name in curve.measures] or list(curve.measures[:1])
    figures = report.figures.panels(
        lambda axes: [StagedCurveDisplay(curve, measures=name).plot(ax=ax) for name, ax in zip(names, axes)],
        len(names),
        HALF_A_PAGE,
    )
    text = (
        f"Mean and spread of {count(len(curve.folds))} fits of {curve.name} to parts of the data, by boosting round. "
        "Where the curve of the test rows rises, further rounds do harm."
    )
    return Section("learning", "Learning curves", [Text(text), Figures(figures)])


def curves(report: Report) -> Section:
    """ROC and precision-recall curve, with the operating point."""
    e = report.evidence
    options: dict[str, Any] = {
        "y_pred": np.where(e.flagged, e.pos_label, e.neg_label),
        "cost": {e.pos_label: e.costs.positive, e.neg_label: e.costs.negative},
        "pos_label": e.pos_label,
        "sample_weight": e.weights,
    }
    figures = [
        report.figures.draw(partial(OperatingPointDisplay.from_predictions, e.y, e.ranks, kind=kind, **options))
        for kind in ("roc", "pr")
    ]
    area = roc_auc_score(e.positive, e.ranks, sample_weight=e.weights)
    average = average_precision_score(e.positive, e.ranks, sample_weight=e.weights)
    text = (
        f"The area under the ROC curve is {digits(area, 4)}: the probability that a positive has a higher score than a "
        f"negative. The average precision is {digits(average, 3)}; flagging at random has "
        f"{digits(report.explorer.prevalence, 3)}. With rare positives, precision and recall tell more than the ROC "
        "curve. All points on a dotted line have the same cost, in per cent of the cost of flagging all or none, "
        "whichever is cheaper."
    )
    return Section("curves", "All thresholds", [Text(text), Figures(figures)])


def calibration(report: Report) -> Section | None:
    """Whether predicted probabilities agree with observed frequencies."""
    e = report.evidence
    if e.kind != PROBABILITY:
        return None
    predicted, observed = (float(np.average(v, weights=e.weights)) for v in (e.scores, e.positive))
    figure = report.figures.draw(
        lambda: CalibrationDisplay.from_predictions(e.y, e.scores, pos_label=e.pos_label, sample_weight=e.weights)
    )
    brier = brier_under_prior(e.positive, e.scores, pos_label=True, sample_weight=e.weights)
    text = (
        f"The mean predicted probability is {percent(predicted)}, and {percent(observed)} of the rows are positive. "
        "Above the diagonal, predictions are too low; below it, they are too high. The Brier score is "
        f"{digits(brier, 3)}; always predicting {percent(observed)} has {digits(observed * (1 - observed), 3)}. If the "
        "probabilities are wrong, a threshold that is computed from costs is wrong, too: calibrate the model, or use "
        "the best threshold."
    )
    return Section("calibration", "Are the probabilities right?", [Text(text), Figures([figure])])


def explanation(report: Report) -> Section:
    """The effect of the features, or the alternating tree."""
    model = report.model
    if hasattr(model, "certificate_"):  # a GoalSearchCV decides by the model that it chose
        model = getattr(model, "estimator_", model)
    name = type(last_step(model)).__name__
    if hasattr(model, "export_text") and hasattr(model, "tree"):
        return _tree(report, model)
    if last_step(model) is not model:
        text = f"{name} is the last step of a pipeline and sees transformed columns, so its functions are not shown. "
        return Section("why", WHY, [Text(text + OTHER_METHODS)])
    if not hasattr(model, "shape_functions"):
        return Section("why", WHY, [Text(f"There is no built-in explanation of {name}. {OTHER_METHODS}")])
    try:
        return _shapes(report, model, model.shape_functions())
    except ValueError as error:  # not all boosters have shape functions, and the message says why
        return Section("why", WHY, [Text(str(error))])


def _tree(report: Report, model: Any) -> Section:
    text = (
        "A row follows every branch whose test it passes, and its score is the sum of the numbers on the way. The "
        "number in front of a test is the round that added it."
    )
    figure = report.figures.draw(lambda: AlternatingTreeDisplay.from_estimator(model), large=True)
    return Section("why", WHY, [Text(text), Figures([figure], "wide"), Text(model.export_text(), "pre")])


def _shapes(report: Report, model: Any, shapes: list[Any]) -> Section:
    """What each of the most important features adds to the score."""
    order = np.argsort(-np.asarray(model.feature_importances_), kind="stable")
    used = [int(j) for j in order if model.feature_importances_[j] > 0]
    if not used:
        return Section("why", WHY, [Text("The model uses no feature: its prediction is the same for every row.")])
    first = used[:MAX_SHAPES]
    # a figure for each feature, so that a narrow page can show them below each other
    figures = report.figures.panels(
        lambda axes: ShapeFunctionDisplay.from_estimator(model, features=first, ax=axes), len(first)
    )
    text = (
        "The score is a constant plus the sum of these functions, one for each feature. "
        if all(shape.exact for shape in shapes)
        else "The functions show what each feature adds to the score on average, without interactions. "
    )
    text += (
        f"The model uses {len(used)} of {len(shapes)} features; the most important come first. "
        if len(first) == len(used)
        else f"The {len(first)} most important of {len(shapes)} features are shown. "
    )
    text += f"Above zero, a value favours {shown(model.pos_label_)}. All functions have the same scale."
    return Section("why", WHY, [Text(text), Figures(figures, "small")])
