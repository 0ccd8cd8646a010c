"""What `compare` costs beyond the fits: its time against that of bare fits, predictions, probabilities and scores.

The cheapest of all classifiers shows what a fit in a comparison costs at least: measures, seeds, a line in the file.

Run with: python benchmarks/comparison.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from skewboost import CSRAClassifier
from skewboost.evaluate import compare
from skewboost.evaluate.problem import repeated_folds

REPEATS = 5


def bare(estimator, X, y, splits):
    started = time.perf_counter()
    for train, test in splits:
        model = clone(estimator).fit(X[train], y[train])
        for ask in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, ask):
                getattr(model, ask)(X[test])
    return time.perf_counter() - started


def compared(estimator, X, y, splits, file):
    started = time.perf_counter()
    compare([estimator], X, y, cv=splits, results=file)
    return time.perf_counter() - started


def main():
    rng = np.random.default_rng(0)
    print("| method | rows | bare [ms per fit] | compare [ms per fit] | ratio |\n|---|---:|---:|---:|---:|")
    for estimator in (GaussianNB(), CSRAClassifier()):
        for n_rows in (300, 3000):
            X = rng.normal(size=(n_rows, 10))
            y = (X[:, 0] + rng.normal(size=n_rows) > 2.0).astype(int)
            splits = repeated_folds(5, y, repeats=2, random_state=0)
            times = []
            with tempfile.TemporaryDirectory() as folder:
                for k in range(REPEATS):
                    alone = bare(estimator, X, y, splits)
                    times.append((alone, compared(estimator, X, y, splits, Path(folder, f"{k}.jsonl"))))
            b, c = (1000 * min(several) / len(splits) for several in zip(*times))
            print(f"| {type(estimator).__name__} | {n_rows} | {b:.1f} | {c:.1f} | {c / b:.2f} |")


if __name__ == "__main__":
    main()
