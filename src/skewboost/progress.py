"""The progress bar that fits, evaluations and commands share."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Self, TypeVar

from skewboost.names import visible

T = TypeVar("T")

WIDTH = 24
INTERVAL = 0.1  # seconds between two drawings


def on_terminal() -> bool:
    """Whether the standard error stream is a terminal; it may be closed, too."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(text: str) -> None:
    """Write to the standard error stream, unless it is closed."""
    if sys.stderr is not None:
        sys.stderr.write(text)


class ProgressBar:
    """A bar on the standard error stream, of `total` steps of `what`; without a total only the time is shown.

    Where the stream is not a terminal, it prints `lines` lines over the whole run instead. A `transient` bar disappears
    at the end, and prints nothing where there is no terminal. The time is counted from `since` (`time.monotonic`), by
    default from when the bar is shown: what was done before the first step belongs to the time of the run.

    Examples
    --------
    >>> from skewboost.progress import ProgressBar
    >>> with ProgressBar(total=3, what="fits") as bar:
    ...     for k in range(3):
    ...         bar.update(k + 1)
    """

    def __init__(
        self, total: int | None, what: str = "", *, transient: bool = False, lines: int = 10, since: float | None = None
    ) -> None:
        self.total, self.what, self.transient, self.lines = total, what, transient, lines
        self.done, self.note = 0, ""
        self.since = since
        self._started = time.monotonic()
        self._drawn = float("-inf")
        self._printed = 0

    def __enter__(self) -> Self:
        self._started = time.monotonic() if self.since is None else self.since
        self.update(0)
        return self

    def __exit__(self, *_: object) -> None:
        if on_terminal():
            self._draw()
            sys.stderr.write("\r\x1b[2K" if self.transient else "\n")
            sys.stderr.flush()

    def update(self, done: int, note: str | None = None) -> None:
        """Say how many steps are done, and optionally what to show behind the bar."""
        self.done = done
        if note is not None:
            self.note = note
        if on_terminal():
            now = time.monotonic()
            if now - self._drawn >= INTERVAL or done == self.total:
                self._drawn = now
                self._draw()
        elif not self.transient and self.total and done and done * self.lines // self.total > self._printed:
            self._printed = done * self.lines // self.total
            say(f"{self}\n")

    def _draw(self) -> None:
        sys.stderr.write(f"\r\x1b[2K{str(self)[:110]}")
        sys.stderr.flush()

    def __str__(self) -> str:
        parts = [visible(self.what)] if self.what else []
        if self.total is not None:
            full = WIDTH * self.done // max(self.total, 1)
            parts += [f"[{'#' * full}{'-' * (WIDTH - full)}] {self.done}/{self.total}"]
        passed = time.monotonic() - self._started
        left = passed / self.done * (self.total - self.done) if self.total and self.done else 0.0
        if self.total is not None or self.done:  # otherwise nothing updates the time
            parts += [f"{clock(left)} left" if left else clock(passed)]
        return "  ".join([*parts, visible(self.note)] if self.note else parts)


def track(
    items: Iterable[T],
    total: int,
    done: int = 0,
    note: Callable[[T], str] | None = None,
    since: float | None = None,
) -> Iterator[T]:
    """Pass items on while a bar counts them, from `done` on; `note` gives what to show behind the bar."""
    with ProgressBar(total, since=since) as bar:
        for k, item in enumerate(items, done + 1):
            yield item
            bar.update(k, note(item) if note is not None else None)


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
