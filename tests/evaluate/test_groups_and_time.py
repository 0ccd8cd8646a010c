"""Comparisons of rows that belong together, or follow each other in time: no split divides a group or looks ahead."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skewboost import RealBoostClassifier
from skewboost.errors import InputError
from skewboost.evaluate import (
    DividedGroupsWarning,
    ResultsFileError,
    bias_variance,
    compare,
    cost_sweep,
    imbalance_sweep,
    match_rate,
    noise_sweep,
    size_sweep,
    staged_curve,
)
from skewboost.evaluate.problem import repeated_folds
from skewboost.plots import ComparisonDisplay

N, N_GROUPS = 180, 30


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    X[:, 1] = np.arange(N)  # a name for every row
    groups = rng.integers(0, N_GROUPS, N)
    return X, (X[:, 0] + rng.normal(size=N) > 0.8).astype(int), np.array([f"g{k}" for k in groups])


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows that it is fitted to and asked about, and the groups that it is given."""

    seen: list = []  # noqa: RUF012

    def __init__(self, knob=0):
        self.knob = knob

    def fit(self, X, y, groups=None):
        self.classes_, self.rows_ = np.unique(y), X[:, 1].astype(int)
        self.seen.append(["fit", self.rows_, groups])
        return self

    def predict(self, X):
        self.seen.append(["predict", self.rows_, X[:, 1].astype(int)])
        return np.zeros(len(X), dtype=int)


@pytest.fixture(autouse=True)
def nothing_seen():
    Recorder.seen.clear()


def recorded(what):
    return [(first, second) for kind, first, second in Recorder.seen if kind == what]


@pytest.mark.parametrize("cv", [3, GroupKFold(3)], ids=["a number", "a splitter"])
def test_groups_are_whole_in_folds_and_inner_folds_and_are_passed_on(rows, cv):
    X, y, groups = rows
    compare({"spy": Recorder()}, X, y, groups=groups, cv=cv, grids={"spy": {"knob": [0, 1]}}, random_state=0)
    asked = recorded("predict")
    assert len(asked) == 3 * (2 * 3 + 1)  # two candidates on three inner folds, and the final model
    for train, test in asked:
        assert not set(groups[train]) & set(groups[test])
    for train, given in recorded("fit"):
        assert len(np.unique(given)) == len(np.unique(groups[train]))
        assert len({*zip(given.tolist(), groups[train].tolist())}) == len(np.unique(given))
    outer = [set(test) for train, test in asked if len(train) + len(test) == N]
    assert sorted(row for fold in outer for row in fold) == list(range(N))


def test_folds_of_groups_are_stratified(rows):
    _, y, groups = rows
    folds = repeated_folds(5, y, 2, 0, groups=np.unique(groups, return_inverse=True)[1])
    shares = [y[test].mean() for _, test in folds]
    assert len(folds) == 10
    assert max(shares) - min(shares) < 0.12
    assert not np.array_equal(folds[0][1], folds[5][1])


def test_searches_pipelines_and_frames_get_groups(rows):
    X, y, groups = rows
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=GroupKFold(2))  # fails without groups
    pipeline = make_pipeline(StandardScaler(), Recorder())
    result = compare({"search": search, "pipe": pipeline}, X, y, groups=pd.Series(groups), cv=2, random_state=0)
    assert not result.failures
    assert all(given is not None for _, given in recorded("fit"))


def test_estimators_that_would_divide_groups_are_named(rows):
    X, y, groups = rows
    with pytest.warns(DividedGroupsWarning, match=r"trees divides .* \(early_stopping=True\)"):
        compare({"trees": HistGradientBoostingClassifier(max_iter=2, early_stopping=True)}, X, y, groups=groups, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DividedGroupsWarning)
        compare({"nb": GaussianNB()}, X, y, groups=groups, cv=2)


def test_other_groups_are_another_comparison(rows, tmp_path):
    X, y, groups = rows
    run = lambda **params: compare({"nb": GaussianNB()}, X, y, results=tmp_path / "r.jsonl", random_state=0, **params)  # noqa: E731
    folds = [*GroupKFold(3).split(X, y, groups)]
    run(groups=groups, cv=folds)
    run(groups=[*groups], cv=GroupKFold(3))  # the same
    with pytest.raises(ResultsFileError, match="rows, labels, weights or groups"):
        run(cv=folds)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cv": GroupKFold(3)}, "needs groups"),
        ({"cv": StratifiedKFold(3), "groups": True}, "split 0 has rows of .* groups both in training and in the test"),
        ({"cv": 3, "groups": ["a"]}, r"groups has shape \(1,\), but X has 180 rows"),
        ({"cv": 3, "groups": [None] * N}, "groups has missing values"),
        ({"cv": 3, "groups": [*"ab"] * (N // 2)}, "need 3 groups with each class, but 0 is in only 2"),
    ],
)
def test_bad_groups(rows, params, message):
    X, y, groups = rows
    if params.get("groups") is True:
        params = {**params, "groups": groups}
    with pytest.raises(InputError, match=message):
        compare({"nb": GaussianNB()}, X, y, **params)


def test_groups_by_data_set(rows):
    X, y, groups = rows
    result = compare({"spy": Recorder()}, {"a": (X, y), "b": (X, y)}, groups={"a": groups}, cv=2, random_state=0)
    assert not result.failures
    given = [g for _, g in recorded("fit")]
    assert [g is not None for g in given] == [True, True, False, False]
    with pytest.raises(InputError, match="groups must be a dict by data set"):
        compare({"nb": GaussianNB()}, {"a": (X, y), "b": (X, y)}, groups=groups)


# ---------------------------------------------------------------------------------- time


def test_inner_folds_follow_time_if_folds_do(rows):
    X, y, _ = rows
    grids = {"spy": {"knob": [0, 1]}}
    for cv in (TimeSeriesSplit(3), list(TimeSeriesSplit(3).split(X))):
        Recorder.seen.clear()
        compare({"spy": Recorder()}, X, y, cv=cv, grids=grids, random_state=0)
        asked = recorded("predict")
        assert len(asked) == 3 * (2 * 3 + 1)
        assert all(train.max() < test.min() for train, test in asked)


def test_folds_in_time_have_no_p_value(rows):
    X, y, _ = rows
    methods = {"nb": GaussianNB(), "linear": LogisticRegression()}
    result = compare(methods, X, y, cv=TimeSeriesSplit(4), random_state=0)
    for method in ("auto", "corrected_t", "friedman", "wilcoxon"):
        with pytest.raises(InputError, match="follow each other in time"):
            result.test("cost", method=method)
    assert ComparisonDisplay.from_comparison(result).intervals is None
    assert "linear" in str(result)
    # data sets are independent, however their folds are made
    several = compare(methods, {k: (X[k:], y[k:]) for k in range(3)}, cv=TimeSeriesSplit(2), random_state=0)
    assert 0 <= several.test("cost").pvalue <= 1
    assert several.of("1").in_order == several.in_order


def test_one_split_is_not_an_order(rows):
    X, y, _ = rows
    result = compare(
        {"spy": Recorder()}, X, y, cv=[(np.arange(100), np.arange(100, N))], grids={"spy": {"knob": [0, 1]}}
    )
    assert result.in_order == []
    assert any(train.max() > test.min() for train, test in recorded("predict"))


def test_curves_take_the_splits_of_groups(rows):
    X, y, groups = rows
    curve = staged_curve(RealBoostClassifier(n_estimators=2), X, y, cv=list(GroupKFold(2).split(X, y, groups)))
    assert len(curve.folds) == 2
    with pytest.raises(InputError, match="needs groups"):
        staged_curve(RealBoostClassifier(n_estimators=2), X, y, cv=GroupKFold(2))


class StagedRecorder(Recorder):
    def staged_predict(self, X):
        yield self.predict(X)


@pytest.mark.parametrize(
    ("evaluation", "how"),
    [
        (staged_curve, {"cv": 3}),
        (bias_variance, {"draws": 2}),
        (bias_variance, {"draws": 2, "scheme": "cv", "cv": 3}),
        (noise_sweep, {"cv": 3, "levels": [0.1]}),
        (imbalance_sweep, {"cv": 3, "ratios": [8]}),
        (size_sweep, {"cv": 3, "sizes": [0.5]}),
        (cost_sweep, {"cv": GroupKFold(3), "costs": [1], "param": "knob"}),
        (match_rate, {"cv": 3, "repeats": 1, "max_points": 2}),
    ],
)
def test_groups_are_whole_in_every_evaluation_and_are_passed_on(rows, evaluation, how):
    X, y, groups = rows
    estimator = StagedRecorder()
    if evaluation is match_rate:
        estimator = lambda cost: Recorder(cost)  # noqa: E731
    evaluation(estimator, X, y, groups=groups, random_state=0, **how)
    fitted, asked = recorded("fit"), recorded("predict")
    assert fitted
    for train, given in fitted:
        assert len({*zip(given.tolist(), groups[train].tolist())}) == len(np.unique(groups[train]))
    for train, test in asked:
        assert not set(groups[train]) & set(groups[test]) or set(train) == set(test)


@pytest.mark.parametrize("evaluation", [staged_curve, bias_variance, noise_sweep])
def test_every_evaluation_names_estimators_that_would_divide_groups(rows, evaluation):
    X, y, groups = rows
    trees = HistGradientBoostingClassifier(max_iter=2, early_stopping=True)
    with pytest.warns(DividedGroupsWarning, match=r"Boosting.* divides .* \(early_stopping=True\)") as caught:
        evaluation(trees, X, y, groups=groups)
    assert caught[0].filename == __file__
