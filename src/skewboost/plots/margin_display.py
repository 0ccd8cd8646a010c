"""The distribution of the margins of a booster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost

from skewboost.engine.table import take_rows
from skewboost.errors import InputError
from skewboost.evaluate.stages import largest_margins, margins_of_classes
from skewboost.metrics.inputs import read_truth
from skewboost.names import literal, side_by_side, visible
from skewboost.plots.display import Display, legend_below, new_axes
from skewboost.plots.display_inputs import (
    check_both_classes,
    check_classifier,
    class_labels,
    positive_class,
    sample_of_each,
)
from skewboost.plots.style import GREY, look
from skewboost.typing import Array

MAX_ROWS = 20_000  # of each class: such a curve is within 0.01 of the one of all rows (DKW inequality, 95 %)


@dataclass(eq=False, repr=False, kw_only=True)
class MarginDisplay(Display):
    r"""The cumulative distribution of margins, after some numbers of rounds and for each class [schapire1998]_.

    The margin of an example is the normalised difference of the votes for and against its class,

    .. math:: \frac{y F_M(x)}{\sum_{m \le M} |F_m(x) - F_{m-1}(x)|} \in [-1, 1] .

    The vote of a round is what it adds to F; the first vote includes the constant that F starts from. With more than
    two classes a round votes for each of them. The margin is the difference between the votes for the class of the
    example and the most votes for any single other class, divided by the largest difference that the votes of the
    rounds allow ([cuendet2002]_ §1.3),

    .. math:: \frac{F_{M,y}(x) - \max_{l \ne y} F_{M,l}(x)}{\sum_{m \le M} (\max_l g_{m,l}(x) - \min_l g_{m,l}(x))} ,
              \qquad g_m = F_m - F_{m-1} .

    Errors have a negative margin. More rounds make the smallest margins larger, and the largest smaller. If the curve
    of the rare class stays to the left of the others, its examples are classified less reliably.

    Parameters
    ----------
    margins : dict of int to ndarray of shape (n_rows,)
        The margins after each number of rounds.
    group : ndarray of int of shape (n_rows,)
        The number of the class of each row: its position in `labels`.
    weights : ndarray of shape (n_rows,)
        The weights of the rows.
    labels : tuple of str
        The names of the classes: the negative and the positive one, or all of more than two.
    n_classes : int, default=2
        The number of classes of the model.

    References
    ----------
    .. [schapire1998] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the
       effectiveness of voting methods", Annals of Statistics 26 (1998) 1651-1686.
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002).

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
    group: Array
    weights: Array
    labels: tuple[str, ...]
    n_classes: int = 2

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
            A fitted classifier with `staged_decision_function`, which has a column per class if there are more than
            two.
        X, y : table and labels
            The rows; from more than 20 000 of a class a random sample is taken, always the same one.
        rounds : iterable of int or None, default=None
            The numbers of rounds; None means one round, about a tenth of the rounds, and all. With a curve for each of
            more than two classes it means all.
        by_class : bool, default=True
            Whether to draw a curve for each class, or one for all.
        pos_label : label or None, default=None
            The positive class, as in `PosteriorDisplay.from_estimator`. With more than two classes, this class is drawn
            against the rest; None draws each of them.
        sample_weight, ax : as in `PosteriorDisplay.from_estimator`
            The weights of the rows, and the axes to draw on.
        """
        check_classifier(estimator, "staged_decision_function")
        classes = np.asarray(estimator.classes_)
        truth, weights = read_truth(y, X, sample_weight)
        numbers = _class_numbers(truth, classes)
        group, labels = _groups(estimator, truth, numbers, pos_label, weights)
        numbers_of_groups = range(len(labels))[::-1]  # of two, the positive one first
        rows = sample_of_each([group == k for k in numbers_of_groups], weights, MAX_ROWS)
        all_weights = np.ones(len(truth)) if weights is None else weights
        sampled, kept = all_weights[rows], group[rows]
        for k in numbers_of_groups:  # a sample has the weight of its whole class
            sampled[kept == k] *= all_weights[group == k].sum() / sampled[kept == k].sum()
        if len(rows) < len(truth):
            X = take_rows(X, rows)
        chosen = _chosen_rounds(estimator, rounds, only_last=by_class and len(labels) > 2)
        margins = _margins_after(estimator, X, numbers[rows], len(classes), chosen, rounds is not None)
        display = cls(margins=margins, group=kept, weights=sampled, labels=labels, n_classes=len(classes))
        return display.plot(ax, by_class=by_class)

    def plot(self, ax: Any = None, *, by_class: bool = True) -> MarginDisplay:
        """Draw the curves; parameters as in `from_estimator`."""
        ax = new_axes(ax, (6.4, 5.2))
        ax.axvline(0.0, color=GREY, lw=1, ls=":", zorder=1)
        groups = [(np.ones(len(self.group), dtype=np.bool_), "")]
        if by_class:
            groups = [(self.group == k, f", {label}") for k, label in enumerate(self.labels)]
        for g, (rows, name) in enumerate(groups):
            for k, (n_rounds, margins) in enumerate(self.margins.items()):
                x, fraction = _cumulative(margins[rows], self.weights[rows])
                # lines of more rounds are thicker, so that they differ without colour, too
                style = {
                    "color": look(k).color,
                    "ls": "-" if g == len(groups) - 1 else (0, (4, 2)),
                    "lw": 0.9 + 0.8 * k,
                }
                if len(groups) > 2:  # colour and dashes are those of the class
                    style = {"color": look(g).color, "ls": look(g).linestyle, "lw": 1.7 / (len(self.margins) - k)}
                label = literal(visible(f"{n_rounds} round{'s' if n_rounds != 1 else ''}{name}"))
                ax.plot(x, fraction, label=label, **style)
        last = max(self.margins)
        errors = np.average(self.margins[last] < 0, weights=self.weights)
        against = "votes against it" if self.n_classes == 2 else "the most votes for another"
        ax.set(xlim=(-1.02, 1.02), ylim=(-0.01, 1.02), xlabel=f"margin: votes for the true class minus {against}")
        ax.set_ylabel("fraction of examples with at most this margin")
        legend_below(ax, ncols=len(groups) if len(groups) < 4 else 3)
        return self._finish(ax, title=f"Errors have a negative margin: {errors:.2%} after {last} rounds")


def _class_numbers(truth: Array, classes: Array) -> Array:
    """The number of the class of each row."""
    known = classes.tolist()
    unknown = [label for label in np.unique(truth).tolist() if label not in known]
    if unknown:
        raise InputError(f"y has {unknown[0]!r}, which is not among the classes of the model, {known}.")
    return np.searchsorted(classes, truth)


def _groups(
    estimator: Any, truth: Array, numbers: Array, pos_label: Any, weights: Array | None
) -> tuple[Array, tuple[str, ...]]:
    """The number of the group of each row, and the names of the groups: two, or a class each."""
    classes = np.asarray(estimator.classes_)
    if len(classes) == 2 or pos_label is not None:
        label = positive_class(estimator, truth, pos_label, weights)
        positive = truth == label
        check_both_classes(positive, weights, label)
        return positive.astype(np.intp), class_labels(classes, label)
    present = np.unique(numbers if weights is None else numbers[weights > 0])
    group = np.searchsorted(present, numbers)  # rows of weight 0 are not drawn, whatever their number
    return group, tuple(side_by_side(classes[present].tolist(), quotes=True))


def _chosen_rounds(estimator: Any, rounds: Iterable[int] | None, only_last: bool) -> set[int]:
    """The numbers of rounds to draw; of the last of them only if it is known."""
    if rounds is None:
        n = getattr(estimator, "n_estimators_", 0) or len(getattr(estimator, "estimators_", ()))
        return {n} if only_last else {1, max(1, n // 10), n}
    chosen = set(rounds)
    if not chosen or not all(isinstance(m, int | np.integer) and m >= 1 for m in chosen):
        raise InputError(f"rounds={rounds!r} must be integers of at least 1, such as (1, 10, 100).")
    return chosen


def _margins_after(
    estimator: Any, X: Any, numbers: Array, n_classes: int, chosen: set[int], given: bool
) -> dict[int, Array]:
    """The margins of rows after each of the chosen numbers of rounds; after all rounds, too, unless these are given."""
    averaged = isinstance(estimator, SklearnAdaBoost)  # its scores are divided by the sum of the steps
    F: Any = 0.0
    largest = np.zeros(len(numbers))  # the largest possible margin so far
    margins: dict[int, Array] = {}

    def margin() -> Array:
        m = np.where(numbers == 1, 1.0, -1.0) * F if n_classes == 2 else margins_of_classes(F, numbers)
        if averaged:  # a vote of α counts α for a class and -α / (K - 1) for the others
            return m * ((n_classes - 1) / n_classes)
        return np.divide(m, largest, out=np.zeros_like(m), where=largest > 0)

    last = 0
    for last, stage in enumerate(estimator.staged_decision_function(X), 1):
        scores = np.asarray(stage, dtype=np.float64)
        before, F = F, scores.reshape(len(numbers)) if n_classes == 2 else scores
        largest += np.abs(F - before) if n_classes == 2 else largest_margins(F - before)
        if last in chosen:
            margins[last] = margin()
    if given and max(chosen) > last:
        raise InputError(f"rounds={sorted(chosen)} exceeds the {last} rounds of the model. Pass numbers up to {last}.")
    if not given and last not in margins:
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
