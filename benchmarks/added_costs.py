"""Costs where papers have no formula: CS-GentleBoost, CS-AnyBoost, AdaBoost-Reg, WeightBoost and ConsistentBoost.

    python benchmarks/added_costs.py     # twenty minutes on one core

The protocol is that of choosing.py, on its tables of up to 1500 rows: 100 stumps, or 10, five stratified folds, and the
cost of the decisions on held-out rows, divided by that of the better of "flag all" and "flag none"; f is the cost of a
miss in false alarms, and R = negatives / positives. "Told" is the variant with the cost in training, "threshold" the
same variant without costs and with the threshold 1 / (1 + f) of its probabilities. CSGA and CGAda are told the cost,
for comparison. Differences to them are paired by table; ± is their standard error.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import pandas as pd

import skewboost
from choosing import COLUMNS, SHARED, Method, difference, make

MOST_ROWS = 1500
COSTS = [name for name in COLUMNS if name.startswith("cost")]
OTHERS = ("Arcing", "AdaBoostReg", "WeightBoost", "ConsistentBoost")
PEERS = {"CSGentleBoost": "CSGA", **dict.fromkeys(OTHERS, "CGAda")}


def plain(name: str, rounds: int) -> Method:
    """The variant without costs; GentleBoost is that of CSGentleBoost."""
    booster: Any = (
        skewboost.GentleBoostClassifier if name == "CSGentleBoost" else getattr(skewboost, f"{name}Classifier")
    )
    return lambda cost: booster(n_estimators=rounds, pos_label=1), False


def methods() -> dict[str, Method]:
    found = {}
    for rounds in (100, 10):
        for name, peer in PEERS.items():
            found.setdefault(f"{peer}, {rounds} rounds", make(peer, n_estimators=rounds))
            found[f"{name}, {rounds} rounds, told"] = make(name, n_estimators=rounds)
            found[f"{name}, {rounds} rounds, threshold"] = plain(name, rounds)
    return found


def main() -> None:
    if not (SHARED / "quality.py").exists():
        sys.exit("The tables of this benchmark are not shipped: ../shared/quality.py is not there.")
    sys.path[:0] = [str(SHARED), str(SHARED / "data")]
    from load import load
    from quality import DEV, measure

    warnings.filterwarnings("ignore")
    results = []
    for table in DEV:
        X, y = load(table)
        if len(y) <= MOST_ROWS:
            results += [
                {"data": table, "method": name, **measure(X, y, maker, told, "frame")}
                for name, (maker, told) in methods().items()
            ]
            print(table, file=sys.stderr, flush=True)
    rows = pd.DataFrame(results).set_index(["method", "data"]).sort_index()
    print(f"{rows.index.get_level_values('data').nunique()} tables\n")
    print(f"| | log-loss | {' | '.join(COLUMNS[c] for c in COSTS)} | f=5, minus its peer | f=R, minus its peer |")
    print(f"|---|{'---|' * (len(COSTS) + 3)}")
    for name in methods():
        own = rows.loc[name]
        cells = [f"{own[c].mean():.3f}" for c in ("logloss", *COSTS)]
        variant, rounds = name.split(", ")[:2]
        if variant in PEERS:
            peer = rows.loc[f"{PEERS[variant]}, {rounds}"]
            cells += [difference(own[c], peer[c]) for c in ("cost5", "costR")]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
