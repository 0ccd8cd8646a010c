"""Explanations: contributions add up, are Shapley values, and count the training rows they were counted on."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import skewboost as sb
from skewboost.boosting.early_stopping import stratified_split
from skewboost.datasets import load_rare_cancer
from skewboost.engine import choose
from skewboost.engine.boundary import N_CODES
from skewboost.engine.partition import View
from skewboost.engine.shapley import Conjunction, add_shapley, shapley_of
from skewboost.engine.table import read_table
from skewboost.learners import AlternatingTree, Histogram, Line, Stump, Tree
from support import awkward_data, each_engine, make, pairs

ENTRIES = [e for e in sb.catalogue() if e.name != "WeightBoost"]
PARTITIONS = ["stump", Tree(max_leaf_nodes=6), Histogram(max_bins=8), AlternatingTree()]


def mixed_table(n_rows=300, seed=0):
    """Numbers and categories with missing cells, weights that are no integers, about a quarter positives."""
    rng = np.random.default_rng(seed)
    amount = np.where(rng.random(n_rows) < 0.1, np.nan, rng.lognormal(size=n_rows))
    shop = np.array(["food", "fuel", "toys", "pets", None], dtype=object)[
        rng.choice(5, n_rows, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    ]
    age = np.where(rng.random(n_rows) < 0.05, np.nan, np.round(rng.normal(40, 12, n_rows)))
    colour = np.array(["red", "blue"])[rng.integers(0, 2, n_rows)]
    risk = (shop == "toys") * 1.5 + (shop == "pets") * (colour == "red") + np.nan_to_num(amount) / 3
    y = (risk - (np.nan_to_num(age) > 50) + 0.6 * rng.normal(size=n_rows) > 1.4).astype(int)
    X = pd.DataFrame({"amount": amount, "shop": shop, "age": age, "colour": colour, "idle": np.ones(n_rows)})
    return X, y, rng.uniform(0.2, 3.0, n_rows)


def raw_scores(clf, X):
    """F, oriented as decision_function is."""
    F, _ = clf._scores(X)
    return -F if len(clf.classes_) == 2 and clf.pos_label_ == clf.classes_[0] else F


def assert_adds_up(clf, X, y=None, weights=None):
    """Contributions and baseline make F; with the training rows given, the baseline is the mean of F over them."""
    phi, F = clf.contributions(X), raw_scores(clf, X)
    np.testing.assert_allclose(phi.sum(axis=1) + clf.baseline_, F, atol=1e-9, rtol=1e-12)
    if y is not None:
        np.testing.assert_allclose(clf.baseline_, np.average(F, axis=0, weights=weights), atol=1e-9, rtol=1e-12)
    return phi


def answering_responses(learners):
    return [learner for learner in learners if not isinstance(learner, AlternatingTree)]


# ---------------------------------------------------------------------------------- additivity


@pytest.mark.sample(12)
@each_engine
@pytest.mark.parametrize(
    ("booster", "learner"), [p for p in pairs([*PARTITIONS, Line()]) if p.values[0] is not sb.WeightBoostClassifier]
)
def test_contributions_add_up_for_every_variant(booster, learner, engine):
    X, y, weights = mixed_table()
    clf = make(booster, 12, learner, engine=engine).fit(X, y, sample_weight=weights)
    phi = assert_adds_up(clf, X, y, weights)
    assert phi.shape == X.shape
    assert (phi[:, 4] == 0).all()
    assert np.abs(phi).max() > 0.01
    new, _, _ = mixed_table(40, seed=1)
    new.loc[:5, "shop"] = "unheard of"
    new.loc[3:9, "amount"] = np.nan
    assert_adds_up(clf, new)


@each_engine
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("learner", [Stump, Tree, Histogram])
@pytest.mark.parametrize("booster", [sb.RealBoostClassifier, sb.LogitBoostClassifier])
def test_missing_cells_have_a_part_whether_they_vote_or_not(booster, learner, missing, engine):
    X, y = awkward_data(seed=4, missing=0.2)
    clf = booster(estimator=learner(missing=missing), n_estimators=30, engine=engine).fit(X, y)
    assert_adds_up(clf, X, y)
    assert_adds_up(clf, np.full_like(X[:2], np.nan))


@each_engine
@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_either_class_may_be_positive(learner, engine):
    X, y, _ = mixed_table()
    a, b = (
        sb.RealBoostClassifier(estimator=learner, n_estimators=20, pos_label=p, engine=engine).fit(X, y) for p in (0, 1)
    )
    np.testing.assert_allclose(a.contributions(X), b.contributions(X), atol=1e-9)
    assert a.baseline_ == pytest.approx(b.baseline_, abs=1e-9)
    assert_adds_up(a, X, y)
    np.testing.assert_allclose(a.contributions(X).sum(axis=1) + a.baseline_, a.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("learner", ["stump", Tree(max_leaf_nodes=6)], ids=str)
@pytest.mark.parametrize("early_stopping", [False, 4])
@pytest.mark.parametrize("booster", [sb.AdaBoostMHClassifier, sb.AdaC2M1Classifier])
def test_more_classes_have_an_axis(booster, learner, early_stopping):
    X, y, weights = mixed_table(500)
    y = np.where(X["colour"] == "red", y, 2 * y)
    clf = booster(estimator=learner, n_estimators=15, early_stopping=early_stopping, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    phi = assert_adds_up(clf, X, *(() if early_stopping else (y, weights)))
    assert phi.shape == (500, 5, 3)
    assert clf.baseline_.shape == (3,)
    np.testing.assert_allclose(phi.sum(axis=1) + clf.baseline_, clf.decision_function(X), atol=1e-9)
    if not isinstance(learner, Tree):
        for c, shapes in enumerate(clf.shape_functions()):
            for j, f in enumerate(shapes):
                np.testing.assert_allclose(f(X.iloc[:, j]), phi[:, j, c], atol=1e-12)


@pytest.mark.parametrize("learner", ["stump", "tree", Line()], ids=str)
def test_early_stopping_counts_the_rows_that_were_trained_on(learner):
    X, y, weights = mixed_table(600)
    clf = sb.LogitBoostClassifier(estimator=learner, n_estimators=60, early_stopping=3, random_state=1)
    clf.fit(X, y, sample_weight=weights)
    inner, _ = stratified_split(y == 1, 0.1, np.random.default_rng(clf._seed))
    assert_adds_up(clf, X.iloc[inner], y[inner], weights[inner])
    assert_adds_up(clf, X)
    assert len(clf._model.rounds) > clf.n_estimators_


@each_engine
@pytest.mark.parametrize("learner", [*answering_responses(PARTITIONS), Line()], ids=str)
def test_a_warm_start_is_explained_like_one_run(learner, engine):
    X, y, weights = mixed_table()
    warm = sb.LogitBoostClassifier(estimator=learner, n_estimators=5, warm_start=True, engine=engine)
    warm.fit(X, y, sample_weight=weights).set_params(n_estimators=14).fit(X, y, sample_weight=weights)
    whole = sb.LogitBoostClassifier(estimator=learner, n_estimators=14, engine=engine).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(warm.contributions(X), whole.contributions(X), atol=1e-9)
    assert_adds_up(warm, X, y, weights)


@each_engine
@pytest.mark.parametrize("learner", [*answering_responses(PARTITIONS), Line()], ids=str)
def test_a_weight_of_two_is_the_row_twice(learner, engine):
    X, y, _ = mixed_table()
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    booster = sb.GentleBoostClassifier(estimator=learner, n_estimators=15, engine=engine)
    weighted = pickle.loads(pickle.dumps(booster)).fit(X, y, sample_weight=weights)
    repeated = booster.fit(X.loc[X.index.repeat(weights)], y.repeat(weights))
    np.testing.assert_allclose(weighted.contributions(X), repeated.contributions(X), atol=1e-9)
    assert weighted.baseline_ == pytest.approx(repeated.baseline_, abs=1e-9)
    if not isinstance(learner, Tree):
        for f, g in zip(weighted.shape_functions(), repeated.shape_functions(), strict=True):
            np.testing.assert_allclose(f.support, g.support)
            np.testing.assert_allclose(f.values, g.values, atol=1e-9)


@pytest.mark.parametrize("learner", [*answering_responses(PARTITIONS), Line()], ids=str)
def test_a_pickle_keeps_the_explanation(learner):
    X, y, weights = mixed_table()
    clf = sb.LogitBoostClassifier(estimator=learner, n_estimators=8).fit(X, y, sample_weight=weights)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.contributions(X), clf.contributions(X))
    assert again.baseline_ == clf.baseline_


def test_an_interrupted_fit_can_be_explained():
    X, y, _ = mixed_table()

    def interrupt(k, scores):
        if k == 5:
            raise KeyboardInterrupt

    clf = sb.RealBoostClassifier(estimator="tree", callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.n_estimators_ == 5
    assert_adds_up(clf, X, y)


@each_engine
def test_engines_explain_alike(engine):
    X, y, weights = mixed_table()
    clf = sb.RealBoostClassifier(estimator="tree", n_estimators=25, engine="reference").fit(X, y, sample_weight=weights)
    expected = clf.contributions(X)
    clf.set_params(engine=engine)
    np.testing.assert_array_equal(clf.contributions(X), expected)


def test_without_a_split_there_is_nothing_to_share():
    X, y = np.zeros((50, 2)), np.arange(50) < 5
    clf = sb.RealBoostClassifier(n_estimators=10).fit(X, y)
    assert not clf.contributions(X).any()
    assert clf.baseline_ == pytest.approx(clf.decision_function(X)[0], abs=1e-12)
    assert [f.values.tolist() for f in clf.shape_functions()] == [[0.0], [0.0]]


def test_a_level_line_counts_where_cells_go_missing():
    """A line without slope is centred to nothing on the training rows, but a new row may lack the feature."""
    X, y = np.ones((40, 1)), np.arange(40) < 10
    clf = sb.LogitBoostClassifier(estimator=Line(), n_estimators=5).fit(X, y)
    phi = assert_adds_up(clf, np.array([[1.0], [np.nan]]))
    assert abs(phi[0, 0]) < 1e-12
    assert phi[1, 0] == pytest.approx(-clf.baseline_)


# ------------------------------------------------------ scores that decision_function does not show


def test_adamec_shifts_the_explained_score():
    X, y, _ = mixed_table()
    clf = sb.AdaMECClassifier(cost=20, n_estimators=15).fit(X, y)
    F = assert_adds_up(clf, X, y).sum(axis=1) + clf.baseline_
    np.testing.assert_allclose(clf.decision_function(X), F + 0.5 * math.log(20), atol=1e-9)


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if "calibrate" in e.estimator().get_params()], ids=lambda e: e.name
)
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_a_calibrated_booster_explains_the_score_before_calibration(entry, calibrate):
    X, y, weights = mixed_table()
    clf = entry.make(10, cost=5, calibrate=calibrate).fit(X, y, sample_weight=weights)
    F = assert_adds_up(clf, X, y, weights).sum(axis=1) + clf.baseline_
    odds = clf._model.link.calibrator(10).log_odds(F)
    np.testing.assert_allclose(clf.decision_function(X), 0.5 * (odds + math.log(5)), atol=1e-9)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_the_explained_score_is_the_decision_function_of_all_others(entry):
    X, y, _ = mixed_table()
    params = {"cost": 3.0} if entry.cost_sensitive else {}
    clf = entry.make(10, **params).fit(X, y)
    F = clf.contributions(X).sum(axis=1) + clf.baseline_
    shift = 0.5 * math.log(3.0) if entry.name == "AdaMEC" else 0.0
    np.testing.assert_allclose(clf.decision_function(X), F + shift, atol=1e-9)


# ------------------------------------------------------------------------------- shape functions


@each_engine
@pytest.mark.parametrize("learner", ["stump", Stump(missing="abstain"), Histogram(max_bins=8), Line()], ids=str)
def test_shape_functions_are_the_whole_model(learner, engine):
    X, y, weights = mixed_table(400)
    clf = sb.GentleBoostClassifier(estimator=learner, n_estimators=40, engine=engine).fit(X, y, sample_weight=weights)
    shapes, phi = clf.shape_functions(), clf.contributions(X)
    assert [f.name for f in shapes] == X.columns.tolist()
    assert [f.feature for f in shapes] == list(range(5))
    for j, f in enumerate(shapes):
        column = X.iloc[:, j]
        np.testing.assert_allclose(f(column), phi[:, j], atol=1e-12)
        assert f.support.sum() + f.missing_support == pytest.approx(weights.sum())
        assert np.average(f(column), weights=weights) == pytest.approx(0.0, abs=1e-12)
    F = clf.baseline_ + sum(f(X.iloc[:, j]) for j, f in enumerate(shapes))
    np.testing.assert_allclose(F, clf.decision_function(X), atol=1e-9)


def test_support_is_what_one_counts():
    X, y, weights = mixed_table(400)
    clf = sb.RealBoostClassifier(n_estimators=40).fit(X, y, sample_weight=weights)
    amount, shop = clf.shape_functions()[:2]
    assert (amount.kind, shop.kind) == ("numeric", "nominal")
    assert (np.diff(amount.values) != 0).all()
    bounds = np.concatenate(([-np.inf], amount.edges, [np.inf]))
    for (low, high), n in zip(itertools.pairwise(bounds), amount.support, strict=True):
        assert n == pytest.approx(weights[(X["amount"] > low) & (X["amount"] <= high)].sum())
    assert amount.missing_support == pytest.approx(weights[X["amount"].isna()].sum())
    assert shop.categories == ("food", "fuel", "pets", "toys")
    for category, n in zip(shop.categories, shop.support, strict=True):
        assert n == pytest.approx(weights[X["shop"] == category].sum())
    assert shop.missing_support == pytest.approx(weights[X["shop"].isna()].sum())


def test_an_edge_belongs_to_the_step_below():
    X, y = np.repeat([[1.0], [2.0]], 20, axis=0), np.arange(40) >= 15
    clf = sb.RealBoostClassifier(n_estimators=3).fit(X, y)
    (f,) = clf.shape_functions()
    at = np.array([f.edges[0], np.nextafter(f.edges[0], 9.0), np.nan])
    np.testing.assert_allclose(clf.baseline_ + f(at), clf.decision_function(at[:, None]), atol=1e-12)
    assert f(at)[0] < f(at)[1]
    assert f.name == "x0"


def test_lines_keep_slope_intercept_and_range():
    X, y, weights = mixed_table()
    clf = sb.LogitBoostClassifier(estimator=Line(), n_estimators=20).fit(X, y, sample_weight=weights)
    amount, shop, *_ = clf.shape_functions()
    assert amount.kind == "line"
    assert amount.slope != 0.0
    assert amount.observed == (X["amount"].min(), X["amount"].max())
    slopes = [t.slope for t in clf.estimators_ if t.feature == 0]
    sign = 1.0 if clf.pos_label_ == clf.classes_[1] else -1.0
    assert amount.slope == pytest.approx(sign * sum(slopes))
    assert amount.missing_support == pytest.approx(weights[X["amount"].isna()].sum())
    assert shop.kind == "nominal"
    assert not shop(X["shop"]).any()


def test_rare_categories_share_a_value():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(list("abcdefgh"), 400, p=[0.3, 0.3, 0.2, *[0.04] * 5])})
    y = X["a"].isin(["b", "f", "g"]) ^ (rng.random(400) < 0.1)
    with pytest.warns(UserWarning, match="share one"):
        clf = sb.RealBoostClassifier(estimator=Stump(max_bins=4), n_estimators=9).fit(X, y)
    (f,) = clf.shape_functions()
    assert f.categories == ("a", "b", "c")
    assert f.rest == set("defgh")
    assert f.support.tolist() == [(X["a"] == c).sum() for c in "abc"] + [X["a"].isin(list("defgh")).sum()]
    np.testing.assert_allclose(f(X["a"]), clf.contributions(X)[:, 0], atol=1e-12)
    assert f(["z", None]).tolist() == [f.missing_value] * 2


def test_an_empty_name_is_a_category_and_no_missing_cell():
    X = pd.DataFrame({"a": ["", "b", None, "c"] * 20})
    clf = sb.RealBoostClassifier(n_estimators=4).fit(X, X["a"] == "b")
    (f,) = clf.shape_functions()
    assert f.categories == ("", "b", "c")
    np.testing.assert_allclose(f(X["a"]), clf.contributions(X)[:, 0], atol=1e-12)
    assert f([None, np.nan, pd.NA, "d"]).tolist() == [f.missing_value] * 4


def test_trees_on_a_single_feature_have_a_shape():
    X, y = awkward_data()
    clf = sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=5), n_estimators=6).fit(X[:, :1], y)
    (f,) = clf.shape_functions()
    np.testing.assert_allclose(clf.baseline_ + f(X[:, 0]), clf.decision_function(X[:, :1]), atol=1e-9)
    assert f.support.sum() + f.missing_support == len(y)


# ------------------------------------------------------------------------------------- refusals


def test_what_is_no_sum_is_refused_with_a_remedy():
    X, y, _ = mixed_table()
    clf = sb.WeightBoostClassifier(n_estimators=5).fit(X, y)
    for ask in (lambda: clf.contributions(X), clf.shape_functions):
        with pytest.raises(ValueError, match=r"WeightBoostClassifier.*not a sum.*permutation_importance"):
            ask()
    assert not hasattr(clf, "baseline_")


@pytest.mark.parametrize(
    ("booster", "estimator"),
    [
        (sb.AdaBoostClassifier, GaussianNB()),
        (sb.AdaBoostClassifier, DecisionTreeClassifier(max_depth=2)),
        (sb.LogitBoostClassifier, DecisionTreeRegressor(max_depth=2)),
    ],
    ids=str,
)
def test_foreign_models_are_refused_by_name(booster, estimator):
    X, y = awkward_data(missing=0.0)
    clf = booster(estimator=estimator, n_estimators=5).fit(X, y)
    for ask in (lambda: clf.contributions(X), clf.shape_functions):
        with pytest.raises(ValueError, match=rf"{type(estimator).__name__}.*permutation_importance"):
            ask()
    assert not hasattr(clf, "baseline_")


def test_it_must_be_fitted_first():
    clf = sb.RealBoostClassifier()
    for ask in (lambda: clf.contributions([[1.0]]), clf.shape_functions, lambda: clf.baseline_):
        with pytest.raises(NotFittedError):
            ask()


# --------------------------------------------------------------------- Shapley values of trees


def shapley_by_subsets(players, game):
    """The definition: the mean gain of a player over all orders."""
    d = len(players)
    phi = {}
    for i in players:
        others = [j for j in players if j != i]
        phi[i] = sum(
            math.factorial(s) * math.factorial(d - 1 - s) / math.factorial(d) * (game({*S, i}) - game(set(S)))
            for s in range(d)
            for S in itertools.combinations(others, s)
        )
    return phi


def expected(term, covers, codes, known, at=0):
    """EXPVALUE of Lundberg, Erion & Lee (2018): follow known features, average over the children of others."""
    if at < 0:
        return term.values[~at]
    split, links = term.partition.splits[at], term.partition.links[at]
    if split.feature in known:
        return expected(term, covers, codes, known, links[split.child[codes[split.feature]]])
    whole = sum(covers[k] for k in links)
    return sum(covers[k] / whole * expected(term, covers, codes, known, k) for k in links)


def direct_covers(term, view, weights):
    """Σ weights of the rows in every leaf (by ~leaf) and at every split, counted row by row."""
    leaf = term.partition.leaves(view)
    covers = {~k: float(weights[leaf == k].sum()) for k in range(term.partition.n_leaves)}
    for k in reversed(range(len(term.partition.splits))):
        covers[k] = sum(covers[link] for link in term.partition.links[k])
    return covers


def training_view(clf, X):
    return View(choose("reference", 1), read_table(clf, X, reset=False), clf._model.bins)


@each_engine
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("booster", [sb.RealBoostClassifier, sb.LogitBoostClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_covers_are_the_training_rows_of_the_leaves(booster, missing, engine, weighted):
    X, y, weights = mixed_table(500)
    weights = weights if weighted else np.ones(500)
    tree = Tree(max_leaf_nodes=9, missing=missing)
    clf = booster(estimator=tree, n_estimators=8, engine=engine).fit(X, y, sample_weight=weights)
    view = training_view(clf, X)
    for term in clf.estimators_:
        covers = direct_covers(term, view, weights)
        np.testing.assert_allclose(term.partition.covers, [covers[~k] for k in range(term.partition.n_leaves)])
    per_code = clf._model.support.per_code
    for j in range(5):
        np.testing.assert_allclose(per_code[j], np.bincount(view.column(j), weights, minlength=N_CODES))


@pytest.mark.sample(2)
@each_engine
@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize(
    "tree", [{"max_leaf_nodes": 9}, {"max_leaf_nodes": None, "max_depth": 4}], ids=["best first", "by level"]
)
def test_contributions_of_trees_are_shapley_values(tree, missing, engine):
    X, y, weights = mixed_table(400)
    clf = sb.RealBoostClassifier(estimator=Tree(missing=missing, **tree), n_estimators=3, pos_label=1, engine=engine)
    clf.fit(X, y, sample_weight=weights)
    view = training_view(clf, X)
    codes = np.column_stack([view.column(j) for j in range(5)])
    covers = [direct_covers(term, view, weights) for term in clf.estimators_]
    phi = clf.contributions(X)
    rows = np.random.default_rng(0).choice(400, 25, replace=False)
    for r in rows:

        def game(known, r=r):
            return sum(expected(t, c, codes[r], known) for t, c in zip(clf.estimators_, covers))

        for j, value in shapley_by_subsets(range(5), game).items():
            assert phi[r, j] == pytest.approx(value, abs=1e-10)
    paths = [[s.feature for s in t.partition.splits] for t in clf.estimators_]
    assert any(len(set(p)) < len(p) for p in paths), "no feature is tested twice, so the test is too easy"


@each_engine
@pytest.mark.parametrize("missing", ["learn", "abstain"])
def test_shape_functions_of_trees_are_what_is_expected_where_one_feature_is_known(missing, engine):
    X, y, weights = mixed_table(400)
    clf = sb.RealBoostClassifier(estimator=Tree(missing=missing), n_estimators=4, pos_label=1, engine=engine)
    clf.fit(X, y, sample_weight=weights)
    view = training_view(clf, X)
    codes = np.column_stack([view.column(j) for j in range(5)])
    covers = [direct_covers(term, view, weights) for term in clf.estimators_]
    for j, f in enumerate(clf.shape_functions()):
        assert not f.exact
        alone = np.array([sum(expected(t, c, row, {j}) for t, c in zip(clf.estimators_, covers)) for row in codes])
        np.testing.assert_allclose(f(X.iloc[:, j]), alone - np.average(alone, weights=weights), atol=1e-10)
        assert f.support.sum() + f.missing_support == pytest.approx(weights.sum())


def test_alternating_trees_have_shape_functions_too():
    """One below the root, where it looks at one feature, is exact."""
    X, y, _ = mixed_table(400)
    one = sb.AlternatingTreeClassifier(max_rounds=1, pos_label=1).fit(X, y)
    shapes = one.shape_functions()
    assert all(f.exact for f in shapes)
    F = one.baseline_ + sum(f(X.iloc[:, j]) for j, f in enumerate(shapes))
    np.testing.assert_allclose(F, one.decision_function(X), atol=1e-9)
    many = sb.AlternatingTreeClassifier(max_rounds=15).fit(X, y).shape_functions()
    assert not any(f.exact for f in many)
    assert max(np.abs(f.values).max() for f in many) > 0.1


@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_a_feature_that_no_split_uses_has_no_part(learner):
    X, y = load_rare_cancer()
    clf = sb.RealBoostClassifier(estimator=learner, n_estimators=4).fit(X, y)
    used = {s.feature for t in clf.estimators_ for s in t.partition.splits}
    phi = clf.contributions(X)
    assert {j for j in range(phi.shape[1]) if phi[:, j].any()} == used
    assert len(used) < phi.shape[1]


def random_conjunctions(rng, n, n_features, lengths):
    found = []
    for _ in range(n):
        d = int(rng.choice(lengths))
        features = tuple(rng.choice(n_features, d, replace=False).tolist())
        shares = np.where(rng.random(d) < 0.1, 0.0, rng.random(d))
        found.append(Conjunction(float(rng.normal()), features, rng.random((d, N_CODES)) < 0.7, shares))
    return found


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_conjunctions_share_their_value_as_the_definition_says(n_rows):
    rng = np.random.default_rng(n_rows)
    conjunctions = random_conjunctions(rng, 12, 6, [1, 2, 3, 5, 6])
    codes = rng.integers(0, N_CODES, (6, n_rows))
    phi = np.zeros((n_rows, 6))
    add_shapley(conjunctions, codes.__getitem__, phi)
    for r in range(min(n_rows, 10)):
        found = np.zeros(6)
        for c in conjunctions:
            holds = [c.allowed[k, codes[j, r]] for k, j in enumerate(c.features)]

            def game(known, c=c, holds=holds):
                return c.value * math.prod(
                    o if j in known else z for j, o, z in zip(c.features, holds, c.fractions.tolist())
                )

            for j, value in shapley_by_subsets(c.features, game).items():
                found[j] += value
        np.testing.assert_allclose(phi[r], found, atol=1e-13)


def test_long_conjunctions_are_as_exact():
    """Beyond what is tabulated: against the polynomial's coefficients and the factorials of the definition."""
    rng = np.random.default_rng(0)
    d = 20
    (c,) = random_conjunctions(rng, 1, d, [d])
    codes = rng.integers(0, N_CODES, (d, 9000))  # more than one block of rows
    phi = np.zeros((9000, d))
    add_shapley([c], codes.__getitem__, phi)
    for r in (0, 1, 8999):
        o = np.array([c.allowed[c.features.index(j), codes[j, r]] for j in c.features], dtype=float)
        for k, j in enumerate(c.features):
            polynomial = np.ones(1)
            for m in range(d):
                if m != k:
                    polynomial = np.convolve(polynomial, [c.fractions[m], o[m]])
            weights = [math.factorial(s) * math.factorial(d - 1 - s) / math.factorial(d) for s in range(d)]
            assert phi[r, j] == pytest.approx(c.value * (o[k] - c.fractions[k]) * (polynomial @ weights), rel=1e-10)
    everything = c.value * np.array([all(c.allowed[k, codes[j, r]] for k, j in enumerate(c.features)) for r in (0, 1)])
    np.testing.assert_allclose(phi[:2].sum(axis=1), everything - c.mean, atol=1e-12)


def test_equal_parts_for_equal_roles():
    """Symmetry: tests that are passed alike, by as many, share alike."""
    phi = shapley_of(np.array([True, True, False]), np.array([0.3, 0.3, 0.5]))
    assert phi[0] == pytest.approx(phi[1], rel=1e-15)
    assert phi[2] < 0 < phi[0]
