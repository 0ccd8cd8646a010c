"""`--threshold`: rows are flagged from a probability on, by every command that decides."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from skewboost import CSRAClassifier
from skewboost.io import load
from skewboost.plots import Report

FEATURES = ["size", "colour", "age", "code"]


def labels_at(small, threshold):
    p = load(small.model).predict_proba(small.new[FEATURES])[:, 0]  # of "bad", the positive class
    return np.where(p >= threshold, "bad", "good")


@pytest.mark.parametrize("threshold", [0, 0.02])
def test_all_commands_decide_by_the_same_threshold(small, run, tmp_path, monkeypatch, threshold):
    told, truth = ("--threshold", threshold), small.new["kind"].to_numpy()
    said = labels_at(small, threshold)
    rows = json.loads(run("predict", small.model, small.later, *told, "--json").stdout)
    assert [row["prediction"] for row in rows] == said.tolist()
    measured = json.loads(run("evaluate", small.model, small.later, *told, "--json").stdout)
    assert measured["confusion_matrix"] == [
        [int(((truth == t) & (said == p)).sum()) for p in ("bad", "good")] for t in ("bad", "good")
    ]
    row = json.loads(run("explain", small.model, small.later, "--row", 5, *told, "--json").stdout)
    assert row["prediction"] == said[4]
    assert row["flagged_from"] == {"probability": threshold}
    worst = json.loads(run("explain", small.model, small.later, "--row", "worst", *told, "--json").stdout)
    assert worst["prediction"] == said[worst["row"] - 1] != worst["truth"]
    reports = []
    monkeypatch.setattr(Report, "save", lambda self, path: reports.append(self))
    assert run("report", small.model, small.later, *told, "-o", tmp_path / "r.html").exit_code == 0
    assert reports[0].evidence.threshold == threshold
    assert (np.where(reports[0].evidence.flagged, "bad", "good") == said).all()


def test_the_threshold_that_is_advised_costs_what_is_said(small, run):
    text = run("evaluate", small.model, small.later, "--cost", 3).stdout
    cost, advised = re.search(r"would have cost (\S+)\. .*?predict MODEL ROWS --threshold (\S+)`", text).groups()
    told = run("evaluate", small.model, small.later, "--cost", 3, "--threshold", advised, "--json").stdout
    assert json.loads(told)["bill"]["total"] == float(cost)
    assert len(advised) < 8  # decimals are no more than it takes
    rows = json.loads(run("predict", small.model, small.later, "--threshold", advised, "--json").stdout)
    assert [row["prediction"] for row in rows] == labels_at(small, float(advised)).tolist()


def test_what_has_no_threshold(small, run, refused, tmp_path):
    for bad in ("1.5", "-0.1", "nan", "high"):
        assert "--threshold" in refused("predict", small.model, small.later, f"--threshold={bad}")
    assert "needs data" in refused("explain", small.model, "--threshold", 0.5)
    many = tmp_path / "many.json"
    run("fit", small.many, "-t", "kind", "-m", "AdaBoostMH", "-r", 2, "--test", 0, "-o", many)
    for command in ("predict", "evaluate", "explain"):
        assert "has 3" in refused(command, many, small.many, "--threshold", 0.5)


@pytest.mark.slow
def test_a_goal_is_about_a_threshold_of_its_own(small, run, tmp_path):
    path = tmp_path / "goal.json"
    told = ["-t", "kind", "--drop", "id,times", "-m", "CSRA", "-r", 3, "-j", 1, "--confidence", 0, "-o", path]
    assert run("goal", small.train, "recall>=0.6", *told).exit_code == 0
    result = run("predict", path, small.later, "--threshold", 0.5)
    assert result.exit_code == 0
    assert "the goal recall>=0.6 holds for the threshold of" in result.stderr
    assert f"bad is predicted where F is at least {load(path).threshold_:.4g}" in run("explain", path).stdout


def test_reports_in_python_take_a_threshold_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), (rng.random(200) < 0.3).astype(int)
    model = CSRAClassifier(n_estimators=5).fit(X, y)
    report = Report(model, X, y, threshold=0.3)
    assert (report.evidence.flagged == (model.predict_proba(X)[:, 1] >= 0.3)).all()
    assert report.evidence.threshold_name == "the given threshold"
    for bad in (2, "0.5"):
        with pytest.raises(ValueError, match=r"threshold=.* must be a probability"):
            _ = Report(model, X, y, threshold=bad).evidence
