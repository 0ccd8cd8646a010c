"""Threads over Python functions."""

from __future__ import annotations

import _thread
import os
import threading
import time

import pytest

from skewboost.engine import threads
from skewboost.engine.threads import parallel


def test_results_come_in_the_order_of_the_tasks():
    for n_jobs in (1, 2, 5, 50):
        assert parallel(lambda i: i * i, 20, n_jobs) == [i * i for i in range(20)]
    assert parallel(lambda i: i, 0, 4) == []


def test_tasks_are_shared():
    done = []

    def work(i):
        time.sleep(0.002)
        done.append(threading.get_ident())

    parallel(work, 40, 3)
    assert 2 <= len(set(done)) <= 3


def test_a_task_may_share_tasks_of_its_own():
    assert parallel(lambda i: sum(parallel(lambda j: i * j, 10, 4)), 10, 4) == [45 * i for i in range(10)]


@pytest.mark.parametrize("who", ["the caller", "a helper"])
def test_an_error_is_told_once_nobody_works_any_more(who):
    caller, working = threading.get_ident(), []

    def work(i):
        working.append(i)
        time.sleep(0.02)
        if (threading.get_ident() == caller) == (who == "the caller"):
            raise ValueError(f"by {who}")
        working.pop()

    with pytest.raises(ValueError, match=f"by {who}"):
        parallel(work, 50, 2)
    assert len(working) == 1  # that of the error
    assert parallel(lambda i: i, 4, 2) == [0, 1, 2, 3]


@pytest.mark.slow
def test_threads_that_cannot_be_started_are_not_waited_for(monkeypatch):
    """Neither those that fail at once, nor those that end before they begin."""

    def refuse(*args):
        raise RuntimeError("can't start new thread")

    for start in (refuse, lambda *args: 0):
        monkeypatch.setattr(threads, "_helpers", threads._Helpers())
        monkeypatch.setattr(_thread, "start_new_thread", start)
        assert parallel(lambda i: i, 10, 4) == list(range(10))
        monkeypatch.undo()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_helpers_of_its_own():
    parallel(lambda i: i, 4, 3)
    child = os.fork()
    if child == 0:
        seen = set()

        def work(i):
            time.sleep(0.01)
            seen.add(threading.get_ident())
            return i

        good = parallel(work, 20, 2) == list(range(20)) and len(seen) == 2
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
