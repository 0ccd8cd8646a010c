"""The time of a fit of SkewBoostClassifier against the number of rows, side by side with CatBoost, and of columns.

    python benchmarks/portfolio_growth.py               # ten minutes: 1 000 to 200 000 rows
    python benchmarks/portfolio_growth.py 10000 50000
    python benchmarks/portfolio_growth.py --wide        # some minutes: 120 and 2000 rows, 1000 to 10 000 columns

Generated tables of 30 columns with 3 % positives, defaults of both, two threads. Prints seconds, their ratio, and the
log-loss on as many new rows. Wide tables are of random numbers, without and with a signal in twelve of the columns. A
sixth of their rows are positive, and CatBoost, which takes far longer, is left out.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from skewboost import SkewBoostClassifier

ROWS = (1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
WIDE = ((120, 1_000), (120, 3_000), (120, 10_000), (2_000, 1_000), (2_000, 3_000), (2_000, 10_000))


def skewboost():
    """Return SkewBoostClassifier with its defaults."""
    return SkewBoostClassifier(random_state=0, n_jobs=2)


def catboost():
    """Return CatBoost with its defaults."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=0, thread_count=2, allow_writing_files=False, random_seed=0)


def measured(make, X, y, n):
    """Return the seconds of a fit to n rows, and the log-loss on the others."""
    start = time.perf_counter()
    made = make().fit(X[:n], y[:n])
    seconds = time.perf_counter() - start
    return seconds, log_loss(y[n:], made.predict_proba(X[n:]))


def wide():
    print("| rows | columns | noise | signal |\n|---|---|---|---|")
    for n, p in WIDE:
        rng, seconds = np.random.default_rng(0), []
        X = rng.normal(size=(n, p))
        S = X[:, :10] @ rng.normal(size=10) * 0.6 + X[:, 10] * X[:, 11] + rng.normal(size=n)
        for y in (np.arange(n) % 6 == 0, np.quantile(S, 5 / 6) < S):
            start = time.perf_counter()
            skewboost().fit(X, y)
            seconds.append(time.perf_counter() - start)
        print(f"| {n} | {p} | {seconds[0]:.1f} s | {seconds[1]:.1f} s |", flush=True)


def main():
    skewboost().fit(*make_classification(200))  # so that no import is timed
    if "--wide" in sys.argv:
        wide()
        return
    print("| rows | SkewBoost | CatBoost | ratio | log-loss | CatBoost |\n|---|---|---|---|---|---|")
    for n in map(int, sys.argv[1:] or ROWS):
        X, y = make_classification(
            2 * n, 30, n_informative=12, weights=[0.97], flip_y=0.01, class_sep=0.8, random_state=0
        )
        (own, loss), (other, other_loss) = (measured(make, X, y, n) for make in (skewboost, catboost))
        print(f"| {n} | {own:.1f} s | {other:.1f} s | {other / own:.1f}× | {loss:.4f} | {other_loss:.4f} |", flush=True)


if __name__ == "__main__":
    main()
