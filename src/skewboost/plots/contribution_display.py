"""Why one example gets its score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.engine.table import as_frame
from skewboost.errors import InputError
from skewboost.names import literal, shortened, shown, side_by_side, visible
from skewboost.plots.inputs_of_displays import told
from skewboost.plots.style import GREY, INK, NEGATIVE, POSITIVE, axes_for, tidy
from skewboost.typing import Array

MISSING = "missing"


class ContributionDisplay:
    """What each feature adds to the score F of one example, from the mean of training to F.

    Bars follow each other, the largest first, and the least are pooled. They are the exact contributions of
    `contributions`: bars and the mean add up to F.

    Parameters
    ----------
    contributions : ndarray of shape (n_features,)
        Of all features; what is positive speaks for `label`.
    baseline : float
        The mean of F over the training examples.
    names : list of str
        Of the features.
    cells : list of str
        Their values.
    label : label
        The class that F speaks for.
    predicted : label or None, default=None
        What the model says.

    Attributes
    ----------
    score : float
        F.
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import ContributionDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=10).fit(X, y)
    >>> display = ContributionDisplay.from_estimator(clf, X[:1])
    >>> bool(abs(display.score - clf.decision_function(X[:1])[0]) < 1e-9)
    True
    """

    def __init__(
        self,
        *,
        contributions: Array,
        baseline: float,
        names: list[str],
        cells: list[str],
        label: Any,
        predicted: Any = None,
    ) -> None:
        self.contributions = contributions
        self.baseline = baseline
        self.names = names
        self.cells = cells
        self.label = label
        self.predicted = predicted
        self.score = float(baseline + contributions.sum())

    @classmethod
    def from_estimator(
        cls, estimator: Any, x: Any, *, label: Any = None, max_bars: int = 10, ax: Any = None
    ) -> ContributionDisplay:
        """Draw one example.

        Parameters
        ----------
        estimator : booster
            A fitted one of the library, on its own learners.
        x : table with one row, or array-like of shape (n_features,)
            The example.
        label : label or None, default=None
            The class that bars to the right speak for; None: `pos_label_`, or the predicted one of many.
        max_bars : int, default=10
            The others are pooled.
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        if not hasattr(estimator, "contributions"):
            raise InputError(
                f"estimator is a {type(estimator).__name__}, which has no contributions. Take a booster of skewboost, "
                "or the shap package."
            )
        check_is_fitted(estimator)
        if max_bars < 1:
            raise InputError(f"max_bars={max_bars!r} must be at least 1.")
        x, cells = _one_row(x)
        phi = np.asarray(estimator.contributions(x))[0]
        predicted = np.asarray(estimator.predict(x))[0]
        classes = np.asarray(estimator.classes_).tolist()
        if label is None:
            label = getattr(estimator, "pos_label_", None) if len(classes) == 2 else predicted.item()
        if label not in classes:
            raise InputError(f"label={label!r} is not among the classes, which are {classes}.")
        k = classes.index(label)
        if phi.ndim == 2:
            phi, baseline = phi[:, k], float(estimator.baseline_[k])
        else:
            sign = 1.0 if k == 1 else -1.0
            phi, baseline = sign * phi, sign * float(estimator.baseline_)
        names = [str(n) for n in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(len(phi))])]
        display = cls(contributions=phi, baseline=baseline, names=names, cells=cells, label=label, predicted=predicted)
        return display.plot(ax, max_bars=max_bars)

    def bars(self, max_bars: int = 10) -> list[tuple[str, float]]:
        """Labels and lengths of the bars, from the top: the largest first, then all others in one.

        Examples
        --------
        >>> import numpy as np
        >>> from skewboost.plots import ContributionDisplay
        >>> phi = np.array([0.1, -2.0, 0.0, 0.2])
        >>> display = ContributionDisplay(
        ...     contributions=phi, baseline=0.5, names=list("abcd"), cells=list("5678"), label=1)
        >>> [(name, round(float(length), 1)) for name, length in display.bars(1)]
        [('b = 6', -2.0), ('2 others', 0.3)]
        """
        used = np.flatnonzero(self.contributions)
        order = used[np.argsort(-np.abs(self.contributions[used]), kind="stable")]
        first = order if len(order) <= max_bars + 1 else order[:max_bars]  # one other is named rather than pooled
        names = side_by_side(self.names, 32)
        made = [(f"{names[j]} = {self._cell(j)}", float(self.contributions[j])) for j in first]
        others = order[len(first) :]
        if len(others):
            made.append((f"{len(others)} others", float(self.contributions[others].sum())))
        return made

    def _cell(self, j: int) -> str:
        return shortened(visible(self.cells[j]), 16)

    def plot(self, ax: Any = None, *, max_bars: int = 10) -> ContributionDisplay:
        """Draw it; parameters as in `from_estimator`."""
        made = self.bars(max_bars)
        said = self._spelled(made)
        ax = axes_for(ax, (7.4, 1.6 + 0.32 * len(made)))
        at = self.baseline
        for row, (_, length) in enumerate(made):
            colour = POSITIVE if length > 0 else NEGATIVE
            ax.barh(row, length, left=at, height=0.66, color=colour, edgecolor=INK, lw=0.5, zorder=3,
                    hatch=None if length > 0 else "////")  # fmt: skip
            ax.plot([at + length] * 2, [row - 0.33, row + 1.33], color=GREY, lw=0.8, zorder=2)
            self._number(ax, row, at, length, said(length))
            at += length
        ax.axvline(self.baseline, color=GREY, lw=1, ls=":", zorder=1)
        ax.axvline(0.0, color=INK, lw=1, zorder=1)
        ax.plot(self.score, len(made), "D", ms=8, color=INK, zorder=4, clip_on=False)
        ax.set_yticks(range(-1, len(made) + 1))
        names = [f"mean of training: {said(self.baseline)}", *(name for name, _ in made), f"F = {said(self.score)}"]
        ax.set_yticklabels(map(literal, names))
        ax.plot([self.baseline] * 2, [-1.3, -0.33], color=GREY, lw=0.8, zorder=2)
        ax.plot(self.baseline, -1, "|", ms=10, color=INK, zorder=4)
        ax.set_ylim(len(made) + 0.6, -1.6)
        path = self.baseline + np.cumsum([0.0, *(length for _, length in made)])
        low, high = min(0.0, float(path.min())), max(0.0, float(path.max()))
        room = 0.16 * (high - low) or 1.0  # for the numbers beside the bars
        ax.set_xlim(low - room, high + room)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(literal(f"score F: to the right, for {told(self.label)}"))
        title = "" if self.predicted is None else literal(f"Predicted: {told(self.predicted)}\n")
        ax.set_title(f"{title}What moves F, and how far", loc="left", size="medium")
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _spelled(self, made: list[tuple[str, float]]) -> Callable[[float], str]:
        """Writes numbers with as many digits as the largest of them needs: scores may be thousandths."""
        largest = max(abs(v) for v in (self.baseline, self.score, *(length for _, length in made)))
        digits = 2 if largest == 0 else max(2, 2 - int(np.floor(np.log10(largest))))
        return lambda value: f"{value:+.{digits}f}"

    def _number(self, ax: Any, row: int, at: float, length: float, text: str) -> None:
        side, gap = ("left", 4) if length > 0 else ("right", -4)
        ax.annotate(
            text, (at + length, row), xytext=(gap, 0), textcoords="offset points", ha=side, va="center",
            size="small", zorder=5,
        )  # fmt: skip


def _one_row(x: Any) -> tuple[Any, list[str]]:
    """The example as a table of one row, and its cells in words."""
    frame = as_frame(x)
    if frame is not None:
        if frame.shape[0] != 1:
            raise InputError(f"x has {frame.shape[0]} rows, but one example is explained. Pass one, e.g. X.iloc[[0]].")
        return x, [_cell(v) for v in frame.row(0)]
    row = np.asarray(x)
    row = row[None] if row.ndim == 1 else row
    if row.ndim != 2 or len(row) != 1:
        raise InputError(f"x has shape {np.shape(x)}, but one example is explained. Pass one row, e.g. X[:1].")
    return row, [_cell(v) for v in row[0].tolist()]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return MISSING
    return f"{value:.4g}" if isinstance(value, float | np.floating) else shown(value, (MISSING,))
