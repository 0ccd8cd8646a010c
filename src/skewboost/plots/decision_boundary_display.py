"""What a model makes of two features."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.engine.table import Nominal, take_rows
from skewboost.errors import InputError
from skewboost.metrics.inputs import read_truth
from skewboost.metrics.ranking import METHODS, scores_of
from skewboost.names import literal, side_by_side, visible
from skewboost.plots.grid_rows import Columns, ends_of, others, places_along
from skewboost.plots.inputs_of_displays import check_classifier, positive_class, told_apart
from skewboost.plots.style import INK, NEGATIVE, PALE_NEGATIVE, PALE_POSITIVE, POSITIVE, axes_for, legend_below
from skewboost.typing import Array

SMALLEST, LARGEST = 9.0, 90.0  # areas of points
ROUND = (10, 0, 0)  # corners: looks like a circle, and takes a third of its place in an SVG file
EQUAL = 26.0  # where all have the same
CATEGORY = 14  # letters
MANY = 6  # categories side by side are written aslant
LOSS = "the larger a point, the larger its weight exp(-yF)"
WEIGHT = "the larger a point, the larger its sample weight"


class DecisionBoundaryDisplay:
    """Confidence as colour, the decision as a line, and examples as points that are the larger the more they weigh.

    Where a model has a `decision_function` F, the colour is F, the line is where it is zero, and a point grows with
    exp(-yF): the weight that the exponential loss gives it, so that large points are those which the model gets wrong,
    or barely right. Else the colour is a probability. Islands of one colour with hardly a point in them speak of
    overfitting.

    Parameters
    ----------
    horizontal, vertical : ndarray
        The grid; positions 0, 1, … where a feature holds categories.
    response : ndarray of shape (len(vertical), len(horizontal))
        F or P(+) on it.
    decision : ndarray of the same shape
        Whether the positive class is predicted there.
    level : float
        Where the response changes sides: 0 for F, 0.5 for P(+).
    points : ndarray of shape (n_points, 2)
        Examples to draw.
    positive : ndarray of shape (n_points,)
        Which of them are.
    sizes : ndarray of shape (n_points,)
        Their areas.
    names : tuple of str
        Of the two features.
    categories : tuple of (tuple of str or None)
        Those of features that hold categories.
    labels : tuple of str
        The names of the negative and of the positive class.
    note : str, default=""
        What other features there are.
    sizes_note : str, default=""
        What the sizes mean.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    colorbar_ : matplotlib Colorbar or None
        Its scale of colours.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import DecisionBoundaryDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=5).fit(X, y)
    >>> display = DecisionBoundaryDisplay.from_estimator(clf, X, y, features=("worst perimeter", "worst texture"))
    """

    def __init__(
        self,
        *,
        horizontal: Array,
        vertical: Array,
        response: Array,
        decision: Array,
        level: float,
        points: Array,
        positive: Array,
        sizes: Array,
        names: tuple[str, str],
        categories: tuple[Any, Any] = (None, None),
        labels: tuple[str, str] = ("negative", "positive"),
        note: str = "",
        sizes_note: str = "",
    ) -> None:
        self.horizontal = horizontal
        self.vertical = vertical
        self.response = response
        self.decision = decision
        self.level = level
        self.points = points
        self.positive = positive
        self.sizes = sizes
        self.names = names
        self.categories = categories
        self.labels = labels
        self.note = note
        self.sizes_note = sizes_note

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
            With `decision_function` or `predict_proba`.
        X, y : table and labels
            Examples to draw, with all the features of the model.
        features : two names or numbers of columns, or None, default=None
            The axes; None: the two of largest `feature_importances_`, or the first two where there are none. All other
            features are held at their medians, or most frequent categories, in `X`.
        grid : int, default=200
            Points along each axis.
        method : {"auto", "decision_function", "predict_proba"}, default="auto"
            What the colour shows.
        max_points : int, default=600
            Of each class not more than that are drawn, at random but always the same.
        pos_label, sample_weight : as in `OperatingPointDisplay.from_estimator`
            Where weights are given, points are sized by them.
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        legend : bool, default=True
            Whether to say what the marks mean, and to draw the scale of colours.
        """
        check_classifier(estimator, *(METHODS if method == "auto" else (method,)))
        if method == "auto":
            method = next(m for m in METHODS if hasattr(estimator, m))
        truth, weights = read_truth(y, X, sample_weight)
        columns = Columns(X)
        pair = _pair(estimator, columns, features)
        label = positive_class(estimator, truth, pos_label, weights)
        axes = [places_along(columns.read(j), grid) for j in pair]
        mesh = np.meshgrid(*(cells for _, cells in axes))
        rows = columns.rows({j: cells.ravel() for j, cells in zip(pair, mesh)}, mesh[0].size)
        shape = mesh[0].shape
        positive = truth == label
        shown = _shown(positive, weights, max_points)
        sizes, note = _sizes(estimator, X, positive, label, weights, method, shown)
        found = [columns.read(j) for j in pair]
        places = [np.where(c.codes < 0, np.nan, c.codes) if isinstance(c, Nominal) else c for c in found]
        rest = [c for c in np.asarray(estimator.classes_).tolist() if c != label]
        display = cls(
            horizontal=axes[0][0],
            vertical=axes[1][0],
            response=scores_of(estimator, rows, label, method).reshape(shape),
            decision=(np.asarray(estimator.predict(rows)) == label).reshape(shape),
            level=0.0 if method == "decision_function" else 0.5,
            points=np.column_stack(places)[shown],
            positive=positive[shown],
            sizes=sizes,
            names=(columns.names[pair[0]], columns.names[pair[1]]),
            categories=tuple(c.categories if isinstance(c, Nominal) else None for c in found),  # type: ignore[arg-type]
            labels=told_apart(label, rest),
            note=others(columns.names, pair),
            sizes_note=note,
        )
        return display.plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> DecisionBoundaryDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        legend : bool, default=True
            Whether to say what the marks mean, and to draw the scale of colours.
        """
        ax = axes_for(ax, (7.0, 6.2))
        image = self._shade(ax)
        self._boundary(ax)
        self._scatter(ax)
        for axis, name, categories in zip((ax.xaxis, ax.yaxis), side_by_side(self.names, 40), self.categories):
            axis.set_label_text(literal(name))
            if categories is not None:
                axis.set_ticks(range(len(categories)), [literal(c) for c in side_by_side(categories, CATEGORY)])
        if self.categories[0] is not None and len(self.categories[0]) > MANY:
            for text in ax.get_xticklabels():
                text.set(rotation=60, ha="right", rotation_mode="anchor")
        seen = "Line: the decision" if self._has_boundary else "The decision is the same everywhere"
        title = "\n".join(filter(None, (f"Darker: surer. {seen}", visible(self.note))))
        ax.set_title(literal(title), loc="left", size="medium")
        self.colorbar_ = None
        if legend:
            positive = literal(visible(self.labels[1]))
            say = "F(x): the sign is the class, the size the confidence" if self.level == 0 else f"P({positive})"
            extend = "both" if self.level == 0 else "neither"
            self.colorbar_ = ax.figure.colorbar(image, ax=ax, extend=extend, pad=0.02, aspect=40, label=say)
            self._legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def _has_boundary(self) -> bool:
        return bool(self.decision.any() and not self.decision.all())

    def _shade(self, ax: Any) -> Any:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("shades", [PALE_NEGATIVE, "white", PALE_POSITIVE])
        if self.level == 0:
            top = float(np.quantile(np.abs(self.response), 0.98)) or 1.0  # a few extremes would make the rest pale
            span = -top, top
        else:
            span = 0.0, 1.0
        ends = [e for line in (self.horizontal, self.vertical) for e in ends_of(line)]
        return ax.imshow(
            self.response, extent=ends, origin="lower", aspect="auto", interpolation="nearest", cmap=shades,
            vmin=span[0], vmax=span[1],
        )  # fmt: skip

    def _boundary(self, ax: Any) -> None:
        """Where the model changes its mind; the response is smoother than its sign, where both say the same."""
        if not self._has_boundary or min(self.decision.shape) < 2:
            return  # Matplotlib warns of lines that are not there
        agrees = ((self.response >= self.level) == self.decision) | (self.response == self.level)
        smooth = agrees.all() and self.categories == (None, None)
        heights, level = (self.response, self.level) if smooth else (self.decision.astype(float), 0.5)
        if heights.min() < level < heights.max():
            ax.contour(self.horizontal, self.vertical, heights, levels=[level], colors=INK, linewidths=1.6)

    def _scatter(self, ax: Any) -> None:
        """Hollow circles and filled triangles; the positive class, often the rarer, on top."""
        for rows, marker, style in (
            (~self.positive, ROUND, {"facecolors": "none", "edgecolors": NEGATIVE, "linewidths": 0.9}),
            (self.positive, "^", {"facecolors": POSITIVE, "edgecolors": INK, "linewidths": 0.5}),
        ):
            ax.scatter(*self.points[rows].T, s=self.sizes[rows], marker=marker, zorder=3, **style)

    def _legend(self, ax: Any) -> None:
        from matplotlib.lines import Line2D

        # names of categories that are written aslant take more room
        names = self.categories[0] or ()
        drop = 0.48 + (0.065 * max(map(len, side_by_side(names, CATEGORY))) if len(names) > MANY else 0.0)
        boundary = "F = 0" if self.level == 0 else "the decision"
        negative, positive = (literal(visible(label)) for label in self.labels)
        handles = [
            Line2D([], [], marker="o", color=NEGATIVE, markerfacecolor="none", ls="none", label=negative),
            Line2D([], [], marker="^", color=POSITIVE, markeredgecolor=INK, ls="none", label=positive),
            Line2D([], [], color=INK, linewidth=1.6, label=boundary),
        ]
        handles = handles if self._has_boundary else handles[:2]
        legend_below(
            ax,
            ncols=3,
            drop=drop,
            handles=handles,
            title=self.sizes_note or None,
            title_fontsize="small",
        )


def _pair(estimator: Any, columns: Columns, features: Any) -> tuple[int, int]:
    if columns.n_features < 2:
        raise InputError("X has 1 feature, but a plane needs two. For one feature take PosteriorDisplay.")
    if features is None:
        importances = getattr(estimator, "feature_importances_", None)
        if columns.n_features == 2 or importances is None or len(importances) != columns.n_features:
            return 0, 1
        first, second = np.argsort(-np.asarray(importances), kind="stable")[:2].tolist()
        return first, second
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise InputError(f"features={features!r} must be two columns of X, by name or number, e.g. (0, 1).")
    a, b = (columns.index(f, "features") for f in features)
    if a == b:
        raise InputError(f"features={features!r} names one column twice. Give two different ones.")
    return a, b


def _sizes(
    estimator: Any, X: Any, positive: Array, label: Any, weights: Array | None, method: str, shown: Array
) -> tuple[Array, str]:
    """Areas of the points that are shown, from the largest weight down, and what they mean."""
    if weights is not None:
        drawn = weights[shown]
        return SMALLEST + (LARGEST - SMALLEST) * drawn / drawn.max(), WEIGHT
    if method != "decision_function":
        return np.full(len(shown), EQUAL), ""
    rows = X if len(shown) == len(positive) else take_rows(X, shown)
    logs = np.where(positive[shown], -1.0, 1.0) * scores_of(estimator, rows, label, method)
    sizes = np.exp(logs - logs.max())
    spread = 1.0 - sizes.min()
    if spread < 1e-9:
        return np.full(len(shown), EQUAL), LOSS
    return SMALLEST + (LARGEST - SMALLEST) * (sizes - sizes.min()) / spread, LOSS  # scores may be thousandths


def _shown(positive: Array, weights: Array | None, most: int) -> Array:
    """Rows to draw, in their order."""
    rng = np.random.default_rng(0)
    present = np.ones(len(positive), dtype=np.bool_) if weights is None else weights > 0
    groups = [np.flatnonzero(present & side) for side in (positive, ~positive)]
    kept = [g if len(g) <= most else rng.choice(g, most, replace=False) for g in groups]
    return np.sort(np.concatenate(kept))
