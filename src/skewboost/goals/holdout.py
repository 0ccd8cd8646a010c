"""The rows that are held out for the certificate, and the independent examples among them.

A certificate is about a rate in which rows count by their weight, such as ``E[w · found] / E[w]`` over positives, and
the independent units have one or several rows. The evidence has *at most one row of each unit*: a unit of weight m is
accepted with probability m / M, where M is the largest weight of a unit, and one of its rows is drawn in proportion to
their weights. This is rejection sampling from the weighted distribution. The rows drawn are independent, and each is
found, missed or flagged with exactly the probability that is the weighted rate, however weights and group sizes depend
on labels and scores. So the exact tests hold for the plain counts of these rows. If all units weigh the same, all are
accepted.

No number of rows could show anything about a weighted mean without a largest weight. The certificate is therefore about
units that are no heavier than the heaviest one in the search. Heavier held-out units are no evidence, but they count
for M. (The other units are then a sample of units up to a limit that was set without them.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from skewboost.errors import InputError
from skewboost.goals.rows import AT_RANDOM, BY_MASK, LATEST, SearchRows, Units
from skewboost.goals.search import Aim
from skewboost.goals.unreachable import GoalNotReachableError
from skewboost.metrics.counts import Counts, ReferralCounts
from skewboost.typing import Array

SMALLEST, LARGEST = 1 / 3, 0.5  # fraction of the units that is held out if the user does not say
MAX_TRIES = 100
ROUNDING = 1e-9  # of sums of weights


@dataclass(frozen=True)
class HeldOut:
    """Rows that neither the search nor the final fit has seen."""

    rows: SearchRows
    positive: Array
    examples: Array  # the number of independent examples of each row

    def evidence(self, flagged: Array, referred: Array | None = None) -> Counts | ReferralCounts:
        """Return the counts on independent examples."""
        return self._count(flagged, referred, self.examples)

    def counts(self, flagged: Array, referred: Array | None = None) -> Counts | ReferralCounts:
        """Return the weighted counts on all rows."""
        found = self._count(flagged, referred, self.rows.weights)
        # thirds of copies add up to whole rows
        return found if self.rows.share is None else found.map(lambda count: float(f"{count:.12g}"))

    def _count(self, flagged: Array, referred: Array | None, weights: Array | None) -> Counts | ReferralCounts:
        if referred is None:
            return Counts.of(self.positive, flagged, weights)
        return ReferralCounts.with_referred(self.positive, flagged, referred, weights)

    @property
    def n_examples(self) -> int:
        """The number of independent examples."""
        return int(self.examples.sum())


def hold_out(search: Any, aim: Aim, rows: SearchRows, rng: Any) -> tuple[SearchRows, HeldOut, Aim, Counts]:
    """Divide the rows of a `GoalSearchCV` whose `pos_label_` is known.

    Returns the rows to search on, those for the certificate, the aim with the size of the latter, and the numbers of
    positives and negatives of both, as the counts of perfect predictions.
    """
    positive = rows.y == search.pos_label_
    if rows.held_out is not None:
        chosen, (inner, outer) = BY_MASK, split_by_mask(rows, positive)
    else:
        fraction = search.holdout or fraction_needed(aim, rows, positive)
        order = time_order(search)
        if order is not None:
            chosen, (inner, outer) = LATEST, split_by_time(rows, positive, fraction, order.gap)
        else:
            chosen, (inner, outer) = AT_RANDOM, random_split(aim, rows, positive, fraction, rng)
    rows = replace(rows, chosen=chosen)
    searched = rows.part(inner)
    held_out, scale = draw_evidence(aim, searched, rows.part(outer), search.pos_label_, rng)
    return searched, held_out, replace(aim, scale=scale), Counts.of(positive, positive, inner + outer)


def time_order(search: Any) -> TimeSeriesSplit | None:
    """Return the splitter by which a search, or else its estimator, says that rows are in the order of time."""
    given = getattr(search._base, "cv", None) if search.cv is None else search.cv
    return given if isinstance(given, TimeSeriesSplit) else None


def fraction_needed(aim: Aim, rows: SearchRows, positive: Array) -> float:
    """Return a third, or up to a half if perfect predictions would need so many held-out units to show the goal."""
    assert aim.delta is not None
    units = Units.of(rows, positive)
    selections = {"negatives": ~positive, "rows": None}
    fractions = []
    for c in aim.goal.conditions:
        of_unit = units.total_weight(rows.weights, selections.get(c.measure.denominator, positive))
        heaviest = (units.total_weight(rows.weights) if c.measure.classes is None else of_unit).max()
        available = of_unit.sum() if rows.counted else of_unit.sum() / heaviest  # examples, if all were held out
        fractions.append(c.perfect_rows(aim.delta, aim.cost) / available)
    return float(min(max(SMALLEST, *fractions), LARGEST))


def split_by_mask(rows: SearchRows, positive: Array) -> tuple[Array, Array]:
    """Return the number of examples of each row for the search and for the certificate, as the user chose them."""
    mask, units = rows.held_out, Units.of(rows, positive)
    assert mask is not None
    within = units.total_weight(None, mask)
    torn = (within > 0) & (within < units.total_weight(None))
    if torn.any():
        raise InputError(
            f"holdout has {int(within[torn].sum())} rows that are equal to rows outside of it, or in the same group.",
            "Hold out all or none of them, or set weights='counts' if equal rows are independent examples.",
        )
    return _parts(units, positive, ~mask, mask, "holdout leaves")


def split_by_time(rows: SearchRows, positive: Array, fraction: float, gap: int) -> tuple[Array, Array]:
    """Return the number of examples of each row for the search and for the certificate: the latest rows are held out.

    Rows are in the order of time. The `gap` rows before the held-out ones are used for neither. Nor are earlier rows of
    a unit that has held-out rows, or these would not be new.
    """
    units = Units.of(rows, positive)
    place = np.arange(len(positive))
    start = len(place) - max(1, round(fraction * len(place)))
    late = place >= start
    early = (place < start - gap) & (units.total_weight(None, late) == 0)[units.of_row]
    return _parts(units, positive, early, late, f"Holding out the latest {late.sum()} rows leaves")


def _parts(units: Units, positive: Array, search: Array, held_out: Array, leaves: str) -> tuple[Array, Array]:
    """Return the examples of both parts, given the rows of each, after a check that both have enough."""
    left, held = (
        [len(np.unique(units.of_row[part & (positive == k)])) for k in (False, True)] for part in (search, held_out)
    )
    if min(held) < 1 or min(left) < 2:
        raise InputError(
            f"{leaves} {left[1]} positives and {left[0]} negatives to search on, and {held[1]} and {held[0]} for the "
            "certificate.",
            "Leave at least 2 of each class for the search, and 1 for the certificate.",
        )
    examples = units.examples[units.of_row]
    return examples * search, examples * held_out


def random_split(
    aim: Aim, rows: SearchRows, positive: Array, fraction: float, rng: Any, least: int = 2, use: str = "cross-validate"
) -> tuple[Array, Array]:
    """Draw the number of examples of each row for the search and for the certificate.

    At least so many independent examples of each class are left: two folds need two.

    Units stay whole. Only where weights count examples are the examples of a row drawn one by one: if they stayed
    together, a few frequent rows would pass for many examples.

    Where the goal is about the two classes separately, each class is split. For other goals the held-out units have to
    be a sample of all units, or their proportions would not be those of new rows. A draw that leaves too few of a class
    is repeated.
    """
    units = Units.of(rows, positive)
    n_units = len(units.examples)
    for _ in range(MAX_TRIES):
        held_out = np.zeros(n_units, dtype=np.int64)
        for part in _strata(aim, units):
            total = int(units.examples[part].sum())
            n = min(max(1, round(fraction * total)), total - least)
            held_out[part] = _draw(units.examples[part], n, rng)
        held = units.has[:, held_out > 0].sum(axis=1)
        left = units.has[:, held_out < units.examples].sum(axis=1)
        if held.min() >= 1 and left.min() >= least:
            return (units.examples - held_out)[units.of_row], held_out[units.of_row]
    together = "" if n_units == len(positive) else f", in {n_units} groups or sets of equal rows"
    problem = (
        f"y has {positive.sum()} positives and {(~positive).sum()} negatives{together}: too few to hold some out and "
        f"to {use} on the others."
    )
    if aim.delta is None:
        raise InputError(problem, "Add examples.")
    raise GoalNotReachableError(problem, "Set confidence=None, or add examples.", parameter="confidence")


def _strata(aim: Aim, units: Units) -> list[Array]:
    """Return the units of each stratum: by the class that the goal is about, or by both if no unit has both."""
    of_conditions = [c.measure.classes for c in aim.goal.conditions]
    classes = set().union(*(of or {0, 1} for of in of_conditions))
    if None in of_conditions or (len(classes) == 2 and not units.pure):
        return [np.arange(len(units.examples))]
    key = units.has[1] if 1 in classes else ~units.has[0]
    return [np.flatnonzero(~key), np.flatnonzero(key)]


def _draw(examples: Array, n: int, rng: Any) -> Array:
    """Draw n examples without replacement and count them by unit."""
    if (examples == 1).all():
        drawn = np.zeros(len(examples), dtype=np.int64)
        drawn[rng.permutation(len(examples))[: max(n, 0)]] = 1
        return drawn
    generator = np.random.default_rng(rng.randint(2**31 - 1))
    return np.asarray(generator.multivariate_hypergeometric(examples, max(n, 0), method="marginals"))


def draw_evidence(
    aim: Aim, searched: SearchRows, held: SearchRows, pos_label: Any, rng: Any
) -> tuple[HeldOut, tuple[float, float]]:
    """Draw the independent examples of the held-out rows.

    Returns the held-out rows, and for each class, the negative one first, the number of held-out examples per weight of
    1 in the search.
    """
    search_positive, held_positive = searched.y == pos_label, held.y == pos_label
    search_units, held_units = Units.of(searched, search_positive), Units.of(held, held_positive)
    ratio = float(held_units.examples.sum() / search_units.examples.sum())
    if held.counted:
        examples = np.ones(len(held_positive)) if held.weights is None else held.weights
        return HeldOut(held, held_positive, examples), (ratio, ratio)
    of_conditions = [c.measure.classes for c in aim.goal.conditions]
    # Both classes may be drawn from the same units unless a single test assumes that they are independent
    independent = frozenset({0, 1}) not in of_conditions or (search_units.pure and held_units.pure)
    separate = None not in of_conditions and independent
    examples = np.zeros(len(held_positive), dtype=np.int64)
    scale = []
    for k in (False, True):
        in_search, in_held = (
            positive == k if separate else np.ones(len(positive), dtype=np.bool_)
            for positive in (search_positive, held_positive)
        )
        limit = float(search_units.total_weight(searched.weights, in_search).max())
        heaviest = max(limit, float(held_units.total_weight(held.weights, in_held).max()))
        scale.append(ratio / heaviest)
        if separate or k:
            examples += one_per_unit(held_units, held.weights, in_held, limit, heaviest, rng)
    return HeldOut(held, held_positive, examples), (scale[0], scale[1])


def one_per_unit(
    units: Units, weights: Array | None, selected: Array, limit: float, heaviest: float, rng: Any
) -> Array:
    """Draw at most one of the selected rows of each unit, by weight; returns 1 for rows that are drawn, else 0.

    A unit is accepted with probability (weight of its selected rows) / `heaviest`, and never if that weight exceeds
    `limit`.
    """
    of_unit = units.total_weight(weights, selected)
    accepted = (of_unit > 0) & (of_unit <= limit * (1 + ROUNDING))
    if not (of_unit[accepted] >= heaviest * (1 - ROUNDING)).all():
        accepted &= rng.uniform(size=len(of_unit)) * heaviest < of_unit
    rows = np.flatnonzero(selected & accepted[units.of_row])
    if len(rows) > accepted.sum():
        # of exponential waiting times with the rates w, each is the shortest with probability w / Σw
        wait = rng.exponential(size=len(rows)) / (1.0 if weights is None else weights[rows])
        rows = rows[np.lexsort((wait, units.of_row[rows]))]
        rows = rows[np.unique(units.of_row[rows], return_index=True)[1]]
    drawn = np.zeros(len(selected), dtype=np.int64)
    drawn[rows] = 1
    return drawn
