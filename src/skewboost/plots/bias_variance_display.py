"""Bias and variance, over rounds or side by side."""

from __future__ import annotations

from typing import Any

from skewboost.evaluate.decomposition import BiasVariance, bias_variance
from skewboost.names import literal, shown
from skewboost.plots.learning_curve_display import WIDE, legend, marks, scale_rounds
from skewboost.plots.style import BLUE, GREEN, GREY, INK, RED, axes_for, look, tidy
from skewboost.typing import Array


class BiasVarianceDisplay:
    """The parts of the loss: curves over rounds, or bars where stages were not looked at.

    Parameters
    ----------
    parts : BiasVariance
        What `skewboost.evaluate.bias_variance` returns.
    log : bool, default=False
        Whether rounds are on a logarithmic scale.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the drawing.
    lines_ : dict of str to matplotlib Line2D
        The curve of each part; empty where bars are drawn.
    bars_ : dict of str to float
        What the bars show; empty where curves are drawn.
    """

    def __init__(self, parts: BiasVariance, *, log: bool = False) -> None:
        self.parts = parts
        self.log = log

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, log: bool = False, ax: Any = None, **how: Any
    ) -> BiasVarianceDisplay:
        """Decompose and draw; `how` is handed to `skewboost.evaluate.bias_variance`."""
        return cls(bias_variance(estimator, X, y, **how), log=log).plot(ax=ax)

    def plot(self, ax: Any = None) -> BiasVarianceDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None makes a new figure.
        """
        parts = self.parts
        ax = axes_for(ax, WIDE)
        named: dict[str, Array] = {"loss": parts.loss, "bias": parts.bias, "variance": parts.variance}
        if parts.variance_unbiased is not None and parts.variance_biased is not None:
            named["variance that harms"] = parts.variance_unbiased
            named["variance that helps"] = parts.variance_biased
        self.lines_: dict[str, Any] = {}
        self.bars_: dict[str, float] = {}
        if len(parts.rounds) > 1:
            self._curves(ax, named)
        else:
            self._bars(ax, named)
        method = {"domingos": "Domingos", "kohavi_wolpert": "Kohavi and Wolpert"}[parts.method]
        ax.set_ylabel("share of wrong answers" if parts.of == "error" else "mean cost")
        ax.axhline(0.0, color=GREY, lw=0.8, zorder=0)
        ax.set_title(
            literal(f"{shown(parts.name)}: {parts.of} = bias + variance ({method}, {parts.n_draws} training sets)"),
            loc="left",
            fontsize="medium",
        )
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _curves(self, ax: Any, named: dict[str, Array]) -> None:
        for k, (name, values) in enumerate(named.items()):
            own = look(k)
            (self.lines_[name],) = ax.plot(
                self.parts.rounds, values, color=own.color, ls=own.linestyle, lw=1.6, marker=own.marker, ms=5,
                markevery=marks(self.parts.rounds, k / 2, self.log), label=name,
            )  # fmt: skip
        scale_rounds(ax, self.parts.rounds, self.log)
        legend(ax, aside=True)

    def _bars(self, ax: Any, named: dict[str, Array]) -> None:
        colors = (GREY, BLUE, RED, GREEN, "white")
        for k, (name, values) in enumerate(named.items()):
            self.bars_[name] = float(values[0])
            ax.bar(k, values[0], 0.65, color=colors[k], hatch=("", "", "//", "..", "xx")[k], edgecolor=INK, lw=0.8)
            up = values[0] >= 0
            ax.annotate(
                f"{values[0]:.3g}", (k, values[0]), (0, 3 if up else -3), textcoords="offset points", ha="center",
                va="bottom" if up else "top", fontsize="small",
            )  # fmt: skip
        ax.set_xticks(range(len(named)), [name.replace(" that", "\nthat") for name in named])
        ax.margins(y=0.12)
