"""What to tell when a goal is not reached: how close it came, and what limits it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.goals.certificate import Certificate, in_words, number_of
from skewboost.goals.goal import Condition
from skewboost.goals.holdout import HeldOut
from skewboost.goals.search import Aim, Point
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

CLOSEST = "Set allow_unmet=True to get the closest model."

MORE_EXAMPLES = f"Get more examples, lower the confidence, or set confidence=None for no promise. {CLOSEST}"


class GoalNotReachableError(InputError):
    """No model was found that meets the goal; `search_` has all that were tried.

    `parameter` is the parameter of the search that the remedy would change: "confidence" if there are too few rows to
    certify the goal, else "allow_unmet".
    """

    def __init__(
        self,
        problem: str,
        remedy: str = CLOSEST,
        *,
        search: dict[str, Array] | None = None,
        parameter: str = "allow_unmet",
    ) -> None:
        super().__init__(problem, remedy)
        self.search_ = search or {}
        self.parameter = parameter


class GoalNotMetWarning(UserWarning):
    """The goal is not met, and the model is returned because `allow_unmet` says so."""


class LittleUseWarning(UserWarning):
    """Decisions reach the goal, but are hardly better than chance."""


def hardly_useful(aim: Aim, counts: Counts) -> str:
    """The goal is reached by flagging almost everything, or nothing."""
    return (
        f"The goal {aim.goal} is reached, but the decisions are of little use: {in_words(counts)}. Try another "
        "estimator, more rounds, better features or a goal that is easier to reach."
    )


def copies(
    n_copies: int,
    n_rows: int,
    certified: bool,
    of: str = "X",
    count: str = "set weights='counts'",
    group: str = "say how: fit(X, y, groups=...)",
) -> str:
    """Rows are equal; `count` and `group` are the remedies."""
    weigh = ", and count as one in the certificate, with their weights together" if certified else ""
    return (
        f"Of the {n_rows} rows of {of} {n_copies} repeat others. Equal rows are taken for copies: they stay on one "
        f"side of every split{weigh}. If they are independent examples, as in a table of few distinct values, {count}; "
        f"if rows belong together in other ways, {group}."
    )


def _values(aim: Aim, counts: Counts) -> str:
    names = list(dict.fromkeys([*(c.measure for c in aim.goal.conditions), aim.then]))
    return ", ".join(f"{m.name} {m.value(counts, aim.cost):.4g}" for m in names)


def too_few(aim: Aim, lacking: list[tuple[Condition, float, float]], held_out: HeldOut, everywhere: Counts) -> str:
    """Not even faultless answers would show it; `everywhere` counts these on all rows."""
    assert aim.delta is not None
    told = []
    n_held = held_out.n_examples if held_out.rows.counted else len(held_out.proof)
    where = f"{n_held / everywhere.total:.0%} of the rows held out"
    if held_out.n_examples < n_held:
        where += f", of which {held_out.n_examples} of {n_held} are independent by weight and group"
    for condition, needed, there in lacking:
        of_what = condition.measure.of_what
        if math.isinf(needed):
            told.append(f"no number of examples can show {condition}; ask for a bound that leaves room for a mistake")
            continue
        in_all = needed * number_of(of_what, everywhere) / there if there else math.inf
        takes = f", that takes about {math.ceil(in_all)} in all" if math.isfinite(in_all) else ""
        told.append(
            f"{condition} needs {needed:.0f} held-out {of_what} even if every answer is right, and there are {there:g} "
            f"(with {where}{takes})"
        )
    return f"The data are too few to promise the goal with confidence {1 - aim.delta:g}: {'; '.join(told)}."


def not_reachable(aim: Aim, points: list[Point]) -> str:
    """No point tried does it in cross-validation."""
    best = max(points, key=lambda p: p.rank)
    closest = f"The closest in cross-validation: {_values(aim, best.counts)}"
    if best.costs is not None:
        closest += f", with a miss costing {best.costs[0]:.4g} and a false alarm {best.costs[1]:.4g}"
    return f"The goal {aim.goal} was not reached. {closest}. {_limit(aim, points)}"


def _limit(aim: Aim, points: list[Point]) -> str:
    """What stands in the way."""
    conditions = aim.goal.conditions
    curves = [p.counts if p.curve is None else p.curve[1] for p in points]
    if len(conditions) > 1:
        alone = [any(np.any(c.met(counts, aim.cost)) for counts in curves) for c in conditions]
        if all(alone):
            told = []
            for c in conditions:
                others = [o for o in conditions if o is not c]
                reached = [_best_of(c, others, counts, aim.cost) for counts in curves]
                told.append(f"where the rest holds, {c.name} is at best {_extreme(c, reached):.4g}")
            return f"Each condition can be met alone, but not together: {'; '.join(told)}."
        failing = [str(c) for c, reached in zip(conditions, alone) if not reached]
        return f"Not reached even alone: {', '.join(failing)}."
    condition = conditions[0]
    reached = [_best_of(condition, [], counts, aim.cost) for counts in curves]
    extreme = _extreme(condition, reached)
    ratios = [p.ratio for p in points]
    if len(points) > 1:
        return (
            f"Over cost ratios from {min(ratios):.3g} to {max(ratios):.3g} {condition.name} is at best {extreme:.4g}: "
            "the scores do not separate the classes well enough. Try another estimator, more rounds or better features."
        )
    return f"At no threshold is {condition.name} better than {extreme:.4g}; tune='both' may do better."


def _best_of(condition: Condition, others: list[Condition], counts: Counts, cost: Array | None) -> float:
    values = np.atleast_1d(condition.measure.value(counts, cost)).astype(np.float64)
    for other in others:
        values = np.where(np.atleast_1d(other.met(counts, cost)), values, np.nan)
    return _extreme(condition, values.tolist())


def _extreme(condition: Condition, values: list[Any]) -> float:
    known = [v for v in values if v == v]
    if not known:
        return float("nan")
    return float(max(known) if condition.sense == ">=" else min(known))


def not_certified(aim: Aim, found: Certificate) -> str:
    """It was reached in the search, but held-out rows do not show it."""
    assert aim.delta is not None
    shown = ", ".join(f"{name} {bound:.4g}" for name, bound in found.shown.items())
    there = found.evidence
    need = _rows_needed(aim, there)
    more = f" About {need:.1f} times as many held-out rows like these would show it." if need else ""
    what = "held-out rows" if there == found.counts else "independent examples among the held-out rows"
    return (
        f"The goal {aim.goal} is not certified with confidence {1 - aim.delta:g}: the {what} ({_values(aim, there)}; "
        f"{there.positives:g} positives, {there.negatives:g} negatives) show no more than {shown}.{more}"
    )


def _rows_needed(aim: Aim, counts: Counts) -> float | None:
    """How many times as many rows with the same rates would do; None if none would."""
    if not aim.goal.met(counts, aim.cost):
        return None
    factor = 1.0
    while factor < 1000.0:
        more = Counts(*(round(factor * n) for n in (counts.tp, counts.fp, counts.fn, counts.tn)))
        if aim.goal.doubt(more, aim.cost) <= aim.delta:
            return factor
        factor *= 1.1
    return None
