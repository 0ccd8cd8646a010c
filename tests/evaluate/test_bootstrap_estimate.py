"""The 0.632 bootstrap is the formula of the slides, and a majority vote errs as often as they print."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from skewboost import AdaBoostClassifier, AdaBoostMHClassifier
from skewboost.evaluate import bootstrap_632, majority_vote_error
from skewboost.evaluate import bootstrap_estimate as module
from skewboost.metrics import expected_cost
from support import awkward_data

X, Y = awkward_data(120, missing=0.0)


def test_the_estimate_by_hand(monkeypatch):
    """Majorities of [0, 0, 0, 1]: of rows 0, 0, 1, 3 it is 0, right on row 2; of 3, 3, 3, 0 it is 1, wrong on both."""
    draws = iter([(np.array([0, 0, 1, 3]), np.array([2])), (np.array([0, 3, 3, 3]), np.array([1, 2]))])
    monkeypatch.setattr(module, "_divided", lambda *_: next(draws))
    result = bootstrap_632(DummyClassifier(), np.zeros((4, 1)), [0, 0, 0, 1], draws=2)
    assert result.out_of_bag.tolist() == [1.0, 0.0]
    assert result.resubstitution == 0.75
    assert result.estimate == pytest.approx(((0.632 * 1 + 0.368 * 0.75) + (0.632 * 0 + 0.368 * 0.75)) / 2)
    assert (result.measure, result.name) == ("accuracy", "Dummy")


def test_what_knows_its_rows_by_heart_gets_0684_on_random_labels():
    """[efron1997]: 0.632 · 0.5 + 0.368 · 1."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200, 5)), np.arange(200) % 2
    result = bootstrap_632(KNeighborsClassifier(1), rows, labels, draws=40, random_state=0)
    assert result.resubstitution == 1.0
    assert result.estimate == pytest.approx(0.684, abs=0.04)


def test_a_draw_has_as_many_examples_as_there_are_and_leaves_37_percent_of_them_out():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    shares = []
    for _ in range(50):
        drawn, left = module._divided(np.arange(400), labels, rng)
        assert len(drawn) == 400
        assert sorted({*drawn.tolist(), *left.tolist()}) == list(range(400))
        assert not {*drawn.tolist()} & {*left.tolist()}
        shares.append(len(left) / 400)
    assert np.mean(shares) == pytest.approx((1 - 1 / 400) ** 400, abs=0.01)


class Spy(ClassifierMixin, BaseEstimator):
    """Predicts the larger class, and notes which rows it was fitted to and asked about."""

    notes: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        type(self).notes.append(X[:, 0].astype(int))
        return self

    def predict(self, X):
        type(self).notes.append(X[:, 0].astype(int))
        return np.full(len(X), self.classes_[1])


def test_a_weight_counts_examples():
    rows, labels = np.arange(30.0)[:, None], np.arange(30) % 2
    weights = np.where(labels == 1, 3, 1)
    weights[:4] = 0
    Spy.notes = []
    result = bootstrap_632(Spy(), rows, labels, sample_weight=weights, draws=5, random_state=0)
    fitted, asked = Spy.notes[0::2], Spy.notes[1::2]
    assert fitted[0].tolist() == np.repeat(np.arange(30), weights).tolist()
    assert asked[0].tolist() == list(range(4, 30))
    for drawn, left, accuracy in zip(fitted[1:], asked[1:], result.out_of_bag, strict=True):
        assert len(drawn) == weights.sum()
        assert sorted({*drawn.tolist(), *left.tolist()}) == list(range(4, 30))
        assert not {*drawn.tolist()} & {*left.tolist()}
        assert accuracy == pytest.approx(weights[left][labels[left] == 1].sum() / weights[left].sum())
    assert result.resubstitution == pytest.approx(weights[labels == 1].sum() / weights.sum())


def test_other_measures_and_more_classes():
    tree = AdaBoostClassifier(n_estimators=3)
    found = {m: bootstrap_632(tree, X, Y, measure=m, draws=4, cost=7, random_state=0) for m in ("error", "cost", "f1")}
    accuracy = bootstrap_632(tree, X, Y, draws=4, random_state=0)
    np.testing.assert_allclose(found["error"].out_of_bag, 1 - accuracy.out_of_bag)
    assert found["error"].estimate == pytest.approx(1 - accuracy.estimate)
    assert found["cost"].resubstitution == pytest.approx(expected_cost(Y, tree.fit(X, Y).predict(X), 7))
    three = Y + (X[:, 1] > 0.5)
    clf = AdaBoostMHClassifier(n_estimators=3)
    many = bootstrap_632(clf, X, three, measure="balanced_accuracy", draws=3, random_state=0)
    assert many.out_of_bag.shape == (3,)
    assert 0.4 < many.estimate < 1


def test_a_rare_class_is_in_every_draw_and_a_measure_that_needs_it_may_be_undefined():
    labels = np.arange(40) == 7
    clf, given = AdaBoostClassifier(n_estimators=2), {"draws": 6, "random_state": 0}
    result = bootstrap_632(clf, X[:40], labels, measure="recall", **given)
    assert np.isnan(result.out_of_bag).all()  # the only positive is in training
    assert np.isnan(result.estimate)
    assert bootstrap_632(clf, X[:40], labels, **given).estimate > 0.9


def test_it_depends_on_the_seed_only():
    clf = AdaBoostClassifier(n_estimators=3)
    one, two, other = (
        bootstrap_632(clf, X, Y, draws=5, n_jobs=n, random_state=s).out_of_bag for n, s in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": 3}, "estimator=3 is not a classifier"),
        ({"draws": 0}, "draws=0 must be an integer >= 1"),
        ({"measure": "nonsense"}, "measure='nonsense' is not a measure"),
        ({"measure": "roc_auc", "y": Y + (X[:, 1] > 0.5)}, "measure='roc_auc' is not defined.*Known: error"),
        ({"sample_weight": np.full(120, 0.5)}, "sample_weight has fractions"),
        ({"X": X[:2], "y": [0, 1]}, "None of 1000 draws of 2 examples has all 2 classes and leaves rows out"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(change, message):
    given = {"estimator": AdaBoostMHClassifier(n_estimators=2), "X": X, "y": Y, "draws": 2, **change}
    with pytest.raises(ValueError, match=message):
        bootstrap_632(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)


def test_pipelines_and_other_libraries_can_be_estimated():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    result = bootstrap_632(make_pipeline(StandardScaler(), LogisticRegression()), X, Y, draws=5, random_state=0)
    assert 0.7 < result.out_of_bag.mean() < result.estimate < result.resubstitution


# --------------------------------------------------------------------------- majorities


def test_twenty_five_voters_err_as_often_as_the_slides_print():
    assert f"{majority_vote_error(25, 0.35):.2f}" == "0.06"
    assert majority_vote_error(25, 0.35) == pytest.approx(
        sum(math.comb(25, i) * 0.35**i * 0.65 ** (25 - i) for i in range(13, 26))
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_a_majority_counted_one_by_one(n):
    errors = np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    expected = np.zeros(5)
    for wrong in itertools.product((0, 1), repeat=n):
        chance = errors ** sum(wrong) * (1 - errors) ** (n - sum(wrong))
        expected += chance * (1.0 if sum(wrong) > n / 2 else 0.5 if sum(wrong) == n / 2 else 0.0)
    np.testing.assert_allclose(majority_vote_error(n, errors), expected, atol=1e-12)


def test_more_voters_help_if_and_only_if_they_are_better_than_chance():
    several = np.array([majority_vote_error(n, [0.3, 0.5, 0.7]) for n in (1, 5, 25, 101)])
    assert (np.diff(several[:, 0]) < 0).all()
    np.testing.assert_allclose(several[:, 1], 0.5)
    assert (np.diff(several[:, 2]) > 0).all()
    assert isinstance(majority_vote_error(3, 0.1), float)


@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (0, 0.3, "n_voters=0 must be an integer >= 1"),
        (3, 1.2, r"error=1\.2 must be a probability"),
        (3, [0.1, np.nan], "must be a probability"),
    ],
)
def test_voters_and_errors_are_checked(n, error, message):
    with pytest.raises(ValueError, match=message):
        majority_vote_error(n, error)
