"""Loading the native core: the fastest of its builds that the processor can run.

The environment variable ``SKEWBOOST_CORE`` selects another one: ``baseline``, ``v3``, or the path of a library.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

ABI = 12  # the number in core/core.cpp, which changes with every signature
LEVELS = ("baseline", "v3")
HERE = Path(__file__).parent
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
REINSTALL = (
    "Reinstall skewboost with pip, which builds the core with the C++ compiler of the machine or with one that pip "
    "downloads."
)


class LibraryError(RuntimeError):
    """The native core exists but cannot be used."""


@cache
def load() -> ctypes.CDLL | None:
    """Load the native core, or return None if the package was installed without it.

    In a checkout it is built first if its sources have changed.
    """
    return _load(os.environ.get("SKEWBOOST_CORE", ""), HERE)


def _load(selected: str, folder: Path) -> ctypes.CDLL | None:
    """Load the selected library (empty: the best one) of those in a folder."""
    if selected and selected not in LEVELS:
        if not Path(selected).is_file():
            raise LibraryError(
                f"SKEWBOOST_CORE={selected!r} is neither 'baseline' nor 'v3', nor the path of a library. "
                "Unset it to use the best one."
            )
        return _open_library(Path(selected))
    _refresh(folder)
    available = [level for level in LEVELS if _path(folder, level).exists()]
    if selected and selected not in available:
        raise LibraryError(
            f"SKEWBOOST_CORE={selected!r}: there is no such build of the native core for this machine. "
            f"Unset it, or set it to {' or '.join(map(repr, available)) or 'the path of a library'}."
        )
    if not available:
        return None
    baseline = _open_library(_path(folder, "baseline"))
    runs_v3 = baseline.skewboost_level() >= 3
    if selected == "v3" and not runs_v3:
        raise LibraryError("SKEWBOOST_CORE='v3' needs a processor with AVX2. Set it to 'baseline', or unset it.")
    if selected == "baseline" or not runs_v3 or "v3" not in available:
        return baseline
    return _open_library(_path(folder, "v3"))


def _path(folder: Path, level: str) -> Path:
    return folder / f"libskewboost-{level}{SUFFIX}"


def _open_library(path: Path) -> ctypes.CDLL:
    """Load a library and check its version."""
    try:
        library = ctypes.CDLL(str(path.absolute()))
        abi = library.skewboost_abi_version()
    except (OSError, AttributeError) as error:
        raise LibraryError(f"{path} cannot be loaded as skewboost's native core: {error}. {REINSTALL}") from error
    if abi != ABI:
        raise LibraryError(f"{path} has the interface {abi}, but this version of skewboost needs {ABI}. {REINSTALL}")
    return library


def _refresh(folder: Path) -> None:
    """In a checkout, build what has changed; if there is no compiler and no older build, use no library."""
    if not (folder / "core" / "build.py").is_file():
        return
    from skewboost.engine.core import NoCompilerError, build

    try:
        build.refresh(folder)
    except (NoCompilerError, OSError) as error:
        if _path(folder, "baseline").exists():
            raise LibraryError(
                f"The sources of the native core have changed, but it cannot be built again. {error}"
            ) from error
