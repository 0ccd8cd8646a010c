"""What is wrong, in one line, and the exit code that goes with it."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from skewboost.cli.output import note
from skewboost.errors import SkewBoostError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
DEBUG = "SKEWBOOST_DEBUG"  # set to anything, every error comes with its traceback

# A path or a permission that the user can put right; a full disk, say, is another matter
WRONG_PATHS = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)


class CommandError(Exception):
    """What a command cannot do, and the remedy."""

    def __init__(self, message: str, exit_code: int = MISUSED) -> None:
        super().__init__(message)
        self.exit_code = exit_code

    def format_message(self) -> str:
        """As Typer's errors have it."""
        return str(self)


class OneLineErrors(TyperGroup):
    """Says what is wrong in one line, where Typer prints a usage text and a box around it."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and leave with its exit code."""
        if not kwargs.get("standalone_mode", True):
            return super().main(*args, **kwargs)
        kwargs["standalone_mode"] = False
        try:
            with _one_line_warnings():
                code = super().main(*args, **kwargs)
        except (typer.Abort, KeyboardInterrupt):
            note("interrupted")
            sys.exit(INTERRUPTED)
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                _leave_quietly()
            told = _told(error)
            if told is None:
                raise
            if os.environ.get(DEBUG):
                traceback.print_exc()
            message, code = told
            note(f"error: {_in_one_line(message)}")
            sys.exit(code)
        if code == INTERRUPTED:
            note("interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def _told(error: Exception) -> tuple[str, int] | None:
    """The line and the exit code; None where it is nobody's mistake but ours."""
    if hasattr(error, "format_message"):  # the base class of Typer's errors has no public name in all versions
        return error.format_message(), getattr(error, "exit_code", FAILED)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", MISUSED if isinstance(error, WRONG_PATHS) else FAILED
    if isinstance(error, SkewBoostError):
        return str(error), MISUSED
    return None


def _in_one_line(message: str) -> str:
    """Without line breaks; spaces within a line may be those of a name, and stay."""
    return " ".join(line.strip() for line in message.split("\n") if line.strip())


def _leave_quietly() -> None:
    """The reader of our output went away, as `head` does: nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer goes nowhere
    sys.exit(FAILED)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Warnings as a line each, without the place in the source that Python adds."""

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UserWarning):
            note(f"warning: {_in_one_line(str(message))}")

    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
