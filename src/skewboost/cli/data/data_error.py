"""What is wrong with the data, in one line."""

from __future__ import annotations

from skewboost.errors import InputError


class DataError(InputError):
    """A file that cannot be read as a table: which, where in it, what is wrong, and what to do."""
