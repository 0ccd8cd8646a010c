"""Which variant for which situation: variants on stumps, on trees, calibrated and tuned, and SkewBoostClassifier.

    make choosing                          # the tables of docs/choosing.md; about 40 minutes on one core
    python benchmarks/choosing.py --report # prints the tables of what has been measured

Protocol and tables are those of `quality.py`, which is looked for in ../shared and not shipped: five stratified folds,
average precision, log-loss, and the cost of the decisions on held-out rows, divided by that of the better of "flag all"
and "flag none". f is the cost of a miss in false alarms, R = negatives / positives. A method that is told the cost is
fitted once per cost and judged by its `predict`; the others are fitted once and judged by the threshold 1 / (1 + f) of
their probabilities. Results are kept in a file, a line per table and method, so that an interrupted run goes on where
it stopped. Differences are paired by table; ± is their standard error. Tables that some method has not yet been fitted
to are not reported.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold

import skewboost
from skewboost.learners import Stump, Tree

SHARED = Path(__file__).resolve().parents[2] / "shared"
SLOW = ("sylva",)  # left out
COLUMNS = {"ap": "AP", "logloss": "log-loss", "cost2": "f=2", "cost5": "f=5", "cost10": "f=10", "costR": "f=R"}
FLAGSHIP = "SkewBoostClassifier"
SOUND = ("CSRA", "CGAda", "CSLogitBoost", "AsymmetricAdaBoost", "CSAdaBoost")
PLAIN = ("AdaMEC", "RealBoost", "LogitBoost")  # trained without the cost; AdaMEC is AdaBoost
OTHERS = ("AdaC1", "AdaC2", "AdaCost")  # costs in the exponent, or in every round
TREES = {"learning_rate": 0.1, "early_stopping": True, "n_estimators": 300, "random_state": 0}
ROUNDS = (5, 10, 20, 50, 100)  # of the grid of tuned methods
Method = tuple[Callable[[float], Any], bool]  # makes the estimator, given the cost; whether it is told the cost


class Tuned(ClassifierMixin, BaseEstimator):
    """A booster whose learner, learning rate and number of rounds are chosen by three inner folds.

    The criterion is the expected cost of the decisions or, without a cost, the log-loss.
    """

    def __init__(self, booster: Any, cost: float | None = None) -> None:
        self.booster, self.cost = booster, cost

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Tuned:
        losses: dict[tuple[int, float, int], float] = {}
        learners = (Stump(), Tree())
        for k, rate in ((0, 1.0), (0, 0.1), (1, 0.1)):
            model = clone(self.booster).set_params(estimator=learners[k], learning_rate=rate, n_estimators=max(ROUNDS))
            for inner, outer in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
                fitted = model.fit(X.iloc[inner], y[inner])
                for n, loss in self._losses(fitted, X.iloc[outer], y[outer]):
                    losses[k, rate, n] = losses.get((k, rate, n), 0.0) + loss
        k, rate, n = min(losses, key=lambda setting: (losses[setting], setting[0], setting[2]))
        params = {"estimator": learners[k], "learning_rate": rate, "n_estimators": n}
        self.model_ = clone(self.booster).set_params(**params).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def _losses(self, fitted: Any, X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[int, float]]:
        """Yield the loss on held-out rows after the numbers of rounds of the grid."""
        last = 0.0
        stages = enumerate(fitted.staged_predict_proba(X) if self.cost is None else fitted.staged_predict(X), 1)
        seen = 0
        for seen, says in stages:
            if seen in ROUNDS or seen == fitted.n_estimators_:
                if self.cost is None:
                    last = float(-np.log(np.clip(says[np.arange(len(y)), y], 1e-12, None)).sum())
                else:
                    last = float(self.cost * ((says == 0) & (y == 1)).sum() + ((says == 1) & (y == 0)).sum())
            if seen in ROUNDS:
                yield seen, last
        for n in ROUNDS:  # training that ended earlier
            if n > seen:
                yield n, last

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict(X)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return self.model_.predict_proba(X)


def make(name: str, **params: Any) -> Method:
    """A variant of the catalogue, told the cost if it can be and its training depends on it."""
    entry = next(e for e in skewboost.catalogue() if e.name == name)
    told = entry.cost_sensitive and name != "AdaMEC"  # whose training ignores the cost
    rounds = params.pop("n_estimators", 100)

    def made(cost: float) -> Any:
        costs = {"cost": cost} if told else {}
        return entry.make(rounds, pos_label=1, **costs, **params)

    return made, told


def methods() -> dict[str, Method]:
    """All methods, by name."""
    light = {"n_jobs": 1, "verbose": -1}
    found: dict[str, Method] = {
        FLAGSHIP: (lambda cost: skewboost.SkewBoostClassifier(random_state=0), False),
        f'{FLAGSHIP}, effort="quick"': (
            lambda cost: skewboost.SkewBoostClassifier(effort="quick", random_state=0), False,
        ),
        "LightGBM": (lambda cost: lightgbm.LGBMClassifier(**light), False),
        "LightGBM, scale_pos_weight": (lambda cost: lightgbm.LGBMClassifier(scale_pos_weight=cost, **light), True),
    }  # fmt: skip
    for name in (*PLAIN, *SOUND, *OTHERS):
        found[f"{name}, stumps"] = make(name)
    for name in (*PLAIN, *SOUND[:3]):
        found[f"{name}, trees, early stopping"] = make(name, estimator=Tree(), **TREES)
    found["CSRA, stumps, early stopping"] = make("CSRA", **TREES)
    for name in ("AdaMEC", "CGAda"):
        found[f"{name}, stumps, calibrated"] = make(name, calibrate="sigmoid", random_state=0)
        calibrated = {"calibrate": "sigmoid", "random_state": 0, "learning_rate": 0.1}
        found[f"{name}, trees, calibrated"] = make(name, estimator=Tree(), **calibrated)
    logit = skewboost.LogitBoostClassifier(estimator=Tree(), learning_rate=0.1, n_estimators=200)
    found["MinimumRisk(LogitBoost, trees), calibrated"] = (
        lambda cost: skewboost.MinimumRiskClassifier(logit, calibrate="sigmoid"), False,
    )  # fmt: skip
    found["LogitBoost, tuned"] = (lambda cost: Tuned(skewboost.LogitBoostClassifier()), False)
    found["CSRA, tuned"] = (lambda cost: Tuned(skewboost.CSRAClassifier(cost=cost, pos_label=1), cost), True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", action="store_true", help="only print the tables of what has been measured")
    parser.add_argument("--methods", default=None, help="the beginnings of names, separated by semicolons")
    parser.add_argument("--sets", default=None, help="names separated by commas")
    parser.add_argument("--results", default="choosing.jsonl")
    arguments = parser.parse_args()
    path = Path(arguments.results)
    if not arguments.report:
        if not (SHARED / "quality.py").exists():
            sys.exit("The tables of this benchmark are not shipped: ../shared/quality.py is not there.")
        sys.path[:0] = [str(SHARED), str(SHARED / "data")]
        from load import load
        from quality import DEV, measure

        warnings.filterwarnings("ignore")
        sets = arguments.sets.split(",") if arguments.sets else [s for s in DEV if s not in SLOW]
        chosen = methods()
        if arguments.methods:
            starts = tuple(arguments.methods.split(";"))
            chosen = {name: method for name, method in chosen.items() if name.startswith(starts)}
        lines = path.read_text().splitlines() if path.exists() else []
        done = {(row["data"], row["method"]) for row in map(json.loads, lines)}
        with path.open("a") as out:
            for s in sets:  # a table at a time, so that what is reported early is complete
                X, y = load(s)
                for name, (maker, told) in chosen.items():
                    if (s, name) not in done:
                        row = {"data": s, "method": name, **measure(X, y, maker, told, "frame")}
                        print(json.dumps(row), file=out, flush=True)
                print(f"{s}: done", file=sys.stderr, flush=True)
    print("no report yet")


if __name__ == "__main__":
    main()
