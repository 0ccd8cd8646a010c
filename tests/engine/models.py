"""Models of tables so large that rows are cut into slices and shared among threads, and every bit of them.

Run as a program it prints a line for each: ``models.py`` of the tables, ``models.py large`` of the large ones.
"""

from __future__ import annotations

import hashlib
import sys
from functools import partial

import numpy as np
import pandas as pd

from skewboost import (
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    AlternatingTreeClassifier,
    CSAdaBoostClassifier,
    GentleBoostClassifier,
    GoalSearchCV,
    LogitBoostClassifier,
    RealBoostClassifier,
    SkewBoostClassifier,
)
from skewboost.io import dumps
from skewboost.learners import Histogram, Tree

TREE = Tree(max_leaf_nodes=12)


def long_table(n_rows):
    """Five columns: a word per row, rows in slices of at least 32 768."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
    return X, score


def wide_table(n_rows, n_columns):
    """Missing cells and a few columns of categories; more than 64 columns are searched by several threads."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] + X[:, 17] * X[:, 39] + rng.normal(size=len(X))
    X[rng.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(n_columns)])
    for name, n_values in (("x3", 4), ("x20", 30), ("x39", 9)):
        codes = pd.qcut(frame[name], n_values, labels=False)
        frame[name] = codes.map(lambda k: None if np.isnan(k) else f"v{int(k):02}").astype(object)
    return frame, score


def two(score):
    return score > 2


def four(score):
    return np.digitize(score, [-1, 1, 2])


MODELS = {
    "stumps": (RealBoostClassifier(n_estimators=15), two),
    "trees": (RealBoostClassifier(n_estimators=5, estimator=TREE), two),
    "tables": (GentleBoostClassifier(n_estimators=5, estimator=Histogram(max_bins=40)), two),
    "costs": (CSAdaBoostClassifier(n_estimators=5, cost={0: 1.0, 1: 7.0}), two),
    "stumps of responses": (LogitBoostClassifier(n_estimators=5), two),
    "trees of responses": (LogitBoostClassifier(n_estimators=3, estimator=TREE), two),
    "many classes": (AdaC2M1Classifier(n_estimators=3, estimator=TREE), four),
    "labels": (AdaBoostMHClassifier(n_estimators=4), four),
    "trees of labels": (AdaBoostMHClassifier(n_estimators=2, estimator=TREE), four),
    "alternating": (AlternatingTreeClassifier(max_rounds=4), two),
}
QUICK = {"effort": "quick", "random_state": 0}
GOAL = {"confidence": None, "random_state": 0}
PORTFOLIOS = {
    "portfolio": (SkewBoostClassifier(**QUICK, cost=7), two),
    "portfolio of four classes": (SkewBoostClassifier(**QUICK), four),
    "portfolio that refers": (SkewBoostClassifier(**QUICK, cost=5, reject_cost=0.3), two),
    "portfolio under constraints": (
        SkewBoostClassifier(**QUICK, monotonic_cst={"x0": 1}, interaction_cst="no_interactions"),
        two,
    ),
    "portfolio with a goal": (SkewBoostClassifier(**QUICK, goal="recall >= 50%"), two),
    "goal of a portfolio": (GoalSearchCV(SkewBoostClassifier(**QUICK, cost=1), "recall >= 50%", cv=2, **GOAL), two),
}
TABLES = {"long": partial(long_table, 70_000), "wide": partial(wide_table, 9000, 72)}
LARGE = {"long": partial(long_table, 150_000), "wide": partial(wide_table, 40_000, 40)}
OF_PORTFOLIOS = {"few rows": partial(wide_table, 240, 40), "more rows": partial(wide_table, 2500, 72)}


def answers(model, X):
    """What a portfolio, or a search around one, says of rows, and why of some of them."""
    explained = getattr(model, "estimator_", model)
    return model.predict_proba(X), model.decision_function(X), explained.contributions(X[:40])


def digest(name, table, n_jobs):
    """A number that tells everything about a model: its splits, values and sums, and the scores of all rows."""
    X, score = table
    prototype, labels_of = (MODELS | PORTFOLIOS)[name]
    model = type(prototype)(**{**prototype.get_params(deep=False), "n_jobs": n_jobs}).fit(X, labels_of(score))
    told = hashlib.sha256()
    if name in PORTFOLIOS:
        for answer in answers(model, X):
            told.update(np.ascontiguousarray(answer).tobytes())
        told.update(dumps(model.set_params(n_jobs=None)).encode())
        return told.hexdigest()
    for r in model._model.rounds:
        for split in r.term.partition.splits:
            told.update(repr((split.feature, split.threshold, split.polarity, split.value, split.before)).encode())
            told.update(split.child.tobytes())
        told.update(np.ascontiguousarray(r.term.values).tobytes())
        told.update(repr((r.record, r.importances)).encode())
    told.update(np.ascontiguousarray(model.decision_function(X)).tobytes())
    return told.hexdigest()


if __name__ == "__main__":
    tables = {name: make() for name, make in (LARGE if "large" in sys.argv else TABLES).items()}
    of_portfolios = {name: make() for name, make in OF_PORTFOLIOS.items()}
    for models, own in ((MODELS, tables), (PORTFOLIOS, of_portfolios)):
        for name in models:
            for size, table in own.items():
                sys.stdout.write(f"{size} {name}: {digest(name, table, 2)}\n")
