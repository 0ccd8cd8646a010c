"""What decisions cost is what a loop over them adds up to; savings are a share of what can be saved."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

from skewboost.metrics import Counts, expected_cost, make_cost_scorer, savings_score, total_cost

RNG = np.random.default_rng(0)
TRUTH, SAID = RNG.integers(0, 3, (2, 100))
BINARY, FLAGGED = (RNG.random(100) < 0.2).astype(int), (RNG.random(100) < 0.3).astype(int)
MATRIX = np.array([[0.0, 1.0, 4.0], [2.0, -1.0, 3.0], [9.0, 5.0, 0.5]])
WEIGHTS = RNG.integers(0, 4, 100).astype(float)


def test_cost_of_the_paper():
    # Masnadi-Shirazi & Vasconcelos (59)
    counts = Counts.of(BINARY == 1, FLAGGED == 1)
    assert total_cost(BINARY, FLAGGED, 20) == counts.fp + 20 * counts.fn
    assert expected_cost(BINARY, FLAGGED, 20) == (counts.fp + 20 * counts.fn) / 100
    # of the rarer class, whatever its label, unless said otherwise
    assert total_cost(1 - BINARY, 1 - FLAGGED, 20) == counts.fp + 20 * counts.fn
    assert total_cost(BINARY, FLAGGED, 20, pos_label=0) == counts.fn + 20 * counts.fp
    # balanced: every class as a whole costs as much as the larger
    assert total_cost(BINARY, FLAGGED) == pytest.approx(counts.negatives * (counts.false_alarm_rate + counts.miss_rate))


def test_bills_are_those_of_a_loop():
    assert total_cost(TRUTH, SAID, MATRIX) == pytest.approx(sum(MATRIX[t, s] for t, s in zip(TRUTH, SAID)))
    weighted = sum(w * MATRIX[t, s] for w, t, s in zip(WEIGHTS, TRUTH, SAID))
    assert total_cost(TRUTH, SAID, MATRIX, sample_weight=WEIGHTS) == pytest.approx(weighted)
    assert expected_cost(TRUTH, SAID, MATRIX, sample_weight=WEIGHTS) == pytest.approx(weighted / WEIGHTS.sum())
    each = RNG.normal(size=(100, 3, 3))
    paid = sum(each[i, t, s] for i, (t, s) in enumerate(zip(TRUTH, SAID)))
    assert total_cost(TRUTH, SAID, sample_cost=each) == pytest.approx(paid)
    amount = RNG.random(100)
    missed = (BINARY == 1) & (FLAGGED == 0)
    alarms = ((BINARY == 0) & (FLAGGED == 1)).sum()
    assert total_cost(BINARY, FLAGGED, {0: 3, 1: 1}, sample_cost=amount) == pytest.approx(
        amount[missed].sum() + 3 * alarms
    )


def test_probabilities_decide_before_they_pay():
    p = RNG.dirichlet(np.ones(3), 100)
    assert total_cost(TRUTH, p, MATRIX) == pytest.approx(total_cost(TRUTH, (p @ MATRIX).argmin(axis=1), MATRIX))
    with pytest.raises(ValueError, match=r"2 columns of probabilities, but the classes are \[0, 1, 2\]"):
        total_cost(TRUTH, p[:, :2], MATRIX)
    with pytest.raises(ValueError, match="not class labels"):
        total_cost(BINARY, p[:, 0], 20)


def test_savings_are_nothing_for_the_best_constant_and_one_for_perfection():
    constants = [total_cost(TRUTH, np.full(100, k), MATRIX, labels=[0, 1, 2]) for k in range(3)]
    best = int(np.argmin(constants))
    for k in range(3):
        saved = savings_score(TRUTH, np.full(100, k), MATRIX, labels=[0, 1, 2])
        assert saved == pytest.approx(0.0, abs=1e-12) if k == best else saved < 0
    assert savings_score(TRUTH, MATRIX[TRUTH].argmin(axis=1), MATRIX) == pytest.approx(1.0)
    assert savings_score(BINARY, BINARY, 20) == 1.0
    # Bahnsen's formula where right answers are free
    worthless = min((BINARY == 0).sum(), 20 * (BINARY == 1).sum())
    assert savings_score(BINARY, FLAGGED, 20) == pytest.approx(1 - total_cost(BINARY, FLAGGED, 20) / worthless)
    amount = RNG.lognormal(size=100)
    assert savings_score(BINARY, BINARY, sample_cost=amount) == 1.0
    assert np.isnan(savings_score([0, 0], [0, 0], 5, labels=[0, 1]))


def test_folds_may_lack_a_class():
    assert total_cost([0, 0], [0, 1], {0: 2, 1: 5}) == 2.0
    assert total_cost([0, 0], [0, 1], MATRIX, labels=[2, 1, 0]) == 1.0
    with pytest.raises(ValueError, match=r"Only one class occurs, 0, .*Name all classes with labels"):
        total_cost([0, 0], [0, 0], 5)
    with pytest.raises(ValueError, match=r"The labels \[2\] occur, but labels has only \[0, 1\]"):
        total_cost(TRUTH, SAID, labels=[0, 1])
    with pytest.raises(ValueError, match="pos_label=1 has no effect: there are 3 classes"):
        total_cost(TRUTH, SAID, pos_label=1)


def test_scorers_cost_and_save():
    never = DummyClassifier(strategy="constant", constant=0)
    X = np.zeros((100, 1))
    scores = cross_val_score(never, X, BINARY, scoring=make_cost_scorer(20), cv=4)
    assert scores.mean() == pytest.approx(-20 * BINARY.mean())
    assert cross_val_score(never, X, BINARY, scoring=make_cost_scorer(0.1, savings=True), cv=4).tolist() == [0.0] * 4
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_cost_scorer(20).set_score_request(sample_cost=True)
        routed = cross_val_score(never, X, BINARY, scoring=scorer, params={"sample_cost": np.full(100, 5.0)}, cv=4)
    np.testing.assert_allclose(routed, scores / 4)
