"""The data, and the comparison with other models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skewboost.engine.table import sliceable
from skewboost.evaluate.summary import ColumnSummary, summarise
from skewboost.metrics.measures import MEASURES
from skewboost.names import side_by_side
from skewboost.plots.comparison_display import ComparisonDisplay
from skewboost.plots.report.blocks import Bar, Drawing, Figures, Section, Table, Text, Warnings
from skewboost.plots.report.words import NONE, count, digits, label, percent

if TYPE_CHECKING:
    from skewboost.plots.report.sections import Subject

MOST_COLUMNS = 60
SHOWN = ("cost", "savings", "recall", "precision", "pr_auc", "roc_auc", "brier")
LONGEST = 60  # letters of a name, or of a list of categories
LONGEST_CATEGORY = 28


def data(subject: Subject) -> Section | None:
    """Classes, columns, missing cells and what is suspicious."""
    e = subject.evidence
    X, y = (subject.X, e.y) if subject.training is None else subject.training
    which = "held-out rows" if subject.training is None else "rows of training"
    blocks: list[Any] = []
    counts = e.counts
    positives, total = counts.positives, counts.total
    try:
        summary = summarise(sliceable(X), y)
    except ValueError:  # what only the model can read: a sparse matrix, or a list of texts
        summary = None
    if summary is not None and summary.target is not None and subject.training is not None:
        of_class = {label(name): n for name, n, _ in summary.target.classes}
        positives, total = of_class.get(label(e.pos_label), 0), sum(of_class.values())
    share = positives / total
    ratio = f"1 in {digits(1 / share, 3)}" if share else "none"
    described = f"{count(total)} {which}"
    if summary is not None:
        n_missing = sum(column.n_missing for column in summary.columns)
        cells = max(1, summary.n_rows * summary.n_columns)
        missing = f"{percent(n_missing / cells, 2)} of the cells are missing" if n_missing else "no cell is missing"
        described += f" with {count(summary.n_columns)} columns; {missing}"
    blocks.append(Text(f"{described}. {label(e.pos_label)} is the positive class: {percent(share)}, {ratio}."))
    if summary is not None:
        if summary.warnings:
            blocks.append(Warnings(summary.warnings))
        blocks.append(_columns(summary.columns))
        if len(summary.columns) > MOST_COLUMNS:
            blocks.append(Text(f"The first {MOST_COLUMNS} of {summary.n_columns} columns are shown.", soft=True))
    bar = Bar(100 * share, 100 * (1 - share), f"{percent(share)} {label(e.pos_label)}, the rest {label(e.neg_label)}")
    return Section("data", "The data", blocks, bar)


def _columns(columns: tuple[ColumnSummary, ...]) -> Table:
    listed = columns[:MOST_COLUMNS]
    rows = [
        (
            name,
            column.kind,
            percent(column.missing_share, 2) if column.n_missing else "0",
            "many" if column.n_distinct is None else count(column.n_distinct),
            _content(column),
        )
        for name, column in zip(side_by_side([column.name for column in columns], LONGEST), listed)
    ]
    return Table(rows, ("column", "kind", "missing", "distinct", "content"), (False, False, True, True, False))


def _content(column: ColumnSummary) -> str:
    if column.top:
        names = side_by_side([name for name, _ in column.top], LONGEST_CATEGORY)
        text = ""
        for name, (_, k) in zip(names, column.top):
            more = f"{name} ({count(k)})"
            if text and len(text) + len(more) > LONGEST:
                return f"{text}, …"
            text = f"{text}, {more}" if text else more
        return text
    if isinstance(column.minimum, int | float) and isinstance(column.maximum, int | float):
        middle = f", half below {digits(column.quantiles[1], 4)}" if len(column.quantiles) > 1 else ""
        return f"{digits(column.minimum, 4)} to {digits(column.maximum, 4)}{middle}"
    return "" if column.minimum is None else f"{column.minimum} to {column.maximum}"


def comparison(subject: Subject) -> Section | None:
    """How others do: means over folds, and a drawing of the first measure."""
    found = subject.comparison
    if found is None:
        return None
    measures = [name for name in SHOWN if name in found.measures] or list(found.measures[:5])
    first = measures[0]
    by_method: dict[str, dict[str, Any]] = {}
    for measure in measures:
        for row in found.summary(measure):
            by_method.setdefault(row["method"], {})[measure] = row
    order = found.ordered(first)
    names = side_by_side(order, LONGEST)
    rows = [(name, *(_mean(by_method[method].get(name)) for name in measures)) for name, method in zip(names, order)]
    own = type(subject.model).__name__
    names = [method.partition(":")[0] for method in order]  # what was set may stand behind a name
    chosen = next((k for k, name in enumerate(names) if name in (own, own.removesuffix("Classifier"))), -1)
    head = ("method", *(MEASURES[name].label for name in measures))
    text = (
        f"{len(order)} methods on the same folds, the best by {MEASURES[first].label} first; means ± standard "
        "deviations, and * at the best of a column. These are fits to parts of the data, not the model of this report."
    )
    blocks = [
        Text(text),
        Table(rows, head, (False, *(True for _ in measures)), chosen=chosen),
        Figures(_drawn(subject, found, first)),
    ]
    if not found.complete:
        blocks.insert(1, Warnings(["The comparison was interrupted: some folds are missing."]))
    return Section("comparison", "Compared with others", blocks)


def _drawn(subject: Subject, found: Any, measure: str) -> list[Drawing]:
    """Values of the folds of one data set, or ranks on several."""
    if len(found.data_sets) > 1:
        return [subject.album.draw(lambda: ComparisonDisplay.from_comparison(found, measure=measure))]
    size = (4.9, 1.3 + 0.3 * len(found.methods))
    return subject.album.panels(
        lambda axes: ComparisonDisplay.from_comparison(found, measure=measure, ax=axes[0]), 1, size
    )


def _mean(row: dict[str, Any] | None) -> str:
    if row is None or row["mean"] is None or row["mean"] != row["mean"]:
        return NONE
    spread = f" ± {digits(row['sd'], 2)}" if row["sd"] == row["sd"] else ""
    return f"{digits(row['mean'], 3)}{spread}{' *' if row['best'] else ''}"
