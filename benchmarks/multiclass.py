"""Ways to many classes: errors and times that docs/multiclass.md prints.

Accuracy, balanced accuracy (the mean recall of the classes) and CPU seconds to fit, in three folds, on scikit-learn's
digits (10 classes), wine (3) and a made lopsided table (4 classes of 90, 6, 3 and 1 %); on the latter also what
mistakes cost when a class is as dear as it is rare. 100 rounds each; trees have eight leaves unless said otherwise.

Run with: python benchmarks/multiclass.py [digits | wine | lopsided]
"""

from __future__ import annotations

import sys
import time
import warnings

import lightgbm
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.ensemble import AdaBoostClassifier as Samme
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from skewboost import (
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    CGAdaClassifier,
    CodeMatrixClassifier,
    CSRAClassifier,
    RealBoostClassifier,
)
from skewboost.learners import Tree

OURS = {"n_estimators": 100, "engine": "cpu"}
STUMPS, TREES = RealBoostClassifier(**OURS), RealBoostClassifier(estimator="tree", **OURS)
COST = {0: 1.0, 1: 15.0, 2: 30.0, 3: 90.0}  # of the lopsided table


def coded(code: str, decoding: str = "loss", estimator: object = TREES) -> CodeMatrixClassifier:
    return CodeMatrixClassifier(estimator, code=code, decoding=decoding, random_state=0)


def plain(n_classes: int) -> dict[str, object]:
    """The ways without costs."""
    models: dict[str, object] = {
        "one vs rest (OneVsRestClassifier), stumps": OneVsRestClassifier(STUMPS),
        "one vs rest, trees": OneVsRestClassifier(TREES),
        'code="one_vs_one", trees': coded("one_vs_one"),
        'code="dense", stumps': coded("dense", estimator=STUMPS),
        'code="dense", trees': coded("dense"),
        'code="dense", trees, hamming': coded("dense", "hamming"),
        'code="sparse", trees': coded("sparse"),
    }
    if n_classes >= 8:
        models['code="bch", trees'] = coded("bch")
    more = {
        "AdaBoostMH, stumps": AdaBoostMHClassifier(**OURS),
        "AdaBoostMH, trees": AdaBoostMHClassifier(estimator="tree", **OURS),
        "AdaBoostMH, trees, learning_rate=0.1": AdaBoostMHClassifier(estimator="tree", learning_rate=0.1, **OURS),
        "AdaC2M1, stumps": AdaC2M1Classifier(estimator="stump", **OURS),
        "AdaC2M1, trees": AdaC2M1Classifier(**OURS),
        "AdaC2M1, trees of 32 leaves": AdaC2M1Classifier(estimator=Tree(max_leaf_nodes=32), **OURS),
        "scikit-learn AdaBoost (SAMME), depth 3": Samme(DecisionTreeClassifier(max_depth=3), n_estimators=100),
        "LightGBM, 8 leaves": lightgbm.LGBMClassifier(n_estimators=100, num_leaves=8, verbose=-1, n_jobs=1),
    }
    return models | more


def with_costs() -> dict[str, object]:
    """Those that are told what the classes of the lopsided table cost."""
    root = {k: c ** (1 / 100) for k, c in COST.items()}
    light = lightgbm.LGBMClassifier(n_estimators=100, num_leaves=8, verbose=-1, n_jobs=1, class_weight=COST)
    return {
        "AdaBoostMH(cost), stumps": AdaBoostMHClassifier(cost=COST, **OURS),
        "AdaBoostMH(cost), trees": AdaBoostMHClassifier(cost=COST, estimator="tree", **OURS),
        "AdaBoostMH(cost), trees, learning_rate=0.1": AdaBoostMHClassifier(
            cost=COST, estimator="tree", learning_rate=0.1, **OURS
        ),
        "AdaC2M1(cost), trees": AdaC2M1Classifier(cost=COST, **OURS),
        "AdaC2M1(100th root of cost), trees": AdaC2M1Classifier(cost=root, **OURS),
        "exhaustive, CSRA stumps, sample_cost": coded("exhaustive", "loss", CSRAClassifier(**OURS)),
        "one_vs_rest, CGAda stumps, sample_cost": coded("one_vs_rest", "loss", CGAdaClassifier(**OURS)),
        "LightGBM(class_weight=cost), 8 leaves": light,
    }


def measured(model: object, X: np.ndarray, y: np.ndarray, cost: dict[int, float] | None, told: bool) -> list[float]:
    said, by_risk, seconds = np.empty_like(y), np.empty_like(y), []
    c = None if cost is None else np.array(list(cost.values()))
    for inner, outer in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        clf = clone(model)
        given = {"sample_cost": np.tile(c, (len(inner), 1))} if told and isinstance(clf, CodeMatrixClassifier) else {}
        started = time.process_time()
        clf.fit(X[inner], y[inner], **given)
        seconds.append(time.process_time() - started)
        said[outer] = clf.predict(X[outer])
        if c is not None:
            by_risk[outer] = (c * clf.predict_proba(X[outer])).argmax(axis=1)
    cells = [np.mean(said == y), balanced_accuracy_score(y, said)]
    if c is not None:
        cells += [np.mean(c[y] * (said != y)), np.nan if told else np.mean(c[y] * (by_risk != y))]
    return [*cells, float(np.mean(seconds))]


def table(name: str, X: np.ndarray, y: np.ndarray, models: dict[str, object], cost: dict | None, told: bool) -> None:
    more = f"{'cost':>9}{'by risk':>9}" if cost else ""
    print(f"\n{name:<46}{'accuracy':>9}{'balanced':>9}{more}{'seconds':>9}", flush=True)
    for label, model in models.items():
        print(f"{label:<46}" + "".join(f"{v:9.3f}" for v in measured(model, X, y, cost, told)), flush=True)


def main() -> None:
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    wanted = sys.argv[1:] or ["digits", "wine", "lopsided"]
    AdaBoostMHClassifier(n_estimators=2, engine="cpu").fit(np.eye(3), [0, 1, 2])  # compile
    if "wine" in wanted:
        table("wine, 178 x 13, 3 classes", *load_wine(return_X_y=True), plain(3), None, False)
    if "lopsided" in wanted:
        X, y = make_classification(
            8000, 20, n_informative=8, n_redundant=4, n_classes=4, n_clusters_per_class=2, class_sep=1.0,
            weights=[0.9, 0.06, 0.03, 0.01], flip_y=0.01, random_state=0,
        )  # fmt: skip
        table("lopsided, 8000 x 20, 4 classes", X, y, plain(4), COST, False)
        table("… told the costs", X, y, with_costs(), COST, True)
    if "digits" in wanted:
        table("digits, 1797 x 64, 10 classes", *load_digits(return_X_y=True), plain(10), None, False)


if __name__ == "__main__":
    main()
