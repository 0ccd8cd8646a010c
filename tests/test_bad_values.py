"""Every parameter and argument of every estimator with values of wrong kinds: it works, or says why in words."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

import skewboost
from skewboost import AdaBoostClassifier, LogitBoostClassifier, RealBoostClassifier, learners
from skewboost.boosting.estimator import BaseBooster, CostSensitiveClassifier
from skewboost.errors import SkewBoostError
from skewboost.learners import samplers

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(24, 2)), 1)
y = (X[:, 0] + 0.5 * rng.normal(size=24) > 0.5).astype(int)

FEW = [None, 0, -1, float("inf"), float("nan"), "x", [], {}, object(), np.array([0, 1])]
MANY = [
    *FEW,
    *(
        1,
        2.5,
        10**400,
        True,
        "",
        "1",
        b"x",
        1j,
        -0.0,
        1e-320,
        np.int64(3),
        np.array(1),
        np.array([]),
        np.array([[0.5]]),
    ),
    *((), set(), [0, 1], {0: 1}, {"a": "b"}, [None], [[]], [{}], [[0, 1], [1, 0]], range(3), int, lambda: 1),
]
ROWS = [X[:, 0], [["a", "b"]] * 24, np.full((24, 2), np.inf), X.astype(complex), "abc", X[:, :0], X[None]]
ENDLESS = {"n_estimators", "n_rounds", "max_rounds", "n_stages"}  # 10**400 of these would be trained
SMALL = {
    "SkewBoostClassifier": {"effort": "quick"},
    "GoalSearchCV": {
        "estimator": RealBoostClassifier(n_estimators=2),
        "goal": "recall >= 50%",
        "confidence": None,
        "max_points": 3,
    },
    "CodeMatrixClassifier": {"estimator": RealBoostClassifier(n_estimators=2)},
    "MinimumRiskClassifier": {"estimator": RealBoostClassifier(n_estimators=2)},
}
QUICK = {"effort": "quick", "random_state": 0}
PORTFOLIOS = {  # the same classes in other ways
    "portfolio with a goal": (skewboost.SkewBoostClassifier, {**QUICK, "goal": "recall >= 50%", "confidence": 0.2}),
    "goal of a portfolio": (
        skewboost.GoalSearchCV,
        {"estimator": skewboost.SkewBoostClassifier(**QUICK), "goal": "recall >= 50%", "confidence": None, "cv": 2},
    ),
}
PUBLIC = [getattr(skewboost, name) for name in skewboost.__all__]
CLASSIFIERS = [c for c in PUBLIC if isinstance(c, type) and issubclass(c, ClassifierMixin)] + [learners.RuleLearner]
EVERY = [*CLASSIFIERS, *(pytest.param(name, marks=pytest.mark.slow) for name in PORTFOLIOS)]
SHARED = set(inspect.signature(CostSensitiveClassifier).parameters)  # of boosters, tried with two of them
LEARNERS = [
    made
    for room in (learners, samplers)
    for name in room.__all__
    if hasattr(made := getattr(room, name), "get_params") and hasattr(made, "prepare" if room is learners else "draw")
]


def small(classifier, **params):
    """A classifier that is fitted in no time."""
    if isinstance(classifier, str):
        classifier, own = PORTFOLIOS[classifier]
        return classifier(**{**own, **params})
    names = inspect.signature(classifier).parameters
    cheap = {"n_estimators": 2, "n_rounds": 2, "max_rounds": 2, "n_stages": 2, "random_state": 0}
    cheap = {name: value for name, value in cheap.items() if name in names}
    return classifier(**{**cheap, **SMALL.get(classifier.__name__, {}), **params})


def tries(classifier, values):
    """Parameters of a classifier with values, but for those that end in nothing but a long time."""
    if isinstance(classifier, str):
        classifier, _ = PORTFOLIOS[classifier]
    shared = issubclass(classifier, BaseBooster) and classifier.__name__ not in ("CSRAClassifier", "CGAdaClassifier")
    for name in inspect.signature(classifier).parameters:
        for value in () if shared and name in SHARED else values:
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0
            processes = name == "n_jobs" and isinstance(value, int | np.integer) and value != 0
            if not (processes or (whole and (name == "verbose" or (name in ENDLESS and value > 100)))):
                yield name, value


class Failures(list):
    """What neither worked nor was refused in words."""

    def check(self, what, function, *args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function(*args, **kwargs)
            except SkewBoostError as error:
                if len(str(error)) < 10:
                    self.append(f"{what}: an error without words: {error}")
            except Exception as error:
                self.append(f"{what}: {type(error).__name__} {str(error)[:100]}")


def with_values(test):
    values = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]
    return pytest.mark.parametrize("values", values, ids=["few", "many"])(test)


@with_values
@pytest.mark.parametrize("classifier", EVERY)
def test_parameters(classifier, values, capsys):
    failures = Failures()
    for name, value in tries(classifier, values):
        failures.check(f"{name}={value!r}", lambda params: small(classifier, **params).fit(X, y), {name: value})
    assert not failures, "\n".join(failures)


@with_values
@pytest.mark.parametrize("learner", LEARNERS)
def test_parameters_of_learners_and_samplers(learner, values):
    failures = Failures()
    place = "sampler" if hasattr(learner, "draw") else "estimator"

    def fit(booster, params):
        booster(n_estimators=2, **{place: learner(**params)}).fit(X, y)

    for name in inspect.signature(learner).parameters:
        for value in values:
            for booster in (AdaBoostClassifier, LogitBoostClassifier):
                failures.check(f"{name}={value!r}", fit, booster, {name: value})
    assert not failures, "\n".join(failures)


@with_values
@pytest.mark.parametrize("classifier", EVERY)
def test_arguments_of_fit(classifier, values):
    failures = Failures()
    clf = small(classifier)
    for name, parameter in inspect.signature(clf.fit).parameters.items():
        for value in () if name == "X" or parameter.kind is parameter.VAR_KEYWORD else values:
            failures.check(f"{name}={value!r}", clf.fit, **{"X": X, "y": y, name: value})
    for rows in [*values, *ROWS]:
        failures.check(f"X={rows!r}", clf.fit, rows, y)
    assert not failures, "\n".join(failures)


@with_values
@pytest.mark.parametrize("classifier", EVERY)
def test_arguments_of_predictions(classifier, values):
    failures = Failures()
    clf = small(classifier).fit(X, y)
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(clf, name):
            for rows in [*values, *ROWS]:
                failures.check(f"{name}({rows!r})", getattr(clf, name), rows)
            for argument in list(inspect.signature(getattr(clf, name)).parameters)[1:]:
                for value in values:
                    failures.check(f"{name}({argument}={value!r})", getattr(clf, name), X, **{argument: value})
    assert not failures, "\n".join(failures)
