"""Imbalanced data sets: small real ones, public ones that are downloaded, and generated ones of any size.

`chunks` reads large tables in chunks.
"""

from __future__ import annotations

from skewboost.datasets.cancer import load_rare_cancer, load_wdbc
from skewboost.datasets.chunks import ParquetRows
from skewboost.datasets.faces import fetch_faces
from skewboost.datasets.fraud import make_fraud
from skewboost.datasets.gaussians import make_two_gaussians
from skewboost.datasets.intrusions import make_intrusions
from skewboost.datasets.skewed import make_skewed

__all__ = [
    "ParquetRows",
    "fetch_faces",
    "load_rare_cancer",
    "load_wdbc",
    "make_fraud",
    "make_intrusions",
    "make_skewed",
    "make_two_gaussians",
]
