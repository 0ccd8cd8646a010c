"""Real AdaBoost, also called confidence-rated AdaBoost.

References
----------
.. [friedman2000] J. Friedman, T. Hastie, R. Tibshirani, "Additive logistic regression: a statistical view of boosting",
   Annals of Statistics 28 (2000) 337-407.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import Rule, best_step_of_leaves, leaf_log_odds, no_edge, vote_of_function
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.learner import LABELS, PROBABILITIES, LabelHypothesis, ProbabilityHypothesis, RandomSource
from skewboost.learners.probabilities import half_log_odds
from skewboost.parameters import check_params, one_of


class RealBoost(Rule):
    """``g = ½ ln((W+ + δ) / (W- + δ))`` in every leaf, optionally times the best step."""

    asks: Sequence[str] = (LABELS, PROBABILITIES)
    criterion = "z"

    def __init__(self, line_search: bool = False) -> None:
        self.line_search = line_search

    def ask(self, state: State, rng: RandomSource) -> Any:
        """Ask for a partition or for probabilities, whichever the learner provides."""
        return state.learner.labels(rng) if state.question == LABELS else state.learner.probabilities(rng)

    def vote(self, state: State, h: LabelHypothesis | ProbabilityHypothesis) -> Term | None:
        """Half the log-odds: of the leaf, smoothed ([schapire1999]_ eq. 9 and §4.2), or of the probability
        ([friedman2000]_ algorithm 2).
        """
        if isinstance(h, ProbabilityHypothesis):
            return vote_of_function(state, h.term(half_log_odds), self.line_search)
        values = leaf_log_odds(h, state.delta)
        if no_edge(state, values):
            return None
        return h.term(values * best_step_of_leaves(h, values) if self.line_search else values)


@booster
class RealBoostClassifier(SmoothingChoice, BoostingClassifier):
    r"""Real AdaBoost: every leaf votes with its own confidence.

    A round finds the partition that minimises :math:`Z = 2 \sum_j \sqrt{W^+_j W^-_j}`, the factor by which it reduces
    the exponential loss, adds :math:`\frac12 \ln \frac{W^+_j + 1/N}{W^-_j + 1/N}` in leaf j and multiplies the
    weights by :math:`\exp(-y g)`. With ``estimator=Stump(missing="abstain")`` it is the confidence-rated AdaBoost of
    Schapire and Singer, with abstention on missing values.

    {parameters}
    line_search : bool, default=False
        Whether to multiply each round by the step that minimises the exponential loss. Apart from the smoothing, the
        leaf values of a partition are at that minimum already, so a line search mainly undoes the smoothing; it gives
        the variant of Cuendet and Labbi. It is useful with `Probabilities`.
    {smoothing}

    References
    ----------
    .. [schapire1999] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions",
       Machine Learning 37 (1999) 297-336.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import RealBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(RealBoostClassifier(n_estimators=50).fit(X, y).score(X_test, y_test), 2))
    0.95
    """

    line_search: bool = False

    def _rule(self) -> Rule:
        check_params(self, line_search=one_of(True, False))
        return RealBoost(self.line_search)
