"""Figure 3.8: CSGA on intrusions, with a high cost of false alarms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skewboost_reproductions.estimates import Estimate, difference
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import (
    POSITIVE_CLASS,
    as_curve,
    draw_measures,
    entitle,
    legend_of_lines,
    panels,
)
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, column, scores, splits
from skewboost_reproductions.verdicts import Claim, claim_of_order

COST, ROUNDS, EARLY = 10.0, 100, 10
LEAST = 0.05  # smaller changes are not called a drop
READINGS = {"spread": f"c = {COST:g} spread over 500 rounds", "every": f"c = {COST:g} in every round"}


def rounds_of_csga(reading: str, run: int) -> dict[str, list[Any]]:
    """Return the measures by fold and round, on training and test rows.

    CSGA applies a root of its costs in each round. To have all of them in every round, it is given their power. The
    decision of a round is the sign of the sum so far, as in the thesis.
    """
    n, cost = (ROUNDS, COST**ROUNDS) if reading == "every" else (PROBLEMS["intrusion"].rounds, COST)
    found: dict[str, list[Any]] = {"train": [], "test": []}
    for split in splits("intrusion", run):
        model = classifier("intrusion", "CSGA", 1.0, other_cost=cost, rounds=n).fit(split.X, split.y)
        for part, X, y in (("train", split.X, split.y), ("test", split.X_test, split.y_test)):
            path = [scores(y, F >= 0.0) for F in sums_of_rounds(model, X, 1.0 / cost)]
            found[part].append(np.round((path + path[-1:] * ROUNDS)[:ROUNDS], 5).tolist())
    return found


def sums_of_rounds(model: Any, X: Any, ratio: float) -> list[Any]:
    """Return the sums of the rounds of CSRA or CSGA; `decision_function` adds the part of the costs still to come."""
    n = int(model.n_estimators)
    stages = enumerate(model.staged_decision_function(X), 1)
    return [F - 0.5 * math.log(ratio) * (1.0 - m / n) for m, F in stages]


def runs(quick: bool) -> range:
    """Return the runs."""
    return range(3 if quick else PROBLEMS["intrusion"].runs)


def tasks(quick: bool) -> list[Task]:
    """Return a task per reading and run."""
    return [Task(rounds_of_csga, reading, run) for reading in READINGS for run in runs(quick)]


def found(results: Results, quick: bool, reading: str, part: str) -> Any:
    """Return the measures by run and round."""
    values = [row for run in runs(quick) for row in results.of(rounds_of_csga, reading, run)[part]]
    return np.array(values, dtype=np.float64)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    claimed = []
    for reading, name in READINGS.items():
        test = found(results, quick, reading, "test")
        for measure, word in (("R+", "recall"), ("P+", "precision")):
            values = column(test, measure)
            drop = difference(np.nanmean(values[:, :EARLY], axis=1), values[:, -1])
            beyond = Estimate(drop.mean - LEAST, drop.error, drop.n)
            text = f"{name}: {word} drops down (mean of {EARLY} rounds less round {ROUNDS} less {LEAST:g})"
            claimed.append(claim_of_order(text, beyond))
    return claimed


def draw(results: Results, quick: bool) -> Any:
    """Draw precision, recall and F1, and the errors, over the rounds."""
    figure, axes = panels(2, 2, (10, 6), sharex=True)
    rounds = range(1, ROUNDS + 1)
    lines: list[Any] = []
    for k, reading in enumerate(READINGS):
        parts = {part: found(results, quick, reading, part) for part in ("train", "test")}
        curve = as_curve("CSGA", rounds, parts)
        lines = draw_measures(axes[k], curve, POSITIVE_CLASS)
        lines += draw_measures(axes[2 + k], curve, "error", ("train", "test"), bands=False)
        axes[k].set(ylim=(0.0, 1.03), xlabel="")
        axes[2 + k].set_ylim(0.0, 0.012)
    entitle(axes, [*READINGS.values(), "Error", "Error"])
    legend_of_lines(figure, lines, ("precision", "recall", "F1", "training error", "test error"))
    return figure


PICTURE = Picture(
    number="3.8",
    title="CSGA with costs for false positives",
    choices=f"""\
the intrusion data are not public; `make_industrial("intrusion")` generates training and test sets of their size and
proportion of attacks, {len(runs(False))} times ({len(runs(True))} with `--quick`). c = {COST:g} for false positives.
Two readings: as algorithm 13 has it, c^(1/500) in each of 500 rounds; and c in every round. Decisions after m rounds
are the sign of the sum of m rounds; the first {ROUNDS} are shown.""",
    caption="""\
progress of precision, recall, F1-score and error rate of CSGA applied to the IDS data, with costs for false-positive
predictions of 10: precision and recall rapidly (even exponentially) drop down after 35 iterations.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    stand_in=True,
)
