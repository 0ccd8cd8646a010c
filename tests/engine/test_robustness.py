"""Interruptions, forks, crowds, a lack of memory, and leaks: programs of `ordeals`, each with a time limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has neither fork nor POSIX signals")
needs_linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells the size of a process")
# Under a sanitizer memory is neither limited nor given back, and Python must not be forked while threads run.
plain_only = pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer is watching")

ORDEALS = Path(__file__).with_name("ordeals.py")


def survive(*arguments, timeout, **environment):
    done = subprocess.run(
        [sys.executable, str(ORDEALS), *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr


each_size = pytest.mark.parametrize("size", ["quick", pytest.param("full", marks=pytest.mark.slow)])


def test_ctrl_c_at_any_moment_keeps_what_is_finished():
    survive("interrupted", timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
def test_ctrl_c_at_many_more_moments(seed):
    survive("interrupted", "full", str(seed), timeout=120)


@pytest.mark.slow
@each_size
@plain_only
def test_a_forked_child_fits_too(size):
    survive("forked", size, timeout=180)


@pytest.mark.slow
@each_size
def test_eight_fits_at_a_time_are_eight_fits(size):
    survive("crowded", size, timeout=180)


@pytest.mark.slow
@each_size
@needs_linux
@plain_only
def test_a_lack_of_memory_is_an_error_and_nothing_else(size):
    """The C library has one heap and gives back what is freed: spare memory would serve the next fit."""
    survive(
        "starved",
        size,
        timeout=300,
        MALLOC_ARENA_MAX="1",
        MALLOC_MMAP_THRESHOLD_="65536",
        MALLOC_TRIM_THRESHOLD_="65536",
    )


@pytest.mark.slow
@each_size
@needs_linux
@plain_only
def test_memory_does_not_grow_with_the_number_of_fits(size):
    survive("repeated", size, timeout=300)
