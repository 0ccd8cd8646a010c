"""Figure 3.6: AdaC2 with several costs on the cancer data."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import (
    POSITIVE_CLASS,
    as_curve,
    draw_measures,
    entitle,
    legend_of_lines,
    panels,
    thinned,
)
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, column, splits, staged_scores
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_order

COSTS = (1.01, 1.05, 1.2, 2.0)
ROUNDS, EARLY, LATER = PROBLEMS["cancer"].rounds, 5, 20
SHOWN = thinned(ROUNDS)
OVERLAP = PROBLEMS["cancer"].test_to_train


def rounds_of_adac2(cost: float, run: int) -> list[Any]:
    """Return the measures by fold and round."""
    found = []
    for split in splits("cancer", run):
        path = np.array(staged_scores(classifier("cancer", "AdaC2", cost).fit(split.X, split.y), split))
        found.append(path[np.array(SHOWN) - 1].round(5).tolist())
    return found


def runs(quick: bool) -> range:
    """Return the runs of cross-validation."""
    return range(2 if quick else PROBLEMS["cancer"].runs)


def tasks(quick: bool) -> list[Task]:
    """Return a task per cost and run."""
    return [Task(rounds_of_adac2, cost, run) for cost in COSTS for run in runs(quick)]


def scores(results: Results, quick: bool, cost: float) -> Any:
    """Return the measures by fold and round."""
    return np.concatenate([results.of(rounds_of_adac2, cost, run) for run in runs(quick)]).astype(np.float64)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""

    def at(measure: str, cost: float, m: int) -> Any:
        return column(scores(results, quick, cost)[:, SHOWN.index(m)], measure)

    def order(text: str, of: tuple[str, float, int], less: tuple[str, float, int]) -> Claim:
        return claim_of_order(text, difference(at(*of), at(*less), OVERLAP))

    low, mild, _, high = COSTS
    return [
        order(
            f"In the beginning precision is above recall (after {EARLY} rounds, c = {low:g})",
            ("P+", low, EARLY), ("R+", low, EARLY),
        ),
        order(
            f"With increasing iterations recall increases (c = {mild:g}, last round less round {EARLY})",
            ("R+", mild, ROUNDS), ("R+", mild, EARLY),
        ),
        order("Precision suffers (the same, with the opposite sign)", ("P+", mild, EARLY), ("P+", mild, ROUNDS)),
        order(
            f"With larger costs the effect occurs earlier (recall after {LATER} rounds, c = {high:g} less c = {low:g})",
            ("R+", high, LATER), ("R+", low, LATER),
        ),
        order(
            f"With larger costs it gets amplified (precision after {ROUNDS} rounds, c = {low:g} less c = {high:g})",
            ("P+", low, ROUNDS), ("P+", high, ROUNDS),
        ),
        claim_of_equality(
            f"If costs are too large, recall gets close to 1 (c = {high:g}, last round)",
            estimate(at("R+", high, ROUNDS) - 1.0, OVERLAP), 0.02,
        ),
        order(f"F1 drops down (c = {high:g}, round {EARLY} less the last)", ("F+", high, EARLY), ("F+", high, ROUNDS)),
    ]  # fmt: skip


def draw(results: Results, quick: bool) -> Any:
    """Draw precision, recall and F1 over the rounds for each cost."""
    figure, axes = panels(2, 2, (10, 6.2), sharex=True, sharey=True)
    lines: list[Any] = []
    for axis, cost in zip(axes, COSTS):
        curve = as_curve("AdaC2", SHOWN, {"test": scores(results, quick, cost)})
        lines = draw_measures(axis, curve, POSITIVE_CLASS, log=True)
        axis.set_ylim(0.35, 1.02)
    for axis in axes[:2]:
        axis.set_xlabel("")
    entitle(axes, [f"c = {cost:g}" for cost in COSTS])
    legend_of_lines(figure, lines, ("precision", "recall", "F1"))
    return figure


PICTURE = Picture(
    number="3.6",
    title="AdaC2 with several costs on the cancer data",
    choices=f"""\
the costs are not printed; {", ".join(f"{cost:g}" for cost in COSTS)} are guesses. {ROUNDS} stumps, five folds,
{len(runs(False))} times ({len(runs(True))} with `--quick`).""",
    caption="""\
progress of precision, recall and F1-score for different cost setups of AdaC2 on the cancer data. In the beginning
precision is significantly above recall; with increasing iterations recall increases at the expense of precision. Larger
costs amplify the effect, and it occurs earlier; if costs are too large, recall is close to 1, while precision and F1
drop down.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
)
