"""What scores mean: decisions and probabilities of F, for two classes, many classes and labels."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.boosting.calibration import Sigmoid
from skewboost.boosting.link import Labels, ManyClasses, TwoClasses

F = np.array([-400.0, -1.5, -1e-3, 0.0, 0.4, 3.0, 900.0])
CLASSES = np.array(["a", "b"])
LINKS = {
    "plain": TwoClasses(),
    "scaled": TwoClasses(scale=1.0, offset=0.3),
    "costs in F": TwoClasses(cost_offset=np.log(5.0), cost_ratio=5.0),
    "costs to come": TwoClasses(cost_offset=np.log(5.0), pending=np.log(5.0)),
    "costs spread over rounds": TwoClasses(cost_offset=np.log(5.0), pending=np.log(5.0), schedule=40),
    "calibrated": TwoClasses(cost_offset=np.log(5.0), calibrators=((10, Sigmoid(0.7, -0.2)), (40, Sigmoid(0.2, 0.1)))),
    "first class positive": TwoClasses(cost_offset=np.log(5.0), positive=0),
}
each_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


@each_link
@pytest.mark.parametrize("n_rounds", [0, 10, 40])
def test_the_decision_is_that_of_least_expected_cost(link, n_rounds):
    """P(+) e^offset against P(-), in logarithms; the sign of the decision speaks for the second class."""
    log_p = link.log_proba(F, n_rounds)
    positive, negative = log_p[:, link.positive], log_p[:, 1 - link.positive]
    flagged = link.labels(F, n_rounds, CLASSES) == CLASSES[link.positive]
    clear = np.abs(positive - negative + link.cost_offset) > 1e-9
    np.testing.assert_array_equal(flagged[clear], (positive - negative + link.cost_offset > 0)[clear])
    signs = link.decision(F, n_rounds) * (1 if link.positive == 1 else -1)
    np.testing.assert_array_equal(flagged, signs >= 0)


@each_link
def test_probabilities_sum_to_one_and_their_logarithms_stay_finite(link):
    p = link.proba(F, 40)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    log_p = link.log_proba(F, 40)
    assert np.isfinite(log_p).all()
    np.testing.assert_allclose(np.exp(log_p), p, atol=1e-12)


@each_link
def test_the_likelihood_is_that_of_the_odds_with_the_costs_in_them(link):
    odds = link.log_odds(F, 40)
    both = [np.exp(link.log_likelihood(F, np.full(len(F), truth), 40)) for truth in (True, False)]
    np.testing.assert_allclose(both[0] + both[1], 1.0, atol=1e-12)
    np.testing.assert_allclose(both[0], 1.0 / (1.0 + np.exp(np.clip(-odds, -700, 700))), atol=1e-12)


def test_costs_come_in_round_by_round():
    link = LINKS["costs spread over rounds"]
    assert [link.pending_after(n) for n in (0, 20, 40)] == pytest.approx([np.log(5.0), np.log(5.0) / 2, 0.0])
    assert LINKS["costs to come"].pending_after(40) == pytest.approx(np.log(5.0))


def test_the_calibrator_of_the_nearest_number_of_rounds_is_used():
    link = LINKS["calibrated"]
    slopes = [link.calibrator(n).slope for n in (0, 1, 10, 19, 21, 40, 1000)]
    assert slopes == [0.7, 0.7, 0.7, 0.7, 0.2, 0.2, 0.2]
    assert LINKS["plain"].calibrator(10) is None


def test_damped_rounds_add_less_where_f_is_large():
    link = TwoClasses(damping=0.5)
    np.testing.assert_allclose(
        link.combine(np.array([0.0, -2.0, 2.0]), np.ones(3)), [1.0, -2.0 + np.exp(-1), 2.0 + np.exp(-1)]
    )
    np.testing.assert_array_equal(TwoClasses().combine(np.zeros(2), np.ones(2)), np.ones(2))


@pytest.mark.parametrize("softmax", [True, False])
def test_the_largest_of_many_scores_wins_and_the_first_of_equal_ones(softmax):
    link = ManyClasses((1.0, 2.0, 1.0), softmax)
    scores = np.array([[0.5, 0.1, 0.2], [0.3, 0.3, -1.0], [0.3, 0.3 + 1e-13, -1.0], [40.0, 41.0, 2.0]])
    assert link.labels(scores, 5, np.array(["a", "b", "c"])).tolist() == ["a", "a", "a", "b"]
    p = link.proba(scores, 5)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert link.start(4).shape == (4, 3)
    if softmax:
        np.testing.assert_array_equal(p.argmax(axis=1), [0, 0, 0, 1])
        likelihood = link.log_likelihood(scores, np.array([0, 1, 2, 1]), 5)
        np.testing.assert_allclose(np.exp(likelihood), p[np.arange(4), [0, 1, 2, 1]])


def test_labels_are_on_or_off_each_for_itself():
    link = Labels((0.0, np.log(4.0)))
    scores = np.array([[-0.1, 0.1], [0.0, -3.0]])
    assert link.labels(scores, 3, np.arange(2)).tolist() == [[0, 1], [1, 0]]
    np.testing.assert_allclose(link.proba(scores, 3), 1 / (1 + np.exp(-2 * scores + [0.0, np.log(4.0)])))
    np.testing.assert_allclose(np.exp(link.log_proba(scores, 3)), link.proba(scores, 3))
    np.testing.assert_array_equal(link.decision(scores, 3), scores)
    both = [np.exp(link.log_likelihood(scores, np.full(scores.shape, truth), 3)) for truth in (True, False)]
    np.testing.assert_allclose(both[0] + both[1], 1.0)
