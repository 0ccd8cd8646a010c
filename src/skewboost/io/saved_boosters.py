"""Fitted boosters in files: the attributes that are kept, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skewboost.boosting.link import Labels, Link, TwoClasses
from skewboost.boosting.many_classes import JointClassifier
from skewboost.boosting.model import Model
from skewboost.engine.growing_alternating import AlternatingPartition
from skewboost.engine.scoring import LeafTerm, LineTerm
from skewboost.io.saved_attributes import KINDS, LABELS, TABLE, Family, check_binary, check_member
from skewboost.io.saved_parts import check_size
from skewboost.io.structure import FieldError, integer, list_of, nullable, record, require, text
from skewboost.learners import AlternatingTree

ALTERED = "another value than it has now"  # of a parameter that was set after training; it equals no value


class Boosters(Family):
    """The variants. Parameters that were altered after training are kept, too: a warm start must know them."""

    def values(self, model: Any) -> dict[str, Any]:
        """The attributes of a fitted estimator."""
        now = model._own_params() | {"estimator": repr(model._weak_learner())}
        before = model._own | {"estimator": model._learner}
        own = super().values(model)
        return own | {
            "altered": sorted(name for name, value in before.items() if now.get(name) != value),
            "_seed": model._seed if _uses_seed(model) else None,
            "pos_label_": own["pos_label_"] if model._model.link.n_outputs == 1 else None,
        }

    def restore(self, model: Any, values: dict[str, Any]) -> None:
        """Set the attributes. Parameters that were altered had a value that equals no other."""
        altered = values.pop("altered")
        super().restore(model, {**values, "_seed": values["_seed"] or 0})
        own = model._own_params() | {"estimator": repr(model._weak_learner())} | dict.fromkeys(altered, ALTERED)
        model._learner, model._own = own.pop("estimator"), own


def _check_booster(model: Any) -> None:
    """The model matches the features and classes of the estimator."""
    fitted: Model = model._model
    _check_link(model, fitted.link)
    check_size(model.n_features_in_ if fitted.bins is None else fitted.bins.n_features, fitted.link.n_outputs)
    try:
        _check_features(fitted, model)
    except FieldError as error:
        raise error.within("model") from None
    if isinstance(model._weak_learner(), AlternatingTree):
        grown = all(isinstance(getattr(r.term, "partition", None), AlternatingPartition) for r in fitted.rounds)
        require(grown, "must all have an AlternatingPartition", "model.rounds")
    fitted.finish(model.n_features_in_)


BOOSTERS = Boosters(
    {
        **TABLE,
        **KINDS,
        **LABELS,
        "_seed": nullable(integer(0, 2**32)),
        "altered": list_of(text()),
        "_model": record(Model),
    },
    _check_booster,
)


def _uses_seed(model: Any) -> bool:
    """Whether the model depends on its seed. Else equal models would differ in it."""
    foreign = any(hasattr(r.term, "estimator") for r in model._model.rounds)
    return bool(model.early_stopping or getattr(model, "calibrate", None) or model._sampler() is not None or foreign)


def _check_link(model: Any, link: Link) -> None:
    n = len(model.classes_)
    if isinstance(link, TwoClasses):
        check_binary(model)
        place = model.classes_.tolist().index(model.pos_label_)
        require(link.positive == place, "must be the place of the positive class", "model.link.positive")
        return
    labels = isinstance(link, Labels)
    joint = isinstance(model, JointClassifier) and (labels or n > 2)
    require(joint, "must be TwoClasses", "model.link.kind")
    require(link.n_outputs == n, "must have one number per class", "model.link")
    require(not labels or np.array_equal(model.classes_, np.arange(n)), "must be 0, 1, …", "classes")
    model.multilabel_ = labels


def _check_kinds(term: Any, bins: Any, place: str) -> None:
    """Thresholds are for numbers, and for categories in their order."""
    if isinstance(term, LeafTerm) and bins is not None:
        for k, split in enumerate(term.partition.splits):
            by_order = not bins.nominal[split.feature] or bins.ordered[split.feature]
            own = f"{place}.partition.splits[{k}].threshold"
            require(split.threshold < 0 or by_order, "must be -1 for categories", own)


def _check_features(fitted: Model, booster: Any) -> None:
    """Bins, counts and rounds match the features of the booster."""
    n, nominal = booster.n_features_in_, list(booster._nominal)
    bins, support = fitted.bins, fitted.support
    require(support is not None, "must not be null", "support")
    assert support is not None
    if bins is not None:
        columns = bins.columns or tuple(range(bins.n_features))
        fits = len(columns) == bins.n_features and list(dict.fromkeys(columns)) == list(range(n))
        require(fits and columns == tuple(sorted(columns)), "must have an entry per feature", "bins.columns")
        kinds = [f.nominal for f in bins.features] == [nominal[j] for j in columns]
        require(kinds, "must be of the kinds in nominal", "bins.features")
    counted = (bins is None) == (support.per_code is None)
    require(counted, "must be null where bins are null, and only there", "support.per_code")
    n_features = n if bins is None else bins.n_features
    for own, size in ((support.per_code, n_features), (None if support.spread is None else support.spread.known, n)):
        require(own is None or len(own) == size, "must have an entry per feature", "support")
    n_preconditions = 1
    for k, r in enumerate(fitted.rounds):
        place = f"rounds[{k}].term"
        for feature in _tested(r.term):
            require(feature < n_features, f"has feature {feature}, but there are {n_features} features", place)
        _check_kinds(r.term, bins, place)
        fits = r.importances is None or len(r.importances) == n
        require(fits, "must be the number of features", f"rounds[{k}].importances.n")
        if isinstance(r.term, LineTerm):
            require(not nominal[r.term.feature], "must not be nominal", f"{place}.feature")
            require(support.spread is not None, "must not be null where rounds are lines", "support.spread")
        elif isinstance(r.term, LeafTerm):
            partition = r.term.partition
            require(not partition.splits or bins is not None, "must not be null where rounds have splits", "bins")
            if isinstance(partition, AlternatingPartition):
                known = partition.precondition < n_preconditions
                require(known, "must be a node of an earlier round", f"{place}.partition.precondition")
                n_preconditions += 2
        else:
            check_member(r.term.estimator, booster, f"{place}.estimator")  # type: ignore[attr-defined]


def _tested(term: Any) -> Iterable[int]:
    """The features that a term of this package looks at."""
    if isinstance(term, LineTerm):
        return [term.feature]
    return [split.feature for split in term.partition.splits] if isinstance(term, LeafTerm) else []
