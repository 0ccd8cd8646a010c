"""Learning curves: measures, and the distribution of the weights, from round to round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.staged_curves import StagedCurve, over_fits, staged_curve
from skewboost.metrics.measures import MEASURES
from skewboost.names import literal, shown
from skewboost.plots.style import BLUE, GREY, RED, axes_for, look, tidy
from skewboost.typing import Array

UNBOUNDED = ("cost", "exponential_loss", "log_loss")
N_MARKERS = 8
NARROW, WIDE = (7.0, 4.8), (8.4, 4.8)  # with a legend beside the axes


class LearningCurveDisplay:
    """Measures over rounds: the mean over fits, and a band of two standard deviations to either side.

    Of one measure the training rows are blue and dashed and the test rows red and solid; of several, colours and
    markers tell them apart, and dashes the rows.

    Parameters
    ----------
    curve : StagedCurve
        What `skewboost.evaluate.staged_curve` returns.
    measures : str or list of str, default="error"
        What to draw.
    parts : sequence of {"train", "test"}, default=("train", "test")
        Of which rows.
    log : bool, default=False
        Whether rounds are on a logarithmic scale, which gives the first ones room.
    bands : bool or None, default=None
        Whether to draw mean ± 2s; None: of up to two curves, as more bands hide each other.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    lines_ : dict of (measure, part) to matplotlib Line2D
        The curves.
    """

    def __init__(
        self,
        curve: StagedCurve,
        *,
        measures: str | Sequence[str] = "error",
        parts: Sequence[str] = ("train", "test"),
        log: bool = False,
        bands: bool | None = None,
    ) -> None:
        self.curve = curve
        self.measures = measures
        self.parts = parts
        self.log = log
        self.bands = bands

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        measures: str | Sequence[str] = "error",
        parts: Sequence[str] = ("train", "test"),
        log: bool = False,
        bands: bool | None = None,
        ax: Any = None,
        **how: Any,
    ) -> LearningCurveDisplay:
        """Measure and draw; `how` is handed to `skewboost.evaluate.staged_curve`."""
        curve = staged_curve(estimator, X, y, **how)
        return cls(curve, measures=measures, parts=parts, log=log, bands=bands).plot(ax=ax)

    def plot(self, ax: Any = None) -> LearningCurveDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        if not isinstance(self.measures, str | Sequence):
            raise InputError(f"measures={self.measures!r} must be the name of a measure, or a list of them.")
        names = [self.measures] if isinstance(self.measures, str) else list(self.measures)
        parts = [self.parts] if isinstance(self.parts, str) else list(self.parts)
        for name in names:
            for part in parts:
                self.curve.values(name, part)  # raises where there is none, before anything is drawn
        if not names or not parts:
            raise InputError("measures and parts must name one measure and one of 'train' and 'test' at least.")
        ax = axes_for(ax, WIDE if len(names) * len(parts) > 2 else NARROW)
        self.lines_ = {}
        bands = len(names) * len(parts) <= 2 if self.bands is None else self.bands
        for k, name in enumerate(names):
            for part in parts:
                self.lines_[name, part] = self._draw(ax, k, name, part, len(names) == 1, bands)
        one = MEASURES[names[0]].label
        ax.set_ylabel(one if len(names) == 1 else "share")
        if set(names) <= set(UNBOUNDED):
            ax.set_ylabel(one if len(names) == 1 else "loss")
        listed = [MEASURES[name].label for name in names]
        together = " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
        ax.set_title(literal(f"{shown(self.curve.name)}: {together} by round"), loc="left", fontsize="medium")
        self._scale(ax, names)
        legend(ax, aside=len(self.lines_) > 2)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, k: int, name: str, part: str, alone: bool, bands: bool) -> Any:
        curve, x = self.curve, self.curve.rounds
        mean, spread = curve.mean(name, part), curve.spread(name, part)
        own = look(k)
        color = {"train": BLUE, "test": RED}[part] if alone else own.color
        marker = {"train": "s", "test": "o"}[part] if alone else own.marker
        rows = {"train": "training rows", "test": "test rows"}[part]
        label = rows if alone else f"{MEASURES[name].label}, {rows}"
        one_part = isinstance(self.parts, str) or len(self.parts) == 1  # then dashes are free to tell measures apart
        dashes: Any = own.linestyle if one_part and not alone else {"train": "--", "test": "-"}[part]
        has_band = bands and np.isfinite(spread).any()
        if has_band:
            label += ", mean ± 2s" if alone else ""
            ax.fill_between(x, mean - 2 * spread, mean + 2 * spread, color=color, alpha=0.13, lw=0)
            if alone:
                for edge in (mean - 2 * spread, mean + 2 * spread):
                    ax.plot(x, edge, color=color, lw=0.6, ls=":")
        (line,) = ax.plot(
            x, mean, color=color, lw=1.6, ls=dashes, marker=marker, ms=5,
            mfc=color if part == "test" else "white", label=label,
            markevery=marks(x, k + (part == "train") / 2, self.log),
        )  # fmt: skip
        return line

    def _scale(self, ax: Any, names: list[str]) -> None:
        scale_rounds(ax, self.curve.rounds, self.log)
        if set(names) == {"exponential_loss"}:
            ax.set_yscale("log")  # a band may reach below zero
            ax.set_ylim(bottom=min(float(np.nanmin(line.get_ydata())) for line in self.lines_.values()) / 3)
        else:
            bound(ax, names)


class WeightQuantileDisplay:
    """How the weights of the training examples spread over rounds ([1]_ figure 3-2).

    Falling lower quantiles: the easy examples lose attention. A largest weight that climbs without end: the booster
    looks at ever fewer examples, and will overfit. Means over fits, of weights times the number of examples.

    Parameters
    ----------
    curve : StagedCurve
        What `skewboost.evaluate.staged_curve` returns for a booster of ours.
    log : bool, default=False
        Whether rounds are on a logarithmic scale; weights always are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    lines_ : list of matplotlib Line2D
        One per quantile, the lowest first.

    References
    ----------
    .. [1] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM Research
       Report RZ 3402 (2002).
    """

    def __init__(self, curve: StagedCurve, *, log: bool = False) -> None:
        self.curve = curve
        self.log = log

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, log: bool = False, ax: Any = None, **how: Any
    ) -> WeightQuantileDisplay:
        """Measure and draw; `how` is handed to `skewboost.evaluate.staged_curve`."""
        return cls(staged_curve(estimator, X, y, **how), log=log).plot(ax=ax)

    def plot(self, ax: Any = None) -> WeightQuantileDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        if self.curve.weight_quantiles is None:
            raise InputError(
                f"{self.curve.name} did not tell the weights of its rounds. Those of skewboost's two-class boosters "
                "are known; see skewboost.catalogue()."
            )
        ax = axes_for(ax, WIDE)
        means = over_fits(self.curve.weight_quantiles)[0]
        names = {0.5: "median", 1.0: "largest"}
        self.lines_ = []
        for k, level in enumerate(self.curve.weight_levels):
            own = look(k)
            (line,) = ax.plot(
                self.curve.rounds, means[:, k], color=own.color, ls=own.linestyle, lw=1.6, marker=own.marker, ms=5,
                markevery=marks(self.curve.rounds, k / 2, self.log), label=names.get(level, f"{level:.0%} quantile"),
            )  # fmt: skip
            self.lines_.append(line)
        ax.axhline(1.0, color=GREY, lw=0.8, zorder=0)
        ax.set_yscale("log")
        scale_rounds(ax, self.curve.rounds, self.log)
        ax.set_ylabel("weight × number of examples")
        ax.set_title(literal(f"{shown(self.curve.name)}: where the weight goes"), loc="left")
        legend(ax, aside=True, reverse=True)  # as they lie above each other
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def legend(ax: Any, aside: bool, reverse: bool = False) -> None:
    """Beside the axes where there are too many curves to leave room among them."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if aside else {"loc": "best"}
    ax.legend(frameon=False, fontsize="small", reverse=reverse, **place)


def marks(x: Array, shift: float, log: bool) -> list[int]:
    """At which points a curve is marked: a few, and others than its neighbours'."""
    n = len(x)
    if n <= N_MARKERS:
        return list(range(n))
    steps = (np.arange(N_MARKERS) + (0.25 + 0.2 * shift) % 1.0) / N_MARKERS
    where = n**steps - 1 if log else steps * (n - 1)
    return sorted({round(w) for w in where})


def scale_rounds(ax: Any, rounds: Array, log: bool) -> None:
    """The axis of rounds, with whole numbers on it."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("rounds")
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def bound(ax: Any, names: list[str]) -> None:
    """Shares end at 0 and 1, whatever bars say; losses at 0."""
    low, high = ax.get_ylim()
    pad = 0.02 * (high - low)
    if not set(names) & {"mcc", "savings"}:
        ax.set_ylim(bottom=max(low, -pad))
    if not set(names) & set(UNBOUNDED):
        ax.set_ylim(top=min(high, 1.0 + pad))
