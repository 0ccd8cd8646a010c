"""The data of the benchmarks, and how their timings are taken and printed."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def imbalanced(n_rows: int, n_features: int, share: float = 0.02, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal float32 features, of which five matter (one by its absolute value, two by their product), noisy labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    score = X[:, 0] + 0.8 * X[:, 1] + 0.6 * np.abs(X[:, 2]) + 0.5 * X[:, 3] * X[:, 4]
    score += rng.standard_normal(n_rows, dtype=np.float32)
    return X, (score > np.quantile(score, 1 - share)).astype(np.int32)


def seconds(task: Callable[[], object], repeats: int = 3) -> float:
    """The best of some repeats, after the caller has warmed up what must be."""
    return side_by_side([task], repeats)[0]


def side_by_side(tasks: list[Callable[[], object]], repeats: int = 5) -> list[float]:
    """The best of some repeats of each, taking turns, so that a machine that changes its pace does so for all."""
    best = [np.inf] * len(tasks)
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            time.sleep(0.3)  # let the threads of the one before stop spinning
            started = time.perf_counter()
            task()
            best[i] = min(best[i], time.perf_counter() - started)
    return best


def row(name: str, ours: float, theirs: float, bar: str) -> None:
    """One line of a table of ratios."""
    print(f"{name:<62} {ours:8.3f} s {theirs:9.3f} s {theirs / ours:8.1f}x   {bar}", flush=True)
