"""A fit says so before it takes most of the memory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import skewboost as sb
from skewboost import memory
from skewboost.errors import MemoryUseWarning
from skewboost.learners import Tree
from skewboost.memory import memory_limit, warn_of_memory

FITS = {
    "portfolio": (sb.SkewBoostClassifier(effort="quick", random_state=0), 4 * 2**20),
    "portfolio with a goal": (
        sb.SkewBoostClassifier(effort="quick", random_state=0, goal="recall >= 10%", confidence=0.5),
        4 * 2**20,
    ),
    "goal of a portfolio": (
        sb.GoalSearchCV(
            sb.SkewBoostClassifier(effort="quick", random_state=0), "recall >= 10%", confidence=None, random_state=0
        ),
        4 * 2**20,
    ),
    "stumps": (sb.CSRAClassifier(n_estimators=3), 2**18),
    "trees": (sb.LogitBoostClassifier(estimator=Tree(), n_estimators=3), 2**20),
}


def table(p):
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, p)), np.arange(90) % 3 == 0


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "goal of" in name else name for name in FITS]
)
def test_a_fit_that_needs_most_of_the_memory_warns_and_fewer_columns_help(name, monkeypatch):
    clf, limit = FITS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", MemoryUseWarning)  # there is enough
        clf.fit(*table(200))
    monkeypatch.setattr(memory, "memory_limit", lambda: float(limit))
    with pytest.warns(MemoryUseWarning, match=r"needs about .* of memory \(.*more than half of .*columns") as caught:
        clf.fit(*table(200))
    assert caught[0].filename == __file__ or caught[0].filename.endswith("parallel.py")  # which fits for a search
    with warnings.catch_warnings():
        warnings.simplefilter("error", MemoryUseWarning)
        clf.fit(*table(4))


def test_fewer_leaves_help(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 440_000.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sb.LogitBoostClassifier(estimator=Tree(max_leaf_nodes=2), n_estimators=3).fit(*table(60))
        with pytest.warns(MemoryUseWarning, match="max_leaf_nodes"):
            sb.LogitBoostClassifier(estimator=Tree(max_leaf_nodes=8), n_estimators=3).fit(*table(60))


def test_the_largest_parts_come_first(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 2.0**31)
    with pytest.warns(MemoryUseWarning) as caught:
        warn_of_memory({"few": 2.0**10, "codes": 2.0**29, "scores": 2.0**30}, "Pass fewer rows.")
    assert str(caught[0].message) == (
        "This fit needs about 1.5 GiB of memory (scores 1 GiB, codes 0.5 GiB), which is more than half of the 2 GiB "
        "that there are. Pass fewer rows."
    )


def test_the_limit_is_the_lowest_of_the_machine_and_the_control_groups(monkeypatch, tmp_path):
    own = tmp_path / "own"
    monkeypatch.setattr(memory, "OWN_GROUPS", own)
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_of_machine", lambda: 1000.0)
    assert memory_limit() == 1000.0  # no such file: not Linux
    for path, limit in (("a/memory.max", "300"), ("a/b/memory.max", "max"), ("memory/c/memory.limit_in_bytes", "200")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(limit + "\n")
    own.write_text("0::/a/b\n")
    assert memory_limit() == 300.0
    own.write_text("5:cpu:/a\n4:hugetlb,memory:/c\n")
    assert memory_limit() == 200.0
    own.write_text("0::/elsewhere\n")
    assert memory_limit() == 1000.0
