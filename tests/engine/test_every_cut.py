"""max_bins=None: every midpoint is a threshold, however many distinct values a column has."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import naive
from engine.partitioned import PartitionedEngine
from skewboost import (
    AdaBoostClassifier,
    AlternatingTreeClassifier,
    ConsistentBoostClassifier,
    CSRAClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    SoftMarginBoostClassifier,
)
from skewboost.boosting.whole_columns import on_whole_columns
from skewboost.engine import binning
from skewboost.errors import InputError
from skewboost.features import HaarFeatures
from skewboost.io import load, save, to_source
from skewboost.learners import AlternatingTree, Stump, Tree

ENGINES = ["reference", "cpu", PartitionedEngine()]
LEARNERS = {
    "stump": Stump(max_bins=None),
    "error": Stump(max_bins=None, criterion="error"),
    "abstaining": Stump(max_bins=None, missing="abstain"),
    "tree": Tree(max_bins=None),
    "deep": Tree(max_bins=None, max_leaf_nodes=None, max_depth=3, min_samples_leaf=4),
    "alternating": AlternatingTree(max_bins=None),
    "constrained": Tree(max_bins=None, monotonic_cst=[1, 0, -1, 0], interaction_cst=[{0, 1}, {2, 3}]),
}
each_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def fine_table(n=900, seed=0):
    """Columns of 900, 700 and 6 distinct values, one with missing cells, and one of categories."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.permutation(n) + 0.25,
            "b": rng.permutation(n) % 700 / 7.0,
            "c": rng.integers(0, 6, n).astype(float),
            "d": pd.Categorical(rng.choice(["x", "y", "z"], n)),
        }
    )
    F = np.sin(X["a"] / 90) + X["b"] / 50 + 0.3 * X["c"] + 0.5 * (X["d"] == "z") - 2.0 + rng.normal(0, 0.6, n)
    X.loc[rng.random(n) < 0.08, "b"] = np.nan
    return X, (F > 0).astype(int).to_numpy()


def scored(model, X):
    """Scores after every round."""
    return np.array(list(model.staged_decision_function(X)))


@pytest.mark.parametrize("engine", ENGINES, ids=str)
@pytest.mark.parametrize(("variant", "classifier"), [("ada", AdaBoostClassifier), ("real", RealBoostClassifier)])
def test_stumps_are_those_of_a_search_over_all_thresholds(engine, variant, classifier):
    rng = np.random.default_rng(1)
    X = np.column_stack((rng.permutation(600), rng.permutation(600) ** 2)).astype(float)
    y = np.where(np.sin(X[:, 0] / 60) + X[:, 1] / 1.2e5 + rng.normal(0, 0.5, 600) > 1.4, 1, -1)
    expected = naive.boost_stumps(X.tolist(), y.tolist(), 6, variant)
    model = classifier(estimator=Stump(max_bins=None), n_estimators=6, pos_label=1, engine=engine).fit(X, y)
    assert scored(model, X) == pytest.approx(np.array(expected), abs=1e-9)


def test_a_stump_is_that_of_scikit_learn_on_thousands_of_values():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 3))
    y = (X[:, 1] + rng.normal(size=5000) > 1.9).astype(int)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    stump = AdaBoostClassifier(estimator=Stump(max_bins=None, criterion="gini"), n_estimators=1).fit(X, y)
    (f,) = [f for f in stump.shape_functions() if len(f.edges)]
    assert (f.feature, f.edges[0]) == (tree.tree_.feature[0], pytest.approx(tree.tree_.threshold[0], abs=1e-6))
    coarse = AdaBoostClassifier(estimator=Stump(criterion="gini"), n_estimators=1).fit(X, y)
    (g,) = [g for g in coarse.shape_functions() if len(g.edges)]
    assert g.edges[0] != f.edges[0]  # 255 bins do not have this threshold


@each_learner
def test_nothing_changes_where_every_midpoint_is_a_cut_anyway(learner):
    X, y = fine_table(250)
    limited = clone(learner).set_params(max_bins=255)
    for estimator in (RealBoostClassifier, CSRAClassifier):
        exact, other = (estimator(estimator=one, n_estimators=8, cost=3) if estimator is CSRAClassifier else
                        estimator(estimator=one, n_estimators=8) for one in (learner, limited))  # fmt: skip
        assert np.array_equal(scored(exact.fit(X, y), X), scored(other.fit(X, y), X))


@each_learner
def test_engines_agree_to_the_bit(learner):
    X, y = fine_table()
    of_engines = [
        scored(RealBoostClassifier(estimator=learner, n_estimators=8, engine=e).fit(X, y), X) for e in ENGINES
    ]
    assert all(np.allclose(own, of_engines[0], rtol=0, atol=1e-12) for own in of_engines)


@each_learner
def test_order_weights_and_threads_mean_nothing(learner):
    X, y = fine_table()
    rng = np.random.default_rng(3)
    repeats, order = rng.integers(1, 3, len(y)), rng.permutation(len(y))
    model = RealBoostClassifier(estimator=learner, n_estimators=8)
    weighted = clone(model).fit(X, y, sample_weight=repeats)
    copied = clone(model).fit(X.loc[np.repeat(X.index, repeats)], np.repeat(y, repeats))
    assert np.allclose(scored(weighted, X), scored(copied, X), rtol=0, atol=1e-9)
    first = clone(model).fit(X, y)
    shuffled = clone(model).fit(X.iloc[order], y[order])
    assert np.allclose(scored(first, X), scored(shuffled, X), rtol=0, atol=1e-9)
    assert np.array_equal(scored(first, X), scored(clone(model).set_params(n_jobs=2).fit(X, y), X))


@each_learner
def test_explanations_add_up_and_importances_have_a_number_per_column(learner):
    X, y = fine_table()
    model = RealBoostClassifier(estimator=learner, n_estimators=12).fit(X, y)
    F = model.decision_function(X)
    assert model.contributions(X).shape == X.shape
    assert model.contributions(X).sum(axis=1) + model.baseline_ == pytest.approx(F, abs=1e-9)
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    functions = model.shape_functions()
    for f in functions:
        assert f.support.sum() + f.missing_support == pytest.approx(len(y))
    if functions[0].exact:
        total = np.sum([f(X[f.name]) for f in functions], axis=0)
        assert total + model.baseline_ == pytest.approx(F, abs=1e-9)


@each_learner
def test_whole_columns_score_as_the_parts_do(learner):
    X, y = fine_table()
    model = RealBoostClassifier(estimator=learner, n_estimators=12).fit(X, y)
    whole = on_whole_columns(model._model)
    assert whole is not model._model
    assert whole.bins.n_features == 4
    assert max(whole.bins.n_bins) < 60
    table = model._new_rows(X)
    assert whole.score(model._engine(), table) == pytest.approx(model.decision_function(X), abs=1e-12)
    assert on_whole_columns(whole) is whole


@each_learner
def test_saved_and_exported_models_decide_alike(learner, tmp_path):
    X, y = fine_table()
    model = RealBoostClassifier(estimator=learner, n_estimators=8).fit(X, y)
    save(model, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.contributions(X) == pytest.approx(model.contributions(X))
    program: dict = {}
    exec(to_source(model, "python"), program)
    rows = X.astype(object).where(X.notna(), None)
    for row, F in zip(rows.head(40).to_dict("records"), model.decision_function(X)):
        assert program["predict_score"](row) == pytest.approx(F, abs=1e-9)


def test_a_file_whose_features_do_not_match_its_columns_is_refused(tmp_path):
    X, y = fine_table()
    save(RealBoostClassifier(estimator=Stump(max_bins=None), n_estimators=3).fit(X, y), tmp_path / "model.json")
    whole = json.loads((tmp_path / "model.json").read_text())
    text = json.dumps(whole)
    place = text.index('"columns": [') + len('"columns": [')
    (tmp_path / "other.json").write_text(text[:place] + "3, " + text[text.index(",", place) + 1 :])
    with pytest.raises(InputError, match="columns"):
        load(tmp_path / "other.json")


def test_a_warm_start_goes_on_with_the_same_thresholds():
    X, y = fine_table()
    whole = GentleBoostClassifier(estimator=Stump(max_bins=None), n_estimators=10).fit(X, y)
    parts = GentleBoostClassifier(estimator=Stump(max_bins=None), n_estimators=4, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=10).fit(X, y)
    assert np.allclose(scored(whole, X), scored(parts, X), rtol=0, atol=1e-12)


def test_monotonic_constraints_hold_on_every_part_of_a_column():
    X, y = fine_table()
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, 1 - y, y)
    model = LogitBoostClassifier(estimator=Tree(max_bins=None, monotonic_cst={"a": 1}), n_estimators=20).fit(X, y)
    free = LogitBoostClassifier(estimator=Tree(max_bins=None), n_estimators=20).fit(X, y)
    steps = [np.diff(one.decision_function(X.iloc[[5] * 900].assign(a=np.arange(900.0)))) for one in (model, free)]
    assert steps[0].min() >= 0.0
    assert steps[1].min() < 0.0


def test_the_full_search_of_soft_margins_reads_every_part():
    X, y = fine_table(400)
    model = SoftMarginBoostClassifier(search="full", estimator=Stump(max_bins=None), n_estimators=3, C=0).fit(X, y)
    assert model.feature_importances_.shape == (4,)


def test_alternating_trees_name_the_columns():
    X, y = fine_table()
    model = AlternatingTreeClassifier(max_rounds=6, max_bins=None).fit(X, y)
    assert {node.name for node in model.tree().splitters} <= set(X.columns)
    explanation = model.explain(X.iloc[[0]])
    assert explanation.score == pytest.approx(model.decision_function(X.iloc[[0]])[0])


@pytest.mark.parametrize("options", [{"max_features": 2}, {"splitter": "random"}])
def test_draws_of_columns_are_refused(options):
    X, y = fine_table()
    with pytest.raises(InputError, match="max_bins=None does not go with columns or thresholds that are drawn"):
        AdaBoostClassifier(estimator=Stump(max_bins=None, **options)).fit(X, y)
    AdaBoostClassifier(estimator=Stump(max_bins=None, **options), n_estimators=2).fit(X.head(200), y[:200])


def test_consistent_boosting_is_refused():
    X, y = fine_table()
    with pytest.raises(InputError, match="max_bins=None of Stump is not for ConsistentBoost"):
        ConsistentBoostClassifier(estimator=Stump(max_bins=None)).fit(X, y)


def test_more_thresholds_than_can_be_explained_are_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = (np.sin(20 * X[:, 0]) + rng.normal(0, 1.0, 2000) > 0).astype(int)
    model = RealBoostClassifier(estimator=Tree(max_bins=None, max_leaf_nodes=64), n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.8
    for asked in (lambda: model.contributions(X), lambda: to_source(model, "c")):
        with pytest.raises(InputError, match=r"thresholds of column 0, and only up to 254 .* Fit it with max_bins=255"):
            asked()


def test_too_many_codes_and_computed_columns_are_refused(monkeypatch):
    X, y = fine_table()
    images = np.random.default_rng(0).random((40, 8, 8))
    features = HaarFeatures().fit_transform(images.reshape(40, -1))
    with pytest.raises(InputError, match=r"max_bins=None needs a table of numbers"):
        AdaBoostClassifier(estimator=Stump(max_bins=None)).fit(features, np.arange(40) % 2)
    monkeypatch.setattr(binning, "MOST_CODES", 5000)
    with pytest.raises(InputError, match=r"max_bins=None makes \d+ thresholds for 900 rows"):
        AdaBoostClassifier(estimator=Stump(max_bins=None)).fit(X, y)
