"""The arrays of trees in files: base64 behind the type of the numbers."""

from __future__ import annotations

import base64

import numpy as np


def unpacked(text):
    dtype, content = text.split(":")
    return np.frombuffer(base64.b64decode(content), dtype=dtype).copy()


def repacked(values):
    return f"{values.dtype.str}:{base64.b64encode(values.tobytes()).decode()}"
