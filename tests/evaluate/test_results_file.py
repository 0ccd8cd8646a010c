"""Results files that several runs share: every fit once, no broken line, whatever is killed."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from skewboost import json_lines
from skewboost.evaluate import ResultsFileError, compare, results_file
from skewboost.evaluate.results_file import ResultsFile


class Slow(GaussianNB):
    """As quick as nothing is in practice, so that runs overlap."""

    def fit(self, X, y):
        time.sleep(0.005)
        return super().fit(X, y)


def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 2)), np.arange(60) % 2


def run_slow(path, methods, n_jobs=1):
    with joblib.parallel_config(backend="threading"):
        return compare(
            {m: Slow() for m in methods}, *rows(), cv=5, repeats=3, results=path, n_jobs=n_jobs, random_state=0
        )


def process(work, *args):
    """Work in a process of its own."""
    started = multiprocessing.get_context("fork").Process(target=work, args=args)
    started.start()
    return started


def lines_of(path):
    """All of them, each checked to be whole."""
    content = path.read_text()
    assert content.endswith("\n")
    return [json.loads(line) for line in content.splitlines()]


def fits_of(path):
    return Counter((r["method"], r["repeat"], r["fold"]) for r in lines_of(path) if r["kind"] == "fit")


def every_fit_once(path, methods, repeats=3, folds=5):
    found = fits_of(path)
    assert found == {(m, r, f): 1 for m in methods for r in range(repeats) for f in range(folds)}
    assert [r["kind"] for r in lines_of(path)].count("skewboost-comparison") == 1
    assert [r["kind"] for r in lines_of(path)].count("data set") == 1


def test_processes_lose_nothing_and_write_nothing_twice(tmp_path):
    path = tmp_path / "r.jsonl"
    started = [process(run_slow, path, *what) for what in (("ab", 1), ("bc", 2), ("abc", 1))]
    for one in started:
        one.join(120)
        assert one.exitcode == 0
    every_fit_once(path, "abc")


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_two_threads_lose_nothing_and_share_the_work(tmp_path, n_jobs):
    path, done = tmp_path / "r.jsonl", []
    begun = threading.Barrier(2)

    class Counted(GaussianNB):
        def fit(self, X, y):
            if not done:
                done.append(0)
                begun.wait()
            done.append(0)
            time.sleep(0.005)
            return super().fit(X, y)

    def one(wait):
        if wait:
            begun.wait()
        with joblib.parallel_config(backend="threading"):  # Counted counts here
            return compare({"m": Counted()}, *rows(), cv=5, repeats=8, results=path, n_jobs=n_jobs, random_state=0)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(one, [False, True])
    every_fit_once(path, "m", repeats=8)
    np.testing.assert_equal(first.folds, second.folds)  # also the seconds: both have what is in the file
    assert first.complete
    assert len(done) - 1 < 75  # 80 if each did all; by half and half about 45


def test_progress_counts_what_another_run_has_finished(tmp_path):
    path, told = tmp_path / "r.jsonl", []

    class Overtaken(GaussianNB):
        def fit(self, X, y):
            if not fits_of(path):
                Overtaken.fit = GaussianNB.fit
                compare({"m": Overtaken()}, *rows(), cv=5, results=path, random_state=0)
            return super().fit(X, y)

    found = compare({"m": Overtaken()}, *rows(), cv=5, results=path, random_state=0, verbose=told.append)
    assert found.complete
    assert (told[-1].done, told[-1].total) == (5, 5)
    assert len(told) == 1 + 5
    every_fit_once(path, "m", repeats=1)


def test_runs_that_draw_their_seed_agree_on_it(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    begin = ResultsFile.begin

    def overtaken(self, *args):
        monkeypatch.setattr(ResultsFile, "begin", begin)
        compare({"m": GaussianNB()}, *rows(), cv=2, results=path)
        begin(self, *args)

    monkeypatch.setattr(ResultsFile, "begin", overtaken)
    found = compare({"m": GaussianNB()}, *rows(), cv=2, results=path)
    assert found.random_state == ResultsFile(path).seed
    every_fit_once(path, "m", repeats=1, folds=2)


def test_of_two_runs_with_other_parameters_under_one_name_the_second_stops(tmp_path):
    path = tmp_path / "r.jsonl"

    class Rival(GaussianNB):
        def fit(self, X, y):
            if not fits_of(path):
                compare({"m": GaussianNB(var_smoothing=0.5)}, *rows(), cv=3, results=path, random_state=0)
            return super().fit(X, y)

    with pytest.raises(ResultsFileError, match="has results of 'm' with other parameters"):
        compare({"m": Rival()}, *rows(), cv=3, results=path, random_state=0)
    every_fit_once(path, "m", repeats=1, folds=3)
    assert len({r["made_by"] for r in lines_of(path) if r["kind"] == "fit"}) == 1


# ------------------------------------------------------------------ what is killed, and what is damaged


def run_until_the_sixth_fit_is_half_written(path, then):
    write = ResultsFile._write

    def half(self, file, data):
        if len(self.fits) < 6:
            return write(self, file, data)
        file.seek(0, 2)
        file.write(data[: len(data) // 2])
        return then()

    ResultsFile._write = half  # of this process only
    run_slow(path, "a")


def test_a_run_that_is_killed_while_writing_leaves_half_a_line_and_no_lock(tmp_path):
    path = tmp_path / "r.jsonl"
    killed = process(run_until_the_sixth_fit_is_half_written, path, lambda: os.kill(os.getpid(), signal.SIGKILL))
    killed.join(120)
    assert killed.exitcode == -signal.SIGKILL
    assert not path.read_bytes().endswith(b"\n")
    assert len(ResultsFile(path).fits) == 5  # reading changes nothing
    with pytest.warns(UserWarning, match="ended in half a line") as said:
        run_slow(path, "a")
    assert len(said) == 1
    every_fit_once(path, "a")


def test_a_run_that_is_killed_lets_the_others_go_on(tmp_path):
    """The others wait while it holds the lock, and mend what it leaves."""
    path, stuck = tmp_path / "r.jsonl", multiprocessing.get_context("fork").Event()
    killed = process(run_until_the_sixth_fit_is_half_written, path, lambda: (stuck.set(), time.sleep(600)))
    assert stuck.wait(60)
    ended = []
    threading.Timer(0.5, lambda: (ended.append(1), killed.kill())).start()
    with pytest.warns(UserWarning, match="ended in half a line") as said:
        run_slow(path, "a")
    assert ended  # it waited
    assert len(said) == 1
    every_fit_once(path, "a")


def test_damage_in_the_middle_is_an_error_and_nothing_is_written(tmp_path):
    path = tmp_path / "r.jsonl"
    compare({"m": GaussianNB()}, *rows(), cv=3, results=path, random_state=0)
    lines = path.read_bytes().splitlines(True)
    fit = json.loads(lines[2])
    for bad in (
        lines[2][: len(lines[2]) // 2] + b"\n",
        lines[2][: len(lines[2]) // 2] + lines[2],
        b"\n",
        b"\0" * 40 + b"\n",
        b"[" * 100_000 + b"\n",
        b"\xff\n",
        b"5\n",
        b'{"kind": "fit"}\n',
        json.dumps({**fit, "measures": {"cost": "much"}}).encode() + b"\n",
        json.dumps({**fit, "measures": {"cost": 10**400}}).encode() + b"\n",
        json.dumps({**fit, "fit_seconds": 10**400}).encode() + b"\n",
        json.dumps({**fit, "failed": 3}).encode() + b"\n",
        json.dumps({**fit, "fit_seconds": {"number": "x"}}).encode() + b"\n",
    ):
        damaged = b"".join([*lines[:2], bad, *lines[3:]])
        path.write_bytes(damaged)
        with pytest.raises(ResultsFileError, match="is damaged in line 3") as error:
            compare({"m": GaussianNB()}, *rows(), cv=3, results=path, random_state=0)
        assert "Delete that line" in str(error.value)
        assert "\n" not in str(error.value)
        assert path.read_bytes() == damaged


def test_a_disk_that_is_full_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    file = ResultsFile(path)
    file.begin(0, {"data": dict.fromkeys(results_file.WHAT, "x")}, {})
    before = path.read_bytes()

    class Full:
        def __init__(self, real):
            self.real = real

        def write(self, data):
            if len(data) < 30:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.real.write(data[:20])

        def __getattr__(self, name):
            return getattr(self.real, name)

    write = ResultsFile._write
    monkeypatch.setattr(ResultsFile, "_write", lambda self, real, data: write(self, Full(real), data))
    fit = dict.fromkeys(results_file.FIELDS, None) | {"data_set": "data", "method": "m", "repeat": 0, "fold": 0}
    with pytest.raises(ResultsFileError, match=r"cannot be written \(No space left on device\)"):
        file.add(fit)
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_added_to_is_found_out_before_any_fit(tmp_path, monkeypatch):
    class Never(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            raise AssertionError

    path = tmp_path / "r.jsonl"
    compare({"m": GaussianNB()}, *rows(), cv=2, results=path, random_state=0)
    monkeypatch.setattr(os, "access", lambda *_: False)
    again = compare({"m": GaussianNB()}, *rows(), cv=2, results=path)  # there is nothing to add
    assert again.complete
    with pytest.raises(ResultsFileError, match=r"cannot be written \(no permission\)"):
        compare({"n": Never()}, *rows(), cv=2, results=path, on_error="raise")
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ResultsFileError, match="is not a file"):
            compare({"n": Never()}, *rows(), cv=2, results=place, on_error="raise")
    with pytest.raises(ResultsFileError, match="cannot be written"):
        compare({"n": Never()}, *rows(), cv=2, results=tmp_path / "nowhere" / "r.jsonl", on_error="raise")


def test_a_file_that_becomes_shorter_is_left_alone(tmp_path):
    path = tmp_path / "r.jsonl"
    compare({"m": GaussianNB()}, *rows(), cv=2, results=path, random_state=0)
    file = ResultsFile(path)
    cut = b"".join(path.read_bytes().splitlines(True)[:2])
    path.write_bytes(cut)
    fit = {**next(iter(file.fits.values())), "fold": 7}
    with pytest.raises(ResultsFileError, match="became shorter"):
        file.add(fit)
    assert path.read_bytes() == cut


def test_where_files_cannot_be_locked_it_is_said_once(tmp_path, monkeypatch):
    def unlockable(*_, **__):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(json_lines, "locked", unlockable)
    with pytest.warns(UserWarning, match="cannot be locked") as said:
        compare({"m": GaussianNB()}, *rows(), cv=3, results=tmp_path / "r.jsonl", random_state=0)
    assert len(said) == 1
    every_fit_once(tmp_path / "r.jsonl", "m", repeats=1, folds=3)
