"""The data sets, boosters and trials of Cuendet and Labbi (2002)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from skewboost import (
    AlternatingTreeClassifier,
    ConsistentBoostClassifier,
    FavoredBoostClassifier,
    RealBoostClassifier,
)
from skewboost.datasets import make_skewed
from skewboost.evaluate import staged_curve
from skewboost.learners import Stump
from skewboost_reproductions.datasets import fetch_uci, make_eight_gaussians
from skewboost_reproductions.experiment import Task

TRIALS, ROUNDS, TREE_ROUNDS = 20, 200, 50
PLAIN, NEW_Z, CONSISTENT, TREE = "plain stumps", "new Z", "consistent stumps", "alternating tree"
BALANCED, FAVOURED, ZEROS = "alternating tree from 0", "favoured stumps", "new Z, zeros"
CHESS, HEART, THYROID, STAND_IN = "kr-vs-kp", "cleve", "hypothyroid", "stand-in"
CODES = ("sex", "cp", "fbs", "restecg", "exang", "slope", "thal")  # of cleve: categories that are stored as numbers
K, EVERY, UNIFORM = "10 tests", "every cut", "10 tests at equal distances"
CUTS: dict[str, dict[str, Any]] = {
    "5 tests": {"max_bins": 6},
    K: {"max_bins": 11},
    "20 tests": {"max_bins": 21},
    "50 tests": {"max_bins": 51},
    UNIFORM: {"max_bins": 11, "binning": "uniform"},
    "50 tests at equal distances": {"max_bins": 51, "binning": "uniform"},
    EVERY: {"max_bins": None},
}
FOLDS, THIRDS = "20 folds", "a third held out, 20 times"
TEST_TO_TRAIN = {FOLDS: 1.0 / (TRIALS - 1), THIRDS: 0.5}
SIZE, SIZES, DRAWS = 1000, (200, 500, 1000, 2000), 10


def gaussians(n_rows: int, draw: int) -> str:
    """Return the name of a sample of the eight normal distributions."""
    return f"8 Gaussians {n_rows} {draw}"


@lru_cache(maxsize=2)
def rows_of(data: str) -> tuple[Any, Any]:
    """Return a data set."""
    if data.startswith("8 Gaussians"):
        n_rows, draw = map(int, data.split()[2:])
        return make_eight_gaussians(n_rows, random_state=draw)
    if data == STAND_IN:
        return make_skewed(
            800, positive_share=0.4, n_informative=8, n_noise=12, n_categories=4, overlap=0.3, label_noise=0.1,
            missing=0.05, random_state=0,
        )  # fmt: skip
    names = {CHESS: "kr_vs_kp", HEART: "cleveland_heart", THYROID: "hypothyroid"}
    X, y = fetch_uci(names[data])
    if data == HEART:
        X = X.assign(**{c: X[c].map("{:g}".format, na_action="ignore").astype("category") for c in CODES})
    return X, y


def booster(method: str, cuts: str) -> Any:
    """Return a booster of the report."""
    given = CUTS[cuts]
    if method == CONSISTENT and cuts == EVERY:
        given = {"max_bins": 255}  # it keeps a table of the bins of a column
    stump = Stump(missing="abstain", **given)
    makers: dict[str, Callable[[], Any]] = {
        PLAIN: lambda: RealBoostClassifier(estimator=stump, n_estimators=ROUNDS),
        NEW_Z: lambda: RealBoostClassifier(estimator=stump.set_params(criterion="zbar_printed"), n_estimators=ROUNDS),
        ZEROS: lambda: RealBoostClassifier(estimator=stump.set_params(criterion="zbar"), n_estimators=ROUNDS),
        CONSISTENT: lambda: ConsistentBoostClassifier(estimator=stump, n_estimators=ROUNDS),
        FAVOURED: lambda: FavoredBoostClassifier(estimator=stump, n_estimators=ROUNDS),
        TREE: lambda: AlternatingTreeClassifier(max_rounds=TREE_ROUNDS, **given),
        BALANCED: lambda: AlternatingTreeClassifier(max_rounds=TREE_ROUNDS, init="balanced", **given),
    }
    return makers[method]()


def curve_of(data: str, method: str, cuts: str, split: str) -> Any:
    """Return the staged curve of all trials."""
    X, y = rows_of(data)
    if split == FOLDS:
        cv: Any = StratifiedKFold(TRIALS, shuffle=True, random_state=0)
    else:
        cv = StratifiedShuffleSplit(TRIALS, test_size=1 / 3, random_state=0)
    return staged_curve(booster(method, cuts), X, y, cv=cv, random_state=0)


def errors(data: str, method: str, cuts: str, split: str) -> dict[str, Any]:
    """Return errors in percent, ``[trial, round]``, on training and test rows."""
    curve = curve_of(data, method, cuts, split)
    return {part: np.round(100.0 * curve.values("error", part), 4).tolist() for part in ("train", "test")}


def weights(data: str, cuts: str) -> dict[str, Any]:
    """Return quantiles of the weights of plain stumps: the means by round, and the last round of each trial."""
    quantiles = curve_of(data, PLAIN, cuts, FOLDS).weight_quantiles
    return {"mean": quantiles.mean(axis=0).tolist(), "last": quantiles[:, -1].tolist()}


METHODS = {  # of each data set; the first ones are those of its figure
    CHESS: (PLAIN, TREE, NEW_Z, CONSISTENT, FAVOURED),
    HEART: (PLAIN, CONSISTENT, TREE, NEW_Z, FAVOURED),
    THYROID: (PLAIN, NEW_Z, CONSISTENT, BALANCED, TREE, FAVOURED),
    STAND_IN: (PLAIN, NEW_Z, CONSISTENT, TREE, FAVOURED),
}


PUBLIC = (CHESS, HEART, THYROID)


def settings(quick: bool) -> list[tuple[str, str, str, str]]:
    """Return data set, method, cuts and kind of trials of all curves."""
    splits = (FOLDS,) if quick else (FOLDS, THIRDS)
    found = [(data, method, K, split) for split in splits for data in METHODS for method in METHODS[data]]
    found += [(data, PLAIN, cuts, split) for split in splits for data in (HEART, THYROID) for cuts in (EVERY, UNIFORM)]
    found += [(gaussians(SIZE, draw), PLAIN, K, FOLDS) for draw in draws(quick)]
    if not quick:
        found += [
            (data, m, cuts, FOLDS) for data in (HEART, THYROID) for m in (CONSISTENT, TREE, PLAIN) for cuts in CUTS
        ]
        found += [(data, ZEROS, K, split) for split in splits for data in METHODS]
        found += [
            (gaussians(n, draw), PLAIN, cuts, FOLDS) for n in SIZES for draw in draws(quick) for cuts in (K, EVERY)
        ]
    return list(dict.fromkeys(found))


def draws(quick: bool) -> range:
    """Return the samples of the synthetic data."""
    return range(3 if quick else DRAWS)


def tasks(quick: bool) -> list[Task]:
    """Return the tasks: a data set and a booster each, with all trials."""
    return [*(Task(errors, *setting) for setting in settings(quick)), Task(weights, gaussians(SIZE, 0), K)]
