"""What the options of commands are made of: their declarations, checks, and completion in the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

SHELL = frozenset("$`\"'\\;&|<>(){}[]*?!#~")  # names with these characters are not completed


def option(names: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """An option, by its names separated by spaces."""
    return typer.Option(*names.split(), help=help, metavar=metavar, **more)


def column(names: str, help: str, metavar: str = "COLUMN") -> Any:
    """An option whose value is completed to a column of the data."""
    return option(names, help, metavar, autocompletion=complete_column)


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the data file on the command line."""
    # an option without a value leaves all words in args
    words = [context.params.get("data"), context.params.get("rows"), *context.args]
    files = [str(word) for word in words if word and Path(str(word)).is_file()]
    from skewboost.cli.data import open_data

    try:
        columns = list(open_data(files[-1]).columns) if files else []
    except (ValueError, OSError, ImportError):  # completion cannot report errors
        return []
    return [c for c in columns if c.startswith(incomplete) and c.isprintable() and not SHELL.intersection(c)]


def complete_method(incomplete: str) -> list[str]:
    """Names of methods."""
    from skewboost.cli.method_options import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def complete_from(words: Sequence[str]) -> Callable[[str], list[str]]:
    """A completion to one of some words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete.lower())]

    return complete


def check(passes: Callable[[Any], bool], allowed: str) -> Callable[[Any], Any]:
    """A callback that refuses values; None passes, as an option that is not given."""

    def checked(value: Any) -> Any:
        if value is not None and not passes(value):
            raise typer.BadParameter(f"{value} must be {allowed}")
        return value

    return checked


check_jobs = check(lambda n: n == -1 or n >= 1, "-1 (all cores) or a positive number")
check_test = check(lambda part: 0 <= part < 1, "at least 0 and less than 1, such as 0.25")
check_threshold = check(lambda p: 0 <= p <= 1, "a probability from 0 to 1, such as 0.05")


def split_methods(texts: Sequence[str] | None) -> tuple[str, ...]:
    """Methods separated by commas, in one or more options; their settings may have commas in brackets."""
    split = [name.strip() for text in texts or () for name in re.split(r",(?![^\[{]*[\]}])", text)]
    return tuple(filter(None, split))
