"""Figures B.1 to B.5: boundaries of other boosters on the banana data."""

from __future__ import annotations

from typing import Any

from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.papers.nyga.pictures.figure_3_3 import ROUNDS, STAGNANT, best, errors
from skewboost_reproductions.papers.nyga.pictures.panels import draw_boundary, entitle, legend_of_classes, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import LEAVES, PLAIN, classifier, splits
from skewboost_reproductions.papers.nyga.trials import parameters
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_order

LATE = 100  # from this round on the training error should have stopped
BETA = parameters("banana", "WeightBoost")[5]
COSTS = (parameters("banana", "CSGA")[0], parameters("banana", "CSGA")[-1])


def shown(results: Results, quick: bool) -> dict[str, Any]:
    """Return the classifiers of the figures, not fitted."""
    _, C, _ = best(results, quick, LEAVES)
    return {
        **{name: classifier("banana", name) for name in PLAIN},
        f"WeightBoost, β = {BETA:.3g}": classifier("banana", "WeightBoost", BETA),
        f"AdaBoost-Reg, C = {C:.3g}": classifier("banana", "AdaBoost-Reg", C),
        **{f"CSGA, c = {cost:.3g}": classifier("banana", "CSGA", cost) for cost in COSTS},
    }


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the captions say, by the results of figure 3.3."""
    train, test = errors(results, quick, best(results, quick, LEAVES))
    level = f"B.4: the training error of AdaBoost-Reg stops decreasing (here: round {LATE} less round {ROUNDS})"
    rise = difference(test[:, -1], test[:, LATE - 1])
    return [
        claim_of_equality(level, difference(train[:, LATE - 1], train[:, -1]), STAGNANT),
        claim_of_order("B.4: … at a level above 0 (last round)", estimate(train[:, -1])),
        claim_of_order(
            f"B.4: its test error does not increase (here: by at most {STAGNANT:g} from round {LATE} to {ROUNDS})",
            estimate(STAGNANT - (test[:, -1] - test[:, LATE - 1])),
            what=f"rise {rise.mean:+.3f}; {STAGNANT:g} less it",
        ),
    ]


def draw(results: Results, quick: bool) -> Any:
    """Draw the boundary of each booster on the first pair."""
    figure, axes = panels(2, 4, (11.5, 5.8))
    (split,) = splits("banana", 0)
    made = shown(results, quick)
    for axis, model in zip(axes, made.values()):
        draw_boundary(axis, model.fit(split.X, split.y), split.X, split.y, area=9.0)
    entitle(axes, made)
    legend_of_classes(figure)
    return figure


PICTURE = Picture(
    number="B.1-B.5",
    title="boundaries on the banana data",
    choices=f"""\
{ROUNDS} trees of {LEAVES} leaves on the first pair of training and test rows; AdaBoost-Reg with the C of figure 3.3,
WeightBoost with a β from the middle of its range, and CSGA with the smallest and the largest of its ten costs (guesses,
as the thesis does not print the values). The claims of caption B.4 are tested on the results of figure 3.3, and those
of B.5, that recall increases with the cost at the expense of precision, in [nyga-costs](nyga-costs.md).""",
    caption="""\
cost-insensitive algorithms on banana data (B.1, B.2), WeightBoost (B.3), AdaBoost-Reg (B.4: due to regularization,
training error stops decreasing at a particular level and test error does not increase), and CSGA (B.5).""",
    tasks=lambda quick: [],
    claims=claims,
    draw=draw,
)
