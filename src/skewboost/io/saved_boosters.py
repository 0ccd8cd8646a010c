"""Boosters: ensembles of rounds, and what their scores mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from skewboost.boosting.many_classes import JointEnsemble
from skewboost.boosting.training import Ensemble
from skewboost.boosting.variants.alternating_tree import AlternatingTreeClassifier
from skewboost.engine.boundary import Array
from skewboost.engine.grow_alternating import AlternatingPartition
from skewboost.engine.scoring import LeafTerm, LineTerm
from skewboost.io.saved_bins import BINS, MOST_CELLS, SUPPORT
from skewboost.io.saved_fields import KINDS, LABELS, TABLE, Fitted, check_binary, check_member, check_table
from skewboost.io.saved_rules import JOINT_RULE, RULE
from skewboost.io.saved_terms import JOINT_ROUND, ROUND
from skewboost.io.schema import Field, Flag, Integer, ListOf, Maybe, OneOf, Record, Text, require

NO_REPR = "another value than it has now"  # of a parameter that was set after training; it equals none


def _check_rounds(ensemble: Ensemble) -> None:
    require(ensemble.n_rounds <= len(ensemble.rounds), "must not exceed the number of rounds", "n_rounds")
    require(ensemble.n_rounds or not ensemble.rounds, "must be above 0 where there are rounds", "n_rounds")


_ENSEMBLE: Mapping[str, Field] = {
    "n_rounds": Integer(),
    "stop_reason": Text(),
    "rule": RULE,
    "bins": Maybe(BINS),
    "support": SUPPORT,
    "rounds": ListOf(ROUND),
}
ENSEMBLE = Record(Ensemble, _ENSEMBLE, check=_check_rounds)
JOINT_ENSEMBLE = Record(
    JointEnsemble, {**_ENSEMBLE, "rule": JOINT_RULE, "rounds": ListOf(JOINT_ROUND)}, check=_check_rounds
)


def check_ensemble(ensemble: Ensemble, model: Any) -> None:
    """Bins, counts and rounds go with the features of the model."""
    n, nominal = model.n_features_in_, list(model._nominal)
    bins, support = ensemble.bins, ensemble.support
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
    for k, r in enumerate(ensemble.rounds):
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
            check_member(r.term.estimator, model, f"{at}.estimator")  # type: ignore[attr-defined]


def _features(term: Any) -> Iterable[int]:
    if isinstance(term, LineTerm):
        return [term.feature]
    vote = getattr(term, "vote", None)
    partitions = [t.partition for t in (term, vote) if isinstance(t, LeafTerm)]
    return [split.feature for partition in partitions for split in partition.splits]


class Booster(Fitted):
    """A booster of two classes."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        **KINDS,
        **LABELS,
        "seed": Maybe(Integer(0, 2**32)),
        "altered": ListOf(Text()),
        "ensemble": ENSEMBLE,
    }
    attributes: ClassVar[Mapping[str, str]] = {"seed": "_seed", "ensemble": "_ensemble"}

    def value(self, model: Any, name: str) -> Any:
        """Also the parameters that were set to something else after training, which a warm start has to know of."""
        if name == "altered":
            now = model._own_params() | {"estimator": repr(model._weak_learner())}
            return sorted(k for k, v in (model._own | {"estimator": model._learner}).items() if now.get(k) != v)
        if name == "seed":
            return model._seed if _draws(model) else None
        return super().value(model, name)

    def put(self, model: Any, name: str, value: Any) -> None:
        """The ensemble comes last, and is compiled."""
        if name == "altered":
            own = model._own_params() | {"estimator": repr(model._weak_learner())}
            own.update(dict.fromkeys(value, NO_REPR))
            model._learner, model._own = own.pop("estimator"), own
        elif name == "ensemble":
            model._ensembles = [value]
        else:
            super().put(model, name, value)

    def check(self, model: Any) -> None:
        """Before anything is compiled."""
        model.__dict__.setdefault("_seed", 0)
        check_table(model)
        check_binary(model)
        (ensemble,) = model._ensembles
        self._check(ensemble, model, 1)
        if isinstance(model, AlternatingTreeClassifier):
            grown = all(isinstance(getattr(r.term, "partition", None), AlternatingPartition) for r in ensemble.rounds)
            require(grown, "must all be of the kind 'alternating'", "ensemble.rounds")
        ensemble.finish(model.n_features_in_)

    def _check(self, ensemble: Ensemble, model: Any, n_ensembles: int) -> None:
        fits = model.n_features_in_ * n_ensembles <= MOST_CELLS
        require(fits, f"times the number of classes is more than {MOST_CELLS}", "n_features")
        check_ensemble(ensemble, model)


class JointBooster(Booster):
    """A booster of many classes or labels: one ensemble of rounds that say something of each."""

    fields: ClassVar[Mapping[str, Field]] = {
        **Booster.fields,
        "multilabel": Flag(),
        "ensemble": OneOf({"two": ENSEMBLE, "many": JOINT_ENSEMBLE}, "an ensemble"),
    }
    attributes: ClassVar[Mapping[str, str]] = {**Booster.attributes, "multilabel": "multilabel_"}

    def value(self, model: Any, name: str) -> Any:
        """The ensembles of the labels, joined."""
        if model._joint and name == "ensemble":
            return JointEnsemble.joined(model._ensembles, model._joint_rule_)
        return None if model._joint and name == "positive" else super().value(model, name)

    def check(self, model: Any) -> None:
        """The values of leaves have a column per label."""
        if not model._joint:
            require(type(model._ensembles[0]) is Ensemble, "must be 'two'", "ensemble.kind")
            super().check(model)
            return
        model.__dict__.setdefault("_seed", 0)
        check_table(model)
        (joint,) = model._ensembles
        require(isinstance(joint, JointEnsemble), "must be 'many'", "ensemble.kind")
        require(not model.multilabel_ or _numbered(model.classes_), "must be 0, 1, …", "classes")
        n = len(model.classes_)
        rule = joint.rule
        require(
            len(rule.of_class) == n and (rule.of_class > 0).all(), "must be above 0, one per class", "ensemble.rule"
        )
        tilts = getattr(rule, "tilts", None)
        require(tilts is None or len(tilts) == n, "must have one per class", "ensemble.rule.tilts")
        for k, r in enumerate(joint.rounds):
            require(r.term.values.shape[1] == n, "must have a column per class", f"ensemble.rounds[{k}].term.values")
        self._check(joint, model, n)
        model._joint_rule_ = rule
        model._ensembles = joint.parts(n, model.n_features_in_)


def _draws(model: Any) -> bool:
    """Whether its seed had a part in it; else models that are equal would differ in it."""
    settings = (model.early_stopping, model.resample, getattr(model, "calibrate", None))
    foreign = any(hasattr(r.term, "estimator") for r in model._ensembles[0].rounds)
    return any(settings) or model._sampler() is not None or foreign


def _numbered(classes: Array) -> bool:
    return bool(np.array_equal(classes, np.arange(len(classes))))
