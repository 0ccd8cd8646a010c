"""The contributions of the features to the score of one example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.engine.table import as_frame
from skewboost.errors import InputError
from skewboost.names import literal, shortened, shown, side_by_side, visible
from skewboost.parameters import check_arguments, integer
from skewboost.plots.display import Display, new_axes
from skewboost.plots.display_inputs import check_explainable, explained_class, format_label
from skewboost.plots.style import GREY, INK, NEGATIVE, POSITIVE
from skewboost.typing import Array

MISSING = "missing"


@dataclass(eq=False, repr=False, kw_only=True)
class ContributionDisplay(Display):
    """What each feature adds to the score F of one example, from the training mean to F.

    The bars start where the previous one ends, the longest first; the shortest are combined. They are the exact values
    of `contributions`: the training mean plus all bars is F.

    Parameters
    ----------
    contributions : ndarray of shape (n_features,)
        The contribution of each feature; positive ones favour `label`.
    baseline : float
        The mean of F over the training examples.
    names : list of str
        The names of the features.
    cells : list of str
        Their values.
    label : label
        The class that positive contributions favour.
    predicted : label or None, default=None
        The predicted class.

    Attributes
    ----------
    score : float
        F.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import ContributionDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=10).fit(X[1:], y[1:])
    >>> display = ContributionDisplay.from_estimator(clf, X[:1])
    >>> bool(abs(display.score - clf.decision_function(X[:1])[0]) < 1e-9)
    True
    """

    contributions: Array
    baseline: float
    names: list[str]
    cells: list[str]
    label: Any
    predicted: Any = None

    def __post_init__(self) -> None:
        self.score = float(self.baseline + self.contributions.sum())

    @classmethod
    def from_estimator(
        cls, estimator: Any, x: Any, *, label: Any = None, max_bars: int = 10, ax: Any = None
    ) -> ContributionDisplay:
        """Draw one example.

        Parameters
        ----------
        estimator : booster
            A fitted booster of skewboost with one of skewboost's learners.
        x : table with one row, or array-like of shape (n_features,)
            The example.
        label : label or None, default=None
            The class that bars to the right favour; None means `pos_label_`, or the predicted one of many classes.
        max_bars : int, default=10
            The largest number of features with a bar of their own.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a new figure.
        """
        check_explainable(estimator, "contributions", "the shap package")
        check_arguments(max_bars=(max_bars, integer(1)))
        x, cells = _one_row(x)
        predicted = np.asarray(estimator.predict(x))[0]
        if label is None and len(estimator.classes_) > 2:
            label = predicted.item()
        label, k = explained_class(estimator, label)
        phi = np.asarray(estimator.contributions(x))[0]
        if phi.ndim == 2:
            phi, baseline = phi[:, k], float(estimator.baseline_[k])
        else:
            sign = 1.0 if k == 1 else -1.0
            phi, baseline = sign * phi, sign * float(estimator.baseline_)
        names = [str(n) for n in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(len(phi))])]
        display = cls(contributions=phi, baseline=baseline, names=names, cells=cells, label=label, predicted=predicted)
        return display.plot(ax, max_bars=max_bars)

    def bars(self, max_bars: int = 10) -> list[tuple[str, float]]:
        """Names and lengths of the bars from top to bottom: the longest first, then one for all other features.

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
        first = order if len(order) <= max_bars + 1 else order[:max_bars]  # a single other feature gets its own bar
        names = side_by_side(self.names, 32)
        bars = [(f"{names[j]} = {shortened(visible(self.cells[j]), 16)}", float(self.contributions[j])) for j in first]
        others = order[len(first) :]
        if len(others):
            bars.append((f"{len(others)} others", float(self.contributions[others].sum())))
        return bars

    def plot(self, ax: Any = None, *, max_bars: int = 10) -> ContributionDisplay:
        """Draw the bars; parameters as in `from_estimator`."""
        bars = self.bars(max_bars)
        lengths = [length for _, length in bars]
        largest = max(map(abs, (self.baseline, self.score, *lengths)))  # which may be a few thousandths
        decimals = 2 if largest == 0 else max(2, 2 - int(np.floor(np.log10(largest))))
        ax = new_axes(ax, (7.4, 1.6 + 0.32 * len(bars)))
        start = self.baseline
        for row, length in enumerate(lengths):
            end, up = start + length, length > 0
            ax.barh(row, length, left=start, height=0.66, color=POSITIVE if up else NEGATIVE, edgecolor=INK, lw=0.5,
                    zorder=3, hatch=None if up else "////")  # fmt: skip
            ax.plot([end] * 2, [row - 0.33, row + 1.33], color=GREY, lw=0.8, zorder=2)
            ax.annotate(
                f"{length:+.{decimals}f}", (end, row), xytext=(4 if up else -4, 0), textcoords="offset points",
                ha="left" if up else "right", va="center", size="small", zorder=5,
            )  # fmt: skip
            start = end
        ax.axvline(self.baseline, color=GREY, lw=1, ls=":", zorder=1)
        ax.axvline(0.0, color=INK, lw=1, zorder=1)
        ax.plot(self.score, len(bars), "D", ms=8, color=INK, zorder=4, clip_on=False)
        ax.plot([self.baseline] * 2, [-1.3, -0.33], color=GREY, lw=0.8, zorder=2)
        ax.plot(self.baseline, -1, "|", ms=10, color=INK, zorder=4)
        ends = [f"training mean: {self.baseline:+.{decimals}f}", f"F = {self.score:+.{decimals}f}"]
        ax.set_yticks(range(-1, len(bars) + 1), [literal(t) for t in (ends[0], *(name for name, _ in bars), ends[1])])
        ax.set_ylim(len(bars) + 0.6, -1.6)
        path = self.baseline + np.cumsum([0.0, *lengths])
        low, high = min(0.0, float(path.min())), max(0.0, float(path.max()))
        room = 0.16 * (high - low) or 1.0  # for the numbers beside the bars
        ax.set_xlim(low - room, high + room)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(literal(f"score F; bars to the right favour {format_label(self.label)}"))
        title = "" if self.predicted is None else literal(f"Predicted: {format_label(self.predicted)}\n")
        return self._finish(ax, title=f"{title}Contribution of each feature to F")


def _one_row(x: Any) -> tuple[Any, list[str]]:
    """The example as a table with one row, and its cells as text."""
    frame = as_frame(x)
    if frame is not None:
        if frame.shape[0] != 1:
            raise InputError(f"x has {frame.shape[0]} rows, but must be one example. Pass one row, e.g. X.iloc[[0]].")
        return x, [_cell(v) for v in frame.row(0)]
    row = np.asarray(x)
    row = row[None] if row.ndim == 1 else row
    if row.ndim != 2 or len(row) != 1:
        raise InputError(f"x has shape {np.shape(x)}, but must be one example. Pass one row, e.g. X[:1].")
    return row, [_cell(v) for v in row[0].tolist()]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return MISSING
    return f"{value:.4g}" if isinstance(value, float | np.floating) else shown(value, (MISSING,))
