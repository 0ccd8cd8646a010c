"""The breast cancer data of scikit-learn, whole and without most of the malignant cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.datasets._checks import checked_count, checked_rng, import_pandas


def load_rare_cancer(n_positive: int = 40, random_state: int = 0) -> tuple[Any, Any]:
    """Load the Wisconsin breast cancer data with few malignant cases.

    All 357 benign tumours are kept; of the 212 malignant ones `n_positive` are drawn without replacement.

    Parameters
    ----------
    n_positive : int, default=40
        The number of malignant cases, from 1 to 212.
    random_state : int, default=0
        The seed of the draw.

    Returns
    -------
    X : pandas.DataFrame of shape (357 + n_positive, 30)
        Measurements of cell nuclei, in the order of the full data set.
    y : pandas.Series
        1 for malignant, the rare class; 0 for benign.

    Examples
    --------
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X.shape
    (397, 30)
    >>> int(y.sum())
    40
    """
    X, y = load_wdbc()
    malignant = y.to_numpy() == 1
    n_positive = checked_count("n_positive", n_positive, 1, int(malignant.sum()), "the malignant cases in the data")
    drawn = checked_rng(random_state).choice(np.flatnonzero(malignant), size=n_positive, replace=False)
    rows = np.sort(np.concatenate((np.flatnonzero(~malignant), drawn)))
    return X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)


def load_wdbc() -> tuple[Any, Any]:
    """Load the Wisconsin diagnostic breast cancer data, which come with scikit-learn.

    Returns
    -------
    X : pandas.DataFrame of shape (569, 30)
        Measurements of cell nuclei.
    y : pandas.Series
        1 for malignant (212 rows), 0 for benign.

    Examples
    --------
    >>> from skewboost.datasets import load_wdbc
    >>> X, y = load_wdbc()
    >>> X.shape, int(y.sum())
    ((569, 30), 212)
    """
    pd = import_pandas()
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    malignant = bunch.target == list(bunch.target_names).index("malignant")
    X = pd.DataFrame(bunch.data, columns=[str(name) for name in bunch.feature_names])
    return X, pd.Series(malignant.astype(np.int64), name="malignant")
