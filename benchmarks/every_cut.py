"""What it costs to try every threshold (max_bins=None), and whether it decides better: stumps and trees, by rows.

The peer is scikit-learn's AdaBoost, whose trees sort the values in every round. Errors are those of held-out rows.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.tree import DecisionTreeClassifier

from skewboost import AdaBoostClassifier
from skewboost.learners import Stump, Tree

ROUNDS, COLUMNS, TEST = 50, 10, 20_000


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS))
    F = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] - 1.5
    return X, (F + rng.normal(size=n) > 0).astype(int)


def timed(model, X, y, X_test, y_test):
    best = np.inf
    for _ in range(3 if len(y) <= 10_000 else 1):
        started = time.perf_counter()
        model.fit(X, y)
        best = min(best, time.perf_counter() - started)
    return best, float((model.predict(X_test) != y_test).mean())


def main() -> None:
    warnings.filterwarnings("ignore")
    X_test, y_test = rows(TEST, 1)
    print(f"{ROUNDS} rounds of AdaBoost on {COLUMNS} columns of distinct numbers, one thread")
    print(f"{'':24}{'seconds':>36}{'ratio to every threshold':>28}{'held-out error':>36}")
    print(f"{'rows, learner':24}{'every':>12}{'255 bins':>12}{'sklearn':>12}{'255 bins':>14}{'sklearn':>14}"
          f"{'every':>12}{'255 bins':>12}{'sklearn':>12}")  # fmt: skip
    for n in (300, 1000, 3000, 10_000, 30_000):
        X, y = rows(n, 0)
        for name, learner, tree in (
            ("stump", Stump(), DecisionTreeClassifier(max_depth=1)),
            ("tree, 8 leaves", Tree(), DecisionTreeClassifier(max_leaf_nodes=8)),
        ):
            found = []
            for bins in (None, 255):
                own = type(learner)(**{**learner.get_params(), "max_bins": bins})
                found.append(
                    timed(AdaBoostClassifier(estimator=own, n_estimators=ROUNDS, n_jobs=1), X, y, X_test, y_test)
                )
            found.append(timed(Peer(tree, n_estimators=ROUNDS), X, y, X_test, y_test))
            (every, e), (binned, b), (peer, p) = found
            label, ratios = f"{n}, {name}", f"{binned / every:14.2f}{peer / every:14.1f}"
            print(f"{label:24}{every:12.4f}{binned:12.4f}{peer:12.4f}{ratios}{e:12.4f}{b:12.4f}{p:12.4f}", flush=True)


if __name__ == "__main__":
    main()
