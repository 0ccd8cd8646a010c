"""Figures B.6 to B.10: boundaries and curves of boosters on the crash data."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.plots.style import look
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.figure_3_8 import sums_of_rounds
from skewboost_reproductions.papers.nyga.pictures.panels import (
    draw_boundary,
    entitle,
    legend_of_classes,
    panels,
    thinned,
)
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import (
    LEAVES,
    PLAIN,
    PROBLEMS,
    classifier,
    column,
    scores,
    splits,
    staged_scores,
)
from skewboost_reproductions.papers.nyga.trials import parameters
from skewboost_reproductions.verdicts import Claim, claim_of_all, claim_of_order

ROUNDS, FIRST = PROBLEMS["airbag"].rounds, 100
SHOWN = thinned(ROUNDS)
OVERLAP = PROBLEMS["airbag"].test_to_train
POOR = 0.02  # a gain in accuracy up to which it counts as poor
RAPID = 20  # rounds
C, BETA = parameters("airbag", "AdaBoost-Reg")[5], parameters("airbag", "WeightBoost")[5]
COSTS = (2.0, 20.0, 1e6)  # of CSGA; the last one is too high


def rounds_on_crashes(algorithm: str, parameter: float | None, run: int) -> list[Any]:
    """Return the measures on test rows by fold and round; decisions of CSGA are the sign of the sum so far."""
    found = []
    for split in splits("airbag", run):
        model = classifier("airbag", algorithm, parameter).fit(split.X, split.y)
        if parameter is None:
            path = staged_scores(model, split)
        else:
            path = [scores(split.y_test, F >= 0.0) for F in sums_of_rounds(model, split.X_test, parameter)]
        found.append(np.array(path)[np.array(SHOWN) - 1].round(5).tolist())
    return found


def runs(quick: bool) -> range:
    """Return the runs of cross-validation."""
    return range(1 if quick else 4)


def settings() -> list[tuple[str, float | None]]:
    """Return algorithms and parameters whose curves are drawn."""
    return [*((name, None) for name in PLAIN), *(("CSGA", cost) for cost in COSTS)]


def tasks(quick: bool) -> list[Task]:
    """Return a task per algorithm and run."""
    return [Task(rounds_on_crashes, *one, run) for one in settings() for run in runs(quick)]


def measured(results: Results, quick: bool, algorithm: str, parameter: float | None, measure: str) -> Any:
    """Return a measure by fold and round."""
    found = [results.of(rounds_on_crashes, algorithm, parameter, run) for run in runs(quick)]
    return column(np.concatenate(found), measure)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the captions say."""
    gains = {}
    for name in PLAIN:
        error = measured(results, quick, name, None, "error")
        gains[name] = estimate(POOR - (error[:, 0] - error[:, SHOWN.index(FIRST)]), OVERLAP)
    F = measured(results, quick, "CSGA", COSTS[-1], "F+")
    best = int(np.nanmean(F, axis=0).argmax())
    after = min(best + RAPID, len(SHOWN) - 1)
    dropped = difference(F[:, best], F[:, after], OVERLAP)
    where = f"round {SHOWN[best]} less round {SHOWN[after]}, c = {COSTS[-1]:g}"
    low = measured(results, quick, "CSGA", COSTS[0], "F+")
    return [
        claim_of_all(
            f"B.7: accuracy improves only poorly over {FIRST} iterations (here: {POOR:g} less the gain from round 1)",
            gains,
        ),
        claim_of_order(f"B.10: if costs are too high, F1 drops after some iterations ({where})", dropped),
        claim_of_order(
            f"B.10: … below that of smaller costs (last round, c = {COSTS[0]:g} less c = {COSTS[-1]:g})",
            difference(low[:, -1], F[:, -1], OVERLAP),
        ),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw boundaries, errors of plain boosters, and F1 of CSGA by cost."""
    made = {
        **{name: classifier("airbag", name) for name in PLAIN},
        f"WeightBoost, β = {BETA:.3g}": classifier("airbag", "WeightBoost", BETA),
        f"AdaBoost-Reg, C = {C:.3g}": classifier("airbag", "AdaBoost-Reg", C),
        **{f"CSGA, c = {cost:g}": classifier("airbag", "CSGA", cost) for cost in COSTS[1:]},
    }
    figure, axes = panels(2, 5, (14, 5.6))
    split = splits("airbag", 0)[0]
    names = list(made)
    boundaries = [axis for k, axis in enumerate(axes) if k not in (4, 9)]
    for axis, model in zip(boundaries, made.values()):
        draw_boundary(axis, model.fit(split.X, split.y), split.X, split.y, area=5.0)
    for axis, measure, which in (
        (axes[4], "error", [*((n, None) for n in PLAIN)]),
        (axes[9], "F+", [("CSGA", c) for c in COSTS]),
    ):
        for k, (name, parameter) in enumerate(which):
            color, line, _ = look(k)
            mean = np.nanmean(measured(results, quick, name, parameter, measure), axis=0)
            label = name if parameter is None else f"c = {parameter:g}"
            axis.plot(SHOWN, mean, color=color, ls=line, lw=1.4, label=label)
        axis.set(xscale="log", xlabel="round", ylim=(0.0, None))
        axis.legend(frameon=False, fontsize="small")
    entitle(axes, [*names[:4], "test error", *names[4:], "CSGA: F1"])
    legend_of_classes(figure, "crash", "no crash")
    return figure


PICTURE = Picture(
    number="B.6-B.10",
    title="boosters on the crash data",
    choices=f"""\
a generated set in place of the crash data (see 3.2), {ROUNDS} trees of {LEAVES} leaves, five folds of each of two sets,
{len(runs(False))} times ({len(runs(True))} with `--quick`). AdaBoost-Reg and WeightBoost with a value from the middle
of their ranges, CSGA with costs of {", ".join(f"{cost:g}" for cost in COSTS)} (guesses). A gain of up to {POOR:g} in
accuracy counts as poor. Decisions of CSGA after m rounds are the sign of the sum of m rounds, as in 3.8. *After some
iterations*: {RAPID} of the rounds that are drawn after the best one of the mean.
Boundaries are those of the first fold.""",
    caption="""\
cost-insensitive algorithms on crash data (B.6, B.7: due to large areas of overlapping class distributions, there is
only poor improvement of classification accuracy over 100 iterations), WeightBoost (B.8), AdaBoost-Reg (B.9), and CSGA
(B.10: if costs are chosen too high, F1-score drops rapidly after a certain number of iterations).""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    stand_in=True,
)
