"""Drawings of `skewboost.plots` as SVG that can stand in a page with others."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

from skewboost.plots.report.blocks import Drawing
from skewboost.plots.style import import_pyplot

# Text stays text, so that it is small and can be found; ids do not depend on chance
LOOK = {"svg.fonttype": "none", "svg.hashsalt": "skewboost", "font.size": 10.0, "savefig.transparent": True}

TAG = re.compile(r"<[^>]*>")  # what is between tags is text, which may say anything


class Album:
    """Makes drawings, each with ids of its own."""

    def __init__(self) -> None:
        self.n_drawn = 0

    def draw(self, make: Callable[[], Any], caption: str = "", *, large: bool = False) -> Drawing:
        """A drawing of what `make` returns: a display, or axes."""
        plt = import_pyplot()
        import matplotlib

        before = set(plt.get_fignums())
        with matplotlib.rc_context(LOOK):
            try:
                made = make()
                figure = getattr(made, "figure_", None) or made.figure
                # of a large one, letters stay readable, and what has no room is scrolled to
                return Drawing(self.inline(figure), caption, round(80 * figure.get_figwidth()) if large else 0)
            finally:
                for number in set(plt.get_fignums()) - before:
                    plt.close(number)

    def panels(self, make: Callable[[list[Any]], Any], n: int, size: tuple[float, float] = (3.7, 2.9)) -> list[Drawing]:
        """Drawings of what `make` puts on axes, each of which is a figure of its own."""
        import_pyplot()
        import matplotlib
        from matplotlib.figure import Figure

        with matplotlib.rc_context(LOOK):
            figures = [Figure(figsize=size, layout="constrained") for _ in range(n)]
            make([figure.subplots() for figure in figures])
            return [Drawing(self.inline(figure)) for figure in figures]

    def inline(self, figure: Any) -> Any:
        """The figure as an element of the page."""
        from markupsafe import Markup

        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box in its place says as much
            figure.savefig(file, format="svg", metadata=nothing)
        self.n_drawn += 1
        return Markup(own_ids(file.getvalue(), f"f{self.n_drawn}-"))


def own_ids(svg: str, prefix: str) -> str:
    """An SVG file as an element: no head, no style that would hold for the page, only ids in use, with a prefix."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*</defs>\s*", "", svg)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    used = {id_ for tag in TAG.findall(svg) for id_ in re.findall(r'(?:url\(#|href="#)([^")]+)', tag)}

    def own(tag: re.Match[str]) -> str:
        text = re.sub(r'\s(?:xmlns(?::xlink)?|version)="[^"]*"', "", tag[0])
        text = re.sub(r'\sid="([^"]*)"', lambda id_: f' id="{prefix}{id_[1]}"' if id_[1] in used else "", text)
        return text.replace("url(#", f"url(#{prefix}").replace('xlink:href="#', f'xlink:href="#{prefix}')

    return TAG.sub(own, svg).strip()
