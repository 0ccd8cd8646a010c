"""The engine against LightGBM and XGBoost, at every size: 100 rounds on two threads, in a new process each.

Imports are not counted; whatever a first call costs is. Each time is the best of three processes, which take turns with
those of the peer. A ratio above 1 says that skewboost is faster.

Run with: make benchmark-engine
Some of it: python benchmarks/engine.py [stumps] [trees] [logitboost] [cliffs] [prediction] [start]
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from data import imbalanced, row

THREADS = 2
ROUNDS = 100
REPEATS = 3
SIZES = ((500, 10), (2000, 30), (10_000, 30), (50_000, 30), (200_000, 30), (1_000_000, 30))
LARGE = (200_000, 30)
PREDICTED = 1_000_000
SINGLE = 200  # rows that are predicted one at a time


# ------------------------------------------------------------------------------- estimators and tables


def boost(booster: str = "RealBoost", leaves: int = 2, rounds: int = ROUNDS) -> Any:
    import skewboost
    from skewboost.learners import Tree

    learner = {} if leaves == 2 else {"estimator": Tree(max_leaf_nodes=leaves)}
    return getattr(skewboost, f"{booster}Classifier")(n_estimators=rounds, n_jobs=THREADS, **learner)


def lgb(leaves: int = 2, rounds: int = ROUNDS) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=rounds, num_leaves=leaves, n_jobs=THREADS, verbose=-1)


def xgb() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=ROUNDS, max_depth=1, tree_method="hist", n_jobs=THREADS)


def categories(n_rows: int, n_features: int) -> tuple[Any, np.ndarray]:
    """Of 200 levels each; five features matter."""
    import pandas

    rng = np.random.default_rng(0)
    codes = rng.integers(200, size=(n_rows, n_features))
    effects = rng.normal(size=(5, 200))
    score = sum(effects[k, codes[:, k]] for k in range(5)) + rng.normal(size=n_rows)
    columns = {f"c{k}": pandas.Categorical(codes[:, k]) for k in range(n_features)}
    return pandas.DataFrame(columns), (score > np.quantile(score, 0.9)).astype(int)


def hundred_classes(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    X, _ = imbalanced(n_rows, n_features)
    score = X[:, 0] + 0.5 * X[:, 1]
    return X, np.searchsorted(np.quantile(score, np.arange(1, 100) / 100), score)


# ------------------------------------------------------------------------------- what is measured


class Case(NamedTuple):
    """One line of the table."""

    name: str
    size: tuple[int, int]
    bar: float
    estimators: tuple[Callable[[], Any], Callable[[], Any]]  # ours, and the peer's
    table: Callable[..., tuple[Any, np.ndarray]] = imbalanced
    task: str = "fit"


def against_lgb(leaves: int = 2, rounds: int = ROUNDS, booster: str = "RealBoost") -> tuple[Callable[[], Any], ...]:
    return partial(boost, booster, leaves, rounds), partial(lgb, leaves, rounds)


GROUPS = {
    "stumps": [
        *(Case("stumps", size, bar, against_lgb()) for size, bar in zip(SIZES, (0.5, 1, 3, 5, 6, 6))),
        Case("stumps against XGBoost", LARGE, 5, (boost, xgb)),
    ],
    "trees": [
        Case(f"trees of {leaves} leaves", size, bar, against_lgb(leaves))
        for leaves in (8, 31)
        for size, bar in zip(SIZES, (0.8, 1, 1, 1.5, 1.5, 1.5))
    ],
    "logitboost": [
        Case(f"LogitBoost, {leaves} leaves", LARGE, 2, against_lgb(leaves, booster="LogitBoost")) for leaves in (2, 8)
    ],
    "cliffs": [
        Case("categories of 200 levels, stumps", (20_000, 100), 1, against_lgb(), categories),
        Case("categories of 200 levels, trees of 8 leaves", (20_000, 100), 1, against_lgb(8), categories),
        Case("trees of 1000 leaves", (50_000, 30), 1, against_lgb(1000)),
        Case("AdaBoost.MH, 100 classes", (10_000, 30), 1, against_lgb(booster="AdaBoostMH"), hundred_classes),
        Case("1000 stumps", (500, 10), 1, against_lgb(rounds=1000)),
        Case("trees of 31 leaves", (1000, 5000), 1, against_lgb(31)),
    ],
    "prediction": [
        Case("1 000 000 rows with 1000 stumps, trained on", LARGE, 40, against_lgb(2, 1000), task="many"),
        Case("one row with 1000 stumps, trained on", LARGE, 1, against_lgb(2, 1000), task="one"),
        Case("1 000 000 rows with 200 trees of 31 leaves, trained on", LARGE, 2, against_lgb(31, 200), task="many"),
        Case("one row with 200 trees of 31 leaves, trained on", LARGE, 1, against_lgb(31, 200), task="one"),
    ],
}


def alone(group: str, number: str, side: str) -> None:
    """Print the seconds that a task takes, in this process, which does nothing else."""
    warnings.filterwarnings("ignore")
    case = GROUPS[group][int(number)]
    X, y = case.table(*case.size)
    model = case.estimators[int(side)]()
    if case.task == "fit":
        print(taken(lambda: model.fit(X, y)))
        return
    model.fit(X, y)
    score = getattr(model, "decision_function", None) or partial(model.predict, raw_score=True)
    if case.task == "many":
        rows, _ = imbalanced(PREDICTED, X.shape[1], seed=1)
        print(taken(lambda: score(rows)))
    else:
        score(X[:1])
        print(taken(lambda: [score(X[i : i + 1]) for i in range(SINGLE)]) / SINGLE)


def taken(task: Callable[[], object]) -> float:
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def printed(*arguments: str) -> float:
    """The number that a new process of Python prints."""
    return float(subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.PIPE).stdout)


def start() -> None:
    """What a new process waits for before its first answer, and what a first fit costs beyond the second."""
    small = "import numpy as np; X = np.random.default_rng(0).normal(size=(1000, 10)); y = X[:, 0] > 1; "
    ours = small + "from skewboost import RealBoostClassifier as C; C().fit(X, y); print(0)"
    peer = small + "from sklearn.ensemble import HistGradientBoostingClassifier as C; C().fit(X, y); print(0)"
    times = [[taken(lambda c=code: printed("-c", c)) for code in (ours, peer)] for _ in range(REPEATS + 1)]
    row("import and first fit, 1000 x 10 / HistGradientBoosting", *np.min(times, axis=0), "1x")
    beyond = min(printed(__file__, "--twice") for _ in range(REPEATS))
    print(f"{'first fit minus the second, 200 000 x 30':<62} {beyond:8.3f} s {'':21}   below 0.1 s", flush=True)


def twice() -> None:
    """Print what the first fit of this process takes longer than later ones."""
    X, y = imbalanced(*LARGE)
    first, *later = (taken(lambda: boost().fit(X, y)) for _ in range(4))
    print(first - min(later))


def main(groups: list[str]) -> None:
    unknown = set(groups) - {*GROUPS, "start"}
    if unknown:
        raise SystemExit(f"There is no {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}, start.")
    print(f"{'':<62} {'skewboost':>10} {'peer':>11} {'ratio':>9}   bar")
    for group in [name for name in GROUPS if name in groups or not groups]:
        for number, case in enumerate(GROUPS[group]):
            asked = [(__file__, "--alone", group, str(number), side) for side in "01"]
            times = [[printed(*arguments) for arguments in asked] for _ in range(REPEATS)]
            row(f"{case.name}, {case.size[0]} x {case.size[1]}", *np.min(times, axis=0), f"{case.bar:g}x")
    if "start" in groups or not groups:
        start()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        alone(*sys.argv[2:])
    elif sys.argv[1:] == ["--twice"]:
        twice()
    else:
        main(sys.argv[1:])
