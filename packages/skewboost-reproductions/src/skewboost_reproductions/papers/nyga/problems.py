"""What the experiments of Nyga's thesis share: data sets, learners, algorithms, and precision, recall and F1.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), chapter 3 and appendix B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from skewboost import (
    AdaBoostClassifier,
    AdaBoostRegClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    CSGAClassifier,
    CSLBClassifier,
    CSRAClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    WeightBoostClassifier,
)
from skewboost.errors import InputError
from skewboost.learners import Stump, Tree
from skewboost.toolbox import CART_LEAVES
from skewboost_reproductions.datasets import fetch_ida, fetch_uci, make_industrial

LEAVES = CART_LEAVES  # of a tree
TREE_SIZE = """\
the thesis says that CART "can build a decision tree down to each single training pattern", but on such trees \
AdaBoost ends after one round, and its figures show 200; in figure 3.3 the training error of RealBoost is zero after \
100 rounds, here with 3 leaves after 64 to 88, and with 4 after 35 to 51"""
FOLDS = 5
MEASURES = ("P+", "R+", "F+", "P-", "R-", "F-", "error")


@dataclass(frozen=True)
class Problem:
    """A data set of table 3.1.

    Attributes
    ----------
    label : str
        Its name in tables.
    trees : bool
        Whether it is boosted with trees; else with stumps.
    rounds : int
        The number of rounds (appendix B).
    runs : int
        How many times it is trained on: pairs of training and test rows, or repetitions of cross-validation.
    public : bool
        Whether the rows are those of the thesis. The others are generated.
    test_to_train : float, default=0
        The number of test rows per training row if training rows of different runs overlap, as in cross-validation.
    """

    label: str
    trees: bool
    rounds: int
    runs: int
    public: bool
    test_to_train: float = 0.0


PROBLEMS = {
    "banana": Problem("Banana", True, 200, 10, True),
    "intrusion": Problem("IDS (stand-in)", False, 500, 20, False),
    "cancer": Problem("Cancer", False, 500, 10, True, 0.25),
    "fire": Problem("Fire (stand-in)", False, 500, 10, False, 0.25),
    "airbag": Problem("Airbag (stand-in)", True, 200, 10, False, 0.25),
}
DATA_IN_WORDS = """\
- *Banana*: ten of the training and test sets of the IDA benchmark, as in the thesis (which ten is not printed; here the
  first). *Wisconsin cancer*: 683 rows without missing values; five stratified folds, ten times.
- *IDS*, *fire*, *airbag*: the data of the thesis are private. **Stand-ins are generated** with the stated numbers of
  rows and columns and the stated imbalance: 20 pairs of training and test sets for intrusion, five folds ten times for
  fire, and the same on each of two sets for airbag. They can show whether a claim holds on data of that kind. Numbers
  are not compared with the printed ones.
- *Contradictions of the thesis*: the share of positives of banana is 42.6 % in table 3.1, and 44.8 % in the benchmark
  and by the precision and recall of table 3.2. Fire has three columns in the text and two in table 3.1 (here three).
  Airbag is evaluated by cross-validation in §3.1, and on ten test sets in appendix B (here as in §3.1). In tables 3.2
  and 3.3 "y = +1" of fire is the class of 87.5 %, by its precision and recall; here it is the rare one."""
PUBLIC = tuple(name for name, problem in PROBLEMS.items() if problem.public)


@dataclass(frozen=True)
class Split:
    """Training and test rows; labels are 1 and 0."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def splits(data: str, run: int) -> list[Split]:
    """Return the training and test rows of a run: one pair, or the folds of a stratified cross-validation.

    Parameters
    ----------
    data : str
        A name of `PROBLEMS`.
    run : int
        The number of the run, from 0.

    Returns
    -------
    list of Split
        Banana: the pair of this number. Intrusion: a generated training and a generated test set. Cancer and fire:
        five folds. Airbag: five folds of each of two data sets.
    """
    if data == "banana":
        X, y, pairs = _banana()
        train, test = pairs[run]
        return [Split(X[train], y[train], X[test], y[test])]
    if data == "intrusion":
        return [Split(*_stand_in(data, 2 * run), *_stand_in(data, 2 * run + 1))]
    tables = [_cancer()] if data == "cancer" else [_stand_in(data, seed) for seed in range(1 + (data == "airbag"))]
    return [split for X, y in tables for split in folds(X, y, run)]


def folds(X: Any, y: Any, seed: int) -> Iterator[Split]:
    """Yield the five folds of a stratified cross-validation."""
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        yield Split(X[train], y[train], X[test], y[test])


@lru_cache
def _banana() -> tuple[Any, Any, list[Any]]:
    X, y, pairs = fetch_ida("banana")
    return X.to_numpy(), y.to_numpy(), pairs


@lru_cache
def _cancer() -> tuple[Any, Any]:
    """Return the rows without missing values: 239 of 683 are malignant."""
    X, y = fetch_uci("wisconsin_original")
    complete = X.notna().all(axis=1)
    return X[complete].to_numpy(), y[complete].to_numpy()


@lru_cache
def _stand_in(kind: str, seed: int) -> tuple[Any, Any]:
    X, y = make_industrial(kind, random_state=seed)
    return X.to_numpy(np.float64), y.to_numpy()


PLAIN = ("AdaBoost", "RealBoost", "GentleBoost", "LogitBoost")
REGULARISED = ("AdaBoost-Reg", "WeightBoost")
COST_SENSITIVE = ("AdaC2", "AdaC3", "CSRA", "CSGA", "CSLB", "AdaCost")
ANALOGUES = {
    "AdaC2": "AdaBoost", "AdaC3": "AdaBoost", "CSRA": "RealBoost", "CSGA": "GentleBoost", "CSLB": "LogitBoost",
    "AdaCost": "AdaBoost",
}  # fmt: skip
_PLAIN: dict[str, Callable[..., Any]] = {
    "AdaBoost": AdaBoostClassifier,
    "RealBoost": RealBoostClassifier,
    "GentleBoost": GentleBoostClassifier,
    "LogitBoost": LogitBoostClassifier,
}
_DRIVEN: dict[str, Callable[[float], Any]] = {
    "AdaBoost-Reg": lambda C: AdaBoostRegClassifier(C=C, p=1.0),
    "AdaBoost-Reg, p = 2": lambda C: AdaBoostRegClassifier(C=C, p=2.0),
    "WeightBoost": lambda beta: WeightBoostClassifier(beta=beta),
    "AdaCost": lambda c: AdaCostClassifier(cost={1: c, 0: 0.0}, initial="equal"),
}
_COSTLY: dict[str, Callable[[dict[int, float]], Any]] = {
    "AdaC1": lambda cost: AdaC1Classifier(cost=cost, alpha="nyga"),
    "AdaC2": lambda cost: AdaC2Classifier(cost=cost),
    "AdaC3": lambda cost: AdaC3Classifier(cost=cost, as_printed=True),
    "CSRA": lambda cost: CSRAClassifier(cost=cost, as_printed=True),
    "CSGA": lambda cost: CSGAClassifier(cost=cost, as_printed=True),
    "CSLB": lambda cost: CSLBClassifier(cost=cost, as_printed=True),
}


def learner(data: str, algorithm: str, leaves: int = LEAVES) -> Any:
    """Return the weak learner: a stump of least weighted error, or a tree grown by the Gini impurity.

    LogitBoost and CSLB fit responses by least squares.
    """
    fits_responses = algorithm in ("LogitBoost", "CSLB")
    if PROBLEMS[data].trees:
        return Tree(criterion=None if fits_responses else "gini", max_leaf_nodes=leaves, max_bins=None)
    return Stump(criterion=None if fits_responses else "error", max_bins=None)


def classifier(
    data: str,
    algorithm: str,
    parameter: float | None = None,
    *,
    other_cost: float = 1.0,
    leaves: int = LEAVES,
    rounds: int | None = None,
) -> Any:
    """Return an algorithm as the thesis prints it, for a data set.

    Parameters
    ----------
    data : str
        A name of `PROBLEMS`, which determines the weak learner and the number of rounds.
    algorithm : str
        A name of `PLAIN`, `REGULARISED` or `COST_SENSITIVE`, "AdaC1", or "AdaBoost-Reg, p = 2".
    parameter : float, optional
        C of AdaBoost-Reg, β of WeightBoost, or the cost of misclassifying a positive; not for plain algorithms.
    other_cost : float, default=1
        The cost of misclassifying a negative. AdaCost has 0.
    leaves : int, default=`LEAVES`
        The size of trees.
    rounds : int, optional
        Another number of rounds than that of appendix B.

    Returns
    -------
    classifier
        Not fitted. Class 1 is the positive one.
    """
    if algorithm in _PLAIN:
        made = _PLAIN[algorithm]()
    elif parameter is None:
        raise InputError(f"parameter of {algorithm} is missing.")
    elif algorithm in _DRIVEN:
        made = _DRIVEN[algorithm](parameter)
    else:
        made = _COSTLY[algorithm]({1: parameter, 0: other_cost})
    n_estimators = PROBLEMS[data].rounds if rounds is None else rounds
    return made.set_params(estimator=learner(data, algorithm, leaves), n_estimators=n_estimators, pos_label=1)


def scores(y: Any, predicted: Any) -> list[float]:
    """Return the `MEASURES`. Precision is NaN if nothing is predicted to be of the class; recall and F1 are 0 then."""
    y, predicted = np.asarray(y) == 1, np.asarray(predicted) == 1
    both, flagged, positive = int((y & predicted).sum()), int(predicted.sum()), int(y.sum())
    neither, n = int((~y & ~predicted).sum()), len(y)
    return [
        *_precision_recall_f1(both, flagged, positive),
        *_precision_recall_f1(neither, n - flagged, n - positive),
        (n - both - neither) / n,
    ]


def _precision_recall_f1(right: int, predicted: int, real: int) -> tuple[float, float, float]:
    return (right / predicted if predicted else float("nan")), right / real, 2.0 * right / (predicted + real)


def trained_scores(model: Any, split: Split) -> list[float]:
    """Train a classifier, and return its `MEASURES` on the test rows."""
    return scores(split.y_test, model.fit(split.X, split.y).predict(split.X_test))


def staged_scores(model: Any, split: Split, *, on_train: bool = False) -> list[list[float]]:
    """Return the `MEASURES` of a trained classifier after every round; if it stopped early, the last ones are repeated.

    They are those on the test rows, or with `on_train` on the training rows.
    """
    X, y = (split.X, split.y) if on_train else (split.X_test, split.y_test)
    path = [scores(y, labels) for labels in model.staged_predict(X)]
    return path + path[-1:] * (int(model.n_estimators) - len(path))


def column(values: Any, measure: str) -> Any:
    """Return a measure of an array of scores, whose last axis has the `MEASURES`."""
    return np.asarray(values, dtype=np.float64)[..., MEASURES.index(measure)]


def spaced(low: float, high: float, n: int = 10) -> tuple[float, ...]:
    """Return numbers from `low` to `high`, each the same multiple of the one before it, with four digits."""
    return tuple(float(f"{value:.4g}") for value in np.geomspace(low, high, n))
