"""Decisions of least expected cost: laws of the costs, of calibration and of priors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import skewboost.meta.minimum_risk as module
from skewboost import AdaBoostMHClassifier, CSRAClassifier, MinimumRiskClassifier, RealBoostClassifier
from skewboost.metrics import brier_under_prior, correct_prior, expected_cost, log_loss_under_prior

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
TWO = (X[:, 0] + RNG.normal(size=600) > 1.5).astype(int)  # a seventh or so is positive
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * RNG.normal(size=600), [0.3, 1.2])]
BAYES = GaussianNB()
MATRIX = np.array([[0.0, 1.0, 4.0], [2.0, -1.0, 3.0], [9.0, 5.0, 0.5]])


def fitted(y, **params):
    return MinimumRiskClassifier(BAYES, **params).fit(X, y)


@pytest.mark.parametrize("cost", [{"a": 1, "b": 1, "c": 1}, 1 - np.eye(3), 5 - 3 * np.eye(3)])
def test_equal_costs_decide_for_the_likeliest(cost):
    np.testing.assert_array_equal(fitted(THREE, cost=cost).predict(X), GaussianNB().fit(X, THREE).predict(X))


@pytest.mark.parametrize("cost", [0.2, 1, 7.0, 50])
def test_a_number_is_a_threshold(cost):
    clf = fitted(TWO, cost=cost)
    assert clf.pos_label_ == 1
    p = GaussianNB().fit(X, TWO).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(clf.predict(X), (p > 1 / (1 + cost)).astype(int))
    # the same where the rare class has the smaller label
    turned = fitted(1 - TWO, cost=cost)
    assert turned.pos_label_ == 0
    np.testing.assert_array_equal(turned.predict(X), 1 - clf.predict(X))
    # the price is that of a miss of pos_label
    named = fitted(TWO, cost=cost, pos_label=0)
    np.testing.assert_array_equal(named.predict(X), (p > cost / (1 + cost)).astype(int))


def test_costs_are_the_same_however_they_are_said():
    answers = [
        fitted(TWO, cost=cost).predict(X)
        for cost in (5, np.float32(5), {0: 2, 1: 10}, [[0, 1], [5, 0]], np.array([[1, 2], [4, -1]]))
    ]
    for other in answers[1:]:
        np.testing.assert_array_equal(other, answers[0])
    table = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc"))
    mixed = fitted(THREE, cost=table.loc[["c", "a", "b"], ["b", "c", "a"]])
    np.testing.assert_array_equal(mixed.cost_, MATRIX)


def test_a_cost_that_all_decisions_share_changes_nothing():
    clf = fitted(THREE, cost=MATRIX)
    assert len(set(clf.predict(X))) == 3
    moved = fitted(THREE, cost=MATRIX + np.array([[10.0], [-20.0], [3.0]]))
    np.testing.assert_array_equal(moved.predict(X), clf.predict(X))
    np.testing.assert_array_equal(fitted(THREE, cost=7 * MATRIX).predict(X), clf.predict(X))


def test_expected_costs_are_those_of_a_loop():
    clf = fitted(THREE, cost=MATRIX)
    p = clf.predict_proba(X)
    loop = [[sum(row[j] * MATRIX[j, k] for j in range(3)) for k in range(3)] for row in p]
    np.testing.assert_allclose(clf.expected_costs(X), loop, atol=1e-12)
    np.testing.assert_array_equal(clf.decision_function(X).argmax(axis=1), np.argmin(loop, axis=1))
    two = fitted(TWO, cost=3)
    np.testing.assert_array_equal(two.predict(X), (two.decision_function(X) > 0).astype(int))


def test_costs_of_rows_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    each = rng.normal(size=(600, 3, 3)) ** 2
    clf = fitted(THREE)
    p = clf.predict_proba(X)
    loop = [clf.classes_[np.argmin(row @ costs)] for row, costs in zip(p, each)]
    np.testing.assert_array_equal(clf.predict(X, sample_cost=each), loop)
    wrong = each[:, :, 0]
    loop = [clf.classes_[np.argmin(row @ (w[:, None] * (1 - np.eye(3))))] for row, w in zip(p, wrong)]
    np.testing.assert_array_equal(clf.predict(X, sample_cost=wrong), loop)


@pytest.mark.parametrize("labels", [TWO, 1 - TWO])
def test_one_cost_per_row_is_that_of_a_miss(labels):
    amount = np.random.default_rng(1).lognormal(1, 2, 600)
    positive = int(labels is TWO)
    p = GaussianNB().fit(X, labels).predict_proba(X)[:, positive]
    for cost, alarm in ((None, 1.0), (20, 1.0), ({positive: 9, 1 - positive: 4.0}, 4.0)):
        flagged = fitted(labels, cost=cost).predict(X, sample_cost=pd.Series(amount)) == positive
        np.testing.assert_array_equal(flagged, p * amount > (1 - p) * alarm)
    constant = fitted(labels, cost=3).predict(X, sample_cost=np.full(600, 20.0))
    np.testing.assert_array_equal(constant, fitted(labels, cost=20).predict(X))


def test_balanced_costs_undo_the_shares_wherever_the_model_is_used():
    clf = fitted(THREE)
    shares = np.unique(THREE, return_counts=True)[1] / 600
    np.testing.assert_allclose(clf.train_prior_, shares)
    np.testing.assert_allclose(clf.cost_, (1 - np.eye(3)) * (shares.max() / shares)[:, None])
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[(clf.predict_proba(X) / shares).argmax(axis=1)])
    elsewhere = fitted(THREE, prior={"a": 0.1, "b": 0.2, "c": 0.7})
    np.testing.assert_array_equal(elsewhere.predict(X), clf.predict(X))


def test_a_prior_moves_probabilities_and_decisions():
    plain = fitted(TWO, cost=5)
    for prior in (0.4, {0: 0.6, 1: 0.4}, [0.6, 0.4]):
        clf = fitted(TWO, cost=5, prior=prior)
        np.testing.assert_allclose(clf.prior_, [0.6, 0.4])
        p = correct_prior(plain.predict_proba(X), plain.train_prior_, [0.6, 0.4])
        np.testing.assert_allclose(clf.predict_proba(X), p)
        np.testing.assert_array_equal(clf.predict(X), (p[:, 1] > 1 / 6).astype(int))
    assert clf.predict(X).sum() > plain.predict(X).sum()
    same = fitted(TWO, cost=5, prior=plain.train_prior_)
    np.testing.assert_array_equal(same.predict_proba(X), plain.predict_proba(X))
    # a number is the share of the positive class, whatever its label
    np.testing.assert_allclose(fitted(1 - TWO, prior=0.4).prior_, [0.4, 0.6])


def shifted(n, share, seed):
    """Two Gaussians at a distance of 2."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(2.0 * y, 1.0)[:, None], y


def test_a_known_shift_is_corrected():
    train, labels = shifted(4000, 0.5, 0)
    new, truth = shifted(20_000, 0.03, 1)
    plain = MinimumRiskClassifier(LogisticRegression(), cost=10, pos_label=1).fit(train, labels)
    told = MinimumRiskClassifier(LogisticRegression(), cost=10, pos_label=1, prior=0.03).fit(train, labels)
    with pytest.raises(ValueError, match=r"no class is clearly the rarer: .*or give \{label: proportion"):
        clone(told).set_params(pos_label=None).fit(train, labels)
    p, q = plain.predict_proba(new), told.predict_proba(new)
    assert brier_under_prior(truth, q) < 0.5 * brier_under_prior(truth, p)
    assert log_loss_under_prior(truth, q) < 0.5 * log_loss_under_prior(truth, p)
    assert expected_cost(truth, told.predict(new), 10) < 0.5 * expected_cost(truth, plain.predict(new), 10)
    # what weights make of the training set, without having been there
    before = brier_under_prior(labels, told.predict_proba(train), prior={0: 0.97, 1: 0.03})
    assert before == pytest.approx(brier_under_prior(truth, q), rel=0.15)


def overlapping(n, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 10))
    return Z, (rng.random(n) < 1 / (1 + np.exp(3 - Z[:, 0] - Z[:, 1]))).astype(int)


@pytest.mark.slow
def test_calibration_makes_an_overconfident_booster_cheaper():
    (train, labels), (new, truth) = overlapping(1000, 0), overlapping(20_000, 1)
    booster = RealBoostClassifier(n_estimators=100)
    plain = MinimumRiskClassifier(booster, cost=10).fit(train, labels)
    for calibrate in ("sigmoid", "isotonic", "temperature")[: 3 if module._version() >= (1, 8) else 2]:
        calibrated = MinimumRiskClassifier(booster, cost=10, calibrate=calibrate).fit(train, labels)
        assert log_loss_under_prior(truth, calibrated.predict_proba(new)) < 0.9 * log_loss_under_prior(
            truth, plain.predict_proba(new)
        )
        if calibrate != "isotonic":  # whose steps about a hundred positives leave too coarse for this threshold
            assert expected_cost(truth, calibrated.predict(new), 10) < 0.95 * expected_cost(
                truth, plain.predict(new), 10
            )


@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_does_not_depend_on_what_classes_are_called(calibrate, ensemble):
    # scikit-learn numbers them for one calibration of all folds
    if calibrate == "temperature" and module._version() < (1, 8):
        pytest.skip("scikit-learn 1.8 has temperature scaling")
    params = {"cost": 4, "calibrate": calibrate, "ensemble": ensemble, "cv": 2}
    numbers, words = (
        MinimumRiskClassifier(CSRAClassifier(n_estimators=5, cost=3), **params).fit(X, y)
        for y in (TWO, np.array(["no", "yes"])[TWO])
    )
    np.testing.assert_array_equal(words.predict(X) == "yes", numbers.predict(X) == 1)
    np.testing.assert_allclose(words.predict_proba(X), numbers.predict_proba(X))


def test_calibration_on_folds_with_one_model_or_one_for_each():
    booster = RealBoostClassifier(n_estimators=10)
    one = MinimumRiskClassifier(booster, calibrate="sigmoid", ensemble=False).fit(X, TWO)
    (inner,) = one.estimator_.folds
    np.testing.assert_array_equal(inner.estimator.decision_function(X), booster.fit(X, TWO).decision_function(X))
    five = MinimumRiskClassifier(booster, calibrate="sigmoid").fit(X, TWO)
    means = np.mean(
        [f.calibrators[0].probability(f.estimator.decision_function(X)) for f in five.estimator_.folds], axis=0
    )
    assert len(five.estimator_.folds) == 5
    np.testing.assert_allclose(five.predict_proba(X)[:, 1], means)


def test_a_fitted_model_can_be_given_other_costs():
    model = RealBoostClassifier(n_estimators=20).fit(X, TWO)
    frozen = MinimumRiskClassifier(FrozenEstimator(model), cost=20).fit(X[:50], TWO[:50])
    np.testing.assert_array_equal(frozen.predict(X), (model.predict_proba(X)[:, 1] > 1 / 21).astype(int))


def test_scores_become_probabilities_by_calibration():
    clf = MinimumRiskClassifier(LinearSVC(), cost=5, calibrate="sigmoid", cv=3).fit(X, TWO)
    assert log_loss_under_prior(TWO, clf.predict_proba(X)) < 0.5


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"cost": np.zeros((3, 3))}, THREE, "makes 'a' the cheapest decision for every true class"),
        ({"cost": [[0, 1], [0, 1]]}, TWO, r"for every true class\. Rows are true classes and columns are decisions"),
        ({"cost": np.ones((2, 2))}, THREE, r"must be a 3 x 3 matrix of finite numbers.*\['a', 'b', 'c'\]"),
        ({"cost": [[0, np.inf], [1, 0]]}, TWO, "2 x 2 matrix of finite numbers"),
        ({"cost": 5}, THREE, r"the cost of missing the positive class, but y has 3 classes\. Give \{label: cost\}"),
        ({"cost": {"a": 1}}, THREE, r"it lacks \['b', 'c'\]"),
        ({"cost": pd.DataFrame(MATRIX, list("xyz"), list("xyz"))}, THREE, r"rows \['x', 'y', 'z'\].*Name both after"),
        ({"calibrate": "platt"}, TWO, "calibrate of MinimumRiskClassifier must be one of 'sigmoid'.*got 'platt'"),
        ({"cv": 3}, TWO, "cv=3 has no effect without calibration"),
        ({"ensemble": False}, TWO, "ensemble=False has no effect without calibration"),
        ({"calibrate": "sigmoid", "cv": 1}, TWO, "cv .* must be an integer >= 2, or a splitter; got 1"),
        ({"calibrate": "sigmoid", "cv": 700}, TWO, r"needs 700 examples of each class, but there are \d+ of 1\. Lower"),
        ({"prior": 1.5}, TWO, r"prior=1.5 must be the proportions of 2 classes"),
        ({"prior": 0.5}, THREE, r"the proportion of the positive class, but there are 3 classes"),
        ({"prior": {"a": 1.0}}, THREE, "must have one entry for each class"),
        ({"prior": [0.5, 0.5, 0.5]}, THREE, "with a sum of 1"),
        ({"pos_label": "a"}, THREE, "pos_label='a' has no effect, because y has 3 classes"),
        ({"pos_label": 7}, TWO, r"pos_label=7 is not among the classes of y, which are \[0, 1\]"),
        ({"n_jobs": 0}, TWO, "n_jobs .* must be an integer other than 0, or None; got 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, y, message):
    clf = MinimumRiskClassifier(BAYES, **params)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    assert not hasattr(clf, "classes_")


def test_estimators_that_will_not_do_are_refused():
    with pytest.raises(ValueError, match=r"LinearSVC has no predict_proba\. Set calibrate='sigmoid'"):
        MinimumRiskClassifier(LinearSVC()).fit(X, TWO)
    with pytest.raises(ValueError, match=r"must be an instance of a classifier; got .*GaussianNB"):
        MinimumRiskClassifier(GaussianNB).fit(X, TWO)
    with pytest.raises(ValueError, match="must be an instance of a classifier; got LinearRegression"):
        MinimumRiskClassifier(LinearRegression()).fit(X, TWO)
    with pytest.raises(ValueError, match=r"The fitted estimator has the classes \[0, 1\], but y has \['a', 'b', 'c'\]"):
        MinimumRiskClassifier(FrozenEstimator(GaussianNB().fit(X, TWO))).fit(X, THREE)


def test_temperature_on_an_old_scikit_learn_names_the_remedy(monkeypatch):
    monkeypatch.setattr(module, "_version", lambda: (1, 7))
    with pytest.raises(ValueError, match=r"needs scikit-learn 1\.8, but .* is installed\. Set calibrate='sigmoid'"):
        MinimumRiskClassifier(BAYES, calibrate="temperature").fit(X, TWO)


@pytest.mark.parametrize(
    ("y", "sample_cost", "message"),
    [
        (
            THREE,
            np.ones(600),
            r"shape \(600,\), but X has 600 rows and there are 3 classes\. Give the shape \(600, 3\)",
        ),
        (TWO, np.ones(599), r"shape \(599,\), .*\(600,\): the cost of a miss on each row; \(600, 2\)"),
        (TWO, np.ones((600, 3)), r"shape \(600, 3\)"),
        (TWO, np.ones((2, 2)), r"shape \(2, 2\)"),
        (TWO, -np.ones(600), r"negative entry -1\.0, but costs of mistakes must be >= 0\. .*shape \(600, 2, 2\)"),
        (TWO, np.full(600, np.nan), "sample_cost contains NaN"),
    ],
)
def test_costs_of_rows_of_another_shape_are_refused(y, sample_cost, message):
    with pytest.raises(ValueError, match=message):
        fitted(y).predict(X, sample_cost=sample_cost)


def test_boosters_point_to_decisions_by_a_matrix():
    with pytest.raises(ValueError, match="For a K x K cost matrix wrap one of these in MinimumRiskClassifier"):
        CSRAClassifier(cost=1 - np.eye(3)).fit(X, THREE)
    with pytest.raises(ValueError, match=r"MinimumRiskClassifier\(estimator, cost=matrix\)"):
        AdaBoostMHClassifier(cost=1 - np.eye(3)).fit(X, THREE)
    clf = MinimumRiskClassifier(AdaBoostMHClassifier(n_estimators=20), cost=MATRIX).fit(X, THREE)
    plain = AdaBoostMHClassifier(n_estimators=20).fit(X, THREE)
    assert expected_cost(THREE, clf.predict(X), MATRIX) < expected_cost(THREE, plain.predict(X), MATRIX)
