"""The errors that skewboost raises on purpose.

A `SkewBoostError` means that something the caller passed in cannot be used: an argument, a table, a file, a missing
package. Its message names the argument, the value and what to do instead. Any other exception is a bug, in skewboost or
below it. The errors are also `ValueError`, `TypeError` or `ImportError`, as scikit-learn and its users expect.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import currentframe


class SkewBoostError(Exception):
    """Something that the caller passed in cannot be used.

    Parameters
    ----------
    problem : str
        What is wrong.
    remedy : str, default=""
        What to do about it, in terms of the Python interface. The command line replaces it by its own options.
    """

    def __init__(self, problem: str = "", remedy: str = "") -> None:
        super().__init__(problem, remedy)

    @property
    def problem(self) -> str:
        """What is wrong."""
        return str(self.args[0])

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return str(self.args[1])

    def __str__(self) -> str:
        return " ".join(filter(None, (self.problem, self.remedy)))


class InputError(SkewBoostError, ValueError):
    """A value that cannot be used."""


class InputTypeError(SkewBoostError, TypeError):
    """A value of a type that cannot be used."""


class MissingPackageError(SkewBoostError, ImportError):
    """A package that the call needs is not installed."""


class SkewBoostWarning(UserWarning):
    """Something works otherwise than the caller may expect."""


class CostWarning(SkewBoostWarning):
    """Decisions do not follow the costs that were asked for.

    ``warnings.filterwarnings("ignore", category=skewboost.errors.CostWarning)`` silences it.
    """


class RepeatedRowsWarning(SkewBoostWarning):
    """Some rows of X are equal: `n_copies` of `n_rows` repeat another row. The message says what that means."""

    def __init__(self, message: str, n_copies: int = 0, n_rows: int = 0) -> None:  # unpickled by the message alone
        super().__init__(message)
        self.n_copies = n_copies
        self.n_rows = n_rows


class LabelWarning(SkewBoostWarning):
    """Labels that may mean the same are different classes, because they are spelled differently."""


class MemoryUseWarning(SkewBoostWarning):
    """A fit is about to use more than half of the memory of the machine, or of the limit of its container."""


def warn_caller(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warn, with the line outside this package that called it."""
    level, frame = 1, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "skewboost":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def checked_by_scikit_learn() -> Iterator[None]:
    """Turn what scikit-learn's checks of user input raise into errors of this family."""
    try:
        yield
    except (SkewBoostError, AttributeError):  # the latter: scikit-learn's NotFittedError, which is a ValueError too
        raise
    except (ValueError, OverflowError) as error:  # the latter: of an integer that no double can hold
        raise InputError(str(error)) from error
    except TypeError as error:
        raise InputTypeError(str(error)) from error
