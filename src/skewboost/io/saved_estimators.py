"""Fitted estimators in files: the attributes that are kept of each class, and what must hold between them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.estimator import BaseBooster
from skewboost.errors import InputError
from skewboost.goals.cascade import history
from skewboost.goals.cascade_stages import Stage
from skewboost.goals.certificate import Certificate
from skewboost.goals.goal import Goal
from skewboost.goals.goal_measures import GOAL_MEASURES
from skewboost.goals.search import Point
from skewboost.goals.trials import Decision
from skewboost.io import saved_portfolios  # noqa: F401 - which registers the parts of portfolios
from skewboost.io.saved_attributes import (
    CLASSES,
    EMPTY,
    KINDS,
    LABELS,
    TABLE,
    Family,
    check_binary,
    check_member,
    check_params,
    check_referral,
    empty_columns,
)
from skewboost.io.saved_boosters import BOOSTERS
from skewboost.io.saved_params import MODELS, NotPlainDataError, class_named, construct, name_in_files, write_params
from skewboost.io.saved_parts import ANY_MODEL, VALUE, VALUES, check_size
from skewboost.io.structure import (
    ANY_NUMBER,
    BOOLEAN,
    COUNT,
    OBJECT,
    Field,
    FieldError,
    UnsupportedPartError,
    array,
    field_of,
    list_of,
    map_of,
    nullable,
    number,
    read_entries,
    record,
    register,
    require,
    text,
    type_name,
)
from skewboost.learners.discretise import Categories, Values
from skewboost.learners.patterns import Events
from skewboost.learners.rule_learner import RankedRules
from skewboost.meta.calibrated_folds import CalibratedFolds, Fold
from skewboost.meta.portfolio.portfolio_model import PortfolioModel
from skewboost.metrics.costs import cost_matrix

CONSTANT = "Constant"


# ----------------------------------------------------------------------------------------------- members


def _check_codes(model: Any) -> None:
    """The code has a row per class and a column per member, each of which predicts 0 or 1."""
    code, shape = model.code_, (len(model.classes_), len(model.estimators_))
    require(code.shape == shape and min(shape) > 0, "must have a row per class and a column per member", "code")
    distinct = len({row.tobytes() for row in code}) == len(code) and (np.abs(code) <= 1).all()
    both = (code == 1).any(axis=0) & (code == -1).any(axis=0)
    require(distinct and both.all(), "must have distinct rows, and both signs in each column", "code")
    for k, member in enumerate(model.estimators_):
        check_member(member, model, f"estimators[{k}]", [0, 1])


def _check_bags(model: Any) -> None:
    """All members have all classes."""
    for k, member in enumerate(model.estimators_):
        check_member(member, model, f"estimators[{k}]", model.classes_)


def _check_votes(model: Any) -> None:
    """Members have some of the classes."""
    require(model.estimator is not None, "must be models of skewboost", "estimators")
    known = model.classes_.tolist()
    for k, member in enumerate(model.estimators_):
        if type(member) is not DummyClassifier:  # which uses no feature
            check_member(member, model, f"estimators[{k}]")
        fits = all(label in known for label in member.classes_.tolist())
        fits &= member.classes_.dtype.kind == model.classes_.dtype.kind
        require(fits, "must be classes of the model", f"estimators[{k}].classes")


# ---------------------------------------------------------------------------------- minimum expected cost


class Deciders(Family):
    """Estimators that decide by expected cost, of which the matrix is kept that they decide by now."""

    def restore(self, model: Any, values: dict[str, Any]) -> None:
        """Set the attributes."""
        matrix, K = values.pop("cost_"), len(values["classes_"])
        super().restore(model, values)
        require(matrix.shape == (K, K), "must have a row and a column per class", "cost")
        model._keep_costs(matrix)


def _check_folds(folds: CalibratedFolds) -> None:
    n = len(folds.classes_)
    for k, fold in enumerate(folds.folds):
        check_member(fold.estimator, folds.folds[0].estimator, f"folds[{k}].estimator", folds.classes_)
        require(len(fold.calibrators) == (1 if n == 2 else n), "must have one per class", f"folds[{k}].calibrators")


register(Fold, estimator=ANY_MODEL)
register(CalibratedFolds, _check_folds, classes_=CLASSES, folds=list_of(record(Fold), tuple, least=1))


_FOLDS = record(CalibratedFolds)


def _write_source(value: Any) -> Any:
    """An estimator with probabilities, or the parts of scikit-learn's calibrated one."""
    if type(value) is CalibratedClassifierCV:
        try:
            value = CalibratedFolds.of(value)
        except TypeError as error:
            raise UnsupportedPartError(str(error)) from error
    if isinstance(value, CalibratedFolds):
        return {"calibrated": _FOLDS.write(value)}
    return {"model": ANY_MODEL.write(value)}


def _read_source(data: Any) -> Any:
    entry = "calibrated" if type(data) is dict and "calibrated" in data else "model"
    return read_entries(data, {entry: _FOLDS if entry == "calibrated" else ANY_MODEL})[entry]


def _check_minimum_risk(model: Any) -> None:
    """There is a cost per pair of classes, and a prior per class."""
    n = len(model.classes_)
    require(n > 1, "must be at least two", "classes")
    require(n > 2 or hasattr(model, "pos_label_"), "must not be null", "pos_label")
    for name in ("train_prior", "prior"):
        prior = getattr(model, f"{name}_")
        fits = len(prior) == n and (prior > 0).all() and abs(prior.sum() - 1.0) < 1e-6
        require(fits, "must be positive, one per class, and sum to 1", name)
    check_member(model.estimator_, model, "estimator", model.classes_)
    require(hasattr(model.estimator_, "predict_proba"), "must have probabilities", "estimator")


# ------------------------------------------------------------------------------------------------- goals


class GoalSearches(Family):
    """`GoalSearchCV`, of whose decision the point is kept."""

    def values(self, model: Any) -> dict[str, Any]:
        """The attributes of a fitted estimator."""
        return super().values(model) | {"point": model._decision.point}

    def restore(self, model: Any, values: dict[str, Any]) -> None:
        """Set the attributes, and make the decision of its parts."""
        point = values.pop("point")
        super().restore(model, values)
        check_binary(model)
        model.certificate_, model.cost_matrix_ = values["certificate_"], values["cost_matrix_"]
        lower = values["lower_threshold_"]
        model._settle_on(Decision(model.estimator_, model.threshold_, point, model.pos_label_, lower))


def _check_goal_search(model: Any) -> None:
    """The estimator has the same classes, and tables have columns of one length."""
    given = model.estimator is None or hasattr(model.estimator, "get_params")
    require(given, "must be an estimator, or null", "params.estimator")
    check_member(model.estimator_, model, "estimator", model.classes_)
    same = getattr(model.estimator_, "pos_label_", model.pos_label_) == model.pos_label_
    require(same, "must be that of the estimator", "pos_label")
    require(model.cost_matrix_ is None or model.cost_matrix_.shape == (2, 2), "must be 2 by 2", "cost_matrix")
    require(not math.isnan(model.threshold_), "must not be NaN", "threshold")
    check_referral(model)
    for name in ("search", "frontier"):
        same = len({len(column) for column in getattr(model, f"{name}_").values()}) <= 1
        require(same, "must have columns of one length", name)
    staged = model.n_rounds_ is None or hasattr(model.estimator_, "truncated")
    require(staged, "must be null for an estimator without rounds", "point.n_rounds")


# ---------------------------------------------------------------------------------------------- cascades


class Cascades(Family):
    """`CascadeClassifier`; its history follows from its stages."""

    def restore(self, model: Any, values: dict[str, Any]) -> None:
        """Set the attributes."""
        super().restore(model, values)
        check_binary(model)
        model.certificate_, model.history_ = values["certificate_"], history(model.stages_)


def _check_cascade(model: Any) -> None:
    """Stages are boosters of the same classes, each on some of the columns, of which all know the same."""
    n, kinds = getattr(model, "n_features_in_", None), dict[int, bool]()
    require(n is not None, "must not be null", "n_features_in")
    names: Any = getattr(model, "feature_names_in_", None)
    for k, stage in enumerate(model.stages_):
        booster, place = stage.model, f"stages[{k}]"
        columns = stage.columns.tolist()
        require(isinstance(booster, BaseBooster), "must be a booster", f"{place}.model")
        rising = all(a < b for a, b in pairwise([-1, *columns, n]))
        require(rising, "must be rising numbers of columns", f"{place}.columns")
        require(booster.n_features_in_ == len(columns), "must have a feature per column", f"{place}.model")
        known = getattr(booster, "feature_names_in_", None)
        same = known is None if names is None else known is not None and np.array_equal(known, names[columns])
        require(same, "must be those of the columns", f"{place}.model.feature_names_in")
        require(
            np.array_equal(booster.classes_, model.classes_), "must be those of the model", f"{place}.model.classes"
        )
        for j, nominal in zip(columns, booster._nominal):
            empty = columns.index(j) in empty_columns(booster)
            require(empty or kinds.setdefault(j, nominal) == nominal, "must be the same in all stages", place)


# -------------------------------------------------------------------------------------------- portfolios

_LABEL = Field(
    lambda value: CLASSES.write(np.array([value])), lambda data: CLASSES.read(data).tolist()[0]
)  # of one row
_TRIED_COLUMNS: dict[str, Field] = {
    "family": list_of(text()),
    "rounds": list_of(COUNT),
    "log_loss": list_of(ANY_NUMBER),
    "weight": list_of(number(0)),
    "verdict": list_of(text()),
}
_TRIED = Field(
    lambda value: {name: field.write(value[name]) for name, field in _TRIED_COLUMNS.items()},
    lambda data: read_entries(data, _TRIED_COLUMNS),
)


def _check_skewboost(model: Any) -> None:
    """The model matches the features and classes; a threshold is for two classes."""
    fitted, n = model._model, len(model.classes_)
    require(n > 1, "must be at least two", "classes")
    require((n == 2) == hasattr(model, "pos_label_"), "must be given for two classes, and only then", "pos_label")
    require(fitted.n_outputs == (1 if n == 2 else n), "must have one number per output", "model.offset")
    require(fitted.n_features == model.n_features_in_, "must be the number of features", "model.n_features")
    check_size(fitted.n_features, fitted.n_outputs)
    kinds = [f.nominal for f in fitted.bins.features[: fitted.n_features]]
    require(kinds == list(model._nominal), "must be of the kinds in nominal", "model.bins.features")
    goal = hasattr(model, "threshold_")
    require(goal == hasattr(model, "certificate_"), "must be given with a certificate, and only then", "threshold")
    require(not goal or (n == 2 and not math.isnan(model.threshold_)), "must be a number, of two classes", "threshold")
    require(not goal or model.reject_cost is None, "must be null with a threshold", "reject_cost")
    shares = model._class_shares
    fits = len(shares) == n and (shares > 0).all() and abs(shares.sum() - 1.0) < 1e-6
    require(fits, "must be positive, one per class, and sum to 1", "class_shares")
    if goal:
        check_referral(model)
    try:
        model._check_referral()
        cost_matrix(model.cost_, model.classes_, getattr(model, "pos_label_", None), shares)
    except InputError as error:
        raise FieldError(str(error).rstrip("."), "cost") from error
    same = len({len(column) for column in model.search_.values()}) <= 1
    require(same, "must have columns of one length", "search")


# ------------------------------------------------------------------------------------------------- rules


def _check_rules(model: Any) -> None:
    """Events are values of attributes, patterns consist of events, and each target has a list of patterns."""
    n, values, events = model.n_features_in_, model._values, model._events
    require(len(model.classes_) > 1, "must be at least two", "classes")
    require(len(values) == n, "must have an entry per feature", "values")
    kinds = [isinstance(v, Categories) for v in values]
    require(kinds == list(model._nominal), "must be of the kinds in nominal", "values")
    sizes = np.array([len(v.categories) + 1 if isinstance(v, Categories) else len(v.cuts) + 2 for v in values])
    require((events.attribute < n).all(), "must be numbers of features", "events.attribute")
    require((events.value < sizes[events.attribute]).all(), "must be values of the attributes", "events.value")
    n_targets = 1 if len(model.classes_) == 2 else len(model.classes_)
    require(len(model._ranked) == n_targets, f"must have {n_targets} entries", "ranked")
    for k, ranked in enumerate(model._ranked):
        _check_ranked(ranked, len(events), n_targets, f"ranked[{k}]")


register(RankedRules, log_odds=VALUE, evidence=list_of(VALUES))


def _check_ranked(ranked: RankedRules, n_events: int, n_targets: int, place: str) -> None:
    same = len(ranked.patterns) == len(ranked.evidence)
    require(same, "must have an entry for each of patterns", f"{place}.evidence")
    for patterns, evidence in zip(ranked.patterns, ranked.evidence):
        require((patterns.events < n_events).all(), "must consist of events", f"{place}.patterns")
        of_targets = (patterns.inside, patterns.residual, patterns.residual_rest, patterns.strength)
        shape = (n_targets, len(patterns))
        fits = evidence.shape == shape[1:] and all(array.shape == shape for array in of_targets)
        require(fits, "must have a row per target and a number per pattern", f"{place}.patterns")


# -------------------------------------------------------------------------------------- all estimators

_PRIOR, _COLUMNS = array(ndim=(1,)), map_of(array("bif", ndim=(1,), finite=False))
_MEMBERS = list_of(ANY_MODEL, least=1)
_FAMILIES: dict[str, Family] = {
    "CodeMatrixClassifier": Family(
        {**TABLE, "classes_": CLASSES, "code_": array("i", ndim=(2,)), "estimators_": _MEMBERS}, _check_codes
    ),
    "UnderBaggingClassifier": Family({**TABLE, **EMPTY, "classes_": CLASSES, "estimators_": _MEMBERS}, _check_bags),
    "PastingVotesClassifier": Family(
        {
            **TABLE,
            **EMPTY,
            "classes_": CLASSES,
            "_arrow_as_pandas": BOOLEAN,
            "n_samples_seen_": COUNT,
            "stop_reason_": text(),
            "oob_error_": ANY_NUMBER,
            "history_": list_of(map_of(ANY_NUMBER)),
            "estimators_": _MEMBERS,
        },
        _check_votes,
    ),
    "MinimumRiskClassifier": Deciders(
        {
            **TABLE,
            **LABELS,
            "cost_": array(ndim=(2,)),
            "train_prior_": _PRIOR,
            "prior_": _PRIOR,
            "estimator_": Field(_write_source, _read_source),
        },
        _check_minimum_risk,
    ),
    "GoalSearchCV": GoalSearches(
        {
            **TABLE,
            **LABELS,
            "goal_": record(Goal),
            "then_": text(*GOAL_MEASURES),
            "cost_matrix_": nullable(array(ndim=(2,))),
            "threshold_": ANY_NUMBER,
            "lower_threshold_": nullable(ANY_NUMBER),
            "reject_label_": nullable(_LABEL),
            "point": record(Point),
            "certificate_": nullable(record(Certificate)),
            "search_": _COLUMNS,
            "frontier_": _COLUMNS,
            "estimator_": ANY_MODEL,
        },
        _check_goal_search,
    ),
    "CascadeClassifier": Cascades(
        {
            **TABLE,
            **LABELS,
            "stop_reason_": text(),
            "certificate_": nullable(record(Certificate)),
            "stages_": list_of(record(Stage), least=1),
        },
        _check_cascade,
    ),
    "SkewBoostClassifier": Deciders(
        {
            **TABLE,
            **KINDS,
            **LABELS,
            "cost_": array(ndim=(2,)),
            "_class_shares": array(ndim=(1,)),
            "_costs_are_means": BOOLEAN,
            "threshold_": nullable(ANY_NUMBER),
            "lower_threshold_": nullable(ANY_NUMBER),
            "certificate_": nullable(record(Certificate)),
            "search_": _TRIED,
            "stop_reason_": text(),
            "_model": record(PortfolioModel),
        },
        _check_skewboost,
    ),
    "RuleLearner": Family(
        {
            **TABLE,
            **KINDS,
            "classes_": CLASSES,
            "_prior": BOOLEAN,
            "_values": list_of(field_of(Values)),
            "_events": record(Events),
            "_ranked": list_of(record(RankedRules)),
        },
        _check_rules,
    ),
}


_CLASS = text(*MODELS, CONSTANT)
_CONSTANT = {"classes": CLASSES, "strategy": text("prior", "most_frequent")}


def _write_estimator(value: Any) -> dict[str, Any]:
    """The class, parameters and attributes of a fitted estimator, all of whose parts must be of this package."""
    if type(value) is DummyClassifier and len(value.classes_) == 1:  # what a fit to rows of one class leaves
        own = {"classes": value.classes_, "strategy": value.strategy}
        return {"class": CONSTANT, **{name: field.write(own[name]) for name, field in _CONSTANT.items()}}
    name = name_in_files(value)
    if name not in MODELS:
        raise UnsupportedPartError(f"an estimator of type {type_name(value)}")
    try:
        check_is_fitted(value)
    except NotFittedError as error:
        raise NotFittedError(f"{name} is not fitted, so it cannot be saved. Call fit first.") from error
    check_params(value)
    attributes = _FAMILIES.get(name, BOOSTERS).write(value)
    try:
        params = write_params(value)
    except NotPlainDataError as error:
        raise UnsupportedPartError(f"{error} in {name}") from error
    return {"class": name, "params": params, **attributes}


def _read_estimator(data: Any) -> Any:
    """An estimator that is ready for use."""
    entries = dict(OBJECT.read(data))
    name = read_entries({"class": entries.pop("class", None)}, {"class": _CLASS})["class"]
    if name == CONSTANT:
        classes, strategy = read_entries(entries, _CONSTANT).values()
        require(len(classes) == 1, "must be one class", "classes")
        return DummyClassifier(strategy=strategy).fit(np.zeros((1, 1)), classes)
    require("params" in entries, "has no entry 'params'")
    try:
        model = construct(class_named(name), entries.pop("params"))
        check_params(model)
    except FieldError as error:
        raise error.within("params") from None
    except (TypeError, ValueError) as error:
        raise FieldError(str(error).rstrip("."), "params") from error
    _FAMILIES.get(name, BOOSTERS).read(model, entries)
    return model


ESTIMATOR = Field(_write_estimator, _read_estimator)
