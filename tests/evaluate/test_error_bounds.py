"""Bounds of the error on new rows: the formulas by hand, the VC dimension by enumeration, and that they hold."""

from __future__ import annotations

from itertools import product
from math import e, log, log2, sqrt

import numpy as np
import pytest

from skewboost import AdaBoostClassifier
from skewboost.evaluate import margin_bound, stump_vc_dimension, vc_bound


def test_the_bound_by_the_number_of_rounds_by_hand():
    D = 2 * (3 + 1) * (9 + 1) * log2(e * (9 + 1))
    expected = 0.1 + 2 * sqrt((D * (log(2 * 10**6 / D) + 1) + log(9 / 0.1)) / 10**6)
    assert vc_bound(0.1, 10**6, 9, 3, confidence=0.9) == pytest.approx(expected)
    assert 0.1 < expected < 0.3
    assert vc_bound(0.0, 10**4, 100, 3) == vc_bound(0.9, 10**6, 9, 3) == 1.0
    # more rounds, more complex hypotheses, more confidence: a larger bound; more examples: a smaller one
    bounds = [
        vc_bound(0, 10**7, m, d, confidence=c) for m, d, c in ((9, 3, 0.9), (10, 3, 0.9), (10, 4, 0.9), (10, 4, 0.99))
    ]
    assert bounds == sorted(bounds)
    assert vc_bound(0, 10**8, 9, 3) < vc_bound(0, 10**7, 9, 3)


def test_the_bound_by_margins_by_hand():
    margins = np.repeat([-0.2, 0.1, 0.5, 0.9], [1000, 2000, 3000, 94_000])
    n, d = 100_000, 3
    found = margin_bound(margins, d, theta=0.5, confidence=0.9)
    assert found.below == pytest.approx(0.06)
    assert found.complexity == pytest.approx(2 / 0.5 * sqrt(2 * d * log(e * n / d) / n) + sqrt(log(10) / (2 * n)))
    assert found.bound == pytest.approx(found.below + found.complexity)
    best = margin_bound(margins, d, confidence=0.9)
    each = {
        k / 20: (margins <= k / 20).mean() + 40 / k * sqrt(2 * d * log(e * n / d) / n) + sqrt(log(200) / (2 * n))
        for k in range(1, 21)
    }
    assert best.theta == min(each, key=each.get) == pytest.approx(0.85)
    assert best.bound == pytest.approx(min(each.values()))
    assert margin_bound(margins[:50], d).bound == 1.0


def labellings(X):
    """All that stumps say about these rows."""
    found = set()
    for column, sign in product(X.T, (1, -1)):
        for t in (-np.inf, *np.unique(column)):
            found.add(tuple(np.where(column > t, sign, -sign)))
    return found


@pytest.mark.parametrize(("p", "d"), [(1, 2), (2, 3)])
def test_the_vc_dimension_of_stumps_by_enumeration(p, d):
    """Some d rows get all labellings; of d + 1 rows none do, of hundreds of random ones."""
    assert stump_vc_dimension(p) == d
    rng = np.random.default_rng(0)
    most = {
        n: max(len(labellings(np.array([rng.permutation(n) for _ in range(p)]).T)) for _ in range(300))
        for n in (d, d + 1)
    }
    assert most[d] == 2**d
    assert most[d + 1] < 2 ** (d + 1)


@pytest.mark.parametrize("p", [1, 2, 3, 10, 57, 1000])
def test_the_vc_dimension_is_the_largest_that_counting_allows(p):
    d = stump_vc_dimension(p)
    assert 2**d <= 2 * p * (d - 1) + 2
    assert all(2**more > 2 * p * (more - 1) + 2 for more in range(d + 1, d + 30))


def test_the_bounds_hold_for_adaboost_and_do_not_grow_with_the_rounds():
    """And are far from tight."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120_000, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0, 1, -1)
    X, X_new, y, y_new = X[:60_000], X[60_000:], y[:60_000], y[60_000:]
    bounds = []
    for n_rounds in (1, 20):
        clf = AdaBoostClassifier(n_estimators=n_rounds, pos_label=1).fit(X, y)
        margins = y * clf.decision_function(X) / sum(abs(record["step"]) for record in clf.history_)
        new = (clf.predict(X_new) != y_new).mean()
        bounds.append(margin_bound(margins, stump_vc_dimension(2), theta=0.5))
        assert new < bounds[-1].below + bounds[-1].complexity < 1.0
        assert new < vc_bound((margins < 0).mean(), len(y), n_rounds, stump_vc_dimension(2))
    assert bounds[0].complexity == bounds[1].complexity


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_bound(1.5, 100, 5, 3), "error=1.5 must be a number >= 0 and <= 1"),
        (lambda: vc_bound(0.1, 0, 5, 3), "n_examples=0 must be an integer >= 1"),
        (lambda: vc_bound(0.1, 100, 5, 1), "vc_dimension=1 must be an integer >= 2"),
        (lambda: vc_bound(0.1, 100, 5, 3, confidence=1), "confidence=1 must be a number between 0 and 1"),
        (lambda: margin_bound([0.5, 2.0], 3), "margins must be numbers from -1 to 1.*Divide y F by the sum"),
        (lambda: margin_bound([np.nan], 3), "margins must be numbers from -1 to 1"),
        (lambda: margin_bound([], 3), "margins must be numbers"),
        (lambda: margin_bound([0.5], 3, theta=0), "theta=0 must be a number > 0 and <= 1, or None"),
        (lambda: stump_vc_dimension(0), "n_features=0 must be an integer >= 1"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
