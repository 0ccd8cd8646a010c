"""The cost at which a rate has a given value on average over cross-validation.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), §3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from skewboost.errors import InputError, warn_caller
from skewboost.evaluate.running import IncompleteResultWarning, check_classifier, import_pandas, is_classifier_object
from skewboost.evaluate.staged_curves import over_fits
from skewboost.evaluate.sweeps import Plan, Setting, Sweep, plan_of, weighted
from skewboost.meta.cost_passing import CostPassing, cost_for_owner
from skewboost.meta.inner_labels import plain
from skewboost.metrics.measures import BINARY, find_measure
from skewboost.parameters import check_arguments, integer, number, one_of, refusal
from skewboost.typing import Array

FIRST_STEP = 0.05  # of the logarithm of the cost
FINEST = 1e-4  # costs that differ by less are not told apart
NEARBY, CLOSEST = 5e-3, 1e-7  # the spacing of costs that are tried beside a jump, at most and at least
BESIDE = 8  # of them on either side, before it is halved
FALLING = ("miss_rate", "specificity", "precision", "negative_predictive_value")  # with the cost of a miss
UNBOUNDED = ("cost", "log_loss")  # the measures that may be above 1


@dataclass(frozen=True)
class RateMatch:
    """The result of `match_rate`.

    Attributes
    ----------
    measure : str
        The measure.
    rate, tolerance : float
        What its mean should be.
    met : bool
        Whether it is, at `cost`. This is about the rows of the cross-validation on which the cost was chosen. It is no
        evidence about new rows, for which `skewboost.GoalSearchCV` has certificates.
    cost : float
        The cost of a miss in false alarms (or the argument of the function that makes estimators). If the rate is met
        at several of the costs that were tried, it is the one with the smallest mean error; if at none, the one that
        comes closest.
    vary : {"miss", "false_alarm"}
        Which of the two costs was varied.
    estimator : classifier
        An unfitted copy with this cost. If costs are passed as weights, it is the estimator itself.
    measures : tuple of str
        The names that `values`, `mean` and `spread` take.
    n_fits : int
        The number of folds times repeats.
    tried : list of (float, float)
        The costs that were tried, in this order, and the mean of the measure at each.
    complete : bool
        Whether the search came to its end; False after Ctrl-C.
    """

    measure: str
    rate: float
    tolerance: float
    met: bool
    cost: float
    vary: str
    estimator: Any
    measures: tuple[str, ...]
    n_fits: int
    tried: list[tuple[float, float]]
    _values: dict[str, Array] = field(repr=False, default_factory=dict)
    complete: bool = True

    def values(self, measure: str | None = None) -> Array:
        """Return a measure on the test part of each fit at `cost`; None means the one that was matched."""
        return self._values[find_measure(measure or self.measure, among=self.measures).name]

    def mean(self, measure: str | None = None) -> float:
        """Return the mean over fits, without fits where the measure is NaN."""
        return float(over_fits(self.values(measure))[0])

    def spread(self, measure: str | None = None) -> float:
        """Return the standard deviation over fits."""
        return float(over_fits(self.values(measure))[1])

    def as_frame(self) -> Any:
        """Return a table with a row per cost that was tried."""
        pd = import_pandas()
        return pd.DataFrame(self.tried, columns=["cost", self.measure])

    def __str__(self) -> str:
        asked = f"{self.measure} = {self.rate:g} ± {self.tolerance:g}"
        found = f"{self.mean():.4f} on average over {self.n_fits} test parts, on which the cost was chosen"
        return f"{asked}: {'met' if self.met else 'not met'} at a cost of {self.cost:.6g} ({found})"


def match_rate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: str = "recall",
    rate: float = 0.95,
    tolerance: float = 1e-3,
    vary: str = "miss",
    cv: Any = 5,
    repeats: int = 10,
    max_points: int = 40,
    max_cost: float = 1e6,
    pos_label: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> RateMatch:
    """Find the cost at which a measure has a given mean over the test parts of repeated cross-validation.

    This is how [nyga2010]_ (§3.3, table 3.5) compares cost-sensitive variants at goals such as "a recall of 95 % ±
    0.1 %": each gets the cost at which its mean recall over all folds and runs is that, and then their precision is
    compared. The cost is chosen on the rows that are reported, so the result describes these rows only. To find a model
    that reaches a goal on new rows take `skewboost.GoalSearchCV`.

    The search starts at equal costs, doubles its steps until the mean is on the other side of the rate, and halves the
    step in between. Where the mean jumps across the rate, other costs next to the jump are tried, closer and
    closer to it; if no step goes beyond the rate, costs next to the closest one, and then the ends of the range.

    Parameters
    ----------
    estimator : classifier, or function of a cost that returns one
        Costs are passed through its parameter `cost` or `class_weight`, whose value is replaced, else through weights.
        A function, or any other callable, gets the cost as its only argument and makes the estimator in its own way,
        for example of a variant whose costs are bounded.
    X, y, cv, repeats, pos_label, sample_weight, groups, n_jobs, verbose, random_state
        As in `cost_sweep`. All costs are tried on the same folds.
    measure : str, default="recall"
        A measure of `skewboost.metrics.MEASURES`.
    rate : float, default=0.95
        What its mean should be: from 0 to 1, or at least 0 for the measures "cost" and "log_loss".
    tolerance : float, default=0.001
        How far off it may be. If the range includes 0 or 1, which many costs may reach, the search looks for the costs
        closest to equal ones that do.
    vary : {"miss", "false_alarm"}, default="miss"
        Whether the cost of a miss is varied and that of a false alarm is 1, or the cost of a false alarm is varied and
        that of a miss is 1. It makes a difference for variants that depend on the scale of the costs: some goals are
        reached in the second way only. Without effect if `estimator` is a function, or if costs are passed through
        `class_weight` or weights.
    max_points : int, default=40
        The largest number of costs to try.
    max_cost : float, default=1e6
        Costs from 1/max_cost to max_cost are tried, as far as `max_points` goes; these two themselves come last.
        Variants that spread costs over the rounds, such as `CSRAClassifier`, may need larger ones for goals close to 1.

    Returns
    -------
    RateMatch
        After Ctrl-C it is the best of the costs that were tried on all folds, if there are any, and ``complete`` is
        False, with an `IncompleteResultWarning`.

    Examples
    --------
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import make_fraud
    >>> from skewboost.evaluate import match_rate
    >>> X, y = make_fraud(2000)
    >>> found = match_rate(
    ...     CSRAClassifier(n_estimators=10), X, y, rate=0.8, tolerance=0.01, cv=3, repeats=1, random_state=0
    ... )
    >>> found.met, abs(found.mean() - 0.8) <= 0.01
    (True, True)
    """
    wanted = find_measure(measure, among=BINARY).name
    check_arguments(
        rate=(rate, number(0, None if wanted in UNBOUNDED else 1)),
        tolerance=(tolerance, number(0, None)),
        vary=(vary, one_of("miss", "false_alarm")),
        max_points=(max_points, integer(1)),
        max_cost=(max_cost, number(1, None, open_low=True)),
    )
    if isinstance(estimator, dict | list | tuple):
        raise InputError(f"estimator={estimator!r} must be one estimator.", "Match others in separate calls.")
    makes = callable(estimator) and not isinstance(estimator, type) and not hasattr(estimator, "fit")
    first = _first_made(estimator) if makes else estimator
    if not isinstance(first, str | type):  # of a class, or the name of one, an instance is made
        check_classifier(first)
    plan = plan_of(first, X, y, None, pos_label, sample_weight, groups, cv, repeats, random_state, n_jobs, verbose)
    setting = _settings(plan, vary, estimator if makes else None)
    points = _Points(plan, setting, wanted, float(rate), float(tolerance), int(max_points), float(max_cost))
    complete = True
    try:
        points.search()
    except KeyboardInterrupt:
        if not points.sweeps:
            raise
        complete = False
        message = f"Interrupted after {len(points.sweeps)} costs. The result is the best of them."
        warn_caller(message, IncompleteResultWarning)
    return points.result(vary, complete)


def _first_made(make: Callable[[float], Any]) -> Any:
    """Return what a function makes of equal costs."""
    why_not = refusal(make, 1.0)
    if why_not is not None:
        raise InputError(
            f"estimator={make!r} cannot be called with a cost as its only argument ({why_not}).",
            "Pass a function of a cost, such as lambda cost: CSRAClassifier(cost=cost).",
        )
    made = make(1.0)
    if isinstance(made, type) or not is_classifier_object(made):
        raise InputError(
            f"estimator={make!r} returned {made!r} for a cost of 1, which is not a classifier.",
            "Return an instance of a classifier.",
        )
    return made


def _settings(plan: Plan, vary: str, make: Callable[[float], Any] | None) -> Callable[[float], Setting]:
    """Return the function from a cost of a miss, in false alarms, to the estimator and the training parts."""
    (estimator,) = plan.estimators.values()
    parts, problem = [plan.sample.part(train) for train, _ in plan.folds], plan.problem
    passing = None if make else CostPassing.of(estimator, problem.classes, problem.pos_label)
    if vary == "false_alarm" and (passing is None or passing.scale_free):
        how = "a function makes the estimator" if passing is None else f"costs are passed by {passing.passed_by}"
        raise InputError(f"vary='false_alarm' has no effect if {how}.", "Leave it at 'miss'.")

    def made(cost: float) -> Setting:
        if passing is None:
            assert make is not None
            return problem.copy_of(make(cost)), parts
        if passing.cost_param is None:
            return estimator, [weighted(part, problem.pos_label, cost) for part in parts]
        of_miss, of_alarm = (cost, 1.0) if vary == "miss" else (1.0, 1.0 / cost)
        costs = {plain(problem.pos_label): of_miss, plain(problem.neg_label): of_alarm}
        value = cost_for_owner(estimator, passing.cost_param, costs)
        return clone(estimator).set_params(**{passing.cost_param: value}), parts

    return made


class _Points:
    """The costs that were tried, by their logarithms."""

    def __init__(
        self,
        plan: Plan,
        make: Callable[[float], Setting],
        measure: str,
        rate: float,
        tolerance: float,
        most: int,
        max_cost: float,
    ) -> None:
        self.plan, self.make = plan, make
        self.measure, self.rate, self.tolerance = measure, rate, tolerance
        self.most, self.max_cost, self.farthest = most, max_cost, math.log(max_cost)
        self.at_end = rate + tolerance >= 1.0 or rate - tolerance <= 0.0
        self.sweeps: dict[float, tuple[Any, Sweep]] = {}

    @property
    def full(self) -> bool:
        """Whether no more costs may be tried."""
        return len(self.sweeps) >= self.most

    def cost(self, u: float) -> float:
        """Return exp(u); at the ends the cost that the user gave, without rounding."""
        if abs(u) == self.farthest:
            return self.max_cost if u > 0.0 else 1.0 / self.max_cost
        return math.exp(u)

    def off(self, u: float) -> float:
        """Return how far the mean at the cost exp(u) is from the rate; NaN counts as far."""
        if u not in self.sweeps:
            cost = self.cost(u)
            setting = self.make(cost)
            self.sweeps[u] = setting[0], self.plan.run("cost", np.array([cost]), [setting])[0]
        mean = float(self.sweeps[u][1].mean(self.measure)[0])
        return -math.inf if math.isnan(mean) else mean - self.rate

    def hits(self, u: float) -> bool:
        """Whether the rate is met, up to rounding."""
        return abs(self.off(u)) <= self.tolerance + 1e-12

    @property
    def over(self) -> bool:
        """Whether the rate is met at one of the costs, or no more may be tried."""
        return self.full or any(map(self.hits, list(self.sweeps)))

    def search(self) -> None:
        """Try costs until one meets the rate, or no more may be tried."""
        if self.hits(0.0):
            return
        short = []  # the directions in which no step went beyond the rate
        for sign in self._directions():
            gap = self._outward(sign)
            if gap is None:
                short.append(sign)
            else:
                self._between(*gap)
            if self.over:
                return
        # Steps double, so they stop short of the ends, which come last: few goals need costs so far away
        outermost = {sign: max((u for u in self.sweeps if u * sign > 0.0), key=abs, default=0.0) for sign in short}
        closest = min(abs(self.off(u)) for u in self.sweeps)
        self._beside_best(kept=sum(abs(self.off(u)) <= closest for u in outermost.values()))
        for sign, last in outermost.items():
            if self.over:
                return
            if self._beyond(sign * self.farthest):
                self._between(last, sign * self.farthest)
        if not self.over:
            self._beside_best()

    def _beside_best(self, kept: int = 0) -> None:
        """Halve the gaps next to the closest cost: the mean may rise and fall, and steps miss where it peaks.

        So many of the costs that may be tried are kept for the ends that the mean comes closest to.
        """
        while len(self.sweeps) < self.most - kept:
            order = sorted(self.sweeps)
            k = min(range(len(order)), key=lambda i: (abs(self.off(order[i])), abs(order[i])))
            near = [0.5 * (a + b) for a, b in pairwise(order[max(k - 1, 0) : k + 2]) if b - a > FINEST]
            if not near:
                return
            for u in near:
                if len(self.sweeps) < self.most - kept and self.hits(u):
                    return

    def _directions(self) -> Iterator[float]:
        """Yield the direction in which the measure should come closer, then the other."""
        more = (self.measure not in FALLING) == (self.off(0.0) < 0.0)
        yield from (1.0, -1.0) if more else (-1.0, 1.0)

    def _outward(self, sign: float) -> tuple[float, float] | None:
        """Double the steps until the mean is beyond the rate; return the last two costs."""
        before, step = 0.0, FIRST_STEP
        while step <= self.farthest and not self.full:
            u = sign * step
            if self._beyond(u):
                return before, u
            before, step = u, 2.0 * step
        return None

    def _beyond(self, u: float) -> bool:
        """Whether the rate lies between the means at equal costs and at this cost, or is met."""
        return self.hits(u) or (self.off(u) > 0.0) != (self.off(0.0) > 0.0)

    def _between(self, near: float, far: float) -> None:
        """Halve the gap until a cost meets the rate; if only a jump is left, try costs on either side of it."""
        while not self.full and abs(far - near) > FINEST:
            if self.hits(far) and not self.at_end:
                return
            middle = 0.5 * (near + far)
            near, far = (near, middle) if self._beyond(middle) else (middle, far)
        # Costs that compound matter by their distance to 1; at a finer spacing, means that vary by chance come closer
        spacing = min(NEARBY, max(FINEST, 0.05 * abs(far)))
        while not self.full and not self.hits(far) and spacing > CLOSEST:
            for u in (far + sign * k * spacing for k in range(1, BESIDE + 1) for sign in (1.0, -1.0)):
                if not self.full and abs(u) <= self.farthest and self.hits(u):
                    return
            spacing *= 0.5

    def result(self, vary: str, complete: bool) -> RateMatch:
        """Return the cost that meets the rate with the smallest error, or comes closest."""

        def rank(u: float) -> tuple[bool, float, float]:
            error = float(self.sweeps[u][1].mean("error")[0])
            return not self.hits(u), error if self.hits(u) else abs(self.off(u)), abs(u)

        best = min(self.sweeps, key=rank)
        estimator, sweep = self.sweeps[best]
        tried = [(self.cost(u), float(s.mean(self.measure)[0])) for u, (_, s) in self.sweeps.items()]
        values = {m: sweep.values(m)[0] for m in sweep.measures}
        return RateMatch(
            self.measure, self.rate, self.tolerance, self.hits(best), self.cost(best), vary, estimator,
            sweep.measures, sweep.n_fits, tried, values, complete,
        )  # fmt: skip
