"""Where the decisions of boosters change along a feature, over the boosting rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.engine.table import Nominal
from skewboost.errors import InputError
from skewboost.metrics.targets import check_sample_weight
from skewboost.names import literal, quoted, side_by_side, visible
from skewboost.parameters import Check, check_arguments, integer, number, optional
from skewboost.plots.display import NARROW, WIDE, Display, legend_beside, marker_positions, new_axes, scale_rounds
from skewboost.plots.display_inputs import check_classifier
from skewboost.plots.feature_columns import FeatureColumns, axis_values
from skewboost.plots.style import INK, look
from skewboost.typing import Array

LONGEST = 32  # characters of a name
FINITE = Check(number(-np.inf, None, open_low=True).passes, "a finite number")
REFINEMENTS, PARTS = 3, 16  # how often a cell in which a decision changes is divided, and into how many


@dataclass(eq=False, repr=False, kw_only=True)
class StagedBoundaryDisplay(Display):
    r"""The decision boundary along one feature after each round, for one or several boosters ([masnadi2007]_ figure 3).

    A curve that reaches the optimum and stays there belongs to a booster whose decisions suit the costs. For two normal
    distributions with variance 1 and means -1 and 1 the optimum is :math:`x^* = -\frac12 \ln(C_1 / C_2)`, where
    :math:`C_1` is the cost of a miss and :math:`C_2` that of a false alarm.

    The decision of a booster can change more than once along the feature, or nowhere. The curve is then at the change
    that, if it were the only one, would leave the most examples with the decision that they have (the lowest one in a
    tie). The other changes are dots in the same colour. After rounds without any change the curve has a gap.

    Parameters
    ----------
    changes : dict of str to list of ndarray
        For each booster the positions, in ascending order, where its decision changes after each round.
    boundaries : dict of str to ndarray of shape (n_rounds,)
        The position of the curve of each booster after each round, which is one of its `changes`; NaN without any.
    feature : str
        The name of the feature.
    optimum : float or None, default=None
        The best boundary, if it is known.
    note : str, default=""
        A remark on the other features.
    log : bool, default=False
        Whether the axis of rounds is logarithmic, which gives more room to the first rounds.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curve of each booster.

    References
    ----------
    .. [masnadi2007] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", Technical Report SVCL-TR 2007/06,
       University of California, San Diego (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost import CSAdaBoostClassifier, CSB2Classifier
    >>> from skewboost.datasets import make_two_gaussians
    >>> from skewboost.plots import StagedBoundaryDisplay
    >>> X, y = make_two_gaussians(1000)
    >>> kinds = {"CSAda": CSAdaBoostClassifier, "CSB2": CSB2Classifier}
    >>> boosters = {name: kind(cost=5, n_estimators=10).fit(X, y) for name, kind in kinds.items()}
    >>> display = StagedBoundaryDisplay.from_estimator(boosters, X, optimum=-0.5 * np.log(5))
    >>> print(display.boundaries["CSAda"].shape)
    (10,)
    """

    changes: dict[str, list[Array]]
    boundaries: dict[str, Array]
    feature: str
    optimum: float | None = None
    note: str = ""
    log: bool = False

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        X: Any,
        *,
        feature: Any = None,
        optimum: float | None = None,
        sample_weight: Any = None,
        grid: int = 500,
        log: bool = False,
        ax: Any = None,
    ) -> StagedBoundaryDisplay:
        """Draw fitted boosters.

        Parameters
        ----------
        estimators : booster, list of boosters or dict of name to booster
            Fitted classifiers with `staged_predict`. With more than two classes, a boundary is where the predicted
            class changes.
        X : table of shape (n_samples, n_features)
            Rows with all features of the boosters. They give the range of the feature, and the medians or most frequent
            categories at which all other features are held.
        feature : name or index of a column of numbers, or None, default=None
            The feature. None means the one with the largest `feature_importances_` of the first booster, or the first
            column if there are no importances.
        optimum : float or None, default=None
            The best boundary, drawn as a horizontal line.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The weights of the rows, for the choice among several changes.
        grid : int, default=500
            The number of equidistant positions, and of quantiles of the feature, between which changes are looked for.
            Two changes between the same neighbours can be missed.
        log : bool, default=False
            Whether the axis of rounds is logarithmic.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a new figure.
        """
        check_arguments(grid=(grid, integer(2)), optimum=(optimum, optional(FINITE)))
        boosters = _named(estimators)
        for booster in boosters.values():
            check_classifier(booster, "staged_predict", argument="estimators")
        table = FeatureColumns(X)
        j = _feature(next(iter(boosters.values())), table, feature)
        values = np.asarray(table.column(j), dtype=np.float64)
        weights = np.ones(len(values)) if sample_weight is None else check_sample_weight(sample_weight, len(values))
        known = ~np.isnan(values) & (weights > 0)
        values, weights = values[known], weights[known]
        line = np.union1d(axis_values(values, grid)[0], np.quantile(values, np.linspace(0, 1, grid)))
        changes, boundaries = {}, {}
        for name, booster in boosters.items():
            positions, classes = _staged_classes(booster, table, j, line)
            changes[name], left_and_right = _changes(positions, classes)
            pairs = zip(changes[name], left_and_right)
            boundaries[name] = np.array([_main_change(at, sides, values, weights) for at, sides in pairs])
        display = cls(
            changes=changes, boundaries=boundaries, feature=table.names[j],
            optimum=None if optimum is None else float(optimum), note=table.constant_features([j]), log=log,
        )  # fmt: skip
        return display.plot(ax)

    def plot(self, ax: Any = None) -> StagedBoundaryDisplay:
        """Draw the curves on `ax`, or on a new figure."""
        alone = len(self.boundaries) == 1
        ax = new_axes(ax, NARROW if alone and self.optimum is None else WIDE)
        if self.optimum is not None:
            ax.axhline(self.optimum, color=INK, lw=1.0, zorder=1, label=f"optimum, {self.optimum:.4g}")
        self.lines_ = {}
        labels = [quoted(name) if name.startswith("_") else name for name in side_by_side(self.boundaries, LONGEST)]
        for k, (name, label) in enumerate(zip(self.boundaries, labels)):
            self.lines_[name] = self._draw(ax, k, name, label)
        scale_rounds(ax, self.log)
        n = max(map(len, self.boundaries.values()))  # gaps are part of the picture, also at the ends
        ax.set_xlim((n**-0.04, n**1.04) if self.log and n > 1 else (0.96 - 0.04 * n, 1.04 * n))
        if self.optimum is None and all(np.isnan(boundary).all() for boundary in self.boundaries.values()):
            ax.set_yticks([])
        (feature,) = side_by_side([self.feature], 40)
        ax.set_ylabel(literal(f"boundary: {feature}"))
        if not alone or self.optimum is not None:
            legend_beside(ax)
        name = f"{labels[0]}: decision" if alone else "Decision"
        title = "\n".join(filter(None, (f"{name} boundary by round", visible(self.note), self._remark())))
        return self._finish(ax, title=literal(title))

    def _draw(self, ax: Any, k: int, name: str, label: str) -> Any:
        """Draw the curve of a booster, and dots for its other changes."""
        own, boundary = look(k), self.boundaries[name]
        rounds = np.arange(1, len(boundary) + 1)
        there = np.pad(~np.isnan(boundary), 1)
        lonely = there[1:-1] & ~there[:-2] & ~there[2:]  # no line leads to them
        changes = zip(rounds, self.changes[name], boundary, lonely)
        dots = [(m, x) for m, at, main, alone in changes for x in at if x != main or alone]
        if dots:
            ax.plot(*zip(*dots), ls="none", marker=".", ms=3, color=own.color, alpha=0.6, zorder=2)
        missing = ", nowhere" if np.isnan(boundary).all() else ""
        (line,) = ax.plot(
            rounds, boundary, color=own.color, ls=own.linestyle, lw=1.6, marker=own.marker, ms=5, zorder=3,
            label=literal(label) + missing, markevery=marker_positions(rounds, k / 2, self.log),
        )  # fmt: skip
        return line

    def _remark(self) -> str:
        """What the dots and the gaps are, if there are any."""
        remarks = []
        if any(len(at) > 1 for changes in self.changes.values() for at in changes):
            remarks.append("dots: further changes")
        if any(np.isnan(boundary).any() for boundary in self.boundaries.values()):
            remarks.append("gap: one class everywhere")
        return "; ".join(remarks)


def _named(estimators: Any) -> dict[str, Any]:
    """Boosters by name."""
    if isinstance(estimators, Mapping):
        found = {str(name): booster for name, booster in estimators.items()}
    else:
        given = list(estimators) if isinstance(estimators, Sequence) else [estimators]
        names = [type(booster).__name__.removesuffix("Classifier") for booster in given]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError(f"estimators: two are called {twice[0]!r}.", "Name them: pass a dict {name: booster}.")
        found = dict(zip(names, given))
    if not found:
        raise InputError("estimators is empty.", "Pass a fitted booster, a list of them, or a dict {name: booster}.")
    return found


def _feature(booster: Any, table: FeatureColumns, feature: Any) -> int:
    """The index of the feature, a column of numbers."""
    if feature is None:
        importances = getattr(booster, "feature_importances_", ())
        feature = int(np.argmax(importances)) if np.shape(importances) == (table.n_features,) else 0
    j = table.index(feature, "feature")
    if isinstance(table.column(j), Nominal):
        raise InputError(f"feature={feature!r} is a column of categories. Pass a column of numbers.")
    return j


def _staged_classes(booster: Any, table: FeatureColumns, j: int, line: Array) -> tuple[Array, Array]:
    """Positions along a feature, and the numbers of the predicted classes there: ``[round, position]``.

    Where the prediction of any round changes, the positions are dense.
    """

    def predicted(at: Array) -> Array:
        rows = table.grid({j: at}, len(at))
        return np.array([np.searchsorted(booster.classes_, labels) for labels in booster.staged_predict(rows)])

    classes = predicted(line)
    for _ in range(REFINEMENTS):
        cells = np.flatnonzero((classes[:, 1:] != classes[:, :-1]).any(axis=0))
        if not len(cells):
            break
        inside = np.linspace(line[cells], line[cells + 1], PARTS + 1)[1:-1].T.ravel()
        line, first = np.unique(np.concatenate((line, inside)), return_index=True)
        classes = np.concatenate((classes, predicted(inside)), axis=1)[:, first]
    return line, classes


def _changes(positions: Array, classes: Array) -> tuple[list[Array], list[Array]]:
    """Where the class changes in each round, and the classes from left to right."""
    middles = 0.5 * positions[1:] + 0.5 * positions[:-1]
    where = [np.flatnonzero(row[1:] != row[:-1]) for row in classes]
    return [middles[at] for at in where], [row[[0, *(at + 1)]] for row, at in zip(classes, where)]


def _main_change(at: Array, classes: Array, values: Array, weights: Array) -> float:
    """The change that, alone, would leave the most examples with their class; NaN if there is none."""
    if len(at) < 2:
        return float(at[0]) if len(at) else np.nan
    part = np.bincount(np.searchsorted(at, values), weights, minlength=len(at) + 1)
    kept = [
        part[: k + 1][classes[: k + 1] == classes[k]].sum() + part[k + 1 :][classes[k + 1 :] == classes[k + 1]].sum()
        for k in range(len(at))
    ]
    return float(at[int(np.argmax(np.array(kept) >= max(kept) * (1 - 1e-12)))])
