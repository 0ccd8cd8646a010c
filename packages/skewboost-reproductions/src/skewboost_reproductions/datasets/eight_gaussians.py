"""The synthetic problem of eight normal columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.datasets._checks import checked_count, checked_rng

EIGHT_MEANS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.2)  # of the negatives; those of the positives are 0


def make_eight_gaussians(n_rows: int = 1000, random_state: int = 0) -> tuple[Any, Any]:
    """Generate eight independent normal columns, whose means depend on the class.

    Half of the rows are positive. All variances are 1. The means of the positives are 0, those of the negatives are 1
    in five columns, 0.5 in two and 0.2 in the last one. The Bayes error is 12 %.

    Parameters
    ----------
    n_rows : int, default=1000
        The number of rows; [cuendet2002]_ does not say how many it had.
    random_state : int, default=0
        The seed of the generator.

    Returns
    -------
    X : array of shape (n_rows, 8)
        The columns.
    y : array of shape (n_rows,)
        0 and 1.

    References
    ----------
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002), §3.2.1.

    Examples
    --------
    >>> from skewboost_reproductions.datasets import make_eight_gaussians
    >>> X, y = make_eight_gaussians(200)
    >>> X.shape, int(y.sum())
    ((200, 8), 100)
    """
    n = checked_count("n_rows", n_rows, 2, None, "for both classes")
    rng = checked_rng(random_state)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 8)) + np.where(y[:, None] == 1, 0.0, EIGHT_MEANS), y
