"""The drawing shows what the search found."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from goals.ruler import Ruler, draw
from plots.conftest import legend
from skewboost import GoalSearchCV
from skewboost.plots import GoalFrontierDisplay


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_the_drawing_shows_goal_points_and_choice(confidence):
    X, y = draw(1200, 0)
    clf = GoalSearchCV(Ruler(), "recall >= 0.8", tune="cost", confidence=confidence, random_state=0).fit(X, y)
    display = GoalFrontierDisplay.from_estimator(clf)
    ax = display.ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false alarm rate", "recall")
    assert ax.get_title(loc="left") == "Goal: recall >= 0.8"
    assert "recall >= 0.8" in legend(ax)
    shown = np.concatenate([c.get_offsets() for c in ax.collections])
    np.testing.assert_array_equal(np.sort(shown[:, 1]), np.sort(clf.search_["recall"]))
    stars = [line for line in ax.lines if line.get_marker() == "*"]
    counts = clf.counts_ if confidence is None else clf.certificate_.counts
    assert stars[0].get_xydata().tolist() == [[counts.false_alarm_rate, counts.recall]]
    assert ("bound with 90% confidence" in legend(ax)) == (confidence is not None)


def test_a_goal_that_is_its_own_merit_is_drawn_against_costs():
    X, y = draw(600, 0)
    clf = GoalSearchCV(Ruler(), "f1 >= 0.4", tune="cost", confidence=None, random_state=0).fit(X, y)
    display = GoalFrontierDisplay.from_estimator(clf)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "cost of a miss / cost of a false alarm"


def test_it_draws_into_given_axes():
    X, y = draw(600, 0)
    _, ax = plt.subplots()
    clf = GoalSearchCV(Ruler(), "recall >= 0.7 and false_alarm_rate <= 0.6", confidence=None, random_state=0).fit(X, y)
    assert GoalFrontierDisplay.from_estimator(clf, ax=ax).ax_ is ax
