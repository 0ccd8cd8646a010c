"""Who keeps the promise "recall >= 90 %", and what does it cost in false alarms?

Each method sees the same training rows, and its decisions are counted on rows that none has seen. By hand: LightGBM,
with the highest threshold that reaches the goal on out-of-fold predictions, as one would do without this library. All
others are `GoalSearchCV`: around CSRA on stumps or (shrunk) trees, and around LightGBM.

    python benchmarks/recall_goal.py                    a quarter of an hour
    python benchmarks/recall_goal.py --quick "trees"    two repeats of one method
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from skewboost import CSRAClassifier, GoalSearchCV
from skewboost.datasets import make_fraud
from skewboost.goals import GoalNotReachableError
from skewboost.metrics import Counts
from support import load_real

GOAL = 0.9
ROUNDS = 100


def fraud(seed: int) -> tuple[Any, ...]:
    X, y = make_fraud(60_000, random_state=seed)
    return train_test_split(X, y, train_size=20_000, stratify=y, random_state=seed)


def real(name: str) -> Any:
    X, y = load_real(name)
    return lambda seed: train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)


def categorical(X: Any) -> Any:
    """Text as LightGBM wants it."""
    return X.apply(lambda column: column if column.dtype.kind in "ifub" else column.astype("category"))


def lightgbm(seed: int) -> Any:
    model = LGBMClassifier(n_estimators=ROUNDS, num_leaves=15, verbose=-1, n_jobs=1, random_state=seed)
    return make_pipeline(FunctionTransformer(categorical), model)


def by_hand(X: Any, y: Any, seed: int, X_test: Any) -> np.ndarray:
    """LightGBM with a threshold for the goal on out-of-fold predictions."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    p = cross_val_predict(lightgbm(seed), X, y, cv=folds, method="predict_proba")[:, 1]
    thresholds, counts = Counts.at_thresholds(np.asarray(y) == 1, p)
    threshold = thresholds[np.flatnonzero(counts.recall >= GOAL)[-1]]
    return np.asarray(lightgbm(seed).fit(X, y).predict_proba(X_test)[:, 1] >= threshold)


def stumps(seed: int) -> Any:
    return CSRAClassifier(n_estimators=ROUNDS)


def trees(seed: int) -> Any:
    return CSRAClassifier(estimator="tree", n_estimators=ROUNDS, learning_rate=0.1)


def search(model: Any, **params: Any) -> Any:
    def flags(X: Any, y: Any, seed: int, X_test: Any) -> np.ndarray:
        # rows of these tables are independent, and equal by chance where they are
        clf = GoalSearchCV(model(seed), f"recall >= {GOAL}", random_state=seed, weights="counts", **params)
        return np.asarray(clf.fit(X, y).predict(X_test) == 1)

    return flags


METHODS = {
    "LightGBM, threshold by hand": by_hand,
    "stumps, confidence=None": search(stumps, confidence=None),
    "stumps, tune='threshold'": search(stumps, tune="threshold"),
    "stumps, tune='cost'": search(stumps, tune="cost"),
    "stumps": search(stumps),
    "trees": search(trees, max_points=12),
    "LightGBM": search(lightgbm, max_points=12),
}


def main() -> None:
    warnings.simplefilter("ignore")
    n_repeats = 2 if "--quick" in sys.argv else 10
    chosen = [name for name in METHODS if name in sys.argv] or list(METHODS)
    sources = {"fraud, 20 000 rows, 400 positives": fraud}
    for name in ("hypothyroid", "sick_euthyroid"):
        try:
            sources[name] = real(name)
        except BaseException as reason:  # a pytest skip, where the data are not at hand
            print(f"{name}: {reason}")
    for name, split in sources.items():
        print(f"\n{name}: goal recall >= {GOAL}, {n_repeats} repeats\n{'':32}  kept   recall  false alarms  seconds")
        results: dict[str, list[Counts]] = {method: [] for method in chosen}
        seconds = dict.fromkeys(chosen, 0.0)
        refused = dict.fromkeys(chosen, 0)
        for seed in range(n_repeats):
            X, X_test, y, y_test = split(seed)
            for method in chosen:
                started = time.perf_counter()
                try:
                    flagged = METHODS[method](X, y, seed, X_test)
                    results[method].append(Counts.of(np.asarray(y_test) == 1, flagged))
                except GoalNotReachableError:
                    refused[method] += 1
                seconds[method] += time.perf_counter() - started
        for method, counts in results.items():
            recall = np.array([c.recall for c in counts])
            alarms = np.array([c.false_alarm_rate for c in counts])
            note = f"  ({refused[method]} refused)" if refused[method] else ""
            print(
                f"{method:32}  {np.sum(recall >= GOAL):2d}/{len(recall):<2d}   {recall.mean():.3f}   "
                f"{alarms.mean():11.4f}  {seconds[method] / n_repeats:7.1f}{note}"
            )


if __name__ == "__main__":
    main()
