"""What goals are about: measures of decisions, each with the evidence that counts on held-out rows are for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost.errors import InputError
from skewboost.goals import bounds
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.goals.goal import Goal

COST = "expected_cost"


@dataclass(frozen=True)
class Measure:
    """A number that follows from counts of right and wrong answers; compare it with a number to get a goal.

    Examples
    --------
    >>> from skewboost.goals import false_alarm_rate, recall
    >>> print((recall >= 0.95) & (false_alarm_rate <= 0.1))
    recall >= 0.95 and false_alarm_rate <= 0.1
    """

    name: str
    higher_is_better: bool
    opposite: str  # what there is to gain once a goal on this measure is met
    of_what: str  # the rows that a share is one of
    needs_cost: bool = False

    @property
    def is_share(self) -> bool:
        """Whether it is a share of some rows, so that counts are binomial."""
        return self.name in _SHARES

    @property
    def classes(self) -> frozenset[int] | None:
        """The classes that it is about apart from each other, 0 being the negative one; None: all rows together."""
        return _CLASSES.get(self.of_what)

    def value(self, counts: Counts, cost: Array | None = None) -> Any:
        """The measure."""
        return counts.average_cost(cost) if self.needs_cost and cost is not None else getattr(counts, self.name)

    def __ge__(self, bound: float) -> Goal:
        from skewboost.goals.goal import Condition, Goal

        return Goal((Condition(self.name, ">=", bound),))

    def __le__(self, bound: float) -> Goal:
        from skewboost.goals.goal import Condition, Goal

        return Goal((Condition(self.name, "<=", bound),))

    __gt__, __lt__ = __ge__, __le__  # as in text: data cannot tell "more than" from "at least"

    def better(self, value: Any) -> Any:
        """The value with the sign that makes larger better; NaN is worst."""
        signed = value if self.higher_is_better else np.negative(value)
        return np.where(np.isnan(signed), -np.inf, signed)[()]

    def doubt(self, sense: str, bound: float, counts: Counts, cost: Array | None = None) -> Any:
        """The p-value of "the condition is not met"."""
        doubt: Callable[..., Any] = _DOUBT.get(self.name, _doubt_of_share)
        return doubt(self, sense, bound, counts, cost)


_BOTH = "positives and as many negatives"
_CLASSES = {"negatives": frozenset({0}), "positives": frozenset({1}), _BOTH: frozenset({0, 1})}

# The share that a measure is: the part and the whole. (F1 >= b just where TP / (TP + FP + FN) >= b / (2 - b).)
_SHARES: dict[str, Callable[[Counts], tuple[Any, Any]]] = {
    "recall": lambda c: (c.tp, c.positives),
    "miss_rate": lambda c: (c.fn, c.positives),
    "specificity": lambda c: (c.tn, c.negatives),
    "false_alarm_rate": lambda c: (c.fp, c.negatives),
    "precision": lambda c: (c.tp, c.flagged),
    "flagged_share": lambda c: (c.flagged, c.total),
    "accuracy": lambda c: (c.tp + c.tn, c.total),
    "f1": lambda c: (c.tp, c.tp + c.fp + c.fn),
}


def _doubt_of_share(measure: Measure, sense: str, bound: float, counts: Counts, _: Any) -> Any:
    part, whole = _SHARES[measure.name](counts)
    if measure.name == "f1":
        bound = bound / (2.0 - bound)
    return bounds.at_least(part, whole, bound) if sense == ">=" else bounds.at_most(part, whole, bound)


def _doubt_of_g_mean(_: Measure, sense: str, bound: float, counts: Counts, __: Any) -> Any:
    if sense == "<=":
        raise InputError(f"g_mean <= {bound} cannot be certified. Ask for recall or specificity <= a number instead.")
    return bounds.product_at_least((counts.tp, counts.positives), (counts.tn, counts.negatives), bound**2)


def _doubt_of_cost(_: Measure, sense: str, bound: float, counts: Counts, cost: Array | None) -> Any:
    assert cost is not None
    if sense == ">=":
        raise InputError(f"expected_cost >= {bound} is no goal. Ask for expected_cost <= a number.")
    cells = np.array([counts.tn, counts.fp, counts.fn, counts.tp])
    return bounds.mean_at_most(cells, np.asarray(cost).ravel(), bound)


_DOUBT: dict[str, Callable[..., Any]] = {"g_mean": _doubt_of_g_mean, COST: _doubt_of_cost}

recall = Measure("recall", True, "false_alarm_rate", "positives")
miss_rate = Measure("miss_rate", False, "false_alarm_rate", "positives")
specificity = Measure("specificity", True, "recall", "negatives")
false_alarm_rate = Measure("false_alarm_rate", False, "recall", "negatives")
precision = Measure("precision", True, "recall", "flagged rows")
flagged_share = Measure("flagged_share", False, "recall", "rows")
accuracy = Measure("accuracy", True, "recall", "rows")
f1 = Measure("f1", True, "f1", "rows that are positive or flagged")
g_mean = Measure("g_mean", True, "g_mean", _BOTH)
expected_cost = Measure(COST, False, COST, "rows", needs_cost=True)

MEASURES = {
    m.name: m
    for m in (
        *(recall, miss_rate, specificity, false_alarm_rate, precision),
        *(flagged_share, accuracy, f1, g_mean, expected_cost),
    )
}
SYNONYMS = {
    "sensitivity": "recall",
    "tpr": "recall",
    "true_positive_rate": "recall",
    "fnr": "miss_rate",
    "tnr": "specificity",
    "true_negative_rate": "specificity",
    "fpr": "false_alarm_rate",
    "false_positive_rate": "false_alarm_rate",
    "false_alarms": "false_alarm_rate",
    "ppv": "precision",
    "flagged": "flagged_share",
    "share_flagged": "flagged_share",
    "share_of_flagged_cases": "flagged_share",
    "f1_score": "f1",
    "gmean": "g_mean",
    "cost": COST,
    "expected_cost_per_case": COST,
}


def measure_of(name: Any, argument: str) -> Measure:
    """The measure of this name, however it is spelled."""
    if isinstance(name, Measure):
        return name
    if not isinstance(name, str):
        raise InputError(f"{argument}={name!r} is no measure. Take one of {', '.join(MEASURES)}.")
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    key = SYNONYMS.get(key, key)
    if key not in MEASURES:
        raise InputError(f"{argument} speaks of {name.strip()!r}, which is none of {', '.join(MEASURES)}.")
    return MEASURES[key]
