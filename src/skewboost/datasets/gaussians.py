"""A synthetic problem of two normal distributions, whose best decisions are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.datasets._checks import checked_count, checked_rng


def make_two_gaussians(n_per_class: int = 10_000, random_state: int = 0) -> tuple[Any, Any]:
    r"""Generate numbers from two normal distributions with means -1 and 1.

    Both have the variance 1, so :math:`P(1|x) = 1/(1 + e^{-2x})`, and the boundary of minimum risk for a miss that
    costs C false alarms is :math:`x^* = -\frac12 \ln C`.

    Parameters
    ----------
    n_per_class : int, default=10_000
        The number of rows of each class.
    random_state : int, default=0
        The seed of the generator.

    Returns
    -------
    X : array of shape (2 n_per_class, 1)
        The numbers, those of the negatives first.
    y : array of shape (2 n_per_class,)
        0 and 1.

    References
    ----------
    .. [masnadi2007] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", Technical Report SVCL-TR 2007/06,
       University of California, San Diego (2007), §5.1.

    Examples
    --------
    >>> from skewboost.datasets import make_two_gaussians
    >>> X, y = make_two_gaussians(1000)
    >>> print(X.shape, round(X[y == 1].mean()))
    (2000, 1) 1
    """
    n = checked_count("n_per_class", n_per_class, 1, None, "rows of each class")
    rng = checked_rng(random_state)
    X = np.concatenate((rng.normal(-1.0, 1.0, n), rng.normal(1.0, 1.0, n)))[:, None]
    return X, np.repeat(np.array([0, 1]), n)
