"""What tests share: the golden traces, and data that is awkward in every way."""

from __future__ import annotations

import importlib.util
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn

from engine.partitioned import PartitionedEngine
from skewboost import catalogue
from skewboost.boosting.catalogue import ANY, ONE_FEATURE, OWN, PARTITIONS, Entry
from skewboost.datasets import make_intrusions
from skewboost.learners import AlternatingTree, Histogram, Line, Stump, Tree

TRACES = Path(__file__).resolve().parent / "traces"
SHARED = Path(__file__).resolve().parents[2] / "shared"  # data sets that are not shipped; for slow tests only

# Checks of scikit-learn that are wrong in old versions. Of classifiers for two classes this one makes the labels by
# the first one, and shuffles one of the two sides before that.
FLAWED: dict[str, str] = {}
if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 7):
    FLAWED["check_sample_weight_equivalence_on_dense_data"] = "scikit-learn 1.6 compares two different problems"

# tests/engine has the engines agree on every variant; that the laws hold on each of them is for make test-slow
each_engine = pytest.mark.parametrize(
    "engine",
    [
        "cpu",
        pytest.param("reference", marks=pytest.mark.slow),
        pytest.param(PartitionedEngine(), marks=pytest.mark.slow),
    ],
    ids=str,
)


def sized(name: str, quick: Any, full: Any) -> pytest.MarkDecorator:
    """A parameter that makes a test quick, and what it is in make test-slow."""
    return pytest.mark.parametrize(name, [quick, pytest.param(full, marks=pytest.mark.slow)])


def load_trace(name: str) -> dict:
    """A golden trace: every round of an algorithm on a small table, by an implementation of its own."""
    return json.loads((TRACES / f"{name}.json").read_text())


def load_trace_data(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = load_trace(f"data_{name}")

    def matrix(rows: list) -> np.ndarray:
        return np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=float)

    return matrix(data["X"]), np.array(data["y"]), matrix(data["X_test"])


def load_real(name: str) -> tuple[Any, np.ndarray]:
    """A data set of the papers as a pandas table and labels 0 and 1.

    These are not shipped. The tests that need them are slow ones; the quick ones use what comes with the package.
    """
    path = SHARED / "data" / "load.py"
    if not path.exists():
        pytest.skip(f"{name} is not at hand: put the data sets of the papers, with their load.py, into {path.parent}")
    spec = importlib.util.spec_from_file_location("shared_data", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)


def attacks(n_rows: int) -> tuple[Any, np.ndarray]:
    """Network connections as a pandas table, and whether they are attacks: 6 %."""
    X, y = make_intrusions(n_rows)
    return X, (np.asarray(y) != "normal").astype(int)


def awkward_data(n_rows: int = 400, seed: int = 0, missing: float = 0.06) -> tuple[np.ndarray, np.ndarray]:
    """Continuous, rounded, binary and constant columns, missing cells, about a fifth positives, overlapping."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 9))
    X[:, 3] = np.round(X[:, 3], 1)
    X[:, 4] = rng.integers(0, 2, n_rows)
    X[:, 5] = 1.0
    X[:, 6] = np.exp(3 * X[:, 6])
    y = (X[:, 0] + 0.8 * X[:, 3] * X[:, 4] + 0.5 * rng.normal(size=n_rows) > 1.0).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


NASTY_NAMES = [
    *("plain", "with space", 'quo"te', "select", "int", "größe µ", "back\\slash", "*/ /* -- ; ??/", "line\nbreak"),
]
NASTY_TEXTS = [
    *("it's", 'say "hi"', "back\\slash", "two\nlines", "100%", "naïve ☃", "??/", "", "NULL", "{x}", "a,b", "--", "1"),
]


def nasty_table(n: int = 260) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and categories whose names break whatever does not quote them."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(n, len(NASTY_NAMES))).round(1), columns=NASTY_NAMES)
    kind = rng.integers(0, len(NASTY_TEXTS), n)
    table["'; DROP TABLE data; --"] = np.array(NASTY_TEXTS, dtype=object)[kind]
    table["class"] = np.array(["u", "v", "w"], dtype=object)[rng.integers(0, 3, n)]
    score = table["plain"] + 0.7 * (kind % 3) + (table["class"] == "v") * table["select"] + 0.4 * rng.normal(size=n)
    for name in table.columns:
        table.loc[rng.random(n) < 0.07, name] = None
    return table, np.where(score > 1.2, "it's bad\n\"\\", "gut µ %")


def of_any_class(costs: np.ndarray, n_classes: int = 2) -> np.ndarray:
    """Costs of misclassifying rows, which are the same whichever class a row is of."""
    return np.repeat(np.asarray(costs)[:, None], n_classes, axis=1)


def make(booster: type, n_rounds: int, learner: object = None, **params: object) -> object:
    """A booster of so many rounds, whatever it calls them, on a learner if it can choose one."""
    if learner is not None and "estimator" in inspect.signature(booster).parameters:
        params["estimator"] = learner
    return booster(**{booster._rounds: n_rounds}, **params)


def usable(entry: Entry, learners: list) -> list:
    """Those of the learners that a variant can boost; None if it has its own."""
    if entry.learners == OWN:
        return [None]
    kinds: tuple = {ONE_FEATURE: (Stump, Histogram), PARTITIONS: (Stump, Tree), ANY: (object,)}[entry.learners]
    found = [learner for learner in learners if learner == "stump" or isinstance(learner, kinds)]
    if entry.needs == "responses":
        found = [learner for learner in found if not isinstance(learner, AlternatingTree)]
    if "responses" not in entry.needs:
        found = [learner for learner in found if not isinstance(learner, Line)]
    return found


def pairs(learners: list) -> list:
    """Every variant with each of the learners that it can boost."""
    return [
        pytest.param(entry.estimator, learner, id=f"{entry.name}-{learner}")
        for entry in catalogue()
        for learner in usable(entry, learners)
    ]


def edges(formula, X):
    """Rows on every threshold of a column and on either side of it, all else as in some row of X."""
    cuts = [(part.feature, cut) for own in formula.sums for part in own.tables for cut in getattr(part, "cuts", ())]
    trees = [own.forest for own in formula.sums]
    cuts += [(j, cut) for f in trees for j, cut in zip(f.feature.tolist(), f.cut.tolist()) if np.isfinite(cut)]
    rows = []
    for k, (j, cut) in enumerate(dict.fromkeys((j, cut) for j, cut in cuts if j < len(formula.columns))):
        for value in (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf)):
            rows.append(X[k % len(X)].copy())
            rows[-1][j] = value
    return np.array(rows)
