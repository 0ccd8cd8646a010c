"""SkewBoost, the default of the commands: the classifier of the library; options without effect are refused."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pandas as pd
import pytest

from skewboost import SkewBoostClassifier
from skewboost.cli.fit_command import progress_of
from skewboost.io import load

FEATURES = ["size", "colour", "age", "code"]
BASE = ["-t", "kind", "--drop", "id,times", "--set", "effort=quick"]


def quick(**params):
    return SkewBoostClassifier(effort="quick", random_state=0, **params)


@pytest.fixture(scope="module")
def model(small, run, tmp_path_factory):
    path = tmp_path_factory.mktemp("default") / "m.json"
    result = run("fit", small.train, *BASE, "--cost", 5, "--test", 0, "-o", path)
    assert result.exit_code == 0, result.output
    return path


def test_it_is_the_classifier_of_the_library(small, model):
    own = quick(cost=5).fit(small.frame[FEATURES], small.frame["kind"])
    X = small.new[FEATURES]
    assert np.array_equal(load(model).predict_proba(X), own.predict_proba(X))
    assert load(model).predict(X).tolist() == own.predict(X).tolist()


def test_without_costs_they_are_balanced(small, run):
    told = run("fit", small.train, *BASE).stdout
    ratio = (small.frame["kind"] == "good").sum() / (small.frame["kind"] == "bad").sum()
    assert f"balanced: a miss costs {ratio:.3g} false alarms"[:30] in told
    assert "Cost (balanced" in told


@pytest.mark.parametrize("command", ["fit", "goal"])
def test_options_of_other_methods_are_refused_with_a_remedy(small, refused, command):
    what = [command, small.train, *(["recall>=0.5"] if command == "goal" else []), *BASE]
    line = refused(*what, "--rounds", 50)
    assert "SkewBoost finds the number of rounds by itself, so --rounds has no effect" in line
    assert "--set effort=quick trains less" in line
    assert "--method CSRA" in line
    assert "or choose another method, such as CSRA" in refused(*what, "--learner", "tree")
    assert "Use `skewboost goal`" in refused(*what, "--set", "goal=recall>=0.5")
    if command == "goal":
        assert "--set reject_cost has no effect with a goal" in refused(*what, "--set", "reject_cost=0.1")


def test_a_comparison_says_what_rounds_apply_to(small, run, refused):
    told = ["-t", "kind", "--drop", "id,times", "--cv", 2, "--rounds", 3]
    result = run("compare", small.train, *told, "-m", "SkewBoost:effort=quick,CSRA", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == "--rounds 3 applies to CSRA only\n"
    assert {row["method"] for row in json.loads(result.stdout)["folds"]} == {"SkewBoost:effort=quick", "CSRA"}
    assert "--rounds 3 has no effect on SkewBoost" in refused("compare", small.train, *told, "-m", "SkewBoost")


def test_a_goal_gives_the_model_of_the_library(small, run, tmp_path):
    path = tmp_path / "goal.json"
    result = run("goal", small.train, "recall>=0.6", *BASE, "--counts", "-o", path)
    assert result.exit_code == 0, result.output
    own = quick(goal="recall>=0.6").fit(small.frame[FEATURES], small.frame["kind"])
    saved = load(path)
    assert saved.threshold_ == own.threshold_
    assert saved.predict(small.new[FEATURES]).tolist() == own.predict(small.new[FEATURES]).tolist()


def test_many_classes_need_no_other_method(small, run, tmp_path):
    path = tmp_path / "m.json"
    told = [*BASE, "--cost", "young=1,middle=2,old=3", "-o", path]
    result = run("fit", small.many, *told)
    assert result.exit_code == 0, result.output
    assert "SkewBoost on 180 rows" in result.stdout
    assert load(path).classes_.tolist() == ["middle", "old", "young"]
    assert run("evaluate", path, small.many).exit_code == 0


# ------------------------------------------------------------------- referred rows, costs of rows


def test_referred_rows_are_counted_and_paid_and_not_measured(small, run, refused, tmp_path):
    path = tmp_path / "m.json"
    price = 0.3
    fitted = run("fit", small.train, *BASE, "--cost", 5, "--set", f"reject_cost={price}", "--test", 0, "-o", path)
    assert fitted.exit_code == 0, fitted.output
    told = json.loads(run("evaluate", path, small.later, "--json").stdout)
    said, truth = load(path).predict(small.new[FEATURES]), small.new["kind"].to_numpy()
    referred = said == "refer"
    assert 0 < referred.sum() < len(said)
    missed, alarms = ((truth == a) & (said == b) for a, b in (("bad", "good"), ("good", "bad")))
    assert told["rows_referred"] == referred.sum()
    assert np.sum(told["confusion_matrix"]) == (~referred).sum()
    assert told["measures"]["accuracy"] == pytest.approx((said == truth)[~referred].mean())
    assert told["bill"]["total"] == pytest.approx(5 * missed.sum() + alarms.sum() + price * referred.sum())
    assert f"{referred.sum()} rows ({referred.mean():.1%}) referred" in run("evaluate", path, small.later).stdout
    assert "reject_cost" in refused("report", path, small.later)
    assert "reject_cost" in refused("report", small.train, *BASE, "--set", "reject_cost=0.2")
    line = refused("compare", small.train, *BASE, "-m", "SkewBoost", "--set", "reject_cost=0.2", "--cv", 2)
    assert "all fits failed" in line
    assert "predicts other labels than the classes" in line


def test_costs_of_rows_decide(small, model, run, refused, tmp_path):
    rng = np.random.default_rng(0)
    costs = rng.exponential(20, len(small.new)).round(2)
    path, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    small.new.assign(amount=costs).to_csv(path, index=False)
    result = run("predict", model, path, "--cost-column", "amount", "-o", out)
    assert result.exit_code == 0, result.output
    table = pd.read_csv(out)
    p = table["probability"].to_numpy()
    assert table["prediction"].tolist() == np.where(p * costs > 1 - p, "bad", "good").tolist()
    assert len(set(table["prediction"])) == 2
    assert "a miss of bad costs what 'amount' says, and a false alarm 1\n" in result.stderr
    assert "both decide" in refused("predict", model, path, "--cost-column", "amount", "--threshold", 0.5)
    assert "has no column 'amont'. Did you mean 'amount'?" in refused("predict", model, path, "--cost-column", "amont")
    assert "has an empty cell in column 'size'" in refused("predict", model, small.later, "--cost-column", "size")
    assert "`skewboost fit --method SkewBoost` fits a model that has" in refused(
        "predict", small.model, path, "--cost-column", "amount"
    )


def test_costs_of_rows_keep_the_price_of_a_false_alarm(small, run, tmp_path):
    """The price of `fit --cost good=7,bad=90` is that of rows with their own cost of a miss, as in Python."""
    costs = np.random.default_rng(0).exponential(140, len(small.new)).round(2)
    path, out, fitted = tmp_path / "rows.csv", tmp_path / "out.csv", tmp_path / "prices.json"
    small.new.assign(amount=costs).to_csv(path, index=False)
    given = [*BASE, "--cost", "good=7,bad=90", "--test", 0, "-o", fitted]
    assert run("fit", small.train, *given).exit_code == 0
    result = run("predict", fitted, path, "--cost-column", "amount", "-o", out)
    assert result.exit_code == 0, result.output
    assert "a miss of bad costs what 'amount' says, and a false alarm 7\n" in result.stderr
    table, model = pd.read_csv(out), load(fitted)
    p = table["probability"].to_numpy()
    assert table["prediction"].tolist() == np.where(p * costs > 7 * (1 - p), "bad", "good").tolist()
    assert table["prediction"].tolist() != np.where(p * costs > 1 - p, "bad", "good").tolist()
    X = pd.read_csv(path)[list(model.feature_names_in_)]
    assert table["prediction"].tolist() == model.predict(X, sample_cost=costs).tolist()


@pytest.mark.parametrize("fails", [False, True])
def test_a_terminal_shows_the_progress_of_a_fit_and_the_model_stays_as_it_was(monkeypatch, fails):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    estimator = quick()
    with contextlib.suppress(ZeroDivisionError), progress_of(estimator, "SkewBoost"):
        assert estimator.verbose == 1
        if fails:
            raise ZeroDivisionError
    assert estimator.verbose == 0
