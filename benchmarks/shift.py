"""How often `predict`, `evaluate` and `report` warn that rows are unlike those of training: wrongly, and rightly.

Wrongly: tables that are dealt at random into rows to fit to, rows that the fit holds out, and new rows; any warning is
a false alarm. Rightly: the same, but the new rows are changed in one way. A fit is 20 rounds of the recommended method.

Run with: make benchmark-shift   (reads ../shared/data, and does nothing without it)
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

from skewboost.cli.method_options import MethodOptions
from skewboost.cli.shift import ShiftDetector, TrainingProfile, class_sizes
from skewboost.engine.table import take_rows

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SKIPPED = ("cbcl_faces_train", "cbcl_faces_test", "skin_segmentation", "fars_injury", "sylva")  # large
SPLITS, FITS = 100, 4  # per table: splits in all, and those of them with a fit
MOST_ROWS = 5000


def changed(kind: str, X, y, rng):
    """New rows after something has happened to them."""
    X = X.copy()
    numbers = [c for c in X.columns if X[c].dtype.kind in "if" and X[c].nunique() > 2]
    text = [c for c in X.columns if X[c].dtype.kind not in "iufb"]
    if kind == "positives x 5":
        weights = np.where(y == 1, 5.0, 1.0)
        rows = rng.choice(len(y), len(y), p=weights / weights.sum())
        return take_rows(X, rows), y[rows]
    if kind == "a number x 10" and numbers:
        name = rng.choice(numbers)
        X[name] = X[name] * 10.0 + 1.0
        return X, y
    if kind == "a column half missing":
        name = rng.choice(X.columns)
        X[name] = X[name].mask(rng.random(len(X)) < 0.5)
        return X, y
    if kind == "a new category in a fifth" and text:
        name = rng.choice(text)
        X[name] = X[name].astype(object).mask(rng.random(len(X)) < 0.2, "never seen")
        return X, y
    return None


KINDS = ("positives x 5", "a number x 10", "a column half missing", "a new category in a fifth")


def told(profile, X, y, said=None):
    watch = ShiftDetector(profile)
    watch.add_rows(X)
    watch.add_labels(y)
    if said is not None:
        watch.add_predictions(said)
    return watch.warnings(1)


def one(name: str) -> dict[str, list[bool]]:
    """All splits of one table."""
    warnings.filterwarnings("ignore")
    sys.path.insert(0, str(DATA))
    from load import load

    X, y = load(name)
    found: dict[str, list[bool]] = {}
    for k in range(SPLITS):
        rng = np.random.default_rng(k)
        rows = rng.permutation(len(y))[:MOST_ROWS]
        inner, new = train_test_split(rows, test_size=float(rng.choice([0.1, 0.3, 0.5])), random_state=k)
        fit, held = train_test_split(inner, test_size=0.25, random_state=k)
        if len(np.unique(y[fit])) < 2:
            continue
        X_new, model, said = take_rows(X, new), None, {}
        if k < FITS:
            model = MethodOptions(rounds=20).make(1).fit(take_rows(X, fit), y[fit])
            said = class_sizes(model.predict(take_rows(X, held)))
        profile = TrainingProfile.of(take_rows(X, fit), class_sizes(y[fit]), said)
        profile = TrainingProfile.from_dict(profile.as_dict())
        answers = None if model is None else model.predict(X_new)
        sentences = told(profile, X_new, y[new], answers)
        if sentences:
            print(f"false alarm on {name}, split {k}: {sentences[0]}", flush=True)
        found.setdefault("nothing", []).append(bool(sentences))
        for kind in KINDS if k < 20 else ():
            other = changed(kind, X_new, y[new], rng)
            if other is not None:
                found.setdefault(kind, []).append(bool(told(profile, *other)))
    return found


def main() -> None:
    """Print the shares of tables that are warned of."""
    if not DATA.is_dir():
        print(f"There is no {DATA}.")
        return
    sys.path.insert(0, str(DATA))
    from load import names

    tables = [name for name in names() if name not in SKIPPED]
    results = Parallel(n_jobs=2)(delayed(one)(name) for name in tables)
    print(f"{len(tables)} tables, {SPLITS} splits each")
    for kind in ("nothing", *KINDS):
        flags = [flag for found in results for flag in found.get(kind, [])]
        print(f"{kind + ' has changed' if kind == 'nothing' else kind:28} {np.mean(flags):7.2%} of {len(flags)} warned")


if __name__ == "__main__":
    main()
