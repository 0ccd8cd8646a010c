"""Random under-sampling: all examples of the rare class, and as many of each other class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.learners.samplers.sampler import Sample, classes_of_rows
from skewboost.learners.training_data import TrainingData
from skewboost.parameters import check_params, number
from skewboost.typing import Array


def under_sampled(classes: Array, ratio: float, rng: np.random.Generator) -> Array:
    """The positions of all examples of the rarest class, and of at most ``1 / ratio`` times as many of each other."""
    counts = np.bincount(classes)
    size = max(1, round(min(int(counts[counts > 0].min()) / ratio, len(classes))))
    chosen = []
    for label in np.flatnonzero(counts):
        positions = np.flatnonzero(classes == label)
        if size < len(positions):
            positions = positions[np.sort(rng.choice(len(positions), size, replace=False, shuffle=False))]
        chosen.append(positions)
    return np.sort(np.concatenate(chosen))


@dataclass(eq=False, repr=False)
class UnderSample(BaseEstimator):
    """All examples of the rare class, and a draw without replacement from the other; they keep their current weights.

    Any booster with this sampler is a kind of RUSBoost. Rows may have missing cells and categories.

    Parameters
    ----------
    ratio : float, default=1.0
        The number of examples of the rare class for each one of the other, above 0 and at most 1. If the rare class
        is already more frequent than that, nothing is left out.

    References
    ----------
    .. [seiffert2010] C. Seiffert, T. M. Khoshgoftaar, J. Van Hulse, A. Napolitano, "RUSBoost: a hybrid approach to
       alleviating class imbalance", IEEE Transactions on Systems, Man, and Cybernetics A 40 (2010) 185-197.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.learners.samplers import UnderSample
    >>> X, y = load_rare_cancer()
    >>> clf = CSRAClassifier(cost=5, sampler=UnderSample(ratio=0.5), n_estimators=30, random_state=0)
    >>> print(f"recall {cross_val_score(clf, X, y, scoring='recall', cv=3).mean():.2f}")
    recall 0.83
    """

    resets = False

    ratio: float = 1.0

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        """Draw examples, which come in the order of `TrainingData.ordered_examples`."""
        check_params(self, ratio=number(0, 1, open_low=True))
        examples = data.ordered_examples
        chosen = under_sampled(classes_of_rows(data, "UnderSample()")[examples], self.ratio, rng)
        return Sample(examples[chosen], data.weight_of_examples(weights)[chosen])
