"""Fitted models as programs: source code in Python, C and SQL, and ONNX graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.export.onnx import to_onnx
    from skewboost.export.source import to_source

_HOME = {
    "to_onnx": "onnx",
    "to_source": "source",
}

__all__ = [
    "to_onnx",
    "to_source",
]

__getattr__, __dir__ = lazy(__name__, _HOME)
