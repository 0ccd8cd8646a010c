"""Certificates: what held-out rows show about decisions that were fixed without them.

A *candidate* is a model with a threshold. Candidates are tested in an order that was fixed without the held-out rows,
the safest first, until one fails (fixed-sequence testing): with probability 1 - δ all that passed meet the goal,
however many they are [1]_. If raising the threshold can only help, or only harm, all thresholds of a model are such a
sequence, and for recall and false alarms the last one that passes is the order statistic of the Neyman-Pearson umbrella
algorithm [2]_.

References
----------
.. [1] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating predictive algorithms to
   achieve risk control", Annals of Applied Statistics 19 (2025).
.. [2] X. Tong, Y. Feng, J. Li, "Neyman-Pearson classification algorithms and NP receiver operating characteristics",
   Science Advances 4 (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skewboost.goals.decision import Decision
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.search import Aim, Point
from skewboost.goals.trials import Rows
from skewboost.metrics.counts import Array, Counts

MAX_CANDIDATES = 8  # models that are fitted for a certificate


@dataclass(frozen=True)
class Certificate:
    """What is known about the fitted decisions.

    Attributes
    ----------
    goal : Goal
        What was asked for.
    confidence : float
        With which probability a certificate is not wrong.
    met : bool
        Whether the goal is shown to be met with that confidence.
    counts : Counts
        The answers on the held-out rows.
    doubt : float
        The p-value of "the goal is not met".
    shown : dict of str to float
        For each condition the strictest bound that the held-out rows show with that confidence, of that condition
        by itself and as if the threshold had been fixed before. It is a description: what is promised is the goal,
        all conditions of it together, whichever threshold was chosen.
    """

    goal: Goal
    confidence: float
    met: bool
    counts: Counts
    doubt: float
    shown: dict[str, float]

    def __str__(self) -> str:
        c = self.counts
        head = f"{self.goal}: " + (
            f"certified with {self.confidence:.0%} confidence" if self.met else f"NOT shown with {self.confidence:.0%}"
        )
        found = f"{c.tp:g} of {c.positives:g} positives found, {c.fp:g} of {c.negatives:g} negatives flagged"
        shown = ", ".join(f"{name} {bound:.4g}" for name, bound in self.shown.items())
        return f"{head} ({found} on held-out rows, which show {shown})"


def certificate(aim: Aim, counts: Counts, met: bool) -> Certificate:
    """What counts on held-out rows show."""
    assert aim.delta is not None
    doubt = float(aim.goal.doubt(counts, aim.cost))
    shown = {f"{c.name} {c.sense}": c.limit(counts, aim.delta, aim.cost) for c in aim.goal.conditions}
    return Certificate(aim.goal, 1.0 - aim.delta, met, counts, doubt, shown)


def certified_threshold(aim: Aim, decision: Decision, held_out: Rows) -> Decision | None:
    """The decision at the best threshold that held-out rows show to meet the goal; None if there is none.

    Where the goal does not say in which order thresholds are to be tried, their out-of-fold counts do.
    """
    assert aim.delta is not None
    assert decision.point.curve is not None
    scores, positive, weights = decision.scores(held_out.X), held_out.y == decision.pos_label, held_out.weights
    if aim.goal.rising is not None:
        thresholds, counts = Counts.at_thresholds(positive, scores, weights)
        passed = np.flatnonzero(aim.goal.doubt(counts, aim.cost) <= aim.delta)
        merit = aim.merit(counts)
    else:
        thresholds, before = decision.point.curve
        order = sequence(aim, before)
        thresholds = thresholds[order]
        counts = _stack([Counts.of(positive, scores >= t, weights) for t in thresholds])
        failed = np.flatnonzero(aim.goal.doubt(counts, aim.cost) > aim.delta)
        passed = np.arange(failed[0] if len(failed) else len(thresholds))
        merit = aim.merit(counts + before[order])
    if len(passed) == 0:
        return None
    return decision.at(float(thresholds[passed[np.argmax(merit[passed])]]))


def certified_model(
    aim: Aim, points: list[Point], decision_of: Callable[[Point], Decision], held_out: Rows
) -> Decision | None:
    """Of the models of these points the last that passes before one fails; None if the first fails."""
    last = None
    for point in points:
        decision = decision_of(point)
        if aim.goal.doubt(decision.counts(held_out), aim.cost) > aim.delta:
            break
        last = decision
    return last


def sequence(aim: Aim, curve: Counts, n_steps: int = 50) -> Array:
    """Entries of a curve, from the one most likely to pass on towards those of more merit, a limited number of them."""
    doubt, merit = aim.doubt(curve), aim.merit(curve)
    safest = int(np.argmin(doubt))
    hopeful = np.flatnonzero(doubt <= 0.9)
    better = hopeful[merit[hopeful] > merit[safest]]
    if len(better) == 0:
        return np.array([safest])
    goal = int(better[np.argmax(merit[better])])  # the way there is along the curve, whatever is in between
    path = np.linspace(safest, goal, min(n_steps, abs(goal - safest) + 1)).round().astype(np.intp)
    return np.asarray(path)


def candidates(aim: Aim, points: list[Point]) -> list[Point]:
    """Points of the search in the order in which to test their models: the safest first, on to those of more merit."""
    hopeful = [p for p in points if aim.doubt(p.counts) <= 0.5]
    best = max(points, key=lambda p: p.rank)
    found: list[Point] = []
    for p in sorted(hopeful or [best], key=lambda p: (float(aim.doubt(p.counts)), -float(aim.merit(p.counts)))):
        if not found or aim.merit(p.counts) > aim.merit(found[-1].counts):
            found.append(p)
    if len(found) <= MAX_CANDIDATES:
        return found
    return [found[k] for k in np.unique(np.linspace(0, len(found) - 1, MAX_CANDIDATES).round().astype(int))]


def _stack(counts: list[Counts]) -> Counts:
    return Counts(*(np.array([getattr(c, cell) for c in counts]) for cell in ("tp", "fp", "fn", "tn")))


def impossible(aim: Aim, positive: Array, weights: Array | None) -> list[tuple[Condition, float, float]]:
    """The conditions that not even faultless answers could show on these held-out rows: how many of them it would take,
    and how many there are.
    """
    assert aim.delta is not None
    counts = Counts.of(positive, positive, weights)
    there = {
        "positives": counts.positives,
        "negatives": counts.negatives,
        "flagged rows": counts.positives,  # no more than these can be flagged rightly
        "rows": counts.total,
        "rows that are positive or flagged": counts.positives,
        "positives and as many negatives": min(counts.positives, counts.negatives),
    }
    found = []
    for condition in aim.goal.conditions:
        needed = condition.perfect_rows(aim.delta, aim.cost)
        if needed > there[condition.measure.of_what]:
            found.append((condition, needed, float(there[condition.measure.of_what])))
    return found
