"""What is done, and said, if a class is in too few independent units to be held out.

Classes are numbered, and `label_of` returns the label of a number for messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skewboost.engine.units import rows_as_units, units_per_class
from skewboost.errors import RepeatedRowsWarning, SkewBoostWarning, warn_caller
from skewboost.typing import Array

MANY_COPIES = 5  # so many equal rows may be all that there is of a class; fewer count as one, like a weight


def separate(numbers: Array, order: Array, units: Array, label_of: Callable[[int], str]) -> Array:
    """Return the units of the examples: copies, or single rows where a class is nothing but many copies."""
    K, rows = int(numbers.max()) + 1, rows_as_units(order)
    alone = (units_per_class(numbers, units, K) < 2) & (units_per_class(numbers, rows, K) >= MANY_COPIES)
    if not alone.any():
        return units
    n_rows = int(rows.max()) + 1
    n_copies = n_rows - (int(units.max()) + 1)
    message = (
        f"{n_copies} of the {n_rows} rows of X repeat another row, and all rows of class "
        f"{label_of(int(np.argmax(alone)))} are equal. So that some of them can be held out, all rows are treated as "
        "independent examples. If they are copies, pass groups that say so."
    )
    warn_caller(RepeatedRowsWarning(message, n_copies, n_rows))
    return rows


def warn_of_constant(numbers: Array, units: Array, are: str, label_of: Callable[[int], str]) -> None:
    """Warn that nothing can be held out to judge by; `are` says what the units are."""
    n_units = units_per_class(numbers, units, int(numbers.max()) + 1)
    message = (
        f"Class {label_of(int(np.argmax(n_units < 2)))} is in one of the {int(units.max()) + 1} independent {are} "
        "only, so that no model can be judged by others. The probabilities hardly differ from the frequencies of the "
        "classes. Add examples of the class."
    )
    warn_caller(message, SkewBoostWarning)
