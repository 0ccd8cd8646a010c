"""Programs predict what the model predicts; sums are equal to the last bit."""

from __future__ import annotations

import warnings
from copy import copy

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from onnx import TensorProto, helper

import skewboost as sb
from program_runners import run_c, run_onnx, run_python, run_sql
from skewboost.io.export.formula import Column
from skewboost.io.export.onnx_trees import Ensemble
from skewboost.io.export.packed_forest import TwoWay
from skewboost.io.export.reading import read_formula
from skewboost.learners import AlternatingTree, Histogram, Line, Stump, Tree
from support import awkward_data, edges, make, nasty_table

SUMS = [e for e in sb.catalogue() if e.name != "WeightBoost"]
X, y = awkward_data(200)


def everywhere(model, X, folder, exact=False):
    """Compare all four programs with the model, on both engines if sums must be equal to the last bit."""
    for program in (run_python(model, X), run_c(model, X, folder), run_sql(model, X), run_onnx(model, X)):
        program.agrees(model, X)
        if exact:
            for engine in ("reference", "cpu"):
                assert np.array_equal(program.score, copy(model).set_params(engine=engine).decision_function(X))


@pytest.mark.parametrize("entry", SUMS, ids=[e.name for e in SUMS])
def test_every_variant(entry):
    """Variants differ in the numbers of the formula only, which is the same for all languages."""
    params = {"cost": 3.0} if entry.cost_sensitive else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(entry.estimator, 8, **params).fit(X, y)
    rows = np.vstack((X[:40], edges(read_formula(model), X)[:60]))
    run_python(model, rows).agrees(model, rows)


LEARNERS = {
    "stumps": sb.RealBoostClassifier(n_estimators=60),
    "stumps that abstain": sb.RealBoostClassifier(estimator=Stump(missing="abstain"), n_estimators=30),
    "trees": sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=7), n_estimators=15),
    "trees that abstain": sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=7, missing="abstain"), n_estimators=15),
    "histograms": sb.GentleBoostClassifier(estimator=Histogram(max_bins=16), n_estimators=20),
    "alternating that learns": sb.AlternatingTreeClassifier(max_rounds=25, missing="learn", cost=4),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
def test_sums_are_equal_to_the_last_bit_at_and_beside_every_threshold(model, tmp_path):
    model.fit(X, y)
    rows = edges(read_formula(model), X)
    rows = rows[:: max(1, len(rows) // 150)]
    assert len(rows) > 5
    everywhere(model, np.vstack((X[:50], rows)), tmp_path, exact=True)


@pytest.mark.parametrize("unit", [2.0**-1070, 1e300])
def test_lines(unit, tmp_path):
    numbers = np.round(9 * np.clip(X, -40, 40)) * unit
    model = sb.LogitBoostClassifier(estimator=Line(), n_estimators=15).fit(numbers, y)
    everywhere(model, numbers, tmp_path, exact=True)


@pytest.mark.parametrize(("first", "learner"), [(2**53, "stump"), (2**63 - 300, "tree")])
def test_integers_that_are_no_doubles(first, learner, tmp_path):
    """Programs round them as the model does: cuts lie between the doubles."""
    table = pd.DataFrame({"id": first + np.arange(300), "x": np.arange(300) % 7})
    model = sb.RealBoostClassifier(estimator=learner, n_estimators=20).fit(table, np.arange(300) // 16 % 2)
    everywhere(model, table, tmp_path, exact=True)


@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_calibrated(calibrate, tmp_path):
    model = sb.AdaMECClassifier(n_estimators=15, cost=4.0, calibrate=calibrate, random_state=0).fit(X, y)
    everywhere(model, np.vstack((X, np.full((1, X.shape[1]), np.nan))), tmp_path)


@pytest.mark.parametrize("learner", [Tree(max_leaf_nodes=5), Line()], ids=["trees", "lines"])
def test_infinities_are_beyond_the_last_threshold_and_lines_are_constant_there(learner, tmp_path):
    model = sb.LogitBoostClassifier(estimator=learner, n_estimators=10).fit(np.nan_to_num(X), y)
    far, infinite = X[:60].copy(), X[:60].copy()
    for j in range(X.shape[1]):
        far[j::9, j], infinite[j::9, j] = (1e300, np.inf) if j % 2 else (-1e300, -np.inf)
    expected = model.decision_function(far)
    runs = (run_python(model, far), run_python(model, infinite), run_c(model, infinite, tmp_path))
    for program in (*runs, run_sql(model, infinite), run_onnx(model, infinite)):
        assert np.array_equal(program.score, expected)


@pytest.mark.parametrize(
    "learner",
    [
        Stump(),
        Tree(max_leaf_nodes=8, missing="abstain"),
        AlternatingTree(),
    ],
    ids=["stump", "tree that abstains", "alternating"],
)
def test_names_and_categories_of_any_text_missing_and_unseen(learner, tmp_path):
    table, labels = nasty_table()
    model = sb.RealBoostClassifier(estimator=learner, n_estimators=30).fit(table, labels)
    formula = read_formula(model)
    if isinstance(learner, Stump):
        used = {part.feature for part in formula.sums[0].tables}
    else:
        used = {*formula.sums[0].forest.features, *(part.feature for part in formula.sums[0].tables)}
    assert used >= {0, 3, 9, 10}
    new = table.iloc[:80].copy()
    new.loc[:9, "class"] = "never seen"
    new.loc[10:19, "'; DROP TABLE data; --"] = "it''s"
    # the empty text is a category here, so that in ONNX a missing cell is any other text
    known = new[new["'; DROP TABLE data; --"].notna()]
    run_onnx(model, known).agrees(model, known)
    for program in (run_python(model, new), run_python(model, new, by_name=True), run_c(model, new, tmp_path)):
        program.agrees(model, new)
    run_sql(model, new).agrees(model, new)


def random_tree(rng, columns):
    """A tree of tests of sets of categories, with few distinct leaves, that missing cells pass or not."""
    n = int(rng.integers(1, 6))
    links, free = np.zeros((n, 2), dtype=np.int64), []
    for k in range(n):
        if k:
            links[free.pop(int(rng.integers(len(free))) if rng.random() < 0.5 else -1)] = k
        free += [(k, 0), (k, 1)]
    for leaf, place in enumerate(free):
        links[place] = ~leaf
    feature = rng.integers(0, len(columns), n) * int(rng.integers(0, 2))
    sets = [rng.choice(columns[j].categories, rng.integers(0, 4), replace=False).tolist() for j in feature.tolist()]
    return TwoWay(
        roots=np.array([0]), feature=feature, cut=np.full(n, np.nan), which=np.arange(n),
        sets=tuple(map(frozenset, sets)), missing_is_yes=rng.random(n) < 0.5, links=links,
        values=rng.integers(0, 2, (len(free), 1)).astype(float),
    )  # fmt: skip


def test_tests_of_one_column_after_each_other_in_onnx():
    """A runtime makes one of them where it can."""
    columns = [Column("c", tuple("abcd")), Column("d", tuple("abc"))]
    cells = np.array([(a, b) for a in (0, 1, 2, 3, np.nan) for b in (0, 1, 2, np.nan)])
    rng = np.random.default_rng(1)
    trees = [random_tree(rng, columns) for _ in range(400)]
    ensemble = Ensemble({0: 0, 1: 1}, columns)
    for target, tree in enumerate(trees):
        ensemble.constant(0.0, target)
        ensemble.trees(tree, tree.values[:, 0], np.full(len(tree.values), target))
    node = helper.make_node("TreeEnsemble", ["X"], ["Y"], domain="ai.onnx.ml", **ensemble.attributes(len(trees)))
    ends = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, None]) for name in "XY"]
    versions = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 5)]
    model = helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:]), opset_imports=versions, ir_version=9)
    found = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": cells})[0]
    for tree, values in zip(trees, found.T, strict=True):
        for row, value in zip(cells, values, strict=True):
            at = 0
            while at >= 0:
                cell, known = row[tree.feature[at]], columns[tree.feature[at]].categories
                yes = tree.missing_is_yes[at] if np.isnan(cell) else known[int(cell)] in tree.sets[at]
                at = tree.links[at, 0 if yes else 1]
            assert value == tree.values[~at, 0]


def test_rare_categories_share_a_value(tmp_path):
    rng = np.random.default_rng(0)
    number = rng.integers(0, 300, 1500)
    table = pd.DataFrame({"id": pd.Categorical([f"c{k}" for k in number]), "x": rng.normal(size=1500)})
    labels = (number % 7 == 0) ^ (table["x"].to_numpy() > 1.5)
    with pytest.warns(UserWarning, match="categories"):
        model = sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=4), n_estimators=5).fit(table, labels)
    some = table.iloc[:200].astype({"id": object})
    everywhere(model, some, tmp_path, exact=True)


def test_categories_that_are_no_text():
    table = pd.DataFrame({"c": pd.Categorical([1.0, 2.0, 2.5, None] * 30), "b": pd.Categorical([True, False] * 60)})
    labels = np.array([0, 1, 0, 1, 1, 1] * 20)
    model = sb.RealBoostClassifier(n_estimators=10).fit(table, labels)
    run_python(model, table.astype(object)).agrees(model, table)


def test_a_column_that_was_empty_in_training_says_nothing():
    table = pd.DataFrame({"x": np.arange(60.0) % 7, "empty": np.full(60, np.nan)})
    labels = (table["x"] > 3).to_numpy()
    model = sb.GentleBoostClassifier(estimator=Histogram(), n_estimators=5).fit(table, labels)
    now = table.assign(empty=1.0)
    for program in (run_python(model, now), run_sql(model, now), run_onnx(model, now)):
        program.agrees(model, now)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(np.array(["no", "yes"])[1 - y], 0), (y == 1, 1), (y * 2.0, 0), (np.where(y == 1, -1, 7), 1)],
    ids=["str", "bool", "float", "int"],
)
def test_labels_of_any_type_and_either_class_positive(labels, positive, tmp_path):
    positive = np.unique(labels)[positive].item()
    model = sb.CSRAClassifier(n_estimators=10, cost=5, pos_label=positive).fit(X, labels)
    everywhere(model, X[:60], tmp_path)


@pytest.mark.parametrize(
    "model",
    [
        sb.AdaBoostMHClassifier(estimator=Tree(max_leaf_nodes=5), n_estimators=8, cost={"a": 1, "b": 4, "c": 2}),
        sb.AdaC2M1Classifier(estimator=Tree(max_leaf_nodes=9), n_estimators=8),
    ],
    ids=["trees with costs", "votes"],
)
def test_many_classes(model, tmp_path):
    labels = np.array(["a", "b", "c"])[y + (np.nan_to_num(X[:, 1]) > 0.8)]
    model.fit(X, labels)
    everywhere(model, np.vstack((X[:60], edges(read_formula(model), X)[:60])), tmp_path)


def test_the_threshold_of_a_goal(tmp_path):
    positive = 0  # so that the score of the program is negated after the threshold is subtracted
    model = sb.GoalSearchCV(
        sb.CSRAClassifier(n_estimators=10, pos_label=positive),
        "recall >= 0.9",
        confidence=None,
        pos_label=positive,
        cv=2,
        random_state=0,
    ).fit(X, y)
    assert model.threshold_ != 0.0
    everywhere(model, X[:60], tmp_path)


def test_a_model_cut_short():
    model = sb.RealBoostClassifier(n_estimators=20).fit(X, y).truncated(7)
    run_python(model, X).agrees(model, X)


def chain(n=80):
    """A tree that is as deep as it can be: the classes alternate, and ever rarer ones are at the far end."""
    x = np.arange(n, dtype=float)[:, None]
    model = sb.RealBoostClassifier(estimator=Tree(max_depth=n, max_leaf_nodes=None), n_estimators=2)
    return model.fit(x, np.arange(n) % 2), x


def test_deep_trees(tmp_path):
    model, x = chain()
    links, depth = read_formula(model).sums[0].forest.links.tolist(), {}
    for k in reversed(range(len(links))):
        depth[k] = 1 + max(depth.get(link, 0) for link in links[k])
    assert depth[0] > 30
    everywhere(model, np.vstack((x, x + 0.5, [[np.nan]])), tmp_path, exact=True)


def test_long_sums_are_added_in_several_queries(monkeypatch):
    monkeypatch.setattr("skewboost.io.export.sql_query.MAX_SUM", 3)
    model = sb.GentleBoostClassifier(estimator=Tree(max_leaf_nodes=4), n_estimators=10).fit(X, y)
    predictions = run_sql(model, X)
    predictions.agrees(model, X)
    assert np.array_equal(predictions.score, model.decision_function(X))


@pytest.mark.slow
def test_many_trees(tmp_path):
    """SQLite takes expressions of depth 1000 at most, and compilers nest some hundred blocks."""
    model = sb.GentleBoostClassifier(estimator=Tree(max_leaf_nodes=4), n_estimators=1200, learning_rate=0.02).fit(X, y)
    assert len(read_formula(model).sums[0].forest) > 1000
    everywhere(model, X[:20], tmp_path, exact=True)
