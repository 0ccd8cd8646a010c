"""A generator of lopsided tables whose difficulty can be chosen."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from skewboost.datasets._checks import checked_count, checked_rng, import_pandas
from skewboost.errors import InputError
from skewboost.parameters import number

LEVELS = "ABCDEFGH"


def make_skewed(
    n_rows: int = 2000,
    *,
    positive_share: float = 0.05,
    n_informative: int = 5,
    n_noise: int = 5,
    n_categories: int = 0,
    overlap: float = 0.1,
    n_disjuncts: int = 1,
    label_noise: float = 0.0,
    missing: float = 0.0,
    random_state: int = 0,
) -> tuple[Any, Any]:
    r"""Generate a table with a rare class, of chosen imbalance and difficulty.

    The negatives are normal with mean 0 and variance 1 in every column. The positives form one or more clusters, which
    are normal with variance 1 too. The mean of a cluster is at the distance d from 0, in a random direction of the
    informative columns. The distance is set by the overlap of a cluster with the negatives, :math:`2\Phi(-d/2)`, the
    common area of the two densities.

    Parameters
    ----------
    n_rows : int, default=2000
        The number of rows.
    positive_share : float, default=0.05
        The proportion of positives; there is at least one row of each class.
    n_informative : int, default=5
        The number of columns in which the classes differ.
    n_noise : int, default=5
        The number of columns that have nothing to do with the class.
    n_categories : int, default=0
        How many of the informative columns are categories: the number is replaced by one of eight letters, in an order
        that says nothing.
    overlap : float, default=0.1
        From above 0 (separable) to 1 (the classes do not differ). With one cluster and equal classes the Bayes error
        is half of it.
    n_disjuncts : int, default=1
        The number of clusters of the positives.
    label_noise : float, default=0.0
        The proportion of positives whose label is exchanged with that of a random negative, so that the number of
        positives stays.
    missing : float, default=0.0
        The proportion of cells that are missing, at random.
    random_state : int, default=0
        The seed of the generator.

    Returns
    -------
    X : pandas.DataFrame of shape (n_rows, n_informative + n_noise)
        The columns, named ``informative_1``, ``category_1``, ``noise_1`` and so on.
    y : pandas.Series
        1 for the rare class, 0 otherwise, in random order.

    Examples
    --------
    >>> from skewboost.datasets import make_skewed
    >>> X, y = make_skewed(500, positive_share=0.02, n_categories=2, missing=0.1)
    >>> X.shape, int(y.sum())
    ((500, 10), 10)
    >>> X.columns[:3].tolist()
    ['category_1', 'category_2', 'informative_1']
    """
    pd = import_pandas()
    n = checked_count("n_rows", n_rows, 2, None, "for both classes")
    k = checked_count("n_informative", n_informative, 1, None, "columns in which the classes differ")
    n_noise = checked_count("n_noise", n_noise, 0, None, "columns")
    n_categories = checked_count("n_categories", n_categories, 0, k, "the informative columns")
    n_disjuncts = checked_count("n_disjuncts", n_disjuncts, 1, None, "clusters of the positives")
    share = _between("positive_share", positive_share, low_open=True, high_open=True)
    overlap = _between("overlap", overlap, low_open=True)
    label_noise, missing = _between("label_noise", label_noise), _between("missing", missing, high_open=True)
    rng = checked_rng(random_state)
    n_positive = min(max(round(share * n), 1), n - 1)
    y = rng.permutation((np.arange(n) < n_positive).astype(np.int64))
    directions = rng.normal(size=(n_disjuncts, k))
    centres = -2.0 * NormalDist().inv_cdf(overlap / 2.0) * directions / np.linalg.norm(directions, axis=1)[:, None]
    values = rng.normal(size=(n, k + n_noise))
    values[y == 1, :k] += centres[rng.integers(n_disjuncts, size=n_positive)]
    columns: dict[str, Any] = {}
    for j in range(k):
        if j < n_categories:
            columns[f"category_{j + 1}"] = _letters(rng, values[:, j])
        else:
            columns[f"informative_{j - n_categories + 1}"] = values[:, j]
    columns |= {f"noise_{j + 1}": values[:, k + j] for j in range(n_noise)}
    _exchange(rng, y, label_noise)
    X = pd.DataFrame(columns)
    X = X.mask(rng.random(X.shape) < missing) if missing else X
    return X.astype(dict.fromkeys(X.columns[:n_categories], "category")), pd.Series(y, name="target")


def _between(name: str, value: Any, *, low_open: bool = False, high_open: bool = False) -> float:
    """Return a number from 0 to 1."""
    if not number(0, 1, open_low=low_open).passes(value) or (high_open and value == 1):
        low, high = "above 0" if low_open else "at least 0", "below 1" if high_open else "at most 1"
        raise InputError(f"{name} must be a number {low} and {high}; got {value!r}.")
    return float(value)


def _letters(rng: np.random.Generator, values: Any) -> Any:
    """Return a letter for each number, the same for numbers of one eighth of a normal distribution."""
    cuts = [NormalDist().inv_cdf(q / len(LEVELS)) for q in range(1, len(LEVELS))]
    return rng.permutation(list(LEVELS))[np.searchsorted(cuts, values)].astype(object)


def _exchange(rng: np.random.Generator, y: Any, proportion: float) -> None:
    """Exchange the labels of some positives with those of as many negatives, in place."""
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    n = min(round(proportion * len(positives)), len(negatives))
    y[rng.choice(positives, n, replace=False)] = 0
    y[rng.choice(negatives, n, replace=False)] = 1
