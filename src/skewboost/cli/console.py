"""Rich's console without mark-up. Only `tell.py` uses it: it is imported where something is printed."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import ProgressColumn
from rich.text import Text

from skewboost.names import visible


class PlainConsole(Console):
    """Takes every text as it is: no mark-up, no emoji, no guesses at what is a number, no control characters."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, stderr=stderr)

    def render_str(self, text: str, *, style: Any = "", justify: Any = None, overflow: Any = None, **_: Any) -> Text:
        """What all text becomes, that of cells and titles of tables too."""
        return Text("\n".join(map(visible, text.split("\n"))), style=style, justify=justify, overflow=overflow)


class Doing(ProgressColumn):
    """What a bar is about."""

    def render(self, task: Any) -> Text:
        """As it is."""
        return Text(visible(task.description))
