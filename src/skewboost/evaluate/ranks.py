"""Ranks of methods, and tests whether methods differ.

Formulas are numbered as in Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
Machine Learning Research 7, 1-30. All functions take a table ``values[block, method]`` or a column of it. Blocks are
data sets or folds; `rank_tests.py` chooses the test for them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skewboost.typing import Array

EXACT_UP_TO = 50  # differences; the same as in SciPy


class SignificanceTest(NamedTuple):
    """A test statistic and its p-value."""

    statistic: float
    pvalue: float


class Friedman(NamedTuple):
    """Both forms of Friedman's test."""

    chi2: float
    chi2_pvalue: float
    statistic: float  # Iman and Davenport's F
    pvalue: float


def block_ranks(values: Array, larger_is_better: bool) -> Array:
    """Return the ranks within each block; 1 is the best, and ties get the mean of their ranks."""
    return np.asarray(stats.rankdata(-values if larger_is_better else values, axis=1), dtype=np.float64)


def friedman(ranks: Array, *, correct_ties: bool = True) -> Friedman:
    r"""Friedman's test of "all methods have the same mean rank".

    .. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \Bigl[\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\Bigr], \qquad
              F_F = \frac{(N - 1) \chi^2_F}{N (k - 1) - \chi^2_F}

    for k methods with the mean ranks :math:`R_j` in N blocks ([demsar2006]_ §3.2.2); :math:`F_F` [iman1980]_ is less
    conservative.

    Parameters
    ----------
    ranks : array of shape (n_blocks, n_methods)
        Of `block_ranks`.
    correct_ties : bool, default=True
        Whether to correct for ties [conover1999]_, whose ranks vary less. [demsar2006]_ does not correct.

    Returns
    -------
    Friedman

    Notes
    -----
    If all blocks agree, F is infinite, though two blocks agree by chance with probability 1 / k!. So the p-value of F
    is at least :math:`(k!)^{1 - N}`, the probability that all blocks agree.

    References
    ----------
    .. [demsar2006] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7 (2006) 1-30.
    .. [iman1980] R. L. Iman, J. M. Davenport, "Approximations of the critical region of the Friedman statistic",
       Communications in Statistics A9 (1980) 571-595.
    .. [conover1999] W. J. Conover, "Practical nonparametric statistics", Wiley (1999), §5.8.
    """
    N, k = ranks.shape
    spread = float((ranks.mean(axis=0) ** 2).sum()) - k * (k + 1) ** 2 / 4
    # Σ_ij r_ij² - N k (k + 1)² / 4 is N k (k + 1)(k - 1) / 12 where there are no ties
    tied = float((ranks**2).sum()) - N * k * (k + 1) ** 2 / 4
    largest = N * (k - 1)
    if correct_ties:
        chi2 = 0.0 if tied <= 1e-9 else largest * N * spread / tied
    else:
        chi2 = 12 * N / (k * (k + 1)) * spread
    chi2 = min(max(chi2, 0.0), float(largest))
    left = largest - chi2
    F = (N - 1) * chi2 / left if left > 1e-9 * largest else math.inf
    by_chance = math.exp((1 - N) * math.lgamma(k + 1))
    pvalue = max(float(stats.f.sf(F, k - 1, (k - 1) * (N - 1))), by_chance)
    return Friedman(chi2, float(stats.chi2.sf(chi2, k - 1)), F, pvalue)


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference of mean ranks: :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`.

    :math:`q_\alpha` is the quantile of the studentised range for k groups and infinite degrees of freedom, divided by
    :math:`\sqrt{2}` (Demšar 2006, table 5a).

    Examples
    --------
    >>> from skewboost.evaluate.ranks import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))


def wilcoxon(differences: Array) -> SignificanceTest:
    """Wilcoxon's signed-rank test, two-sided.

    Differences of zero are dropped, as Wilcoxon did, and ties share their ranks. P-values are exact for up to 50
    differences, and by the normal approximation for more. They are SciPy's, except for up to 50 differences with ties:
    there SciPy approximates, or enumerates all signs in several seconds.

    Returns
    -------
    SignificanceTest
        The statistic is the smaller of the two rank sums.
    """
    d = differences[differences != 0]
    if len(d) == 0:
        return SignificanceTest(0.0, 1.0)
    if len(d) > EXACT_UP_TO or len(np.unique(np.abs(d))) == len(d):
        result = stats.wilcoxon(d)
        return SignificanceTest(float(result.statistic), float(result.pvalue))
    ranks = np.rint(2 * stats.rankdata(np.abs(d))).astype(np.int64)  # doubled, so that those of ties are integers
    total, positive = int(ranks.sum()), int(ranks[d > 0].sum())
    smaller = min(positive, total - positive)
    n_signs = np.zeros(total + 1)  # the number of choices of signs with each rank sum
    n_signs[0] = 1.0
    for rank in ranks:
        n_signs[rank:] += n_signs[:-rank].copy()
    return SignificanceTest(smaller / 2, min(1.0, 2 * float(n_signs[: smaller + 1].sum() / n_signs.sum())))


def corrected_t(differences: Array, test_to_train: float) -> SignificanceTest:
    r"""The corrected resampled t-test, two-sided, for differences of two methods on folds of one data set.

    .. math:: t = \frac{\bar d}{\sqrt{(1 / J + n_{test} / n_{train})\, s^2}}

    with J - 1 degrees of freedom for J folds of all repeats. Training sets of folds overlap, so differences are not
    independent. Without the second term the test finds too many differences, and the more so the more often folds are
    repeated. The term stands for a correlation that cannot be estimated, so the test is an approximation.

    Parameters
    ----------
    differences : array of shape (n_folds,)
        Differences of the measure.
    test_to_train : float
        The number of test rows, divided by that of training rows.

    Returns
    -------
    SignificanceTest

    References
    ----------
    .. [nadeau2003] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003) 239-281.
    .. [bouckaert2004] R. R. Bouckaert, E. Frank, "Evaluating the replicability of significance tests for comparing
       learning algorithms", Pacific-Asia Conference on Knowledge Discovery and Data Mining (2004) 3-12.
    """
    J, mean = len(differences), float(differences.mean())
    error = math.sqrt((1 / J + test_to_train) * float(differences.var(ddof=1)))
    if error == 0:
        return SignificanceTest(0.0, 1.0) if mean == 0 else SignificanceTest(math.copysign(math.inf, mean), 0.0)
    t = mean / error
    return SignificanceTest(t, 2 * float(stats.t.sf(abs(t), J - 1)))


def holm(pvalues: Array) -> Array:
    """Correct p-values for multiple testing: the i-th smallest of m times m - i + 1, made monotone (Holm 1979)."""
    m = len(pvalues)
    order = np.argsort(pvalues, kind="stable")
    raised = np.minimum(1.0, np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1)))
    corrected = np.empty(m)
    corrected[order] = raised
    return corrected


def groups_without_differences(order: list[str], differ: Any) -> tuple[tuple[str, ...], ...]:
    """Return the maximal runs of consecutive methods of which no two differ."""
    groups: list[tuple[str, ...]] = []
    covered = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not any(differ(a, order[stop]) for a in order[start:stop]):
            stop += 1
        if stop - start > 1 and stop > covered:
            groups.append(tuple(order[start:stop]))
        covered = max(covered, stop)
    return tuple(groups)
