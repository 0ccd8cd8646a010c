"""A cascade beside single models at equal recall: windows of photographs, and a stream with one positive in a million.

All look at the same rows, taking turns. A single model is one booster with as many rounds as the stages of the cascade
have together, on the same columns; its threshold is set for the recall that the cascade has on positives that neither
was trained on. The third part measures the memory of a fit to Haar features, in processes of their own.

The faces are those of MIT-CBCL, which are downloaded if they are not at hand; the photographs come with scikit-learn.

Run with: python benchmarks/cascade.py [faces] [stream] [memory]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import skewboost
from skewboost import CascadeClassifier, CSRAClassifier
from skewboost.boosting.used_columns import used_columns
from skewboost.features import HaarFeatures

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if DATA.is_dir():
    os.environ.setdefault("SKEWBOOST_DATA", str(DATA))


@dataclass
class Detector:
    """What says which rows are positive; its `cost` is a number of columns or trees per row."""

    name: str
    predict: Callable[[Any], np.ndarray]
    cost: Callable[[Any], float]


def of_cascade(clf: CascadeClassifier, per_stage: list[int]) -> Detector:
    total = np.cumsum(per_stage)
    return Detector(
        f"cascade of {len(total)} stages", lambda X: clf.predict(X) == 1, lambda X: total[clf.stages_used(X) - 1].mean()
    )


def single(name: str, booster: Any, rows: tuple[Any, Any], positives: Any, recall: float, cost: Any) -> Detector:
    """Fit one booster, with the threshold that finds a share of some positives."""
    started = time.perf_counter()
    model = clone(booster).fit(*rows)
    scores = np.sort(model.decision_function(positives))
    threshold = scores[round((1 - recall) * len(scores))]
    print(f"{name}: {model.n_estimators_} rounds on {len(rows[1])} rows in {time.perf_counter() - started:.0f} s")
    return Detector(name, lambda X: model.decision_function(X) >= threshold, lambda _: cost(model))


def fitted(clf: CascadeClassifier, X: Any, y: np.ndarray, **given: Any) -> CascadeClassifier:
    started = time.perf_counter()
    clf.fit(X, y, **given)
    history = clf.history_
    print(
        f"cascade: rounds {history['n_rounds'].tolist()}, negatives {history['n_negatives'].tolist()} in "
        f"{time.perf_counter() - started:.0f} s; {clf.stop_reason_}"
    )
    return clf


def side_by_side(detectors: list[Detector], tables: Iterator[Callable[[], Any]], positives: Any, unit: str) -> None:
    """Show tables to all, one after the other, and print a row for each. What makes a table is timed, too."""
    seconds, n_found, n_rows, costs = np.zeros(len(detectors)), np.zeros(len(detectors)), 0, np.zeros(len(detectors))
    for make in tables:
        for k, detector in enumerate(detectors):
            started = time.perf_counter()
            found = detector.predict(make())
            seconds[k] += time.perf_counter() - started
            n_found[k] += found.sum()
        n_rows += len(found)
        costs += [detector.cost(make()) * len(found) for detector in detectors]
    print(f"{n_rows:,} negatives {'recall':>28} {'false alarms':>13} {unit:>9} {'rows/s':>12} {'cascade is':>11}")
    for k, detector in enumerate(detectors):
        print(
            f"{detector.name:<35} {detector.predict(positives).mean():8.1%} {n_found[k] / n_rows:13.2e} "
            f"{costs[k] / n_rows:9.1f} {n_rows / seconds[k]:12,.0f} {seconds[k] / seconds[0]:10.1f}x",
            flush=True,
        )


# -------------------------------------------------------------------------------- faces


def pyramid(photograph: Any, factor: float = 1.25, least: int = 60) -> Iterator[np.ndarray]:
    """Yield a photograph at smaller and smaller scales."""
    while min(photograph.size) >= least:
        yield np.asarray(photograph)
        photograph = photograph.resize(tuple(int(side / factor) for side in photograph.size))


def faces() -> None:
    from PIL import Image
    from sklearn.datasets import load_sample_image

    from skewboost.datasets import fetch_faces

    china, flower = (Image.fromarray(load_sample_image(f"{name}.jpg")).convert("L") for name in ("china", "flower"))
    half, height = china.width // 2, china.height
    to_train_on = [*pyramid(china.crop((0, 0, half, height))), *pyramid(flower)]
    to_look_at = list(pyramid(china.crop((half, 0, china.width, height))))
    images, y = fetch_faces("train")
    X = images.reshape(len(y), -1)
    held_out = np.zeros(len(y), dtype=bool)
    held_out[np.flatnonzero(y == 1)[-400:]] = True  # in the order of the files, so that fewer are of known persons
    haar = HaarFeatures(min_size=2, size_step=2).fit(X)

    def windows() -> Iterator[Any]:
        for picture in to_train_on:
            table, _ = haar.windows(picture)
            yield from (table[start : start + 20_000] for start in range(0, len(table), 20_000))

    n_windows = sum(map(len, windows()))
    print(f"\nWindows of photographs: {haar.n_features_out_} Haar features, {n_windows:,} new negatives")
    inner, labels, outer = X[~held_out], y[~held_out], haar.transform(X[held_out])
    booster = CSRAClassifier(n_estimators=200, n_jobs=1)
    goals = {"n_stages": 12, "detection_rate": 0.995, "false_alarm_rate": 0.4}
    clf = CascadeClassifier(booster, **goals, confidence=None, random_state=0)
    fitted(clf, haar.transform(inner), labels, groups=np.arange(len(labels)), negatives=windows)
    recall = float(np.mean(clf.predict(outer) == 1))
    booster.set_params(n_estimators=int(clf.history_["n_rounds"].sum()))
    rng = np.random.default_rng(0)
    some = np.concatenate([t[np.flatnonzero(rng.random(len(t)) < 10_000 / n_windows)].source for t in windows()])
    more = np.concatenate((inner, some)), np.concatenate((labels, np.zeros(len(some), dtype=labels.dtype)))
    common = outer, recall, lambda model: len(used_columns(model))
    detectors = [
        of_cascade(clf, [len(stage.columns) for stage in clf.stages_]),
        single("one model, the same images", booster, (haar.transform(inner), labels), *common),
        single("one model, and 10 000 windows", booster, (haar.transform(more[0]), more[1]), *common),
    ]
    print("windows of a photograph that nobody was trained on")
    pictures = (lambda picture=picture: haar.windows(picture)[0] for _ in range(5) for picture in to_look_at)
    side_by_side(detectors, pictures, outer, "features")
    test, truth = fetch_faces("test")
    test = test.reshape(len(truth), -1)
    print("the test images of MIT-CBCL, which are separate images; their faces are harder than those of training")
    others = (lambda: haar.transform(test[truth == 0]) for _ in range(5))
    side_by_side(detectors, others, haar.transform(test[truth == 1]), "features")


# ------------------------------------------------------------------------------- stream


CENTRES = np.random.default_rng(0).normal(size=(8, 12))
CENTRES *= 9.0 / np.linalg.norm(CENTRES, axis=1, keepdims=True)


def towards(n: int, n_towards: int, how_far: Any, seed: int) -> np.ndarray:
    """Thirty normal columns; some rows are moved towards one of eight centres."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 30))
    X[:n_towards, :12] += CENTRES[rng.integers(8, size=n_towards)] * rng.uniform(*how_far, (n_towards, 1))
    return X


def negatives(n: int, seed: int) -> np.ndarray:
    """Every fiftieth row lies on the way to a centre, up to half of it."""
    return towards(n, n // 50, (0.0, 0.5), seed)


def positives_at_centres(n: int, seed: int) -> np.ndarray:
    return towards(n, n, (1.0, 1.0), seed)


def stream(n_rows: int = 5_000_000, size: int = 50_000) -> None:
    X = np.concatenate((positives_at_centres(6000, 1), negatives(30_000, 2)))
    y = np.repeat([1, 0], [6000, 30_000])
    many = np.concatenate((X, *(negatives(100_000, 1000 + k) for k in range(5))))
    rows = (X, y), (many, np.arange(len(many)) < 6000)
    positives = positives_at_centres(20_000, 3)
    for learner in ("tree", "stump"):
        print(f"\nA stream, {learner}s")
        booster = CSRAClassifier(estimator=learner, n_estimators=300, n_jobs=1)
        clf = CascadeClassifier(
            booster, n_stages=12, detection_rate=0.998, false_alarm_rate=0.2, confidence=None, random_state=0
        )
        fitted(clf, X, y, negatives=(negatives(100_000, 1000 + k) for k in range(200)))
        recall = float(np.mean(clf.predict(positives) == 1))
        booster.set_params(n_estimators=int(clf.history_["n_rounds"].sum()))
        detectors = [
            of_cascade(clf, clf.history_["n_rounds"].tolist()),
            single("one model, the same rows", booster, rows[0], positives, recall, lambda m: m.n_estimators_),
            single("one model, 500 000 rows more", booster, rows[1], positives, recall, lambda m: m.n_estimators_),
        ]
        chunks = (negatives(size, 10**6 + k) for k in range(n_rows // size))
        side_by_side(detectors, (lambda chunk=chunk: chunk for chunk in chunks), positives, "rounds")
        found = clf.predict(positives[: n_rows // 10**6]) == 1
        print(f"of {len(found)} positives among {n_rows:,} rows the cascade finds {found.sum()}")


# ------------------------------------------------------------------------------- memory


def peak() -> float:
    """The largest resident memory in MiB; `getrusage` would count what the parent process had when it started this."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**10


def one_fit(output: str, n_images: int) -> None:
    """In a process of its own: fit stumps to the features of images of noise, as a lazy table or as an array."""
    X = np.random.default_rng(0).integers(0, 256, size=(n_images, 19 * 19)).astype(np.uint8)
    haar = HaarFeatures(min_size=2, size_step=2, output=output).fit(X)
    booster = CSRAClassifier(n_estimators=20, n_jobs=1)
    booster.fit(X, X[:, 0] > 128)  # so that the library is loaded
    before, started = peak(), time.perf_counter()
    booster.fit(haar.transform(X), X[:, 0] > 128)
    fit = time.perf_counter() - started
    dense, codes = (len(X) * haar.n_features_out_ * n / 2**20 for n in (8, 1))
    print(
        f"{f'output={output!r}':<15} {haar.n_features_out_} features of {len(X):6} images, "
        f"{dense:6,.0f} MiB of doubles, {codes:4,.0f} MiB of bytes: {fit:4.1f} s, "
        f"{peak() - before:6,.0f} MiB more than before the fit",
        flush=True,
    )


def memory() -> None:
    print("\nMemory of a fit to Haar features", flush=True)
    for n_images in (1000, 4000, 16_000):
        for output in ("lazy", "array"):
            subprocess.run([sys.executable, __file__, "--one", output, str(n_images)], check=True)


if __name__ == "__main__":
    if "--one" in sys.argv:
        one_fit(sys.argv[-2], int(sys.argv[-1]))
    else:
        print(f"skewboost {skewboost.__version__}")
        for part in (faces, stream, memory):
            if len(sys.argv) == 1 or part.__name__ in sys.argv:
                part()
