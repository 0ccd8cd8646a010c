"""Claims that a method is better than others on many data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import binomtest

from skewboost.evaluate.rank_tests import FRIEDMAN, Blocks, RankTest, holm, run_test, wilcoxon
from skewboost.plots import ComparisonDisplay
from skewboost_reproductions.verdicts import COMPATIBLE, HELD, NOT_REPRODUCED, UNDECIDED, Claim

LEVEL = 0.05


def claim_of_superiority(text: str, costs: Any, of_others: Mapping[str, Any]) -> Claim:
    """Return a claim that a method has lower costs than each of the others, with one cost for each data set.

    `costs` may also have the costs to compare with each of the others, by the same names.

    It held if Wilcoxon's signed-rank test finds the difference to each of the others significant at 5 %, after Holm's
    correction for their number, and it is not reproduced if one of them is significantly better.
    """
    first = costs if isinstance(costs, Mapping) else dict.fromkeys(of_others, costs)
    differences = {name: np.asarray(first[name], dtype=np.float64) - np.asarray(own) for name, own in of_others.items()}
    corrected = holm(np.array([wilcoxon(d).pvalue for d in differences.values()]))
    better = [name for (name, d), p in zip(differences.items(), corrected) if p < LEVEL and _lower(d)]
    worse = [name for (name, d), p in zip(differences.items(), corrected) if p < LEVEL and not _lower(d)]
    verdict = NOT_REPRODUCED if worse else HELD if len(better) == len(of_others) else UNDECIDED
    open_ = [name for name in of_others if name not in (*better, *worse)]
    parts = (("lower", better), ("no difference shown", open_), ("higher", worse))
    n = len(next(iter(differences.values())))
    found = "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
    return Claim(text, verdict, f"{found} (Wilcoxon's test on {n} data sets, Holm's correction)")


def claim_of_share(text: str, where: Any, said: int) -> Claim:
    """Return a claim about the number of data sets where something is true.

    It is compatible if there are at least as many here, and not reproduced if the 95 % interval of the share (Clopper
    and Pearson) ends below the printed one.
    """
    k, n = int(np.sum(where)), len(where)
    high = float(binomtest(k, n).proportion_ci().high)
    verdict = COMPATIBLE if k >= said else NOT_REPRODUCED if high < said / n else UNDECIDED
    return Claim(
        text, verdict, f"on {k} of {n} by the mean of the splits; share at most {high:.2f} (97.5 % confidence)"
    )


def _lower(differences: Any) -> bool:
    """Whether the signed ranks favour the method."""
    d = differences[differences != 0]
    ranks = np.argsort(np.argsort(np.abs(d))) + 1
    return bool((np.sign(d) * ranks).sum() < 0)


def rank_test(costs: Mapping[str, Any]) -> RankTest:
    """Return Friedman's test of methods, with one cost for each data set."""
    values = np.column_stack([np.asarray(own, dtype=np.float64) for own in costs.values()])
    return run_test(Blocks(values, tuple(costs), "data sets"), "cost", False, FRIEDMAN, LEVEL)


def draw_ranks(test: RankTest) -> Any:
    """Draw the mean ranks with Nemenyi's critical difference."""
    display = ComparisonDisplay(
        measure="cost",
        kind="ranks",
        methods=list(test.mean_ranks),
        centres=np.array(list(test.mean_ranks.values())),
        groups=test.groups,
        critical_difference=test.critical_difference,
        note=f"Friedman's test on {test.n_blocks} data sets: p = {test.pvalue:.1g}.",
    )
    return display.plot().figure_
