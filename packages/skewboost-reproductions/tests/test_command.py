"""The command `skewboost reproduce`."""

from __future__ import annotations

import json

import pytest

from skewboost_reproductions import Reproduction, experiment_runs, experiments, reproduce_command
from skewboost_reproductions.verdicts import HELD, UNDECIDED, Claim


@pytest.fixture
def instant(monkeypatch, tmp_path):
    """Experiments that take no time, and what they were asked."""
    asked = []

    def reproduce(name, out, **options):
        asked.append((name, out, options))
        claims = (Claim("A holds", HELD, "+1"), Claim("B holds", UNDECIDED, "0"))
        return Reproduction(tmp_path / f"{name}.md", (), claims, 61.0)

    monkeypatch.setattr(reproduce_command, "reproduce", reproduce)
    monkeypatch.setattr(experiment_runs, "reproduce", reproduce)
    monkeypatch.setattr(experiment_runs, "run_together", lambda runs, n_jobs: {})
    return asked


def test_all_experiments_are_listed(run):
    text = run("reproduce", "list").stdout
    records = json.loads(run("reproduce", "list", "--json").stdout)
    assert [r["name"] for r in records] == list(experiments())
    for record in records:
        assert record["name"] in text


def test_an_unknown_name_is_refused_with_those_that_there_are(run):
    result = run("reproduce", "nope")
    assert result.exit_code == 2
    assert "'nope' is not an experiment. Choose one of" in result.stderr
    assert "masnadi-synthetic" in result.stderr


def test_options_reach_the_experiment_and_claims_are_printed(run, instant, tmp_path):
    result = run("reproduce", "masnadi-synthetic", "--quick", "--out", tmp_path, "-j", 1)
    assert instant == [("masnadi-synthetic", tmp_path, {"quick": True, "again": False, "n_jobs": 1})]
    assert [line.split() for line in result.stdout.splitlines() if "holds" in line] == [
        [HELD, "A", "holds"],
        [UNDECIDED, "B", "holds"],
    ]


def test_all_runs_each_and_counts_their_claims(run, instant, tmp_path):
    result = run("reproduce", "all", "--out", tmp_path)
    assert [name for name, *_ in instant] == list(experiments())
    assert result.exit_code == 0
    index = (tmp_path / "index.md").read_text()
    for name in experiments():
        assert f"[{name}]({name}.md)" in index
    assert index.count("| 1 | 0 | 0 | 0 | 1 | 0 | 0 | 1:01 |") == len(experiments())


def test_json_has_the_evidence(run, instant):
    found = json.loads(run("reproduce", "masnadi-synthetic", "--json").stdout)["masnadi-synthetic"]
    assert found["claims"][0] == {"claim": "A holds", "verdict": HELD, "evidence": "+1"}
    assert found["seconds"] == 61.0
