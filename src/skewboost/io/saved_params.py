"""The constructor parameters of estimators in files: plain data, and learners and samplers of this package.

Other parameters, such as callbacks, are not kept. The file says so, and the default takes their place.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import skewboost
from skewboost import learners
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.goal_measures import GOAL_MEASURES, GoalMeasure
from skewboost.io.structure import (
    ANYTHING,
    DTYPE,
    LARGEST,
    NOT_FINITE,
    OBJECT,
    Field,
    FieldError,
    array,
    list_of,
    name_of,
    read_entries,
    record,
    require,
    shorten,
    text,
    tuple_of,
)
from skewboost.metrics.costs import plain_cost

# All classes that a file may name. Nothing else is ever imported.
MODELS = (*(name for name in skewboost.__all__ if name not in ("catalogue", "related_methods")), "RuleLearner")
PARTS = (
    *("AlternatingTree", "Histogram", "Line", "Probabilities", "Stump", "Tree"),
    *("Bootstrap", "DataBoost", "Fraction", "Smote", "UnderSample"),
)
DEEPEST = 20  # lists and objects within each other in a parameter


class NotPlainDataError(Exception):
    """A parameter that is neither plain data nor an object of this package."""


def class_named(name: str) -> type:
    """The class of this package that a file names."""
    found: type = getattr(skewboost if name in skewboost.__all__ else learners, name)
    return found


def name_in_files(value: Any) -> str | None:
    """The name by which files refer to the class of an object; None if they cannot."""
    name = type(value).__name__
    return name if name in (*MODELS, *PARTS) and type(value) is class_named(name) else None


# ------------------------------------------------------------------------------ writing


def write_params(owner: Any) -> dict[str, Any]:
    """All parameters of an object. Those that are not plain data are marked as absent, and must have defaults."""
    params: dict[str, Any] = {}
    defaults = inspect.signature(type(owner)).parameters
    for name, value in owner.get_params(deep=False).items():
        if name == "cost" and hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic):
            value = plain_cost(value)  # a table of pandas, with the classes in any order
        try:
            params[name] = _write(value)
        except NotPlainDataError as error:
            if defaults[name].default is inspect.Parameter.empty:
                raise
            params[name] = {"absent": f"{error}, which is not plain data; the default takes its place"}
    return params


def _write(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is list:
        return [_write(v) for v in value]
    if type(value) is tuple:
        return {"tuple": [_write(v) for v in value]}
    if isinstance(value, set | frozenset):
        return {"set": sorted((_write(v) for v in value), key=repr)}
    if isinstance(value, Mapping):
        return {"dict": [[_write(k), _write(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray) and DTYPE.fullmatch(value.dtype.str) and 1 <= value.ndim <= 2:
        return {"array": _OBJECTS["array"].write(value)}
    if isinstance(value, Condition | Goal):
        return {"goal": _OBJECTS["goal"].write(Goal.of(value))}
    if isinstance(value, GoalMeasure) and GOAL_MEASURES.get(value.name) == value:
        return {"measure": value.name}
    name = name_in_files(value)
    if name is None:
        raise NotPlainDataError(f"{type(value).__name__} of {type(value).__module__.split('.')[0]}")
    return {"object": name, "params": write_params(value)}


# ------------------------------------------------------------------------------ reading


def construct(cls: type, data: Any, depth: int = 0) -> Any:
    """An object of a class, not fitted, with these parameters."""
    known = inspect.signature(cls).parameters
    for name in OBJECT.read(data):
        require(name in known, f"has {shorten(name)}, which is not a parameter of {cls.__name__}")
    for name in known:
        require(name in data, f"has no entry {name!r}, a parameter of {cls.__name__}")
    kept = {name: value for name, value in data.items() if not _is_absent(value)}
    for name, parameter in known.items():
        require(name in kept or parameter.default is not parameter.empty, "must not be absent", name)
    params = read_entries(kept, dict.fromkeys(kept, _param(depth)))
    try:
        return cls(**params)
    except (TypeError, ValueError) as error:
        raise FieldError(f"cannot be used with {cls.__name__}: {error}") from error


def _is_absent(value: Any) -> bool:
    return type(value) is dict and set(value) == {"absent"} and type(value["absent"]) is str


def _param(depth: int) -> Field:
    """Any parameter, within so many lists and objects."""

    def read(data: Any) -> Any:
        if data is None or type(data) in (bool, str):
            return data
        if type(data) in (int, float):
            require(type(data) is float or abs(data) <= LARGEST, "is too large")
            return data
        require(depth < DEEPEST, f"is nested in more than {DEEPEST} lists and objects")
        inner = _param(depth + 1)
        if type(data) is list:
            return list_of(inner).read(data)
        kind = next(iter(OBJECT.read(data)), "")
        if kind == "object":
            names = text(*MODELS, *PARTS)
            name, params = read_entries(data, {"object": names, "params": ANYTHING}).values()
            try:
                return construct(class_named(name), params, depth + 1)
            except FieldError as error:
                raise error.within("params") from None
        fields = {
            **_OBJECTS,
            "tuple": list_of(inner, tuple),
            "set": Field(_write, partial(_read_set, inner)),
            "dict": Field(_write, partial(_read_pairs, inner)),
        }
        require(kind in fields and len(data) == 1, f"must be plain data, or one of {', '.join(('object', *fields))}")
        return read_entries(data, {kind: fields[kind]})[kind]

    return Field(_write, read)


def _read_set(inner: Field, data: Any) -> set[Any]:
    """A set of labels, as a list without repetitions."""
    found = list_of(inner).read(data)
    require(all(isinstance(v, str | bool | int | float | None) for v in found), "must be a list of labels")
    require(len(set(found)) == len(found), "must not hold a value twice")
    return set(found)


def _read_pairs(inner: Field, data: Any) -> dict[Any, Any]:
    """A dictionary whose keys need not be texts, as a list of keys and values."""
    found: dict[Any, Any] = {}
    for k, (key, value) in enumerate(list_of(tuple_of(inner, inner)).read(data)):
        require(isinstance(key, str | bool | int | float | None), "must have a label as its key", f"[{k}]")
        require(key not in found, "has the same key as an entry before", f"[{k}]")
        found[key] = value
    return found


_OBJECTS = {
    "float": name_of(NOT_FINITE),
    "array": array("biufU", finite=False),
    "goal": record(Goal),
    "measure": name_of(GOAL_MEASURES),
}
