"""Whose mistake it is: the user's is a line, ours is a traceback."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from skewboost import CSRAClassifier
from skewboost.cli import evaluate_command
from skewboost.errors import InputError, SkewBoostError


@pytest.mark.parametrize("params", [{"cost": -1}, {"n_estimators": 0}, {"engine": "gpu"}])
def test_errors_of_the_library_belong_to_one_family(params):
    with pytest.raises(SkewBoostError) as caught:
        CSRAClassifier(**params).fit([[0.0], [1.0]], [0, 1])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("X", [[[np.inf], [1.0]], [["a"], [1.0]], [1.0, 2.0], np.zeros((3, 1))])
def test_errors_of_scikit_learns_checks_belong_to_it_too(X):
    with pytest.raises(SkewBoostError):
        CSRAClassifier().fit(X, [0, 1])


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(InputError("cost=-1 is negative.", "Give a positive number.")))
    assert (error.problem, error.remedy) == ("cost=-1 is negative.", "Give a positive number.")
    assert str(error) == "cost=-1 is negative. Give a positive number."


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
