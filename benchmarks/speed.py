"""Training and prediction against LightGBM, XGBoost and scikit-learn, side by side in one run on two threads.

200 000 x 30 float32, 2 % positives, 200 rounds, binning included. Compiled code is warm on all sides; each time is the
best of the repeats. A ratio above 1 says that skewboost is faster.

Run with: make benchmark
"""

from __future__ import annotations

import warnings

import lightgbm
import xgboost
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost

from data import imbalanced, row, seconds, side_by_side
from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.learners import Tree

THREADS = 2
ROUNDS = 200


def lgb(leaves: int, rounds: int = ROUNDS) -> lightgbm.LGBMClassifier:
    return lightgbm.LGBMClassifier(n_estimators=rounds, num_leaves=leaves, n_jobs=THREADS, verbose=-1)


def xgb() -> xgboost.XGBClassifier:
    return xgboost.XGBClassifier(n_estimators=ROUNDS, max_depth=1, tree_method="hist", n_jobs=THREADS)


def main() -> None:
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    X, y = imbalanced(200_000, 30)
    ours = {
        name: booster(n_estimators=ROUNDS, n_jobs=THREADS, engine="cpu")
        for name, booster in (
            ("AdaBoost", AdaBoostClassifier),
            ("RealBoost", RealBoostClassifier),
            ("GentleBoost", GentleBoostClassifier),
            ("LogitBoost", LogitBoostClassifier),
        )
    }
    trees = RealBoostClassifier(estimator=Tree(max_leaf_nodes=31), n_estimators=ROUNDS, n_jobs=THREADS, engine="cpu")
    for model in (*ours.values(), trees):
        model.fit(X[:5000], y[:5000]).predict(X[:5000])

    print(f"{'':<62} {'skewboost':>10} {'peer':>11} {'ratio':>9}   bar")
    fits = [lambda m=model: m.fit(X, y) for model in ours.values()]
    light, extreme, *times = side_by_side([lambda: lgb(2).fit(X, y), lambda: xgb().fit(X, y), *fits])
    stumps = dict(zip(ours, times))
    for name, time in stumps.items():
        row(f"{name}, stumps / LightGBM num_leaves=2", time, light, "5x" if name != "LogitBoost" else "")
        row(f"{name}, stumps / XGBoost hist max_depth=1", time, extreme, "4x" if name != "LogitBoost" else "")

    few = 5
    slow = seconds(lambda: SklearnAdaBoost(n_estimators=few).fit(X, y), 1) * ROUNDS / few
    row(f"AdaBoost, stumps / scikit-learn AdaBoost ({few} rounds, scaled)", stumps["AdaBoost"], slow, "300x")

    light, own = side_by_side([lambda: lgb(31).fit(X, y), lambda: trees.fit(X, y)])
    row("RealBoost, trees of 31 leaves / LightGBM num_leaves=31", own, light, "1x")

    many, _ = imbalanced(1_000_000, 30, seed=1)
    peer = lgb(2, 1000).fit(X, y)
    model = RealBoostClassifier(n_estimators=1000, n_jobs=THREADS, engine="cpu").fit(X, y)
    model.decision_function(many[:1000])
    light, own = side_by_side([lambda: peer.predict(many, raw_score=True), lambda: model.decision_function(many)], 2)
    row("prediction, 1000 stumps, 1 000 000 rows / LightGBM", own, light, "20x")
    peer = lgb(31).fit(X, y)
    light, own = side_by_side([lambda: peer.predict(many, raw_score=True), lambda: trees.decision_function(many)], 2)
    row("prediction, 200 trees of 31 leaves, 1 000 000 rows / LightGBM", own, light, "")


if __name__ == "__main__":
    main()
