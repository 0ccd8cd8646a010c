"""SMOTE for any table: synthetic examples between neighbours of the rare class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.engine.table import Nominal, Table
from skewboost.errors import MissingPackageError
from skewboost.learners.samplers.imbalanced_learn import mean_weights
from skewboost.learners.samplers.sampler import Drawn, classes_of_rows
from skewboost.learners.samplers.synthetic_rows import gathered, joined, made_like
from skewboost.parameters import check_params, integer, number
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data


def _over_sampling() -> Any:
    try:
        import imblearn.over_sampling
    except ImportError as error:
        raise MissingPackageError(
            'SMOTE is that of imbalanced-learn, which is not installed. Run: pip install "skewboost[samplers]"'
        ) from error
    return imblearn.over_sampling


class Smote(BaseEstimator):
    """All examples with their current weights, and synthetic ones of the rare class, anew in every round.

    A synthetic example lies between an example of the rare class and one of its nearest neighbours there, and weighs as
    much as an example of its class does on average. The work is done by imbalanced-learn: SMOTE for numbers, SMOTENC or
    SMOTEN where there are categories. In any booster this makes SMOTEBoost of it.

    Unlike these it takes any table: for the synthetic examples (only) a missing number is the median of the class, and
    a missing category is a category. A class of fewer examples than neighbours has fewer neighbours; a single example
    is repeated.

    Parameters
    ----------
    ratio : float, default=1.0
        How many examples of the rare class there are afterwards for one of the other, above 0 and at most 1; if there
        are more already, none are made.
    k_neighbors : int, default=5
        Between how many neighbours of an example to choose.

    References
    ----------
    .. [1] N. V. Chawla, A. Lazarevic, L. O. Hall, K. W. Bowyer, "SMOTEBoost: improving prediction of the minority class
       in boosting", PKDD (2003) 107-119.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners.samplers import Smote
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(estimator="tree", sampler=Smote(), n_estimators=10, random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    """

    resets = False

    def __init__(self, ratio: float = 1.0, k_neighbors: int = 5) -> None:
        self.ratio = ratio
        self.k_neighbors = k_neighbors

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """All examples, and after them the synthetic ones, class by class."""
        check_params(self, ratio=number(0, 1, open_low=True), k_neighbors=integer(1))
        examples = data.in_order
        classes = classes_of_rows(data, "Smote()")[examples]
        counts = np.bincount(classes)
        wanted = round(self.ratio * int(counts.max()))
        made, labels = None, []
        for label in np.flatnonzero((counts > 0) & (counts < wanted)):
            own = data.table.take(examples[classes == label])
            more = self._between(own, int(wanted - counts[label]), rng)
            made = more if made is None else joined(made, more)
            labels.append(np.full(more.n_rows, label))
        of_example = data.weight_of_examples(weights)
        if made is None:
            return Drawn(examples, of_example)
        of_made = np.concatenate(labels)
        return Drawn(examples, np.append(of_example, mean_weights(data, weights)[of_made]), made, of_made)

    def _between(self, own: Table, n: int, rng: np.random.Generator) -> Table:
        """Synthetic rows of a class."""
        seed = int(rng.integers(2**31))
        if own.n_rows == 1:
            return gathered(own, np.zeros((own.n_features, n), dtype=np.intp))
        columns = [own.column(j) for j in range(own.n_features)]
        nominal = [j for j, column in enumerate(columns) if isinstance(column, Nominal)]
        synthetic = self._synthetic(np.column_stack([_filled(column) for column in columns]), n, nominal, seed)
        return made_like(
            own,
            [
                Nominal(values.astype(np.intp), column.categories) if isinstance(column, Nominal) else values
                for column, values in zip(columns, synthetic.T)
            ],
        )

    def _synthetic(self, X: Array, n: int, nominal: list[int], seed: int) -> Array:
        """By imbalanced-learn, which must see a second class, if only to leave it alone."""
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
    """A column of finite numbers: codes of categories, and the median (or 0 if there is none) for missing ones."""
    if isinstance(column, Nominal):
        return column.codes.astype(np.float64)
    values = np.array(column, dtype=np.float64)
    missing = values != values
    values[missing] = np.median(values[~missing]) if not missing.all() else 0.0
    return values
