"""The sections of the report that consist of text and tables, and the order of all sections."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost import __version__
from skewboost.engine.table import sliceable
from skewboost.evaluate.summary import ColumnSummary, summarise
from skewboost.names import shortened, shown, side_by_side
from skewboost.plots.report.evidence import BALANCED, GIVEN, OF_MODEL, PROBABILITY, Evidence
from skewboost.plots.report.explorer import ScoreTable
from skewboost.plots.report.figure_sections import calibration, certificate, comparison, curves, explanation, learning
from skewboost.plots.report.number_format import NONE, class_names, count, digits, interval, percent
from skewboost.plots.report.page_blocks import ClassBar, Section, Table, Text, Warnings

if TYPE_CHECKING:
    from skewboost.plots.report.report import Report

FEW = 50  # rates from fewer positives are imprecise
MAX_COLUMNS, MAX_NAMES = 60, 100
LONGEST_NAME, LONGEST_CATEGORY, LONGEST_PARAMETER = 60, 28, 300  # characters


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
        text = shortened(" ".join(repr(value).split()), LONGEST_PARAMETER)
        if name in parameters and repr(parameters[name].default) == repr(value):
            default.append(f"{name}={text}")
        else:
            changed.append((name, text))
    if changed:
        blocks.append(Table(changed, title="Parameters that differ from the defaults"))
    if default:
        blocks.append(Text(f"Parameters with default values: {', '.join(default)}.", "note"))
    return Section("card", "The model", blocks)
