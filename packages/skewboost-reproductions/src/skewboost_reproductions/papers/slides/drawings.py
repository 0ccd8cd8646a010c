"""Figures of the experiment slides-examples: votes of stumps on a line, majorities, and decoded strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skewboost.evaluate import majority_vote_error
from skewboost.plots.style import (
    GREY,
    INK,
    NEGATIVE,
    PALE_NEGATIVE,
    PALE_POSITIVE,
    POSITIVE,
    RED,
    import_pyplot,
    look,
)

ENDS = (0.02, 1.08)  # of the line


def draw_rounds(
    axis: Any, X: Any, Y: Any, rounds: Sequence[dict[str, Any]], sizes: Any, sums: Any, digits: int
) -> None:
    """Draw a line per round, coloured by what its stump says, with points of given sizes, and the sums below."""
    n = len(rounds)
    for k, (stump, areas) in enumerate(zip(rounds, sizes)):
        cut = stump["cut"] if stump["cut"] == stump["cut"] else ENDS[1]
        for start, end, label in ((ENDS[0], cut, stump["left"]), (cut, ENDS[1], stump["right"])):
            color = PALE_POSITIVE if label > 0 else PALE_NEGATIVE
            axis.barh(k, end - start, 0.84, left=start, color=color, alpha=0.55, lw=0)
        if cut < ENDS[1]:
            axis.vlines(cut, k - 0.42, k + 0.42, color=INK, lw=1.6)
            axis.text(cut, k - 0.4, f" {cut:.2f}", fontsize=7, va="top", ha="left", color=INK)
        _draw_points(axis, X, Y, np.full(len(X), k), np.asarray(areas))
    for x, total in zip(X, sums):
        color = PALE_POSITIVE if total > 0 else PALE_NEGATIVE
        axis.barh(n + 0.3, 0.1, 0.84, left=x - 0.05, color=color, lw=0)
        axis.text(x, n + 0.3, f"{total:+.{digits}f}", ha="center", va="center", fontsize=8)
    axis.set_yticks([*range(n), n + 0.3], [*map(str, range(1, n + 1)), "sum"])
    axis.set(ylim=(n + 0.8, -0.5), xlim=ENDS, xlabel="x", xticks=X)
    axis.tick_params(left=False)
    axis.spines[["top", "right", "left"]].set_visible(False)


def _draw_points(axis: Any, X: Any, Y: Any, height: Any, areas: Any) -> None:
    positive, seen = Y > 0, areas > 0
    for rows, marker, style in (
        (~positive & seen, "o", {"facecolors": "white", "edgecolors": NEGATIVE, "linewidths": 1.3}),
        (positive & seen, "^", {"facecolors": POSITIVE, "edgecolors": INK, "linewidths": 0.5}),
        (~seen, "x", {"color": GREY, "linewidths": 1.0}),
    ):
        axis.scatter(X[rows], height[rows], s=np.where(seen, areas, 16.0)[rows], marker=marker, zorder=3, **style)


def _legend(figure: Any, last: str) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], marker="^", color=POSITIVE, markeredgecolor=INK, label="class +1", ls="none"),
        Line2D([], [], marker="o", color=NEGATIVE, markerfacecolor="white", label="class -1", ls="none"),
        Patch(color=PALE_POSITIVE, label="the stump says +1"),
        Patch(color=PALE_NEGATIVE, label="it says -1"),
    ]
    if last:
        handles.append(Line2D([], [], marker="x", color=GREY, label=last, ls="none"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize="small")


def draw_bagging(X: Any, Y: Any, bags: Sequence[dict[str, Any]], rows: Sequence[Any]) -> Any:
    """Draw the ten rounds of figure 5.35; points grow with how often a row was drawn."""
    figure, axis = import_pyplot().subplots(figsize=(8, 6.6), layout="constrained")
    sizes = [34.0 * np.bincount(drawn, minlength=len(X)) for drawn in rows]
    draw_rounds(axis, X, Y, bags, sizes, np.sum([bag["labels"] for bag in bags], axis=0), 0)
    axis.set_ylabel("round")
    axis.set_title("Bagging: what each stump was fitted to, and what it says", loc="left", size="medium")
    _legend(figure, "not drawn")
    return figure


def draw_boosting(X: Any, Y: Any, readings: dict[str, dict[str, Any]]) -> Any:
    """Draw three rounds of boosting side by side for each reading of the error; points grow with their weight."""
    figure, axes = import_pyplot().subplots(1, len(readings), figsize=(11, 3.9), sharey=True, layout="constrained")
    for axis, (name, found) in zip(axes, readings.items()):
        sizes = [8.0 + 420.0 * np.array(r["weights"]) for r in found["rounds"]]
        draw_rounds(axis, X, Y, found["rounds"], sizes, found["F"], 2)
        for k, r in enumerate(found["rounds"]):
            axis.text(ENDS[1], k + 0.4, f"$\\alpha$ = {r['alpha']:.3f} ", ha="right", va="bottom", fontsize=8)
        axis.set_title(name, loc="left", size="medium")
    axes[0].set_ylabel("round")
    _legend(figure, "")
    return figure


def draw_majority(members: Any, ensembles: Any) -> Any:
    """Draw the error of majorities of independent classifiers over theirs, and bagged ensembles, which depend."""
    figure, axis = import_pyplot().subplots(figsize=(7, 5), layout="constrained")
    errors = np.linspace(0.0, 1.0, 201)
    axis.plot(errors, errors, color=GREY, lw=1, ls=":", label="one classifier")
    for k, n in enumerate((5, 25, 101)):
        color, line, _ = look(k)
        axis.plot(errors, majority_vote_error(n, errors), color=color, ls=line, label=f"{n} independent ones")
    axis.plot(0.35, majority_vote_error(25, 0.35), "D", color=RED, ms=7, mfc="none", label="25 at 0.35: 0.06")
    mean = (float(np.mean(members)), float(np.mean(ensembles)))
    axis.plot(*mean, "*", color=INK, ms=10, label="10 bagged stumps on the ten rows")
    axis.set(xlabel="error of a classifier", ylabel="error of their majority", xlim=(0, 1), ylim=(0, 1))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize="small", loc="upper left")
    return figure


def draw_codes(strings: Any, distances: Any, code: dict[str, list[int]]) -> Any:
    """Draw all strings of seven bits, coloured by the class of the nearest codeword; ties are white."""
    from matplotlib.patches import Patch

    figure, axis = import_pyplot().subplots(figsize=(11, 4.6), layout="constrained")
    colors = ("#EAAF80", "#80B9D9", "#8fd0b9", "#E6C3D8")
    words = {tuple(word): name for name, word in code.items()}
    for bits, distance in zip(strings.tolist(), np.asarray(distances)):
        row, column = int("".join(map(str, bits[:3])), 2), int("".join(map(str, bits[3:])), 2)
        nearest = np.flatnonzero(distance == distance.min())
        word = words.get(tuple(bits))
        face = colors[nearest[0]] if len(nearest) == 1 else "white"
        box = {"facecolor": face, "edgecolor": INK if word else "#d9d9d9", "linewidth": 2.2 if word else 0.6}
        axis.add_patch(
            import_pyplot().Rectangle((column - 0.47, row - 0.45), 0.94, 0.9, zorder=3 if word else 2, **box)
        )
        text = "".join(map(str, bits)) + (f"\n{word}" if word else f"\nd = {distance.min()}")
        style = {"weight": "bold"} if word else {"color": INK if len(nearest) == 1 else GREY}
        axis.text(column, row, text, ha="center", va="center", fontsize=7, zorder=4, **style)
    axis.set(xlim=(-0.6, 15.6), ylim=(7.6, -0.6), aspect="auto")
    axis.set_axis_off()
    handles = [Patch(facecolor=c, label=f"nearest: {name}") for c, name in zip(colors, code)]
    handles.append(Patch(facecolor="white", edgecolor=GREY, label="a tie"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    return figure
