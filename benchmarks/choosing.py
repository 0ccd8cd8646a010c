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
from collections.abc import Callable
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
SOUND = ("CSRA", "CGAda", "AsymmetricAdaBoost", "CSAdaBoost")  # CSLogitBoost is LogitBoost with a threshold
PLAIN = ("AdaMEC", "RealBoost", "LogitBoost")  # trained without the cost; AdaMEC is AdaBoost
OTHERS = ("AdaC1", "AdaC2", "AdaCost")  # costs in the exponent, or in every round
TREES = {"learning_rate": 0.1, "early_stopping": True, "n_estimators": 300, "random_state": 0}
ROUNDS = (10, 30, 100)  # of the grid of tuned methods
Method = tuple[Callable[[float], Any], bool]  # makes the estimator, given the cost; whether it is told the cost


class Tuned(ClassifierMixin, BaseEstimator):
    """A booster whose learner and number of rounds, at a learning rate of 0.1, are chosen by two inner folds.

    The criterion is the expected cost of the decisions or, without a cost, the log-loss.
    """

    def __init__(self, booster: Any, cost: float | None = None) -> None:
        self.booster, self.cost = booster, cost

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Tuned:
        """Choose the setting, and fit it to all rows."""
        losses = {(k, n): 0.0 for k in (0, 1) for n in ROUNDS}
        learners = (Stump(), Tree())
        common = {"learning_rate": 0.1, "n_estimators": max(ROUNDS)}
        for k, learner in enumerate(learners):
            for inner, outer in StratifiedKFold(2, shuffle=True, random_state=1).split(X, y):
                model = clone(self.booster).set_params(estimator=learner, **common).fit(X.iloc[inner], y[inner])
                for n in ROUNDS:
                    losses[k, n] += self._loss(model.truncated(n), X.iloc[outer], y[outer])
        k, n = min(losses, key=lambda setting: (losses[setting], setting))
        self.model_ = clone(self.booster).set_params(estimator=learners[k], learning_rate=0.1, n_estimators=n)
        self.classes_ = self.model_.fit(X, y).classes_
        return self

    def _loss(self, model: Any, X: pd.DataFrame, y: np.ndarray) -> float:
        if self.cost is None:
            return float(-np.log(np.clip(model.predict_proba(X)[np.arange(len(y)), y], 1e-12, None)).sum())
        says = model.predict(X)
        return float(self.cost * ((says == 0) & (y == 1)).sum() + ((says == 1) & (y == 0)).sum())

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Predict by the chosen setting."""
        return self.model_.predict(X)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Probabilities of the chosen setting."""
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
    for name in (*PLAIN, *SOUND[:2]):
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


PAIRS = (  # the same booster, told the cost in training and only when it decides
    ("CGAda, stumps", "AdaMEC, stumps"),
    ("CSRA, stumps", "RealBoost, stumps"),
    ("CGAda, trees, early stopping", "AdaMEC, trees, early stopping"),
    ("CSRA, trees, early stopping", "RealBoost, trees, early stopping"),
    ("CGAda, stumps, calibrated", "AdaMEC, stumps, calibrated"),
    ("CGAda, trees, calibrated", "AdaMEC, trees, calibrated"),
    ("LightGBM, scale_pos_weight", "LightGBM"),
)


def difference(one: pd.Series, other: pd.Series) -> str:
    """The mean difference over tables, and its standard error."""
    off = one - other
    return f"{off.mean():+.3f} ± {off.std() / np.sqrt(len(off)):.3f}"


def report(path: Path) -> None:
    """Print the tables of the page."""
    rows = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
    rows = rows[rows.method.isin(methods())]
    tables = sorted(set.intersection(*(set(part.data) for _, part in rows.groupby("method"))))
    rows = rows[rows.data.isin(tables)].set_index(["method", "data"]).sort_index()
    means = rows[list(COLUMNS)].groupby("method").mean().sort_values("costR")
    print(f"{len(tables)} tables: {', '.join(tables)}\n")
    print(f"| | {' | '.join(COLUMNS.values())} | f=5, difference | f=R, difference | cheaper at f=R on |")
    print(f"|---|{'---|' * (len(COLUMNS) + 3)}")
    best = rows.loc[FLAGSHIP]
    for name, values in means.iterrows():
        own = rows.loc[name]
        cells = [f"{value:.3f}" for value in values]
        if name != FLAGSHIP:
            cells += [difference(own[c], best[c]) for c in ("cost5", "costR")]
            cells.append(str(int((own.costR < best.costR - 1e-9).sum())))
        print(f"| {name} | {' | '.join(cells)} |")
    print("\nTold the cost in training, minus only in the decision:\n")
    names = [c for c in COLUMNS if c != "ap"]
    print(f"| | {' | '.join(COLUMNS[c] for c in names)} |\n|---|{'---|' * len(names)}")
    for told, plain in PAIRS:
        cells = [difference(rows.loc[told][c], rows.loc[plain][c]) for c in names]
        print(f"| {told}, minus {plain.split(',')[0]} | {' | '.join(cells)} |")


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
    report(path)


if __name__ == "__main__":
    main()
