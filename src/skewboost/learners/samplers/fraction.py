"""Stochastic boosting: a fraction of the examples, drawn without replacement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from skewboost.learners.samplers.sampler import Sample
from skewboost.learners.training_data import TrainingData
from skewboost.parameters import check_params, number
from skewboost.typing import Array


@dataclass(eq=False, repr=False)
class Fraction(BaseEstimator):
    """A fraction of the examples, drawn without replacement; they keep their current weights.

    Parameters
    ----------
    share : float, default=0.5
        The fraction, above 0 and at most 1. At least one example is drawn.

    References
    ----------
    .. [friedman2002] J. H. Friedman, "Stochastic gradient boosting", Computational Statistics & Data Analysis 38 (2002)
       367-378.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(sampler=0.5, n_estimators=30, random_state=0)  # short for sampler=Fraction(0.5)
    >>> print(round(cross_val_score(clf, X, y, scoring="roc_auc", cv=3).mean(), 2))
    1.0
    """

    resets = False

    share: float = 0.5

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        """Draw examples, which come in the order of `TrainingData.ordered_examples`."""
        check_params(self, share=number(0, 1, open_low=True))
        examples = data.ordered_examples
        size = max(1, round(self.share * len(examples)))
        chosen = np.sort(rng.choice(len(examples), size, replace=False, shuffle=False))
        return Sample(examples[chosen], data.weight_of_examples(weights)[chosen])
