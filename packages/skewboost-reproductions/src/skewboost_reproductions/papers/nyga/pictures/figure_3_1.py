"""Figure 3.1: the data sets of two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.plots.style import INK, NEGATIVE, POSITIVE
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.papers.nyga.pictures.panels import entitle, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import splits

SHOWN = {  # titles, axes, columns and the areas of points
    "airbag": ("airbag control (stand-in)", ("milliseconds", "deceleration"), (0, 1), 7.0),
    "banana": ("banana", ("x1", "x2"), (0, 1), 14.0),
    "fire": ("fire detection (stand-in)", ("platinum", "titanium nitride"), (0, 1), 9.0),
}


def all_rows(data: str) -> tuple[Any, Any]:
    """Return all rows of the first split; of banana the training rows, which the other figures show."""
    split = splits(data, 0)[0]
    if data == "banana":
        return split.X, split.y
    return np.concatenate((split.X, split.X_test)), np.concatenate((split.y, split.y_test))


def draw(results: Results, quick: bool) -> Any:
    """Draw the rows of each data set."""
    figure, axes = panels(1, 3, (12.5, 4.3))
    for axis, (data, (_, names, columns, area)) in zip(axes, SHOWN.items()):
        X, y = all_rows(data)
        first, second = X[:, list(columns)].T
        for label, name, style in (
            (0, "negative", {"marker": "o", "facecolors": "none", "edgecolors": NEGATIVE, "linewidths": 0.7}),
            (1, "positive", {"marker": "^", "facecolors": POSITIVE, "edgecolors": INK, "linewidths": 0.3}),
        ):
            axis.scatter(first[y == label], second[y == label], s=area, label=name, **style)
        axis.set(xlabel=names[0], ylabel=names[1])
    entitle(axes, [title for title, *_ in SHOWN.values()])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


PICTURE = Picture(
    number="3.1",
    title="the data sets of two dimensions",
    choices="""\
the rows of the first split: of banana the training rows, of the generated stand-ins for airbag and fire all rows. Of
the three gas sensors the thesis does not say which two it shows.""",
    caption="""\
visualization of two dimensional data sets (a) airbag control, (b) banana and a 2-dimensional projection of the (c) fire
detection data.""",
    tasks=lambda quick: [],
    claims=lambda results, quick: [],
    draw=draw,
)
