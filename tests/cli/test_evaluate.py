"""The commands `evaluate`, `explain`, `compare`, `export` and `report`."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from skewboost import SkewBoostClassifier
from skewboost.cli import compare_command
from skewboost.cli.commands import Compare
from skewboost.cli.compare_command import choose_methods
from skewboost.cli.method_options import split_methods
from skewboost.io import load, save
from skewboost.metrics import total_cost
from skewboost.plots import Report

FEATURES = ["size", "colour", "age", "code"]


# ------------------------------------------------------------------------------ evaluate


def test_measures_and_prices_are_those_of_the_library(small, run):
    told = json.loads(run("evaluate", small.model, small.later, "--json").stdout)
    model, truth = load(small.model), small.new["kind"].to_numpy()
    said = model.predict(small.new[FEATURES])
    assert told["confusion_matrix"] == pd.crosstab(truth, said).to_numpy().tolist()
    assert told["bill"]["total"] == total_cost(truth, said, 5, pos_label="bad")  # the price the model was fitted for
    dearer = json.loads(run("evaluate", small.model, small.later, "--cost", 50, "--json").stdout)
    assert dearer["bill"]["total"] == total_cost(truth, said, 50, pos_label="bad")


def test_the_best_threshold_is_the_cheapest_of_all(small, run):
    best = json.loads(run("evaluate", small.model, small.later, "--json").stdout)["bill"]["best_threshold"]
    truth = (small.new["kind"] == "bad").to_numpy()
    p = load(small.model).predict_proba(small.new[FEATURES])[:, 0]
    bill = {t: 5 * (truth & (p < t)).sum() + (~truth & (p >= t)).sum() for t in [*np.unique(p), 2.0]}
    assert best["total"] == min(bill.values())
    assert best["total"] == 5 * (truth & (p < best["probability"])).sum() + (~truth & (p >= best["probability"])).sum()


def test_the_screen_shows_matrix_classes_and_prices(small, run):
    text = run("evaluate", small.model, small.later).stdout
    for words in ("really bad", "predicted good", "bad (positive)", "recall", "PR AUC", "a miss costs 5 false alarms"):
        assert words in text
    assert run("evaluate", small.model, small.later, "--weight", "times").exit_code == 0


def test_rows_of_training_are_said_to_be(small, run, monkeypatch):
    assert "was fitted to rows of" in run("evaluate", small.model, small.train).stderr
    monkeypatch.chdir(small.folder)
    assert "was fitted to rows of" in run("evaluate", small.model, "train.csv").stderr  # by another name
    assert "was fitted to" not in run("evaluate", small.model, "later.csv").stderr


def test_what_cannot_be_evaluated(small, refused, tmp_path):
    assert "has no column 'kin'" in refused("evaluate", small.model, small.later, "-t", "kin")
    assert "is one of the features" in refused("evaluate", small.model, small.later, "-t", "colour")
    assert "knows only bad, good" in refused("evaluate", small.model, small.later, "-t", "times")
    small.new.drop(columns="size").to_csv(tmp_path / "less.csv", index=False)
    assert "lacks the column 'size'" in refused("evaluate", small.model, "less.csv")
    assert "DATA" in refused("evaluate", small.model)


# ------------------------------------------------------------------------------- explain


def test_contributions_add_up_to_the_score(small, run):
    told = json.loads(run("explain", small.model, small.later, "--row", 3, "--json").stdout)
    model, row = load(small.model), small.new[FEATURES].iloc[[2]]
    assert told["score"] == pytest.approx(-model.decision_function(row)[0])
    assert told["baseline"] + sum(c["adds"] for c in told["contributions"]) == pytest.approx(told["score"])
    assert told["truth"] == small.new["kind"][2]
    sizes = [abs(c["adds"]) for c in told["contributions"]]
    assert sizes == sorted(sizes, reverse=True)
    text = run("explain", small.model, small.later, "--row", 3).stdout
    assert "Row 3 of" in text
    assert f"the score F, their sum{'':>3}" in text


def test_the_worst_row_is_the_one_that_is_most_surely_wrong(small, run):
    told = json.loads(run("explain", small.model, small.later, "--row", "worst", "--json").stdout)
    p = load(small.model).predict_proba(small.new[FEATURES])
    of_truth = np.where(small.new["kind"] == "bad", p[:, 0], p[:, 1])
    wrong = load(small.model).predict(small.new[FEATURES]) != small.new["kind"]
    assert told["row"] == 1 + np.where(wrong, of_truth, 2).argmin()
    assert told["prediction"] != told["truth"]


def test_an_answer_that_is_right_is_not_the_worst(small, run, tmp_path):
    path, right = tmp_path / "dear.json", tmp_path / "right.csv"
    run("fit", small.train, "-t", "kind", "--drop", "id,times", "--cost", 60, "-m", "CSRA", "-r", 10, "-o", path)
    model, X = load(path), small.new[FEATURES]
    said, p = model.predict(X), model.predict_proba(X)[:, 0]
    caught = (small.new["kind"] == "bad") & (said == "bad") & (p < 0.3)  # unlikely to be bad, and flagged for its cost
    missed = (small.new["kind"] == "good") & (said == "bad") & (p < 0.3)
    assert caught.any()
    assert missed.any()
    small.new[caught | missed].to_csv(right, index=False)
    told = json.loads(run("explain", path, right, "--row", "worst", "--json").stdout)
    assert (told["prediction"], told["truth"]) == ("bad", "good")


def test_shape_functions_speak_for_the_positive_class(small, run):
    told = json.loads(run("explain", small.model, "--json").stdout)
    model = load(small.model)
    assert told["importances"] == dict(
        sorted(zip(FEATURES, model.feature_importances_.tolist()), key=lambda item: -item[1])
    )
    lines = {s["column"]: s["lines"] for s in told["shapes"]}
    red = next(line for line in lines["colour"] if line["values"] == "red")
    assert red["adds"] == pytest.approx(-model.shape_functions()[1](["red"])[0])
    assert sum(line["rows"] for line in lines["size"]) == 180
    assert "importance" in run("explain", small.model).stdout


def test_an_alternating_tree_is_text(small, run, tmp_path):
    path = tmp_path / "tree.json"
    run("fit", small.train, "-t", "kind", "--drop", "id,times,colour", "-m", "AlternatingTree", "-r", 3, "-o", path)
    assert load(path).export_text() in run("explain", path).stdout


@pytest.mark.slow
def test_pictures_of_models_and_rows(small, run, tmp_path):
    for name, rows in (("shapes.png", []), ("row.svg", [small.later])):
        result = run("explain", small.model, *rows, "--plot", tmp_path / name)
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).stat().st_size > 5000


def test_what_cannot_be_explained(small, refused):
    assert "needs data" in refused("explain", small.model, "--row", 3)
    assert "needs data" in refused("explain", small.model, "--target", "kind")
    assert "has 90 rows" in refused("explain", small.model, small.later, "--row", 91)
    for row in ("best", "²", "1_0", "9" * 5000):
        assert "must be a number, first or worst" in refused("explain", small.model, small.later, "--row", row)
    assert "--plot" in refused("explain", small.model, "--plot", "picture.bmp")


# ------------------------------------------------------------------------------- compare

FEW = ["-t", "kind", "--drop", "id,times", "--methods", "CSRA,realboost", "--cost", 5, "--rounds", 3, "--cv", 2]


def test_a_comparison_is_printed_kept_and_gone_on_with(small, run, tmp_path):
    path = tmp_path / "results.jsonl"
    first = run("compare", small.train, *FEW, "--results", path)
    assert first.exit_code == 0, first.output
    for words in ("CSRA", "RealBoost", "sorted by cost", "a miss costs 5 false alarms"):
        assert words in first.stdout
    before = path.read_text()
    told = json.loads(run("compare", small.train, *FEW, "--results", path, "--json").stdout)
    assert path.read_text() == before  # nothing was fitted again
    assert told["complete"] is True
    assert len(told["folds"]) == 4
    assert set(told["methods"]) == {"CSRA", "RealBoost"}


def test_ctrl_c_prints_what_is_finished(small, run, monkeypatch):
    whole = compare_command.compare

    def interrupted(contest, examples):
        found = whole(contest, examples)
        found.complete, found.n_fits = False, 9
        return found

    monkeypatch.setattr(compare_command, "compare", interrupted)
    result = run("compare", small.train, *FEW)
    assert result.exit_code == 130
    assert "RealBoost" in result.stdout
    assert "interrupted after 4 of 9 fits" in result.stderr


def test_groups_of_methods_fit_the_classes(small):
    from skewboost.cli.target_column import read_examples

    two, many = (read_examples(path, "kind") for path in (small.train, small.many))

    def names(group, examples):
        return list(choose_methods(Compare(data="", target="kind", methods=[group]), examples))

    def choose_default(examples):
        return list(choose_methods(Compare(data="", target="kind"), examples))

    assert "CSRA" in names("sound", two)
    assert "AdaC2" not in names("sound", two)
    assert "AdaC2" in names("all", two)
    assert names("all", many) == ["SkewBoost", "AdaC2M1", "AdaBoostMH"]
    assert choose_default(two)[0] == choose_default(many)[0] == "SkewBoost"


def test_settings_are_for_all_that_have_them_or_for_one(small, run):
    from skewboost.cli.target_column import read_examples

    rows = read_examples(small.train, "kind")

    def made(methods, **told):
        return {
            k: o.make()
            for k, o in choose_methods(Compare(data="", target="kind", methods=methods, **told), rows).items()
        }

    found = made(("csra", "CGAda", "cgada:calibrate=sigmoid:learner=tree"), settings=("calibrate=isotonic",))
    assert list(found) == ["CSRA", "CGAda", "CGAda:calibrate=sigmoid:learner=tree"]
    assert [getattr(model, "calibrate", "none") for model in found.values()] == ["none", "isotonic", "sigmoid"]
    assert found["CGAda:calibrate=sigmoid:learner=tree"].estimator == "tree"
    deep = made(("CSRA", "AlternatingTree"), learner="tree", settings=("estimator__max_depth=3", "learning_rate=0.5"))
    assert deep["CSRA"].estimator.max_depth == 3
    assert [model.learning_rate for model in deep.values()] == [0.5, 0.5]
    soft = made(split_methods(["CSRA,AdaBoostReg:C=[1, 2]:learning_rate=0.5", "CGAda"]))
    assert list(soft) == ["CSRA", "AdaBoostReg:C=[1, 2]:learning_rate=0.5", "CGAda"]
    assert soft["AdaBoostReg:C=[1, 2]:learning_rate=0.5"].C == [1, 2]
    own = made(("CSRA:learning_rate=0.1", "CGAda"), settings=("learning_rate=0.5",))
    assert [model.learning_rate for model in own.values()] == [0.1, 0.5]


def test_who_has_a_setting_is_said(small, run, tmp_path):
    told = ["-t", "kind", "--drop", "id,times", "-r", 2, "--cv", 2, "--results", tmp_path / "r.jsonl"]
    methods = ["--methods", "CSRA,CGAda,CGAda:calibrate=sigmoid", "--set", "learning_rate=0.5", "--learner", "tree"]
    result = run("compare", small.train, *told, *methods)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "CGAda:calibrate=sigmoid" in result.stdout
    again = run("compare", small.train, *told, *methods, "--set", "calibrate=isotonic", "--json")
    assert again.exit_code == 2  # the same name, and other parameters
    assert "--set calibrate=isotonic applies to CGAda only" in again.stderr


def test_what_cannot_be_compared(small, refused):
    assert "Did you mean" in refused("compare", small.train, "-t", "kind", "-m", "CSRB")
    assert "--sort-by 'speed'" in refused("compare", small.train, "-t", "kind", "--sort-by", "speed")
    assert "CSRA takes two. Use --methods" in refused("compare", small.many, "-t", "kind", "-m", "CSRA")
    two = ("compare", small.train, "-t", "kind", "-m", "AlternatingTree,CSRA")
    assert "--set speed=3 has no effect on AlternatingTree, CSRA" in refused(*two, "--set", "speed=3")
    assert "--learner tree has no effect on" in refused(*two[:4], "-m", "AlternatingTree", "--learner", "tree")
    assert "Choose one of stump" in refused(*two, "--learner", "forest")
    assert "Use --cost" in refused(*two, "--set", "cost=3")
    assert "has no setting after the colon" in refused(*two[:4], "-m", "CSRA:tree")
    assert "Give --cv" in refused(*two, "--cv", 100)
    assert "all fits failed: InputError: learning_rate" in refused(*two, "--set", "learning_rate=9", "--cv", 2)
    assert "CSRA has no parameter 'speed'" in refused(*two[:4], "-m", "CSRA:speed=3")
    assert "--positive young is for two classes" in refused("compare", small.many, "-t", "kind", "--positive", "young")


# ------------------------------------------------------------------------ export, report


def test_the_program_says_what_the_model_says(small, run, tmp_path):
    path = tmp_path / "model.py"
    assert run("export", small.model, "-o", path).exit_code == 0
    program: dict = {}
    exec(path.read_text(), program)
    rows = small.new[FEATURES].astype(object).where(small.new[FEATURES].notna(), None).to_dict("records")
    assert [program["predict"](row) for row in rows] == load(small.model).predict(small.new[FEATURES]).tolist()
    assert "FROM claims" in run("export", small.model, "--to", "sql", "--table", "claims").stdout.replace('"', "")


def test_what_cannot_be_exported(small, refused):
    assert "Use --to python|c|sql|onnx" in refused("export", small.model)
    assert "Choose one of python" in refused("export", small.model, "--to", "java")
    assert "is not text" in refused("export", small.model, "--to", "onnx")
    assert "--table is for sql" in refused("export", small.model, "--to", "c", "--table", "t")


@pytest.mark.slow
def test_reports_of_models_and_of_data(small, run, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Report, "save", lambda self, path: None)
        result = run("report", small.model, small.later, "-o", tmp_path / "first.html")
    assert result.exit_code == 0, result.output
    assert "about 90 rows" in result.stdout
    second = tmp_path / "second.html"
    told = ["-t", "kind", "--drop", "id", "--weight", "times", "-m", "CGAda", "--set", "calibrate=sigmoid", "-r", 2]
    told += ["--learner", "tree", "--threshold", 0.2, "--methods", "RealBoost", "--title", "Bad kinds", "--json"]
    result = run("report", small.train, *told, "-o", second)
    assert json.loads(result.stdout) == {"report": str(second), "rows": 60, "warnings": []}
    page = second.read_text()
    for words in ("Bad kinds", "RealBoost", "CGAda:calibrate=sigmoid:learner=tree"):
        assert words in page, words


def test_what_cannot_be_reported(small, refused):
    assert "needs --target" in refused("report", small.train)
    assert "needs rows" in refused("report", small.model)
    for told in (["--rounds", 3], ["--test", 0.25], ["--seed", 0], ["--set", "learning_rate=1"], ["--drop", "id"]):
        assert f"{told[0]} has no effect" in refused("report", small.model, small.later, *told)
    assert "must end in .html" in refused("report", small.model, small.later, "-o", "report.pdf")
    assert "a report needs two" in refused("report", small.many, "-t", "kind")


# --------------------------------------------------------------------------------- help


def test_help_imports_nothing_heavy():
    code = (
        "import runpy, sys\nsys.argv = ['skewboost', '--help']\n"
        "try:\n    runpy.run_module('skewboost', run_name='__main__')\nexcept SystemExit:\n    pass\n"
        "print('heavy:', {'pandas', 'sklearn', 'numpy', 'rich', 'matplotlib'} & set(sys.modules))"
    )
    shown = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shown.endswith("heavy: set()\n")
    for words in ("Exit codes:", "130", "fit", "predict", "evaluate", "compare", "goal", "explain", "report", "info"):
        assert words in shown


MEASURING = ("curve", "bias-variance", "match-rate")


def test_every_command_has_help_with_examples(run):
    for name in ("info", "fit", "predict", "evaluate", "compare", "goal", "explain", "report", "export", *MEASURING):
        text = run(name, "--help").stdout
        assert f"  skewboost {name} " in text
    assert "--install-completion" in run("--help").stdout


COMPLETE = """
import contextlib, io, json, os, sys
from skewboost.cli import main

found = []
for line in json.loads(sys.argv[1]):
    os.environ |= {"_SKEWBOOST_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.suppress(SystemExit):
        main()
    found.append(output.getvalue().split())
print(json.dumps(found))
"""


@pytest.mark.slow
def test_the_shell_completes_methods_and_columns(small):
    lines = {
        "fit x.csv --method CSR": {"CSRA", "CSRealBoost"},
        f"fit {small.train} --target k": {"kind"},
        "export m.json --to s": {"sql"},
    }
    words = json.dumps([f"skewboost {line}" for line in lines])
    found = json.loads(subprocess.check_output([sys.executable, "-c", COMPLETE, words], text=True))
    assert list(map(set, found)) == list(lines.values())


def test_the_worst_row_is_counted_in_the_file_also_where_labels_are_missing(small, run, tmp_path):
    gaps = small.new.copy()
    gaps.loc[::2, "kind"] = None
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    told = json.loads(run("explain", small.model, tmp_path / "gaps.csv", "--row", "worst", "--json").stdout)
    again = json.loads(run("explain", small.model, tmp_path / "gaps.csv", "--row", told["row"], "--json").stdout)
    assert told["contributions"] == again["contributions"]
    assert told["truth"] == again["truth"]


@pytest.mark.slow
def test_a_report_of_a_bag_has_no_learning_curve_and_the_class_that_is_meant(small, run, tmp_path, monkeypatch):
    reports = []
    monkeypatch.setattr(Report, "save", lambda self, path: reports.append(self))
    told = ["-t", "kind", "--drop", "id,times", "-m", "UnderBagging", "-r", 2, "-j", 1, "--positive", "good"]
    assert run("report", small.train, *told, "--methods", "CSRA", "-o", tmp_path / "bag.html").exit_code == 0
    run("fit", small.train, *told, "-o", tmp_path / "bag.json")
    assert run("report", tmp_path / "bag.json", small.later, "-o", tmp_path / "bag.html").exit_code == 0
    assert [report.pos_label for report in reports] == ["good", "good"]
    assert reports[0].staged_curve is None


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (7, "Cost (a miss costs 7 false alarms)"),
        ({"good": 2.0, "bad": 14.0}, "Cost (mistakes on good cost 2, bad cost 14)"),
        ([[0, 14], [2, 0]], "Cost (cost[true, predicted] = [[0.0, 14.0], [2.0, 0.0]])"),
    ],
)
def test_the_costs_of_a_model_that_python_saved(small, run, tmp_path, cost, said):
    """Also those that were set after its fit."""
    X, y = small.frame[["size", "age"]], small.frame["kind"]
    model = SkewBoostClassifier(effort="quick", cost=1, random_state=0).fit(X, y)
    model.cost = cost
    path, rows = tmp_path / "m.json", tmp_path / "rows.csv"
    save(model, path)
    small.frame.to_csv(rows, index=False)
    told = run("evaluate", path, rows, "--target", "kind")
    assert told.exit_code == 0, told.output
    assert said in told.stdout
    bill = json.loads(run("evaluate", path, rows, "--target", "kind", "--json").stdout)["bill"]
    assert bill["total"] == pytest.approx(total_cost(y, model.predict(X), cost, pos_label="bad"))
