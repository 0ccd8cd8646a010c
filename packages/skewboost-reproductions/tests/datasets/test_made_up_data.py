"""The generators of synthetic data of papers have the properties that they state."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skewboost import CSRAClassifier
from skewboost.errors import InputError
from skewboost.learners import Stump
from skewboost_reproductions.datasets import make_eight_gaussians, make_industrial


def test_eight_gaussians_and_their_bayes_error():
    X, y = make_eight_gaussians(100_000)
    means = np.array([1, 1, 1, 1, 1, 0.5, 0.5, 0.2])
    np.testing.assert_allclose(X[y == 0].mean(0), means, atol=0.02)
    np.testing.assert_allclose(X[y == 1].mean(0), 0, atol=0.02)
    bayes = (X @ means < means @ means / 2).astype(int)
    assert (bayes != y).mean() == pytest.approx(0.12, abs=0.005)


@pytest.mark.parametrize(
    ("kind", "shape", "positives"),
    [("intrusion", (2530, 7), 30), ("fire", (1600, 3), 200), ("airbag", (2500, 2), 300)],
)
def test_stand_ins_have_the_sizes_of_the_thesis(kind, shape, positives):
    X, y = make_industrial(kind)
    assert X.shape == shape
    assert y.sum() == positives
    assert not X.isna().to_numpy().any()


def test_intrusions_overlap_by_degrees():
    """Of attacks with the payloads of normal connections some are likely, some unlikely, and some rare."""
    X, y = make_industrial("intrusion", 100_000)
    _, payload = np.unique(X.to_numpy(), axis=0, return_inverse=True)
    chance = (np.bincount(payload, y) / np.bincount(payload))[payload][y == 1]
    shares, _ = np.histogram(chance, [0.0, 0.01, 0.1, 0.5, 0.9, 1.0])
    assert (shares / len(chance))[:4].min() > 0.015
    assert 0.75 < (chance > 0.9).mean() < 0.85


def test_recall_of_intrusions_rises_by_degrees_with_their_cost():
    """It is no property of the generator: at every cost it is another one, at the expense of precision."""
    (X, y), (X_test, y_test) = (make_industrial("intrusion", 20_000, random_state=seed) for seed in (0, 1))
    found = []
    for cost in (1.0, 10.0, 100.0, 1000.0):
        flagged = CSRAClassifier(estimator=Stump(), n_estimators=40, cost={1: cost, 0: 1.0}).fit(X, y).predict(X_test)
        found.append((flagged[y_test == 1].mean(), y_test[flagged == 1].mean()))
    recall, precision = np.transpose(found)
    assert np.diff(recall).min() > 0.02
    assert recall[-1] - recall[0] > 0.1
    assert np.diff(precision).max() < -0.03
    assert precision[0] > 0.9


@pytest.mark.parametrize("kind", ["train", ["fire"], None])
def test_unknown_stand_in(kind):
    with pytest.raises(InputError, match=rf"kind={re.escape(repr(kind))} must be one of 'intrusion', 'fire', 'airbag'"):
        make_industrial(kind)


@pytest.mark.parametrize("seed", ["a", -1])
@pytest.mark.parametrize("make", [make_eight_gaussians, lambda **seed: make_industrial("fire", **seed)])
def test_bad_seeds_are_named(make, seed):
    with pytest.raises(InputError, match=rf"random_state must be an integer >= 0; got {re.escape(repr(seed))}"):
        make(random_state=seed)
