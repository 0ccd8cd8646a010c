"""Certificates: what held-out rows show about decisions that were fixed without them.

A *candidate* is a model with a threshold. Candidates are tested in an order that was fixed without the held-out rows,
the safest first, until one fails (fixed-sequence testing): with probability 1 - δ all that passed meet the goal,
however many they are [1]_. Tests count independent examples, which `holdout` draws from the held-out rows. If raising
the threshold can only help, or only harm, all thresholds of a model are such a sequence, and for recall and false
alarms the last one that passes is the order statistic of the Neyman-Pearson umbrella algorithm [2]_.

References
----------
.. [1] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating predictive algorithms to
   achieve risk control", Annals of Applied Statistics 19 (2025).
.. [2] X. Tong, Y. Feng, J. Li, "Neyman-Pearson classification algorithms and NP receiver operating characteristics",
   Science Advances 4 (2018).
.. [3] R. Jaeschke, G. Guyatt, D. Sackett, "Users' guides to the medical literature: how to use an article about a
   diagnostic test", Journal of the American Medical Association 271 (1994) 703-707.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skewboost.goals.decision import Decision
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.holdout import HeldOut
from skewboost.goals.search import Aim, Point
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

MAX_CANDIDATES = 8  # models that are fitted for a certificate
LITTLE = 2.0  # [3]: a likelihood ratio below changes probabilities to a small and rarely important degree


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
        The answers on the held-out rows, by weight.
    evidence : Counts
        The answers on the independent examples among them, on which the certificate rests: those that were drawn by
        weight, one of a group at most. They are the counts where all rows are independent and weigh the same.
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
    evidence: Counts
    doubt: float
    shown: dict[str, float]

    def __str__(self) -> str:
        c = self.evidence
        head = f"{self.goal}: " + (
            f"certified with {self.confidence:.0%} confidence" if self.met else f"NOT shown with {self.confidence:.0%}"
        )
        found = f"{c.tp:g} of {c.positives:g} positives found, {c.fp:g} of {c.negatives:g} negatives flagged"
        of_what = "held-out rows" if c == self.counts else "independent examples among the held-out rows"
        shown = ", ".join(f"{name} {bound:.4g}" for name, bound in self.shown.items())
        use = f". Of little use: {in_words(self.counts)}" if self.of_little_use else ""
        return f"{head} ({found} on {of_what}, which show {shown}){use}"

    @property
    def of_little_use(self) -> bool:
        """Whether the decisions are hardly better than chance, though they may reach the goal."""
        return of_little_use(self.counts)


def likelihood_ratio(counts: Counts) -> float:
    """By what a flag multiplies the odds of being positive: recall / false-alarm rate, which is 1 at random."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.divide(counts.recall, counts.false_alarm_rate))


def of_little_use(counts: Counts) -> bool:
    """Whether a flag does not even double the odds of being positive, or there are no flags."""
    return not likelihood_ratio(counts) >= LITTLE


def in_words(counts: Counts) -> str:
    """What decisions do, and what a flag means."""
    if counts.flagged == 0:
        return "nothing is flagged"
    return (
        f"{counts.false_alarm_rate:.0%} of the negatives are flagged with {counts.recall:.0%} of the positives: a flag "
        f"multiplies the odds of being positive by {likelihood_ratio(counts):.3g} (at random: by 1)"
    )


def certificate(aim: Aim, decision: Decision, held_out: HeldOut, met: bool) -> Certificate:
    """What held-out rows show of a decision."""
    assert aim.delta is not None
    flagged = decision.flags(held_out.rows.X)
    evidence = held_out.evidence(flagged)
    doubt = float(aim.goal.doubt(evidence, aim.cost))
    shown = {f"{c.name} {c.sense}": c.limit(evidence, aim.delta, aim.cost) for c in aim.goal.conditions}
    return Certificate(aim.goal, 1.0 - aim.delta, met, held_out.counts(flagged), evidence, doubt, shown)


def certified_threshold(aim: Aim, decision: Decision, held_out: HeldOut) -> Decision | None:
    """The decision at the best threshold that held-out rows show to meet the goal; None if there is none.

    Where the goal does not say in which order thresholds are to be tried, their out-of-fold counts do.
    """
    assert aim.delta is not None
    assert decision.point.curve is not None
    scores, positive = decision.scores(held_out.rows.X), held_out.positive
    if aim.goal.rising is not None:
        thresholds, evidence = Counts.at_thresholds(positive, scores, held_out.proof)
        _, counts = Counts.at_thresholds(positive, scores, held_out.rows.weights)
        passed = np.flatnonzero(aim.goal.doubt(evidence, aim.cost) <= aim.delta)
    else:
        thresholds, before = decision.point.curve
        order = sequence(aim, before)
        thresholds = thresholds[order]
        flagged = [scores >= t for t in thresholds]
        counts = _stack([held_out.counts(flags) for flags in flagged]) + before[order]
        evidence = _stack([held_out.evidence(flags) for flags in flagged])
        failed = np.flatnonzero(aim.goal.doubt(evidence, aim.cost) > aim.delta)
        passed = np.arange(failed[0] if len(failed) else len(thresholds))
    return None if len(passed) == 0 else decision.at(float(thresholds[aim.preferred(counts, passed)]))


def certified_model(
    aim: Aim, points: list[Point], decision_of: Callable[[Point], Decision], held_out: HeldOut
) -> Decision | None:
    """Of the models of these points the last that passes before one fails; None if the first fails."""
    last = None
    for point in points:
        decision = decision_of(point)
        if aim.goal.doubt(held_out.evidence(decision.flags(held_out.rows.X)), aim.cost) > aim.delta:
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
    goal = aim.preferred(curve, better)  # the way there is along the curve, whatever is in between
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


def impossible(aim: Aim, held_out: HeldOut) -> list[tuple[Condition, float, float]]:
    """The conditions that not even faultless answers could show on these held-out rows: how many of them it would take,
    and how many there are.
    """
    assert aim.delta is not None
    needed = [(c, c.perfect_rows(aim.delta, aim.cost)) for c in aim.goal.conditions]
    there = held_out.evidence(held_out.positive)
    return [(c, n, number_of(c.measure.of_what, there)) for c, n in needed if n > number_of(c.measure.of_what, there)]


def number_of(of_what: str, faultless: Counts) -> float:
    """How many rows there are that a measure is of, among those that get faultless answers."""
    if of_what in ("negatives", "rows"):
        return float(getattr(faultless, {"negatives": "negatives", "rows": "total"}[of_what]))
    if of_what == "positives and as many negatives":
        return float(min(faultless.positives, faultless.negatives))
    return float(faultless.positives)  # no more than these can be flagged rightly
