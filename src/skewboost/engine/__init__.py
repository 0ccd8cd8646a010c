"""The engine: numbers in, numbers out. `boundary` says what it can be asked, `choose` picks an implementation."""

from __future__ import annotations

from typing import Any

from skewboost.engine.boundary import Engine
from skewboost.engine.reference import ReferenceEngine

ENGINES = ("auto", "cpu", "reference")

# Cell updates that the NumPy engine makes in about the time that loading compiled kernels takes.
SMALL_WORK = 100_000_000


def choose(engine: Any, n_cells: int, n_rounds: int, n_jobs: int) -> Engine:
    """The engine that a name stands for; ``"auto"`` never makes a small table wait for a compiler."""
    if engine == "auto":
        engine = "reference" if n_cells * n_rounds <= SMALL_WORK else "cpu"
    if engine == "reference":
        return ReferenceEngine()
    if engine == "cpu":
        from skewboost.engine.cpu import CpuEngine  # imports Numba

        return CpuEngine(n_jobs)
    chosen: Engine = engine
    return chosen
