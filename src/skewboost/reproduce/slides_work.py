"""The ten rows of lecture slides after [tan2005]_, and stumps on the samples that are printed there.

References
----------
.. [tan2005] P.-N. Tan, M. Steinbach, V. Kumar, "Introduction to data mining", Addison-Wesley (2005), figures 5.35 to
   5.39 and algorithm 5.7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skewboost import AdaBoostClassifier
from skewboost.boosting.variants.adaboost import AdaBoost
from skewboost.learners import Stump
from skewboost.learners.resampling import ResampledLearner
from skewboost.learners.samplers import Sample
from skewboost.reproduce.printed import printed

X = np.arange(1, 11) / 10
BETWEEN = np.arange(0.005, 1.1, 0.01)  # no cut of the examples is one of these


def class_at(x: Any) -> Any:
    """Return the class of points on the line."""
    return np.where((x < 0.35) | (x > 0.75), 1, -1)


Y = class_at(X)


def drawn(figure: float) -> list[Any]:
    """Return the numbers of the rows that were drawn in each round of a figure."""
    samples = [row["sample"] for row in printed("slides_stumps") if row["figure"] == figure]
    return [np.rint(10 * np.array(sample.split(), dtype=float)).astype(int) - 1 for sample in samples]


def labels_of_stump(rows: Any, points: Any) -> Any:
    """Return what a stump that was fitted to some rows says; their class, if they have only one."""
    if abs(Y[rows].sum()) == len(rows):
        return np.full(len(points), Y[rows[0]])
    model = AdaBoostClassifier(estimator=Stump(constant=True), n_estimators=1, pos_label=1)
    return model.fit(X[rows, None], Y[rows]).predict(np.asarray(points)[:, None])


def cut_and_classes(labels: Any) -> dict[str, float]:
    """Return the cut of a stump, NaN for a constant, and its classes on both sides, given its labels at `BETWEEN`."""
    change = np.flatnonzero(np.diff(labels))
    cut = round(float(BETWEEN[change[0]]) + 0.005, 2) if len(change) else math.nan
    return {"cut": cut, "left": int(labels[0]), "right": int(labels[-1])}


class PrintedSamples:
    """A sampler that draws the rows of a figure, round by round."""

    def __init__(self, figure: float) -> None:
        self.samples = drawn(figure)

    def draw(self, data: Any, weights: Any, rng: Any) -> Sample:
        """Return the rows of the next round."""
        return Sample(self.samples.pop(0))


class ErrorDividedByN(AdaBoost):
    """The slip of algorithm 5.7: the weighted error is divided by the number of rows, although the weights sum to 1."""

    def step(self, state: Any, h: Any) -> tuple[float, float]:
        """On ten rows the error is ten times too small."""
        right, wrong = super().step(state, h)
        error = wrong / (right + wrong) / state.n
        return 1.0 - error, error


class PrintedAdaBoostClassifier(AdaBoostClassifier):
    """AdaBoost with that slip."""

    _rule_class = ErrorDividedByN


def boosted(slip: bool) -> Any:
    """Return AdaBoost after three rounds on the printed samples, with or without the slip."""
    learner = ResampledLearner(Stump(constant=True), PrintedSamples(5.39))
    booster = PrintedAdaBoostClassifier if slip else AdaBoostClassifier
    return booster(estimator=learner, n_estimators=3, pos_label=1).fit(X[:, None], Y)
