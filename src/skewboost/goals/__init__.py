"""Goals: search for a model that reaches a goal, with a certificate from held-out rows."""

from __future__ import annotations

from skewboost.goals.certificate import Certificate
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.goal_measures import (
    GOAL_MEASURES,
    GoalMeasure,
    accuracy,
    expected_cost,
    f1,
    false_alarm_rate,
    flagged_share,
    g_mean,
    miss_rate,
    precision,
    recall,
    specificity,
)
from skewboost.goals.goal_search import GoalSearchCV
from skewboost.goals.reasons import GoalNotMetWarning, GoalNotReachableError, LittleUseWarning
from skewboost.goals.units import RepeatedRowsWarning

__all__ = [
    "GOAL_MEASURES",
    "Certificate",
    "Condition",
    "Goal",
    "GoalMeasure",
    "GoalNotMetWarning",
    "GoalNotReachableError",
    "GoalSearchCV",
    "LittleUseWarning",
    "RepeatedRowsWarning",
    "accuracy",
    "expected_cost",
    "f1",
    "false_alarm_rate",
    "flagged_share",
    "g_mean",
    "miss_rate",
    "precision",
    "recall",
    "specificity",
]
