"""Discrete AdaBoost.

References
----------
.. [schapire1999] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions", Machine
   Learning 37 (1999) 297-336.
"""

from __future__ import annotations

from skewboost.boosting.estimator import BoostingClassifier, booster
from skewboost.boosting.rule import DiscreteRule


class AdaBoost(DiscreteRule):
    """``α = ½ ln(W_right / W_wrong)``, which is ½ ln((1 - ε) / ε) without abstention.

    See [freund1997]_ fig. 2, [schapire1999]_ §3.3.
    """


@booster
class AdaBoostClassifier(BoostingClassifier):
    r"""Discrete AdaBoost: each round votes with its labels, times one step.

    A round fits :math:`h \in \{-1, +1\}` under weights :math:`w`, adds :math:`\alpha h` with
    :math:`\alpha = \frac12 \ln\frac{1-\varepsilon}{\varepsilon}`, where :math:`\varepsilon` is the weighted error, and
    multiplies the weights by :math:`\exp(-\alpha y h)`. This reduces the exponential loss
    :math:`\frac1N \sum e^{-y F}` in every round.

    The confidence is the same on both sides of a split, which is wrong for one of them on imbalanced data.
    `RealBoostClassifier` usually needs far fewer rounds.

    {parameters}

    References
    ----------
    .. [freund1997] Y. Freund, R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
       application to boosting", Journal of Computer and System Sciences 55 (1997) 119-139.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(AdaBoostClassifier(n_estimators=50).fit(X, y).score(X_test, y_test), 2))
    0.94
    """

    _rule_class = AdaBoost
