"""Consistent boosting."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.boosting.estimator import CostSensitiveClassifier, booster
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import Rule, examples_times_costs, leaf_log_odds, no_edge
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.engine.binning import MAX_BINS
from skewboost.engine.boundary import N_CODES
from skewboost.engine.partition import look_up
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.training_set import EXAMPLES, itself
from skewboost.errors import InputError
from skewboost.learners import Histogram, Stump, name_of, resolve
from skewboost.learners.learner import LabelHypothesis
from skewboost.typing import Array


def agreed(votes: Array) -> Array:
    """Return ``H Q`` of the summed votes ``[against, for]``: their sum H times their consistency Q.

    With P and N the sums of the positive and of the negative votes, H = P - N and Q = |P - N| / (P + N).
    """
    against, for_ = votes
    both = against + for_
    return np.asarray(
        np.divide((for_ - against) * np.abs(for_ - against), both, out=np.zeros_like(both), where=both > 0)
    )


class ConsistentBoost(Rule):
    """``F = Σ_k H_k Q_k``: the sum of the votes on each feature, times their consistency."""

    criterion = "z"
    additive = False
    whole_schedule = True  # a term does not determine its vote, so a warm start trains from scratch

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds plus half of ln(C+ / C-), but for the damping."""
        return replace(super().link(state), cost_offset=math.log(state.costs.ratio))

    def start(self, state: State) -> None:
        """There are no votes yet; ``w ∝ c``."""
        super().start(state)
        if state.rows.bins is not None and state.rows.bins.columns:
            raise InputError(
                f"max_bins=None of Stump is not for ConsistentBoost if a column has more than {MAX_BINS} distinct "
                "values: it keeps the votes on a column in a table of its bins.",
                f"Set max_bins to a number up to {MAX_BINS}.",
            )
        importance = examples_times_costs(state)
        if importance != EXAMPLES:
            state.assign(itself, (importance,))
        self.votes: dict[int, Array] = {}  # Σ|h| of the votes against and for, per code of a feature
        self.latest: tuple[int, Array] | None = None  # the feature of this round, and its votes with the new one

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """Add ``½ ln((W+ + δ) / (W- + δ))`` to the votes on its feature ([cuendet2002]_ §2.2); g is the resulting
        change of F.
        """
        values = leaf_log_odds(h, state.delta)
        self.latest = None
        if no_edge(state, values):
            return None
        vote = h.term(values)
        assert isinstance(vote, LeafTerm)
        if not vote.partition.splits:
            return vote  # a constant is consistent
        feature, own = vote.partition.splits[0].feature, values[vote.partition.leaf_of_code()]
        before = self.votes.get(feature, np.zeros((2, N_CODES)))
        after = before + np.maximum([-own, own], 0.0)
        self.latest = feature, after
        # where all votes agree F changes by the vote itself, without the rounding error of the difference
        agree = after.min(axis=0) == 0.0
        return LeafTerm(*look_up(feature, np.where(agree, own, agreed(after) - agreed(before))))

    def update(self, state: State, h: Any, term: Term) -> None:
        """``w ∝ c exp(-y F)``."""
        if self.latest is not None:
            feature, self.votes[feature] = self.latest
            assert isinstance(term, LeafTerm)
            # the leaves on which the round changes F
            h = replace(h, partition=term.partition, class_weights=state.rows.sums(term.partition))
        super().update(state, h, term)


@booster
class ConsistentBoostClassifier(SmoothingChoice, CostSensitiveClassifier):
    r"""Consistent boosting: the votes on a feature are damped if they contradict each other.

    A round is one of confidence-rated AdaBoost: the stump that minimises :math:`Z`, with
    :math:`h = \frac12 \ln \frac{W^+_j + 1/N}{W^-_j + 1/N}` in its leaves. Let :math:`H_k(x_k)` be the sum of all votes
    on feature k so far. The consistency :math:`Q_k(x_k) = |H_k(x_k)| / \sum |h(x_k)|` is 1 where the votes agree and 0
    where they cancel. The ensemble is :math:`F(x) = \sum_k H_k(x_k)\, Q_k(x_k)`, with weights :math:`w \propto
    e^{-y F}`. Damping contradictory votes reduces overfitting, but a round need not decrease the loss.

    F is a sum of functions of one feature, so prediction reads one table per feature. The link is that of AdaBoost and
    ignores the damping, so `predict_proba` is underconfident.

    With costs the weights are :math:`w \propto c\, e^{-y F}`, those of the loss :math:`\sum c_i e^{-y_i F(x_i)}`, so
    that a row of cost 2 counts as two rows. [cuendet2002]_ (§3.1.1) has "consistent, cost-sensitive, or regularized"
    boosting as alternatives, and no formula for two of them together. Its own costs, in the exponent, have no plain
    meaning (`FavoredBoostClassifier`).

    {parameters}
    {equal_cost}
    {smoothing}

    References
    ----------
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002).

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

    _equal_by_default = True

    def _rule(self) -> Rule:
        learner = resolve(self.estimator)
        if not isinstance(learner, Stump | Histogram):
            raise InputError(
                f"ConsistentBoostClassifier needs a learner that tests one feature, but {name_of(learner)} may test "
                "several. Set estimator='stump', or Histogram() from skewboost.learners."
            )
        return ConsistentBoost()
