"""skops, which also saves models with parts of other libraries: every model, with types that use does not change."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from skops.io import dumps, get_untrusted_types, loads

from skewboost import (
    AdaBoostClassifier,
    CascadeClassifier,
    CGAdaClassifier,
    CodeMatrixClassifier,
    CSRAClassifier,
    GoalSearchCV,
    LogitBoostClassifier,
    MinimumRiskClassifier,
    PastingVotesClassifier,
    RealBoostClassifier,
    RUSBoostClassifier,
    SkewBoostClassifier,
    UnderBaggingClassifier,
    catalogue,
)
from skewboost.learners import Histogram, Line, MDLDiscretizer, RuleLearner, Tree
from support import awkward_data, make

MODELS = [
    *(make(entry.estimator, 3) for entry in catalogue()),
    RealBoostClassifier(estimator=Tree(), n_estimators=3),
    LogitBoostClassifier(estimator=Histogram(), n_estimators=3),
    LogitBoostClassifier(estimator=Line(), n_estimators=3),
    AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=2), n_estimators=3),
    SkewBoostClassifier(effort="quick", random_state=0),
    SkewBoostClassifier(effort="quick", random_state=0, goal="recall >= 50%", confidence=0.5),
    GoalSearchCV(CSRAClassifier(n_estimators=3), "recall >= 50%", confidence=None),
    GoalSearchCV(
        SkewBoostClassifier(effort="quick", random_state=0), "recall >= 50%", confidence=0.5, cv=2, random_state=0
    ),
    UnderBaggingClassifier(SkewBoostClassifier(effort="quick", random_state=0), n_estimators=2, random_state=0),
    UnderBaggingClassifier(AdaBoostClassifier(n_estimators=3), n_estimators=2, random_state=0),
    CodeMatrixClassifier(AdaBoostClassifier(n_estimators=3), random_state=0),
    MinimumRiskClassifier(RealBoostClassifier(n_estimators=3)),
    MinimumRiskClassifier(RealBoostClassifier(n_estimators=3), calibrate="isotonic"),
    PastingVotesClassifier(random_state=0),
    CascadeClassifier(random_state=0),
    RUSBoostClassifier(n_estimators=3, random_state=0),
    RuleLearner(),
    make_pipeline(StandardScaler(), MDLDiscretizer(), CGAdaClassifier(n_estimators=3, random_state=0)),
]
FOREIGN = {"builtins.frozenset", "sklearn.tree._tree.Tree"}  # all other types are of this package


def trusted(file: bytes) -> list[str]:
    """The recipe of docs/models.md."""
    return [name for name in get_untrusted_types(data=file) if name.startswith("skewboost.") or name in FOREIGN]


@pytest.mark.sample(18)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_is_the_same_after_skops_and_its_types_do_not_depend_on_use(model):
    X, y = awkward_data(150, missing=0.0)
    fresh = dumps(model.fit(X, y))
    before = {name: getattr(model, name)(X) for name in ("predict", "predict_proba") if hasattr(model, name)}
    for name in ("contributions", "shape_functions"):
        if type(model) in (CSRAClassifier, SkewBoostClassifier):
            getattr(model, name)(*[X][: name == "contributions"])
    used = dumps(model)
    assert get_untrusted_types(data=used) == get_untrusted_types(data=fresh)
    for file in (fresh, used):
        loaded = loads(file, trusted=trusted(file))
        for name, expected in before.items():
            np.testing.assert_array_equal(getattr(loaded, name)(X), expected)
