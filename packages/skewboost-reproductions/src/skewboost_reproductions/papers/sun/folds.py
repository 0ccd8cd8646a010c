"""The data sets, algorithms and folds of Sun, Wong and Wang (2005)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from skewboost import (
    AdaBoostClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    CSB1Classifier,
    CSB2Classifier,
)
from skewboost.learners import MDLDiscretizer, RuleLearner
from skewboost_reproductions.datasets import fetch_uci
from skewboost_reproductions.experiment import Task

DATA = {
    "Cancer": "breast_cancer_ljubljana",
    "Hypothyroid": "hypothyroid",
    "Pima": "pima",
    "Sick-euthyroid": "sick_euthyroid",
}
COSTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # of the negatives; that of the positives is 1
FOLDS, ROUNDS = 5, 10
STAGES = (5, 10, 20)  # rounds after which the ensemble is measured
COSTLY: dict[str, Callable[..., Any]] = {
    "AdaC1": AdaC1Classifier,
    "AdaC2": AdaC2Classifier,
    "AdaC3": AdaC3Classifier,
    "AdaCost": lambda **given: AdaCostClassifier(initial="equal", **given),
    "CSB1": lambda **given: CSB1Classifier(as_printed=True, **given),
    "CSB2": CSB2Classifier,
    "AdaCost, start by cost": AdaCostClassifier,
    "CSB1, AdaBoost's votes": CSB1Classifier,
    "CSB2, costs of errors": lambda **given: CSB2Classifier(cost_on="errors", **given),
}
PLAIN = ("HPWR", "HPWR, three conditions", "AdaBoost")
PRINTED = ("HPWR", "AdaBoost", *list(COSTLY)[:6])
OTHERS = {"AdaCost": "AdaCost, start by cost", "CSB1": "CSB1, AdaBoost's votes", "CSB2": "CSB2, costs of errors"}
TEST_TO_TRAIN = 1.0 / (FOLDS - 1)


def grid(algorithm: str, quick: bool) -> tuple[float, ...]:
    """Return the costs that are tried."""
    return COSTS[:1] if algorithm in PLAIN else COSTS[:6:2] if quick else COSTS


def fitted(algorithm: str, X: Any, y: Any, cost: float, prior: bool, rounds: int) -> Any:
    """Train HPWR, or an ensemble of it."""
    rules = RuleLearner(prior=prior)
    if algorithm == "HPWR":
        return rules.fit(X, y)
    if algorithm == "HPWR, three conditions":
        return rules.set_params(max_order=3).fit(X, y)
    given: dict[str, Any] = {"estimator": rules, "n_estimators": rounds}
    if algorithm == "AdaBoost":
        return AdaBoostClassifier(**given).fit(X, y)
    return COSTLY[algorithm](cost={1: 1.0, 0: cost}, **given).fit(X, y)


def counts_by_stage(model: Any, X: Any, y: Any, stages: Sequence[int]) -> list[list[int]]:
    """Return TP, FP and FN after some numbers of rounds; an ensemble that ended earlier stays as it is."""
    predicted = list(model.staged_predict(X)) if hasattr(model, "staged_predict") else [model.predict(X)]
    at = (predicted[min(stage, len(predicted)) - 1] == 1 for stage in stages)
    return [[int((p & (y == 1)).sum()), int((p & (y == 0)).sum()), int((~p & (y == 1)).sum())] for p in at]


def f_measure(counts: Any) -> Any:
    """Return F in percent of TP, FP and FN along the last axis; 0 where nothing is found."""
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return 200.0 * tp / np.maximum(2.0 * tp + fp + fn, 1.0)


@lru_cache(maxsize=2)
def rows_of(data: str) -> tuple[Any, Any]:
    """Return a data set."""
    X, y = fetch_uci(DATA[data])
    return X, y.to_numpy()


@lru_cache(maxsize=2)
def cut_once(data: str) -> Any:
    """Return the attributes, cut by all labels: also by those of rows that are test rows later."""
    X, y = rows_of(data)
    return MDLDiscretizer(missing="value").fit(X, y).transform(X)


def cut(data: str, cuts: str, train: Any, test: Any) -> tuple[Any, Any]:
    """Return training and test rows of values, cut by all labels or by those of the training rows."""
    if cuts == "all rows":
        X = cut_once(data)
        return X.iloc[train], X.iloc[test]
    X, y = rows_of(data)
    discretizer = MDLDiscretizer(missing="value").fit(X.iloc[train], y[train])
    return discretizer.transform(X.iloc[train]), discretizer.transform(X.iloc[test])


def folds_of(data: str, repeat: int) -> list[Any]:
    """Return the test rows of each fold."""
    _, y = rows_of(data)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
    return [test for _, test in folds.split(np.zeros(len(y)), y)]


def in_folds(data: str, algorithm: str, cuts: str, prior: bool, rounds: int, repeat: int, quick: bool) -> list[Any]:
    """Return TP, FP and FN, ``[cost, fold, stage]``, on the test rows of one division into folds."""
    _, y = rows_of(data)
    folds, costs = folds_of(data, repeat), grid(algorithm, quick)
    counts: list[Any] = [[] for _ in costs]
    for test in folds:
        train = np.setdiff1d(np.arange(len(y)), test)
        X_train, X_test = cut(data, cuts, train, test)
        for of_cost, cost in zip(counts, costs):
            model = fitted(algorithm, X_train, y[train], cost, prior, rounds)
            of_cost.append(counts_by_stage(model, X_test, y[test], STAGES))
    return counts


def validated(data: str, algorithm: str, repeat: int, quick: bool) -> list[int]:
    """Return the number of the cost that is best in an inner cross-validation, for each of the outer folds.

    The inner models for the outer fold i leave out i and one of the others, j. The same model serves i and j.
    """
    _, y = rows_of(data)
    folds, costs = folds_of(data, repeat), grid(algorithm, quick)
    inner = np.full((FOLDS, len(costs), FOLDS), np.nan)
    for i, j in combinations(range(FOLDS), 2):
        out = np.concatenate((folds[i], folds[j]))
        train = np.setdiff1d(np.arange(len(y)), out)
        X_train, X_out = cut(data, "training rows", train, out)
        n = len(folds[i])
        for k, cost in enumerate(costs):
            model = fitted(algorithm, X_train, y[train], cost, True, ROUNDS)
            for outer, inside, rows in ((j, i, slice(0, n)), (i, j, slice(n, None))):
                (counts,) = counts_by_stage(model, X_out.iloc[rows], y[folds[inside]], (ROUNDS,))
                inner[outer, k, inside] = f_measure(counts)
    return [int(k) for k in np.nanmean(inner, axis=2).argmax(axis=1)]


MAIN = ("all rows", True, max(STAGES))  # by which rows attributes are cut, whether HPWR adds the prior, the rounds
HONEST = ("training rows", True, ROUNDS)
NO_PRIOR = ("all rows", False, ROUNDS)


def main_reading(quick: bool) -> tuple[str, bool, int]:
    """Return the reading of the protocol that stands in the first table."""
    return ("all rows", True, ROUNDS) if quick else MAIN


def repeats(quick: bool) -> range:
    """Return the divisions into folds."""
    return range(1 if quick else 5)


def tasks(quick: bool) -> list[Task]:
    """Return the tasks: a data set, an algorithm, a reading of the protocol and a division into folds each."""
    found = []
    for r in repeats(quick):
        for data in DATA:
            found += [Task(in_folds, data, a, *main_reading(quick), r, quick) for a in (*PLAIN, *COSTLY)]
            for reading in (HONEST,) if quick else (HONEST, NO_PRIOR):
                found += [Task(in_folds, data, a, *reading, r, quick) for a in (*PLAIN, *PRINTED[2:])]
            if not quick:
                found += [Task(validated, data, a, r, quick) for a in PRINTED[2:]]
    return found
