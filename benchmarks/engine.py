"""The engine against LightGBM over the range of sizes, and where it used to be slow; two threads.

Every measurement runs in a process of its own: imports are not counted, first calls are. The two libraries take turns,
and each time is the best of the repeats. A ratio above 1 says that skewboost is faster.

Run with: make benchmark-engine, or python benchmarks/engine.py stumps trees (for some of the sections)
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from data import imbalanced

THREADS = 2
SIZES = [(500, 10), (2_000, 30), (10_000, 30), (10_000, 85), (50_000, 30), (200_000, 30), (1_000_000, 30)]


# ------------------------------------------------------------------------------------------------- in a process


def light(leaves: int, rounds: int, **more: Any) -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(n_estimators=rounds, num_leaves=leaves, n_jobs=THREADS, verbose=-1, **more)


def ours(variant: str, leaves: int, rounds: int, **more: Any) -> Any:
    import skewboost
    from skewboost.learners import Stump, Tree

    learner = Stump() if leaves == 2 else Tree(max_leaf_nodes=leaves)
    return getattr(skewboost, f"{variant}Classifier")(estimator=learner, n_estimators=rounds, n_jobs=THREADS, **more)


def categories(n_rows: int, n_features: int, n_levels: int) -> tuple[Any, np.ndarray]:
    """Columns of categories, each of which has an effect of its own on the class."""
    import pandas as pd

    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_levels, (n_rows, n_features))
    effects = rng.normal(size=(n_features, n_levels))
    score = sum(effects[j][codes[:, j]] for j in range(10)) + 2.0 * rng.normal(size=n_rows)
    names = [f"level {k}" for k in range(n_levels)]
    X = pd.DataFrame({f"c{j}": pd.Categorical.from_codes(codes[:, j], names) for j in range(n_features)})
    return X, (score > np.quantile(score, 0.9)).astype(int)


def classes(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes around centres of their own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    centres = 1.5 * rng.normal(size=(n_classes, n_features))
    return (centres[y] + rng.normal(size=(n_rows, n_features))).astype(np.float32), y


def measure(task: dict[str, Any]) -> float:
    """The seconds of one fit, or of what the task says."""
    kind, library, leaves, rounds = task["kind"], task["library"], task["leaves"], task["rounds"]
    if kind == "categories":
        X, y = categories(*task["shape"], 200)
    elif kind == "classes":
        X, y = classes(*task["shape"], 100)
    else:
        X, y = imbalanced(*task["shape"])
    if library == "lightgbm":
        model = light(leaves, rounds)
    else:
        model = ours(task["variant"], leaves, rounds)
    if kind == "predict":
        model.fit(X[:20_000], y[:20_000])
        new, _ = imbalanced(task["rows"], X.shape[1], seed=1)
        ask: Callable[[Any], Any] = (
            (lambda rows: model.predict(rows, raw_score=True)) if library == "lightgbm" else model.decision_function
        )
        ask(new[:1])
        if task["rows"] > 1:
            return timed(lambda: ask(new))
        return min(timed(lambda: [ask(new) for _ in range(100)]) / 100 for _ in range(5))
    if kind == "first":
        return timed(lambda: model.fit(X, y)) - min(timed(lambda: model.fit(X, y)) for _ in range(2))
    return timed(lambda: model.fit(X, y))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


# ---------------------------------------------------------------------------------------------------- in turns


def in_turns(tasks: list[dict[str, Any]], repeats: int) -> list[float]:
    """The best time of each task."""
    best = [np.inf] * len(tasks)
    for _ in range(repeats):
        for k, task in enumerate(tasks):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", __file__, "--measure", json.dumps(task)],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            best[k] = min(best[k], float(done.stdout.split()[-1]))
    return best


def compare(name: str, bar: str, task: dict[str, Any], repeats: int = 0) -> None:
    """One line: the time of both libraries, their ratio, and what it should be."""
    cells = task["shape"][0] * task["shape"][1]
    repeats = repeats or (9 if cells < 100_000 else 5)
    pair = [{**task, "library": library} for library in ("skewboost", "lightgbm")]
    own, peer = in_turns(pair, repeats)
    print(f"{name:<58} {1e3 * own:10.2f} ms {1e3 * peer:10.2f} ms {peer / own:8.2f}x   {bar}", flush=True)


def task(kind: str, shape: tuple[int, int], variant: str, leaves: int, rounds: int, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "shape": shape, "variant": variant, "leaves": leaves, "rounds": rounds, **more}


def shown(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} x {shape[1]}".replace(",", " ")


def stumps() -> None:
    bars = ["0.5x", "1x", "3x", "3x", "5x", "6x", "6x"]
    for shape, bar in zip(SIZES, bars):
        compare(f"stumps (RealBoost), {shown(shape)}", bar, task("fit", shape, "RealBoost", 2, 100))
    compare("stumps (AdaBoost), 200 000 x 30", "6x", task("fit", (200_000, 30), "AdaBoost", 2, 100))


def trees() -> None:
    bars = ["0.8x", "1x", "1x", "1x", "1.5x", "1.5x", "1.5x"]
    for leaves in (8, 31):
        for shape, bar in zip(SIZES, bars):
            name = f"trees of {leaves} leaves (RealBoost), {shown(shape)}"
            compare(name, bar, task("fit", shape, "RealBoost", leaves, 100))


def logit() -> None:
    for leaves, name in ((2, "stumps"), (8, "trees of 8 leaves")):
        for shape, bar in (((2_000, 30), "1x"), ((10_000, 30), "1x"), ((50_000, 30), "2x"), ((200_000, 30), "2x")):
            compare(f"LogitBoost, {name}, {shown(shape)}", bar, task("fit", shape, "LogitBoost", leaves, 100))


def prediction() -> None:
    shape, many = (20_000, 30), 1_000_000
    for rows, bars in ((many, ("40x", "2x")), (1, ("1x", "1x"))):
        text = "1 000 000 rows" if rows > 1 else "one row"
        compare(f"prediction, 1000 stumps, {text}", bars[0], task("predict", shape, "RealBoost", 2, 1000, rows=rows))
        name = f"prediction, 200 trees of 31 leaves, {text}"
        compare(name, bars[1], task("predict", shape, "RealBoost", 31, 200, rows=rows))


def first() -> None:
    """What a first fit takes beyond the second."""
    (own,) = in_turns([{**task("first", (200_000, 30), "RealBoost", 2, 20), "library": "skewboost"}], 5)
    print(
        f"{'first fit in a process less the second, 200 000 x 30':<58} {1e3 * own:10.2f} ms {'bar: below 100 ms':>28}"
    )


def cliffs() -> None:
    compare(
        "20 000 x 100 categories of 200 levels, stumps", "1x", task("categories", (20_000, 100), "RealBoost", 2, 50)
    )
    name = "20 000 x 100 categories of 200 levels, trees of 8"
    compare(name, "1x", task("categories", (20_000, 100), "RealBoost", 8, 50))
    compare("trees of 1000 leaves, 50 000 x 30", "1x", task("fit", (50_000, 30), "RealBoost", 1000, 20))
    compare("trees of 4000 leaves, 50 000 x 30", "1x", task("fit", (50_000, 30), "RealBoost", 4000, 10))
    compare("AdaBoost.MH of 100 classes, stumps, 20 000 x 20", "1x", task("classes", (20_000, 20), "AdaBoostMH", 2, 20))
    name = "AdaBoost.MH of 100 classes, trees of 31, 20 000 x 20"
    compare(name, "1x", task("classes", (20_000, 20), "AdaBoostMH", 31, 10))
    compare("500 x 10, 1000 stumps", "1x", task("fit", (500, 10), "RealBoost", 2, 1000))
    compare("1000 x 5000, trees of 31 leaves", "1x", task("fit", (1_000, 5_000), "RealBoost", 31, 20))


SECTIONS = {
    "stumps": stumps, "trees": trees, "logit": logit, "prediction": prediction, "first": first, "cliffs": cliffs,
}  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        print(measure(json.loads(sys.argv[2])))
        return
    print(f"{'':<58} {'skewboost':>13} {'LightGBM':>13} {'ratio':>9}   bar")
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
