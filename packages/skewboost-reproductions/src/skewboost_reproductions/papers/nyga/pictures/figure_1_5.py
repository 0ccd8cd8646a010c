"""Figure 1.5: three rounds of AdaBoost on ten points of a plane."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linprog

from skewboost import AdaBoostClassifier
from skewboost.learners import Stump
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import draw_boundary, entitle, legend_of_classes, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, by_construction, claim_of_fact

POINTS = np.array(
    [[1.2, 4.4], [2, 1.8], [4.4, 7.8], [5.6, 9.2], [6.8, 7], [3.2, 3.2], [3.9, 5.6], [5.7, 2.2], [7.9, 4.2], [9, 8.4]]
)
LABELS = np.repeat([1, 0], 5)
CORNERS = ((0.4, 1.0), (9.8, 10.0))  # of the panels
ROUNDS = 3


def booster(rounds: int) -> Any:
    """Return AdaBoost on stumps of least error, not fitted."""
    return AdaBoostClassifier(estimator=Stump(criterion="error"), n_estimators=rounds, pos_label=1)


def rounds_on_ten_points() -> list[dict[str, Any]]:
    """Return the weights that each round starts from, its error and its step, and who is wrong after it."""
    model = booster(ROUNDS).fit(POINTS, LABELS)
    y, F, found = 2 * LABELS - 1, np.zeros(len(LABELS)), []
    for record, after in zip(model.history_, model.staged_decision_function(POINTS)):
        w = np.exp(-y * F)
        wrong = np.sign(after - F) != y  # of the stump
        found.append(
            {
                "weights": (w / w.sum()).tolist(), "wrong": np.flatnonzero(wrong).tolist(), "step": record["step"],
                "error": float(w[wrong].sum() / w.sum()), "ensemble": np.flatnonzero(np.sign(after) != y).tolist(),
            }
        )  # fmt: skip
        F = after
    return found


def separable(X: Any, y: Any) -> bool:
    """Whether a straight line separates the classes 1 and 0."""
    signed = (2 * y - 1)[:, None] * np.column_stack((X, np.ones(len(X))))
    return bool(linprog(np.zeros(3), A_ub=-signed, b_ub=-np.ones(len(X)), bounds=[(None, None)] * 3).status == 0)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    rounds = results.of(rounds_on_ten_points)
    first, last = rounds[0], rounds[-1]
    raised = all(
        (np.array(after["weights"])[before["wrong"]] > np.array(before["weights"])[before["wrong"]]).all()
        for before, after in pairwise(rounds)
    )
    in_numbers = f"error {first['error']:.2f}, step {first['step']:.2f}"
    fails = all(LABELS[k] == 1 for k in first["wrong"]) and len(first["wrong"]) == 3
    errors = ", ".join(f"{len(r['ensemble'])}" for r in rounds)
    return [
        by_construction(
            claim_of_fact("The problem is not linearly separable", not separable(POINTS, LABELS), "linear program"),
        ),
        by_construction(
            claim_of_fact(
                "The first stump fails in three of the five green samples", fails, f"{len(first['wrong'])} wrong"
            )
        ),
        by_construction(
            claim_of_fact(
                "ε₁ = 0.3 and α₁ = 0.42", (round(first["error"], 2), round(first["step"], 2)) == (0.3, 0.42), in_numbers
            )
        ),
        by_construction(claim_of_fact("The weights of misclassified samples increase", raised, "in rounds 1 and 2")),
        claim_of_fact(
            "AdaBoost solves the problem with three stumps", not last["ensemble"], f"{errors} wrong after the rounds"
        ),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw the stump of each round, and the ensemble."""
    rounds = results.of(rounds_on_ten_points)
    figure, axes = panels(1, 4, (12, 3.6))
    titles = []
    for m, (axis, r) in enumerate(zip(axes, rounds), 1):
        stump = booster(1).fit(POINTS, LABELS, sample_weight=len(LABELS) * np.asarray(r["weights"]))
        draw_boundary(axis, stump, POINTS, LABELS, weights=r["weights"], corners=CORNERS)
        titles.append(f"$\\epsilon_{m}$ = {r['error']:.2f}, $\\alpha_{m}$ = {r['step']:.2f}")
    ensemble = booster(ROUNDS).fit(POINTS, LABELS)
    draw_boundary(axes[3], ensemble, POINTS, LABELS, corners=CORNERS, area=45.0)
    entitle(axes, [*titles, "the ensemble"])
    legend_of_classes(figure, "y = +1 (green in the thesis)", "y = -1")
    return figure


PICTURE = Picture(
    number="1.5",
    title="three rounds of AdaBoost on ten points",
    choices="""\
the coordinates are not printed. Ten points, five of each class, are placed so that what the text says about the first
round holds; weights follow from the formula of the algorithm. So only the last claim could fail. That green is y = +1
is a guess, too. Areas of points are proportional to their weights.""",
    caption="""\
the stumps learned over three iterations; the sizes of the data points correspond to their weights. The first one fails
in predicting three of the five green samples, so ε = 0.3 and α = 0.42. (d) The combined ensemble output.""",
    tasks=lambda quick: [Task(rounds_on_ten_points)],
    claims=claims,
    draw=draw,
    stand_in=True,
)
