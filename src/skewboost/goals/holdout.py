"""Which rows are held out for the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.goals.search import Aim
from skewboost.metrics.counts import Array

A_THIRD, HALF = 1 / 3, 0.5
OF_ONE_CLASS = ("recall", "miss_rate", "specificity", "false_alarm_rate", "g_mean")
MAX_TRIES = 100


def share_needed(aim: Aim, positive: Array, weights: Array | None) -> float:
    """A third of the rows, or up to half where faultless answers would have to be that many to show the goal."""
    assert aim.delta is not None
    mass = np.ones(len(positive)) if weights is None else weights
    there = {"negatives": mass[~positive].sum(), "rows": mass.sum()}
    shares = [
        c.perfect_rows(aim.delta, aim.cost) / there.get(c.measure.of_what, mass[positive].sum())
        for c in aim.goal.conditions
    ]
    return float(min(max(A_THIRD, *shares), HALF))


def check_mask(holdout: Any, n_rows: int) -> Array | None:
    """Which rows the user wants held out; None if that is not said row by row."""
    if np.ndim(holdout) == 0:
        return None
    mask: Array = np.asarray(holdout)
    if mask.dtype != np.bool_ or mask.shape != (n_rows,):
        raise ValueError(
            f"holdout is an array of type {mask.dtype} and shape {mask.shape}, but X has {n_rows} rows. Give one "
            "boolean per row, True for those to hold out, or a share of the rows."
        )
    return mask


def given_split(positive: Array, weights: Array | None, mask: Array) -> tuple[Array, Array]:
    """How many examples of each row are for the search, and how many for the certificate, as the user wants it."""
    held, left = (np.bincount(positive[side], minlength=2) for side in (mask, ~mask))
    if held.min() < 1 or left.min() < 2:
        raise ValueError(
            f"holdout leaves {left[1]} positives and {left[0]} negatives to search on, and {held[1]} and {held[0]} for "
            "the certificate. At least 2 of each class are needed to search on, and 1 for the certificate."
        )
    examples = _examples(len(positive), weights)
    return examples * ~mask, examples * mask


def split(aim: Aim, positive: Array, weights: Array | None, share: float, rng: Any) -> tuple[Array, Array]:
    """How many examples of each row are for the search, and how many for the certificate.

    Where the goal is on the two classes apart, each is split; for other goals the held-out rows have to be a sample of
    all, or shares of them would not be those of new rows. A draw that leaves too few of a class is made again.

    A row that stands for several examples is split like these, each of which goes its own way: if all went the same
    way, they would be no independent draws, and the certificate would take a few frequent rows for many examples.
    """
    examples = _examples(len(positive), weights)
    apart = all(c.name in OF_ONE_CLASS for c in aim.goal.conditions)
    for _ in range(MAX_TRIES):
        parts = [np.flatnonzero(~positive), np.flatnonzero(positive)] if apart else [np.arange(len(positive))]
        held_out = np.zeros(len(positive), dtype=np.int64)
        for part in parts:
            total = int(examples[part].sum())
            n = min(max(1, round(share * total)), total - 2)  # two of a class are needed for two folds
            held_out[part] = _drawn(examples[part], n, rng)
        held = np.bincount(positive[held_out > 0], minlength=2)
        left = np.bincount(positive[held_out < examples], minlength=2)
        if held.min() >= 1 and left.min() >= 2:
            return examples - held_out, held_out
    raise ValueError(
        f"y has {positive.sum()} positives and {(~positive).sum()} negatives: too few to hold some out and to "
        "cross-validate on the others. Set confidence=None, or get more examples."
    )


def _examples(n_rows: int, weights: Array | None) -> Array:
    return np.ones(n_rows, dtype=np.int64) if weights is None else np.round(weights).astype(np.int64)


def _drawn(examples: Array, n: int, rng: Any) -> Array:
    """How often each row is among n examples that are drawn without replacement."""
    if (examples == 1).all():
        drawn = np.zeros(len(examples), dtype=np.int64)
        drawn[rng.permutation(len(examples))[: max(n, 0)]] = 1
        return drawn
    generator = np.random.default_rng(rng.randint(2**31 - 1))
    return np.asarray(generator.multivariate_hypergeometric(examples, max(n, 0), method="marginals"))
