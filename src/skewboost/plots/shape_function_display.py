"""What each feature adds to the score, as a function of its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.explanations import ShapeFunction
from skewboost.engine.table import Nominal
from skewboost.errors import InputError
from skewboost.names import literal, side_by_side
from skewboost.plots.grid_rows import Columns
from skewboost.plots.inputs_of_displays import told
from skewboost.plots.style import BLUE, GREY, INK, PALE, RED, import_pyplot, tidy
from skewboost.plots.thinning import thin
from skewboost.typing import Array

MOST_CATEGORIES = 12
STRIP = 0.16  # of the height of a panel, where the data are drawn


class ShapeFunctionDisplay:
    r"""The :math:`f_j` of an additive model :math:`F(x) = \text{baseline} + \sum_j f_j(x_j)`, a panel for each feature.

    Above zero a value speaks for the class, below against it. Numbers have steps, categories bars, and a diamond is
    what a missing value adds. The strip at the bottom shows where the data are: what a curve does where there are
    none means little. Panels share their scale, the most important (by the mean of \|f\| over training) first.

    Parameters
    ----------
    functions : list of ShapeFunction
        In the order in which they are drawn.
    label : label
        The class that they speak for.
    data : list of (ndarray or None), default=None
        Values of each feature, for the strips; None: only what training knows of the steps.
    names : sequence of str or None, default=None
        Of all features of the model, from which long names are to be told apart; None: of those that are drawn.

    Attributes
    ----------
    axes_, figure_ : list of matplotlib Axes, and Figure
        Of the drawing; `ax_` is the first of them.

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

    def __init__(
        self,
        *,
        functions: list[ShapeFunction],
        label: Any,
        data: Sequence[Array | None] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.functions = functions
        self.label = label
        self.data = data if data is not None else [None] * len(functions)
        self.names = names

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
            A fitted one of the library, on its own learners. Of trees the mean effects are drawn, and said to be.
        X : table or None, default=None
            Rows that show where the data are; None: what training has kept, which is the count in each step.
        features : sequence of names or numbers, or None, default=None
            Which ones, in that order; None: the most important.
        n_features : int, default=6
            How many where `features` is None; those without any effect are left out.
        label : label or None, default=None
            The class that is spoken for; None: `pos_label_`. Of many classes one must be given.
        ax : sequence of matplotlib Axes or None, default=None
            Where, one for each feature; None makes a new figure.
        """
        if not hasattr(estimator, "shape_functions"):
            raise InputError(
                f"estimator is a {type(estimator).__name__}, which has no shape functions. Take a booster of "
                "skewboost, or sklearn.inspection.PartialDependenceDisplay."
            )
        check_is_fitted(estimator)
        functions, label = _spoken_for(estimator, label)
        if features is None:
            order = sorted(functions, key=lambda f: -importance(f))
            chosen = [f for f in order if importance(f) > 0][: max(1, n_features)] or order[:1]
        else:
            chosen = [_find(functions, feature) for feature in features]
        data = None
        if X is not None:
            columns = Columns(X)
            if columns.n_features != len(functions):
                raise InputError(f"X has {columns.n_features} features, but the model has {len(functions)}.")
            found = [columns.read(f.feature) for f in chosen]
            data = [None if isinstance(c, Nominal) else c[~np.isnan(c)] for c in found]
        return cls(functions=chosen, label=label, data=data, names=[f.name for f in functions]).plot(ax)

    def plot(self, ax: Any = None, *, n_columns: int = 3) -> ShapeFunctionDisplay:
        """Draw it.

        Parameters
        ----------
        ax : sequence of matplotlib Axes or None, default=None
            Where, one for each feature; None makes a new figure.
        n_columns : int, default=3
            Panels side by side in a new figure.
        """
        n = len(self.functions)
        if ax is None:
            self.axes_ = self._grid(min(n_columns, n))
        else:
            self.axes_ = list(np.ravel(ax))
            if len(self.axes_) < n:
                raise InputError(f"ax has {len(self.axes_)} Axes, but there are {n} features to draw. Pass so many.")
        low, high = self._span()
        own = [f.name for f in self.functions]
        every = list(dict.fromkeys([*own, *(self.names or ())]))
        titles = dict(zip(every, side_by_side(every, 30)))
        for axes, f, data in zip(self.axes_, self.functions, self.data):
            if f.kind == "nominal":
                _bars(axes, f)
                axes.set_xlim(low, high)
                axes.axvline(0.0, color=GREY, lw=0.8, zorder=1)
            else:
                _steps(axes, f, data, low, high)
            axes.set_title(literal(titles[f.name]), loc="left", size="medium")
            tidy(axes)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self

    def _grid(self, n_columns: int) -> list[Any]:
        n = len(self.functions)
        n_rows = -(-n // n_columns)
        size = max(3.4 * n_columns, 4.6), 0.6 + 2.8 * n_rows
        figure, grid = import_pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
        for spare in grid.ravel()[n:]:
            spare.set_axis_off()
        what = "What a value adds to F" if all(f.exact for f in self.functions) else "What a value adds to F on average"
        title = literal(f"{what}: above zero, it speaks for {told(self.label)}")
        figure.suptitle(title, x=0.01, ha="left", size="medium")
        return list(grid.ravel()[:n])

    def _span(self) -> tuple[float, float]:
        """From the least to the largest value of all, so that panels can be compared."""
        values = np.concatenate([_heights(f, d) for f, d in zip(self.functions, self.data)] + [np.zeros(1)])
        low, high = float(values.min()), float(values.max())
        room = 0.08 * (high - low) or 1.0
        return low - room, high + room


def importance(f: ShapeFunction) -> float:
    """The mean of |f| over the training examples."""
    total = float(f.support.sum() + f.missing_support)
    if total == 0:
        return 0.0
    if f.kind == "line":
        ends = np.array(f.observed if f.observed is not None else (0.0, 0.0))
        known = float(np.abs(f(ends)).mean()) / 2 * float(f.support.sum())  # of a line through its zero
    else:
        known = float(np.abs(f.values) @ f.support)
    return (known + abs(f.missing_value) * f.missing_support) / total


def _spoken_for(estimator: Any, label: Any) -> tuple[list[ShapeFunction], Any]:
    """The functions, with positive values for the class that is asked for."""
    classes = np.asarray(estimator.classes_).tolist()
    if label is None and len(classes) == 2:
        label = getattr(estimator, "pos_label_", classes[1])
    if label not in classes:
        raise InputError(f"label={label!r} must be one of the classes, which are {classes}.")
    found = estimator.shape_functions()
    k = classes.index(label)
    if len(classes) > 2:
        return found[k], label
    return (found if k == 1 else [_negated(f) for f in found]), label


def _negated(f: ShapeFunction) -> ShapeFunction:
    from dataclasses import replace

    lines = tuple(line.scaled(-1.0) for line in f.lines)
    return replace(f, values=-f.values, lines=lines, missing_value=-f.missing_value)


def _find(functions: list[ShapeFunction], feature: Any) -> ShapeFunction:
    for f in functions:
        if feature == (f.name if isinstance(feature, str) else f.feature):
            return f
    raise InputError(
        f"features has {feature!r}, which is no feature of the model. Give names or numbers of its columns."
    )


def _range(f: ShapeFunction, data: Array | None) -> tuple[float, float]:
    """Of the horizontal axis."""
    known = [] if data is None or not len(data) else [float(data.min()), float(data.max())]
    known += list(f.observed or ()) + ([float(f.edges[0]), float(f.edges[-1])] if len(f.edges) else [])
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (0.15 if data is None else 0.02) * (high - low) or 0.5
    return low - room, high + room


def _heights(f: ShapeFunction, data: Array | None) -> Array:
    values = f(np.array(_range(f, data))) if f.kind == "line" else f.values
    return np.append(values, [f.missing_value] if f.missing_support > 0 else [])


def _steps(ax: Any, f: ShapeFunction, data: Array | None, low: float, high: float) -> None:
    left, right = _range(f, data)
    if f.kind == "line":
        x = np.array([left, right])
        y = f(x)
    else:
        inner = np.flatnonzero((f.edges > left) & (f.edges < right))
        x = np.concatenate(([left], np.repeat(f.edges[inner], 2), [right]))
        first = int(inner[0]) if len(inner) else 0
        y = np.repeat(f.values[first : first + len(inner) + 1], 2)
    rows = thin(x, y)
    ax.plot(x[rows], y[rows], color=BLUE, lw=1.7, zorder=3, solid_joinstyle="miter")
    ax.axhline(0.0, color=GREY, lw=0.8, zorder=1)
    bottom = low - STRIP * (high - low)
    _strip(ax, f, data, (left, right), bottom, low)
    if f.missing_support > 0:
        right += 0.1 * (right - left)
        ax.plot(right, f.missing_value, "D", ms=6, color=RED, mec=INK, zorder=4, clip_on=False)
        ax.annotate(
            "missing", (right, f.missing_value), xytext=(-6, 0), textcoords="offset points", ha="right", va="center",
            size="x-small", zorder=5,
        )  # fmt: skip
    ax.set(xlim=(left, right), ylim=(bottom, high))


def _strip(ax: Any, f: ShapeFunction, data: Array | None, span: tuple[float, float], bottom: float, top: float) -> None:
    """How many examples there are, from the bottom up."""
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


def _bars(ax: Any, f: ShapeFunction) -> None:
    """A bar per category, sorted, with how many examples it rests on; those of least effect are pooled."""
    rare, missing = f"{len(f.rest)} rare ones", "missing"
    names = [*side_by_side(f.categories, 18, (rare, missing)), *([rare] if f.rest else [])]
    values, support = f.values, f.support
    order = np.argsort(-np.abs(values) * np.maximum(support, 1e-9), kind="stable")
    shown = order if len(order) <= MOST_CATEGORIES + 1 else order[:MOST_CATEGORIES]
    shown = shown[np.argsort(values[shown], kind="stable")]
    bars = [(names[k], float(values[k]), float(support[k])) for k in shown]
    pooled = np.setdiff1d(order, shown)
    if len(pooled):
        mass = support[pooled]
        mean = float(np.average(values[pooled], weights=mass if mass.sum() > 0 else None))
        bars.insert(0, (f"{len(pooled)} others", mean, float(mass.sum())))
    if f.missing_support > 0:
        bars.insert(0, (missing, f.missing_value, f.missing_support))
    places = range(len(bars))
    ax.barh(places, [b[1] for b in bars], height=0.7, color=BLUE, zorder=2)
    if f.missing_support > 0:
        ax.plot(f.missing_value, 0, "D", ms=6, color=RED, mec=INK, zorder=4)
    ax.set_yticks(places, [literal(f"{name} ({n:.6g})") for name, _, n in bars], size="x-small")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(bars) - 0.4)
