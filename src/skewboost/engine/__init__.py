"""The engine: numbers in, numbers out. `boundary` says what it can be asked, `choose` picks an implementation."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from skewboost.engine.boundary import Engine
from skewboost.engine.cpu import CpuEngine
from skewboost.engine.native import native_core
from skewboost.engine.reference import ReferenceEngine

ENGINES = ("auto", "cpu", "reference")

HOW_TO_GET_IT = (
    "Install skewboost again with pip, which builds it: with the C++ compiler of the machine, or with one that pip "
    "fetches."
)


class SlowEngineWarning(UserWarning):
    """The compiled engine is not there, so that NumPy has to do its work."""


def choose(engine: Any, n_jobs: int) -> Engine:
    """The engine that a name stands for: ``"auto"`` is the compiled one, or NumPy's where nothing was compiled."""
    if engine == "reference":
        return ReferenceEngine()
    if engine not in ENGINES:
        chosen: Engine = engine
        return chosen
    native = native_core()
    if native is not None:
        return CpuEngine(native, n_jobs)
    if engine == "cpu":
        raise RuntimeError(f"engine='cpu' needs the native core, which was not built. {HOW_TO_GET_IT}")
    _warn_once()
    return ReferenceEngine()


@cache
def _warn_once() -> None:
    warnings.warn(
        "skewboost was installed without its native core and computes with NumPy, which is some hundred times slower. "
        + HOW_TO_GET_IT,
        SlowEngineWarning,
        stacklevel=2,
    )
