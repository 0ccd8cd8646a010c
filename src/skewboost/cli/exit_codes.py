"""Errors of commands: one line on stderr, and an exit code."""

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

from skewboost.cli.output import count, note
from skewboost.errors import LabelWarning, SkewBoostError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
DEBUG = "SKEWBOOST_DEBUG"  # if this environment variable is set, errors come with a traceback

# Errors that the user can correct by another path or permission; a full disk, for example, is a failure
WRONG_PATHS = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)


class CommandError(SkewBoostError):
    """A command cannot do what its arguments ask for. The remedy is in terms of options."""

    def __init__(self, problem: str, remedy: str = "", *, exit_code: int = MISUSED) -> None:
        super().__init__(problem, remedy)
        self.exit_code = exit_code


def interrupted_after(done: int, total: int, unit: str, remedy: str = "") -> CommandError:
    """The error after Ctrl-C, which is raised once the finished part is printed."""
    return CommandError(f"interrupted after {done} of {count(total, unit)}.", remedy, exit_code=INTERRUPTED)


class OneLineErrors(TyperGroup):
    """A group of commands that reports errors in one line, where Typer prints usage and a box."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and exit with its code."""
        try:
            with _one_line_warnings():
                code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except (typer.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                _exit_quietly()
            message, code = _describe(error)
            if os.environ.get(DEBUG):
                traceback.print_exc()
            note(f"error: {_in_one_line(message)}")
            sys.exit(code)
        if code == INTERRUPTED:
            note("interrupted")
        sys.exit(code if isinstance(code, int) else 0)


def _describe(error: Exception) -> tuple[str, int]:
    """The message and the exit code of an expected error; a bug is raised again."""
    if isinstance(error, SkewBoostError):
        return str(error), getattr(error, "exit_code", MISUSED)
    if isinstance(error, MemoryError):
        detail = f" ({error})" if str(error) else ""
        return f"there is not enough memory{detail}. Use fewer rows or columns, or a machine with more.", FAILED
    if isinstance(error, OSError):
        path = f"{error.filename}: " if error.filename else ""
        return f"{path}{error.strerror or error}", MISUSED if isinstance(error, WRONG_PATHS) else FAILED
    if hasattr(error, "format_message"):  # Typer's errors; their base class has no public name in all versions
        return error.format_message(), getattr(error, "exit_code", FAILED)
    raise error


def _in_one_line(message: str) -> str:
    """The message without line breaks. Other spaces may be part of a name, and stay."""
    return " ".join(line.strip() for line in message.split("\n") if line.strip())


def _exit_quietly() -> None:
    """Exit because the reader of our output closed it, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still in the buffer
    sys.exit(FAILED)


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Print Python's user warnings in one line each, without the place in the source."""

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UserWarning):
            note(f"warning: {_in_one_line(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.simplefilter("ignore", LabelWarning)  # such labels are refused, unless --labels says what they are
        yield
