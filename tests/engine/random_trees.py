"""Random trees, and rows for them."""

from __future__ import annotations

import numpy as np

from skewboost.engine.newton import Trees
from skewboost.engine.table import Table

N_CODES = 6


def random_tree(rng, p, depth, chain=False):
    """A tree that may test a feature twice on a path, with sets of codes, missing cells and empty leaves."""
    feature, threshold, which, missing, links, sets, values, covers = [], [], [], [], [], [], [], []

    def grow(level):
        if level == depth or (not chain and level > 1 and rng.random() < 0.3):
            values.append(rng.normal())
            covers.append(float(rng.integers(0, 6)))
            return ~(len(values) - 1)
        k = len(feature)
        feature.append(level % p if chain else int(rng.integers(p)))
        by_set = rng.random() < 0.4
        threshold.append(-1 if by_set else int(rng.integers(0, N_CODES - 1)))
        which.append(len(sets) if by_set else -1)
        if by_set:
            sets.append(rng.random(256) < 0.5)
        missing.append(int(rng.integers(2)))
        links.append([0, 0])
        for side in range(2):
            links[k][side] = grow(depth if chain and side == 0 else level + 1)
        return k

    grow(0)
    numbers = (np.array(own, dtype=np.int64) for own in (feature, threshold, which, missing))
    return Trees(
        np.array([0, len(feature)]), np.array([0, len(values)]), *numbers,
        np.array(links, dtype=np.int64).reshape(-1, 2), np.array(sets, dtype=bool).reshape(-1, 256),
        np.array(values)[:, None], np.array(covers), np.zeros(p),
    )  # fmt: skip


def rows_of(rng, n, p):
    X = rng.integers(0, N_CODES, (n, p)).astype(float)
    X[:N_CODES] = np.arange(N_CODES)[:, None]  # so that codes are the numbers
    X[rng.random((n, p)) < 0.1] = np.nan
    return Table(n, p, matrix=X)
