"""Measures against costs, label noise, imbalance or the number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from skewboost.evaluate.size_sweeps import size_sweep
from skewboost.evaluate.sweeps import CostSweep, Sweep, cost_sweep, imbalance_sweep, noise_sweep
from skewboost.metrics.measures import MEASURES
from skewboost.names import literal, quoted, shown, side_by_side, visible
from skewboost.parameters import check_arguments, one_of
from skewboost.plots.display import (
    WIDE,
    Display,
    ResultDisplay,
    check_measures,
    legend_beside,
    limit_measures,
    new_axes,
)
from skewboost.plots.style import GREY, look
from skewboost.typing import Array

LONGEST = 32  # characters of a name in the legend
EFFECTS = {"flipped": "label noise", "training rows": "fewer rows"}  # what levels in per cent are about
WIDE_RANGE = 10.0  # levels that span a larger factor are on a logarithmic scale


@dataclass(eq=False, repr=False)
class SweepDisplay(Display):
    """A measure against the level of a sweep: a curve per estimator, with bars of mean ± 2s.

    Parameters
    ----------
    sweep : Sweep
        The result of `skewboost.evaluate.noise_sweep`, `imbalance_sweep` or `size_sweep`.
    measure : str, default="f1"
        The measure to draw.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curve of each estimator.
    """

    sweep: Sweep
    _: KW_ONLY
    measure: str = "f1"

    @classmethod
    def from_estimator(
        cls, estimators: Any, X: Any, y: Any, *, of: str = "noise", measure: str = "f1", ax: Any = None, **options: Any
    ) -> SweepDisplay:
        """Sweep over "noise", "imbalance" or "size" and draw; `options` go to the function of `skewboost.evaluate`."""
        sweeps: dict[str, Callable[..., Sweep]] = {
            "noise": noise_sweep,
            "imbalance": imbalance_sweep,
            "size": size_sweep,
        }
        check_arguments(of=(of, one_of(*sweeps)))
        return cls(sweeps[of](estimators, X, y, **options), measure=measure).plot(ax)

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw the curves on `ax`, or on a new figure."""
        sweep, name = self.sweep, MEASURES[self.measure].label
        means = {estimator: sweep.mean(self.measure, estimator) for estimator in sweep.estimators}
        spreads = [sweep.spread(self.measure, estimator) for estimator in sweep.estimators]
        # Matplotlib leaves names that start with "_" out of legends
        labels = [quoted(label) if label.startswith("_") else label for label in side_by_side(means, LONGEST)]
        ax = new_axes(ax, WIDE)
        effect = next((effect for words, effect in EFFECTS.items() if words in sweep.what), "rarer positives")
        self.lines_ = _draw(
            ax, sweep, means, spreads, [literal(label) for label in labels], percent=effect in EFFECTS.values()
        )
        ax.set_ylabel(name)
        limit_measures(ax, [self.measure])
        legend_beside(ax)
        fits = f"{sweep.n_fits} fits" if sweep.complete else "the finished fits"
        several = f", mean ± 2s of {fits}" if sweep.n_fits > 1 else ""
        title = f"Effect of {effect} in training on {name}{several}"
        return self._finish(ax, title=title)


@dataclass(eq=False, repr=False)
class CostSweepDisplay(ResultDisplay):
    """Precision, recall and F1 against the cost of a miss in training ([nyga2010]_ figures 3.4 and 3.6).

    Parameters
    ----------
    sweep : CostSweep
        The result of `skewboost.evaluate.cost_sweep`.
    measures : str or sequence of str, default=("precision", "recall", "f1")
        The measures to draw.
    pooled : bool, default=True
        Whether measures are computed from the counts of all folds together; else they are means over folds with bars
        of ± 2s.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curve of each measure.

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010).
    """

    sweep: CostSweep
    _: KW_ONLY
    measures: str | Sequence[str] = ("precision", "recall", "f1")
    pooled: bool = True
    _compute = staticmethod(cost_sweep)

    def plot(self, ax: Any = None) -> CostSweepDisplay:
        """Draw the curves on `ax`, or on a new figure."""
        sweep, names = self.sweep, check_measures(self.measures)
        values = {n: sweep.pooled(n) if self.pooled else sweep.mean(n) for n in names}
        spreads = None if self.pooled else [sweep.spread(n) for n in names]
        ax = new_axes(ax, WIDE)
        self.lines_ = _draw(ax, sweep, values, spreads, [MEASURES[n].label for n in names])
        if "f1" in values and np.isfinite(values["f1"]).any():
            best = sweep.levels[int(np.nanargmax(values["f1"]))]
            ax.axvline(best, color=GREY, lw=0.8, zorder=0, label=f"best F1 at {best:g}")
        ax.set_ylabel("rate" if len(names) > 1 else MEASURES[names[0]].label)
        limit_measures(ax, names)
        legend_beside(ax)
        folds = "all folds pooled" if self.pooled else "mean ± 2s over folds"
        levels = "costs" if sweep.what.startswith("cost of") else f"values of {visible(sweep.param)}"
        return self._finish(ax, title=literal(f"{shown(sweep.estimators[0])} at several {levels}, {folds}"))


def _draw(
    ax: Any, sweep: Sweep, curves: dict[str, Array], spreads: Any, labels: Sequence[str], percent: bool = False
) -> dict[str, Any]:
    """Draw curves over the levels, with bars of ± 2s unless `spreads` is None, and return their lines."""
    lines = {}
    _scale_levels(ax, sweep.levels)
    for k, (name, y) in enumerate(curves.items()):
        own, x = look(k), sweep.levels
        if spreads is not None:
            x = _shifted(ax, sweep.levels, k, len(curves))
            if np.isfinite(spreads[k]).any():
                bars = {"fmt": "none", "elinewidth": 0.8, "capsize": 2, "alpha": 0.6}
                ax.errorbar(x, y, 2 * spreads[k], ecolor=own.color, **bars)
        style = {"color": own.color, "ls": own.linestyle, "marker": own.marker, "lw": 1.6, "ms": 5.5}
        (lines[name],) = ax.plot(x, y, label=labels[k], **style)
    _set_ticks(ax, sweep.levels, percent)
    ax.set_xlabel(literal(visible(sweep.what)))
    return lines


def _scale_levels(ax: Any, levels: Array) -> None:
    """Use a logarithmic axis if the levels span a wide range, with room for zero."""
    positive = levels[levels > 0]
    if len(positive) and levels.min() >= 0 and levels.max() / positive.min() > WIDE_RANGE:
        if levels.min() > 0:
            ax.set_xscale("log")
        else:
            ax.set_xscale("symlog", linthresh=float(positive.min()))


def _shifted(ax: Any, levels: Array, k: int, n: int) -> Array:
    """Shift the levels of the k-th curve a little, so that the bars of several curves do not overlap."""
    if len(levels) < 2 or n < 2:
        return levels
    transform = ax.xaxis.get_transform()
    where = transform.transform(levels)
    shifted = where + 0.006 * (where[-1] - where[0]) * (k - (n - 1) / 2)
    return np.asarray(transform.inverted().transform(shifted))


def _set_ticks(ax: Any, levels: Array, percent: bool) -> None:
    """Put a tick at each level that is far enough from the one before."""
    from matplotlib.ticker import NullLocator

    where = np.asarray(ax.xaxis.get_transform().transform(levels))
    span, ticks = max(float(where[-1] - where[0]), 1e-300), [0]
    for k in range(1, len(levels)):
        if where[k] - where[ticks[-1]] >= 0.06 * span:
            ticks.append(k)
    ax.set_xticks(levels[ticks], [f"{100 * levels[k]:g} %" if percent else f"{levels[k]:.3g}" for k in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
