"""Measures, and the distribution of the weights, over the boosting rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.staged_curves import StagedCurve, over_fits, staged_curve
from skewboost.metrics.measures import MEASURES
from skewboost.names import literal, shown
from skewboost.plots.display import (
    NARROW,
    UNBOUNDED,
    WIDE,
    ResultDisplay,
    check_measures,
    draw_by_round,
    legend_beside,
    limit_measures,
    marker_positions,
    new_axes,
    scale_rounds,
)
from skewboost.plots.style import BLUE, GREY, RED, look


@dataclass(eq=False, repr=False)
class StagedCurveDisplay(ResultDisplay):
    """Measures over the boosting rounds: the mean over fits, and a band of two standard deviations to either side.

    A single measure is blue and dashed on the training rows, and red and solid on the test rows. Several measures
    differ by colour and marker, and dashes are the training rows.

    Parameters
    ----------
    curve : StagedCurve
        The result of `skewboost.evaluate.staged_curve`.
    measures : str or list of str, default="error"
        The measures to draw.
    parts : sequence of {"train", "test"}, default=("train", "test")
        The rows to draw them for.
    log : bool, default=False
        Whether the axis of rounds is logarithmic, which gives more room to the first rounds.
    bands : bool or None, default=None
        Whether to draw mean ± 2s. None means only for up to two curves, since more bands hide each other.

    Attributes
    ----------
    lines_ : dict of (measure, part) to matplotlib Line2D
        The curves.
    """

    curve: StagedCurve
    _: KW_ONLY
    measures: str | Sequence[str] = "error"
    parts: Sequence[str] = ("train", "test")
    log: bool = False
    bands: bool | None = None
    _compute = staticmethod(staged_curve)

    def plot(self, ax: Any = None) -> StagedCurveDisplay:
        """Draw the curves on `ax`, or on a new figure."""
        names = check_measures(self.measures)
        parts = [self.parts] if isinstance(self.parts, str) else list(self.parts)
        for name in names:
            for part in parts:
                self.curve.values(name, part)  # raises an error for unknown names, before anything is drawn
        if not parts:
            raise InputError("parts is empty. Pass 'train', 'test' or both.")
        n_curves, alone = len(names) * len(parts), len(names) == 1
        ax = new_axes(ax, WIDE if n_curves > 2 else NARROW)
        bands = n_curves <= 2 if self.bands is None else self.bands
        self.lines_ = {}
        for k, name in enumerate(names):
            for part in parts:
                self.lines_[name, part] = self._draw(ax, k, name, part, alone, len(parts) == 1, bands)
        words = [MEASURES[name].label for name in names]
        ax.set_ylabel(words[0] if alone else "loss" if set(names) <= set(UNBOUNDED) else "rate")
        scale_rounds(ax, self.log)
        if set(names) == {"exponential_loss"}:
            ax.set_yscale("log")  # where a band may reach below zero
            ax.set_ylim(bottom=min(float(np.nanmin(line.get_ydata())) for line in self.lines_.values()) / 3)
        else:
            limit_measures(ax, names)
        if n_curves > 2:
            legend_beside(ax)
        else:
            ax.legend(loc="best", frameon=False, fontsize="small")
        together = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        return self._finish(ax, title=literal(f"{shown(self.curve.name)}: {together} by round"))

    def _draw(self, ax: Any, k: int, name: str, part: str, alone: bool, one_part: bool, bands: bool) -> Any:
        curve, x = self.curve, self.curve.rounds
        mean, spread = curve.mean(name, part), curve.spread(name, part)
        test, own = part == "test", look(k)
        label = f"{part.replace('train', 'training')} rows"
        color, marker, dashes = (RED, "o", "-") if test else (BLUE, "s", "--")
        if not alone:
            label = f"{MEASURES[name].label}, {label}"
            color, marker = own.color, own.marker
            dashes = own.linestyle if one_part else dashes  # with one part, dashes can distinguish measures
        if bands and np.isfinite(spread).any():
            low, high = mean - 2 * spread, mean + 2 * spread
            ax.fill_between(x, low, high, color=color, alpha=0.13, lw=0)
            if alone:
                label += ", mean ± 2s"
                ax.plot(x, low, color=color, lw=0.6, ls=":")
                ax.plot(x, high, color=color, lw=0.6, ls=":")
        (line,) = ax.plot(
            x, mean, color=color, lw=1.6, ls=dashes, marker=marker, ms=5, mfc=color if test else "white", label=label,
            markevery=marker_positions(x, k + 0.5 * (not test), self.log),
        )  # fmt: skip
        return line


@dataclass(eq=False, repr=False)
class WeightQuantileDisplay(ResultDisplay):
    """Quantiles of the weights of the training examples over the boosting rounds ([cuendet2002]_ figure 3-2).

    Lower quantiles that fall mean that easy examples lose weight. If the largest weight keeps growing, the booster
    concentrates on ever fewer examples and will overfit. The display shows means over fits, of weights times the number
    of examples.

    Parameters
    ----------
    curve : StagedCurve
        The result of `skewboost.evaluate.staged_curve` for a booster of skewboost.
    log : bool, default=False
        Whether the axis of rounds is logarithmic; that of weights always is.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        A curve per quantile, the lowest first.

    References
    ----------
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002).
    """

    curve: StagedCurve
    _: KW_ONLY
    log: bool = False
    _compute = staticmethod(staged_curve)

    def plot(self, ax: Any = None) -> WeightQuantileDisplay:
        """Draw the quantiles on `ax`, or on a new figure."""
        if self.curve.weight_quantiles is None:
            raise InputError(
                f"curve: the weights of {self.curve.name} are not known. Pass the curve of a two-class booster of "
                "skewboost; see skewboost.catalogue()."
            )
        ax = new_axes(ax, WIDE)
        means, names = over_fits(self.curve.weight_quantiles)[0], {0.5: "median", 1.0: "largest"}
        levels = [names.get(level, f"{level:.0%} quantile") for level in self.curve.weight_levels]
        self.lines_ = list(draw_by_round(ax, dict(zip(levels, means.T)), self.curve.rounds, self.log).values())
        ax.axhline(1.0, color=GREY, lw=0.8, zorder=0)
        ax.set_yscale("log")
        ax.set_ylabel("weight × number of examples")
        legend_beside(ax, reverse=True)  # in the order of the curves
        return self._finish(ax, title=literal(f"{shown(self.curve.name)}: quantiles of the weights"))
