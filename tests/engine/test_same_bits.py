"""A model has the same bits whatever the number of threads, and on every build of the native core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import models
from skewboost.engine import library


@pytest.fixture(scope="module")
def tables():
    return {name: make() for name, make in models.TABLES.items()}


@pytest.mark.parametrize("size", models.TABLES)
@pytest.mark.parametrize("name", models.MODELS)
def test_the_number_of_threads_changes_no_bit(name, size, tables):
    assert len({models.digest(name, tables[size], n_jobs) for n_jobs in (1, 2, 3, 8)}) == 1


def test_a_model_does_not_depend_on_the_build():
    core = library.load()
    if core is None or core.skewboost_level() < 3:
        pytest.skip("this processor runs the baseline build only: it has no AVX2, or nothing was compiled")
    if os.environ.get("SKEWBOOST_CORE"):
        pytest.skip("SKEWBOOST_CORE asks for one build only")
    told = []
    for level in library.LEVELS:
        done = subprocess.run(
            [sys.executable, str(Path(models.__file__))],
            env={**os.environ, "SKEWBOOST_CORE": level},
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        )
        told.append(done.stdout.splitlines())
    assert len(told[0]) == len(models.MODELS) * len(models.TABLES)
    assert told[0] == told[1]
