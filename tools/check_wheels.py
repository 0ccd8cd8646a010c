"""Check what is in the wheels: files, tags, and what the libraries need of the system they are loaded on.

Usage: python tools/check_wheels.py [folder, default: dist]
"""

from __future__ import annotations

import re
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import lief

from skewboost.engine.core.build import name
from skewboost.engine.core.compilers import TARGETS, Target

ROOT = Path(__file__).parent.parent

# What every system of a kind has; on macOS a library lists itself
LIBRARIES = {
    "linux": r"lib(c|m|pthread)\.so\.[06]|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)",
    "macos": r"libskewboost-\w+\.dylib|/usr/lib/libSystem\.B\.dylib",
    "windows": r"(?i)kernel32\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll",
}
# What linkers add to what a library shows on macOS
EXPORTED = r"_?skewboost_\w+|__mh_dylib_header|___dso_handle"
# Functions of the C library whose last bit differs between systems and processors; sqrt and floor are exact
INEXACT = r"_?(exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|tanh|erf|lgamma|tgamma|cbrt|hypot)f?"


def main(folder: Path) -> int:
    """Print every fault; their number."""
    lief.logging.disable()  # it wonders aloud about libraries without debugging information
    wheels = {path.stem.split("-")[-1]: path for path in folder.glob("skewboost-*.whl")}
    faults = [f"there is no wheel for {key}" for key, target in TARGETS.items() if target.tag not in wheels]
    sources = python_files(folder)
    for target in TARGETS.values():
        if target.tag in wheels:
            found = list(faults_of(wheels[target.tag], target, sources))
            print(f"{wheels[target.tag].name}: {'; '.join(found) or 'as it should be'}")
            faults += found
    for wheel in sorted(folder.glob("skewboost_*.whl")):
        found = list(faults_of_package(wheel))
        print(f"{wheel.name}: {'; '.join(found) or 'as it should be'}")
        faults += found
    return len(faults)


def faults_of_package(wheel: Path) -> Iterator[str]:
    """What is wrong with the wheel of another package, which is for all platforms."""
    name, version, tag = wheel.stem.split("-", 2)
    with zipfile.ZipFile(wheel) as archive, tarfile.open(wheel.with_name(f"{name}-{version}.tar.gz")) as sdist:
        inside = {path for path in archive.namelist() if ".dist-info/" not in path}
        sources = {member.name.partition("/src/")[2] for member in sdist if member.isfile() and "/src/" in member.name}
    yield from (f"{path} should not be in it" for path in sorted(inside - sources))
    yield from (f"{path} is missing" for path in sorted(sources - inside))
    if tag != "py3-none-any":
        yield "it is not for all platforms"


def python_files(folder: Path) -> set[str]:
    """What of the package is in the sdist and belongs into a wheel."""
    (sdist,) = folder.glob("skewboost-*.tar.gz")
    with tarfile.open(sdist) as archive:
        paths = [path.partition("/")[2] for path in archive.getnames()]  # less the folder that all is in
        files = {path.removeprefix("src/") for path in paths if path.startswith("src/")}
        files = {path for path in files if "." in path.rpartition("/")[2]}
    if "skewboost/engine/core/core.cpp" not in files:
        raise SystemExit(f"{sdist.name}: has no sources of the native core")
    return {path for path in files if not path.startswith("skewboost/engine/core/")}


def faults_of(wheel: Path, target: Target, sources: set[str]) -> Iterator[str]:
    """What is wrong with a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        if (broken := archive.testzip()) is not None:
            yield f"{broken} is broken"
        inside = {path for path in archive.namelist() if ".dist-info/" not in path}
        libraries = {f"skewboost/engine/{name(level, target.suffix)}" for level in target.levels}
        yield from (f"{path} should not be in it" for path in sorted(inside - libraries - sources))
        yield from (f"{path} is missing" for path in sorted((libraries | sources) - inside))
        about = next(archive.read(path).decode() for path in archive.namelist() if path.endswith("/WHEEL"))
        if f"Tag: py3-none-{target.tag}\n" not in about or about.count("Tag: ") != 1:
            yield "its tag is not that of its name"
        if "Root-Is-Purelib: false" not in about:
            yield "it says that it is for every platform"
        for path in sorted(libraries & inside):
            content = archive.read(path)
            yield from (f"{path} {fault}" for fault in faults_of_library(content, target))


def faults_of_library(content: bytes, target: Target) -> Iterator[str]:
    """What is wrong with a library."""
    library = lief.parse(list(content))
    yield from {lief.ELF.Binary: elf, lief.MachO.Binary: mach_o, lief.PE.Binary: pe}[type(library)](library, target)
    needed = {getattr(needs, "name", needs) for needs in library.libraries}
    yield from (f"needs {needs}" for needs in sorted(needed) if not re.fullmatch(LIBRARIES[target.system], needs))
    shown = {function.name for function in library.exported_functions}
    yield from (f"shows {function}" for function in sorted(shown) if not re.fullmatch(EXPORTED, function))
    if "skewboost_abi_version" not in {function.lstrip("_") for function in shown}:
        yield "does not show skewboost_abi_version"
    asked = {function.name.partition("@")[0] for function in library.imported_functions}
    inexact = sorted(function for function in asked if re.fullmatch(INEXACT, function))
    if inexact:
        yield f"takes {', '.join(inexact)} from the system: results would differ between systems"
    for place in (tempfile.gettempdir(), str(ROOT), str(Path.home())):
        if f"{place}/".encode() in content:
            yield f"names {place}, a folder of the machine that built it"


def elf(library: lief.ELF.Binary, target: Target) -> Iterator[str]:
    """Linux: processor, and the oldest glibc that will do."""
    machine = {"x86_64": lief.ELF.ARCH.X86_64, "aarch64": lief.ELF.ARCH.AARCH64}[target.machine]
    if library.header.machine_type != machine:
        yield f"is for {library.header.machine_type}"
    assert target.tag is not None
    floor = tuple(map(int, re.findall(r"\d+", target.tag)[:2]))
    for requirement in library.symbols_version_requirement:
        for version in requirement.get_auxiliary_symbols():
            if tuple(map(int, re.findall(r"\d+", version.name)[:2])) > floor:
                yield f"needs {version.name}"
    if library.has(lief.ELF.DynamicEntry.TAG.RPATH) or library.has(lief.ELF.DynamicEntry.TAG.RUNPATH):
        yield "searches folders of its own for libraries"
    if any(s.type == lief.ELF.Segment.TYPE.GNU_STACK and s.has(lief.ELF.Segment.FLAGS.X) for s in library.segments):
        yield "has an executable stack"


def mach_o(library: lief.MachO.Binary, target: Target) -> Iterator[str]:
    """The processor, the oldest macOS that will do, and a signature, without which arm64 loads nothing."""
    kinds = lief.MachO.Header.CPU_TYPE
    if library.header.cpu_type != {"x86_64": kinds.X86_64, "aarch64": kinds.ARM64}[target.machine]:
        yield f"is for {library.header.cpu_type}"
    if list(library.build_version.minos)[:2] > [11, 0]:
        yield f"needs macOS {library.build_version.minos}"
    if target.machine == "aarch64" and not library.has_code_signature:
        yield "is not signed"


def pe(library: lief.PE.Binary, target: Target) -> Iterator[str]:
    """Windows: the processor."""
    if library.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        yield f"is for {library.header.machine}"


if __name__ == "__main__":
    raise SystemExit(bool(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))))
