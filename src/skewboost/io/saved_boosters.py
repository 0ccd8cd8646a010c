"""Boosters: ensembles of rounds, and what their scores mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from skewboost.boosting.link import Labels, Link, TwoClasses
from skewboost.boosting.many_classes import JointClassifier
from skewboost.boosting.model import Model
from skewboost.boosting.variants.alternating_tree import AlternatingTreeClassifier
from skewboost.engine.growing_alternating import AlternatingPartition
from skewboost.engine.scoring import LeafTerm, LineTerm
from skewboost.io.saved_bins import BINS, MOST_CELLS, SUPPORT
from skewboost.io.saved_fields import KINDS, LABELS, TABLE, Fitted, check_binary, check_member, check_table
from skewboost.io.saved_links import LINK
from skewboost.io.saved_terms import ROUND
from skewboost.io.schema import Field, Integer, ListOf, Maybe, Record, Text, checked, require

NO_REPR = "another value than it has now"  # of a parameter that was set after training; it equals none


def _check_model(model: Model) -> None:
    require(model.n_rounds <= len(model.rounds), "must not exceed the number of rounds", "n_rounds")
    require(model.n_rounds or not model.rounds, "must be above 0 where there are rounds", "n_rounds")
    shape = () if model.link.n_outputs == 1 else (model.link.n_outputs,)
    for k, r in enumerate(model.rounds):
        own = np.shape(getattr(r.term, "values", [0.0]))[1:]
        require(own == shape, "must have a column per class where there are many", f"rounds[{k}].term.values")
    schedule = getattr(model.link, "schedule", None)
    require(schedule is None or model.n_rounds <= schedule, "must not be less than n_rounds", "link.schedule")


MODEL = Record(
    Model,
    {
        "n_rounds": Integer(),
        "stop_reason": Text(),
        "link": LINK,
        "bins": Maybe(BINS),
        "support": SUPPORT,
        "rounds": ListOf(ROUND),
    },
    check=_check_model,
)


def check_features(fitted: Model, booster: Any) -> None:
    """Bins, counts and rounds go with the features of the booster."""
    n, nominal = booster.n_features_in_, list(booster._nominal)
    bins, support = fitted.bins, fitted.support
    assert support is not None
    if bins is not None:
        require(bins.n_features == n, "must have an entry per feature", "bins.features")
        require([f.nominal for f in bins.features] == nominal, "must be of the kinds in nominal", "bins.features")
    require(
        (bins is None) == (support.per_code is None), "must be known where bins are, and only there", "support.per_code"
    )
    for own in (support.per_code, None if support.spread is None else support.spread.known):
        require(own is None or len(own) == n, "must have an entry per feature", "support")
    n_preconditions = 1
    for k, r in enumerate(fitted.rounds):
        at = f"rounds[{k}].term"
        for feature in _features(r.term):
            require(feature < n, f"is {feature}, and there are {n} features", f"{at} feature")
        told = r.importances
        require(told is None or len(told) == n, "must be that of the features", f"rounds[{k}].importances.n")
        if isinstance(r.term, LineTerm):
            require(not nominal[r.term.feature], "must not be nominal", f"{at}.feature")
            require(support.spread is not None, "must be known where rounds are lines", "support.spread")
        elif isinstance(r.term, LeafTerm):
            looks = bool(r.term.partition.splits)
            require(not looks or bins is not None, "must be known where rounds are leaves", "bins")
            if isinstance(r.term.partition, AlternatingPartition):
                there = r.term.partition.precondition < n_preconditions
                require(there, "must be a node of an earlier round", f"{at}.partition.precondition")
                n_preconditions += 2
        else:
            check_member(r.term.estimator, booster, f"{at}.estimator")  # type: ignore[attr-defined]


def _features(term: Any) -> Iterable[int]:
    if isinstance(term, LineTerm):
        return [term.feature]
    return [split.feature for split in term.partition.splits] if isinstance(term, LeafTerm) else []


class Booster(Fitted):
    """A booster: its classes, its columns, and the model."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        **KINDS,
        **LABELS,
        "seed": Maybe(Integer(0, 2**32)),
        "altered": ListOf(Text()),
        "model": MODEL,
    }
    attributes: ClassVar[Mapping[str, str]] = {"seed": "_seed", "model": "_model"}

    def value(self, model: Any, name: str) -> Any:
        """Also the parameters that were set to something else after training, which a warm start has to know of."""
        if name == "altered":
            now = model._own_params() | {"estimator": repr(model._weak_learner())}
            return sorted(k for k, v in (model._own | {"estimator": model._learner}).items() if now.get(k) != v)
        if name == "seed":
            return model._seed if _draws(model) else None
        if name == "positive" and model._model.link.n_outputs > 1:
            return None
        return super().value(model, name)

    def put(self, model: Any, name: str, value: Any) -> None:
        """Parameters that were altered equal none."""
        if name == "altered":
            own = model._own_params() | {"estimator": repr(model._weak_learner())}
            own.update(dict.fromkeys(value, NO_REPR))
            model._learner, model._own = own.pop("estimator"), own
        else:
            super().put(model, name, value)

    def check(self, model: Any) -> None:
        """Before anything is compiled."""
        model.__dict__.setdefault("_seed", 0)
        check_table(model)
        fitted: Model = model._model
        self._check_classes(model, fitted.link)
        fits = model.n_features_in_ * fitted.link.n_outputs <= MOST_CELLS
        require(fits, f"times the number of classes is more than {MOST_CELLS}", "n_features")
        checked(lambda own: check_features(own, model), fitted, "model")
        if isinstance(model, AlternatingTreeClassifier):
            grown = all(isinstance(getattr(r.term, "partition", None), AlternatingPartition) for r in fitted.rounds)
            require(grown, "must all be of the kind 'alternating'", "model.rounds")
        fitted.finish(model.n_features_in_)

    def _check_classes(self, model: Any, link: Link) -> None:
        if isinstance(link, TwoClasses):
            check_binary(model)
            place = model.classes_.tolist().index(model.pos_label_)
            require(link.positive == place, "must be the place of the positive class", "model.link.positive")
            return
        require(isinstance(model, JointClassifier), "must be that of two classes", "model.link.kind")
        require(link.n_outputs == len(model.classes_), "must have one number per class", "model.link")
        labels = isinstance(link, Labels)
        require(labels or len(model.classes_) > 2, "must be that of two classes", "model.link.kind")
        numbered = np.array_equal(model.classes_, np.arange(len(model.classes_)))
        require(not labels or numbered, "must be 0, 1, …", "classes")
        model.multilabel_ = labels


def _draws(model: Any) -> bool:
    """Whether its seed had a part in it; else models that are equal would differ in it."""
    foreign = any(hasattr(r.term, "estimator") for r in model._model.rounds)
    return bool(model.early_stopping or getattr(model, "calibrate", None) or model._sampler() is not None or foreign)
