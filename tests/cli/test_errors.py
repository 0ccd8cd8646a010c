"""Whose mistake it is: the user's is a line, ours is a traceback."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost import CSRAClassifier
from skewboost.cli import evaluate_command
from skewboost.cli.exit_codes import raised_by_a_check


def trace_of(function):
    with pytest.raises((ValueError, TypeError)) as caught:
        function()
    return caught.value.__traceback__


def test_checks_of_the_library_are_told_from_bugs():
    assert raised_by_a_check(trace_of(lambda: CSRAClassifier(cost=-1).fit([[0.0], [1.0]], [0, 1])))
    assert raised_by_a_check(trace_of(lambda: CSRAClassifier(n_estimators=0).fit([[0.0], [1.0]], [0, 1])))
    assert not raised_by_a_check(trace_of(lambda: np.ones(3) + np.ones(4)))
    assert not raised_by_a_check(trace_of(lambda: int("x")))


@pytest.mark.parametrize("bug", [lambda *_: np.ones(3) + np.ones(4), lambda *_: [][0], lambda *_: {}["key"]])
def test_a_bug_is_not_hidden(small, run, monkeypatch, bug):
    monkeypatch.setattr(evaluate_command, "read_model", bug)
    result = run("evaluate", small.model, small.later)
    assert result.exit_code == 1
    assert not isinstance(result.exception, SystemExit)


def test_a_full_disk_is_a_failure_and_a_missing_folder_a_mistake(small, run, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "out.csv")

    monkeypatch.setattr(evaluate_command, "read_model", full)
    result = run("evaluate", small.model, small.later)
    assert (result.exit_code, result.stderr) == (1, "error: out.csv: No space left on device\n")


def test_debugging_shows_where_an_error_comes_from(small, run, monkeypatch):
    monkeypatch.setenv("SKEWBOOST_DEBUG", "1")
    assert "Traceback" in run("evaluate", "nothing.json", small.later).stderr


def test_colours_are_for_terminals_only(small, run):
    assert "\x1b[" not in run("evaluate", small.model, small.later).stdout
