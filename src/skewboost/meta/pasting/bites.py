"""Where bites come from: rows that are drawn one by one, independently, each with a chance in proportion to its weight.

`Whole` has all rows in memory, with the out-of-bag votes on each. `Pools` reads ahead: a pool is the next few hundred
thousand draws from all rows, fetched in one pass over the data in the order of the files, and then used up in the
order in which they were drawn. So each row that is considered is an independent draw from all rows, as in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.datasets.chunks import stack
from skewboost.engine.table import Nominal, read_table, take_rows
from skewboost.learners.samplers.bootstrap import draw_by_cumulative_weight
from skewboost.meta.pasting.members import Voters, chance_of_error
from skewboost.meta.pasting.row_sources import Targets
from skewboost.typing import Array

FEWEST_ROWS = 1000  # that an error is estimated on
NOTHING = (0, -1, np.zeros(0), np.zeros(0, dtype=np.bool_))  # from where, by how many members, what was found


@dataclass(frozen=True)
class Bite:
    """The rows that a member is fitted to."""

    rows: Array  # their numbers; a row may come more than once
    X: Any
    codes: Array
    considered: float  # how many rows were drawn for it (in `Whole`: on average)
    hard: float  # the share of it that the vote gets wrong


class Database(Protocol):
    """Rows to draw bites from, which keeps account of out-of-bag votes."""

    def draw(self, size: int, accept: float, rng: np.random.Generator) -> Bite:
        """Draw a bite: rows that the vote gets wrong are taken, others with probability `accept`."""
        ...

    def add(self, member: Any, rows: Array) -> None:
        """Let a new member vote, on the rows that it was not fitted to."""
        ...

    def error(self, n_rows: int) -> float:
        """The out-of-bag error now; on that many rows at least, where it is not known on all."""
        ...


def mean(values: Array, weights: Array) -> float:
    """The weighted mean; NaN of nothing."""
    total = weights.sum()
    return float((values * weights).sum() / total) if total > 0 else float("nan")


class Whole:
    """All rows are in memory, each with its votes; `numbers` says which rows of the data they are."""

    position = (0, 0)  # nothing is used up

    def __init__(self, X: Any, codes: Array, chances: Array, weights: Array, numbers: Array, voters: Voters) -> None:
        self.X, self.codes, self.chances, self.weights = X, codes, chances, weights
        self.numbers, self.voters, self.n_rows = numbers, voters, len(codes)
        self.recount([], [])

    def draw(self, size: int, accept: float, rng: np.random.Generator) -> Bite:
        """Draws that are taken with probability q are draws in proportion to chances times q."""
        taken = self._wrong + (1.0 - self._wrong) * accept
        rows = draw_by_cumulative_weight(np.cumsum(self.chances * taken), size, rng)
        considered = size / mean(taken, self.chances)
        return Bite(rows, take_rows(self.X, rows), self.codes[rows], considered, float(self._wrong[rows].mean()))

    def add(self, member: Any, rows: Array) -> None:
        """One pass of the new member over all rows."""
        everyone = np.arange(len(self.codes))
        self.votes += self.voters.count([member], self.X, absentees(everyone, everyone, [rows]))
        self._wrong = chance_of_error(self.votes, self.codes)

    def recount(self, members: Sequence[Any], bites: Sequence[Array]) -> None:
        """Forget all votes but those of these members."""
        everyone = np.arange(len(self.codes))
        self.votes = self.voters.count(members, self.X, absentees(everyone, everyone, bites))
        self._wrong = chance_of_error(self.votes, self.codes)

    def error(self, n_rows: int = 0) -> float:
        """On all rows that any member voted on; `n_rows` is of no interest."""
        return mean(self._wrong, np.where(self.votes.any(axis=1), self.chances, 0.0))

    def final_error(self) -> float:
        """The same, where rows count by their weights, not by their chances."""
        return mean(self._wrong, np.where(self.votes.any(axis=1), self.weights, 0.0))

    def shares(self, n_rows: int) -> Array:
        """The shares of the votes for each of the `n_rows` rows of the data; NaN where there are none."""
        shares = np.zeros((n_rows, self.votes.shape[1]))
        np.add.at(shares, self.numbers, self.votes)
        total = shares.sum(axis=1, keepdims=True)
        found: Array = np.divide(shares, total, out=np.full_like(shares, np.nan), where=total > 0)
        return found


def open_whole(X: Any, targets: Targets, class_shares: Any, pool_size: int, voters: Voters) -> Whole:
    """Rows in memory, in an order that depends on their content only; a weight of 2 is the row twice."""
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
    return Whole(take_rows(X, rows), codes[rows], chances[rows], weights[rows], rows, voters)


def content_order(X: Any, codes: Array) -> Array:
    """An order of rows that depends on what is in them, not on how they came, nor in which kind of table."""
    mixed = codes.astype(np.uint64)
    for column in _columns(X):
        values = column.astype(np.float64) + 0.0  # one zero
        values[np.isnan(values)] = np.nan  # and one NaN
        mixed = (mixed ^ values.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.lexsort((codes, mixed))


def _columns(X: Any) -> Sequence[Array]:
    """Columns as numbers, of which categories have one each; none of a table that only its estimator can read."""
    if isinstance(X, np.ndarray):
        return list(X.T)
    try:
        table = read_table(BaseEstimator(), X, reset=True)
    except (TypeError, ValueError):
        return []
    found = []
    for column in map(table.column, range(table.n_features)):
        if isinstance(column, Nominal):
            numbers = [*(float(crc32(c.encode())) for c in column.categories), np.nan]  # -1 is the last
            column = np.array(numbers)[column.codes]
        found.append(column)
    return found


class Pools:
    """Rows are fetched in pools, by a function `fetch` from their numbers, which are in rising order, to a table."""

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
        self._reach = None if chances is None else np.cumsum(chances)
        self.members: list[Any] = []
        self.bites: list[Array] = []
        self.n_pools = self.used = 0
        self._rows = self._place = np.zeros(0, dtype=np.int64)
        self._X: Any = None
        self._looked = NOTHING

    def resume(self, members: Sequence[Any], bites: Sequence[Array], n_pools: int, used: int) -> None:
        """Go on where an earlier training stopped: with the same pool, of which some rows are used up."""
        self.members, self.bites = list(members), list(map(np.unique, bites))
        if n_pools:
            self.n_pools = n_pools - 1
            self._refill()
            self.used = used

    @property
    def position(self) -> tuple[int, int]:
        """How many pools were fetched, and how much of the last is used up."""
        return self.n_pools, self.used

    def _refill(self) -> None:
        """Fetch the next pool."""
        self._X = None  # before there are two
        rng = np.random.default_rng((self.seed, 0, self.n_pools))
        self._rows, self._place, self._X = self._pool(self._reach, rng)
        self.n_pools += 1
        self.used = 0
        self._looked = NOTHING

    def _pool(self, reach: Array | None, rng: np.random.Generator) -> tuple[Array, Array, Any]:
        """The next draws: numbers of rows, where in the table each is, and the table."""
        if reach is None:
            rows = rng.integers(0, len(self.codes), self.pool_size)
        else:
            rows = rng.permutation(draw_by_cumulative_weight(reach, self.pool_size, rng))
        distinct, place = np.unique(rows, return_inverse=True)
        return rows, place.astype(np.int32), self.fetch(distinct)

    def _judge(self, rows: Array, X: Any) -> tuple[Array, Array]:
        """The chance of error of the out-of-bag vote on some rows, and whether there is any vote."""
        order = np.argsort(rows, kind="stable")
        absent = absentees(rows[order], order, self.bites)
        votes = self.voters.count(self.members, X, absent)
        return chance_of_error(votes, self.codes[rows]), np.asarray(votes.any(axis=1))

    def _look(self, n_rows: int) -> tuple[Array, Array]:
        """What the vote says of the next rows: of that many, or of what is left of the pool."""
        if len(self._rows) - self.used < min(n_rows, FEWEST_ROWS, self.pool_size):
            self._refill()  # draws are independent: leaving the last few out changes nothing
        since, n_members, wrong, voted = self._looked
        n_rows = min(n_rows, len(self._rows) - self.used)
        if n_members != len(self.members) or since + len(wrong) <= self.used:
            ahead = slice(self.used, self.used + n_rows)
            since = self.used
            wrong, voted = self._judge(self._rows[ahead], take_rows(self._X, self._place[ahead]))
            self._looked = since, len(self.members), wrong, voted
        return wrong[self.used - since :], voted[self.used - since :]

    def draw(self, size: int, accept: float, rng: np.random.Generator) -> Bite:
        """Go through the draws of the pool, and of the next ones, until the bite is full."""
        rows: list[Array] = []
        tables, hard = [], 0.0
        missing, considered = size, 0
        while missing:
            if accept >= 1.0:  # every row is taken, whatever the vote
                if self.used == len(self._rows):
                    self._refill()
                wrong = np.full(min(missing, len(self._rows) - self.used), np.nan)  # nobody asked
            else:
                wrong = self._look(max(FEWEST_ROWS, int(1.2 * missing / accept_rate(accept))))[0]
            taken = np.flatnonzero(rng.random(len(wrong)) < np.where(wrong >= 0, wrong + (1.0 - wrong) * accept, 1.0))
            taken = taken[:missing]
            n_seen = int(taken[-1]) + 1 if len(taken) == missing else len(wrong)
            place = self.used + taken
            rows.append(self._rows[place])
            tables.append(take_rows(self._X, self._place[place]))
            hard += float(wrong[taken].sum())
            self.used += n_seen
            considered += n_seen
            missing -= len(taken)
        every = np.concatenate(rows)
        tables = [t for t, r in zip(tables, rows) if len(r)]
        return Bite(every, stack(tables), self.codes[every], considered, hard / size)

    def add(self, member: Any, rows: Array) -> None:
        """Remember the member; it votes on rows when they are considered."""
        self.members.append(member)
        self.bites.append(np.unique(rows))

    def error(self, n_rows: int = FEWEST_ROWS) -> float:
        """On the rows that are considered next."""
        wrong, voted = self._look(max(n_rows, FEWEST_ROWS))
        return float(wrong[voted].mean()) if voted.any() else float("nan")

    def final_error(self) -> float:
        """The error on a pool of its own, drawn by weights, not by chances; it takes one more pass over the data."""
        self._X = None
        reach = None if self.weights is None else np.cumsum(self.weights)
        rows, place, X = self._pool(reach, np.random.default_rng((self.seed, 1)))
        distinct = rows[np.unique(place, return_index=True)[1]]
        wrong, voted = self._judge(distinct, X)
        times = np.bincount(place, minlength=len(distinct)) * voted
        return mean(wrong, times)


def accept_rate(accept: float) -> float:
    """About which share of the rows is taken, where about as many are taken because they are wrong as are right."""
    return min(1.0, 2.0 * accept / (1.0 + accept))


def absentees(ordered: Array, position: Array, bites: Sequence[Array]) -> Array:
    """Pairs (position, member) of the rows that are in a member's bite; `ordered` are numbers of rows, sorted."""
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
