"""Goals that refer rows: counts, certificates about decided rows, predictions, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from goals.promises import REFERRAL_GOALS, broken_promises
from goals.ruler import Ruler, draw
from skewboost import CSRAClassifier, GoalSearchCV, SkewBoostClassifier
from skewboost.datasets import make_fraud
from skewboost.goals import Goal, precision, recall, referred_share
from skewboost.goals.certificate import sequence_of_pairs
from skewboost.goals.search import Aim, OutOfFoldScores
from skewboost.io import dumps, loads
from skewboost.metrics import Counts
from skewboost.metrics.counts import ReferralCounts

GOAL = "precision >= 0.5 and referred_share <= 0.3"


def referring(goal=GOAL, estimator=None, **params):
    return GoalSearchCV(estimator or Ruler(), goal, tune="threshold", **{"random_state": 0, "cv": 2, **params})


def test_counts_between_thresholds_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    positive, scores, weights = rng.random(60) < 0.4, rng.normal(size=60).round(1), rng.integers(1, 4, 60)
    pairs, counts = OutOfFoldScores(positive, scores, weights, 0.0).pairs(1000)
    for k in range(0, len(pairs), 29):
        lower, upper = pairs[k]
        assert lower <= upper
        flagged, referred = scores >= upper, (scores >= lower) & (scores < upper)
        own = ReferralCounts.with_referred(positive, flagged, referred, weights)
        assert own == counts[k].map(float)
        decided = Counts.of(positive[~referred], flagged[~referred], weights[~referred])
        assert (own.tp, own.fp, own.fn, own.tn) == (decided.tp, decided.fp, decided.fn, decided.tn)
        assert own.referred_share == weights[referred].sum() / weights.sum()
        np.testing.assert_equal((own.recall, own.precision, own.cost(np.eye(2))), (
            decided.recall, decided.precision, decided.cost(np.eye(2)),
        ))  # fmt: skip


def test_each_condition_is_tested_by_its_binomial():
    counts = ReferralCounts(tp=45, fp=5, fn=3, tn=900, referred_positives=10, referred_negatives=37)
    goal = (precision >= 0.8) & (referred_share <= 0.08)
    shares = binom.sf(44, 50, 0.8), binom.cdf(47, 1000, 0.08)
    assert goal.p_value(counts) == pytest.approx(max(shares))
    strict = Goal.of("recall >= 0.93 and referred_share <= 20%")  # of the 48 positives that are decided
    assert strict.p_value(counts) == pytest.approx(binom.sf(44, 48, 0.93))


def test_pairs_are_tested_from_the_safest_to_the_best():
    rng = np.random.default_rng(1)
    positive = rng.random(500) < 0.3
    own = OutOfFoldScores(positive, rng.normal(size=500) + 2 * positive, None, 0.0)
    aim = Aim(Goal.of(GOAL), recall, delta=0.1)
    _, pairs = own.pairs(60)
    order = sequence_of_pairs(aim, pairs)
    p_values, merit = aim.p_value(pairs)[order], aim.merit(pairs)[order]
    assert len(order) > 5
    assert (np.diff(p_values) >= 0).all()
    assert (np.diff(merit) > 0).all()
    assert p_values[0] == aim.p_value(pairs).min()


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_rows_between_the_thresholds_are_referred(positive, confidence):
    X, y = draw(1200, 0)
    y = y if positive else 1 - y
    late = np.arange(1200) >= 700
    clf = referring(confidence=confidence, holdout=None if confidence is None else late, pos_label=positive).fit(X, y)
    scores, labels = clf._decision.scores(X), clf.predict(X)
    np.testing.assert_array_equal(labels == positive, scores >= clf.threshold_)
    np.testing.assert_array_equal(labels == -1, (scores >= clf.lower_threshold_) & (scores < clf.threshold_))
    np.testing.assert_array_equal(clf.decision_function(X) > 0, (labels == 1) | ((labels == -1) & (positive == 0)))
    assert 0 < (labels == -1).mean() < 0.35
    if confidence is not None:
        counts = clf.certificate_.counts
        assert counts == ReferralCounts.with_referred(y[late] == positive, labels[late] == positive, labels[late] == -1)
        assert clf.certificate_.p_value <= 0.1
        assert f"referred: {counts.referred_positives:g} positives" in str(clf.certificate_)


def test_referral_reaches_what_no_single_threshold_does():
    X, y = draw(2500, 1)
    with pytest.raises(ValueError, match=r"not reached|not certified"):
        referring("recall >= 0.8 and precision >= 0.6").fit(X, y)
    clf = referring("recall >= 0.8 and precision >= 0.6", then="referred_share").fit(X, y)
    assert clf.certificate_.met
    assert 0.1 < clf.certificate_.counts.referred_share < 0.7
    assert {"lower_threshold", "threshold", "recall", "referred_share"} <= set(clf.frontier_)
    assert "referred_share" in clf.search_


def test_the_flagship_refers_rows():
    X, y = make_fraud(8000, random_state=1)
    labels = np.where(y == 1, "bad", "ok")
    clf = SkewBoostClassifier(effort="quick", goal="precision >= 50% and referred_share <= 15%", random_state=0)
    clf.fit(X, labels)
    assert clf.certificate_.met
    X_new, y_new = make_fraud(10_000, random_state=2)
    found, scores = clf.predict(X_new), -clf.decision_function(X_new) + clf.threshold_
    np.testing.assert_array_equal(found == "refer", (scores >= clf.lower_threshold_) & (found != "bad"))
    assert (y_new[found == "bad"] == 1).mean() > 0.45
    assert 0.02 < (found == "refer").mean() < 0.18
    restored = loads(dumps(clf))
    np.testing.assert_array_equal(restored.predict(X_new[:500]), found[:500])
    assert restored.certificate_ == clf.certificate_
    again = clf.set_params(goal=None, cost=20).fit(X[:500], labels[:500])
    assert not hasattr(again, "lower_threshold_")
    assert not hasattr(again, "reject_label_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"goal": "referred_share <= 10%"}, "but not what must hold for the others"),
        ({"goal": "recall >= 0.8 and referred_share >= 0.1"}, "says how many rows may be referred"),
        ({"goal": "recall >= 0.8 and referred_share <= 0"}, "above 0"),
        ({"tune": "cost"}, "referral needs two"),
        ({"reject_label": 1}, "is a class of y"),
        ({"goal": "recall >= 0.8", "reject_label": -1}, "refers no rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(params, message):
    X, y = draw(300, 0)
    with pytest.raises(ValueError, match=message):
        GoalSearchCV(**{"estimator": Ruler(), "goal": GOAL, **params}).fit(X, y)


def test_a_restored_search_refers_the_same_rows():
    X, y = draw(600, 0)
    clf = referring(estimator=CSRAClassifier(n_estimators=3), confidence=None).fit(X, y)
    restored = loads(dumps(clf))
    np.testing.assert_array_equal(restored.predict(X), clf.predict(X))
    assert restored.counts_ == clf.counts_


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "params"), REFERRAL_GOALS, ids=[f"{goal} {params}" for goal, params in REFERRAL_GOALS]
)
@pytest.mark.parametrize("case", ["plain", "weights 1 to 5, the harder the heavier", "groups of 10 of both classes"])
def test_promises_with_referral_are_kept(goal, params, case):
    n_repeats = 200
    _, broken, _ = broken_promises(goal, "threshold", n_repeats, 800, case, **params)
    assert broken <= binom.ppf(0.999, n_repeats, 0.1)
