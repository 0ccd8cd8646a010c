"""Learning curves: how a booster fares from round to round, on the rows of training and on others.

References
----------
.. [1] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM Research
   Report RZ 3402 (2002), section 3.2, figures 3-1 and 3-2.
.. [2] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
   München (2010), figure 3.2.
.. [3] R. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the effectiveness of
   voting methods", Annals of Statistics 26 (1998) 1651-1686.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.boosting.loop import observed
from skewboost.errors import InputError
from skewboost.evaluate.learning_curve_result import PARTS, LearningCurve
from skewboost.evaluate.problem import Problem, problem_of
from skewboost.evaluate.quantiles import MARGIN_LEVELS, WeightWatcher, quantiles
from skewboost.evaluate.running import (
    Rows,
    check_estimator_is_one,
    check_jobs,
    fitted,
    in_parallel,
    read_rows,
    seeds_for,
)
from skewboost.evaluate.splitting import check_classes, repeated_folds
from skewboost.evaluate.stages import Stage, check_staged, own_pos_label, stages_of
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import measures_of_counts, multiclass_measures
from skewboost.typing import Array

MAX_EXPONENT = 700.0


@dataclass
class _Fit:
    """What was seen of one fit, a list entry per round."""

    measured: dict[str, dict[str, Array]]  # part, measure
    margins: dict[str, Array] | None
    kind: str
    weights: tuple[Array, Array] | None
    n_rounds: int


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    repeats: int = 1,
    cost: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: Any = None,
) -> LearningCurve:
    r"""How a booster fares after each round, on the rows of training and on held-out ones; one fit per fold.

    Everything is computed from staged predictions. Of two classes there are: error, accuracy, balanced accuracy,
    G-mean, MCC, precision, recall and F1 of both classes, cost (the mean per example), and where there is a score also
    the exponential loss :math:`\frac1n \sum e^{-yF}` and quantiles of margins. With more classes there are error,
    accuracy, balanced accuracy, G-mean and cost.

    Margins are :math:`y F(x) / \sum_t |g_t(x)|`, in [-1, 1], where a booster of ours is the sum of votes
    :math:`g_t`: 1 if all that voted on the row were right [3]_. For others (WeightBoost, scikit-learn's) they are
    :math:`y F`. F is what the rounds add up to, before `decision_function` shifts or calibrates it by costs; of
    another library it is its `staged_decision_function`, which scikit-learn's AdaBoost divides by the sum of its steps.

    For boosters of ours there are also quantiles of the weights that each round was fitted under (those that rows were
    drawn by, where a sampler draws), times the number of examples: equal weights are 1. [1]_ reads them so: falling
    lower quantiles show that the easy examples lose attention, and a maximum that climbs without end shows a booster
    that looks at too few examples, which overfits.

    Parameters
    ----------
    estimator : classifier with staged_predict
        A booster of ours, one of scikit-learn's, or a pipeline that ends in one. If it stops early, "train" is all
        rows that it was given, those that it held out included.
    X : table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Class labels. The positive class is the estimator's `pos_label`, else the rarer.
    cv : int, splitter or iterable of (train, test), default=5
        The folds; of a number they are stratified and shuffled.
    repeats : int, default=1
        How often folds are drawn.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost, as in `skewboost.metrics.expected_cost`; it is not told to the estimator. "balanced", which
        None means too, is by the shares in `y`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for, in training and in measures.
    n_jobs : int or None, default=None
        How many folds are fitted at a time. The result is the same for any number.
    verbose : int, default=0
        1 draws a bar on stderr; a function is called after each fit, as in `compare`.
    random_state : int, RandomState or None, default=None
        Seeds folds, and estimators whose own `random_state` is None.

    Returns
    -------
    LearningCurve

    References
    ----------
    .. [1] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM Research
       Report RZ 3402 (2002), figures 3-1 and 3-2.
    .. [3] R. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the effectiveness
       of voting methods", Annals of Statistics 26 (1998) 1651-1686.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import learning_curve
    >>> X, y = load_rare_cancer()
    >>> curve = learning_curve(AdaBoostClassifier(n_estimators=20), X, y, cv=3, random_state=0)
    >>> curve.values("recall", "test").shape
    (3, 20)
    >>> bool(curve.mean("error", "train")[-1] < curve.mean("error", "test")[-1])
    True
    """
    check_estimator_is_one(estimator)
    check_staged(estimator)
    check_jobs(n_jobs, verbose)
    rows = read_rows(estimator, X, y, sample_weight)
    problem = problem_of(estimator, rows.y, rows.weights, cost, own_pos_label(estimator))
    (seed,) = seeds_for(random_state, 1)
    folds = repeated_folds(cv, rows.y, repeats, seed, weights=rows.weights, X=rows.X)
    check_classes(folds, rows.y, problem.classes)
    tasks = [
        (estimator, rows.part(train), rows.part(test), problem, own_seed)
        for (train, test), own_seed in zip(folds, seeds_for(seed, len(folds)))
    ]
    fits = in_parallel(_watch_fit, tasks, n_jobs, verbose)
    per_repeat = len(folds) // repeats
    numbers = np.array([divmod(k, per_repeat) for k in range(len(folds))])
    return _joined(fits, numbers, problem, type(estimator).__name__.removesuffix("Classifier"))


def _watch_fit(estimator: Any, train: Rows, test: Rows, problem: Problem, seed: int) -> _Fit:
    watcher = WeightWatcher()
    with observed(watcher):
        model = fitted(estimator, train, seed)
    watcher.close()
    measured, margins, kinds, n_rounds = {}, {}, set(), 0
    for part, rows in (("train", train), ("test", test)):
        tally = _Tally(rows, problem)
        for stage in stages_of(model, rows.X, problem):
            tally.add(stage)
        if not tally.n_rounds:
            raise InputError(
                f"{type(model).__name__} made no round on a training fold, so there is no curve. Its weak learner "
                "finds nothing: give it more rows, or another estimator."
            )
        measured[part], n_rounds = tally.measures(), tally.n_rounds
        if tally.margins:
            margins[part] = np.array(tally.margins)
            kinds.add(tally.kind)
    weights = None
    if len(watcher.quantiles) >= n_rounds:  # others were trained, but are not in use
        weights = np.array(watcher.quantiles[:n_rounds]), np.array(watcher.of_positives[:n_rounds])
    return _Fit(measured, margins or None, "".join(kinds), weights, n_rounds)


class _Tally:
    """What one part of the rows shows, round by round."""

    def __init__(self, rows: Rows, problem: Problem) -> None:
        self.problem, self.weights = problem, rows.weights
        self.truth = problem.codes(rows.y)
        self.positive = rows.y == problem.pos_label if problem.binary else None
        self.counts: list[Counts] = []
        self.of_many: list[dict[str, float]] = []
        self.losses: list[float] = []
        self.margins: list[Array] = []
        self.kind = ""

    @property
    def n_rounds(self) -> int:
        return len(self.counts) + len(self.of_many)

    def add(self, stage: Stage) -> None:
        """Look at a round."""
        if self.positive is None:
            self.of_many.append(multiclass_measures(self.truth, stage.said, self.problem.matrix, self.weights))
            return
        flagged = (stage.said == self.truth) == self.positive
        self.counts.append(Counts.of(self.positive, flagged, self.weights))
        if stage.F is not None:
            raw = np.where(self.positive, stage.F, -stage.F)
            self.losses.append(exponential_loss(raw, self.weights))
            self.kind = "raw" if stage.voted is None else "votes"
            m = raw if stage.voted is None else np.clip(raw / np.maximum(stage.voted, 1e-300), -1.0, 1.0)
            self.margins.append(quantiles(m, MARGIN_LEVELS, self.weights))

    def measures(self) -> dict[str, Array]:
        """By name, an entry per round."""
        if self.positive is None:
            return {name: np.array([m[name] for m in self.of_many]) for name in self.of_many[0]}
        table = np.array([(c.tp, c.fp, c.fn, c.tn) for c in self.counts], dtype=np.float64)
        found = measures_of_counts(Counts(*table.T), self.problem.negative_first)
        if self.losses:
            found["exponential_loss"] = np.array(self.losses)
        return found


def exponential_loss(margins: Array, weights: Array | None) -> float:
    """The mean of exp(-m), which ends at exp(700)."""
    top = float((-margins).max())
    return float(np.exp(min(top + np.log(np.average(np.exp(-margins - top), weights=weights)), MAX_EXPONENT)))


def _joined(fits: list[_Fit], folds: Array, problem: Problem, name: str) -> LearningCurve:
    """Fits of different lengths side by side."""
    lengths = np.array([f.n_rounds for f in fits])
    longest = int(lengths.max())
    measures = tuple(fits[0].measured["train"])
    values = {
        (m, part): np.array([_carried(f.measured[part][m], longest) for f in fits]) for m in measures for part in PARTS
    }
    seen = [f.margins for f in fits if f.margins is not None]
    margins = {part: np.array([_carried(m[part], longest) for m in seen]) for part in PARTS}
    told = [f.weights for f in fits if f.weights is not None]
    weights, positives = (np.array([_ended(w[k], longest) for w in told]) for k in range(2))
    return LearningCurve(
        np.arange(1, longest + 1), lengths, measures, folds, problem.pos_label, name, fits[0].kind,
        margins if len(seen) == len(fits) else None, weights if len(told) == len(fits) else None,
        positives if len(told) == len(fits) else None, _values=values,
    )  # fmt: skip


def _carried(values: Array, n: int) -> Array:
    """With the last entry repeated: a model that has ended stays what it is."""
    return np.concatenate((values, np.repeat(values[-1:], n - len(values), axis=0)))


def _ended(values: Array, n: int) -> Array:
    """With NaN after the last entry: there were no more rounds."""
    return np.concatenate((values, np.full((n - len(values), *values.shape[1:]), np.nan)))
