"""How costs enter the variants: once, in every round, or in the exponent; and what is wrong with the latter two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Once: a cost has its plain meaning. In every round: m rounds apply its m-th power. In the exponent: weights move
# faster in both directions.
ONCE, COMPOUND, EXPONENT = "once", "in every round", "in the exponent"

MAX_PLAIN = 1000.0  # a cost that m rounds raise to more than this is not meant as its m-th power

INSTEAD = "Use SkewBoostClassifier(cost=...) or CSRAClassifier(cost=...), whose costs have their plain meaning"


QUESTIONED: ContextVar[bool] = ContextVar("QUESTIONED", default=True)


@contextmanager
def unquestioned_costs() -> Iterator[None]:
    """Within this context no fit warns of its costs: comparisons measure what they lead to, and searches vary them."""
    token = QUESTIONED.set(False)
    try:
        yield
    finally:
        QUESTIONED.reset(token)


def misuse(name: str, costs: str, spread: float, n_rounds: int) -> str | None:
    """Return what is wrong with asking a variant for costs that differ by a factor of `spread`, or None."""
    if spread <= 1.0 or costs == ONCE:
        return None
    if costs == EXPONENT:
        return (
            f"{name} has costs in the exponent of its weights, and its decisions do not follow them: recall may even "
            f"fall as the cost of a miss rises. {INSTEAD}."
        )
    if n_rounds < 2 or n_rounds * math.log(spread) <= math.log(MAX_PLAIN):
        return None
    return (
        f"{name} applies costs in every round: a factor of {spread:.4g} acts as {spread:.4g}^{n_rounds}, and nearly "
        f"all rows get the costlier class. {INSTEAD}, or the root of order {n_rounds} of the cost."
    )
