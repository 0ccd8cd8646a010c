"""What becomes of a column: the same cells are the same numbers or categories, whatever they come in."""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score

import skewboost as sb
from skewboost import RealBoostClassifier
from skewboost.engine.table import CLEARLY_TEXT, Nominal, read_table
from skewboost.errors import InputTypeError


class Reader(BaseEstimator):
    """Remembers what it read."""


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Size(str, enum.Enum):  # noqa: UP042 - its str() is not its text
    SMALL = "small"


def pandas(values, dtype=None):
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)})


def polars(values, dtype=None):
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype)})


def arrow(array):
    return pa.table({"a": array})


def cells(X):
    """The cells of a table's one column, categories by name and missing cells as None."""
    column = read_table(Reader(), X, reset=True).column(0)
    if isinstance(column, Nominal):
        assert list(column.categories) == sorted(set(column.categories))
        return [None if k < 0 else column.categories[k] for k in column.codes]
    return [None if v != v else float(v) for v in column]


NA, NAN = pd.NA, float("nan")
CODES = pa.array([1, 2, None], pa.int64()).dictionary_encode()
SAME = {
    "text": (
        ["b", "a", None],
        pandas(["b", "a", None]),
        pandas(["b", "a", NAN], object),
        pandas(["b", "a", NA], "string"),
        pandas(["b", "a", None], pd.ArrowDtype(pa.string())),
        pandas(["b", "a", None], pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pandas(["b", "a", None], "category"),
        pandas(["b", "a", None], pd.CategoricalDtype(["b", "unused", "a"])),
        polars(["b", "a", None]),
        polars(["b", "a", None], pl.Categorical),
        polars(["b", "a", None], pl.Enum(["b", "unused", "a"])),
        polars(["b", "a", None], pl.Object),
        arrow(pa.array(["b", "a", None], pa.large_string())),
        arrow(pa.array(["b", "a", None]).dictionary_encode()),
        arrow(pa.DictionaryArray.from_arrays(pa.array([1, 0, 2], pa.uint8()), pa.array(["a", "b", None]))),
        arrow(pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array(["a", None]).dictionary_encode()])),
    ),
    "categories that are numbers": (
        ["1", "2", None],
        pandas([1, 2, None]).astype("category"),  # floats, as there is a missing cell
        pandas([1, 2, None], "Int64").astype("category"),
        pandas(["1", "2", None], "category"),
        pd.DataFrame({"a": pd.Categorical([1, 2, None], categories=[2, 1])}),
        polars(["1", "2", None], pl.Categorical),
        arrow(CODES),
        arrow(pa.array([1.0, 2.0, None]).dictionary_encode()),
    ),
    "broken numbers": (
        ["1.5", "-2"],
        pandas([1.5, -2.0]).astype("category"),
        arrow(pa.array([1.5, -2]).dictionary_encode()),
    ),
    "truths": (
        [1.0, 0.0, None],
        pandas([True, False, None], object),
        pandas([True, False, NA], object),
        pandas([True, False, None], "boolean"),
        pandas([True, False, None], "bool[pyarrow]"),
        polars([True, False, None]),
        polars([True, False, None], pl.Object),
        arrow(pa.array([True, False, None])),
    ),
    "categories that are truths": (
        ["True", "False", None],
        pandas([True, False, None], object).astype("category"),
        arrow(pa.array([True, False, None]).dictionary_encode()),
    ),
    "numbers": (
        [1.5, 2.0, None],
        pandas([1.5, 2, None]),
        pandas([1.5, 2, None], object),
        pandas([Decimal("1.5"), 2, Decimal("NaN")], object),
        pandas([1.5, 2, NA], "Float64"),
        polars([1.5, 2.0, None]),
        arrow(pa.array([Decimal("1.5"), Decimal("2.0"), None])),
    ),
    "integers that are no doubles": (
        [2.0**53, -(2.0**63), None],
        pandas([2**53 + 1, -(2**63), None], "Int64"),
        pandas([2**53 + 1, -(2**63), None], pd.ArrowDtype(pa.int64())),
        pandas([2**53 + 1, -(2**63), None], object),
        polars([2**53 + 1, -(2**63), None], pl.Int64),
        polars([2**53 + 1, -(2**63), None], pl.Int128),
        arrow(pa.array([2**53 + 1, -(2**63), None])),
    ),
    "long integers": (
        [2.0**64, 2.0**53],
        np.array([[2**64 - 1], [2**53 + 1]], dtype=np.uint64),
        [[2**64 - 1], [2**53 + 1]],
        [[2**64 + 1], [2**53 + 1]],
        np.array([[2**64 + 1], [2**53 + 1]], dtype=object),
        np.array([[2**64], [2**53]], dtype=np.longdouble),
        pandas([2**64 - 1, 2**53 + 1], np.uint64),
        polars([2**64 - 1, 2**53 + 1], pl.UInt64),
        arrow(pa.array([2**64 - 1, 2**53 + 1], pa.uint64())),
    ),
    "nothing": (
        [None, None],
        pandas([NAN, NAN]),
        pandas([None, None], object),
        pandas([None, None], "category"),
        polars([None, None]),
        polars([None, None], pl.Categorical),
        arrow(pa.nulls(2)),
        arrow(pa.array([None, None], pa.string())),
    ),
    "enumerations": (["Colour.RED", None, "small"], pandas([Colour.RED, None, Size.SMALL], object)),
    "all sorts": (["1", "1", "True", "a", None], pandas([1, 1.0, True, "a", None], object)),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_cells_are_the_same_column(kind):
    expected, *tables = SAME[kind]
    for X in tables:
        assert cells(X) == expected


@pytest.mark.parametrize("cell", [[1], b"text", datetime.date(2020, 1, 1), Reader()], ids=repr)
def test_objects_that_are_neither_numbers_nor_text_are_refused(cell):
    with pytest.raises(TypeError, match=f"Column 'a' of X holds objects of type {type(cell).__name__}"):
        read_table(Reader(), pandas([cell, None], object), reset=True)


def test_a_column_that_was_empty_in_training_may_hold_anything():
    estimator = Reader()
    for X in (pandas([None, None], object), pandas([NAN, NAN]), polars(["x", None])[1:]):
        read_table(estimator, X, reset=True)
        for new in (pandas(["x", "y"]), pandas([1.0, 2.0]), pandas([True, None], object)):
            table = read_table(estimator, new, reset=False).conform([False], ["a"])
            assert np.isnan(table.column(0)).all()
    read_table(estimator, pandas(["x", None]), reset=True)  # a new fit forgets it
    assert isinstance(read_table(estimator, pandas(["x", "y"]), reset=False).column(0), Nominal)


def test_a_batch_of_numbers_from_a_column_of_all_sorts():
    """What is mixed in training may by chance be numbers only later on."""
    new = read_table(Reader(), pandas([1, 2.0, None], object), reset=True).conform([True], ["a"])
    column = new.column(0)
    assert [None if k < 0 else column.categories[k] for k in column.codes] == ["1", "2", None]
    with pytest.raises(ValueError, match="held categories in training and holds numbers now"):
        read_table(Reader(), pandas([1, 2]), reset=True).conform([True], ["a"])


# ------------------------------------------------------------------------- text that is no category


def distinct(n, missing=0):
    return [f"row {k}" for k in range(n)] + [None] * missing


NAMES = pd.DataFrame({"x": np.arange(80) % 7, "name": distinct(60, 20)})
LABELS = (np.arange(80) % 7 > 4).astype(int)


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pa.table, lambda d: pd.DataFrame(d).astype(object)],
    ids=["pd", "pl", "pa", "object"],
)
def test_free_text_is_refused_and_the_remedy_named(make):
    X = make({"x": [float(k) for k in range(80)], "name": distinct(60, 20)})
    with pytest.raises(ValueError, match=r"Column 'name' of X holds text .* such as 'row 0'.*Drop .* categorical type"):
        RealBoostClassifier().fit(X, LABELS)


def test_long_text_is_quoted_in_part():
    with pytest.raises(ValueError, match=r"such as 'long long[a-z ]*…[a-z ]*0'"):
        read_table(Reader(), pandas([f"{'long ' * 99}{k}" for k in range(99)]), reset=True)


def test_declared_categories_few_rows_and_repeated_text_are_categories():
    for X in (
        pandas(distinct(60), "category"),
        polars(distinct(60), pl.Categorical),
        polars(distinct(60), pl.Enum(distinct(60))),
        arrow(pa.array(distinct(60)).dictionary_encode()),
        pandas(distinct(CLEARLY_TEXT - 1, 30)),
        pandas([*distinct(60), "row 0"]),
    ):
        assert isinstance(read_table(Reader(), X, reset=True).column(0), Nominal)
    with pytest.raises(ValueError, match="no two cells are equal"):
        read_table(Reader(), pandas(distinct(CLEARLY_TEXT)), reset=True)


def test_text_is_judged_by_the_whole_table_and_at_fit_only():
    """The rows that early stopping, zero weights or a prediction leave may all differ."""
    X = NAMES.assign(name=["row 0", *distinct(79)])
    clf = RealBoostClassifier(n_estimators=3).fit(X, LABELS)
    assert len(clf.predict(X[1:])) == 79
    assert clf.set_params(warm_start=True, n_estimators=4).fit(X, LABELS).n_estimators_ <= 4
    early = RealBoostClassifier(n_estimators=3, early_stopping=True, validation_fraction=0.2).fit(X, LABELS)
    light = RealBoostClassifier(n_estimators=3).fit(X, LABELS, sample_weight=np.arange(80) > 0)
    for model in (clf, early, light):
        assert np.isfinite(model.decision_function(X)).all()


def test_categories_survive_cross_validation_on_small_folds():
    """Forty categories on folds of fifty rows and more; the column may well be all different in what is predicted."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=100), "shop": [f"shop {k}" for k in rng.integers(0, 40, 100)]})
    scores = cross_val_score(RealBoostClassifier(n_estimators=3), X, X["x"] > 0, cv=2, error_score="raise")
    assert scores.min() > 0.6


def having(*names):
    """An object with these methods, like a table of a package that is not installed here."""
    return type("Frame", (), {name: lambda self: None for name in names})()


def relation():
    import duckdb

    return duckdb.connect().from_df(MIXED)


MIXED = pd.DataFrame({"a": np.arange(40.0) % 7, "b": list("xyyz") * 10})
ABOVE_FOUR = (MIXED.a > 4).astype(int)


@pytest.mark.parametrize(
    ("make", "read", "message"),
    [
        (relation, lambda X: X.pl(), r"a DuckDB relation. Pass X.pl\(\) or X.df\(\)"),
        (relation, lambda X: X.df(), r"a DuckDB relation. Pass X.pl\(\) or X.df\(\)"),
        (lambda: pa.table(MIXED).to_reader(), lambda X: X.read_all(), r"an Arrow reader. Pass X.read_all\(\)"),
        (lambda: pa.dataset.dataset(pa.table(MIXED)), lambda X: X.to_table(), r"an Arrow dataset. Pass X.to_table\(\)"),
        (lambda: pa.table(MIXED).to_batches()[0], lambda X: pa.Table.from_batches([X]), r"record batch. Pass pyarrow"),
        (lambda: pl.from_pandas(MIXED).lazy(), lambda X: X.collect(), r"a lazy frame. Pass X.collect\(\)"),
        (lambda: having("toPandas", "schema"), None, r"a Spark frame. Pass X.toPandas\(\)"),
        (lambda: having("__dask_graph__", "columns"), None, r"a Dask frame. Pass X.compute\(\)"),
        (lambda: having("execute", "to_pandas", "schema"), None, r"an Ibis table. Pass X.to_pandas\(\)"),
    ],
)  # fmt: skip
def test_tables_that_are_not_in_memory_are_refused_with_a_remedy_that_works(make, read, message):
    booster = sb.RealBoostClassifier(n_estimators=2)
    search = sb.GoalSearchCV(booster, "recall >= 10%", confidence=None, weights="counts")
    every = [sb.MinimumRiskClassifier, sb.CodeMatrixClassifier, sb.UnderBaggingClassifier, sb.PastingVotesClassifier]
    for clf in (booster, search, sb.SkewBoostClassifier(effort="quick"), *(wrapper(booster) for wrapper in every)):
        with pytest.raises(InputTypeError, match=message):
            clf.fit(make(), ABOVE_FOUR)
    expected = booster.fit(MIXED, ABOVE_FOUR).decision_function(MIXED)
    with pytest.raises(InputTypeError, match=message):
        booster.predict(make())
    if read is not None:
        X = read(make())
        np.testing.assert_array_equal(booster.fit(X, ABOVE_FOUR).decision_function(X), expected)


def test_sparse_columns_of_pandas_are_read_as_dense():
    sparse = pd.concat([MIXED[["a"]], pd.get_dummies(MIXED.b, sparse=True)], axis=1)
    sparse["c"] = pd.arrays.SparseArray(np.where(MIXED.a > 5, np.nan, MIXED.a), fill_value=0.0)
    dense = sparse.assign(**{name: sparse[name].sparse.to_dense() for name in ("x", "y", "z", "c")})
    for clf in (sb.RealBoostClassifier(n_estimators=5), sb.SkewBoostClassifier(effort="quick", random_state=0)):
        expected = clf.fit(dense, ABOVE_FOUR).decision_function(dense)
        np.testing.assert_array_equal(clf.decision_function(sparse), expected)
        np.testing.assert_array_equal(clf.fit(sparse, ABOVE_FOUR).decision_function(sparse), expected)


def test_a_tensor_that_needs_gradients_is_refused():
    class Tensor:
        shape, ndim, dtype = (40, 1), 2, np.dtype(float)

        def __len__(self):
            return 40

        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    with pytest.raises(InputTypeError, match=r"a Tensor that cannot be read.*X.detach\(\).cpu\(\).numpy\(\)"):
        sb.RealBoostClassifier().fit(Tensor(), ABOVE_FOUR)
