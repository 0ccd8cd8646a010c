"""The generators of synthetic data have the properties that they state."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.cluster import KMeans

from skewboost.datasets import (
    load_rare_cancer,
    make_fraud,
    make_intrusions,
    make_skewed,
    make_two_gaussians,
)
from skewboost.errors import InputError


def test_two_gaussians():
    X, y = make_two_gaussians(50_000, random_state=3)
    for label, mean in ((0, -1), (1, 1)):
        assert X[y == label].mean() == pytest.approx(mean, abs=0.02)
        assert X[y == label].std() == pytest.approx(1, abs=0.02)
    near = np.abs(X[:, 0] - 0.5) < 0.05
    assert y[near].mean() == pytest.approx(1 / (1 + np.exp(-1)), abs=0.02)


@pytest.mark.parametrize("overlap", [0.02, 0.1, 0.4, 1.0])
def test_overlap_is_twice_the_bayes_error_of_equal_classes(overlap):
    X, y = make_skewed(100_000, positive_share=0.5, overlap=overlap, n_informative=3, n_noise=0)
    a, b = X[y == 1].mean().to_numpy(), X[y == 0].mean().to_numpy()
    distance = np.linalg.norm(a - b)
    assert 2 * norm.cdf(-distance / 2) == pytest.approx(overlap, abs=0.02)
    error = ((X.to_numpy() @ (a - b) > (a @ a - b @ b) / 2).astype(int) != y).mean()
    assert error == pytest.approx(overlap / 2, abs=0.01)


def test_disjuncts_are_clusters_of_variance_one():
    X, y = make_skewed(4000, positive_share=0.25, overlap=1e-12, n_disjuncts=3, n_noise=0)
    two, three = (KMeans(k, n_init=5, random_state=0).fit(X[y == 1]).inertia_ / (y == 1).sum() for k in (2, 3))
    assert three == pytest.approx(5, abs=0.4)  # five columns
    assert two > 15


@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0])
def test_label_noise_keeps_the_classes_and_their_rows(noise):
    clean = make_skewed(3000, random_state=1)
    X, y = make_skewed(3000, label_noise=noise, random_state=1)
    pd.testing.assert_frame_equal(X, clean[0])
    assert y.sum() == clean[1].sum() == 150
    assert ((y == 1) & (clean[1] == 1)).sum() == 150 - round(noise * 150)


def test_categories_and_missing_cells():
    X, _ = make_skewed(5000, n_categories=2, missing=0.3, n_noise=2)
    assert X.columns.tolist() == [
        "category_1", "category_2", "informative_1", "informative_2", "informative_3", "noise_1", "noise_2"
    ]  # fmt: skip
    assert X["category_1"].cat.categories.tolist() == list("ABCDEFGH")
    assert X.isna().to_numpy().mean() == pytest.approx(0.3, abs=0.01)
    same = make_skewed(5000, n_categories=2, missing=0.3, n_noise=2)
    pd.testing.assert_frame_equal(X, same[0])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("positive_share", 0), ("positive_share", 1), ("overlap", 0), ("overlap", 1.1), ("missing", 1),
        ("label_noise", -0.1), ("n_categories", 6), ("n_informative", 0), ("n_disjuncts", 0), ("n_rows", 1),
        ("overlap", "much"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(InputError, match=argument):
        make_skewed(**{argument: value})


@pytest.mark.parametrize("seed", ["a", -1, 2.5, [1, "a"]])
@pytest.mark.parametrize(
    "make",
    [
        make_skewed, make_fraud, make_intrusions, make_two_gaussians, load_rare_cancer,
    ],
)  # fmt: skip
def test_bad_seeds_are_named(make, seed):
    with pytest.raises(InputError, match=rf"random_state must be an integer >= 0; got {re.escape(repr(seed))}"):
        make(random_state=seed)


def test_a_generator_is_a_seed_too():
    one, two = (make_two_gaussians(5, random_state=np.random.default_rng(3))[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, make_two_gaussians(5, random_state=3)[0])
