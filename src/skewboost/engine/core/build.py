"""Building the native core: one source, a library for every level of the processor.

The libraries lie beside the modules of the engine. A file with a hash of all that they were built from says whether
they are up to date; as long as no file is touched, their times say so. Libraries take their place when they are
complete, so that whoever has loaded one keeps it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from . import BuildError

if TYPE_CHECKING:  # imported when something is built, so that looking whether anything must be takes no time
    from skewboost.engine.core.compilers import Compiler, Target

HERE = Path(__file__).parent
SOURCE = HERE / "core.cpp"
STAMP = "libskewboost.built"
SUFFIXES = (".cpp", ".h", ".py")
LOCK = "libskewboost.lock"

SANITIZERS = {
    "address": ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"),
    "thread": ("-fsanitize=thread",),
}


def name(level: str, suffix: str) -> str:
    """Of the library of a level."""
    return f"libskewboost-{level}{suffix}"


def digest() -> str:
    """Of the sources, of how they are built, and of the machine: folders may be shared by several."""
    found = hashlib.blake2b(_machine().encode(), digest_size=16)
    for path in sorted(HERE.iterdir()):
        if path.suffix in SUFFIXES:
            found.update(f"\n{path.name}\n".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def times() -> str:
    """Of when the sources were changed last, and how long they are: as long as that stays, they need not be read."""
    with os.scandir(HERE) as entries:
        sources = sorted((e.name, e.stat().st_mtime_ns, e.stat().st_size) for e in entries if e.name.endswith(SUFFIXES))
    return hashlib.blake2b(repr((_machine(), sources)).encode(), digest_size=16).hexdigest()


def _machine() -> str:
    machine = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return f"{sys.platform} {machine}"


def is_current(folder: Path) -> bool:
    """Whether the libraries in a folder are those of the sources."""
    try:
        built, seen, *libraries = (folder / STAMP).read_text().split()
    except (OSError, ValueError):
        return False
    return (seen == times() or built == digest()) and all((folder / library).exists() for library in libraries)


def refresh(folder: Path) -> None:
    """Build the libraries in a folder, unless they are up to date.

    Parameters
    ----------
    folder : Path
        Where they are to lie.

    Raises
    ------
    BuildError
        With what the compiler said.
    OSError
        If the folder cannot be written to.
    """
    if is_current(folder):
        return
    from skewboost.files import write_whole

    with _alone(folder):
        if is_current(folder):  # another process was faster
            return
        now = digest(), times()  # of what is read now: if sources change meanwhile, they are built again next time
        libraries = build(folder)
        write_whole(folder / STAMP, "\n".join([*now, *(library.name for library in libraries)]))


def build(folder: Path, target: Target | None = None) -> list[Path]:
    """Build the libraries of all levels.

    Parameters
    ----------
    folder : Path
        Where they are to lie.
    target : Target, default=None
        What they are for: this machine, or another, for which zig builds them.

    Returns
    -------
    list of Path
    """
    from .compilers import FLAGS, find, this_machine, zig

    compiler = find() if target is None else zig()
    target = this_machine() if target is None else target
    flags = {name(level, target.suffix): (*FLAGS, *extra) for level, extra in target.levels.items()}
    return _compiled(compiler, flags, target, folder)


def build_sanitized(kind: str, folder: Path) -> Path:
    """Build a library that reports errors of memory and arithmetic (``"address"``) or data races (``"thread"``)."""
    from .compilers import ARITHMETIC, LANGUAGE, Compiler, installed, this_machine

    compiler = installed()
    if compiler.is_zig:
        raise BuildError(f"zig brings no {kind} sanitizer. Install GCC or Clang, or let CXX name one.")
    debugging = ("-O1", "-g", "-fno-omit-frame-pointer", "-Werror")
    flags = (*LANGUAGE, *ARITHMETIC, *debugging, *SANITIZERS[kind])
    target = this_machine()
    folder.mkdir(parents=True, exist_ok=True)
    anything = Compiler(compiler.command, link=())  # the run-time library of sanitizers needs that of C++
    return _compiled(anything, {name(kind, target.suffix): flags}, target, folder)[0]


def _compiled(compiler: Compiler, flags: dict[str, tuple[str, ...]], target: Target, folder: Path) -> list[Path]:
    """Libraries of the given names, compiled side by side."""
    import subprocess

    with _scratch(folder) as scratch, ExitStack() as stack:
        environment = dict(os.environ)
        if compiler.is_zig:  # which would otherwise leave hundreds of megabytes in the home folder
            environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(scratch / "cache"))
            environment.setdefault("ZIG_LOCAL_CACHE_DIR", environment["ZIG_GLOBAL_CACHE_DIR"])
        started = []
        for library, of_library in flags.items():
            # a relative path, as macOS keeps it in the library
            command = compiler.shared(of_library, SOURCE, Path(library), target)
            process = stack.enter_context(
                subprocess.Popen(
                    command, cwd=scratch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
            )
            stack.callback(process.kill)  # if another fails, or the user interrupts
            started.append((command, process))
        for command, process in started:
            said = process.communicate()[0].decode(errors="replace").strip()
            if process.returncode != 0:
                raise BuildError(f"The native core was not built. The command\n  {' '.join(command)}\nsaid:\n{said}")
        for library in flags:
            os.replace(scratch / library, folder / library)
    return [folder / library for library in flags]


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder for what is unfinished, from which files can be moved into place at once."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix=".libskewboost-", dir=folder, ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process builds, others wait for it; where files cannot be locked, all build and the last one stays."""
    from skewboost.files import locked

    with ExitStack() as stack:
        lock = stack.enter_context(open(folder / LOCK, "ab"))
        with suppress(OSError):
            stack.enter_context(locked(lock))
        yield
