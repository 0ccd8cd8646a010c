"""How kernels are compiled: serial, without the GIL, and cached on disk wherever a folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a plain loop with Numba on its first call."""
    try:
        compiled = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder for the cache can be written: compile in every process
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return cast(Function, compiled)
