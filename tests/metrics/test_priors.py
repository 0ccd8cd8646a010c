"""Shifted priors: the correction is a group, EM finds the shares, and weights measure what would be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from skewboost.metrics import brier_under_prior, correct_prior, estimate_prior, log_loss_under_prior

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3), 50)
A, B, C = np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.2, 0.1]), np.array([0.05, 0.05, 0.9])


def test_corrections_compose_and_equal_priors_change_nothing():
    np.testing.assert_allclose(correct_prior(P, A, A), P)
    np.testing.assert_allclose(correct_prior(correct_prior(P, A, B), B, C), correct_prior(P, A, C))
    np.testing.assert_allclose(correct_prior(correct_prior(P, A, B), B, A), P)
    np.testing.assert_allclose(correct_prior(P, A, B).sum(axis=1), 1.0)
    two = correct_prior(P[:, 0], 0.3, 0.1)
    np.testing.assert_allclose(
        two, correct_prior(np.column_stack((1 - P[:, 0], P[:, 0])), [0.7, 0.3], [0.9, 0.1])[:, 1]
    )


def gaussians(n, shares, seed):
    """Classes at 0, 2, 4 on a line, and their probabilities under the shares `A`."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=shares)
    x = rng.normal(2.0 * y)
    density = A * np.exp(-0.5 * (x[:, None] - 2.0 * np.arange(3)) ** 2)
    return y, density / density.sum(axis=1, keepdims=True)


def test_the_shares_of_rows_without_labels_are_found():
    y, p = gaussians(20_000, B, 0)
    found = estimate_prior(p, A)
    np.testing.assert_allclose(found, np.bincount(y) / len(y), atol=0.01)
    # a fixed point: the corrected probabilities have these means
    np.testing.assert_allclose(correct_prior(p, A, found).mean(axis=0), found, atol=1e-5)
    both = estimate_prior(p[:, :2] / p[:, :2].sum(axis=1, keepdims=True), [0.4, 0.6])
    single = estimate_prior(p[:, 1] / p[:, :2].sum(axis=1), 0.6)
    assert single == pytest.approx(both[1])


def test_corrected_probabilities_are_better_where_the_shares_are_others():
    y, p = gaussians(20_000, B, 0)
    corrected = correct_prior(p, A, B)
    assert brier_under_prior(y, corrected) < 0.85 * brier_under_prior(y, p)
    assert log_loss_under_prior(y, corrected) < 0.85 * log_loss_under_prior(y, p)


@pytest.mark.parametrize("measure", [brier_under_prior, log_loss_under_prior])
def test_weights_measure_what_would_be_elsewhere(measure):
    here, p = gaussians(20_000, A, 0)
    there, q = gaussians(20_000, B, 1)
    expected = measure(there, correct_prior(q, A, B))
    assert measure(here, correct_prior(p, A, B), prior=B) == pytest.approx(expected, rel=0.05)
    assert measure(here, correct_prior(p, A, B), prior=dict(enumerate(B))) == measure(
        here, correct_prior(p, A, B), prior=B
    )
    assert measure(here, p, prior=np.bincount(here) / len(here)) == pytest.approx(measure(here, p))


@pytest.mark.parametrize("weights", [None, RNG.integers(0, 4, 50).astype(float)])
def test_without_a_shift_they_are_those_of_scikit_learn(weights):
    y = (RNG.random(50) < 0.3).astype(int)
    p = RNG.random(50)
    assert brier_under_prior(y, p, pos_label=1, sample_weight=weights) == pytest.approx(
        sk.brier_score_loss(y, p, sample_weight=weights)
    )
    assert log_loss_under_prior(y, p, pos_label=1, sample_weight=weights) == pytest.approx(
        sk.log_loss(y, p, sample_weight=weights)
    )
    # of the rarer class where its label is the smaller
    assert brier_under_prior(1 - y, p) == pytest.approx(brier_under_prior(y, p))
    labels = np.arange(50) % 3
    assert log_loss_under_prior(labels, P, sample_weight=weights) == pytest.approx(
        sk.log_loss(labels, P, sample_weight=weights)
    )
    onehot = ((P - np.eye(3)[labels]) ** 2).sum(axis=1)
    assert brier_under_prior(labels, P, sample_weight=weights) == pytest.approx(np.average(onehot, weights=weights))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correct_prior([0.5, 1.2], 0.5, 0.1), "p must have probabilities"),
        (lambda: correct_prior(P * 2, A, B), "p must have probabilities"),
        (lambda: correct_prior(P, 0.5, B), "train_prior=0.5 is the proportion of one class, but there are 3"),
        (lambda: correct_prior(P, A, [0.5, 0.5, 0.0]), "prior=.* numbers greater than 0 with a sum of 1"),
        (lambda: correct_prior([0.5], 0.5, 1.0), "the proportion of the positive class"),
        (lambda: brier_under_prior([0, 0, 1], P[:3]), r"p has 3 columns, but the classes are \[0, 1\]"),
        (lambda: log_loss_under_prior([0, 1, 2], [0.1, 0.2, 0.3]), "p has one column, but the classes"),
        (lambda: brier_under_prior([0, 1] * 5, [0.3] * 10, prior=0.02), "no class is clearly the rarer"),
        (
            lambda: brier_under_prior([0, 1], P[:2], labels=[0, 1, 2], prior=A),
            r"needs examples of every class, but .*\[2\]",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_bad_prior_is_told_as_it_was_given():
    with pytest.raises(ValueError, match=r"prior=1\.5 must be"):
        correct_prior([0.5], 0.5, 1.5)
