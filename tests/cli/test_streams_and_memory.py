"""Streams that are closed, and memory that is not enough: one line each, and a remedy."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from skewboost.cli import command_group, evaluate_command
from skewboost.cli.data import open_data
from skewboost.progress import ProgressBar, say

MAIN = shlex.join([sys.executable, "-c", "from skewboost.cli import main; main()"])
closed = pytest.mark.skipif(sys.platform == "win32", reason="the shell closes it")


@closed
@pytest.mark.slow
@pytest.mark.parametrize("command", ["predict {m} {d}", "info {d}", "evaluate {m} {d}", "fit {d} -t kind", "demo"])
def test_standard_output_that_is_closed_is_said_to_be(small, command, tmp_path):
    words = command.format(m=shlex.quote(small.model), d=shlex.quote(small.later))
    done = subprocess.run(["sh", "-c", f"{MAIN} {words} >&-"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: standard output is closed, so the result cannot be printed. Redirect it to a file or to /dev/null.\n"
    )
    assert not list(tmp_path.iterdir())


@closed
@pytest.mark.slow
@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize(
    "command",
    [
        "predict {m} {d} -o out.csv",
        "fit {d} -t kind --drop id -m CSRA -r 3 -o out.json",
        "explain {m}",
        "report {m} {d}",
    ],
)
def test_files_are_written_with_closed_streams(small, tmp_path, streams, command):
    words = command.format(m=shlex.quote(small.model), d=shlex.quote(small.later))
    done = subprocess.run(["sh", "-c", f"{MAIN} {words} {streams}"], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    if "explain" in command:
        assert (done.returncode == 0) == (streams == "2>&-")
    else:
        assert done.returncode == 0, done.stderr
        assert list(tmp_path.iterdir())


def test_what_needs_no_standard_output_works_without(small, run, refused, tmp_path, monkeypatch):
    monkeypatch.setattr(command_group, "sys", SimpleNamespace(stdout=None))
    for command in (["info", small.later], ["predict", small.model, small.later], ["list"], ["demo"]):
        assert "standard output is closed" in refused(*command)
    assert run("predict", small.model, small.later, "-o", tmp_path / "out.csv").exit_code == 0


def test_progress_without_a_standard_error_stream(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with ProgressBar(3) as bar:
        bar.update(3)
    say("nothing")


def test_memory_that_is_not_enough_is_said_in_a_line(small, run, monkeypatch):
    def too_much(*_):
        np.empty(2**62, dtype=np.int8)

    for error, words in ((too_much, "Unable to allocate 4.00 EiB"), (lambda *_: bytearray(2**62), "")):
        monkeypatch.setattr(evaluate_command, "read_model", error)
        result = run("evaluate", small.model, small.later)
        assert result.exit_code == 1
        assert result.stderr.startswith("error: there is not enough memory")
        assert words in result.stderr
        assert result.stderr.endswith("Use fewer rows or columns, or a machine with more.\n")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_file_that_does_not_fit_is_not_called_damaged(small, tmp_path, monkeypatch, ending):
    import pandas as pd

    def too_large(*_, **__):
        raise (
            pd.errors.ParserError("Error tokenizing data. C error: out of memory")
            if ending == ".csv"
            else pa.lib.ArrowMemoryError("malloc of size 1 failed")
        )

    path = tmp_path / f"t{ending}"
    small.new.to_csv(path) if ending == ".csv" else small.new.to_parquet(path)
    source = open_data(path)
    monkeypatch.setattr(pd, "read_csv", too_large)
    monkeypatch.setattr(type(source), "_open", too_large if ending == ".parquet" else type(source)._open)
    with pytest.raises(MemoryError):
        source.read()


def test_the_time_of_a_fit_is_that_of_the_command(small, run, tmp_path, monkeypatch):
    """Reading, measuring and writing take long, too."""
    from skewboost.cli import fit_command

    passed = iter(range(0, 10_000, 100))
    monkeypatch.setattr(fit_command.time, "perf_counter", lambda: next(passed))
    told = ["fit", small.train, "-t", "kind", "--drop", "id", "-m", "CSRA", "-r", 3, "-o", tmp_path / "m.json"]
    assert "\n  took      300.0 s, of which training 100.0 s\n" in run(*told).stdout
    document = json.loads(run(*told, "--json").stdout)
    assert (document["seconds"], document["seconds_in_all"]) == (100, 300)
