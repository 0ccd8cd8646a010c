"""What the figures of the thesis share: panels with boundaries, curves over the rounds, and legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skewboost.evaluate.staged_curves import StagedCurve
from skewboost.plots import DecisionBoundaryDisplay, StagedCurveDisplay
from skewboost.plots.style import INK, NEGATIVE, POSITIVE, import_pyplot
from skewboost_reproductions.papers.nyga.problems import MEASURES

NAMES = {  # of measures, as skewboost.metrics calls them
    "P+": "precision", "R+": "recall", "F+": "f1", "P-": "negative_predictive_value", "R-": "specificity",
    "F-": "f1_negative", "error": "error",
}  # fmt: skip
POSITIVE_CLASS, NEGATIVE_CLASS = (
    ("precision", "recall", "f1"),
    ("negative_predictive_value", "specificity", "f1_negative"),
)


def panels(n_down: int, n_across: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """Return a figure, and its axes row by row."""
    figure, axes = import_pyplot().subplots(
        n_down, n_across, figsize=size, layout="constrained", squeeze=False, **options
    )
    return figure, axes.ravel()


def entitle(axes: Iterable[Any], titles: Iterable[str]) -> None:
    """Give panels letters and titles, and remove their upper and right edges."""
    for k, (axis, title) in enumerate(zip(axes, titles)):
        axis.set_title("", loc="center")
        axis.set_title(f"({chr(97 + k)}) {title}", loc="left", size="medium")
        axis.spines[["top", "right"]].set_visible(False)


def draw_boundary(
    axis: Any, model: Any, X: Any, y: Any, *, weights: Any = None, corners: Any = (), area: float = 14.0
) -> None:
    """Draw the boundary of a model of two features, and its training rows.

    The areas of points are proportional to `weights`, or all the same. The panel reaches up to the `corners`, too.
    """
    from matplotlib.collections import PathCollection

    more = np.reshape(corners, (-1, 2))  # rows of weight 0 are not drawn
    sizes = np.append(np.ones(len(y)) if weights is None else weights, np.zeros(len(more)))
    rows, labels = np.vstack((X, more)), np.append(y, np.zeros(len(more), dtype=int))
    DecisionBoundaryDisplay.from_estimator(model, rows, labels, pos_label=1, sample_weight=sizes, ax=axis, legend=False)
    if weights is None:
        for points in axis.collections:
            if isinstance(points, PathCollection):
                points.set(sizes=[area], linewidths=[0.7])
    axis.set(xlabel="", ylabel="", xticks=[], yticks=[])


def legend_of_classes(
    figure: Any, positive: str = "positive", negative: str = "negative", lines: Sequence[Any] = ()
) -> None:
    """Draw a legend of boundaries, and of other lines, below the panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker="^", color=POSITIVE, markeredgecolor=INK, ls="none", label=positive),
        Line2D([], [], marker="o", color=NEGATIVE, markerfacecolor="none", ls="none", label=negative),
        Line2D([], [], color=INK, lw=1.6, label="boundary, F = 0"),
        *lines,
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize="small")


def thinned(n_rounds: int, step: int = 5) -> list[int]:
    """Return the first thirty rounds, and every fifth one after them."""
    return [m for m in range(1, n_rounds + 1) if m <= 30 or m % step == 0]


def as_curve(name: str, rounds: Sequence[int], scores: Mapping[str, Any]) -> StagedCurve:
    """Return measures by fit, round and `MEASURES`, of the parts "train" and "test", as `staged_curve` does."""
    values = {
        (NAMES[measure], part): np.asarray(found, dtype=np.float64)[..., k]
        for part, found in scores.items()
        for k, measure in enumerate(MEASURES)
    }
    n_fits = len(next(iter(values.values())))
    numbers = np.column_stack((np.arange(n_fits), np.zeros(n_fits, dtype=int)))
    n_rounds = np.full(n_fits, len(rounds))
    return StagedCurve(
        np.asarray(rounds), n_rounds, tuple(NAMES.values()), numbers, 1, name, "", None, None, None, _values=values
    )


def draw_measures(
    axis: Any, curve: StagedCurve, measures: str | Sequence[str], parts: Sequence[str] = ("test",), **options: Any
) -> list[Any]:
    """Draw measures over the rounds, and return the lines; the legend is left to the figure."""
    display = StagedCurveDisplay(curve, measures=measures, parts=parts, **options).plot(axis)
    axis.get_legend().remove()
    axis.set_ylabel("")
    return list(display.lines_.values())


def legend_of_lines(figure: Any, lines: Sequence[Any], labels: Sequence[str] | None = None, n_across: int = 6) -> None:
    """Draw a legend of lines below the panels."""
    texts = [line.get_label() for line in lines] if labels is None else labels
    figure.legend(
        lines, texts, loc="outside lower center", ncols=min(n_across, len(lines)), frameon=False, fontsize="small"
    )
