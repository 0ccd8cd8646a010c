"""What the data sets share: the import of pandas, and the check of sizes."""

from __future__ import annotations

import operator
from importlib import import_module
from typing import Any

from skewboost.errors import InputError, InputTypeError, MissingPackageError


def import_pandas() -> Any:
    """Return pandas, which is an optional dependency."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise MissingPackageError(
            "skewboost.datasets returns pandas tables.", 'Install pandas: pip install "skewboost[cli]"'
        ) from error


def checked_count(name: str, value: Any, low: int, high: int | None, meaning: str) -> int:
    """Return `value` as an int; raise if it is outside of its limits, with what the limits mean."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name} must be an integer; got {value!r}.") from None
    if count < low or (high is not None and count > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise InputError(f"{name} must be {limits}, {meaning}; got {count}.")
    return count
