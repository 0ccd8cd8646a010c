"""A bar on the standard error stream: how far it is, what runs, and how long it will take."""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

from skewboost.names import visible

WIDTH = 24


class Progress(NamedTuple):
    """How far a comparison is."""

    done: int
    total: int
    running: tuple[str, ...]  # what runs now, or next
    seconds_left: float | None  # None before anything is finished


class Reporter:
    """Tells whoever wants to know, after every fit.

    Parameters
    ----------
    verbose : int or callable
        0: nobody. 1 and more: a bar on stderr; where that is no terminal, a line for every tenth, or with 2 for every
        fit. A function is called with a `Progress`.
    todo : list of str
        What there is to do, in order.
    n_jobs : int
        How many run at the same time.
    """

    def __init__(self, verbose: Any, todo: list[str], n_jobs: int) -> None:
        self.verbose, self.todo, self.n_jobs = verbose, dict.fromkeys(todo), n_jobs
        self.total, self.started = len(todo), time.monotonic()
        self.said = -1

    def start(self) -> None:
        """Before the first fit."""
        if self.total:
            self._tell()

    def finished(self, what: str) -> None:
        """A fit is done."""
        self.todo.pop(what, None)
        self._tell()

    def close(self) -> None:
        """Leave the line of the bar."""
        if self.total and not callable(self.verbose) and self.verbose and sys.stderr.isatty():
            sys.stderr.write("\n")

    @property
    def progress(self) -> Progress:
        """As it is now."""
        done = self.total - len(self.todo)
        left = None if done == 0 else (time.monotonic() - self.started) / done * len(self.todo)
        return Progress(done, self.total, tuple(self.todo)[: self.n_jobs], left)

    def _tell(self) -> None:
        if callable(self.verbose):
            self.verbose(self.progress)
        elif self.verbose:
            self._write(self.progress)

    def _write(self, now: Progress) -> None:
        if sys.stderr.isatty():
            full = WIDTH * now.done // now.total
            sys.stderr.write(f"\r\x1b[2K[{'#' * full}{'-' * (WIDTH - full)}] {in_words(now)[:90]}")
            sys.stderr.flush()
            return
        tenth = 10 * now.done // now.total
        if self.verbose >= 2 or tenth > self.said:
            self.said = tenth
            sys.stderr.write(in_words(now) + "\n")


def in_words(now: Progress) -> str:
    """One line."""
    left = "" if now.seconds_left is None or not now.running else f", {clock(now.seconds_left)} left"
    return f"{now.done}/{now.total}{left}" + (f"  {visible(now.running[0])}" if now.running else "")


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
