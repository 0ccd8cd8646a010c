"""Models with a structure: alternating trees, consistent stumps, many classes, rules, explanations; on two threads.

Times are the best of the repeats with compiled code warm, binning included. A ratio above 1 says that skewboost is
faster. A bar is an upper limit in seconds, or a ratio.

Run with: make benchmark-structured   (hypothyroid is read from ../shared/data, and left out without it)
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from data import imbalanced, row, seconds, side_by_side
from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AlternatingTreeClassifier,
    ConsistentBoostClassifier,
    RealBoostClassifier,
)
from skewboost.learners import MDLDiscretizer, RuleLearner

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
THREADS = 2


def alone(name: str, time: float, bar: str) -> None:
    print(f"{name:<62} {time:8.3f} s {'':>10} {'':>10}   {bar}", flush=True)


def lgb(leaves: int, rounds: int) -> lightgbm.LGBMClassifier:
    return lightgbm.LGBMClassifier(n_estimators=rounds, num_leaves=leaves, n_jobs=THREADS, verbose=-1)


def main() -> None:
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    ours = {"n_jobs": THREADS, "engine": "cpu"}
    print(f"{'':<62} {'skewboost':>10} {'peer':>11} {'ratio':>9}   bar")

    tree = AlternatingTreeClassifier(max_rounds=50, n_jobs=THREADS)
    if DATA.is_dir():
        sys.path.insert(0, str(DATA))
        from load import load

        X, y = load("hypothyroid")
        compiled = AlternatingTreeClassifier(max_rounds=50, **ours).fit(X, y)
        alone("alternating tree, 50 rounds, hypothyroid 3163 x 25, NumPy", seconds(lambda: tree.fit(X, y)), "1 s")
        alone("… compiled (engine='cpu')", seconds(lambda: compiled.fit(X, y)), "1 s")
        rules = RuleLearner()
        alone("RuleLearner, hypothyroid", seconds(lambda: rules.fit(X, y)), "")
    X, y = imbalanced(100_000, 30)
    tree.fit(X[:20_000], y[:20_000])
    alone("alternating tree, 50 rounds, 100 000 x 30", seconds(lambda: tree.fit(X, y)), "15 s")

    X, y = imbalanced(200_000, 30)
    consistent, real = (b(n_estimators=200, **ours) for b in (ConsistentBoostClassifier, RealBoostClassifier))
    consistent.fit(X[:5000], y[:5000])
    tasks = [lambda: consistent.fit(X, y), lambda: real.fit(X, y), lambda: lgb(2, 200).fit(X, y)]
    own, plain, light = side_by_side(tasks)
    row("consistent stumps, 200 rounds / RealBoost", own, plain, "")
    row("consistent stumps, 200 rounds / LightGBM num_leaves=2", own, light, "")

    few, labels = pd.DataFrame(X[:20_000]).rename(columns="x{}".format), y[:20_000]
    rules = AdaBoostClassifier(estimator=RuleLearner(), n_estimators=10, **ours)
    cut_once = make_pipeline(MDLDiscretizer(), rules)
    once, always = side_by_side([lambda: cut_once.fit(few, labels), lambda: rules.fit(few, labels)], 3)
    row("boosted RuleLearner, 10 rounds, cut once / in every round", once, always, "")

    score = X[:, 0] + X[:, 1] * X[:, 2] + np.random.default_rng(0).normal(size=len(X))
    many = np.digitize(score, [-1.0, 0.5, 1.5])
    for estimator, leaves in (("stump", 2), ("tree", 8)):
        joint = AdaBoostMHClassifier(estimator=estimator, n_estimators=100, **ours)
        separate = OneVsRestClassifier(RealBoostClassifier(estimator=estimator, n_estimators=100, **ours))
        joint.fit(X[:5000], many[:5000])
        tasks = [lambda m=joint: m.fit(X, many), lambda m=separate: m.fit(X, many)]
        own, each, light = side_by_side([*tasks, lambda n=leaves: lgb(n, 100).fit(X, many)], 3)
        row(f"AdaBoost.MH, {estimator}s, 4 classes / one RealBoost per class", own, each, "")
        row(f"AdaBoost.MH, {estimator}s, 4 classes / LightGBM num_leaves={leaves}", own, light, "")

    trees = RealBoostClassifier(estimator="tree", n_estimators=100, **ours).fit(X, y)
    peer = lgb(8, 100).fit(X, y)
    few = X[:10_000]
    light, own = side_by_side([lambda: peer.predict(few, pred_contrib=True), lambda: trees.contributions(few)], 3)
    row("contributions, 100 trees of 8 leaves, 10 000 rows / LightGBM", own, light, "")


if __name__ == "__main__":
    main()
