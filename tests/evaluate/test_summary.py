"""Summaries of tables, for any order of the rows and any library."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skewboost.engine.binning import MAX_BINS
from skewboost.evaluate import summary_counts
from skewboost.evaluate.summary import Summary, summarise


def make(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n_rows) % 30 == 0).astype(int)
    return pd.DataFrame({
        "x": np.where(rng.random(n_rows) < 0.6, np.nan, rng.normal(size=n_rows)),
        "colour": pd.Series(rng.choice(["red", "green", "NA"], n_rows)).mask(rng.random(n_rows) < 0.1),
        "id": rng.permutation(n_rows),
        "name": [f"row {k}" for k in range(n_rows)],
        "same": 7,
        "nothing": np.nan,
        "outcome": np.where(y, "bad", "good"),
        "paid": y * 10 + rng.random(n_rows),
        "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 5, n_rows), unit="D"),
        "flag": rng.random(n_rows) < 0.5,
    }), pd.Series(y, name="y")  # fmt: skip


def column(summary, name):
    return next(c for c in summary.columns if c.name == name)


def test_numbers_are_those_of_pandas():
    X, y = make()
    summary = summarise(X, y)
    x, found = X["x"].dropna(), column(summary, "x")
    assert (found.n_missing, found.n_distinct) == (X["x"].isna().sum(), x.nunique())
    assert (found.minimum, found.maximum) == (x.min(), x.max())
    assert found.mean == pytest.approx(x.mean(), rel=1e-11)
    assert found.quantiles == tuple(np.quantile(x, [0.25, 0.5, 0.75], method="inverted_cdf").tolist())
    assert dict(column(summary, "colour").top) == X["colour"].value_counts().to_dict()
    kinds = ["number", "category", "number", "text", "constant", "empty", "category", "number", "date", "number"]
    assert [c.kind for c in summary.columns] == kinds
    assert (column(summary, "day").minimum, column(summary, "day").maximum) == ("2026-01-01", "2026-01-05")


@pytest.mark.parametrize("limit", [3, 10_000])
def test_the_mean_of_numbers_whose_sum_is_no_double(limit, monkeypatch):
    monkeypatch.setattr("skewboost.evaluate.summary_counts.LIMIT", limit)
    numbers = np.array([1.0, 1.5, 1.25, -0.5, 1.7]) * 1e308
    (found,) = summarise(numbers[:, None]).columns
    assert found.mean == pytest.approx(np.mean(numbers / 8) * 8, rel=1e-11)


def test_the_target():
    target = summarise(*make()).target
    assert target.classes == ((0, 290, 290 / 300), (1, 10, 10 / 300))
    assert (target.positive, target.imbalance, target.one_in) == (1, 29.0, 30.0)
    tied = summarise(np.zeros((4, 1)), ["b", "a", "a", "b"]).target
    assert tied.positive == "b"  # as estimators choose it
    assert summarise(np.zeros((4, 1)), [0, 1, 2, 2]).target.positive is None
    assert summarise(np.zeros((4, 1)), [0.0, 1.0, np.nan, np.nan]).target.n_missing == 2


def test_every_problem_has_a_warning():
    X, y = make()
    text = "\n".join(summarise(pd.concat([X, X.head(3)]), pd.concat([y, y.head(3)])).warnings)
    assert "3 of 303 rows repeat" in text
    text = "\n".join(summarise(X, y).warnings)
    for warning in (
        "'id' looks like an identifier", "'name' looks like an identifier", "'same' has only one value",
        "'outcome' alone separates the classes", "'paid' alone separates", "'x' is missing in", "'day' holds dates",
        "'nothing' is empty", "cells 'NA', which are read as a category",
        "Only 10 rows are of class 1: 5-fold cross-validation tests on 2 of them",
    ):  # fmt: skip
        assert warning in text
    for fine in ("'colour' alone", "'x' alone", "'flag'", "rows repeat"):
        assert fine not in text
    assert len(summarise(X, y).suggestions) == 3


@pytest.mark.parametrize(("count", "warning"), [(7, "tests on 1–2 of them"), (3, "cannot put one into every fold")])
def test_few_positives_are_counted_out_over_folds(count, warning):
    y = np.r_[np.ones(count), np.zeros(100)]
    assert warning in summarise(np.zeros((len(y), 1)), y).warnings[0]


def test_more_categories_than_codes():
    names = [f"c{k}" for k in range(MAX_BINS + 1)] * 2
    warned = summarise(pd.DataFrame({"c": names})).warnings
    assert warned[0].startswith(f"'c' has {MAX_BINS + 1} categories. All but the {MAX_BINS - 1} most frequent")
    assert not any("categories" in w for w in summarise(pd.DataFrame({"c": names[:MAX_BINS] * 2})).warnings)


@pytest.mark.parametrize(("limit", "n_chunk"), [(20, 17), (10_000, 300), (10_000, 40)])
def test_the_order_of_rows_and_chunks_do_not_matter(limit, n_chunk, monkeypatch):
    monkeypatch.setattr(summary_counts, "LIMIT", limit)
    X, y = make()
    table = X.assign(y=y)
    whole = Summary.from_chunks([table], target="y")
    mixed = table.sample(frac=1, random_state=1)
    chunks = [mixed.iloc[k : k + n_chunk] for k in range(0, len(mixed), n_chunk)]
    assert Summary.from_chunks(chunks, target="y") == whole
    assert (column(whole, "id").n_distinct is None) == (limit == 20)
    assert column(whole, "x").exact == (limit > 20)


def test_quantiles_of_a_sample_of_values_are_close(monkeypatch):
    monkeypatch.setattr(summary_counts, "LIMIT", 2000)
    x = np.random.default_rng(0).normal(size=20_000)
    found = summarise(x[:, None]).columns[0]
    assert (found.n_distinct, found.exact) == (None, False)
    assert np.abs(np.array(found.quantiles) - np.quantile(x, [0.25, 0.5, 0.75])).max() < 0.1
    assert found.minimum == x.min()


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda X: pa.Table.from_pandas(X, preserve_index=False)])
def test_all_libraries_give_the_same_summary(convert):
    X, y = make()
    assert summarise(convert(X), y) == summarise(X, y)


def test_arrays_have_names_or_numbers():
    X = np.arange(6.0).reshape(3, 2)
    assert [c.name for c in summarise(X).columns] == ["x0", "x1"]
    assert [c.name for c in summarise(X, names=["a", "b"]).columns] == ["a", "b"]
    for wrong, message in ((np.array([["a"]]), "does not hold numbers"), (np.zeros(3), "rows and columns")):
        with pytest.raises(ValueError, match=message):
            summarise(wrong)
    with pytest.raises(ValueError, match="2 labels, but X has 3 rows"):
        summarise(X, [0, 1])
    with pytest.raises(ValueError, match="no column 'z'"):
        summarise(pd.DataFrame(X, columns=["a", "b"]), "z")


def test_as_dict_is_strict_json():
    X, y = make()
    for summary in (summarise(X, y), summarise(np.array([[np.inf], [1.0]]), [np.nan, np.nan])):
        assert json.loads(json.dumps(summary.as_dict(), allow_nan=False))["n_rows"] == summary.n_rows


def test_dates_infinities_and_gaps_get_one_fitting_warning_each():
    n = 100
    days = pd.date_range("2020-01-01", periods=n)
    infinite = np.where(np.arange(n) == 7, -np.inf, np.arange(n) % 9)
    gaps = np.where(np.arange(n) < 80, np.nan, 1.0)
    found = summarise(pd.DataFrame({"day": days, "infinite": infinite, "gaps": gaps}))
    assert [w for w in found.warnings if "'day'" in w] == [
        "'day' holds dates. Derive numbers (year, weekday, days since an event), or leave it out."
    ]
    assert any("'infinite' has infinite numbers" in w for w in found.warnings)
    assert "'gaps' is missing in 80% of the rows." in found.warnings


def test_a_target_of_numbers_makes_no_column_a_leak():
    rng = np.random.default_rng(0)
    found = summarise(rng.normal(size=(200, 2)), rng.normal(size=200))
    assert len(found.warnings) == 1
    assert "Is it a number rather than a class?" in found.warnings[0]


@pytest.mark.parametrize("apart", [",", ".", "'", " ", "\u202f"])
def test_numbers_with_their_thousands_apart_are_pointed_out(apart):
    numbers = [f"{k * 617:,}".replace(",", apart) for k in range(40)]  # some below 1000
    (line,) = (w for w in summarise(pd.DataFrame({"paid": numbers * 3})).warnings if "'paid'" in w)
    assert "thousands separators" in line
    words = summarise(pd.DataFrame({"code": ["1,234", "a", "2,345"] * 9})).warnings
    assert not any("separators" in w for w in words)
