"""Which values of a target are classes, and which are the same one."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from skewboost.io import load

TOLD = ["-m", "AdaBoostMH", "-r", 3, "-j", 1]
QUICK = ["-t", "fraud", "-m", "CSRA", "-r", 3, "-j", 1]
SPELLINGS = ["yes", "YES", "Yes ", "no", "No", "NO "]


def dirty(n=240, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    y = x + rng.normal(size=n) > 0.8
    said = [rng.choice(SPELLINGS[:3] if label else SPELLINGS[3:], p=[0.6, 0.2, 0.2]) for label in y]
    return pd.DataFrame({"x": x, "z": rng.integers(5, size=n), "fraud": said})


@pytest.fixture
def table(tmp_path):
    dirty().to_csv(tmp_path / "dirty.csv", index=False)
    return tmp_path / "dirty.csv"


COMMANDS = {
    "fit": ["fit", "dirty.csv", *QUICK],
    "goal": ["goal", "dirty.csv", "recall>=0.5", *QUICK],
    "compare": ["compare", "dirty.csv", *QUICK, "--cv", 2],
    "curve": ["curve", "dirty.csv", *QUICK, "--cv", 2],
    "bias-variance": ["bias-variance", "dirty.csv", *QUICK],
    "match-rate": ["match-rate", "dirty.csv", "recall=0.5", *QUICK],
    "report": ["report", "dirty.csv", *QUICK],
    "many classes": ["fit", "dirty.csv", "-t", "fraud", *TOLD],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_labels_that_differ_in_case_or_blanks_are_refused_by_every_command(table, refused, command):
    line = refused(*COMMANDS[command])
    assert "labels that differ only in case or in spaces at their ends: 'NO ', 'No', 'no'; 'YES', 'Yes ', 'yes'" in line
    assert "--labels fold" in line
    assert "--labels exact" in line


@pytest.mark.parametrize("command", ["fit", "goal", "compare"])
def test_the_remedy_is_to_fold_them(table, run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    clean = dirty().assign(fraud=lambda f: f["fraud"].str.strip().str.lower())
    results = []
    for frame, told in ((dirty(), ["--labels", "fold"]), (clean, [])):
        frame.to_csv("dirty.csv", index=False)
        more = ["--confidence", 0] if command == "goal" else []
        result = run(*COMMANDS[command], *told, *more, "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        results.append(
            [fold["accuracy"] for fold in found["folds"]] if command == "compare" else found["rows_of_class"]
        )
    assert results[0] == results[1]


def test_the_model_file_remembers_that_labels_were_folded(table, run, refused, tmp_path):
    model = tmp_path / "m.json"
    result = run("fit", table, *QUICK, "--labels", "fold", "-o", model)
    assert result.exit_code == 0, result.output
    assert load(model).classes_.tolist() == ["no", "yes"]
    later = dirty(60, 1)
    later["fraud"] = later["fraud"].replace({"YES": " yEs"})  # a spelling that fit has not seen
    later.to_csv(tmp_path / "later.csv", index=False)
    measured = json.loads(run("evaluate", model, tmp_path / "later.csv", "--json").stdout)
    truth = later["fraud"].str.strip().str.lower()
    assert np.array(measured["confusion_matrix"]).sum(axis=1).tolist() == [(truth == c).sum() for c in ("no", "yes")]
    for row in (1, "worst"):
        told = json.loads(run("explain", model, tmp_path / "later.csv", "--row", row, "--json").stdout)
        assert told["truth"] == truth[told["row"] - 1]
    later.assign(fraud="perhaps").to_csv(tmp_path / "other.csv", index=False)
    assert "knows only no, yes" in refused("evaluate", model, "other.csv")


def test_a_model_of_clean_labels_says_what_is_wrong_with_others(table, run, refused, tmp_path):
    clean = dirty().assign(fraud=lambda f: f["fraud"].str.strip().str.lower())
    clean.to_csv(tmp_path / "clean.csv", index=False)
    run("fit", tmp_path / "clean.csv", *QUICK, "-o", tmp_path / "m.json")
    line = refused("evaluate", "m.json", table)
    assert "'NO '" in line
    assert "Some differ from those only in case or in spaces at their ends" in line


def test_labels_may_really_differ_in_case(table, run):
    result = run("fit", table, "-t", "fraud", *TOLD, "--labels", "exact", "--test", 0)
    assert result.exit_code == 0, result.output
    assert "no (" in result.stdout
    assert "YES (" in result.stdout


def test_rules_that_do_not_exist(table, refused):
    assert "--labels lower is unknown. Use fold" in refused("fit", table, *QUICK, "--labels", "lower")


def test_info_names_them_and_its_suggestion_runs(table, run):
    result = run("info", table, "--target", "fraud")
    assert "The labels 'no', 'NO ', 'No' of the target 'fraud' differ only" in " ".join(result.stdout.split())
    command = re.search(r"`skewboost (fit [^`]*)`", " ".join(result.stdout.split()))[1]
    assert "--labels fold" in command
    words = shlex.split(command.replace("-o model.json", ""))
    assert run(*words, "-m", "CSRA", "-r", 2).exit_code == 0


# ------------------------------------------------------------------------------------ no classes

rng = np.random.default_rng(0)
NO_CLASSES = {
    "identifiers": ([f"c{k}" for k in range(36)] + ["c1", "c2", "c3", "c4"], "32 of them in one row only"),
    "years": (list(np.repeat(np.arange(1930, 1990), 4)), "all of them numbers"),
    "amounts": ((rng.integers(100, 9999, 80) / 100).tolist(), "which are not classes"),
    "decimal commas": ([f"{k},5" for k in range(20)] * 3, "numbers with decimal commas, such as '10,5'"),
    "percent": (["5 %", "10 %", "20 %"] * 20, "numbers with percent signs, such as '10 %'"),
    "names": ([f"n{k}" for k in range(150)] * 2, "150 different values"),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", NO_CLASSES)
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_target_of_many_classes_by_accident_is_refused_with_the_reason(refused, tmp_path, monkeypatch, kind, command):
    from skewboost import SkewBoostClassifier

    monkeypatch.setattr(SkewBoostClassifier, "fit", None)  # nothing is trained
    values, why = NO_CLASSES[kind]
    pd.DataFrame({"x": np.arange(len(values)) % 7, "y": values}).to_csv(tmp_path / "t.csv", index=False)
    line = refused(command, "t.csv", "-t", "y")
    assert why in line
    assert "Choose another --target, or make a column of classes from it" in line


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("kind", ["identifiers", "years"])
def test_they_are_classes_if_the_user_says_so(run, tmp_path, kind):
    values, _ = NO_CLASSES[kind]
    pd.DataFrame({"x": np.arange(len(values)) % 7, "y": values}).to_csv(tmp_path / "t.csv", index=False)
    result = run("fit", tmp_path / "t.csv", "-t", "y", *TOLD, "--test", 0, "--labels", "exact")
    assert result.exit_code == 0, result.output


def test_ordinary_classes_are_not_questioned(run, tmp_path):
    for values in ([*range(10)] * 5, [*"abcdefghijklmnopqrstuvwxyz"] * 2, ["a", "b", "c"], ["10 %", "20 %"] * 9):
        pd.DataFrame({"x": np.arange(len(values)) % 7, "y": values}).to_csv(tmp_path / "t.csv", index=False)
        result = run("fit", tmp_path / "t.csv", "-t", "y", *TOLD, "--test", 0)
        assert result.exit_code == 0, result.output


# ------------------------------------------------------------------ numbers that are read as categories


def test_amounts_with_decimal_commas_are_named_by_info_and_fit(run, tmp_path):
    frame = dirty(300).assign(fraud=lambda f: f["fraud"].str.strip().str.lower())
    frame["Betrag"] = [f"{k * 37 % 99},50" for k in range(300)]
    frame["Anteil"] = [f"{k % 50} %" for k in range(300)]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    expected = {
        "Betrag": "numbers with decimal commas, such as '10,50', which are read as categories. Write them as 10.50.",
        "Anteil": "numbers with percent signs, such as '10 %', which are read as categories. Write them as 10.",
    }
    fitted = run("fit", path, *QUICK)
    info = " ".join(run("info", path, "--target", "fraud").stdout.split())
    for name, said in expected.items():
        assert f"warning: {path}: '{name}' has {said}\n" in fitted.stderr
        assert f"'{name}' has {said}" in info
    plain = frame.assign(Betrag=frame["Betrag"].str.replace(",", "."), Anteil=frame["Anteil"].str.removesuffix(" %"))
    plain.to_csv(path, index=False)
    assert "warning" not in run("fit", path, *QUICK).stderr


def test_amounts_that_never_repeat_are_refused_as_such(refused, tmp_path):
    frame = dirty(1200).assign(fraud=lambda f: f["fraud"].str.strip().str.lower())
    frame["Betrag"] = [f"{k},05" for k in range(1200)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    line = refused("fit", "t.csv", *QUICK)
    assert "'Betrag' has numbers with decimal commas, such as '1000,05', which are read as text" in line
    assert "Write them as 1000.05, or leave it out: --drop Betrag" in line
