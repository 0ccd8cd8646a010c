"""The time of a round, for every variant: against AdaBoost where it can use the same shortcut, else against LogitBoost.

200 000 x 30 float32, 2 % positives, 150 rounds on stumps, two threads. A round is timed from one callback to the next;
every fit of a variant stands between two of its peer, and the median over the repeats of the ratios counts, so that a
machine that changes its pace does so for both. A ratio above 1 says that the variant is slower.

Run with: make benchmark-catalogue
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import skewboost
from data import imbalanced
from skewboost.boosting.catalogue import COMPOUND, OWN, Entry

THREADS = 2
ROUNDS = 150
REPEATS = 5
COST = 2.0


def booster(entry: Entry) -> Any:
    """A variant with a cost; where costs enter in every round, the root that the catalogue advises."""
    cost = COST ** (1 / ROUNDS) if entry.costs == COMPOUND else COST
    return entry.make(ROUNDS, n_jobs=THREADS, engine="cpu", **({"cost": cost} if entry.cost_sensitive else {}))


def round_time(clf: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds per round."""
    times: list[float] = []
    clf.set_params(callbacks=[lambda *_: times.append(time.perf_counter())]).fit(X, y)  # type: ignore[func-returns-value]
    return (times[-1] - times[0]) / (len(times) - 1)


def main(names: list[str]) -> None:
    X, y = imbalanced(200_000, 30)
    entries = {e.name: e for e in skewboost.catalogue()}
    peers = {name: booster(entries[name]) for name in ("AdaBoost", "LogitBoost")}
    for clf in peers.values():
        clf.fit(X[:5000], y[:5000])  # compiled code is warm
    print(f"{'':<24} {'a round':>10} {'ratio':>8}   to             bar")
    for entry in sorted(entries.values(), key=lambda e: not e.shortcut):
        if names and entry.name not in names:
            continue
        peer = "AdaBoost" if entry.shortcut else "LogitBoost"
        bar = "3x" if not entry.shortcut or entry.name == "CSAdaBoost" else "1.3x"
        if entry.learners == OWN:
            bar = ""  # it searches many nodes in a round, and more in each
        clf = booster(entry)
        clf.fit(X[:5000], y[:5000])
        ratios, own = [], []
        before = round_time(peers[peer], X, y)
        for _ in range(REPEATS if entry.shortcut else 2):
            own.append(round_time(clf, X, y))
            after = round_time(peers[peer], X, y)
            ratios.append(own[-1] / (0.5 * (before + after)))
            before = after
        print(f"{entry.name:<24} {1e3 * min(own):7.2f} ms {np.median(ratios):7.2f}x   {peer:<14} {bar}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
