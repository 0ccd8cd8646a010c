"""The sections of the report."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from skewboost import __version__
from skewboost.engine.table import sliceable
from skewboost.evaluate.summary import ColumnSummary, summarise
from skewboost.fitting import last_step
from skewboost.metrics import brier_under_prior
from skewboost.metrics.measures import MEASURES
from skewboost.names import in_short, shown, side_by_side
from skewboost.plots.alternating_tree_display import AlternatingTreeDisplay
from skewboost.plots.calibration_display import CalibrationDisplay
from skewboost.plots.comparison_display import ComparisonDisplay
from skewboost.plots.goal_frontier_display import GoalFrontierDisplay
from skewboost.plots.operating_point_display import OperatingPointDisplay
from skewboost.plots.report.evidence import BALANCED, GIVEN, OF_MODEL, PROBABILITY, Evidence
from skewboost.plots.report.explorer import ScoreTable
from skewboost.plots.report.number_format import NONE, class_names, count, digits, interval, percent
from skewboost.plots.report.page_blocks import ClassBar, Figures, Section, Table, Text, Warnings
from skewboost.plots.shape_function_display import ShapeFunctionDisplay
from skewboost.plots.staged_curve_display import StagedCurveDisplay

if TYPE_CHECKING:
    from skewboost.plots.report.report import Report

FEW = 50  # rates from fewer positives are imprecise
MAX_COLUMNS, MAX_NAMES = 60, 100
LONGEST_NAME, LONGEST_CATEGORY, LONGEST_PARAMETER = 60, 28, 300  # characters
MAX_SHAPES = 9
HALF_A_PAGE = (4.9, 3.5)  # inches; text stays readable on the width of a phone
COMPARED = ("cost", "savings", "recall", "precision", "pr_auc", "roc_auc", "brier")  # measures of the comparison
OTHER_METHODS = "Permutation importance and partial dependence, both in sklearn.inspection, work for any model."


def all_sections(report: Report) -> list[Section]:
    """The sections for which there is data."""
    makers: list[Callable[[Report], Section | None]] = [
        performance, certificate, explore, data, comparison, learning, curves, calibration, explanation, caveats, card,
    ]  # fmt: skip
    return [section for make in makers if (section := make(report)) is not None]


def headline(e: Evidence) -> str:
    """The most important results in words."""
    c = e.counts
    text = f"On {count(c.total)} held-out rows the model finds {percent(c.recall, 2)} of the {count(c.positives)} "
    text += f"positives ({shown(e.pos_label)})"
    if c.flagged == 0:
        return f"{text}: no row reaches {e.threshold_name}."
    text += f", and {percent(c.precision, 2)} of the rows that it flags are positive"
    ratio = e.costs.ratio
    price = f"{digits(ratio, 3)} false alarms" if ratio > 1 else f"{digits(ratio, 3)} of a false alarm"
    price = "as much as a false alarm" if ratio == 1 else price
    none, every = e.costs.positive * c.positives, e.costs.negative * c.negatives
    other = "flagging none" if none <= every else "flagging all"
    saved = 1.0 - (e.costs.positive * c.fn + e.costs.negative * c.fp) / min(none, every)
    change = f"saves {percent(saved, 2)} of the cost of {other}"
    if saved < 0:
        change = f"costs {percent(-saved, 2)} more than {other}"
    return f"{text}. If a miss costs {price}, it {change}."


def explorer_words(e: Evidence, table: ScoreTable) -> dict[str, Any]:
    """The text around the sliders of the cost explorer."""
    start = {
        GIVEN: "The sliders start at the given costs",
        OF_MODEL: "The sliders start at the costs that the model was trained with",
        BALANCED: (
            "No costs were given, so the sliders start where a miss costs as many false alarms as there are negatives "
            "for each positive"
        ),
    }[e.costs_from]
    at = f" and at {e.threshold_name}" if e.threshold is not None else " and at the best threshold"
    if table.lossless:
        bins = f"All {count(table.n_bins)} distinct scores are in this file, so every number is exact"
    else:
        P, N = table.positives.max() / table.total[0], table.negatives.max() / table.total[1]
        bins = (
            f"The scores are in {count(table.n_bins)} bins. The numbers at each threshold of the slider are exact, and "
            f"the best threshold is the best of all; between two thresholds there are at most {percent(P, 2)} of the "
            f"positives and {percent(N, 2)} of the negatives"
        )
    own = "" if e.threshold is not None else " The model's own decisions are not a threshold on this score."
    positive, negative = class_names(e.pos_label, e.neg_label)
    return {
        "positive_name": positive,
        "negative_name": negative,
        "score_kind": e.kind,
        "n_bins": table.n_bins,
        "has_own": table.own is not None,
        "threshold_name": e.threshold_name,
        "explorer_intro": f"Set the costs of errors in your application. {start}{at}.",
        "explorer_note": (
            f"{bins}. The best threshold is chosen on these same rows, so its cost is slightly optimistic, more so "
            f"with fewer positives.{own}"
        ),
    }


def explore(_: Report) -> Section:
    """The cost explorer, which the template fills in."""
    return Section("explore", "What do mistakes cost you?")


def performance(report: Report) -> Section:
    """Rates of the decisions, with confidence intervals."""
    e = report.evidence
    c = e.counts
    whole = e.weights is None or bool((e.weights == e.weights.round()).all())
    rows = []
    for name, part, total, meaning in (
        ("Recall", c.tp, c.positives, "of the positives are found"),
        ("Precision", c.tp, c.flagged, "of the flagged rows are positive"),
        ("False-alarm rate", c.fp, c.negatives, "of the negatives are flagged"),
        ("Flagged", c.flagged, c.total, "of all rows are flagged"),
    ):
        rate = part / total if total else float("nan")
        between = " to ".join(map(percent, interval(part, total))) if whole and total else NONE
        rows.append((name, percent(rate), between, f"{count(part)} of {count(total)}", meaning))
    head = ("", "here", "95 % interval", "rows", "")
    at = "by its own rule" if e.threshold is None else f"from a {e.kind} of {digits(e.threshold, 4)}"
    how = "In this report, rows are flagged" if e.given else "The model flags rows"
    text = f"{how} {at}. The intervals (Clopper-Pearson) show how precisely the rates are known."
    return Section("performance", "What it finds", [Text(text), Table(rows, head, (False, True, True, True, False))])


def data(report: Report) -> Section:
    """Classes, columns, missing values and warnings."""
    e = report.evidence
    X, y = (report.X, e.y) if report.training is None else report.training
    positives, total = e.counts.positives, e.counts.total
    try:
        summary = summarise(sliceable(X), y)
    except ValueError:  # a table that only the model can read: a sparse matrix, or a list of texts
        summary = None
    if summary is not None and summary.target is not None and report.training is not None:
        sizes = {shown(name): n for name, n, _ in summary.target.classes}
        positives, total = sizes.get(shown(e.pos_label), 0), sum(sizes.values())
    fraction = positives / total
    ratio = f"1 in {digits(1 / fraction, 3)}" if fraction else "none"
    text = f"{count(total)} {'held-out' if report.training is None else 'training'} rows"
    if summary is not None:
        n_missing = sum(column.n_missing for column in summary.columns)
        cells = max(1, summary.n_rows * summary.n_columns)
        missing = f"{percent(n_missing / cells, 2)} of the cells are missing" if n_missing else "no cell is missing"
        text += f" with {count(summary.n_columns)} columns; {missing}"
    name = shown(e.pos_label)
    label = f"{percent(fraction)} {name}, the rest {shown(e.neg_label)}"
    blocks: list[Any] = [
        ClassBar(100 * fraction, 100 * (1 - fraction), label),
        Text(f"{text}. {name} is the positive class: {percent(fraction)}, {ratio}."),
    ]
    if summary is not None:
        if summary.warnings:
            blocks.append(Warnings(summary.warnings))
        blocks.append(_columns(summary.columns))
        if len(summary.columns) > MAX_COLUMNS:
            blocks.append(Text(f"The first {MAX_COLUMNS} of {summary.n_columns} columns are shown.", "note"))
    return Section("data", "The data", blocks)


def _columns(columns: tuple[ColumnSummary, ...]) -> Table:
    names = side_by_side([column.name for column in columns], LONGEST_NAME)
    rows = [
        (
            name,
            column.kind,
            percent(column.missing_share, 2) if column.n_missing else "0",
            "many" if column.n_distinct is None else count(column.n_distinct),
            _content(column),
        )
        for name, column in zip(names, columns[:MAX_COLUMNS])
    ]
    return Table(rows, ("column", "kind", "missing", "distinct", "content"), (False, False, True, True, False))


def _content(column: ColumnSummary) -> str:
    """The most frequent categories, or the range and median of numbers."""
    if column.top:
        text = ""
        for name, (_, n) in zip(side_by_side([name for name, _ in column.top], LONGEST_CATEGORY), column.top):
            more = f"{name} ({count(n)})"
            if text and len(text) + len(more) > LONGEST_NAME:
                return f"{text}, …"
            text = f"{text}, {more}" if text else more
        return text
    if isinstance(column.minimum, int | float) and isinstance(column.maximum, int | float):
        median = f", median {digits(column.quantiles[1], 4)}" if len(column.quantiles) > 1 else ""
        return f"{digits(column.minimum, 4)} to {digits(column.maximum, 4)}{median}"
    return "" if column.minimum is None else f"{column.minimum} to {column.maximum}"


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
    names = side_by_side(order, LONGEST_NAME)
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
    draw = partial(ComparisonDisplay.from_comparison, result, measure=first)
    if len(result.data_sets) > 1:
        figures = [report.figures.draw(draw)]
    else:
        size = (4.9, 1.3 + 0.3 * len(result.methods))
        figures = report.figures.panels(lambda axes: draw(ax=axes[0]), 1, size)
    return Section("comparison", "Compared with others", [*blocks, Figures(figures)])


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
    blocks: list[Any] = []
    if hasattr(model, "export_text") and hasattr(model, "tree"):
        text = (
            "A row follows every branch whose test it passes, and its score is the sum of the numbers on the way. The "
            "number in front of a test is the round that added it."
        )
        figure = report.figures.draw(lambda: AlternatingTreeDisplay.from_estimator(model), large=True)
        blocks = [Figures([figure], "wide"), Text(model.export_text(), "pre")]
    elif last_step(model) is not model:
        text = f"{name} is the last step of a pipeline and sees transformed columns, so its functions are not shown. "
        text += OTHER_METHODS
    elif not hasattr(model, "shape_functions"):
        text = f"There is no built-in explanation of {name}. {OTHER_METHODS}"
    else:
        try:
            text, blocks = _shapes(report, model)
        except ValueError as error:  # not all boosters have shape functions, and the message says why
            text = str(error)
    return Section("why", "Why it decides as it does", [Text(text), *blocks])


def _shapes(report: Report, model: Any) -> tuple[str, list[Any]]:
    """What each of the most important features adds to the score."""
    shapes = model.shape_functions()
    order = np.argsort(-np.asarray(model.feature_importances_), kind="stable")
    used = [int(j) for j in order if model.feature_importances_[j] > 0]
    if not used:
        return "The model uses no feature: its prediction is the same for every row.", []
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
    return text, [Figures(figures, "small")]


def caveats(report: Report) -> Section:
    """Limits of the numbers in this report."""
    e = report.evidence
    c = e.counts
    items = []
    if c.positives < FEW:
        low, high = interval(c.tp, c.positives)
        items.append(
            f"There are only {count(c.positives)} positives among the held-out rows. Recall on new rows may be "
            f"anywhere from {percent(low, 2)} to {percent(high, 2)}. Small differences between models mean nothing."
        )
    if e.kind != PROBABILITY:
        items.append("The model's decisions are not a threshold on probabilities, so decision scores are shown.")
    if e.threshold is None:
        items.append(
            "The model's decisions are not a threshold on its score, so its operating point is not on the curves."
        )
    if e.costs_from == BALANCED:
        items.append("No costs were given. All costs in this report follow from balancing the classes.")
    if report.training is not None:
        fraction = float(np.mean(np.asarray(report.training[1]) == e.pos_label))
        low, high = interval(c.positives, c.total, 0.999)
        if not low <= fraction <= high:
            items.append(
                f"{percent(fraction)} of the training rows are positive, but {percent(c.positives / c.total)} of the "
                "held-out rows: more than chance explains."
            )
    items.append(
        "All numbers are valid for rows like these. If the data change, or labels are obtained in another way, "
        "evaluate the model again."
    )
    return Section("caveats", "Limitations", [Warnings(items)])


def card(report: Report) -> Section:
    """The model card: class, costs, features, parameters and versions."""
    model, e = report.model, report.evidence
    source = {GIVEN: "as given", OF_MODEL: "as in training", BALANCED: "balanced"}[e.costs_from]
    costs = f"a miss {digits(e.costs.positive, 4)}, a false alarm {digits(e.costs.negative, 4)} ({source})"
    rows = [
        ("Class", f"{type(model).__module__.split('.')[0]}.{type(model).__name__}"),
        ("Classes", f"{shown(e.pos_label)} (positive), {shown(e.neg_label)}"),
        ("Costs", costs),
    ]
    if e.threshold is not None:
        rows.append(("Threshold", f"rows are flagged from a {e.kind} of {e.threshold:.6g}"))
    rounds = getattr(model, "n_rounds_", None) or getattr(model, "n_estimators_", None)
    if isinstance(rounds, int):
        rows.append(("Rounds", str(rounds)))
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if names:
        rest = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        rows.append((f"Features ({len(names)})", ", ".join(side_by_side(names, LONGEST_NAME)[:MAX_NAMES]) + rest))
    elif hasattr(model, "n_features_in_"):
        rows.append(("Features", str(model.n_features_in_)))
    versions = [f"skewboost {__version__}", *(f"{name} {version(name)}" for name in ("scikit-learn", "numpy"))]
    rows.append(("Versions", ", ".join(versions)))
    blocks: list[Any] = [Table(rows)]
    parameters = inspect.signature(type(model)).parameters
    changed, default = [], []
    for name, value in sorted(model.get_params(deep=False).items()):
        text = in_short(value, LONGEST_PARAMETER)
        if name in parameters and repr(parameters[name].default) == repr(value):
            default.append(f"{name}={text}")
        else:
            changed.append((name, text))
    if changed:
        blocks.append(Table(changed, title="Parameters that differ from the defaults"))
    if default:
        blocks.append(Text(f"Parameters with default values: {', '.join(default)}.", "note"))
    return Section("card", "The model", blocks)
