"""The distribution of the margins of a booster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost

from skewboost.engine.table import take_rows
from skewboost.errors import InputError
from skewboost.metrics.inputs import read_truth
from skewboost.names import literal, visible
from skewboost.plots.display import Display, legend_below, new_axes
from skewboost.plots.display_inputs import (
    check_both_classes,
    check_classifier,
    class_labels,
    positive_class,
    sample_rows,
)
from skewboost.plots.style import GREY, look
from skewboost.typing import Array

MAX_ROWS = 20_000  # of each class: such a curve is within 0.01 of the one of all rows (DKW inequality, 95 %)


@dataclass(eq=False, repr=False, kw_only=True)
class MarginDisplay(Display):
    r"""The cumulative distribution of margins, after some numbers of rounds and for each class [schapire1998]_.

    The margin of an example is the normalised difference of the votes for and against its class,

    .. math:: \frac{y F_M(x)}{\sum_{m \le M} |F_m(x) - F_{m-1}(x)|} \in [-1, 1] .

    The vote of a round is what it adds to F; the first vote includes the constant that F starts from. Errors have a
    negative margin. More rounds move the curve to the right. If the curve of the rare class stays to the left of the
    other, its examples are classified less reliably.

    Parameters
    ----------
    margins : dict of int to ndarray of shape (n_rows,)
        The margins after each number of rounds.
    positive : ndarray of shape (n_rows,)
        Whether the rows are positive.
    weights : ndarray of shape (n_rows,)
        The weights of the rows.
    labels : tuple of str
        The names of the negative and of the positive class.

    References
    ----------
    .. [schapire1998] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the
       effectiveness of voting methods", Annals of Statistics 26 (1998) 1651-1686.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import MarginDisplay
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=8).fit(X[::2], y[::2])
    >>> display = MarginDisplay.from_estimator(clf, X[1::2], y[1::2], rounds=(1, 8))
    >>> list(display.margins)
    [1, 8]
    """

    margins: dict[int, Array]
    positive: Array
    weights: Array
    labels: tuple[str, str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        rounds: Iterable[int] | None = None,
        by_class: bool = True,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> MarginDisplay:
        """Draw a fitted booster.

        Parameters
        ----------
        estimator : booster
            A fitted classifier for two classes with `staged_decision_function`.
        X, y : table and labels
            The rows; from more than 20 000 of a class a random sample is taken, always the same one.
        rounds : iterable of int or None, default=None
            The numbers of rounds; None means one round, about a tenth of the rounds, and all.
        by_class : bool, default=True
            Whether to draw a curve for each class, or one for both.
        pos_label, sample_weight, ax : as in `PosteriorDisplay.from_estimator`
            The positive class, the weights of the rows, and the axes to draw on.
        """
        check_classifier(estimator, "staged_decision_function")
        classes = np.asarray(estimator.classes_)
        if len(classes) != 2:
            raise InputError(
                f"estimator has {len(classes)} classes, but margins are drawn for two. Fit it to y == label."
            )
        truth, weights = read_truth(y, X, sample_weight)
        label = positive_class(estimator, truth, pos_label, weights)
        positive = truth == label
        check_both_classes(positive, weights, label)
        rows = sample_rows(positive, weights, MAX_ROWS)
        all_weights = np.ones(len(truth)) if weights is None else weights
        sampled, side = all_weights[rows], positive[rows]
        for same, kept in ((positive, side), (~positive, ~side)):  # a sample has the weight of its whole class
            sampled[kept] *= all_weights[same].sum() / sampled[kept].sum()
        if len(rows) < len(truth):
            X = take_rows(X, rows)
        signs = np.where(truth[rows] == classes[1], 1.0, -1.0)
        margins = margins_after(estimator, X, signs, rounds)
        display = cls(margins=margins, positive=side, weights=sampled, labels=class_labels(classes, label))
        return display.plot(ax, by_class=by_class)

    def plot(self, ax: Any = None, *, by_class: bool = True) -> MarginDisplay:
        """Draw the curves; parameters as in `from_estimator`."""
        ax = new_axes(ax, (6.4, 5.2))
        ax.axvline(0.0, color=GREY, lw=1, ls=":", zorder=1)
        groups = [(np.ones(len(self.positive), dtype=np.bool_), "")]
        if by_class:
            groups = [(~self.positive, f", {self.labels[0]}"), (self.positive, f", {self.labels[1]}")]
        for g, (rows, name) in enumerate(groups):
            for k, (n_rounds, margins) in enumerate(self.margins.items()):
                x, fraction = _cumulative(margins[rows], self.weights[rows])
                style = {"color": look(k).color, "ls": "-" if g == len(groups) - 1 else (0, (4, 2))}
                label = literal(visible(f"{n_rounds} round{'s' if n_rounds != 1 else ''}{name}"))
                # lines of more rounds are thicker, so that they differ without colour, too
                ax.plot(x, fraction, lw=0.9 + 0.8 * k, label=label, **style)
        last = max(self.margins)
        errors = np.average(self.margins[last] < 0, weights=self.weights)
        ax.set(xlim=(-1.02, 1.02), ylim=(-0.01, 1.02), xlabel="margin: votes for the true class minus votes against it")
        ax.set_ylabel("fraction of examples with at most this margin")
        legend_below(ax, ncols=2 if by_class else 1)
        return self._finish(ax, title=f"Errors have a negative margin: {errors:.2%} after {last} rounds")


def margins_after(estimator: Any, X: Any, y: Array, rounds: Iterable[int] | None) -> dict[int, Array]:
    """Return the margins of rows with labels ±1 after each of some numbers of rounds."""
    chosen = None if rounds is None else set(rounds)
    if chosen is not None and (not chosen or not all(isinstance(m, int | np.integer) and m >= 1 for m in chosen)):
        raise InputError(f"rounds={rounds!r} must be integers of at least 1, such as (1, 10, 100).")
    n_expected = len(getattr(estimator, "estimators_", ())) or getattr(estimator, "n_estimators_", 0)
    keep = chosen or {1, max(1, n_expected // 10), n_expected}
    averaged = isinstance(estimator, SklearnAdaBoost)  # its scores are twice the votes divided by their sum
    F, votes = np.zeros(len(y)), np.zeros(len(y))
    margins: dict[int, Array] = {}

    def margin() -> Array:
        return 0.5 * y * F if averaged else np.divide(y * F, votes, out=np.zeros_like(F), where=votes > 0)

    last = 0
    for last, stage in enumerate(estimator.staged_decision_function(X), 1):
        before, F = F, np.asarray(stage, dtype=np.float64).reshape(len(y))
        votes += np.abs(F - before)
        if last in keep:
            margins[last] = margin()
    if chosen is not None and max(chosen) > last:
        raise InputError(f"rounds={sorted(chosen)} exceeds the {last} rounds of the model. Pass numbers up to {last}.")
    if chosen is None and last not in margins:
        margins[last] = margin()
    return margins


def _cumulative(margins: Array, weights: Array) -> tuple[Array, Array]:
    """The steps of a cumulative distribution from -1 to 1, with both ends of every step."""
    order = np.argsort(margins, kind="stable")
    fraction = np.cumsum(weights[order]) / weights.sum()
    x = margins[order]
    last = np.append(np.diff(x) > 0, True)  # the last of equal margins includes all of them
    steps, heights = np.concatenate(([-1.0], x[last], [1.0])), np.concatenate(([0.0], fraction[last], [1.0]))
    return np.repeat(steps, 2)[1:], np.repeat(heights, 2)[:-1]
