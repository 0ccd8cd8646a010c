"""Threads over a fixed list of tasks that are Python functions.

The tasks, and the order in which their results are combined, depend on the shape of the data only; which thread does
which of them, and how many threads there are, changes nothing but the time.

The caller begins at once, and helpers take what is left when they come. So nobody waits for a thread that cannot be
started or finds no memory: `concurrent.futures` would wait for it for ever.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

_UNDONE: Any = object()
# A thread's first sum of so many numbers makes its share of NumPy's thread-local data. Where there is no memory for it
# the C library ends the process, so it is made when a thread starts, out of memory that has been kept for it.
_ELIDED = 2**15
_RESERVE = 2**20


class _Helpers:
    """Threads that wait for work of anybody; they are started when first wanted, and wait for ever."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.offers: SimpleQueue[tuple[_thread.LockType, Callable[[], None]]] = SimpleQueue()
        self.n_started = 0

    def start(self, n_wanted: int) -> int:
        """See to it that there are so many, or as many as can be had; returns how many there are."""
        with self.lock:
            try:
                for _ in range(n_wanted - self.n_started):
                    ready = _thread.allocate_lock()
                    ready.acquire()
                    _thread.start_new_thread(self._help, (ready, [bytearray(_RESERVE)]))
                    ready.acquire(timeout=1.0)  # it may have ended without a word
            except (RuntimeError, MemoryError):
                pass  # no more threads
            return min(self.n_started, n_wanted)

    def _help(self, ready: _thread.LockType, reserve: list[bytearray]) -> None:
        try:
            reserve.clear()
            np.zeros(_ELIDED) + 0.0
            self.n_started += 1
        except MemoryError:
            return
        finally:
            ready.release()
        while True:
            try:
                place, work = self.offers.get()
                if place.acquire(blocking=False):  # else it is too late: the caller has taken the place back
                    try:
                        work()
                    finally:
                        place.release()
                del place, work  # hold nothing while there is nothing to do
            except MemoryError:
                pass


_helpers = _Helpers()


def parallel(task: Callable[[int], T], n_tasks: int, n_jobs: int) -> list[T]:
    """``[task(0), task(1), …]``, on `n_jobs` threads of which the calling one is the first."""
    n_jobs = min(n_jobs, n_tasks)
    if n_jobs <= 1:
        return [task(i) for i in range(n_tasks)]
    results: list[T] = [_UNDONE] * n_tasks
    left = deque(range(n_tasks))
    errors: list[BaseException] = []

    def share() -> None:
        while True:
            try:
                i = left.popleft()
            except IndexError:
                return
            results[i] = task(i)

    def help_out() -> None:
        try:
            share()
        except BaseException as error:
            left.clear()
            errors.append(error)

    places: list[_thread.LockType] = []  # a helper holds its own while it works
    try:
        for _ in range(_helpers.start(n_jobs - 1)):
            places.append(_thread.allocate_lock())
            _helpers.offers.put((places[-1], help_out))
        share()
    finally:
        left.clear()
        for place in places:  # whoever has begun is waited for, and nobody else can begin any more
            place.acquire()
    if errors:
        raise errors[0]
    if any(result is _UNDONE for result in results):
        raise MemoryError("A thread could not finish its share of the work for lack of memory.")
    return results


def _forget_helpers() -> None:
    global _helpers
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):  # a forked child inherits the list of helpers but not the threads
    os.register_at_fork(after_in_child=_forget_helpers)
