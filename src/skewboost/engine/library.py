"""The native core, loaded: the fastest of its builds that the processor can run.

The environment variable ``SKEWBOOST_CORE`` names another: ``baseline``, ``v3``, or the path of a library.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

ABI = 7  # core/core.cpp gives the same number, and changes it with every signature
LEVELS = ("baseline", "v3")
HERE = Path(__file__).parent
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
REINSTALL = "Install skewboost again with pip, which builds it."


class LibraryError(RuntimeError):
    """The native core is there, and cannot be used."""


@cache
def load() -> ctypes.CDLL | None:
    """Load the native core.

    In a checkout it is built first if its sources have changed.

    Returns
    -------
    ctypes.CDLL or None
        None where the package was installed without it.

    Raises
    ------
    LibraryError
        If ``SKEWBOOST_CORE`` asks for what there is not, or a library cannot be loaded or is not of this version.
    BuildError
        If the sources in a checkout cannot be compiled.
    """
    return _load(os.environ.get("SKEWBOOST_CORE", ""), HERE)


def _load(wanted: str, folder: Path) -> ctypes.CDLL | None:
    """The library that is wanted (any if empty), of those in a folder."""
    if wanted and wanted not in LEVELS:
        if not Path(wanted).is_file():
            raise LibraryError(
                f"SKEWBOOST_CORE={wanted!r} is neither 'baseline' nor 'v3', nor the path of a library. "
                "Unset it to have the best one chosen."
            )
        return _opened(Path(wanted))
    _refresh(folder)
    there = [level for level in LEVELS if _path(folder, level).exists()]
    if wanted and wanted not in there:
        raise LibraryError(
            f"SKEWBOOST_CORE={wanted!r}: there is no such build of the native core for this machine. "
            f"Unset it, or set it to {' or '.join(map(repr, there)) or 'the path of a library'}."
        )
    if not there:
        return None
    baseline = _opened(_path(folder, "baseline"))
    runs_v3 = baseline.skewboost_level() >= 3
    if wanted == "v3" and not runs_v3:
        raise LibraryError("SKEWBOOST_CORE='v3' needs a processor with AVX2. Set it to 'baseline', or unset it.")
    if wanted == "baseline" or not runs_v3 or "v3" not in there:
        return baseline
    return _opened(_path(folder, "v3"))


def _path(folder: Path, level: str) -> Path:
    return folder / f"libskewboost-{level}{SUFFIX}"


def _opened(path: Path) -> ctypes.CDLL:
    """The library of a path, if it is of this version."""
    try:
        library = ctypes.CDLL(str(path.absolute()))
        abi = library.skewboost_abi_version()
    except (OSError, AttributeError) as error:
        raise LibraryError(f"{path} cannot be loaded as skewboost's native core: {error}. {REINSTALL}") from error
    if abi != ABI:
        raise LibraryError(f"{path} has the interface {abi}, and this skewboost needs {ABI}. {REINSTALL}")
    return library


def _refresh(folder: Path) -> None:
    """In a checkout, build what has changed; where that is impossible and nothing was built before, do without."""
    if not (folder / "core" / "build.py").is_file():
        return
    from skewboost.engine.core import NoCompilerError, build

    try:
        build.refresh(folder)
    except (NoCompilerError, OSError) as error:
        if _path(folder, "baseline").exists():
            raise LibraryError(
                f"The sources of the native core have changed since it was built, and it cannot be built again. {error}"
            ) from error
