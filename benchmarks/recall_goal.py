"""Who keeps the promise "recall >= 90 %", and what does it cost in false alarms?

Each method sees the same training rows, and its decisions are counted on rows that none has seen. By hand: LightGBM,
with the highest threshold that reaches the goal on out-of-fold predictions, as one would do without this library.

    python benchmarks/recall_goal.py            minutes
    python benchmarks/recall_goal.py --quick    two repeats
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from skewboost import CSRAClassifier, GoalSearchCV
from skewboost.datasets import make_fraud
from skewboost.goals import GoalNotReachableError
from skewboost.learners import Tree
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


def by_hand(X: Any, y: Any, seed: int, X_test: Any) -> np.ndarray:
    """LightGBM with a threshold for the goal on out-of-fold predictions."""
    X, X_test = (frame.apply(as_category) if hasattr(frame, "apply") else frame for frame in (X, X_test))
    model = LGBMClassifier(n_estimators=ROUNDS, num_leaves=15, verbose=-1, n_jobs=1, random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
    thresholds, counts = Counts.at_thresholds(np.asarray(y) == 1, p)
    threshold = thresholds[np.flatnonzero(counts.recall >= GOAL)[-1]]
    return np.asarray(model.fit(X, y).predict_proba(X_test)[:, 1] >= threshold)


def as_category(column: Any) -> Any:
    return column if column.dtype.kind in "ifub" else column.astype("category")


def search(tune: str, confidence: float | None, learner: Any = "stump") -> Any:
    def flags(X: Any, y: Any, seed: int, X_test: Any) -> np.ndarray:
        model = CSRAClassifier(estimator=learner, n_estimators=ROUNDS)
        clf = GoalSearchCV(model, f"recall >= {GOAL}", tune=tune, confidence=confidence, random_state=seed)
        return np.asarray(clf.fit(X, y).predict(X_test) == 1)

    return flags


METHODS = {
    "LightGBM, threshold by hand": by_hand,
    "GoalSearchCV(confidence=None)": search("both", None),
    "GoalSearchCV(tune='threshold')": search("threshold", 0.9),
    "GoalSearchCV(tune='cost')": search("cost", 0.9),
    "GoalSearchCV()": search("both", 0.9),
    "GoalSearchCV(), trees": search("both", 0.9, Tree(max_leaf_nodes=8)),
}


def main() -> None:
    warnings.simplefilter("ignore")
    n_repeats = 2 if "--quick" in sys.argv else 10
    sources = {"fraud, 20 000 rows, 400 positives": fraud}
    for name in ("hypothyroid", "sick_euthyroid"):
        try:
            sources[name] = real(name)
        except BaseException as reason:  # a pytest skip, where the data are not at hand
            print(f"{name}: {reason}")
    for name, split in sources.items():
        print(f"\n{name}: goal recall >= {GOAL}, {n_repeats} repeats\n{'':32}  kept   recall  false alarms  seconds")
        results: dict[str, list[Counts]] = {method: [] for method in METHODS}
        seconds = dict.fromkeys(METHODS, 0.0)
        refused = dict.fromkeys(METHODS, 0)
        for seed in range(n_repeats):
            X, X_test, y, y_test = split(seed)
            for method, flags in METHODS.items():
                started = time.perf_counter()
                try:
                    flagged = flags(X, y, seed, X_test)
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
