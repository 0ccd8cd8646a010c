"""Imbalanced data sets: a small real one, and generated ones of any size. `chunks` reads large tables in chunks."""

from __future__ import annotations

from skewboost.datasets.cancer import load_rare_cancer
from skewboost.datasets.chunks import ParquetRows
from skewboost.datasets.fraud import make_fraud
from skewboost.datasets.intrusions import make_intrusions

__all__ = ["ParquetRows", "load_rare_cancer", "make_fraud", "make_intrusions"]
