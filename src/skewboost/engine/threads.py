"""Threads over a fixed list of tasks that are Python functions.

The tasks, and the order in which their results are combined, depend on the shape of the data only; which thread does
which of them, and how many threads there are, changes nothing but the time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


@lru_cache(maxsize=4)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="skewboost")


_inside = threading.local()


def parallel(task: Callable[[int], T], n_tasks: int, n_jobs: int) -> list[T]:
    """``[task(0), task(1), …]``, on `n_jobs` threads of which the calling one is the first.

    A task that calls `parallel` again gets no further threads: it could wait for one that waits for it.
    """
    n_jobs = min(n_jobs, n_tasks)
    if n_jobs <= 1 or getattr(_inside, "yes", False):
        return [task(i) for i in range(n_tasks)]
    results: list[T | None] = [None] * n_tasks

    def share(first: int) -> None:
        _inside.yes = True
        try:
            for i in range(first, n_tasks, n_jobs):
                results[i] = task(i)
        finally:
            _inside.yes = False

    others = [_pool(n_jobs - 1).submit(share, k) for k in range(1, n_jobs)]
    try:
        share(0)
    finally:
        for other in others:
            other.result()
    return results  # type: ignore[return-value]


if hasattr(os, "register_at_fork"):  # a forked child inherits the pool but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
