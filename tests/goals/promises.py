"""How often promises are made and broken, where the truth is known; `benchmarks/promises.py` prints it."""

from __future__ import annotations

import warnings

import numpy as np

from goals.ruler import Ruler, draw, truth
from skewboost.goals import GoalNotReachableError, GoalSearchCV

GOALS = [
    ("recall >= 0.8", {}),
    ("false_alarm_rate <= 0.1", {}),
    ("precision >= 0.5", {}),
    ("f1 >= 0.5", {}),
    ("g_mean >= 0.7", {}),
    ("flagged_share <= 0.3", {}),
    ("expected_cost <= 0.6", {"cost": 5}),
    ("recall >= 0.6 and precision >= 0.35", {}),
]


def broken_promises(goal, tune, n_repeats, n_rows, **params):
    """How often a promise was made, how often of these it was broken, and the values of the first measure."""
    made = broken = 0
    values = []
    for seed in range(n_repeats):
        X, y = draw(n_rows, seed)
        clf = GoalSearchCV(
            Ruler(), goal, tune=tune, cv=2, max_points=8, pos_label=1, random_state=seed, confidence=0.9, **params
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                clf.fit(X, y)
        except GoalNotReachableError:
            continue
        made += 1
        matrix = None if "cost" not in params else np.array([[0.0, 1.0], [params["cost"], 0.0]])
        broken += not clf.goal_.met(truth(clf), matrix)
        values.append(clf.goal_.conditions[0].measure.value(truth(clf), matrix))
    return made, broken, np.array(values)
