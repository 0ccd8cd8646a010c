"""Is SkewBoostClassifier as good as it was? Its losses on every table of docs/portfolio.md, paired with stored ones.

    python benchmarks/portfolio_losses.py             # a quarter of an hour; prints differences from the stored table
    python benchmarks/portfolio_losses.py --store     # and stores what was found as the new table
    python benchmarks/portfolio_losses.py --jobs 16   # on so many cores; 2 unless told

Five stratified folds of the 28 tables of `quality.py` (looked for in ../shared, not shipped) and of those of
`keel_tables.py`, the defaults of the classifier. Costs are normalised: 0 is perfect, 1 is the better of "flag all" and
"flag none". The stored table is `portfolio_losses.csv`. Differences are paired by table; ± is their standard error.
Every fold is kept in a file, and a run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold

import keel_tables
from repetitions import RESULTS, repeated
from skewboost import SkewBoostClassifier

SHARED = Path(__file__).resolve().parents[2] / "shared"
STORED = Path(__file__).with_suffix(".csv")
COSTS = (2, 5, 10)
N_FOLDS = 5
SLOW = ("sylva", "letter", "magic", "sick_euthyroid", "hypothyroid", "nursery_very_recom", "ada")  # begun first


def tables() -> list[str]:
    """Return the names of the tables that are at hand."""
    names = [*keel_tables.CHOICE, *keel_tables.CONFIRMATION]
    if (SHARED / "quality.py").exists():
        sys.path[:0] = [str(SHARED), str(SHARED / "data")]
        from quality import DEV

        names += DEV
    return sorted(names, key=lambda name: (name not in SLOW, name))


def load(name: str):
    if name in keel_tables.CHOICE or name in keel_tables.CONFIRMATION:
        return keel_tables.load(name)
    sys.path[:0] = [str(SHARED / "data")]
    from load import load as load_shared

    return load_shared(name)[:2]


def fold(name: str, k: int) -> dict[str, float]:
    """Return what the default classifier achieves on one fold."""
    warnings.simplefilter("ignore")
    X, y = load(name)
    train, test = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))[k]
    clf = SkewBoostClassifier(random_state=0, n_jobs=1).fit(X.iloc[train], y[train])
    p, truth = clf.predict_proba(X.iloc[test])[:, 1], y[test]
    found = {
        "log_loss": log_loss(truth, np.clip(p, 1e-12, 1 - 1e-12)),
        "average_precision": average_precision_score(truth, p),
    }
    ratio = (y == 0).sum() / (y == 1).sum()
    for label, cost in {**{f"cost_{f}": f for f in COSTS}, "cost_R": round(ratio, 1)}.items():
        flagged = clf.set_params(cost=cost).predict(X.iloc[test]) == 1
        paid = (flagged & (truth == 0)).sum() + cost * (~flagged & (truth == 1)).sum()
        found[label] = paid / min(cost * (truth == 1).sum(), (truth == 0).sum())
    return {measure: float(value) for measure, value in found.items()}


def compare(new: pd.DataFrame, old: pd.DataFrame) -> None:
    """Print the differences of the tables that both have."""
    new, old = (rows.groupby("table").mean().drop(columns="fold") for rows in (new, old))
    both = new.index.intersection(old.index)
    difference = new.loc[both] - old.loc[both]
    same = (difference == 0.0).all(axis=1)
    print(f"{len(both)} tables, of which {same.sum()} have the same numbers to the bit")
    print("| | " + " | ".join(difference.columns) + " |\n|---|" + "---|" * len(difference.columns))
    for label, rows in (("stored", old), ("now", new)):
        print(f"| {label} | " + " | ".join(f"{value:.4f}" for value in rows.loc[both].mean()) + " |")
    error = difference.std() / np.sqrt(len(both))
    print("| now - stored | " + " | ".join(f"{d:+.4f} ± {e:.4f}" for d, e in zip(difference.mean(), error)) + " |")
    for name, row in difference[~same].sort_values("log_loss").iterrows():
        print(f"| {name} | " + " | ".join(f"{value:+.4f}" for value in row) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    run = partial(repeated, RESULTS / "portfolio_losses.jsonl", fold, n_jobs=asked.jobs)
    names = tables()
    found = run([(name,) for name in names], N_FOLDS)
    new = pd.DataFrame(
        [{"table": name, "fold": k, **own} for name, every in zip(names, found) for k, own in enumerate(every)]
    ).sort_values(["table", "fold"])
    if STORED.exists():
        compare(new, pd.read_csv(STORED, float_precision="round_trip"))
    if asked.store:
        new.to_csv(STORED, index=False)


if __name__ == "__main__":
    main()
