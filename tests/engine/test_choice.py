"""Which engine a name stands for, and what there is without a compiled library."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from skewboost import RealBoostClassifier, engine
from skewboost.engine import SlowEngineWarning, choose
from skewboost.engine.cpu import CpuEngine
from skewboost.engine.reference import ReferenceEngine


@pytest.fixture
def without_library(monkeypatch):
    """As installed where nothing could be compiled, and nobody was told yet."""
    monkeypatch.setattr(engine, "native_core", lambda: None)
    engine._warn_once.cache_clear()
    yield
    engine._warn_once.cache_clear()


def test_names_of_engines():
    assert isinstance(choose("reference", 2), ReferenceEngine)
    for name in ("auto", "cpu"):
        chosen = choose(name, 3)
        assert isinstance(chosen, CpuEngine)
        assert chosen.n_jobs == 3
    own = ReferenceEngine()
    assert choose(own, 2) is own


@pytest.mark.parametrize("n_rows", [4, 300, 40_000])
def test_auto_is_compiled_at_every_size(n_rows, monkeypatch):
    """A fit and a prediction never ask NumPy's engine."""

    def refuse(*args):
        raise AssertionError("NumPy's engine was asked")

    for name in ("cuts", "training_set", "encode", "score"):
        monkeypatch.setattr(ReferenceEngine, name, refuse)
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    y = np.arange(n_rows) % 2
    for learner in ("stump", "tree"):
        RealBoostClassifier(estimator=learner, n_estimators=2).fit(X, y).predict(X)


def test_without_a_library_numpy_computes_and_says_so_once(without_library):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0.5
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        slow = RealBoostClassifier(n_estimators=5).fit(X, y)
        slow.decision_function(X)
        RealBoostClassifier(n_estimators=5, engine="auto").fit(X, y)
    (warning,) = (w for w in told if w.category is SlowEngineWarning)
    assert re.search("without its native core .* Reinstall skewboost with pip", str(warning.message))
    named = RealBoostClassifier(n_estimators=5, engine="reference").fit(X, y)
    np.testing.assert_array_equal(slow.decision_function(X), named.decision_function(X))


def test_without_a_library_the_compiled_engine_is_refused(without_library):
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(RuntimeError, match=r"engine='cpu' needs the native core, which was not built.*with pip"):
        RealBoostClassifier(engine="cpu").fit(X, X[:, 0] > 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(choose("reference", 1), ReferenceEngine)
