"""Which variant for which situation: what every member of the catalogue costs on the data sets of the papers.

Boosted stumps, 100 rounds, five stratified folds, misses 5 and 20 times as dear as false alarms; once on the labels as
they are and once with a tenth of the training labels flipped. The cost of the held-out rows is divided by that of the
better of "flag all" and "flag none", so 1 is worthless and 0 is perfect. LightGBM weighs the positives by the cost.

Run with: make choosing   (reads ../shared/data, and does nothing without it)
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import skewboost

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = (
    "pima", "haberman", "breast_cancer_ljubljana", "hypothyroid", "sick_euthyroid", "wisconsin_original",
    "cleveland_heart", "ida_german",
)  # fmt: skip
COSTS = (5.0, 20.0)
ROUNDS = 100


def methods(cost: float) -> dict[str, object]:
    """Every variant, told the cost if it can be."""
    found = {}
    for entry in skewboost.catalogue():
        kwargs = {"cost": cost} if entry.cost_sensitive else {}
        found[entry.name] = entry.make(ROUNDS, pos_label=1, engine="cpu", random_state=0, **kwargs)
    for name in ("AdaMEC", "CGAda"):
        found[f"{name}, calibrated"] = clone(found[name]).set_params(calibrate="sigmoid")
    found["LightGBM"] = lightgbm.LGBMClassifier(n_estimators=ROUNDS, scale_pos_weight=cost, n_jobs=1, verbose=-1)
    return found


def one(name: str, noise: float) -> list[dict[str, object]]:
    """All methods and costs on one data set."""
    warnings.filterwarnings("ignore")
    sys.path.insert(0, str(DATA))
    from load import load

    X, y = load(name)
    records = []
    for cost in COSTS:
        worthless = min((y == 0).sum(), cost * (y == 1).sum())
        for method, model in methods(cost).items():
            total, brier, recall = 0.0, 0.0, 0.0
            for k, (inner, outer) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
                rng = np.random.default_rng(k)
                flipped = np.where(rng.random(len(inner)) < noise, 1 - y[inner], y[inner])
                fitted = clone(model).fit(X.iloc[inner], flipped)
                says, truth = fitted.predict(X.iloc[outer]), y[outer]
                total += cost * ((says == 0) & (truth == 1)).sum() + ((says == 1) & (truth == 0)).sum()
                brier += ((fitted.predict_proba(X.iloc[outer])[:, 1] - truth) ** 2).sum() / len(y)
                recall += says[truth == 1].sum() / (y == 1).sum()
            records.append(
                {"set": name, "noise": noise, "cost": cost, "method": method, "relative cost": total / worthless,
                 "brier": brier, "recall": recall}
            )  # fmt: skip
    print(f"{name}, noise {noise} done", file=sys.stderr, flush=True)
    return records


def main() -> None:
    if not DATA.is_dir():
        print("The data sets of the papers are not at hand (../shared/data); nothing is measured.")
        return
    jobs = [delayed(one)(name, noise) for name in SETS for noise in (0.0, 0.1)]
    table = pd.DataFrame([r for records in Parallel(n_jobs=2)(jobs) for r in records])
    table["rank"] = table.groupby(["set", "noise", "cost"])["relative cost"].rank()
    clean, noisy = table[table.noise == 0], table[table.noise > 0]
    columns = {f"cost {c:g}": clean[clean.cost == c].groupby("method")["relative cost"].mean() for c in COSTS}
    columns["rank"] = clean.groupby("method")["rank"].mean()
    columns["noisy"] = noisy.groupby("method")["relative cost"].mean()
    columns["noisy rank"] = noisy.groupby("method")["rank"].mean()
    columns["recall"] = clean.groupby("method")["recall"].mean()
    columns["Brier"] = clean.groupby("method")["brier"].mean()
    shown = pd.DataFrame(columns).sort_values("rank")
    print(f"{len(SETS)} data sets; cost relative to the better of 'flag all' and 'flag none', mean over sets")
    print(shown.to_string(float_format=lambda v: f"{v:.3f}"))


if __name__ == "__main__":
    main()
