"""The engine: binning, split search, tree growing and scoring.

`boundary` defines the interface of an engine, and `choose` returns an implementation. Only `table`, `binning` and
`row_hash` handle names of columns and categories; all other modules see numbers.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from skewboost.engine.boundary import Engine
from skewboost.engine.cpu import CpuEngine
from skewboost.engine.library import REINSTALL
from skewboost.engine.native import native_core
from skewboost.engine.reference import ReferenceEngine

ENGINES = ("auto", "cpu", "reference")


class SlowEngineWarning(UserWarning):
    """The native core is not installed, so the slower NumPy engine is used."""


def choose(engine: Any, n_jobs: int) -> Engine:
    """Return the engine of a name; ``"auto"`` is the native one, or NumPy's if the native core was not built."""
    if engine == "reference":
        return ReferenceEngine()
    if engine not in ENGINES:
        custom: Engine = engine
        return custom
    core = native_core()
    if core is not None:
        return CpuEngine(core, n_jobs)
    if engine == "cpu":
        raise RuntimeError(f"engine='cpu' needs the native core, which was not built. {REINSTALL}")
    _warn_once()
    return ReferenceEngine()


@cache
def _warn_once() -> None:
    warnings.warn(
        "skewboost was installed without its native core and computes with NumPy, which is several hundred times "
        f"slower. {REINSTALL}",
        SlowEngineWarning,
        stacklevel=2,
    )
