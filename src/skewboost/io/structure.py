"""How values become JSON and are read back, entry by entry.

A *field* writes one kind of value as JSON and reads it back. The fields of a dataclass follow from the annotations of
its attributes; `register` adds what these do not say. Reading raises `FieldError` with the place of the first invalid
entry.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from numbers import Integral
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from skewboost.errors import InputError, InputTypeError
from skewboost.typing import Array

LARGEST = 2**63 - 1
MOST_TEXT = 2**24  # characters of an array of texts
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
DTYPE = re.compile(r"[<>|](b1|i[1248]|u[1248]|f[48]|U\d{1,4})")
_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str}  # by the letter of a dtype


class ModelFileError(InputError):
    """A model file that is not valid; the message says where in the file and why.

    Examples
    --------
    >>> from skewboost.io import ModelFileError, loads
    >>> try:
    ...     loads("{}")
    ... except ModelFileError as error:
    ...     print(error)
    The model file is not valid: 'format' is missing.
    """


class UnsupportedPartError(InputTypeError):
    """A part of a model that cannot be written to a file."""


class FieldError(Exception):
    """An entry of a file that is not valid: what is wrong, and the place of the entry."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(problem, place)
        self.problem = problem
        self.place = place

    def within(self, outer: str) -> FieldError:
        """The same error as seen from the entry that contains this one."""
        dot = "." if self.place and outer and not self.place.startswith("[") else ""
        return FieldError(self.problem, f"{outer}{dot}{self.place}")


@dataclass(frozen=True, eq=False)
class Field:
    """How one kind of value becomes JSON, and how it is read back; reading raises `FieldError`."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def require(holds: Any, problem: str, place: str = "") -> None:
    """Raise `FieldError` unless a condition holds."""
    if not holds:
        raise FieldError(problem, place)


def shorten(data: Any) -> str:
    """A value of a file as it is shown in a message."""
    text = repr(data) if isinstance(data, str | int | float | bool | None) else f"a {type(data).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def type_name(value: Any) -> str:
    """The type of a value as it is shown in a message, with its package."""
    return f"{type(value).__module__.split('.')[0]}.{type(value).__name__}"


def _checked(write: Callable[[Any], Any], fits: Callable[[Any], bool], wanted: str) -> Field:
    """A value that is the same in JSON; `wanted` says which ones fit."""

    def read(data: Any) -> Any:
        if not fits(data):
            raise FieldError(f"must be {wanted}; got {shorten(data)}")
        return data

    return Field(write, read)


LIST = _checked(list, lambda data: type(data) is list, "a list")
OBJECT = _checked(dict, lambda data: type(data) is dict, "an object")


def read_entries(data: Any, entries: Mapping[str, Field]) -> dict[str, Any]:
    """Read an object that has exactly these entries."""
    if OBJECT.read(data).keys() != entries.keys():
        for name in entries:
            require(name in data, f"has no entry {name!r}")
        for name in data:
            require(name in entries, f"has the unknown entry {shorten(name)}")
    values: dict[str, Any] = {}
    name = ""
    try:
        for name, entry in entries.items():
            values[name] = entry.read(data[name])
    except FieldError as error:
        raise error.within(name) from None
    return values


# ------------------------------------------------------------------------------------------ plain values


def integer(low: int = -LARGEST, high: int = LARGEST) -> Field:
    """An integer in a range; booleans and floats are none."""
    return _checked(int, lambda data: type(data) is int and low <= data <= high, f"an integer from {low} to {high}")


def number(
    low: float | None = None, high: float | None = None, *, above: float | None = None, finite: bool = True
) -> Field:
    """A number in a range. Integers stay integers. JSON has no infinities and no NaN, so these are texts."""
    limits = [f"{sign} {limit}" for sign, limit in ((">=", low), (">", above), ("<=", high)) if limit is not None]
    wanted = f"a{' finite' if finite else ''} number {' and '.join(limits)}".rstrip()

    def write(value: Any) -> Any:
        if isinstance(value, Integral):
            return int(value)
        value = float(value)
        if not math.isfinite(value) and finite:
            raise UnsupportedPartError("a number that is infinite or NaN where it must be finite")
        return value if math.isfinite(value) else str(value)

    def read(data: Any) -> float:
        value: Any = NOT_FINITE.get(data) if type(data) is str and not finite else data
        fits = abs(value) <= LARGEST if type(value) is int else type(value) is float
        fits = fits and (not finite or math.isfinite(value)) and (low is None or value >= low)
        if not fits or not (above is None or value > above) or not (high is None or value <= high):
            raise FieldError(f"must be {wanted}; got {shorten(data)}")
        return value  # type: ignore[no-any-return]

    return Field(write, read)


def text(*words: str) -> Field:
    """Any text, or one of some words."""

    def write(value: Any) -> str:
        if not isinstance(value, str):
            raise UnsupportedPartError(f"{type(value).__name__} {shorten(value)} in place of a text")
        return str(value)

    wanted = f"one of {', '.join(map(repr, words))}" if words else "a text"
    return _checked(write, lambda data: type(data) is str and (not words or data in words), wanted)


def name_of(objects: Mapping[str, Any]) -> Field:
    """One of some objects, by its name."""
    names = text(*objects)
    return Field(
        lambda value: next(name for name, known in objects.items() if known is value or known == value),
        lambda data: objects[names.read(data)],
    )


BOOLEAN = _checked(bool, lambda data: type(data) is bool, "true or false")
ANYTHING = Field(lambda value: value, lambda data: data)  # JSON that is checked elsewhere
ANY_NUMBER = number(finite=False)
POSITIVE = number(above=0)
NOT_NEGATIVE = number(0)
COUNT = integer(0)


# -------------------------------------------------------------------------------------------- containers


def nullable(field: Field) -> Field:
    """A value, or null for None."""
    return Field(
        lambda value: None if value is None else field.write(value),
        lambda data: None if data is None else field.read(data),
    )


def list_of(
    field: Field, collection: Callable[[Iterable[Any]], Any] = list, *, distinct: bool = False, least: int = 0
) -> Field:
    """Values of one kind: a list, tuple or frozenset. Sets are sorted, so that equal sets give equal files."""

    def write(value: Any) -> list[Any]:
        return [field.write(v) for v in (sorted(value) if isinstance(value, frozenset) else value)]

    def read(data: Any) -> Any:
        found: list[Any] = []
        LIST.read(data)
        try:
            for entry in data:
                found.append(field.read(entry))
        except FieldError as error:
            raise error.within(f"[{len(found)}]") from None
        require(len(found) >= least, "must not be empty")
        require(not distinct or len(set(found)) == len(found), "must not hold a value twice")
        return collection(found)

    return Field(write, read)


def tuple_of(*kinds: Field) -> Field:
    """One value of each of some kinds, in this order."""
    entries = {f"[{k}]": field for k, field in enumerate(kinds)}

    def read(data: Any) -> tuple[Any, ...]:
        require(len(LIST.read(data)) == len(entries), f"must have {len(entries)} entries")
        return tuple(read_entries(dict(zip(entries, data)), entries).values())

    return Field(lambda value: [field.write(v) for field, v in zip(kinds, value, strict=True)], read)


def map_of(field: Field) -> Field:
    """Values of one kind by name."""
    return Field(
        lambda value: {str(name): field.write(v) for name, v in value.items()},
        lambda data: read_entries(data, dict.fromkeys(OBJECT.read(data), field)),
    )


def array(
    kinds: str = "f",
    ndim: tuple[int, ...] = (1, 2),
    *,
    finite: bool = True,
    low: float | None = None,
    most: float | None = None,
    rises: bool = False,
) -> Field:
    """An array of numbers: a list where it is one-dimensional and holds doubles, else with its type and shape.

    `kinds` are the letters of the types that it may have, `low` is the smallest number that it may hold, and `most`
    the largest absolute value.
    """

    def write(value: Any) -> Any:
        made = np.asarray(value)
        if made.dtype.kind not in kinds or not DTYPE.fullmatch(made.dtype.str):
            raise UnsupportedPartError(f"an array of type {made.dtype}")
        values = made.ravel().tolist()
        if made.dtype.kind == "f" and not np.isfinite(made).all():
            values = list_of(number(finite=finite)).write(values)
        if made.dtype.str == "<f8" and made.ndim == 1:
            return values
        return {"dtype": made.dtype.str, "shape": list(made.shape), "values": values}

    def read(data: Any) -> Array:
        if type(data) is list and kinds != "i":
            dtype, shape, values = "<f8", [len(data)], data
        else:
            dtype, shape, values = read_entries(data, _ARRAY).values()
        require(DTYPE.fullmatch(dtype) and dtype[1] in kinds, "must be a type of this array", "dtype")
        fits = len(shape) in ndim and math.prod(shape) == len(values)
        require(fits, "does not match the number of values", "shape")
        made = array_of(values, dtype, finite).reshape(shape)
        require(low is None or (made >= low).all(), f"must hold numbers of at least {low}")
        require(most is None or (np.abs(made) <= most).all(), f"must hold numbers of at most {most or 0.0:.3g}")
        require(not rises or (np.diff(made) > 0).all(), "must rise")
        return made

    return Field(write, read)


_ARRAY = {"dtype": text(), "shape": list_of(integer(0, 2**31)), "values": LIST}


def array_of(values: list[Any], dtype: str, finite: bool = True) -> Array:
    """Values of a file as an array of a type, or an error if they are not of this type."""
    kind = _TYPES[dtype[1]]
    require(kind is not str or len(values) * int(dtype[2:]) <= MOST_TEXT, "takes too much memory", "dtype")
    if kind is float:
        if not all(type(v) is float for v in values):
            values = list_of(number(finite=finite)).read(values)
        made = np.array(values, dtype=dtype)
        require(not finite or np.isfinite(made).all(), "must hold finite numbers")
        return made
    try:
        fits = all(type(v) is kind for v in values)
        made = np.array(values if fits else [], dtype=dtype)
        fits &= made.tolist() == values
    except (ValueError, OverflowError):
        fits = False
    require(fits, "does not match dtype", "values")
    return made


def packed(*dtypes: str) -> Field:
    """A one-dimensional array of numbers: the first type that holds all of them, a colon, and the bytes in base64."""

    def write(value: Any) -> str:
        made = np.ascontiguousarray(value)
        for dtype in dtypes:
            with np.errstate(invalid="ignore"):
                found = made.astype(dtype)
            if (found == made).all():
                return f"{dtype}:{base64.b64encode(found.tobytes()).decode('ascii')}"
        raise UnsupportedPartError(f"numbers of other types than {', '.join(dtypes)}")

    def read(data: Any) -> Array:
        dtype, _, content = data.partition(":") if type(data) is str else ("", "", "")
        require(dtype in dtypes, f"must begin with one of {', '.join(dtypes)}; got {shorten(data)}")
        try:
            raw = base64.b64decode(content, validate=True)
        except ValueError as error:
            raise FieldError("must be in base64") from error
        fits = base64.b64encode(raw).decode("ascii") == content  # without stray bits at the end
        require(fits and len(raw) % np.dtype(dtype).itemsize == 0, f"must hold whole numbers of type {dtype} in base64")
        found = np.frombuffer(raw, dtype=dtype)
        require(found.dtype.kind != "f" or np.isfinite(found).all(), "must hold finite numbers")
        return found

    return Field(write, read)


# ------------------------------------------------------------------------------------------- dataclasses

Check = Callable[[Any], None]
_REGISTERED: dict[type, tuple[Mapping[str, Field | None], Check | None]] = {}
_WHOLE: dict[type, Field] = {}


def register(cls: type, check: Check | None = None, **entries: Field | None) -> None:
    """Say how the attributes of a dataclass are written where their annotations do not say enough.

    None stands for an attribute that is not kept. The check of a new object raises `FieldError` where its attributes do
    not match each other.
    """
    _REGISTERED[cls] = entries, check


def register_whole(cls: type, field: Field) -> None:
    """Say how the objects of a dataclass are written where files have other entries than the attributes."""
    _WHOLE[cls] = field


def _entries_of(cls: Any) -> dict[str, Field]:
    known, _ = _REGISTERED.get(cls, ({}, None))
    hints = get_type_hints(cls)
    found = {f.name: known[f.name] if f.name in known else field_of(hints[f.name]) for f in fields(cls)}
    return {name: entry for name, entry in found.items() if entry is not None}


def record(cls: type) -> Field:
    """An object of a dataclass, by its attributes."""

    @cache  # when it is first used: classes may be registered later
    def known() -> dict[str, Field]:
        return _entries_of(cls)

    def write(value: Any) -> dict[str, Any]:
        if type(value) is not cls:
            raise UnsupportedPartError(f"an object of type {type_name(value)}")
        return {name: entry.write(getattr(value, name)) for name, entry in known().items()}

    def read(data: Any) -> Any:
        entries = read_entries(data, known())
        try:
            made = cls(**entries)
        except (TypeError, ValueError) as error:  # of its own checks
            raise FieldError(str(error).rstrip(".")) from error
        _, check = _REGISTERED.get(cls, ({}, None))
        if check is not None:
            check(made)
        return made

    return Field(write, read)


def one_of(*classes: type) -> Field:
    """An object of one of some dataclasses; its "kind" is the name of the class."""
    records = {cls.__name__: record(cls) for cls in classes}
    kinds = {"kind": text(*records)}

    def write(value: Any) -> dict[str, Any]:
        kind = type(value).__name__
        if kind not in records:
            raise UnsupportedPartError(f"an object of type {type_name(value)}")
        return {"kind": kind, **records[kind].write(value)}

    def read(data: Any) -> Any:
        entries = dict(OBJECT.read(data))
        kind = read_entries({"kind": entries.pop("kind", None)}, kinds)["kind"]
        return records[kind].read(entries)

    return Field(write, read)


_PLAIN: dict[Any, Field] = {int: integer(), float: number(), bool: BOOLEAN, str: text()}


def field_of(annotation: Any) -> Field:
    """The field that a type annotation describes."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is np.ndarray:
        return array()
    if origin in (Union, UnionType):
        kinds = [a for a in arguments if a is not NoneType]
        field = field_of(kinds[0]) if len(kinds) == 1 else one_of(*kinds)
        return nullable(field) if len(kinds) < len(arguments) else field
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple_of(*map(field_of, arguments))
    if origin in (list, tuple, frozenset):
        return list_of(field_of(arguments[0]), origin, distinct=origin is frozenset)
    if origin is dict:
        return map_of(field_of(arguments[1]))
    return _WHOLE[annotation] if annotation in _WHOLE else record(annotation)
