"""What the data sets share: imports of optional packages, and checks of arguments."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

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


def import_parquet() -> Any:
    """Return pyarrow.parquet, which is an optional dependency."""
    try:
        return import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingPackageError(
            "Reading Parquet needs pyarrow.", 'Install it: pip install "skewboost[parquet]"'
        ) from error


def checked_count(name: str, value: Any, low: int, high: int | None, meaning: str) -> int:
    """Return `value` as an int; raise if it is outside of its limits, with what the limits mean."""
    check = integer(low, high)
    if not check.passes(value):
        raise InputError(f"{name} must be {check.allowed}, {meaning}; got {value!r}.")
    return int(value)


def checked_rng(random_state: Any) -> np.random.Generator:
    """Return the generator of a seed, or of anything else that NumPy takes for one."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(f"random_state must be {integer(0).allowed}; got {random_state!r}.") from error
