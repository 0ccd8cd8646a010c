"""What the data sets share: the import of pandas, and the check of sizes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from skewboost.errors import InputError, MissingPackageError
from skewboost.parameters import integer


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
    check = integer(low, high)
    if not check.passes(value):
        raise InputError(f"{name} must be {check.allowed}, {meaning}; got {value!r}.")
    return int(value)
