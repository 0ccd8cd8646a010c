"""The command `predict`."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skewboost.cli import predict_command
from skewboost.io import load

FEATURES = ["size", "colour", "age", "code"]
EXACT = {"probability": float, "score": float}  # all digits, in all versions of pandas
MAIN = [sys.executable, "-c", "from skewboost.cli import main; main()"]


def expected(small):
    model, X = load(small.model), small.new[FEATURES]
    p, F = model.predict_proba(X), model.decision_function(X)
    assert model.pos_label_ == model.classes_[0] == "bad"  # the harder case: scores of the library speak for the other
    return model.predict(X), p[:, 0], -F


def check(answers, small):
    labels, p, F = expected(small)
    assert answers["prediction"].tolist() == labels.tolist()
    assert np.array_equal(answers["probability"], p)
    assert np.array_equal(answers["score"], F)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".feather"])
def test_answers_are_those_of_the_library_in_every_format(small, run, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    result = run("predict", small.model, small.later, "-o", path)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    if ending == ".parquet":
        answers = pd.read_parquet(path)
    elif ending == ".feather":
        answers = pd.read_feather(path)
    else:
        answers = pd.read_csv(path, sep="\t" if "tsv" in ending else ",", converters=EXACT)
    check(answers, small)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv", ".parquet", ".feather"])
def test_the_same_rows_in_another_format_get_the_same_answers(small, run, tmp_path, ending):
    path = tmp_path / f"in{ending}"
    if ending == ".parquet":
        small.new.to_parquet(path)
    elif ending == ".feather":
        small.new.to_feather(path)
    else:
        small.new.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    result = run("predict", small.model, path)
    assert result.exit_code == 0, result.output
    check(pd.read_csv(io.StringIO(result.stdout), converters=EXACT), small)


def test_chunks_columns_in_another_order_and_columns_to_keep(small, run, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_command, "CHUNK", 7)
    path = tmp_path / "turned.csv"
    small.new[small.new.columns[::-1]].to_csv(path, index=False)
    for out in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        result = run("predict", small.model, path, "--keep", "id,colour", "-o", out)
        assert result.exit_code == 0, result.output
        assert "ignored" not in result.stderr  # `fit` left id and times out
        read = pd.read_csv(out, converters=EXACT) if out.suffix == ".csv" else pd.read_parquet(out)
        assert list(read.columns) == ["id", "colour", "prediction", "probability", "score"]
        assert read["id"].astype(int).tolist() == small.new["id"].tolist()
        check(read, small)
    everything = pd.read_csv(io.StringIO(run("predict", small.model, path, "--keep", "all").stdout))
    assert len(everything.columns) == len(small.new.columns) + 3


def test_text_of_numbers_stays_the_category_that_it_was(run, tmp_path):
    train, new, model = tmp_path / "train.csv", tmp_path / "new.csv", tmp_path / "m.json"
    grade = ["1", "2", "x"] * 20
    pd.DataFrame({"grade": grade, "y": [int(g != "2") for g in grade]}).to_csv(train, index=False)
    assert run("fit", train, "-t", "y", "--test", 0, "-m", "CSRA", "-r", 5, "-o", model).exit_code == 0
    new.write_text("grade\n1\n2\n")  # looks like a number here
    assert pd.read_csv(io.StringIO(run("predict", model, new).stdout))["prediction"].tolist() == [1, 0]


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_a_model_does_not_depend_on_the_format_of_the_data(small, run, tmp_path, ending):
    path, model = tmp_path / f"train{ending}", tmp_path / "m.json"
    small.frame.to_parquet(path) if ending == ".parquet" else small.frame.to_csv(path, index=False)
    told = ["-t", "kind", "--drop", "id,times", "--cost", 5, "-m", "CSRA", "--rounds", 10]
    assert run("fit", path, *told, "-o", model).exit_code == 0
    assert run("predict", model, small.later).stdout == run("predict", small.model, small.later).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".feather"])
def test_a_pipe_gets_what_a_file_would(small, run, tmp_path, ending):
    path, pipe, link = (tmp_path / f"{name}{ending}" for name in ("file", "pipe", "link"))
    os.mkfifo(pipe)
    link.symlink_to(path)
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit(pipe.read_bytes)
        for place in (pipe, link):
            assert run("predict", small.model, small.later, "-o", place).exit_code == 0
        assert got.result() == path.read_bytes()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
def test_rows_from_a_pipe_with_a_name(small, run, refused, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for command in ("predict", "evaluate"):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(pipe.write_bytes, Path(small.later).read_bytes())
            result = run(command, small.model, pipe)
        assert result.exit_code == 0, result.output
        assert result.stdout == run(command, small.model, small.later).stdout
    assert "the model must be a file" in refused("predict", pipe, small.later)


def test_without_pyarrow_parquet_is_refused(small, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'pip install "skewboost[parquet]"' in refused("predict", small.model, small.later, "-o", "out.parquet")


def test_many_classes_have_a_column_each(small, run, tmp_path):
    path = tmp_path / "many.json"
    run("fit", small.many, "-t", "kind", "-m", "AdaBoostMH", "-r", 5, "-o", path)
    rows = json.loads(run("predict", path, small.many, "--json").stdout)
    model = load(path)
    p = model.predict_proba(small.frame[list(model.feature_names_in_)])
    assert len(rows) == 240
    assert [rows[3][f"probability_{c}"] for c in ("middle", "old", "young")] == p[3].tolist()
    assert {"score_middle", "score_old", "score_young", "prediction"} < set(rows[0])


def test_json_tells_what_was_written(small, run, tmp_path):
    told = json.loads(run("predict", small.model, small.later, "-o", tmp_path / "a.csv", "--json").stdout)
    assert told["rows"] == 90
    assert sum(told["predicted"].values()) == 90
    assert told["columns_ignored"] == told["warnings"] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.rename(columns={"size": "Size"}), "lacks the column 'size'"),
        (lambda f: f.rename(columns={"size": "Size"}), "Did you mean 'Size'?"),
        (lambda f: f.drop(columns=["size", "age"]), "lacks the columns 'size', 'age'"),
        (lambda f: f.assign(age="old"), "'age'"),
    ],
)
def test_a_model_that_wants_other_columns(small, refused, tmp_path, change, words):
    change(small.new).to_csv(tmp_path / "other.csv", index=False)
    assert words in refused("predict", small.model, "other.csv", "-o", "out.csv")


def test_wrong_models_and_outputs(small, refused, tmp_path):
    assert "no file nothing.json" in refused("predict", "nothing.json", small.later)
    (tmp_path / "bad.json").write_text('{"format": ')
    assert re.search(
        "bad.json.* is not valid: it is not JSON .*`skewboost fit", refused("predict", "bad.json", small.later)
    )
    assert "model file" in refused("predict", small.later, small.later)
    assert "must end in" in refused("predict", small.model, small.later, "-o", "out.xlsx")
    assert "--keep" in refused("predict", small.model, small.later, "--keep", "name")
    small.new.assign(score=1).to_csv(tmp_path / "own.csv", index=False)
    assert "has a column 'score', like the output" in refused("predict", small.model, "own.csv", "--keep", "all")


def test_a_row_that_breaks_off_leaves_no_half_written_file(small, refused, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_command, "CHUNK", 10)
    text = Path(small.later).read_text().splitlines()
    text[60] = "1,2,3,4,5,6,7,8,9"
    (tmp_path / "broken.csv").write_text("\n".join(text))
    (tmp_path / "out.csv").write_text("as it was")
    assert "line 61" in refused("predict", small.model, "broken.csv", "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text() == "as it was"


def test_ctrl_c_leaves_no_half_written_file(small, run, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(predict_command, "predictions", interrupted)
    result = run("predict", small.model, small.later, "-o", tmp_path / "out.csv")
    assert result.exit_code == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_traceback(small):
    rows = Path(small.later).read_bytes()  # so few that they are in a buffer until the end
    process = subprocess.Popen(
        [*MAIN, "predict", small.model, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    process.stdout = None
    errors = process.communicate(rows)[1].decode()
    assert process.returncode == 1
    assert errors == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the shell closes it")
def test_standard_input_that_is_closed_is_said_to_be(small):
    command = shlex.join([*MAIN, "predict", small.model, "-"])
    done = subprocess.run(["sh", "-c", f"{command} <&-"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: standard input: it is closed. Pipe a table into the command, or name a file.\n"
