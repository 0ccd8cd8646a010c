"""Resampling against costs and against nothing: what it is worth on lopsided data, and what it takes.

Prints a table per weak learner: area under the precision-recall curve, G-mean and F1 of the rare class on held-out
rows, mean ± standard deviation over random splits; the rounds that were done; and the time to fit relative to
imbalanced-learn's RUSBoost, per round of either, on one thread. That one is given imputed numbers and indicators of
categories, and that is not timed. Then the time of RUSBoost on 100 000 x 20 alone.

Run with: python benchmarks/resampling.py   (hypothyroid and sick-euthyroid are read from ../shared/data)
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from imblearn.ensemble import RUSBoostClassifier as Peer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from data import seconds
from skewboost import (
    CSRAClassifier,
    DataBoostIMClassifier,
    RealBoostClassifier,
    RUSBoostClassifier,
    SMOTEBoostClassifier,
    UnderBaggingClassifier,
)
from skewboost.datasets import make_fraud
from skewboost.engine.table import take_rows
from skewboost.learners import Stump, Tree
from skewboost.metrics.counts import Counts

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ROUNDS, SPLITS = 50, 3
PEER = "imbalanced-learn's RUSBoost"


def data_sets() -> Iterator[tuple[str, Any, np.ndarray]]:
    if DATA.is_dir():
        sys.path.insert(0, str(DATA))
        from load import load

        for name in ("hypothyroid", "sick_euthyroid"):
            X, y = load(name)
            yield name, X, np.asarray(y)
    X, y = make_fraud(6_000)
    yield "make_fraud", X, np.asarray(y)
    X, y = make_classification(10_000, 20, n_informative=6, weights=[0.99], flip_y=0.002, random_state=0)
    yield "99 : 1", X, y


def methods(learner: Any, peer: Any) -> dict[str, Callable[[], Any]]:
    common = {"estimator": learner, "n_estimators": ROUNDS, "random_state": 0, "engine": "cpu"}
    return {
        "RUSBoost": lambda: RUSBoostClassifier(**common),
        "RUSBoost, cost='balanced'": lambda: RUSBoostClassifier(cost="balanced", **common),
        "SMOTEBoost": lambda: SMOTEBoostClassifier(**common),
        "DataBoost-IM": lambda: DataBoostIMClassifier(**common),
        "UnderBagging of 10 RealBoost": lambda: UnderBaggingClassifier(
            RealBoostClassifier(estimator=learner, n_estimators=ROUNDS, engine="cpu"), random_state=0
        ),
        "RealBoost, sampler=0.5": lambda: RealBoostClassifier(sampler=0.5, **common),
        "RealBoost, threshold at the prior": lambda: RealBoostClassifier(**common),
        "CSRA, cost='balanced'": lambda: CSRAClassifier(cost="balanced", **common),
        PEER: lambda: Peer(peer, n_estimators=ROUNDS, random_state=0),
    }


def scores(name: str, clf: Any, X: Any, y: np.ndarray, prior: float) -> tuple[float, float, float]:
    """AUC-PR, G-mean and F1. The probabilities of RealBoost decide where they pass the share of positives."""
    p = clf.predict_proba(X)[:, 1]
    answer = p >= prior if "prior" in name else clf.predict(X) == 1
    counts = Counts.of(y == 1, answer)
    ranks = clf.decision_function(X) if hasattr(clf, "decision_function") else p
    return average_precision_score(y, ranks), float(counts.g_mean), float(counts.f1)


def rounds_of(clf: Any) -> int:
    return ROUNDS * len(clf.estimators_) if isinstance(clf, UnderBaggingClassifier) else len(clf.estimators_)


def table(name: str, learner: Any, peer: Any) -> None:
    print(f"\n### {name}\n")
    print("| data | method | AUC-PR | G-mean | F1 | rounds | time per round |\n|---|---|---|---|---|---|---|")
    for of, X, y in data_sets():
        numbers = X
        if isinstance(X, pd.DataFrame):
            numbers = SimpleImputer().fit_transform(pd.get_dummies(X).astype(float))
        found: dict[str, list[tuple[float, ...]]] = {}
        split = StratifiedShuffleSplit(SPLITS, test_size=0.4, random_state=0)
        for train, test in split.split(np.zeros(len(y)), y):
            for method, make in methods(learner, peer).items():
                given = numbers if method == PEER else X
                clf, started = make(), time.perf_counter()
                clf.fit(take_rows(given, train), y[train])
                per_round = (time.perf_counter() - started) / rounds_of(clf)
                result = scores(method, clf, take_rows(given, test), y[test], float(y[train].mean()))
                found.setdefault(method, []).append((*result, rounds_of(clf), per_round))
        base = np.median([r[-1] for r in found[PEER]])
        for method, results in found.items():
            cells = [f"{np.mean(c):.3f} ± {np.std(c):.3f}" for c in list(zip(*results))[:3]]
            n_rounds, per_round = np.mean([r[3] for r in results]), np.median([r[4] for r in results])
            print(f"| {of} | {method} | {' | '.join(cells)} | {n_rounds:.0f} | {per_round / base:.2f} |", flush=True)


def speed() -> None:
    """RUSBoost on 100 000 x 20, 1 % positives; the peer with a low learning rate, or it stops after one round."""
    X, y = make_classification(100_000, 20, n_informative=8, weights=[0.99], random_state=0)
    print("\n| 100 000 x 20 | skewboost | rounds | imbalanced-learn | rounds | times as fast per round |")
    print("|---|---|---|---|---|---|")
    for name, learner, peer in learners():
        ours = RUSBoostClassifier(estimator=learner, n_estimators=ROUNDS, random_state=0, engine="cpu").fit(X, y)
        theirs = Peer(peer, n_estimators=ROUNDS, learning_rate=0.1, random_state=0).fit(X, y)
        a, b = seconds(lambda clf=ours: clf.fit(X, y)), seconds(lambda clf=theirs: clf.fit(X, y))
        n, m = len(ours.estimators_), len(theirs.estimators_)
        print(f"| {name} | {a:.2f} s | {n} | {b:.2f} s | {m} | {(b / m) / (a / n):.1f} |", flush=True)


def learners() -> list[tuple[str, Any, Any]]:
    return [
        ("trees of eight leaves", Tree(max_leaf_nodes=8), DecisionTreeClassifier(max_leaf_nodes=8)),
        ("stumps", Stump(), DecisionTreeClassifier(max_depth=1)),
    ]


def main() -> None:
    warnings.filterwarnings("ignore")
    speed()
    for name, learner, peer in learners():
        table(name, learner, peer)


if __name__ == "__main__":
    main()
