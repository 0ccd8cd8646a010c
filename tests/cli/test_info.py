"""The command `skewboost info`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from skewboost.boosting.catalogue import RECOMMENDED
from skewboost.cli.app import app
from skewboost.datasets import make_fraud
from skewboost.evaluate.summary import summarise


def invoke(*args, width=100, **kwargs):
    return CliRunner().invoke(
        app, ["info", *map(str, args)], env={"COLUMNS": str(width)}, prog_name="skewboost", **kwargs
    )


@pytest.fixture
def fraud(tmp_path):
    X, y = make_fraud(500)
    X.assign(fraud=y).to_csv(tmp_path / "fraud.csv", index=False)
    return tmp_path / "fraud.csv"


def test_it_shows_classes_columns_and_what_next(fraud):
    result = invoke(fraud, "--target", "fraud")
    assert result.exit_code == 0
    for said in (
        "500 rows, 11 columns",
        "positive",
        "Only 10 rows are of class 1",
        "amount",
        "category",
        RECOMMENDED,
        "1 row in 50",
    ):
        assert said in result.stdout


def test_json_says_the_same_from_a_file_and_a_pipe(fraud):
    found = json.loads(invoke(fraud, "--target", "fraud", "--json").stdout)
    assert found["target"]["positive"] == 1
    assert found["n_rows"] == 500
    piped = json.loads(invoke("-", "--target", "fraud", "--json", input=fraud.read_bytes()).stdout)
    assert piped.pop("path") == "-"
    assert piped.pop("bytes") is None
    found["suggestions"] = [
        said.replace(str(fraud), "DATA") for said in found["suggestions"]
    ]  # no command can be given it
    assert piped == {k: v for k, v in found.items() if k not in ("path", "bytes")}


def test_without_a_target_likely_ones_are_named(fraud):
    words = " ".join(invoke(fraud).stdout.split())
    assert "--target. Columns with two values: fraud, card_present." in words


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 120])
def test_wide_tables_and_long_names_fit(width, tmp_path):
    names = [f"a [very] long name of a column, the {k}-th" for k in range(200)]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 200)), columns=names)
    frame["text"] = "long " * 30 + "text"
    frame.to_csv(tmp_path / "wide.csv", index=False)
    result = invoke(tmp_path / "wide.csv", width=width)
    lines = result.stdout.splitlines()
    assert all(len(line) <= width for line in lines if "wide.csv" not in line)
    assert "The first 40 of 201" in result.stdout
    assert len({line.split("  ")[0] for line in lines if line.startswith("a [very] ")}) == 40
    assert len(lines) < 70


def test_errors_are_one_line(tmp_path, fraud):
    for args, said in (
        ((tmp_path / "none.csv",), "there is no such file"),
        ((fraud, "--target", "Fraud"), "there is no column 'Fraud'"),
    ):
        result = invoke(*args)
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""


def test_advice_is_in_the_words_of_the_command_line(fraud):
    told = json.loads(invoke(fraud, "--target", "fraud", "--json").stdout)["suggestions"]
    text = " ".join(told)
    assert "--cost" in text
    assert "skewboost goal" in text
    assert "GoalSearchCV" not in text
    assert "GoalSearchCV" in " ".join(summarise(*make_fraud(500)).suggestions)  # the library's own
    assert "skewboost goal" in invoke(fraud, "--target", "fraud").stdout


def test_large_numbers_are_written_out(tmp_path):
    pd.DataFrame({"far": [0.5, 7.25, 16020.3], "year": [1999, 2001, 2003]}).to_csv(tmp_path / "far.csv", index=False)
    shown = invoke(tmp_path / "far.csv").stdout
    assert "0.5 … 7.25 … 16,020" in shown
