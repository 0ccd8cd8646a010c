"""How clearly examples are on the right side.

References
----------
.. [1] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the effectiveness
   of voting methods", The Annals of Statistics 26 (1998) 1651-1686.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as VotesOverWeights

from skewboost.engine.table import take_rows
from skewboost.errors import InputError
from skewboost.metrics.inputs import read_truth
from skewboost.names import literal, visible
from skewboost.plots.inputs_of_displays import check_classifier, check_two, positive_class, told_apart
from skewboost.plots.style import GREY, axes_for, legend_below, look, tidy
from skewboost.plots.thinning import thin
from skewboost.typing import Array

MOST_ROWS = 20_000  # of each class: a curve from so many is within 0.01 of the one from all (DKW, 95 %)


class MarginDisplay:
    r"""The cumulative distribution of margins, after some numbers of rounds and for each class [1]_.

    The margin of an example is the share of the votes for its class less that against it,

    .. math:: \frac{y F_M(x)}{\sum_{m \le M} |F_m(x) - F_{m-1}(x)|} \in [-1, 1] ,

    with what a round adds as its vote; a constant that F starts from counts with the first. Left of zero are the
    mistakes. Rounds push the curve to the right; where the curve of the rare class stays to the left of the other, the
    rare class pays.

    Parameters
    ----------
    margins : dict of int to ndarray of shape (n_rows,)
        For each number of rounds.
    positive : ndarray of shape (n_rows,)
        Which rows are.
    weights : ndarray of shape (n_rows,)
        How many examples they stand for.
    labels : tuple of str
        The names of the negative and of the positive class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.

    References
    ----------
    .. [1] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the
       effectiveness of voting methods", The Annals of Statistics 26 (1998) 1651-1686.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.plots import MarginDisplay
    >>> X, y = load_rare_cancer()
    >>> display = MarginDisplay.from_estimator(RealBoostClassifier(n_estimators=8).fit(X, y), X, y, rounds=(1, 8))
    >>> list(display.margins)
    [1, 8]
    """

    def __init__(self, *, margins: dict[int, Array], positive: Array, weights: Array, labels: tuple[str, str]) -> None:
        self.margins = margins
        self.positive = positive
        self.weights = weights
        self.labels = labels

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
            With `staged_decision_function`, and two classes.
        X, y : table and labels
            Of the rows; of more than 20 000 in a class so many are taken at random, always the same ones.
        rounds : iterable of int or None, default=None
            After how many rounds; None: after about a tenth of them, and all.
        by_class : bool, default=True
            Whether to draw a curve for each class, or one for both.
        pos_label, sample_weight : as in `OperatingPointDisplay.from_estimator`
            The positive class, and how many examples a row stands for.
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        check_classifier(estimator, "staged_decision_function")
        if len(estimator.classes_) != 2:
            raise InputError(
                f"estimator has {len(estimator.classes_)} classes, but margins are drawn for two. Take one that tells "
                "one class from the rest."
            )
        truth, weights = read_truth(y, X, sample_weight)
        label = positive_class(estimator, truth, pos_label, weights)
        positive = truth == label
        check_two(positive, weights, label)
        rows, mass = _some(positive, np.ones(len(truth)) if weights is None else weights)
        if len(rows) < len(truth):
            X = take_rows(X, rows)
        second = truth[rows] == np.asarray(estimator.classes_)[1]
        rest = [c for c in np.asarray(estimator.classes_).tolist() if c != label]
        margins = margins_after(estimator, X, np.where(second, 1.0, -1.0), rounds)
        display = cls(margins=margins, positive=positive[rows], weights=mass, labels=told_apart(label, rest))
        return display.plot(ax, by_class=by_class)

    def plot(self, ax: Any = None, *, by_class: bool = True) -> MarginDisplay:
        """Draw it; parameters as in `from_estimator`."""
        ax = axes_for(ax, (6.4, 5.2))
        ax.axvline(0.0, color=GREY, lw=1, ls=":", zorder=1)
        every = np.ones(len(self.positive), dtype=np.bool_)
        groups = [(every, "")]
        if by_class:
            groups = [(~self.positive, f", {self.labels[0]}"), (self.positive, f", {self.labels[1]}")]
        for g, (rows, name) in enumerate(groups):
            for k, (n_rounds, margins) in enumerate(self.margins.items()):
                x, share = _cumulative(margins[rows], self.weights[rows])
                kept = thin(x, share)
                style = {"color": look(k).color, "ls": "-" if g == len(groups) - 1 else (0, (4, 2))}
                label = literal(visible(f"{n_rounds} round{'s' if n_rounds != 1 else ''}{name}"))
                # wider for the later: told apart without colour
                ax.plot(x[kept], share[kept], lw=0.9 + 0.8 * k, label=label, **style)
        wrong = np.average(self.margins[max(self.margins)] < 0, weights=self.weights)
        ax.set(xlim=(-1.02, 1.02), ylim=(-0.01, 1.02), xlabel="margin: votes for the true class less votes against it")
        ax.set_ylabel("share of examples with at most that margin")
        title = f"Left of zero are mistakes: {wrong:.2%} after {max(self.margins)} rounds"
        ax.set_title(title, loc="left", size="medium")
        tidy(ax)
        legend_below(ax, ncols=2 if by_class else 1)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def margins_after(estimator: Any, X: Any, y: Array, rounds: Iterable[int] | None) -> dict[int, Array]:
    """The margins of rows with labels ±1; those of the last round are there if nothing else is asked for."""
    asked = None if rounds is None else _check_rounds(rounds)
    averaged = isinstance(estimator, VotesOverWeights)  # its scores are twice the votes over their sum
    before, votes = np.zeros(len(y)), np.zeros(len(y))
    found: dict[int, Array] = {}
    last = 0
    n_expected = len(getattr(estimator, "estimators_", ())) or getattr(estimator, "n_estimators_", 0)
    wanted = asked or {1, max(1, n_expected // 10), n_expected}
    for last, stage in enumerate(estimator.staged_decision_function(X), 1):
        F = np.asarray(stage, dtype=np.float64).reshape(len(y))
        votes += np.abs(F - before)
        before = F
        if last in wanted:
            found[last] = 0.5 * y * F if averaged else _over(y * F, votes)
    if asked is not None and max(asked) > last:
        raise InputError(f"rounds={sorted(asked)} goes beyond the {last} rounds of the model. Give numbers up to that.")
    if not found or (asked is None and last not in found):
        found[last] = 0.5 * y * before if averaged else _over(y * before, votes)
    return found


def _over(signed: Array, votes: Array) -> Array:
    return np.divide(signed, votes, out=np.zeros_like(signed), where=votes > 0)


def _check_rounds(rounds: Iterable[int]) -> set[int]:
    asked = set(rounds)
    if not asked or not all(isinstance(m, int | np.integer) and m >= 1 for m in asked):
        raise InputError(f"rounds={rounds!r} must be whole numbers from 1 on, such as (1, 10, 100).")
    return asked


def _some(positive: Array, weights: Array) -> tuple[Array, Array]:
    """Rows to draw and what they weigh: not too many of a class, which then weigh what all of it does."""
    rng = np.random.default_rng(0)
    rows, mass = [], []
    for side in (positive, ~positive):
        group = np.flatnonzero(side & (weights > 0))
        kept = group if len(group) <= MOST_ROWS else np.sort(rng.choice(group, MOST_ROWS, replace=False))
        rows.append(kept)
        mass.append(weights[kept] * (weights[group].sum() / weights[kept].sum()))
    order = np.argsort(np.concatenate(rows))
    return np.concatenate(rows)[order], np.concatenate(mass)[order]


def _cumulative(margins: Array, weights: Array) -> tuple[Array, Array]:
    """The steps of a distribution, from -1 to 1."""
    order = np.argsort(margins, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    x = margins[order]
    last = np.append(np.diff(x) > 0, True)  # of equal margins the last has the height of all
    steps, heights = np.concatenate(([-1.0], x[last], [1.0])), np.concatenate(([0.0], share[last], [1.0]))
    # with both ends of every step, so that straight lines draw them
    return np.repeat(steps, 2)[1:], np.repeat(heights, 2)[:-1]
