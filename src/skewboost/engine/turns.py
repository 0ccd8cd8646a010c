"""Threads over a fixed list of tasks within kernels: whoever is free takes the next one.

A round of boosting takes half a millisecond, and waking a thread up to a tenth of one. So nobody waits for a thread to
come: the caller starts at once, a helper takes what is left when it arrives, and the end is waited for by watching the
count of finished tasks. As in `threads`, who does what changes nothing but the time.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import numpy as np

from skewboost.engine.boundary import Array
from skewboost.engine.jit import fetch_and_add, kernel, load, relax

# Where the numbers of an array of turns are: far enough apart not to share a cache line.
_NEXT, _DONE, _FAILED, _START, _OFF, _LENGTH = 0, 8, 16, 24, 32, 40
_SPINS = 5_000  # looks at a number, about a tenth of a millisecond


def new_turns() -> Array:
    """The count of tasks taken and finished, none yet."""
    return np.zeros(_LENGTH, dtype=np.int64)


@kernel
def next_task(turns: Array) -> int:
    """The next task that nobody has taken."""
    return int(fetch_and_add(turns, _NEXT))


@kernel
def task_done(turns: Array) -> None:
    """Tell that a task is finished."""
    fetch_and_add(turns, _DONE)


@kernel
def wait_for_tasks(turns: Array, n_tasks: int) -> None:
    """Wait, within a kernel, for tasks that others have taken; they must be short, and such that cannot fail."""
    while load(turns, _DONE) < n_tasks:
        relax()


@kernel
def signal_start(turns: Array) -> None:
    """Let the threads begin that wait in `starts`."""
    fetch_and_add(turns, _START)


@kernel
def call_off(turns: Array, n_tasks: int) -> None:
    """Tell those threads that there is nothing to do."""
    turns[_DONE] = n_tasks
    fetch_and_add(turns, _OFF)
    fetch_and_add(turns, _START)


@kernel
def starts(turns: Array, spins: int) -> bool:
    """Wait for one of these signals; false if there is nothing to do, or none came while looking that many times."""
    while load(turns, _START) == 0 and spins > 0:
        relax()
        spins -= 1
    return bool(load(turns, _START) > 0 and load(turns, _OFF) == 0)


@kernel
def _all_done(turns: Array, n_tasks: int, spins: int) -> bool:
    """Whether all tasks are finished, or one has failed, after looking that many times."""
    while load(turns, _DONE) < n_tasks and load(turns, _FAILED) == 0 and spins > 0:
        relax()
        spins -= 1
    return bool(load(turns, _DONE) >= n_tasks or load(turns, _FAILED) > 0)


class _Helper:
    """A thread that waits to lend a hand."""

    def __init__(self) -> None:
        self.offers: SimpleQueue[tuple[Callable[[Array], None], Array]] = SimpleQueue()
        threading.Thread(target=self._run, name="skewboost", daemon=True).start()

    def _run(self) -> None:
        while True:
            work, turns = self.offers.get()
            try:
                work(turns)
            except BaseException:  # such as no memory; the one who waits tells of it
                turns[_FAILED] = 1
            del work, turns  # they hold on to arrays


_helpers: list[_Helper] = []


def share(work: Callable[[Array], None], n_tasks: int, n_jobs: int, own: Callable[[Array], None] | None = None) -> None:
    """Call ``work(turns)`` on up to `n_jobs` threads; it takes tasks with `next_task` until there are none left.

    With `own`, that is what the calling thread does; the others wait in `starts` until it tells them to begin.
    """
    turns = new_turns()
    n_jobs = min(n_jobs, n_tasks)
    while len(_helpers) < n_jobs - 1:
        _helpers.append(_Helper())
    for helper in _helpers[: n_jobs - 1]:
        if helper.offers.empty():  # else it is busy
            helper.offers.put((work, turns))
    try:
        (own or work)(turns)
    except BaseException:  # no memory, or Ctrl-C: let the others go
        call_off(turns, n_tasks)
        turns[_NEXT] = n_tasks
        raise
    while not _all_done(turns, n_tasks, _SPINS):
        time.sleep(1e-5)
    if turns[_FAILED]:
        raise MemoryError("A thread could not finish its share of the work, most likely for want of memory.")


if hasattr(os, "register_at_fork"):  # a forked child inherits the list but not the threads
    os.register_at_fork(after_in_child=_helpers.clear)
