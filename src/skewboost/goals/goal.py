"""Goals: what a model has to achieve, as conditions that can be tested."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np

from skewboost.errors import InputError, InputTypeError
from skewboost.goals.bounds import perfect_needed
from skewboost.goals.goal_measures import COST, REFERRED, GoalMeasure, goal_measure
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

CONDITION = re.compile(
    r"\s*([A-Za-z][\w \-]*?)\s*(>=|<=|≥|≤|=>|=<|>|<|==|=)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(%?)\s*"
)
SENSES = {">=": ">=", "≥": ">=", "=>": ">=", ">": ">=", "<=": "<=", "≤": "<=", "=<": "<=", "<": "<="}
AND = re.compile(r"\s+and\s+|\s*&+\s*|\s*,\s*", re.IGNORECASE)
MANY = 10**8  # more rows than anyone holds out
EXAMPLE = "Write, for example, 'recall >= 0.95', 'precision >= 30% and recall >= 0.8' or 'false_alarm_rate <= 0.01'."


@dataclass(frozen=True)
class Condition:
    """A lower or an upper bound on a measure."""

    name: str
    sense: str  # ">=" or "<="
    bound: float

    def __post_init__(self) -> None:
        measure = goal_measure(self.name, "goal")
        object.__setattr__(self, "name", measure.name)
        if self.sense not in (">=", "<="):
            raise InputError(f"goal compares with {self.sense!r}.", "Use '>=' or '<='.")
        bound = float(self.bound)
        object.__setattr__(self, "bound", bound)
        if measure.name != COST and not 0.0 <= bound <= 1.0:
            raise InputError(
                f"goal has the condition {self}, but {measure.name} is between 0 and 1.",
                "Give a bound from 0 to 1, or in %.",
            )
        if not np.isfinite(bound):
            raise InputError(f"goal has the condition {self}.", "Give a finite bound.")
        if measure.name == COST and self.sense == ">=":
            raise InputError(f"goal has the condition {self}, but costs should be low.", "Use '<='.")
        if measure.name == REFERRED and (self.sense == ">=" or bound == 0.0):
            raise InputError(
                f"goal has the condition {self}, but a goal on referred_share says how many rows may be referred.",
                "Use '<=' with a bound above 0, or leave it out if no row is to be referred.",
            )
        if bound in (0.0, 1.0) and measure.name != COST and (bound == 0.0) == (self.sense == ">="):
            raise InputError(f"goal has the condition {self}, which always holds.", "Choose a stricter bound.")

    @property
    def measure(self) -> GoalMeasure:
        """The measure that it is about."""
        return goal_measure(self.name, "goal")

    @property
    def normalised(self) -> tuple[str, float, str]:
        """The same condition on recall instead of miss rate, and on specificity instead of false-alarm rate."""
        if self.name not in _COMPLEMENTS:
            return self.name, self.bound, self.sense
        return _COMPLEMENTS[self.name], 1.0 - self.bound, "<=" if self.sense == ">=" else ">="

    def met(self, counts: Counts, cost: Array | None = None) -> Any:
        """Whether the counts themselves meet it; a rate with the denominator 0 does not."""
        value = self.measure.value(counts, cost)
        return value >= self.bound if self.sense == ">=" else value <= self.bound

    def shortfall(self, counts: Counts, cost: Array | None = None) -> Any:
        """Return by how much counts fall short of the bound; 0 if they meet it."""
        short = np.negative(self.margin(counts, cost))
        return np.where(np.isinf(short), 1.0, np.maximum(short, 0.0))[()]

    def margin(self, counts: Counts, cost: Array | None = None) -> Any:
        """Return by how much counts exceed the bound; larger is better, and a rate with the denominator 0 is worst."""
        margin = self.measure.value(counts, cost) - self.bound
        margin = margin if self.sense == ">=" else np.negative(margin)
        return np.where(np.isnan(margin), -np.inf, margin)[()]

    def p_value(self, counts: Counts, cost: Array | None = None) -> Any:
        """Return the p-value of "the condition is not met"."""
        return self.measure.p_value(self.sense, self.bound, counts, cost)

    def limit(self, counts: Counts, delta: float, cost: Array | None = None) -> float:
        """Return the strictest bound that these counts show with confidence 1 - delta."""
        if self.name == COST:
            assert cost is not None
            good, bad = float(np.max(cost)), float(np.min(cost))
        else:
            good, bad = (0.0, 1.0) if self.sense == ">=" else (1.0, 0.0)
        for _ in range(60):  # the counts show `good`, but not `bad`
            middle = 0.5 * (good + bad)
            shown = self.measure.p_value(self.sense, middle, counts, cost) <= delta
            good, bad = (middle, bad) if shown else (good, middle)
        return good

    def perfect_rows(self, delta: float, cost: Array | None = None) -> float:
        """Return how many held-out rows (`Measure.denominator`) are needed if all predictions are right."""
        if self.name not in ("g_mean", COST):
            bound = self.bound if self.sense == ">=" else 1.0 - self.bound
            return perfect_needed(bound / (2.0 - bound) if self.name == "f1" else bound, delta)
        n = 1
        while n < MANY and self.p_value(self._perfect(n, cost), cost) > delta:
            n = max(n + 1, int(1.02 * n))
        return float(n) if n < MANY else float("inf")

    def _perfect(self, n: int, cost: Array | None) -> Counts:
        """Return the best possible counts: on n rows of both classes, or on n rows of the least cost."""
        if self.name == "g_mean":
            return Counts(n, 0, 0, n)
        tn, fp, fn, tp = np.where(np.arange(4) == np.argmin(cost), n, 0).tolist()  # type: ignore[arg-type]
        return Counts(tp, fp, fn, tn)

    def __str__(self) -> str:
        return f"{self.name} {self.sense} {self.bound:g}"


@dataclass(frozen=True)
class Goal:
    """Conditions that must all hold.

    Examples
    --------
    >>> from skewboost.goals import Goal
    >>> print(Goal.of("recall > 95% and FPR <= 0.02"))
    recall >= 0.95 and false_alarm_rate <= 0.02
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        for low, high in permutations(self.conditions, 2):
            (measure, least, sense), (other, most, other_sense) = low.normalised, high.normalised
            if measure == other and (sense, other_sense) == (">=", "<=") and least > most + 1e-12:
                raise InputError(f"goal asks for {low} and {high}, which cannot both hold.", "Drop one of them.")

    def __bool__(self) -> bool:
        raise InputTypeError(
            "A goal has no truth value: Python's 'and', and a <= b <= c, would drop a condition.",
            "Join conditions with &: (recall >= 0.9) & (precision >= 0.3).",
        )

    @classmethod
    def of(cls, goal: Any) -> Goal:
        """Return a goal from text, a condition or a goal."""
        if isinstance(goal, Goal):
            return goal
        if isinstance(goal, Condition):
            return cls((goal,))
        if not isinstance(goal, str):
            raise InputError(f"goal={goal!r} is neither text nor a Goal.", EXAMPLE)
        if re.search(r"\d,\d", goal):
            raise InputError(f"goal={goal!r} has a comma within a number.", "Write a point: 0.95, or 95%.")
        return cls(tuple(_condition(part, goal) for part in re.split(AND, goal.strip())))

    def __and__(self, other: Any) -> Goal:
        return Goal((*self.conditions, *Goal.of(other).conditions))

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    @property
    def refers(self) -> bool:
        """Whether rows may be referred. All conditions but that on `referred_share` are then about decided rows."""
        return any(c.name == REFERRED for c in self.conditions)

    @property
    def first(self) -> Condition:
        """The first condition that is about decided rows."""
        found = next((c for c in self.conditions if c.name != REFERRED), None)
        if found is None:
            raise InputError(
                f"goal={str(self)!r} says how many rows may be referred, but not what must hold for the others.",
                "Add a condition: 'precision >= 90% and referred_share <= 10%'.",
            )
        return found

    @property
    def needs_cost(self) -> bool:
        """Whether a cost matrix is needed."""
        return any(c.measure.needs_cost for c in self.conditions)

    def met(self, counts: Counts, cost: Array | None = None) -> Any:
        """Whether all conditions hold for these counts."""
        return reduce(np.logical_and, (c.met(counts, cost) for c in self.conditions))

    def shortfall(self, counts: Counts, cost: Array | None = None) -> Any:
        """Return the sum of the shortfalls of all conditions."""
        return sum(c.shortfall(counts, cost) for c in self.conditions)

    def margins(self, counts: Counts, cost: Array | None = None) -> list[Any]:
        """Return the margin of each condition."""
        return [c.margin(counts, cost) for c in self.conditions]

    def p_value(self, counts: Counts, cost: Array | None = None) -> Any:
        """Return the p-value of "some condition does not hold": the largest of their p-values."""
        return reduce(np.maximum, (c.p_value(counts, cost) for c in self.conditions))

    @property
    def rising(self) -> bool | None:
        """Whether a higher threshold can only help (True), only harm (False), or do either (None)."""
        rises = {(c.sense == ">=") == _GROWS[c.name] if c.name in _GROWS else None for c in self.conditions}
        return rises.pop() if len(rises) == 1 else None


_COMPLEMENTS = {"miss_rate": "recall", "false_alarm_rate": "specificity"}

# Whether a measure grows with the threshold, for any data; the other measures may do either.
_GROWS = {"recall": False, "miss_rate": True, "specificity": True, "false_alarm_rate": False, "flagged_share": False}


def _condition(text: str, goal: str) -> Condition:
    found = CONDITION.fullmatch(text)
    if found is None:
        raise InputError(f"goal={goal!r} cannot be read at {text!r}.", EXAMPLE)
    name, sense, bound, percent = found.groups()
    if sense not in SENSES:
        raise InputError(
            f"goal={goal!r} asks for an exact value, but data can only show bounds.",
            "Use '>=' or '<='. skewboost.evaluate.match_rate finds the cost at which cross-validation has that value.",
        )
    try:
        value = float(bound)
    except ValueError:
        raise InputError(f"goal={goal!r} has the bound {bound!r}, which is not a number.", EXAMPLE) from None
    return Condition(name, SENSES[sense], value / 100.0 if percent else value)
