"""The decisions of a model as a function of two features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.engine.table import Nominal, take_rows
from skewboost.errors import InputError
from skewboost.metrics.inputs import read_truth
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.names import literal, side_by_side, visible
from skewboost.plots.display import Display, legend_below, new_axes
from skewboost.plots.display_inputs import check_classifier, class_labels, positive_class, sample_rows
from skewboost.plots.feature_columns import FeatureColumns, axis_values
from skewboost.plots.style import INK, NEGATIVE, PALE_NEGATIVE, PALE_POSITIVE, POSITIVE
from skewboost.typing import Array

SMALLEST, LARGEST, EQUAL = 9.0, 90.0, 26.0  # areas of points; EQUAL if all are the same
CIRCLE = (10, 0, 0)  # a polygon of ten corners takes a third of the space of a circle in an SVG file
CATEGORY_LENGTH = 14  # characters
MANY = 6  # the names of more categories are rotated
LOSS_NOTE, WEIGHT_NOTE = "point size: weight exp(-yF)", "point size: sample weight"


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionBoundaryDisplay(Display):
    """The confidence of a model as colour, its decision boundary as a line, and examples as points.

    If a model has a `decision_function` F, the colour is F, the line is F = 0, and the size of a point grows with
    exp(-yF), its weight in the exponential loss. Large points are those which the model gets wrong or barely right.
    Otherwise the colour is a probability. Islands of one colour that contain hardly any point indicate overfitting.

    Parameters
    ----------
    horizontal, vertical : ndarray
        The grid; positions 0, 1, … for a feature of categories.
    response : ndarray of shape (len(vertical), len(horizontal))
        F or P(+) on the grid.
    decision : ndarray of the same shape
        Whether the positive class is predicted there.
    level : float
        The response at the decision boundary: 0 for F, 0.5 for P(+).
    points : ndarray of shape (n_points, 2)
        The examples to draw.
    positive : ndarray of shape (n_points,)
        Whether they are positive.
    sizes : ndarray of shape (n_points,)
        The areas of the points.
    names : tuple of str
        The names of the two features.
    categories : tuple of (tuple of str or None)
        The categories of each of the two features; None for numbers.
    labels : tuple of str
        The names of the negative and of the positive class.
    note : str, default=""
        A remark on the other features.
    sizes_note : str, default=""
        The meaning of the sizes.

    Attributes
    ----------
    colorbar_ : matplotlib Colorbar or None
        The scale of colours.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import DecisionBoundaryDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=5).fit(X[::2], y[::2])
    >>> features = ("worst perimeter", "worst texture")
    >>> display = DecisionBoundaryDisplay.from_estimator(clf, X[1::2], y[1::2], features=features)
    """

    horizontal: Array
    vertical: Array
    response: Array
    decision: Array
    level: float
    points: Array
    positive: Array
    sizes: Array
    names: tuple[str, str]
    categories: tuple[Any, Any] = (None, None)
    labels: tuple[str, str] = ("negative", "positive")
    note: str = ""
    sizes_note: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Any = None,
        grid: int = 200,
        method: str = "auto",
        max_points: int = 600,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        legend: bool = True,
    ) -> DecisionBoundaryDisplay:
        """Draw a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with `decision_function` or `predict_proba`.
        X, y : table and labels
            Examples to draw, with all features of the model.
        features : two names or indices of columns, or None, default=None
            The axes. None means the two features of largest `feature_importances_`, or the first two if there are no
            importances. All other features have their median, or most frequent category, in `X`.
        grid : int, default=200
            The number of points along each axis.
        method : {"auto", "decision_function", "predict_proba"}, default="auto"
            The method whose result is shown as colour.
        max_points : int, default=600
            The largest number of examples of each class, drawn at random but always the same.
        pos_label, sample_weight, ax : as in `PosteriorDisplay.from_estimator`
            The positive class, the weights of the rows, which determine the sizes of points, and the axes to draw on.
        legend : bool, default=True
            Whether to draw a legend and the scale of colours.
        """
        check_classifier(estimator, *(METHODS if method == "auto" else (method,)))
        if method == "auto":
            method = next(m for m in METHODS if hasattr(estimator, m))
        truth, weights = read_truth(y, X, sample_weight)
        table = FeatureColumns(X)
        pair = _pair(estimator, table, features)
        label = positive_class(estimator, truth, pos_label, weights)
        columns = [table.column(j) for j in pair]
        (horizontal, first), (vertical, second) = (axis_values(column, grid) for column in columns)
        mesh = np.meshgrid(first, second)
        rows = table.grid({j: cells.ravel() for j, cells in zip(pair, mesh)}, mesh[0].size)
        positive = truth == label
        points = sample_rows(positive, weights, max_points)
        sizes, note = _sizes(estimator, X, positive, label, weights, method, points)
        places = [np.where(c.codes < 0, np.nan, c.codes) if isinstance(c, Nominal) else c for c in columns]
        display = cls(
            horizontal=horizontal,
            vertical=vertical,
            response=scores_of(estimator, rows, label, method).reshape(mesh[0].shape),
            decision=(np.asarray(estimator.predict(rows)) == label).reshape(mesh[0].shape),
            level=0.0 if method == "decision_function" else 0.5,
            points=np.column_stack(places)[points],
            positive=positive[points],
            sizes=sizes,
            names=(table.names[pair[0]], table.names[pair[1]]),
            categories=tuple(c.categories if isinstance(c, Nominal) else None for c in columns),  # type: ignore[arg-type]
            labels=class_labels(estimator.classes_, label),
            note=table.constant_features(pair),
            sizes_note=note,
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> DecisionBoundaryDisplay:
        """Draw the boundary; parameters as in `from_estimator`."""
        ax = new_axes(ax, (7.0, 6.2))
        image = self._draw_response(ax)
        self._draw_boundary(ax)
        self._draw_points(ax)
        for axis, name, categories in zip((ax.xaxis, ax.yaxis), side_by_side(self.names, 40), self.categories):
            axis.set_label_text(literal(name))
            if categories is not None:
                axis.set_ticks(range(len(categories)), [literal(c) for c in side_by_side(categories, CATEGORY_LENGTH)])
        if self.categories[0] is not None and len(self.categories[0]) > MANY:
            for text in ax.get_xticklabels():
                text.set(rotation=60, ha="right", rotation_mode="anchor")
        self.colorbar_ = None
        if legend:
            label = "F(x): sign = class, size = confidence" if self.level == 0 else f"P({visible(self.labels[1])})"
            extend = "both" if self.level == 0 else "neither"
            self.colorbar_ = ax.figure.colorbar(image, ax=ax, extend=extend, pad=0.02, aspect=40, label=literal(label))
            self._draw_legend(ax)
        line = "Line: decision boundary" if self._has_boundary else "The prediction is the same everywhere"
        title = "\n".join(filter(None, (f"Darker: more confident. {line}", visible(self.note))))
        return self._finish(ax, title=literal(title), frame=True)

    @property
    def _has_boundary(self) -> bool:
        return bool(self.decision.any() and not self.decision.all())

    def _draw_response(self, ax: Any) -> Any:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("shades", [PALE_NEGATIVE, "white", PALE_POSITIVE])
        low, high = 0.0, 1.0
        if self.level == 0:
            high = float(np.quantile(np.abs(self.response), 0.98)) or 1.0  # a few extremes would make the rest pale
            low = -high
        return ax.imshow(
            self.response, extent=[*_ends(self.horizontal), *_ends(self.vertical)], origin="lower", aspect="auto",
            interpolation="nearest", cmap=shades, vmin=low, vmax=high,
        )  # fmt: skip

    def _draw_boundary(self, ax: Any) -> None:
        """Draw the contour of the response, which is smoother, if it agrees with the decisions; else of these."""
        if not self._has_boundary or min(self.decision.shape) < 2:
            return  # Matplotlib warns of empty contours
        agrees = ((self.response >= self.level) == self.decision) | (self.response == self.level)
        smooth = agrees.all() and self.categories == (None, None)
        heights, level = (self.response, self.level) if smooth else (self.decision.astype(float), 0.5)
        if heights.min() < level < heights.max():
            ax.contour(self.horizontal, self.vertical, heights, levels=[level], colors=INK, linewidths=1.6)

    def _draw_points(self, ax: Any) -> None:
        """Draw negatives as hollow circles and, above them, positives as filled triangles."""
        for rows, marker, style in (
            (~self.positive, CIRCLE, {"facecolors": "none", "edgecolors": NEGATIVE, "linewidths": 0.9}),
            (self.positive, "^", {"facecolors": POSITIVE, "edgecolors": INK, "linewidths": 0.5}),
        ):
            ax.scatter(*self.points[rows].T, s=self.sizes[rows], marker=marker, zorder=3, **style)

    def _draw_legend(self, ax: Any) -> None:
        from matplotlib.lines import Line2D

        names = self.categories[0] or ()  # rotated names take more room
        drop = 0.48 + (0.065 * max(map(len, side_by_side(names, CATEGORY_LENGTH))) if len(names) > MANY else 0.0)
        negative, positive = (literal(visible(label)) for label in self.labels)
        handles = [
            Line2D([], [], marker="o", color=NEGATIVE, markerfacecolor="none", ls="none", label=negative),
            Line2D([], [], marker="^", color=POSITIVE, markeredgecolor=INK, ls="none", label=positive),
        ]
        if self._has_boundary:
            boundary = "F = 0" if self.level == 0 else "decision boundary"
            handles.append(Line2D([], [], color=INK, linewidth=1.6, label=boundary))
        note = self.sizes_note or None
        legend_below(ax, ncols=3, drop=drop, handles=handles, title=note, title_fontsize="small")


def _ends(line: Array) -> tuple[float, float]:
    """The outer edges of the cells around positions on an axis."""
    half = 0.5 * (line[1] - line[0]) if len(line) > 1 else 0.5
    return float(line[0] - half), float(line[-1] + half)


def _pair(estimator: Any, table: FeatureColumns, features: Any) -> tuple[int, int]:
    if table.n_features < 2:
        raise InputError("X has 1 feature, but this display needs two. Use PosteriorDisplay for a single feature.")
    if features is None:
        importances = getattr(estimator, "feature_importances_", None)
        if table.n_features == 2 or importances is None or len(importances) != table.n_features:
            return 0, 1
        first, second = np.argsort(-np.asarray(importances), kind="stable")[:2].tolist()
        return first, second
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise InputError(f"features={features!r} must be two columns of X, by name or index, e.g. (0, 1).")
    a, b = (table.index(f, "features") for f in features)
    if a == b:
        raise InputError(f"features={features!r} contains the same column twice. Pass two different columns.")
    return a, b


def _sizes(
    estimator: Any, X: Any, positive: Array, label: Any, weights: Array | None, method: str, rows: Array
) -> tuple[Array, str]:
    """The areas of the points of some rows, and what they mean."""
    if weights is not None:
        return SMALLEST + (LARGEST - SMALLEST) * weights[rows] / weights[rows].max(), WEIGHT_NOTE
    if method != "decision_function":
        return np.full(len(rows), EQUAL), ""
    chosen = X if len(rows) == len(positive) else take_rows(X, rows)
    logs = np.where(positive[rows], -1.0, 1.0) * scores_of(estimator, chosen, label, method)
    sizes = np.exp(logs - logs.max())
    spread = 1.0 - sizes.min()  # small if all scores are small, too
    if spread < 1e-9:
        return np.full(len(rows), EQUAL), LOSS_NOTE
    return SMALLEST + (LARGEST - SMALLEST) * (sizes - sizes.min()) / spread, LOSS_NOTE
