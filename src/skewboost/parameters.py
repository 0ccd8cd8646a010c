"""Checks of constructor parameters; the message names the parameter, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import sklearn.utils
from sklearn.base import is_classifier

from skewboost.errors import InputError
from skewboost.names import in_short


class Check(NamedTuple):
    """A test of a value, and a description of the values that pass it."""

    passes: Callable[[Any], bool]
    allowed: str


def integer(low: int, high: int | None = None) -> Check:
    """An integer in a range, both ends included."""
    allowed = f"an integer >= {low}" if high is None else f"an integer from {low} to {high}"

    def passes(value: Any) -> bool:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return whole and int(value) >= low and (high is None or int(value) <= high)

    return Check(passes, allowed)


def number(low: float, high: float | None, *, open_low: bool = False) -> Check:
    """A real number in a range, the upper end included; without an upper end it must be finite."""
    allowed = f"a number {'>' if open_low else '>='} {low}" + ("" if high is None else f" and <= {high}")

    def passes(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        try:
            real = float(value)
        except OverflowError:  # an integer of more than 308 digits
            return False
        above = real > low if open_low else real >= low
        return above and (real <= high if high is not None else real < float("inf"))

    return Check(passes, allowed)


def one_of(*values: Any) -> Check:
    """One of some values; a NumPy boolean, as parameter grids produce it, passes for a Python one."""

    def passes(value: Any) -> bool:
        plain = bool(value) if isinstance(value, np.bool_) else value
        return any(isinstance(plain, type(v)) and plain == v for v in values)

    return Check(passes, "one of " + ", ".join(map(repr, values)))


def optional(check: Check) -> Check:
    """A value that passes the check, or None."""
    return Check(lambda value: value is None or check.passes(value), f"{check.allowed}, or None")


_INT = integer(-(2**31), 2**31 - 1)  # what the native core takes
N_JOBS = optional(Check(lambda value: _INT.passes(value) and value != 0, "an integer other than 0"))


CLASSIFIER = Check(
    lambda value: not isinstance(value, type) and hasattr(value, "fit") and is_classifier(value),
    "an instance of a classifier",
)


def either(*checks: Check) -> Check:
    """A value that passes at least one of the checks."""
    return Check(lambda value: any(c.passes(value) for c in checks), " or ".join(c.allowed for c in checks))


FRACTION = Check(lambda v: number(0, 1, open_low=True).passes(v) and v < 1, "a number between 0 and 1")


def check_arguments(**arguments: tuple[Any, Check]) -> None:
    """Check arguments of a function, given by name as (value, check); the first that fails raises an InputError."""
    for name, (value, check) in arguments.items():
        if not check.passes(value):
            raise InputError(f"{name}={value!r} must be {check.allowed}.")


def check_params(owner: Any, **checks: Check) -> None:
    """Check attributes of an estimator, given by name; the first that fails raises an InputError."""
    for name, check in checks.items():
        value = getattr(owner, name)
        if not check.passes(value):
            raise InputError(f"{name} of {type(owner).__name__} must be {check.allowed}; got {value!r}.")


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return the source of random numbers that a `random_state` stands for."""
    try:
        return sklearn.utils.check_random_state(random_state)  # type: ignore[no-any-return]
    except (ValueError, TypeError) as error:
        allowed = "an integer from 0 to 2**32 - 1, a RandomState, or None"
        raise InputError(f"random_state={in_short(random_state)} must be {allowed}.") from error


def refusal(function: Callable[..., Any], *args: Any) -> str | None:
    """Return why a function cannot be called with these arguments; None if it can, or does not say what it takes."""
    try:
        signature(function).bind(*args)
    except TypeError as error:
        return str(error)
    except ValueError:  # of some built-in functions
        pass
    return None
