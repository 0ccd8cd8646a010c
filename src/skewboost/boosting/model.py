"""The fitted model as data: bins, the terms of the rounds, and the link from scores to predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from skewboost.boosting.link import Link, TwoClasses
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Engine
from skewboost.engine.explaining import Support
from skewboost.engine.partition import View
from skewboost.engine.scoring import Scorer, Term
from skewboost.engine.table import Table
from skewboost.fitting import KeepsNoCaches
from skewboost.typing import Array


@dataclass
class Round:
    """The term that a round added, its record for `history_`, and the feature importances of its splits."""

    term: Term
    record: dict[str, float] = field(default_factory=dict)
    importances: Any = None


@dataclass
class Model(KeepsNoCaches):
    """A fitted ensemble.

    Prediction, model files, exports, plots, explanations and reports read this object and nothing else of a fit. The
    first `n_rounds` of `rounds` are in use; early stopping may have trained more. Terms have one value per leaf, or one
    per leaf and output if the link has several outputs.
    """

    rounds: list[Round] = field(default_factory=list)
    n_rounds: int = 0
    bins: Bins | None = None
    link: Link = field(default_factory=TwoClasses)
    support: Support | None = None  # the distribution of the training examples over the bins, for explanations
    stop_reason: str = ""
    n_features: int | None = None  # the number of columns; None until training has finished

    def copy(self) -> Model:
        """Return a copy that further rounds can be added to."""
        return replace(self, rounds=list(self.rounds))

    def truncated(self, n_rounds: int) -> Model:
        """Return a model of the first rounds."""
        return replace(self, rounds=self.rounds[:n_rounds], n_rounds=min(self.n_rounds, n_rounds))

    def finish(self, n_features: int) -> None:
        """Mark the model as ready for prediction."""
        self.n_features = n_features
        self.__dict__.pop("scorers", None)

    @property
    def terms(self) -> list[Term]:
        """The terms of the rounds in use."""
        return [r.term for r in self.rounds[: self.n_rounds]]

    def terms_of(self, output: int) -> list[Term]:
        """Return the terms of one of several outputs."""
        terms: list[Any] = self.terms
        return [replace(term, values=np.ascontiguousarray(term.values[:, output])) for term in terms]

    @property
    def is_sum(self) -> bool:
        """Whether F is the plain sum of the terms."""
        return not self.link.damping

    @cached_property
    def scorers(self) -> list[Scorer]:
        """The scorers of the outputs."""
        assert self.n_features is not None, "the model is not finished"
        n, start = self.link.n_outputs, self.link.offset
        outputs = [self.terms] if n == 1 else [self.terms_of(k) for k in range(n)]
        n_features = self.n_features if self.bins is None else self.bins.n_features
        return [Scorer(terms, self.bins, n_features, start) for terms in outputs]

    def score(self, engine: Engine, table: Table) -> Array:
        """Return F of new rows."""
        has_estimators = self.link.n_outputs > 1 and any(hasattr(term, "estimator") for term in self.terms)
        if not self.is_sum or has_estimators:  # round by round; then estimators predict once, not once per output
            *_, F = self.staged(View(engine, table, self.bins))
            return F
        scores = [engine.score(scorer, table) for scorer in self.scorers]
        return scores[0] if self.link.n_outputs == 1 else np.column_stack(scores)

    def staged(self, view: View) -> Iterator[Array]:
        """Yield F before the first round and after every round in use."""
        F = self.link.start(view.n_rows)
        yield F
        for term in self.terms:
            F = self.link.combine(F, term.on(view))
            yield F

    def importances(self) -> Array | None:
        """Return the decrease of the loss due to each column, or None if a learner does not provide it."""
        assert self.n_features is not None
        total = np.zeros(self.n_features)
        for r in self.rounds[: self.n_rounds]:
            if r.importances is None or len(r.importances) != self.n_features:
                return None
            total += np.asarray(r.importances)
        return total
