"""The tests of ranks against published numbers, SciPy, and everything counted out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

from skewboost.evaluate.problem import repeated_folds
from skewboost.evaluate.rank_tests import (
    Blocks,
    block_ranks,
    corrected_t,
    critical_difference,
    friedman,
    groups_without_differences,
    holm,
    run_test,
    wilcoxon,
)

# Demšar 2006, table 6: AUC of C4.5, with m tuned, with cf tuned, with both, on 14 data sets
METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
AUC = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.975, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
AUC[12, 2] += 1e-4  # printed as equal, but ranked 2 and 3: the paper ranked values with more digits


def test_demsars_example():
    ranks = block_ranks(AUC, larger_is_better=True)
    np.testing.assert_allclose(ranks.mean(axis=0), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    chi2 = 12 * 14 / (4 * 5) * ((ranks.mean(axis=0) ** 2).sum() - 4 * 5**2 / 4)
    assert chi2 == pytest.approx(9.28, abs=0.005)
    assert 13 * chi2 / (14 * 3 - chi2) == pytest.approx(3.69, abs=0.005)
    # the paper does not correct for ties, which makes its F smaller
    assert friedman(ranks).statistic > 3.69 > stats.f.ppf(0.95, 3, 39) == pytest.approx(2.85, abs=0.005)
    assert critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


def test_the_whole_test_of_demsars_example():
    test = run_test(Blocks(AUC, METHODS, "data sets"), "roc_auc", True, "auto", 0.10)
    assert test.method == "friedman"
    assert test.significant
    assert list(test.mean_ranks) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    # "C4.5 performs significantly worse than C4.5+m and C4.5+m+cf" at 0.10 (1.143 and 1.179 > 1.12)
    assert test.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))
    assert "C4.5+m+cf" in str(test)
    assert test.as_dict()["critical_difference"] == test.critical_difference


# Demšar 2006, table 5a
@pytest.mark.parametrize(
    ("alpha", "q"),
    [(0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
     (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920])],
)  # fmt: skip
def test_the_table_of_critical_values(alpha, q):
    for k, value in enumerate(q, start=2):
        assert critical_difference(k, 10, alpha) / math.sqrt(k * (k + 1) / 60) == pytest.approx(value, abs=1e-3)


@pytest.mark.parametrize("decimals", [1, 8])  # with and without ties
def test_friedman_is_scipys(decimals):
    values = np.random.default_rng(3).random((9, 5)).round(decimals)
    chi2 = stats.friedmanchisquare(*values.T).statistic
    ours = friedman(block_ranks(values, larger_is_better=False))
    assert ours.statistic == pytest.approx((9 - 1) * chi2 / (9 * (5 - 1) - chi2))


def test_blocks_that_all_agree_may_do_so_by_chance():
    found = friedman(np.tile([1.0, 2.0, 3.0], (2, 1)))
    assert found.statistic == math.inf
    assert found.pvalue == pytest.approx(1 / 6)
    assert friedman(np.full((4, 3), 2.0)).pvalue == 1.0


@pytest.mark.parametrize("decimals", [1, 8])
def test_wilcoxon_counts_all_signs_out(decimals):
    d = np.random.default_rng(5).normal(0.4, 1.0, 10).round(decimals)
    ranks = stats.rankdata(np.abs(d[d != 0]))
    seen = min(ranks[d[d != 0] > 0].sum(), ranks[d[d != 0] < 0].sum())
    sums = [(np.array(signs) * ranks).sum() for signs in product((0, 1), repeat=len(ranks))]
    as_extreme = [min(s, ranks.sum() - s) <= seen for s in sums]
    found = wilcoxon(d)
    assert found.statistic == seen
    assert found.pvalue == pytest.approx(np.mean(as_extreme))


def test_wilcoxon_of_many_and_of_none():
    d = np.random.default_rng(6).normal(0.2, 1.0, 80)
    theirs = stats.wilcoxon(d)
    assert wilcoxon(d).statistic == theirs.statistic
    assert wilcoxon(d).pvalue == pytest.approx(theirs.pvalue)
    assert wilcoxon(np.zeros(5)) == (0.0, 1.0)


def test_corrected_t():
    d = np.array([0.02, 0.01, 0.03, -0.01, 0.02])
    assert corrected_t(d, 0.0).pvalue == pytest.approx(stats.ttest_1samp(d, 0.0).pvalue)  # without the correction
    by_hand = d.mean() / math.sqrt((1 / 5 + 1 / 4) * d.var(ddof=1))
    assert corrected_t(d, 1 / 4).statistic == pytest.approx(by_hand)
    # repeating folds without end is no evidence without end
    assert corrected_t(np.tile(d, 10_000), 1 / 4).statistic == pytest.approx(2 * d.mean() / d.std(), rel=1e-3)
    assert corrected_t(np.tile(d, 10_000), 0.0).statistic > 100
    assert corrected_t(np.zeros(4), 0.25) == (0.0, 1.0)


def test_corrected_t_of_no_spread_is_as_sure_as_can_be():
    assert corrected_t(np.full(4, -0.5), 0.25) == (-math.inf, 0.0)


def test_holm():
    # Holm 1979: 0.01 * 4, 0.02 * 3, 0.03 * 2 raised to 0.06, 0.5
    np.testing.assert_allclose(holm(np.array([0.5, 0.01, 0.03, 0.02])), [0.5, 0.04, 0.06, 0.06])


def test_groups_are_longest_runs():
    apart = {("a", "d"), ("a", "c"), ("b", "d")}
    differ = lambda x, y: (x, y) in apart  # noqa: E731
    assert groups_without_differences(["a", "b", "c", "d"], differ) == (("a", "b"), ("b", "c"), ("c", "d"))
    assert groups_without_differences(["a", "b", "c"], lambda x, y: False) == (("a", "b", "c"),)
    assert groups_without_differences(["a", "b", "c"], lambda x, y: True) == ()


def test_which_test_is_taken():
    values = np.random.default_rng(0).random((8, 3))
    three, two = ("a", "b", "c"), ("a", "b")
    assert run_test(Blocks(values, three, "data sets"), "f1", True, "auto", 0.05).method == "friedman"
    assert run_test(Blocks(values[:, :2], two, "data sets"), "f1", True, "auto", 0.05).method == "wilcoxon"
    folds = Blocks(values, three, "folds", 0.25)
    assert run_test(folds, "f1", True, "auto", 0.05).method == "corrected_t"
    named = run_test(folds, "f1", True, "friedman", 0.05)
    assert any("overlap" in caveat for caveat in named.caveats)
    with pytest.raises(ValueError, match="for two methods, but there are 3"):
        run_test(folds, "f1", True, "wilcoxon", 0.05)
    with pytest.raises(ValueError, match="folds of one data set"):
        run_test(Blocks(values, three, "data sets"), "f1", True, "corrected_t", 0.05)
    few = run_test(Blocks(values[:3, :2], two, "data sets"), "f1", True, "auto", 0.05)
    assert any("no pair can be significantly different" in caveat for caveat in few.caveats)
    with pytest.raises(ValueError, match="needs two methods"):
        run_test(Blocks(values[:, :1], ("a",), "data sets"), "f1", True, "auto", 0.05)
    with pytest.raises(ValueError, match="needs at least two blocks"):
        run_test(Blocks(values[:1], three, "folds"), "f1", True, "auto", 0.05)


def test_ranks_turn_with_the_direction_of_the_measure():
    values = np.random.default_rng(1).random((6, 4))
    blocks = Blocks(values, ("a", "b", "c", "d"), "data sets")
    up, down = (run_test(blocks, "m", larger, "auto", 0.05).mean_ranks for larger in (True, False))
    assert {k: 5 - v for k, v in up.items()} == pytest.approx(down)


@pytest.mark.slow
def test_on_folds_only_the_corrected_test_keeps_its_level():
    """Two classifiers that are equally good by symmetry: each sees two of four exchangeable columns."""
    rng = np.random.default_rng(0)
    found = np.zeros(3)
    for _ in range(300):
        X = rng.normal(size=(100, 4))
        y = (X.sum(axis=1) + 1.5 * rng.normal(size=100) > 0).astype(int)
        d = []
        for train, test in repeated_folds(5, y, 4, int(rng.integers(2**30))):
            models = [GaussianNB().fit(X[train][:, c], y[train]) for c in ([0, 1], [2, 3])]
            wrong = [np.mean(m.predict(X[test][:, c]) != y[test]) for m, c in zip(models, ([0, 1], [2, 3]))]
            d.append(wrong[0] - wrong[1])
        d = np.array(d)
        found += [corrected_t(d, 0.25).pvalue < 0.05, corrected_t(d, 0.0).pvalue < 0.05, wilcoxon(d).pvalue < 0.05]
    corrected, plain, signed = found / 300
    assert corrected < 0.08
    assert plain > 0.25
    assert signed > 0.25
