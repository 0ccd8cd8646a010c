"""The commands `fit` and `goal`."""

from __future__ import annotations

import json
import os
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from skewboost import CSRAClassifier
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.method_options import WRAPPERS, find_method, method_names
from skewboost.cli.target_column import read_labels
from skewboost.io import describe, load

FEATURES = ["size", "colour", "age", "code"]
BASE = ["--target", "kind", "--drop", "id,times", "--method", "CSRA", "--rounds", 10]
FEW = ["-m", "CSRA", "-r", 3]


def test_the_model_that_is_written_is_the_one_of_the_library(small, run, tmp_path):
    path = tmp_path / "all.json"
    result = run("fit", small.train, *BASE, "--cost", 5, "--test", 0, "-o", path)
    assert result.exit_code == 0, result.output
    own = CSRAClassifier(cost=5, n_estimators=10, random_state=0).fit(small.frame[FEATURES], small.frame["kind"])
    X = small.new[FEATURES]
    assert np.array_equal(load(path).decision_function(X), own.decision_function(X))
    assert "No rows were held out" in result.stdout


def test_measures_are_those_of_the_held_out_rows(small, run):
    told = json.loads(run("fit", small.train, *BASE, "--cost", 5, "--seed", 3, "--json").stdout)
    X, y = small.frame[FEATURES], small.frame["kind"].to_numpy()
    inner, outer = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=3)
    inner, outer = np.sort(inner), np.sort(outer)
    model = CSRAClassifier(cost=5, n_estimators=10, random_state=3).fit(X.iloc[inner], y[inner])
    said = model.predict(X.iloc[outer])
    matrix = [[int(((y[outer] == t) & (said == p)).sum()) for p in ("bad", "good")] for t in ("bad", "good")]
    assert told["held_out"]["confusion_matrix"] == matrix
    assert told["held_out"]["measures"]["recall"] == pytest.approx(matrix[0][0] / sum(matrix[0]))
    assert told["held_out"]["bill"]["total"] == 5 * matrix[0][1] + matrix[1][0]
    assert told["model"] is None


def test_the_result_says_what_was_fitted_and_what_to_do_next(small):
    text = small.fitted.stdout
    assert "CSRA on 180 rows and 4 columns" in text
    assert "bad is the positive class" in text
    assert "a miss costs 5 false alarms" in text
    assert f"skewboost predict {small.model}" in text
    assert describe(small.model)["n_rounds"] == 10


def test_a_weight_is_a_repeated_row(small, run, tmp_path):
    paths = tmp_path / "weighted.json", tmp_path / "repeated.json", tmp_path / "repeated.csv"
    told = ["-t", "kind", "--drop", "id", "--weight", "times", "-m", "CSRA", "-r", 8, "--test", 0]
    assert run("fit", small.train, *told, "-o", paths[0]).exit_code == 0
    small.frame.loc[small.frame.index.repeat(small.frame["times"])].to_csv(paths[2], index=False)
    assert run("fit", paths[2], *BASE, "-r", 8, "--test", 0, "-o", paths[1]).exit_code == 0
    weighted, repeated = (load(path).decision_function(small.new[FEATURES]) for path in paths[:2])
    assert weighted == pytest.approx(repeated)


def test_names_of_methods_learners_and_settings(small, run, tmp_path):
    path = tmp_path / "m.json"
    told = [
        "--method",
        "real-boost",
        "--learner",
        "tree",
        "--set",
        "learning_rate=0.5",
        "--set",
        "estimator__max_leaf_nodes=3",
    ]
    result = run("fit", small.train, *BASE, *told, "-o", path)
    assert result.exit_code == 0, result.output
    model = load(path)
    assert type(model).__name__ == "RealBoostClassifier"
    assert (model.learning_rate, model.estimator.max_leaf_nodes) == (0.5, 3)


def test_a_cascade(small, run, refused, tmp_path):
    path = tmp_path / "m.json"
    told = ["-t", "kind", "--drop", "id,times", "--method", "Cascade", "--set", "n_stages=2"]
    result = run("fit", small.train, *told, "-o", path)
    assert result.exit_code == 0, result.output
    n_rounds = sum(stage.n_rounds for stage in load(path).stages_)
    assert f"{n_rounds} round" in run("explain", path).stdout
    answers = tmp_path / "answers.csv"
    assert run("predict", path, small.train, "-o", answers).exit_code == 0
    assert set(pd.read_csv(answers)["prediction"]) == {"bad", "good"}
    assert "Leave it out, or use --method CSRA" in refused("fit", small.train, *told, "--rounds", 5)
    importances = json.loads(run("explain", path, "--json").stdout)["importances"]
    assert sum(importances.values()) == pytest.approx(1.0)


def test_the_booster_and_the_certificate_of_a_cascade(small, run, refused, tmp_path):
    path = tmp_path / "m.json"
    told = ["-t", "kind", "--drop", "id,times", "--method", "Cascade", "--set", "estimator__n_estimators=7"]
    told += ["--set", "detection_rate=0.9"]
    assert run("fit", small.train, *told, "-o", path).exit_code == 0
    model = load(path)
    assert (model.confidence, model.estimator.n_estimators) == (None, 7)  # the command has held-out rows of its own
    result = run("fit", small.train, *told, "--set", "confidence=0.8", "--json")
    certificate = json.loads(result.stdout)["certificate"]
    assert certificate["confidence"] == 0.8
    text = run("fit", small.train, *told, "--set", "confidence=0.8").stdout
    assert "On further rows that were held out:" in text
    line = refused("fit", small.train, *told, "--set", "estimator__x=1")
    assert "those of the estimator are estimator__" in line
    assert "estimator__n_estimators" in line
    found = run("goal", small.train, "recall >= 0.5", *told, "--confidence", "0.8", "-o", path)
    assert found.exit_code == 0, found.output
    assert load(path).certificate_.met


def test_the_positive_class_can_be_chosen(small, run, tmp_path):
    path = tmp_path / "m.json"
    assert run("fit", small.train, *BASE, "--positive", "GOOD", "--cost", "bad=2,good=7", "-o", path).exit_code == 0
    model = load(path)
    assert model.pos_label_ == "good"
    assert model.cost == {"bad": 2.0, "good": 7.0}


def test_many_classes(small, run, refused, tmp_path):
    line = refused("fit", small.many, *BASE)
    assert "3 classes (middle, old, young)" in line
    assert "--method SkewBoost or AdaC2M1 or AdaBoostMH" in line
    result = run("fit", small.many, *BASE, "--method", "AdaBoostMH", "--cost", "young=1,middle=2,old=3")
    assert result.exit_code == 0, result.output
    assert "mistakes on young cost 1, middle cost 2, old cost 3" in result.stdout


def test_rows_without_a_target_are_left_out_and_counted(small, run, tmp_path):
    gaps = tmp_path / "gaps.csv"
    small.frame.assign(kind=small.frame["kind"].where(small.frame["id"] > 9)).to_csv(gaps, index=False)
    result = run("fit", gaps, *BASE, "--test", 0)
    assert "10 rows without a value of 'kind' left out" in result.stderr
    assert "CSRA on 230 rows" in result.stdout


def test_whole_numbers_with_gaps_are_classes_not_fractions(run, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": range(40), "y": [None, *([0] * 30), *([1] * 9)]}).to_csv(path, index=False)
    told = json.loads(run("fit", path, "-t", "y", "-m", "CSRA", "-r", 3, "--test", 0, "--json").stdout)
    assert told["rows_of_class"] == {"0": 30, "1": 9}
    assert told["positive"] == 1


def test_a_goal_is_certified(small, run, tmp_path):
    path, picture = tmp_path / "goal.json", tmp_path / "frontier.png"
    result = run("goal", small.train, "recall>=0.6", *BASE, "-r", 3, "-j", 1, "--plot", picture, "-o", path)
    assert result.exit_code == 0, result.output
    assert "recall >= 0.6: certified with 90% confidence" in result.stdout
    assert picture.stat().st_size > 5000
    told = json.loads(run("fit", small.train, *BASE, "-r", 3, "-j", 1, "--goal", "recall>=0.6", "--json").stdout)
    assert told["certificate"]["met"] is True
    assert told["certificate"]["threshold"] == load(path).threshold_


@pytest.mark.slow
def test_the_meaning_of_equal_rows_is_said_by_options(small, run, refused, tmp_path):
    path = tmp_path / "thrice.csv"
    pd.concat([small.frame] * 3).to_csv(path, index=False)
    goal = ["recall>=0.6", "-t", "kind", "--drop", "times", "-m", "CSRA", "-r", 3, "-j", 1, "--json"]
    copies = run("goal", path, *goal, "--drop", "id")
    assert f"warning: 480 of the 720 rows of {path} repeat another row" in copies.stderr
    assert "use --counts. If rows belong together in other ways, use --group COLUMN." in copies.stderr
    told = json.loads(copies.stdout)["certificate"]
    assert sum(told["evidence"].values()) == sum(told["counts"].values())  # copies count once
    grouped = run("goal", path, *goal, "--group", "id")
    assert grouped.stderr == ""
    assert sum(json.loads(grouped.stdout)["certificate"]["evidence"].values()) == sum(told["evidence"].values())
    assert "id" not in json.loads(grouped.stdout)["columns"]
    counted = run("goal", path, *goal, "--drop", "id", "--counts")
    assert counted.stderr == ""
    told = json.loads(counted.stdout)["certificate"]
    assert told["evidence"] == told["counts"]
    assert "--group means" in refused("goal", path, *goal, "--counts", "--group", "id")
    assert "--group: " in refused("goal", path, *goal, "--group", "idd")


@pytest.mark.slow
def test_a_goal_that_is_reached_by_flagging_nearly_all_is_called_that(small, run):
    weak = ["goal", small.train, "recall>=0.9", "-t", "kind", "--drop", "id,times,size", "--counts", *FEW, "-j", 1]
    told = run(*weak, "--confidence", 0).stdout
    assert "Of little use: " in told
    assert "of the negatives are flagged with" in told
    certificate = json.loads(run(*weak, "--json").stdout)["certificate"]
    assert certificate["met"] is True
    assert certificate["of_little_use"] is True
    assert "Of little use: " in certificate["text"]


def test_a_goal_out_of_reach_is_exit_code_1(small, run, refused, tmp_path):
    hard = ["recall>=0.99 and precision>=0.99", *BASE, "-r", 3, "-j", 1, "--confidence", 0]
    assert "was not reached" in refused("goal", small.train, *hard, "-o", "goal.json", code=1)
    path = tmp_path / "closest.json"
    result = run("goal", small.train, *hard, "--closest", "-o", path)
    assert result.exit_code == 1
    assert path.exists()
    assert "NOT reached" in result.stdout
    assert "was not reached" in result.stderr


@pytest.mark.sample(13)
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-t", "kin"], "has no column 'kin'. Did you mean 'kind'?"),
        ([], "the target column is not given. Name it with --target"),
        (["-t", "kind", "--drop", "idd"], "--drop: "),
        (["-t", "kind", "--drop", "kind"], "'kind' is the target"),
        (["-t", "kind", "--weight", "colour"], "in column 'colour', which is not a number"),
        (["-t", "kind", "--weight", "size"], "has an empty cell in column 'size'"),
        (["-t", "id"], "which are not classes"),
        (["-t", "kind", "--method", "CRSA"], "Did you mean CSRA"),
        (["-t", "kind", "--method", "nonsense"], "`skewboost list` shows all methods"),
        (["-t", "kind", "--method", "AdaBoost", "--cost", "5"], "AdaBoost has no costs. Leave --cost out"),
        (["-t", "kind", "--cost", "dear"], "'dear' is not a cost"),
        (["-t", "kind", "--cost", "1_000"], "'1_000' is not a cost"),
        (["-t", "kind", "--cost", "bad=1_0,good=1"], "is not a cost"),
        (["-t", "kind", "--cost", "nan"], "must be greater than 0"),
        (["-t", "kind", "--cost", "-3"], "must be greater than 0"),
        (["-t", "kind", "--cost", "bad=3"], "no cost for class good"),
        (["-t", "kind", "--cost", "bad=3,ugly=1"], "'ugly' is not a class"),
        (["-t", "kind", "--positive", "ugly"], "The classes are bad, good"),
        (["-t", "kind", "--set", "speed=3"], "SkewBoost has no parameter 'speed'. Its parameters are"),
        (["-t", "kind", "--set", "speed"], "not of the form name=value"),
        (["-t", "kind", "--set", "cost=3"], "Use --cost"),
        (["-t", "kind", "-m", "CSRA", "--set", "learning_rate=9"], "learning_rate of CSRAClassifier must be"),
        (["-t", "kind", "-m", "CSRA", "--set", "learning_rate=1_0"], "learning_rate of CSRAClassifier must be"),
        (
            ["-t", "kind", "-m", "CSRA", "--set", f"learning_rate={'9' * 5000}"],
            "learning_rate of CSRAClassifier must be",
        ),
        (
            ["-t", "kind", "-m", "CSRA", "--set", f"learning_rate={'[' * 100_000}"],
            "learning_rate of CSRAClassifier must be",
        ),
        (["-t", "kind", "-m", "CSRA", "--learner", "forest"], "Choose one of stump, tree, histogram, line"),
        (["-t", "kind", "--learner", "tree", "--method", "AlternatingTree"], "Leave --learner out"),
        (["-t", "kind", "--test", "1.5"], "must be at least 0 and less than 1"),
        (["-t", "kind", "--goal", "recall>>1"], "cannot be read"),
        (["-t", "kind", "--goal", "speed>=0.5"], "goal='speed' is not a measure"),
        (["-t", "kind", "--goal", "recall>=0.5", "--cost", "5"], "--cost has no effect on the goal"),
        (["-t", "kind", "--rounds", "0"], "--rounds"),
        (["-t", "kind", "--n-jobs", "0"], "must be -1 (all cores)"),
        (["-t", "kind", "-o", "model.pkl"], "must end in .json"),
        (["-t", "kind", "-o", "nowhere/model.json"], "there is no folder nowhere"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(small, refused, args, words):
    assert words in refused("fit", small.train, *args)


def test_files_that_cannot_be_read(small, refused, tmp_path):
    assert "nowhere.csv" in refused("fit", "nowhere.csv", "-t", "kind")
    (tmp_path / "empty.csv").touch()
    assert "empty.csv" in refused("fit", "empty.csv", "-t", "kind")
    (tmp_path / "one.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    assert "is a in all rows" in refused("fit", "one.csv", "-t", "y")
    (tmp_path / "few.csv").write_text("x,y\n1,a\n2,a\n3,b\n")
    assert "`skewboost fit --test 0`" in refused("fit", "few.csv", "-t", "y")
    (tmp_path / "alone.csv").write_text("y\na\nb\na\nb\n")
    assert "has no column besides y to learn from" in refused("fit", "alone.csv", "-t", "y")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "method", ["AdaBoost", "CGAda", "AdaBoostMH", "AlternatingTree", "ConsistentBoost", "SMOTEBoost", "UnderBagging"]
)
def test_a_method_is_fitted_saved_and_read_again(small, run, tmp_path, method):
    if method == "SMOTEBoost":
        pytest.importorskip("imblearn")
    path = tmp_path / "m.json"
    result = run("fit", small.train, *BASE[:4], "-m", method, "-r", 3, "--test", 0, "-j", 1, "-o", path)
    assert result.exit_code == 0, result.output
    rows = json.loads(run("predict", path, small.later, "--json").stdout)
    found = find_method(method)
    rounds = getattr(found.estimator, "_rounds", "n_estimators")
    own = found.estimator(**{rounds: 3}, random_state=0).fit(small.frame[FEATURES], small.frame["kind"])
    assert [row["prediction"] for row in rows] == own.predict(small.new[FEATURES]).tolist()


def test_methods_outside_the_catalogue_are_found_by_the_same_names():
    assert {"RUSBoost", "SMOTEBoost", "DataBoostIM", "UnderBagging"} < set(method_names())
    assert find_method("rus-boost").name == find_method("RUSBoostClassifier").name == "RUSBoost"
    for name in WRAPPERS:
        with pytest.raises(CommandError, match="is for Python only"):
            find_method(name)


def test_a_model_without_a_positive_class_is_measured_on_the_one_that_is_meant(small, run, tmp_path):
    path = tmp_path / "m.json"
    told = json.loads(
        run(
            "fit",
            small.train,
            *BASE,
            "-m",
            "UnderBagging",
            "-r",
            2,
            "--positive",
            "good",
            "-j",
            1,
            "-o",
            path,
            "--json",
        ).stdout
    )
    assert told["positive"] == told["held_out"]["positive"] == "good"
    assert json.loads(run("evaluate", path, small.later, "--json").stdout)["positive"] == "good"
    rows = json.loads(run("predict", path, small.later, "--json").stdout)
    p = load(path).predict_proba(small.new[FEATURES])[:, 1]  # of "good"
    assert [row["probability"] for row in rows] == pytest.approx(p.tolist())
    assert "good is predicted where F is at least 0" in run("explain", path).stdout


def test_a_method_that_is_not_balanced_by_itself_is_not_said_to_be(small, run):
    told = json.loads(run("fit", small.train, *BASE, "-m", "RUSBoost", "--json").stdout)
    assert told["held_out"].get("bill") is None
    assert "cost      " not in run("fit", small.train, *BASE, "-m", "RUSBoost").stdout


def test_a_column_of_dates_is_named_with_the_option_that_drops_it(small, refused, tmp_path):
    small.frame.assign(seen=pd.date_range("2024-01-01", periods=len(small.frame)), due="2025-03-01").to_csv(
        tmp_path / "dated.csv", index=False
    )
    assert "'seen', 'due' hold dates" in refused("fit", "dated.csv", "-t", "kind")
    assert "--drop due; --time due lets" in refused("compare", "dated.csv", "-t", "kind", "--drop", "seen")


def test_text_that_never_repeats_is_named_with_the_option_that_drops_it(small, run, refused, tmp_path):
    small.frame.assign(**{"a note": [f"row {k}" for k in range(240)]}).to_csv(tmp_path / "noted.csv", index=False)
    line = refused("fit", "noted.csv", "-t", "kind")
    assert "'a note' holds text that is different in every row" in line
    (advised,) = re.findall(r"out: (--drop .*)\.$", line.strip())
    assert run("fit", "noted.csv", "-t", "kind", "-m", "CSRA", "-r", 2, *shlex.split(advised)).exit_code == 0


def test_the_remedy_of_a_goal_names_options_that_there_are(small, refused):
    line = refused("fit", small.train, "-t", "kind", "--goal", "recall>=99.9%", *FEW, code=1)
    assert "`skewboost goal` with --confidence 0" in line
    assert "`skewboost goal` with --closest" in line
    small.frame.assign(times=small.frame["times"] / 3).to_csv("thirds.csv", index=False)
    line = refused("goal", "thirds.csv", "recall>=0.5", "-t", "kind", "--weight", "times", "--counts", *FEW)
    assert "--weight times counts examples, but it has fractions" in line
    assert "leave --counts out" in line
    assert "`skewboost goal`" not in refused("goal", small.train, "recall>=99.9%", "-t", "kind", *FEW, code=1)


def test_standard_input_has_a_name_and_is_no_file_that_was_seen_before(small, run, tmp_path):
    path, text = tmp_path / "m.json", small.frame.to_csv(index=False)
    assert "columns of standard input" in run("fit", "-", *BASE, "-o", path, input=text).stdout
    later = run("evaluate", path, "-", input=small.new.to_csv(index=False))
    assert later.exit_code == 0
    assert "was fitted to" not in later.stderr
    assert "of standard input" in run("compare", "-", *BASE[:4], "-m", "CSRA", "-r", 10, "--cv", 2, input=text).stdout
    assert "Row 2 of standard input" in run("explain", path, "-", "--row", 2, input=text).stdout


def test_a_folder_that_may_not_be_written_to_is_refused_before_the_fit(small, refused, tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(os, "access", lambda place, mode: "locked" not in str(place))  # root may write anywhere
    monkeypatch.setattr("skewboost.cli.fit_command.fit", None)
    line = refused("fit", small.train, "-t", "kind", "-o", "locked/m.json")
    assert "no permission to write to the folder locked" in line
    (tmp_path / "m.json").mkdir()
    assert "-o m.json: it is a folder" in refused("fit", small.train, "-t", "kind", "-o", "m.json")
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere" / "m.json")
    assert "there is no folder" in refused("fit", small.train, "-t", "kind", "-o", "link.json")


def test_a_model_that_cannot_be_put_in_a_file_is_one_line(small, refused, monkeypatch):
    """Whatever it is: what is wrong with it is not known before it is there."""

    def defect(*_, **__):
        raise RuntimeError("The file of this model is wrong: cuts must rise, so none is written.")

    monkeypatch.setattr("skewboost.io.save", defect)
    assert "cuts must rise" in refused("fit", small.train, *BASE, "-r", 2, "-o", "m.json", code=1)


def test_labels_beyond_64_bits_are_not_cut_off():
    assert read_labels(pd.Series([2.0**63, -(2.0**64)])).tolist() == [2.0**63, -(2.0**64)]
    assert read_labels(pd.Series([2.0**62, 1.0])).tolist() == [2**62, 1]
