"""The search for the cost ratio under which a goal is met, and for the best among those.

Out-of-fold answers of one cross-validation tell what a ratio of costs leads to. The search is over ln(C+/C-): outward
from equal and from balanced costs until it gets no better, then by halving the gaps next to the best. Where a variant
minds more than the ratio of costs, it is made twice: with the cost of a false alarm at 1 and that of a miss above, and
with the cost of a miss at 1 and that of a false alarm below [1]_.

References
----------
.. [1] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
   München (2010), §3.3: only the second reached some goals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skewboost.goals.goal import Goal
from skewboost.goals.measures import Measure
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

STEP = math.log(4.0)  # outward
FINEST = math.log(1.02)  # gaps are not halved below this
FARTHEST = math.log(1e9)
PATIENCE = 2  # steps outward that are no better before the search turns back
OUTWARD = 0.6  # of all points at most
MISS_UP, ALARM_DOWN = "miss up", "false alarm down"
MAX_THRESHOLDS = 2000
DIGITS, TIE = 12, 1e-12  # smaller differences are none


@dataclass(frozen=True)
class Aim:
    """What the search is after."""

    goal: Goal
    then: Measure
    cost: Array | None = None  # matrix [true, predicted], the negative class first
    delta: float | None = None  # 1 - confidence, where there will be a certificate
    scale: tuple[float, float] = (1.0, 1.0)  # held-out examples for a weight of 1 in the search: negatives, positives

    @property
    def n_thresholds(self) -> int:
        """How many thresholds to look at: evidence on a mean or a product takes a while to weigh."""
        fast = all(c.measure.is_share for c in self.goal.conditions)
        return MAX_THRESHOLDS if fast or self.delta is None else MAX_THRESHOLDS // 10

    def doubt(self, counts: Counts) -> Any:
        """The p-value that a certificate would have if held-out rows were like these."""
        of_negatives, of_positives = self.scale
        tp, fn = (np.round(of_positives * np.asarray(n)) for n in (counts.tp, counts.fn))
        fp, tn = (np.round(of_negatives * np.asarray(n)) for n in (counts.fp, counts.tn))
        return self.goal.doubt(Counts(tp, fp, fn, tn), self.cost)

    def promises(self, counts: Counts) -> Any:
        """Whether answers like these would do."""
        return self.goal.met(counts, self.cost) if self.delta is None else self.doubt(counts) <= self.delta

    def merit(self, counts: Counts) -> Any:
        """What counts among answers that do: larger is better."""
        return self.then.better(self.then.value(counts, self.cost))

    def preferred(self, counts: Counts, among: Array) -> int:
        """The best by `then` of some entries; of equals the best by the goal's own measures, then the first."""
        for values in (self.merit(counts), *self.goal.margins(counts, self.cost)):
            among = among[values[among] >= values[among].max() - TIE]
        return int(among[0])

    def best(self, counts: Counts) -> int:
        """Which of the answers is the best, or comes closest."""
        promises = self.promises(counts)
        if promises.any():
            return self.preferred(counts, np.flatnonzero(promises))
        short = self.goal.shortfall(counts, self.cost)
        near = short <= short.min() + TIE
        return int(np.argmin(np.where(near, 0.0 if self.delta is None else self.doubt(counts), np.inf)))

    def rank(self, counts: Counts) -> tuple[float, ...]:
        """A key to compare answers by; larger is better."""
        if self.promises(counts):
            values = (self.merit(counts), *self.goal.margins(counts, self.cost))
            return (1.0, *(round(float(v), DIGITS) for v in values))
        doubt = 0.0 if self.delta is None else float(self.doubt(counts))
        return (0.0, -float(self.goal.shortfall(counts, self.cost)), -doubt)


@dataclass(frozen=True)
class Answers:
    """Out-of-fold scores of one ratio of costs, after one number of rounds."""

    positive: Array
    scores: Array
    weights: Array | None
    own: float  # the estimator's own threshold

    def at(self, threshold: float) -> Counts:
        """The counts at a threshold."""
        return Counts.of(self.positive, self.scores >= threshold, self.weights)

    def curve(self, most: int) -> tuple[Array, Counts]:
        """Thresholds and counts: all of them, or at most so many, evenly spread over both classes."""
        thresholds, counts = Counts.at_thresholds(self.positive, self.scores, self.weights)
        if len(thresholds) <= most:
            return thresholds, counts
        levels = np.linspace(0.0, 1.0, most // 2)
        picked = np.union1d(
            np.searchsorted(counts.fn, levels * counts.fn[-1]), np.searchsorted(counts.tn, levels * counts.tn[-1])
        )
        return thresholds[picked], counts[picked]


@dataclass(frozen=True)
class Point:
    """A ratio of costs that was tried, with the threshold and the rounds that suit it best."""

    ratio: float
    scale: str
    costs: tuple[float, float] | None  # of a miss and of a false alarm
    n_rounds: int | None
    threshold: float
    counts: Counts
    rank: tuple[float, ...]
    curve: tuple[Array, Counts] | None = field(default=None, repr=False)  # thresholds with their counts, if these count

    @property
    def met(self) -> bool:
        """Whether it promises to meet the goal."""
        return self.rank[0] > 0


# Out-of-fold scores for costs of a miss and of a false alarm: [(rounds, answers)]
Ask = Callable[[tuple[float, float] | None], list[tuple[int | None, Answers]]]


@dataclass
class Search:
    """The points tried, and how to try more."""

    aim: Aim
    ask: Ask
    tune_threshold: bool
    note: Callable[[Point], None]
    points: list[Point] = field(default_factory=list)

    def without_costs(self) -> None:
        """Only the threshold and the rounds are to be found."""
        self._keep(1.0, MISS_UP, None, self.ask(None))

    def over_costs(self, balanced: float, scale_free: bool, max_points: int) -> None:
        """Try ratios; `balanced` is that of the class sizes."""
        self.over_scale(MISS_UP, balanced, max_points)
        if not scale_free and self._scale_matters():
            self.over_scale(ALARM_DOWN, balanced, max_points)

    def _scale_matters(self) -> bool:
        """Whether costs of the same ratio on another scale lead to other answers."""
        uneven = [p for p in self.points if p.ratio != 1.0]
        point = max(uneven, key=lambda p: p.rank)
        costs = (1.0, 1.0 / point.ratio)
        stages = [(n, answers) for n, answers in self.ask(costs) if n == point.n_rounds]
        return not _same(self._point(point.ratio, ALARM_DOWN, costs, *stages[0]), point)

    def over_scale(self, scale: str, balanced: float, max_points: int) -> None:
        """One run: outward from the start, then into the gaps next to the best."""
        tried: dict[float, Point] = {}

        def attempt(u: float) -> Point:
            if u not in tried:
                ratio = math.exp(u)
                costs = (ratio, 1.0) if scale == MISS_UP else (1.0, 1.0 / ratio)
                tried[u] = self._keep(ratio, scale, costs, self.ask(costs))
            return tried[u]

        attempt(0.0)
        attempt(min(max(math.log(balanced), -FARTHEST), FARTHEST) or STEP)
        most = max(3, round(OUTWARD * max_points))
        for sign in (1.0, -1.0):
            end = max(tried, key=lambda u: sign * u)
            if tried[end].rank == max(p.rank for p in tried.values()):
                self._outward(tried, attempt, sign, PATIENCE, most)
        for sign in (1.0, -1.0):
            if not any(p.met for p in tried.values()):  # then no end is too far
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
        """Ever larger steps to one side, until it got no better so often, or the answers have stopped changing."""
        step, worse = STEP, 0
        while len(tried) < most and worse < patience:
            end = max(tried, key=lambda u: sign * u)
            following = end + sign * step
            if abs(following) > FARTHEST:
                return
            best = max(p.rank for p in tried.values())
            found = attempt(following)
            if _same(found, tried[end]):
                return
            worse = 0 if found.rank > best else worse + 1
            step *= 1.5

    @staticmethod
    def _gaps(tried: dict[float, Point]) -> list[tuple[float, float]]:
        """The gaps beside the best point that are worth halving: where the goal is lost, if it is on one side only."""
        order = sorted(tried)
        k = max(range(len(order)), key=lambda i: (tried[order[i]].rank, -abs(order[i])))
        beside = [(order[j], order[j + 1], order[i]) for j, i in ((k - 1, k - 1), (k, k + 1)) if 0 <= i < len(order)]
        wide = [gap for gap in beside if gap[1] - gap[0] > FINEST]
        lost = [gap for gap in beside if not tried[gap[2]].met]
        if len(lost) == 1 and tried[order[k]].met:
            wide = [gap for gap in wide if gap in lost]
        return [(low, high) for low, high, _ in wide]

    def _keep(
        self, ratio: float, scale: str, costs: tuple[float, float] | None, stages: list[tuple[int | None, Answers]]
    ) -> Point:
        """The best of its thresholds and stages, noted."""
        found = [self._point(ratio, scale, costs, n_rounds, answers) for n_rounds, answers in stages]
        best = max(found, key=lambda p: p.rank)
        self.points.append(best)
        self.note(best)
        return best

    def _point(
        self, ratio: float, scale: str, costs: tuple[float, float] | None, n_rounds: int | None, answers: Answers
    ) -> Point:
        if not self.tune_threshold:
            counts = answers.at(answers.own)
            return Point(ratio, scale, costs, n_rounds, answers.own, counts, self.aim.rank(counts))
        thresholds, along = answers.curve(self.aim.n_thresholds)
        k = self.aim.best(along)
        rank = self.aim.rank(along[k])
        return Point(ratio, scale, costs, n_rounds, float(thresholds[k]), along[k], rank, (thresholds, along))

    @property
    def best(self) -> Point:
        """The best point; of equals the one of the most even costs."""
        return max(self.points, key=lambda p: (p.rank, -abs(math.log(p.ratio))))


def _same(a: Point, b: Point) -> bool:
    """Whether two points stand for the same answers, at all thresholds that matter."""
    if a.curve is None or b.curve is None:
        return a.counts == b.counts
    return all(np.array_equal(getattr(a.curve[1], cell), getattr(b.curve[1], cell)) for cell in ("tp", "fp"))
