"""The engine: numbers in, numbers out. `boundary` says what it can be asked, `choose` picks an implementation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from skewboost.engine.boundary import Engine
from skewboost.engine.reference import ReferenceEngine

ENGINES = ("auto", "cpu", "reference")

# Cell updates that the NumPy engine makes in about the time that loading compiled kernels takes, and how many of them
# the search of a node is worth.
SMALL_WORK = 200_000_000
SEARCH = 100_000


# How many fits like the one at hand are going to be made: a compiler that is worth the wait for all of them is used.
REPEATS: ContextVar[int] = ContextVar("REPEATS", default=1)


@contextmanager
def repeated(n: int) -> Iterator[None]:
    """Within it, every fit is one of so many."""
    token = REPEATS.set(n)
    try:
        yield
    finally:
        REPEATS.reset(token)


def choose(engine: Any, n_cells: int, n_searches: int, n_jobs: int) -> Engine:
    """The engine that a name stands for; ``"auto"`` never makes a small table wait for a compiler.

    `n_searches` is how often about all cells are summed and a node is searched.
    """
    if engine == "auto":
        work = REPEATS.get() * n_searches * (n_cells + SEARCH)
        engine = "reference" if work <= SMALL_WORK else "cpu"
    if engine == "reference":
        return ReferenceEngine()
    if engine == "cpu":
        from skewboost.engine.cpu import CpuEngine  # imports Numba

        return CpuEngine(n_jobs)
    chosen: Engine = engine
    return chosen
