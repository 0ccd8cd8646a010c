"""What sections are made of; the template knows how each looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    soft: bool = False
    kind: str = "text"


@dataclass(frozen=True)
class Pre:
    """Text with its lines as they are."""

    text: str
    kind: str = "pre"


@dataclass(frozen=True)
class Warnings:
    """What to mind."""

    items: Sequence[str]
    kind: str = "warnings"


@dataclass(frozen=True)
class Table:
    """Rows of text; the first cell of each names it. `numeric` says which columns hold numbers."""

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()
    numeric: Sequence[bool] = ()
    title: str = ""
    chosen: int = -1
    kind: str = "table"

    @property
    def long(self) -> bool:
        """Whether it may have to be scrolled."""
        return len(self.head) > 3


@dataclass(frozen=True)
class Drawing:
    """A picture with a line below it; a large one is not drawn smaller than so many pixels."""

    svg: Any
    caption: str = ""
    width: int = 0


@dataclass(frozen=True)
class Figures:
    """Pictures side by side, or one below the other."""

    figures: Sequence[Drawing]
    wide: bool = False
    small: bool = False
    kind: str = "figures"


@dataclass(frozen=True)
class Bar:
    """Two shares, in per cent."""

    positive: float
    negative: float
    label: str


@dataclass(frozen=True)
class Section:
    """A part of the page, with a heading."""

    id: str
    title: str
    blocks: Sequence[Any] = field(default_factory=tuple)
    bar: Bar | None = None
