"""The training loop: draw a bite, fit a member to it, let it vote out of bag, estimate the error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from skewboost.engine.threads import parallel
from skewboost.fitting import seeded
from skewboost.meta.pasting.bites import Bite, RowPools, RowsInMemory, acceptance_rate
from skewboost.typing import Array

BATCH = 8  # random bites that are drawn, and whose members are fitted in parallel, before any of these votes


@dataclass(frozen=True)
class Plan:
    """The training parameters."""

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
        """The probability e/(1-e) of accepting a row that the vote gets right.

        It is 1 for random bites and as long as the error is unknown. It is never below ``bite_size / pool_size``, so
        that a bite takes about one pool at most, however rare errors are.
        """
        if not self.importance or not error < 0.5:  # also if NaN
            return 1.0
        return max(error / (1.0 - error), self.bite_size / self.pool_size)

    def ahead(self, accept: float) -> int:
        """The approximate number of rows that the next bite will consider."""
        return int(1.2 * self.bite_size / acceptance_rate(accept))


@dataclass
class VoteState:
    """The state of training, from which a warm start continues."""

    members: list[Any] = field(default_factory=list)
    bites: list[Array] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    smoothed: float = float("nan")  # e(k)
    best: float = float("inf")
    since_best: int = 0
    ahead: int = 0  # the number of rows that the last error was estimated on
    pools: tuple[int, int] = (0, 0)  # as `RowPools.position`
    stop_reason: str = ""

    def copy(self) -> VoteState:
        """A copy that can continue while this one stays as it is."""
        return replace(self, members=list(self.members), bites=list(self.bites), history=list(self.history))

    def add(self, plan: Plan, member: Any, bite: Bite, error: float) -> None:
        """Add a member, and update the smoothed error: e(k) = p e(k-1) + (1-p) r(k)."""
        p, before = plan.smoothing, self.smoothed
        self.smoothed = error if np.isnan(before) else before if np.isnan(error) else p * before + (1.0 - p) * error
        if self.smoothed < self.best - plan.tol:
            self.best, self.since_best = self.smoothed, 0
        else:
            self.since_best += 1
        self.members.append(member)
        self.bites.append(bite.rows)
        self.history.append(
            {
                "bite_size": len(bite.codes),
                "n_classes": len(np.unique(bite.codes)),
                "considered": bite.considered,
                "hard_share": bite.hard,
                "oob_error": error,
                "smoothed_error": self.smoothed,
            }
        )

    def is_finished(self, plan: Plan) -> bool:
        """Whether there are enough members, or early stopping applies; sets `stop_reason`."""
        if plan.patience is not None and self.since_best >= plan.patience:
            self.stop_reason = f"early stopping: the smoothed error has not fallen for {self.since_best} members"
            return True
        self.stop_reason = f"all {plan.n_members} members fitted"
        return len(self.members) >= plan.n_members


def train(store: RowsInMemory | RowPools, plan: Plan, state: VoteState, classes: Array) -> Iterator[float]:
    """Add members until training is finished; yields the smoothed error after each."""
    while not state.is_finished(plan):
        first = len(state.members)
        accept = plan.accept(state.smoothed)
        n_now = min(1 if plan.importance else BATCH, plan.n_members - first)
        rngs = [np.random.default_rng((plan.seed, 2, k)) for k in range(first, first + n_now)]
        seeds = [int(rng.integers(2**31 - 1)) for rng in rngs]
        bites = [store.draw(plan.bite_size, accept, rng) for rng in rngs]
        members = parallel(
            lambda k, bites=bites, seeds=seeds: fit_member(plan.estimator, bites[k], classes, seeds[k]),  # type: ignore[misc]
            n_now,
            plan.n_jobs,
        )
        for member, bite in zip(members, bites):
            store.add(member, bite.rows)
            state.ahead = plan.ahead(accept)
            state.add(plan, member, bite, store.error(state.ahead))
            yield state.smoothed
            if state.is_finished(plan):
                break


def fit_member(estimator: Any, bite: Bite, classes: Array, seed: int) -> Any:
    """Fit a clone of the estimator to a bite. From a bite of one class, only that class can be learned."""
    labels = classes[bite.codes]
    if (labels == labels[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(labels), 1)), labels)
    return seeded(estimator, lambda: seed, anew=True).fit(bite.X, labels)
