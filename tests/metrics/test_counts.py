"""Counts and rates are those of scikit-learn; every threshold gives the answers it says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from skewboost.metrics import Counts

RNG = np.random.default_rng(0)
TRUTH = RNG.random(200) < 0.2
SAID = RNG.random(200) < 0.3
WEIGHTS = RNG.integers(0, 4, 200).astype(float)

RATES = {
    "recall": sk.recall_score,
    "precision": sk.precision_score,
    "accuracy": sk.accuracy_score,
    "f1": sk.f1_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "mcc": sk.matthews_corrcoef,
}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_rates_are_those_of_scikit_learn(rate, weights):
    ours = getattr(Counts.of(TRUTH, SAID, weights), rate)
    assert ours == pytest.approx(RATES[rate](TRUTH, SAID, sample_weight=weights), abs=1e-12)


def test_swapped_counts_have_the_rates_of_the_other_class():
    counts = Counts.of(TRUTH, SAID)
    assert counts.swapped.recall == counts.specificity
    assert counts.swapped.precision == counts.negative_predictive_value
    assert counts.miss_rate == pytest.approx(1 - counts.recall)
    assert counts.false_alarm_rate == pytest.approx(1 - counts.specificity)


def test_every_threshold_gives_the_answers_it_says():
    scores = np.round(RNG.normal(size=200), 1)  # with ties
    thresholds, counts = Counts.at_thresholds(TRUTH, scores, WEIGHTS)
    assert len(thresholds) == len(np.unique(scores)) + 1
    for k, threshold in enumerate(thresholds):
        assert counts[k] == Counts.of(TRUTH, scores >= threshold, WEIGHTS)


def test_thresholds_tell_neighbouring_numbers_apart():
    low = 1.0
    thresholds, counts = Counts.at_thresholds(np.array([False, True]), np.array([low, np.nextafter(low, 2)]))
    assert counts[1] == Counts.of(np.array([False, True]), np.array([low, np.nextafter(low, 2)]) >= thresholds[1])
    assert counts[1].f1 == 1.0


def test_nothing_to_divide_by_is_nan():
    assert np.isnan(Counts(0, 0, 3, 5).precision)
    assert np.isnan(Counts(0, 2, 0, 5).recall)
    assert Counts(0, 0, 3, 5).mcc == 0.0


def test_cost_of_the_paper():
    # Masnadi-Shirazi & Vasconcelos (59): FP + f FN
    assert Counts(5, 7, 2, 90).cost([[0, 1], [20, 0]]) == 7 + 20 * 2
    assert Counts(5, 7, 2, 90).average_cost([[0, 1], [20, 0]]) == pytest.approx(47 / 104)
