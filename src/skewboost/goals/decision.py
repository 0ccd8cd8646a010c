"""A fitted model with a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.goals.search import Point
from skewboost.goals.trials import at_rounds
from skewboost.meta.cost_passing import staged_scores_of
from skewboost.metrics.ranking import scores_of
from skewboost.typing import Array


@dataclass(frozen=True)
class Decision:
    """A fitted model, its threshold, and the point of the search that it belongs to."""

    model: Any
    threshold: float
    point: Point
    pos_label: Any

    @classmethod
    def of(cls, model: Any, point: Point, pos_label: Any) -> Decision:
        """Return the decision of a point; a skewboost booster keeps only the rounds in use."""
        if point.n_rounds is not None and hasattr(model, "truncated"):
            model = model.truncated(point.n_rounds)
        return cls(model, point.threshold, point, pos_label)

    def at(self, threshold: float) -> Decision:
        """Return the same with another threshold."""
        return replace(self, threshold=threshold)

    def scores(self, X: Any) -> Array:
        """Return scores that are higher where the positive class is more likely."""
        n_rounds = self.point.n_rounds
        if n_rounds is None or hasattr(self.model, "truncated"):
            return scores_of(self.model, X, self.pos_label)
        *_, scores = at_rounds(staged_scores_of(self.model, X, self.pos_label), [n_rounds])
        return scores

    def probabilities(self, X: Any) -> Array:
        """Return the probabilities of both classes, in their order."""
        n_rounds = self.point.n_rounds
        if n_rounds is None or hasattr(self.model, "truncated"):
            return np.asarray(self.model.predict_proba(X))
        *_, probabilities = at_rounds(iter(self.model.staged_predict_proba(X)), [n_rounds])
        return np.asarray(probabilities)

    def flags(self, X: Any) -> Array:
        """Return which rows are predicted to be positive."""
        return self.scores(X) >= self.threshold
