"""A small table with text, categories and empty cells, and a model of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from command_runner import invoke


def frame_of(n, seed):
    rng = np.random.default_rng(seed)
    size, age = rng.normal(size=n).round(3), rng.integers(18, 80, n)
    colour = rng.choice(["red", "green", "blue"], n)
    score = 1.5 * size + (colour == "red") + 0.02 * age + rng.normal(size=n)
    frame = pd.DataFrame(
        {"id": np.arange(n), "size": size, "colour": colour, "age": age, "code": rng.choice([1, 2], n)}
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    frame["times"] = rng.integers(1, 3, n)
    frame["kind"] = np.where(score > 2.6, "bad", "good")
    return frame


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Files of a small table, and a model of it that `fit` has written."""
    folder = tmp_path_factory.mktemp("small")
    made = SimpleNamespace(folder=folder, frame=frame_of(240, 0), new=frame_of(90, 1))
    made.train, made.later, made.model = (str(folder / name) for name in ("train.csv", "later.csv", "model.json"))
    made.frame.to_csv(made.train, index=False)
    made.new.to_csv(made.later, index=False)
    made.many = str(folder / "many.csv")
    three = pd.cut(made.frame["age"], [0, 30, 60, 100], labels=["young", "middle", "old"]).astype(str)
    made.frame.assign(kind=three).to_csv(made.many, index=False)
    made.fitted = invoke(
        "fit", made.train, "--target", "kind", "--drop", "id,times", "--cost", 5, "-m", "CSRA", "--rounds", 10,
        "-o", made.model,
    )  # fmt: skip
    assert made.fitted.exit_code == 0, made.fitted.output
    return made


@pytest.fixture(scope="session")
def run():
    return invoke


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Run a command that cannot work: one line on stderr, nothing on stdout, no file; the line comes back."""
    monkeypatch.chdir(tmp_path)

    def run(*args, code=2, **kwargs):
        before = {path.name for path in tmp_path.iterdir()}
        result = invoke(*args, **kwargs)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1, result.stderr
        assert {path.name for path in tmp_path.iterdir()} == before
        return result.stderr

    return run
