"""Bad input gets an error that names the argument, the value and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier, catalogue
from skewboost.learners import Histogram, Line, Stump, Tree
from support import awkward_data

X, Y = awkward_data(60)


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        (X, np.zeros(60), None, "needs examples of at least 2 classes, but y has only one class: .*0"),
        (X, Y[:-1], None, "inconsistent numbers of samples"),
        (X[:0], Y[:0], None, "0 sample"),
        (np.where(np.isnan(X), np.inf, X), Y, None, "infinity"),
        (pd.DataFrame({"a": [1.0, np.inf, 2.0]}), [0, 1, 0], None, "Column 'a' of X contains infinity.*Replace it"),
        (pd.DataFrame({"a": [1.0, 10**400]}, dtype=object), [0, 1], None, "Column 'a' of X contains.*too large"),
        ([[1.0], [10**400]], [0, 1], None, "X contains a number that is too large for a double. Replace it"),
        (np.array([[1], [10**400]], dtype=object), [0, 1], None, "X contains a number that is too large"),
        (pd.DataFrame({"a": []}), [], None, "empty table: X has 0 rows and 1 columns"),
        (X, Y, -np.ones(60), r"sample_weight has a negative entry \(-1.0\)"),
        (X, Y, np.zeros(60), "sample_weight is zero for every row"),
        (X, Y, np.ones(59), r"sample_weight has shape \(59,\), but X has 60 rows"),
        (X, Y, np.full(60, np.nan), "sample_weight contains NaN"),
        (X, Y, np.full(60, 1e308), "sample_weight sums to inf, but weights count examples. Scale them"),
        (X, Y, np.full(60, 1e-300), "sample_weight sums to 6e-299"),
        (X, np.where(Y == 1, 0.5, 0.25), None, "Unknown label type"),
        (X, np.where(Y == 1, "a", None), None, "y has missing values"),
        (X, np.array([1, "a"] * 30, dtype=object), None, "cannot be sorted|Unknown label type"),
        (X, None, None, "requires y to be passed"),
        (
            np.array([["M"], ["F"]]),
            [0, 1],
            None,
            "X is an array that holds text .*Pass a pandas, polars or Arrow table",
        ),
        (np.array([["M"], [1.0]], dtype=object), [0, 1], None, "X is an array that holds text"),
    ],
)
def test_data(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        RealBoostClassifier().fit(X, y, sample_weight=weights)


def test_sparse_tables_and_dates_are_not_for_us():
    with pytest.raises(TypeError, match=r"Sparse data.*X.toarray\(\)"):
        RealBoostClassifier().fit(csr_array(np.nan_to_num(X)), Y)
    dates = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(TypeError, match=r"Column 'when' of X has type Datetime.*Derive numbers"):
        RealBoostClassifier().fit(dates, [0, 1])
    for days in (dates.to_numpy(), dates.to_numpy() - dates.to_numpy()[0]):
        with pytest.raises(TypeError, match=r"X is an array of type (datetime|timedelta)64.*Derive numbers"):
            RealBoostClassifier().fit(days, [0, 1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators of RealBoostClassifier must be an integer >= 1; got 0"),
        ({"n_estimators": 2.5}, "n_estimators .* must be an integer >= 1; got 2.5"),
        ({"learning_rate": 0}, "learning_rate .* must be a number > 0 and <= 2; got 0"),
        ({"learning_rate": np.nan}, "learning_rate .* must be a number > 0 and <= 2; got nan"),
        ({"early_stopping": -1}, "early_stopping .* got -1"),
        ({"early_stopping": True, "validation_fraction": 1.5}, "validation_fraction .* got 1.5"),
        ({"validation_fraction": 0.2}, "validation_fraction=0.2 has no effect without early stopping"),
        ({"scoring": "roc_auc"}, "scoring='roc_auc' has no effect without early stopping"),
        ({"callbacks": print}, "callbacks .* must be a list of callables"),
        ({"learning_rate": 50}, "learning_rate .* got 50"),
        ({"n_jobs": 0}, "n_jobs .* got 0"),
        ({"engine": None}, "engine must be one of .* got None"),
        ({"estimator": Stump(constant=True)}, "constant=True of Stump has no effect with the criterion 'z'"),
        ({"estimator": Histogram(edges=5)}, "inner edges for each of the 9 features of X; got 5"),
        ({"engine": "gpu"}, "engine must be one of 'auto', 'cpu', 'reference'; got 'gpu'"),
        ({"pos_label": "fraud"}, r"pos_label='fraud' is not among the classes of y, which are \[0, 1\]"),
        ({"estimator": "forest"}, "estimator must be 'stump', 'tree'.*got 'forest'"),
        ({"estimator": Stump(criterion="mse")}, "criterion of Stump must be one of 'error'.*got 'mse'"),
        ({"estimator": Stump(max_bins=256)}, "max_bins of Stump must be an integer from 2 to 255, or None; got 256"),
        ({"estimator": Tree(max_leaf_nodes=1)}, "max_leaf_nodes of Tree must be an integer >= 2, or None; got 1"),
        ({"estimator": Tree(max_leaf_nodes=None)}, "would grow until every leaf is pure"),
        ({"estimator": Tree(criterion="zbar")}, "criterion of Tree"),
        ({"estimator": Histogram(max_bins=4, edges=[[0]] * 9)}, "takes max_bins or edges, not both"),
        ({"estimator": Histogram(edges=[[0]])}, "inner edges for each of the 9 features of X; got"),
        ({"estimator": Histogram(edges=[[1, 0]] * 9)}, r"edges\[0\] of Histogram must be"),
    ],
)
def test_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        RealBoostClassifier(**params).fit(X, Y)


def test_a_class_instead_of_an_instance():
    with pytest.raises(TypeError, match=r"estimator is the class Stump; pass an instance: estimator=Stump\(\)"):
        RealBoostClassifier(estimator=Stump).fit(X, Y)


@pytest.mark.parametrize(
    ("booster", "learner"),
    [
        (AdaBoostClassifier, Line()),
        (RealBoostClassifier, Line()),
        (RealBoostClassifier, LinearRegression()),
        (LogitBoostClassifier, GaussianNB()),
    ],
)
def test_a_learner_that_cannot_answer_fails_before_anything_is_read(booster, learner):
    rule = booster.__name__.removesuffix("Classifier")
    with pytest.raises(ValueError, match=rf"{rule} asks its .* for .*, but {type(learner).__name__} provides"):
        booster(estimator=learner).fit("not even a table", None)


@pytest.mark.parametrize(
    "learner", [Stump(criterion="gini"), Tree(criterion="z"), Histogram(criterion="gini")], ids=str
)
def test_a_criterion_means_nothing_to_least_squares(learner):
    with pytest.raises(ValueError, match=rf"criterion='\w+' of {type(learner).__name__} has no effect"):
        LogitBoostClassifier(estimator=learner).fit(X, Y)


def test_lines_need_numbers():
    frame = pd.DataFrame({"a": list("abab")})
    with pytest.raises(ValueError, match="Line needs a numeric column"):
        GentleBoostClassifier(estimator=Line()).fit(frame, [0, 1, 0, 1])


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_more_than_two_classes_are_refused_by_all_but_two(entry):
    clf, three = entry.make(3), np.arange(60) % 3
    many = entry.name in ("AdaBoostMH", "AdaC2M1")
    assert get_tags(clf).classifier_tags.multi_class is many
    if many:
        assert clf.fit(X, three).classes_.tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="pos_label=1 has no effect, because y has 3 classes"):
            clf.set_params(pos_label=1).fit(X, three)
    else:
        with pytest.raises(ValueError, match=r"type of the target is multiclass; y has the classes \[0, 1, 2\]\. For"):
            clf.fit(X, three)


def test_early_stopping_needs_two_of_each_class():
    with pytest.raises(ValueError, match=r"only 1 positive example\. Set early_stopping=False"):
        RealBoostClassifier(early_stopping=True).fit(X, np.arange(60) == 0)


def test_new_rows_must_look_like_the_old_ones():
    clf = RealBoostClassifier(n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="X has 8 features, but RealBoostClassifier is expecting 9"):
        clf.predict(X[:, :8])
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    named = RealBoostClassifier(n_estimators=2).fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(NotFittedError):
        RealBoostClassifier().predict(X)


def test_a_failed_fit_leaves_nothing_half_done():
    clf = RealBoostClassifier(n_estimators=3).fit(X, Y)
    before = clf.decision_function(X)
    with pytest.raises(ValueError, match="one class"):
        clf.fit(X, np.zeros(60))
    np.testing.assert_array_equal(clf.decision_function(X), before)


@pytest.mark.parametrize(
    ("refit", "message"),
    [
        (lambda clf: clf.fit(X, np.where(Y == 1, "sick", "well")), "pos_label=1 is not among the classes"),
        (lambda clf: clf.fit(X[:, :2], Y[:-1]), "inconsistent numbers"),
        (lambda clf: clf.set_params(callbacks=[lambda r, s: 1 / 0]).fit(X, Y), "division by zero"),
    ],
)
def test_a_failed_refit_keeps_the_old_model_whole(refit, message):
    clf = RealBoostClassifier(n_estimators=5, pos_label=1).fit(X, Y)
    F, p, reason = clf.decision_function(X), clf.predict_proba(X), clf.stop_reason_
    with pytest.raises((ValueError, ZeroDivisionError), match=message):
        refit(clf)
    np.testing.assert_array_equal(clf.decision_function(X), F)
    np.testing.assert_array_equal(clf.predict_proba(X), p)
    assert clf.stop_reason_ == reason
    assert clf.classes_.tolist() == [0, 1]


def test_an_unfinished_first_fit_is_no_fit():
    clf = RealBoostClassifier(callbacks=[lambda r, s: 1 / 0])
    with pytest.raises(ZeroDivisionError):
        clf.fit(X, Y)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_a_score_that_is_not_a_number():
    clf = RealBoostClassifier(early_stopping=True, scoring=lambda e, X, y: float("nan"))
    with pytest.raises(ValueError, match=r"scoring=.* returned NaN on the validation data after round 1"):
        clf.fit(X, Y)


def test_frames_that_are_no_tables_yet():
    import polars as pl
    import pyarrow as pa

    with pytest.raises(TypeError, match=r"lazy frame. Pass X.collect\(\)"):
        RealBoostClassifier().fit(pl.DataFrame({"a": [1.0, 2.0]}).lazy(), [0, 1])
    with pytest.raises(TypeError, match="record batch"):
        RealBoostClassifier().fit(pa.record_batch({"a": [1.0, 2.0]}), [0, 1])


def test_edges_cut_numbers_only():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(ValueError, match=r"edges of Histogram needs numeric columns, but the columns \[1\]"):
        RealBoostClassifier(estimator=Histogram(edges=[[0.0], [1.0]])).fit(frame, [0, 1])


def test_a_line_meets_categories():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    clf = GentleBoostClassifier(estimator=Line(), n_estimators=2).fit(frame, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="column 'a' held numbers in training"):
        clf.predict(pd.DataFrame({"a": ["x", "y"]}))


def test_a_column_may_not_change_its_kind():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy")})
    clf = RealBoostClassifier(n_estimators=3).fit(frame, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="column 'b' held categories in training and holds numbers now"):
        clf.predict(frame.assign(b=1.0))
    with pytest.raises(ValueError, match="column 'a' held numbers in training and holds categories now"):
        clf.predict(frame.assign(a="x"))
