"""An experiment of a paper: tasks that can run in parallel and resume, and a report that is made of their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skewboost_reproductions.page_parts import Part

Argument = str | int | float | bool | None


class Task:
    """A call of a function whose result JSON can represent; the call itself is the name of the result.

    Parameters
    ----------
    work : callable
        A function of a module, so that other processes find it.
    args : str, int, float, bool or None
        Its arguments.
    """

    def __init__(self, work: Callable[..., Any], *args: Argument) -> None:
        self.work, self.args = work, args

    @property
    def name(self) -> str:
        """The function and its arguments, as a text."""
        return name_of(self.work, *self.args)

    def __str__(self) -> str:
        return " ".join(map(str, (self.work.__name__.replace("_", " "), *self.args)))


def name_of(work: Callable[..., Any], *args: Argument) -> str:
    """Return the name of a call."""
    return json.dumps([work.__name__, *args])


class Results:
    """The results of tasks, by their calls."""

    def __init__(self, by_name: Mapping[str, Any], seconds: float) -> None:
        self._by_name = by_name
        self.seconds = seconds  # of all tasks together

    def of(self, work: Callable[..., Any], *args: Argument) -> Any:
        """Return what a call returned."""
        return self._by_name[name_of(work, *args)]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A published experiment, or one that a paper proposes.

    Attributes
    ----------
    name : str
        What `skewboost reproduce` calls it.
    title : str
        What it is about, for a heading.
    source : str
        The key of the paper in ``references.toml``.
    shows : str
        The tables and figures, such as "table 3.2".
    protocol : str
        What is done, in Markdown, with every guess that the paper makes necessary.
    tasks : callable
        ``tasks(quick)`` returns the tasks; `quick` asks for fewer repetitions of the same protocol.
    report : callable
        ``report(results, quick)`` returns the parts of the page.
    discussion : str, default=""
        What a full run showed, and why, in Markdown.
    asks : str, default=""
        The question, if it is one that the paper leaves open, and the experiment is not the paper's own.
    revision : int, default=1
        Raised when the tasks compute something else, so that earlier results are not taken for new ones.
    """

    name: str
    title: str
    source: str
    shows: str
    protocol: str
    tasks: Callable[[bool], list[Task]]
    report: Callable[[Results, bool], list[Part]]
    discussion: str = ""
    asks: str = ""
    revision: int = 1
