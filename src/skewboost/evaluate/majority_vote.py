"""The error of a majority vote of independent classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from skewboost.errors import InputError
from skewboost.parameters import check_arguments, integer


def majority_vote_error(n_voters: int, error: Any) -> Any:
    r"""Return the error of a majority vote of independent classifiers that all have the same error.

    Of n classifiers with the error :math:`\varepsilon` the majority is wrong with probability ([tan2005]_ §5.6)

    .. math:: \sum_{i > n/2} \binom{n}{i} \varepsilon^i (1 - \varepsilon)^{n-i} ,

    plus half of the probability of a tie, which is decided by chance, if n is even. Below :math:`\varepsilon = ½` it
    falls with n, above it rises. Classifiers that are trained on the same rows err on the same examples, so an ensemble
    gains less than this.

    Parameters
    ----------
    n_voters : int
        The number of classifiers.
    error : float or array-like
        The probability that a classifier is wrong, from 0 to 1.

    Returns
    -------
    float or ndarray
        A number for each error.

    References
    ----------
    .. [tan2005] P.-N. Tan, M. Steinbach, V. Kumar, "Introduction to data mining", Addison-Wesley (2005), §5.6.

    Examples
    --------
    >>> from skewboost.evaluate import majority_vote_error
    >>> print(f"{majority_vote_error(25, 0.35):.2f} {majority_vote_error(25, 0.5):.2f}")
    0.06 0.50
    """
    check_arguments(n_voters=(n_voters, integer(1)))
    each = np.asarray(error, dtype=np.float64)
    if not ((each >= 0) & (each <= 1)).all():
        raise InputError(f"error={error!r} must be a probability, from 0 to 1.")
    half, odd = divmod(int(n_voters), 2)
    wrong = binom.sf(half, n_voters, each) + (0.0 if odd else 0.5 * binom.pmf(half, n_voters, each))
    return float(wrong) if each.ndim == 0 else wrong
