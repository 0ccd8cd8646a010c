"""Pictures as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from skewboost.files import write_whole

DPI = 150
PICTURES = (".png", ".svg", ".pdf")


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure in the format that its name ends in; a file of that name is replaced at once or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=DPI)
    return write_whole(path, picture.getvalue())


def without_screen() -> None:
    """Draw to files only, whether or not there is a screen."""
    import matplotlib

    matplotlib.use("Agg")
