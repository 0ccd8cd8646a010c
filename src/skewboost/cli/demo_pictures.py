"""The pictures of the demonstration. Curves and classes differ in shape too, so that they need no colour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter

from skewboost.cli.demo_comparison import BOOSTERS, MISS_COST, PRICES, THRESHOLD, TRIVIAL, Problem
from skewboost.cli.picture_files import save
from skewboost.metrics import Counts
from skewboost.plots.decision_boundary_display import DecisionBoundaryDisplay
from skewboost.plots.style import NEGATIVE, POSITIVE, look

__all__ = ["BOUNDARY_ROUNDS", "draw_boundaries", "draw_curves", "save"]

STYLES = {name: look(k) for k, name in enumerate([*BOOSTERS, THRESHOLD])}
PALE = "0.35"

# Few rounds: more of them make every probability 0 or 1, and there is nothing to shade.
BOUNDARY_ROUNDS = 10
FEATURES = ["mean concave points", "worst texture"]
GRID = 400


def draw_curves(solved: Sequence[tuple[Problem, Mapping[str, list[Counts]]]]) -> Figure:
    """F1 of the rare class and cost, on the test set, against rounds.

    Parameters
    ----------
    solved : sequence of (Problem, mapping of method to list of Counts)
        For each data set the counts after every round.

    Returns
    -------
    matplotlib.figure.Figure
        A column per data set.
    """
    figure = Figure(figsize=(5.6 * len(solved), 8), layout="constrained")
    axes = figure.subplots(2, len(solved), squeeze=False, sharex="col")
    for (top, bottom), (problem, stages) in zip(axes.T, solved):
        _f1_panel(top, problem, stages)
        _cost_panel(bottom, problem, stages)
        bottom.set(xlabel="rounds", xscale="log")
        bottom.xaxis.set_major_formatter(LogFormatter())
        bottom.xaxis.set_minor_formatter(LogFormatter())  # speaks up only where there are few decades
    handles, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, handlelength=3.5)
    return figure


def _f1_panel(ax: Any, problem: Problem, stages: Mapping[str, list[Counts]]) -> None:
    # The threshold trades precision for recall on purpose: F1 is not what it is after.
    curves = {name: [c.f1 for c in counts] for name, counts in stages.items() if name != THRESHOLD}
    lowest = min(map(min, curves.values()))
    last, names = _winners(curves, max)
    _panel(ax, curves, (np.floor(10 * lowest) / 10 - 0.02, 1.02), f"F1 of class {problem.rare!r}")
    ax.set_title(f"{problem.name}: best F1 at the end, {last:.2f},\nfrom {names}")


def _cost_panel(ax: Any, problem: Problem, stages: Mapping[str, list[Counts]]) -> None:
    curves = {name: [c.cost(PRICES) for c in counts] for name, counts in stages.items()}
    trivial = Counts.of(problem.y_test, np.zeros_like(problem.y_test)).cost(PRICES)
    highest = max(map(max, curves.values()))
    last, names = _winners(curves, min)
    top = 1.2 * highest
    _panel(ax, curves, (0, top), f"cost (a miss: {MISS_COST}, a false alarm: 1)")
    ax.set_title(f"{problem.name}: lowest cost at the end, {last:.0f},\nfrom {names}")
    note = f'"{TRIVIAL}" costs {trivial:.0f}'
    # A line far above all curves would press them together; then its height is only told.
    above = trivial > top
    if not above:
        ax.axhline(trivial, color=PALE, linewidth=1, linestyle=(0, (6, 4)))
    ax.annotate(
        f"{note}, beyond this axis" if above else note,
        (1, top if above else trivial),
        xycoords=("axes fraction", "data"),
        xytext=(0, -11 if above else 4),
        textcoords="offset points",
        ha="right",
        color=PALE,
    )


def _winners(curves: Mapping[str, list[float]], best: Callable[..., float]) -> tuple[float, str]:
    """The best last value, and who has it, in few enough words for a title."""
    last = best(values[-1] for values in curves.values())
    names = [name for name, values in curves.items() if values[-1] == last]
    return last, " and ".join(names) if len(names) <= 2 else f"{len(names)} methods"


def _panel(ax: Any, curves: Mapping[str, list[float]], ylim: tuple[float, float], ylabel: str) -> None:
    for name, values in curves.items():
        colour, line, marker = STYLES[name]
        # The axis is logarithmic, and so are the distances of the markers; the last one is where training ended.
        marked = np.unique(np.geomspace(1, len(values), 9).round().astype(int)) - 1
        style = {"color": colour, "linestyle": line, "marker": marker, "markevery": marked.tolist()}
        ax.plot(np.arange(1, len(values) + 1), values, linewidth=1.5, markersize=5.5, label=name, **style)
    ax.set(ylim=ylim, ylabel=f"{ylabel}, test set")
    ax.spines[["top", "right"]].set_visible(False)
    ax.title.set_size(11)


def draw_boundaries(problem: Problem, boosters: Mapping[str, Any]) -> Figure:
    """Probabilities and decisions of boosters on two features of the cancer data.

    Parameters
    ----------
    problem : Problem
        The boosters are fitted to its training half; its test half is drawn as points.
    boosters : mapping of method to estimator
        Four of them.

    Returns
    -------
    matplotlib.figure.Figure
        A panel per booster.
    """
    X_train, X_test = problem.X_train[FEATURES], problem.X_test[FEATURES]
    figure = Figure(figsize=(10, 9.6), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    how: dict[str, Any] = {"features": FEATURES, "grid": GRID, "method": "predict_proba", "legend": False}
    for ax, (name, booster) in zip(axes.ravel(), boosters.items()):
        booster.fit(X_train, problem.y_train)
        c = Counts.of(problem.y_test, booster.predict(X_test))
        DecisionBoundaryDisplay.from_estimator(booster, X_test, problem.y_test, ax=ax, **how)
        ax.set_title(f"{name}: {c.tp} of {c.tp + c.fn} found, false alarms: {c.fp}", loc="left", size=11)
        ax.label_outer()
    shades = axes[0, 0].images[0]
    figure.colorbar(shades, ax=axes, label=f"estimated probability of {problem.rare}", pad=0.02, aspect=40)
    few = next(iter(boosters.values())).n_estimators
    figure.suptitle(f"Stumps draw a staircase (here {few} of them); pale is where a booster is unsure")
    _boundary_legend(figure, problem)
    return figure


def _boundary_legend(figure: Figure, problem: Problem) -> None:
    handles = [
        Line2D([], [], marker="^", markersize=7, color=POSITIVE, markeredgecolor="black", linestyle="none"),
        Line2D([], [], marker="o", markersize=5, color=NEGATIVE, markerfacecolor="none", linestyle="none"),
        Line2D([], [], color="black", linewidth=1.6),
    ]
    labels = [f"{problem.rare} (test set)", f"{problem.common} (test set)", "boundary of the decision, F = 0"]
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
