"""The measures that goals can be about, each with a test of "the goal is not met" from counts on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost.errors import InputError
from skewboost.goals import bounds
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import COSTS, MEASURES, Measure, find_measure
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.goals.goal import Goal

COST = "cost"
REFERRED = "referred_share"


@dataclass(frozen=True)
class GoalMeasure(Measure):
    """A measure of the registry that can be compared with a number to get a goal.

    Examples
    --------
    >>> from skewboost.goals import false_alarm_rate, recall
    >>> print((recall >= 0.95) & (false_alarm_rate <= 0.1))
    recall >= 0.95 and false_alarm_rate <= 0.1
    """

    trade_off: str = ""  # the measure to optimise once a goal on this one is met

    @property
    def needs_cost(self) -> bool:
        """Whether it needs a cost matrix."""
        return self.needs == COSTS

    @property
    def is_proportion(self) -> bool:
        """Whether it is a proportion of some rows, so that counts are binomial."""
        return self.name in _PROPORTIONS

    @property
    def classes(self) -> frozenset[int] | None:
        """The classes that it is about separately, 0 being the negative one; None: all rows together."""
        return _CLASSES.get(self.denominator)

    def __ge__(self, bound: float) -> Goal:
        from skewboost.goals.goal import Condition, Goal

        return Goal((Condition(self.name, ">=", bound),))

    def __le__(self, bound: float) -> Goal:
        from skewboost.goals.goal import Condition, Goal

        return Goal((Condition(self.name, "<=", bound),))

    __gt__, __lt__ = __ge__, __le__  # as in text: data cannot distinguish "more than" from "at least"

    def utility(self, value: Any) -> Any:
        """Return the value with the sign that makes larger better; NaN is the worst."""
        signed = np.asarray(value) * self.sign
        return np.where(np.isnan(signed), -np.inf, signed)[()]

    def p_value(self, sense: str, bound: float, counts: Counts, cost: Array | None = None) -> Any:
        """Return the p-value of "the condition is not met"."""
        test: Callable[..., Any] = _TESTS.get(self.name, _p_value_of_proportion)
        return test(self, sense, bound, counts, cost)


_CLASSES = {
    "negatives": frozenset({0}),
    "positives": frozenset({1}),
    "positives and as many negatives": frozenset({0, 1}),
}

# Numerator and denominator of each proportion. (F1 >= b is equivalent to TP / (TP + FP + FN) >= b / (2 - b).)
_PROPORTIONS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "recall": lambda c: (c.tp, c.positives),
    "miss_rate": lambda c: (c.fn, c.positives),
    "specificity": lambda c: (c.tn, c.negatives),
    "false_alarm_rate": lambda c: (c.fp, c.negatives),
    "precision": lambda c: (c.tp, c.flagged),
    "flagged_share": lambda c: (c.flagged, c.total),
    "accuracy": lambda c: (c.tp + c.tn, c.total),
    "f1": lambda c: (c.tp, c.tp + c.fp + c.fn),
    REFERRED: lambda c: (c.referred, c.referred + c.total),
}


def _p_value_of_proportion(measure: GoalMeasure, sense: str, bound: float, counts: Counts, _: Any) -> Any:
    successes, trials = _PROPORTIONS[measure.name](counts)
    if measure.name == "f1":
        bound = bound / (2.0 - bound)
    return bounds.at_least(successes, trials, bound) if sense == ">=" else bounds.at_most(successes, trials, bound)


def _p_value_of_g_mean(_: GoalMeasure, sense: str, bound: float, counts: Counts, __: Any) -> Any:
    if sense == "<=":
        raise InputError(
            f"The goal g_mean <= {bound} cannot be certified.", "Set an upper bound on recall or specificity instead."
        )
    return bounds.product_at_least((counts.tp, counts.positives), (counts.tn, counts.negatives), bound**2)


def _p_value_of_cost(_: GoalMeasure, sense: str, bound: float, counts: Counts, cost: Array | None) -> Any:
    assert cost is not None
    assert sense == "<="
    cells = np.array([counts.tn, counts.fp, counts.fn, counts.tp])
    return bounds.mean_at_most(cells, np.asarray(cost).ravel(), bound)


_TESTS: dict[str, Callable[..., Any]] = {"g_mean": _p_value_of_g_mean, COST: _p_value_of_cost}

_TRADE_OFFS = {
    "recall": "false_alarm_rate",
    "miss_rate": "false_alarm_rate",
    "specificity": "recall",
    "false_alarm_rate": "recall",
    "precision": "recall",
    "flagged_share": "recall",
    "accuracy": "recall",
    "f1": "f1",
    "g_mean": "g_mean",
    COST: COST,
    REFERRED: "recall",
}
GOAL_MEASURES = {name: GoalMeasure(**vars(MEASURES[name]), trade_off=other) for name, other in _TRADE_OFFS.items()}

recall, miss_rate, specificity, false_alarm_rate, precision = (
    GOAL_MEASURES[name] for name in ("recall", "miss_rate", "specificity", "false_alarm_rate", "precision")
)
flagged_share, accuracy, f1, g_mean, expected_cost, referred_share = (
    GOAL_MEASURES[name] for name in ("flagged_share", "accuracy", "f1", "g_mean", COST, REFERRED)
)


def goal_measure(name: Any, argument: str) -> GoalMeasure:
    """Return the measure of this name or synonym; `argument` is what error messages name."""
    if isinstance(name, GoalMeasure):
        return name
    return GOAL_MEASURES[find_measure(name, argument, GOAL_MEASURES).name]
