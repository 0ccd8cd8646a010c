"""A new variant needs no change in `skewboost.io`: files and programs only read the numbers of its model and link."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np

import skewboost as sb
import skewboost.io
from program_runners import run_c, run_onnx, run_python, run_sql
from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import DiscreteRule
from skewboost.io import dumps, loads
from support import awkward_data

X, y = awkward_data(120)


def test_no_module_names_a_variant():
    """The names of all estimators come from the public list of the package."""
    names = {entry.class_name for entry in sb.catalogue()}
    for path in Path(skewboost.io.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
        imported = {getattr(node, "module", None) or "" for node in imports} | {
            a.name for n in imports for a in n.names
        }
        assert not any("variants" in name for name in imported), path
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & (used | imported), path


class ThirdRule(DiscreteRule):
    """Votes as AdaBoost does, on a scale of its own, with costs that come in over twenty rounds."""

    def link(self, state):
        return replace(
            super().link(state), scale=3.0, offset=0.25, cost_offset=0.7, pending=0.4, schedule=20, cost_ratio=5.0
        )


@booster
class ThirdClassifier(BoostingClassifier):
    """A variant that nobody has registered."""

    def _rule(self):
        return ThirdRule()


def test_a_variant_of_its_own_scale_is_saved_and_exported(tmp_path, monkeypatch):
    """It stands in for a listed class, because files only name classes of the package."""
    ThirdClassifier.__name__ = "AdaBoostClassifier"
    monkeypatch.setattr(sb, "AdaBoostClassifier", ThirdClassifier)
    model = ThirdClassifier(n_estimators=12).fit(X, y)
    assert model._model.link.scale == 3.0
    assert model._model.link.pending_after(12) != 0.0
    again = loads(dumps(model))
    assert type(again) is ThirdClassifier
    assert again._model.link == model._model.link
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for program in (run_python(model, X), run_c(model, X, tmp_path), run_sql(model, X), run_onnx(model, X)):
        program.agrees(model, X)
