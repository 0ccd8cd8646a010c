"""Ranks of methods, tests whether methods differ, and the choice of a test for a comparison.

Formulas are numbered as in Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
Machine Learning Research 7, 1-30. Tables are ``values[block, method]``, and blocks are data sets or folds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skewboost.errors import InputError
from skewboost.names import shown
from skewboost.parameters import FRACTION, check_arguments, one_of
from skewboost.typing import Array

FRIEDMAN, WILCOXON, CORRECTED_T, AUTO = "friedman", "wilcoxon", "corrected_t", "auto"
NAMES = {
    FRIEDMAN: "Friedman, Iman and Davenport's F; groups by Nemenyi's critical difference",
    WILCOXON: "Wilcoxon signed-rank",
    CORRECTED_T: "corrected resampled t (Nadeau and Bengio)",
}
MOST_PAIRS = 12  # on the screen
EXACT_UP_TO = 50  # differences; the same as in SciPy
OVERLAP = (
    "The blocks are folds of one data set. Their training rows overlap, so they are not independent, and this test "
    "finds differences too often; the corrected resampled t-test (method='corrected_t') allows for it. No such test "
    "says anything about other data sets."
)
ONE_DATA_SET = "About this data set only. The correction for overlapping training rows is an approximation."


class Pair(NamedTuple):
    """A comparison of two methods."""

    first: str
    second: str
    difference: float  # mean of first minus second; larger or smaller is better as the measure says
    statistic: float
    pvalue: float
    holm: float  # the p-value, corrected for the number of pairs


@dataclass(frozen=True)
class RankTest:
    """The result of a test.

    Attributes
    ----------
    method : str
        "friedman", "wilcoxon" or "corrected_t".
    name : str
        The name of the test in tables.
    measure : str
        The measure that was compared.
    statistic, pvalue : float
        The test of "all methods are equal": Iman and Davenport's F; the rank sum of Wilcoxon's test; or the t of the
        most clearly different pair, with the p-value corrected for the number of pairs.
    mean_ranks : dict of str to float
        Mean ranks by method, the best first.
    critical_difference : float or None
        Nemenyi's critical difference of mean ranks, for Friedman's test only.
    groups : tuple of tuples of str
        Methods without a significant difference, by the critical difference, else by the corrected p-values.
    pairs : tuple of Pair
        All pairs with p-values, also corrected by Holm. With Friedman's test they are Wilcoxon's, because Nemenyi's
        result for a pair depends on the other methods [benavoli2016]_.
    blocks : str
        "data sets" or "folds"; `n_blocks` is their number.
    alpha : float
        The level of significance of `groups` and `critical_difference`.
    caveats : tuple of str
        Warnings about the interpretation.

    References
    ----------
    .. [benavoli2016] A. Benavoli, G. Corani, F. Mangili, "Should we really use post-hoc tests based on mean-ranks?",
       Journal of Machine Learning Research 17 (2016) 1-10.
    """

    method: str
    measure: str
    statistic: float
    pvalue: float
    mean_ranks: dict[str, float]
    critical_difference: float | None
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Pair, ...]
    blocks: str
    n_blocks: int
    alpha: float
    caveats: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the test."""
        return NAMES[self.method]

    @property
    def significant(self) -> bool:
        """Whether any two methods differ at the level `alpha`."""
        return self.pvalue < self.alpha

    def as_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary for JSON."""
        return {
            "test": self.method,
            "name": self.name,
            "measure": self.measure,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "alpha": self.alpha,
            "blocks": self.blocks,
            "n_blocks": self.n_blocks,
            "mean_ranks": dict(self.mean_ranks),
            "critical_difference": self.critical_difference,
            "groups": [list(group) for group in self.groups],
            "pairs": [pair._asdict() for pair in self.pairs],
            "caveats": list(self.caveats),
        }

    def __str__(self) -> str:
        wide = max(len(shown(name)) for name in self.mean_ranks)
        lines = [
            f"{self.measure}: {self.name}, {self.n_blocks} {self.blocks}",
            f"statistic {self.statistic:.4g}, p = {self.pvalue:.3g}: "
            + ("some methods differ" if self.significant else "no difference shown")
            + f" at {self.alpha:g}",
            "",
            *(f"  {shown(name):<{wide}}  mean rank {rank:.2f}" for name, rank in self.mean_ranks.items()),
        ]
        if self.critical_difference is not None:
            lines += ["", f"critical difference of mean ranks {self.critical_difference:.2f}"]
        if self.groups:
            lines += ["no difference shown within: " + "; ".join(", ".join(map(shown, group)) for group in self.groups)]
        lines += ["", "pairs, p-values corrected by Holm:"]
        first = sorted(self.pairs, key=lambda pair: pair.pvalue)[:MOST_PAIRS]
        names = [f"{shown(p.first)} - {shown(p.second)}" for p in first]
        wide = max(map(len, names))
        for pair, p in zip(names, first):
            lines.append(f"  {pair:<{wide}}  {p.difference:+.4f}  p = {p.pvalue:.3g} -> {p.holm:.3g}")
        if len(first) < len(self.pairs):
            lines.append(f"  and {len(self.pairs) - len(first)} more with larger p-values: see pairs")
        return "\n".join(lines + [""] * bool(self.caveats) + [f"Note: {caveat}" for caveat in self.caveats])


@dataclass(frozen=True)
class Blocks:
    """A complete table of values with a row for each block and a column for each method."""

    values: Array
    methods: tuple[str, ...]
    kind: str  # "data sets" or "folds"
    test_to_train: float = 0.0  # rows, where blocks are folds
    caveats: tuple[str, ...] = ()
    in_order: bool = False  # whether folds follow each other in time


def run_test(blocks: Blocks, measure: str, larger_is_better: bool, method: str, alpha: float) -> RankTest:
    """Test a table; `method` "auto" chooses the test."""
    N, k = blocks.values.shape
    check_arguments(method=(method, one_of(AUTO, *NAMES)), alpha=(alpha, FRACTION))
    if k < 2:
        raise InputError(
            f"A test of {measure!r} needs two methods that have it, but there {'is 1' if k else 'are none'}"
            f"{': ' + blocks.methods[0] if k else ''}."
        )
    if N < 2:
        raise InputError(
            f"A test needs at least two blocks, but all methods have {measure!r} on only {N} of the {blocks.kind}.",
            "Compare on more folds or data sets, or leave out the methods that failed.",
        )
    folds = blocks.kind == "folds"
    if folds and blocks.in_order:
        raise InputError(
            "The folds follow each other in time, and each is trained on more rows than the one before. No test of "
            "their differences has a level that is known.",
            "Look at the values of the folds, or compare on several data sets.",
        )
    if method == AUTO:
        method = CORRECTED_T if folds else WILCOXON if k == 2 else FRIEDMAN
    if method == WILCOXON and k > 2:
        raise InputError(f"method='wilcoxon' is for two methods, but there are {k}.", "Use 'friedman'.")
    if method == CORRECTED_T and not folds:
        raise InputError(
            "method='corrected_t' is for folds of one data set, but the blocks are data sets.",
            "Use 'friedman', or 'wilcoxon' for two methods.",
        )
    ranks = block_ranks(blocks.values, larger_is_better)
    mean = dict(zip(blocks.methods, ranks.mean(axis=0).tolist()))
    mean_ranks = dict(sorted(mean.items(), key=lambda item: item[1]))
    pairs = _pairs(blocks, method)
    if method == FRIEDMAN:
        statistic, pvalue = friedman(ranks)
    else:
        least = min(pairs, key=lambda pair: pair.pvalue)
        statistic, pvalue = abs(least.statistic), least.holm
    cd = critical_difference(k, N, alpha) if method == FRIEDMAN else None
    apart = {frozenset((p.first, p.second)) for p in pairs if p.holm < alpha}

    def differ(a: str, b: str) -> bool:
        return frozenset((a, b)) in apart if cd is None else abs(mean_ranks[a] - mean_ranks[b]) >= cd

    groups = groups_without_differences(list(mean_ranks), differ)
    return RankTest(
        method, measure, statistic, pvalue, mean_ranks, cd, groups, pairs, blocks.kind, N, alpha,
        (*blocks.caveats, *_caveats(blocks, method, pairs, alpha)),
    )  # fmt: skip


def _pairs(blocks: Blocks, method: str) -> tuple[Pair, ...]:
    rows: list[tuple[str, str, float, SignificanceTest]] = []
    for i, j in combinations(range(len(blocks.methods)), 2):
        d = blocks.values[:, i] - blocks.values[:, j]
        test = corrected_t(d, blocks.test_to_train) if method == CORRECTED_T else wilcoxon(d)
        rows.append((blocks.methods[i], blocks.methods[j], float(d.mean()), test))
    corrected = holm(np.array([test.pvalue for *_, test in rows]))
    return tuple(Pair(a, b, d, f.statistic, f.pvalue, float(h)) for (a, b, d, f), h in zip(rows, corrected))


def _caveats(blocks: Blocks, method: str, pairs: tuple[Pair, ...], alpha: float) -> list[str]:
    caveats = []
    N = len(blocks.values)
    if blocks.kind == "folds":
        caveats.append(ONE_DATA_SET if method == CORRECTED_T else OVERLAP)
    if method != CORRECTED_T and 2.0 ** (1 - N) * len(pairs) > alpha:
        caveats.append(
            f"With {N} {blocks.kind} no pair can be significantly different by Wilcoxon's test at {alpha:g}"
            + (f" after the correction for {len(pairs)} pairs." if len(pairs) > 1 else ".")
        )
    return caveats


class SignificanceTest(NamedTuple):
    """A test statistic and its p-value."""

    statistic: float
    pvalue: float


def block_ranks(values: Array, larger_is_better: bool) -> Array:
    """Return the ranks within each block; 1 is the best, and ties get the mean of their ranks."""
    return np.asarray(stats.rankdata(-values if larger_is_better else values, axis=1), dtype=np.float64)


def friedman(ranks: Array) -> SignificanceTest:
    r"""Iman and Davenport's form [iman1980]_ of Friedman's test of "all methods have the same mean rank".

    .. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \Bigl[\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\Bigr], \qquad
              F_F = \frac{(N - 1) \chi^2_F}{N (k - 1) - \chi^2_F}

    for k methods with the mean ranks :math:`R_j` in N blocks ([demsar2006]_ §3.2.2), corrected for ties
    [conover1999]_, whose ranks vary less. If all blocks agree, F is infinite, though two blocks agree by chance with
    probability 1 / k!. So the p-value is at least :math:`(k!)^{1 - N}`, the probability that all blocks agree.

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
    tied = float((ranks**2).sum()) - N * k * (k + 1) ** 2 / 4  # N k (k + 1)(k - 1) / 12 where there are no ties
    largest = N * (k - 1)
    chi2 = 0.0 if tied <= 1e-9 else min(max(largest * N * spread / tied, 0.0), float(largest))
    left = largest - chi2
    F = (N - 1) * chi2 / left if left > 1e-9 * largest else math.inf
    by_chance = math.exp((1 - N) * math.lgamma(k + 1))
    return SignificanceTest(F, max(float(stats.f.sf(F, k - 1, (k - 1) * (N - 1))), by_chance))


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    r"""Nemenyi's critical difference of mean ranks: :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`.

    :math:`q_\alpha` is the quantile of the studentised range for k groups and infinite degrees of freedom, divided by
    :math:`\sqrt{2}` (Demšar 2006, table 5a).
    """
    q = float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))


def wilcoxon(differences: Array) -> SignificanceTest:
    """Wilcoxon's signed-rank test, two-sided.

    Differences of zero are dropped, as Wilcoxon did, and ties share their ranks. P-values are exact for up to 50
    differences, and by the normal approximation for more. They are SciPy's, except for up to 50 differences with ties:
    there SciPy approximates, or enumerates all signs in several seconds. The statistic is the smaller rank sum.
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

    with J - 1 degrees of freedom for J folds of all repeats, and the number of test rows per training row
    ([nadeau2003]_, [bouckaert2004]_). Training sets of folds overlap, so differences are not independent. Without the
    second term the test finds too many differences, and the more so the more often folds are repeated. The term stands
    for a correlation that cannot be estimated, so the test is an approximation.

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
