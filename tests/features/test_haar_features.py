"""Haar features: what they are, that lazy tables are arrays to the last bit, and that they stay out of memory."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import (
    AdaBoostClassifier,
    AdaMECClassifier,
    AlternatingTreeClassifier,
    CodeMatrixClassifier,
    CSAdaBoostClassifier,
    GentleBoostClassifier,
    GoalSearchCV,
    LogitBoostClassifier,
    PastingVotesClassifier,
    RealBoostClassifier,
    SkewBoostClassifier,
    UnderBaggingClassifier,
)
from skewboost.datasets.chunks import stack
from skewboost.engine.computed import PART, ComputedTable
from skewboost.errors import InputError
from skewboost.features import HaarFeatures
from skewboost.features.haar_table import HaarTable
from skewboost.features.rectangles import KINDS
from skewboost.learners import Histogram, Line, Stump, Tree
from skewboost.learners.samplers import Smote


@parametrize_with_checks([HaarFeatures(), HaarFeatures(output="array", normalize=False)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def images(n=120, side=7, seed=0, dtype=np.uint8):
    """Noise, with a bright upright bar in a third of the images."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 160, size=(n, side, side))
    y = (np.arange(n) % 3 == 0).astype(int)
    for row in np.flatnonzero(y):
        made[row, :, rng.integers(1, 3)] += 80
    return made.reshape(n, -1).astype(dtype), y


# ------------------------------------------------------------------------- the features


def test_numbers_of_features():
    """162 336 features of 24 x 24 pixels: 43 200 of both kinds of two, 27 600 of three, and 20 736 of four."""
    haar = HaarFeatures().fit(np.zeros((1, 24 * 24)))
    assert haar.n_features_out_ == 162_336
    _, counts = np.unique(haar.features_["kind"], return_counts=True)
    assert sorted(counts.tolist()) == [20_736, 27_600, 27_600, 43_200, 43_200]
    assert HaarFeatures().fit(np.zeros((1, 19 * 19))).n_features_out_ == 63_960
    few = HaarFeatures(min_size=2, size_step=3, step=2, kinds=["four", "two_vertical"]).fit(np.zeros((1, 81)))
    assert set(few.features_["kind"]) == {"four", "two_vertical"}
    assert set(few.features_["height"]) == {4}  # next is 10
    assert set(few.features_["width"]) == {2, 5, 8, 4}
    assert set(few.features_["top"]) == {0, 2, 4}


@pytest.mark.parametrize("shape", [(5, 6), (1, 9), (7, 2)], ids=str)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_features_are_sums_of_pixels(shape, normalize, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(4, *shape)) * 50 + 100).astype(dtype)
    haar = HaarFeatures(shape, normalize=normalize).fit(X.reshape(4, -1))
    table = haar.transform(X.reshape(4, -1))
    assert table.shape == (4, haar.n_features_out_)
    for j, column in enumerate(np.asarray(table).T):
        rectangles = haar.rectangles(j)
        direct = sum(f * X[:, t : t + h, q : q + w].sum(axis=(1, 2), dtype=float) for f, t, q, h, w in rectangles)
        if normalize:
            direct = direct / X.reshape(4, -1).std(axis=1, dtype=float)
        np.testing.assert_allclose(column, direct, rtol=1e-10, atol=1e-9)
        assert len({(h, w) for *_, h, w in rectangles}) == 1
        covered = np.zeros(shape, dtype=int)
        for _, t, q, h, w in rectangles:
            covered[t : t + h, q : q + w] += 1
        top, left, height, width = (int(haar.features_[k][j]) for k in ("top", "left", "height", "width"))
        assert (covered[top : top + height, left : left + width] == 1).all()
        assert covered.sum() == height * width


def test_whole_numbers_are_summed_exactly():
    X, _ = images()
    table = np.asarray(HaarFeatures(normalize=False).fit_transform(X))
    np.testing.assert_array_equal(table, np.rint(table))
    np.testing.assert_array_equal(table, np.asarray(HaarFeatures(normalize=False).fit_transform(X.astype(np.int64))))


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("level", [0, 7, 0.1, -1e30, 1e100])
def test_all_features_of_one_grey_level_are_zero(level, normalize):
    X = np.full((3, 49), level)
    np.testing.assert_array_equal(np.asarray(HaarFeatures(normalize=normalize).fit_transform(X)), 0.0)


def test_neither_brightness_nor_contrast_matter_if_normalized():
    X, _ = images(dtype=np.float64)
    haar = HaarFeatures().fit(X)
    as_is, changed = np.asarray(haar.transform(X)), np.asarray(haar.transform(0.3 * X - 50.0))
    np.testing.assert_allclose(changed, as_is, atol=1e-9)
    np.testing.assert_array_equal(np.asarray(haar.transform(4.0 * X + 8.0)), as_is)


def test_names_say_kind_place_and_size():
    haar = HaarFeatures().fit(np.zeros((1, 25)))
    names = haar.get_feature_names_out()
    assert len(set(names)) == haar.n_features_out_ == len(names)
    j = names.tolist().index("three_horizontal_y1_x2_2x3")
    assert haar.rectangles(j) == [(-1, 1, 2, 2, 1), (2, 1, 3, 2, 1), (-1, 1, 4, 2, 1)]
    assert pd.DataFrame(haar.features_).iloc[j].tolist() == ["three_horizontal", 1, 2, 2, 3]
    assert list(dict.fromkeys(haar.features_["kind"])) == list(KINDS)


# -------------------------------------------------------------- lazy tables are arrays, to the last bit

BOOSTERS = [
    AdaBoostClassifier(n_estimators=8),
    RealBoostClassifier(n_estimators=8, estimator=Tree(max_leaf_nodes=4)),
    RealBoostClassifier(n_estimators=8, estimator=Histogram(max_bins=5), engine="reference"),
    CSAdaBoostClassifier(n_estimators=4, estimator=Stump(max_features="sqrt"), cost=3, random_state=1),
    LogitBoostClassifier(n_estimators=5, estimator=Line()),
    GentleBoostClassifier(n_estimators=5, estimator=Tree(max_depth=2, max_leaf_nodes=None), engine="reference"),
    RealBoostClassifier(n_estimators=30, early_stopping=3, random_state=0),
    RealBoostClassifier(n_estimators=4, sampler=Smote(), random_state=0),
    RealBoostClassifier(n_estimators=4, resample=True, random_state=0),
    AlternatingTreeClassifier(max_rounds=5),
    AdaMECClassifier(n_estimators=5, calibrate="sigmoid", random_state=0),
    AdaBoostClassifier(estimator=LogisticRegression(max_iter=20, tol=1.0), n_estimators=2),
    CodeMatrixClassifier(AdaBoostClassifier(n_estimators=3), random_state=0),
    UnderBaggingClassifier(AdaBoostClassifier(n_estimators=3), n_estimators=2, random_state=0),
    PastingVotesClassifier(n_estimators=3, bite_size=50, random_state=0),
    SkewBoostClassifier(effort="quick", random_state=0),
    GoalSearchCV(AdaBoostClassifier(n_estimators=3), "recall >= 0.5", tune="threshold", cv=2, random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda b: f"{type(b).__name__}-{BOOSTERS.index(b)}")
def test_lazy_and_eager_are_equal_to_the_bit(booster):
    X, y = images()
    new, _ = images(seed=1)
    haar = HaarFeatures(min_size=2).fit(X)
    lazy = clone(booster).fit(haar.transform(X), y)
    eager = clone(booster).fit(np.asarray(haar.transform(X)), y)
    for name in ("decision_function", "predict_proba", "staged_decision_function", "contributions"):
        if not hasattr(eager, name):
            continue
        try:
            expected = list(getattr(eager, name)(np.asarray(haar.transform(new))))
        except InputError:  # models of other libraries cannot be explained
            continue
        np.testing.assert_array_equal(list(getattr(lazy, name)(haar.transform(new))), expected)
        np.testing.assert_array_equal(list(getattr(lazy, name)(np.asarray(haar.transform(new)))), expected)


def test_rows_are_selected_as_those_of_arrays_are():
    X, _ = images()
    haar = HaarFeatures().fit(X)
    table, cells = haar.transform(X), np.asarray(haar.transform(X))
    mask, some = np.arange(len(X)) % 3 == 1, np.array([5, 1, 1, -2])
    for key in (mask, some, slice(3, 9), slice(None, None, -7), [2, 4], (some, ...), (slice(2, 4), slice(None))):
        np.testing.assert_array_equal(np.asarray(table[key]), cells[key])
        np.testing.assert_array_equal(np.asarray(table[key][:1]), cells[key][:1])
    for key in (4, -1, (4, 7), (slice(None), 3), (slice(None), [2, 8]), (mask, slice(5, 9)), (2, slice(1, 4))):
        assert not isinstance(table[key], ComputedTable)
        np.testing.assert_array_equal(table[key], cells[key])
    with pytest.raises(IndexError):
        table[len(X)]
    for pairs in (([0, 1], [0, 1]), ([0, 1, 2], [1]), (mask, some), np.ix_([0, 1], [2, 3])):  # not what NumPy makes
        with pytest.raises(InputError, match=r"both given as lists.*table\[rows\]\[:, columns\]"):
            table[pairs]
    np.testing.assert_array_equal(table[[0, 1]][:, [2, 3]], cells[np.ix_([0, 1], [2, 3])])
    np.testing.assert_array_equal(list(table[:3]), cells[:3])
    assert np.asarray(table, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(table, copy=False)
    assert f"{len(X)} rows" in repr(table)
    again = pickle.loads(pickle.dumps(table[some]))
    np.testing.assert_array_equal(np.asarray(again), cells[some])


@pytest.mark.parametrize("normalize", [True, False])
def test_windows_of_a_picture_are_images(normalize):
    picture = np.random.default_rng(0).integers(0, 256, size=(30, 41))
    picture[3:14, 5:18] = 77  # some windows have one grey level
    haar = HaarFeatures((9, 8), normalize=normalize).fit(np.zeros((1, 72)))
    for step in (1, 3):
        table, places = haar.windows(picture, step=step)
        cut = np.array([picture[y : y + 9, x : x + 8].ravel() for y, x in places])
        assert len(cut) == len(range(0, 22, step)) * len(range(0, 34, step))
        np.testing.assert_array_equal(table.source, cut)
        np.testing.assert_array_equal(np.asarray(table), np.asarray(haar.transform(cut)))
        np.testing.assert_array_equal(np.asarray(table[::5]), np.asarray(haar.transform(cut[::5])))
    of_floats, _ = haar.windows(picture / 255.0)
    np.testing.assert_allclose(np.asarray(of_floats[::7]), np.asarray(haar.windows(picture / 255.0)[0])[::7])
    assert np.isfinite(np.asarray(of_floats)).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_pixels_of_any_precision(dtype):
    """The checks of pixels warn of nothing, and features are those of the same pixels as doubles, to the bit."""
    X = np.random.default_rng(0).random((5, 16)).astype(dtype)
    haar = HaarFeatures().fit(X)
    expected = HaarFeatures().fit_transform(X.astype(np.float64))
    np.testing.assert_array_equal(np.asarray(haar.transform(X)), np.asarray(expected))
    picture = X[:4].reshape(8, 8)
    own, doubles = (np.asarray(haar.windows(pixels)[0]) for pixels in (picture, picture.astype(np.float64)))
    np.testing.assert_array_equal(own, doubles)


# ------------------------------------------------------------------------------ memory


@pytest.fixture
def computed(monkeypatch):
    """Which columns were computed for how many rows, call by call."""
    calls, compute = [], HaarTable.compute

    def recorded(self, features):
        calls.append((len(self), np.array(features)))
        return compute(self, features)

    monkeypatch.setattr(HaarTable, "compute", recorded)
    return calls


def test_a_block_of_columns_is_in_memory_at_a_time(computed):
    X, y = images(n=2000, side=12)
    table = HaarFeatures().fit_transform(X)
    tracemalloc.start()
    clf = AdaBoostClassifier(n_estimators=3).fit(table, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    cells = table.shape[0] * table.shape[1]
    assert cells > 2e7
    assert max(n * len(features) for n, features in computed) <= 1 << 19
    assert sum(n * len(features) for n, features in computed) == 2 * cells  # for the cuts, and for the codes
    assert peak < 0.5 * 8 * cells
    computed.clear()
    clf.predict(table)
    list(clf.staged_predict(table))
    tested = {s.feature for term in clf.estimators_ for s in term.partition.splits}
    assert {int(j) for _, features in computed for j in features} <= tested
    assert len(tested) <= 3


def test_many_rows_are_scored_in_parts(computed):
    X, y = images(n=9000, side=5)
    haar = HaarFeatures().fit(X)
    clf = AdaBoostClassifier(n_estimators=3).fit(haar.transform(X[:300]), y[:300])
    computed.clear()
    F = clf.decision_function(haar.transform(X))
    assert len(computed) == -(-9000 // PART)
    assert max(n for n, _ in computed) < len(X)
    np.testing.assert_array_equal(F, clf.decision_function(np.asarray(haar.transform(X))))


def test_early_stopping_computes_the_columns_that_are_tested(computed):
    X, y = images(n=300, side=8)
    table = HaarFeatures().fit_transform(X)
    AdaBoostClassifier(n_estimators=5, early_stopping=True, random_state=0).fit(table, y)
    held_out = [(n, features) for n, features in computed if n < 100]
    assert 0 < len(held_out) <= 5
    assert all(len(features) == 1 for _, features in held_out)


# ------------------------------------------------------------------------ scikit-learn


def test_pipelines_searches_and_cross_validation():
    X, y = images()
    clf = make_pipeline(HaarFeatures(), CSAdaBoostClassifier(n_estimators=10, cost=2))
    found = cross_validate(clf, X, y, cv=3, scoring="roc_auc", return_estimator=True)
    assert found["test_score"].mean() > 0.8
    assert isinstance(found["estimator"][0][:-1].transform(X), HaarTable)
    search = GridSearchCV(clf, {"haarfeatures__min_size": [1, 3], "haarfeatures__normalize": [True, False]}, cv=2)
    assert search.fit(X, y).predict(X[:5]).shape == (5,)
    linear = make_pipeline(HaarFeatures(min_size=3), StandardScaler(), LogisticRegression())
    assert cross_val_score(linear, X, y, cv=2).mean() > 0.5
    goal = GoalSearchCV(clf, "recall >= 0.5", tune="threshold", confidence=None, cv=2, random_state=0).fit(X, y)
    assert goal.predict(X).shape == (len(X),)


def test_equal_images_are_equal_rows():
    """Without computing the features of either: the same units are held out as of the pixels themselves."""
    from skewboost.engine.units import equal_rows
    from skewboost.goals.rows import columns_of

    X, _ = images()
    X = np.concatenate((X, X[:40]))
    of_pixels = equal_rows(columns_of(X), len(X))
    assert len(set(of_pixels.tolist())) == 120
    np.testing.assert_array_equal(equal_rows(columns_of(HaarFeatures().fit_transform(X)), len(X)), of_pixels)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("output", ["lazy", "array"])
def test_containers_of_other_libraries(library, output):
    X, _ = images()
    name = library.__name__
    haar = clone(HaarFeatures(min_size=3, output=output).set_output(transform=name)).fit(X)
    frame = haar.transform(X)
    assert isinstance(frame, library.DataFrame)
    assert list(frame.columns) == haar.get_feature_names_out().tolist()
    plain = clone(haar).set_output(transform="default").fit_transform(X)
    assert isinstance(plain, HaarTable if output == "lazy" else np.ndarray)
    np.testing.assert_array_equal(frame.to_numpy(), np.asarray(plain))
    haar.set_output()  # changes nothing
    assert isinstance(haar.transform(X), library.DataFrame)


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"image_shape": (7, 8)}, "56 pixels, but X has 49 columns"),
        ({"image_shape": 7}, "image_shape of HaarFeatures must be a pair"),
        ({"kinds": ["two"]}, "kinds of HaarFeatures must be 'all'|one of 'all'"),
        ({"kinds": []}, "kinds of HaarFeatures"),
        ({"kinds": ["four", "four"]}, "kinds of HaarFeatures"),
        ({"kinds": [["four"]]}, r"kinds of HaarFeatures must be one of 'all' or a list of .*; got \[\['four'\]\]"),
        ({"kinds": ["four", None]}, "kinds of HaarFeatures must be"),
        ({"min_size": 8}, r"Images of 7 x 7 pixels \(n_features = 49\) have none of the features"),
        ({"step": 0}, "step of HaarFeatures must be an integer >= 1"),
        ({"output": "table"}, "output of HaarFeatures"),
    ],
)
def test_bad_parameters(params, problem):
    X, _ = images()
    with pytest.raises(InputError, match=problem):
        HaarFeatures(**params).fit(X)


def test_tables_are_put_below_each_other_without_computing_them(computed):
    picture = np.random.default_rng(0).integers(0, 256, size=(12, 11))
    X, _ = images()
    haar = HaarFeatures(min_size=2).fit(X)
    tables = [haar.transform(X), haar.windows(picture)[0][::3], haar.transform(X.astype(float))[5:7]]
    joined = stack(tables)
    assert isinstance(joined, HaarTable)
    assert not computed
    np.testing.assert_array_equal(np.asarray(joined), np.concatenate([np.asarray(table) for table in tables]))
    again = stack([tables[0], pickle.loads(pickle.dumps(tables[1]))])
    assert isinstance(again, HaarTable)
    for other in ({"normalize": False}, {"min_size": 2, "kinds": ["four"]}):  # what is not computed in the same way
        first, second = (HaarFeatures(**{"min_size": 2, "kinds": ["four"], **own}).fit(X) for own in ({}, other))
        whole = stack([first.transform(X), second.transform(X)])
        assert isinstance(whole, HaarTable) == (first.get_params() == second.get_params())
        np.testing.assert_array_equal(whole[len(X) :], np.asarray(second.transform(X)))


def test_bad_images():
    X, _ = images()
    haar = HaarFeatures().fit(X)
    for estimator in (HaarFeatures().fit, haar.transform):
        with pytest.raises(InputError, match=r"X has the shape \(120, 7, 7\).*X.reshape\(len\(X\), -1\)"):
            estimator(X.reshape(-1, 7, 7))
    with pytest.raises(InputError, match="and image_shape"):
        HaarFeatures().fit(np.zeros((3, 4, 5)))
    with pytest.raises(InputError, match=r"a picture in colours\? Pass its grey levels"):
        haar.windows(np.zeros((9, 9, 3)))
    for feature in (haar.n_features_out_, -1, 0.5):
        with pytest.raises(InputError, match=f"feature={feature} "):
            haar.rectangles(feature)
    with pytest.raises(InputError, match="64 x 64 pixels have 8"):
        HaarFeatures().fit(np.zeros((1, 64 * 64)))
    with pytest.raises(InputError, match="pixels above 1e"):
        haar.transform(np.full((1, 49), 1e150))
    with pytest.raises(InputError, match="picture has 6 x 9 pixels, and windows have 7 x 7"):
        haar.windows(np.zeros((6, 9)))
    with pytest.raises(InputError, match="step=0 must be"):
        haar.windows(np.zeros((9, 9)), step=0)
    with pytest.raises(InputError, match="2D"):
        haar.windows(np.zeros(9))
    with pytest.raises(InputError, match="empty table"):
        AdaBoostClassifier().fit(haar.transform(X)[:0], [])
