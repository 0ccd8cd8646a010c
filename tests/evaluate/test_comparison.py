"""Comparisons: the same folds for all, nothing leaks from test rows, nothing is lost or computed twice."""

from __future__ import annotations

import json
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skewboost import (
    AdaC2Classifier,
    CodeMatrixClassifier,
    CSRAClassifier,
    GoalSearchCV,
    MinimumRiskClassifier,
    RealBoostClassifier,
    SkewBoostClassifier,
)
from skewboost.evaluate import IncompleteResultWarning, ResultsFileError, compare, noise_sweep
from skewboost.evaluate.methods import cost_param, short_name, with_costs
from skewboost.evaluate.results_file import ResultsFile
from skewboost.evaluate.running import Progress
from skewboost.metrics import expected_cost, savings_score
from skewboost.plots import ComparisonDisplay

SECONDS = ("tune_seconds", "fit_seconds", "predict_seconds")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=150) > 1.0).astype(int)
    X[:, 2] = np.arange(150)  # a name for every row
    return X, y


def small(**params):
    return CSRAClassifier(n_estimators=5, **params)


def timeless(comparison):
    return [{k: v for k, v in row.items() if k not in SECONDS} for row in comparison.folds]


def assert_same(first, second):
    for a, b in zip(timeless(first), timeless(second), strict=True):
        np.testing.assert_equal(a, b)


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers the rows it is fitted to and asked about, and how often."""

    seen: list = []  # noqa: RUF012

    def __init__(self, knob=0, fail_on=None, interrupt_after=None):
        self.knob = knob
        self.fail_on = fail_on
        self.interrupt_after = interrupt_after

    def fit(self, X, y):
        if self.interrupt_after is not None and len(self.seen) >= self.interrupt_after:
            raise KeyboardInterrupt
        rows = frozenset(X[:, 2].astype(int).tolist())
        self.seen.append((self.knob, rows))
        if self.fail_on is not None and self.fail_on in rows:
            raise ValueError("will not learn from this row")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.knob % 2)


@pytest.fixture(autouse=True)
def nothing_seen():
    Spy.seen = []


# ------------------------------------------------------------------ folds and seeds


def test_all_methods_see_the_same_rows(data):
    compare({"a": Spy(), "b": Spy(1), "c": Spy(2)}, *data, cv=3, repeats=2, random_state=1)
    by_method = {knob: [rows for k, rows in Spy.seen if k == knob] for knob in (0, 1, 2)}
    assert by_method[0] == by_method[1] == by_method[2]
    assert len(set(by_method[0])) == 6


def test_others_do_not_change_a_method(data):
    draws = DecisionTreeClassifier(max_features=1, max_depth=3)  # draws features
    alone = compare({"tree": draws}, *data, cv=3, random_state=4)
    among = compare({"nb": GaussianNB(), "tree": draws, "csra": small()}, *data, cv=3, random_state=4)
    swapped = compare({"csra": small(), "tree": draws, "nb": GaussianNB()}, *data, cv=3, random_state=4)
    assert timeless(alone) == [row for row in timeless(among) if row["method"] == "tree"]
    key = lambda row: (row["fold"], row["method"])  # noqa: E731
    assert sorted(timeless(among), key=key) == sorted(timeless(swapped), key=key)
    assert among.test("error").mean_ranks == pytest.approx(swapped.test("error").mean_ranks)
    assert among.best("error") == swapped.best("error")


def test_other_data_sets_do_not_change_one(data):
    X, y = data
    one = compare({"nb": GaussianNB()}, {"b": (X, y)}, cv=3, random_state=0)
    two = compare({"nb": GaussianNB()}, {"a": (X[:90], y[:90]), "b": (X, y)}, cv=3, random_state=0)
    assert timeless(one) == timeless(two.of("b"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_n_jobs_changes_nothing_of_portfolios(data, backend, tmp_path):
    own, goal = SkewBoostClassifier(effort="quick"), {"goal": "recall >= 40%", "cv": 2}
    methods = {
        "portfolio": own,
        "portfolio with a goal": clone(own).set_params(goal=goal["goal"], confidence=0.5),
        "goal of a portfolio": GoalSearchCV(own, **goal, confidence=None),
    }
    one = compare(methods, *data, cv=2, random_state=0, results=tmp_path / "one.jsonl")
    assert len(one.folds) == 6
    assert_same(one, compare(methods, *data, cv=2, random_state=0, results=tmp_path / "one.jsonl"))  # from the file
    with joblib.parallel_config(backend=backend):
        assert_same(one, compare(methods, *data, cv=2, random_state=0, n_jobs=2))


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_n_jobs_changes_nothing(data, backend):
    methods = {"csra": small(), "tree": DecisionTreeClassifier(max_features=1)}
    grids = {"csra": {"learning_rate": [0.5, 1.0]}}
    one = compare(methods, *data, cv=2, grids=grids, random_state=0)
    assert len(one.folds) == 4
    with joblib.parallel_config(backend=backend):
        two = compare(methods, *data, cv=2, grids=grids, random_state=0, n_jobs=2)
    assert_same(one, two)


def test_the_seed_makes_the_folds(data):
    a, b, c = (compare({"nb": GaussianNB()}, *data, cv=3, random_state=s) for s in (0, 0, 1))
    assert timeless(a) == timeless(b) != timeless(c)
    drawn = compare({"nb": GaussianNB()}, *data, cv=3)
    again = compare({"nb": GaussianNB()}, *data, cv=3, random_state=drawn.random_state)
    assert timeless(drawn) == timeless(again)


def test_given_splits(data):
    splits = list(StratifiedKFold(4).split(*data))
    comparison = compare({"s": Spy()}, *data, cv=splits)
    assert [rows for _, rows in Spy.seen] == [frozenset(train.tolist()) for train, _ in splits]
    assert [row["fold"] for row in comparison.folds] == [0, 1, 2, 3]


# ------------------------------------------------------------------ tuning


def test_the_grid_is_searched_within_the_training_rows(data):
    splits = list(StratifiedKFold(3).split(*data))
    comparison = compare({"s": Spy()}, *data, cv=splits, grids={"s": {"knob": [0, 1]}}, tune_for="error", inner_cv=2)
    per_fold = len(Spy.seen) // 3
    assert per_fold == 2 * 2 + 1  # knobs, inner folds, and the fit to all training rows
    for k, (train, _) in enumerate(splits):
        seen = [rows for _, rows in Spy.seen[k * per_fold : (k + 1) * per_fold]]
        assert all(rows < frozenset(train.tolist()) for rows in seen[:-1])
        assert seen[-1] == frozenset(train.tolist())
    assert all(row["params"] == {"knob": 0} for row in comparison.folds)  # the frequent class has the smaller error
    recall = compare({"s": Spy()}, *data, cv=splits, grids={"s": {"knob": [0, 1]}}, tune_for="recall")
    assert all(row["params"] == {"knob": 1} for row in recall.folds)
    assert all(row["recall"] == 1.0 for row in recall.folds)


def test_a_scorer_may_say_what_is_better(data):
    wants_three = lambda model, X, y: -abs(model.knob - 3)  # noqa: E731
    found = compare({"s": Spy()}, *data, cv=2, grids={"s": {"knob": [1, 3, 5]}}, tune_for=wants_three, random_state=0)
    assert [row["params"]["knob"] for row in found.folds] == [3, 3]


@pytest.mark.slow
def test_tuned_rounds_are_those_of_separate_fits(data):
    class Apart(CSRAClassifier):
        """Looks as if its rounds depended on their number."""

        def _rule(self):
            rule = super()._rule()
            rule.whole_schedule = True
            return rule

    grid = {"n_estimators": [1, 3, 6], "learning_rate": [0.3, 1.0]}
    given = {"cv": 2, "cost": 5, "grids": {"csra": grid}, "tune_for": "log_loss", "inner_cv": 2, "random_state": 0}
    one, each = (compare({"csra": made()}, *data, **given) for made in (CSRAClassifier, Apart))
    assert timeless(one) == timeless(each)
    assert {row["params"]["n_estimators"] for row in one.folds} != {1}  # not always the first


def test_a_candidate_that_fails_loses(data):
    grid = {"csra": {"learning_rate": [-1.0, 1.0]}}
    found = compare({"csra": small()}, *data, cv=2, grids=grid, random_state=0)
    assert [row["params"] for row in found.folds] == [{"learning_rate": 1.0}] * 2


# ------------------------------------------------------------------ costs and measures


def test_who_is_reportsthe_costs():
    assert with_costs(CSRAClassifier(), 7, {}).cost == 7
    assert with_costs(CSRAClassifier(cost=3), 7, {}).cost == 3
    assert with_costs(CSRAClassifier(), 7, {"cost": 2}).cost == 2
    assert with_costs(CSRAClassifier(), None, {}).cost is None
    inside = make_pipeline(StandardScaler(), CSRAClassifier())
    assert with_costs(inside, 7, {})[-1].cost == 7
    assert inside[-1].cost is None  # the user's own is left alone
    assert with_costs(GridSearchCV(CSRAClassifier(), {}), 7, {}).estimator.cost == 7
    assert with_costs(MinimumRiskClassifier(CSRAClassifier()), 7, {}).estimator.cost is None  # the outermost hears it
    assert cost_param(LogisticRegression()) is None
    assert cost_param(RealBoostClassifier()) is None


def test_costs_are_reportsand_measured(data):
    X, y = data
    splits = [(np.arange(100), np.arange(100, 150))]
    names = np.array(["fine", "rare"])[y]
    found = compare({"csra": small(), "nb": GaussianNB()}, X, names, cost=6, cv=splits)
    model = small(cost={"rare": 6.0, "fine": 1.0}).fit(X[:100], names[:100])
    for row, fitted in zip(found.folds, (model, GaussianNB().fit(X[:100], names[:100]))):
        said = fitted.predict(X[100:])
        assert row["cost"] == pytest.approx(expected_cost(names[100:], said, 6))
        assert row["savings"] == pytest.approx(savings_score(names[100:], said, 6))
        assert row["error"] == pytest.approx(np.mean(said != names[100:]))
    assert found.pos_labels == {"data": "rare"}


def test_what_cannot_be_had_is_absent(data):
    found = compare({"svc": LinearSVC(), "spy": Spy(), "nb": GaussianNB()}, *data, cv=2, random_state=0)
    svc, spy, nb = found.folds[:3]
    assert svc["roc_auc"] > 0.5
    assert svc["brier"] is None
    assert spy["roc_auc"] is spy["log_loss"] is None
    assert np.isnan(spy["precision"])  # it never says "positive"
    assert nb["brier"] is not None
    test = found.test("roc_auc")
    assert set(test.mean_ranks) == {"svc", "nb"}
    assert any("Left out" in caveat for caveat in test.caveats)
    assert found.ranks("brier") == {"nb": 1.0}


def test_many_classes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0)
    matrix = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]])
    found = compare({"nb": GaussianNB(), "tree": DecisionTreeClassifier()}, X, y, cost=matrix, cv=3, random_state=0)
    assert found.measures == ["error", "accuracy", "balanced_accuracy", "g_mean", "cost", "savings"]
    train, test = np.arange(80), np.arange(80, 120)
    row = compare({"nb": GaussianNB()}, X, y, cost=matrix, cv=[(train, test)]).folds[0]
    said = GaussianNB().fit(X[train], y[train]).predict(X[test])
    assert row["cost"] == pytest.approx(expected_cost(y[test], said, matrix))
    assert row["savings"] == pytest.approx(savings_score(y[test], said, matrix))
    assert "balanced accuracy" in str(found)


def test_a_weight_of_two_is_the_row_twice(data):
    X, y = data
    weights = np.ones(150)
    weights[:40] = 2
    twice = np.r_[np.arange(150), np.arange(40)]
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    where = lambda rows: np.flatnonzero(np.isin(twice, rows))  # noqa: E731
    for method in (small(), make_pipeline(StandardScaler(), small())):
        weighed = compare(method, X, y, cv=[(train, test)], sample_weight=weights).folds[0]
        repeated = compare(method, X[twice], y[twice], cv=[(where(train), where(test))]).folds[0]
        for measure in ("error", "recall", "cost", "roc_auc", "brier"):
            assert weighed[measure] == pytest.approx(repeated[measure])
    spy = compare({"spy": Spy()}, X, y, cv=2, sample_weight=weights)
    assert "takes no weights" in spy.folds[0]["failed"]


# ------------------------------------------------------------------ failures and interruptions


def test_a_failure_is_recorded_and_the_others_go_on(data):
    found = compare({"bad": Spy(fail_on=0), "nb": GaussianNB()}, *data, cv=3, random_state=0)
    bad = [row for row in found.folds if row["method"] == "bad"]
    assert [row["failed"] for row in bad].count(None) == 1  # the fold that tests row 0
    assert found.failures[0]["failed"] == "ValueError: will not learn from this row"
    assert found.complete
    assert all(row["error"] is not None for row in found.folds if row["method"] == "nb")
    assert "bad failed in 2 of 3 fits: ValueError: will not learn" in str(found)
    assert "bad failed in 2 of 3 fits" in found._repr_html_()
    with pytest.raises(ValueError, match="will not learn"):
        compare({"bad": Spy(fail_on=0)}, *data, cv=3, random_state=0, on_error="raise")


def test_an_interruption_keeps_what_is_finished(data, tmp_path):
    path = tmp_path / "comparison.jsonl"
    methods = {"spy": Spy(), "csra": small(), "nb": GaussianNB()}
    whole = compare(methods, *data, cv=3, random_state=7)
    Spy.seen = []

    class Impatient(GaussianNB):
        def fit(self, X, y):
            if len(Spy.seen) == 2:
                raise KeyboardInterrupt
            return super().fit(X, y)

    Impatient.__qualname__, Impatient.__module__ = GaussianNB.__qualname__, GaussianNB.__module__
    with pytest.warns(IncompleteResultWarning, match=r"Interrupted after 5 of 9 fits.*continues from"):
        part = compare({**methods, "nb": Impatient()}, *data, cv=3, random_state=7, results=path)
    assert not part.complete
    np.testing.assert_equal(timeless(part), timeless(whole)[:5])
    assert "5 of 9 fits are finished" in str(part)
    assert len(ResultsFile(path).fits) == 5
    fits = len(Spy.seen)
    resumed = compare(methods, *data, cv=3, results=path)  # with the seed of the file
    assert resumed.complete
    assert_same(resumed, whole)
    assert len(Spy.seen) == fits + 1
    assert [row["fit_seconds"] for row in resumed.folds][:5] == [row["fit_seconds"] for row in part.folds]


def test_interrupted_before_anything_is_finished(data):
    with pytest.warns(IncompleteResultWarning):
        nothing = compare({"spy": Spy(interrupt_after=0)}, *data, cv=2)
    assert nothing.folds == []
    assert "No fit is finished" in str(nothing)
    assert nothing.measures == []


def test_interrupted_in_parallel(data, tmp_path):
    class Spied(Spy):
        seen: list = []  # noqa: RUF012  # of its own, as threads that run when the interruption comes end later

    with joblib.parallel_config(backend="threading"), pytest.warns(IncompleteResultWarning):
        part = compare({"spy": Spied(interrupt_after=3)}, *data, cv=8, n_jobs=2, random_state=0, results=tmp_path / "r")
    assert not part.complete
    assert len(part.folds) <= 4  # two threads may pass the third fit at the same time
    assert len(ResultsFile(tmp_path / "r").fits) == len(part.folds)


# ------------------------------------------------------------------ the results file


def test_nothing_is_computed_twice_and_methods_can_be_added(data, tmp_path):
    path = tmp_path / "r.jsonl"
    first = compare({"spy": Spy()}, *data, cv=3, results=path, random_state=0)
    assert len(Spy.seen) == 3
    again = compare({"spy": Spy()}, *data, cv=3, results=path, random_state=0)
    assert len(Spy.seen) == 3
    np.testing.assert_equal(first.folds, again.folds)
    more = compare({"nb": GaussianNB(), "spy": Spy()}, *data, cv=3, results=path)
    assert len(Spy.seen) == 3
    assert_same(more, compare({"nb": GaussianNB(), "spy": Spy()}, *data, cv=3, random_state=0))
    assert len(ResultsFile(path).fits) == 6


@pytest.mark.parametrize("cut", [1, 10, 80])
def test_a_file_cut_within_a_line(data, tmp_path, cut):
    path = tmp_path / "r.jsonl"
    whole = compare({"spy": Spy(), "nb": GaussianNB()}, *data, cv=2, results=path, random_state=0)
    written = path.read_bytes()
    path.write_bytes(written[:-cut])
    with pytest.warns(UserWarning, match="ended in half a line") as said:
        resumed = compare({"spy": Spy(), "nb": GaussianNB()}, *data, cv=2, results=path, random_state=0)
    assert len(said) == 1
    assert_same(whole, resumed)
    assert len(path.read_bytes().splitlines()) == len(written.splitlines())
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_a_file_of_which_only_half_the_first_line_is_there(data, tmp_path):
    path = tmp_path / "r.jsonl"
    for half in (b"{", b'{"kind": "skewb'):
        path.write_bytes(half)
        with pytest.warns(UserWarning, match="ended in half a line"):
            compare({"nb": GaussianNB()}, *data, cv=2, results=path, random_state=0)
        assert len(ResultsFile(path).fits) == 2


def test_other_data_folds_costs_or_parameters_are_refused(data, tmp_path):
    X, y = data
    path = tmp_path / "r.jsonl"
    run = lambda *given, **params: compare(*given, **{"cv": 3, "random_state": 0, "results": path, **params})  # noqa: E731
    run({"csra": small()}, X, y)
    before = path.read_bytes()
    with pytest.raises(ResultsFileError, match="other rows, labels, weights or groups of 'data'"):
        run({"csra": small()}, X + 1, y)
    with pytest.raises(ResultsFileError, match="other folds"):
        run({"csra": small()}, X, y, cv=4)
    with pytest.raises(ResultsFileError, match="other costs"):
        run({"csra": small()}, X, y, cost=5)
    with pytest.raises(ResultsFileError, match="random_state=0, not 1"):
        run({"csra": small()}, X, y, random_state=1)
    with pytest.raises(ResultsFileError, match="results of 'csra' with other parameters"):
        run({"csra": small(learning_rate=0.5)}, X, y)
    with pytest.raises(ResultsFileError, match="results of 'csra' with other parameters, another grid"):
        run({"csra": small()}, X, y, grids={"csra": {"learning_rate": [1.0]}})
    assert path.read_bytes() == before


def test_failed_fits_are_tried_again(data, tmp_path):
    path = tmp_path / "r.jsonl"
    failing = compare({"spy": Spy(fail_on=0)}, *data, cv=3, results=path, random_state=0)
    assert len(failing.failures) == 2
    compare({"spy": Spy(fail_on=0)}, *data, cv=3, results=path)
    assert len(Spy.seen) == 3 + 2
    assert len(ResultsFile(path).fits) == 3


def test_damaged_files(data, tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("method,cost\na,1\n")
    with pytest.raises(ResultsFileError, match="is not a results file"):
        compare({"nb": GaussianNB()}, *data, cv=2, results=path)
    path.write_text("my notes")
    with pytest.raises(ResultsFileError, match="is not a results file"):
        compare({"nb": GaussianNB()}, *data, cv=2, results=path)
    assert path.read_text() == "my notes"
    path.unlink()
    compare({"nb": GaussianNB()}, *data, cv=2, results=path)
    lines = path.read_text().splitlines()
    lines[2] = lines[2][:20]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ResultsFileError, match="damaged in line 3"):
        compare({"nb": GaussianNB()}, *data, cv=2, results=path)
    path.write_text('{"kind": "skewboost-comparison", "version": 99, "random_state": 0}\n')
    with pytest.raises(ResultsFileError, match="version 99"):
        compare({"nb": GaussianNB()}, *data, cv=2, results=path)


# ------------------------------------------------------------------ names and bad input


def test_names():
    assert short_name(AdaC2Classifier()) == "AdaC2"
    assert short_name(AdaC2Classifier(cost=5, n_jobs=2)) == "AdaC2(cost=5)"
    assert short_name(make_pipeline(StandardScaler(), LogisticRegression(C=2.0))) == (
        "StandardScaler + LogisticRegression(C=2.0)"
    )
    assert short_name(RandomForestClassifier(n_estimators=7)) == "RandomForest(n_estimators=7)"
    assert short_name(GridSearchCV(DecisionTreeClassifier(), {})) == "GridSearchCV(DecisionTree)"


def test_methods_by_name_class_and_estimator(data):
    given = ["csra", AdaC2Classifier, GaussianNB(), ("mine", DummyClassifier())]
    found = compare(given, *data, cv=2, random_state=0, grids={"CSRA": {"n_estimators": [3]}})
    assert found.methods == ["CSRA", "AdaC2", "GaussianNB", "mine"]
    assert found.folds[0]["params"] == {"n_estimators": 3}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimators": ["CSRB"]}, "There is no method 'CSRB'. Did you mean"),
        ({"estimators": []}, "estimators is empty"),
        ({"estimators": [LinearRegression()]}, "estimators has LinearRegression(), which is not a classifier"),
        ({"grids": [1]}, "grids=.1. must be a dict"),
        ({"random_state": -1}, "random_state=-1 must be an integer from 0"),
        ({"verbose": -1}, "verbose=-1 must be"),
        ({"results": 5}, "results=5 must be the path of a file"),
        ({"results": "/nowhere/at/all.jsonl"}, "cannot be written (No such file or directory). Choose"),
        ({"cv": [(range(100), range(90, 150))]}, "split 0 trains on 10 of the rows that it tests, row 90"),
        ({"estimators": ["CSRA", "CSRA"]}, "Two estimators are called 'CSRA'"),
        ({"grids": {"nobody": {}}}, "grids has an entry for 'nobody', but the methods are 'GaussianNB'"),
        ({"grids": {"GaussianNB": {"depth": [1]}}}, "'depth', which is not a parameter"),
        ({"grids": {"GaussianNB": 3}}, "is not a grid"),
        ({"tune_for": "luck"}, "tune_for='luck' must be one of"),
        ({"inner_cv": 1}, "inner_cv=1 must be"),
        ({"on_error": "ignore"}, "on_error='ignore' must be"),
        ({"n_jobs": 0}, "n_jobs=0 must be"),
        ({"verbose": "yes"}, "verbose='yes' must be"),
        ({"cv": 1}, "cv=1 must be"),
        ({"y": None}, "y is None"),
        ({"cost": -1}, "must be a finite number greater than 0"),
        ({"pos_label": 9}, "pos_label=9 is not among the classes"),
        ({"y": np.zeros(150)}, "compare needs examples of at least 2 classes"),
    ],
)
def test_bad_input(data, params, message):
    given = {"estimators": [GaussianNB()], "X": data[0], "y": data[1], **params}
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        compare(**given)


def test_bad_data_sets(data):
    X, y = data
    with pytest.raises(ValueError, match="Leave y at None"):
        compare([GaussianNB()], {"a": data}, y)
    with pytest.raises(ValueError, match=r"\{name: \(X, y\)\}"):
        compare([GaussianNB()], {"a": X})
    with pytest.raises(ValueError, match="must be a dict by data set"):
        compare([GaussianNB()], {"a": data}, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match="not a classifier"):
        compare([object()], X, y)


# ------------------------------------------------------------------ what comes out


@pytest.fixture(scope="module")
def several(data):
    X, y = data
    sets = {f"set {k}": (X[k * 10 :], y[k * 10 :]) for k in range(6)}
    costs = {name: 2.0 + k for k, name in enumerate(sets)}
    methods = {"nb": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1), "most frequent": DummyClassifier()}
    return compare(methods, sets, cost=costs, cv=3, random_state=0)


def test_several_data_sets(several):
    assert several.cost_matrices["set 3"].tolist() == [[0, 1], [5, 0]]
    test = several.test("cost")
    assert (test.method, test.blocks, test.n_blocks) == ("friedman", "data sets", 6)
    means = {m: v.reshape(6, 3).mean(axis=1) for m, v in several.values("cost").items()}
    place = [sorted(means, key=lambda m: means[m][k]) for k in range(6)]
    for method, rank in several.ranks("cost").items():
        assert rank == pytest.approx(np.mean([order.index(method) + 1 for order in place]))
    assert several.best("cost") == next(iter(several.ranks("cost")))
    two = several.summary("cost", data_set="set 2")
    assert two[0]["mean"] == pytest.approx(several.values("cost")["nb"][6:9].mean())


def test_summary(several):
    row = several.summary("roc_auc")[0]
    by_set = several.values("roc_auc")["nb"].reshape(6, 3).mean(axis=1)
    assert (row["method"], row["n"], row["n_failed"]) == ("nb", 18, 0)
    assert row["mean"] == pytest.approx(by_set.mean())
    assert row["sd"] == pytest.approx(by_set.std(ddof=1))
    everything = several.summary()
    assert {r["measure"] for r in everything} == {*several.measures, *SECONDS}
    assert sum(r["best"] for r in several.summary("roc_auc")) == 1
    assert len(everything.as_frame()) == len(everything)


def test_tables(several):
    text, table = str(several), several.as_markdown(["recall", "cost"])
    assert [line.split()[0] for line in text.splitlines()[1:4]] == [name.split()[0] for name in several.ordered("cost")]
    assert "18 folds of 6 data sets" in text
    head, rule, *rows = table.splitlines()[:5]
    assert head == "| method | recall ↑ | cost ↓ | rank |"
    assert {line.count("|") for line in (head, rule, *rows)} == {5}
    assert sum("**" in row for row in rows) >= 1
    assert several._repr_html_().count("<tr>") == 4
    frame = several.as_frame()
    assert frame.shape[0] == 54
    assert list(frame.columns[:4]) == ["data_set", "method", "repeat", "fold"]


def test_markup_in_names_is_text(data):
    found = compare({"<b>|": GaussianNB()}, *data, cv=2)
    assert "<b>|" not in found._repr_html_()
    assert r"\<b\>\|" in found.as_markdown()


def test_unknown_measures_are_named(several):
    for ask in (several.summary, several.test, several.ranks, several.best, several.values):
        with pytest.raises(ValueError, match=r"measure='luck' is not a measure\. Choose one of error"):
            ask("luck")


def test_progress_tells_how_far_it_is(data, capsys):
    reports = []
    compare({"nb": GaussianNB(), "spy": Spy()}, *data, cv=2, verbose=reports.append)
    assert [(p.done, p.total) for p in reports] == [(k, 4) for k in range(5)]
    assert reports[0] == Progress(0, 4, ("nb on data, repeat 1, fold 1",), None)
    assert reports[-1].running == ()
    compare({"nb": GaussianNB()}, *data, cv=2, verbose=2)
    err = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in err] == ["1/2", "2/2"]
    assert err[0].endswith("left  nb on data, repeat 1, fold 2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare({"nb": GaussianNB()}, *data, cv=2)
    assert capsys.readouterr().err == ""


def test_a_fold_without_positives_to_learn_from(data):
    X, y = data
    train, test = np.flatnonzero(y == 0)[:60], np.r_[np.flatnonzero(y == 0)[60:], np.flatnonzero(y == 1)]
    found = compare([GaussianNB()], X, y, cv=[(train, test)])
    message = "InputError: The training rows of this fold have no example of 1."
    assert found.folds[0]["failed"].startswith(message)


def test_frames_of_other_libraries(data):
    import pandas as pd
    import polars as pl

    X, y = data
    frame = pd.DataFrame(X, columns=list("abc")).assign(d=np.where(X[:, 0] > 0, "high", "low"))
    found = [compare([small()], table, y, cv=2, random_state=0) for table in (frame, pl.from_pandas(frame))]
    assert timeless(found[0]) == timeless(found[1])
    assert not found[0].failures


def test_splits_that_can_be_gone_through_once_serve_all_data_sets(data):
    splits = StratifiedKFold(3).split(*data)
    assert len(compare([GaussianNB()], {"a": data, "b": data}, cv=splits).folds) == 6


def test_of_seconds_less_is_better(data):
    found = compare({"nb": GaussianNB(), "constant": DummyClassifier()}, *data, cv=2, random_state=0)
    for row in found.folds:
        row["fit_seconds"] = 1.0 + (row["method"] == "nb")
    assert found.ordered("fit_seconds") == ["constant", "nb"]
    assert [row["method"] for row in found.summary("fit_seconds") if row["best"]] == ["constant"]
    display = ComparisonDisplay.from_comparison(found, measure="fit_seconds")
    assert display.methods == ["constant", "nb"]
    assert display.ax_.get_xlabel() == "fit [s] (lower is better)"


def test_who_failed_where_it_is_hard_is_not_the_best(data):
    found = compare({"nb": GaussianNB(), "lucky": DummyClassifier()}, *data, cv=3, random_state=0)
    for row in found.folds:
        row["cost"] = 1.0 if row["fold"] == 2 else 0.3
        if row["method"] == "lucky":
            row["cost"] = None if row["fold"] == 2 else 0.4  # a lower mean, without the hard fold
    means = {row["method"]: (row["mean"], row["best"]) for row in found.summary("cost")}
    assert means["lucky"][0] < means["nb"][0]
    assert not means["lucky"][1]
    assert means["nb"][1]
    assert found.best("cost") == "nb"
    assert "lucky has cost on 2 of 3 folds only" in str(found)


def test_no_measures_to_show(data):
    with pytest.raises(ValueError, match="measures is empty"):
        compare([GaussianNB()], *data, cv=2).as_markdown([])


class Certain(ClassifierMixin, BaseEstimator):
    """Never in doubt, and sometimes wrong."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = (X[:, 0] > 1.0).astype(float)
        return np.column_stack((1 - p, p))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_the_log_loss_is_scikit_learns_even_of_those_who_are_certain_and_wrong(data):
    X, y = data
    found = compare([Certain()], X, y, cv=[(np.arange(75), np.arange(75, 150))])
    assert found.folds[0]["log_loss"] == pytest.approx(log_loss(y[75:], Certain().fit(X, y).predict_proba(X[75:])))


@pytest.mark.parametrize("wrap", [
    lambda clf: BaggingClassifier(clf, n_estimators=2),
    lambda clf: VotingClassifier([("only", clf)]),
    lambda clf: make_pipeline(StandardScaler(), OneVsRestClassifier(clf)),
    lambda clf: CodeMatrixClassifier(clf),
])  # fmt: skip
def test_what_is_inside_is_reportsthe_costs_by_the_labels_that_it_sees(data, wrap):
    X, y = data
    text = np.where(y == 1, "bad", "good")  # 1 and 0 as numbers, but the other way round in sorted order
    how = {"cv": 2, "cost": 30, "random_state": 0}
    named, numbered = (compare({"it": wrap(small())}, X, labels, **how) for labels in (text, 1 - (text == "good")))
    assert not named.failures
    np.testing.assert_equal([r["recall"] for r in named.folds], [r["recall"] for r in numbered.folds])
    found = noise_sweep({"it": wrap(small())}, X, text, levels=[0], cv=2, random_state=0)
    assert np.isfinite(found.mean("cost")).all()


def test_estimators_of_ours_are_reportsthe_positive_class(data):
    X, y = data
    both = {"told": small(cost=50), "knows": small(cost=50, pos_label=0)}
    found = compare(both, X, y, cv=2, random_state=0, pos_label=0)
    told, knows = found.values("recall").values()
    np.testing.assert_array_equal(told, knows)


def test_several_data_sets_are_named_in_errors(data):
    with pytest.raises(ValueError, match=r"In data set 'b': .*only one class"):
        compare([GaussianNB()], {"a": data, "b": (data[0][:3], np.zeros(3))})
    with pytest.raises(ValueError, match="two data sets of the same name"):
        compare([GaussianNB()], {1: data, "1": data})


def test_if_all_fail_the_error_says_so(data):
    found = compare([LogisticRegression(C=-1.0)], *data, cv=2)
    with pytest.raises(ValueError, match="no fit has succeeded"):
        found.test()
