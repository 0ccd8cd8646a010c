"""Parameters of constructors: plain data, and objects of this package; anything else is left at its default."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import skewboost
from skewboost import learners
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.goal_measures import GOAL_MEASURES, GoalMeasure
from skewboost.io.schema import (
    LARGEST,
    NOT_FINITE,
    DefectError,
    Integers,
    UnknownPartError,
    listed,
    mapping,
    record,
    shown,
)
from skewboost.typing import Array

# All classes that a file may name. Nothing else is ever imported.
MODELS = (*(name for name in skewboost.__all__ if name != "catalogue"), "RuleLearner")
PARTS = (
    *("AlternatingTree", "Histogram", "Line", "Probabilities", "Stump", "Tree"),
    *("Bootstrap", "DataBoost", "Fraction", "Smote", "UnderSample"),
)
DEEPEST = 20
MOST_TEXT = 2**24
DTYPE = re.compile(r"[<>|](b1|i[1248]|u[1248]|f[48]|U\d{1,4})")


def is_type(dtype: Any, n: int) -> bool:
    """Whether text names a type of numbers or text, of which n entries do not fill the memory."""
    if type(dtype) is not str or not DTYPE.fullmatch(dtype):
        return False
    return "U" not in dtype or n * int(dtype[2:]) <= MOST_TEXT


class AbsentError(Exception):
    """A parameter that is neither plain data nor of this package."""


def class_named(name: str) -> type:
    """A class of this package that files may name."""
    found: type = getattr(skewboost if name in skewboost.__all__ else learners, name)
    return found


def known_name(value: Any) -> str | None:
    """The name of an object's class, if files may name it."""
    name = type(value).__name__
    return name if name in (*MODELS, *PARTS) and type(value) is class_named(name) else None


# ------------------------------------------------------------------------------ writing


def write_params(owner: Any) -> dict[str, Any]:
    """All parameters of an object; those that cannot be told are marked, and must have defaults."""
    told: dict[str, Any] = {}
    defaults = inspect.signature(type(owner)).parameters
    for name, value in owner.get_params(deep=False).items():
        try:
            told[name] = _write(value)
        except AbsentError as absent:
            if defaults[name].default is inspect.Parameter.empty:
                raise
            told[name] = {"absent": f"{absent}, which is not plain data; the default takes its place"}
    return told


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
    if isinstance(value, Mapping):
        return {"dict": [[_write(k), _write(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray) and DTYPE.fullmatch(value.dtype.str):
        flat = [_write(v) for v in value.ravel().tolist()]
        return {"array": {"dtype": value.dtype.str, "shape": list(value.shape), "values": flat}}
    if isinstance(value, Condition | Goal):
        return {"goal": [[c.name, c.sense, c.bound] for c in Goal.of(value).conditions]}
    if isinstance(value, GoalMeasure) and GOAL_MEASURES.get(value.name) == value:
        return {"measure": value.name}
    name = known_name(value)
    if name is None:
        raise AbsentError(f"{type(value).__name__} of {type(value).__module__.split('.')[0]}")
    return {"object": name, "params": write_params(value)}


# ------------------------------------------------------------------------------ reading


def read_params(data: Any, cls: type, at: str) -> dict[str, Any]:
    """What to give the constructor of a class."""
    known = inspect.signature(cls).parameters
    found = {}
    for name, value in mapping(data, at).items():
        if name not in known:
            raise DefectError(f"names {shown(name)}, which is no parameter of {cls.__name__}", at)
        if type(value) is dict and set(value) == {"absent"} and type(value["absent"]) is str:
            continue
        found[name] = _read(value, f"{at}.{name}")
    for name, parameter in known.items():
        if name not in data or (name not in found and parameter.default is parameter.empty):
            raise DefectError(f"lacks {name!r}, a parameter of {cls.__name__}", at)
    return found


def constructed(cls: type, data: Any, at: str) -> Any:
    """An object, not fitted."""
    try:
        return cls(**read_params(data, cls, at))
    except (TypeError, ValueError) as error:
        raise DefectError(f"does not go with {cls.__name__}: {error}", at) from error


def _read(data: Any, at: str) -> Any:
    if data is None or type(data) in (bool, str):
        return data
    if type(data) in (int, float):
        if abs(data) > LARGEST and type(data) is int:
            raise DefectError("is too large", at)
        return data
    if at.count("[") > DEEPEST:  # a place says how deep it is
        raise DefectError(f"is nested in more than {DEEPEST} lists", at[:80])
    if type(data) is list:
        return [_read(v, f"{at}[{k}]") for k, v in enumerate(data)]
    name = next(iter(mapping(data, at)), "")
    if name == "object":
        data = record(data, ("object", "params"), at)
        return _object(data["object"], data["params"], at)
    read = _KINDS.get(name)
    if read is None or len(data) != 1:
        raise DefectError(f"must be plain data, or one of {', '.join(('object', *_KINDS))}", at)
    try:
        return read(data[name], f"{at}.{name}")
    except (TypeError, ValueError, OverflowError) as error:
        raise DefectError(str(error), at) from error


def _object(name: Any, params: Any, at: str) -> Any:
    if type(name) is not str or name not in (*MODELS, *PARTS):
        raise DefectError(f"names {shown(name)}, which is no class of this package", at)
    return constructed(class_named(name), params, f"{at}.params")


def _float(data: Any, at: str) -> float:
    if type(data) is not str or data not in NOT_FINITE:
        raise DefectError("must be one of 'inf', '-inf', 'nan'", at)
    return NOT_FINITE[data]


def _tuple(data: Any, at: str) -> tuple[Any, ...]:
    return tuple(_read(v, f"{at}[{k}]") for k, v in enumerate(listed(data, at)))


def _dict(data: Any, at: str) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for k, pair in enumerate(listed(data, at)):
        place = f"{at}[{k}]"
        if len(listed(pair, place)) != 2:
            raise DefectError("must be a key and a value", place)
        key = _read(pair[0], place)
        if isinstance(key, list | dict) or key in found:
            raise DefectError("has a key that is no label, or is there twice", place)
        found[key] = _read(pair[1], place)
    return found


def _array(data: Any, at: str) -> Array:
    data = record(data, ("dtype", "shape", "values"), at)
    if not is_type(data["dtype"], len(listed(data["values"], f"{at}.values"))):
        raise DefectError("must be a type of numbers or text", f"{at}.dtype")
    shape = Integers(0, 2**31).read(data["shape"], f"{at}.shape").tolist()
    values = [_read(v, f"{at}.values[{k}]") for k, v in enumerate(listed(data["values"], f"{at}.values"))]
    if math.prod(shape) != len(values) or len(shape) > 3:
        raise DefectError("does not go with shape", f"{at}.values")
    made = np.array(values, dtype=data["dtype"]).reshape(shape)
    if made.ravel().tolist() != values and made.dtype.kind != "f":
        raise DefectError("does not go with dtype", f"{at}.values")
    return made


def _goal(data: Any, at: str) -> Goal:
    for k, condition in enumerate(listed(data, at)):
        if len(listed(condition, f"{at}[{k}]")) != 3:
            raise DefectError("must be a measure, a sense and a bound", f"{at}[{k}]")
    if not data:
        raise DefectError("must have a condition", at)
    return Goal(tuple(Condition(name, sense, bound) for name, sense, bound in data))


def _measure(data: Any, at: str) -> GoalMeasure:
    if type(data) is not str or data not in GOAL_MEASURES:
        raise DefectError(f"must be one of {', '.join(GOAL_MEASURES)}", at)
    return GOAL_MEASURES[data]


_KINDS: dict[str, Callable[[Any, str], Any]] = {
    "float": _float,
    "tuple": _tuple,
    "dict": _dict,
    "array": _array,
    "goal": _goal,
    "measure": _measure,
}


class GoalField:
    """A goal, by its conditions."""

    def write(self, value: Goal) -> Any:
        """Measure, sense and bound of each."""
        return _write(value)["goal"]

    def read(self, data: Any, at: str) -> Goal:
        """Checked as goals are."""
        try:
            return _goal(data, at)
        except (TypeError, ValueError) as error:
            raise DefectError(str(error), at) from error


def unknown(absent: AbsentError, owner: Any) -> UnknownPartError:
    """The complaint about a parameter that must be told."""
    return UnknownPartError(f"{absent} in {type(owner).__name__}")
