"""Means over folds, and the verdicts that follow from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from skewboost_reproductions.estimates import Estimate, difference, estimate
from skewboost_reproductions.verdicts import (
    HELD,
    NOT_REPRODUCED,
    UNDECIDED,
    claim_of_equality,
    claim_of_fact,
    claim_of_order,
)

VALUES = [0.31, 0.35, 0.29, 0.40, 0.38]


def test_the_error_of_independent_values_is_that_of_a_t_test():
    found = estimate(VALUES)
    expected = stats.ttest_1samp(VALUES, 0.0)
    low, high = expected.confidence_interval()
    assert found.mean / found.error == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval() == pytest.approx((low, high))


def test_folds_that_overlap_have_a_larger_error():
    # five folds: one test row for four training rows
    assert estimate(VALUES, 0.25).error == pytest.approx(math.sqrt(1 / 5 + 1 / 4) * np.std(VALUES, ddof=1))


def test_what_is_missing_is_left_out():
    assert estimate([*VALUES, math.nan]) == estimate(VALUES)
    assert estimate([math.nan]).n == 0
    assert estimate([math.nan]).text() == "–"


def test_a_single_run_has_no_error():
    one = estimate([0.25])
    assert math.isnan(one.error)
    assert math.isnan(one.p_value)
    assert one.text(2) == "0.25"


def test_differences_are_paired():
    b = np.array(VALUES)
    assert difference(b + 0.1, b).error == pytest.approx(0.0, abs=1e-12)


def test_an_order_needs_significance():
    clear, unclear = estimate(np.array(VALUES)), estimate([0.3, -0.2, 0.1])
    assert claim_of_order("", clear).verdict == HELD
    assert claim_of_order("", Estimate(-clear.mean, clear.error, clear.n)).verdict == NOT_REPRODUCED
    assert claim_of_order("", unclear).verdict == UNDECIDED
    assert claim_of_order("", estimate([0.3])).verdict == UNDECIDED  # one run shows nothing


def test_equality_needs_a_narrow_interval():
    near, wide = estimate([0.01, -0.01, 0.0, 0.005]), estimate([0.2, -0.2, 0.1])
    assert claim_of_equality("", near, 0.05).verdict == HELD
    assert claim_of_equality("", wide, 0.05).verdict == UNDECIDED
    assert claim_of_equality("", estimate(VALUES), 0.05).verdict == NOT_REPRODUCED
    assert claim_of_equality("", estimate([0.0]), 0.05).verdict == UNDECIDED


def test_facts_are_true_or_false():
    assert [claim_of_fact("", holds, "").verdict for holds in (True, False)] == [HELD, NOT_REPRODUCED]
