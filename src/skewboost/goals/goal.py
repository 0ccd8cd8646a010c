"""Goals: what decisions have to achieve, in words that can be checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from skewboost.errors import InputError, InputTypeError
from skewboost.goals.bounds import perfect_needed
from skewboost.goals.measures import COST, Measure, measure_of
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

CONDITION = re.compile(
    r"\s*([A-Za-z][\w \-]*?)\s*(>=|<=|≥|≤|=>|=<|>|<|==|=)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(%?)\s*"
)
SENSES = {">=": ">=", "≥": ">=", "=>": ">=", ">": ">=", "<=": "<=", "≤": "<=", "=<": "<=", "<": "<="}
AND = re.compile(r"\s+and\s+|\s*&+\s*|\s*,\s*", re.IGNORECASE)
MANY = 10**8  # more rows than anybody holds out
EXAMPLE = "Write for example 'recall >= 0.95', 'precision >= 30% and recall >= 0.8' or 'false_alarm_rate <= 0.01'."


@dataclass(frozen=True)
class Condition:
    """A measure at least, or at most, at a bound."""

    name: str
    sense: str  # ">=" or "<="
    bound: float

    def __post_init__(self) -> None:
        measure = measure_of(self.name, "goal")
        object.__setattr__(self, "name", measure.name)
        if self.sense not in (">=", "<="):
            raise InputError(f"goal compares by {self.sense!r}; use '>=' or '<='.")
        bound = float(self.bound)
        object.__setattr__(self, "bound", bound)
        if measure.name != COST and not 0.0 <= bound <= 1.0:
            raise InputError(f"goal asks for {self}, but {measure.name} is a share: give a bound from 0 to 1, or in %.")
        if not np.isfinite(bound):
            raise InputError(f"goal asks for {self}; give a finite bound.")
        if measure.name == COST and self.sense == ">=":
            raise InputError(f"goal asks for {self}. Costs are to be low: use '<='.")
        if bound in (0.0, 1.0) and measure.name != COST and (bound == 0.0) == (self.sense == ">="):
            raise InputError(f"goal asks for {self}, which always holds.")

    @property
    def measure(self) -> Measure:
        """What it is about."""
        return measure_of(self.name, "goal")

    @property
    def as_range(self) -> tuple[str, float, str]:
        """The same, about the share that this one is the rest of where there is one: a miss rate is 1 - recall."""
        if self.name not in _REST_OF:
            return self.name, self.bound, self.sense
        return _REST_OF[self.name], 1.0 - self.bound, "<=" if self.sense == ">=" else ">="

    def met(self, counts: Counts, cost: Array | None = None) -> Any:
        """Whether counts meet it, as they are; a rate of nothing does not."""
        value = self.measure.value(counts, cost)
        return value >= self.bound if self.sense == ">=" else value <= self.bound

    def shortfall(self, counts: Counts, cost: Array | None = None) -> Any:
        """By how much counts miss it; 0 where they do not."""
        short = np.negative(self.margin(counts, cost))
        return np.where(np.isinf(short), 1.0, np.maximum(short, 0.0))[()]

    def margin(self, counts: Counts, cost: Array | None = None) -> Any:
        """By how much counts do better, larger being better and a rate of nothing worst."""
        margin = self.measure.value(counts, cost) - self.bound
        margin = margin if self.sense == ">=" else np.negative(margin)
        return np.where(np.isnan(margin), -np.inf, margin)[()]

    def doubt(self, counts: Counts, cost: Array | None = None) -> Any:
        """The p-value of its opposite."""
        return self.measure.doubt(self.sense, self.bound, counts, cost)

    def limit(self, counts: Counts, delta: float, cost: Array | None = None) -> float:
        """The strictest bound that these counts show with confidence 1 - delta."""
        if self.name == COST:
            assert cost is not None
            good, bad = float(np.max(cost)), float(np.min(cost))
        else:
            good, bad = (0.0, 1.0) if self.sense == ">=" else (1.0, 0.0)
        for _ in range(60):  # `good` is shown, `bad` is not
            middle = 0.5 * (good + bad)
            shown = self.measure.doubt(self.sense, middle, counts, cost) <= delta
            good, bad = (middle, bad) if shown else (good, middle)
        return good

    def perfect_rows(self, delta: float, cost: Array | None = None) -> float:
        """How many held-out rows (`Measure.of_what`) it takes to show it if none of them goes wrong."""
        if self.name not in ("g_mean", COST):
            share = self.bound if self.sense == ">=" else 1.0 - self.bound
            return perfect_needed(share / (2.0 - share) if self.name == "f1" else share, delta)
        n = 1
        while n < MANY and self.doubt(self._perfect(n, cost), cost) > delta:
            n = max(n + 1, int(1.02 * n))
        return float(n) if n < MANY else float("inf")

    def _perfect(self, n: int, cost: Array | None) -> Counts:
        """Answers that could not be better: on n rows of both classes, or on n of the cheapest kind."""
        if self.name == "g_mean":
            return Counts(n, 0, 0, n)
        cells = np.where(np.arange(4) == np.argmin(np.asarray(cost).ravel()), n, 0)
        tn, fp, fn, tp = cells.tolist()
        return Counts(tp, fp, fn, tn)

    def __str__(self) -> str:
        return f"{self.name} {self.sense} {self.bound:g}"


@dataclass(frozen=True)
class Goal:
    """Conditions that all have to hold.

    Examples
    --------
    >>> from skewboost.goals import Goal
    >>> print(Goal.of("recall > 95% and FPR <= 0.02"))
    recall >= 0.95 and false_alarm_rate <= 0.02
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        least = {c: c.as_range[1] for c in self.conditions if c.as_range[2] == ">="}
        most = {c: c.as_range[1] for c in self.conditions if c.as_range[2] == "<="}
        for (low, least_value), (high, most_value) in product(least.items(), most.items()):
            if low.as_range[0] == high.as_range[0] and least_value > most_value + 1e-12:
                raise InputError(f"goal asks for {low} and {high}, which cannot both hold.")

    def __bool__(self) -> bool:
        raise InputTypeError(
            "A goal is neither true nor false, and Python's 'and' and a <= b <= c would drop a condition. Join "
            "conditions by &: (recall >= 0.9) & (precision >= 0.3)."
        )

    @classmethod
    def of(cls, goal: Any) -> Goal:
        """A goal from whatever the user gives."""
        if isinstance(goal, Goal):
            return goal
        if isinstance(goal, Condition):
            return cls((goal,))
        if not isinstance(goal, str):
            raise InputError(f"goal={goal!r} is neither text nor a Goal. {EXAMPLE}")
        if re.search(r"\d,\d", goal):
            raise InputError(f"goal={goal!r} has a comma within a number. Write a point: 0.95, or 95%.")
        return cls(tuple(_condition(part, goal) for part in re.split(AND, goal.strip())))

    def __and__(self, other: Any) -> Goal:
        return Goal((*self.conditions, *Goal.of(other).conditions))

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    @property
    def needs_cost(self) -> bool:
        """Whether a cost matrix must be at hand."""
        return any(c.measure.needs_cost for c in self.conditions)

    def met(self, counts: Counts, cost: Array | None = None) -> Any:
        """Whether all conditions hold for these counts."""
        return reduce(np.logical_and, (c.met(counts, cost) for c in self.conditions))

    def shortfall(self, counts: Counts, cost: Array | None = None) -> Any:
        """By how much the conditions are missed, added up."""
        return sum(c.shortfall(counts, cost) for c in self.conditions)

    def margins(self, counts: Counts, cost: Array | None = None) -> list[Any]:
        """By how much counts do better than each condition asks."""
        return [c.margin(counts, cost) for c in self.conditions]

    def doubt(self, counts: Counts, cost: Array | None = None) -> Any:
        """The p-value of "one of the conditions does not hold": the largest of theirs."""
        return reduce(np.maximum, (c.doubt(counts, cost) for c in self.conditions))

    @property
    def rising(self) -> bool | None:
        """Whether raising the threshold can only help (True), only harm (False), or either (None)."""
        senses = {_RISING.get((c.name, c.sense)) for c in self.conditions}
        return senses.pop() if len(senses) == 1 else None


_REST_OF = {"miss_rate": "recall", "false_alarm_rate": "specificity"}

# What raising the threshold does to a condition, whatever the data are.
_RISING = {
    ("recall", ">="): False,
    ("recall", "<="): True,
    ("miss_rate", "<="): False,
    ("miss_rate", ">="): True,
    ("specificity", ">="): True,
    ("specificity", "<="): False,
    ("false_alarm_rate", "<="): True,
    ("false_alarm_rate", ">="): False,
    ("flagged_share", "<="): True,
    ("flagged_share", ">="): False,
}


def _condition(text: str, goal: str) -> Condition:
    found = CONDITION.fullmatch(text)
    if found is None:
        raise InputError(f"goal={goal!r} cannot be read at {text!r}. {EXAMPLE}")
    name, sense, bound, percent = found.groups()
    if sense not in SENSES:
        raise InputError(f"goal={goal!r} asks for an exact value; data can only show bounds: use '>=' or '<='.")
    try:
        value = float(bound)
    except ValueError:
        raise InputError(f"goal={goal!r} has the bound {bound!r}, which is no number. {EXAMPLE}") from None
    return Condition(name, SENSES[sense], value / 100.0 if percent else value)
