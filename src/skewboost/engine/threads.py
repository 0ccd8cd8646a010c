"""A thread pool for lists of Python functions.

The tasks, and the order in which their results are combined, depend only on the shape of the data. The number of
threads changes the time, but not the result.

The calling thread starts with the first task at once, and helper threads take tasks that are left when they are ready.
The caller therefore never waits for a thread that cannot be started or cannot allocate memory; `concurrent.futures`
would wait for such a thread forever.
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

_NOT_DONE: Any = object()
# The first sum of this many numbers in a thread allocates thread-local data of NumPy. If there is no memory for it, the
# C library ends the process. So it is allocated when a thread starts, from memory that was reserved for it.
_ELIDED = 2**15
_RESERVE = 2**20


class _Helpers:
    """Helper threads, which are started on first use and wait for work until the process ends."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.offers: SimpleQueue[tuple[_thread.LockType, Callable[[], None]]] = SimpleQueue()
        self.n_started = 0

    def start(self, n_wanted: int) -> int:
        """Start threads until there are `n_wanted`, or no more can be started; return the number of threads."""
        with self.lock:
            try:
                for _ in range(n_wanted - self.n_started):
                    ready = _thread.allocate_lock()
                    ready.acquire()
                    _thread.start_new_thread(self._help, (ready, [bytearray(_RESERVE)]))
                    ready.acquire(timeout=1.0)  # it may have ended without releasing the lock
            except (RuntimeError, MemoryError):
                pass  # no more threads can be started
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
                if place.acquire(blocking=False):  # else the caller has finished without this helper
                    try:
                        work()
                    finally:
                        place.release()
                del place, work  # keep no references while waiting
            except MemoryError:
                pass


_helpers = _Helpers()


def parallel(task: Callable[[int], T], n_tasks: int, n_jobs: int) -> list[T]:
    """Return ``[task(0), task(1), …]``, computed on `n_jobs` threads, of which the calling one is the first."""
    n_jobs = min(n_jobs, n_tasks)
    if n_jobs <= 1:
        return [task(i) for i in range(n_tasks)]
    results: list[T] = [_NOT_DONE] * n_tasks
    left = deque(range(n_tasks))
    errors: list[BaseException] = []

    def work() -> None:
        while True:
            try:
                i = left.popleft()
            except IndexError:
                return
            results[i] = task(i)

    def help_out() -> None:
        try:
            work()
        except BaseException as error:
            left.clear()
            errors.append(error)

    places: list[_thread.LockType] = []  # a helper holds its lock while it works
    try:
        for _ in range(_helpers.start(n_jobs - 1)):
            places.append(_thread.allocate_lock())
            _helpers.offers.put((places[-1], help_out))
        work()
    finally:
        left.clear()
        for place in places:  # wait for helpers that have started, and keep the others from starting
            place.acquire()
    if errors:
        raise errors[0]
    if any(result is _NOT_DONE for result in results):
        raise MemoryError("A thread could not finish its tasks because it could not allocate memory.")
    return results


def _forget_helpers() -> None:
    global _helpers
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):  # a forked child has none of the threads
    os.register_at_fork(after_in_child=_forget_helpers)
