"""Text in drawings is no part of the page that they are put into."""

from __future__ import annotations

import html
import re

import matplotlib as mpl
from matplotlib.figure import Figure

from hostile import PLAIN, TALL
from skewboost.names import literal
from skewboost.plots.report.page_blocks import SVG_STYLE, SvgFigures, svg_element


def test_drawings_keep_their_text_and_no_more_than_that():
    """What looks like an attribute, an id or a reference stays as it is where it is text."""
    with mpl.rc_context(SVG_STYLE):
        figure = Figure()
        ax = figure.subplots()
        ax.plot([0, 1], marker="o")  # has ids and references of its own
        for k, name in enumerate([*PLAIN, *TALL]):
            ax.text(0, k, literal(name))
        svg = str(SvgFigures().inline(figure))
    said = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    assert set(PLAIN) | set(TALL) <= set(said)
    tags = re.findall(r"<[^>]*>", svg)
    assert any("#f1-" in tag for tag in tags)
    assert not any(re.search(r"<(script|style)|xmlns|on\w+=", tag) for tag in tags)


def test_ids_are_prefixed_in_tags_only():
    made = svg_element(
        '<svg><g id="a"/><use xlink:href="#a"/><text id="b">id="a" url(#a) version="1"</text></svg>', "p-"
    )
    assert made == '<svg><g id="p-a"/><use xlink:href="#p-a"/><text>id="a" url(#a) version="1"</text></svg>'
