"""Which rows are held out for the certificate, and which of them are evidence.

A promise is about a rate in which rows count by their weight, such as ``E[w · found] / E[w]`` over positives, and what
is independent are units of one or several rows. The evidence has *one row of a unit at most*: a unit of weight m is
taken with probability m / M, M being the weight of the heaviest, and of its rows one in proportion to their weights.
Rows that are drawn like this are independent, and each is found, missed, flagged or left alone with just the
probability that is the rate by weight: it is sampling by rejection from what the promise is about, whatever weights and
sizes of groups have to do with labels and scores. So the exact tests hold for the plain counts of these rows. Where all
units weigh the same, all are taken.

Without a largest weight no number of rows could show anything about a mean: the promise is about units that are not
heavier than the heaviest in the search. Held-out ones that are, are no evidence, but M is the weight of the heaviest of
all. (The others are then a sample of units up to a limit that was set without them.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.goals.search import Aim
from skewboost.goals.trials import Rows
from skewboost.goals.units import Units
from skewboost.metrics.counts import Counts
from skewboost.typing import Array

A_THIRD, HALF = 1 / 3, 0.5
MAX_TRIES = 100
ROUNDING = 1e-9  # of sums of weights


@dataclass(frozen=True)
class HeldOut:
    """Rows that nothing else has seen."""

    rows: Rows
    positive: Array
    proof: Array  # how many independent examples each row stands for

    def evidence(self, flagged: Array) -> Counts:
        """Answers on independent examples."""
        return Counts.of(self.positive, flagged, self.proof)

    def counts(self, flagged: Array) -> Counts:
        """Answers on all rows, by weight."""
        return Counts.of(self.positive, flagged, self.rows.weights)

    @property
    def n_examples(self) -> int:
        """How many independent examples there are."""
        return int(self.proof.sum())


def share_needed(aim: Aim, rows: Rows, positive: Array) -> float:
    """A third of the units, or up to half where faultless answers would have to be that many to show the goal."""
    assert aim.delta is not None
    units = Units.of(rows, positive)
    chosen = {"negatives": ~positive, "rows": None}
    shares = []
    for c in aim.goal.conditions:
        mass = units.mass(rows.weights, chosen.get(c.measure.of_what, positive))
        heaviest = (units.mass(rows.weights) if c.measure.classes is None else mass).max()
        there = mass.sum() if rows.counted else mass.sum() / heaviest  # examples, if all were held out
        shares.append(c.perfect_rows(aim.delta, aim.cost) / there)
    return float(min(max(A_THIRD, *shares), HALF))


def check_mask(holdout: Any, n_rows: int) -> Array | None:
    """Which rows the user wants held out; None if that is not said row by row."""
    if np.ndim(holdout) == 0:
        return None
    mask: Array = np.asarray(holdout)
    if mask.dtype != np.bool_ or mask.shape != (n_rows,):
        raise InputError(
            f"holdout is an array of type {mask.dtype} and shape {mask.shape}, but X has {n_rows} rows. Give one "
            "boolean per row, True for those to hold out, or a share of the rows."
        )
    return mask


def given_split(rows: Rows, positive: Array) -> tuple[Array, Array]:
    """How many examples of each row are for the search, and how many for the certificate, as the user wants it."""
    mask, units = rows.held_out, Units.of(rows, positive)
    assert mask is not None
    within = units.mass(None, mask)
    torn = (within > 0) & (within < units.mass(None))
    if torn.any():
        raise InputError(
            f"holdout has {int(within[torn].sum())} rows that are equal to rows outside of it, or of one group with "
            "them. Hold out all or none of them, or set weights='counts' if equal rows are independent examples."
        )
    held, left = (units.has[:, within > 0].sum(axis=1), units.has[:, within == 0].sum(axis=1))
    if held.min() < 1 or left.min() < 2:
        raise InputError(
            f"holdout leaves {left[1]} positives and {left[0]} negatives to search on, and {held[1]} and {held[0]} for "
            "the certificate. At least 2 of each class are needed to search on, and 1 for the certificate."
        )
    examples = units.examples[units.of_row]
    return examples * ~mask, examples * mask


def split(aim: Aim, rows: Rows, positive: Array, share: float, rng: Any) -> tuple[Array, Array]:
    """How many examples of each row are for the search, and how many for the certificate.

    Units stay whole. Only where weights count examples, of which a row is so many independent ones, does each of these
    go its own way: if all went the same way, a few frequent rows would pass for many.

    Where the goal is on the two classes apart, each is split; for other goals the held-out units have to be a sample of
    all, or shares of them would not be those of new rows. A draw that leaves too few of a class is made again.
    """
    units = Units.of(rows, positive)
    n_units = len(units.examples)
    for _ in range(MAX_TRIES):
        held_out = np.zeros(n_units, dtype=np.int64)
        for part in _strata(aim, units):
            total = int(units.examples[part].sum())
            n = min(max(1, round(share * total)), total - 2)  # two of a class are needed for two folds
            held_out[part] = _drawn(units.examples[part], n, rng)
        held = units.has[:, held_out > 0].sum(axis=1)
        left = units.has[:, held_out < units.examples].sum(axis=1)
        if held.min() >= 1 and left.min() >= 2:
            return (units.examples - held_out)[units.of_row], held_out[units.of_row]
    together = "" if n_units == len(positive) else f", in {n_units} groups or sets of equal rows"
    raise InputError(
        f"y has {positive.sum()} positives and {(~positive).sum()} negatives{together}: too few to hold some out and "
        "to cross-validate on the others. Set confidence=None, or get more examples."
    )


def _strata(aim: Aim, units: Units) -> list[Array]:
    """Numbers of units that are split apart: by the one class that the goal is about, or by both if none has both."""
    asked = [c.measure.classes for c in aim.goal.conditions]
    classes = set().union(*(of or {0, 1} for of in asked))
    if None in asked or (len(classes) == 2 and not units.pure):
        return [np.arange(len(units.examples))]
    key = units.has[1] if 1 in classes else ~units.has[0]
    return [np.flatnonzero(~key), np.flatnonzero(key)]


def _drawn(examples: Array, n: int, rng: Any) -> Array:
    """How often each unit is among n examples that are drawn without replacement."""
    if (examples == 1).all():
        drawn = np.zeros(len(examples), dtype=np.int64)
        drawn[rng.permutation(len(examples))[: max(n, 0)]] = 1
        return drawn
    generator = np.random.default_rng(rng.randint(2**31 - 1))
    return np.asarray(generator.multivariate_hypergeometric(examples, max(n, 0), method="marginals"))


def held_out_of(aim: Aim, searched: Rows, held: Rows, pos_label: Any, rng: Any) -> tuple[HeldOut, tuple[float, float]]:
    """What is held out, with its evidence; and how many examples of both classes, the negative one first, that is for a
    weight of 1 in the search.
    """
    sides = [(rows, rows.y == pos_label) for rows in (searched, held)]
    there, kept = (Units.of(*side) for side in sides)
    ratio = float(kept.examples.sum() / there.examples.sum())
    positive = sides[1][1]
    if held.counted:
        proof = np.ones(len(positive)) if held.weights is None else held.weights
        return HeldOut(held, positive, proof), (ratio, ratio)
    asked = [c.measure.classes for c in aim.goal.conditions]
    # Both classes may be drawn from the same units unless a single test takes them for independent
    apart = None not in asked and (frozenset({0, 1}) not in asked or (there.pure and kept.pure))
    proof = np.zeros(len(positive), dtype=np.int64)
    scale = []
    for k in (False, True):
        here, chosen = (of == k if apart else np.ones(len(of), dtype=np.bool_) for _, of in sides)
        limit = float(there.mass(searched.weights, here).max())
        heaviest = max(limit, float(kept.mass(held.weights, chosen).max()))
        scale.append(ratio / heaviest)
        if apart or k:
            proof += one_of_each(kept, held.weights, chosen, limit, heaviest, rng)
    return HeldOut(held, positive, proof), (scale[0], scale[1])


def one_of_each(units: Units, weights: Array | None, chosen: Array, limit: float, heaviest: float, rng: Any) -> Array:
    """Which of the chosen rows are drawn: one of each unit, by weight, with the probability that the weight of the
    chosen rows in the unit is of the heaviest; none of those that are heavier than the limit.
    """
    mass = units.mass(weights, chosen)
    taken = (mass > 0) & (mass <= limit * (1 + ROUNDING))
    if not (mass[taken] >= heaviest * (1 - ROUNDING)).all():
        taken &= rng.uniform(size=len(mass)) * heaviest < mass
    rows = np.flatnonzero(chosen & taken[units.of_row])
    if len(rows) > taken.sum():
        # the first of clocks that run at the speeds w is each with probability w / Σw
        wait = rng.exponential(size=len(rows)) / (1.0 if weights is None else weights[rows])
        rows = rows[np.lexsort((wait, units.of_row[rows]))]
        rows = rows[np.unique(units.of_row[rows], return_index=True)[1]]
    drawn = np.zeros(len(chosen), dtype=np.int64)
    drawn[rows] = 1
    return drawn
