"""One HTML file about a model: what it finds, what it costs, why, and how far to trust that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.report.explorer import ScoreTable
    from skewboost.report.report import Report

_HOME = {
    "Report": "report",
    "ScoreTable": "explorer",
}

__all__ = [
    "Report",
    "ScoreTable",
]

__getattr__, __dir__ = lazy(__name__, _HOME)
