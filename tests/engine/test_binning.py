"""Where numbers are cut and categories coded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skewboost import AdaBoostClassifier, RealBoostClassifier
from skewboost.engine import choose
from skewboost.engine.binning import Bins, Feature, fit_bins
from skewboost.engine.boundary import MISSING
from skewboost.engine.table import Nominal, Table
from skewboost.errors import InputError
from skewboost.features import HaarFeatures
from skewboost.learners import AlternatingTree, Stump, Tree

REFERENCE = choose("reference", 1)
CPU = choose("cpu", 2)


def table(*columns):
    return Table(len(columns[0]), len(columns), columns=tuple(np.asarray(c) for c in columns))


def cuts_of(values, weights=None, max_bins=255, engine=REFERENCE):
    return fit_bins(engine, table(values), weights, max_bins).features[0].cuts


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(finite, min_size=1, max_size=60))
def test_few_values_are_cut_at_midpoints_and_nothing_is_lost(values):
    values = np.array(values)
    cuts = cuts_of(values)
    distinct = np.unique(values)
    assert len(cuts) == len(distinct) - 1
    assert (distinct[:-1] <= cuts).all()
    assert (cuts < distinct[1:]).all()
    codes = REFERENCE.encode(table(values), Bins((Feature(cuts=cuts, n_bins=len(cuts) + 1),)))[0]
    np.testing.assert_array_equal(distinct[codes], values)


def test_a_cut_is_the_midpoint():
    np.testing.assert_array_equal(cuts_of([3.0, 1.0, 2.0, 1.0]), [1.5, 2.5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.bool_])
def test_dtypes_are_cut_alike(dtype):
    values = np.array([0, 1, 1, 0, 1], dtype=dtype)
    np.testing.assert_array_equal(cuts_of(values), [0.5])
    for engine in (REFERENCE, CPU):
        bins = fit_bins(engine, table(values))
        np.testing.assert_array_equal(engine.column(engine.encode(table(values), bins), 0), [0, 1, 1, 0, 1])


@given(
    st.lists(st.integers(-(2**11), 2**11), min_size=1, max_size=60),
    st.sampled_from([2**53, -(2**53), 2**60, 2**63 - 2**11, -(2**63) + 2**11, 2**64 - 2**11 - 1]),
    st.sampled_from([2, 7, 255]),
    st.booleans(),
)
def test_integers_are_binned_as_their_doubles(offsets, around, max_bins, weighted):
    """Those that coincide as doubles are one value, whatever its type: else two cuts are equal."""
    exact = [min(around + k, 2**64 - 1) for k in offsets]
    dtype = np.uint64 if around >= 2**63 else np.int64
    values = np.array([min(v, np.iinfo(dtype).max) for v in exact], dtype=dtype)
    weights = 1.0 + np.arange(len(values)) % 3 if weighted else None
    doubles = values.astype(np.float64)
    cuts = cuts_of(values, weights, max_bins)
    np.testing.assert_array_equal(cuts, cuts_of(doubles, weights, max_bins))
    assert (np.diff(cuts) > 0).all()
    bins = Bins((Feature(cuts=cuts, n_bins=len(cuts) + 1),))
    for engine in (REFERENCE, CPU):
        codes, expected = (engine.column(engine.encode(table(v), bins), 0) for v in (values, doubles))
        np.testing.assert_array_equal(codes, expected)
        if len(np.unique(doubles)) <= max_bins:
            assert len(np.unique(codes)) == len(np.unique(doubles))


@pytest.mark.parametrize("max_bins", [2, 7, 255])
def test_many_values_get_bins_of_equal_weight(max_bins):
    values = np.random.default_rng(0).normal(size=20_000)
    cuts = cuts_of(values, max_bins=max_bins)
    assert len(cuts) == max_bins - 1
    share = np.bincount(np.searchsorted(cuts, values)) / len(values)
    np.testing.assert_allclose(share, 1 / max_bins, atol=1.5 / len(values))


@given(st.integers(0, 10_000), st.sampled_from([3, 10, 255]))
@settings(max_examples=25)
def test_an_integer_weight_is_a_repetition_and_zero_is_absence(seed, max_bins):
    rng = np.random.default_rng(seed)
    values = np.round(rng.exponential(size=400), rng.integers(1, 4))
    weights = rng.integers(0, 4, 400).astype(float)
    np.testing.assert_array_equal(
        cuts_of(values, weights, max_bins), cuts_of(np.repeat(values, weights.astype(int)), None, max_bins)
    )


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=3000), rng.random(3000)
    order = rng.permutation(3000)
    np.testing.assert_array_equal(cuts_of(values, None), cuts_of(values[order], None))
    np.testing.assert_allclose(cuts_of(values, weights), cuts_of(values[order], weights[order]), rtol=0, atol=0)


def test_a_value_that_fills_a_bin_gets_one_and_leaves_the_others_their_bins():
    """Nine of ten amounts are zero: plain quantiles would leave the rest a tenth of the bins."""
    rng = np.random.default_rng(2)
    values = np.where(rng.random(50_000) < 0.9, 0.0, rng.exponential(size=50_000))
    cuts = cuts_of(values)
    codes = np.searchsorted(cuts, values)
    assert 200 < len(cuts) <= 254
    assert set(codes[values == 0]) == {0}
    assert (codes[values > 0] > 0).all()


@pytest.mark.parametrize("heavy", [2, 5, 100, 300])
@pytest.mark.parametrize("max_bins", [2, 3, 16, 255])
def test_there_are_never_more_bins_than_allowed(heavy, max_bins):
    rng = np.random.default_rng(heavy)
    values = np.concatenate([rng.choice(heavy, 4000).astype(float), rng.normal(size=4000) * heavy])
    cuts = cuts_of(values, max_bins=max_bins)
    assert 1 <= len(cuts) <= max_bins - 1
    assert (np.diff(cuts) > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_engines_sort_cut_and_encode_alike(dtype):
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(5000, 11)) * 10.0 ** rng.integers(-30, 30, 11)).astype(dtype)
    X[:, 4] = -np.abs(X[:, 4])
    X[:, 5] = np.round(X[:, 5], 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 7] = np.nan
    for matrix in (X, np.asfortranarray(X)):
        t = Table(*matrix.shape, matrix=matrix)
        bins, other = fit_bins(REFERENCE, t), fit_bins(CPU, t)
        codes, fast = REFERENCE.encode(t, bins), CPU.encode(t, other)
        for j in range(11):
            np.testing.assert_array_equal(bins.features[j].cuts, other.features[j].cuts)
            np.testing.assert_array_equal(codes[j], CPU.column(fast, j))
            np.testing.assert_array_equal(codes[j] == MISSING, np.isnan(X[:, j]))


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "of all sizes": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n),
    "one sign": lambda rng, n: -rng.exponential(size=n),
    "a narrow range": lambda rng, n: 1e6 + rng.random(n),
    "whole": lambda rng, n: np.floor(100.0 * rng.normal(size=n)),
    "many equal": lambda rng, n: np.where(rng.random(n) < 0.4, 0.25, rng.random(n)),
    "few levels": lambda rng, n: rng.integers(0, 7, n) / 8.0,
    "zeros of both signs": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.5),
    "sorted": lambda rng, n: np.arange(n, dtype=float),
    "one far away": lambda rng, n: np.where(np.arange(n) == n // 2, 1e30, rng.random(n)),
    "a prime number of levels": lambda rng, n: rng.permutation(np.arange(n) % 509) / 3.0,
}


@pytest.mark.sample(13)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weighted"])
@pytest.mark.parametrize(
    "sizes",
    [(0, 1, 3, 500, 511, 5000, 40_000), pytest.param((70_000, 300_000), marks=pytest.mark.slow)],
    ids=["small", "large"],
)
def test_cuts_of_columns_of_any_kind_are_those_of_the_reference(shape, weighted, sizes):
    rng = np.random.default_rng(0)
    for n in sizes:
        X = SHAPES[shape](rng, n)
        X[rng.random(n) < 0.1] = np.nan
        weights = rng.choice([0.0, 0.3, 1.0, 2.5], n) if weighted else None
        columns = [X.astype(np.float32), X, X[::-1], np.nan_to_num(X, nan=-3.0).clip(-99, 99).astype(np.int16)]
        for max_bins in (2, 32, 255):
            expected = REFERENCE.cuts(columns, weights, max_bins)
            for found, own in zip(CPU.cuts(columns, weights, max_bins), expected, strict=True):
                np.testing.assert_array_equal(found, own)


def test_infinitely_close_and_far_values_are_told_apart():
    tiny = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert tiny[0] <= cuts_of(tiny)[0] < tiny[1]
    huge = np.array([-1.7e308, 1.7e308, 1.6e308])
    assert np.isfinite(cuts_of(huge)).all()


def test_categories_have_their_own_codes_and_unseen_ones_are_missing():
    column = Nominal(np.array([0, 1, -1, 1]), ("a", "b", "never"))
    t = Table(4, 1, columns=(column,))
    bins = fit_bins(REFERENCE, t)
    assert bins.features[0].categories == ("a", "b")
    new = Table(4, 1, columns=(Nominal(np.array([0, 1, 2, -1]), ("b", "c", "a")),))
    for engine in (REFERENCE, CPU):
        np.testing.assert_array_equal(engine.column(engine.encode(t, bins), 0), [0, 1, MISSING, 1])
        np.testing.assert_array_equal(engine.column(engine.encode(new, bins), 0), [1, MISSING, 0, MISSING])


def test_too_many_categories_share_the_last_code_with_a_warning():
    codes = np.concatenate([np.arange(300), np.arange(200)])
    t = Table(500, 1, columns=(Nominal(codes, tuple(f"id{k:03}" for k in range(300))),))
    with pytest.warns(UserWarning, match="300 categories; the 254 most frequent"):
        feature = fit_bins(REFERENCE, t).features[0]
    assert feature.n_bins == 255
    assert len(feature.rest) == 46
    assert {feature.code_of[c] for c in feature.rest} == {254}
    assert all(feature.code_of[f"id{k:03}"] < 254 for k in range(200))


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_which_categories_keep_a_code_depends_on_their_weights_and_names_only(seed):
    """Not on the order of rows, nor on whether a weight is a repetition, nor on how sums of weights are rounded."""
    rng = np.random.default_rng(seed)
    names = tuple(f"id{k:03}" for k in range(60))
    codes, counts = rng.integers(-1, 60, 200), rng.integers(0, 4, 200)
    order = rng.permutation(200)

    def kept(codes, weights):
        with pytest.warns(UserWarning, match="share one"):
            feature = fit_bins(REFERENCE, Table(len(codes), 1, columns=(Nominal(codes, names),)), weights, 12).features[
                0
            ]
        return feature.categories, feature.rest

    weights = counts * 0.1  # 0.1 + 0.2 + 0.3 depends on the order
    repeated = kept(codes.repeat(counts), None)
    assert kept(codes, counts.astype(float)) == repeated
    assert kept(codes, weights) == kept(codes[order], weights[order]) == repeated
    mass = np.bincount(codes[codes >= 0], counts[codes >= 0], minlength=60)
    first = sorted(np.flatnonzero(mass), key=lambda k: (-mass[k], names[k]))[:11]
    assert set(repeated[0]) == {names[k] for k in first}


def test_the_table_is_not_copied():
    """Binning needs a column at a time, not the table twice: memory beyond it stays below a quarter of it."""
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(60_000, 40))
    t = Table(*X.shape, matrix=X)
    CPU.encode(t, fit_bins(CPU, t))  # threads start outside the measurement
    tracemalloc.start()
    bins = fit_bins(CPU, t)
    CPU.encode(t, bins)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 4


def uniform_cuts(column, n, weights=None):
    return fit_bins(REFERENCE, table(np.asarray(column, dtype=np.float64)), weights, n, uniform=True).features[0].cuts


@pytest.mark.parametrize("n", [2, 7, 255])
def test_equal_intervals_divide_the_range(n):
    column = np.random.default_rng(0).lognormal(size=500)
    expected = np.linspace(column.min(), column.max(), n + 1)[1:-1]
    assert uniform_cuts(column, n) == pytest.approx(expected)
    holes = np.insert(column, 3, np.nan)
    assert np.array_equal(uniform_cuts(holes, n), uniform_cuts(column, n))
    assert np.array_equal(uniform_cuts(column[::-1], n), uniform_cuts(column, n))


def test_equal_intervals_ignore_weights_but_not_rows_without_any():
    column, weights = np.array([0.0, 1.0, 2.0, 100.0]), np.array([9.0, 0.1, 3.0, 0.0])
    assert uniform_cuts(column, 4, weights) == pytest.approx([0.5, 1.0, 1.5])
    assert uniform_cuts(column, 4) == pytest.approx([25.0, 50.0, 75.0])


@pytest.mark.parametrize(
    ("column", "n_cuts"),
    [([5.0, 5.0], 0), ([np.nan, np.nan], 0), ([1.0, np.nextafter(1.0, 2.0)], 1), ([-1e308, 1e308], 3)],
)
def test_equal_intervals_of_extreme_ranges(column, n_cuts):
    cuts = uniform_cuts(column, 4)
    assert len(cuts) == n_cuts
    assert np.isfinite(cuts).all()
    if n_cuts:
        assert min(column) <= cuts[0]
        assert cuts[-1] < max(column)


@pytest.mark.parametrize("learner", [Stump, Tree, AlternatingTree])
def test_learners_test_the_cuts_of_equal_intervals(learner):
    rng = np.random.default_rng(1)
    X = rng.exponential(size=(400, 2))
    y = (X.sum(axis=1) + rng.normal(0, 0.5, 400) > 2).astype(int)
    model = RealBoostClassifier(estimator=learner(max_bins=8, binning="uniform"), n_estimators=10).fit(X, y)
    for j, f in enumerate(model.shape_functions()):
        allowed = np.linspace(X[:, j].min(), X[:, j].max(), 9)[1:-1]
        assert len(f.edges)
        assert np.abs(f.edges[:, None] - allowed).min(axis=1).max() < 1e-9
    with pytest.raises(InputError, match=r"binning='uniform' of .* has no effect with max_bins=None"):
        RealBoostClassifier(estimator=learner(max_bins=None, binning="uniform")).fit(X, y)
    with pytest.raises(InputError, match=r"binning of .* must be one of 'quantile', 'uniform'; got 'equal'"):
        RealBoostClassifier(estimator=learner(binning="equal")).fit(X, y)


def test_equal_intervals_of_computed_columns():
    images = np.random.default_rng(0).random((60, 8, 8))
    computed = HaarFeatures(min_size=3).fit_transform(images.reshape(60, -1))
    y = np.arange(60) % 2
    models = [AdaBoostClassifier(estimator=Stump(max_bins=9, binning="uniform"), n_estimators=4).fit(X, y)
              for X in (computed, np.asarray(computed))]  # fmt: skip
    assert np.array_equal(*(model.decision_function(computed) for model in models))
