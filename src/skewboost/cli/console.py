"""Rich's console without mark-up. It is a module of its own because Rich is imported only when something is printed."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from skewboost.names import visible


class PlainConsole(Console):
    """Prints every text literally: no mark-up, no emoji, no highlighting, no control characters."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, *, style: Any = "", justify: Any = None, overflow: Any = None, **_: Any) -> Text:
        """Text as Rich prints it, also in the cells and titles of tables."""
        return Text("\n".join(map(visible, text.split("\n"))), style=style, justify=justify, overflow=overflow)
