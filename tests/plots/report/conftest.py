"""A model whose scores tests can choose."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from skewboost.plots.report import report, sections


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


@pytest.fixture
def only(monkeypatch):
    """Call it with names of sections, to which reports are then limited."""

    def limit(*names):
        makers = [getattr(sections, name) for name in names]
        monkeypatch.setattr(report, "all_sections", lambda made: [make(made) for make in makers])

    return limit
