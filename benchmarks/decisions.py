"""Costs in training, or in the decision? And what calibration is worth, with one estimator or one per fold.

Card payments of `make_fraud`, trained on 2000 and on 20 000 rows, decided on 50 000 others; 100 boosted stumps, misses
5, 20 and 100 times as dear as false alarms. A number is `savings_score` in percent, the mean over seeds: 0 is the best
constant decision and 100 a perfect one. Below that, the same for the connections of `make_intrusions` and a matrix.

Run with: python benchmarks/decisions.py
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from skewboost import (
    AdaBoostMHClassifier,
    CSRAClassifier,
    LogitBoostClassifier,
    MinimumRiskClassifier,
    RealBoostClassifier,
)
from skewboost.datasets import make_fraud, make_intrusions
from skewboost.metrics import savings_score

COSTS = (5, 20, 100)
SEEDS = range(8)
SIZES = (2000, 20_000)
N_TEST = 50_000
ROUNDS = {"n_estimators": 100, "engine": "cpu"}
PLAIN = {"RealBoost": RealBoostClassifier(**ROUNDS), "LogitBoost": LogitBoostClassifier(**ROUNDS)}


def savings(probability: np.ndarray, truth: np.ndarray) -> list[float]:
    """Of the decisions of least expected cost."""
    return [100 * savings_score(truth, probability, cost, pos_label=1) for cost in COSTS]


def one(seed: int, n_train: int) -> dict[str, list[float]]:
    """All methods on one draw."""
    warnings.filterwarnings("ignore")
    X, y = make_fraud(n_train + N_TEST, random_state=seed)
    X, y, new, truth = X[:n_train], y[:n_train].to_numpy(), X[n_train:], y[n_train:].to_numpy()
    found = {}
    for name, booster in PLAIN.items():
        found[f"{name}, its own boundary"] = [
            100 * savings_score(truth, clone(booster).fit(X, y).predict(new), cost, pos_label=1) for cost in COSTS
        ]
        for calibrate in (None, "sigmoid", "isotonic", "temperature"):
            model = MinimumRiskClassifier(booster, calibrate=calibrate).fit(X, y)
            found[f"{name}, minimum risk, {calibrate or 'as it is'}"] = savings(model.predict_proba(new), truth)
        for calibrate in ("sigmoid", "isotonic"):
            model = MinimumRiskClassifier(booster, calibrate=calibrate, ensemble=False).fit(X, y)
            found[f"{name}, minimum risk, {calibrate}, one model"] = savings(model.predict_proba(new), truth)
    told = [CSRAClassifier(cost=cost, **ROUNDS).fit(X, y).predict(new) for cost in COSTS]
    found["CSRA, told the cost"] = [
        100 * savings_score(truth, said, cost, pos_label=1) for said, cost in zip(told, COSTS)
    ]
    for calibrate in (None, "sigmoid"):
        model = MinimumRiskClassifier(CSRAClassifier(cost=20, **ROUNDS), calibrate=calibrate).fit(X, y)
        found[f"CSRA told 20, minimum risk, {calibrate or 'as it is'}"] = savings(model.predict_proba(new), truth)
    return found


KINDS = ["normal", "probe", "dos", "break-in"]
PRICES = pd.DataFrame(
    [[0, 1, 2, 10], [3, 0, 2, 8], [20, 15, 0, 20], [300, 250, 250, 0]], index=KINDS, columns=KINDS
)  # of docs/decisions.md


def intrusions(seed: int) -> dict[str, float]:
    """Four classes and a matrix: 15 000 rows to train on, 50 000 others to decide on."""
    X, y = make_intrusions(15_000 + N_TEST, random_state=seed)
    X, y, new, truth = X[:15_000], y[:15_000], X[15_000:], y[15_000:]
    booster = AdaBoostMHClassifier(**ROUNDS)
    found = {"AdaBoostMH, the likeliest class": savings_score(truth, clone(booster).fit(X, y).predict(new), PRICES)}
    for calibrate in (None, "sigmoid", "isotonic", "temperature"):
        model = MinimumRiskClassifier(booster, cost=PRICES, calibrate=calibrate).fit(X, y)
        found[f"AdaBoostMH, minimum risk, {calibrate or 'as it is'}"] = savings_score(truth, model.predict(new), PRICES)
    return found


def main() -> None:
    jobs = [delayed(one)(seed, n) for n in SIZES for seed in SEEDS]
    runs = Parallel(n_jobs=2)(jobs)
    print(f"{'':<46}" + "".join(f"{n:>9} rows{'':<16}" for n in SIZES))
    print(f"{'savings in %, at a cost of':<46}" + "".join(f"{c:>8}" for _ in SIZES for c in COSTS))
    for name in runs[0]:
        parts = [np.array([r[name] for r in runs[k * len(SEEDS) : (k + 1) * len(SEEDS)]]) for k in range(len(SIZES))]
        print(f"{name:<46}" + "".join(f"{v:8.1f}" for part in parts for v in part.mean(axis=0)))
    spread = np.array([np.array(r["CSRA, told the cost"]) - r["RealBoost, minimum risk, as it is"] for r in runs])
    error = spread.reshape(len(SIZES), len(SEEDS), -1).std(axis=1, ddof=1) / np.sqrt(len(SEEDS))
    print(f"{'standard error of CSRA - RealBoost as it is':<46}" + "".join(f"{v:8.1f}" for v in error.ravel()))
    print("\nintrusions, a matrix of 4 x 4: savings in %, and their standard error")
    runs = Parallel(n_jobs=2)(delayed(intrusions)(seed) for seed in SEEDS)
    for name in runs[0]:
        values = 100 * np.array([r[name] for r in runs])
        print(f"{name:<46}{values.mean():8.1f}{values.std(ddof=1) / np.sqrt(len(values)):8.1f}")


if __name__ == "__main__":
    main()
