"""Pictures as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from skewboost.files import write_whole

DPI = 150
PICTURES = (".png", ".svg", ".pdf")


def save_picture(figure: Any, path: str | Path) -> Path:
    """Write a figure in the format of the file's ending."""
    picture = io.BytesIO()
    figure.savefig(picture, format=Path(path).suffix[1:].lower(), dpi=DPI)
    return write_whole(path, picture.getvalue())


def without_screen() -> None:
    """Make Matplotlib draw to files only."""
    import matplotlib

    matplotlib.use("Agg")
