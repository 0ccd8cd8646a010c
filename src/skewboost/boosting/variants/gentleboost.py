"""Gentle AdaBoost."""

from __future__ import annotations

from typing import Any

from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import MAX_VOTE, Rule, best_step_of_leaves, leaf_means, no_edge, vote_of_function
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import W, Y
from skewboost.learners.learner import (
    LABELS,
    PROBABILITIES,
    RESPONSES,
    ProbabilityHypothesis,
    RandomSource,
    ResponseHypothesis,
)
from skewboost.learners.probabilities import mean_label
from skewboost.parameters import check_params, one_of


class GentleBoost(Rule):
    """``g = E_w[y | x]``: ``2p - 1`` in every leaf of a partition, or the prediction of a regressor of y."""

    asks = (LABELS, RESPONSES, PROBABILITIES)
    criterion = "gini"  # for two classes this is the squared error of 2p - 1

    def __init__(self, line_search: bool = False) -> None:
        self.line_search = line_search

    def ask(self, state: State, rng: RandomSource) -> Any:
        """Ask for a partition if the learner provides one, because rounds are faster then; else regress y."""
        if state.question == LABELS:
            return state.learner.labels(rng)
        if state.question == PROBABILITIES:
            return state.learner.probabilities(rng)
        return state.learner.responses(Y, W, rng)

    def vote(self, state: State, h: Any) -> Term | None:
        """The weighted mean of y ([friedman2000]_ algorithm 4)."""
        if isinstance(h, ResponseHypothesis):
            term = vote_of_function(state, h.term, self.line_search)
            return term and term.bounded(MAX_VOTE, state.rows)  # a line is unbounded where rows have hardly any weight
        if isinstance(h, ProbabilityHypothesis):
            return vote_of_function(state, h.term(mean_label), self.line_search)
        values = leaf_means(h)
        if no_edge(state, values):
            return None
        vote: Term = h.term(values * (best_step_of_leaves(h, values) if self.line_search else 1.0))
        return vote


@booster
class GentleBoostClassifier(BoostingClassifier):
    r"""Gentle AdaBoost: rounds add the weighted mean of the labels.

    A round adds :math:`E_w[y \mid x]`, which for a leaf is :math:`2p_j - 1 \in [-1, 1]`, and multiplies the weights by
    :math:`\exp(-y g)`. This is a Newton step on the exponential loss, where `RealBoostClassifier` minimises it exactly.
    Its steps are bounded also in pure leaves, which makes it the most stable of the four plain variants on noisy
    data.

    {parameters}
    line_search : bool, default=False
        Whether to multiply each round by the step that minimises the exponential loss. It needs fewer rounds, but loses
        some of the stability.

    References
    ----------
    .. [friedman2000] J. Friedman, T. Hastie, R. Tibshirani, "Additive logistic regression: a statistical view of
       boosting", Annals of Statistics 28 (2000) 337-407.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import GentleBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(GentleBoostClassifier(n_estimators=50).fit(X, y).score(X_test, y_test), 2))
    0.94
    """

    line_search: bool = False

    def _rule(self) -> Rule:
        check_params(self, line_search=one_of(True, False))
        return GentleBoost(self.line_search)
