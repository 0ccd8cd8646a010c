"""Published experiments: their tables and figures, next to ours."""

from __future__ import annotations

from skewboost.reproduce.running import Reproduction, experiments, reproduce

__all__ = ["Reproduction", "experiments", "reproduce"]
