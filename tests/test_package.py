"""The package as such."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import skewboost

SOURCE = Path(skewboost.__file__).parent


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_public_names_can_be_imported_and_are_listed():
    for name in skewboost.__all__:
        assert getattr(skewboost, name).__name__ == name
        assert name in dir(skewboost)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        skewboost.Nonsense  # noqa: B018


def test_parts_of_the_package_are_there_and_not_imported():
    """All that have public names of their own, after `import skewboost` alone; which imports nothing heavy."""
    has_names = {path.parent.name for path in SOURCE.glob("*/__init__.py") if "__all__" in path.read_text()} - {"cli"}
    assert has_names <= set(skewboost._PARTS)
    code = (
        "import sys, skewboost\n"
        f"assert set({skewboost._PARTS!r}) <= set(dir(skewboost))\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'matplotlib', 'jinja2', 'numba'} & set(sys.modules)\n"
        "parts = [getattr(skewboost, name).__name__ for name in skewboost._PARTS]\n"
        "print(sorted(heavy), {'matplotlib', 'jinja2'} & set(sys.modules), len(set(parts)))"
    )
    assert run(code).strip() == f"[] set() {len(skewboost._PARTS)}"


def test_packages_list_names_that_are_not_imported_yet():
    code = (
        "import skewboost\n"
        "for part in (skewboost.plots, skewboost.report, skewboost.evaluate, skewboost.export, skewboost.io):\n"
        "    assert set(part.__all__) <= set(dir(part)), part\n"
        "    assert all(getattr(part, name) is not None for name in part.__all__)\n"
    )
    assert run(code) == ""


def test_a_small_fit_never_meets_the_compiler():
    """The compiler is not even imported."""
    code = (
        "import sys, numpy as np; from skewboost import RealBoostClassifier;"
        "X = np.random.default_rng(0).normal(size=(1000, 10));"
        "RealBoostClassifier().fit(X, X[:, 0] > 1).predict(X); print('numba' in sys.modules)"
    )
    assert run(code).strip() == "False"


def test_kernels_compile_where_no_cache_can_be_written(monkeypatch):
    """Numba refuses to cache without a writable folder; the kernels must work all the same."""
    import numba

    from skewboost.engine.jit import kernel

    real = numba.njit

    def refusing(*args, cache=False, **kwargs):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **kwargs)

    monkeypatch.setattr(numba, "njit", refusing)

    @kernel
    def double(x: float) -> float:
        return 2 * x

    assert double(21.0) == 42.0


def test_only_public_parts_of_scikit_learn_are_imported():
    offending = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                private = [p for p in node.module.split(".") if p.startswith("_")]
                private += [a.name for a in node.names if a.name.startswith("_")]
                if private:
                    offending.append((path.name, node.module, private))
    assert offending == []


def test_types_are_announced():
    assert (SOURCE / "py.typed").exists()


def test_threads_survive_a_fork():
    """A forked child inherits the lists of threads without the threads; it must make its own."""
    code = (
        "import os\nfrom skewboost.engine.threads import parallel\nfrom skewboost.engine import turns\n"
        "parallel(lambda i: i, 4, 2)\nturns._helpers.append(turns._Helper())\npid = os.fork()\n"
        "if pid == 0:\n    os._exit(0 if parallel(lambda i: i, 4, 2) == [0, 1, 2, 3] and not turns._helpers else 1)\n"
        "print(os.waitpid(pid, 0)[1])"
    )
    if not hasattr(__import__("os"), "fork"):
        pytest.skip("this system has no fork")
    assert run(code).strip() == "0"


def test_helpers_take_the_tasks_that_are_left():
    from skewboost.engine.turns import next_task, share, task_done

    done = []

    def work(turns):
        while (task := next_task(turns)) < 20:
            time.sleep(0.001)
            done.append((task, threading.get_ident()))
            task_done(turns)

    share(work, 20, 3)
    assert sorted(task for task, _ in done) == list(range(20))
    assert len({thread for _, thread in done}) > 1


def test_the_failure_of_a_helper_is_told():
    from skewboost.engine.turns import next_task, share

    caller = threading.get_ident()

    def work(turns):
        if next_task(turns) < 2 and threading.get_ident() != caller:
            raise MemoryError
        time.sleep(0.1)

    with pytest.raises(MemoryError, match="could not finish its share"):
        share(work, 2, 2)


def test_helpers_go_home_when_the_caller_is_interrupted():
    from skewboost.engine.turns import share, starts

    heard = []

    def interrupted(turns):
        time.sleep(0.05)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share(lambda turns: heard.append(starts(turns, 10**10)), 2, 2, interrupted)
    time.sleep(0.2)
    assert heard == [False]


def test_an_error_in_a_thread_reaches_the_caller():
    from skewboost.engine.threads import parallel

    def fail(i):
        if i == 1:
            raise RuntimeError("task 1")
        return i

    with pytest.raises(RuntimeError, match="task 1"):
        parallel(fail, 4, 2)
    assert parallel(lambda i: parallel(lambda j: (i, j), 2, 2), 2, 2) == [[(0, 0), (0, 1)], [(1, 0), (1, 1)]]
