"""Certificates: what held-out rows show about a model that was fitted without them.

A *candidate* is a model with a threshold. Candidates are tested in an order that was fixed without the held-out rows,
the safest first, until one fails (fixed-sequence testing). With probability 1 - δ all candidates that passed meet the
goal, however many they are [angelopoulos2025]_. Tests count independent examples, which `holdout` draws from the
held-out rows. If raising the threshold can only help, or only harm, all thresholds of a model are such a sequence. For
recall and false alarms the last one that passes is the order statistic of the Neyman-Pearson umbrella algorithm
[tong2018]_. If rows may be referred, a candidate is a model with two thresholds. Given the rows that are decided, or
flagged, the counts of right decisions among them are binomial, so that the same tests are exact.

References
----------
.. [angelopoulos2025] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating predictive
   algorithms to achieve risk control", Annals of Applied Statistics 19 (2025).
.. [tong2018] X. Tong, Y. Feng, J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
   characteristics", Science Advances 4 (2018).
.. [jaeschke1994] R. Jaeschke, G. Guyatt, D. Sackett, "Users' guides to the medical literature: how to use an article
   about a diagnostic test", Journal of the American Medical Association 271 (1994) 703-707.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.holdout import HeldOut
from skewboost.goals.rows import BY_MASK, GROUPS, LATEST, Units
from skewboost.goals.search import Aim, OutOfFoldScores, Point, Search
from skewboost.goals.trials import Decision
from skewboost.metrics.counts import Counts, ReferralCounts
from skewboost.typing import Array

HOPEFUL = 0.9  # the largest p-value, of counts like those out of fold, that is worth a test
MOST_TRUSTED = 1000  # held-out rows: with more, what differs is the scores
MAX_CANDIDATES = 8  # models that are fitted for a certificate
# A smaller likelihood ratio changes probabilities to a small and rarely important degree [jaeschke1994]_
LITTLE_USE = 2.0
ROUNDING = 1e-12


@dataclass(frozen=True)
class Certificate:
    """What the held-out rows show about the fitted model.

    Attributes
    ----------
    goal : Goal
        The goal of the search.
    confidence : float
        The probability that a certificate is right.
    met : bool
        Whether the goal is shown to be met with that confidence.
    counts : Counts or ReferralCounts
        Weighted counts of right and wrong predictions on the held-out rows, and of those referred if any may be.
    evidence : Counts
        The counts of the independent examples among them, on which the certificate is based: rows drawn by weight, at
        most one of each group. They equal `counts` if all rows are independent and weigh the same.
    p_value : float
        The p-value of "the goal is not met".
    assumes : str
        What the certificate assumes about held-out and new rows, in words.
    shown : dict of str to float
        For each condition the strictest bound that the held-out rows show with that confidence, as if this were the
        only condition and the threshold had been fixed before. This is descriptive: the certificate is about the goal,
        all its conditions together, whichever threshold was chosen.
    """

    goal: Goal
    confidence: float
    met: bool
    counts: Counts | ReferralCounts
    evidence: Counts | ReferralCounts
    p_value: float
    shown: dict[str, float]
    assumes: str

    def __post_init__(self) -> None:
        if self.met and not self.p_value <= 1.0 - self.confidence + ROUNDING:
            raise InputError(
                f"A certificate with {self.confidence:.0%} confidence says that {self.goal} is met, but its p-value is "
                f"{self.p_value:.4g}."
            )

    def __str__(self) -> str:
        c = self.evidence
        head = f"{self.goal}: " + (
            f"certified with {self.confidence:.0%} confidence" if self.met else f"NOT shown with {self.confidence:.0%}"
        )
        found = f"{c.tp:g} of {c.positives:g} positives found, {c.fp:g} of {c.negatives:g} negatives flagged"
        if isinstance(c, ReferralCounts):
            found += f"; referred: {c.referred_positives:g} positives, {c.referred_negatives:g} negatives;"
        rows = "held-out rows" if c == self.counts else "independent examples among the held-out rows"
        shown = ", ".join(f"{name} {bound:.4g}" for name, bound in self.shown.items())
        use = f". Of little use: {in_words(self.counts)}" if self.of_little_use else ""
        return f"{head} ({found} on {rows}, which show {shown}){use}. It assumes that {self.assumes}"

    @property
    def of_little_use(self) -> bool:
        """Whether the predictions are hardly better than chance, though they may reach the goal."""
        return of_little_use(self.counts)


def likelihood_ratio(counts: Counts) -> float:
    """Return recall / false-alarm rate: the factor by which a flag multiplies the odds of being positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.divide(counts.recall, counts.false_alarm_rate))


def of_little_use(counts: Counts) -> bool:
    """Whether a flag less than doubles the odds of being positive, or nothing is flagged."""
    return not likelihood_ratio(counts) >= LITTLE_USE


def in_words(counts: Counts) -> str:
    """Describe how many rows are flagged, and how informative a flag is."""
    if counts.flagged == 0:
        return "nothing is flagged"
    return (
        f"{counts.false_alarm_rate:.0%} of the negatives are flagged with {counts.recall:.0%} of the positives: a flag "
        f"multiplies the odds of being positive by {likelihood_ratio(counts):.3g} (at random: by 1)"
    )


Decisions = tuple[Array, Array | None]  # which rows are predicted to be positive, and which are referred, if any may be


def answers_of(model: Any, held_out: HeldOut) -> Decisions:
    """Return what `predict` of a fitted model says of the held-out rows."""
    labels, reject_label = model.predict(held_out.rows.X), getattr(model, "reject_label_", None)
    return labels == model.pos_label_, None if reject_label is None else labels == reject_label


def check_answers(answers: Decisions, decisions: Decisions) -> None:
    """Raise if `predict` does not answer as was decided when the goal was tested."""
    differ = answers[0] != decisions[0]
    if answers[1] is not None:
        differ |= answers[1] != decisions[1]
    if differ.any():
        raise InputError(
            f"Of {differ.sum()} of the {len(differ)} rows that are held out for the certificate, predict says "
            "something else than the scores by which the goal was tested. No certificate would hold for it.",
            "Choose an estimator that gives a row the same score each time.",
        )


def certificate(aim: Aim, decisions: Decisions, held_out: HeldOut, passed: bool = True) -> Certificate:
    """Return what the held-out rows show about decisions on them, which were made without them.

    `passed` says whether all tests before the one of these decisions were passed, too.
    """
    assert aim.delta is not None
    evidence = held_out.evidence(*decisions)
    p_value = float(aim.goal.p_value(evidence, aim.cost))
    shown = {f"{c.name} {c.sense}": c.limit(evidence, aim.delta, aim.cost) for c in aim.goal.conditions}
    counts, assumes, met = held_out.counts(*decisions), assumptions(held_out), passed and p_value <= aim.delta
    return Certificate(aim.goal, 1.0 - aim.delta, met, counts, evidence, p_value, shown, assumes)


def assumptions(held_out: HeldOut) -> str:
    """Say in words what a certificate from these rows assumes."""
    rows, units = held_out.rows, held_out.rows.are
    if rows.chosen == LATEST:
        said = f"the future is like the held-out {units}, the latest ones: independent draws from one source"
    elif rows.chosen == BY_MASK:
        said = f"new {units} are like those held out, which the user chose: independent draws from one source"
    else:
        said = f"held-out and new {units} are independent draws from one source"
    if units == GROUPS:
        said += ", of which whole groups are held out and one row of each counts"
    of_unit = Units.of(rows, held_out.positive).total_weight(rows.weights)
    if not rows.counted and (of_unit != of_unit[0]).any():
        said += ", none of them heavier than the heaviest of the search"
    return said


def chosen_by_tests(
    aim: Aim, search: Search, decision_of: Callable[[Point], Decision], held_out: HeldOut
) -> tuple[Decision, Decisions, bool]:
    """Return the decision to take, what it says of the held-out rows, and whether these show that it meets the goal.

    It is the best that passes, and if none does, that of the best point of the search.
    """
    if not search.tune_threshold:
        certified = certified_model(aim, candidates(aim, search.points), decision_of, held_out)
        chosen = certified or decision_of(search.best)
        return chosen, chosen.decisions(held_out.rows.X), certified is not None
    chosen = decision_of(search.best)
    assert search.out_of_fold is not None
    scores = chosen.scores(held_out.rows.X)
    certified = certified_threshold(aim, chosen, scores, held_out, search.out_of_fold)
    chosen = certified or chosen
    return chosen, chosen.decide(scores), certified is not None


def certified_threshold(
    aim: Aim, decision: Decision, scores: Array, held_out: HeldOut, out_of_fold: OutOfFoldScores
) -> Decision | None:
    """Return the decision with the best threshold that is shown to meet the goal; None if there is none.

    `scores` are those of the held-out rows.
    If the goal does not imply an order in which to test thresholds, or pairs of them, their out-of-fold counts do.
    Among those that pass, out-of-fold and held-out counts together decide.
    """
    assert aim.delta is not None
    assert decision.point.curve is not None
    positive = held_out.positive
    thresholds, before = decision.point.curve
    if aim.goal.rising is not None and not aim.refers:
        tried, evidence = Counts.at_thresholds(positive, scores, held_out.examples)
        _, counts = Counts.at_thresholds(positive, scores, held_out.rows.weights)
        counts += out_of_fold.at_each(tried)
        passed = np.flatnonzero(aim.goal.p_value(evidence, aim.cost) <= aim.delta)
    else:
        order = (sequence_of_pairs if aim.refers else sequence)(aim, before)
        tried = thresholds[order]
        decisions = [decision.at(t).decide(scores) for t in tried]
        counts = _stack([held_out.counts(*made) for made in decisions]) + before[order]
        evidence = _stack([held_out.evidence(*made) for made in decisions])
        failed = np.flatnonzero(aim.goal.p_value(evidence, aim.cost) > aim.delta)
        passed = np.arange(failed[0] if len(failed) else len(tried))
    return None if len(passed) == 0 else decision.at(tried[aim.preferred(counts, passed)])


def certified_model(
    aim: Aim, points: list[Point], decision_of: Callable[[Point], Decision], held_out: HeldOut
) -> Decision | None:
    """Fit and test the models of these points in order; return the last that passes before one fails, if any."""
    last = None
    for point in points:
        decision = decision_of(point)
        if aim.goal.p_value(held_out.evidence(*decision.decisions(held_out.rows.X)), aim.cost) > aim.delta:
            break
        last = decision
    return last


def sequence(aim: Aim, curve: Counts, n_steps: int = 50) -> Array:
    """Return the order in which to test thresholds: from the one most likely to pass towards the best by `then`."""
    p_values, merit = aim.p_value(curve), aim.merit(curve)
    safest = int(np.argmin(p_values))
    hopeful = np.flatnonzero(p_values <= HOPEFUL)
    better = hopeful[merit[hopeful] > merit[safest]]
    if len(better) == 0:
        return np.array([safest])
    best = aim.preferred(curve, better)
    path = np.linspace(safest, best, min(n_steps, abs(best - safest) + 1)).round().astype(np.intp)
    return np.asarray(path)


def sequence_of_pairs(aim: Aim, pairs: Counts, n_steps: int = 50) -> Array:
    """Return the order in which to test pairs of thresholds.

    From the safest pair, each is the safest of those that are better by `then`. Scores of new rows differ somewhat from
    those out of fold, however many there are. So how safe a pair is, is judged as if there were fewer held-out rows: n
    rows count as n / (1 + n / 1000), and wide margins on all conditions are safer than a tiny p-value of one.
    """
    n = np.max(pairs.scaled(*aim.scale).total)
    few = pairs.scaled(*(factor / (1.0 + n / MOST_TRUSTED) for factor in aim.scale))
    risk, merit = sum(c.p_value(few, aim.cost) for c in aim.goal.conditions), aim.merit(pairs)
    hopeful = np.flatnonzero(aim.p_value(pairs) <= HOPEFUL)
    if len(hopeful) == 0:
        return np.array([int(np.argmin(risk))])
    order = hopeful[np.lexsort((-merit[hopeful], risk[hopeful]))]
    best_before = np.maximum.accumulate(np.concatenate(([-np.inf], merit[order][:-1])))
    path = order[merit[order] > best_before]
    if len(path) == 0:  # `then` is undefined for all of them
        path = order[:1]
    return np.asarray(path[np.unique(np.linspace(0, len(path) - 1, n_steps).round().astype(np.intp))])


def candidates(aim: Aim, points: list[Point]) -> list[Point]:
    """Return the points whose models are tested, in order: from the safest towards the best by `then`."""
    hopeful = [p for p in points if aim.p_value(p.counts) <= 0.5]
    best = max(points, key=lambda p: p.rank)
    found: list[Point] = []
    for p in sorted(hopeful or [best], key=lambda p: (float(aim.p_value(p.counts)), -float(aim.merit(p.counts)))):
        if not found or aim.merit(p.counts) > aim.merit(found[-1].counts):
            found.append(p)
    if len(found) <= MAX_CANDIDATES:
        return found
    return [found[k] for k in np.unique(np.linspace(0, len(found) - 1, MAX_CANDIDATES).round().astype(int))]


def _stack(counts: list[Any]) -> Counts:
    stacked: Counts = counts[0].map(lambda *each: np.array(each), *counts[1:])
    return stacked


def impossible(aim: Aim, held_out: HeldOut) -> list[tuple[Condition, float, float]]:
    """Return the conditions that even perfect predictions could not show on these held-out rows.

    With each come the number of rows that would be needed and the number of those available.
    """
    assert aim.delta is not None
    perfect = held_out.evidence(held_out.positive)
    rows = [
        (c, c.perfect_rows(aim.delta, aim.cost), number_of(c.measure.denominator, perfect)) for c in aim.goal.conditions
    ]
    return [(c, needed, available) for c, needed, available in rows if needed > available]


def number_of(denominator: str, perfect: Counts) -> float:
    """Return the number of rows in the denominator of a measure if all predictions are right."""
    of_both = {
        "negatives": perfect.negatives,
        "rows": perfect.total,
        "positives and as many negatives": min(perfect.positives, perfect.negatives),
    }
    return float(of_both.get(denominator, perfect.positives))
