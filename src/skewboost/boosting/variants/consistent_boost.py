"""Consistent boosting.

References
----------
.. [1] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM Research
   Report RZ 3402 (2002), §2.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import Rule, leaf_log_odds, no_edge
from skewboost.boosting.state import State
from skewboost.engine.boundary import N_CODES
from skewboost.engine.partition import Partition, look_up
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.errors import InputError
from skewboost.learners import Histogram, Stump, name_of, resolve
from skewboost.learners.learner import LabelHypothesis
from skewboost.typing import Array


def agreed(votes: Array) -> Array:
    """``H Q`` of the summed votes ``[against, for]``: their sum H times their consistency Q.

    With P and N the sums of the positive and of the negative votes, H = P - N and Q = |P - N| / (P + N).
    """
    against, for_ = votes
    both = against + for_
    return np.asarray(
        np.divide((for_ - against) * np.abs(for_ - against), both, out=np.zeros_like(both), where=both > 0)
    )


class Parts(NamedTuple):
    """The parts in which a round changes the ensemble, and their class weights."""

    partition: Partition
    class_weights: Array


class ConsistentBoost(Rule):
    """``F = Σ_k H_k Q_k``: the votes on each feature, times how far they agree."""

    criterion = "z"
    whole_schedule = True  # what a round adds does not tell its vote, so a warm start trains anew

    def start(self, state: State) -> None:
        """Nobody has voted yet."""
        super().start(state)
        self.votes: dict[int, Array] = {}  # Σ|h| of the votes against and for, per code of a feature
        self.latest: tuple[int, Array] | None = None  # the feature of this round, and its votes with the new one

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``½ ln((W+ + δ) / (W- + δ))`` joins the votes on its feature ([1] §2.2); g is what that changes."""
        values = leaf_log_odds(h, delta=1.0 / state.n)
        self.latest = None
        if no_edge(state, values):
            return None
        vote = h.term(values)
        assert isinstance(vote, LeafTerm)
        if not vote.partition.splits:
            return vote  # a constant agrees with itself
        feature, own = vote.partition.splits[0].feature, values[vote.partition.leaf_of_code()]
        before = self.votes.get(feature, np.zeros((2, N_CODES)))
        after = before + np.maximum([-own, own], 0.0)
        self.latest = feature, after
        # where all agree the vote counts as it is; by the difference of two sums its last digits would be others
        agree = after.min(axis=0) == 0.0
        return LeafTerm(*look_up(feature, np.where(agree, own, agreed(after) - agreed(before))))

    def update(self, state: State, h: Any, term: Term) -> None:
        """``w ∝ exp(-y F)``."""
        if self.latest is not None:
            feature, self.votes[feature] = self.latest
            assert isinstance(term, LeafTerm)
            h = Parts(term.partition, state.rows.sums(term.partition))
        super().update(state, h, term)


@booster
class ConsistentBoostClassifier(BoostingClassifier):
    r"""Consistent boosting: votes on a feature count by how far they agree.

    A round is one of confidence-rated AdaBoost: the stump that minimises :math:`Z`, with
    :math:`h = \frac12 \ln \frac{W^+_j + 1/N}{W^-_j + 1/N}` in its leaves. But what it says is not settled once and for
    all. Let :math:`H_k(x_k)` be the sum of all votes on feature k so far. The consistency
    :math:`Q_k(x_k) = |H_k(x_k)| / \sum |h(x_k)|` is 1 where they agree and 0 where they cancel, and the ensemble is
    :math:`F(x) = \sum_k H_k(x_k)\, Q_k(x_k)`, with weights :math:`w \propto e^{-y F}`. Where votes contradict each
    other the feature is made to say little, which dampens overfitting; but a round no longer need lower the loss.

    F is a function per feature still, so prediction reads one table per feature. The link is that of AdaBoost and
    takes no account of the dampening: `predict_proba` is timid.

    {parameters}

    References
    ----------
    .. [1] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM
       Research Report RZ 3402 (2002).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import ConsistentBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(ConsistentBoostClassifier(n_estimators=30).fit(X, y).score(X_test, y_test), 2))
    0.98
    """

    def _rule(self) -> Rule:
        learner = resolve(self.estimator)
        if not isinstance(learner, Stump | Histogram):
            raise InputError(
                f"ConsistentBoostClassifier compares the votes on one feature, but {name_of(learner)} looks at "
                "several. Set estimator='stump', or Histogram() from skewboost.learners."
            )
        return ConsistentBoost()
