"""Goals are read as they are meant, and what cannot be meant is refused."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.goals import Condition, Goal, expected_cost, f1, false_alarm_rate, g_mean, precision, recall
from skewboost.metrics import Counts

COUNTS = Counts(tp=45, fp=30, fn=5, tn=920)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("recall>=0.95", "recall >= 0.95"),
        ("Recall > 95 %", "recall >= 0.95"),
        ("sensitivity ≥ .9", "recall >= 0.9"),
        ("false-alarm rate <= 1%", "false_alarm_rate <= 0.01"),
        ("fpr < 1e-2", "false_alarm_rate <= 0.01"),
        ("precision >= 0.3 AND recall >= 0.8", "precision >= 0.3 and recall >= 0.8"),
        ("precision >= 0.3 and recall >= 0.8", "precision >= 0.3 and recall >= 0.8"),
        ("F1 >= 0.6 & share flagged <= 5%", "f1 >= 0.6 and flagged_share <= 0.05"),
        ("G-mean >= 0.8, expected cost <= 2.5", "g_mean >= 0.8 and cost <= 2.5"),
    ],
)
def test_text_is_read(text, meant):
    assert str(Goal.of(text)) == meant
    assert Goal.of(meant) == Goal.of(text)


def test_objects_say_the_same():
    assert (recall >= 0.9) & (precision >= 0.3) == Goal.of("recall >= 0.9 and precision >= 0.3")
    assert (expected_cost <= 2) == Goal.of("expected_cost <= 2")
    assert Goal.of(Condition("tpr", ">=", 0.9)) == (recall >= 0.9)
    assert (recall > 0.9) & "precision > 30%" == Goal.of("recall > 0.9 and precision > 0.3")


@pytest.mark.parametrize("joined", [lambda: (recall >= 0.9) and (precision >= 0.3), lambda: 0.5 <= recall <= 0.9])
def test_a_condition_is_not_lost_to_python(joined):
    with pytest.raises(TypeError, match="Join conditions with &"):
        joined()


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("recall", "cannot be read"),
        ("recall >= lots", "cannot be read"),
        ("brilliance >= 0.9", "Choose one of recall"),
        ("recall == 0.95", "Use '>=' or '<='"),
        ("recall >= 95", "between 0 and 1"),
        ("recall >= 0", "always holds"),
        ("false_alarm_rate <= 100%", "always holds"),
        ("expected_cost >= 3", "low"),
        (0.95, "neither text nor a Goal"),
        ("recall >= 0,95", "comma within a number"),
        ("recall >= 0.9 and recall <= 0.5", "cannot both hold"),
        ("recall >= 0.9 and miss_rate >= 0.2", "cannot both hold"),
    ],
)
def test_nonsense_is_refused(goal, message):
    with pytest.raises(ValueError, match=message):
        Goal.of(goal)


def test_met_and_short():
    assert (recall >= 0.9).met(COUNTS)
    assert not (recall >= 0.91).met(COUNTS)
    assert (recall >= 0.95).shortfall(COUNTS) == pytest.approx(0.05)
    assert not (precision >= 0.1).met(Counts(0, 0, 5, 5))  # a share of nothing


@pytest.mark.parametrize(
    "goal", [recall >= 0.8, false_alarm_rate <= 0.05, precision >= 0.5, f1 >= 0.6, g_mean >= 0.85, expected_cost <= 0.4]
)
def test_the_limit_is_where_the_p_value_is_delta(goal):
    cost = np.array([[0.0, 1.0], [20.0, 0.0]])
    (condition,) = goal.conditions
    limit = condition.limit(COUNTS, 0.1, cost)
    at_limit = Condition(condition.name, condition.sense, limit)
    assert at_limit.p_value(COUNTS, cost) == pytest.approx(0.1, abs=1e-6)


def test_f1_is_a_share_in_disguise():
    # F1 >= b just where TP / (TP + FP + FN) >= b / (2 - b)
    for b in (0.3, 0.6, 0.9):
        for counts in (COUNTS, Counts(9, 1, 1, 0), Counts(3, 5, 5, 100)):
            jaccard = counts.tp / (counts.tp + counts.fp + counts.fn)
            assert bool((f1 >= b).met(counts)) == (jaccard >= b / (2 - b))


def test_all_conditions_count():
    goal = Goal.of("recall >= 0.8 and precision >= 0.5")
    assert goal.p_value(COUNTS) == max((recall >= 0.8).p_value(COUNTS), (precision >= 0.5).p_value(COUNTS))
    assert goal.met(COUNTS)
    assert not Goal.of("recall >= 0.8 and precision >= 0.7").met(COUNTS)


def test_what_a_threshold_does():
    assert (recall >= 0.9).rising is False
    assert (false_alarm_rate <= 0.1).rising is True
    assert (precision >= 0.9).rising is None
    assert Goal.of("recall >= 0.9 and false_alarm_rate <= 0.1").rising is None
