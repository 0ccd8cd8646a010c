"""The choice of a test for a comparison, its result, and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from skewboost.errors import InputError
from skewboost.evaluate.ranks import (
    SignificanceTest,
    block_ranks,
    corrected_t,
    critical_difference,
    friedman,
    groups_without_differences,
    holm,
    wilcoxon,
)
from skewboost.names import shown
from skewboost.typing import Array

FRIEDMAN, WILCOXON, CORRECTED_T, AUTO = "friedman", "wilcoxon", "corrected_t", "auto"
NAMES = {
    FRIEDMAN: "Friedman, Iman and Davenport's F; groups by Nemenyi's critical difference",
    WILCOXON: "Wilcoxon signed-rank",
    CORRECTED_T: "corrected resampled t (Nadeau and Bengio)",
}
MOST_PAIRS = 12  # on the screen
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


def run_test(blocks: Blocks, measure: str, larger_is_better: bool, method: str, alpha: float) -> RankTest:
    """Test a table; `method` "auto" chooses the test."""
    N, k = blocks.values.shape
    if method not in (*NAMES, AUTO):
        raise InputError(f"method={method!r} must be one of {', '.join(map(repr, (AUTO, *NAMES)))}.")
    if not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise InputError(f"alpha={alpha!r} must be a number between 0 and 1, such as 0.05.")
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
        test = friedman(ranks)
        statistic, pvalue = test.statistic, test.pvalue
    else:
        least = min(pairs, key=lambda pair: pair.pvalue)
        statistic, pvalue = abs(least.statistic), least.holm
    cd, groups = _groups(mean_ranks, pairs, N, method, alpha)
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


def _groups(
    mean_ranks: dict[str, float], pairs: tuple[Pair, ...], n_blocks: int, method: str, alpha: float
) -> tuple[float | None, tuple[tuple[str, ...], ...]]:
    order = list(mean_ranks)
    if method == FRIEDMAN:
        cd = critical_difference(len(order), n_blocks, alpha)
        return cd, groups_without_differences(order, lambda a, b: abs(mean_ranks[a] - mean_ranks[b]) >= cd)
    apart = {frozenset((p.first, p.second)) for p in pairs if p.holm < alpha}
    return None, groups_without_differences(order, lambda a, b: frozenset((a, b)) in apart)


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
