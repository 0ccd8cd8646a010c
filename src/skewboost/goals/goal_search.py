"""The search for a model that reaches a goal, behind scikit-learn's interface."""

from __future__ import annotations

import sys
import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skewboost.errors import InputError
from skewboost.goals.certificate import (
    Certificate,
    candidates,
    certificate,
    certified_model,
    certified_threshold,
    impossible,
    of_little_use,
)
from skewboost.goals.holdout import HeldOut, draw_evidence, fraction_needed, random_split, split_by_mask
from skewboost.goals.reasons import (
    MORE_EXAMPLES,
    GoalNotMetWarning,
    GoalNotReachableError,
    LittleUseWarning,
    copies,
    hardly_useful,
    not_certified,
    not_reachable,
    too_few,
)
from skewboost.goals.rows import RepeatedRowsWarning, SearchRows, read_rows
from skewboost.goals.search import Aim, Point, Search, frontier, read_aim, table
from skewboost.goals.trials import Decision, Trials, folds_of, rounds_to_try
from skewboost.meta.cost_passing import CostPassing, plain
from skewboost.metrics.counts import Counts
from skewboost.metrics.targets import choose_positive, classes_of
from skewboost.parameters import CLASSIFIER, Check, check_params, integer, number, one_of, optional
from skewboost.typing import Array


def _if_estimator_has(name: str) -> Any:
    def check(self: Any) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return available_if(check)


@dataclass(eq=False, repr=False)
class GoalSearchCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
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

    If the goal is not reached, the error says how close the search came and what limits it. If it is reached by
    predictions that are hardly better than chance, there is a warning.

    Parameters
    ----------
    estimator : classifier
        The classifier to train. It gets costs through its parameter `cost` or `class_weight` (also within a pipeline),
        else through ``fit(sample_weight=...)``.
    goal : str or Goal, default="recall>=0.95"
        Conditions joined by "and". Measures: recall, miss_rate, specificity, false_alarm_rate, precision, f1, g_mean,
        flagged_share, accuracy, expected_cost. With objects: ``(recall >= 0.9) & (precision >= 0.3)``, with the
        measures of `skewboost.goals`.
    then : str, GoalMeasure or None, default=None
        The measure that decides among models that reach the goal. None: the opposite error of the first condition,
        which is the false-alarm rate for recall, and recall for precision, specificity and false alarms.
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
        perfect predictions would need so many.
    weights : {"importance", "counts"}, default="importance"
        What `sample_weight`, and equal rows, mean. "importance": a row counts as much as it weighs, and is one example;
        equal rows are copies, which add no evidence. "counts": a row of weight 3 stands for three independent examples
        that happen to be equal, as in an aggregated table of few distinct values, and so do three equal rows.
    cost : float, dict, array or None, default=None
        What mistakes cost, if the goal or `then` is about expected_cost: a number (the cost of a miss, in false
        alarms), ``{label: cost}`` or a matrix ``cost[true, predicted]`` (classes in sorted order).
    allow_unmet : bool, default=False
        Whether to return the model that comes closest, with a warning, if none reaches the goal.
    cv : int, splitter or iterable, default=5
        The folds of the search.
    max_points : int, default=25
        The largest number of cost ratios to try (twice as many where the scale of costs matters).
    cost_param : str or None, default=None
        The parameter of the estimator that takes ``{label: cost}``, if it cannot be found by its name.
    pos_label : label or None, default=None
        The positive class; None: the rarer one.
    random_state : int, RandomState or None, default=None
        Seeds the split and the folds.
    n_jobs : int or None, default=None
        The number of folds to fit in parallel.
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

    estimator: Any
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
    cv: Any = 5
    max_points: int = 25
    cost_param: str | None = None
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a goal may ask for many wrong answers
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing: `groups` for the search itself, other arguments of `fit` for the estimator."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

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
            one side of every split. None: rows whose cells are all equal belong together, unless ``weights="counts"``.
        **params : dict
            Passed to the estimator's `fit`, split with the rows. With ``sample_weight`` all measures are weighted too;
            see `weights`.

        Returns
        -------
        self
        """
        self._check_params()
        before = dict(self.__dict__)
        try:
            self._fit(X, y, groups, params)
        except BaseException as error:
            points = getattr(self, "search_", None)
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, KeyboardInterrupt) and points is not None:
                self.search_ = points  # keep the points that were finished
            raise
        return self

    def _fit(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        if get_config()["enable_metadata_routing"]:
            given = params if groups is None else {"groups": groups, **params}
            params = dict(process_routing(self, "fit", **given).estimator.fit)
        rows = self._rows(X, y, groups, params)
        aim = read_aim(self)
        self.goal_, self.then_, self.cost_matrix_ = aim.goal, aim.then.name, aim.cost
        rng = check_random_state(self.random_state)
        held_out = None
        if aim.delta is not None:
            rows, held_out, aim = self._hold_out(aim, rows, rng)
        trials = self._trials(rows, groups is not None, rng)
        search = self._search(aim, trials, rows)
        hopeless = not search.best.met and not self.goal_.met(search.best.counts, aim.cost)
        if hopeless and not self.allow_unmet:
            raise GoalNotReachableError(not_reachable(aim, search.points), search=self.search_)
        self._settle(aim, search, trials, rows, held_out)
        self.frontier_ = frontier(aim, search.points)

    def _hold_out(self, aim: Aim, rows: SearchRows, rng: Any) -> tuple[SearchRows, HeldOut, Aim]:
        """Return the rows to search on, those for the certificate, and the aim with the size of the latter."""
        positive = rows.y == self.pos_label_
        if rows.held_out is not None:
            inner, outer = split_by_mask(rows, positive)
        else:
            fraction = self.holdout or fraction_needed(aim, rows, positive)
            inner, outer = random_split(aim, rows, positive, fraction, rng)
        searched = rows.part(inner)
        held_out, scale = draw_evidence(aim, searched, rows.part(outer), self.pos_label_, rng)
        aim = replace(aim, scale=scale)
        lacking = impossible(aim, held_out)
        if lacking and not self.allow_unmet:
            everywhere = Counts.of(positive, positive, inner + outer)
            raise GoalNotReachableError(
                too_few(aim, lacking, held_out, everywhere), MORE_EXAMPLES, parameter="confidence"
            )
        return searched, held_out, aim

    def _rows(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> SearchRows:
        rows, n_copies = read_rows(self, X, y, groups, params)
        if n_copies:
            n_rows = len(y)
            message = copies(n_copies, n_rows, self.confidence is not None)
            warnings.warn(RepeatedRowsWarning(message, n_copies, n_rows), stacklevel=4)
        classes = classes_of(self, rows.y)
        if len(classes) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. GoalSearchCV finds one "
                f"class among the others, but y has the classes {classes.tolist()}.",
                "Pass y == label.",
            )
        self.classes_ = classes
        self.pos_label_ = choose_positive(rows.y, classes, self.pos_label, rows.weights)
        return rows

    def _trials(self, rows: SearchRows, grouped: bool, rng: Any) -> Trials:
        if self._tunes == "threshold":
            cost_passing = CostPassing(self.estimator, self.classes_, self.pos_label_)
        else:
            cost_passing = CostPassing.of(self.estimator, self.classes_, self.pos_label_, self.cost_param)
            cost_passing.check_unset()
        positive, certified = rows.y == self.pos_label_, self.confidence is not None
        folds = folds_of(self.cv, rows, positive, self.estimator, certified, grouped, rng)
        rounds = rounds_to_try(self.estimator) if self.tune_rounds else None
        return Trials(cost_passing, folds, rounds, self.n_jobs)

    def _search(self, aim: Aim, trials: Trials, rows: SearchRows) -> Search:
        def on_point(point: Point) -> None:
            self.search_ = table(aim, search.points)
            if self.verbose:
                value = aim.goal.conditions[0].measure.value(point.counts, aim.cost)
                then = aim.then.value(point.counts, aim.cost)
                name = aim.goal.conditions[0].name
                sys.stderr.write(
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

    def _settle(self, aim: Aim, search: Search, trials: Trials, rows: SearchRows, held_out: HeldOut | None) -> None:
        """Fit the final model and, if there are held-out rows, certify it."""

        def decision_of(point: Point) -> Decision:
            model = trials.cost_passing.fit(rows.X, rows.y, point.costs, rows.params)
            return Decision.of(model, point, self.pos_label_)

        self.certificate_: Certificate | None = None
        problem = None
        if held_out is None:
            chosen = decision_of(search.best)
            if not search.best.met:
                problem = not_reachable(aim, search.points)
        else:
            if self._tunes == "cost":
                certified = certified_model(aim, candidates(aim, search.points), decision_of, held_out)
                chosen = certified or decision_of(search.best)
            else:
                chosen = decision_of(search.best)
                certified = certified_threshold(aim, chosen, held_out)
            chosen = certified or chosen
            self.certificate_ = certificate(aim, chosen, held_out, certified is not None)
            if certified is None:
                problem = not_certified(aim, self.certificate_)
        if problem is not None:
            if not self.allow_unmet:
                raise GoalNotReachableError(problem, search=self.search_)
            warnings.warn(problem, GoalNotMetWarning, stacklevel=4)
        else:
            counts = chosen.point.counts if self.certificate_ is None else self.certificate_.counts
            if of_little_use(counts):
                warnings.warn(hardly_useful(aim, counts), LittleUseWarning, stacklevel=4)
        self._settle_on(chosen)

    def _settle_on(self, decision: Decision) -> None:
        """Set the attributes that follow from the decision."""
        point = decision.point
        self._decision, self.estimator_, self.threshold_ = decision, decision.model, decision.threshold
        self.counts_, self.n_rounds_ = point.counts, point.n_rounds
        (other,) = self.classes_[self.classes_ != self.pos_label_]
        self.cost_ = None if point.costs is None else dict(zip((plain(self.pos_label_), plain(other)), point.costs))

    @property
    def _tunes(self) -> str:
        """What is searched for."""
        if self.tune != "auto":
            return self.tune
        return "both" if getattr(self.estimator, "_costs_in_training", True) else "threshold"

    def _check_params(self) -> None:
        check_params(
            self,
            estimator=CLASSIFIER,
            tune=one_of("auto", "both", "cost", "threshold"),
            tune_rounds=one_of(True, False),
            confidence=optional(Check(lambda v: number(0, 1).passes(v) and 0 < v < 1, "a number between 0 and 1")),
            holdout=optional(
                Check(
                    lambda v: np.ndim(v) == 1 or (number(0, 1).passes(v) and 0 < v < 1),
                    "a number between 0 and 1, or a boolean for each row",
                )
            ),
            weights=one_of("importance", "counts"),
            allow_unmet=one_of(True, False),
            max_points=integer(3),
        )
        if not any(hasattr(self.estimator, name) for name in ("decision_function", "predict_proba")):
            raise InputError(
                f"estimator={self.estimator!r} has neither decision_function nor predict_proba, so it has no scores to "
                "compare with a threshold.",
                "Choose another estimator.",
            )
        if self.holdout is not None and self.confidence is None:
            raise InputError(
                f"holdout={self.holdout!r} has no effect without a certificate.",
                "Set confidence, or leave holdout at None.",
            )
        if self.cost_param is not None and self._tunes == "threshold":
            raise InputError(
                f"cost_param={self.cost_param!r} has no effect with tune='threshold'.", "Leave it at None."
            )
        if self.tune_rounds:
            rounds_to_try(self.estimator)

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
            ``classes_[1]`` is predicted exactly where it is positive.
        """
        check_is_fitted(self)
        scores = self._decision.scores(X)
        above = scores - self.threshold_
        if self.classes_[1] != self.pos_label_:
            return np.negative(above)
        equal = (scores >= self.threshold_) & ~(above > 0)  # a score at the threshold means the positive class
        return np.where(equal, np.nextafter(0.0, 1.0), above)

    def predict(self, X: Any) -> Array:
        """Predict the positive class where the score reaches the threshold.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(np.intp)])

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
