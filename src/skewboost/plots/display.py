"""What all displays share: the base classes, axes, legends, and the axis of rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from skewboost.errors import InputError
from skewboost.plots.style import import_pyplot, look
from skewboost.typing import Array

UNBOUNDED = ("cost", "exponential_loss", "log_loss")  # measures that may exceed 1
N_MARKERS = 8  # on a long curve
NARROW, WIDE = (7.0, 4.8), (8.4, 4.8)  # figure sizes; WIDE has room for a legend beside the axes


class Display:
    """Base class of the displays.

    Attributes
    ----------
    ax_, axes_, figure_ : matplotlib Axes, list of matplotlib Axes, and Figure
        Where the display was drawn; `ax_` is the first of `axes_`.
    """

    def _finish(self, *axes: Any, title: str | None = None, frame: bool = False) -> Self:
        """Remember the axes, set the title of the first, and remove the upper and right edges unless `frame`."""
        self.axes_ = list(axes)
        self.ax_, self.figure_ = axes[0], axes[0].figure
        for ax in axes:
            ax.spines[["top", "right"]].set_visible(frame)
        if title is not None:
            self.ax_.set_title(title, loc="left", size="medium")
        return self

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        raise NotImplementedError


class ResultDisplay(Display):
    """Base class of the displays whose first field is a result of `skewboost.evaluate`."""

    _compute: ClassVar[Callable[..., Any]]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Compute the result and draw it.

        Parameters
        ----------
        estimator, X, y
            What the function of `skewboost.evaluate` takes.
        ax : matplotlib Axes or None, default=None
            The axes to draw on; None makes a new figure.
        **options
            Parameters of this display, and of the function.
        """
        made: Any = cls  # a dataclass, which type checkers do not know here
        own = {field.name: options.pop(field.name) for field in fields(made) if field.name in options}
        display: Self = made(cls._compute(estimator, X, y, **options), **own)
        return display.plot(ax)


def new_axes(ax: Any, figsize: tuple[float, float] = NARROW) -> Any:
    """Return the axes that the user passed, or those of a new figure."""
    if ax is None:
        _, ax = import_pyplot().subplots(figsize=figsize, layout="constrained")
    return ax


def check_measures(measures: Any) -> list[str]:
    """Return the measures to draw as a list of names."""
    names = [measures] if isinstance(measures, str) else list(measures) if isinstance(measures, Sequence) else None
    if not names:
        raise InputError(f"measures={measures!r} must be the name of a measure, or a list with at least one name.")
    return names


def legend_below(ax: Any, *, ncols: int = 1, drop: float = 0.48, **options: Any) -> Any:
    """Draw a legend `drop` inches below the axes, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    below = ax.transAxes + ScaledTranslation(0.0, -drop, ax.get_figure().dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below, "borderaxespad": 0.0}
    return ax.legend(frameon=False, fontsize="small", ncols=ncols, **place, **options)


def legend_beside(ax: Any, *, reverse: bool = False) -> Any:
    """Draw a legend to the right of the axes."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    return ax.legend(frameon=False, fontsize="small", reverse=reverse, **place)


def draw_by_round(ax: Any, curves: dict[str, Array], rounds: Array, log: bool) -> dict[str, Any]:
    """Draw several curves over the boosting rounds, and return their lines."""
    lines = {}
    for k, (name, values) in enumerate(curves.items()):
        own = look(k)
        (lines[name],) = ax.plot(
            rounds, values, color=own.color, ls=own.linestyle, lw=1.6, marker=own.marker, ms=5, label=name,
            markevery=marker_positions(rounds, k / 2, log),
        )  # fmt: skip
    scale_rounds(ax, log)
    return lines


def marker_positions(x: Array, shift: float, log: bool) -> list[int]:
    """Indices of the points of a curve that get a marker; `shift` keeps markers of several curves apart."""
    n = len(x)
    if n <= N_MARKERS:
        return list(range(n))
    steps = (np.arange(N_MARKERS) + (0.25 + 0.2 * shift) % 1.0) / N_MARKERS
    where = n**steps - 1 if log else steps * (n - 1)
    return sorted({round(w) for w in where})


def scale_rounds(ax: Any, log: bool) -> None:
    """Set up a horizontal axis of boosting rounds, with whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel("rounds")
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def limit_measures(ax: Any, names: Sequence[str]) -> None:
    """Limit the vertical axis to the range of the measures, even where intervals reach beyond it."""
    low, high = ax.get_ylim()
    pad = 0.02 * (high - low)
    if not set(names) & {"mcc", "savings"}:
        ax.set_ylim(bottom=max(low, -pad))
    if not set(names) & set(UNBOUNDED):
        ax.set_ylim(top=min(high, 1.0 + pad))
