"""Figure 2.2: loss functions of the margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skewboost.plots.style import look
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.papers.nyga.pictures.panels import panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.verdicts import Claim, by_construction, claim_of_fact

MARGINS = np.linspace(-2.0, 2.0, 401)
LOSSES: dict[str, Callable[[Any], Any]] = {  # of m = y F(x), scaled to 1 at 0
    "misclassification": lambda m: np.where(m < 0.0, 1.0, 0.0),
    "exponential": lambda m: np.exp(-m),
    "squared error": lambda m: (1.0 - m) ** 2,
    "binomial log-likelihood": lambda m: np.logaddexp(0.0, -2.0 * m) / math.log(2.0),
}


def loss_values() -> dict[str, list[float]]:
    """Return the losses at `MARGINS`."""
    return {name: loss(MARGINS).tolist() for name, loss in LOSSES.items()}


def falls(values: Any) -> bool:
    """Whether a loss falls with the margin."""
    return bool((np.diff(values) < 0.0).all())


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    values = {name: np.array(found) for name, found in results.of(loss_values).items()}
    exponential, squared, likelihood = (LOSSES[name] for name in list(LOSSES)[1:])
    at_zero = all(loss(0.0) == 1.0 for name, loss in LOSSES.items() if name != "misclassification")
    bounds = bool((values["exponential"] >= values["misclassification"]).all())
    lowest = float(MARGINS[values["squared error"].argmin()])
    slopes = [float(likelihood(m - 1.0) - likelihood(m)) for m in (-5.0, -10.0, -20.0)]
    growth = [float(exponential(m - 1.0) / exponential(m)) for m in (-5.0, -10.0, -20.0)]
    linear = all(abs(s - 2.0 / math.log(2.0)) < 1e-3 for s in slopes) and all(abs(g - math.e) < 1e-9 for g in growth)
    of_functions = [
        claim_of_fact("The exponential loss is an upper bound of misclassification (2.2)", bounds, "at 401 margins"),
        claim_of_fact("All pass through (0, 1)", at_zero, "all but the misclassification, which jumps there"),
        claim_of_fact(
            "The squared error is not monotone; from yF = 1 on it rises", lowest == 1.0 and squared(2.0) > squared(1.0),
            f"lowest at {lowest:g}, {squared(2.0):g} at 2",
        ),
        claim_of_fact(
            "Exponential loss and cross-entropy fall with the margin",
            falls(values["exponential"]) and falls(values["binomial log-likelihood"]), "at 401 margins",
        ),
        claim_of_fact(
            "For large negative margins cross-entropy grows linearly, not exponentially", linear,
            f"{slopes[-1]:.3f} per unit of the margin, and a factor of {growth[-1]:.3f}",
        ),
        claim_of_fact(
            "Cross-entropy is -ln(1 + e^(-2yF)), (2.27), and falls", falls(-np.log1p(np.exp(-2.0 * MARGINS))),
            "as printed it rises; the minus sign is a slip, and the caption has none",
        ),
    ]  # fmt: skip
    return [by_construction(claim) for claim in of_functions]


def draw(results: Results, quick: bool) -> Any:
    """Draw the losses."""
    figure, (axis,) = panels(1, 1, (6.4, 4.4))
    for k, (name, values) in enumerate(results.of(loss_values).items()):
        color, line, _ = look(k)
        axis.plot(MARGINS, values, color=color, ls=line, lw=1.8, label=name)
    axis.set(xlabel="margin y F(x)", ylabel="loss", ylim=(-0.05, 4.0), xlim=(-2, 2))
    axis.axvline(0.0, color="#d9d9d9", lw=0.8, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    return figure


PICTURE = Picture(
    number="2.2",
    title="loss functions",
    choices="""\
the four functions of the caption, scaled to 1 at a margin of 0. Claims are properties of these formulas, which no run
could change.""",
    caption="""\
loss functions for binary classification. Squared error is not monotone and penalises margins above 1; the exponential
loss grows exponentially with negative margins, cross-entropy linearly.""",
    tasks=lambda quick: [Task(loss_values)],
    claims=claims,
    draw=draw,
)
