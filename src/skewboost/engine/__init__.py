"""The engine: numbers in, numbers out. `boundary` says what it can be asked, `choose` picks an implementation."""

from __future__ import annotations

from typing import Any

from skewboost.engine.boundary import Engine
from skewboost.engine.reference import ReferenceEngine

ENGINES = ("auto", "cpu", "reference")

# Cell updates that the NumPy engine makes in about the time that loading compiled kernels takes, and how many of them
# the search of a node is worth.
SMALL_WORK = 200_000_000
SEARCH = 100_000


def choose(engine: Any, n_cells: int, n_searches: int, n_jobs: int) -> Engine:
    """The engine that a name stands for; ``"auto"`` never makes a small table wait for a compiler.

    `n_searches` is how often about all cells are summed and a node is searched.
    """
    if engine == "auto":
        engine = "reference" if n_searches * (n_cells + SEARCH) <= SMALL_WORK else "cpu"
    if engine == "reference":
        return ReferenceEngine()
    if engine == "cpu":
        from skewboost.engine.cpu import CpuEngine  # imports Numba

        return CpuEngine(n_jobs)
    chosen: Engine = engine
    return chosen
