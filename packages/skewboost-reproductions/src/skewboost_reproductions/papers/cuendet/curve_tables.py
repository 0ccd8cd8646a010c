"""The tables and figures about the error curves of Cuendet and Labbi (2002)."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.plots.style import import_pyplot, look
from skewboost_reproductions.estimates import Estimate, estimate
from skewboost_reproductions.page_parts import Cell, Figure, Part, Table
from skewboost_reproductions.papers.cuendet.claims import Curves
from skewboost_reproductions.papers.cuendet.curve_trials import (
    BALANCED,
    CHESS,
    CONSISTENT,
    CUTS,
    EVERY,
    FAVOURED,
    FOLDS,
    HEART,
    METHODS,
    NEW_Z,
    PLAIN,
    SIZE,
    SIZES,
    STAND_IN,
    THIRDS,
    THYROID,
    TREE,
    ZEROS,
    K,
    gaussians,
    weights,
)
from skewboost_reproductions.papers.cuendet.error_curves import ErrorCurves, Panel, Whole, draw_panels

LEVELS = ("25 %", "50 %", "75 %", "95 %", "largest")


def all_parts(curves: Curves) -> list[Part]:
    """Return the figures in their order, and the tables."""
    parts: list[Part] = [_table_of_errors(curves, FOLDS)]
    if not curves.quick:
        parts += [_table_of_errors(curves, THIRDS), _table_of_cuts(curves), _table_of_sizes(curves)]
    return [*parts, *_figures(curves)]


def _row(curves: ErrorCurves) -> dict[str, Estimate]:
    return {
        "training error, last round": curves.mean(curves.train[:, -1]),
        "lowest test error": curves.mean(curves.lowest),
        "in round": Whole(curves.best_round),
        "test error, last round": curves.mean(curves.test[:, -1]),
        "rise": curves.mean(curves.overfitting),
        "CI": Estimate(curves.spread),
    }


def _table_of_errors(curves: Curves, split: str) -> Table:
    cells = {}
    for data, methods in METHODS.items():
        for method in (*methods, *(() if curves.quick else (ZEROS,))):
            for column, value in _row(curves.of(data, method, K, split)).items():
                cells[f"{data}: {method}", column] = Cell(value)
    note = (
        "Errors in percent. *Lowest* is the minimum of the mean curve, *rise* what follows until the last round, and "
        "*CI* two standard deviations over trials in the last ten rounds."
    )
    name = "errors" if split == FOLDS else "thirds"
    return Table(
        name, f"Errors in {split}, at most {K} per attribute", "data set and booster", cells, 2, note, drawn=False
    )


def _table_of_cuts(curves: Curves) -> Table:
    cells = {}
    for data in (HEART, THYROID):
        for method in (PLAIN, CONSISTENT, TREE):
            for cuts in CUTS:
                for column, value in _row(curves.of(data, method, cuts)).items():
                    cells[f"{data}, {method}: {cuts}", column] = Cell(value)
    return Table("cuts", f"Discretisation of continuous attributes, {FOLDS}", "cuts", cells, 2, drawn=False)


def _table_of_sizes(curves: Curves) -> Table:
    cells = {}
    for n_rows in SIZES:
        for cuts in (K, EVERY):
            rows = [_row(c) for c in curves.of_draws(n_rows, cuts)]
            for column in rows[0]:
                if column != "in round":
                    of_draws = estimate([row[column].mean for row in rows])
                    cells[f"{n_rows} rows: {cuts}", column] = Cell(of_draws)
    note = "Errors are over samples, each of which has 20 trials."
    return Table(
        "sizes", "8 Gaussians: plain stumps by the size of the sample", "sample and cuts", cells, 2, note, drawn=False
    )


def _figures(curves: Curves) -> list[Figure]:
    def panels(data: str, methods: tuple[str, ...]) -> list[Panel]:
        return [Panel(method, curves.of(data, method)) for method in methods]

    synthetic = [Panel(f"plain stumps, {SIZE} rows", curves.of(gaussians(SIZE, 0)))]
    heart = panels(HEART, (PLAIN, CONSISTENT, TREE))
    heart.insert(1, Panel(f"{PLAIN}, every cut", curves.of(HEART, PLAIN, EVERY)))
    favoured = [Panel(f"{FAVOURED}: {data}", curves.of(data, FAVOURED)) for data in METHODS]
    return [
        Figure("figure-3-1", _CAPTIONS[0], lambda: draw_panels(synthetic, 1, bands=True)),
        Figure("figure-3-2", _CAPTIONS[1], lambda: _draw_weights(curves)),
        Figure("figure-3-3", _CAPTIONS[2], lambda: draw_panels(panels(STAND_IN, (PLAIN, NEW_Z, CONSISTENT, TREE)), 2)),
        Figure("figure-3-4", _CAPTIONS[3], lambda: draw_panels(panels(CHESS, (PLAIN, TREE)), 2, top=12.0)),
        Figure("figure-3-5", _CAPTIONS[4], lambda: draw_panels(heart, 2, top=32.0)),
        Figure(
            "figure-3-6",
            _CAPTIONS[5],
            lambda: draw_panels(panels(THYROID, (PLAIN, NEW_Z, CONSISTENT, BALANCED)), 2, top=5.0),
        ),
        Figure("favoured", _CAPTIONS[6], lambda: draw_panels(favoured, 2, top=75.0)),
    ]


def _draw_weights(curves: Curves) -> Any:
    plt = import_pyplot()
    figure, axis = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
    means = np.array(curves.results.of(weights, gaussians(SIZE, 0), K)["mean"])
    for k in reversed(range(len(LEVELS))):
        color, line, _ = look(k)
        axis.plot(np.arange(1, len(means) + 1), means[:, k], color=color, ls=line, lw=1.5, label=LEVELS[k])
    axis.set(xlabel="round", ylabel="weight × number of rows", yscale="log")
    axis.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    return figure


_CAPTIONS = (
    "Figure 3-1: 200 plain stumps on the eight normal distributions; mean of 20 trials, and two standard deviations.",
    "Figure 3-2: quantiles of the weights of the same stumps, mean of 20 trials.",
    "Figure 3-3, on a stand-in: the project management data are not public, so no claim is tested on this figure.",
    "Figure 3-4: kr-vs-kp.",
    "Figure 3-5: cleve. The second panel is without discretisation.",
    "Figure 3-6: hypothyroid. The tree starts at 0, with balanced classes.",
    "Favoured stumps (§3.3; the paper has no figure).",
)
