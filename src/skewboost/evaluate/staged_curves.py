"""Staged curves: how a booster performs after each round, on its training rows and on held-out rows.

References
----------
.. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
   Universität München (2010), figure 3.2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skewboost.boosting.loop import observed
from skewboost.boosting.state import State
from skewboost.engine.training_set import EXAMPLES, Y
from skewboost.errors import InputError
from skewboost.evaluate.problem import Problem, Sample, check_classes, problem_of, read_sample, repeated_folds
from skewboost.evaluate.running import (
    VERBOSE,
    all_finished,
    any_finished,
    check_classifier,
    fit_copy,
    import_pandas,
    run_in_parallel,
    seeds_for,
    warn_of_divided_groups,
)
from skewboost.evaluate.stages import check_staged, margins_of_classes, stages_of
from skewboost.meta.inner_labels import own_pos_label
from skewboost.metrics.counts import Counts
from skewboost.metrics.measures import find_measure, measures_of_counts, multiclass_measures
from skewboost.parameters import N_JOBS, check_arguments
from skewboost.typing import Array

PARTS = ("train", "test")
WEIGHT_LEVELS = (0.25, 0.5, 0.75, 0.95, 1.0)
MARGIN_LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75)
MAX_EXPONENT = 700.0


@dataclass(frozen=True)
class StagedCurve:
    """The result of `staged_curve`: measures, margins and weights by fit and round.

    Attributes
    ----------
    rounds : ndarray of shape (n_rounds,)
        1, 2, … up to the longest fit.
    n_rounds : ndarray of shape (n_fits,)
        The number of rounds of each fit. If a fit ended before others, its last measures and margins are repeated, and
        its weights are NaN after the last round.
    measures : tuple of str
        The names that `values` takes.
    margin_quantiles : dict of "train" and "test" to ndarray of shape (n_fits, n_rounds, n_levels), or None
        Of ``y F / Σ|terms|`` if `margins` is "votes", else of ``y F``; None if there is no F. With more than two
        classes, y F is the score of the true class minus the largest of the others.
    margin_levels, weight_levels : tuple of float
        The levels of the quantiles; 0 is the minimum and 1 the maximum.
    margins : str
        "votes": margins are in [-1, 1]; "raw": F is not a sum of votes, or belongs to another library; "" if there are
        none.
    weight_quantiles : ndarray of shape (n_fits, n_rounds, n_levels) or None
        Of the weights that a round was fitted with, times the number of examples, so that equal weights are 1. None for
        estimators of other libraries, and for more than two classes.
    weight_of_positives : ndarray of shape (n_fits, n_rounds) or None
        The fraction of the weight that the positive class had in a round.
    folds : ndarray of shape (n_fits, 2)
        The repeat and the fold of each fit; the repeat is 0 if `cv` is not a number.
    pos_label : label or None
        The positive class.
    name : str
        The name of the estimator.
    complete : bool
        Whether all fits are finished; False after Ctrl-C.
    """

    rounds: Array
    n_rounds: Array
    measures: tuple[str, ...]
    folds: Array
    pos_label: Any
    name: str
    margins: str
    margin_quantiles: dict[str, Array] | None
    weight_quantiles: Array | None
    weight_of_positives: Array | None
    margin_levels: tuple[float, ...] = MARGIN_LEVELS
    weight_levels: tuple[float, ...] = WEIGHT_LEVELS
    complete: bool = True
    _values: dict[tuple[str, str], Array] = field(repr=False, default_factory=dict)

    def values(self, measure: str, part: str = "test") -> Array:
        """Return one row per fit and one column per round; NaN where the measure is not defined."""
        name = find_measure(measure, among=self.measures).name
        if part not in PARTS:
            raise InputError(f"part={part!r} must be 'train' or 'test'.")
        return self._values[name, part]

    def mean(self, measure: str, part: str = "test") -> Array:
        """Return the mean over fits, per round, without fits where the measure is NaN."""
        return over_fits(self.values(measure, part))[0]

    def spread(self, measure: str, part: str = "test") -> Array:
        """Return the standard deviation over fits, per round; NaN where there are fewer than two."""
        return over_fits(self.values(measure, part))[1]

    def best_round(self, measure: str = "error", part: str = "test") -> int:
        """Return the round with the best mean, the first one in a tie.

        It is chosen on the test rows, so its value there is too optimistic. Hold out other rows, or use
        `early_stopping`.
        """
        mean = find_measure(measure, among=self.measures).sign * self.mean(measure, part)
        if np.isnan(mean).all():
            raise InputError(f"{measure} is NaN in every round of {part!r}.", "Choose another measure.")
        return int(self.rounds[np.nanargmax(mean)])

    def as_frame(self) -> Any:
        """Return a tidy table with a row per fit, round, part and measure, or quantile such as "weight_q95"."""
        pd = import_pandas()
        tables = dict(self._values)
        for part, values in (self.margin_quantiles or {}).items():
            for k, level in enumerate(self.margin_levels):
                tables[f"margin_q{100 * level:.0f}", part] = values[:, :, k]
        if self.weight_quantiles is not None and self.weight_of_positives is not None:
            for k, level in enumerate(self.weight_levels):
                tables[f"weight_q{100 * level:.0f}", "train"] = self.weight_quantiles[:, :, k]
            tables["weight_of_positives", "train"] = self.weight_of_positives
        repeats, folds = np.repeat(self.folds, len(self.rounds), axis=0).T
        where = {"repeat": repeats, "fold": folds, "round": np.tile(self.rounds, len(self.folds))}
        frames = [
            pd.DataFrame({**where, "part": part, "measure": measure, "value": values.ravel()})
            for (measure, part), values in tables.items()
        ]
        return pd.concat(frames, ignore_index=True)


def over_fits(values: Array, axis: int = 0) -> tuple[Array, Array]:
    """Return mean and standard deviation along an axis, without NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is NaN
        return np.asarray(np.nanmean(values, axis=axis)), np.asarray(np.nanstd(values, axis=axis, ddof=1))


@dataclass
class _Fit:
    """The results of one fit, an entry per round."""

    values: dict[str, dict[str, Array]]  # part, measure
    margins: Any  # by part, if there are any
    kind: str
    weights: Any  # quantiles, and the fraction of positives, if they are known
    n_rounds: int


def staged_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    repeats: int = 1,
    cost: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
    random_state: Any = None,
) -> StagedCurve:
    r"""Measure a booster after each round, on its training rows and on held-out rows, with one fit per fold.

    All measures are computed from staged predictions. With two classes these are all measures of decisions in
    `skewboost.metrics.MEASURES`, the cost per example, and for boosters with a score also the exponential loss
    :math:`\frac1n \sum e^{-yF}`. With more classes they are error, accuracy, balanced accuracy, G-mean and cost.
    Boosters with scores also have quantiles of margins.

    Margins are :math:`y F(x) / \sum_t |g_t(x)|`, in [-1, 1], if a skewboost booster is a sum of votes :math:`g_t`: 1 if
    all votes on the row were right [schapire1998]_. For other boosters (WeightBoost, scikit-learn's) they are
    :math:`y F`. With more than two classes the margin is the difference between the votes for the class of a row and
    the most votes for any other class ([cuendet2002]_ §1.3). It is positive where the decision is right, and is divided
    by the largest difference that there could be, :math:`\sum_t (\max_l g_{tl}(x) - \min_l g_{tl}(x))`. F is the sum of
    the rounds, before `decision_function` shifts or calibrates it by costs. For other libraries it is
    `staged_decision_function`, which scikit-learn's AdaBoost divides by the sum of its steps.

    For skewboost boosters there are also quantiles of the weights that each round was fitted with (those by which rows
    were drawn, if a sampler draws), times the number of examples: equal weights are 1. Following [cuendet2002]_,
    falling lower quantiles show that easy examples lose weight, and a maximum that keeps rising shows a booster that
    concentrates on too few examples and overfits.

    scikit-learn's ``learning_curve`` is about something else: the number of training rows.

    Parameters
    ----------
    estimator : classifier with staged_predict
        A skewboost booster, one of scikit-learn's, or a pipeline that ends in one. If it stops early, "train" is all
        rows that it was given, including those that it held out.
    X : table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Class labels. The positive class is the estimator's `pos_label`, else the rarer one.
    cv : int, splitter or iterable of (train, test), default=5
        The folds; a number means stratified and shuffled folds.
    repeats : int, default=1
        How often folds are drawn.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost, as in `skewboost.metrics.expected_cost`, for the measures only: the estimator does not get
        it. None means "balanced": inversely proportional to the class frequencies in `y`.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How many examples a row stands for, in training and in measures.
    groups : array-like of shape (n_samples,) or None, default=None
        Which rows belong together: no fold divides a group. Estimators whose `fit` takes `groups` get them. There is a
        `DividedGroupsWarning` about others that hold out training rows.
    n_jobs : int or None, default=None
        The number of folds to fit in parallel. The result does not depend on it.
    verbose : int or callable, default=0
        1 shows a progress bar on stderr; a function is called after each fit, as in `compare`.
    random_state : int, RandomState or None, default=None
        Seeds folds, and estimators whose own `random_state` is None.

    Returns
    -------
    StagedCurve
        After Ctrl-C it has the finished fits and ``complete`` is False, with an `IncompleteResultWarning`.

    References
    ----------
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002), §1.3, figures 3-1 and 3-2.
    .. [schapire1998] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the
       effectiveness of voting methods", Annals of Statistics 26 (1998) 1651-1686.

    Examples
    --------
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.evaluate import staged_curve
    >>> X, y = load_rare_cancer()
    >>> curve = staged_curve(AdaBoostClassifier(n_estimators=20), X, y, cv=3, random_state=0)
    >>> curve.values("recall", "test").shape
    (3, 20)
    >>> bool(curve.mean("error", "train")[-1] < curve.mean("error", "test")[-1])
    True
    """
    check_classifier(estimator)
    check_staged(estimator)
    check_arguments(n_jobs=(n_jobs, N_JOBS), verbose=(verbose, VERBOSE))
    rows = read_sample(estimator, X, y, sample_weight, groups)
    name = type(estimator).__name__.removesuffix("Classifier")
    if groups is not None:
        warn_of_divided_groups({name: estimator})
    problem = problem_of(estimator, rows.y, rows.weights, cost, own_pos_label(estimator))
    model = problem.copy_of(estimator)
    (seed,) = seeds_for(random_state, 1)
    folds = repeated_folds(cv, rows.y, repeats, seed, weights=rows.weights, X=rows.X, groups=rows.groups)
    check_classes(folds, rows.y, problem.classes)
    tasks = [
        (model, rows.part(train), rows.part(test), problem, own_seed)
        for (train, test), own_seed in zip(folds, seeds_for(seed, len(folds)))
    ]
    fits = run_in_parallel(_observe_fit, tasks, n_jobs, verbose, any_finished)
    per_repeat = len(folds) // repeats
    numbers = np.array([divmod(k, per_repeat) for k, fit in enumerate(fits) if fit is not None])
    return _join([fit for fit in fits if fit is not None], numbers, problem, name, all_finished(fits))


def _observe_fit(estimator: Any, train: Sample, test: Sample, problem: Problem, seed: int) -> _Fit:
    observer = _WeightObserver()
    with observed(observer):
        model = fit_copy(estimator, train, seed)
    observer.state = None  # releases the rows
    values, margins, kind = {}, {}, ""
    for part, rows in zip(PARTS, (train, test)):
        values[part], margins[part], kind = _measure_stages(model, rows, problem)
    n_rounds = len(values["train"]["error"])
    weights = None
    if len(observer.quantiles) >= n_rounds:  # further rounds were trained, but are not in use
        weights = np.array(observer.quantiles[:n_rounds]), np.array(observer.of_positives[:n_rounds])
    return _Fit(values, margins if kind else None, kind, weights, n_rounds)


def _measure_stages(model: Any, rows: Sample, problem: Problem) -> tuple[dict[str, Array], Array, str]:
    """Return measures by name and quantiles of margins, with an entry per round, and the kind of margins, if any."""
    truth, positive = problem.codes(rows.y), rows.y == problem.pos_label
    of_many, counts, losses, margins, kind = [], [], [], [], ""
    for stage in stages_of(model, rows.X, problem):
        if problem.binary:
            flagged = (stage.predicted == truth) == positive
            counts.append(Counts.of(positive, flagged, rows.weights))
        else:
            of_many.append(multiclass_measures(truth, stage.predicted, problem.matrix, rows.weights))
        if stage.F is not None:
            if problem.binary:
                m = np.where(positive, stage.F, -stage.F)
                losses.append(exponential_loss(m, rows.weights))
            else:
                m = margins_of_classes(stage.F, truth)
            kind = "raw"
            if stage.vote_sum is not None:
                kind, m = "votes", np.clip(m / np.maximum(stage.vote_sum, 1e-300), -1.0, 1.0)
            margins.append(quantiles(m, MARGIN_LEVELS, rows.weights))
    if not counts and not of_many:
        raise InputError(
            f"{type(model).__name__} made no round on a training fold, so there is no curve.",
            "Give it more rows, or choose another estimator.",
        )
    if of_many:
        return {name: np.array([m[name] for m in of_many]) for name in of_many[0]}, np.array(margins), kind
    table = np.array([(c.tp, c.fp, c.fn, c.tn) for c in counts], dtype=np.float64)
    values = measures_of_counts(Counts(*table.T), problem.negative_first)
    if losses:
        values["exponential_loss"] = np.array(losses)
    return values, np.array(margins), kind


def exponential_loss(margins: Array, weights: Array | None) -> float:
    """Return the mean of exp(-margin), at most exp(700)."""
    top = float((-margins).max())
    return float(np.exp(min(top + np.log(np.average(np.exp(-margins - top), weights=weights)), MAX_EXPONENT)))


def _join(fits: list[_Fit], folds: Array, problem: Problem, name: str, complete: bool) -> StagedCurve:
    """Join fits of different lengths."""
    lengths = np.array([f.n_rounds for f in fits])
    longest = int(lengths.max())
    measures = tuple(fits[0].values["train"])
    values = {
        (m, part): np.array([_repeat_last(f.values[part][m], longest) for f in fits])
        for m in measures
        for part in PARTS
    }
    margins = weights = positives = None
    if all(f.margins is not None for f in fits):
        margins = {part: np.array([_repeat_last(f.margins[part], longest) for f in fits]) for part in PARTS}
    if all(f.weights is not None for f in fits):
        weights, positives = (np.array([_pad_with_nan(f.weights[k], longest) for f in fits]) for k in range(2))
    return StagedCurve(
        np.arange(1, longest + 1), lengths, measures, folds, problem.pos_label, name, fits[0].kind, margins, weights,
        positives, complete=complete, _values=values,
    )  # fmt: skip


def _repeat_last(values: Array, n: int) -> Array:
    """Repeat the last entry: a model that has ended does not change."""
    return np.concatenate((values, np.repeat(values[-1:], n - len(values), axis=0)))


def _pad_with_nan(values: Array, n: int) -> Array:
    """Append NaN: there were no more rounds."""
    return np.concatenate((values, np.full((n - len(values), *values.shape[1:]), np.nan)))


def quantiles(values: Array, levels: tuple[float, ...], examples: Array | None) -> Array:
    """Return quantiles of examples, as if a row of weight 2 were there twice."""
    return np.asarray(np.quantile(values, levels, weights=examples, method="inverted_cdf"))


class _WeightObserver:
    """Records quantiles of the weights in every round of the first ensemble of a fit; others only calibrate it."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.quantiles: list[Array] = []
        self.of_positives: list[float] = []

    def __call__(self, state: State) -> None:
        """Record a round."""
        self.state = self.state or state
        if state is not self.state or state.rows.classes.n_labels != 1:
            return
        weights, examples = state.rows.get(state.fitted), state.rows.get(EXAMPLES)
        weights = weights / weights.sum()
        self.quantiles.append(quantiles(weights * state.n / examples, WEIGHT_LEVELS, examples))
        self.of_positives.append(float(weights[state.rows.get(Y) > 0].sum()))
