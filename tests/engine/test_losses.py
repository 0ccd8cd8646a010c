"""The losses of leaves and splits, as the reference has them, against plain formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from skewboost.engine.losses import abstain_loss, class_loss, leaf_loss, silent_loss, step_length, step_loss, sums_loss

WEIGHTS = [0.0, 1e-9, 0.2, 0.5, 3.0]
PAIRS = np.array(list(itertools.product(WEIGHTS, repeat=2))).T


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("criterion", ["error", "gini", "entropy", "z", "zbar"])
def test_the_loss_of_a_leaf_is_that_of_the_definition(criterion, sign):
    a, b = PAIRS
    expected = [naive.leaf_loss(criterion, x, y, sign) for x, y in zip(a, b)]
    np.testing.assert_allclose(leaf_loss(criterion, a, b, sign), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("criterion", ["majority", "gini", "entropy", "z"])
def test_no_leaf_is_worse_than_one_of_equal_classes(criterion):
    a, b = PAIRS
    assert (leaf_loss(criterion, a, b, 1) <= abstain_loss(criterion, a, b) + 1e-12).all()


@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 5.0), (0.2, 1.0)])
def test_the_step_is_where_the_loss_is_lowest(costs):
    rng = np.random.default_rng(0)
    no, yes = rng.random((2, 2, 50))
    best = step_length(no, yes, costs)
    assert (best >= 0).all()
    lowest = step_loss(no, yes, costs, best)
    for change in (-1e-3, 1e-3, 0.3):
        other = np.maximum(best + change, 0.0)
        assert (step_loss(no, yes, costs, other) >= lowest - 1e-12).all()


def test_a_leaf_of_one_class_has_no_loss_among_many():
    sums = np.array([[0.3, 0.1], [0.0, 0.1], [0.0, 0.2]])
    assert class_loss("class_error", sums).tolist() == pytest.approx([0.0, 0.2])
    assert class_loss("class_gini", sums)[0] == 0.0
    assert class_loss("class_gini", sums)[1] == pytest.approx(0.4 * (1 - (0.25**2 + 0.25**2 + 0.5**2)))
    np.testing.assert_allclose(silent_loss("class_gini", sums), sums.sum(axis=0) / 2)


def test_the_loss_of_several_labels_is_the_sum_over_them():
    sums = np.random.default_rng(0).random((6, 4))
    expected = sum(leaf_loss("z", sums[k], sums[k + 1], 1) for k in (0, 2, 4))
    np.testing.assert_allclose(sums_loss("z", sums, 1), expected)
    np.testing.assert_allclose(silent_loss("z", sums), sums.sum(axis=0))
