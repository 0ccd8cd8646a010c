"""Numbers printed in papers: CSV files in the folder `printed` of each paper."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any


def printed(paper: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a printed table; cells that are numbers are floats, and empty ones None."""
    folder = resources.files(f"{__package__}.papers.{paper}").joinpath("printed")
    text = folder.joinpath(f"{table}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [{column: _cell(value) for column, value in row.items()} for row in csv.DictReader(lines)]


def _cell(value: str) -> Any:
    if value == "":
        return None
    try:
        return float(value)
    except ValueError:
        return value
