"""Model files: fitted models as JSON that is read without executing anything; and models as code."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skewboost.io.files import describe, dumps, load, loads, save
    from skewboost.io.schema import ModelFileError

_HOME = {
    "ModelFileError": "skewboost.io.schema",
    "describe": "skewboost.io.files",
    "dumps": "skewboost.io.files",
    "load": "skewboost.io.files",
    "loads": "skewboost.io.files",
    "save": "skewboost.io.files",
    "to_onnx": "skewboost.export.onnx",
    "to_source": "skewboost.export.source",
}

__all__ = [
    "ModelFileError",
    "describe",
    "dumps",
    "load",
    "loads",
    "save",
    "to_onnx",
    "to_source",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
