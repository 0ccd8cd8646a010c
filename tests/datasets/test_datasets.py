"""The data sets: sizes, rarity, the same table for the same seed, and what makes them difficult."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from skewboost import AdaBoostMHClassifier
from skewboost.datasets import load_rare_cancer, make_fraud, make_intrusions


@pytest.mark.parametrize("n_positive", [1, 40, 212])
def test_cancer_keeps_all_benign_rows_and_draws_the_malignant_without_replacement(n_positive):
    X, y = load_rare_cancer(n_positive)
    full = load_breast_cancer()
    assert X.shape == (357 + n_positive, 30)
    assert X.columns.tolist() == full.feature_names.tolist()
    assert y.value_counts().to_dict() == {0: 357, 1: n_positive}
    # scikit-learn calls the malignant class 0
    malignant = {tuple(row) for row in full.data[full.target == 0]}
    drawn = [tuple(row) for row in X[y == 1].to_numpy()]
    assert len(set(drawn)) == n_positive
    assert set(drawn) <= malignant
    np.testing.assert_array_equal(X[y == 0].to_numpy(), full.data[full.target == 1])


@pytest.mark.parametrize(
    ("load", "size"),
    [(load_rare_cancer, {}), (make_fraud, {"n_rows": 2000}), (make_intrusions, {"n_rows": 2000})],
)
def test_a_seed_stands_for_one_table(load, size):
    first, second, other = (load(**size, random_state=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(first[0], second[0])
    pd.testing.assert_series_equal(first[1], second[1])
    assert not first[0].equals(other[0])


@pytest.mark.parametrize("n_positive", [0, -1, 213])
def test_cancer_says_how_many_malignant_cases_there_are(n_positive):
    with pytest.raises(ValueError, match=rf"n_positive must be an integer from 1 to 212, .* got {n_positive}\."):
        load_rare_cancer(n_positive)


def test_counts_must_be_integers():
    with pytest.raises(ValueError, match=r"n_positive must be an integer from 1 to 212, .* got 2\.5"):
        load_rare_cancer(2.5)
    with pytest.raises(ValueError, match=r"n_rows must be an integer >= 100, .* got 99\."):
        make_fraud(99)
    with pytest.raises(ValueError, match=r"n_rows must be an integer >= 400, .* got 399\."):
        make_intrusions(399)


@pytest.mark.parametrize("load", [load_rare_cancer, make_fraud, make_intrusions])
def test_without_pandas_the_error_names_the_extra(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "skewboost\[cli\]"'):
        load()


@pytest.mark.parametrize("n_rows", [100, 1000, 20_000])
def test_two_percent_of_the_payments_are_fraud(n_rows):
    X, y = make_fraud(n_rows)
    assert X.shape == (n_rows, 10)
    assert y.sum() == n_rows // 50
    assert set(y.unique()) == {0, 1}


def test_payments_have_the_kinds_of_columns_that_are_promised():
    X, _ = make_fraud()
    assert X.select_dtypes("category").columns.tolist() == ["merchant", "country", "device"]
    assert X.select_dtypes("bool").columns.tolist() == ["card_present"]
    assert len(X.select_dtypes("number").columns) == 6
    assert X["merchant"].nunique() == 8
    assert X["country"].nunique() == 6
    assert X["hour"].between(0, 23).all()
    assert (X["amount"] > 0).all()
    # log-normal: the logarithms are nearly symmetric, the amounts are not
    assert abs(np.log(X["amount"]).skew()) < 0.3
    assert X["amount"].skew() > 3
    missing = X.isna().mean()
    assert missing[missing > 0].index.tolist() == [
        "days_since_last_payment",
        "distance_from_home",
        "account_age_days",
        "device",
    ]
    assert missing.max() < 0.1


def test_some_missing_cells_tell_of_fraud_and_some_do_not():
    X, y = make_fraud(50_000)
    for column in ("device", "distance_from_home"):
        assert y[X[column].isna()].mean() > 3 * y[X[column].notna()].mean()
    unknown = X["account_age_days"].isna()
    # missing at random: the shares differ by no more than four standard errors
    assert abs(y[unknown].mean() - 0.02) < 4 * np.sqrt(0.02 * 0.98 / unknown.sum())


@pytest.mark.parametrize(("data", "largest"), [(make_fraud, 0.4), (make_intrusions, 0.7)])
def test_no_column_alone_gives_a_rare_class_away(data, largest):
    X, y = data()
    for name, column in X.items():
        values = column.cat.codes if column.dtype == "category" else column.astype(float).fillna(-1)
        groups = values if values.nunique() <= 24 else pd.qcut(values, 50, duplicates="drop", labels=False)
        for rare in y.value_counts().index[1:]:
            assert (y == rare).groupby(groups).mean().max() < largest, (name, rare)


@pytest.mark.parametrize("n", [400, 1000, 20_000])
def test_the_kinds_of_connections_have_the_shares_that_are_promised(n):
    X, y = make_intrusions(n)
    assert X.shape == (n, 10)
    assert y.value_counts().to_dict() == {
        "normal": 94 * n // 100,
        "dos": n // 25,
        "probe": 15 * n // 1000,
        "break-in": n // 200,
    }


def test_connections_have_the_kinds_of_columns_that_are_promised():
    X, _ = make_intrusions()
    assert X.select_dtypes("category").columns.tolist() == ["protocol", "service"]
    assert X.select_dtypes("bool").columns.tolist() == ["internal"]
    assert len(X.select_dtypes("number").columns) == 7
    missing = X.isna().mean()
    assert missing[missing > 0].index.tolist() == ["error_share", "service"]
    assert missing.max() < 0.1


def test_attacks_are_found_in_part_and_the_rarest_least():
    X, y = make_intrusions()
    half = len(y) // 2
    clf = AdaBoostMHClassifier(n_estimators=100).fit(X[:half], y[:half])
    right = pd.Series(clf.predict(X[half:]) == y[half:].to_numpy()).groupby(y[half:].to_numpy()).mean()
    assert right["normal"] > 0.97
    assert 0.1 < right["break-in"] < right[["dos", "probe"]].min() < right[["dos", "probe"]].max() < 0.9
