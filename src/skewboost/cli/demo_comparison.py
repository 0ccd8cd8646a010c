"""What the demonstration computes: the data sets, the fits, and what their answers are worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from skewboost import (
    AdaBoostClassifier,
    CGAdaClassifier,
    CSRAClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
)
from skewboost.datasets import load_rare_cancer, make_fraud
from skewboost.metrics import Counts

SEED = 0
MISS_COST = 20
PRICES = np.array([[0, 1], [MISS_COST, 0]])  # [true, predicted]

BOOSTERS: dict[str, Any] = {
    "AdaBoost": AdaBoostClassifier,
    "RealBoost": RealBoostClassifier,
    "GentleBoost": GentleBoostClassifier,
    "LogitBoost": LogitBoostClassifier,
}
TREES = "RealBoost, trees"
THRESHOLD = f"RealBoost, threshold for {MISS_COST}:1"
TRIVIAL = "everything is common"
REPORTED = f"CSRA, cost {MISS_COST}"
TOLD_THE_COST: dict[str, Any] = {
    REPORTED: CSRAClassifier(cost=MISS_COST),
    f"CGAda, {MISS_COST}, calibrated": CGAdaClassifier(cost=MISS_COST, calibrate="sigmoid"),
}
N_FITS = len(BOOSTERS) + 1 + len(TOLD_THE_COST)


@dataclass(frozen=True)
class Problem:
    """A data set, split; label 1 is the rare class."""

    name: str
    rare: str
    common: str
    X_train: Any
    X_test: Any
    y_train: Any
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Row:
    """A line of the table; no rounds and no seconds where nothing was fitted."""

    method: str
    counts: Counts
    rounds: int | None = None
    seconds: float | None = None


# Told the method that comes next, returns what to call after each of its rounds.
Announcer = Callable[[str], Callable[[int, Any], None]]


def problems() -> list[Problem]:
    """Both data sets, split with a fixed seed and the same share of the rare class on either side."""
    return [
        _split("Rare cancer", "malignant", "benign", load_rare_cancer(), test_size=0.5),
        _split("Card fraud", "fraudulent", "honest", make_fraud(), test_size=0.3),
    ]


def _split(name: str, rare: str, common: str, data: tuple[Any, Any], test_size: float) -> Problem:
    X, y = data
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=test_size, stratify=y, random_state=SEED)
    return Problem(name, rare, common, X_train, X_test, y_train, y_test.to_numpy())


def compare(problem: Problem, rounds: int, n_jobs: int, announce: Announcer) -> tuple[list[Row], dict[str, Any]]:
    """Fit every method; the rows of the table, and the models by method."""
    y = problem.y_test
    rows = [Row(TRIVIAL, Counts.of(y, np.zeros_like(y)))]
    models = {name: booster() for name, booster in BOOSTERS.items()}
    models |= {TREES: RealBoostClassifier(estimator="tree"), **{n: clone(m) for n, m in TOLD_THE_COST.items()}}
    for method, model in models.items():
        model.set_params(n_estimators=rounds, n_jobs=n_jobs, callbacks=[announce(method)])
        started = time.perf_counter()
        model.fit(problem.X_train, problem.y_train)
        seconds = time.perf_counter() - started
        model.set_params(callbacks=None)
        rows.append(Row(method, Counts.of(y, model.predict(problem.X_test)), model.n_estimators_, seconds))
        if method == TREES:
            answers = at_minimum_risk(models["RealBoost"].predict_proba(problem.X_test))
            rows.append(Row(THRESHOLD, Counts.of(y, answers)))
    return rows, models


def at_minimum_risk(probability: NDArray[Any]) -> NDArray[Any]:
    """The answers that cost least if the probabilities are right: rare where ``p > 1 / (1 + MISS_COST)``."""
    return (probability[:, 1] > 1 / (1 + MISS_COST)).astype(np.int64)


def staged_counts(problem: Problem, models: Mapping[str, Any]) -> dict[str, list[Counts]]:
    """The counts on the test set after each round, for the four boosters and for RealBoost at minimum risk."""
    X, y = problem.X_test, problem.y_test
    stages = {name: [Counts.of(y, answers) for answers in models[name].staged_predict(X)] for name in BOOSTERS}
    risks = models["RealBoost"].staged_predict_proba(X)
    return {**stages, THRESHOLD: [Counts.of(y, at_minimum_risk(p)) for p in risks]}
