"""The native core: which build is loaded, and when it is built again."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skewboost.engine import library
from skewboost.engine.core import BuildError, NoCompilerError, build, compilers

# As small as a core can be: what it answers is said when it is compiled
TINY = """\
#include "api.h"
#ifndef ABI
#define ABI 2
#define LEVEL 3
#define ANSWER 42
#endif
SKEWBOOST_API int skewboost_abi_version() { return ABI; }
SKEWBOOST_API int skewboost_level() { return LEVEL; }
SKEWBOOST_API int answer() { return ANSWER; }
"""


def test_the_core_includes_headers_of_c_and_the_platform_only():
    """A compiler that links without the C++ library need not have its headers: zig has none then."""
    theirs = {
        "stddef.h",
        "stdint.h",
        "stdlib.h",
        "string.h",
        "windows.h",
        "pthread.h",
        "sched.h",
        "time.h",
        "sys/mman.h",
    }
    sources = [*build.HERE.glob("*.h"), *build.HERE.glob("*.cpp")]
    included = [name for source in sources for name in re.findall(r"#include <(.*)>", source.read_text())]
    assert included
    assert set(included) <= theirs


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A function that compiles a tiny library with the given answers."""
    try:
        compiler = compilers.find()
    except NoCompilerError as error:
        pytest.skip(str(error))
    source = tmp_path_factory.mktemp("tiny") / "tiny.cpp"
    source.write_text(TINY)

    def to(path: Path, answer: int, level: int = 3, abi: int = library.ABI) -> Path:
        said = (f"-I{build.HERE}", f"-DABI={abi}", f"-DLEVEL={level}", f"-DANSWER={answer}")
        command = compiler.shared(said, source, path, compilers.this_machine())
        subprocess.run(command, check=True, cwd=source.parent)
        return path

    return to


@pytest.fixture
def installed(compiled, tmp_path):
    """A function that makes a folder as wheels install it, with both builds, on a processor of the given level."""

    def on(level: int) -> Path:
        for answer, name in enumerate(library.LEVELS):
            compiled(library._path(tmp_path, name), answer, level)
        return tmp_path

    return on


# ------------------------------------------------------------------------------- which one


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("wanted", "level", "chosen"),
    [("", 3, "v3"), ("", 1, "baseline"), ("baseline", 3, "baseline"), ("v3", 3, "v3")],
)
def test_the_build_fits_the_processor_or_is_the_one_wanted(installed, wanted, level, chosen):
    core = library._load(wanted, installed(level))
    assert core.answer() == library.LEVELS.index(chosen)


def test_a_build_that_the_processor_cannot_run_is_refused(installed):
    with pytest.raises(library.LibraryError, match="SKEWBOOST_CORE='v3' needs a processor with AVX2"):
        library._load("v3", installed(level=1))


def test_a_build_that_is_not_there_is_refused(compiled, tmp_path):
    compiled(library._path(tmp_path, "baseline"), answer=0)
    assert library._load("", tmp_path).answer() == 0
    with pytest.raises(library.LibraryError, match=r"'v3': there is no such build.*set it to 'baseline'"):
        library._load("v3", tmp_path)


def test_a_library_can_be_named_by_its_path(compiled, tmp_path):
    path = compiled(tmp_path / f"special{library.SUFFIX}", answer=7)
    assert library._load(str(path), tmp_path).answer() == 7


@pytest.mark.parametrize("wanted", ["fast", "V3", "/no/such/library.so"])
def test_a_name_that_says_nothing_is_refused(monkeypatch, wanted):
    monkeypatch.setenv("SKEWBOOST_CORE", wanted)
    with pytest.raises(library.LibraryError, match=f"SKEWBOOST_CORE='{wanted}' is neither 'baseline' nor 'v3'"):
        library.load.__wrapped__()


def test_a_library_of_another_version_is_refused(compiled, tmp_path):
    path = compiled(tmp_path / f"old{library.SUFFIX}", answer=0, abi=library.ABI + 1)
    with pytest.raises(library.LibraryError, match=f"has the interface {library.ABI + 1}.*needs {library.ABI}.*pip"):
        library._load(str(path), tmp_path)


def test_a_file_that_is_no_library_is_refused(tmp_path):
    path = tmp_path / f"text{library.SUFFIX}"
    path.write_text("not a library")
    with pytest.raises(library.LibraryError, match="cannot be loaded as skewboost's native core"):
        library._load(str(path), tmp_path)


def test_without_a_library_there_is_none(tmp_path):
    assert library._load("", tmp_path) is None


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="only Linux says what the processor can do")
def test_the_level_is_what_linux_says():
    core = library.load()
    if core is None:
        pytest.skip("no native core")
    flags = set(Path("/proc/cpuinfo").read_text().split())
    v3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "cx16", "lahf_lm", "popcnt", "sse4_2"}
    expected = (3 if v3 <= flags else 1) if compilers.this_machine().machine == "x86_64" else 0
    assert core.skewboost_level() == expected


# ------------------------------------------------------------------------------- when it is built


@pytest.fixture
def checkout(compiled, tmp_path):
    """The modules that build, in a tree of their own with a tiny core; libraries go to `tmp_path`."""
    folder = tmp_path / "core"
    shutil.copytree(build.HERE, folder, ignore=shutil.ignore_patterns("__pycache__", "*.h", "core.cpp"))
    shutil.copy(build.HERE / "api.h", folder)
    (folder / "core.cpp").write_text(TINY)
    spec = importlib.util.spec_from_file_location(
        "copied_core", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["copied_core"] = package
    spec.loader.exec_module(package)
    yield importlib.import_module("copied_core.build")
    for name in [name for name in sys.modules if name.partition(".")[0] == "copied_core"]:
        del sys.modules[name]


def answer(folder: Path, level: str = "baseline") -> int:
    """What a library says; loaded under a name of its own, as the system gives a name the same library again."""
    copy = shutil.copy(library._path(folder, level), folder / f"{time.monotonic_ns()}{library.SUFFIX}")
    return ctypes.CDLL(str(copy)).answer()


@pytest.mark.slow
def test_libraries_are_built_once_and_again_when_a_source_changes(checkout, tmp_path, monkeypatch):
    runs = []
    really = checkout.build
    monkeypatch.setattr(checkout, "build", lambda folder: runs.append(folder) or really(folder))
    checkout.refresh(tmp_path)
    checkout.refresh(tmp_path)
    assert len(runs) == 1
    assert {path.name for path in tmp_path.iterdir()} == {
        "core",
        checkout.STAMP,
        checkout.LOCK,
        *(checkout.name(level, library.SUFFIX) for level in compilers.this_machine().levels),
    }
    assert answer(tmp_path) == 42
    checkout.SOURCE.write_text(TINY.replace("42", "43"))
    checkout.refresh(tmp_path)
    assert answer(tmp_path) == 43
    (tmp_path / checkout.name("baseline", library.SUFFIX)).unlink()
    checkout.refresh(tmp_path)
    assert answer(tmp_path) == 43
    assert len(runs) == 3


def test_whoever_comes_second_waits_and_builds_nothing(checkout, tmp_path, monkeypatch):
    runs = []
    really = checkout.build
    monkeypatch.setattr(checkout, "build", lambda folder: runs.append(folder) or really(folder))
    threads = [threading.Thread(target=checkout.refresh, args=(tmp_path,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1
    assert answer(tmp_path) == 42


def test_an_error_in_a_source_is_shown_and_what_was_built_stays(checkout, tmp_path):
    checkout.refresh(tmp_path)
    checkout.SOURCE.write_text(TINY + "int broken = ;\n")
    with pytest.raises(RuntimeError, match=r"(?s)was not built.*core\.cpp:\d+:\d+: error"):
        checkout.refresh(tmp_path)
    assert answer(tmp_path) == 42
    assert not list(tmp_path.glob(".libskewboost-*"))


# ------------------------------------------------------------------------------- who builds it


def test_a_compiler_that_is_asked_for_must_work(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O9")
    with pytest.raises(BuildError, match=r"CXX='no-such-compiler -O9' cannot build.*not found"):
        compilers.find()


def test_a_compiler_that_does_not_work_is_none(monkeypatch, tmp_path):
    """As on systems where it only says what to install."""
    broken = tmp_path / "c++"
    broken.write_text("#!/bin/sh\necho 'please install the command line tools' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(NoCompilerError, match=r"(?s)pip install ziglang.*please install the command line tools"):
        compilers.installed()


def test_the_compiler_of_a_package_is_the_last_resort(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NoCompilerError, match=r"There is no C\+\+ compiler"):
        compilers.find()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert compilers.find().is_zig


def test_zig_is_told_what_to_build_for(monkeypatch):
    """Without a target it builds for the very processor it runs on."""
    monkeypatch.setenv("CXX", "/somewhere/zig c++")
    for target in compilers.TARGETS.values():
        command = compilers.installed().shared((), Path("a.cpp"), Path("a.so"), target)
        assert command[:4] == ["/somewhere/zig", "c++", "-target", target.triple]
