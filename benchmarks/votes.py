"""Pasting small votes: errors beside a tree, bagging and boosting on all rows; then a table that is read from disk.

The second part runs in a process of its own, so that its peak memory is its own. The file is written to a temporary
folder and removed again.

Run with: python benchmarks/votes.py [rows of the large file, 0 for none]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import skewboost
from skewboost import PastingVotesClassifier, RealBoostClassifier

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LARGE = 8_000_000


def clusters(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Twelve overlapping clusters of two classes in twenty dimensions."""
    return make_classification(
        n_rows, n_features=20, n_informative=12, n_redundant=4, n_clusters_per_class=6, flip_y=0.0, random_state=seed
    )


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    from data import imbalanced

    found = {"clusters": clusters(60_000), "rare (2 %)": imbalanced(60_000, 20)}
    if DATA.is_dir():
        sys.path.insert(0, str(DATA))
        from load import load

        X, y = load("skin_segmentation")
        found["skin"] = (X.to_numpy(dtype=np.float64), np.asarray(y))
    return found


def methods() -> dict[str, object]:
    common = {"random_state": 0, "n_jobs": 2}
    return {
        "one tree": DecisionTreeClassifier(random_state=0),
        "Rvotes, 100 bites of 800": PastingVotesClassifier(kind="random", **common),
        "Ivotes, 100 bites of 800": PastingVotesClassifier(**common),
        "Ivotes, 400 bites of 800": PastingVotesClassifier(n_estimators=400, **common),
        "Ivotes, balanced": PastingVotesClassifier(class_shares="balanced", **common),
        "Ivotes, from pools": PastingVotesClassifier(pool_size=20_000, **common),
        "bagging, 50 trees on all rows": BaggingClassifier(DecisionTreeClassifier(), 50, **common),
        "RealBoost, 100 trees on all rows": RealBoostClassifier(estimator="tree", n_jobs=2),
    }


def accuracy() -> None:
    print(f"{'':<12} {'':<34} {'error':>7} {'out of bag':>10} {'balanced':>9} {'seconds':>8}")
    for name, (X, y) in sets().items():
        inner, outer, labels, truth = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
        for method, model in methods().items():
            started = time.perf_counter()
            model.fit(inner, labels)
            took = time.perf_counter() - started
            says = model.predict(outer)
            error, balanced = np.mean(says != truth), 1 - balanced_accuracy_score(truth, says)
            oob = f"{model.oob_error_:10.4f}" if isinstance(model, PastingVotesClassifier) else " " * 10
            print(f"{name:<12} {method:<34} {error:7.4f} {oob} {balanced:9.4f} {took:8.1f}", flush=True)


def write(path: Path, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Write a Parquet file of twenty float32 columns, sorted by a column; returns a test set.

    A row is of the class of the nearest of sixty points in the first eight columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    points = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    classes = np.arange(60) % 4 == 0

    def part(place: float, rows: int, *seed: int) -> tuple[np.ndarray, np.ndarray]:
        X = np.random.default_rng(seed).standard_normal((rows, 20), dtype=np.float32)
        X[:, 0] = 0.2 * X[:, 0] + 4.0 * place - 2.0  # no part of the file is like the whole
        distances = (points**2).sum(axis=1) - 2.0 * X[:, :8] @ points.T
        return X, classes[distances.argmin(axis=1)].astype(np.int8)

    size = 250_000
    names = [f"x{j}" for j in range(20)]
    with pq.ParquetWriter(path, pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])) as out:
        for k in range(n_rows // size):
            X, y = part(k * size / n_rows, size, k)
            out.write_table(pa.table({**dict(zip(names, X.T.copy())), "y": y}), row_group_size=125_000)
    tests = [part(place, 2000, 9, k) for k, place in enumerate(np.arange(0.0, 1.0, size / n_rows))]
    return np.concatenate([X for X, _ in tests]), np.concatenate([y for _, y in tests])


def peak() -> float:
    """The largest resident memory in GiB; `getrusage` would count what the parent process had when it started this."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def one_large(path: str, params: str) -> None:
    """In a process of its own."""
    import pyarrow.parquet  # noqa: F401

    before = peak()
    started = time.perf_counter()
    clf = PastingVotesClassifier(random_state=0, n_jobs=2, **json.loads(params)).fit(path, "y")
    fitted = time.perf_counter() - started
    pools = clf._state.pools[0]
    after = peak()
    test = np.load(Path(path).with_suffix(".npz"))
    X = pd.DataFrame(test["X"], columns=clf.feature_names_in_)
    error = np.mean(clf.predict(X) != test["y"])
    started = time.perf_counter()
    n_scored = sum(len(part) for part in clf.predict_chunks(path)) if clf.n_estimators <= 20 else 0
    scored = f", scored {n_scored:,} rows in {time.perf_counter() - started:.0f} s" if n_scored else ""
    print(
        f"{params:<44} {fitted:6.0f} s, {pools} pools, error {error:.4f}, out of bag {clf.oob_error_:.4f}, "
        f"peak {after:.2f} GiB ({before:.2f} before the fit){scored}",
        flush=True,
    )


def large(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        X, y = write(path, n_rows)
        np.savez(path.with_suffix(".npz"), X=X, y=y)
        print(f"\n{n_rows:,} rows, 20 columns, {path.stat().st_size / 2**30:.2f} GiB on disk, {y.mean():.0%} positive")
        for params in (
            {"kind": "random"},
            {"kind": "importance"},
            {"n_estimators": 400},
            {"pool_size": 50_000},
            {"kind": "random", "n_estimators": 20},
        ):
            subprocess.run([sys.executable, __file__, "--one", str(path), json.dumps(params)], check=True)


if __name__ == "__main__":
    if "--one" in sys.argv:
        one_large(*sys.argv[2:])
    else:
        print(f"skewboost {skewboost.__version__}")
        rows = int(sys.argv[1]) if len(sys.argv) > 1 else LARGE
        if rows >= 0:
            accuracy()
        if rows:
            large(abs(rows))
