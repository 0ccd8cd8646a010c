"""Figure 3.4: AdaBoost-Reg and WeightBoost at ten parameter values on the cancer data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from skewboost.plots.style import look
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import entitle, legend_of_lines, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, column, splits, trained_scores
from skewboost_reproductions.papers.nyga.trials import SOME, n_parameters, parameters, runs, scores_by_parameter
from skewboost_reproductions.verdicts import Claim, claim_of_order

ALGORITHMS = {"AdaBoost-Reg": "C", "WeightBoost": "β"}
LARGER = 1000.0  # than the ten values of C
OVERLAP = PROBLEMS["cancer"].test_to_train


def scores_of_large_c(run: int) -> list[list[float]]:
    """Return the measures of AdaBoost-Reg with a large C by fold."""
    return [trained_scores(classifier("cancer", "AdaBoost-Reg", LARGER), split) for split in splits("cancer", run)]


def tasks(quick: bool) -> list[Task]:
    """Return a task per algorithm and run."""
    n = n_parameters(quick)
    both = [
        Task(scores_by_parameter, "cancer", name, run, n, False) for name in ALGORITHMS for run in runs("cancer", quick)
    ]
    return [*both, *(Task(scores_of_large_c, run) for run in runs("cancer", quick))]


def scores(results: Results, quick: bool, name: str) -> Any:
    """Return the measures by parameter and fold."""
    n = n_parameters(quick)
    found = [results.of(scores_by_parameter, "cancer", name, run, n, False)["each"] for run in runs("cancer", quick)]
    return np.concatenate(found, axis=1).astype(np.float64)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    reg, weight = (column(scores(results, quick, name), "F+") for name in ALGORITHMS)
    large = column(np.concatenate([results.of(scores_of_large_c, run) for run in runs("cancer", quick)]), "F+")
    C = parameters("cancer", "AdaBoost-Reg", n_parameters(quick))
    falling = [-float(spearmanr(C, F).statistic) if np.ptp(F) else 0.0 for F in reg.T]
    best_reg, best_weight = (one[one.mean(axis=1).argmax()] for one in (reg, weight))
    at_zero, suffers = f"(F1 at C = {C[0]:g} less the mean at all others)", f"(F1 at C = {C[0]:g} less at {LARGER:g})"
    return [
        claim_of_order(
            "F1 of AdaBoost-Reg decreases in C (here: minus their rank correlation)", estimate(falling, OVERLAP)
        ),
        claim_of_order(f"It is best very close to 0 {at_zero}", difference(reg[0], reg[1:].mean(axis=0), OVERLAP)),
        claim_of_order(f"It suffers dramatically from even larger C {suffers}", difference(reg[0], large, OVERLAP)),
        claim_of_order(
            "WeightBoost outperforms AdaBoost-Reg (F1, each at its best parameter)",
            difference(best_weight, best_reg, OVERLAP),
        ),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw precision, recall and F1 by parameter."""
    figure, axes = panels(1, 2, (9, 3.9), sharey=True)
    lines: list[Any] = []
    for axis, (name, symbol) in zip(axes, ALGORITHMS.items()):
        found, lines = scores(results, quick, name), []
        for k, measure in enumerate(("P+", "R+", "F+")):
            color, style, marker = look(k)
            cells = [estimate(values, OVERLAP) for values in column(found, measure)]
            x = np.array(parameters("cancer", name, n_parameters(quick)))
            mean, half = np.array([c.mean for c in cells]), 2.0 * np.array([c.error for c in cells])
            if measure == "F+":
                axis.fill_between(x, mean - half, mean + half, color=color, alpha=0.15, lw=0)
            label = ("precision", "recall", "F1, ± two standard errors")[k]
            lines += axis.plot(x, mean, color=color, ls=style, marker=marker, ms=4, label=label)
        axis.set(xscale="log", xlabel=symbol)
    entitle(axes, ALGORITHMS)
    legend_of_lines(figure, lines)
    return figure


PICTURE = Picture(
    number="3.4",
    title="AdaBoost-Reg and WeightBoost by parameter on the cancer data",
    choices=f"""\
ten values of C and of β, spaced geometrically in the ranges of the experiment about table 3.3 (the thesis does not
print its own), and C = {LARGER:g}; 500 stumps, five folds, {len(runs("cancer", False))} times
(once, and with {SOME} values, with `--quick`).""",
    caption="""\
precision, recall and F1-score of AdaBoost-Reg and WeightBoost at different operating points on the cancer data. The
performance of AdaBoost-Reg decreases in C, is best very close to 0, and suffers dramatically from even larger C.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
)
