"""Bias and variance add up to the loss, and are exact where all training sets can be enumerated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skewboost import AdaBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.evaluate import bias_variance
from skewboost.evaluate.decomposition import decompose, decompose_kohavi_wolpert, decompose_squared
from skewboost.metrics import expected_cost
from support import awkward_data

X, Y = awkward_data(150)
ZERO_ONE = 1.0 - np.eye(2)


def shares_of_all_bootstrap_samples():
    """How often 1-nearest-neighbour says 1 at -1 and at +1, over all 27 samples of three points."""
    x, y = np.array([-1.0, 0.4, 1.0]), np.array([0, 1, 0])
    said = [
        KNeighborsClassifier(1).fit(x[list(s), None], y[list(s)]).predict([[-1.0], [0.5], [1.0]])
        for s in product(range(3), repeat=3)
    ]
    ones = np.mean(said, axis=0)
    return np.column_stack((1 - ones, ones))


def test_the_parts_are_exact_where_all_training_sets_are_enumerated():
    """By hand: a point is in a sample with 19/27; a sample without it and with the next with 7/27, of it alone 1/27.

    At -1 the answer is 1 iff the first point is absent and the second is there: 7/27. At 0.5 iff the second is there:
    19/27. At 1 iff the third is absent and the second is there: 7/27.
    """
    shares = shares_of_all_bootstrap_samples()
    np.testing.assert_allclose(shares[:, 1], [7 / 27, 19 / 27, 7 / 27])
    found = decompose(shares, np.array([0, 0, 0]), ZERO_ONE)  # the label at 0.5 is 0: the main prediction is wrong
    assert found["bias"] == pytest.approx(1 / 3)
    assert found["variance_unbiased"] == pytest.approx((7 + 7) / 27 / 3)
    assert found["variance_biased"] == pytest.approx(8 / 27 / 3)
    assert found["loss"] == pytest.approx((7 + 19 + 7) / 27 / 3)
    other = decompose_kohavi_wolpert(shares, np.array([0, 0, 0]))
    assert other["bias"] == pytest.approx((7**2 + 19**2 + 7**2) / 27**2 / 3)
    assert other["variance"] == pytest.approx((7 * 20 + 19 * 8 + 7 * 20) / 27**2 / 3)


@pytest.mark.parametrize("seed", range(5))
def test_the_parts_add_up_to_the_mean_loss_for_any_loss_and_number_of_classes(seed):
    rng = np.random.default_rng(seed)
    n_classes, n_rows = 2 + seed % 3, 30
    said = rng.integers(0, n_classes, (7, n_rows))
    truth, weights = rng.integers(0, n_classes, n_rows), rng.integers(1, 4, n_rows)
    matrix = rng.random((n_classes, n_classes)) * (1 - np.eye(n_classes))
    shares = np.mean(said[:, :, None] == np.arange(n_classes), axis=0)
    for C, found in (
        (matrix, decompose(shares, truth, matrix, weights)),
        (1 - np.eye(n_classes), decompose_kohavi_wolpert(shares, truth, weights)),
    ):
        paid = np.average(C[truth, said].mean(axis=0), weights=weights)
        assert found["bias"] + found["variance"] == pytest.approx(paid, abs=1e-12)
        assert found["loss"] == pytest.approx(paid, abs=1e-12)
    assert decompose_kohavi_wolpert(shares, truth)["variance"] >= 0


def test_the_squared_error_of_a_handful_of_predictions_by_hand():
    """Two rows, four predictions of each: 0.2, 0.4, 0.6, 0.8 of a 1, and 0, 0, 0.5, 0.5 of a 0.

    The means are 0.5 and 0.25, so the squares of the biases are 0.25 and 0.0625; the variances are 0.05 and 0.0625.
    """
    p = np.array([[0.2, 0.0], [0.4, 0.0], [0.6, 0.5], [0.8, 0.5]])
    both = np.stack((1 - p, p), axis=2)
    found = decompose_squared(both.mean(axis=0), (both**2).mean(axis=0), np.array([1, 0]))
    assert found["bias"] == pytest.approx((0.25 + 0.0625) / 2)
    assert found["variance"] == pytest.approx((0.05 + 0.0625) / 2)
    assert found["loss"] == pytest.approx((np.mean((p[:, 0] - 1) ** 2) + np.mean(p[:, 1] ** 2)) / 2)


class RecordingProbabilities(RealBoostClassifier):
    """Keeps its probabilities."""

    said: list = []  # noqa: RUF012

    def predict_proba(self, X):
        answer = super().predict_proba(X)
        self.said.append((X[:, 0].copy(), answer))
        return answer


@pytest.mark.parametrize("weighted", [False, True])
def test_the_parts_of_the_squared_error_are_those_of_the_probabilities(weighted):
    RecordingProbabilities.said.clear()
    rows = np.column_stack((np.arange(150.0), X))
    weights = np.random.default_rng(0).integers(1, 4, 150) if weighted else None
    clf = RecordingProbabilities(n_estimators=4)
    found = bias_variance(clf, rows, Y, draws=5, of="squared_error", sample_weight=weights, random_state=0)
    test = RecordingProbabilities.said[0][0].astype(int)
    p = np.array([answer[:, 1] for _, answer in RecordingProbabilities.said])
    t, w = Y[test], None if weights is None else weights[test]
    assert p.shape[0] == found.n_draws == 5
    assert found.loss[0] == pytest.approx(np.average(((p - t) ** 2).mean(axis=0), weights=w))
    assert found.bias[0] == pytest.approx(np.average((p.mean(axis=0) - t) ** 2, weights=w))
    assert found.variance[0] == pytest.approx(np.average(p.var(axis=0), weights=w))
    assert found.variance_unbiased is None
    assert found.bias[0] + found.variance[0] == pytest.approx(found.loss[0], abs=1e-12)


def test_of_labels_the_squared_error_is_kohavi_and_wolpert_s():
    """With one neighbour probabilities are 0 or 1; also with three classes, and in a pipeline."""
    three = (X[:, 0] > 0.5).astype(int) + Y
    table = np.nan_to_num(X)
    for y in (Y, three):
        one, other = (
            bias_variance(KNeighborsClassifier(1), table, y, draws=4, random_state=0, **way)
            for way in ({"of": "squared_error"}, {"method": "kohavi_wolpert"})
        )
        for name in ("loss", "bias", "variance"):
            assert getattr(one, name)[0] == pytest.approx(getattr(other, name)[0], abs=1e-12)


def test_the_squared_error_of_stages_ends_where_the_whole_is():
    table = np.nan_to_num(X)
    for clf in (
        RealBoostClassifier(n_estimators=5),
        make_pipeline(StandardScaler(), LogitBoostClassifier(n_estimators=5)),
    ):
        staged, whole = (
            bias_variance(clf, table, Y, draws=3, of="squared_error", staged=s, random_state=0) for s in (True, False)
        )
        assert staged.rounds.tolist() == [1, 2, 3, 4, 5]
        for name in ("loss", "bias", "variance"):
            assert getattr(staged, name)[-1] == pytest.approx(getattr(whole, name)[0], abs=1e-12)
        np.testing.assert_allclose(staged.bias + staged.variance, staged.loss)


class Recording(AdaBoostClassifier):
    """Keeps what it said."""

    said: list = []  # noqa: RUF012
    trained: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.trained.append((X[:, 0].copy(), np.asarray(y).copy()))
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        answer = super().predict(X)
        self.said.append((X[:, 0].copy(), answer))
        return answer


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample"])
def test_the_loss_is_the_mean_cost_of_the_models_on_one_test_set(scheme):
    Recording.said.clear()
    Recording.trained.clear()
    rows = np.column_stack((np.arange(150.0), X))
    found = bias_variance(Recording(n_estimators=5), rows, Y, draws=6, scheme=scheme, of="cost", cost=5, random_state=0)
    tests = {tuple(x) for x, _ in Recording.said}
    assert len(tests) == 1
    test = np.array(tests.pop(), dtype=int)
    costs = [expected_cost(Y[test], said, 5) for _, said in Recording.said]
    assert found.loss[0] == pytest.approx(np.mean(costs))
    for x, y in Recording.trained:
        assert not set(x.astype(int)) & set(test)
        np.testing.assert_array_equal(y, Y[x.astype(int)])
        assert abs(y.mean() - Y.mean()) < 0.02  # drawn within classes


def test_examples_are_drawn_not_rows():
    """Four examples of a row go their own ways: as many are drawn as there are, and rarely all of one row."""
    drawn = []

    class Weighed(AdaBoostClassifier):
        def fit(self, X, y, sample_weight=None):
            drawn.append((np.asarray(y), sample_weight))
            return super().fit(X, y, sample_weight)

    weights = np.full(150, 4.0)
    bias_variance(Weighed(n_estimators=1), X, Y, draws=3, sample_weight=weights, random_state=0)
    for y, examples in drawn:
        assert examples.sum() == 400  # two thirds of 150 rows, four examples each
        assert (examples[y == 1].sum() / 400) == pytest.approx(Y.mean(), abs=0.02)
        assert len(set(examples)) > 4


def test_stages_end_where_the_whole_is_and_every_row_is_tested_in_cross_validation():
    clf = AdaBoostClassifier(n_estimators=6)
    for scheme, draws in (("bootstrap", 5), ("cv", 2)):
        staged, whole = (
            bias_variance(clf, X, Y, draws=draws, scheme=scheme, staged=s, random_state=0) for s in (True, False)
        )
        assert staged.rounds.tolist() == [1, 2, 3, 4, 5, 6]
        assert staged.loss[-1] == whole.loss[0]
        assert staged.bias[-1] == whole.bias[0]
        np.testing.assert_allclose(staged.bias + staged.variance, staged.loss)
        np.testing.assert_allclose(staged.variance, staged.variance_unbiased - staged.variance_biased)


def test_one_who_always_says_the_same_has_no_variance():
    class Stubborn(AdaBoostClassifier):
        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    for method in ("domingos", "kohavi_wolpert"):
        found = bias_variance(Stubborn(n_estimators=1), X, Y, draws=3, method=method, random_state=0)
        assert found.variance[0] == pytest.approx(0.0)
        assert found.bias[0] == found.loss[0] > 0


def test_jobs_do_not_matter():
    one, two = (
        bias_variance(AdaBoostClassifier(n_estimators=3), X, Y, draws=4, n_jobs=n, random_state=0) for n in (1, 2)
    )
    assert one.as_frame().equals(two.as_frame())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": 1}, "draws=1 must be"),
        ({"scheme": "jackknife"}, "scheme='jackknife' must be one of 'bootstrap'"),
        ({"method": "breiman"}, "method='breiman' must be one of"),
        ({"of": "auc"}, "of='auc' must be one of 'error', 'cost', 'squared_error'"),
        ({"of": "squared_error", "cost": 5}, "cost=5 has no effect with of='squared_error'"),
        ({"of": "squared_error", "method": "kohavi_wolpert"}, "With of='squared_error' use method='domingos'"),
        ({"of": "squared_error", "estimator": LinearSVC()}, "LinearSVC has no method predict_proba"),
        ({"cost": 5}, "cost=5 has no effect with of='error'"),
        ({"of": "cost", "method": "kohavi_wolpert"}, "decomposes the error only"),
        ({"cv": 3}, "cv=3 has no effect with scheme='bootstrap'"),
        ({"staged": True, "estimator": KNeighborsClassifier()}, "has no method staged_predict"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(change, message):
    given = {"estimator": AdaBoostClassifier(n_estimators=2), "X": X, "y": Y, **change}
    with pytest.raises(ValueError, match=message):
        bias_variance(**given)
