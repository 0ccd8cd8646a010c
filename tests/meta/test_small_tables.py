"""On small, degenerate and noisy tables a portfolio is finite, and hardly ever worse than the class frequencies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from meta.small_tables import TABLES, excess
from program_runners import run_c, run_onnx, run_python, run_sql
from skewboost import GoalSearchCV, SkewBoostClassifier
from skewboost.errors import InputError, RepeatedRowsWarning, SkewBoostWarning
from skewboost.goals import GoalNotReachableError
from skewboost.io import dumps, loads
from support import sized

pytestmark = pytest.mark.filterwarnings("ignore::skewboost.errors.SkewBoostWarning")


def drawn(name, seed=0):
    return TABLES[name](np.random.default_rng(seed))


@sized("n_draws", 2, 30)
@pytest.mark.parametrize(
    "effort", ["quick", *(pytest.param(e, marks=pytest.mark.slow) for e in ("default", "thorough"))]
)
@pytest.mark.parametrize("name", TABLES)
def test_new_rows_are_predicted_hardly_worse_than_by_the_class_frequencies(name, effort, n_draws):
    found = [excess(SkewBoostClassifier(effort=effort, random_state=s), drawn(name, s)) for s in range(n_draws)]
    relative, constant = np.transpose(found)
    assert relative.max() <= 0.10
    assert np.average(relative, weights=constant) <= 0.03


@pytest.mark.parametrize("name", ["50 rows", "5 distinct rows that decide", "50 rows with the label as a column"])
def test_what_can_be_learned_is_learned(name):
    found = [excess(SkewBoostClassifier(effort="quick", random_state=s), drawn(name, s))[0] for s in range(4)]
    assert np.mean(found) < -0.1


def test_separable_classes_are_believed_to_be_separable():
    # the risk is large, and the evidence of all held-out rows is larger
    losses = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(1200) % 6 == 0
        X = rng.normal(size=(1200, 3)) + 6.0 * y[:, None]
        p = SkewBoostClassifier(effort="quick", random_state=0).fit(X[:180], y[:180]).predict_proba(X[180:])
        losses.append(-np.log(p[np.arange(1020), y[180:].astype(int)]).mean())
    assert np.mean(losses) < 0.001


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", TABLES)
def test_engines_agree(name):
    draw = drawn(name)
    a, b = (
        SkewBoostClassifier(effort="quick", random_state=0, cv=2, engine=engine).fit(draw.X, draw.y, **draw.told)
        for engine in ("cpu", "reference")
    )
    np.testing.assert_allclose(a.predict_proba(draw.X_new[:50]), b.predict_proba(draw.X_new[:50]), atol=1e-9)


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", TABLES)
def test_every_model_is_saved_explained_and_exported(name, tmp_path):
    draw = drawn(name)
    clf = SkewBoostClassifier(effort="quick", random_state=0)
    if len(np.unique(draw.y)) == 2:
        clf.set_params(cost=3)  # "balanced" makes both decisions of a constant model equally good
    clf.fit(draw.X, draw.y, **draw.told)
    X = draw.X_new[:20]
    again = loads(dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    shares = clf.contributions(X)
    assert np.isfinite(shares).all()
    assert np.isfinite(clf.feature_importances_).all()
    if len(clf.classes_) == 2:
        np.testing.assert_allclose(shares.sum(axis=1) + clf.baseline_, clf.decision_function(X), atol=1e-9)
    for run in (run_python, run_sql, run_onnx):
        run(clf, X).agrees(clf, X)
    run_c(clf, X, tmp_path).agrees(clf, X)


TWO_CLASSES = [name for name in TABLES if "classes" not in name or "groups" in name]


@pytest.mark.sample(15)
@pytest.mark.parametrize("goal", ["recall >= 50%", "precision >= 40%", "recall >= 30% and referred_share <= 40%"])
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_goals_are_certified_by_finite_scores_or_refused_in_words(name, goal):
    draw = drawn(name)
    for clf in (
        SkewBoostClassifier(goal=goal, confidence=0.6, effort="quick", random_state=0),
        GoalSearchCV(SkewBoostClassifier(effort="quick", random_state=0), goal, confidence=None, random_state=0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                clf.fit(draw.X, draw.y, **draw.told)
            except (GoalNotReachableError, InputError):
                continue
        assert np.isfinite(clf.threshold_)
        if clf.certificate_ is not None:
            assert clf.certificate_.p_value <= 0.4
        assert np.isfinite(clf.predict_proba(draw.X_new)).all()


def test_a_class_in_one_group_is_told():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat([0, 1], [50, 10])
    groups = np.repeat(np.arange(6), 10)
    with pytest.warns(SkewBoostWarning, match="Class 1 is in one of the 6 independent groups only") as told:
        clf = SkewBoostClassifier(effort="quick", random_state=0).fit(X, y, groups=groups)
    assert len(told) == 1
    assert abs(clf.predict_proba(X)[:, 1] - 1 / 6).max() < 0.1
    with warnings.catch_warnings():  # the remedy: examples of the class in another group
        warnings.simplefilter("error")
        SkewBoostClassifier(effort="quick", random_state=0).fit(X, np.where(np.arange(60) < 10, 1, y), groups=groups)


def test_equal_rows_are_independent_where_a_class_is_nothing_but_many_copies():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    y = rng.random(100) < 0.3
    x[y] = np.nan  # all positives are equal
    with pytest.warns(RepeatedRowsWarning, match="rows of X repeat another row, and all rows of class True are equal"):
        clf = SkewBoostClassifier(effort="quick", random_state=0).fit(x[:, None], y)
    assert (clf.predict(x[:, None]) == y).all()
    same = np.where(y, 0, np.arange(100))  # the remedy, if they are copies
    with pytest.warns(SkewBoostWarning, match="Class True is in one of the"):
        one = SkewBoostClassifier(effort="quick", random_state=0).fit(x[:, None], y, groups=same)
    assert abs(one.predict_proba(x[:, None])[:, 1] - y.mean()).max() < 0.1


@pytest.mark.parametrize("times", [2, 4])
def test_a_weight_equals_repeated_rows_also_of_the_only_row_of_a_class(times):
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.arange(12) == 3
    clf = SkewBoostClassifier(effort="quick", random_state=0)
    weighted = clf.fit(X, y, sample_weight=np.where(y, float(times), 1.0)).predict_proba(X)
    rows = np.repeat(np.arange(12), np.where(y, times, 1))
    np.testing.assert_array_equal(clf.fit(X[rows], y[rows]).predict_proba(X), weighted)


def test_noisy_copies_are_found_and_are_no_evidence():
    draw = drawn("five noisy copies of 200 rows")
    clf = SkewBoostClassifier(effort="quick", random_state=0)
    by_itself = clf.fit(draw.X, draw.y).predict_proba(draw.X_new)
    told = clf.fit(draw.X, draw.y, groups=np.unique(draw.X, axis=0, return_inverse=True)[1])
    assert abs(by_itself - told.predict_proba(draw.X_new)).max() < 0.1
