"""A model with a threshold: what says yes and no."""

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
    """A fitted model, the threshold from which on it says "positive", and the point of the search it stands for."""

    model: Any
    threshold: float
    point: Point
    pos_label: Any

    @classmethod
    def of(cls, model: Any, point: Point, pos_label: Any) -> Decision:
        """That of a point; of a model of ours only the rounds in use are kept."""
        if point.n_rounds is not None and hasattr(model, "truncated"):
            model = model.truncated(point.n_rounds)
        return cls(model, point.threshold, point, pos_label)

    def at(self, threshold: float) -> Decision:
        """With another threshold."""
        return replace(self, threshold=threshold)

    def scores(self, X: Any) -> Array:
        """Higher for rows more like the positive class."""
        n_rounds = self.point.n_rounds
        if n_rounds is None or hasattr(self.model, "truncated"):
            return scores_of(self.model, X, self.pos_label)
        *_, scores = at_rounds(staged_scores_of(self.model, X, self.pos_label), [n_rounds])
        return scores

    def probabilities(self, X: Any) -> Array:
        """Of both classes, in their order."""
        n_rounds = self.point.n_rounds
        if n_rounds is None or hasattr(self.model, "truncated"):
            return np.asarray(self.model.predict_proba(X))
        *_, found = at_rounds(iter(self.model.staged_predict_proba(X)), [n_rounds])
        return np.asarray(found)

    def flags(self, X: Any) -> Array:
        """Which rows are said to be positive."""
        return self.scores(X) >= self.threshold
