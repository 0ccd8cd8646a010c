"""Accidental repeats have a small effect on a goal of `SkewBoostClassifier`, and what is said about them is true."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from skewboost import SkewBoostClassifier
from skewboost.datasets import make_fraud
from skewboost.goals import GoalNotReachableError, RepeatedRowsWarning
from support import sized


def fraud(n_rows, n_repeats):
    X, y = make_fraud(n_rows, random_state=2)
    rows = np.r_[np.arange(n_rows), np.random.default_rng(0).integers(0, n_rows, n_repeats)]
    return X.iloc[rows], y.to_numpy()[rows]


@sized("n_rows", 2000, 9000)
@pytest.mark.parametrize("goal", ["recall >= 60%", "false_alarm_rate <= 10%"])
def test_ten_repeats_hardly_change_the_evidence(goal, n_rows):
    model = SkewBoostClassifier(goal=goal, effort="quick", random_state=0)
    plain = model.fit(*fraud(n_rows, 0)).certificate_
    with pytest.warns(RepeatedRowsWarning, match=f"10 of the {n_rows + 10} rows of X repeat another row"):
        repeated = model.fit(*fraud(n_rows, 10)).certificate_
    assert plain.met
    assert repeated.met
    assert abs(repeated.evidence.total - plain.evidence.total) <= 1


def test_the_remedy_of_the_message_is_an_argument_of_fit():
    X, y = fraud(2000, 10)
    model = SkewBoostClassifier(goal="recall >= 60%", effort="quick", random_state=0)
    with pytest.warns(RepeatedRowsWarning) as told:
        model.fit(X, y)
    (remedy,) = re.findall(r"If they are independent examples, pass (\w+)=(.*?) to fit\.", str(told[0].message))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, **{remedy[0]: eval(remedy[1])})
    assert model.certificate_.evidence == model.certificate_.counts


def test_what_is_not_certified_is_said_without_contradiction():
    X, y = fraud(1000, 0)
    for bound in range(20, 100, 25):
        model = SkewBoostClassifier(goal=f"precision >= {bound}%", effort="quick", random_state=0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y)
        except GoalNotReachableError as error:
            more = re.findall(r"About ([\d.]+) times as many", str(error))
            shown = re.findall(r"show no more than precision >= ([\d.]+)\.", str(error))
            assert not shown or float(shown[0]) < bound / 100
            assert not more or float(more[0]) > 1.0
