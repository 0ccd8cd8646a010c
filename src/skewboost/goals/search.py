"""The search for cost ratios that meet a goal, and for the best of them.

Each cost ratio is judged by the out-of-fold scores of one cross-validation. The search is over ln(C+/C-): outward from
equal and from balanced costs until results stop improving, then by halving the gaps next to the best, and those in
which the goal is lost. Where a variant depends on more than the ratio of the costs, the search is made twice: with the
cost of a false alarm fixed at 1, and with the cost of a miss fixed at 1 [nyga2010]_.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), §3.3: only the second reached some goals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.goals.goal import Goal
from skewboost.goals.goal_measures import GOAL_MEASURES, REFERRED, GoalMeasure, goal_measure
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import Counts, ReferralCounts, check_scores
from skewboost.typing import Array

STEP = math.log(4.0)  # outward
FINEST = math.log(1.02)  # gaps are not halved below this
COMPOUND_FINEST = math.log(1.0005)  # nor below this where the goal is lost and decisions change
CHANGED = 0.02  # the share of the rows whose decisions change, where it matters
FARTHEST = math.log(1e9)
PATIENCE = 2  # steps outward without improvement before the search turns back
OUTWARD = 0.6  # the largest fraction of the points that is spent outward
MISS_UP, ALARM_DOWN = "miss up", "false alarm down"
MAX_THRESHOLDS = 2000
MAX_PAIRED = 160  # thresholds of which pairs are formed
DIGITS, TIE = 12, 1e-12  # smaller differences count as ties


@dataclass(frozen=True)
class Aim:
    """The goal, and what decides among models that reach it."""

    goal: Goal
    then: GoalMeasure
    cost: Array | None = None  # matrix [true, predicted], the negative class first
    delta: float | None = None  # 1 - confidence; None: there will be no certificate
    scale: tuple[float, float] = (1.0, 1.0)  # held-out examples per weight of 1 in the search: negatives, positives

    @property
    def n_thresholds(self) -> int:
        """The number of thresholds to consider; fewer where the p-values are slow to compute."""
        fast = all(c.measure.is_proportion for c in self.goal.conditions)
        most = MAX_PAIRED if self.refers else MAX_THRESHOLDS
        return most if fast or self.delta is None else most // 10 if not self.refers else most // 4

    @property
    def refers(self) -> bool:
        """Whether rows may be referred, so that there are two thresholds."""
        return self.goal.refers or self.then.name == REFERRED

    def p_value(self, counts: Counts) -> Any:
        """Return the p-value of a certificate if the held-out rows were like these."""
        return self.goal.p_value(counts.scaled(*self.scale), self.cost)

    def promising(self, counts: Counts) -> Any:
        """Whether counts like these would meet the goal, with the required confidence if there is one."""
        return self.goal.met(counts, self.cost) if self.delta is None else self.p_value(counts) <= self.delta

    def merit(self, counts: Counts) -> Any:
        """Return the measure that decides among models that reach the goal, with the sign that makes larger better."""
        return self.then.utility(self.then.value(counts, self.cost))

    def preferred(self, counts: Counts, among: Array) -> int:
        """Return the best entry by `then`; ties are broken by the goal's own measures, then by order."""
        for values in (self.merit(counts), *self.goal.margins(counts, self.cost)):
            among = among[values[among] >= values[among].max() - TIE]
        return int(among[0])

    def best(self, counts: Counts) -> int:
        """Return the entry that is best, or comes closest to the goal."""
        promising = self.promising(counts)
        if promising.any():
            return self.preferred(counts, np.flatnonzero(promising))
        short = self.goal.shortfall(counts, self.cost)
        near = short <= short.min() + TIE
        return int(np.argmin(np.where(near, 0.0 if self.delta is None else self.p_value(counts), np.inf)))

    def rank(self, counts: Counts) -> tuple[float, ...]:
        """Return a key to compare counts by; larger is better."""
        if self.promising(counts):
            values = (self.merit(counts), *self.goal.margins(counts, self.cost))
            return (1.0, *(round(float(v), DIGITS) for v in values))
        p_value = 0.0 if self.delta is None else float(self.p_value(counts))
        return (0.0, -float(self.goal.shortfall(counts, self.cost)), -p_value)


def read_aim(search: Any) -> Aim:
    """Return the aim of a `GoalSearchCV` whose `classes_` and `pos_label_` are known."""
    goal = Goal.of(search.goal)
    then = goal_measure(goal.first.measure.trade_off if search.then is None else search.then, "then")
    matrix = _cost_matrix(search, goal.needs_cost or then.needs_cost)
    return Aim(goal, then, matrix, None if search.confidence is None else 1.0 - search.confidence)


def _cost_matrix(search: Any, needed: bool) -> Array | None:
    """Return the cost matrix with the negative class first."""
    if not needed and search.cost is None:
        return None
    if not needed:
        raise InputError(
            f"cost={search.cost!r} has no effect: neither the goal nor then is about expected_cost.",
            "Leave it at None, or set then='expected_cost'.",
        )
    # "balanced" would be estimated from the labels, those of held-out rows among them
    if search.cost is None or isinstance(search.cost, str):
        raise InputError(
            f"cost={search.cost!r} cannot be used for a goal on expected_cost.",
            "Give a number (the cost of a miss, in false alarms), {label: cost} or a matrix cost[true, predicted].",
        )
    matrix = cost_matrix(search.cost, search.classes_, search.pos_label_, np.ones(2))
    return matrix if search.classes_[1] == search.pos_label_ else matrix[::-1, ::-1].copy()


@dataclass(frozen=True)
class OutOfFoldScores:
    """Out-of-fold scores of one cost ratio, after one number of rounds."""

    positive: Array
    scores: Array
    weights: Array | None
    own_threshold: float  # that of the estimator itself

    def __post_init__(self) -> None:
        check_scores(self.scores)

    def at(self, threshold: float) -> Counts:
        """Return the counts at a threshold."""
        return Counts.of(self.positive, self.scores >= threshold, self.weights)

    def at_each(self, thresholds: Array) -> Counts:
        """Return the counts at each of some thresholds."""
        order = np.argsort(self.scores, kind="stable")
        below = np.searchsorted(self.scores[order], thresholds)
        mass = np.ones(len(order)) if self.weights is None else self.weights[order]
        fn, tn = (
            np.concatenate(([0.0], np.cumsum(np.where(self.positive[order] == k, mass, 0.0)))) for k in (True, False)
        )
        return Counts(fn[-1] - fn[below], tn[-1] - tn[below], fn[below], tn[below])

    def curve(self, most: int) -> tuple[Array, Counts]:
        """Return thresholds and counts: all of them, or at most so many, evenly spread over both classes."""
        thresholds, counts = Counts.at_thresholds(self.positive, self.scores, self.weights)
        if len(thresholds) <= most:
            return thresholds, counts
        levels = np.linspace(0.0, 1.0, most // 2)
        picked = np.union1d(
            np.searchsorted(counts.fn, levels * counts.fn[-1]), np.searchsorted(counts.tn, levels * counts.tn[-1])
        )
        return thresholds[picked], counts[picked]

    def pairs(self, most: int) -> tuple[Array, ReferralCounts]:
        """Return pairs of thresholds, the lower one first, and the counts if rows between them are referred."""
        thresholds, counts = self.curve(most)
        lower, upper = np.triu_indices(len(thresholds))
        return np.column_stack((thresholds[lower], thresholds[upper])), ReferralCounts.between(counts, lower, upper)


@dataclass(frozen=True)
class Point:
    """A cost ratio that was tried, with its best threshold and number of rounds."""

    ratio: float
    scale: str
    costs: tuple[float, float] | None  # of a miss and of a false alarm
    n_rounds: int | None
    threshold: float
    counts: Counts | ReferralCounts
    rank: tuple[float, ...]
    lower: float | None = None  # rows with scores from here to the threshold are referred; None: no row is
    curve: tuple[Array, Counts] | None = field(default=None, repr=False)  # thresholds, or pairs, and counts, if tuned

    @property
    def met(self) -> bool:
        """Whether it is likely to meet the goal."""
        return self.rank[0] > 0


# From costs of a miss and of a false alarm to [(rounds, out-of-fold scores)]
ScoresOf = Callable[[tuple[float, float] | None], list[tuple[int | None, OutOfFoldScores]]]


@dataclass
class Search:
    """The points tried, and how to try more."""

    aim: Aim
    scores_of: ScoresOf
    tune_threshold: bool
    on_point: Callable[[Point], None]  # is called after each point
    points: list[Point] = field(default_factory=list)
    out_of_fold: OutOfFoldScores | None = None  # of the best point

    def without_costs(self) -> None:
        """Search for the threshold and the rounds only."""
        self._add(1.0, MISS_UP, None, self.scores_of(None))

    def over_costs(self, balanced: float, scale_free: bool, max_points: int) -> None:
        """Try cost ratios; `balanced` is the ratio of the class sizes."""
        self.over_scale(MISS_UP, balanced, max_points)
        if not scale_free and self._scale_matters():
            self.over_scale(ALARM_DOWN, balanced, max_points)

    def _scale_matters(self) -> bool:
        """Whether costs of the same ratio on another scale lead to other scores."""
        uneven = [p for p in self.points if p.ratio != 1.0]
        point = max(uneven, key=lambda p: p.rank)
        costs = (1.0, 1.0 / point.ratio)
        stages = [(n, scores) for n, scores in self.scores_of(costs) if n == point.n_rounds]
        return not _same(self._point(point.ratio, ALARM_DOWN, costs, *stages[0]), point)

    def over_scale(self, scale: str, balanced: float, max_points: int) -> None:
        """Search on one scale of costs: outward from the start, then into the gaps next to the best."""
        tried: dict[float, Point] = {}

        def attempt(u: float) -> Point:
            if u not in tried:
                ratio = math.exp(u)
                costs = (ratio, 1.0) if scale == MISS_UP else (1.0, 1.0 / ratio)
                tried[u] = self._add(ratio, scale, costs, self.scores_of(costs))
            return tried[u]

        attempt(0.0)
        attempt(min(max(math.log(balanced), -FARTHEST), FARTHEST) or STEP)
        most = max(3, round(OUTWARD * max_points))
        for sign in (1.0, -1.0):
            end = max(tried, key=lambda u: sign * u)
            if tried[end].rank == max(p.rank for p in tried.values()):
                self._outward(tried, attempt, sign, PATIENCE, most)
        for sign in (1.0, -1.0):
            if not any(p.met for p in tried.values()):  # then go as far as possible
                self._outward(tried, attempt, sign, most, most)
        while len(tried) < max_points:
            gaps = self._gaps(tried)
            if not gaps:
                return
            for low, high in gaps[: max_points - len(tried)]:
                attempt(0.5 * (low + high))

    @staticmethod
    def _outward(
        tried: dict[float, Point], attempt: Callable[[float], Point], sign: float, patience: int, most: int
    ) -> None:
        """Take ever larger steps to one side, until `patience` of them bring nothing or results stop changing."""
        step, worse = STEP, 0
        while len(tried) < most and worse < patience:
            end = max(tried, key=lambda u: sign * u)
            following = end + sign * step
            if abs(following) > FARTHEST:
                return
            best = max(p.rank for p in tried.values())
            point = attempt(following)
            if _same(point, tried[end]):
                return
            worse = 0 if point.rank > best else worse + 1
            step *= 1.5

    @staticmethod
    def _gaps(tried: dict[float, Point]) -> list[tuple[float, float]]:
        """Return the gaps to halve: those next to the best point, and those in which the goal is lost.

        If the goal is lost on one side of the best point only, the other side is left alone. The goal may also be lost
        far from the best point, in a gap that has much better points: variants whose costs compound, such as AdaC2,
        change all their decisions between costs of 1 and 1.05, and hardly any beyond.
        """
        order = sorted(tried)
        k = max(range(len(order)), key=lambda i: (tried[order[i]].rank, -abs(order[i])))
        beside = [(order[j], order[j + 1], order[i]) for j, i in ((k - 1, k - 1), (k, k + 1)) if 0 <= i < len(order)]
        wide = [gap for gap in beside if gap[1] - gap[0] > FINEST]
        lost = [gap for gap in beside if not tried[gap[2]].met]
        if len(lost) == 1 and tried[order[k]].met:
            wide = [gap for gap in wide if gap in lost]
        gaps = [(low, high) for low, high, _ in wide]
        return gaps + [gap for gap in pairwise(order) if gap not in gaps and _crosses(tried, *gap)]

    def _add(
        self,
        ratio: float,
        scale: str,
        costs: tuple[float, float] | None,
        stages: list[tuple[int | None, OutOfFoldScores]],
    ) -> Point:
        """Add the point with the best threshold and number of rounds."""
        found = [self._point(ratio, scale, costs, *stage) for stage in stages]
        k = max(range(len(found)), key=lambda i: found[i].rank)
        best = found[k]
        self.points.append(best)
        if self.best is best:
            self.out_of_fold = stages[k][1]
        self.on_point(best)
        return best

    def _point(
        self, ratio: float, scale: str, costs: tuple[float, float] | None, n_rounds: int | None, scores: OutOfFoldScores
    ) -> Point:
        if not self.tune_threshold:
            counts = scores.at(scores.own_threshold)
            return Point(ratio, scale, costs, n_rounds, scores.own_threshold, counts, self.aim.rank(counts))
        curve: tuple[Array, Counts] = (scores.pairs if self.aim.refers else scores.curve)(self.aim.n_thresholds)
        thresholds, along = curve
        k = self.aim.best(along)
        lower, upper = thresholds[k].tolist() if self.aim.refers else (None, float(thresholds[k]))
        return Point(ratio, scale, costs, n_rounds, upper, along[k], self.aim.rank(along[k]), lower, curve)

    @property
    def best(self) -> Point:
        """The best point; ties are broken in favour of the most equal costs."""
        return max(self.points, key=lambda p: (p.rank, -abs(math.log(p.ratio))))


def _crosses(tried: dict[float, Point], low: float, high: float) -> bool:
    """Whether the goal is lost between two points, and enough decisions change for better points in between."""
    a, b = tried[low], tried[high]
    if a.met == b.met or high - low <= COMPOUND_FINEST or a.curve is not None:
        return False
    n = a.counts.tp + a.counts.fp + a.counts.fn + a.counts.tn
    return bool(abs(a.counts.tp - b.counts.tp) + abs(a.counts.fp - b.counts.fp) > CHANGED * n)


def _same(a: Point, b: Point) -> bool:
    """Whether two points have the same counts at all thresholds."""
    if a.curve is None or b.curve is None:
        return a.counts == b.counts
    return all(np.array_equal(getattr(a.curve[1], cell), getattr(b.curve[1], cell)) for cell in ("tp", "fp"))


def table(aim: Aim, points: list[Point]) -> dict[str, Array]:
    """Return all points tried as a table: one array per column."""
    measures = [m for m in GOAL_MEASURES.values() if not m.needs_cost or aim.cost is not None]
    if not aim.refers:
        measures.remove(GOAL_MEASURES[REFERRED])
    columns: dict[str, list[object]] = {
        "cost_ratio": [p.ratio for p in points],
        "cost_of_miss": [np.nan if p.costs is None else p.costs[0] for p in points],
        "cost_of_false_alarm": [np.nan if p.costs is None else p.costs[1] for p in points],
        "n_rounds": [np.nan if p.n_rounds is None else p.n_rounds for p in points],
        **({"lower_threshold": [p.lower for p in points]} if aim.refers else {}),
        "threshold": [p.threshold for p in points],
        **{m.name: [float(m.value(p.counts, aim.cost)) for p in points] for m in measures},
        "meets_goal": [p.met for p in points],
    }
    return {name: np.array(values) for name, values in columns.items()}


def frontier(aim: Aim, points: list[Point]) -> dict[str, Array]:
    """Return the Pareto front: costs and thresholds that are not beaten in both the first measure and `then`."""
    measure, then = aim.goal.conditions[0].measure, aim.then
    rows: list[Array] = []
    for p in points:
        thresholds, counts = (np.array([p.threshold]), p.counts) if p.curve is None else p.curve
        first = np.atleast_1d(measure.value(counts, aim.cost))
        second = np.atleast_1d(then.value(counts, aim.cost))
        rows.append(np.column_stack((np.full(len(thresholds), p.ratio), thresholds, first, second)))
    values = np.concatenate(rows)
    values = values[~np.isnan(values).any(axis=1)]
    utility = values[:, -2] if aim.goal.conditions[0].sense == ">=" else -values[:, -2]
    order = np.lexsort((-utility, -np.asarray(then.utility(values[:, -1]))))  # the best by `then` first
    best_so_far = np.maximum.accumulate(np.concatenate(([-np.inf], utility[order][:-1])))
    kept = values[order][utility[order] > best_so_far]
    names = ["cost_ratio", *(["lower_threshold"] if aim.refers else []), "threshold", measure.name]
    if then.name != measure.name:
        names.append(then.name)
    return {name: kept[:, k] for k, name in enumerate(names)}
