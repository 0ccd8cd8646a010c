"""SkewBoostClassifier: decisions, invariances, constraints, folds, goals and explanations."""

from __future__ import annotations

import pickle
import re
import time
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import LogitBoostClassifier, SkewBoostClassifier
from skewboost.datasets import load_rare_cancer, make_fraud
from skewboost.engine.native_portfolio import NativePortfolio
from skewboost.errors import InputError, SkewBoostWarning
from skewboost.io import dumps, loads
from skewboost.meta.portfolio import portfolio_classifier
from skewboost.meta.portfolio.portfolio_training import FIRST_TREES
from skewboost.progress import ProgressBar
from support import of_any_class


def quick(**params):
    return SkewBoostClassifier(**{"effort": "quick", "random_state": 0, **params})


@pytest.fixture(scope="module")
def fraud():
    X, y = make_fraud(1200, random_state=3)
    return train_test_split(X, y.to_numpy(), stratify=y, random_state=0)


@pytest.fixture(scope="module")
def fitted(fraud):
    X, _, y, _ = fraud
    return quick(cost=20).fit(X, y)


@pytest.mark.sample(27)
@parametrize_with_checks([quick(), SkewBoostClassifier(n_jobs=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_decisions_have_the_least_expected_cost(fraud, fitted):
    X_new = fraud[1]
    p = fitted.predict_proba(X_new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(X_new), (20 * p[:, 1] > p[:, 0]).astype(int))
    np.testing.assert_array_equal(fitted.decision_function(X_new) > 0, fitted.predict(X_new) == 1)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X_new)), p)
    costs = np.where(np.arange(len(X_new)) % 2, 1.0, 1e6)  # a miss costs nothing else, or everything
    assert fitted.predict(X_new, sample_cost=costs)[::2].all()


def test_costs_change_decisions_but_not_probabilities(fraud, fitted):
    X, X_new, y, _ = fraud
    other = quick(cost=1).fit(X, y)
    np.testing.assert_array_equal(other.predict_proba(X_new), fitted.predict_proba(X_new))
    assert other.predict(X_new).sum() < fitted.predict(X_new).sum()
    np.testing.assert_allclose(other.decision_function(X_new) + np.log(20), fitted.decision_function(X_new))


def test_probabilities_are_better_than_those_of_one_booster():
    losses = []
    X, y = load_rare_cancer()
    for seed in range(3):
        X_in, X_out, y_in, y_out = train_test_split(X, y, stratify=y, random_state=seed)
        models = (quick(), LogitBoostClassifier(estimator="tree", n_estimators=100, learning_rate=0.1))
        losses.append([log_loss(y_out, m.fit(X_in, y_in).predict_proba(X_out)) for m in models])
    ours, theirs = np.mean(losses, axis=0)
    assert ours < 0.9 * theirs


def test_the_order_of_rows_and_the_number_of_threads_do_not_matter(fraud, fitted):
    X, X_new, y, _ = fraud
    order = np.random.default_rng(0).permutation(len(y))
    moved = quick(cost=20, n_jobs=2).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(moved.predict_proba(X_new), fitted.predict_proba(X_new))


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_a_weight_of_two_equals_a_repeated_row(fraud, order):
    X, X_new, y, _ = fraud
    X, y = X.iloc[:300], y[:300]
    weights = np.where(np.arange(300) % 3 == 0, 2.0, np.where(np.arange(300) % 7 == 0, 0.0, 1.0))[order]
    repeated = np.repeat(np.arange(300), weights.astype(int))
    a = quick().fit(X, y, sample_weight=weights)
    b = quick().fit(X.iloc[repeated], y[repeated])
    np.testing.assert_allclose(a.predict_proba(X_new), b.predict_proba(X_new), rtol=1e-9)


def test_a_class_that_counts_more_does_not_make_the_model_too_sure(fraud):
    X, X_new, y, y_new = fraud
    losses = []
    for weight in (1.0, 9.9, 10.0):
        clf = quick().fit(X, y, sample_weight=np.where(y == 1, weight, 1.0))
        odds = np.exp(np.diff(clf.predict_log_proba(X_new), axis=1)[:, 0]) / weight
        losses.append(log_loss(y_new, odds / (1 + odds)))
    assert max(losses[1:]) < 1.2 * losses[0]  # copies on both sides of splits made it 2.6 times


def test_labels_and_tables_of_any_kind_give_the_same_model(fraud, fitted):
    X, X_new, y, _ = fraud
    named = quick(cost=20).fit(pl.from_pandas(X), np.where(y == 1, "a fraud", "b honest"))
    assert named.pos_label_ == "a fraud"
    p = named.predict_proba(pl.from_pandas(X_new))
    np.testing.assert_allclose(p[:, 0], fitted.predict_proba(X_new)[:, 1])
    flags = named.predict(pl.from_pandas(X_new)) == "a fraud"
    np.testing.assert_array_equal(flags, fitted.predict(X_new) == 1)
    np.testing.assert_array_equal(named.decision_function(X_new) > 0, ~flags)


@pytest.mark.parametrize("text", [False, True])
def test_rows_are_referred_where_decisions_cost_more(fraud, fitted, text):
    X, X_new, y, _ = fraud
    labels = np.where(y == 1, "bad", "ok") if text else y
    clf = quick(cost=20, reject_cost=0.4).fit(X, labels)
    found, costs = clf.predict(X_new), fitted.expected_costs(X_new)
    referred = costs.min(axis=1) > 0.4
    assert 0 < referred.mean() < 0.5
    np.testing.assert_array_equal(found == ("refer" if text else -1), referred)
    decided = fitted.predict(X_new)[~referred] == 1
    np.testing.assert_array_equal(found[~referred] == ("bad" if text else 1), decided)
    np.testing.assert_array_equal(loads(dumps(clf)).predict(X_new), found)


def test_costs_of_training_rows_are_averaged_by_class(fraud, fitted):
    X, X_new, y, _ = fraud
    rng = np.random.default_rng(0)
    costs = np.where(y == 1, rng.integers(10, 31, len(y)), 1).astype(float)
    clf = quick().fit(X, y, sample_cost=of_any_class(costs))
    assert clf.cost_[1, 0] == pytest.approx(costs[y == 1].mean())
    assert clf.cost_[0, 1] == 1.0
    np.testing.assert_array_equal(clf.predict_proba(X_new), fitted.predict_proba(X_new))
    with pytest.raises(InputError, match="cost=5 has no effect with sample_cost"):
        quick(cost=5).fit(X, y, sample_cost=costs)
    with pytest.raises(InputError, match="sample_cost has no effect with a goal"):
        quick(goal="recall >= 80%").fit(X, y, sample_cost=costs)


def test_many_classes_with_a_matrix_of_costs():
    X, y = load_wine(return_X_y=True)
    X_in, X_out, y_in, y_out = train_test_split(X, y, stratify=y, random_state=0)
    cost = [[0, 1, 9], [1, 0, 1], [1, 1, 0]]
    clf = quick(cost=cost).fit(X_in, y_in)
    p = clf.predict_proba(X_out)
    np.testing.assert_array_equal(clf.predict(X_out), (p @ np.array(cost)).argmin(axis=1))
    assert (quick(cost={0: 1, 1: 1, 2: 1}).fit(X_in, y_in).predict(X_out) == y_out).mean() > 0.9
    phi = clf.contributions(X_out)
    S = phi.sum(axis=1) + clf.baseline_
    np.testing.assert_allclose(S - S[:, :1], np.log(p) - np.log(p[:, :1]), atol=1e-9)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_contributions_add_up_to_the_decision(fraud, pos_label):
    X, X_new, y, _ = fraud
    clf = SkewBoostClassifier(cost=5, pos_label=pos_label, random_state=0).fit(X, y)
    phi = clf.contributions(X_new[:30])
    np.testing.assert_allclose(phi.sum(axis=1) + clf.baseline_, clf.decision_function(X_new[:30]), atol=1e-9)
    functions = clf.shape_functions()
    assert [f.name for f in functions] == list(X.columns)
    assert not functions[0].exact
    # a function of a feature rises where its contribution does
    j = int(clf.feature_importances_.argmax())
    assert np.corrcoef(functions[j](X_new.iloc[:30, j]), phi[:, j])[0, 1] > 0.8


def test_monotonic_constraints_hold_on_a_grid():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"up": rng.normal(size=300), "down": rng.normal(size=300), "free": rng.choice(list("xyz"), 300)})
    y = (X["up"] - 0.5 * X["down"] + rng.normal(size=300) > 1.0).astype(int)
    for labels, sign in ((y, 1), (1 - y, -1)):  # the rarer class is the second, or the first
        clf = SkewBoostClassifier(monotonic_cst={"up": sign, "down": -sign}, random_state=0).fit(X, labels)
        for name, direction in (("up", sign), ("down", -sign)):
            grid = X.iloc[np.repeat(np.arange(12), 100)].reset_index(drop=True)
            grid[name] = np.tile(np.linspace(-4, 4, 100), 12)
            steps = np.diff(clf.decision_function(grid).reshape(12, 100), axis=1)
            assert (direction * steps >= -1e-12).all()
            assert (direction * steps > 0.01).any()
    free = SkewBoostClassifier(random_state=0).fit(X, y)
    grid["down"] = np.tile(np.linspace(-4, 4, 100), 12)
    assert (np.diff(free.decision_function(grid).reshape(12, 100), axis=1) > 0).any()  # not so by itself


def test_without_interactions_the_score_is_a_sum_of_shape_functions(fraud):
    X, X_new, y, _ = fraud
    clf = quick(interaction_cst="no_interactions").fit(X, y)
    functions = clf.shape_functions()
    total = clf.baseline_ + sum(f(X_new.iloc[:, f.feature].astype(object).to_numpy()) for f in functions)
    assert all(f.exact for f in functions)
    np.testing.assert_allclose(np.asarray(total, dtype=float), clf.decision_function(X_new), atol=1e-9)
    assert all("forest" not in family for family in clf.search_["family"])


def test_only_the_given_sets_of_columns_interact():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=400) > 1).astype(int)
    clf = quick(interaction_cst=[{0, 1}]).fit(X, y)  # and so do 2 and 3

    def interaction(i, j):
        rows = np.repeat(X[:1], 4, axis=0)
        rows[1, i] += 1.5
        rows[2, j] += 1.5
        rows[3, [i, j]] += 1.5
        F = clf.decision_function(rows)
        return abs(F[3] - F[1] - F[2] + F[0])

    assert max(interaction(i, j) for i in (0, 1) for j in (2, 3)) < 1e-12
    assert max(interaction(0, 1), interaction(2, 3)) > 1e-3


def test_groups_stay_together():
    # copies of a few rows: only folds that keep them together see that nothing can be learned
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 5)), np.arange(60) % 3 == 0, np.arange(60)
    X, y, groups = (np.repeat(a, 8, axis=0) for a in (X + 0.0, y, groups))
    X = X + 1e-9 * rng.normal(size=X.shape)
    apart, together = quick().fit(X, y), quick().fit(X, y, groups=groups)
    new = rng.normal(size=(500, 5))
    spread = [clf.predict_proba(new)[:, 1].std() for clf in (apart, together)]
    assert spread[1] < 0.5 * spread[0]
    by_splitter = quick(cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert by_splitter.predict_proba(new)[:, 1].std() < 0.5 * spread[0]


def test_folds_in_the_order_of_time(fraud):
    X, X_new, y, y_new = fraud
    clf = quick(cv=TimeSeriesSplit(4)).fit(X, y)
    assert log_loss(y_new, clf.predict_proba(X_new)) < log_loss(y_new, np.full(len(y_new), y.mean()))


def test_a_goal_is_certified_on_held_out_rows():
    X, y = make_fraud(4000, random_state=1)
    clf = quick(goal="recall >= 80%").fit(X, y)
    assert clf.certificate_.met
    X_new, y_new = make_fraud(20_000, random_state=2)
    flagged = clf.predict(X_new) == 1
    assert flagged[y_new == 1].mean() > 0.75
    assert flagged[y_new == 0].mean() < 0.3
    np.testing.assert_array_equal(clf.decision_function(X_new) >= 0, flagged)
    restored = loads(dumps(clf))
    np.testing.assert_array_equal(restored.predict(X_new[:100]), clf.predict(X_new[:100]))
    assert str(restored.certificate_) == str(clf.certificate_)
    with pytest.raises(InputError, match="sample_cost has no effect"):
        clf.predict(X_new, sample_cost=np.ones(len(X_new)))


def test_files_and_pickles_are_exact(fraud, fitted):
    X_new = fraud[1]
    for again in (loads(dumps(fitted)), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.decision_function(X_new), fitted.decision_function(X_new))
        np.testing.assert_array_equal(again.contributions(X_new[:5]), fitted.contributions(X_new[:5]))
        pd.testing.assert_frame_equal(pd.DataFrame(again.search_), pd.DataFrame(fitted.search_))


def test_the_search_says_what_became_of_each_family(fraud):
    X, _, y, _ = fraud
    clf = SkewBoostClassifier(random_state=0).fit(X, y)
    table = pd.DataFrame(clf.search_)
    assert len(table) == 5  # two boosters, two forests and a regression
    left_out = table["verdict"].str.startswith("left out")
    np.testing.assert_array_equal(left_out, table["weight"] == 0)
    assert table.loc[table["log_loss"].idxmin(), "weight"] > 0


@pytest.mark.parametrize("after", [1, 3, 4])
def test_an_interrupted_fit_keeps_what_was_finished(fraud, after, monkeypatch):
    X, X_new, y, y_new = fraud
    done, train = [], NativePortfolio.train

    def interrupted(self, members, n_trees):
        if len(done) == after:
            raise KeyboardInterrupt
        done.append(1)
        train(self, members, n_trees)

    monkeypatch.setattr(NativePortfolio, "train", interrupted)
    clf = quick(cost=20)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.stop_reason_.startswith("interrupted")
    assert roc_auc_score(y_new, clf.decision_function(X_new)) > 0.7
    np.testing.assert_allclose(
        clf.contributions(X_new[:5]).sum(axis=1) + clf.baseline_, clf.decision_function(X_new[:5])
    )


def test_an_interruption_before_anything_is_trained_changes_nothing(fraud, fitted, monkeypatch):
    X, X_new, y, _ = fraud

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(NativePortfolio, "train", interrupted)
    clf, before = copy(fitted), fitted.predict_proba(X_new)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, 1 - y)
    np.testing.assert_array_equal(clf.predict_proba(X_new), before)


def test_progress_never_goes_back_and_says_what_is_done(fraud, monkeypatch):
    X, _, y, _ = fraud
    shares, update = [], ProgressBar.update

    def spy(bar, done, note=None):
        shares.append(done)
        update(bar, done, note)

    monkeypatch.setattr(ProgressBar, "update", spy)
    silent = SkewBoostClassifier(random_state=0).fit(X, y)
    assert not shares
    loud = SkewBoostClassifier(random_state=0, verbose=1).fit(X, y)
    assert len(set(shares)) > 8
    assert shares == sorted(shares)
    assert shares[-1] == 100
    np.testing.assert_array_equal(loud.predict_proba(X), silent.predict_proba(X))


def test_progress_counts_the_time_from_the_beginning_of_the_fit(fraud, capsys, monkeypatch):
    X, _, y, _ = fraud
    read = portfolio_classifier.read_table

    def slow(*given, **params):
        monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 100.0)
        return read(*given, **params)

    monkeypatch.setattr(portfolio_classifier, "read_table", slow)
    quick(verbose=1).fit(X, y)
    assert re.search(r"100/100  1:4\d", capsys.readouterr().err)


def test_the_report_is_about_the_model_and_the_given_rows(fraud, fitted):
    _, X_new, _, y_new = fraud
    report = fitted.report(X_new, y_new, title="Claims")
    assert report.evidence.costs.positive == 20
    assert report.evidence.positive.sum() == y_new.sum()
    assert "<title>Claims" in report.html()
    with pytest.raises(NotFittedError):
        quick().report(X_new, y_new)


def test_the_reference_engine_gives_the_same_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2)).round(1)
    y = (X[:, 0] + rng.normal(size=25) > 1).astype(int)
    a, b = (SkewBoostClassifier(effort="quick", random_state=0, cv=2, engine=e).fit(X, y) for e in ("cpu", "reference"))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-6)


def test_a_class_of_one_example_is_possible():
    X, y = np.arange(12.0).reshape(-1, 1), np.arange(12) == 11
    with pytest.warns(SkewBoostWarning, match="Class True is in one of the 12 independent rows only"):
        clf = quick().fit(X, y)
    p = clf.predict_proba(X)[:, 1]
    assert p.argmax() == 11
    assert log_loss(y, p) > 0.85 * log_loss(y, np.full(12, 1 / 12))
    assert "too rare to be held out" in clf.search_["verdict"][0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"effort": "much"}, "effort"),
        ({"cv": 1}, "cv"),
        ({"cost": -1}, "cost"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has 2 entries"),
        ({"monotonic_cst": [2, 0, 0]}, "monotonic_cst has 2"),
        ({"interaction_cst": "some"}, "interaction_cst"),
        ({"interaction_cst": [{0, 7}]}, "names the column 7"),
        ({"engine": "gpu"}, "engine"),
        ({"goal": "recall >= 80%", "confidence": 2}, "confidence"),
        ({"pos_label": 7}, "pos_label"),
        ({"cost": 20, "reject_cost": 0.96}, "no decision has a higher expected cost than 0.9524"),
        ({"reject_cost": 0.1, "reject_label": True}, "is a class of y"),
        ({"reject_label": -1}, "no effect without reject_cost"),
        ({"reject_cost": 0.1, "goal": "recall >= 80%"}, "no effect with a goal"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3 == 0
    clf = quick(**params)
    with pytest.raises(InputError, match=message):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_")
    assert clone(clf).get_params() == clf.get_params()


def test_a_forest_that_does_not_help_gets_no_more_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 12))
    linear = X.sum(axis=1) + 0.5 * rng.logistic(size=800) > 3  # which a regression knows best
    table = pd.DataFrame(quick().fit(X, linear).search_)
    assert table["rounds"][1] == FIRST_TREES
    ring = (X[:, :2] ** 2).sum(axis=1) + 0.3 * rng.logistic(size=800) < 0.8
    table = pd.DataFrame(quick().fit(X, ring).search_)
    assert table["weight"][1] > 0
    assert table["rounds"][1] == 200


def test_a_row_that_outweighs_all_others_is_finite_or_refused_with_a_remedy_that_works():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = X[:, 0] + rng.normal(size=100) > 0.8
    for seed, largest in enumerate((1e12, 9e14, 9e14)):
        weights = np.ones(100)
        weights[seed] = largest
        clf = quick().fit(X, y, sample_weight=weights)
        parts = clf.contributions(X)
        assert np.isfinite(parts).all()
        np.testing.assert_allclose(parts.sum(axis=1) + clf.baseline_, clf.decision_function(X), atol=1e-3)
    weights[0] = 1e17
    with pytest.raises(InputError, match="sum to about the number of rows"):
        clf.fit(X, y, sample_weight=weights)
    clf.fit(X, y, sample_weight=weights * len(weights) / weights.sum())
    assert np.isfinite(clf.contributions(X)).all()
