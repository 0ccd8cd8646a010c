"""Figure 3.7: boundaries of CSRA for two recall goals on the banana data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from skewboost.evaluate import match_rate
from skewboost_reproductions.datasets import fetch_ida
from skewboost_reproductions.estimates import Estimate, difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.pictures.figure_3_3 import GRID
from skewboost_reproductions.papers.nyga.pictures.panels import draw_boundary, entitle, legend_of_classes, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, splits
from skewboost_reproductions.papers.nyga.trials import printed_row
from skewboost_reproductions.verdicts import Claim, claim_of_fact, claim_of_order

GOALS = (0.85, 0.95)
TOLERANCE = 1e-3


def cost_of_goal(recall: float, n_pairs: int) -> dict[str, Any]:
    """Return the cost at which mean recall over the test rows is the goal, and the measures and areas there."""
    X, y, pairs = fetch_ida("banana")
    found = match_rate(
        lambda cost: classifier("banana", "CSRA", cost), X.to_numpy(), y.to_numpy(), rate=recall, tolerance=TOLERANCE,
        cv=pairs[:n_pairs], repeats=1, pos_label=1,
    )  # fmt: skip
    measures = {name: found.values(name).tolist() for name in ("precision", "recall", "f1", "error")}
    positive, regions, largest = [], [], []
    for run in range(n_pairs):
        (split,) = splits("banana", run)
        model = classifier("banana", "CSRA", found.cost).fit(split.X, split.y)
        axes = [np.linspace(a, b, GRID) for a, b in zip(split.X.min(axis=0), split.X.max(axis=0))]
        mesh = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        flagged = (np.asarray(model.predict(mesh)) == 1).reshape(GRID, GRID)
        numbers, n = ndimage.label(flagged)
        positive.append(float(flagged.mean()))
        regions.append(int(n))
        largest.append(float(np.bincount(numbers[flagged]).max() / flagged.sum()))
    areas = {"positive": positive, "regions": regions, "largest": largest}
    return {"cost": found.cost, "met": found.met, **areas, **measures}


def n_pairs(quick: bool) -> int:
    """Return the number of pairs of training and test rows."""
    return 3 if quick else PROBLEMS["banana"].runs


def tasks(quick: bool) -> list[Task]:
    """Return a task per goal."""
    return [Task(cost_of_goal, goal, n_pairs(quick)) for goal in GOALS]


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    low, high = (results.of(cost_of_goal, goal, n_pairs(quick)) for goal in GOALS)
    reached = [
        claim_of_fact(
            f"CSRA succeeds in achieving a recall of {goal:.0%} ± 0.1 %",
            found["met"],
            f"mean {np.mean(found['recall']):.4f} at c = {found['cost']:.4g}",
        )
        for goal, found in zip(GOALS, (low, high))
    ]
    return [
        *reached,
        claim_of_order(
            "The areas of positive output grow (share of the plane at 95 % less that at 85 %)",
            difference(high["positive"], low["positive"]),
        ),
        claim_of_order(
            "They grow together (here: connected areas of positive output at 85 % less those at 95 %)",
            difference(low["regions"], high["regions"]),
            2,
        ),
        claim_of_order(
            "… and the largest of them has a larger share (share of the positive output at 95 % less that at 85 %)",
            difference(high["largest"], low["largest"]),
        ),
        claim_of_order("Precision suffers (at 85 % less at 95 %)", difference(low["precision"], high["precision"])),
    ]


def tables(results: Results, quick: bool) -> list[Table]:
    """Return the measures at both goals, next to those of table 3.5."""
    cells = {}
    for goal in GOALS:
        found = results.of(cost_of_goal, goal, n_pairs(quick))
        paper = printed_row("goals", data="banana", goal=f"R = {100 * goal:.0f} %", algorithm="CSRA")
        row = f"recall {goal:.0%}"
        cells[row, "cost"] = Cell(Estimate(found["cost"]))
        for name, key in (("precision", "P"), ("recall", "R"), ("f1", "F")):
            cells[row, name] = Cell(estimate(found[name]), paper[key])
        cells[row, "share of the plane"] = Cell(estimate(found["positive"]))
        cells[row, "connected areas"] = Cell(estimate(found["regions"]))
        cells[row, "share of the largest"] = Cell(estimate(found["largest"]))
    return [Table("3.7-goals", "Figure 3.7: CSRA at two goals", "", cells, drawn=False)]


def draw(results: Results, quick: bool) -> Any:
    """Draw the boundary at both goals on the first pair."""
    figure, axes = panels(1, 2, (10, 4.8))
    (split,) = splits("banana", 0)
    titles = []
    for axis, goal in zip(axes, GOALS):
        cost = results.of(cost_of_goal, goal, n_pairs(quick))["cost"]
        model = classifier("banana", "CSRA", cost).fit(split.X, split.y)
        draw_boundary(axis, model, split.X, split.y)
        titles.append(f"Recall {goal:.0%}: c = {cost:.3g}" if cost < 1000 else f"Recall {goal:.0%}: c = {cost:.0f}")
    entitle(axes, titles)
    legend_of_classes(figure)
    return figure


PICTURE = Picture(
    number="3.7",
    title="CSRA for two recall goals on the banana data",
    choices=f"""\
the cost at which mean recall over the test rows of all pairs ({n_pairs(True)} with `--quick`) is the goal, found by
`match_rate`; the thesis does not print it. Areas are those of a grid of {GRID} by {GRID} cells over the range of the
training rows. Boundaries are those of the first pair.""",
    caption="""\
decision boundaries for CSRA applied to the banana data for achieving the 85% and 95% recall goals: the areas of
positive classifier output increasingly grow together.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    tables=tables,
)
