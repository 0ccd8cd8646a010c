"""The contribution of each feature to the score, as a function of its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.boosting.explanations import ShapeFunction
from skewboost.engine.table import Nominal
from skewboost.errors import InputError
from skewboost.names import literal, side_by_side
from skewboost.plots.display import Display
from skewboost.plots.display_inputs import check_explainable, explained_class, format_label
from skewboost.plots.feature_columns import FeatureColumns
from skewboost.plots.style import BLUE, GREY, INK, PALE, RED, import_pyplot
from skewboost.typing import Array

MAX_CATEGORIES = 12
STRIP = 0.16  # the height of the strip of data, as a fraction of the panel


@dataclass(eq=False, repr=False, kw_only=True)
class ShapeFunctionDisplay(Display):
    r"""The :math:`f_j` of an additive model :math:`F(x) = \text{baseline} + \sum_j f_j(x_j)`, a panel for each feature.

    Above zero, a value favours the class; below zero, it speaks against it. Numbers have steps and categories have
    bars. A diamond is the contribution of a missing value. The strip at the bottom shows the distribution of the data:
    a curve means little where there are none. All panels have the same scale. The most important feature, by the mean
    of \|f\| over the training examples, comes first.

    Parameters
    ----------
    functions : list of ShapeFunction
        The functions, in the order of the panels.
    label : label
        The class that positive values favour.
    data : list of (ndarray or None), default=None
        Values of each feature for the strips; None means the counts that the model has kept from training.
    names : sequence of str or None, default=None
        The names of all features of the model, among which shortened names stay unique; None means only those drawn.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import ShapeFunctionDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=10).fit(X, y)
    >>> display = ShapeFunctionDisplay.from_estimator(clf, X, n_features=3)
    >>> display.functions[0].name
    'worst perimeter'
    """

    functions: list[ShapeFunction]
    label: Any
    data: Sequence[Array | None] | None = None
    names: Sequence[str] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        features: Sequence[Any] | None = None,
        n_features: int = 6,
        label: Any = None,
        ax: Any = None,
    ) -> ShapeFunctionDisplay:
        """Draw a fitted booster.

        Parameters
        ----------
        estimator : booster
            A fitted booster of skewboost with one of skewboost's learners. For trees, the mean effects are drawn.
        X : table or None, default=None
            Rows for the strips of data; None means the counts that the model has kept from training.
        features : sequence of names or indices, or None, default=None
            The features, in this order; None means the most important ones.
        n_features : int, default=6
            The number of features if `features` is None; features without any effect are left out.
        label : label or None, default=None
            The class that positive values favour; None means `pos_label_`. It is required for more than two classes.
        ax : sequence of matplotlib Axes or None, default=None
            The axes to draw on, one for each feature; None makes a new figure.
        """
        check_explainable(estimator, "shape_functions", "sklearn.inspection.PartialDependenceDisplay")
        label, k = explained_class(estimator, label)
        functions = estimator.shape_functions()
        if len(estimator.classes_) > 2:
            functions = functions[k]
        elif k == 0:  # what speaks for a class speaks against the other
            functions = [_negated(f) for f in functions]
        if features is None:
            order = sorted(functions, key=lambda f: -importance(f))
            chosen = [f for f in order if importance(f) > 0][: max(1, n_features)] or order[:1]
        else:
            chosen = [_find(functions, feature) for feature in features]
        data = None
        if X is not None:
            table = FeatureColumns(X)
            if table.n_features != len(functions):
                raise InputError(f"X has {table.n_features} features, but the model has {len(functions)}.")
            columns = [table.column(f.feature) for f in chosen]
            data = [None if isinstance(c, Nominal) else c[~np.isnan(c)] for c in columns]
        return cls(functions=chosen, label=label, data=data, names=[f.name for f in functions]).plot(ax)

    def plot(self, ax: Any = None, *, n_columns: int = 3) -> ShapeFunctionDisplay:
        """Draw the functions.

        Parameters
        ----------
        ax : sequence of matplotlib Axes or None, default=None
            The axes to draw on, one for each feature; None makes a new figure.
        n_columns : int, default=3
            The number of panels side by side in a new figure.
        """
        n = len(self.functions)
        axes = self._new_panels(min(n_columns, n)) if ax is None else list(np.ravel(ax))
        if len(axes) < n:
            raise InputError(f"ax has {len(axes)} Axes, but there are {n} features to draw. Pass {n} Axes.")
        data = [None] * n if self.data is None else self.data
        values = np.concatenate([_heights(f, d) for f, d in zip(self.functions, data)] + [np.zeros(1)])
        low, high = float(values.min()), float(values.max())
        room = 0.08 * (high - low) or 1.0
        low, high = low - room, high + room
        names = list(dict.fromkeys([*(f.name for f in self.functions), *(self.names or ())]))
        titles = dict(zip(names, side_by_side(names, 30)))
        for panel, f, d in zip(axes, self.functions, data):
            if f.kind == "nominal":
                _draw_bars(panel, f)
                panel.set_xlim(low, high)
                panel.axvline(0.0, color=GREY, lw=0.8, zorder=1)
            else:
                _draw_steps(panel, f, d, low, high)
            panel.set_title(literal(titles[f.name]), loc="left", size="medium")
        return self._finish(*axes)

    def _new_panels(self, n_columns: int) -> list[Any]:
        n = len(self.functions)
        n_rows = -(-n // n_columns)
        size = max(3.4 * n_columns, 4.6), 0.6 + 2.8 * n_rows
        figure, grid = import_pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
        for spare in grid.ravel()[n:]:
            spare.set_axis_off()
        kind = "Contribution" if all(f.exact for f in self.functions) else "Mean contribution"
        title = f"{kind} to F by feature value: above zero, it favours {format_label(self.label)}"
        figure.suptitle(literal(title), x=0.01, ha="left", size="medium")
        return list(grid.ravel()[:n])


def importance(f: ShapeFunction) -> float:
    """The mean of |f| over the training examples."""
    total = float(f.support.sum() + f.missing_support)
    if total == 0:
        return 0.0
    if f.kind == "line":
        ends = np.array(f.observed if f.observed is not None else (0.0, 0.0))
        known = float(np.abs(f(ends)).mean()) / 2 * float(f.support.sum())  # for a line that is zero in the middle
    else:
        known = float(np.abs(f.values) @ f.support)
    return (known + abs(f.missing_value) * f.missing_support) / total


def _negated(f: ShapeFunction) -> ShapeFunction:
    lines = tuple(line.scaled(-1.0) for line in f.lines)
    return replace(f, values=-f.values, lines=lines, missing_value=-f.missing_value)


def _find(functions: list[ShapeFunction], feature: Any) -> ShapeFunction:
    for f in functions:
        if feature == (f.name if isinstance(feature, str) else f.feature):
            return f
    raise InputError(f"features contains {feature!r}, which is not a feature of the model. Pass names or indices.")


def _range(f: ShapeFunction, data: Array | None) -> tuple[float, float]:
    """The range of the horizontal axis."""
    known = [] if data is None or not len(data) else [float(data.min()), float(data.max())]
    known += list(f.observed or ()) + ([float(f.edges[0]), float(f.edges[-1])] if len(f.edges) else [])
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (0.15 if data is None else 0.02) * (high - low) or 0.5
    return low - room, high + room


def _heights(f: ShapeFunction, data: Array | None) -> Array:
    values = f(np.array(_range(f, data))) if f.kind == "line" else f.values
    return np.append(values, [f.missing_value] if f.missing_support > 0 else [])


def _draw_steps(ax: Any, f: ShapeFunction, data: Array | None, low: float, high: float) -> None:
    left, right = _range(f, data)
    if f.kind == "line":
        x = np.array([left, right])
        y = f(x)
    else:
        inner = np.flatnonzero((f.edges > left) & (f.edges < right))
        x = np.concatenate(([left], np.repeat(f.edges[inner], 2), [right]))
        first = int(inner[0]) if len(inner) else 0
        y = np.repeat(f.values[first : first + len(inner) + 1], 2)
    ax.plot(x, y, color=BLUE, lw=1.7, zorder=3, solid_joinstyle="miter")
    ax.axhline(0.0, color=GREY, lw=0.8, zorder=1)
    bottom = low - STRIP * (high - low)
    _draw_strip(ax, f, data, (left, right), bottom, low)
    if f.missing_support > 0:
        right += 0.1 * (right - left)
        ax.plot(right, f.missing_value, "D", ms=6, color=RED, mec=INK, zorder=4, clip_on=False)
        ax.annotate(
            "missing", (right, f.missing_value), xytext=(-6, 0), textcoords="offset points", ha="right", va="center",
            size="x-small", zorder=5,
        )  # fmt: skip
    ax.set(xlim=(left, right), ylim=(bottom, high))


def _draw_strip(
    ax: Any, f: ShapeFunction, data: Array | None, span: tuple[float, float], bottom: float, top: float
) -> None:
    """Draw the density of the examples."""
    if data is not None and len(data):
        counts, edges = np.histogram(data, np.linspace(*span, 41))
        density = counts.astype(np.float64)
    elif f.kind == "numeric":
        edges = np.concatenate(([span[0]], f.edges, [span[1]]))
        density = f.support / np.maximum(np.diff(edges), 1e-12 * (span[1] - span[0]))
    else:
        return
    heights = bottom + 0.9 * (top - bottom) * density / (density.max() or 1.0)
    ax.stairs(heights, edges, baseline=bottom, fill=True, color=PALE, zorder=0)


def _draw_bars(ax: Any, f: ShapeFunction) -> None:
    """Draw a bar per category, sorted by value, with its number of examples; combine those of least effect."""
    rare, missing = f"{len(f.rest)} rare ones", "missing"
    names = [*side_by_side(f.categories, 18, (rare, missing)), *([rare] if f.rest else [])]
    values, support = f.values, f.support
    order = np.argsort(-np.abs(values) * np.maximum(support, 1e-9), kind="stable")
    own = order if len(order) <= MAX_CATEGORIES + 1 else order[:MAX_CATEGORIES]
    own = own[np.argsort(values[own], kind="stable")]
    bars = [(names[k], float(values[k]), float(support[k])) for k in own]
    others = np.setdiff1d(order, own)
    if len(others):
        mass = support[others]
        mean = float(np.average(values[others], weights=mass if mass.sum() > 0 else None))
        bars.insert(0, (f"{len(others)} others", mean, float(mass.sum())))
    if f.missing_support > 0:
        bars.insert(0, (missing, f.missing_value, f.missing_support))
        ax.plot(f.missing_value, 0, "D", ms=6, color=RED, mec=INK, zorder=4)
    places = range(len(bars))
    ax.barh(places, [length for _, length, _ in bars], height=0.7, color=BLUE, zorder=2)
    ax.set_yticks(places, [literal(f"{name} ({n:.6g})") for name, _, n in bars], size="x-small")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(bars) - 0.4)
