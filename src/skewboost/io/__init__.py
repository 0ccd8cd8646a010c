"""Model files: fitted models as JSON that is read without executing anything; and models as code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost.export.onnx import to_onnx
    from skewboost.export.source import to_source
    from skewboost.io.files import describe, dumps, load, loads, save
    from skewboost.io.schema import ModelFileError

_HOME = {
    "ModelFileError": "io.schema",
    "describe": "io.files",
    "dumps": "io.files",
    "load": "io.files",
    "loads": "io.files",
    "save": "io.files",
    "to_onnx": "export.onnx",
    "to_source": "export.source",
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

__getattr__, __dir__ = lazy(__name__, _HOME, root="skewboost")  # the last two are in another part of the package
