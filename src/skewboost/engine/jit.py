"""How kernels are compiled: serial, without the GIL, and cached on disk wherever a folder can be written."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a plain loop with Numba on its first call."""
    return _compiled(function, nogil=True)


def brief(function: Function) -> Function:
    """The same for a loop of microseconds, which keeps the GIL.

    Letting go of it invites a helper thread that is on its way back to wait for work, and getting it back from there
    takes longer than the loop.
    """
    return _compiled(function, nogil=False)


def _compiled(function: Function, nogil: bool) -> Function:
    try:
        compiled = numba.njit(nogil=nogil, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder for the cache can be written: compile in every process
        compiled = numba.njit(nogil=nogil, error_model="numpy")(function)
    return cast(Function, compiled)


# Numba has no atomic operations for processors, only for graphics cards; these are what sharing work takes.


@intrinsic  # type: ignore[untyped-decorator]
def fetch_and_add(typing_context: Any, array: Any, index: Any) -> Any:
    """Add one to ``array[index]`` (int64) in one step that no other thread can get between; returns what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, context.get_constant(types.int64, 1), "seq_cst")

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """``array[index]`` (int64) as it is now, whoever wrote it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def relax(typing_context: Any) -> Any:
    """Tell the processor that this thread only waits, so that one that shares its core can go faster."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            name = "llvm.x86.sse2.pause"
            pause = builder.module.globals.get(name)
            builder.call(pause or ir.Function(builder.module, ir.FunctionType(ir.VoidType(), []), name), [])
        return context.get_dummy_value()

    return types.void(), generate


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])
