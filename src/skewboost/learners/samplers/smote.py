"""SMOTE for any table: synthetic examples between neighbours of the rare class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.engine.table import Nominal, Table
from skewboost.errors import MissingPackageError
from skewboost.learners.samplers.sampler import Sample, classes_of_rows, mean_weights
from skewboost.learners.samplers.synthetic_rows import gathered, joined, made_like
from skewboost.learners.training_data import TrainingData
from skewboost.parameters import check_params, integer, number
from skewboost.typing import Array


def _over_sampling() -> Any:
    try:
        import imblearn.over_sampling
    except ImportError as error:
        raise MissingPackageError(
            "Smote() needs the package imbalanced-learn, which is not installed.",
            'Run: pip install "skewboost[samplers]"',
        ) from error
    return imblearn.over_sampling


@dataclass(eq=False, repr=False)
class Smote(BaseEstimator):
    """All examples with their current weights, and new synthetic examples of the rare class in every round.

    A synthetic example lies between an example of the rare class and one of its nearest neighbours of the same class.
    Its weight is the mean weight of its class. Synthetic examples are made by imbalanced-learn: by SMOTE for numbers,
    by SMOTENC or SMOTEN where there are categories. Any booster with this sampler is a kind of SMOTEBoost.

    Unlike the samplers of imbalanced-learn, this one accepts missing cells. In synthetic examples a missing number is
    replaced by the median of the class, and a missing category is a category of its own. If a class has fewer examples
    than `k_neighbors`, fewer neighbours are used; a single example is repeated.

    Parameters
    ----------
    ratio : float, default=1.0
        The number of examples of the rare class for each one of the other afterwards, above 0 and at most 1. If the
        rare class is already more frequent than that, nothing is added.
    k_neighbors : int, default=5
        The number of nearest neighbours among which one is chosen.

    References
    ----------
    .. [chawla2003] N. V. Chawla, A. Lazarevic, L. O. Hall, K. W. Bowyer, "SMOTEBoost: improving prediction of the
       minority class in boosting", European Conference on Principles of Data Mining and Knowledge Discovery (2003)
       107-119.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners.samplers import Smote
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(sampler=Smote(), n_estimators=3, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.83
    """

    resets = False

    ratio: float = 1.0
    k_neighbors: int = 5

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        """Return all examples, followed by the synthetic ones, class by class."""
        check_params(self, ratio=number(0, 1, open_low=True), k_neighbors=integer(1))
        examples = data.ordered_examples
        classes = classes_of_rows(data, "Smote()")[examples]
        counts = np.bincount(classes)
        size = round(self.ratio * int(counts.max()))
        synthetic, labels = None, []
        for label in np.flatnonzero((counts > 0) & (counts < size)):
            own = data.table.take(examples[classes == label]).in_memory
            rows = self._synthetic_rows(own, int(size - counts[label]), rng)
            synthetic = rows if synthetic is None else joined(synthetic, rows)
            labels.append(np.full(rows.n_rows, label))
        own_weights = data.weight_of_examples(weights)
        if synthetic is None:
            return Sample(examples, own_weights)
        new_classes = np.concatenate(labels)
        all_weights = np.append(own_weights, mean_weights(data, weights)[new_classes])
        return Sample(examples, all_weights, synthetic, new_classes)

    def _synthetic_rows(self, own: Table, n: int, rng: np.random.Generator) -> Table:
        """Make n synthetic rows from the rows of a class."""
        seed = int(rng.integers(2**31))
        if own.n_rows == 1:
            return gathered(own, np.zeros((own.n_features, n), dtype=np.intp))
        columns = [own.column(j) for j in range(own.n_features)]
        nominal = [j for j, column in enumerate(columns) if isinstance(column, Nominal)]
        new = self._interpolate(np.column_stack([_filled(column) for column in columns]), n, nominal, seed)
        cells = [
            Nominal(values.astype(np.intp), column.categories) if isinstance(column, Nominal) else values
            for column, values in zip(columns, new.T)
        ]
        return made_like(own, cells)

    def _interpolate(self, X: Array, n: int, nominal: list[int], seed: int) -> Array:
        """Call imbalanced-learn, which needs a second class in y even though it leaves that one unchanged."""
        kinds = _over_sampling()
        params: dict[str, Any] = {
            "sampling_strategy": {1: len(X) + n},
            "k_neighbors": min(self.k_neighbors, len(X) - 1),
            "random_state": seed,
        }
        if len(nominal) == X.shape[1]:
            sampler = kinds.SMOTEN(**params)
        elif nominal:
            sampler = kinds.SMOTENC(categorical_features=nominal, **params)
        else:
            sampler = kinds.SMOTE(**params)
        y = np.append(np.ones(len(X), dtype=np.intp), 0)
        out, _ = sampler.fit_resample(np.concatenate((X, X[:1])), y)
        return np.asarray(out[len(y) :], dtype=np.float64)


def _filled(column: Array | Nominal) -> Array:
    """A column as finite numbers: codes of categories; missing numbers are the median, or 0 if all are missing."""
    if isinstance(column, Nominal):
        return column.codes.astype(np.float64)
    values = np.array(column, dtype=np.float64)
    missing = values != values
    values[missing] = np.median(values[~missing]) if not missing.all() else 0.0
    return values
