"""Who keeps the promise "recall >= 90 %", and what does it cost in false alarms?

Each method sees the same training rows, and its decisions are counted on rows that none has seen. By hand: LightGBM,
with the highest threshold that reaches the goal on out-of-fold predictions, as one would do without this library. All
others are `GoalSearchCV`: around CSRA on stumps or (shrunk) trees, and around LightGBM.

    python benchmarks/recall_goal.py                    a quarter of an hour; goes on where it stopped
    python benchmarks/recall_goal.py --quick "trees"    two repeats of one method
"""

from __future__ import annotations

import importlib
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

from repetitions import RESULTS, repeated
from skewboost import CSRAClassifier, GoalSearchCV
from skewboost.datasets import make_fraud
from skewboost.goals import GoalNotReachableError
from skewboost.metrics import Counts

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"  # not shipped
GOAL = 0.9
ROUNDS = 100


def fraud(seed: int) -> tuple[Any, ...]:
    X, y = make_fraud(60_000, random_state=seed)
    return train_test_split(X, y, train_size=20_000, stratify=y, random_state=seed)


def real(name: str) -> Any:
    def split(seed: int) -> Any:
        sys.path[:0] = [str(SHARED)]
        X, y = importlib.import_module("load").load(name)[:2]
        return train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)

    return split


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


SOURCES = {
    "fraud, 20 000 rows, 400 positives": fraud,
    "hypothyroid": real("hypothyroid"),
    "sick_euthyroid": real("sick_euthyroid"),
}


def tried(source: str, method: str, seed: int) -> tuple[float, float | None, float | None]:
    """Return the seconds, and recall and false-alarm rate on new rows: None if the goal was not reachable."""
    warnings.simplefilter("ignore")
    X, X_test, y, y_test = SOURCES[source](seed)
    started = time.perf_counter()
    try:
        flagged = METHODS[method](X, y, seed, X_test)
    except GoalNotReachableError:
        return time.perf_counter() - started, None, None
    seconds, counts = time.perf_counter() - started, Counts.of(np.asarray(y_test) == 1, flagged)
    return seconds, float(counts.recall), float(counts.false_alarm_rate)


def main() -> None:
    n_repeats = 2 if "--quick" in sys.argv else 10
    chosen = [name for name in METHODS if name in sys.argv] or list(METHODS)
    for name, split in SOURCES.items():
        if split is not fraud and not SHARED.exists():
            print(f"{name}: the data are not shipped, and {SHARED} is not there.")
            continue
        jobs = [(name, method) for method in chosen]
        every = repeated(RESULTS / "recall_goal.jsonl", tried, jobs, n_repeats, computed_by=[Path(__file__)], n_jobs=1)
        print(f"\n{name}: goal recall >= {GOAL}, {n_repeats} repeats\n{'':32}  kept   recall  false alarms  seconds")
        for method, own in zip(chosen, every):
            recall, alarms = (np.array([found[k] for found in own if found[1] is not None]) for k in (1, 2))
            refused = len(own) - len(recall)
            print(
                f"{method:32}  {np.sum(recall >= GOAL):2d}/{len(recall):<2d}   {recall.mean():.3f}   "
                f"{alarms.mean():11.4f}  {np.mean([found[0] for found in own]):7.1f}"
                + (f"  ({refused} refused)" if refused else "")
            )


if __name__ == "__main__":
    main()
