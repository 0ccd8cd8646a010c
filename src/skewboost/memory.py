"""How much memory there is, and a warning before a fit takes most of it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from skewboost.errors import MemoryUseWarning, warn_caller

SHARE = 0.5  # of the memory: a fit that needs more says so
CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def warn_of_memory(parts: Mapping[str, float], remedy: str) -> None:
    """Warn before a fit whose large arrays need more than half of the memory, given the bytes of each of its parts."""
    needed, limit = sum(parts.values()), memory_limit()
    if needed > SHARE * limit:
        largest = sorted(parts, key=lambda name: -parts[name])[:3]
        shown = ", ".join(f"{name} {_size(parts[name])}" for name in largest if parts[name] >= 0.01 * needed)
        warn_caller(
            f"This fit needs about {_size(needed)} of memory ({shown}), which is more than half of the "
            f"{_size(limit)} that there are. {remedy}",
            MemoryUseWarning,
        )


def memory_limit() -> float:
    """Return the bytes of the machine, or the lower limit of the process's control group; infinity if unknown."""
    return min(_of_machine(), *_of_groups(), float("inf"))


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.2g} GiB" if n_bytes < 100 * 2**30 else f"{n_bytes / 2**30:.0f} GiB"


def _of_machine() -> float:
    try:
        if sys.platform == "win32":
            return _of_windows()
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _of_windows() -> float:
    status = (ctypes.c_uint64 * 8)(64)  # MEMORYSTATUSEX: its length and the load, then the bytes of the machine
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(status):  # type: ignore[attr-defined,unused-ignore]
        return float("inf")
    return float(status[1])


def _of_groups() -> Iterator[float]:
    """Yield the limits of the control groups that the process is in, of Linux."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, group = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        root = CONTROL_GROUPS / "memory" if kinds else CONTROL_GROUPS
        own = root / group.lstrip("/")
        for folder in (own, *own.parents):  # in a container the group may be the root itself
            try:
                limit = (folder / ("memory.limit_in_bytes" if kinds else "memory.max")).read_text().strip()
                if limit != "max":
                    yield float(limit)
            except (OSError, ValueError):
                pass
            if folder == root:
                break
