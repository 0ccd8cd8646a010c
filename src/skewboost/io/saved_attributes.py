"""What all fitted estimators have in common in files: classes, features, and checks of estimators within others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from skewboost.boosting.estimator import BaseBooster
from skewboost.errors import InputError
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.goals.search_parameters import check_search
from skewboost.io.saved_parts import MOST_FEATURES
from skewboost.io.structure import (
    BOOLEAN,
    COUNT,
    DTYPE,
    LIST,
    Field,
    UnsupportedPartError,
    array_of,
    integer,
    list_of,
    nullable,
    read_entries,
    require,
    text,
)
from skewboost.learners import resolve
from skewboost.typing import Array

MOST_JOBS = 1024
OBJECTS = "|O"


def _write_labels(value: Array) -> Any:
    values = value.tolist()
    plain = all(isinstance(v, str | bool | int | float) for v in values)
    if not plain or not (value.dtype.str == OBJECTS or DTYPE.fullmatch(value.dtype.str)):
        raise UnsupportedPartError(f"class labels of type {value.dtype}")
    return {"dtype": value.dtype.str, "values": [v.item() if isinstance(v, np.generic) else v for v in values]}


def _read_labels(data: Any) -> Array:
    dtype, values = read_entries(data, {"dtype": text(), "values": LIST}).values()
    require(dtype == OBJECTS or DTYPE.fullmatch(dtype), "must be a type of labels", "dtype")
    kinds = {type(v) for v in values}
    fits = len(kinds) == 1 and kinds <= {str, bool, int, float}
    require(fits, "must be all texts, all booleans, all integers or all floats", "values")
    require(kinds != {float} or all(map(math.isfinite, values)), "must be finite", "values")
    labels = np.array(values, dtype=object) if dtype == OBJECTS else array_of(values, dtype)
    require(labels.tolist() == values and type(labels.tolist()[0]) in kinds, "does not match dtype", "values")
    require(all(a < b for a, b in pairwise(values)), "must rise", "values")
    return labels


_NAMES = list_of(text(), distinct=True)
NAMES = Field(lambda value: _NAMES.write(value.tolist()), lambda data: np.array(_NAMES.read(data), dtype=object))
CLASSES = Field(_write_labels, _read_labels)  # all of one type, sorted and distinct
LABELS: Mapping[str, Field] = {"classes_": CLASSES, "pos_label_": nullable(COUNT)}
TABLE: Mapping[str, Field] = {
    "n_features_in_": nullable(integer(1, MOST_FEATURES)),
    "feature_names_in_": nullable(NAMES),
}
EMPTY: Mapping[str, Field] = {"_empty_columns": nullable(list_of(integer(0, MOST_FEATURES), frozenset, distinct=True))}
KINDS: Mapping[str, Field] = {**EMPTY, "_nominal": list_of(BOOLEAN)}


# ------------------------------------------------------------------------------------- what families share


@dataclass(frozen=True)
class Family:
    """Estimators of which files keep the same attributes; entries have their names without underscores at the ends.

    `check` raises `FieldError` where attributes do not match each other.
    """

    attributes: Mapping[str, Field]
    check: Callable[[Any], None]

    def values(self, model: Any) -> dict[str, Any]:
        """The attributes of a fitted estimator. The positive class is given by its place among the classes."""
        if hasattr(model, "_check_decisions"):
            model._check_decisions()
        values = {name: getattr(model, name, None) for name in self.attributes}
        if values.get("pos_label_") is not None:
            values["pos_label_"] = model.classes_.tolist().index(model.pos_label_)
        return values

    def write(self, model: Any) -> dict[str, Any]:
        """Return all entries."""
        values = self.values(model)
        return {name.strip("_"): field.write(values[name]) for name, field in self.attributes.items()}

    def read(self, model: Any, data: Any) -> None:
        """Give an estimator the attributes in a file."""
        entries = {name.strip("_"): field for name, field in self.attributes.items()}
        read = read_entries(data, entries)
        self.restore(model, {name: read[name.strip("_")] for name in self.attributes})
        check_table(model, kinds="_nominal" in self.attributes)
        self.check(model)

    def restore(self, model: Any, values: dict[str, Any]) -> None:
        """Set the attributes that have a value."""
        place = values.get("pos_label_")
        if place is not None:
            require(place < len(values["classes_"]), "must be the place of a class", "pos_label")
            values = {**values, "pos_label_": values["classes_"][place]}
        vars(model).update({name: value for name, value in values.items() if value is not None})


def check_params(model: Any) -> None:
    """The checks of an estimator's own parameters that `fit` makes before it reads data."""
    if hasattr(model, "_check_params"):
        model._check_params()
    if isinstance(model, BaseBooster):
        model._rule()
        resolve(model._weak_learner(), model._sampler())
    if isinstance(model, GoalSearchCV):
        check_search(model)
    if abs(getattr(model, "n_jobs", None) or 0) > MOST_JOBS:
        raise InputError(f"n_jobs={model.n_jobs} asks for more than {MOST_JOBS} threads.")


def check_table(model: Any, kinds: bool) -> None:
    """Names, kinds and empty columns match the number of features."""
    n = getattr(model, "n_features_in_", None)
    names = getattr(model, "feature_names_in_", None)
    require(n is not None or not kinds, "must not be null", "n_features_in")
    require(names is None or len(names) == n, "must have a name per feature", "feature_names_in")
    require(not kinds or len(model._nominal) == n, "must have an entry per feature", "nominal")
    empty = empty_columns(model)
    require(all(j < (n or 0) for j in empty), "must be numbers of features", "empty_columns")
    require(not kinds or not any(model._nominal[j] for j in empty), "must not be nominal", "empty_columns")


def empty_columns(model: Any) -> frozenset[int]:
    """The columns in which all cells were missing in training."""
    return getattr(model, "_empty_columns", frozenset())


def check_binary(model: Any) -> None:
    """There are two classes, and one of them is positive."""
    require(len(model.classes_) == 2, "must be two", "classes")
    require(hasattr(model, "pos_label_"), "must not be null", "pos_label")


def table_readers(model: Any) -> Iterator[Any]:
    """The estimators in a model that know the kinds of columns: the model itself, or else its members."""
    if hasattr(model, "_nominal"):
        yield model
        return
    folds = (fold.estimator for fold in getattr(model, "folds", ()))
    for member in (getattr(model, "estimator_", None), *getattr(model, "estimators_", ()), *folds):
        yield from () if member is None else table_readers(member)


def check_referral(model: Any) -> None:
    """A lower threshold comes with the label of referred rows, and is not above the other one."""
    lower, refers = getattr(model, "lower_threshold_", None), hasattr(model, "reject_label_")
    require((lower is not None) == refers, "must be given with reject_label, and only then", "lower_threshold")
    require(lower is None or lower <= model.threshold_, "must not be above threshold", "lower_threshold")


def check_member(member: Any, owner: Any, place: str, classes: Any = None) -> None:
    """A member has the features of its owner and of its other members, and these classes."""
    first: Any = next(table_readers(owner), None)
    whole = owner if hasattr(owner, "n_features_in_") else first
    names: Any = getattr(whole, "feature_names_in_", None)
    for inner in table_readers(member):
        n, own = whole.n_features_in_, inner.n_features_in_
        require(own == n, f"is {own}, but the model has {n} features", f"{place}.n_features_in")
        known = getattr(inner, "feature_names_in_", names)
        require(np.array_equal(known, names), "must be those of the whole model", f"{place}.feature_names_in")
        empty = empty_columns(inner) | empty_columns(first)  # these may be of either kind
        clash = any(a != b for j, (a, b) in enumerate(zip(inner._nominal, first._nominal)) if j not in empty)
        require(not clash, "must be the same in all parts of a model", f"{place}.nominal")
    fits = classes is None or np.array_equal(member.classes_, classes)
    require(fits, f"must be {np.asarray(classes).tolist()}", f"{place}.classes")
