"""Stochastic boosting: a share of the rows, drawn without replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.learners.samplers.sampler import Drawn
from skewboost.parameters import check_params, number
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data


class Fraction(BaseEstimator):
    """A share of the examples, drawn without replacement; they keep their current weights.

    Parameters
    ----------
    share : float, default=0.5
        How many of the examples, above 0 and at most 1; at least one is drawn.

    References
    ----------
    .. [1] J. H. Friedman, "Stochastic gradient boosting", Computational Statistics & Data Analysis 38 (2002) 367-378.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(sampler=0.5, n_estimators=30, random_state=0)  # short for sampler=Fraction(0.5)
    >>> print(round(clf.fit(X, y).score(X, y), 2))
    1.0
    """

    resets = False

    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """In the order of the examples."""
        check_params(self, share=number(0, 1, open_low=True))
        examples = data.in_order
        chosen = rng.choice(len(examples), max(1, round(self.share * len(examples))), replace=False, shuffle=False)
        return Drawn(examples[np.sort(chosen)], data.weight_of_examples(weights)[np.sort(chosen)])
