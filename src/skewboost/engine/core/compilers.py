"""Finding a C++ compiler, and the commands that build a shared library with it.

The library does not use the C++ standard library, so it runs wherever Python does. Flags must not change results:
floating-point operations are neither contracted nor reordered, and all builds give the same bits.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from skewboost.files import write_whole

from . import BuildError, NoCompilerError

LANGUAGE = ("-std=c++17", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-Wall", "-Wextra")
ARITHMETIC = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
FLAGS = (*LANGUAGE, *ARITHMETIC, "-O3")

# The level x86-64-v3, spelled out because only GCC 11, Clang 12 and later know it by that name
V3 = (
    *("-mcx16", "-msahf", "-mpopcnt", "-msse4.2"),
    *("-mavx2", "-mbmi", "-mbmi2", "-mf16c", "-mfma", "-mlzcnt", "-mmovbe"),
)

# Options that leave out the C++ standard library: GCC has -nostdlib++ since version 13, and Apple has no libgcc.
LINKS = (
    ("-nostdlib++", "-static-libgcc"),
    ("-nodefaultlibs", "-lc", "-lm", "-lgcc", "-lpthread"),
    ("-nostdlib++",),
)

PROBE = """\
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
extern "C" double skewboost_probe(double x) { return floor(x) + (double)(uint64_t)malloc(1); }
"""


# ------------------------------------------------------------------------------- targets


@dataclass(frozen=True)
class Target:
    """A platform to build for."""

    system: str  # linux, macos, windows, or as Python calls it
    machine: str  # x86_64, aarch64, or as the system calls it
    triple: str  # the name of the platform for zig
    tag: str | None = None  # the platform tag of wheels that zig builds

    @property
    def suffix(self) -> str:
        """The suffix of shared libraries."""
        return {"macos": ".dylib", "windows": ".dll"}.get(self.system, ".so")

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels that are built, with the flags of each."""
        return {"baseline": (), "v3": V3} if self.machine == "x86_64" else {"baseline": ()}


TARGETS = {
    "linux-x86_64": Target("linux", "x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "linux-aarch64": Target("linux", "aarch64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "macos-x86_64": Target("macos", "x86_64", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macos-aarch64": Target("macos", "aarch64", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    "windows-x86_64": Target("windows", "x86_64", "x86_64-windows-gnu", "win_amd64"),
}


def this_machine() -> Target:
    """Return the platform that Python runs on."""
    if sys.maxsize < 2**32:
        raise BuildError("The native core needs a 64-bit Python, but this one has 32 bits. Install a 64-bit Python.")
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if system == "linux" and platform.libc_ver()[0] != "glibc":
        return Target(system, machine, f"{machine}-linux-musl")
    return TARGETS.get(f"{system}-{machine}", Target(system, machine, f"{machine}-{system}"))


# ------------------------------------------------------------------------------- compilers


@dataclass(frozen=True)
class Compiler:
    """A compiler, and its options for linking without the C++ standard library."""

    command: tuple[str, ...]
    link: tuple[str, ...] = ("-nostdlib++",)
    is_zig: bool = False

    def shared(self, flags: tuple[str, ...], source: Path, library: Path, target: Target) -> list[str]:
        """Return the command that builds a shared library from one source."""
        if self.is_zig:
            place: tuple[str, ...] = ("-target", target.triple, "-s")
        else:
            place = ("-march=x86-64",) if target.machine == "x86_64" else ()  # not the default of the compiler
        code = () if target.system == "windows" else ("-fPIC",)
        return [*self.command, *place, *flags, *code, "-shared", str(source), "-o", str(library), *self.link]


def zig() -> Compiler:
    """Return the compiler of the package ziglang, which builds for any target."""
    if importlib.util.find_spec("ziglang") is None:
        raise NoCompilerError("The package ziglang, which has a C++ compiler, is missing. Run: pip install ziglang")
    return Compiler((sys.executable, "-m", "ziglang", "c++"), is_zig=True)


def installed() -> Compiler:
    """Return the compiler ``$CXX`` if it is set, else the first of ``c++``, ``g++`` and ``clang++`` that works."""
    command = tuple(shlex.split(os.environ.get("CXX", "")))
    if command:
        if Path(command[0]).stem == "zig":  # without a target it would build for this processor only
            return Compiler(command, is_zig=True)
        compiler, reason = _try_compiler(command)
        if compiler is None:
            raise BuildError(
                f"CXX={os.environ['CXX']!r} cannot build a shared library: {reason}\n"
                "Set CXX to a working C++ compiler, or unset it."
            )
        return compiler
    reasons = []
    for name in ("c++", "g++", "clang++"):
        compiler, reason = _try_compiler((name,))
        if compiler is not None:
            return compiler
        reasons.append(f"{name}: {reason}")
    raise NoCompilerError(
        "There is no C++ compiler. Install one, or run: pip install ziglang\n  " + "\n  ".join(reasons)
    )


def find() -> Compiler:
    """Return a compiler for this machine: an installed one, else that of the package ziglang."""
    try:
        return installed()
    except NoCompilerError as error:
        try:
            return zig()
        except NoCompilerError:
            raise error from None


def _try_compiler(command: tuple[str, ...]) -> tuple[Compiler | None, str]:
    """Build a small library, and return the compiler, or None and the reason of the failure.

    Some systems have a command of this name that only asks to install a compiler.
    """
    if shutil.which(command[0]) is None:
        return None, "not found"
    reasons = []
    with tempfile.TemporaryDirectory(prefix="skewboost-") as folder:
        source = Path(folder, "probe.cpp")
        write_whole(source, PROBE)
        for link in LINKS:
            compiler = Compiler(command, link)
            arguments = compiler.shared(FLAGS, source, Path(folder, "probe.so"), this_machine())
            result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, errors="replace")
            if result.returncode == 0:
                return compiler, ""
            reasons.append(result.stderr.strip())
    return None, "\n".join(reasons)
