"""Error curves of many trials: what an experiment reads from them, and how it draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skewboost.plots.style import BLUE, RED, import_pyplot
from skewboost.typing import Array
from skewboost_reproductions.estimates import Estimate, estimate

LAST = 10  # iterations over which the spread in the corner of a panel is averaged


@dataclass(frozen=True)
class ErrorCurves:
    """Errors in percent, ``[trial, round]``, on training and test rows.

    Attributes
    ----------
    train, test : ndarray of shape (n_trials, n_rounds)
        The errors.
    test_to_train : float
        The number of test rows per training row.
    """

    train: Array
    test: Array
    test_to_train: float

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return int(self.test.shape[1])

    def at(self, number: int, part: str = "test") -> Array:
        """Return the errors of all trials after a number of rounds, or after the last one if there are fewer."""
        errors = self.test if part == "test" else self.train
        return np.asarray(errors[:, min(number, self.n_rounds) - 1])

    @cached_property
    def best_round(self) -> int:
        """The round with the lowest mean test error, the first one in a tie."""
        return int(self.test.mean(axis=0).round(9).argmin()) + 1

    @property
    def lowest(self) -> Array:
        """The test error of each trial in that round; chosen on the test rows, so it is a little too low."""
        return self.at(self.best_round)

    @property
    def overfitting(self) -> Array:
        """How much the test error of each trial rises from there to the last round."""
        return np.asarray(self.test[:, -1] - self.lowest)

    @property
    def spread(self) -> float:
        """Twice the standard deviation of the test error over trials, averaged over the last rounds."""
        return float(2.0 * self.test[:, -LAST:].std(axis=0, ddof=1).mean())

    def mean(self, values: Array) -> Estimate:
        """Return the mean of values of trials."""
        return estimate(values, self.test_to_train)


class Whole(Estimate):
    """A whole number, such as that of a round."""

    def text(self, digits: int = 0) -> str:
        """Return the number without decimals."""
        return f"{self.mean:.0f}"


@dataclass(frozen=True)
class Panel:
    """A panel of a figure: its title and its curves."""

    title: str
    curves: ErrorCurves


def draw_panels(panels: Sequence[Panel], n_across: int, *, bands: bool = False, top: float | None = None) -> Any:
    """Draw mean errors by round: dashed on training rows, solid on test rows; the spread is in the corner.

    With `bands`, two standard deviations to either side are drawn instead.
    """
    plt = import_pyplot()
    n_down = -(-len(panels) // n_across)
    size = (1.2 + 3.7 * n_across, 0.7 + 2.7 * n_down)
    figure, axes = plt.subplots(
        n_down, n_across, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axis in axes.ravel()[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.ravel(), panels):
        _draw(axis, panel, bands)
    for axis in axes[-1]:
        axis.set_xlabel("round")
    for axis in axes[:, 0]:
        axis.set_ylabel("error (%)")
    axes[0, 0].set_ylim(0.0, top)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, frameon=False, fontsize="small")
    return figure


def _draw(axis: Any, panel: Panel, bands: bool) -> None:
    curves = panel.curves
    x = np.arange(1, curves.n_rounds + 1)
    for errors, color, line, label in ((curves.train, BLUE, "--", "training"), (curves.test, RED, "-", "test")):
        mean, s = errors.mean(axis=0), errors.std(axis=0, ddof=1)
        axis.plot(x, mean, color=color, ls=line, lw=1.5, label=f"{label} rows")
        if bands:
            axis.fill_between(x, mean - 2 * s, mean + 2 * s, color=color, alpha=0.13, lw=0, label=f"{label}, ± 2s")
    spread = "" if bands else f", CI = ± {curves.spread:.1f}"
    axis.set_title(f"{panel.title}{spread}", fontsize="small")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
