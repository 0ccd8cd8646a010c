"""Colours, line styles and markers of all displays. Curves and classes also differ in shape, not only in colour."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from skewboost.errors import MissingPackageError

# The palette of Okabe and Ito, which colour-blind readers can distinguish
BLUE, RED, GREEN, PINK, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
INK, GREY, PALE = "#1a1a1a", "#8c8c8c", "#d9d9d9"
POSITIVE, NEGATIVE = RED, BLUE  # the classes; their markers are ^ (filled) and o (hollow)
PALE_POSITIVE, PALE_NEGATIVE = "#EAAF80", "#80B9D9"  # backgrounds for points of these colours


class Look(NamedTuple):
    """The look of one of several curves."""

    color: str
    linestyle: Any
    marker: str


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
    """The look of the k-th curve; they repeat after eight."""
    return LOOKS[k % len(LOOKS)]


def import_pyplot() -> Any:
    """Import `matplotlib.pyplot`, or raise an error that names the extra to install."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise MissingPackageError(
            'Plots need Matplotlib: pip install "skewboost[plots]" (or "skewboost[cli]").'
        ) from error
