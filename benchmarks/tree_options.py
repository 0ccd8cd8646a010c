"""Sampled columns, sampled rows, random thresholds and L2 penalties of boosted trees: what they are worth.

Prints the mean log-loss and average precision on held-out rows, over random splits of several lopsided tables, of
LogitBoost and RealBoost on trees of eight leaves with each option, and on how many of the (table, split) pairs the
log-loss is lower than that of the default.

Run with: python benchmarks/tree_options.py   (some tables are read from ../shared/data)
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedShuffleSplit

from skewboost import LogitBoostClassifier, RealBoostClassifier
from skewboost.datasets import load_rare_cancer, make_fraud
from skewboost.engine.table import take_rows
from skewboost.learners import Tree

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ROUNDS, SPLITS, RATE = 100, 4, 0.3
OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Tree()": ({}, {}),
    "max_features=0.5": ({"max_features": 0.5}, {}),
    "max_features_per_tree=0.5": ({"max_features_per_tree": 0.5}, {}),
    'splitter="random"': ({"splitter": "random"}, {}),
    "sampler=0.5": ({}, {"sampler": 0.5}),
    "sampler=0.5, max_features=0.5": ({"max_features": 0.5}, {"sampler": 0.5}),
    "l2_regularization=1": ({"l2_regularization": 1.0}, {}),
    "min_hessian_leaf=1": ({"min_hessian_leaf": 1.0}, {}),
    "l2_regularization=1, min_hessian_leaf=1": ({"l2_regularization": 1.0, "min_hessian_leaf": 1.0}, {}),
}


def data_sets() -> Iterator[tuple[str, Any, np.ndarray]]:
    if DATA.is_dir():
        sys.path.insert(0, str(DATA))
        from load import load

        for name in ("hypothyroid", "sick_euthyroid", "pima", "breast_cancer_ljubljana"):
            X, y = load(name)
            yield name, X, y
    X, y = make_fraud(6_000)
    yield "make_fraud", X, np.asarray(y)
    X, y = load_rare_cancer()
    yield "rare cancer", X, np.asarray(y)


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    names = []
    for name, X, y in data_sets():
        names.append(name)
        for seed, (train, test) in enumerate(StratifiedShuffleSplit(SPLITS, random_state=0).split(y, y)):
            inner, outer = take_rows(X, train), take_rows(X, test)
            for cls in (LogitBoostClassifier, RealBoostClassifier):
                for option, (of_tree, of_booster) in OPTIONS.items():
                    if cls is RealBoostClassifier and {"l2_regularization", "min_hessian_leaf"} & set(of_tree):
                        continue
                    clf = cls(
                        estimator=Tree(**of_tree),
                        n_estimators=ROUNDS,
                        learning_rate=RATE,
                        random_state=seed,
                        **of_booster,
                    )
                    p = clf.fit(inner, y[train]).predict_proba(outer)[:, 1]
                    own = log_loss(y[test], p), average_precision_score(y[test], p)
                    found.setdefault((cls.__name__, option), []).append(own)
    print(f"{', '.join(names)}; {SPLITS} splits each, {ROUNDS} rounds, learning_rate={RATE}")
    print(f"{'':<62} log-loss     AP   lower log-loss")
    for (variant, option), own in found.items():
        losses, precisions = np.array(own).T
        default = np.array(found[variant, "Tree()"]).T[0]
        wins = f"{int((losses < default).sum())} of {len(losses)}" if option != "Tree()" else ""
        print(f"{variant + ', ' + option:<62} {losses.mean():8.4f} {precisions.mean():6.3f}   {wins}")


if __name__ == "__main__":
    main()
