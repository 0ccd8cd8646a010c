"""The search for a model that reaches a goal, behind scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skewboost.engine.table import sliceable
from skewboost.errors import InputError, checked_by_scikit_learn, warn_caller
from skewboost.fitting import LogProbabilityMixin
from skewboost.goals.certificate import (
    Certificate,
    Decisions,
    answers_of,
    certificate,
    check_answers,
    chosen_by_tests,
    impossible,
    of_little_use,
)
from skewboost.goals.holdout import HeldOut, hold_out, time_order
from skewboost.goals.labelled_rows import labelled_rows
from skewboost.goals.reasons import (
    GoalNotMetWarning,
    LittleUseWarning,
    hardly_useful,
    not_certified,
    not_reachable,
    too_few,
)
from skewboost.goals.rows import SearchRows
from skewboost.goals.search import Aim, Point, Search, frontier, read_aim, table
from skewboost.goals.search_parameters import check_search, costs_to_pass, default_estimator, has_own_scores
from skewboost.goals.trials import Decision, SingleTrial, Trials, above, folds_of, rounds_to_try
from skewboost.goals.unreachable import MORE_EXAMPLES, GoalNotReachableError, way_out
from skewboost.meta.cost_passing import CostPassing
from skewboost.meta.inner_labels import plain
from skewboost.meta.referral import referral_label, with_referred
from skewboost.metrics.costs import plain_cost
from skewboost.parameters import check_random_state
from skewboost.progress import say
from skewboost.typing import Array

FOLDS = 5
COSTS = ("cost", "reject_cost")  # what decides without training


def _if_estimator_has(name: str) -> Any:
    def check(self: Any) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self._base, name)
        return True

    return available_if(check)


@dataclass(eq=False, repr=False)
class GoalSearchCV(LogProbabilityMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Search for a model that reaches a goal, and certify on held-out rows that it does.

    The search is for the *training cost* under which an estimator reaches a goal such as ``"recall >= 0.95"``. Among
    the models that reach it, the best by another measure is chosen. Each cost ratio :math:`C_+/C_-` is judged by
    cross-validation. The search goes outward from equal and from balanced costs, then halves the gaps next to the best.
    Variants that depend on the scale of the costs are tried both ways: with dearer misses and with cheaper false
    alarms.

    **The certificate.** With ``confidence=0.9`` some rows are held out from everything above and the model is fitted to
    the others. Its threshold (with ``tune="cost"``, the model itself) is chosen so that the goal holds on new rows of
    the same kind with a probability of at least 0.9. For recall and false alarms the threshold is the order statistic
    of the Neyman-Pearson umbrella algorithm [tong2018]_. For all other goals candidates are tested in a fixed sequence
    [angelopoulos2025]_: by the exact binomial distribution where the measure is a proportion (precision, flagged share,
    and F1, which can be written as one), by a combination of two for the G-mean, and by betting [waudby2024]_ for the
    expected cost. Nothing is assumed about the model or the data, except that held-out and new rows are drawn
    independently from the same source. Equal rows, and rows of one group, count as one example. With unequal weights
    the evidence is drawn from the held-out rows in proportion to their weights, so that all tests stay exact.

    **Referral.** With a condition on `referred_share`, such as ``"precision >= 90% and referred_share <= 10%"``, there
    are two thresholds: rows in between are referred to somebody else, and `predict` returns `reject_label` for them.
    All other measures are then about the decided rows: a positive that is referred is neither found nor missed. Pairs
    of thresholds are tested in a fixed sequence.

    If the goal is not reached, the error says how close the search came and what limits it. If it is reached by
    predictions that are hardly better than chance, there is a warning.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The classifier to train. None: `SkewBoostClassifier`. Others get costs through their parameter `cost` or
        `class_weight` (also within a pipeline), else through ``fit(sample_weight=...)``.
    goal : str or Goal, default="recall>=0.95"
        Conditions joined by "and". Measures: recall, miss_rate, specificity, false_alarm_rate, precision, f1, g_mean,
        flagged_share, accuracy, expected_cost, referred_share. With objects: ``(recall >= 0.9) & (precision >= 0.3)``,
        with the measures of `skewboost.goals`.
    then : str, GoalMeasure or None, default=None
        The measure that decides among models that reach the goal. None: the opposite error of the first condition,
        which is the false-alarm rate for recall, and recall for precision, specificity and false alarms. With
        ``"referred_share"`` rows may be referred too, as few as possible.
    tune : {"auto", "both", "cost", "threshold"}, default="auto"
        What to search for: the training cost, the threshold on the score, or both jointly. "auto": both, but only the
        threshold of `SkewBoostClassifier`, whose training does not depend on costs.
    tune_rounds : bool, default=False
        Whether to search for the number of rounds too, by staged predictions.
    confidence : float or None, default=0.9
        The confidence of the certificate. None: no rows are held out, and the goal is reached in cross-validation only.
        On new data it then holds in about half of the cases.
    holdout : float, array-like of bool or None, default=None
        The proportion of the rows to hold out for the certificate, or a mask of rows: for example the latest ones, or
        other customers, if these are more like future rows than a random draw. None: a third, or up to a half if
        perfect predictions would need so many. If `cv`, or that of the estimator, is a ``TimeSeriesSplit``, a
        proportion is that of the latest rows.
    weights : {"importance", "counts"}, default="importance"
        What `sample_weight`, and equal rows, mean. "importance": a row counts as much as it weighs, and is one example,
        so that equal weights are the same as none; equal rows are copies, which add no evidence. "counts": a row of
        weight 3 stands for three independent examples that happen to be equal, as in an aggregated table of few
        distinct values, and so do three equal rows.
    cost : float, dict, array or None, default=None
        What mistakes cost, if the goal or `then` is about expected_cost: a number (the cost of a miss, in false
        alarms), ``{label: cost}`` or a matrix ``cost[true, predicted]`` (classes in sorted order).
    allow_unmet : bool, default=False
        Whether to return the model that comes closest, with a warning, if none reaches the goal.
    cv : int, splitter, iterable or None, default=None
        The folds of the search. None: five, or none if only the threshold of `SkewBoostClassifier` is tuned for a
        certificate: its own out-of-fold scores say in which order to test thresholds, so that it is fitted once.
    max_points : int, default=25
        The largest number of cost ratios to try (twice as many where the scale of costs matters).
    cost_param : str or None, default=None
        The parameter of the estimator that takes ``{label: cost}``, if it cannot be found by its name.
    pos_label : label or None, default=None
        The positive class; None: that of the estimator if it has one, else the rarer one of all rows. The estimator
        gets the same.
    reject_label : label or None, default=None
        The prediction for referred rows. None: -1 if labels are numbers, else "refer".
    random_state : int, RandomState or None, default=None
        Seeds the split and the folds, and the default estimator.
    n_jobs : int or None, default=None
        The number of folds to fit in parallel, or of the threads of the default estimator.
    verbose : int, default=0
        Whether to print every point that is tried, to stderr.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model.
    cost_ : dict or None
        The cost of mistakes on each class that it was fitted with; None with ``tune="threshold"``.
    threshold_ : float
        Rows with at least this score are predicted to be positive.
    lower_threshold_ : float or None
        Rows with scores from here to `threshold_` are referred; None if none may be.
    reject_label_ : label
        The prediction for referred rows, if rows may be referred.
    n_rounds_ : int or None
        The number of rounds in use, with `tune_rounds`.
    certificate_ : Certificate or None
        What the held-out rows show; print it.
    counts_ : Counts
        Out-of-fold counts of the chosen point of the search.
    search_ : dict of arrays
        All points tried, as a table: ``pandas.DataFrame(clf.search_)``.
    frontier_ : dict of arrays
        The Pareto front: values of the first condition's measure and of `then` of which neither can be improved without
        worsening the other.
    cost_matrix_ : ndarray of shape (2, 2) or None
        What mistakes cost, if the goal or `then` needs it: ``[true, predicted]`` with the negative class first.
    then_ : str
        The measure that decided among models that reach the goal.
    goal_ : Goal
    classes_ : ndarray
    pos_label_ : label

    References
    ----------
    .. [tong2018] X. Tong, Y. Feng, J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
       characteristics", Science Advances 4 (2018).
    .. [angelopoulos2025] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating
       predictive algorithms to achieve risk control", Annals of Applied Statistics 19 (2025).
    .. [waudby2024] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", Journal of
       the Royal Statistical Society B 86 (2024) 1-27.
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), §3.3.

    Examples
    --------
    >>> from skewboost import CSRAClassifier, GoalSearchCV
    >>> from skewboost.datasets import make_fraud
    >>> X, y = make_fraud(6000)
    >>> clf = GoalSearchCV(CSRAClassifier(n_estimators=20), "recall >= 80%", random_state=0, max_points=8).fit(X, y)
    >>> clf.certificate_.met
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    estimator: Any = None
    goal: Any = "recall>=0.95"
    _: KW_ONLY
    then: Any = None
    tune: str = "auto"
    tune_rounds: bool = False
    confidence: float | None = 0.9
    holdout: Any = None
    weights: str = "importance"
    cost: Any = None
    allow_unmet: bool = False
    cv: Any = None
    max_points: int = 25
    cost_param: str | None = None
    pos_label: Any = None
    reject_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base).input_tags
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a goal may ask for many wrong answers
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing: `groups` for the search itself, and what the estimator requests for its `fit`."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._base, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    @property
    def _base(self) -> Any:
        """The estimator to train: the given one, or `SkewBoostClassifier`."""
        return default_estimator(self) if self.estimator is None else self.estimator

    # --------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any, groups: Any = None, **params: Any) -> GoalSearchCV:
        """Search, fit and certify.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Anything that the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, such as those of a patient. Groups are then the independent units: each stays on
            one side of every split, also of those that the estimator makes if its `fit` takes groups. None: rows whose
            cells are all equal belong together, unless ``weights="counts"``.
        **params : dict
            Passed to the estimator's `fit`, split with the rows. With ``sample_weight`` all measures are weighted too;
            see `weights`.

        Returns
        -------
        self
        """
        self._fit_and_hold_out(X, y, groups, params)
        return self

    def _fit_and_hold_out(
        self, X: Any, y: Any, groups: Any, params: dict[str, Any]
    ) -> tuple[HeldOut, Decisions] | None:
        """Fit, and return the rows that the certificate is about, with the decisions on them."""
        check_search(self)
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, groups, params)
        except BaseException as error:
            points = getattr(self, "search_", None)
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, KeyboardInterrupt) and points is not None:
                self.search_ = points  # keep the points that were finished
            raise

    def _fit(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> tuple[HeldOut, Decisions] | None:
        with checked_by_scikit_learn():
            validate_data(self, sliceable(X), reset=True, skip_check_array=True)
        if get_config()["enable_metadata_routing"]:
            given = params if groups is None else {"groups": groups, **params}
            params = dict(process_routing(self, "fit", **given).estimator.fit)
        rows = self._rows(X, y, groups, params)
        aim = read_aim(self)
        self.goal_, self.then_, self.cost_matrix_ = aim.goal, aim.then.name, aim.cost
        self._check_referral(aim)
        rng = check_random_state(self.random_state)
        held_out = None
        if aim.delta is not None:
            rows, held_out, aim, everywhere = hold_out(self, aim, rows, rng)
            lacking = impossible(aim, held_out)
            if lacking and not self.allow_unmet:
                problem = too_few(aim, lacking, held_out, everywhere)
                raise GoalNotReachableError(problem, MORE_EXAMPLES, parameter="confidence")
        trials = self._trials(rows, groups is not None, rng)
        search = self._search(aim, trials, rows)
        hopeless = not search.best.met and not self.goal_.met(search.best.counts, aim.cost)
        if hopeless and not self.allow_unmet:
            raise GoalNotReachableError(not_reachable(aim, search.points), way_out(self), search=self.search_)
        answers = self._settle(aim, search, trials, rows, held_out)
        self.frontier_ = frontier(aim, search.points)
        return None if held_out is None or answers is None else (held_out, answers)

    def _check_referral(self, aim: Aim) -> None:
        """Set `reject_label_`, if rows may be referred."""
        self.__dict__.pop("reject_label_", None)
        if aim.refers and self.tune == "cost":
            raise InputError(
                "tune='cost' keeps the estimator's own threshold, but referral needs two.", "Set tune='both'."
            )
        if aim.refers:
            self.reject_label_ = referral_label(self.reject_label, self.classes_)
        elif self.reject_label is not None:
            raise InputError(
                f"reject_label={self.reject_label!r} has no effect: the goal {aim.goal} refers no rows.",
                "Add a condition such as referred_share <= 10%, or leave reject_label at None.",
            )

    def _rows(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> SearchRows:
        rows, self.classes_, self.pos_label_ = labelled_rows(self, self._base, X, y, groups, params)
        return rows

    def _trials(self, rows: SearchRows, grouped: bool, rng: Any) -> Trials | SingleTrial:
        estimator, certified = self._base, self.confidence is not None
        if self._tunes == "threshold":
            cost_passing = CostPassing(estimator, self.classes_, self.pos_label_)
        else:
            cost_passing = costs_to_pass(self)
        # Without a certificate the counts of the search are all there is, and own scores are slightly too good for that
        if certified and self.cv is None and self._tunes == "threshold" and has_own_scores(estimator):
            single = SingleTrial.of(cost_passing, rows)
            if single is not None:
                return single
        cv = (time_order(self) or FOLDS) if self.cv is None else self.cv
        folds = folds_of(cv, rows, rows.y == self.pos_label_, estimator, grouped, rng)
        rounds = rounds_to_try(estimator) if self.tune_rounds else None
        return Trials(cost_passing, folds, rounds, None if self.estimator is None else self.n_jobs)

    def _search(self, aim: Aim, trials: Trials | SingleTrial, rows: SearchRows) -> Search:
        def on_point(point: Point) -> None:
            self.search_ = table(aim, search.points)
            if self.verbose:
                value = aim.goal.conditions[0].measure.value(point.counts, aim.cost)
                then = aim.then.value(point.counts, aim.cost)
                name = aim.goal.conditions[0].name
                say(
                    f"cost ratio {point.ratio:10.4g} ({point.scale}): {name} {value:.4f}, {aim.then.name} {then:.4f}, "
                    f"{'meets the goal' if point.met else 'does not meet it'}\n"
                )

        search = Search(aim, trials.scores, self._tunes != "cost", on_point)
        if self._tunes == "threshold":
            search.without_costs()
        else:
            positive = rows.y == self.pos_label_
            weights = np.ones(len(positive)) if rows.weights is None else rows.weights
            balanced = float(weights[~positive].sum() / weights[positive].sum())
            search.over_costs(balanced, trials.cost_passing.scale_free, self.max_points)
        return search

    def _settle(
        self, aim: Aim, search: Search, trials: Any, rows: SearchRows, held_out: HeldOut | None
    ) -> Decisions | None:
        """Fit the final model and, if there are held-out rows, certify what it answers of them, which is returned."""

        def decision_of(point: Point) -> Decision:
            return Decision.of(trials.fit(rows, point), point, self.pos_label_)

        self.certificate_: Certificate | None = None
        problem = answers = None
        if held_out is None:
            chosen = decision_of(search.best)
            self._settle_on(chosen)
            if not search.best.met:
                problem = not_reachable(aim, search.points)
        else:
            chosen, decisions, passed = chosen_by_tests(aim, search, decision_of, held_out)
            self._settle_on(chosen)
            answers = answers_of(self, held_out)
            check_answers(answers, decisions)
            self.certificate_ = certificate(aim, answers, held_out, passed)
            if not self.certificate_.met:
                problem = not_certified(aim, self.certificate_)
        if problem is not None:
            if not self.allow_unmet:
                raise GoalNotReachableError(problem, way_out(self), search=self.search_)
            warn_caller(problem, GoalNotMetWarning)
            return answers
        counts = chosen.point.counts if self.certificate_ is None else self.certificate_.counts
        if of_little_use(counts):
            warn_caller(hardly_useful(aim, counts), LittleUseWarning)
        return answers

    def _settle_on(self, decision: Decision) -> None:
        """Set the attributes that follow from the decision."""
        point = decision.point
        self._decision, self.estimator_ = decision, decision.model
        self._costs_of_fit = self._costs_now
        self.threshold_, self.lower_threshold_ = decision.threshold, decision.lower
        self.counts_, self.n_rounds_ = point.counts, point.n_rounds
        (other,) = self.classes_[self.classes_ != self.pos_label_]
        self.cost_ = None if point.costs is None else dict(zip((plain(self.pos_label_), plain(other)), point.costs))

    @property
    def _costs_now(self) -> dict[str, Any]:
        """The costs that the search, its model and parts of the model have as parameters."""
        params = {"cost": self.cost}
        params |= {f"estimator_.{k.replace('__', '.')}": v for k, v in self.estimator_.get_params(deep=True).items()}
        return {name: plain_cost(value) for name, value in params.items() if name.rpartition(".")[2] in COSTS}

    def _check_decisions(self) -> None:
        """Raise if costs have been set since `fit`, for which the threshold was not chosen."""
        check_is_fitted(self)
        for name, value in self._costs_now.items():
            if value != self._costs_of_fit.get(name, value):
                raise InputError(
                    f"{name}={value!r} was set after fit, but the threshold for the goal {self.goal_} was chosen with "
                    f"{self._costs_of_fit[name]!r}.",
                    "Call fit again, or set it back.",
                )

    @property
    def _passes_params_to(self) -> Any:
        return self._base

    @property
    def _tunes(self) -> str:
        """What is searched for."""
        if self.tune != "auto":
            return self.tune
        return "both" if getattr(self._base, "_costs_in_training", True) else "threshold"

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> Array:
        """Return the difference between the score and the threshold.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` is predicted exactly where it is positive, except for rows that are referred.
        """
        self._check_decisions()
        return above(self._decision.scores(X), self.threshold_, self.classes_[1] == self.pos_label_)

    def predict(self, X: Any) -> Array:
        """Predict the positive class where the score reaches the threshold, and `reject_label_` for referred rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._check_decisions()
        if self.lower_threshold_ is None:
            return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(np.intp)])
        scores = self._decision.scores(X)
        flagged = scores >= self.threshold_
        decided = np.asarray(self.classes_[np.where(flagged, *self._places)])
        return with_referred(decided, (scores >= self.lower_threshold_) & ~flagged, self.reject_label_)

    @property
    def _places(self) -> tuple[int, int]:
        """The places of the positive and of the negative class among `classes_`."""
        return (1, 0) if self.classes_[1] == self.pos_label_ else (0, 1)

    @_if_estimator_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the model; predictions go by `threshold_`, not by the larger probability.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        check_is_fitted(self)
        return self._decision.probabilities(X)
