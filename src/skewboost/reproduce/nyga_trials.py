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

from skewboost.reproduce.estimates import Estimate, difference, estimate
from skewboost.reproduce.experiment import Results
from skewboost.reproduce.nyga import PROBLEMS, PUBLIC, classifier, column, folds, spaced, splits, trained_scores
from skewboost.reproduce.page_parts import HELD, NOT_REPRODUCED, UNDECIDED, Cell, Claim
from skewboost.reproduce.printed import printed

SOME = 4  # of the ten parameters, with --quick
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
    "AdaBoost-Reg, p = 2": {"banana": (1.0, 1e4), "cancer": (10.0, 1e5)},
    "WeightBoost": {name: (0.01, 1.0) if name == "banana" else (0.05, 4.0) for name in PROBLEMS},
}  # fmt: skip


def parameters(data: str, algorithm: str, n: int = 10) -> tuple[float, ...]:
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


def tried(results: Results, data: str, algorithm: str, runs: Iterable[int], n: int) -> Tried:
    """Return the results of `scores_by_parameter` on several runs."""
    found = [results.of(scores_by_parameter, data, algorithm, run, n, data in PUBLIC) for run in runs]
    each = np.concatenate([np.asarray(one["each"], dtype=np.float64) for one in found], axis=1)
    chosen = np.concatenate([one["chosen"] for one in found]) if data in PUBLIC else None
    return Tried(parameters(data, algorithm, n), each, chosen)


def untuned(results: Results, data: str, algorithm: str, runs: Iterable[int]) -> Any:
    """Return the results of `plain_scores` on several runs, by split and measure."""
    return np.concatenate([results.of(plain_scores, data, algorithm, run) for run in runs])


def estimated(values: Any, data: str, measure: str) -> Estimate:
    """Return the mean of a measure over splits."""
    return estimate(column(values, measure), PROBLEMS[data].test_to_train)


def apart(of: Any, less: Any, data: str, measure: str = "F+") -> Estimate:
    """Return the mean difference of a measure over splits."""
    return difference(column(of, measure), column(less, measure), PROBLEMS[data].test_to_train)


def cells(row: str, values: Any, data: str, sign: str = "+", paper: Mapping[str, Any] | None = None) -> dict[Any, Cell]:
    """Return precision, recall and F1 of a class next to the printed numbers: the row ``paper``, if there is one."""
    shown = {} if paper is None or data not in PUBLIC else paper
    return {(row, m): Cell(estimated(values, data, m + sign), shown.get(m)) for m in ("P", "R", "F")}


def printed_row(name: str, **keys: str) -> dict[str, Any]:
    """Return the row of a printed table with these cells."""
    (row,) = (row for row in printed(name) if all(row[key] == value for key, value in keys.items()))
    return row


def claim_of_all(text: str, differences: Mapping[str, Estimate]) -> Claim:
    """Return a claim that several means are above 0.

    It held if each is, significantly at 5 %; it is not reproduced if one is below 0, significantly at 5 % after
    Bonferroni's correction; else it is undecided.
    """
    evidence = "; ".join(f"{name} {found.mean:+.3f} ± {found.error:.3f}" for name, found in differences.items())
    if all(found.mean > 0.0 and found.p_value < 0.05 for found in differences.values()):
        verdict = HELD
    elif any(found.mean < 0.0 and found.p_value * len(differences) < 0.05 for found in differences.values()):
        verdict = NOT_REPRODUCED
    else:
        verdict = UNDECIDED
    return Claim(text, verdict, evidence)
