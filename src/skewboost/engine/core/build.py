"""Building the native core: one source, and a library for each level of the processor.

The libraries are in the folder of the engine. A stamp file with a hash of all sources tells whether they are up to
date. A finished library replaces the old one by a rename, so processes that have loaded the old one can keep it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from . import BuildError

if TYPE_CHECKING:  # imported only to build, so that checking whether a build is needed is fast
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
    """Return the file name of the library of a level."""
    return f"libskewboost-{level}{suffix}"


def digest() -> str:
    """Return a hash of the sources, of the build scripts, and of the machine (a folder may be shared by several)."""
    machine = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    found = hashlib.blake2b(f"{sys.platform} {machine}".encode(), digest_size=16)
    for path in sorted(HERE.iterdir()):
        if path.suffix in SUFFIXES:
            found.update(f"\n{path.name}\n".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def is_current(folder: Path) -> bool:
    """Whether the libraries in a folder are up to date."""
    try:
        built, *libraries = (folder / STAMP).read_text().split()
    except (OSError, ValueError):
        return False
    return built == digest() and all((folder / library).exists() for library in libraries)


def refresh(folder: Path) -> None:
    """Build the libraries in a folder, unless they are up to date.

    One process builds while others wait; if files cannot be locked, all build and the last one wins.
    """
    if is_current(folder):
        return
    from skewboost.files import locked, write_whole

    with ExitStack() as stack:
        lock = stack.enter_context(open(folder / LOCK, "ab"))
        with suppress(OSError):
            stack.enter_context(locked(lock))
        if is_current(folder):  # another process has built them
            return
        built = digest()  # if sources change during the build, the next call builds again
        libraries = build(folder)
        write_whole(folder / STAMP, "\n".join([built, *(library.name for library in libraries)]))


def build(folder: Path, target: Target | None = None) -> list[Path]:
    """Build the libraries of all levels, for this machine or, by zig, for another platform."""
    from .compilers import FLAGS, find, this_machine, zig

    compiler = find() if target is None else zig()
    target = this_machine() if target is None else target
    flags = {name(level, target.suffix): (*FLAGS, *extra) for level, extra in target.levels.items()}
    return _compile(compiler, flags, target, folder)


def build_sanitized(kind: str, folder: Path) -> Path:
    """Build a library that reports memory and arithmetic errors (``"address"``) or data races (``"thread"``)."""
    from .compilers import ARITHMETIC, LANGUAGE, Compiler, installed, this_machine

    compiler = installed()
    if compiler.is_zig:
        raise BuildError(f"zig has no {kind} sanitizer. Install GCC or Clang, or set CXX to one of them.")
    debugging = ("-O1", "-g", "-fno-omit-frame-pointer", "-Werror")
    flags = (*LANGUAGE, *ARITHMETIC, *debugging, *SANITIZERS[kind])
    target = this_machine()
    folder.mkdir(parents=True, exist_ok=True)
    compiler = Compiler(compiler.command, link=())  # the runtime library of sanitizers needs that of C++
    return _compile(compiler, {name(kind, target.suffix): flags}, target, folder)[0]


def _compile(compiler: Compiler, flags: dict[str, tuple[str, ...]], target: Target, folder: Path) -> list[Path]:
    """Compile libraries in parallel, given the flags of each by file name."""
    import subprocess
    import tempfile

    with ExitStack() as stack:
        # on the same file system, so that finished files can be renamed into place
        temporary = tempfile.TemporaryDirectory(prefix=".libskewboost-", dir=folder, ignore_cleanup_errors=True)
        scratch = Path(stack.enter_context(temporary))
        environment = dict(os.environ)
        if compiler.is_zig:  # by default it leaves hundreds of megabytes in the home folder
            environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(scratch / "cache"))
            environment.setdefault("ZIG_LOCAL_CACHE_DIR", environment["ZIG_GLOBAL_CACHE_DIR"])
        started = []
        for library, of_library in flags.items():
            # a relative path, because macOS stores it in the library
            command = compiler.shared(of_library, SOURCE, Path(library), target)
            process = stack.enter_context(
                subprocess.Popen(
                    command, cwd=scratch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
            )
            stack.callback(process.kill)  # if another one fails, or the user interrupts
            started.append((command, process))
        for command, process in started:
            output = process.communicate()[0].decode(errors="replace").strip()
            if process.returncode != 0:
                raise BuildError(
                    f"The native core was not built. The command\n  {' '.join(command)}\nfailed:\n{output}"
                )
        for library in flags:
            os.replace(scratch / library, folder / library)
    return [folder / library for library in flags]
