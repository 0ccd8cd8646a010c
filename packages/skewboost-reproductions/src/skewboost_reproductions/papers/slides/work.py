"""The examples of lecture slides after [tan2005]_: stumps on the samples that are printed, random ones, and codes.

References
----------
.. [tan2005] P.-N. Tan, M. Steinbach, V. Kumar, "Introduction to data mining", Addison-Wesley (2005), figures 5.35 to
   5.39 and algorithm 5.7.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier

from skewboost import AdaBoostClassifier, CodeMatrixClassifier
from skewboost.boosting.variants.adaboost import AdaBoost
from skewboost.evaluate import bootstrap_632
from skewboost.learners import Stump
from skewboost.learners.resampling import ResampledLearner
from skewboost.learners.samplers import Sample
from skewboost_reproductions.printed import printed

X = np.arange(1, 11) / 10
CODE = {
    "y1": [1, 1, 1, 1, 1, 1, 1],
    "y2": [0, 0, 0, 0, 1, 1, 1],
    "y3": [0, 0, 1, 1, 0, 0, 1],
    "y4": [0, 1, 0, 1, 0, 1, 0],
}
STRINGS = np.array(list(product((0, 1), repeat=7)))
BLOCK, SIZE = 100, 10  # random ensembles per task, and their members
POINTS, BAGS = 50, 25  # random points and members where estimates of errors are compared with true ones
BETWEEN = np.arange(0.005, 1.1, 0.01)  # no cut of the examples is one of these


def class_at(x: Any) -> Any:
    """Return the class of points on the line."""
    return np.where((x < 0.35) | (x > 0.75), 1, -1)


Y = class_at(X)


def drawn(figure: float) -> list[Any]:
    """Return the numbers of the rows that were drawn in each round of a figure."""
    samples = [row["sample"] for row in printed("slides", "stumps") if row["figure"] == figure]
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


def bagging() -> list[Any]:
    """Return the stump and the predictions of each round of figure 5.35."""
    return [
        {**cut_and_classes(labels_of_stump(rows, BETWEEN)), "labels": labels_of_stump(rows, X).tolist()}
        for rows in drawn(5.35)
    ]


def boosting(slip: bool) -> dict[str, Any]:
    """Return the stump, the step, the weights and the predictions of each round, and F after the last one."""
    model = boosted(slip)
    rounds, F, on_line = [], np.zeros(len(X)), np.zeros(len(BETWEEN))
    stages = zip(model.staged_decision_function(X[:, None]), model.staged_decision_function(BETWEEN[:, None]))
    for record, (after, line_after) in zip(model.history_, stages):
        weights = np.exp(-Y * F)
        stump = cut_and_classes(np.sign(line_after - on_line))
        stump |= {"alpha": record["step"], "weights": (weights / weights.sum()).tolist()}
        rounds.append({**stump, "labels": np.sign(after - F).tolist()})
        F, on_line = after, line_after
    return {"rounds": rounds, "F": F.tolist()}


def random_ensembles(first: int) -> list[Any]:
    """Return the share of distinct rows, and the errors of members, bagging and boosting, for random samples."""
    found = []
    for seed in range(first, first + BLOCK):
        bags = np.random.default_rng(seed).integers(len(X), size=(SIZE, len(X)))
        labels = np.array([labels_of_stump(rows, X) for rows in bags])
        votes = labels.sum(axis=0) * Y
        wrong = (votes < 0) + 0.5 * (votes == 0)  # a tie is decided by chance
        booster = AdaBoostClassifier(
            estimator=Stump(constant=True), sampler="bootstrap", n_estimators=SIZE, pos_label=1, random_state=seed
        )
        distinct = np.mean([len(set(rows)) for rows in bags.tolist()]) / len(X)
        errors = (labels != Y).mean(), wrong.mean(), 1.0 - booster.fit(X[:, None], Y).score(X[:, None], Y)
        found.append([float(distinct), *map(float, errors)])
    return found


def estimates_of_errors(first: int) -> list[Any]:
    """Return estimated and true errors of bagged stumps, out of bag, and of one stump, by the 0.632 bootstrap.

    They are trained on random points, and the true error is that on the whole line.
    """
    line = np.arange(0.0505, 1.05, 0.001)[:, None]
    truth = class_at(line.ravel())
    found = []
    for seed in range(first, first + BLOCK // 5):
        x = np.random.default_rng(seed).uniform(0.05, 1.05, (POINTS, 1))
        y = class_at(x.ravel())
        stump = AdaBoostClassifier(estimator=Stump(), n_estimators=1)
        bags = BaggingClassifier(stump, BAGS, oob_score=True, random_state=seed).fit(x, y)
        one = bootstrap_632(stump, x, y, measure="error", draws=BAGS, random_state=seed).estimate
        true = (float((model.predict(line) != truth).mean()) for model in (bags, stump.fit(x, y)))
        found.append([1.0 - float(bags.oob_score_), one, *true])
    return found


def decoding() -> dict[str, Any]:
    """Return the distance of every string of seven bits to each codeword, and what the code corrects."""
    names = np.repeat(list(CODE), 2)
    model = CodeMatrixClassifier(AdaBoostClassifier(n_estimators=1), code=CODE, decoding="hamming")
    model.fit(np.array([CODE[name] for name in names]), names)  # each of the seven classifiers reads a bit
    distances = np.rint(-model.decision_function(STRINGS)).astype(int)
    return {"distances": distances.tolist(), "smallest": model.min_distance_, "correctable": model.n_correctable_}


def decoded_with_errors(distances: Any) -> list[tuple[int, int, int]]:
    """Return, for 0 to 7 wrong bits, how many strings are nearest to their class, in a tie, or nearer to another."""
    counts = np.zeros((8, 3), dtype=int)
    for (k, word), n_wrong in product(enumerate(CODE.values()), range(8)):
        for places in combinations(range(7), n_wrong):
            string = np.array(word)
            string[list(places)] ^= 1
            to = distances[int("".join(map(str, string)), 2)]
            counts[n_wrong, int(np.sign(to[k] - np.delete(to, k).min())) + 1] += 1
    return [tuple(row) for row in counts.tolist()]
