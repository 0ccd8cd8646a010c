"""Shapley values and main effects of trees: those of the definition, by all subsets of the features."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

from engine.random_trees import random_tree, rows_of
from skewboost.engine import choose
from skewboost.engine.binning import fit_bins
from skewboost.engine.newton import Trees
from skewboost.engine.partition import View


def expected(trees, codes, known):
    """The value of a tree for each row, if it knows some of the features."""

    def cover(link):
        return trees.covers[~link] if link < 0 else cover(trees.links[link, 0]) + cover(trees.links[link, 1])

    def value(link):
        if link < 0:
            return np.full(codes.shape[1], trees.values[~link, 0])
        own, j = codes[trees.feature[link]], trees.feature[link]
        goes = own <= trees.threshold[link] if trees.threshold[link] >= 0 else trees.sets[trees.which[link]][own]
        goes = np.where(own == 255, trees.missing_left[link] == 1, goes)
        left, right = trees.links[link]
        total = cover(link)
        if known[j]:
            return np.where(goes, value(left), value(right))
        shares = (cover(left) / total, cover(right) / total) if total else (0.0, 0.0)
        return shares[0] * value(left) + shares[1] * value(right)

    return value(0)


def by_subsets(trees, codes):
    p, n = codes.shape
    subsets = [np.array([(k >> j) & 1 for j in range(p)], dtype=bool) for k in range(1 << p)]
    values = [expected(trees, codes, known) for known in subsets]
    found = np.zeros((n, p))
    for j in range(p):
        for k, known in enumerate(subsets):
            if not known[j]:
                s = int(known.sum())
                found[:, j] += factorial(s) * factorial(p - 1 - s) / factorial(p) * (values[k | 1 << j] - values[k])
    return found


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(40))
def test_contributions_are_the_shapley_values_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    p = 5
    trees, table = random_tree(rng, p, 6), rows_of(rng, 12, p)
    engine = choose(("cpu", "reference")[seed % 2], 1)
    view = View(engine, table, fit_bins(engine, table))
    codes, mean = np.array([view.column(j) for j in range(p)]), trees.mean(0)
    np.testing.assert_allclose(engine.contributions(trees, 0, view), by_subsets(trees, codes), atol=1e-12)
    np.testing.assert_allclose(expected(trees, codes, np.zeros(p, bool)), mean, atol=1e-12)
    effects = engine.main_effects(trees, 0, p)
    for j in range(p):
        alone = expected(trees, codes, np.arange(p) == j)
        np.testing.assert_allclose(mean + effects[j, codes[j]], alone, atol=1e-12)


@pytest.mark.parametrize("p", [1, 8, 9, 16, 17, 24, 25, 40])
def test_paths_of_many_features_and_batches_of_rows(p):
    # points of a quadrature come in fours, and rows are walked 32 at a time
    rng = np.random.default_rng(p)
    n = 70
    trees = Trees.joined([random_tree(rng, p, 2 * p, chain=True), random_tree(rng, p, 7)])
    table, found = rows_of(rng, n, p), []
    for name, n_jobs in (("cpu", 1), ("cpu", 3), ("reference", 1)):
        engine = choose(name, n_jobs)
        phi = engine.contributions(trees, 0, View(engine, table, fit_bins(engine, table)))
        found.append((phi, engine.main_effects(trees, 0, p)))
    for one, many, reference in zip(*found):
        np.testing.assert_array_equal(one, many)
        np.testing.assert_allclose(one, reference, rtol=1e-12, atol=1e-12)
