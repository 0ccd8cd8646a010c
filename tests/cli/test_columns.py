"""Whatever columns and rows `fit` was told to use, later commands use the same, on any table that has them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skewboost.io import load, save
from skewboost.plots import Report

DROPPED = ["id", "seen", "note, long"]
FITS = {
    "dropped": [*(word for name in DROPPED for word in ("--drop", name)), "--drop", "times"],
    "joined": ["--drop", "id,seen,times", "--drop", "note, long"],
    "weighted": [*(word for name in DROPPED for word in ("--drop", name)), "--weight", "times"],
    "positive": ["--drop", "id,seen,times", "--drop", "note, long", "--positive", "good", "--cost", "good=3,bad=1"],
    "all rows": ["--drop", "id,seen,times", "--drop", "note, long", "--test", "0"],
    "a bag": ["--drop", "id,seen,times", "--drop", "note, long", "--method", "UnderBagging"],
    "a goal": ["--drop", "id,seen,times", "--drop", "note, long"],
}
FEATURES = ["size", "colour", "age", "code"]


def with_more(frame):
    """A date and free text, which nothing can be learned from."""
    days = pd.date_range("2024-01-01", periods=len(frame)).astype(str)
    return frame.assign(seen=days, **{"note, long": [f"row {k}" for k in range(len(frame))]})


TABLES = {
    "as in training": lambda f: f,
    "without what was dropped": lambda f: f.drop(columns=DROPPED),
    "turned round, with more columns": lambda f: f.assign(due="2024-03-01", extra=1)[
        [*f.columns[::-1], "due", "extra"]
    ],
}
HARDEST = "turned round, with more columns"


@pytest.fixture(scope="module")
def fitted(small, run, tmp_path_factory):
    """Models by what `fit` was told, and the table."""
    folder = tmp_path_factory.mktemp("fitted")
    with_more(small.frame).to_csv(folder / "train.csv", index=False)
    models = {}
    for k, (name, told) in enumerate(FITS.items()):
        models[name] = str(folder / f"{k}.json")
        what = ["goal", folder / "train.csv", "recall>=0.5", "--confidence", 0] if name == "a goal" else None
        what = what or ["fit", folder / "train.csv"]
        result = run(*what, "-t", "kind", "-m", "CSRA", "-r", 3, "-j", 1, *told, "-o", models[name])
        assert result.exit_code == 0, result.output
    return models


@pytest.fixture
def no_drawing(monkeypatch):
    """Reports are asked what the model says, and not drawn."""

    def save(self, path):
        Path(path).write_text(str(float(self.evidence.counts.fp + self.evidence.counts.fn)))
        return Path(path)

    monkeypatch.setattr(Report, "save", save)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fit", "table"),
    [*((fit, HARDEST) for fit in FITS), *(("weighted", table) for table in TABLES if table != HARDEST)],
)
def test_every_command_uses_the_columns_of_the_model_by_name(fitted, small, run, no_drawing, tmp_path, fit, table):
    frame = with_more(small.new)
    path, model = tmp_path / "later.csv", load(fitted[fit])
    TABLES[table](frame).to_csv(path, index=False)
    said, truth = model.predict(small.new[FEATURES]), small.new["kind"].to_numpy()
    weights = small.new["times"] if fit == "weighted" else np.ones(len(truth))

    ran = [run("predict", fitted[fit], path, "--json")]
    assert [row["prediction"] for row in json.loads(ran[0].stdout)] == said.tolist()
    ran.append(run("evaluate", fitted[fit], path, "--json"))
    classes = ["bad", "good"]
    matrix = [[weights[(truth == t) & (said == p)].sum() for p in classes] for t in classes]
    assert json.loads(ran[1].stdout)["confusion_matrix"] == matrix
    if fit != "a bag":  # which cannot be taken apart
        ran += [run("explain", fitted[fit], path, "--row", row, "--json") for row in (3, "worst")]
        assert json.loads(ran[2].stdout)["prediction"] == said[2]
        assert {c["column"] for c in json.loads(ran[3].stdout)["contributions"]} == set(FEATURES)
    ran.append(run("report", fitted[fit], path, "-o", tmp_path / "r.html"))
    assert float((tmp_path / "r.html").read_text()) == weights[truth != said].sum()
    for result in ran:
        assert result.exit_code == 0, result.output
        told = f"ignored: due, extra (not used by {fitted[fit]})\n"
        assert (told in result.stderr) == (table == HARDEST)
        assert result.stderr.replace(told, "").count("ignored") == 0
    if fit != "a bag":
        assert run("export", fitted[fit], "--to", "python").exit_code == 0


@pytest.mark.parametrize("fit", ["joined", "weighted", "positive"])
def test_comparisons_leave_the_same_columns_out(small, run, tmp_path, fit):
    with_more(small.frame).to_csv(tmp_path / "train.csv", index=False)
    told = ["-t", "kind", "-m", "CSRA", "--cv", 2, "-r", 2, "--json"]
    result = run("compare", tmp_path / "train.csv", *told, *FITS[fit])
    assert result.exit_code == 0, result.output
    plain = small.frame.drop(columns=["id"] if fit == "weighted" else ["id", "times"])
    plain.to_csv(tmp_path / "plain.csv", index=False)
    own = [word for word in FITS[fit] if word not in ("--drop", "id,seen,times", *DROPPED)]
    same = json.loads(run("compare", tmp_path / "plain.csv", *told, *own).stdout)
    folds = [[fold["cost"] for fold in found["folds"]] for found in (json.loads(result.stdout), same)]
    assert folds[0] == folds[1]


@pytest.mark.parametrize("fit", ["weighted", "a bag"])
def test_without_the_target_rows_are_answered_but_not_measured(fitted, small, run, refused, tmp_path, fit):
    small.new.drop(columns="kind").to_csv(tmp_path / "new.csv", index=False)
    assert run("predict", fitted[fit], tmp_path / "new.csv").exit_code == 0
    if fit != "a bag":
        assert json.loads(run("explain", fitted[fit], "new.csv", "--row", 2, "--json").stdout)["truth"] is None
        assert "has no column 'kind'" in refused("explain", fitted[fit], "new.csv", "--row", "worst")
    assert "has no column 'kind'" in refused("evaluate", fitted[fit], "new.csv")
    assert "has no column 'kind'" in refused("report", fitted[fit], "new.csv")


def test_pipes_and_other_formats_have_more_columns_too(fitted, small, run, tmp_path):
    frame = with_more(small.new)
    frame.assign(seen=pd.to_datetime(frame["seen"])).to_parquet(tmp_path / "later.parquet")
    expected = run("evaluate", fitted["weighted"], "-", "--json", input=frame.to_csv(index=False))
    assert expected.exit_code == 0, expected.output
    other = json.loads(run("evaluate", fitted["weighted"], tmp_path / "later.parquet", "--json").stdout)
    assert {**json.loads(expected.stdout), "data": ""} == {**other, "data": ""}
    frame.assign(seen=[[k] for k in frame["id"]]).to_parquet(tmp_path / "nested.parquet")  # of a type that is not read
    for name in ("evaluate", "predict"):
        assert run(name, fitted["weighted"], tmp_path / "nested.parquet").exit_code == 0
    assert run("fit", tmp_path / "nested.parquet", "-t", "kind", "-m", "CSRA", "-r", 2, *FITS["dropped"]).exit_code == 0
    row = run("explain", fitted["dropped"], "-", "--row", 2, "--json", input=frame.to_csv(index=False))
    assert json.loads(row.stdout)["truth"] == frame["kind"][1]


def test_weights_are_those_of_training_unless_others_are_named(fitted, small, run, tmp_path):
    path, model = tmp_path / "later.csv", fitted["weighted"]
    small.new.to_csv(path, index=False)

    def rows(*told):
        result = run("evaluate", model, path, "--json", *told)
        return json.loads(result.stdout)["rows"], result.stderr

    assert rows()[0] == small.new["times"].sum()
    assert "rows are weighted by 'times'" in rows()[1]
    assert rows("--weight", "")[0] == len(small.new)
    assert rows("--weight", "code")[0] == small.new["code"].sum()
    small.new.drop(columns="times").to_csv(path, index=False)
    n, told = rows()
    assert n == len(small.new)
    assert "there is no column 'times', which weighted the rows in training" in told


def test_missing_columns_are_named_by_every_command(fitted, small, refused, tmp_path):
    small.new.drop(columns=["size", "age"]).to_csv(tmp_path / "less.csv", index=False)
    for command in (["predict"], ["evaluate"], ["explain", "--row", 1], ["explain", "--row", "worst"], ["report"]):
        line = refused(command[0], fitted["dropped"], "less.csv", *command[1:])
        assert "less.csv lacks the columns 'size', 'age'" in line


@pytest.mark.sample(3)
@pytest.mark.parametrize("notes", ["", "a first try", "[1]", '{"dropped": 3, "target": ["kind"], "training": 7}'])
def test_a_model_that_python_saved_is_told_the_target(small, run, refused, tmp_path, notes):
    path = tmp_path / "own.json"
    save(load(small.model), path, notes=notes)
    assert "Name it with --target" in refused("evaluate", path, small.later)
    assert "Name it with --target" in refused("explain", path, small.later, "--row", "worst")
    for command in (["evaluate"], ["explain", "--row", "worst"]):
        result = run(command[0], path, small.later, *command[1:], "--target", "kind", "--json")
        assert result.exit_code == 0, result.output
        assert "ignored: id, times" in result.stderr
        assert "warning" not in result.stderr


def test_the_truth_of_a_row_is_a_class_of_the_model(run, tmp_path):
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    pd.DataFrame({"x": range(40), "y": ["01", "no"] * 20}).to_csv(train, index=False)
    assert run("fit", train, "-t", "y", "-m", "CSRA", "-r", 2, "--test", 0, "-o", tmp_path / "m.json").exit_code == 0
    new.write_text("x,y\n1,01\n2,01\n")  # looks like a number here
    for row in (1, "worst"):
        told = json.loads(run("explain", tmp_path / "m.json", new, "--row", row, "--json").stdout)
        assert told["truth"] == "01"


def test_columns_that_hold_dates_now_are_named(fitted, small, refused, tmp_path):
    small.new.assign(age=pd.date_range("2024-01-01", periods=len(small.new))).to_csv(
        tmp_path / "dated.csv", index=False
    )
    for command in (["predict"], ["evaluate"], ["explain", "--row", 1], ["report"]):
        line = refused(command[0], fitted["dropped"], "dated.csv", *command[1:])
        assert "dated.csv: the column 'age' holds dates" in line
