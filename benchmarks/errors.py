"""The errors that docs/structured.md and docs/learners.md print: structured models, many classes, rules.

Test error of boosted stumps, consistent stumps and alternating trees on data sets of the papers (three times ten folds,
200 rounds); five-fold accuracy on scikit-learn's digits; F+ of RuleLearner alone and boosted, cut in every round
or once (three times five folds).

Run with: make errors   (the first and the last read ../shared/data, and are left out without it)
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AlternatingTreeClassifier,
    ConsistentBoostClassifier,
    RealBoostClassifier,
)
from skewboost.learners import MDLDiscretizer, RuleLearner, Stump

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = ("kr_vs_kp", "hypothyroid", "sick_euthyroid", "cleveland_heart", "pima", "breast_cancer_ljubljana")
SHOWN = (5, 7, 10, 20, 50, 60, 100, 200)
ABSTAIN = Stump(missing="abstain")
MODELS = {
    "stumps": RealBoostClassifier(estimator=ABSTAIN, n_estimators=200, engine="cpu"),
    "stumps, Z̄": RealBoostClassifier(
        estimator=Stump(missing="abstain", criterion="zbar"), n_estimators=200, engine="cpu"
    ),
    "consistent stumps": ConsistentBoostClassifier(estimator=ABSTAIN, n_estimators=200, engine="cpu"),
    "alternating tree": AlternatingTreeClassifier(max_rounds=200, engine="cpu"),
}


def load(name: str) -> tuple:
    sys.path.insert(0, str(DATA))
    from load import load as read

    return read(name)


def curve(name: str, model: str) -> str:
    """The mean test error after every round."""
    X, y = load(name)
    errors = []
    for seed in range(3):
        for inner, outer in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y):
            clf = clone(MODELS[model]).fit(X.iloc[inner], y[inner])
            of_fold = [np.mean(said != y[outer]) for said in clf.staged_predict(X.iloc[outer])]
            errors.append(of_fold + of_fold[-1:] * (200 - len(of_fold)))
    mean = 100 * np.mean(errors, axis=0)
    shown = "".join(f"{mean[k - 1]:8.2f}" for k in SHOWN)
    return f"{name:<26}{model:<20}{shown}   {mean.min():6.2f} at {mean.argmin() + 1}"


def rules(name: str) -> str:
    """F+ of the rule learner alone, boosted, and boosted on attributes cut once; without and with the prior."""
    X, y = load(name)
    cells = []
    for prior in (False, True):
        learner = RuleLearner(prior=prior)
        boosted = AdaBoostClassifier(estimator=learner, n_estimators=20, pos_label=1)
        for clf in (learner, boosted, make_pipeline(MDLDiscretizer(), boosted)):
            folds = [StratifiedKFold(5, shuffle=True, random_state=seed) for seed in range(3)]
            cells.append(np.mean([f1_score(y, cross_val_predict(clf, X, y, cv=cv)) for cv in folds]))
    return f"{name:<26}" + "".join(f"{100 * c:8.1f}" for c in cells)


def main() -> None:
    warnings.filterwarnings("ignore")
    if DATA.is_dir():
        print(f"{'test error in %, rounds':<46}" + "".join(f"{k:8d}" for k in SHOWN) + "   best")
        for line in Parallel(n_jobs=2)(delayed(curve)(name, model) for name in SETS for model in MODELS):
            print(line, flush=True)
        print(f"\n{'F+ in %, RuleLearner':<26}{2 * '   alone boosted    once'}   (prior=False, prior=True)")
        for name in ("breast_cancer_ljubljana", "hypothyroid", "pima", "sick_euthyroid"):
            print(rules(name), flush=True)
    X, y = load_digits(return_X_y=True)
    print("\naccuracy on digits")
    for name, booster in (("AdaBoost.MH", AdaBoostMHClassifier), ("RealBoost, one vs rest", RealBoostClassifier)):
        for estimator in ("stump", "tree"):
            for n in (50, 300):
                clf = booster(estimator=estimator, n_estimators=n, n_jobs=2)
                clf = clf if booster is AdaBoostMHClassifier else OneVsRestClassifier(clf)
                print(f"{name:<24}{estimator:<8}{n:4d} {cross_val_score(clf, X, y, cv=5).mean():8.3f}")


if __name__ == "__main__":
    main()
