"""Random under-sampling: all of the rare class, and as many of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.learners.samplers.sampler import Drawn, classes_of_rows
from skewboost.parameters import check_params, number
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data


def under_sampled(classes: Array, ratio: float, rng: np.random.Generator) -> Array:
    """The places of all examples of the rarest class, and of ``1 / ratio`` times as many of each other, at most."""
    counts = np.bincount(classes)
    rarest = int(counts[counts > 0].min())
    chosen = []
    for label in np.flatnonzero(counts):
        places = np.flatnonzero(classes == label)
        wanted = min(len(places), max(1, round(rarest / ratio)))
        if wanted < len(places):
            places = places[np.sort(rng.choice(len(places), wanted, replace=False, shuffle=False))]
        chosen.append(places)
    return np.sort(np.concatenate(chosen))


class UnderSample(BaseEstimator):
    """All examples of the rare class, and a draw without replacement from the other; they keep their current weights.

    In any booster this makes RUSBoost of it. Nothing is converted or copied, so rows may have missing cells and
    categories.

    Parameters
    ----------
    ratio : float, default=1.0
        How many examples of the rare class there are for one of the other, above 0 and at most 1; if there are more
        already, nothing is left out.

    References
    ----------
    .. [1] C. Seiffert, T. M. Khoshgoftaar, J. Van Hulse, A. Napolitano, "RUSBoost: a hybrid approach to alleviating
       class imbalance", IEEE Transactions on Systems, Man, and Cybernetics A 40 (2010) 185-197.

    Examples
    --------
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners.samplers import UnderSample
    >>> X, y = load_rare_cancer()
    >>> clf = CSRAClassifier(cost=5, sampler=UnderSample(ratio=0.5), n_estimators=30, random_state=0).fit(X, y)
    >>> print(f"recall {clf.predict(X)[y == 1].mean():.2f}")
    recall 1.00
    """

    resets = False

    def __init__(self, ratio: float = 1.0) -> None:
        self.ratio = ratio

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """In the order of the examples."""
        check_params(self, ratio=number(0, 1, open_low=True))
        examples = data.in_order
        chosen = under_sampled(classes_of_rows(data, "UnderSample()")[examples], self.ratio, rng)
        return Drawn(examples[chosen], data.weight_of_examples(weights)[chosen])
