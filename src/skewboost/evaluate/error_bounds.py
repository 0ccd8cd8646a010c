"""Bounds of the error on new rows that hold for any distribution of the data: by complexity, and by margins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.parameters import FRACTION, check_arguments, integer, number, optional

N_THETAS = 20  # the margins that are tried are 1/20, 2/20, … 1


@dataclass(frozen=True)
class MarginBound:
    """The result of `margin_bound`.

    Attributes
    ----------
    bound : float
        The bound of the error on new rows: `below` + `complexity`, at most 1.
    theta : float
        The margin that it is for.
    below : float
        The share of the training examples with a margin of at most `theta`.
    complexity : float
        What is added for the choice of the ensemble.
    """

    bound: float
    theta: float
    below: float
    complexity: float


def vc_bound(error: float, n_examples: int, n_rounds: int, vc_dimension: int, *, confidence: float = 0.95) -> float:
    r"""Bound the error of a boosted classifier on new rows by its training error and its number of rounds.

    If the weak hypotheses have the VC dimension :math:`d \ge 2`, signs of weighted votes of M of them have at most
    ([freund1997]_ theorem 8)

    .. math:: D = 2 (d + 1) (M + 1) \log_2 (e (M + 1)),

    and with the confidence :math:`1 - \delta` over the N training examples the error on new rows is at most that on the
    training rows plus (theorem 7, after Vapnik)

    .. math:: 2 \sqrt{\frac{D\,(\ln (2N/D) + 1) + \ln (9/\delta)}{N}} .

    It rises with M, whereas the error on new rows often falls, and is below 1 only for huge N. It explains little, and
    is here because papers quote it ([nyga2010]_ (2.13)). For numbers that one can rely on, hold out rows.

    Parameters
    ----------
    error : float
        The share of the training examples that the ensemble gets wrong.
    n_examples : int
        N.
    n_rounds : int
        M.
    vc_dimension : int
        d, at least 2; for stumps on numbers `stump_vc_dimension`.
    confidence : float, default=0.95
        :math:`1 - \delta`.

    Returns
    -------
    float
        The bound; 1 if it says nothing.

    References
    ----------
    .. [freund1997] Y. Freund, R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
       application to boosting", Journal of Computer and System Sciences 55 (1997) 119-139, theorems 7 and 8.
    .. [nyga2010] D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis, Technische
       Universität München (2010), (2.13).

    Examples
    --------
    >>> from skewboost.evaluate import stump_vc_dimension, vc_bound
    >>> vc_bound(0.0, 10_000, 100, stump_vc_dimension(8)), round(vc_bound(0.0, 10**7, 100, stump_vc_dimension(8)), 2)
    (1.0, 0.2)
    """
    check_arguments(
        error=(error, number(0, 1)),
        n_examples=(n_examples, integer(1)),
        n_rounds=(n_rounds, integer(1)),
        vc_dimension=(vc_dimension, integer(2)),
        confidence=(confidence, FRACTION),
    )
    D = 2.0 * (vc_dimension + 1) * (n_rounds + 1) * math.log2(math.e * (n_rounds + 1))
    if n_examples < D:
        return 1.0
    delta = 1.0 - confidence
    added = 2.0 * math.sqrt((D * (math.log(2.0 * n_examples / D) + 1.0) + math.log(9.0 / delta)) / n_examples)
    return min(1.0, error + added)


def margin_bound(
    margins: Any, vc_dimension: int, *, theta: float | None = None, confidence: float = 0.95
) -> MarginBound:
    r"""Bound the error of a voting classifier on new rows by the margins of its training examples.

    The margin of an example is :math:`y F(x) / \sum_m |\alpha_m|` for :math:`F = \sum \alpha_m h_m` with :math:`h_m \in
    \{-1, +1\}` of the VC dimension d. [schapire1998]_ showed that large margins make errors on new rows unlikely,
    whatever the number of rounds, up to a constant. Rademacher complexities ([koltchinskii2002]_) with the lemmas of
    Massart and Sauer give the constants: with the confidence :math:`1 - \delta` over the N training examples the error
    on new rows is at most

    .. math:: P_S(\text{margin} \le \theta) + \frac2\theta \sqrt{\frac{2 d \ln (eN/d)}{N}} +
        \sqrt{\frac{\ln (1/\delta)}{2N}} .

    Without `theta`, the smallest bound of :math:`\theta = 0.05, 0.1, …, 1` is returned; as these are 20, each is
    computed with :math:`\delta/20`. The bound is below 1 from some thousand examples, and far above the error that one
    finds on held-out rows. It compares ensembles of the same weak learner. For numbers that one can rely on, hold out
    rows.

    Parameters
    ----------
    margins : array-like of shape (n_examples,)
        The margins of the training examples, from -1 to 1.
    vc_dimension : int
        d; for stumps on numbers `stump_vc_dimension`.
    theta : float or None, default=None
        The margin, chosen without looking at the data; None tries several.
    confidence : float, default=0.95
        :math:`1 - \delta`.

    Returns
    -------
    MarginBound

    References
    ----------
    .. [schapire1998] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the
       effectiveness of voting methods", Annals of Statistics 26 (1998) 1651-1686, theorem 2.
    .. [koltchinskii2002] V. Koltchinskii, D. Panchenko, "Empirical margin distributions and bounding the generalization
       error of combined classifiers", Annals of Statistics 30 (2002) 1-50.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost import AdaBoostClassifier
    >>> from skewboost.evaluate import margin_bound, stump_vc_dimension
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50_000, 2))
    >>> y = X[:, 0] > 0
    >>> clf = AdaBoostClassifier(n_estimators=5).fit(X, y)
    >>> steps = [abs(record["step"]) for record in clf.history_]
    >>> margins = np.where(y, 1, -1) * clf.decision_function(X) / sum(steps)
    >>> print(round(margin_bound(margins, stump_vc_dimension(2)).bound, 2))
    0.09
    """
    check_arguments(
        vc_dimension=(vc_dimension, integer(1)),
        theta=(theta, optional(number(0, 1, open_low=True))),
        confidence=(confidence, FRACTION),
    )
    each = np.ravel(np.asarray(margins, dtype=np.float64))
    if not len(each) or not (np.abs(each) <= 1.0 + 1e-9).all():
        raise InputError(
            "margins must be numbers from -1 to 1, one per training example.",
            "Divide y F by the sum of the absolute steps.",
        )
    n, d = len(each), min(vc_dimension, len(each))
    thetas = [theta] if theta is not None else [(k + 1) / N_THETAS for k in range(N_THETAS)]
    delta = (1.0 - confidence) / len(thetas)
    rademacher, chance = math.sqrt(2.0 * d * math.log(math.e * n / d) / n), math.sqrt(math.log(1.0 / delta) / (2.0 * n))
    found = []
    for t in thetas:
        below, complexity = float((each <= t).mean()), 2.0 / t * rademacher + chance
        found.append(MarginBound(min(1.0, below + complexity), t, below, complexity))
    return min(found, key=lambda each: each.below + each.complexity)


def stump_vc_dimension(n_features: int) -> int:
    r"""Return an upper bound of the VC dimension of stumps on this number of numeric columns without missing cells.

    A column puts d rows in an order, and a stump divides them between two neighbours; with both ways to label the sides
    this makes at most :math:`2p(d-1) + 2` different labellings on p columns. Rows are shattered only if all :math:`2^d`
    labellings are among them. For one and two columns the bound is the VC dimension.

    Parameters
    ----------
    n_features : int
        p.

    Returns
    -------
    int
        The largest d with :math:`2^d \le 2p(d-1) + 2`.

    Examples
    --------
    >>> from skewboost.evaluate import stump_vc_dimension
    >>> [stump_vc_dimension(p) for p in (1, 2, 10, 100)]
    [2, 3, 6, 10]
    """
    check_arguments(n_features=(n_features, integer(1)))
    d = 1
    while 2 ** (d + 1) <= 2 * n_features * d + 2:
        d += 1
    return d
