"""Files that are not valid: either an error that says so, or a model that works."""

from __future__ import annotations

import contextlib
import copy
import json
import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import skewboost as sb
from packed_arrays import repacked, unpacked
from skewboost.io import ModelFileError, dumps, loads, model_file, saved_parts
from skewboost.io.structure import field_of
from skewboost.learners import AlternatingTree, Line, RuleLearner, Tree
from support import awkward_data

X, y = awkward_data(60)
X = X[:, [0, 3, 4]]
WIDE, WIDE_Y = awkward_data(80, missing=0.0)
WIDE_TABLE = pd.DataFrame(WIDE[:, :4], columns=list("abcd")).assign(e=np.where(WIDE[:, 4] == 1, "on", "off"))
TABLE = pd.DataFrame(X, columns=["a", "b", "c"]).assign(c=np.where(X[:, 2] == 1, "on", "off"))
THREE = np.digitize(np.nan_to_num(X[:, 0]), [-0.5, 0.5])
WRONG = [None, True, "x", -1, 3, 10**12, 10**400, 1e300, -0.5, [], {}, [[]], "nan"]


def of_few_trees(clf):
    """A portfolio with the first trees of each part, or a search around one."""
    own = getattr(clf, "estimator_", clf)
    parts = tuple(replace(part, trees=part.trees.first(min(2, part.trees.n_trees))) for part in own._model.parts)
    own._model = replace(own._model, parts=parts)
    return clf


def portfolio(**params):
    return sb.SkewBoostClassifier(effort="quick", random_state=0, **params)


MODELS = {
    "stumps": lambda: sb.CSRAClassifier(n_estimators=2).fit(TABLE, y),
    "trees": lambda: sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=4), n_estimators=2).fit(TABLE, y),
    "lines": lambda: sb.LogitBoostClassifier(estimator=Line(), n_estimators=2).fit(X, y),
    "an alternating tree": lambda: sb.AlternatingTreeClassifier(max_rounds=3).fit(TABLE, y),
    "consistent": lambda: sb.ConsistentBoostClassifier(n_estimators=2).fit(X, y),
    "boosted rules": lambda: sb.AdaBoostClassifier(estimator=RuleLearner(max_order=1), n_estimators=1).fit(TABLE, y),
    "many classes": lambda: sb.AdaBoostMHClassifier(n_estimators=2).fit(X, THREE),
    "least risk": lambda: sb.MinimumRiskClassifier(
        sb.AdaMECClassifier(n_estimators=1, calibrate="isotonic"), calibrate="sigmoid", ensemble=False, cv=2
    ).fit(X, y),
    "a code": lambda: sb.CodeMatrixClassifier(sb.RealBoostClassifier(n_estimators=1), code="one_vs_rest").fit(X, THREE),
    "a goal": lambda: sb.GoalSearchCV(
        sb.CSRAClassifier(n_estimators=1), "recall >= 0.5", max_points=3, cv=2, confidence=0.6, allow_unmet=True,
        random_state=0,
    ).fit(X, y),
    "a cascade": lambda: sb.CascadeClassifier(
        sb.CSRAClassifier(n_estimators=2), n_stages=2, detection_rate=0.8, random_state=0
    ).fit(TABLE, y),
    "bags": lambda: sb.UnderBaggingClassifier(
        sb.CSRAClassifier(n_estimators=1), n_estimators=2, random_state=0
    ).fit(X, y),
    "votes": lambda: sb.PastingVotesClassifier(
        sb.CSRAClassifier(n_estimators=1), n_estimators=2, bite_size=20, random_state=0
    ).fit(X, y),
    "damped": lambda: sb.WeightBoostClassifier(n_estimators=3).fit(X, y),
    "calibrated": lambda: sb.CGAdaClassifier(n_estimators=2, cost=5, calibrate="sigmoid", random_state=0).fit(TABLE, y),
    "trees of many classes": lambda: sb.AdaBoostMHClassifier(n_estimators=2, estimator=Tree()).fit(X, THREE),
    "rules": lambda: RuleLearner(max_order=1).fit(TABLE, y),
    "a portfolio": lambda: of_few_trees(portfolio().fit(WIDE_TABLE, WIDE_Y)),
    "a portfolio of many classes": lambda: of_few_trees(portfolio().fit(WIDE_TABLE, WIDE[:, 3].round().clip(-1, 1))),
    "a portfolio that refers": lambda: of_few_trees(portfolio(cost=3, reject_cost=0.2).fit(WIDE_TABLE, WIDE_Y)),
    "a portfolio with a goal": lambda: of_few_trees(
        portfolio(goal="recall >= 0.5", confidence=0.6).fit(WIDE_TABLE, WIDE_Y)
    ),
    "a goal of a portfolio": lambda: of_few_trees(
        sb.GoalSearchCV(
            portfolio(cost=1), "recall >= 0.3 and referred_share <= 0.5", cv=2, confidence=0.6, allow_unmet=True,
            random_state=0,
        ).fit(WIDE_TABLE, WIDE_Y)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def files():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {name: make() for name, make in MODELS.items()}
    return {name: json.loads(dumps(model)) for name, model in made.items()}


def places(data, path=()):
    """The places of a file: all entries of objects, and of lists the first and the last."""
    yield path
    if isinstance(data, dict):
        for name, value in data.items():
            yield from places(value, (*path, name))
    elif isinstance(data, list):
        for k in sorted({0, len(data) - 1} & set(range(len(data)))):
            yield from places(data[k], (*path, k))


def changed(file, path, change):
    """A copy of a file with one place changed."""
    made = at = copy.copy(file)
    for step in path[:-1]:
        at[step] = copy.copy(at[step])
        at = at[step]
    at[path[-1]] = copy.copy(at[path[-1]])
    change(at, path[-1])
    return made


def remove(at, key):
    del at[key]


def add(at, key):
    if isinstance(at[key], dict):
        at[key]["unknown"] = 1
    elif isinstance(at[key], list):
        at[key].append(at[key][0] if at[key] else 0)
    else:
        at[key] = {"unknown": at[key]}


def assert_harmless(file, rows):
    """Whether a file is refused. Otherwise its model predicts, with probabilities that are numbers."""
    try:
        model = model_file._read(file, "The file")["model"]
    except ModelFileError:
        return True
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            predicted = model.predict(rows)
        except ValueError as error:  # other names or kinds of columns are valid, but do not match the rows
            if not any(word in str(error) for word in ("column", "feature names", "features")):
                raise
            return False
        known = {*model.classes_.tolist(), 0, 1, getattr(model, "reject_label_", 0)}
        assert set(np.ravel(predicted).tolist()) <= known
        if hasattr(model, "predict_proba"):
            p = model.predict_proba(rows)
            assert ((p >= 0) & (p <= 1)).all()
        else:
            assert not np.isnan(model.decision_function(rows)).any()
        if hasattr(model, "export_text"):
            model.export_text()
        if is_explained(model):
            model.contributions(rows)
            model.shape_functions()
        str(getattr(model, "certificate_", None))
    return False


def is_explained(model):
    if isinstance(model, sb.SkewBoostClassifier):
        return True
    return hasattr(model, "contributions") and model._model.is_sum and not hasattr(model.estimators_[0], "estimator")


def rows_of(file):
    """Rows that the model of a file knows."""
    names = file["model"]["feature_names_in"]
    return X if names is None else TABLE if len(names) == 3 else WIDE_TABLE


@pytest.fixture
def parsed(monkeypatch):
    """Read files that are parsed already, which saves most of the time."""
    monkeypatch.setattr(model_file, "_parsed", lambda file: file)


@pytest.mark.sample(7)
@pytest.mark.usefixtures("parsed")
@pytest.mark.parametrize("name", MODELS)
def test_changed_places(files, name):
    change_places(files[name], n_ways=1, n_changes=100)


@pytest.mark.slow
@pytest.mark.usefixtures("parsed")
@pytest.mark.parametrize("name", MODELS)
def test_every_place_changed_in_every_way(files, name):
    change_places(files[name], n_ways=len(WRONG))


def change_places(file, n_ways, n_changes=None):
    """Remove, extend and replace entries, all of them or a sample, and read the file."""
    rng = np.random.default_rng(0)

    def replace(value):
        return lambda at, key: at.update({key: value}) if isinstance(at, dict) else at.__setitem__(key, value)

    changes = []
    for path in list(places(file))[1:]:
        wrong = rng.choice(len(WRONG), n_ways, replace=False).tolist()
        changes += [(path, change) for change in (remove, add, *(replace(WRONG[k]) for k in wrong))]
    if n_changes is not None:
        changes = [changes[k] for k in rng.permutation(len(changes))[:n_changes]]
    n_refused = sum(assert_harmless(changed(file, path, change), rows_of(file)) for path, change in changes)
    assert n_refused > 0.7 * len(changes)


@pytest.mark.parametrize("name", ["stumps", "a goal"])
def test_a_file_that_ends_too_soon(files, name):
    text = json.dumps(files[name])
    for end in range(0, len(text) - 1, max(1, len(text) // 50)):
        with pytest.raises(ModelFileError):
            loads(text[:end])


def find(data, key):
    """All objects in a file that have an entry."""
    if isinstance(data, dict):
        if key in data:
            yield data
        for value in data.values():
            yield from find(value, key)
    elif isinstance(data, list):
        for value in data:
            yield from find(value, key)


@pytest.mark.parametrize("link", [0, -1, 7, -9])
@pytest.mark.parametrize("name", ["trees", "an alternating tree"])
def test_links_that_go_back_or_nowhere(files, name, link):
    for k, own in enumerate(find(files[name], "links")):
        for i, links in enumerate(own["links"]):
            for j in range(len(links)):
                file = copy.deepcopy(files[name])
                changed_links = list(find(file, "links"))[k]["links"][i]
                if changed_links[j] == link:
                    continue
                changed_links[j] = link
                with pytest.raises(ModelFileError, match=r"links|child"):
                    loads(json.dumps(file))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), 3, "version is 3, but this skewboost reads files of version 2: install a newer release"),
        (("version",), 1, "version is 1, but this skewboost reads files of version 2: fit the model again"),
        (("format",), "other", "format must be one of 'skewboost model'; got 'other'"),
        (("model", "class"), "os.system", "model.class must be one of"),
        (("model", "params", "estimator"), {"object": "Popen", "params": {}}, "estimator.object must be one of"),
        (("model", "params", "engine"), "gpu", "engine must be one of"),
        (("model", "params", "n_jobs"), 0, "n_jobs of CSRAClassifier must be"),
        (("model", "params", "resample"), 1.5, "model.params resample of CSRAClassifier must be one of True, False"),
        (("model", "params", "sampler"), -1, "model.params sampler must be None, 'bootstrap', a fraction"),
        (("model", "params", "estimator"), "forest", "model.params estimator must be 'stump', 'tree', a learner"),
        (("model", "params", "as_printed"), "x", "model.params as_printed of CSRAClassifier must be one of True"),
        (("model", "class"), "related_methods", "model.class must be one of"),
        (("model", "n_features_in"), 4, "must have a name per feature"),
        (("model", "nominal"), [True, False, False], "kinds in nominal"),
        (("model", "classes", "values"), [1, 1], "model.classes.values must rise"),
        (("model", "classes", "dtype"), "<U1", "does not match dtype"),
        (("model", "classes"), {"dtype": "<U9999", "values": ["x"] * 10**4}, "takes too much memory"),
        (("model", "pos_label"), 2, "model.pos_label must be the place of a class"),
        (("model", "model", "n_rounds"), 3, "must not exceed the rounds"),
        (("model", "model", "link", "scale"), 0.0, "must be a finite number > 0"),
        (("model", "model", "rounds", 0, "term", "partition", "splits", 0, "feature"), 3, "there are 3 features"),
        (("model", "model", "rounds", 0, "term", "values"), [0.0], "must have an entry per leaf"),
        (("model", "model", "rounds", 0, "importances", "n"), 10**9, "from 0 to"),
    ],
)  # fmt: skip
def test_the_error_says_where_and_why(files, path, value, message):
    def change(at, key):
        at[key] = value

    with pytest.raises(ModelFileError) as caught:
        loads(json.dumps(changed(files["stumps"], path, change)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", "must be an object"),
        ("{}", "'format' is missing"),
        ('{"format": "skewboost model", "version": NaN}', "NaN"),
        ('{"format": "skewboost model", "format": 1}', "'format' twice"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ("1" * 10_000, "is not valid"),
        (b"\xff\xfe{", "UTF-8"),
    ],
    ids=["empty", "a list", "no format", "NaN", "twice", "deep", "deeper", "a long number", "bytes"],
)
def test_text_that_is_not_a_model(text, message):
    with pytest.raises(ModelFileError, match=message):
        loads(text)


def test_numbers_that_json_does_not_have(files):
    text = json.dumps(files["stumps"])
    first = files["stumps"]["model"]["model"]["rounds"][0]["term"]["values"][0]
    for other in ("NaN", "Infinity", "1e999", '"nan"'):
        with pytest.raises(ModelFileError):
            loads(text.replace(repr(first), other, 1))


def test_deep_nesting_within_a_parameter(files):
    deep = 0
    for _ in range(400):
        deep = [deep]
    with pytest.raises(ModelFileError):
        loads(json.dumps(changed(files["stumps"], ("model", "params", "cost"), lambda at, key: at.update({key: deep}))))


def test_nothing_that_a_file_names_is_imported(files):
    target = "antigravity"
    assert target not in sys.modules
    for path in places(files["stumps"]):
        if path and isinstance(path[-1], str):
            for value in (target, {"object": target, "params": {}}):
                changed_file = changed(files["stumps"], path, lambda at, key, value=value: at.update({key: value}))
                with contextlib.suppress(ModelFileError):
                    loads(json.dumps(changed_file))
    assert target not in sys.modules


def test_learners_that_build_on_each_other_must_be_in_order():
    file = json.loads(dumps(sb.CSRAClassifier(estimator=AlternatingTree(), n_estimators=4).fit(X, y)))
    file["model"]["model"]["rounds"][0]["term"]["partition"]["precondition"] = 1
    with pytest.raises(ModelFileError, match="must be a node of an earlier round"):
        loads(json.dumps(file))


def test_examples_become_fewer_along_a_path(files):
    """A share of examples above one may be as large as any number."""
    file = copy.deepcopy(files["an alternating tree"])
    n = len(file["model"]["model"]["rounds"][-1]["term"]["partition"]["covers"])
    for k in range(1, n):
        other = copy.deepcopy(file)
        other["model"]["model"]["rounds"][-1]["term"]["partition"]["covers"][k] = 1e9
        refused(other, "covers must not rise along the path")


def test_a_number_of_leaves_beyond_reason_is_refused_at_once(files):
    for n in (3, 2**31):
        file = copy.deepcopy(files["stumps"])
        next(find(file, "n_leaves"))["n_leaves"] = n
        with pytest.raises(ModelFileError, match="must lead to every leaf once"):
            loads(json.dumps(file))


def test_trees_may_have_more_leaves_than_two_bytes_count():
    assert field_of(tuple[tuple[int, ...], ...]).read([[-70_000, 1]]) == ((-70_000, 1),)


NO_CUTS = {"cuts": [], "categories": None, "rest": [], "ordered": False, "shared": [], "n_bins": 1}


def _set(**values):
    return lambda at: at.update(values)


@pytest.mark.parametrize(
    ("name", "key", "change", "message"),
    [
        (
            "stumps",
            "feature_names_in",
            _set(feature_names_in=["a", "b", "a"]),
            "must not hold a value twice",
        ),
        ("lines", "bins", _set(bins={"features": [NO_CUTS] * 3, "columns": []}), "per_code must be null where"),
        ("a goal", "certificate", _set(threshold="nan"), "model.threshold must not be NaN"),
        ("boosted rules", "n_rounds", _set(n_rounds=0), "n_rounds must not exceed the rounds"),
        ("a goal", "p_value", _set(p_value="-inf"), "p_value must be a number >= 0"),
        (
            "boosted rules",
            "ranked",
            _set(feature_names_in=["a", "c", "b"]),
            "names_in must be those of the whole",
        ),
        ("bags", "altered", _set(feature_names_in=["a", "b", "c"]), "names_in must be those of the whole"),
        ("a goal", "altered", _set(feature_names_in=["a", "b", "c"]), "names_in must be those of the whole"),
        (
            "least risk",
            "altered",
            _set(feature_names_in=["a", "b", "c"]),
            "names_in must be those of the whole",
        ),
    ],
)
def test_parts_that_do_not_match(files, name, key, change, message):
    file = copy.deepcopy(files[name])
    change(next(find(file["model"], key)))
    with pytest.raises(ModelFileError, match=message):
        loads(json.dumps(file))


def test_parameters_that_a_fit_refuses_are_refused_of_every_variant(files):
    """Those that a variant has of its own, like those that all have: a model that cannot be used is not loaded."""
    soft = json.loads(dumps(sb.SoftMarginBoostClassifier(n_estimators=1).fit(X, y)))
    cases = [
        (soft, "C", -1), (soft, "p", 0.5), (soft, "search", "half"), (soft, "beta", None), (soft, "sampler", "x"),
        (files["many classes"], "resample", "x"), (files["an alternating tree"], "init", "x"),
        (files["a goal"], "tune", "x"), (files["a goal"], "max_points", 1.5), (files["a goal"], "confidence", 2),
    ]  # fmt: skip
    for file, name, value in cases:
        at = ("model", "params", name)
        with pytest.raises(ModelFileError, match=rf"model\.params {name}"):
            loads(json.dumps(changed(file, at, lambda at, key, value=value: at.update({key: value}))))


def matrix_entry(matrix):
    return {"dtype": "<f8", "shape": list(np.shape(matrix)), "values": np.ravel(matrix).tolist()}


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("cost", matrix_entry([[0.0]]), r"model\.cost must have a row and a column per class"),
        ("cost", matrix_entry([[1.0, 0.0], [0.0, 1.0]]), "a mistake that costs no more than the right decision"),
        ("class_shares", [0.5, 0.6], r"model\.class_shares must be positive, one per class, and sum to 1"),
        ("class_shares", [1.0], r"model\.class_shares must be positive, one per class, and sum to 1"),
        ("costs_are_means", None, r"model\.costs_are_means"),
    ],
)
def test_costs_of_a_portfolio_are_costs(entry, value, message):
    clf = sb.SkewBoostClassifier(effort="quick", reject_cost=0.2, cost=1, random_state=0).fit(X, y)
    file = json.loads(dumps(clf))
    np.testing.assert_array_equal(loads(json.dumps(file)).predict(X), clf.predict(X))
    file["model"][entry] = value
    with pytest.raises(ModelFileError, match=message):
        loads(json.dumps(file))


def test_members_agree_on_the_kinds_of_columns():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = sb.UnderBaggingClassifier(sb.CSRAClassifier(n_estimators=1), n_estimators=2, random_state=0)
        file, other = (json.loads(dumps(clone(clf).fit(table, y))) for table in (TABLE, TABLE.assign(c=X[:, 2])))
    file["model"]["estimators"][1] = other["model"]["estimators"][1]
    with pytest.raises(ModelFileError, match=r"estimators\[1\]\.nominal must be the same in all parts"):
        loads(json.dumps(file))


def test_the_place_of_a_defect_fits_on_a_line_whatever_it_is_called(files):
    file = copy.deepcopy(files["stumps"])
    next(find(file, "record"))["record"]["\ud800\n" + "k" * 10_000] = "x"
    with pytest.raises(ModelFileError) as caught:
        loads(json.dumps(file))
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    assert r"record.\ud800\nkkk" in message


def refused(file, message):
    with pytest.raises(ModelFileError, match=message):
        loads(json.dumps(file))


def file_of_portfolio(files):
    file = copy.deepcopy(files["a portfolio"])
    return file, file["model"]["model"]


def test_as_many_parts_as_a_portfolio_has(files):
    """Each part costs a table per column when the model predicts, however small it is in the file."""
    file, model = file_of_portfolio(files)
    part = model["parts"][0]
    small = copy.deepcopy(part)
    nothing = repacked(np.zeros(0, np.uint8))
    small["trees"] |= {
        "n_nodes": repacked(np.zeros(1, np.uint8)), **dict.fromkeys(("feature", "threshold", "bits", "sets"), nothing),
        "values": repacked(np.array([0.25])), "covers": repacked(np.array([80], np.uint8)),
    }  # fmt: skip
    model["parts"] += [small] * (16 - len(model["parts"]))
    assert np.isfinite(loads(json.dumps(file)).predict_proba(WIDE_TABLE)).all()
    model["parts"] += [small] * 3000
    refused(file, r"parts must be at most 16")


def test_as_many_components_as_a_portfolio_has(files):
    file, model = file_of_portfolio(files)
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


def test_each_column_of_a_portfolio_is_one_feature(files):
    file, model = file_of_portfolio(files)
    model["bins"]["columns"] = list(range(len(model["bins"]["features"])))
    refused(file, r"bins\.columns must be empty")


def test_kinds_of_nodes_are_those_of_their_columns(files):
    file, model = file_of_portfolio(files)
    kinds = [column["categories"] is not None for column in model["bins"]["features"]]
    for k, part in enumerate(model["parts"]):
        for j, nominal in enumerate(kinds):
            features = unpacked(part["trees"]["feature"])
            if nominal in (kinds[i] for i in features) and j not in features:
                continue
            other = next((at for at, i in enumerate(features) if kinds[i] != nominal), None)
            if other is not None:
                changed = copy.deepcopy(file)
                features[other] = j
                changed["model"]["model"]["parts"][k]["trees"]["feature"] = repacked(features)
                refused(changed, rf"parts\[{k}\]\.trees\.threshold must be -1 for categories, and only for these")
    file = copy.deepcopy(files["trees"])
    for r in file["model"]["model"]["rounds"]:
        for split in r["term"]["partition"]["splits"]:
            split["feature"] = 2  # the column of categories
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


@pytest.mark.sample(6)
@pytest.mark.usefixtures("parsed")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("extreme", [1e308, *(pytest.param(x, marks=pytest.mark.slow) for x in (-1e308, 1e-308, 0.0))])
def test_a_number_of_any_size_is_refused_or_gives_numbers(name, extreme, files):
    rows = rows_of(files[name])
    tried = 0
    for path in numbers_of(files[name]["model"]):
        file = changed(files[name], ("model", *path), lambda at, key: at.__setitem__(key, extreme))
        tried += 1
        try:
            model = model_file._read(file, "The file")["model"]
        except ModelFileError:
            continue
        with np.errstate(all="ignore"):
            names = ("predict_proba", "decision_function", "contributions")[: 3 if is_explained(model) else 2]
            answers = [getattr(model, name)(rows) for name in names if hasattr(model, name)]
            answers += [model.baseline_] if is_explained(model) else []
        for k, answer in enumerate(answers):
            assert not np.isnan(answer).any(), (path, k)
    assert tried > 3
