"""The command `skewboost list`."""

from __future__ import annotations

import json

from typer.testing import CliRunner

import skewboost
from skewboost.cli.app import app


def invoke(*args):
    return CliRunner().invoke(app, list(args), env={"COLUMNS": "200"}, prog_name="skewboost")


def test_every_variant_is_listed_with_its_verdict():
    result = invoke("list")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    for entry in skewboost.catalogue():
        assert entry.name in text
    assert f"{len(skewboost.catalogue())} variants" in text
    assert "Sound; good probabilities, slower rounds." in text


def test_related_methods_are_listed_below_the_variants():
    words = " ".join(invoke("list").stdout.split())
    for method in skewboost.related_methods():
        assert words.index(method.name) > words.index("CGAda Nikolaou")
        assert all(name in words for name in method.use)
    only = invoke("list", "MetaCost").stdout
    assert "0 variants" in only
    assert "MinimumRiskClassifier" in only
    assert "Related" not in invoke("list", "sun").stdout


def test_a_related_method_is_not_fitted_but_found(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("x,y\n" + "1,0\n2,1\n" * 10)
    for name in ("random-forest", "RandomForestClassifier", "Random forest"):
        result = invoke("fit", str(rows), "-t", "y", "--method", name)
        assert result.exit_code == 2
        assert "Random forest is no method of a command" in result.stderr
        assert "sklearn.ensemble.RandomForestClassifier" in result.stderr


def test_part_of_a_paper_selects():
    lines = [line.split()[0] for line in invoke("list", "sun").stdout.splitlines() if line.startswith("AdaC")]
    assert lines == ["AdaC1", "AdaC2", "AdaC3", "AdaC2M1"]


def test_json_has_all_fields_of_all_variants():
    records = json.loads(invoke("list", "--json").stdout)
    assert [r["name"] for r in records] == [e.name for e in skewboost.catalogue()]
    assert {len(r) for r in records} == {9}
    assert records[0]["class"] == "skewboost.AdaBoostClassifier"


def test_json_and_a_filter_exclude_each_other():
    result = invoke("list", "sun", "--json")
    assert result.exit_code == 2
    assert result.stderr.startswith("error:")
