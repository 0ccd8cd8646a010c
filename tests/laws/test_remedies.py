"""Whoever follows the remedy of a message gets what was wanted: each is provoked, read and followed."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import skewboost as sb
from estimators import portfolio, rows, three
from skewboost.errors import SkewBoostError
from skewboost.evaluate import cost_sweep
from skewboost.io import dumps, to_source
from skewboost.learners import Line, Smote, Stump, Tree

X, Y = rows(200)
ONE = np.arange(200) == 3  # a single positive
MANY = three(X, Y)
NOISE = np.random.default_rng(0).random(200) < 0.2
GROUPS = np.arange(200) // 4
BOOSTER = sb.RealBoostClassifier(n_estimators=4)
CSRA = sb.CSRAClassifier(n_estimators=4)
FEW = {"cv": 2, "max_points": 3, "random_state": 0}
COSTS = {0: 1.0, 1: 5.0, 2: 2.0}
TEXT = pd.DataFrame({"a": np.where(X[:, 0] > 0, "x", "y"), "b": X[:, 1]})


def search(estimator=None, goal="recall >= 50%", **params):
    return sb.GoalSearchCV(estimator, goal, **{**FEW, **params})


# What is done, the remedy as it is told, and the remedy as it is followed
REMEDIES = {
    "goal, too few rows": (
        lambda: portfolio(goal="recall >= 99%").fit(X, Y),
        r"lower confidence\. GoalSearchCV\(goal=\.\.\., confidence=None\)",
        lambda: sb.GoalSearchCV(goal="recall >= 99%", confidence=None, random_state=0).fit(X, Y),
    ),
    "goal, lower confidence": (
        lambda: portfolio(goal="recall >= 90%", confidence=0.9999).fit(X, Y),
        "more examples or a lower confidence",
        lambda: portfolio(goal="recall >= 90%", confidence=0.5).fit(X, Y),
    ),
    "goal out of reach": (
        lambda: portfolio(goal="precision >= 95%", confidence=0.6).fit(X, NOISE),
        r"GoalSearchCV\(goal=\.\.\., allow_unmet=True\) returns the closest model",
        lambda: sb.GoalSearchCV(goal="precision >= 95%", confidence=0.6, allow_unmet=True, random_state=0).fit(
            X, NOISE
        ),
    ),
    "goal and cost": (
        lambda: portfolio(goal="recall >= 50%", cost=5).fit(X, Y),
        r"add a condition, such as expected_cost <= 0\.5",
        lambda: portfolio(goal="recall >= 50% and expected_cost <= 2.5", cost=5).fit(X, Y),
    ),
    "goal and cost of referral": (
        lambda: portfolio(goal="recall >= 50%", reject_cost=0.1).fit(X, Y),
        r"say in the goal how many rows may be referred: referred_share <= 10%",
        lambda: portfolio(goal="recall >= 30% and referred_share <= 60%").fit(X, Y),
    ),
    "goal of many classes": (
        lambda: portfolio(goal="recall >= 50%").fit(X, MANY),
        "Pass y == label",
        lambda: portfolio(goal="recall >= 50%").fit(X, MANY == 1),
    ),
    "goal and costs of rows": (
        lambda: portfolio(goal="recall >= 50%").fit(X, Y, sample_cost=np.ones(200)),
        "Leave it out, or fit without goal",
        lambda: portfolio().fit(X, Y, sample_cost=np.ones(200)),
    ),
    "search, no costs": (
        lambda: search(KNeighborsClassifier()).fit(X, Y),
        "Set tune='threshold'",
        lambda: search(KNeighborsClassifier(), tune="threshold").fit(X, Y),
    ),
    "search, costs of its own": (
        lambda: search(LogisticRegression(class_weight="balanced")).fit(X, Y),
        "set tune='threshold' to keep it",
        lambda: search(LogisticRegression(class_weight="balanced"), tune="threshold").fit(X, Y),
    ),
    "search, unmet": (
        lambda: search(CSRA, "precision >= 95%", confidence=None).fit(X, NOISE),
        "Set allow_unmet=True",
        lambda: search(CSRA, "precision >= 95%", confidence=None, allow_unmet=True).fit(X, NOISE),
    ),
    "search, splits": (
        lambda: search(CSRA, cv=[(np.arange(100), np.arange(100, 200))]).fit(X, Y),
        "Pass a number of folds, or a splitter that divides any rows, such as StratifiedGroupKFold",
        lambda: (
            search(CSRA, cv=3).fit(X, Y),
            search(CSRA, cv=StratifiedGroupKFold(2), confidence=0.6).fit(X, Y, groups=GROUPS),
        ),
    ),
    "search, holdout": (
        lambda: search(CSRA, confidence=None, holdout=0.3).fit(X, Y),
        "Set confidence",
        lambda: search(CSRA, confidence=0.8, holdout=0.3).fit(X, Y),
    ),
    "search, groups": (
        lambda: search(CSRA, cv=GroupKFold(2)).fit(X, Y),
        r"Pass them to fit: fit\(X, y, groups=\.\.\.\)",
        lambda: search(CSRA, cv=GroupKFold(2), confidence=0.6).fit(X, Y, groups=GROUPS),
    ),
    "search, cost": (
        lambda: search(CSRA, cost=3).fit(X, Y),
        "set then='expected_cost'",
        lambda: search(CSRA, cost=3, then="expected_cost").fit(X, Y),
    ),
    "search, referral": (
        lambda: search(CSRA, "recall >= 30% and referred_share <= 50%", tune="cost").fit(X, Y),
        "Set tune='both'",
        lambda: search(CSRA, "recall >= 30% and referred_share <= 50%", tune="both").fit(X, Y),
    ),
    "search, label of referral": (
        lambda: search(CSRA, "recall >= 30% and referred_share <= 50%").fit(X, np.where(Y == 1, 1, -1)),
        "Set reject_label",
        lambda: search(CSRA, "recall >= 30% and referred_share <= 50%", reject_label=7).fit(X, np.where(Y == 1, 1, -1)),
    ),
    "rounds": (
        lambda: search(sb.MinimumRiskClassifier(BOOSTER), tune_rounds=True, tune="threshold").fit(X, Y),
        "Set tune_rounds=False",
        lambda: search(sb.MinimumRiskClassifier(BOOSTER), tune_rounds=False, tune="threshold").fit(X, Y),
    ),
    "sweep without costs": (
        lambda: cost_sweep(KNeighborsClassifier(), X, Y, costs=[1.0, 2.0], cv=2),
        "^(?!.*tune).*hoose another estimator",
        lambda: cost_sweep(GaussianNB(), X, Y, costs=[1.0, 2.0], cv=2),
    ),
    "referral too dear": (
        lambda: portfolio(cost=1, reject_cost=3.0).fit(X, Y),
        "Lower it",
        lambda: portfolio(cost=1, reject_cost=0.3).fit(X, Y),
    ),
    "label of referral alone": (
        lambda: portfolio(reject_label="?").fit(X, Y),
        "Set reject_cost",
        lambda: portfolio(cost=1, reject_cost=0.3, reject_label=-7).fit(X, Y),
    ),
    "a number for three classes": (
        lambda: portfolio(cost=5).fit(X, MANY),
        r"Give \{label: cost\} for all of them, or 'balanced'",
        lambda: (portfolio(cost=COSTS).fit(X, MANY), portfolio(cost="balanced").fit(X, MANY)),
    ),
    "costs twice": (
        lambda: CSRA.__class__(cost=2.0).fit(X, Y, sample_cost=np.ones(200)),
        "Leave one of them out",
        lambda: CSRA.__class__().fit(X, Y, sample_cost=np.ones(200)),
    ),
    "three classes": (
        lambda: BOOSTER.fit(X, MANY),
        r"\b(\w+Classifier)",
        lambda: sb.AdaBoostMHClassifier(n_estimators=3).fit(X, MANY),
    ),
    "stopping without a word": (
        lambda: sb.RealBoostClassifier(validation_fraction=0.3).fit(X, Y),
        "Set early_stopping=True",
        lambda: sb.RealBoostClassifier(validation_fraction=0.3, early_stopping=True, random_state=0).fit(X, Y),
    ),
    "stopping on one positive": (
        lambda: sb.RealBoostClassifier(early_stopping=True).fit(X, ONE),
        "Set early_stopping=False",
        lambda: sb.RealBoostClassifier(early_stopping=False).fit(X, ONE),
    ),
    "splits of nothing": (
        lambda: sb.RealBoostClassifier(splits=GroupKFold(3)).fit(X, Y, groups=GROUPS),
        "Set early_stopping=True",
        lambda: sb.RealBoostClassifier(splits=GroupKFold(3), early_stopping=True).fit(X, Y, groups=GROUPS),
    ),
    "number of splits": (
        lambda: sb.RealBoostClassifier(splits=3, early_stopping=True).fit(X, Y),
        r"Pass a splitter, such as TimeSeriesSplit\(\)",
        lambda: sb.RealBoostClassifier(splits=TimeSeriesSplit(), early_stopping=True).fit(X, Y),
    ),
    "two samplers": (
        lambda: sb.RealBoostClassifier(resample=True, sampler=0.5).fit(X, Y),
        "Leave one of them at its default",
        lambda: sb.RealBoostClassifier(sampler=0.5, random_state=0).fit(X, Y),
    ),
    "smaller warm start": (
        lambda: sb.RealBoostClassifier(n_estimators=5, warm_start=True).fit(X, Y).set_params(n_estimators=3).fit(X, Y),
        "Set warm_start=False",
        lambda: sb.RealBoostClassifier(n_estimators=5).fit(X, Y).set_params(n_estimators=3).fit(X, Y),
    ),
    "samplers of several labels": (
        lambda: sb.AdaBoostMHClassifier(n_estimators=2, sampler=Smote()).fit(X, np.stack((Y, NOISE), 1).astype(int)),
        "Use 'bootstrap' or a fraction such as 0.5 as sampler",
        lambda: [
            sb.AdaBoostMHClassifier(n_estimators=2, sampler=s).fit(X, np.stack((Y, NOISE), 1).astype(int))
            for s in ("bootstrap", 0.5)
        ],
    ),
    "constraints on votes": (
        lambda: sb.WeightBoostClassifier(estimator=Tree(monotonic_cst=[1, 0, 0, 0])).fit(X, Y),
        "use another variant, such as RealBoostClassifier",
        lambda: sb.RealBoostClassifier(estimator=Tree(monotonic_cst=[1, 0, 0, 0])).fit(X, Y),
    ),
    "sparse": (
        lambda: portfolio().fit(csr_array(X), Y),
        r"X\.toarray\(\)",
        lambda: portfolio().fit(csr_array(X).toarray(), Y),
    ),
    "text in an array": (
        lambda: portfolio().fit(TEXT.to_numpy(), Y),
        "Pass a pandas, polars or Arrow table",
        lambda: portfolio().fit(pd.DataFrame({"a": TEXT["a"], "b": TEXT["b"]}), Y),
    ),
    "lazy": (
        lambda: portfolio().fit(pl.from_pandas(TEXT).lazy(), Y),
        r"Pass X\.collect\(\)",
        lambda: portfolio().fit(pl.from_pandas(TEXT).lazy().collect(), Y),
    ),
    "infinity": (
        lambda: portfolio().fit(pd.DataFrame(np.where(X > 2, np.inf, X)), Y),
        "Replace it",
        lambda: portfolio().fit(pd.DataFrame(np.where(X > 2, np.nan, X)), Y),
    ),
    "export of lines": (
        lambda: to_source(
            sb.LogitBoostClassifier(estimator=sb.learners.RuleLearner(), n_estimators=1).fit(X, Y), "sql"
        ),
        ".",
        lambda: to_source(sb.LogitBoostClassifier(estimator="stump", n_estimators=1).fit(X, Y), "sql"),
    ),
    "foreign model file": (
        lambda: dumps(sb.MinimumRiskClassifier(GaussianNB()).fit(X, Y)),
        "Boost a learner|pickle|skops",
        lambda: dumps(sb.MinimumRiskClassifier(BOOSTER).fit(X, Y)),
    ),
    "learner of another kind": (
        lambda: sb.RealBoostClassifier(estimator=Stump).fit(X, Y),
        r"estimator=Stump\(\)",
        lambda: sb.RealBoostClassifier(estimator=Stump()).fit(X, Y),
    ),
    "a line for labels": (
        lambda: sb.AdaBoostClassifier(estimator=Line()).fit(X, Y),
        ".",
        lambda: sb.GentleBoostClassifier(estimator=Line()).fit(X, Y),
    ),
}


@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_works_when_it_is_followed(name):
    provoke, remedy, follow = REMEDIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SkewBoostError) as told:
            provoke()
        assert re.search(remedy, str(told.value).replace("\n", " ")), str(told.value)
        follow()
