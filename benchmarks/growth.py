"""How time and memory grow with rows, features and rounds, for boosted stumps here and in LightGBM, on two threads.

Every measurement runs in a process of its own, after a small fit that loads compiled code. Times are of one fit,
binning included. An exponent of 1 is linear growth. Peak memory is what a fit needs beyond the table itself, divided
by its cells; it is taken from a fit of few rounds, since rounds need none.

Run with: make benchmark-growth
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from data import imbalanced

THREADS = 2
ROWS = [10**4, 10**5, 10**6, 10**7]
FEATURES = [10, 30, 100, 300, 1000]
ROUNDS = [10, 50, 200, 500, 2000]


def model(library: str, rounds: int):
    if library == "lightgbm":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=rounds, num_leaves=2, n_jobs=THREADS, verbose=-1)
    from skewboost import RealBoostClassifier

    return RealBoostClassifier(n_estimators=rounds, n_jobs=THREADS, engine="cpu")


def resident() -> int:
    """Bytes of memory in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def measure(library: str, n_rows: int, n_features: int, rounds: int) -> None:
    """Print seconds and peak bytes per cell as JSON, for the parent process."""
    X, y = imbalanced(n_rows, n_features)
    for _ in range(2):
        model(library, 2).fit(X[:2000], y[:2000])
    before = resident()
    peak, done = before, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    model(library, rounds).fit(X, y)
    elapsed = time.perf_counter() - started
    done.set()
    watcher.join()
    print(json.dumps({"seconds": elapsed, "bytes": (peak - before) / X.size}))


def run(library: str, n_rows: int, n_features: int, rounds: int) -> dict[str, float]:
    command = [sys.executable, __file__, library, str(n_rows), str(n_features), str(rounds)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def sweep(title: str, values: list[int], shape) -> None:
    columns = "".join(f" {name:>12} {'exponent':>9} {'bytes/cell':>11}" for name in ("skewboost", "LightGBM"))
    print(f"\n{title:>12}{columns}")
    last: dict[str, float] = {}
    first: dict[str, float] = {}
    for value in values:
        line = f"{value:>12,}"
        for library in ("skewboost", "lightgbm"):
            found = run(library, *shape(value))
            now = found["seconds"]
            grown = ""
            if library in last:
                grown = f"{np.log(now / last[library]) / np.log(value / values[values.index(value) - 1]):.2f}"
            last[library] = now
            first.setdefault(library, now)
            line += f" {now:>10.3f} s {grown:>9} {found['bytes']:>11.2f}"
        print(line, flush=True)
    span = np.log(values[-1] / values[0])
    overall = {k: np.log(last[k] / first[k]) / span for k in last}
    print(f"{'overall':>12} {'':>12} {overall['skewboost']:>9.2f} {'':>11} {'':>12} {overall['lightgbm']:>9.2f}")


def main() -> None:
    if len(sys.argv) > 1:
        measure(sys.argv[1], *map(int, sys.argv[2:]))
        return
    sweep("rows", ROWS, lambda n: (n, 30, 50))
    sweep("features", FEATURES, lambda p: (50_000, p, 50))
    sweep("rounds", ROUNDS, lambda r: (200_000, 30, r))


if __name__ == "__main__":
    main()
