"""Data sets of the papers: public ones, which are downloaded, and generated ones, some of them stand-ins.

The downloads themselves and the reader of their tables are those of `skewboost.datasets`.
"""

from __future__ import annotations

from skewboost_reproductions.datasets.eight_gaussians import make_eight_gaussians
from skewboost_reproductions.datasets.ida_benchmark import fetch_ida
from skewboost_reproductions.datasets.industrial import make_industrial
from skewboost_reproductions.datasets.uci_repository import fetch_uci

__all__ = ["fetch_ida", "fetch_uci", "make_eight_gaussians", "make_industrial"]
