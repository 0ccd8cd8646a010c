"""Thresholds of the experiments."""

from __future__ import annotations

EXACT = 255  # bins of a column: None means that every midpoint of neighbouring values is a cut
