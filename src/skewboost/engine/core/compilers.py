"""C++ compilers: which one there is, and how it is asked for a shared library.

The library needs nothing of the C++ standard library, so that it runs wherever Python does. No flag may change a
result: floating-point operations are neither contracted nor reordered, and all builds give the same bits.
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

# The level x86-64-v3, which compilers know by that name since GCC 11 and Clang 12 only
V3 = (
    *("-mcx16", "-msahf", "-mpopcnt", "-msse4.2"),
    *("-mavx2", "-mbmi", "-mbmi2", "-mf16c", "-mfma", "-mlzcnt", "-mmovbe"),
)

# How to leave out the C++ standard library: GCC knows -nostdlib++ from version 13 on, Apple's linker no libgcc.
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


# ------------------------------------------------------------------------------- what is built for


@dataclass(frozen=True)
class Target:
    """A kind of machine."""

    system: str  # linux, macos, windows, or as Python calls it
    machine: str  # x86_64, aarch64, or as the system calls it
    triple: str  # its name to zig
    tag: str | None = None  # of wheels that zig builds for it

    @property
    def suffix(self) -> str:
        """Of shared libraries."""
        return {"macos": ".dylib", "windows": ".dll"}.get(self.system, ".so")

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The builds of the same source, and the flags of each."""
        return {"baseline": (), "v3": V3} if self.machine == "x86_64" else {"baseline": ()}


TARGETS = {
    "linux-x86_64": Target("linux", "x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "linux-aarch64": Target("linux", "aarch64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "macos-x86_64": Target("macos", "x86_64", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "macos-aarch64": Target("macos", "aarch64", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    "windows-x86_64": Target("windows", "x86_64", "x86_64-windows-gnu", "win_amd64"),
}


def this_machine() -> Target:
    """The target that Python itself runs on."""
    if sys.maxsize < 2**32:
        raise BuildError("The native core is for 64-bit Python, and this one has 32 bits. Install a 64-bit Python.")
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if system == "linux" and platform.libc_ver()[0] != "glibc":
        return Target(system, machine, f"{machine}-linux-musl")
    return TARGETS.get(f"{system}-{machine}", Target(system, machine, f"{machine}-{system}"))


# ------------------------------------------------------------------------------- who builds


@dataclass(frozen=True)
class Compiler:
    """A compiler, and the options with which it links without the C++ standard library."""

    command: tuple[str, ...]
    link: tuple[str, ...] = ("-nostdlib++",)
    is_zig: bool = False

    def shared(self, flags: tuple[str, ...], source: Path, library: Path, target: Target) -> list[str]:
        """The command that builds a shared library of one source for a target."""
        if self.is_zig:
            place: tuple[str, ...] = ("-target", target.triple, "-s")
        else:
            place = ("-march=x86-64",) if target.machine == "x86_64" else ()  # whatever the default is
        code = () if target.system == "windows" else ("-fPIC",)
        return [*self.command, *place, *flags, *code, "-shared", str(source), "-o", str(library), *self.link]


def zig() -> Compiler:
    """The compiler of the package ziglang. It builds for any target."""
    if importlib.util.find_spec("ziglang") is None:
        raise NoCompilerError("The package ziglang is missing, which brings a compiler. Run: pip install ziglang")
    return Compiler((sys.executable, "-m", "ziglang", "c++"), is_zig=True)


def installed() -> Compiler:
    """The first that works of ``$CXX``, ``c++``, ``g++`` and ``clang++``; if ``$CXX`` is set, that one and no other."""
    told = shlex.split(os.environ.get("CXX", ""))
    if told:
        if Path(told[0]).stem == "zig":  # without a target it would build for this very processor
            return Compiler(tuple(told), is_zig=True)
        compiler, reason = _tried(tuple(told))
        if compiler is None:
            raise BuildError(
                f"CXX={os.environ['CXX']!r} cannot build a shared library: {reason}\n"
                "Let CXX name a working C++ compiler, or unset it."
            )
        return compiler
    reasons = []
    for name in ("c++", "g++", "clang++"):
        compiler, reason = _tried((name,))
        if compiler is not None:
            return compiler
        reasons.append(f"{name}: {reason}")
    raise NoCompilerError(
        "There is no C++ compiler. Install one, or run: pip install ziglang\n  " + "\n  ".join(reasons)
    )


def find() -> Compiler:
    """The compiler for this machine: one that is installed, else that of the package ziglang."""
    try:
        return installed()
    except NoCompilerError as none:
        try:
            return zig()
        except NoCompilerError:
            raise none from None


def _tried(command: tuple[str, ...]) -> tuple[Compiler | None, str]:
    """A compiler that builds a small library, or why it does not; some systems have one that only asks for another."""
    if shutil.which(command[0]) is None:
        return None, "not found"
    reasons = []
    with tempfile.TemporaryDirectory(prefix="skewboost-") as folder:
        source = Path(folder, "probe.cpp")
        write_whole(source, PROBE)
        for link in LINKS:
            compiler = Compiler(command, link)
            tried = compiler.shared(FLAGS, source, Path(folder, "probe.so"), this_machine())
            answer = subprocess.run(tried, cwd=folder, capture_output=True, text=True, errors="replace")
            if answer.returncode == 0:
                return compiler, ""
            reasons.append(answer.stderr.strip())
    return None, "\n".join(reasons)
