"""Progress of evaluations: a bar on the standard error stream, or calls of the user's function."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Self

from skewboost.progress import ProgressBar


class Progress(NamedTuple):
    """The progress of an evaluation."""

    done: int
    total: int
    running: tuple[str, ...]  # the fits that run now, or next
    seconds_left: float | None  # None before the first fit is finished


class Reporter:
    """Reports every finished fit.

    Parameters
    ----------
    verbose : int or callable
        0: nothing is reported. 1: a progress bar; where stderr is not a terminal, a line for every tenth. 2: there, a
        line for every fit. A function is called with a `Progress` at the start and after each fit.
    fits : list of str
        The names of the fits, in order.
    n_jobs : int
        The number of fits that run in parallel.
    """

    def __init__(self, verbose: Any, fits: list[str], n_jobs: int) -> None:
        self.remaining, self.total, self.n_jobs = dict.fromkeys(fits), len(fits), n_jobs
        self.started = time.monotonic()
        self.callback = verbose if callable(verbose) else None
        self.bar: ProgressBar | None = None
        if fits and verbose and self.callback is None:
            self.bar = ProgressBar(self.total, lines=self.total if verbose >= 2 else 10)

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.__enter__()
        if self.total:
            self._report()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.__exit__(*error)

    def finished(self, fit: str) -> None:
        """Report that a fit is done."""
        self.remaining.pop(fit, None)
        self._report()

    @property
    def progress(self) -> Progress:
        """The present state."""
        done = self.total - len(self.remaining)
        left = None if done == 0 else (time.monotonic() - self.started) / done * len(self.remaining)
        return Progress(done, self.total, tuple(self.remaining)[: self.n_jobs], left)

    def _report(self) -> None:
        if self.callback is not None:
            self.callback(self.progress)
        elif self.bar is not None:
            now = self.progress
            self.bar.update(now.done, now.running[0] if now.running else "")
