"""A fitted ensemble as data: how cells become codes, what each round adds, and what the sum means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skewboost.boosting.link import Link, TwoClasses
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Engine
from skewboost.engine.explaining import Support
from skewboost.engine.partition import View
from skewboost.engine.scoring import Scorer, Term
from skewboost.engine.table import Table
from skewboost.typing import Array


@dataclass(slots=True)
class Round:
    """What a round added, and what there is to know about it; importances are as `np.asarray` reads them."""

    term: Term
    record: dict[str, float] = field(default_factory=dict)
    importances: Any = None


@dataclass
class Model:
    """A fitted ensemble. The `rounds` may go beyond the `n_rounds` that early stopping found best.

    Terms have one value per leaf, or one per leaf and output where the link has several outputs.
    """

    rounds: list[Round] = field(default_factory=list)
    n_rounds: int = 0
    bins: Bins | None = None
    link: Link = field(default_factory=TwoClasses)
    support: Support | None = None  # where the training examples are
    stop_reason: str = ""
    n_features: int | None = None  # None: not ready for use
    _scorers: list[Scorer] | None = field(default=None, repr=False, compare=False)

    def copy(self) -> Model:
        """One to go on from, while this one stays as it is."""
        return replace(self, rounds=list(self.rounds))

    def truncated(self, n_rounds: int) -> Model:
        """One of its first rounds."""
        made = replace(self, rounds=self.rounds[:n_rounds], n_rounds=min(self.n_rounds, n_rounds))
        made._scorers = None
        return made

    def finish(self, n_features: int) -> None:
        """Make it ready for use."""
        self.n_features, self._scorers = n_features, None

    @property
    def terms(self) -> list[Term]:
        """What the rounds in use have added."""
        return [r.term for r in self.rounds[: self.n_rounds]]

    def terms_of(self, output: int) -> list[Term]:
        """What they have added to one of several outputs."""
        return [_of_output(term, output) for term in self.terms]

    @property
    def is_sum(self) -> bool:
        """Whether F is the sum of what the rounds add."""
        return not self.link.damping

    @property
    def scorers(self) -> list[Scorer]:
        """The rounds, compiled for scoring when that is first asked for; one per output."""
        if self._scorers is None:
            assert self.n_features is not None, "the model is not finished"
            n, start = self.link.n_outputs, self.link.offset
            outputs = [self.terms] if n == 1 else [self.terms_of(k) for k in range(n)]
            self._scorers = [Scorer(terms, self.bins, self.n_features, start) for terms in outputs]
        return self._scorers

    def score(self, engine: Engine, table: Table) -> Array:
        """F of new rows: compiled where it is a sum, else round by round."""
        asks_others = self.link.n_outputs > 1 and any(hasattr(term, "estimator") for term in self.terms)
        if not self.is_sum or asks_others:  # a classifier of another library need not be asked for each class
            *_, F = self.staged(View(engine, table, self.bins))
            return F
        scores = [engine.score(scorer, table) for scorer in self.scorers]
        return scores[0] if self.link.n_outputs == 1 else np.column_stack(scores)

    def staged(self, view: View) -> Iterator[Array]:
        """F at the start and after every round in use."""
        F = self.link.start(view.n_rows)
        yield F
        for term in self.terms:
            F = self.link.combine(F, term.on(view))
            yield F

    def importances(self) -> Array | None:
        """By how much each feature lowered the loss; None if a round's learner does not tell."""
        assert self.n_features is not None
        total = np.zeros(self.n_features)
        for r in self.rounds[: self.n_rounds]:
            if r.importances is None or len(r.importances) != self.n_features:
                return None
            total += np.asarray(r.importances)
        return total


def _of_output(term: Any, output: int) -> Term:
    """What a term of several outputs says of one of them."""
    made: Term = replace(term, values=np.ascontiguousarray(term.values[:, output]))
    return made
