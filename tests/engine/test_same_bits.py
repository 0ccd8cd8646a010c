"""A model has the same bits whatever the number of threads, and on every build of the native core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import models
from skewboost.engine import library


@pytest.fixture(scope="module")
def tables():
    return {name: make() for name, make in models.TABLES.items()}


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", models.TABLES)
@pytest.mark.parametrize("name", models.MODELS)
def test_the_number_of_threads_changes_no_bit(name, size, tables):
    assert len({models.digest(name, tables[size], n_jobs) for n_jobs in (1, 3)}) == 1


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize("size", ["few rows", pytest.param("more rows", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", models.PORTFOLIOS)
def test_the_number_of_threads_changes_no_bit_of_a_portfolio(name, size):
    """A whole fit, predictions and contributions, of categories, missing cells and principal components."""
    table = models.OF_PORTFOLIOS[size]()
    assert len({models.digest(name, table, n_jobs) for n_jobs in (1, 3)}) == 1


def test_portfolios_of_the_small_table_have_all_kinds_of_parts():
    """Otherwise the test above would say less than it seems to."""
    X, score = models.OF_PORTFOLIOS["few rows"]()
    clf, labels_of = models.PORTFOLIOS["portfolio"]
    model = clf.fit(X, labels_of(score))._model
    assert model.components is not None
    assert any((part.trees.feature >= model.n_features).any() for part in model.parts)
    assert {part.floor is None for part in model.parts} == {True, False}
    tested = np.concatenate([part.trees.feature for part in model.parts])
    assert set(np.flatnonzero(model.bins.nominal)) <= set(tested)
    assert any(part.trees.missing_left.any() for part in model.parts)


@pytest.mark.slow
@pytest.mark.parametrize("size", models.LARGE)
def test_the_number_of_threads_changes_no_bit_of_large_models(size):
    table = models.LARGE[size]()
    for name in models.MODELS:
        assert len({models.digest(name, table, n_jobs) for n_jobs in (1, 2, 3, 8)}) == 1, name


@pytest.mark.slow
@pytest.mark.parametrize("size", ["small", "large"])
def test_a_model_does_not_depend_on_the_build(size):
    core = library.load()
    if core is None or core.skewboost_level() < 3:
        pytest.skip("this processor runs the baseline build only: it has no AVX2, or nothing was compiled")
    if os.environ.get("SKEWBOOST_CORE"):
        pytest.skip("SKEWBOOST_CORE asks for one build only")
    programs = [
        subprocess.Popen(
            [sys.executable, str(Path(models.__file__)), size],
            env={**os.environ, "SKEWBOOST_CORE": level},
            stdout=subprocess.PIPE,
            text=True,
        )
        for level in library.LEVELS
    ]
    told = [program.communicate(timeout=300)[0].splitlines() for program in programs]
    assert [program.returncode for program in programs] == [0] * len(programs)
    n_portfolios = len(models.PORTFOLIOS) * len(models.OF_PORTFOLIOS)
    assert len(told[0]) == len(models.MODELS) * len(models.TABLES) + n_portfolios
    assert told[0] == told[1]
