"""What a file may hold: fields that write a value as JSON, and read it back only if it is what it has to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from skewboost.errors import InputError, InputTypeError
from skewboost.typing import Array

LARGEST = 2**63 - 1
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class ModelFileError(InputError):
    """A model file that is not what it has to be; the message says where and why.

    Examples
    --------
    >>> from skewboost.io import ModelFileError, loads
    >>> try:
    ...     loads("{}")
    ... except ModelFileError as error:
    ...     print(error)
    The model file is wrong: lacks 'format'.
    """


class DefectError(Exception):
    """What is wrong with a value, and where in the file it is."""

    def __init__(self, what: str, at: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.at = at


class UnknownPartError(InputTypeError):
    """A model has a part that files have no words for."""


class Field(Protocol):
    """How one value is told."""

    def write(self, value: Any) -> Any:
        """As JSON."""
        ...

    def read(self, data: Any, at: str) -> Any:
        """From JSON, checked; `at` is the place in the file."""
        ...


def shown(data: Any) -> str:
    """A value of the file in a message."""
    text = repr(data) if isinstance(data, str | int | float | bool | None) else f"a {type(data).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def printable(text: str) -> str:
    """Text of the file on one line of a message, whatever is in it."""
    text = text if len(text) <= 300 else text[:297] + "..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True)
class Integer:
    """A whole number in a range."""

    low: int = 0
    high: int = LARGEST

    def write(self, value: Any) -> Any:
        """As it is."""
        return int(value)

    def read(self, data: Any, at: str) -> int:
        """Neither a boolean nor a float."""
        if type(data) is not int or not self.low <= data <= self.high:
            raise DefectError(f"must be a whole number from {self.low} to {self.high}; got {shown(data)}", at)
        return data


@dataclass(frozen=True)
class Number:
    """A floating-point number; JSON has no infinities, so they are text."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = True
    above: bool = False  # whether `low` itself is too low
    whole: bool = False  # whether a whole number stays one

    def write(self, value: Any) -> Any:
        """The shortest decimal that reads back as the same number."""
        if self.whole and isinstance(value, Integral):
            return int(value)
        number = float(value)
        return number if math.isfinite(number) else str(number)

    def read(self, data: Any, at: str) -> float:
        """A number in the range."""
        if type(data) is str and not self.finite and data in NOT_FINITE:
            data = NOT_FINITE[data]
        elif type(data) is int and abs(data) <= LARGEST:
            data = data if self.whole else float(data)
        elif type(data) is not float or not math.isfinite(data):
            raise DefectError(f"must be a number; got {shown(data)}", at)
        if data < self.low or data > self.high or (self.above and data == self.low):
            raise DefectError(
                f"must be {'above' if self.above else 'at least'} {self.low}, at most {self.high}; got {data}", at
            )
        return data  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def write(self, value: Any) -> Any:
        """As it is."""
        return bool(value)

    def read(self, data: Any, at: str) -> bool:
        """Nothing else."""
        if type(data) is not bool:
            raise DefectError(f"must be true or false; got {shown(data)}", at)
        return data


@dataclass(frozen=True)
class Text:
    """Some text, or one of a few words."""

    words: tuple[str, ...] = ()

    def write(self, value: Any) -> Any:
        """As it is."""
        if not isinstance(value, str):
            raise UnknownPartError(f"{type(value).__name__} {shown(value)} where text is kept")
        return str(value)

    def read(self, data: Any, at: str) -> str:
        """Text."""
        if type(data) is not str:
            raise DefectError(f"must be text; got {shown(data)}", at)
        if self.words and data not in self.words:
            raise DefectError(f"must be one of {', '.join(map(repr, self.words))}; got {shown(data)}", at)
        return data


@dataclass(frozen=True)
class Maybe:
    """That, or null."""

    field: Field

    def write(self, value: Any) -> Any:
        """Null for None."""
        return None if value is None else self.field.write(value)

    def read(self, data: Any, at: str) -> Any:
        """None for null."""
        return None if data is None else self.field.read(data, at)


@dataclass(frozen=True)
class ListOf:
    """A list of such, kept as `kind`."""

    field: Field
    kind: Callable[[Iterable[Any]], Any] = list
    distinct: bool = False

    def write(self, value: Any) -> Any:
        """Sets are sorted, so that equal ones are told alike."""
        values = sorted(value) if isinstance(value, set | frozenset) else value
        return [self.field.write(v) for v in values]

    def read(self, data: Any, at: str) -> Any:
        """Each entry."""
        found = [self.field.read(v, f"{at}[{k}]") for k, v in enumerate(listed(data, at))]
        if self.distinct and len(set(found)) != len(found):
            raise DefectError("must not hold anything twice", at)
        return self.kind(found)


@dataclass(frozen=True)
class MapOf:
    """A dictionary from text to such."""

    field: Field

    def write(self, value: Any) -> Any:
        """In its order."""
        return {str(k): self.field.write(v) for k, v in value.items()}

    def read(self, data: Any, at: str) -> dict[str, Any]:
        """Each entry."""
        return {k: self.field.read(v, f"{at}.{k}") for k, v in mapping(data, at).items()}


@dataclass(frozen=True)
class Floats:
    """An array of floating-point numbers."""

    ndim: int = 1
    finite: bool = True
    low: float = -math.inf

    def write(self, value: Any) -> Any:
        """Lists in lists; NaN and infinities as text."""
        array = np.asarray(value, dtype=np.float64)
        assert array.ndim == self.ndim
        if array.ndim == 2:  # an array without rows has columns all the same
            return {"columns": array.shape[1], "rows": [self._row(row) for row in array]}
        return self._row(array)

    def _row(self, row: Array) -> list[Any]:
        if np.isfinite(row).all():
            return list(row.tolist())
        if self.finite:
            raise UnknownPartError("a number that is infinite or NaN, where none may be")
        return [v if math.isfinite(v) else str(v) for v in row.tolist()]

    def read(self, data: Any, at: str) -> Array:
        """All entries numbers, all rows equally long."""
        if self.ndim == 1:
            return self._read_row(data, at)
        data = record(data, ("columns", "rows"), at)
        n = Integer(0, 2**20).read(data["columns"], f"{at}.columns")
        rows = [self._read_row(row, f"{at}.rows[{k}]") for k, row in enumerate(listed(data["rows"], f"{at}.rows"))]
        if any(len(row) != n for row in rows):
            raise DefectError(f"must have {n} numbers in each row", f"{at}.rows")
        return np.array(rows, dtype=np.float64).reshape(len(rows), n)

    def _read_row(self, data: Any, at: str) -> Array:
        if not all(type(v) is float for v in listed(data, at)):
            entry = Number(finite=self.finite)
            data = [entry.read(v, f"{at}[{k}]") for k, v in enumerate(data)]
        array = np.array(data, dtype=np.float64)
        if self.finite and not np.isfinite(array).all():
            raise DefectError("must hold finite numbers only", at)
        if (array < self.low).any():
            raise DefectError(f"must not hold numbers below {self.low}", at)
        return array


@dataclass(frozen=True)
class Integers:
    """A list of whole numbers in a range, as an array."""

    low: int = 0
    high: int = 2**31 - 1
    dtype: Any = np.int64

    def write(self, value: Any) -> Any:
        """A list."""
        return np.asarray(value).tolist()

    def read(self, data: Any, at: str) -> Array:
        """All of them whole and in the range."""
        if not all(type(v) is int and self.low <= v <= self.high for v in listed(data, at)):
            raise DefectError(f"must hold whole numbers from {self.low} to {self.high} only", at)
        return np.array(data, dtype=self.dtype)


@dataclass(frozen=True)
class Record:
    """An object of one class: its fields, and what must hold between them (`check` raises `DefectError` if not)."""

    cls: type
    fields: Mapping[str, Field]
    make: Callable[..., Any] | None = None
    check: Callable[[Any], None] | None = None

    def write(self, value: Any) -> Any:
        """Field by field."""
        if type(value) is not self.cls:
            raise UnknownPartError(f"an object of type {name_of(value)}")
        return {name: field.write(getattr(value, name, None)) for name, field in self.fields.items()}

    def read(self, data: Any, at: str) -> Any:
        """Exactly these fields."""
        data = record(data, tuple(self.fields), at)
        values = {name: field.read(data[name], f"{at}.{name}") for name, field in self.fields.items()}
        made = (self.make or self.cls)(**values)
        if self.check is not None:
            checked(self.check, made, at)
        return made


@dataclass(frozen=True)
class OneOf:
    """An object of one of some classes; its `kind` says which."""

    records: Mapping[str, Record]
    what: str

    def write(self, value: Any) -> Any:
        """With its kind."""
        for kind, own in self.records.items():
            if type(value) is own.cls:
                return {"kind": kind, **own.write(value)}
        raise UnknownPartError(f"{self.what} of type {name_of(value)}")

    def read(self, data: Any, at: str) -> Any:
        """By its kind."""
        fields = dict(mapping(data, at))
        kind = Text(tuple(self.records)).read(fields.pop("kind", None), f"{at}.kind")
        return self.records[kind].read(fields, at)


@dataclass(frozen=True)
class Later:
    """A field that is known later: of objects that hold objects of their own kind."""

    field: Callable[[], Field]

    def write(self, value: Any) -> Any:
        """As the field does."""
        return self.field().write(value)

    def read(self, data: Any, at: str) -> Any:
        """As the field does."""
        return self.field().read(data, at)


def checked(check: Callable[..., None], value: Any, at: str) -> None:
    """Run a check, and say where it failed."""
    try:
        check(value)
    except DefectError as wrong:
        raise DefectError(wrong.what, f"{at}.{wrong.at}" if wrong.at else at) from None


def require(holds: Any, what: str, at: str = "") -> None:
    """Complain unless something holds."""
    if not holds:
        raise DefectError(what, at)


def listed(data: Any, at: str) -> list[Any]:
    """A list, or a complaint."""
    if type(data) is not list:
        raise DefectError(f"must be a list; got {shown(data)}", at)
    return data


def mapping(data: Any, at: str) -> dict[str, Any]:
    """An object, or a complaint."""
    if type(data) is not dict:
        raise DefectError(f"must be an object; got {shown(data)}", at)
    return data


def record(data: Any, names: tuple[str, ...], at: str) -> dict[str, Any]:
    """An object with exactly these names, or a complaint."""
    for name in names:
        if name not in mapping(data, at):
            raise DefectError(f"lacks {name!r}", at)
    for name in data:
        if name not in names:
            raise DefectError(f"has the unknown entry {shown(name)}", at)
    return data  # type: ignore[no-any-return]


def name_of(value: Any) -> str:
    """A type in messages, with its package."""
    return f"{type(value).__module__.split('.')[0]}.{type(value).__name__}"
