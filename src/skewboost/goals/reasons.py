"""Messages about goals that are not reached: how close the search came, and what limits it."""

from __future__ import annotations

import math

import numpy as np

from skewboost.goals.certificate import Certificate, in_words, number_of
from skewboost.goals.goal import Condition
from skewboost.goals.holdout import HeldOut
from skewboost.goals.search import Aim, Point
from skewboost.metrics.counts import Counts
from skewboost.typing import Array


class GoalNotMetWarning(UserWarning):
    """The goal is not met, and the model is returned because `allow_unmet` says so."""


class LittleUseWarning(UserWarning):
    """The goal is reached, but the predictions are hardly better than chance."""


def hardly_useful(aim: Aim, counts: Counts) -> str:
    """Say that the goal is reached only by flagging almost everything, or nothing."""
    return (
        f"The goal {aim.goal} is reached, but the decisions are of little use: {in_words(counts)}. Try another "
        "estimator, more rounds, better features or a goal that is easier to reach."
    )


def copies(
    n_copies: int,
    n_rows: int,
    certified: bool,
    of: str = "X",
    count: str = "pass groups=np.arange(len(X)) to fit",
    group: str = "pass groups that say so",
) -> str:
    """Say that some rows are equal; `count` and `group` are the remedies."""
    once = ", and count once, also in the certificate" if certified else ", and count once"
    return (
        f"{n_copies} of the {n_rows} rows of {of} repeat another row, and more than would be equal by chance. They are "
        f"treated as copies: they stay on one side of every split{once}. If they are independent examples, {count}. If "
        f"rows belong together in other ways, {group}."
    )


def _values(aim: Aim, counts: Counts) -> str:
    names = list(dict.fromkeys([*(c.measure for c in aim.goal.conditions), aim.then]))
    return ", ".join(f"{m.name} {m.value(counts, aim.cost):.4g}" for m in names)


def too_few(aim: Aim, lacking: list[tuple[Condition, float, float]], held_out: HeldOut, everywhere: Counts) -> str:
    """Say that even perfect predictions would not show the goal; `everywhere` counts these on all rows."""
    assert aim.delta is not None
    reasons = []
    n_held = held_out.n_examples if held_out.rows.counted else len(held_out.examples)
    where = f"{n_held / everywhere.total:.0%} of the rows held out"
    if held_out.n_examples < n_held:
        where += f", of which {held_out.n_examples} of {n_held} are independent by weight and group"
    for condition, needed, there in lacking:
        denominator = condition.measure.denominator
        if math.isinf(needed):
            reasons.append(f"no number of examples can show {condition}; choose a bound that allows for some mistakes")
            continue
        in_all = needed * number_of(denominator, everywhere) / there if there else math.inf
        takes = f", that takes about {math.ceil(in_all)} in all" if math.isfinite(in_all) else ""
        reasons.append(
            f"{condition} needs {needed:.0f} held-out {denominator} even if every prediction is right, but there are "
            f"{there:g} (with {where}{takes})"
        )
    return f"There are too few rows to certify the goal with confidence {1 - aim.delta:g}: {'; '.join(reasons)}."


def not_reachable(aim: Aim, points: list[Point]) -> str:
    """Say that no point reaches the goal in cross-validation, and which comes closest."""
    best = max(points, key=lambda p: p.rank)
    closest = f"The closest in cross-validation: {_values(aim, best.counts)}"
    if best.costs is not None:
        closest += f", with a miss costing {best.costs[0]:.4g} and a false alarm {best.costs[1]:.4g}"
    return f"The goal {aim.goal} was not reached. {closest}. {_limit(aim, points)}"


def _limit(aim: Aim, points: list[Point]) -> str:
    """Say what limits the goal."""
    conditions = aim.goal.conditions
    curves = [p.counts if p.curve is None else p.curve[1] for p in points]
    if len(conditions) > 1:
        alone = [any(np.any(c.met(counts, aim.cost)) for counts in curves) for c in conditions]
        if all(alone):
            rest = [[o for o in conditions if o is not c] for c in conditions]
            limits = [
                f"where the rest holds, {c.name} is at best {_best_of(c, others, curves, aim.cost):.4g}"
                for c, others in zip(conditions, rest)
            ]
            return f"Each condition can be met alone, but not together: {'; '.join(limits)}."
        failing = [str(c) for c, reached in zip(conditions, alone) if not reached]
        return f"These conditions are not even met alone: {', '.join(failing)}."
    condition = conditions[0]
    extreme = _best_of(condition, [], curves, aim.cost)
    ratios = [p.ratio for p in points]
    if len(points) > 1:
        return (
            f"Over cost ratios from {min(ratios):.3g} to {max(ratios):.3g} {condition.name} is at best {extreme:.4g}: "
            "the scores do not separate the classes well enough. Try another estimator, more rounds or better features."
        )
    return f"No threshold gives a better {condition.name} than {extreme:.4g}."


def _best_of(condition: Condition, others: list[Condition], curves: list[Counts], cost: Array | None) -> float:
    """The best value of a measure at any threshold where the other conditions hold; NaN if there is none."""
    found = [np.nan]
    for counts in curves:
        holds = [other.met(counts, cost) for other in others]
        found += np.ravel(np.where(np.all(holds, axis=0), condition.measure.value(counts, cost), np.nan)).tolist()
    return float(np.fmax.reduce(found) if condition.sense == ">=" else np.fmin.reduce(found))


def not_certified(aim: Aim, found: Certificate) -> str:
    """Say that the goal was reached in the search, but that the held-out rows do not show it."""
    assert aim.delta is not None
    shown = ", ".join(f"{name} {bound:.4g}" for name, bound in found.shown.items())
    evidence = found.evidence
    what = "held-out rows" if evidence == found.counts else "independent examples among the held-out rows"
    if found.p_value <= aim.delta:  # a candidate before it failed
        show = (
            f"show {shown} for this candidate, but candidates are tested in an order that was fixed before, the safest "
            "first, and one before it failed. A test that was chosen by its result would prove nothing. More held-out "
            "rows make such failures less likely."
        )
    else:
        need = _rows_needed(aim, evidence)
        more = f" About {need:.1f} times as many held-out rows like these would show it." if need else ""
        show = f"show no more than {shown}.{more}"
    return (
        f"The goal {aim.goal} is not certified with confidence {1 - aim.delta:g}: the {what} "
        f"({_values(aim, evidence)}; {evidence.positives:g} positives, {evidence.negatives:g} negatives) {show}"
    )


def _rows_needed(aim: Aim, counts: Counts) -> float | None:
    """Return how many times as many rows with the same rates would be enough; None if no number would."""
    if not aim.goal.met(counts, aim.cost):
        return None
    factor = 1.1
    while factor < 1000.0:
        if aim.goal.p_value(counts.scaled(factor, factor), aim.cost) <= aim.delta:
            return factor
        factor *= 1.1
    return None
