"""Files: how they are written, described and refused."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import skewboost as sb
from skewboost.features import HaarFeatures
from skewboost.io import ModelFileError, describe, dumps, load, loads, model_file, save
from skewboost.io.saved_params import MODELS
from skewboost.io.structure import Field
from skewboost.learners import MDLDiscretizer, Probabilities, RuleLearner
from support import awkward_data

X, y = awkward_data(100, missing=0.0)
QUICK = {"effort": "quick", "random_state": 0}


@cache
def stumps():
    return sb.CSRAClassifier(n_estimators=3).fit(X, y)


def fresh_stumps(**params):
    return sb.CSRAClassifier(n_estimators=3, **params).fit(X, y)


@pytest.mark.parametrize(
    "clf",
    [
        sb.SkewBoostClassifier(**QUICK, n_jobs=2),
        sb.SkewBoostClassifier(**QUICK, goal="recall >= 50%", confidence=0.5),
        sb.GoalSearchCV(sb.SkewBoostClassifier(**QUICK), "recall >= 50%", cv=2, confidence=0.5, random_state=0),
    ],
    ids=["portfolio", "portfolio with a goal", "goal of a portfolio"],
)
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
def test_equal_portfolios_make_equal_files(clf):
    text = dumps(clone(clf).fit(X, y))
    assert dumps(clone(clf).fit(X, y)) == text
    assert dumps(loads(text)) == text


@pytest.mark.parametrize("name", ["model.json", "model.json.gz"])
def test_equal_models_make_equal_files(tmp_path, name):
    first, second = save(stumps(), tmp_path / name), save(fresh_stumps(), tmp_path / f"other_{name}")
    assert first == tmp_path / name
    assert first.read_bytes() == second.read_bytes()
    assert save(load(first), tmp_path / f"again_{name}").read_bytes() == first.read_bytes()
    np.testing.assert_array_equal(load(str(first)).decision_function(X), stumps().decision_function(X))


def test_packed_files_are_smaller(tmp_path):
    plain, packed = save(stumps(), tmp_path / "a.json"), save(stumps(), tmp_path / "a.json.gz")
    assert packed.stat().st_size < plain.stat().st_size / 2
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_a_file_larger_than_a_model_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "MOST_BYTES", 10_000)
    for name, content in (("a.json", b" " * 20_000), ("a.json.gz", gzip.compress(b" " * 20_000))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(
            ModelFileError, match=rf"{name}' is not valid: it (is larger|unpacks to more) than 10000 bytes"
        ):
            load(tmp_path / name)


def test_a_little_file_does_not_become_a_huge_one(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "FREE_BYTES", 1000)
    packed = gzip.compress(b" " * 1_000_000)
    with pytest.raises(ModelFileError, match=f"unpacks to more than {100 * len(packed)} bytes"):
        loads(packed)
    np.testing.assert_array_equal(loads(gzip.compress(dumps(stumps()).encode())).predict(X), stumps().predict(X))


def test_lists_without_end_are_counted_before_they_are_made(monkeypatch):
    monkeypatch.setattr(model_file, "MOST_PARTS", 1000)
    with pytest.raises(ModelFileError, match="more than 1000 lists and objects"):
        loads("[" + "[]," * 1000 + "{}]")


def test_a_model_too_large_for_a_file_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"bytes, but the limit is 1000"):
        save(stumps(), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_a_file_too(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(dumps(stumps()).encode(),), daemon=True)
    writer.start()
    np.testing.assert_array_equal(load(tmp_path / "pipe").predict(X), stumps().predict(X))
    writer.join()


def test_what_is_no_path_and_no_text():
    with pytest.raises(TypeError, match="int"):
        load(0)
    with pytest.raises(TypeError, match="text must be str or bytes; got NoneType"):
        loads(None)


def test_a_packed_file_that_ends_too_soon(tmp_path):
    path = save(stumps(), tmp_path / "a.json.gz")
    content = path.read_bytes()
    for damaged in (content[:-20], content[:12], content[:40] + b"xxxx" + content[44:]):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"a\.json\.gz"):
            load(path)


def test_no_file_is_no_model_file_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "model"),
    [
        (
            "sklearn.DecisionTreeClassifier",
            lambda: sb.AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=2),
        ),
        (
            "RegressorTerm",
            lambda: sb.LogitBoostClassifier(estimator=DecisionTreeRegressor(max_depth=1), n_estimators=2),
        ),
        (
            "sklearn.DecisionTreeClassifier",
            lambda: sb.RealBoostClassifier(estimator=Probabilities(DecisionTreeClassifier()), n_estimators=2),
        ),
        ("sklearn.Pipeline", lambda: make_pipeline(StandardScaler(), sb.CSRAClassifier(n_estimators=2))),
        (
            "sklearn.Pipeline",
            lambda: sb.UnderBaggingClassifier(make_pipeline(StandardScaler(), sb.CSRAClassifier()), n_estimators=2),
        ),
        ("sklearn.DecisionTreeClassifier", lambda: sb.PastingVotesClassifier(n_estimators=2, bite_size=30)),
        ("sklearn.DummyClassifier", lambda: DummyClassifier(strategy="uniform")),
    ],
)
def test_models_of_others_are_refused_by_name(tmp_path, name, model):
    with pytest.raises(TypeError, match=f"cannot be saved: it has .*{name}.*(Boost a learner of|Save the last step)"):
        save(model().fit(X, y), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_of_a_pipeline_the_last_step_can_be_saved(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(60, 25))
    model = make_pipeline(HaarFeatures(min_size=2), sb.CSRAClassifier()).fit(images, images[:, 3] > 128)
    with pytest.raises(TypeError, match=r"cannot be saved.*Save the last step of the pipeline"):
        save(model, tmp_path / "model.json")
    save(model[-1], tmp_path / "model.json")  # as the message says
    again = HaarFeatures(min_size=2).fit(np.zeros((1, 25)))
    found = load(tmp_path / "model.json").decision_function(again.transform(images))
    np.testing.assert_array_equal(found, model.decision_function(images))


@pytest.mark.parametrize(
    "made",
    [HaarFeatures(), MDLDiscretizer(), StandardScaler(), make_pipeline(StandardScaler(), MDLDiscretizer())],
    ids=lambda made: type(made).__name__,
)
def test_a_transformer_is_refused_as_what_it_is(made):
    """And not as a pipeline whose last step could be saved."""
    with pytest.raises(TypeError) as error:
        dumps(made.fit(X, y))
    message = str(error.value)
    assert message.startswith(f"{type(made).__name__} cannot be saved: it is a transformer, and model files hold class")
    assert "skops or pickle" in message
    assert "last step" not in message


def test_all_classifiers_of_the_package_can_be_named_and_nothing_else():
    names = {name for name in sb.__all__ if name.endswith("Classifier") or name == "GoalSearchCV"}
    assert set(MODELS) == names | {"RuleLearner"}


def test_a_bite_of_one_class_is_a_constant():
    rare = np.zeros(len(y), dtype=int)
    rare[:2] = 1
    booster = sb.CSRAClassifier(n_estimators=1)
    clf = sb.PastingVotesClassifier(booster, kind="random", n_estimators=6, bite_size=10, random_state=0)
    with pytest.warns(UserWarning, match="have only one class"):
        model = clf.fit(X, rare)
    assert any(isinstance(member, DummyClassifier) for member in model.estimators_)
    np.testing.assert_array_equal(loads(dumps(model)).predict_proba(X), model.predict_proba(X))


def test_a_model_must_be_fitted(tmp_path):
    with pytest.raises(NotFittedError, match="CSRAClassifier is not fitted"):
        save(sb.CSRAClassifier(), tmp_path / "model.json")


def test_the_file_says_which_parameters_are_absent():
    params = json.loads(dumps(fresh_stumps(random_state=np.random.RandomState(0))))["model"]["params"]
    assert params["random_state"] == {
        "absent": "RandomState of numpy, which is not plain data; the default takes its place"
    }


def test_describe(tmp_path):
    table = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 4] == 1, "red", "blue")})
    labels = np.array(["no", "yes"])[y]
    path = save(sb.CSRAClassifier(n_estimators=3).fit(table, labels), tmp_path / "m.json", notes="monthly")
    description = describe(path)
    assert description["format"] == "skewboost model"
    assert description["class"] == "CSRAClassifier"
    assert description["classes"] == ["no", "yes"]
    assert description["pos_label"] == "yes"
    assert description["features"] == [
        {"name": "size", "kind": "number"},
        {"name": "colour", "kind": "category", "categories": ["blue", "red"]},
    ]
    assert (description["n_rounds"], description["n_examples"], description["notes"]) == (3, 100.0, "monthly")
    assert set(description["saved_with"]) == {"skewboost", "scikit-learn", "numpy"}
    json.dumps(description)


@pytest.mark.parametrize(
    "model",
    [
        lambda: RuleLearner().fit(X, y),
        lambda: sb.UnderBaggingClassifier(sb.CSRAClassifier(n_estimators=1), n_estimators=2).fit(X, y),
        lambda: sb.MinimumRiskClassifier(sb.CSRAClassifier(n_estimators=1), calibrate="sigmoid", cv=2).fit(X, y),
        lambda: sb.AdaBoostMHClassifier(n_estimators=1).fit(X, np.digitize(X[:, 0], [-0.5, 0.5])),
    ],
)
def test_every_model_can_be_described(tmp_path, model):
    description = describe(save(model(), tmp_path / "m.json"))
    assert [f["name"] for f in description["features"]] == [f"x{j}" for j in range(X.shape[1])]
    json.dumps(description)


@pytest.mark.slow
def test_neither_the_package_nor_loading_a_model_imports_heavy_packages(tmp_path):
    """Loading does not start the native core, which is only needed for computing."""
    path = save(stumps(), tmp_path / "m.json")
    code = (
        "import sys; import skewboost.io; assert not {'numpy', 'sklearn'} & set(sys.modules)\n"
        f"skewboost.io.load({str(path)!r})\n"
        "assert not {'polars', 'matplotlib', 'jinja2', 'onnx'} & set(sys.modules)\n"
        "from skewboost.engine.native import native_core\n"
        "assert native_core.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_file_that_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    model = fresh_stumps()
    model._nominal = [True] * X.shape[1]  # as if something had gone wrong
    with pytest.raises(RuntimeError, match=r"cannot be saved.*kinds in nominal.*a bug in skewboost"):
        save(model, tmp_path / "model.json")
    monkeypatch.setattr(model_file, "ESTIMATOR", Field(lambda model: {"class": np.nan}, lambda data: data))
    with pytest.raises(RuntimeError, match=r"cannot be saved \(.*This is a bug in skewboost"):
        save(model, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())
