"""Who keeps promises on recall, precision and false alarms at what price: GoalSearchCV and MAPIE's risk control.

Both certify the same model on the same held-out rows, so that only the certification differs: boosted trees are fitted
to three fifths of the given rows, and the other two fifths are held out. MAPIE gets the probabilities of that model:
with its defaults (100 thresholds, Bonferroni-Holm), and at its best, a fine grid of thresholds in a fixed sequence. For
recall and false alarms that is from the safest threshold on. For precision, and with referral, the order is learned on
a third of the held-out rows, as its documentation recommends. By hand: the best threshold that reaches the goal on the
held-out rows. Decisions are counted on rows that none has seen.

    python benchmarks/mapie_goals.py --repeats 40           half an hour; goes on where it stopped
    python benchmarks/mapie_goals.py --only sylva,fraud --table

A promise is broken if the goal is not met on the new rows. These are finite, so that a rate just above the bound is
sometimes counted as below it. The price of a promise is the mean false-alarm rate for recall, and otherwise the mean
recall, with referral that of decided rows; ± is the standard error. Differences are paired by repetition where both
certified.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from mapie.risk_control import BinaryClassificationController, BinaryRisk
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

from skewboost import GoalSearchCV, LogitBoostClassifier
from skewboost.datasets import make_fraud, make_intrusions
from skewboost.goals import GOAL_MEASURES, Goal, GoalNotReachableError
from skewboost.metrics import Counts
from skewboost.metrics.counts import ReferralCounts

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"  # not shipped
RESULTS = Path(__file__).resolve().parent / "results" / "mapie_goals.jsonl"

CONFIDENCE = 0.9
HELD_OUT = 0.4
MOST_GIVEN, MOST_NEW = 6000, 40_000
LEARNED_ON = 1 / 3  # of the held-out rows, where MAPIE learns a sequence
FINE = expit(np.linspace(-14.0, 14.0, 281))  # thresholds in a fixed sequence cost nothing
FLAGGED = 5  # rows at least: without any, the p-value is undefined, and MAPIE would begin with it
LEVELS = np.logspace(-25, 0, 150)  # of the p-values by which MAPIE orders them
COARSE = expit(np.linspace(-6.0, 6.0, 25))  # of which pairs are formed
PAIRS = np.array([(low, high) for low in COARSE for high in COARSE if low <= high])
DECIDED_RECALL = BinaryRisk(
    lambda y_true, y_pred: y_true == y_pred, lambda y_true, y_pred: (y_true == 1) & (y_pred == y_pred), True
)

# goal: the measure that is the price, and MAPIE's risk
GOALS = {
    "recall >= 0.9": ("false_alarm_rate", "recall"),
    "precision >= 0.8": ("recall", "precision"),
    "false_alarm_rate <= 0.02": ("recall", "fpr"),
    "precision >= 0.8 and referred_share <= 0.1": ("recall", ["precision", "abstention_rate"]),
}


def generated(make: Callable[[int, int], tuple[Any, Any]]) -> Callable[[int], tuple[Any, Any]]:
    return lambda seed: make(MOST_GIVEN + MOST_NEW, seed)


def attacks(n: int, seed: int) -> tuple[Any, Any]:
    X, y = make_intrusions(n, random_state=seed)
    return X, (np.asarray(y) != "normal").astype(int)


def real(name: str) -> Callable[[int], tuple[Any, Any]]:
    sys.path.insert(0, str(SHARED))
    read = cache(lambda: importlib.import_module("load").load(name))
    return lambda _: read()


DATA = {
    "fraud, generated": generated(lambda n, seed: make_fraud(n, random_state=seed)),
    "attacks, generated": generated(attacks),
    "nursery_very_recom": real("nursery_very_recom"),
    "sylva": real("sylva"),
    "sick_euthyroid": real("sick_euthyroid"),
    "skin_segmentation": real("skin_segmentation"),
    "fars_injury": real("fars_injury"),
}


def split(X: Any, y: Any, seed: int) -> tuple[Any, ...]:
    """Return given and new rows: at most 6000 and 40 000, or half of the rows each."""
    given = min(MOST_GIVEN, len(y) // 2)
    y = np.asarray(y)
    return train_test_split(
        X, y, train_size=given, test_size=min(MOST_NEW, len(y) - given), stratify=y, random_state=seed
    )


class Trees(ClassifierMixin, BaseEstimator):
    """Boosted trees, fitted once to the same rows: all goals are about the same models."""

    fitted: ClassVar[dict[bytes, Any]] = {}

    def fit(self, X: Any, y: np.ndarray) -> Trees:
        """Fit, unless this was done before."""
        rows = X.index.to_numpy().tobytes()
        if rows not in self.fitted:
            booster = LogitBoostClassifier(estimator="tree", n_estimators=100, learning_rate=0.1)
            self.fitted[rows] = booster.fit(X, y)
        self.booster_ = self.fitted[rows]
        self.classes_ = self.booster_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the booster's."""
        return np.asarray(self.booster_.predict_proba(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the booster's."""
        return np.asarray(self.booster_.decision_function(X))


# Each returns decisions on new rows, of which 1 is "positive" and NaN is "referred", or None if it offers nothing.


def by_hand(goal: str, p: np.ndarray, y: np.ndarray, p_new: np.ndarray) -> Any:
    read, (price, _) = Goal.of(goal), GOALS[goal]
    thresholds, counts = Counts.at_thresholds(y == 1, p)
    if read.refers:
        low, high = np.triu_indices(len(thresholds))
        keep = np.linspace(0, len(low) - 1, min(len(low), 200_000)).astype(int)
        low, high = low[keep], high[keep]
        counts = ReferralCounts.between(counts, low, high)
    good = np.flatnonzero(read.met(counts))
    if len(good) == 0:
        return None
    k = good[np.argmax(GOAL_MEASURES[price].utility(getattr(counts, price)[good]))]
    low_k, high_k = (low[k], high[k]) if read.refers else (k, k)
    return decided(p_new, thresholds[low_k], thresholds[high_k])


def decided(p: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.where(p >= high, 1.0, np.where(p >= low, np.nan, 0.0))


def mapie(goal: str, p: np.ndarray, y: np.ndarray, p_new: np.ndarray, **params: Any) -> Any:
    """MAPIE on probabilities, which are all that it uses of the rows."""
    read, (price, risk) = Goal.of(goal), GOALS[goal]
    bounds = [c.bound for c in read.conditions]
    in_sequence = params.get("fwer_method") == "split_fixed_sequence"
    if read.refers:
        params = {"list_predict_params": PAIRS, **params}
    if in_sequence:
        p_learn, p, y_learn, y = train_test_split(p, y, train_size=LEARNED_ON, random_state=0)
        flagging = np.reshape(params["list_predict_params"], (-1, 1 + read.refers))[:, -1] <= np.sort(p_learn)[-FLAGGED]
        params["list_predict_params"] = params["list_predict_params"][flagging]
    controller = BinaryClassificationController(
        decided if read.refers else lambda p: np.column_stack((1.0 - p, p)),
        risk,
        bounds if read.refers else bounds[0],
        CONFIDENCE,
        best_predict_param_choice=DECIDED_RECALL if read.refers else {"false_alarm_rate": "fpr"}.get(price, price),
        **params,
    )
    if in_sequence:
        controller.learn_fixed_sequence_order(p_learn, y_learn, LEVELS, binary=True)
    controller.calibrate(p, y)
    return None if controller.best_predict_param is None else np.asarray(controller.predict(p_new), dtype=float)


def mapie_in_sequence(goal: str, p: np.ndarray, y: np.ndarray, p_new: np.ndarray) -> Any:
    if goal.startswith("precision"):
        params = {} if "referred" in goal else {"list_predict_params": FINE}
        return mapie(goal, p, y, p_new, fwer_method="split_fixed_sequence", **params)
    thresholds = FINE if goal.startswith("recall") else FINE[::-1]
    return mapie(goal, p, y, p_new, list_predict_params=thresholds, fwer_method="fixed_sequence")


PEERS = {"by hand": by_hand, "MAPIE": mapie, "MAPIE, fixed sequence": mapie_in_sequence}
OURS = "GoalSearchCV"


def measured(decisions: Any, y_new: Any) -> dict[str, float] | None:
    if decisions is None:
        return None
    counts = ReferralCounts.with_referred(y_new == 1, decisions == 1, np.isnan(decisions))
    names = ("recall", "precision", "false_alarm_rate", "referred_share")
    return {name: float(getattr(counts, name)) for name in names}


@lru_cache(maxsize=1)
def prepared(name: str, seed: int) -> tuple[Any, ...]:
    """Return given rows, which of them are held out, new rows, and the probabilities of held-out and new ones."""
    X, X_new, y, y_new = split(*DATA[name](seed), seed)
    Trees.fitted.clear()
    mask = np.zeros(len(y), dtype=bool)
    mask[train_test_split(np.arange(len(y)), test_size=HELD_OUT, random_state=seed)[1]] = True
    fitted = Trees().fit(X[~mask], y[~mask])
    return X, y, mask, X_new, y_new, *(fitted.predict_proba(rows)[:, 1] for rows in (X[mask], X_new))


def repetition(name: str, goal: str, seed: int) -> dict[str, Any]:
    X, y, mask, X_new, y_new, p, p_new = prepared(name, seed)
    search = GoalSearchCV(
        Trees(), goal, tune="threshold", cv=3, confidence=CONFIDENCE, holdout=mask, weights="counts", random_state=seed
    )
    found: dict[str, Any] = {}
    try:
        labels = search.fit(X, y).predict(X_new).astype(float)
        found[OURS] = measured(np.where(labels == -1, np.nan, labels), y_new)
    except GoalNotReachableError:
        found[OURS] = None
    for peer, decide in PEERS.items():
        found[peer] = measured(decide(goal, p, y[mask], p_new), y_new)
    return {"data": name, "goal": goal, "seed": seed, "found": found}


# ------------------------------------------------------------------------------------------------- table


def kept(goal: str, values: dict[str, float]) -> bool:
    sides = {">=": np.greater_equal, "<=": np.less_equal}
    return all(bool(sides[c.sense](values[c.name], c.bound)) for c in Goal.of(goal).conditions)


def price(goal: str, values: dict[str, float]) -> float:
    return values[GOALS[goal][0]]


def show(results: list[dict[str, Any]]) -> None:
    methods = (OURS, *PEERS)
    for goal, (measure, _) in GOALS.items():
        print(f"\n`{goal}`: broken of certified, mean {measure.replace('_', ' ')}\n")
        print("| | " + " | ".join(methods) + " | GoalSearchCV - MAPIE, paired |\n|---|" + "---|" * (len(methods) + 1))
        for name in DATA:
            own = [r["found"] for r in results if (r["data"], r["goal"]) == (name, goal)]
            if own:
                cells = [cell(goal, [r[method] for r in own]) for method in methods]
                print(f"| {name}, {len(own)} | " + " | ".join(cells) + f" | {difference(goal, own)} |")


def cell(goal: str, found: list[Any]) -> str:
    made = [values for values in found if values is not None]
    if not made:
        return "0/0"
    prices = np.array([price(goal, v) for v in made])
    return f"{sum(not kept(goal, v) for v in made)}/{len(made)}, {with_error(prices)}"


def difference(goal: str, own: list[dict[str, Any]]) -> str:
    peer = "MAPIE, fixed sequence"
    both = [r for r in own if r[OURS] is not None and r[peer] is not None]
    return with_error(np.array([price(goal, r[OURS]) - price(goal, r[peer]) for r in both])) if both else ""


def with_error(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.3f} ± {error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--only", help="names of data sets, or their beginnings, with commas")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print what there is, and compute nothing")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    lines = asked.results.read_text().splitlines() if asked.results.exists() else []
    results = [json.loads(line) for line in lines]
    done = {(r["data"], r["goal"], r["seed"]) for r in results}
    names = [n for n in DATA if asked.only is None or n.startswith(tuple(asked.only.split(",")))]
    jobs = [(n, g, s) for s in range(asked.repeats) for n in names for g in GOALS if (n, g, s) not in done]
    for job in [] if asked.table else jobs:
        results.append(repetition(*job))
        with asked.results.open("a") as file:
            file.write(json.dumps(results[-1]) + "\n")
    show(results)


if __name__ == "__main__":
    main()
