"""Bias and variance over the rounds, or as bars."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from skewboost.evaluate.decomposition import BiasVariance, bias_variance
from skewboost.names import literal, shown
from skewboost.plots.display import WIDE, ResultDisplay, draw_by_round, legend_beside, new_axes
from skewboost.plots.style import BLUE, GREEN, GREY, INK, RED
from skewboost.typing import Array


@dataclass(eq=False, repr=False)
class BiasVarianceDisplay(ResultDisplay):
    """The parts of the loss: curves over the rounds if there are several stages, otherwise bars.

    Parameters
    ----------
    parts : BiasVariance
        The result of `skewboost.evaluate.bias_variance`.
    log : bool, default=False
        Whether the axis of rounds is logarithmic.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The curve of each part; empty if bars are drawn.
    bars_ : dict of str to float
        The heights of the bars; empty if curves are drawn.
    """

    parts: BiasVariance
    _: KW_ONLY
    log: bool = False
    _compute = staticmethod(bias_variance)

    def plot(self, ax: Any = None) -> BiasVarianceDisplay:
        """Draw the parts on `ax`, or on a new figure."""
        parts = self.parts
        ax = new_axes(ax, WIDE)
        curves: dict[str, Array] = {"loss": parts.loss, "bias": parts.bias, "variance": parts.variance}
        if parts.variance_unbiased is not None and parts.variance_biased is not None:
            curves["variance that harms"] = parts.variance_unbiased
            curves["variance that helps"] = parts.variance_biased
        self.lines_: dict[str, Any] = {}
        self.bars_: dict[str, float] = {}
        if len(parts.rounds) > 1:
            self.lines_ = draw_by_round(ax, curves, parts.rounds, self.log)
            legend_beside(ax)
        else:
            self._draw_bars(ax, curves)
        method = {"domingos": "Domingos", "kohavi_wolpert": "Kohavi and Wolpert"}[parts.method]
        loss = parts.of.replace("_", " ")
        ax.set_ylabel({"error": "error rate", "cost": "mean cost"}.get(loss, f"mean {loss}"))
        ax.axhline(0.0, color=GREY, lw=0.8, zorder=0)
        title = f"{shown(parts.name)}: {loss} = bias + variance ({method}, {parts.n_draws} training sets)"
        return self._finish(ax, title=literal(title))

    def _draw_bars(self, ax: Any, curves: dict[str, Array]) -> None:
        colors, hatches = (GREY, BLUE, RED, GREEN, "white"), ("", "", "//", "..", "xx")
        for k, (name, values) in enumerate(curves.items()):
            height = self.bars_[name] = float(values[0])
            ax.bar(k, height, 0.65, color=colors[k], hatch=hatches[k], edgecolor=INK, lw=0.8)
            up = height >= 0
            ax.annotate(
                f"{height:.3g}", (k, height), (0, 3 if up else -3), textcoords="offset points", ha="center",
                va="bottom" if up else "top", fontsize="small",
            )  # fmt: skip
        ax.set_xticks(range(len(curves)), [name.replace(" that", "\nthat") for name in curves])
        ax.margins(y=0.12)
