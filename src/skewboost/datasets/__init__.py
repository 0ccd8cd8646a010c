"""Lopsided tables to try things on: one measured and small, the others generated and as large as asked for."""

from __future__ import annotations

from skewboost.datasets.cancer import load_rare_cancer
from skewboost.datasets.chunks import ParquetRows
from skewboost.datasets.fraud import make_fraud
from skewboost.datasets.intrusions import make_intrusions

__all__ = ["ParquetRows", "load_rare_cancer", "make_fraud", "make_intrusions"]
