"""Bites, and the out-of-bag votes that they are drawn by.

A *bite* is Breiman's word for the small sample that one member of the ensemble is fitted to. Its rows are drawn one by
one, independently and in proportion to their weights, and are accepted or rejected by the out-of-bag vote.

`RowsInMemory` keeps all rows, with the votes on each. `RowPools` reads ahead: a pool holds the next few hundred
thousand draws from all rows. It is fetched in one pass over the files and then used in the order of the draws. So each
row that is considered is an independent draw from all rows, as in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.datasets.chunks import count_rows, stack
from skewboost.engine.row_hash import bits_of, row_hashes
from skewboost.engine.table import read_table, take_rows
from skewboost.engine.threads import parallel
from skewboost.learners.samplers.bootstrap import draw_by_cumulative_weight
from skewboost.meta.pasting.row_sources import Targets
from skewboost.typing import Array

MIN_ROWS = 1000  # for an estimate of the error
# Rows per task when members vote. Where tasks begin depends on the number of rows only, never on that of threads.
MIN_TASK_ROWS, MAX_TASK_ROWS, N_TASKS = 2048, 16_384, 8


@dataclass(frozen=True)
class Voters:
    """How members vote: with one vote for the class that they predict, or with their probabilities."""

    classes: Array
    soft: bool
    n_jobs: int

    def count(self, members: Sequence[Any], X: Any, excluded: Array | None = None) -> Array:
        """The votes of all members ``[row, class]``; `excluded` has pairs (row, member) of votes not to count."""
        n_rows = count_rows(X)
        size = min(max(MIN_TASK_ROWS, -(-n_rows // N_TASKS)), MAX_TASK_ROWS)
        starts = range(0, n_rows, size)

        def task(k: int) -> Array:
            start, stop = starts[k], min(starts[k] + size, n_rows)
            part = _slice(X, start, stop)
            total = np.zeros((stop - start, len(self.classes)), dtype=np.float64 if self.soft else np.int32)
            for m, member in enumerate(members):
                votes = self._votes(member, part, total.dtype)
                if excluded is not None:
                    first, last = np.searchsorted(excluded[:, 1], (m, m + 1))
                    rows = excluded[first:last, 0]
                    votes[rows[(rows >= start) & (rows < stop)] - start] = 0
                total += votes
            return total

        return np.concatenate(parallel(task, len(starts), self.n_jobs))

    def _votes(self, member: Any, X: Any, dtype: Any) -> Array:
        n_rows = count_rows(X)
        votes = np.zeros((n_rows, len(self.classes)), dtype=dtype)
        if self.soft:
            votes[:, np.searchsorted(self.classes, member.classes_)] = member.predict_proba(X)
        else:
            votes[np.arange(n_rows), np.searchsorted(self.classes, member.predict(X))] = 1
        return votes


def _slice(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, np.ndarray):
        return X[start:stop]
    return X if stop - start == count_rows(X) else take_rows(X, np.arange(start, stop))


def error_probability(votes: Array, codes: Array) -> Array:
    """The probability that the vote on a row is wrong, if ties are broken at random; no votes are a tie of all."""
    tied = votes == votes.max(axis=1, keepdims=True)
    right = tied[np.arange(len(codes)), codes] / tied.sum(axis=1)
    return np.asarray(1.0 - right)


def in_bites(ordered: Array, position: Array, bites: Sequence[Array]) -> Array:
    """Pairs (position, member) of the rows in each member's bite; `ordered` are the sorted numbers of the rows."""
    pairs = []
    for m, bite in enumerate(bites):
        distinct = np.unique(bite)
        first = np.searchsorted(ordered, distinct, side="left")
        last = np.searchsorted(ordered, distinct, side="right")
        n_found = last - first
        offsets = np.arange(n_found.sum()) - np.repeat(np.cumsum(n_found) - n_found, n_found)
        found = position[np.repeat(first, n_found) + offsets]
        pairs.append(np.column_stack((found, np.full(len(found), m))))
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Bite:
    """The rows that a member is fitted to."""

    rows: Array  # their numbers; a row may occur more than once
    X: Any
    codes: Array
    considered: float  # the number of rows drawn for it (its expectation if all rows are in memory)
    hard: float  # the fraction of it that the vote gets wrong


def mean(values: Array, weights: Array) -> float:
    """The weighted mean; NaN if all weights are zero."""
    total = weights.sum()
    return float((values * weights).sum() / total) if total > 0 else float("nan")


class RowsInMemory:
    """All rows, with their votes; `numbers` are the numbers of these rows in the data."""

    position = (0, 0)  # as in `RowPools`

    def __init__(self, X: Any, codes: Array, chances: Array, weights: Array, numbers: Array, voters: Voters) -> None:
        self.X, self.codes, self.chances, self.weights = X, codes, chances, weights
        self.numbers, self.voters, self.n_rows = numbers, voters, len(codes)
        self.recount([], [])

    def recount(self, members: Sequence[Any], bites: Sequence[Array]) -> None:
        """Count the votes of these members only."""
        everyone = np.arange(len(self.codes))
        self.votes = self.voters.count(members, self.X, in_bites(everyone, everyone, bites))
        self._wrong = error_probability(self.votes, self.codes)

    def add(self, member: Any, rows: Array) -> None:
        """Let a new member vote on the rows that it was not fitted to."""
        everyone = np.arange(len(self.codes))
        self.votes += self.voters.count([member], self.X, in_bites(everyone, everyone, [rows]))
        self._wrong = error_probability(self.votes, self.codes)

    def draw(self, size: int, accept: float, rng: np.random.Generator) -> Bite:
        """Draw by chance times probability of acceptance, which is the same as accepting draws by chance."""
        accepted = self._wrong + (1.0 - self._wrong) * accept
        rows = draw_by_cumulative_weight(np.cumsum(self.chances * accepted), size, rng)
        considered = size / mean(accepted, self.chances)
        return Bite(rows, take_rows(self.X, rows), self.codes[rows], considered, float(self._wrong[rows].mean()))

    def error(self, n_rows: int = 0) -> float:
        """The error on all rows with a vote; `n_rows` is not needed here."""
        return mean(self._wrong, np.where(self.votes.any(axis=1), self.chances, 0.0))

    def final_error(self) -> float:
        """The error on all rows with a vote, weighted by `weights` instead of `chances`."""
        return mean(self._wrong, np.where(self.votes.any(axis=1), self.weights, 0.0))

    def vote_fractions(self, n_rows: int) -> Array:
        """The fractions of the votes for each of the `n_rows` rows of the data; NaN where there are none."""
        votes = np.zeros((n_rows, self.votes.shape[1]))
        np.add.at(votes, self.numbers, self.votes)
        total = votes.sum(axis=1, keepdims=True)
        fractions: Array = np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 0)
        return fractions


def rows_in_memory(X: Any, targets: Targets, class_shares: Any, pool_size: int, voters: Voters) -> RowsInMemory:
    """Rows in an order that depends on their content only; a row of weight 2 is there twice."""
    n_rows, codes = len(targets.codes), targets.codes
    weights, chances = targets.weights, targets.chances(class_shares)
    rows = content_order(X, codes)
    if weights is not None:
        rows = rows[weights[rows] > 0]
        if (weights == np.rint(weights)).all() and weights.sum() <= pool_size:
            rows = np.repeat(rows, weights[rows].astype(np.int64))
            chances = None if chances is None else chances / np.where(weights > 0, weights, 1.0)
            weights = None
    weights = np.ones(n_rows) if weights is None else weights
    chances = np.ones(n_rows) if chances is None else chances
    return RowsInMemory(take_rows(X, rows), codes[rows], chances[rows], weights[rows], rows, voters)


def content_order(X: Any, codes: Array) -> Array:
    """An order of rows that depends on their content, but neither on their former order nor on the kind of table."""
    if isinstance(X, np.ndarray):
        columns: list[Any] = list(X.T)
    else:
        try:
            table = read_table(BaseEstimator(), X, reset=True)
            columns = list(table.every_column())
        except (TypeError, ValueError):  # a table that only its estimator can read
            columns = []
    return np.lexsort((codes, row_hashes(map(bits_of, columns), codes)))


class RowPools:
    """Rows that are fetched in pools, by a function `fetch` from numbers of rows, in rising order, to a table."""

    def __init__(
        self,
        fetch: Callable[[Array], Any],
        codes: Array,
        chances: Array | None,
        weights: Array | None,
        pool_size: int,
        voters: Voters,
        seed: int,
    ) -> None:
        self.fetch, self.codes, self.weights = fetch, codes, weights
        self.pool_size, self.voters, self.seed, self.n_rows = pool_size, voters, seed, len(codes)
        self._cumulative = None if chances is None else np.cumsum(chances)
        self.members: list[Any] = []
        self.bites: list[Array] = []
        self.n_pools = self.used = 0
        self._rows = self._place = np.zeros(0, dtype=np.int64)
        self._X: Any = None
        self._forget_votes()

    def _forget_votes(self) -> None:
        self._votes_from, self._votes_by = 0, -1  # the first row of the pool that was voted on, the number of voters
        self._wrong, self._voted = np.zeros(0), np.zeros(0, dtype=np.bool_)

    def resume(self, members: Sequence[Any], bites: Sequence[Array], n_pools: int, used: int) -> None:
        """Continue an earlier training in the same pool, after the rows that are already used."""
        self.members, self.bites = list(members), list(map(np.unique, bites))
        if n_pools:
            self.n_pools = n_pools - 1
            self._refill()
            self.used = used

    @property
    def position(self) -> tuple[int, int]:
        """The number of pools fetched so far, and of the rows of the last one that are used."""
        return self.n_pools, self.used

    def _refill(self) -> None:
        """Fetch the next pool."""
        self._X = None  # free the memory of the last pool first
        rng = np.random.default_rng((self.seed, 0, self.n_pools))
        self._rows, self._place, self._X = self._pool(self._cumulative, rng)
        self.n_pools += 1
        self.used = 0
        self._forget_votes()

    def _pool(self, cumulative: Array | None, rng: np.random.Generator) -> tuple[Array, Array, Any]:
        """New draws: the numbers of the rows, their positions in the table, and the table."""
        if cumulative is None:
            rows = rng.integers(0, len(self.codes), self.pool_size)
        else:
            rows = rng.permutation(draw_by_cumulative_weight(cumulative, self.pool_size, rng))
        distinct, place = np.unique(rows, return_inverse=True)
        return rows, place.astype(np.int32), self.fetch(distinct)

    def _judge(self, rows: Array, X: Any) -> tuple[Array, Array]:
        """The probability that the out-of-bag vote on each row is wrong, and whether the row has any vote."""
        order = np.argsort(rows, kind="stable")
        votes = self.voters.count(self.members, X, in_bites(rows[order], order, self.bites))
        return error_probability(votes, self.codes[rows]), np.asarray(votes.any(axis=1))

    def _look_ahead(self, n_rows: int) -> tuple[Array, Array]:
        """The votes on the next `n_rows` rows, or on the rest of the pool."""
        if len(self._rows) - self.used < min(n_rows, MIN_ROWS, self.pool_size):
            self._refill()  # draws are independent, so the last few can be skipped
        if self._votes_by != len(self.members) or self._votes_from + len(self._wrong) <= self.used:
            ahead = slice(self.used, min(self.used + n_rows, len(self._rows)))
            self._wrong, self._voted = self._judge(self._rows[ahead], take_rows(self._X, self._place[ahead]))
            self._votes_from, self._votes_by = self.used, len(self.members)
        skip = self.used - self._votes_from
        return self._wrong[skip:], self._voted[skip:]

    def draw(self, size: int, accept: float, rng: np.random.Generator) -> Bite:
        """Go through the draws of this pool, and of the next ones, until the bite is full."""
        rows: list[Array] = []
        tables, hard = [], 0.0
        missing, considered = size, 0
        while missing:
            if accept >= 1.0:  # every row is accepted, so the vote is not needed
                if self.used == len(self._rows):
                    self._refill()
                wrong = np.full(min(missing, len(self._rows) - self.used), np.nan)
            else:
                wrong = self._look_ahead(max(MIN_ROWS, int(1.2 * missing / acceptance_rate(accept))))[0]
            chance = np.where(wrong >= 0, wrong + (1.0 - wrong) * accept, 1.0)
            accepted = np.flatnonzero(rng.random(len(wrong)) < chance)[:missing]
            n_seen = int(accepted[-1]) + 1 if len(accepted) == missing else len(wrong)
            place = self.used + accepted
            rows.append(self._rows[place])
            tables.append(take_rows(self._X, self._place[place]))
            hard += float(wrong[accepted].sum())
            self.used += n_seen
            considered += n_seen
            missing -= len(accepted)
        every = np.concatenate(rows)
        tables = [t for t, r in zip(tables, rows) if len(r)]
        return Bite(every, stack(tables), self.codes[every], considered, hard / size)

    def add(self, member: Any, rows: Array) -> None:
        """Keep the member; it votes on rows when they are considered."""
        self.members.append(member)
        self.bites.append(np.unique(rows))

    def error(self, n_rows: int = MIN_ROWS) -> float:
        """The error on the rows that are considered next."""
        wrong, voted = self._look_ahead(max(n_rows, MIN_ROWS))
        return float(wrong[voted].mean()) if voted.any() else float("nan")

    def final_error(self) -> float:
        """The error on one more pool, drawn by `weights` instead of `chances`."""
        self._X = None
        cumulative = None if self.weights is None else np.cumsum(self.weights)
        rows, place, X = self._pool(cumulative, np.random.default_rng((self.seed, 1)))
        distinct = rows[np.unique(place, return_index=True)[1]]
        wrong, voted = self._judge(distinct, X)
        times = np.bincount(place, minlength=len(distinct)) * voted
        return mean(wrong, times)


def acceptance_rate(accept: float) -> float:
    """The approximate fraction of accepted rows, about half of which the vote gets wrong."""
    return min(1.0, 2.0 * accept / (1.0 + accept))
