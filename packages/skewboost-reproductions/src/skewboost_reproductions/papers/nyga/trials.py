"""Ten parameters per algorithm, as in Nyga's thesis: the best in hindsight, and the one that validation chooses.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), §3.1 and §3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost_reproductions.estimates import Estimate, difference, estimate
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.page_parts import Cell
from skewboost_reproductions.papers.nyga.problems import (
    PROBLEMS,
    PUBLIC,
    classifier,
    column,
    folds,
    spaced,
    splits,
    trained_scores,
)
from skewboost_reproductions.printed import printed
from skewboost_reproductions.verdicts import HELD, NOT_REPRODUCED, UNDECIDED, Claim, on_stand_ins

ALL, SOME = 10, 4  # parameters; with --quick
SQUARED = "AdaBoost-Reg, p = 2"  # the other exponent of the influence that the thesis mentions
Interval = tuple[float, float]
_COMPOUND: dict[str, Interval] = {  # cost - 1, where costs enter in every round
    "banana": (3e-4, 0.01), "intrusion": (0.001, 0.05), "cancer": (3e-4, 0.02), "fire": (0.001, 0.2),
    "airbag": (0.001, 0.01),
}  # fmt: skip
_SPREAD: dict[str, Interval] = {
    "banana": (1.1, 100.0), "intrusion": (1.1, 1000.0), "cancer": (1.1, 1000.0), "fire": (1.1, 1000.0),
    "airbag": (1.1, 20.0),
}  # fmt: skip
RANGES: dict[str, dict[str, Interval]] = {
    "AdaC2": _COMPOUND,
    "AdaC3": _COMPOUND,
    "CSRA": _SPREAD,
    "CSGA": _SPREAD,
    "CSLB": _SPREAD | {"banana": (1.1, 20.0), "cancer": (1.1, 50.0), "airbag": (1.1, 10.0)},
    "AdaBoost-Reg": {
        "banana": (0.1, 100.0), "intrusion": (0.3, 300.0), "cancer": (0.3, 300.0), "fire": (0.1, 100.0),
        "airbag": (0.3, 300.0),
    },
    SQUARED: {"banana": (1.0, 1e4), "cancer": (10.0, 1e5)},
    "WeightBoost": {name: (0.01, 1.0) if name == "banana" else (0.05, 4.0) for name in PROBLEMS},
}  # fmt: skip


def runs(data: str, quick: bool) -> range:
    """Return the runs on a data set: with `quick`, two pairs of training and test rows, or one cross-validation."""
    problem = PROBLEMS[data]
    return range((1 if problem.test_to_train else 2) if quick else problem.runs)


def n_parameters(quick: bool) -> int:
    """Return how many parameters are tried."""
    return SOME if quick else ALL


def is_validated(data: str, algorithm: str) -> bool:
    """Whether the parameter is chosen by validation, too: on public data, and not for the slow p = 2."""
    return data in PUBLIC and algorithm != SQUARED


def ranges_in_words(algorithms: Iterable[str]) -> str:
    """Return the ranges of the parameters, for a protocol."""
    texts = []
    for name in algorithms:
        by_range: dict[Interval, list[str]] = {}
        for data, ends in RANGES[name].items():
            by_range.setdefault(ends, []).append(PROBLEMS[data].label.removesuffix(" (stand-in)"))
        of_sets = ", ".join(f"{low:g} to {high:g} ({', '.join(sets)})" for (low, high), sets in by_range.items())
        texts.append(f"{name} {of_sets}")
    return "; ".join(texts)


def parameters(data: str, algorithm: str, n: int = ALL) -> tuple[float, ...]:
    """Return the ten parameters of an algorithm on a data set, or `n` of them."""
    if algorithm == "AdaCost":
        ten = tuple(k / 10.0 for k in range(1, 11))
    elif algorithm in ("AdaC2", "AdaC3"):
        ten = tuple(round(1.0 + excess, 8) for excess in spaced(*RANGES[algorithm][data]))
    else:
        ten = spaced(*RANGES[algorithm][data])
    return tuple(ten[k] for k in np.linspace(0, 9, n).round().astype(int))


def plain_scores(data: str, algorithm: str, run: int) -> list[list[float]]:
    """Return the measures of an algorithm without a parameter on each split of a run."""
    return [trained_scores(classifier(data, algorithm), split) for split in splits(data, run)]


def scores_by_parameter(data: str, algorithm: str, run: int, n: int, validated: bool) -> dict[str, Any]:
    """Return the measures with each parameter on each split of a run, and which parameter validation chooses.

    Parameters
    ----------
    data, algorithm : str
        As in `classifier`.
    run : int
        The run.
    n : int
        How many of the ten parameters are tried.
    validated : bool
        Whether to choose one per split: that of the largest mean F1 of the positive class in a cross-validation on the
        training rows; of equal ones the smallest.

    Returns
    -------
    dict
        ``each``, measures by parameter and split, and ``chosen``, the number of a parameter by split.
    """
    models = [classifier(data, algorithm, parameter) for parameter in parameters(data, algorithm, n)]
    parts = splits(data, run)
    each = [[trained_scores(model, split) for split in parts] for model in models]
    return {"each": each, "chosen": [_chosen(models, split.X, split.y) for split in parts] if validated else None}


def _chosen(models: Sequence[Any], X: Any, y: Any) -> int:
    inner = list(folds(X, y, 0))
    of_models = [[column(trained_scores(model, split), "F+") for split in inner] for model in models]
    return int(np.argmax(np.mean(of_models, axis=1)))


@dataclass(frozen=True)
class Tried:
    """The measures of an algorithm with several parameters on the same splits.

    Attributes
    ----------
    parameters : tuple of float
        The parameters.
    each : ndarray of shape (n_parameters, n_splits, n_measures)
        The measures.
    chosen : ndarray of shape (n_splits,) or None
        The number of the parameter that validation chose on the training rows of each split.
    """

    parameters: tuple[float, ...]
    each: Any
    chosen: Any = None

    @property
    def best_parameter(self) -> int:
        """The number of the parameter with the largest mean F1 of the positive class on the test rows."""
        return int(column(self.each, "F+").mean(axis=1).argmax())

    @property
    def best(self) -> Any:
        """The measures with that parameter, by split."""
        return self.each[self.best_parameter]

    @property
    def validated(self) -> Any:
        """The measures with the parameter that validation chose, by split."""
        return self.each[self.chosen, np.arange(len(self.chosen))]


def tried(results: Results, data: str, algorithm: str, quick: bool) -> Tried:
    """Return the results of `scores_by_parameter` on all runs."""
    n = n_parameters(quick)
    validated = is_validated(data, algorithm)
    found = [results.of(scores_by_parameter, data, algorithm, run, n, validated) for run in runs(data, quick)]
    each = np.concatenate([np.asarray(one["each"], dtype=np.float64) for one in found], axis=1)
    chosen = np.concatenate([one["chosen"] for one in found]) if validated else None
    return Tried(parameters(data, algorithm, n), each, chosen)


def untuned(results: Results, data: str, algorithm: str, quick: bool) -> Any:
    """Return the results of `plain_scores` on all runs, by split and measure."""
    found = [results.of(plain_scores, data, algorithm, run) for run in runs(data, quick)]
    return np.concatenate([np.asarray(one, dtype=np.float64) for one in found])


def estimated(values: Any, data: str, measure: str) -> Estimate:
    """Return the mean of a measure over splits."""
    return estimate(column(values, measure), PROBLEMS[data].test_to_train)


def apart(of: Any, less: Any, data: str, measure: str = "F+", less_measure: str | None = None) -> Estimate:
    """Return the mean difference over splits of a measure and the same one, or another."""
    other = column(less, measure if less_measure is None else less_measure)
    return difference(column(of, measure), other, PROBLEMS[data].test_to_train)


def cells(row: str, values: Any, data: str, sign: str = "+", paper: Mapping[str, Any] | None = None) -> dict[Any, Cell]:
    """Return precision, recall and F1 of a class next to the printed numbers: the row ``paper``, if there is one."""
    shown = {} if paper is None or data not in PUBLIC else paper
    return {(row, m): Cell(estimated(values, data, m + sign), shown.get(m)) for m in ("P", "R", "F")}


def printed_row(table: str, **keys: str) -> dict[str, Any]:
    """Return the row of a printed table with these cells."""
    (row,) = (row for row in printed("nyga", table) if all(row[key] == value for key, value in keys.items()))
    return row


def on_sets(claim: Claim, sets: Iterable[str]) -> Claim:
    """Return a claim with the verdict that it has on these data sets, some of which may be stand-ins."""
    return claim if set(sets) <= set(PUBLIC) else on_stand_ins(claim)


def claim_of_number(text: str, leads: Mapping[str, Sequence[Estimate]], least: int, margin: float = 0.0) -> Claim:
    """Return a claim that an algorithm is better than all others on a number of data sets.

    Parameters
    ----------
    text : str
        The claim.
    leads : mapping of str to sequence of Estimate
        By data set, how much it is better than each other one.
    least : int
        The number of data sets.
    margin : float, default=0
        The lead that is claimed.

    Returns
    -------
    Claim
        It held if on that many sets all leads are above the margin, significantly at 5 %. It is not reproduced if on
        too many sets a lead is below it, significantly at 5 % after Bonferroni's correction for the number of leads.
    """
    level = 0.05 / sum(len(found) for found in leads.values())
    sure = [name for name, found in leads.items() if all(_above(one, margin, 0.05) for one in found)]
    never = [name for name, found in leads.items() if any(_above(_opposite(one), -margin, level) for one in found)]
    too_few = len(leads) - len(never) < least
    verdict = HELD if len(sure) >= least else NOT_REPRODUCED if too_few else UNDECIDED
    smallest = {name: min(found, key=lambda one: one.mean) for name, found in leads.items()}
    listed = "; ".join(f"{name} {one.mean:+.3f} ± {one.error:.3f}" for name, one in smallest.items())
    return Claim(text, verdict, f"shown on {len(sure)}, refuted on {len(never)}; to the best of the others: {listed}")


def _opposite(one: Estimate) -> Estimate:
    return Estimate(-one.mean, one.error, one.n)


def _above(one: Estimate, margin: float, level: float) -> bool:
    """Whether a mean is above a margin, by a two-sided test."""
    beyond = Estimate(one.mean - margin, one.error, one.n)
    return beyond.mean > 0.0 and beyond.p_value < level
