"""Measures against costs, noise or imbalance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.sweep_result import CostSweep, Sweep
from skewboost.evaluate.sweeps import cost_sweep, imbalance_sweep, noise_sweep
from skewboost.metrics.measures import MEASURES
from skewboost.names import literal, quoted, shown, side_by_side, visible
from skewboost.plots.learning_curve_display import WIDE, bound, legend
from skewboost.plots.style import GREY, axes_for, look, tidy
from skewboost.typing import Array

LONGEST = 32  # letters of a name in the legend
WIDE_RANGE = 10.0  # levels that span more than this factor are on a logarithmic scale


class SweepDisplay:
    """A measure against the level of noise or imbalance, a curve per estimator, with bars of mean ± 2s.

    Parameters
    ----------
    sweep : Sweep
        What `skewboost.evaluate.noise_sweep` or `imbalance_sweep` returns.
    measure : str, default="f1"
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    lines_ : dict of str to matplotlib Line2D
        The curve of each estimator.
    """

    def __init__(self, sweep: Sweep, *, measure: str = "f1") -> None:
        self.sweep = sweep
        self.measure = measure

    @classmethod
    def from_estimator(
        cls, estimators: Any, X: Any, y: Any, *, of: str = "noise", measure: str = "f1", ax: Any = None, **how: Any
    ) -> SweepDisplay:
        """Sweep over "noise" or "imbalance" and draw; `how` is handed to the function of `skewboost.evaluate`."""
        sweeps: dict[str, Callable[..., Sweep]] = {"noise": noise_sweep, "imbalance": imbalance_sweep}
        if of not in sweeps:
            raise InputError(f"of={of!r} must be 'noise' or 'imbalance'.")
        return cls(sweeps[of](estimators, X, y, **how), measure=measure).plot(ax=ax)

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        sweep = self.sweep
        means = {name: sweep.mean(self.measure, name) for name in sweep.estimators}
        ax = axes_for(ax, WIDE)
        self.lines_ = {}
        _scale_levels(ax, sweep.levels)
        labels = [quoted(name) if name.startswith("_") else name for name in side_by_side(means, LONGEST)]
        for k, (name, mean) in enumerate(means.items()):
            own, spread = look(k), sweep.spread(self.measure, name)
            x = _apart(ax, sweep.levels, k, len(means))
            if np.isfinite(spread).any():
                ax.errorbar(x, mean, 2 * spread, fmt="none", ecolor=own.color, elinewidth=0.8, capsize=2, alpha=0.6)
            (self.lines_[name],) = ax.plot(
                x, mean, color=own.color, ls=own.linestyle, marker=own.marker, lw=1.6, ms=5.5, label=literal(labels[k])
            )
        _set_ticks(ax, sweep.levels, percent="share" in sweep.what)
        ax.set_xlabel(literal(visible(sweep.what)))
        ax.set_ylabel(MEASURES[self.measure].label)
        topic = "label noise" if "flipped" in sweep.what else "rarer positives"
        several = f", mean ± 2s of {sweep.n_fits} fits" if sweep.n_fits > 1 else ""
        ax.set_title(
            f"What {topic} in training does to {MEASURES[self.measure].label}{several}", loc="left", fontsize="medium"
        )
        bound(ax, [self.measure])
        legend(ax, aside=True)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class CostSweepDisplay:
    """Precision, recall and F1 against what the estimator was told a miss costs ([1]_ figures 3.4 and 3.6).

    Parameters
    ----------
    sweep : CostSweep
        What `skewboost.evaluate.cost_sweep` returns.
    measures : str or sequence of str, default=("precision", "recall", "f1")
        What to draw.
    pooled : bool, default=True
        Whether of the counts of all folds together; else means over folds with bars of ± 2s.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    lines_ : dict of str to matplotlib Line2D
        The curve of each measure.

    References
    ----------
    .. [1] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
       München (2010).
    """

    def __init__(
        self, sweep: CostSweep, *, measures: str | Sequence[str] = ("precision", "recall", "f1"), pooled: bool = True
    ) -> None:
        self.sweep = sweep
        self.measures = measures
        self.pooled = pooled

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        measures: str | Sequence[str] = ("precision", "recall", "f1"),
        pooled: bool = True,
        ax: Any = None,
        **how: Any,
    ) -> CostSweepDisplay:
        """Sweep and draw; `how` is handed to `skewboost.evaluate.cost_sweep`."""
        return cls(cost_sweep(estimator, X, y, **how), measures=measures, pooled=pooled).plot(ax=ax)

    def plot(self, ax: Any = None) -> CostSweepDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        sweep = self.sweep
        names = [self.measures] if isinstance(self.measures, str) else list(self.measures)
        if not names:
            raise InputError("measures is empty: name one at least.")
        values = {n: sweep.pooled(n) if self.pooled else sweep.mean(n) for n in names}
        ax = axes_for(ax, WIDE)
        self.lines_ = {}
        _scale_levels(ax, sweep.levels)
        for k, (name, y) in enumerate(values.items()):
            own = look(k)
            x = sweep.levels if self.pooled else _apart(ax, sweep.levels, k, len(names))
            if not self.pooled and sweep.n_fits > 1:
                ax.errorbar(
                    x, y, 2 * sweep.spread(name), fmt="none", ecolor=own.color, elinewidth=0.8, capsize=2, alpha=0.6
                )
            (self.lines_[name],) = ax.plot(
                x, y, color=own.color, ls=own.linestyle, marker=own.marker, lw=1.6, ms=5.5, label=MEASURES[name].label
            )
        if "f1" in values and np.isfinite(values["f1"]).any():
            best = sweep.levels[int(np.nanargmax(values["f1"]))]
            ax.axvline(best, color=GREY, lw=0.8, zorder=0, label=f"best F1 at {best:g}")
        _set_ticks(ax, sweep.levels)
        ax.set_xlabel(literal(visible(sweep.what)))
        ax.set_ylabel("share" if len(names) > 1 else MEASURES[names[0]].label)
        how = "all folds pooled" if self.pooled else "mean ± 2s over folds"
        told = "costs" if sweep.what.startswith("cost of") else f"values of {visible(sweep.param)}"
        ax.set_title(literal(f"{shown(sweep.estimators[0])} at several {told}, {how}"), loc="left", fontsize="medium")
        bound(ax, names)
        legend(ax, aside=True)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _scale_levels(ax: Any, levels: Array) -> None:
    """Set the scale of the levels: logarithmic where they span a wide range, and with room for a zero."""
    positive = levels[levels > 0]
    if len(positive) and levels.min() >= 0 and levels.max() / positive.min() > WIDE_RANGE:
        if levels.min() > 0:
            ax.set_xscale("log")
        else:
            ax.set_xscale("symlog", linthresh=float(positive.min()))


def _places(ax: Any, levels: Array) -> Array:
    """Where the levels are on the axis, from left to right."""
    return np.asarray(ax.xaxis.get_transform().transform(levels))


def _apart(ax: Any, levels: Array, k: int, n: int) -> Array:
    """The levels moved a little, so that the bars of several curves do not lie on each other."""
    if len(levels) < 2 or n < 2:
        return levels
    where = _places(ax, levels)
    moved = where + 0.006 * (where[-1] - where[0]) * (k - (n - 1) / 2)
    return np.asarray(ax.xaxis.get_transform().inverted().transform(moved))


def _set_ticks(ax: Any, levels: Array, percent: bool = False) -> None:
    """A tick at each level, as far as they do not touch."""
    from matplotlib.ticker import NullLocator

    where = _places(ax, levels)
    span, shown = max(float(where[-1] - where[0]), 1e-300), [0]
    for k in range(1, len(levels)):
        if where[k] - where[shown[-1]] >= 0.06 * span:
            shown.append(k)
    texts = [f"{100 * levels[k]:g} %" if percent else f"{levels[k]:.3g}" for k in shown]
    ax.set_xticks(levels[shown], texts)
    ax.xaxis.set_minor_locator(NullLocator())
