"""Calibration: probabilities of scores, learned from held-out rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit

from skewboost.boosting.calibration import Isotonic, Sigmoid, rounds_to_calibrate


def drawn(n=4000, seed=0):
    """Scores, and labels whose log-odds are 3 score - 1."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, rng.random(n) < expit(3.0 * scores - 1.0)


@pytest.mark.parametrize("calibrator", [Sigmoid, Isotonic])
def test_probabilities_are_those_that_labels_were_drawn_with(calibrator):
    scores, positive = drawn()
    fitted = calibrator.fit(scores, positive, np.ones(len(scores)))
    grid = np.linspace(-1.5, 1.5, 31)
    assert np.abs(fitted.probability(grid) - expit(3.0 * grid - 1.0)).mean() < 0.03


@pytest.mark.parametrize("calibrator", [Sigmoid, Isotonic])
def test_an_integer_weight_is_a_repetition(calibrator):
    scores, positive = drawn(200)
    counts = np.random.default_rng(1).integers(1, 4, 200)
    weighted = calibrator.fit(scores, positive, counts.astype(float))
    repeated = calibrator.fit(scores.repeat(counts), positive.repeat(counts), np.ones(counts.sum()))
    tolerance = {"atol": 1e-3} if calibrator is Sigmoid else {"atol": 1e-9}  # the spread of the scores sets its scale
    np.testing.assert_allclose(weighted.probability(scores), repeated.probability(scores), **tolerance)


@pytest.mark.parametrize("calibrator", [Sigmoid, Isotonic])
def test_probabilities_rise_with_the_score_and_are_never_certain(calibrator):
    """Also where the classes are separated: costs must be able to change a decision."""
    scores = np.linspace(-1.0, 1.0, 50)
    fitted = calibrator.fit(scores, scores > 0, np.ones(50))
    p = fitted.probability(np.linspace(-3.0, 3.0, 200))
    assert (np.diff(p) >= 0).all()
    assert p.min() > 0
    assert p.max() < 1
    np.testing.assert_allclose(expit(fitted.log_odds(scores)), fitted.probability(scores), atol=1e-12)


def test_a_constant_score_is_the_prior():
    positive = np.arange(100) < 20
    p = Sigmoid.fit(np.zeros(100), positive, np.ones(100)).probability(np.zeros(1))
    assert p[0] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("n_rounds", [1, 2, 3, 50, 1000])
def test_the_last_round_and_some_before_it_are_calibrated(n_rounds):
    found = rounds_to_calibrate(n_rounds)
    assert found[0] == 1
    assert found[-1] == n_rounds
    assert found == sorted(set(found))
    assert len(found) <= 3 + np.log(n_rounds) / np.log(1.5)
    assert all(b <= max(a + 1, 1.5 * a + 1) for a, b in itertools.pairwise(found))
