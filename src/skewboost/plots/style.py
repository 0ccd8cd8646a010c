"""How all drawings look. Curves and classes differ in shape too, so that they need no colour."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from skewboost.errors import MissingPackageError

# Okabe and Ito's colours, which the colour-blind tell apart too
BLUE, RED, GREEN, PINK, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
INK, GREY, PALE = "#1a1a1a", "#8c8c8c", "#d9d9d9"
POSITIVE, NEGATIVE = RED, BLUE  # the classes; marked ^ (filled) and o (hollow)
PALE_POSITIVE, PALE_NEGATIVE = "#EAAF80", "#80B9D9"  # light enough for points on top


class Look(NamedTuple):
    """Of one of several curves."""

    color: str
    linestyle: Any
    marker: str


# Told apart by the dashes and markers in black and white; after eight they start again.
LOOKS = (
    Look(BLUE, "-", "o"),
    Look(RED, "--", "s"),
    Look(GREEN, "-.", "^"),
    Look(PINK, (0, (1, 1)), "D"),
    Look(INK, (0, (5, 1, 1, 1, 1, 1)), "x"),
    Look(ORANGE, (0, (8, 2)), "v"),
    Look(SKY, (0, (3, 1, 1, 1)), "P"),
    Look(GREY, "-", "*"),
)


def look(k: int) -> Look:
    """The look of the k-th curve."""
    return LOOKS[k % len(LOOKS)]


def import_pyplot() -> Any:
    """Matplotlib, which is an extra, or an error that says so."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise MissingPackageError(
            'pictures need Matplotlib: pip install "skewboost[plots]" (or "skewboost[cli]").'
        ) from error


def axes_for(ax: Any, figsize: tuple[float, float] = (7.0, 4.8)) -> Any:
    """The axes that the user gave, or those of a new figure."""
    if ax is None:
        _, ax = import_pyplot().subplots(figsize=figsize, layout="constrained")
    return ax


def tidy(ax: Any) -> None:
    """No frame on the sides where there is no scale."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_below(ax: Any, *, ncols: int = 1, drop: float = 0.48, **options: Any) -> Any:
    """A legend under the axes and their label, `drop` inches down, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure()
    below = ax.transAxes + ScaledTranslation(0.0, -drop, figure.dpi_scale_trans)  # inches: the same for all sizes
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below, "borderaxespad": 0.0}
    return ax.legend(frameon=False, fontsize="small", ncols=ncols, **place, **options)
