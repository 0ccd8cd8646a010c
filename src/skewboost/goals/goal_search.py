"""The search for a model that reaches a goal, behind scikit-learn's interface."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skewboost.engine.table import sliceable
from skewboost.errors import InputError, InputTypeError
from skewboost.goals.certificate import (
    Certificate,
    candidates,
    certificate,
    certified_model,
    certified_threshold,
    impossible,
    of_little_use,
)
from skewboost.goals.decision import Decision
from skewboost.goals.folds import folds_of
from skewboost.goals.goal import Goal
from skewboost.goals.holdout import HeldOut, check_mask, given_split, held_out_of, share_needed, split
from skewboost.goals.measures import measure_of
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
from skewboost.goals.search import Aim, Point, Search
from skewboost.goals.tabular import frontier, table
from skewboost.goals.trials import Rows, Trials, rounds_to_try
from skewboost.goals.units import RepeatedRowsWarning, check_groups, equal_rows
from skewboost.meta.cost_passing import Weighing, plain
from skewboost.metrics.costs import cost_matrix
from skewboost.metrics.counts import Counts
from skewboost.metrics.targets import check_labels, check_sample_weight, choose_positive, classes_of
from skewboost.parameters import Check, check_params, integer, number, one_of, optional
from skewboost.typing import Array


def _if_estimator_has(name: str) -> Any:
    def check(self: Any) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return available_if(check)


class GoalSearchCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Say what the decisions have to achieve; get the model that does it, with a certificate.

    Searches for the *training cost* under which an estimator reaches a goal such as ``"recall >= 0.95"``, and among
    those that do for the one that is best otherwise. What a ratio of costs :math:`C_+/C_-` leads to is measured by
    cross-validation; the search goes outward from equal and from balanced costs, then halves the gaps next to the best.
    Variants that mind the scale of costs are tried both ways, with misses dearer and with false alarms cheaper.

    **The certificate.** With ``confidence=0.9`` some of the rows are held out from everything above, the model is
    fitted to the others, and its threshold (or, with ``tune="cost"``, the model itself) is chosen so that with a
    probability of at least 0.9 the goal holds on new rows of the same kind. Recall and false alarms: the order
    statistic of the Neyman-Pearson umbrella algorithm [1]_; all other goals: candidates tested in a fixed sequence
    [2]_, by the exact binomial distribution where the measure is a share (precision, flagged share, and F1, which is a
    share in disguise), by a combination of two for the G-mean, by betting [3]_ for the expected cost. Nothing is
    assumed about the model or the data, only that held-out and new rows come independently from the same source.
    Rows that are equal, or of one group, are taken for one, and with unequal weights the evidence is drawn from the
    held-out rows in proportion to these, so that all tests stay exact.

    Where the goal is not reached, the error says how close it came and what limits it; where it is reached by decisions
    that are hardly better than chance, a warning says so.

    Parameters
    ----------
    estimator : classifier
        What to train. It is told costs by its parameter `cost` or `class_weight` (also within a pipeline), else by
        ``fit(sample_weight=...)``.
    goal : str or Goal, default="recall>=0.95"
        Conditions joined by "and". Measures: recall, miss_rate, specificity, false_alarm_rate, precision, f1, g_mean,
        flagged_share, accuracy, expected_cost. With objects: ``(recall >= 0.9) & (precision >= 0.3)``, the measures
        being in `skewboost.goals`.
    then : str, Measure or None, default=None
        The measure that decides among models that reach the goal. None: the opposite error of the first condition,
        which is the false-alarm rate for recall, and recall for precision, specificity and false alarms.
    tune : {"both", "cost", "threshold"}, default="both"
        What to look for: the training cost, the threshold on the score, or both jointly.
    tune_rounds : bool, default=False
        Look for the number of rounds too, by staged predictions.
    confidence : float or None, default=0.9
        Of the certificate. None: no rows are held out, and the goal is reached in cross-validation only, that is, in
        about half of the cases on new data.
    holdout : float, array-like of bool or None, default=None
        The share of rows held out for the certificate, or which rows: the latest ones, say, or other customers, where
        these are more like what is to come than a random draw. None: a third, or up to half if faultless answers would
        need it.
    weights : {"importance", "counts"}, default="importance"
        What `sample_weight`, and rows that are equal, mean. "importance": a row counts as much as it weighs, and is one
        row; equal rows are copies, of which no more is known than of one. "counts": a row of weight 3 is three
        independent examples that happen to be equal, as in a table of few distinct values that was aggregated, and so
        are three equal rows.
    cost : float, dict, array or None, default=None
        What mistakes cost, if the goal or `then` is about expected_cost: a number (a miss costs so many false alarms),
        ``{label: cost}`` or a matrix ``cost[true, predicted]`` (classes in sorted order).
    allow_unmet : bool, default=False
        Return the model that comes closest if none reaches the goal, with a warning, instead of raising.
    cv : int, splitter or iterable, default=5
        Folds of the search.
    max_points : int, default=25
        How many ratios of costs to try at most (twice that where the scale of costs matters).
    cost_param : str or None, default=None
        The parameter that takes ``{label: cost}``, if it is not to be found by name.
    pos_label : label or None, default=None
        The positive class; None is the rarer one.
    random_state : int, RandomState or None, default=None
        For the split and the folds.
    n_jobs : int or None, default=None
        How many folds to fit at once.
    verbose : int, default=0
        Whether to tell of every point tried, on stderr.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model.
    cost_ : dict or None
        What it was told mistakes on each class cost; None with ``tune="threshold"``.
    threshold_ : float
        Rows of this score or more are said to be positive.
    n_rounds_ : int or None
        The rounds in use, with `tune_rounds`.
    certificate_ : Certificate or None
        What the held-out rows show; print it.
    counts_ : Counts
        Out-of-fold answers of the search at the point chosen.
    search_ : dict of arrays
        All points tried, a table: ``pandas.DataFrame(clf.search_)``.
    frontier_ : dict of arrays
        What can be had: values of the first condition's measure and of `then`, of which neither can be improved without
        loss of the other.
    cost_matrix_ : ndarray of shape (2, 2) or None
        What mistakes cost where the goal or `then` speaks of it, ``[true, predicted]`` with the negative class first.
    then_ : str
        The measure that decided among models that reach the goal.
    goal_ : Goal
    classes_ : ndarray
    pos_label_ : label

    References
    ----------
    .. [1] X. Tong, Y. Feng, J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
       characteristics", Science Advances 4 (2018).
    .. [2] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then test: calibrating predictive algorithms
       to achieve risk control", Annals of Applied Statistics 19 (2025).
    .. [3] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the Royal
       Statistical Society B 86 (2024) 1-27.
    .. [4] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische Universität
       München (2010), §3.3.

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

    def __init__(
        self,
        estimator: Any,
        goal: Any = "recall>=0.95",
        *,
        then: Any = None,
        tune: str = "both",
        tune_rounds: bool = False,
        confidence: float | None = 0.9,
        holdout: Any = None,
        weights: str = "importance",
        cost: Any = None,
        allow_unmet: bool = False,
        cv: Any = 5,
        max_points: int = 25,
        cost_param: str | None = None,
        pos_label: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.goal = goal
        self.then = then
        self.tune = tune
        self.tune_rounds = tune_rounds
        self.confidence = confidence
        self.holdout = holdout
        self.weights = weights
        self.cost = cost
        self.allow_unmet = allow_unmet
        self.cv = cv
        self.max_points = max_points
        self.cost_param = cost_param
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a goal may ask for many wrong answers
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """What `fit` takes itself, and what it passes on to the estimator."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    # --------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any, groups: Any = None, **params: Any) -> GoalSearchCV:
        """Search, fit and certify.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, such as those of a patient. Groups are then what is independent: each stays on
            one side of every split. None: rows whose cells are all equal belong together, unless ``weights="counts"``.
        **params : dict
            Passed on to the estimator's `fit`, split with the rows. Where ``sample_weight`` is among them, rows count
            by it in all measures too; see `weights`.

        Returns
        -------
        self
        """
        self._check_params()
        before = dict(self.__dict__)
        try:
            self._fit(X, y, groups, params)
        except BaseException as error:
            kept = getattr(self, "search_", None)
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, KeyboardInterrupt) and kept is not None:
                self.search_ = kept  # what was finished is not lost
            raise
        return self

    def _fit(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        if get_config()["enable_metadata_routing"]:
            asked = params if groups is None else {"groups": groups, **params}
            params = dict(process_routing(self, "fit", **asked).estimator.fit)
        rows = self._rows(X, y, groups, params)
        aim = self._aim()
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

    def _hold_out(self, aim: Aim, rows: Rows, rng: Any) -> tuple[Rows, HeldOut, Aim]:
        """Rows to search on, those for the certificate, and what the search is after with so many of them."""
        positive = rows.y == self.pos_label_
        if rows.held_out is not None:
            inner, outer = given_split(rows, positive)
        else:
            share = self.holdout or share_needed(aim, rows, positive)
            inner, outer = split(aim, rows, positive, share, rng)
        searched = rows.part(inner)
        held_out, scale = held_out_of(aim, searched, rows.part(outer), self.pos_label_, rng)
        aim = replace(aim, scale=scale)
        lacking = impossible(aim, held_out)
        if lacking and not self.allow_unmet:
            everywhere = Counts.of(positive, positive, inner + outer)
            raise GoalNotReachableError(
                too_few(aim, lacking, held_out, everywhere), MORE_EXAMPLES, parameter="confidence"
            )
        return searched, held_out, aim

    def _aim(self) -> Aim:
        self.goal_ = Goal.of(self.goal)
        default = self.goal_.conditions[0].measure.opposite
        then = measure_of(default if self.then is None else self.then, "then")
        self.then_ = then.name
        matrix = self._cost_matrix(self.goal_.needs_cost or then.needs_cost)
        self.cost_matrix_ = matrix
        return Aim(self.goal_, then, matrix, None if self.confidence is None else 1.0 - self.confidence)

    def _rows(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> Rows:
        X = sliceable(X)
        labels = check_labels(self, y, X.shape[0])
        mask, counted = check_mask(self.holdout, len(labels)), self.weights == "counts"
        rows = Rows(X, labels, self._units(X, groups, len(labels)), params, mask, counted)
        if rows.weights is not None and not check_sample_weight(rows.weights, len(labels)).all():
            rows = rows.take(np.flatnonzero(rows.weights))  # a weight of 0 is no row
            if len(np.unique(rows.y)) < len(np.unique(labels)):
                raise InputError("sample_weight is 0 for all rows of a class. Drop the class, or weigh some of them.")
        classes, labels = classes_of(self, rows.y), rows.y
        if len(classes) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass. GoalSearchCV finds one "
                f"class among the others, and y has the classes {classes.tolist()}: pass y == label."
            )
        self.classes_ = classes
        self.pos_label_ = choose_positive(labels, classes, self.pos_label, rows.weights)
        if counted and rows.weights is not None and (rows.weights != np.round(rows.weights)).any():
            raise InputError(
                "sample_weight has fractions, but weights='counts' says that it counts examples. Give whole numbers, "
                "or leave weights at 'importance'."
            )
        return rows

    def _units(self, X: Any, groups: Any, n_rows: int) -> Array:
        """Which rows belong together."""
        if groups is not None:
            if self.weights == "counts":
                raise InputError(
                    "groups says that rows belong together, and weights='counts' that all are independent. Drop one of "
                    "them."
                )
            return check_groups(groups, n_rows)
        if self.weights == "counts":
            return np.arange(n_rows)
        units = equal_rows(X)
        n_copies = n_rows - (int(units.max()) + 1)
        if n_copies:
            told = copies(n_copies, n_rows, self.confidence is not None)
            warnings.warn(RepeatedRowsWarning(told, n_copies, n_rows), stacklevel=5)
        return units if n_copies else np.arange(n_rows)

    def _cost_matrix(self, needed: bool) -> Array | None:
        """What mistakes cost, the negative class first."""
        if self.cost is None:
            if needed:
                raise InputError(
                    "expected_cost needs prices: give cost=, a number (a miss costs so many false alarms) or a matrix "
                    "cost[true, predicted]."
                )
            return None
        if not needed:
            raise InputError(
                f"cost={self.cost!r} has no effect: neither the goal nor then is about expected_cost. Drop it, or set "
                "then='expected_cost'."
            )
        if isinstance(self.cost, str):  # they would be read off the labels, those of held-out rows among them
            raise InputError(
                f"cost={self.cost!r} is no price, and a goal or a certificate is about prices. Give a number (a miss "
                "costs so many false alarms), {label: cost} or a matrix cost[true, predicted]."
            )
        matrix = cost_matrix(self.cost, self.classes_, self.pos_label_, np.ones(2))
        return matrix if self.classes_[1] == self.pos_label_ else matrix[::-1, ::-1].copy()

    def _trials(self, rows: Rows, grouped: bool, rng: Any) -> Trials:
        if self.tune == "threshold":
            weighing = Weighing(self.estimator, self.classes_, self.pos_label_)
        else:
            weighing = Weighing.of(self.estimator, self.classes_, self.pos_label_, self.cost_param)
            weighing.check_unset()
        positive, certified = rows.y == self.pos_label_, self.confidence is not None
        folds = folds_of(self.cv, rows, positive, self.estimator, certified, grouped, rng)
        rounds = rounds_to_try(self.estimator) if self.tune_rounds else None
        return Trials(weighing, folds, rounds, self.n_jobs)

    def _search(self, aim: Aim, trials: Trials, rows: Rows) -> Search:
        def note(point: Point) -> None:
            self.search_ = table(aim, search.points)
            if self.verbose:
                value = aim.goal.conditions[0].measure.value(point.counts, aim.cost)
                then = aim.then.value(point.counts, aim.cost)
                name = aim.goal.conditions[0].name
                sys.stderr.write(
                    f"cost ratio {point.ratio:10.4g} ({point.scale}): {name} {value:.4f}, {aim.then.name} {then:.4f}, "
                    f"{'meets the goal' if point.met else 'does not meet it'}\n"
                )

        search = Search(aim, trials.ask, self.tune != "cost", note)
        if self.tune == "threshold":
            search.without_costs()
        else:
            positive = rows.y == self.pos_label_
            mass = np.ones(len(positive)) if rows.weights is None else rows.weights
            balanced = float(mass[~positive].sum() / mass[positive].sum())
            search.over_costs(balanced, trials.weighing.scale_free, self.max_points)
        return search

    def _settle(self, aim: Aim, search: Search, trials: Trials, rows: Rows, held_out: HeldOut | None) -> None:
        """Fit the final model and, with held-out rows, certify it."""

        def decision_of(point: Point) -> Decision:
            model = trials.weighing.fit(rows.X, rows.y, point.costs, rows.params)
            return Decision.of(model, point, self.pos_label_)

        self.certificate_: Certificate | None = None
        complaint = None
        if held_out is None:
            chosen = decision_of(search.best)
            if not search.best.met:
                complaint = not_reachable(aim, search.points)
        else:
            if self.tune == "cost":
                certified = certified_model(aim, candidates(aim, search.points), decision_of, held_out)
                chosen = certified or decision_of(search.best)
            else:
                chosen = decision_of(search.best)
                certified = certified_threshold(aim, chosen, held_out)
            chosen = certified or chosen
            self.certificate_ = certificate(aim, chosen, held_out, certified is not None)
            if certified is None:
                complaint = not_certified(aim, self.certificate_)
        if complaint is not None:
            if not self.allow_unmet:
                raise GoalNotReachableError(complaint, search=self.search_)
            warnings.warn(complaint, GoalNotMetWarning, stacklevel=4)
        else:
            counts = chosen.point.counts if self.certificate_ is None else self.certificate_.counts
            if of_little_use(counts):
                warnings.warn(hardly_useful(aim, counts), LittleUseWarning, stacklevel=4)
        self._decision, self.estimator_, self.threshold_ = chosen, chosen.model, chosen.threshold
        self.counts_, self.n_rounds_ = chosen.point.counts, chosen.point.n_rounds
        labels = plain(self.pos_label_), plain(self._other)
        self.cost_ = None if chosen.point.costs is None else dict(zip(labels, chosen.point.costs))

    @property
    def _other(self) -> Any:
        """The negative class."""
        return self.classes_[self.classes_ != self.pos_label_][0]

    def _check_params(self) -> None:
        check_params(
            self,
            tune=one_of("both", "cost", "threshold"),
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
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise InputTypeError(f"estimator is the class {name}; pass an instance: GoalSearchCV({name}(...)).")
        if not hasattr(self.estimator, "fit") or not is_classifier(self.estimator):
            raise InputTypeError(f"estimator must be a classifier; got {self.estimator!r}.")
        if not any(hasattr(self.estimator, name) for name in ("decision_function", "predict_proba")):
            raise InputError(
                f"estimator={self.estimator!r} has neither decision_function nor predict_proba, so there is no score "
                "to put a threshold on. Take another one."
            )
        if self.holdout is not None and self.confidence is None:
            raise InputError(
                f"holdout={self.holdout!r} has no effect without a certificate. Set confidence, or drop it."
            )
        if self.cost_param is not None and self.tune == "threshold":
            raise InputError(f"cost_param={self.cost_param!r} has no effect with tune='threshold'. Drop it.")
        if self.tune_rounds:
            rounds_to_try(self.estimator)

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> Array:
        """How far the score is above the threshold.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``classes_[1]`` is predicted just where it is positive.
        """
        check_is_fitted(self)
        scores = self._decision.scores(X)
        above = scores - self.threshold_
        if self.classes_[1] != self.pos_label_:
            return np.negative(above)
        at = (scores >= self.threshold_) & ~(above > 0)  # the score is the threshold: the positive class is predicted
        return np.where(at, np.nextafter(0.0, 1.0), above)

    def predict(self, X: Any) -> Array:
        """The positive class where the score reaches the threshold.

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
        """The probabilities of the model after `n_rounds_`; decisions are by `threshold_`, not by the larger of them.

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
