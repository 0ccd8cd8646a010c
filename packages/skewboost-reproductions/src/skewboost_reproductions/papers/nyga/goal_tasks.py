"""Classification goals, as in table 3.5 of Nyga's thesis: costs chosen on the test rows, and on the training rows.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), §3.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost import GoalSearchCV
from skewboost.evaluate import match_rate
from skewboost.goals import GoalNotReachableError
from skewboost_reproductions.experiment import Task
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, scores, splits, trained_scores

ALGORITHMS = ("AdaC2", "AdaC3", "CSRA", "CSGA", "CSLB")
COMPOUND = ("AdaC2", "AdaC3")  # costs enter in every round; the others spread them over the rounds
TOLERANCE = 1e-3
LARGEST_COST = {algorithm: 1e6 if algorithm in COMPOUND else 1e45 for algorithm in ALGORITHMS}
COSTS_TRIED, FEWER_TRIED = 50, 30
COSTS_SEARCHED, FEWER_SEARCHED = 15, 8
CONFIDENCE = 0.9
RAISED, LOWERED = "raised", "lowered"
BY_COST, CERTIFIED = "cross-validated", "certified"
TOO_FEW, NOT_FOUND = "too few rows", "not found"
NUMBERS = {"P": "precision", "R": "recall", "F": "f1", "error": "error"}


@dataclass(frozen=True)
class Aim:
    """A goal of table 3.5.

    Attributes
    ----------
    data : str
        A name of `PROBLEMS`.
    measure : {"recall", "precision"}
        What is to be reached.
    rate : float
        How much of it.
    """

    data: str
    measure: str
    rate: float

    @property
    def letter(self) -> str:
        """R or P."""
        return self.measure[0].upper()

    @property
    def label(self) -> str:
        """As in table 3.5."""
        return f"{self.letter} = {self.rate * 100:.0f} %"

    @property
    def title(self) -> str:
        """With the data set."""
        return f"{PROBLEMS[self.data].label}, {self.label}"

    @property
    def key(self) -> tuple[str, str, float]:
        """The arguments of tasks."""
        return self.data, self.measure, self.rate


BANANA = tuple(Aim("banana", "recall", rate) for rate in (0.85, 0.9, 0.95))
CANCER_95, CANCER_100 = Aim("cancer", "recall", 0.95), Aim("cancer", "recall", 1.0)
FIRE, AIRBAG = Aim("fire", "precision", 1.0), Aim("airbag", "precision", 1.0)
INTRUSION = (Aim("intrusion", "precision", 1.0), Aim("intrusion", "recall", 1.0))
PUBLIC_AIMS = (*BANANA, CANCER_95, CANCER_100)
STAND_INS = (FIRE, AIRBAG, *INTRUSION)
AIMS = (*PUBLIC_AIMS, *STAND_INS)


def model_with(data: str, measure: str, algorithm: str, scaled: str) -> Callable[[float], Any]:
    """Return the function from a cost ratio, of a miss to a false alarm, to a classifier.

    With "raised" the cost of the important class is varied, and that of the other one is 1; with "lowered" it is the
    other way round. The important class is the positive one for recall, and the negative one for precision.
    """
    if (measure == "recall") == (scaled == RAISED):
        return lambda ratio: classifier(data, algorithm, ratio)
    return lambda ratio: classifier(data, algorithm, 1.0, other_cost=1.0 / ratio)


def stacked(data: str, runs: int) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """Return the training and test rows of all splits below each other, and which rows belong to which."""
    tables, labels, parts, start = [], [], [], 0
    for split in (split for run in range(runs) for split in splits(data, run)):
        middle, end = start + len(split.y), start + len(split.y) + len(split.y_test)
        parts.append((np.arange(start, middle), np.arange(middle, end)))
        tables += [split.X, split.X_test]
        labels += [split.y, split.y_test]
        start = end
    return np.concatenate(tables), np.concatenate(labels), parts


def matched(data: str, measure: str, rate: float, algorithm: str, scaled: str, runs: int, most: int) -> dict[str, Any]:
    """Return the one cost for all splits at which the mean of a measure over their test rows is the rate.

    Returns
    -------
    dict
        ``cost``, the ratio of the costs; ``met``, whether the mean is the rate up to the tolerance; ``tried``, costs
        and means; and ``each``, `NUMBERS` by split.
    """
    X, y, parts = stacked(data, runs)
    found = match_rate(
        model_with(data, measure, algorithm, scaled), X, y, measure=measure, rate=rate, tolerance=TOLERANCE, cv=parts,
        repeats=1, max_points=most, max_cost=LARGEST_COST[algorithm], pos_label=1,
    )  # fmt: skip
    each = np.column_stack([found.values(name) for name in NUMBERS.values()]).tolist()
    return {"cost": found.cost, "met": found.met, "tried": [list(point) for point in found.tried], "each": each}


def at_equal_costs(data: str, algorithm: str, runs: int) -> list[list[float]]:
    """Return the measures with equal costs on each split."""
    model = classifier(data, algorithm, 1.0)
    return [trained_scores(model, split) for run in range(runs) for split in splits(data, run)]


def searched(
    data: str, measure: str, rate: float, algorithm: str, how: str, run: int, n_splits: int, most: int
) -> list[dict[str, Any]]:
    """Return what `GoalSearchCV` finds on the training rows of the first splits of a run, and its test measures.

    Returns
    -------
    list of dict
        By split: ``refused``, why there is no model (None: there is one), and ``scores``, its measures on test rows.
    """
    return [
        _search_on(split, data, f"{measure} >= {rate}", algorithm, how, most) for split in splits(data, run)[:n_splits]
    ]


def _search_on(split: Any, data: str, goal: str, algorithm: str, how: str, most: int) -> dict[str, Any]:
    search = GoalSearchCV(
        classifier(data, algorithm, 1.0).set_params(cost=None), goal, tune="cost" if how == BY_COST else "both",
        confidence=None if how == BY_COST else CONFIDENCE, weights="counts", max_points=most, pos_label=1,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that decisions are of little use: the tables show it
        try:
            search.fit(split.X, split.y)
        except GoalNotReachableError as error:
            return {"refused": TOO_FEW if error.parameter == "confidence" else NOT_FOUND, "scores": None}
    return {"refused": None, "scores": scores(split.y_test, search.predict(split.X_test))}


# ------------------------------------------------------------------------ how much of it


def runs_of(data: str, quick: bool) -> int:
    """Return the number of runs whose test rows choose a cost."""
    return {"banana": 3, "intrusion": 3}.get(data, 1) if quick else PROBLEMS[data].runs


def searches_of(data: str, quick: bool) -> tuple[int, int]:
    """Return the number of runs in which `GoalSearchCV` searches, and of splits in each."""
    if quick:
        return 1, 1
    return {"banana": (PROBLEMS["banana"].runs, 1), "cancer": (3, 5), "intrusion": (3, 1)}.get(data, (1, 10))


def ways(algorithm: str) -> tuple[str, ...]:
    """Return how costs are varied. All algorithms but AdaC3, as printed, depend on their ratio only."""
    return (RAISED, LOWERED) if algorithm == "AdaC3" else (RAISED,)


def match_arguments(aim: Aim, algorithm: str, way: str, quick: bool) -> tuple[Any, ...]:
    """Return the arguments of `matched`."""
    return *aim.key, algorithm, way, runs_of(aim.data, quick), FEWER_TRIED if quick else COSTS_TRIED


def search_arguments(aim: Aim, algorithm: str, how: str, quick: bool) -> list[tuple[Any, ...]]:
    """Return the arguments of `searched` for each run."""
    runs, n_splits = searches_of(aim.data, quick)
    most = FEWER_SEARCHED if quick else COSTS_SEARCHED
    return [(*aim.key, algorithm, how, run, n_splits, most) for run in range(runs)]


def tasks(quick: bool) -> list[Task]:
    """Return a task per goal, algorithm and way of choosing, the public data first."""
    made = []
    for aims in (PUBLIC_AIMS, STAND_INS):
        both = [(aim, algorithm) for aim in reversed(aims) for algorithm in reversed(ALGORITHMS)]
        made += [Task(matched, *match_arguments(aim, a, way, quick)) for aim, a in both for way in ways(a)]
        made += [
            Task(searched, *args)
            for aim, a in both
            for how in (BY_COST, CERTIFIED)
            for args in search_arguments(aim, a, how, quick)
        ]
    equal = [Task(at_equal_costs, data, a, runs_of(data, quick)) for data in PROBLEMS for a in ALGORITHMS]
    return made + equal
