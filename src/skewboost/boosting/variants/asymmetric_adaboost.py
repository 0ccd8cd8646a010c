"""Asymmetric AdaBoost of Viola and Jones."""

from __future__ import annotations

from skewboost.boosting.cost_schedule import CostsInEveryRound
from skewboost.boosting.estimator import booster
from skewboost.boosting.variants.adamec import CalibratedClassifier, SoundAdaBoost


class AsymmetricAdaBoost(CostsInEveryRound, SoundAdaBoost):
    """AdaBoost with costs in every round: with class costs ``exp(y ln√ratio / M)``, up to a constant.

    See [viola2002]_ §3.
    """


@booster
class AsymmetricAdaBoostClassifier(CalibratedClassifier):
    r"""Asymmetric AdaBoost: costs are spread over all rounds, so that no single round absorbs them.

    Before each of M rounds the weights are multiplied by :math:`\exp(\frac{y}{M} \ln\sqrt{C_+/C_-})`; the rest is
    AdaBoost. Initial weights in proportion to the costs would affect the first rounds only, which absorb the whole
    asymmetry. The ensemble minimises the exponential loss weighted by cost, so its zero is the minimum-risk boundary,
    and :math:`P(+) = 1/(1 + e^{-2F} C_+/C_-)`. It is one of the three variants that [nikolaou2016]_ found sound in
    every respect.

    The costs are spread over exactly `n_estimators` rounds. If training ends earlier, decisions and probabilities
    include the remaining part. With ``warm_start=True`` a larger number of rounds is trained from scratch.

    {few_values}

    {parameters}
    {cost}
    {calibrate}

    References
    ----------
    .. [viola2002] P. Viola, M. Jones, "Fast and robust classification using asymmetric AdaBoost and a detector
       cascade", Advances in Neural Information Processing Systems 14 (2002) 1311-1318.
    .. [nikolaou2016] N. Nikolaou, N. Edakunni, M. Kull, P. Flach, G. Brown, "Cost-sensitive boosting algorithms: do we
       really need them?", Machine Learning 104 (2016) 359-384.

    Examples
    --------
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AsymmetricAdaBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AsymmetricAdaBoostClassifier(cost=20, n_estimators=30).fit(X, y)
    >>> print(f"recall {clf.predict(X_test)[y_test == 1].mean():.2f}")
    recall 0.90
    """

    _rule_class = AsymmetricAdaBoost
