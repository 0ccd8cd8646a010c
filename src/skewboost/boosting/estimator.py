"""The estimator that all variants share: scikit-learn's contract around the loop."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.cost_mixin import CostMixin
from skewboost.boosting.cost_use import ONCE, QUESTIONED, misuse
from skewboost.boosting.cost_warnings import missing_constant, overconfidence
from skewboost.boosting.docstrings import ATTRIBUTES, PLACEHOLDERS, SEE_ALSO
from skewboost.boosting.early_stopping import Validation
from skewboost.boosting.explanations import ExplanationMixin
from skewboost.boosting.model import Model
from skewboost.boosting.row_splits import RowSplits
from skewboost.boosting.rule import NO_EDGE, PERFECT, Rule
from skewboost.boosting.state import State
from skewboost.boosting.training import Callback, Problem, Settings, question_between, train
from skewboost.engine import ENGINES
from skewboost.engine.table import Table, read_table
from skewboost.engine.training_set import TWO
from skewboost.errors import CostWarning, InputError, warn_caller
from skewboost.fitting import restore_on_failure
from skewboost.fold_rows import groups_if_used
from skewboost.learners import resolve
from skewboost.learners.learner import Learner
from skewboost.metrics.costs import Costs, check_cost_of_fit, plain_cost, read_sample_cost
from skewboost.metrics.targets import check_labels, choose_positive, classes_of, weights_of_fit
from skewboost.names import in_short
from skewboost.parameters import (
    N_JOBS,
    Check,
    check_params,
    check_random_state,
    either,
    integer,
    number,
    one_of,
    optional,
)
from skewboost.typing import Array

DEFAULT_PATIENCE = 10
DEFAULT_VALIDATION_FRACTION = 0.1

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, eq_default=False)
def booster(cls: type[T]) -> type[T]:
    """Make a class an estimator whose annotated attributes, with those of its bases, are the constructor's parameters.

    The class becomes a dataclass, so type checkers, editors and scikit-learn all see the same signature. Placeholders
    in the docstring are replaced by the descriptions of parameters that many variants share.
    """
    documentation = inspect.cleandoc(cls.__doc__ or "")
    for placeholder, shared in PLACEHOLDERS.items():
        documentation = documentation.replace(placeholder, shared)
    cls.__doc__ = documentation.replace("\nReferences\n", f"\n{ATTRIBUTES}\n{SEE_ALSO}\nReferences\n", 1)
    return dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)


@booster
class BaseBooster(ExplanationMixin, ClassifierMixin, BaseEstimator):
    """Base class of all boosters: fitting, prediction, staged prediction and early stopping.

    A subclass returns its `Rule` and adds its own parameters.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    learning_rate: float = 1.0
    pos_label: Any = None
    early_stopping: bool | int = False
    validation_fraction: float | None = None
    scoring: Any = None
    splits: Any = None
    callbacks: Sequence[Callback] | None = None
    warm_start: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    engine: Any = "auto"

    _rounds = "n_estimators"  # the name of the parameter that holds the number of rounds
    _rule_class: ClassVar[Any]  # the rule, of a variant without parameters of its own
    _many_classes = False  # whether more than two classes, or several labels per row, are allowed

    def _rule(self) -> Rule:
        """Return the rule of the variant, or raise if one of its own parameters is invalid."""
        rule: Rule = self._rule_class()
        return rule

    def _weak_learner(self) -> Any:
        """Return the weak learner as the user gave it."""
        raise NotImplementedError

    def _sampler(self) -> Any:
        """Return the sampler as the user gave it."""
        raise NotImplementedError

    @property
    def _n_rounds(self) -> int:
        return int(getattr(self, self._rounds))

    @property
    def _holds_out(self) -> bool:
        """Whether `fit` holds out rows, so that `groups` and `splits` have an effect."""
        return bool(self.early_stopping)

    def get_metadata_routing(self) -> Any:
        """Return the routing; `groups` are requested if `fit` holds out rows, unless set by ``set_fit_request``."""
        return groups_if_used(super().get_metadata_routing(), self._holds_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_class = False
        return tags

    # --------------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like or pandas, polars or Arrow table of shape (n_samples, n_features)
            Training data. Tables may also hold categories or text. Values may be missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that each row stands for. A weight of 2 equals a repeated row, a weight of 0 an
            absent one. The scale matters, because leaf values are smoothed by 1/Σ sample_weight.
        groups : array-like of shape (n_samples,) or None, default=None
            Which rows belong together, such as those of a patient. Rows of a group are on one side of every split of
            early stopping and calibration. Raises if there is no such split.

        Returns
        -------
        self
        """
        return self._fit_or_restore(X, y, sample_weight, None, groups)

    def _fit_or_restore(self, X: Any, y: Any, sample_weight: Any, sample_cost: Any, groups: Any) -> Self:
        """Fit, and restore the previous state of the estimator if that fails."""
        with restore_on_failure(self, keep_interrupted=self.__sklearn_is_fitted__):
            self._fit(X, y, sample_weight, sample_cost, groups)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, sample_cost: Any, groups: Any) -> None:
        self._check_params()
        if groups is not None and not self._holds_out:
            raise InputError(f"groups have no effect on this {type(self).__name__}, which {self._why_no_splits()}")
        rule, learner = self._rule(), resolve(self._weak_learner(), self._sampler())
        question_between(rule, learner)  # fails before the data are read
        going_on = bool(self.warm_start and hasattr(self, "_model"))
        table = read_table(self, X, reset=not going_on)
        labels, weights = self._check_targets(table, y, sample_weight)
        costs = None if sample_cost is None else read_sample_cost(sample_cost, table.n_rows)
        splits = RowSplits.read(self.splits, groups, labels)
        if weights is not None and not weights.all():
            present = np.flatnonzero(weights)
            table, labels, weights = table.take(present), labels[present], weights[present]
            costs = None if costs is None else costs[present]
            splits = splits.take(present)
        if weights is not None and (weights == 1.0).all():
            weights = None
        self._set_classes(labels, weights, going_on)
        if going_on:
            self._check_going_on()
            table = self._like_training(table)
            self._model = Model(bins=self._model.bins) if rule.whole_schedule else self._model.copy()
        else:
            self._model = Model()
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            self._learner, self._own = repr(self._weak_learner()), self._own_params()
            self._nominal = table.nominal
        each_cost = None if costs is None else self._costs_of_rows(costs, labels)
        problem = self._problem(rule, table, labels, weights, each_cost)
        if self._model.stop_reason not in (PERFECT, NO_EDGE):  # otherwise more rounds would change nothing
            asked = sample_cost is not None or self._asks_for_costs
            self._train(learner, replace(problem, costs_asked=asked), splits)

    def _problem(
        self, rule: Rule, table: Table, labels: Array, weights: Array | None, each_cost: Array | None
    ) -> Problem:
        """Return the learning problem: the positive class against the other."""
        positive = labels == self.pos_label_
        costs, truth = self._costs(each_cost, labels, weights), positive.astype(np.intp)
        place = self.classes_.tolist().index(self.pos_label_)
        return Problem(rule, table, positive, weights, costs, truth, np.array([0, 1]), positive=place)

    def _train(self, learner: Learner, problem: Problem, splits: RowSplits) -> None:
        """Train the model."""
        engine, part, validation = self._engine(), problem, None
        if self.early_stopping:
            inner, outer = self._split(problem, splits)
            part, validation = problem.take(inner), Validation(problem.take(outer), engine, self.scoring)
        state = train(part, learner, engine, self._settings(), validation, self._model)
        self._finish(learner, problem, state, splits)

    def _finish(self, learner: Learner, problem: Problem, state: State, splits: RowSplits) -> None:
        """Finish the model after the last round."""
        doubts = self._doubts(learner, problem, state, splits)
        if doubts is not None:
            warn_caller(doubts, CostWarning)

    def _doubts(self, learner: Learner, problem: Problem, state: State, splits: RowSplits) -> str | None:
        """Say why decisions do not follow the costs that were asked for; None if there is no reason to think so."""
        if not QUESTIONED.get():
            return None
        name, model, asked = type(self).__name__, self._model, problem.costs_asked
        found = misuse(name, problem.rule.costs, problem.costs.spread, model.n_rounds) if asked else None
        if found is None:
            found = missing_constant(name, problem.rule, state, model.stop_reason, self._seed)
        if found is None and asked and problem.rule.costs == ONCE and problem.structure == TWO:
            return overconfidence(name, learner, problem, model, splits, self._settings(), self._engine())
        return found

    @property
    def _asks_for_costs(self) -> bool:
        """Whether the parameters have costs as numbers."""
        return False

    def _split(self, problem: Problem, splits: RowSplits) -> tuple[Array, Array]:
        """Return the rows to train on and those to validate on, stratified by class."""
        fraction = self.validation_fraction or DEFAULT_VALIDATION_FRACTION
        labels = problem.target if problem.structure == TWO else problem.truth
        return splits.for_early_stopping(labels, problem.weights, fraction, self._seed)

    def _costs_of_rows(self, costs: Array, labels: Array) -> Array:
        """Return what it costs to misclassify each row, from the costs that `fit` got."""
        raise NotImplementedError

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """Return the costs; equal for variants that take none."""
        return Costs()

    def _check_going_on(self) -> None:
        """Raise if a warm start cannot continue from the present model."""
        n_done = len(self._model.rounds)
        if self._n_rounds < n_done:
            raise InputError(
                f"{self._rounds}={self._n_rounds} is smaller than the {n_done} rounds trained so far. With "
                "warm_start=True it can only increase. Set warm_start=False to start again."
            )
        then = {"estimator": self._learner, **self._own}
        for name, now in {"estimator": repr(self._weak_learner()), **self._own_params()}.items():
            if now != then.get(name):
                raise _changed(f"{name}={now}", then.get(name))
        if self.pos_label is not None and self.pos_label != self.pos_label_:
            raise _changed(f"pos_label={self.pos_label!r}", repr(self.pos_label_))

    def _own_params(self) -> dict[str, str]:
        """Return the parameters that must not change in a warm start, as text."""
        common = {f.name for f in dataclasses.fields(BoostingClassifier)} - {"resample", "sampler"}
        free = {self._rounds, *common}
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in free}
        return {name: repr(plain_cost(value) if name == "cost" else value) for name, value in params.items()}

    def _settings(self) -> Settings:
        patience = DEFAULT_PATIENCE if isinstance(self.early_stopping, bool | np.bool_) else int(self.early_stopping)
        callbacks = tuple(self.callbacks or ())
        return Settings(self._n_rounds, self.learning_rate, self._seed, patience, callbacks, self.verbose)

    def _check_params(self) -> None:
        check_params(
            self,
            **{self._rounds: integer(1)},
            learning_rate=number(0, 2, open_low=True),
            early_stopping=either(one_of(True, False), integer(1)),
            validation_fraction=optional(number(0, 0.9, open_low=True)),
            scoring=Check(
                lambda v: v is None or isinstance(v, str) or callable(v),
                "a scorer's name, a callable or None",
            ),
            callbacks=Check(
                lambda v: v is None or (isinstance(v, list | tuple) and all(map(callable, v))),
                "a list of callables, or None",
            ),
            warm_start=one_of(True, False),
            n_jobs=N_JOBS,
            verbose=either(one_of(True, False), integer(0)),
        )
        if self.engine not in ENGINES if isinstance(self.engine, str) else not hasattr(self.engine, "training_set"):
            raise InputError(f"engine must be one of {', '.join(map(repr, ENGINES))}; got {self.engine!r}.")
        if not self.early_stopping:
            for name in ("validation_fraction", "scoring"):
                if getattr(self, name) is not None:
                    raise InputError(
                        f"{name}={getattr(self, name)!r} has no effect without early stopping. Set "
                        f"early_stopping=True, or leave {name} at None."
                    )
        self._check_splits()

    def _check_splits(self) -> None:
        """Raise if `splits` is invalid, or has no effect."""
        if self.splits is None:
            return
        if not self._holds_out:
            given, name = in_short(self.splits), type(self).__name__
            raise InputError(f"splits={given} has no effect on this {name}, which {self._why_no_splits()}")
        if isinstance(self.splits, int | np.integer):
            self._check_n_folds()
        elif self.early_stopping and self.validation_fraction is not None:
            raise InputError(
                f"validation_fraction={self.validation_fraction!r} has no effect, because early stopping validates on "
                f"the last split of splits={in_short(self.splits)}. Leave one of them at None."
            )

    def _check_n_folds(self) -> None:
        raise InputError(
            f"splits={self.splits!r} has no effect on early stopping, which needs one split. Pass a splitter, such as "
            "TimeSeriesSplit(), or set validation_fraction."
        )

    def _why_no_splits(self) -> str:
        """Say why `groups` and `splits` have no effect, and what to do."""
        return "holds out no rows. Set early_stopping=True, or leave it out."

    def _check_targets(self, table: Table, y: Any, sample_weight: Any) -> tuple[Array, Array | None]:
        """Validate labels and weights."""
        labels = check_labels(self, y, table.n_rows)
        return labels, None if sample_weight is None else weights_of_fit(sample_weight, table.n_rows)

    def _set_classes(self, labels: Array, weights: Array | None, going_on: bool) -> None:
        """Set `classes_` and `pos_label_`."""
        classes = np.arange(labels.shape[1]) if labels.ndim == 2 else classes_of(self, labels)
        two = labels.ndim == 1 and len(classes) == 2
        if not two and not self._many_classes:
            raise InputError(
                f"Only binary classification is supported. The type of the target is multiclass; y has the classes "
                f"{_first_ten(classes)}. For more than two classes use AdaBoostMHClassifier or AdaC2M1Classifier, or "
                "wrap this classifier in CodeMatrixClassifier, OneVsRestClassifier or OneVsOneClassifier. For a K x K "
                "cost matrix wrap one of these in MinimumRiskClassifier."
            )
        if not two and self.pos_label is not None:
            what = f"{len(classes)} classes" if labels.ndim == 1 else "several labels per row"
            raise InputError(f"pos_label={self.pos_label!r} has no effect, because y has {what}. Leave it at None.")
        if going_on and not np.array_equal(classes, self.classes_):
            raise _changed(f"y has the classes {_first_ten(classes)}", _first_ten(self.classes_))
        self.classes_ = classes
        if two and not going_on:
            self.pos_label_ = choose_positive(labels, classes, self.pos_label, weights)

    def truncated(self, n_rounds: int) -> Self:
        """Return a copy of the fitted model that keeps only its first rounds.

        Parameters
        ----------
        n_rounds : int
            The number of rounds to keep. A model with fewer rounds is copied unchanged.

        Returns
        -------
        BoostingClassifier
            The copy. Its `n_estimators` is that of training, its `n_estimators_` the number of rounds kept.
        """
        check_is_fitted(self)
        if not isinstance(n_rounds, int | np.integer) or n_rounds < 1:
            raise InputError(f"n_rounds={n_rounds!r} must be an integer >= 1.")
        made = copy(self)
        made._model = self._model.truncated(int(n_rounds))
        return made

    # ------------------------------------------------------------------ inspection

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model") and self._model.n_features is not None

    @property
    def estimators_(self) -> list[Any]:
        """The fitted terms, one per round; for more than two classes a list of such lists, one per class."""
        check_is_fitted(self)
        n = self._model.link.n_outputs
        return list(self._model.terms) if n == 1 else [self._model.terms_of(k) for k in range(n)]

    @property
    def n_estimators_(self) -> int:
        """The number of rounds in use."""
        check_is_fitted(self)
        return self._model.n_rounds

    @property
    def stop_reason_(self) -> str:
        """Why training ended."""
        check_is_fitted(self)
        return self._model.stop_reason

    @property
    def history_(self) -> list[dict[str, Any]]:
        """The record of each round: criterion, training loss, validation score."""
        check_is_fitted(self)
        return [dict(r.record) for r in self._model.rounds]

    @property
    def feature_importances_(self) -> Array:
        """The decrease of the loss due to the splits on each feature, normalised to sum to one."""
        check_is_fitted(self)
        total = self._model.importances()
        if total is None:
            raise AttributeError(f"{self._weak_learner()!r} does not provide feature importances.")
        return np.asarray(total / total.sum() if total.any() else total)


@booster
class LearnerChoice:
    """The parameters for the weak learner."""

    estimator: Any = "stump"
    n_estimators: int = 100

    def _weak_learner(self) -> Any:
        return self.estimator


@booster
class SamplerChoice:
    """The parameters for boosting by resampling."""

    sampler: Any = None
    resample: bool = False

    def _sampler(self) -> Any:
        check_params(self, resample=one_of(True, False))
        if self.resample and self.sampler is not None:
            raise InputError(
                f"resample=True means sampler='bootstrap', but sampler={self.sampler!r} was given as well. Leave one "
                "of them at its default."
            )
        return "bootstrap" if self.resample else self.sampler


@booster
class BoostingClassifier(LearnerChoice, SamplerChoice, BaseBooster):
    """Base class of boosters of any weak learner, with or without resampling."""


@booster
class CostChoice(CostMixin, BaseBooster):
    """Base class of boosters with misclassification costs."""

    cost: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, sample_cost: Any = None, *, groups: Any = None) -> Self:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like or pandas, polars or Arrow table of shape (n_samples, n_features)
            Training data. Tables may also hold categories or text. Values may be missing.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            The number of examples that each row stands for. A weight of 2 equals a repeated row.
        sample_cost : array-like of shape (n_samples,), (n_samples, K) or (n_samples, K, K), or None, default=None
            Costs of the individual rows, in the same form as for `SkewBoostClassifier.predict`. Unlike `sample_weight`
            they do not say how frequent such rows are.

            - (n_samples,), two classes only: the cost of missing the positive class, such as the amount of a payment.
              A false alarm costs 1, unless `cost` is a dict or a matrix.
            - (n_samples, K): the cost of misclassifying the row if it is of that class.
            - (n_samples, 2, 2), two classes only: a matrix ``[true, predicted]`` for each row.
        groups : array-like of shape (n_samples,) or None, default=None
            Which rows belong together, such as those of a patient. Rows of a group are on one side of every split of
            early stopping and calibration. Raises if there is no such split.

        Returns
        -------
        self
        """
        if sample_cost is not None:
            check_cost_of_fit(self.cost, sample_cost)
        return self._fit_or_restore(X, y, sample_weight, sample_cost, groups)


@booster
class CostSensitiveClassifier(CostChoice, BoostingClassifier):
    """Base class of cost-sensitive boosters of any weak learner."""


@booster
class PrintedClassifier(CostSensitiveClassifier):
    """Base class of those whose paper prints another form, which is an option."""

    as_printed: bool = False

    def _rule(self) -> Rule:
        check_params(self, as_printed=one_of(True, False))
        rule: Rule = self._rule_class(as_printed=bool(self.as_printed))
        return rule


def _changed(now: str, then: str | None) -> InputError:
    remedy = "Set warm_start=False to start again."
    return InputError(f"{now}, but training started with {then}. It cannot change with warm_start=True. {remedy}")


def _first_ten(classes: Array) -> str:
    """Return the first ten classes as text."""
    shown = ", ".join(repr(c) for c in classes.tolist()[:10])
    return f"[{shown}, …]" if len(classes) > 10 else f"[{shown}]"
