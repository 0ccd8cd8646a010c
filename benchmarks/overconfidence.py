"""When does the warning of overconfidence fire, and is it right? Cost-sensitive boosters on few rows.

    python benchmarks/overconfidence.py    # some minutes; the table of docs/choosing.md

The tables are those of `quality.py`, which is looked for in ../shared and not shipped, with at most 2000 rows. Every
fit to four of five folds either warns or does not; its decisions about the fifth fold cost so much, relative to the
better of "flag all" and "flag none". The model itself expects less than 0.1 where it is checked.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import skewboost
from skewboost.errors import CostWarning

SHARED = Path(__file__).resolve().parents[2] / "shared"
LARGEST, COSTS, FOLDS = 2000, (5.0, 20.0), 3

METHODS: dict[str, Callable[[float], Any]] = {
    "CSRA, stumps": lambda cost: skewboost.CSRAClassifier(cost=cost, pos_label=1),
    "CGAda, stumps": lambda cost: skewboost.CGAdaClassifier(cost=cost, pos_label=1),
    "CSRA, trees": lambda cost: skewboost.CSRAClassifier(cost=cost, pos_label=1, estimator="tree"),
    "CSRA, trees, early stopping": lambda cost: skewboost.CSRAClassifier(
        cost=cost, pos_label=1, estimator="tree", learning_rate=0.1, early_stopping=True, random_state=0
    ),
}


def fits(X: pd.DataFrame, y: np.ndarray, name: str) -> list[dict[str, Any]]:
    """Whether each fit of a method warns, and what its decisions cost."""
    found = []
    for cost in COSTS:
        splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        for train, test in splits[:FOLDS]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                clf = METHODS[name](cost).fit(X.iloc[train], y[train])
            flagged, truth = clf.predict(X.iloc[test]) == 1, y[test]
            spent = cost * (~flagged & (truth == 1)).sum() + (flagged & (truth == 0)).sum()
            warned = any(issubclass(w.category, CostWarning) and "overconfident" in str(w.message) for w in caught)
            relative = spent / min(cost * (truth == 1).sum(), (truth == 0).sum())
            found.append({"method": name, "warned": warned, "cost": relative})
    return found


def main() -> None:
    if not (SHARED / "quality.py").exists():
        sys.exit("The tables of this benchmark are not shipped: ../shared/quality.py is not there.")
    sys.path[:0] = [str(SHARED), str(SHARED / "data")]
    from load import load
    from quality import DEV

    rows = []
    for s in DEV:
        X, y = load(s)
        if len(y) <= LARGEST:
            rows += [{"set": s, **row} for name in METHODS for row in fits(X, y, name)]
            print(f"{s}: done", file=sys.stderr, flush=True)
    table = pd.DataFrame(rows)
    print(f"{table['set'].nunique()} tables, {len(table)} fits\n")
    print("| | fits | warned | cost if warned | cost if not | warned, cost below 0.1 |\n|---|---|---|---|---|---|")
    for name, part in [*table.groupby("method", sort=False), ("all", table)]:
        yes, no = part[part.warned].cost, part[~part.warned].cost
        print(f"| {name} | {len(part)} | {len(yes)} | {yes.mean():.2f} | {no.mean():.2f} | {(yes < 0.1).sum()} |")


if __name__ == "__main__":
    main()
