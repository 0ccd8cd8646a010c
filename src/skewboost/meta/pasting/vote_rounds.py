"""The loop: draw a bite, fit a member to it, let it vote out of bag, follow the error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from skewboost.engine.threads import parallel
from skewboost.meta.pasting.bites import Bite, Database, accept_rate
from skewboost.meta.pasting.members import fit_member
from skewboost.typing import Array

TOGETHER = 8  # random bites that are drawn, and fitted in parallel, before any of their members votes


@dataclass(frozen=True)
class Plan:
    """How to train."""

    estimator: Any
    importance: bool
    n_members: int
    bite_size: int
    pool_size: int
    smoothing: float
    patience: int | None
    tol: float
    seed: int
    n_jobs: int

    def accept(self, error: float) -> float:
        """The probability with which a row is taken that the vote gets right: e/(1-e).

        It is 1 for random bites and as long as nothing is known, and never less than ``bite_size / pool_size``: on
        average no more than a pool is looked at for a bite, however rare errors are.
        """
        if not self.importance or not error < 0.5:  # NaN is not
            return 1.0
        return max(error / (1.0 - error), self.bite_size / self.pool_size)

    def ahead(self, accept: float) -> int:
        """How many rows the next bite will take, about."""
        return int(1.2 * self.bite_size / accept_rate(accept))


@dataclass
class Tally:
    """What training has come to."""

    members: list[Any] = field(default_factory=list)
    bites: list[Array] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    smoothed: float = float("nan")  # e(k)
    best: float = float("inf")
    since_best: int = 0
    ahead: int = 0  # how many rows the last error was estimated on
    pools: tuple[int, int] = (0, 0)  # how many were fetched, and how much of the last is used
    stop_reason: str = ""

    def copy(self) -> Tally:
        """One to go on from, while this one stays as it is."""
        lists = {"members": list(self.members), "bites": list(self.bites), "history": list(self.history)}
        return Tally(**{**self.__dict__, **lists})


def train(database: Database, plan: Plan, tally: Tally, classes: Array) -> Iterator[SimpleNamespace]:
    """Add members until there are enough, or the smoothed error stops falling; yields after each."""
    tally.stop_reason = ""
    while len(tally.members) < plan.n_members and not _is_enough(plan, tally):
        first = len(tally.members)
        accept = plan.accept(tally.smoothed)
        n_now = min(1 if plan.importance else TOGETHER, plan.n_members - first)
        rngs = [np.random.default_rng((plan.seed, 2, k)) for k in range(first, first + n_now)]
        seeds = [int(rng.integers(2**31 - 1)) for rng in rngs]
        bites = [database.draw(plan.bite_size, accept, rng) for rng in rngs]
        for member, bite in zip(_fit_all(plan, bites, seeds, classes), bites):
            database.add(member, bite.rows)
            tally.ahead = plan.ahead(accept)
            _note(plan, tally, member, bite, database.error(tally.ahead))
            yield SimpleNamespace(record={"loss": tally.smoothed})
            if _is_enough(plan, tally):
                break
    tally.stop_reason = tally.stop_reason or f"all {plan.n_members} members fitted"


def _fit_all(plan: Plan, bites: list[Bite], seeds: list[int], classes: Array) -> list[Any]:
    def fit(k: int) -> Any:
        return fit_member(plan.estimator, bites[k].X, classes[bites[k].codes], seeds[k])

    return parallel(fit, len(bites), plan.n_jobs)


def _note(plan: Plan, tally: Tally, member: Any, bite: Bite, error: float) -> None:
    """Remember a member, and move the smoothed error: e(k) = p e(k-1) + (1-p) r(k)."""
    p = plan.smoothing
    before = tally.smoothed
    tally.smoothed = error if np.isnan(before) else before if np.isnan(error) else p * before + (1.0 - p) * error
    if tally.smoothed < tally.best - plan.tol:
        tally.best, tally.since_best = tally.smoothed, 0
    else:
        tally.since_best += 1
    tally.members.append(member)
    tally.bites.append(bite.rows)
    tally.history.append(
        {
            "bite_size": len(bite.codes),
            "n_classes": len(np.unique(bite.codes)),
            "considered": bite.considered,
            "hard_share": bite.hard,
            "oob_error": error,
            "smoothed_error": tally.smoothed,
        }
    )


def _is_enough(plan: Plan, tally: Tally) -> bool:
    if plan.patience is None or tally.since_best < plan.patience:
        return False
    tally.stop_reason = f"early stopping: the smoothed error has not fallen for {tally.since_best} members"
    return True
