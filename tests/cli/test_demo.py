"""The command `demo`: what it prints and writes. And what the command line does before any command."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from matplotlib.image import imread

import skewboost
import skewboost.io
from skewboost import cli
from skewboost.cli.demo_command import split
from skewboost.datasets import make_fraud, make_intrusions

ROUNDS, N_ROWS = 3, 2500


@pytest.fixture(scope="module")
def demo(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skewboost.cli.demo_command.make_fraud", lambda: make_fraud(N_ROWS))
        patch.setattr("skewboost.cli.demo_command.make_intrusions", lambda n: make_intrusions(N_ROWS))
        patch.setattr("skewboost.cli.demo_command.EFFORT", "quick")
        result = run("demo", "--out", folder, "--rounds", ROUNDS, "--n-jobs", 1)
    assert result.exit_code == 0, result.output
    return folder, result.stdout


def test_costs_are_false_alarms_plus_twenty_times_misses(demo):
    data = split(make_fraud(N_ROWS), 0.3)
    model = skewboost.RealBoostClassifier(n_estimators=ROUNDS).fit(data.X_train, data.y_train)
    rare = data.y_test == 1
    own = skewboost.SkewBoostClassifier(cost=20, effort="quick", random_state=0).fit(data.X_train, data.y_train)
    predictions = {
        "SkewBoost, cost 20": own.predict(data.X_test) == 1,
        "always common": np.zeros(len(rare), dtype=bool),
        "RealBoost": model.predict(data.X_test) == 1,
        "RealBoost, p > 1/21": model.predict_proba(data.X_test)[:, 1] > 1 / 21,
    }
    table = demo[1].split("Card fraud: ")[1]
    for method, flagged in predictions.items():
        cost = (flagged & ~rare).sum() + 20 * (~flagged & rare).sum()
        line = re.search(rf"^{re.escape(method)}  +(\d+) of \d+ .* (\d+)$", table, re.MULTILINE)
        assert (int(line[1]), int(line[2])) == ((flagged & rare).sum(), cost), method


def test_goal_and_minimum_risk_are_shown(demo):
    assert "Card fraud, goal: recall >= 0.9: " in demo[1]
    costs = re.findall(r"^(?:SkewBoost, cost matrix|AdaBoost.MH).* ([\d.]+)$", demo[1], re.MULTILINE)
    assert float(costs[0]) < float(costs[1]) < float(costs[2])


def test_it_writes_pictures_a_model_and_a_report_and_says_where(demo):
    folder, printed = demo
    names = {"one_fraud.png", "goal_frontier.png", "model.json", "report.html"}
    assert {path.name for path in folder.iterdir()} == names
    for name in names:
        assert f"Written: {folder / name}\n" in printed
    for path in folder.glob("*.png"):
        pixels = imread(path)[..., :3]
        assert min(pixels.shape[:2]) > 700
        assert 0.02 < (pixels.min(axis=-1) < 0.95).mean() < 0.95  # neither blank nor a solid block
    page = (folder / "report.html").read_text()
    for text in ("Card fraud: what does a false alarm cost you?", "Compared with others", "Why it decides as it does"):
        assert text in page, text
    assert f"Open {folder / 'report.html'} in a browser" in printed


def test_the_suggested_command_works(demo, run):
    (command,) = re.findall(r"^  skewboost (explain .*)$", demo[1], re.MULTILINE)
    assert "amount" in run(*command.split(" ", 1)).stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--out", "taken"], "taken is a file, not a folder"),
        (["--out", "taken/below"], "cannot make the folder"),
        (["--rounds", "0"], "--rounds"),
        (["--n-jobs", "0"], "0 must be -1 (all cores) or a positive number"),
        (["--inn", "."], "--inn"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(refused, tmp_path, args, words):
    (tmp_path / "taken").write_text("mine")
    assert words in refused("demo", *args)


def test_version_help_and_unknown_commands(run, refused):
    assert run("--version").stdout == f"skewboost {skewboost.__version__}\n"
    assert "demo" in run().stdout
    assert "--rounds" in run("demo", "--help").stdout
    refused("dmeo")


@pytest.mark.parametrize("package", ["typer", "rich", "pandas", "matplotlib"])
def test_without_its_extra_the_command_says_so_in_one_line(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    assert capsys.readouterr().err == 'The command line needs its extra: pip install "skewboost[cli]"\n'
