"""Files of portfolios, and numbers of any size: refused, or a model whose every answer is a number."""

from __future__ import annotations

import contextlib
import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import skewboost as sb
from skewboost.errors import InputError
from skewboost.io import ModelFileError, dumps, loads, saved_parts
from skewboost.learners import Line, RuleLearner, Tree
from support import awkward_data

X, y = awkward_data(80, missing=0.0)
TABLE = pd.DataFrame(X[:, [0, 1, 2, 3]], columns=list("abcd")).assign(e=np.where(X[:, 4] == 1, "on", "off"))
NUMBERS = TABLE[list("abcd")].to_numpy()


def of_few_trees(clf):
    parts = tuple(replace(part, trees=part.trees.first(min(2, part.trees.n_trees))) for part in clf._model.parts)
    clf._model = replace(clf._model, parts=parts)
    return clf


MODELS = {
    "a portfolio": lambda: of_few_trees(sb.SkewBoostClassifier(effort="quick", random_state=0).fit(TABLE, y)),
    "stumps": lambda: sb.CSRAClassifier(n_estimators=3, cost=5).fit(TABLE, y),
    "trees": lambda: sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=4), n_estimators=2).fit(TABLE, y),
    "lines": lambda: sb.LogitBoostClassifier(estimator=Line(), n_estimators=3).fit(NUMBERS, y),
    "damped": lambda: sb.WeightBoostClassifier(n_estimators=3).fit(NUMBERS, y),
    "calibrated": lambda: sb.CGAdaClassifier(n_estimators=2, cost=5, calibrate="sigmoid", random_state=0).fit(TABLE, y),
    "many classes": lambda: sb.AdaBoostMHClassifier(n_estimators=2, estimator=Tree()).fit(NUMBERS, X[:, 3].astype(int)),
    "rules": lambda: RuleLearner(max_order=1).fit(TABLE, y),
}


@pytest.fixture(scope="module")
def files():
    return {name: json.loads(dumps(make())) for name, make in MODELS.items()}


def refused(file, message):
    with pytest.raises(ModelFileError, match=message):
        loads(json.dumps(file))


def portfolio(files):
    file = copy.deepcopy(files["a portfolio"])
    return file, file["model"]["model"]


def test_as_many_parts_as_a_portfolio_has(files):
    """Each part costs a table per column when the model predicts, however small it is in the file."""
    file, model = portfolio(files)
    part = model["parts"][0]
    small = copy.deepcopy(part)
    small["trees"] |= {
        "first_node": {"dtype": "<i8", "shape": [2], "values": [0, 0]},
        "first_leaf": {"dtype": "<i8", "shape": [2], "values": [0, 1]},
        **{name: {"dtype": "<i8", "shape": [0], "values": []} for name in ("feature", "threshold", "which")},
        "missing_left": {"dtype": "<i8", "shape": [0], "values": []},
        "links": {"dtype": "<i8", "shape": [0, 2], "values": []},
        "sets": [],
        "values": {"dtype": "<f8", "shape": [1, 1], "values": [0.25]},
        "covers": [80.0],
    }
    model["parts"] += [small] * (16 - len(model["parts"]))
    assert np.isfinite(loads(json.dumps(file)).predict_proba(TABLE)).all()
    model["parts"] += [small] * 3000
    refused(file, r"parts must be at most 16")


def test_as_many_components_as_a_portfolio_has(files):
    file, model = portfolio(files)
    own = model["components"]
    assert own is not None
    n, columns = own["loadings"]["shape"]
    own["loadings"] = {"dtype": "<f8", "shape": [n + 40, columns], "values": [0.5] * ((n + 40) * columns)}
    model["bins"]["features"] += [model["bins"]["features"][-1]] * 40
    model["support"]["per_code"] += [model["support"]["per_code"][-1]] * 40
    refused(file, r"components\.loadings must be at most 32|components must be at most 32")


def test_parts_of_columns_count_as_columns(monkeypatch):
    """Without a limit on the bins a column may be many features, each of which has a table for each output."""
    monkeypatch.setattr(saved_parts, "MOST_CELLS", 100)
    labels = np.arange(120) % 3
    clf = sb.AdaBoostMHClassifier(n_estimators=1).fit(np.arange(120.0)[:, None], labels)
    file = json.loads(dumps(clf))
    loads(json.dumps(file))
    bins, support = file["model"]["model"]["bins"], file["model"]["model"]["support"]
    many = 100 // 3 + 1
    bins["features"], bins["columns"] = bins["features"] * many, [0] * many
    support["per_code"] = support["per_code"] * many
    refused(file, r"times the number of classes must not be above 100")


def test_kinds_of_nodes_are_those_of_their_columns(files):
    file, model = portfolio(files)
    kinds = [column["categories"] is not None for column in model["bins"]["features"]]
    for k, part in enumerate(model["parts"]):
        for j, nominal in enumerate(kinds):
            features = part["trees"]["feature"]["values"]
            if nominal in (kinds[i] for i in features) and j not in features:
                continue
            other = next((at for at, i in enumerate(features) if kinds[i] != nominal), None)
            if other is not None:
                changed = copy.deepcopy(file)
                changed["model"]["model"]["parts"][k]["trees"]["feature"]["values"][other] = j
                refused(changed, rf"parts\[{k}\]\.trees\.threshold must be -1 for categories, and only for these")
    file = copy.deepcopy(files["trees"])
    for r in file["model"]["model"]["rounds"]:
        for split in r["term"]["partition"]["splits"]:
            split["feature"] = 4  # the column of categories
    refused(file, r"rounds\[0\]\.term\.partition\.splits\[\d\]\.threshold must be -1 for categories")


def numbers_of(data, path=()):
    """The places of all floats."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name not in ("params", "notes", "record", "history", "search", "saved_with"):
                yield from numbers_of(value, (*path, name))
    elif isinstance(data, list):
        for k in sorted({0, len(data) // 2, len(data) - 1} & set(range(len(data)))):
            yield from numbers_of(data[k], (*path, k))
    elif isinstance(data, float):
        yield path


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("extreme", [1e308, *(pytest.param(x, marks=pytest.mark.slow) for x in (-1e308, 1e-308, 0.0))])
def test_a_number_of_any_size_is_refused_or_gives_numbers(name, extreme, files):
    rows = NUMBERS if files[name]["model"]["feature_names_in"] is None else TABLE
    tried = 0
    for path in numbers_of(files[name]["model"]):
        file = copy.deepcopy(files[name])
        at = file["model"]
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = extreme
        tried += 1
        try:
            model = loads(json.dumps(file))
        except ModelFileError:
            continue
        with np.errstate(all="ignore"):
            answers = [model.predict_proba(rows)]
            answers.append(model.decision_function(rows))
            with contextlib.suppress(InputError, AttributeError):  # of models that cannot be explained
                answers += [model.contributions(rows), model.baseline_]
        for k, answer in enumerate(answers):
            assert not np.isnan(answer).any(), (path, k)
    assert tried > 3
