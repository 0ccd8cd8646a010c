"""Two lopsided tables to try things on: one measured and small, one generated and as large as asked for."""

from __future__ import annotations

from skewboost.datasets.cancer import load_rare_cancer
from skewboost.datasets.fraud import make_fraud

__all__ = ["load_rare_cancer", "make_fraud"]
