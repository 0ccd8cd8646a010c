"""The parts of a page, which the template turns into HTML, and figures as inline SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skewboost.plots.style import import_pyplot

SVG_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text, which is small and searchable
    "svg.hashsalt": "skewboost",  # ids are the same in every run
    "path.simplify_threshold": 0.5,  # of a pixel: long curves become short
    "font.size": 10.0,
    "savefig.transparent": True,
}
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Text:
    """A paragraph, preformatted text (kind "pre"), or small print (kind "note")."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Warnings:
    """A list of warnings."""

    items: Sequence[str]
    kind: str = "warnings"


@dataclass(frozen=True)
class Table:
    """Rows of text, of which the first cell is a heading; `numeric` tells which columns contain numbers."""

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()
    numeric: Sequence[bool] = (False, False)
    title: str = ""
    chosen: int = -1
    kind: str = "table"


@dataclass(frozen=True)
class Picture:
    """An inline SVG; a minimum width in pixels keeps large ones readable."""

    svg: Any
    min_width: int = 0


@dataclass(frozen=True)
class Figures:
    """Pictures side by side ("small" for many of them), or below each other (layout "wide")."""

    pictures: Sequence[Picture]
    layout: str = ""
    kind: str = "figures"


@dataclass(frozen=True)
class ClassBar:
    """A bar that shows the proportions of the two classes, in per cent."""

    positive: float
    negative: float
    label: str
    kind: str = "bar"


@dataclass(frozen=True)
class Section:
    """A section of the page, with a heading and blocks of the kinds above."""

    id: str
    title: str
    blocks: Sequence[Any] = ()


class SvgFigures:
    """Draws displays as SVG elements, each with ids of its own."""

    def __init__(self) -> None:
        self.n_figures = 0

    def draw(self, make: Callable[[], Any], *, large: bool = False) -> Picture:
        """Return the figure of a display that `make` draws; a `large` one gets a minimum width."""
        plt = import_pyplot()
        import matplotlib

        before = set(plt.get_fignums())
        with matplotlib.rc_context(SVG_STYLE):
            try:
                figure = make().figure_
                return Picture(self.inline(figure), round(80 * figure.get_figwidth()) if large else 0)
            finally:
                for number in set(plt.get_fignums()) - before:
                    plt.close(number)

    def panels(self, make: Callable[[list[Any]], Any], n: int, size: tuple[float, float] = (3.7, 2.9)) -> list[Picture]:
        """Return `n` figures, whose axes `make` draws on."""
        import_pyplot()
        import matplotlib
        from matplotlib.figure import Figure

        with matplotlib.rc_context(SVG_STYLE):
            figures = [Figure(figsize=size, layout="constrained") for _ in range(n)]
            make([figure.subplots() for figure in figures])
            return [Picture(self.inline(figure)) for figure in figures]

    def inline(self, figure: Any) -> Any:
        """Return the figure as an element of the page."""
        from markupsafe import Markup

        file = io.StringIO()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the browser has other fonts
            figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        self.n_figures += 1
        return Markup(svg_element(file.getvalue(), f"f{self.n_figures}-"))


def svg_element(svg: str, prefix: str) -> str:
    """Turn an SVG file into an element: without header and styles, and with a prefix for the ids that are used."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>.*?</style>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*</defs>\s*", "", svg)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    used = {id_ for tag in TAG.findall(svg) for id_ in re.findall(r'(?:url\(#|href="#)([^")]+)', tag)}

    def prefixed(tag: re.Match[str]) -> str:
        text = re.sub(r'\s(?:xmlns(?::xlink)?|version)="[^"]*"', "", tag[0])
        text = re.sub(r'\sid="([^"]*)"', lambda id_: f' id="{prefix}{id_[1]}"' if id_[1] in used else "", text)
        return text.replace("url(#", f"url(#{prefix}").replace('xlink:href="#', f'xlink:href="#{prefix}')

    return TAG.sub(prefixed, svg).strip()  # only in tags: text may contain anything
