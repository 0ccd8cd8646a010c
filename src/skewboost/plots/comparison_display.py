"""Methods compared by their mean ranks or by their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from skewboost.errors import InputError
from skewboost.evaluate.comparison_result import Comparison
from skewboost.evaluate.rank_tests import AUTO, FRIEDMAN, Blocks, RankTest
from skewboost.metrics.measures import MEASURES
from skewboost.names import literal, side_by_side
from skewboost.parameters import check_arguments, one_of, optional
from skewboost.plots.display import Display, new_axes
from skewboost.plots.style import BLUE, GREY, INK
from skewboost.typing import Array

RANKS, VALUES = "ranks", "values"
LONGEST = 40  # characters of a name
STEP = 0.5  # between the lines of names, where the axis of ranks is at 0
FOLDS_OVERLAP = "Folds of one data set overlap, so the test finds differences too often."


@dataclass(eq=False, repr=False, kw_only=True)
class ComparisonDisplay(Display):
    r"""Ranks or values of a measure, by method.

    With ``kind="ranks"`` it is the critical difference diagram of Demšar [demsar2006]_: an axis of mean ranks, the best
    on the left, and thick bars that join methods that do not differ significantly. With ``kind="values"`` it shows the
    mean of every method with an interval, and small dots for the folds (or data sets). On folds of a single data set
    the interval is :math:`\bar v \pm t_{J-1} \sqrt{(1/J + n_{test}/n_{train}) s^2}`, which allows for their overlap
    [nadeau2003]_. Intervals of two methods may overlap although the methods differ, because easy and hard folds are the
    same for both: see `Comparison.test`.

    Parameters
    ----------
    measure : str
        The measure.
    kind : {"ranks", "values"}
        What to draw.
    methods : list of str
        The names of the methods, the best first.
    centres : array of shape (n_methods,)
        Mean ranks, or mean values.
    values : array of shape (n_blocks, n_methods) or None, default=None
        The values of the folds or data sets.
    intervals : array of shape (n_methods, 2) or None, default=None
        Lower and upper ends of the intervals.
    groups : tuple of tuples of str, default=()
        Methods that do not differ significantly.
    critical_difference : float or None, default=None
        The critical difference of mean ranks.
    note : str, default=""
        A line of text below the ranks or above the values.

    References
    ----------
    .. [demsar2006] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7 (2006) 1-30.
    .. [nadeau2003] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003) 239-281.

    Examples
    --------
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import compare
    >>> from skewboost.plots import ComparisonDisplay
    >>> comparison = compare(["CSRA", "RealBoost"], *load_rare_cancer(), cv=2, random_state=0)
    >>> display = ComparisonDisplay.from_comparison(comparison, measure="recall")
    >>> display.ax_.get_xlabel()
    'recall (higher is better)'
    """

    measure: str
    kind: str
    methods: list[str]
    centres: Array
    values: Array | None = None
    intervals: Array | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    critical_difference: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        self._names = side_by_side(self.methods, LONGEST)
        self._direction = "higher" if MEASURES[self.measure].higher_is_better else "lower"

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        *,
        measure: str = "cost",
        kind: str | None = None,
        alpha: float = 0.05,
        ax: Any = None,
    ) -> ComparisonDisplay:
        """Draw the result of `skewboost.evaluate.compare`.

        Parameters
        ----------
        comparison : Comparison
            A comparison of at least two methods.
        measure : str, default="cost"
            One of its measures.
        kind : {"ranks", "values"} or None, default=None
            What to draw; None means ranks for several data sets and values for a single one.
        alpha : float, default=0.05
            The significance level of ranks; intervals of values have the confidence level 1 - alpha.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a new figure.
        """
        check_arguments(kind=(kind, optional(one_of(RANKS, VALUES))))
        blocks = comparison.blocks(measure)
        if kind == RANKS or (kind is None and blocks.kind == "data sets"):
            several = FRIEDMAN if len(blocks.methods) > 2 else AUTO if blocks.kind == "data sets" else FRIEDMAN
            test = comparison.test(measure, method=several, alpha=alpha)
            return cls._from_ranks(test).plot(ax=ax)
        return cls._from_values(blocks, measure, alpha).plot(ax=ax)

    @classmethod
    def _from_ranks(cls, test: RankTest) -> ComparisonDisplay:
        p = "p < 0.001" if test.pvalue < 0.001 else f"p = {test.pvalue:.3f}"
        note = f"{test.name.partition(',')[0]}'s test on {test.n_blocks} {test.blocks}: {p}."
        note = note.replace("signed-rank's", "signed-rank")
        return cls(
            measure=test.measure,
            kind=RANKS,
            methods=list(test.mean_ranks),
            centres=np.array(list(test.mean_ranks.values())),
            groups=test.groups,
            critical_difference=test.critical_difference,
            note=note + (f"\n{FOLDS_OVERLAP}" if test.blocks == "folds" else ""),
        )

    @classmethod
    def _from_values(cls, blocks: Blocks, measure: str, alpha: float) -> ComparisonDisplay:
        if not blocks.values.size:
            raise InputError(f"measure={measure!r} has no fold with a value for all methods. See comparison.failures.")
        J = len(blocks.values)
        mean = blocks.values.mean(axis=0)
        order = np.argsort(-MEASURES[measure].sign * mean, kind="stable")
        intervals = None
        note = f"Mean, and the {J} {blocks.kind} in the order of time."
        if not blocks.in_order:
            note = f"Mean, its {1 - alpha:.0%} interval, and the {J} {blocks.kind}."
        if J > 1 and not blocks.in_order:  # nothing is known about the spread of means over time
            variance = (1 / J + blocks.test_to_train) * blocks.values.var(axis=0, ddof=1)
            half = stats.t.ppf(1 - alpha / 2, J - 1) * np.sqrt(variance)
            intervals = np.column_stack((mean - half, mean + half))[order]
        return cls(
            measure=measure,
            kind=VALUES,
            methods=[blocks.methods[j] for j in order],
            centres=mean[order],
            values=blocks.values[:, order],
            intervals=intervals,
            note=note,
        )

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Draw the comparison on `ax`, or on a new figure."""
        if self.kind == RANKS:
            ax = new_axes(ax, self._size_of_ranks())
            self._draw_ranks(ax)
        else:
            ax = new_axes(ax, (7.0, 1.4 + 0.32 * len(self.methods)))
            self._draw_values(ax)
        return self._finish(ax)

    def _size_of_ranks(self) -> tuple[float, float]:
        """The size of a figure with names on both sides of the axis of ranks."""
        k, left = len(self.methods), (len(self.methods) + 1) // 2
        width = sum(max(map(len, side), default=0) + 6 for side in (self._names[:left], self._names[left:]))
        return max(7.0, max(3.6, 0.32 * k) + 0.095 * width), 1.6 + 0.16 * len(self.groups) + 0.27 * left

    def _draw_ranks(self, ax: Any) -> None:
        k = len(self.methods)
        levels = _levels([(self._rank(group[0]), self._rank(group[-1])) for group in self.groups])
        names_at = 0.45 + 0.28 * (1 + max(levels, default=0)) if self.groups else 0.6
        margin = 0.04 * (k - 1)
        self._draw_scale(ax, k)
        for group, level in zip(self.groups, levels):
            ends = (self._rank(group[0]) - 0.4 * margin, self._rank(group[-1]) + 0.4 * margin)
            y = 0.35 + 0.28 * level
            ax.plot(ends, (y, y), color=INK, lw=4, solid_capstyle="round", clip_on=False, gid="group", zorder=3)
        left = (k + 1) // 2
        for i, (method, rank) in enumerate(zip(self._names, self.centres)):
            on_left = i < left
            y = names_at + STEP * (i if on_left else k - 1 - i)
            edge, side = (1 - margin, "right") if on_left else (k + margin, "left")
            ax.plot((rank, rank, edge), (0, y, y), color=INK, lw=1, clip_on=False, gid="method", zorder=1)
            text = f"{method}  {rank:.2f}" if on_left else f"{rank:.2f}  {method}"
            gap = -0.3 * margin if on_left else 0.3 * margin
            ax.text(edge + gap, y, literal(text), ha=side, va="center", color=INK)
        ax.plot(self.centres, np.zeros(k), "o", color=BLUE, ms=5, ls="", clip_on=False, zorder=4)
        bottom = names_at + STEP * (left - 1)
        if self.note:
            ax.text((k + 1) / 2, bottom + 0.5, self.note, ha="center", va="top", fontsize="small", color=INK)
        ax.set_xlim(1, k)
        ax.set_ylim(bottom + 0.4, -1.2 if self.critical_difference is not None else -0.2)
        label = MEASURES[self.measure].label
        ax.set_title(f"Mean rank by {label} ({self._direction} is better; rank 1 is best)", pad=14)

    def _draw_scale(self, ax: Any, k: int) -> None:
        """The axis of ranks, and the critical difference above it."""
        ax.plot((1, k), (0, 0), color=INK, lw=1.2, clip_on=False)
        for rank in range(1, k + 1):
            ax.plot((rank, rank), (-0.12, 0), color=INK, lw=1.2, clip_on=False)
            if k <= 10 or rank % 2:  # there is no room for more numbers of two digits
                ax.text(rank, -0.2, str(rank), ha="center", va="bottom", color=INK)
        cd = self.critical_difference
        if cd is not None:
            end = min(1 + cd, k)
            fits = 1 + cd <= k
            ax.plot((1, end), (-0.85, -0.85), color=INK, lw=1.5, marker="|", ms=8, clip_on=False, gid="cd")
            text = f"critical difference {cd:.2f}" + ("" if fits else " (longer than the axis)")
            ax.text(1, -1.0, text, ha="left", va="bottom", fontsize="small", color=INK)
        ax.axis("off")

    def _rank(self, method: str) -> float:
        return float(self.centres[self.methods.index(method)])

    def _draw_values(self, ax: Any) -> None:
        y = np.arange(len(self.methods))
        if self.values is not None:
            J = len(self.values)
            spread = 0.24 * (np.arange(J) / max(J - 1, 1) - 0.5)
            for j in y:  # spread vertically, so that equal values are visible
                ax.plot(self.values[:, j], j + spread, "o", mfc="none", mec=GREY, ms=4, ls="", zorder=1, gid="block")
        if self.intervals is not None:
            ax.hlines(y, self.intervals[:, 0], self.intervals[:, 1], color=INK, lw=2, zorder=2)
        ax.plot(self.centres, y, "D", color=BLUE, mec=INK, ms=7, ls="", zorder=3, gid="mean")
        ax.set_yticks(y, list(map(literal, self._names)))
        ax.set_ylim(len(self.methods) - 0.5, -0.5)
        ax.set_xlabel(f"{MEASURES[self.measure].label} ({self._direction} is better)")
        ax.set_title(self.note, loc="left", fontsize="small")
        ax.grid(axis="y", color="#eeeeee", zorder=0)
        ax.set_axisbelow(True)


def _levels(spans: list[tuple[float, float]]) -> list[int]:
    """The line of each bar, such that no two bars touch."""
    ends: list[float] = []
    levels = []
    for start, end in spans:
        level = next((k for k, last in enumerate(ends) if last < start), len(ends))
        ends[level : level + 1] = [end]
        levels.append(level)
    return levels
