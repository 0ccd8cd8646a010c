"""What the descriptions of fitted models have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from skewboost.errors import InputError
from skewboost.io.saved_labels import Labels, Names
from skewboost.io.schema import DefectError, Field, Flag, Integer, Later, ListOf, Maybe, checked, record, require

MOST_FEATURES = 2**20
MOST_JOBS = 1024


def _model() -> Field:
    from skewboost.io.saved_models import MODEL  # which is made of these

    return MODEL


ANY_MODEL = Later(_model)

LABELS: Mapping[str, Field] = {"classes": Labels(), "positive": Maybe(Integer(0, 2**20))}
TABLE: Mapping[str, Field] = {
    "n_features": Maybe(Integer(1, MOST_FEATURES)),
    "feature_names": Maybe(Names()),
}
KINDS: Mapping[str, Field] = {
    "empty_columns": Maybe(ListOf(Integer(0, MOST_FEATURES), frozenset, distinct=True)),
    "nominal": ListOf(Flag()),
}
ATTRIBUTES = {
    "classes": "classes_",
    "n_features": "n_features_in_",
    "feature_names": "feature_names_in_",
    "empty_columns": "_empty_columns",
    "nominal": "_nominal",
}


class Fitted:
    """A family of models: the fields of the file, and the attribute that each stands for."""

    fields: ClassVar[Mapping[str, Field]]
    attributes: ClassVar[Mapping[str, str]] = {}  # where it is not the name of the field

    def attribute(self, name: str) -> str:
        """The attribute that a field stands for."""
        return self.attributes.get(name) or ATTRIBUTES.get(name) or name

    def value(self, model: Any, name: str) -> Any:
        """What a field is to tell of a model."""
        if name == "positive":
            return positive_of(model)
        return getattr(model, self.attribute(name), None)

    def write(self, model: Any) -> dict[str, Any]:
        """All fields."""
        return {name: field.write(self.value(model, name)) for name, field in self.fields.items()}

    def read(self, model: Any, data: Any, at: str) -> None:
        """Give a model what it has learned, checked field by field and then as a whole."""
        data = record(data, tuple(self.fields), at)
        for name, field in self.fields.items():
            value = field.read(data[name], f"{at}.{name}")
            if value is not None:
                checked(lambda v, name=name: self.put(model, name, v), value, at)
        checked(self.check, model, at)

    def put(self, model: Any, name: str, value: Any) -> None:
        """Set the attribute of a field."""
        if name == "positive":
            require(value < len(model.classes_), "must be the place of a class", name)
            value, name = model.classes_[value], "pos_label_"
        setattr(model, self.attribute(name), value)

    def check_params(self, model: Any) -> None:
        """What the estimator itself demands of its parameters."""
        if hasattr(model, "_check_params"):
            model._check_params()
        if abs(getattr(model, "n_jobs", None) or 0) > MOST_JOBS:
            raise InputError(f"n_jobs={model.n_jobs} asks for more than {MOST_JOBS} threads.")

    def check(self, model: Any) -> None:
        """What must hold between the fields; raises `DefectError` where it does not."""


def positive_of(model: Any) -> int | None:
    """The place of the positive class, if there is one."""
    if len(model.classes_) != 2 or not hasattr(model, "pos_label_"):
        return None
    return int(np.flatnonzero(model.classes_ == model.pos_label_)[0])


def check_table(model: Any, kinds: bool = True) -> None:
    """Names, kinds and empty columns go with the number of features."""
    n = getattr(model, "n_features_in_", None)
    names = getattr(model, "feature_names_in_", None)
    require(n is not None or not kinds, "must be known", "n_features")
    require(names is None or len(names) == n, "must have a name per feature", "feature_names")
    require(not kinds or len(model._nominal) == n, "must have an entry per feature", "nominal")
    empty = empty_columns(model)
    require(all(j < (n or 0) for j in empty), "must be numbers of features", "empty_columns")
    require(not kinds or not any(model._nominal[j] for j in empty), "must not be nominal", "empty_columns")


def empty_columns(model: Any) -> frozenset[int]:
    """The columns in which all cells were missing in training."""
    return getattr(model, "_empty_columns", frozenset())


def check_binary(model: Any) -> None:
    """Two classes, one of them positive."""
    require(len(model.classes_) == 2, "must be two", "classes")
    require(hasattr(model, "pos_label_"), "must be known", "positive")


def seeing(model: Any) -> Iterator[Any]:
    """The models in a model that look at columns and know their kinds: it, or else its members."""
    if hasattr(model, "_nominal"):
        yield model
        return
    folds = (fold.estimator for fold in getattr(model, "folds", ()))
    for member in (getattr(model, "estimator_", None), *getattr(model, "estimators_", ()), *folds):
        yield from () if member is None else seeing(member)


def check_member(member: Any, owner: Any, at: str, classes: Any = None) -> None:
    """A member sees the same features as its owner and its other members, and knows these classes."""
    first: Any = next(seeing(owner), None)
    whole = owner if hasattr(owner, "n_features_in_") else first
    names: Any = getattr(whole, "feature_names_in_", None)
    for inner in seeing(member):
        n, own = whole.n_features_in_, inner.n_features_in_
        require(own == n, f"has {own} features, and not {n}", f"{at}.n_features")
        known = getattr(inner, "feature_names_in_", names)
        require(np.array_equal(known, names), "must be those of the whole", f"{at}.feature_names")
        empty = empty_columns(inner) | empty_columns(first)  # which are of either kind
        clash = any(a != b for j, (a, b) in enumerate(zip(inner._nominal, first._nominal)) if j not in empty)
        require(not clash, "must be the same everywhere in a model", f"{at}.nominal")
    if classes is not None and not np.array_equal(member.classes_, classes):
        raise DefectError(f"must be {np.asarray(classes).tolist()}", f"{at}.classes")
