"""The examples run, and what they print is what they are about."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def printed(name, capsys):
    runpy.run_path(str(EXAMPLES / name))
    return capsys.readouterr().out


def test_all_examples_are_tested():
    assert sorted(p.name for p in EXAMPLES.glob("*.py")) == [
        "faces_in_a_picture.py",
        "hit_95_recall.py",
        "three_kinds_of_intrusion.py",
        "what_does_a_false_alarm_cost.py",
    ]


@pytest.mark.slow
def test_recall_is_hit(capsys):
    out = printed("hit_95_recall.py", capsys)
    assert "recall >= 0.95: certified with 90% confidence" in out
    assert float(re.search(r"new payments: recall ([\d.]+)%", out)[1]) >= 95
    assert "The goal recall >= 0.9 and precision >= 0.9 was not reached" in out


def test_prices_save_money(capsys):
    paid = [int(n) for n in re.findall(r"(\d+) paid", printed("what_does_a_false_alarm_cost.py", capsys))]
    assert paid == sorted(paid, reverse=True)
    assert paid[-1] < 0.2 * paid[0]


def test_minimum_risk_pays_least(capsys):
    out = printed("three_kinds_of_intrusion.py", capsys)
    costs = {name.strip(): float(c) for name, c in re.findall(r"^(\w.*?)  +[\d.]+ +([\d.]+)$", out, re.MULTILINE)}
    assert min(costs, key=costs.get) == "AdaBoost.MH at minimum risk"
    assert costs["AdaBoost.MH at minimum risk"] < 0.7 * costs["AdaBoost.MH"]
    assert len(costs) == 4


@pytest.mark.slow
def test_faces_are_found(capsys, tmp_path, monkeypatch):
    from skewboost.datasets.downloads import in_folders

    if in_folders("cbcl_faces_train") is None:
        pytest.skip("the faces of MIT-CBCL are not at hand")
    monkeypatch.chdir(tmp_path)
    out = printed("faces_in_a_picture.py", capsys)
    found, n_faces, n_wrong = map(int, re.search(r"(\d+) of (\d+) faces found, (\d+) false alarms", out).groups())
    assert n_faces == 12
    assert found >= 10
    assert n_wrong <= 4  # of 370 000 windows
    assert (tmp_path / "faces_in_a_picture.png").read_bytes().startswith(b"\x89PNG")


def test_without_faces_the_example_says_where_to_get_them(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SKEWBOOST_DATA", str(tmp_path))
    monkeypatch.setenv("SKEWBOOST_CACHE", str(tmp_path))
    monkeypatch.setattr("skewboost.datasets.faces.URL", (tmp_path / "faces.tar.gz").as_uri())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / "faces_in_a_picture.py"))
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "No faces to look for" in out
    assert "set SKEWBOOST_DATA to a folder that has" in out
    assert list(tmp_path.iterdir()) == []
