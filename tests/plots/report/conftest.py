"""A model whose scores tests can choose."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin


class AsItSays(ClassifierMixin, BaseEstimator):
    """The one column of X is the probability of the second class."""

    def __init__(self, classes=(0, 1), threshold=0.5):
        self.classes = classes
        self.threshold = threshold
        self.classes_ = np.array(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.column_stack((1 - X[:, 0], X[:, 0]))

    def predict(self, X):
        return self.classes_[(X[:, 0] >= self.threshold).astype(int)]


@pytest.fixture(scope="session")
def as_it_says():
    return AsItSays
