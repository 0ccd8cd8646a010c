"""The discretiser: its cuts, what comes out of it, and rules that are boosted on attributes that were cut once."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import AdaBoostClassifier, CSRAClassifier
from skewboost.engine.table import Nominal, read_table
from skewboost.learners import MDLDiscretizer, RuleLearner, Stump, discretise
from skewboost.learners.discretise import interval_names, mdl_cuts
from support import awkward_data


def mixed_data(n=400, seed=0):
    """Numbers with missing cells, a column that says nothing, an empty one, text and booleans."""
    X, y = awkward_data(n, seed)
    frame = pd.DataFrame(X, columns=list("abcdefghi"), index=np.arange(n) * 3 + 1)
    rng = np.random.default_rng(seed)
    frame["kind"] = np.where(rng.random(n) < 0.1, None, rng.choice(list("xyz"), n))
    frame["flag"], frame["empty"] = (y == 1) ^ (rng.random(n) < 0.1), np.nan
    return frame, y


def cells(frame):
    """The cells of any table as text; None where they are missing."""
    if isinstance(frame, pa.Table):
        frame = pl.from_arrow(frame)
    columns = frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_dict("list")
    return {str(k): [None if v is None or v != v else str(v) for v in column] for k, column in columns.items()}


# ------------------------------------------------------------------------------ cuts


def test_its_cuts_are_those_of_the_rule_learner_in_the_first_round():
    X, y = mixed_data()
    w = np.random.default_rng(1).integers(0, 4, len(y))
    found = MDLDiscretizer().fit(X, y, sample_weight=w).cuts_
    for name, cuts in zip(X, found):
        if name in ("kind", "empty"):
            continue
        x = X[name].to_numpy(dtype=float)
        rows = ~np.isnan(x) & (w > 0)
        np.testing.assert_array_equal(cuts, mdl_cuts(x[rows], y[rows], w[rows].astype(float), 2))
    assert found[9] is None
    assert found[10].tolist() == [0.5]
    assert found[11].tolist() == []
    assert {len(cuts) for cuts in found if cuts is not None} >= {0, 1, 2}


def test_a_weight_is_a_repetition_and_none_is_absence():
    X, y = mixed_data()
    w = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = MDLDiscretizer().fit(X, y, sample_weight=w)
    rows = np.repeat(np.arange(len(y)), w)
    repeated = MDLDiscretizer().fit(X.iloc[rows], y[rows])
    pd.testing.assert_frame_equal(weighted.transform(X), repeated.transform(X))
    assert not weighted.transform(X).equals(MDLDiscretizer().fit(X, y).transform(X))


def test_the_order_of_rows_and_of_classes_does_not_matter():
    X, y = mixed_data()
    w = np.random.default_rng(1).exponential(size=len(y))
    out = MDLDiscretizer().fit(X, y, sample_weight=w).transform(X)
    order = np.random.default_rng(2).permutation(len(y))
    shuffled = MDLDiscretizer().fit(X.iloc[order], y[order], sample_weight=w[order])
    pd.testing.assert_frame_equal(shuffled.transform(X), out)
    pd.testing.assert_frame_equal(MDLDiscretizer().fit(X, np.where(y, "a", "b"), sample_weight=w).transform(X), out)


def test_three_classes_need_more_cuts_than_two():
    x = np.arange(90.0)[:, None]
    y = np.repeat(["low", "middle", "high"], 30)
    assert MDLDiscretizer().fit(x, y).cuts_[0].tolist() == [29.5, 59.5]
    assert MDLDiscretizer().fit(x, y == "low").cuts_[0].tolist() == [29.5]


def test_every_interval_has_a_name_of_its_own():
    assert interval_names(np.array([])) == ["(-inf, inf)"]
    assert interval_names(np.array([-0.0, 1.25])) == ["(-inf, 0]", "(0, 1.25]", "(1.25, inf)"]
    close = np.array([1.0, np.nextafter(1.0, 2.0), 1e6 + 0.25, 1e6 + 0.5])
    assert len(set(interval_names(close))) == 5


# ---------------------------------------------------------------------------- output


def test_a_table_becomes_categories_and_categories_stay_what_they_are():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.nan] * 10, "kind": pd.Categorical(["u", "v", None, "u"] * 10)})
    y = (X["x"] > 2).to_numpy()
    clf = MDLDiscretizer().fit(X, y)
    assert clf.get_feature_names_out().tolist() == ["x", "kind"]
    strange = pd.DataFrame({"x": [-1e300, 2.5, 1e300, None], "kind": ["u", "new", None, "v"]}, index=list("dcba"))
    out = clf.transform(strange)
    assert out.index.tolist() == list("dcba")
    assert cells(out) == {
        "x": ["(-inf, 2.5]", "(-inf, 2.5]", "(2.5, inf)", None],
        "kind": ["u", "new", None, "v"],
    }
    assert out["x"].dtype == pd.CategoricalDtype(["(-inf, 2.5]", "(2.5, inf)"], ordered=True)
    pd.testing.assert_series_equal(clf.transform(X)["kind"], X["kind"])


def test_missing_cells_can_be_a_value():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.nan] * 10, "kind": ["u", "v", None, "u"] * 10})
    y = (X["x"] > 2).to_numpy()
    out = MDLDiscretizer(missing="value").fit(X, y).transform(X)
    assert cells(out.iloc[:4]) == {"x": ["(-inf, 2.5]", "(-inf, 2.5]", "(2.5, inf)", "?"], "kind": ["u", "v", "?", "u"]}
    assert not out["x"].cat.ordered  # "?" has no place among numbers
    matrix, known = X[["x"]].to_numpy(), X["x"].notna().to_numpy()
    for missing, code in (("keep", np.nan), ("value", 2.0)):
        codes = MDLDiscretizer(missing=missing).fit(matrix, y).transform(matrix)
        np.testing.assert_array_equal(codes[:4, 0], [0, 0, 1, code])
    # the value exists even if no cell was missing in training
    assert MDLDiscretizer(missing="value").fit(matrix[known], y[known]).transform([[np.nan]]).tolist() == [[2.0]]


@pytest.mark.parametrize("missing", ["keep", "value"])
def test_pandas_polars_arrow_and_numpy_are_one(missing):
    X, y = mixed_data()
    discretizer = MDLDiscretizer(missing=missing)
    expected = cells(discretizer.fit(X, y).transform(X))
    polars = pl.from_pandas(X)
    for table, kind in ((polars, pl.DataFrame), (polars.to_arrow(), pa.Table)):
        out = clone(discretizer).fit(table, y).transform(table)
        assert isinstance(out, kind)
        assert cells(out) == expected
        assert cells(discretizer.transform(table)) == expected
    numbers = X[list("abcdefghi")]
    codes = discretizer.fit(numbers.to_numpy(), y).transform(numbers.to_numpy())
    for j, (name, cuts) in enumerate(zip(numbers, discretizer.cuts_)):
        names = [*interval_names(cuts), "?"]
        assert [None if c != c else names[int(c)] for c in codes[:, j]] == expected[name]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_keeps_categories(kind):
    X, y = mixed_data()
    for table in (X, pl.from_pandas(X)):
        out = MDLDiscretizer().set_output(transform=kind).fit_transform(table, y)
        assert isinstance(out, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind])
        assert cells(out) == cells(MDLDiscretizer().fit(X, y).transform(X))
        read = read_table(RuleLearner(), out, reset=True)
        assert [isinstance(c, Nominal) for c in read.columns] == [*[True] * 11, False]  # an empty column has no type


def test_columns_may_be_called_anything():
    X = pd.DataFrame(np.arange(40.0).reshape(20, 2))
    y = np.arange(20) > 9
    out = MDLDiscretizer().fit(X, y).transform(X)
    assert out.columns.tolist() == ["x0", "x1"]  # scikit-learn's names of columns that have none
    odd = X.rename(columns={0: "", 1: "$a\n"})
    assert MDLDiscretizer().fit(odd, y).transform(odd).columns.tolist() == ["", "$a\n"]


# ------------------------------------------------------------- contract of scikit-learn


@parametrize_with_checks([MDLDiscretizer(), MDLDiscretizer(missing="value")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_clone_and_pickle():
    X, y = mixed_data()
    discretizer = MDLDiscretizer(missing="value").fit(X, y)
    out = discretizer.transform(X)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(discretizer)).transform(X), out)
    fresh = clone(discretizer)
    assert not hasattr(fresh, "cuts_")
    pd.testing.assert_frame_equal(fresh.fit_transform(X, y), out)


def test_what_it_is_given_is_checked():
    X, y = mixed_data()
    with pytest.raises(ValueError, match="missing of MDLDiscretizer must be one of 'keep', 'value'; got 'drop'"):
        MDLDiscretizer(missing="drop").fit(X, y)
    with pytest.raises(ValueError, match="at least 2 classes, but y has only one class"):
        MDLDiscretizer().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="sample_weight has a negative entry"):
        MDLDiscretizer().fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="column 'kind' held categories in training and holds numbers now"):
        MDLDiscretizer().fit(X, y).transform(X.assign(kind=1.0))
    with pytest.raises(ValueError, match="column 'a' held numbers in training and holds categories now"):
        MDLDiscretizer().fit(X, y).transform(X.assign(a="1"))


def test_every_parameter_is_documented():
    for name in MDLDiscretizer().get_params():
        assert f"\n{name} : " in inspect.cleandoc(MDLDiscretizer.__doc__)


# --------------------------------------------------------------- boosted on what is cut


def test_rules_on_intervals_are_those_on_numbers():
    """One round makes no difference; only the words of the conditions do."""
    X, y = mixed_data()
    cut = MDLDiscretizer().fit(X, y).transform(X)
    np.testing.assert_allclose(
        RuleLearner().fit(cut, y).decision_function(cut), RuleLearner().fit(X, y).decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_boosted_rules_never_cut_what_was_cut_before(kind, monkeypatch):
    X, y = mixed_data()
    table = X if kind == "pandas" else pl.from_pandas(X)
    calls = []

    def counted(x, *rest):
        calls.append(len(np.unique(x)))
        return mdl_cuts(x, *rest)

    monkeypatch.setattr(discretise, "mdl_cuts", counted)
    booster = AdaBoostClassifier(estimator=RuleLearner(), n_estimators=4)
    every_round = clone(booster).fit(table, y)
    assert len(calls) == 11 * every_round.n_estimators_ > 11
    calls.clear()
    once = make_pipeline(MDLDiscretizer(), booster).fit(table, y)
    rounds = once[-1].n_estimators_
    assert rounds > 1
    # the eleven numeric columns once, and in each round the empty column, which has nothing to cut
    assert [n for n in calls if n] == calls[:10]
    assert len(calls) == 11 + rounds
    assert once.score(table, y) > 0.9


def test_boosters_see_categories_and_monotonic_constraints_their_order():
    X, y = mixed_data()
    pipeline = make_pipeline(MDLDiscretizer(), CSRAClassifier(estimator="tree", n_estimators=10, cost=2.0))
    assert cross_val_score(pipeline, X, y, cv=3, scoring="roc_auc").min() > 0.8
    x = pd.DataFrame({"x": np.random.default_rng(0).normal(size=300)})
    rising = (np.digitize(x["x"], [-0.6, 0.0, 0.6]) >= 2).astype(int)
    rising[:40] = 1 - rising[:40]
    clf = AdaBoostClassifier(estimator=Stump(monotonic_cst=[1]), n_estimators=5)
    cut = MDLDiscretizer().fit(x, np.digitize(x["x"], [-0.6, 0.0, 0.6])).transform(x)
    F = clf.fit(cut, rising).decision_function(cut)
    order = np.argsort(x["x"].to_numpy())
    assert (np.diff(F[order]) >= 0).all()
