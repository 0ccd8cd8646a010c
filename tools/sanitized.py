"""Run tests on a build of the native core that reports errors: of memory and arithmetic, or data races.

It needs Linux and GCC. Whatever is reported is fatal, except leaks outside the native core: Python has many.

Usage: python tools/sanitized.py {address,thread} [arguments of pytest]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from skewboost.engine.core.build import SANITIZERS, build_sanitized
from skewboost.engine.core.compilers import installed

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "sanitized"

# Python is not built with a sanitizer: its own accesses are not looked at, and its leaks do not count. They are so many
# that finding the line of each would take longer than the tests.
OPTIONS = {
    "ASAN_OPTIONS": "symbolize=0:detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1",
    "LSAN_OPTIONS": "exitcode=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "exitcode=66:ignore_noninstrumented_modules=1:die_after_fork=0:second_deadlock_stack=1",
}


def main(kind: str, arguments: list[str]) -> int:
    """Build the library, run pytest with it, and look at what was reported; the exit status."""
    library = build_sanitized(kind, FOLDER)
    reports = FOLDER / f"{kind}-reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    environment = {name: f"{options}:log_path={reports}/report" for name, options in OPTIONS.items()}
    environment |= {
        "SKEWBOOST_CORE": str(library),
        "LD_PRELOAD": ":".join(run_time({"address": "libasan.so", "thread": "libtsan.so"}[kind])),
        "PYTHONMALLOC": "malloc",  # so that every object has an end of its own
    }
    # Addresses at random are too far apart for the thread sanitizer of older compilers.
    fixed = ["setarch", "--addr-no-randomize"] if shutil.which("setarch") else []
    # pytest would take what is written by a process that is about to end, and end with it.
    command = [*fixed, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--capture=sys", *arguments]
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode
    faults = [text for path in sorted(reports.iterdir()) for text in faults_in(path.read_text(errors="replace"))]
    print(*(with_lines(fault) for fault in faults), sep="\n\n")
    print(f"{kind} sanitizer: pytest ended with {status}; {len(faults)} reports are about the native core")
    return status or bool(faults)


def run_time(library: str) -> list[str]:
    """The sanitizer's own library, which must be loaded before Python, and that of C++, whose functions it wraps."""
    compiler = installed().command
    paths = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in (library, "libstdc++.so.6")
    ]
    missing = [path for path in paths if not Path(path).is_absolute()]
    if missing:
        raise SystemExit(f"{compiler[0]} brings no {' and no '.join(missing)}. Install GCC, and set CXX=g++.")
    return paths


def faults_in(report: str) -> list[str]:
    """The parts of a report that are about the native core; a leak is a part of its own."""
    parts = report.replace("\nDirect leak", "\0Direct leak").replace("\nIndirect leak", "\0Indirect leak").split("\0")
    parts = [each for part in parts for each in part.split("\n==================\n")]
    return [part.strip() for part in parts if "libskewboost" in part or "skewboost/engine/core" in part]


def with_lines(report: str) -> str:
    """A report that names functions and lines of the native core instead of addresses."""

    def line(address: re.Match[str]) -> str:
        command = ["addr2line", "--functions", "--demangle", "--pretty-print", f"--exe={address[1]}", address[2]]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return re.sub(r"\((/\S*libskewboost\S*)\+(0x[0-9a-f]+)\)", line, report)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in SANITIZERS:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1], sys.argv[2:]))
