"""RealBoost, GentleBoost and LogitBoost with costs that are spread over the rounds: CSRA, CSGA and CSLB.

References
----------
.. [nikolaou2016] N. Nikolaou, N. Edakunni, M. Kull, P. Flach, G. Brown, "Cost-sensitive boosting algorithms: do we
   really need them?", Machine Learning 104 (2016) 359-384.
"""

from __future__ import annotations

from skewboost.boosting.cost_schedule import CostsInEveryRound, SpreadCosts
from skewboost.boosting.estimator import PrintedClassifier, booster
from skewboost.boosting.rule import Rule
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.boosting.variants.gentleboost import GentleBoost
from skewboost.boosting.variants.logitboost import MAX_STEP, STEPS, LogitBoost
from skewboost.boosting.variants.realboost import RealBoost
from skewboost.parameters import check_params, one_of


class CSRA(CostsInEveryRound, RealBoost):
    """RealBoost with costs in every round ([nyga2010]_ (2.61)); as printed, algorithm 12 omits them in the first."""

    criterion = "gini"


class CSGA(CostsInEveryRound, GentleBoost):
    """GentleBoost with costs in every round; as printed, algorithm 13 omits them in the first."""


class CSLB(SpreadCosts, LogitBoost):
    """LogitBoost on ``P = 1 / (1 + k^m exp(-2F))`` in round m, k = c^(1/M) ([nyga2010]_ algorithm 14)."""

    def parts(self, n_rounds: int) -> int:
        """As printed, rounds 1 and 2 both have one part."""
        return max(super().parts(n_rounds), 1)

    def _log_odds(self, state: State) -> tuple[float, float]:
        """``2F - ln k^m``."""
        return state.link.scale, state.link.pending_after(self.parts(state.round)) - state.link.pending


@booster
class CSRAClassifier(SmoothingChoice, PrintedClassifier):
    r"""CSRA: Real AdaBoost with costs that are spread over the rounds.

    The asymmetric logistic model and its variants CSRA, CSGA and CSLB are of [li2009]_, as [nyga2010]_ derives them.
    With :math:`k_i = c_i^{1/M}` a round adds RealBoost's :math:`\frac12 \ln \frac{W^+_j + 1/N}{W^-_j + 1/N}` and
    multiplies the weights by :math:`k_i e^{-y g}`; the first one starts from :math:`w \propto k`. It minimises the
    exponential loss weighted by cost: F is half the log-odds plus :math:`\frac12 \ln (C_+/C_-)`, its zero is the
    minimum-risk boundary, and :math:`P(+) = 1/(1 + e^{-2F} C_+/C_-)`. At equal costs it is RealBoost on Gini splits.
    It is sound, fast and stable for any cost.

    The costs are spread over exactly `n_estimators` rounds. If training ends earlier, decisions and probabilities
    include the remaining part. With ``warm_start=True`` a larger number of rounds is trained from scratch. The
    `learning_rate` does not affect the costs.

    {parameters}
    {cost}
    as_printed : bool, default=False
        Whether to follow algorithm 12: the first round has no costs, so that M rounds apply :math:`c^{(M-1)/M}`.
    {smoothing}

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), algorithm 12.
    .. [li2009] Q.-J. Li, Y.-B. Mao, Z.-Q. Wang, W.-B. Xiang, "Cost-sensitive boosting: fitting an additive asymmetric
       logistic regression model", Advances in Machine Learning (ACML), Lecture Notes in Artificial Intelligence 5828
       (2009).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSRAClassifier(cost=20, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    _rule_class = CSRA


@booster
class CSGAClassifier(PrintedClassifier):
    r"""CSGA: Gentle AdaBoost with costs that are spread over the rounds.

    It is of [li2009]_, as [nyga2010]_ derives it.
    With :math:`k_i = c_i^{1/M}` a round adds GentleBoost's :math:`2p_j - 1` and multiplies the weights by :math:`k_i
    e^{-y g}`; the first one starts from :math:`w \propto k`. F is half the log-odds plus :math:`\frac12 \ln
    (C_+/C_-)`, its zero is the minimum-risk boundary, and :math:`P(+) = 1/(1 + e^{-2F} C_+/C_-)`. At equal costs it
    is GentleBoost. It is the most stable of the cost-sensitive variants on noisy data. Its steps are at most 1, so very
    large costs need many rounds.

    The costs are spread over exactly `n_estimators` rounds; see `CSRAClassifier`.

    {parameters}
    {cost}
    as_printed : bool, default=False
        Whether to follow algorithm 13: the first round has no costs, so that M rounds apply :math:`c^{(M-1)/M}`.

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), algorithm 13.
    .. [li2009] Q.-J. Li, Y.-B. Mao, Z.-Q. Wang, W.-B. Xiang, "Cost-sensitive boosting: fitting an additive asymmetric
       logistic regression model", Advances in Machine Learning (ACML), Lecture Notes in Artificial Intelligence 5828
       (2009).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSGAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSGAClassifier(cost=20, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    _rule_class = CSGA


@booster
class CSLBClassifier(PrintedClassifier):
    r"""CSLB: LogitBoost with costs that are spread over the rounds.

    It is of [li2009]_, in the form that [nyga2010]_ corrected.
    With :math:`k = (C_+/C_-)^{1/M}` round m takes LogitBoost's Newton step on
    :math:`P = 1/(1 + k^m e^{-2F})`. Responses are not bounded, because that would affect costly examples most; steps
    are. F is half the log-odds plus :math:`\frac12 \ln (C_+/C_-)`, its zero is the
    minimum-risk boundary, and P, after the last round, is the probability. At equal costs it is LogitBoost.

    The costs are spread over exactly `n_estimators` rounds; see `CSRAClassifier`. If rows of a class differ in cost
    (`sample_cost`), k is the ratio of the class means, and each row is weighted by its cost relative to the mean.

    {parameters}
    {cost}
    as_printed : bool, default=False
        Whether to follow algorithm 14: rounds 1 and 2 both use k, and round m uses :math:`k^{m-1}`, so that M rounds
        apply :math:`c^{(M-1)/M}`. The algorithm has no `max_step`.
    {max_step}

    References
    ----------
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), algorithm 14.
    .. [li2009] Q.-J. Li, Y.-B. Mao, Z.-Q. Wang, W.-B. Xiang, "Cost-sensitive boosting: fitting an additive asymmetric
       logistic regression model", Advances in Machine Learning (ACML), Lecture Notes in Artificial Intelligence 5828
       (2009).

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import CSLBClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = CSLBClassifier(cost=20, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    max_step: float | None = MAX_STEP

    def _rule(self) -> Rule:
        check_params(self, as_printed=one_of(True, False), max_step=STEPS)
        return CSLB(as_printed=bool(self.as_printed), max_step=self.max_step)
