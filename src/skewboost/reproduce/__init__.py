"""Published experiments: their tables and figures, next to ours."""

from __future__ import annotations

from skewboost.reproduce.running import Reproduction, experiments, reproduce, reproduce_all

__all__ = ["Reproduction", "experiments", "reproduce", "reproduce_all"]
