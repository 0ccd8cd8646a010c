"""Samplers: what they draw, with what weights, and that what is learned from it is measured on the real rows."""

from __future__ import annotations

import itertools
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from imblearn.combine import SMOTEENN
from imblearn.over_sampling import SMOTE, SMOTENC, RandomOverSampler
from imblearn.under_sampling import NearMiss, RandomUnderSampler
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    catalogue,
)
from skewboost.engine import choose
from skewboost.engine.row_hash import places_of, row_keys
from skewboost.engine.table import Nominal, Table, read_table
from skewboost.learners import Tree
from skewboost.learners.samplers import Bootstrap, DataBoost, Fraction, Sample, Smote, UnderSample, as_sampler
from skewboost.learners.samplers.databoost import balanced
from skewboost.learners.training_data import TrainingData
from support import awkward_data

OWN = [Fraction(0.5), UnderSample(), UnderSample(0.4), Smote(), DataBoost()]
OTHERS = [RandomUnderSampler(), RandomOverSampler(), SMOTE(), SMOTEENN()]
each_sampler = pytest.mark.parametrize("sampler", OWN + OTHERS, ids=str)


class Recorded:
    """A sampler that remembers what it drew."""

    def __init__(self, sampler):
        self.sampler = as_sampler(sampler)
        self.resets = getattr(self.sampler, "resets", True)
        self.weights, self.drawn = [], []

    def draw(self, data, weights, rng):
        self.weights.append(weights.copy())
        self.drawn.append(self.sampler.draw(data, weights, rng))
        return self.drawn[-1]


def data_of(X, y, examples=None):
    table = X if isinstance(X, Table) else Table(*X.shape, matrix=X)
    return TrainingData(table, y == 1, examples, choose("reference", 1))


def mixed(n=300, seed=0, missing=0.1):
    """Numbers, whole numbers, a boolean, categories, with missing cells; a fifth positive."""
    rng = np.random.default_rng(seed)
    shop = np.array(["food", "fuel", "toys"], dtype=object)[rng.integers(0, 3, n)]
    amount, visits, online = rng.lognormal(size=n), rng.integers(0, 9, n), rng.random(n) < 0.3
    y = ((shop == "toys") + online + amount / 3 + 0.5 * rng.normal(size=n) > 2.0).astype(int)
    amount[rng.random(n) < missing] = np.nan
    shop[rng.random(n) < missing] = None
    frame = pd.DataFrame({"amount": amount, "shop": pd.Categorical(shop), "visits": visits, "online": online})
    return frame, y


# ------------------------------------------------------------------------------ every variant


@pytest.mark.sample(12)
@pytest.mark.parametrize("sampler", [0.5, RandomUnderSampler(random_state=3)], ids=str)
@pytest.mark.parametrize("entry", catalogue(), ids=lambda e: e.name)
def test_every_variant_takes_every_sampler(entry, sampler):
    """Reproducibly, with draws that follow the booster's seed, and in parallel as alone."""
    X, y = awkward_data(120, missing=0.0)
    new = lambda **kwargs: entry.make(3, sampler=sampler, **{"random_state": 0, **kwargs}).fit(X, y)  # noqa: E731
    F = new().decision_function(X)
    assert np.isfinite(F).all()
    assert np.ptp(F) > 0
    np.testing.assert_array_equal(new().decision_function(X), F)
    others = (new(random_state=seed).decision_function(X) for seed in (1, 2))  # three stumps may be equal by chance
    assert any(not np.array_equal(other, F) for other in others)
    if sampler == 0.5:
        one, two = (new(engine="cpu", n_jobs=n).decision_function(X) for n in (1, 2))
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, F, atol=1e-9)


@pytest.mark.parametrize("learner", ["stump", Tree(max_leaf_nodes=4)], ids=str)
@pytest.mark.parametrize("booster", [AdaBoostClassifier, RealBoostClassifier, LogitBoostClassifier])
def test_a_fraction_of_all_rows_is_no_sampling(booster, learner):
    X, y = awkward_data(200)
    plain = booster(estimator=learner, n_estimators=10).fit(X, y)
    drawn = booster(estimator=learner, n_estimators=10, sampler=0.9999).fit(X, y)
    np.testing.assert_allclose(drawn.decision_function(X), plain.decision_function(X), atol=1e-9)


@each_sampler
def test_rounds_are_measured_on_the_real_rows(sampler):
    """Error, step and weights of the rounds, recomputed from what they say about every real row."""
    X, y = awkward_data(200, missing=0.0)
    examples = np.random.default_rng(1).integers(1, 4, 200)
    recorded = Recorded(sampler)
    clf = AdaBoostClassifier(sampler=recorded, n_estimators=4, random_state=0, pos_label=1)
    clf.fit(X, y, sample_weight=examples)
    stages = np.array([np.zeros(200), *clf.staged_decision_function(X)])
    w = examples / examples.sum()
    for record, g in zip(clf.history_, np.diff(stages, axis=0), strict=True):
        assert any(np.allclose(w, seen, atol=1e-12) for seen in recorded.weights)
        wrong = w[(g > 0) != (y == 1)].sum()
        assert record["criterion"] == pytest.approx(wrong, abs=1e-12)
        assert record["step"] == pytest.approx(0.5 * np.log((1 - wrong) / wrong), rel=1e-9)
        w = w * np.exp(-np.where(y == 1, 1, -1) * g)
        w /= w.sum()


@each_sampler
def test_a_weight_of_two_is_the_row_twice_and_the_order_of_rows_means_nothing(sampler):
    """Exactly: samplers draw from the examples in an order that only depends on what they are."""
    X, y = awkward_data(90, missing=0.0)
    weights = np.random.default_rng(0).integers(0, 4, 90)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(90), weights))
    clf = RealBoostClassifier(sampler=sampler, n_estimators=4, random_state=0)
    weighted = clone(clf).fit(X, y, sample_weight=weights).decision_function(X)
    repeated = clone(clf).fit(X[rows], y[rows]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


@each_sampler
def test_rows_of_no_weight_are_not_there(sampler):
    X, y = awkward_data(100, missing=0.0)
    X, y = np.vstack((X, np.full((30, 9), 50.0))), np.append(y, np.ones(30, dtype=int))
    weights = np.append(np.random.default_rng(0).random(100), np.zeros(30))
    clf = RealBoostClassifier(sampler=sampler, n_estimators=4, random_state=0)
    F = clone(clf).fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_array_equal(clf.fit(X[:100], y[:100], sample_weight=weights[:100]).decision_function(X), F)


@each_sampler
def test_rounds_draw_anew_whatever_the_sampler_was_seeded_with(sampler):
    X, y = awkward_data(200, missing=0.0)
    if "random_state" in sampler.get_params():
        sampler = clone(sampler).set_params(random_state=0)
    recorded = Recorded(sampler)
    RealBoostClassifier(sampler=recorded, n_estimators=4, random_state=0).fit(X, y)
    drawn = [(d.rows, np.empty(0) if d.synthetic is None else d.synthetic.matrix) for d in recorded.drawn]
    for (a, made_a), (b, made_b) in itertools.pairwise(drawn[1:]):
        assert not (np.array_equal(a, b) and np.array_equal(made_a, made_b))


# ------------------------------------------------------------------------------ what is drawn


def test_a_fraction_keeps_its_weights():
    X, y = awkward_data(100)
    weights = np.random.default_rng(0).random(100)
    drawn = Fraction(0.3).draw(data_of(X, y), weights, np.random.default_rng(0))
    assert len(set(drawn.rows)) == 30
    np.testing.assert_array_equal(drawn.weights, weights[drawn.rows])


@pytest.mark.parametrize("sampler", [UnderSample(0.5), RandomUnderSampler(sampling_strategy=0.5)], ids=str)
def test_under_sampling_keeps_the_rare_class_and_the_weights(sampler):
    X, y = awkward_data(400)
    weights = np.random.default_rng(0).random(400)
    drawn = as_sampler(sampler).draw(data_of(X, y), weights, np.random.default_rng(0))
    assert sorted(drawn.rows[y[drawn.rows] == 1]) == np.flatnonzero(y).tolist()
    assert len(set(drawn.rows)) == len(drawn.rows) == 3 * y.sum()
    np.testing.assert_array_equal(drawn.weights, weights[drawn.rows])


def test_examples_are_drawn_rather_than_rows():
    """Two rows of weight 30 are 60 examples: as many are drawn of the others, and what is drawn shares the weight."""
    X, y = np.arange(100.0)[:, None], (np.arange(100) < 2).astype(int)
    examples = np.where(y == 1, 30.0, 1.0)
    drawn = UnderSample().draw(data_of(X, y, examples), examples / 160, np.random.default_rng(0))
    assert np.bincount(y[drawn.rows]).tolist() == [60, 60]
    np.testing.assert_allclose(drawn.weights, 1 / 158 * 158 / 160)


def test_copies_weigh_what_the_row_weighs():
    X, y = awkward_data(300, missing=0.0)
    weights = np.random.default_rng(0).random(300)
    drawn = as_sampler(RandomOverSampler()).draw(data_of(X, y), weights, np.random.default_rng(0))
    assert np.bincount(y[drawn.rows]).tolist() == [(y == 0).sum()] * 2
    assert drawn.synthetic is None
    np.testing.assert_array_equal(drawn.weights, weights[drawn.rows])


@pytest.mark.parametrize("sampler", [SMOTE(), Smote(), SMOTEENN(), RandomOverSampler(shrinkage=0.1)], ids=str)
def test_synthetic_rows_weigh_what_their_class_does_on_average(sampler):
    """And a row that was not made up is known by its cells, also where the sampler throws some away."""
    X, y = awkward_data(300, missing=0.0)
    weights = np.random.default_rng(0).random(300)
    drawn = as_sampler(sampler).draw(data_of(X, y), weights, np.random.default_rng(0))
    real = len(drawn.rows)
    assert len(set(drawn.rows)) == real > 150
    np.testing.assert_array_equal(drawn.weights[:real], weights[drawn.rows])
    means = np.array([weights[y == c].mean() for c in (0, 1)])
    np.testing.assert_allclose(drawn.weights[real:], means[drawn.classes])
    known = set(map(tuple, X))
    assert not any(tuple(row) in known for row in drawn.synthetic.matrix)
    assert (drawn.classes == 1).all()
    if not isinstance(sampler, SMOTEENN):
        assert y[drawn.rows].sum() + len(drawn) - len(drawn.rows) == (y == 0).sum()


def test_databoost_makes_rows_from_the_hard_ones_and_balances_the_classes():
    X, y = awkward_data(300)
    data, rng = data_of(X, y), np.random.default_rng(0)
    drawn = DataBoost().draw(data, np.full(300, 1 / 300), rng)  # nothing is hard yet
    assert drawn.synthetic is None
    assert drawn.weights[y[drawn.rows] == 1].sum() == pytest.approx(drawn.weights[y[drawn.rows] == 0].sum())
    weights = np.ones(300)
    hard = np.concatenate((np.flatnonzero(y == 1)[:3], np.flatnonzero(y == 0)[:2]))
    weights[hard] = 10.0
    drawn = DataBoost().draw(data, weights, rng)
    assert 0 < len(drawn) - len(drawn.rows) <= 305
    assert set(drawn.classes) == {0, 1}
    classes = np.append(y[drawn.rows], drawn.classes)
    assert drawn.weights[classes == 1].sum() == pytest.approx(drawn.weights[classes == 0].sum())
    own = drawn.weights[300:][drawn.classes == 0]  # two seeds, whose weight they share
    assert own.sum() == pytest.approx(2 * drawn.weights[:300][drawn.rows == hard[3]][0])
    for label in (0, 1):  # every cell is that of a row of the class, and half of them that of a seed
        made, rows, seeds = (X_[...] for X_ in (drawn.synthetic.matrix[drawn.classes == label], X[y == label], X[hard]))
        for j in range(9):
            same = (made[:, j, None] == rows[:, j]) | (np.isnan(made[:, j, None]) & np.isnan(rows[:, j]))
            assert same.any(axis=1).all()
        assert np.isin(made[:, 0], seeds[:, 0]).mean() > 0.35


def test_the_lighter_class_is_multiplied_up():
    np.testing.assert_allclose(balanced(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1])), [5.0, 2.0, 3.0])


def test_rows_are_found_by_their_cells():
    table = Table(4, 2, matrix=np.array([[0.0, np.nan], [1, 2], [-0.0, np.nan], [1, 2.5]]))
    keys = row_keys(table, np.array([0, 1, 0, 1]))
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3
    assert row_keys(table, np.array([1, 1, 0, 1]))[0] != keys[0]
    assert places_of(keys[[2, 3, 2, 0]], keys).tolist() == [0, 3, 2, -1]
    as_frame = read_table(BaseEstimator(), pd.DataFrame(table.matrix), reset=True)
    np.testing.assert_array_equal(row_keys(as_frame, np.array([0, 1, 0, 1])), keys)


# ------------------------------------------------------------------------------ what the learner sees


class Spy(GaussianNB):
    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        Spy.seen.append((X, y, sample_weight))
        return super().fit(X, y, sample_weight)


def test_classifiers_see_the_drawn_rows_with_their_weights():
    X, y = awkward_data(150, missing=0.0)
    Spy.seen = []
    recorded = Recorded(UnderSample())
    AdaBoostClassifier(estimator=Spy(), sampler=recorded, n_estimators=2, random_state=0).fit(X, y)
    for (seen, _, w), drawn in zip(Spy.seen, recorded.drawn):
        np.testing.assert_array_equal(seen, X[drawn.rows])
        np.testing.assert_allclose(w / w.sum(), drawn.weights / drawn.weights.sum())


def test_a_learner_without_weights_gets_rows_drawn_by_them():
    X, y = np.arange(200.0)[:, None], np.arange(200) % 2
    weights = np.where(np.arange(200) < 100, 9.0, 1.0)
    seen = []

    class Neighbours(KNeighborsClassifier):
        def fit(self, X, y):
            seen.append(X[:, 0])
            return super().fit(X, y)

    for sampler in (0.5, UnderSample(), SMOTE()):
        AdaBoostClassifier(estimator=Neighbours(), sampler=sampler, n_estimators=3).fit(X, y, sample_weight=weights)
    assert (seen[0] < 100).mean() == pytest.approx(0.9, abs=0.1)


class Line(RegressorMixin, BaseEstimator):
    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        Line.seen.append((X, y, sample_weight))
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0] * 0.1


def test_synthetic_rows_have_the_mean_response_of_their_class():
    X, y = awkward_data(150, missing=0.0)
    Line.seen = []
    recorded = Recorded(SMOTE())
    LogitBoostClassifier(estimator=Line(), sampler=recorded, n_estimators=2, pos_label=1).fit(X, y)
    F = 0.05 * X[:, 0]  # after the first round
    p = 1 / (1 + np.exp(-2 * F))
    z, w = (y - p) / (p * (1 - p)), p * (1 - p)
    X_seen, z_seen, _ = Line.seen[1]
    drawn = recorded.drawn[1]
    np.testing.assert_allclose(z_seen[: len(drawn.rows)], z[drawn.rows], rtol=1e-6)
    np.testing.assert_allclose(z_seen[len(drawn.rows) :], np.average(z[y == 1], weights=w[y == 1]), rtol=1e-6)
    np.testing.assert_array_equal(X_seen[len(drawn.rows) :], drawn.synthetic.matrix)


class Misleading:
    """Draws the two rows that teach the opposite of the truth."""

    resets = False

    def draw(self, data, weights, rng):
        return Sample(np.array([3, 6]), np.ones(2))


def test_a_biased_sampler_without_an_edge_leaves_the_round_to_all_rows():
    """So training is plain AdaBoost; where rows are drawn by weight it would start anew and then give up."""
    X, y = np.arange(10.0)[:, None], np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 0])
    plain = AdaBoostClassifier(n_estimators=5, pos_label=1).fit(X, y)
    misled = AdaBoostClassifier(n_estimators=5, pos_label=1, sampler=Misleading()).fit(X, y)
    np.testing.assert_allclose(misled.decision_function(X), plain.decision_function(X))
    assert {(r["resets"], r["all_rows"]) for r in misled.history_} == {(0, 1)}
    assert min(r["step"] for r in misled.history_) > 0


# ------------------------------------------------------------------------------ tables


@pytest.mark.sample(5)
@pytest.mark.parametrize("sampler", ["bootstrap", *OWN[1:], RandomUnderSampler(), RandomOverSampler()], ids=str)
def test_tables_of_any_library_with_categories_and_missing_cells(sampler):
    pandas, y = mixed()
    clf = RealBoostClassifier(sampler=sampler, n_estimators=6, random_state=0)
    F = clf.fit(pandas, y).decision_function(pandas)
    polars = pl.from_pandas(pandas)
    for table in (polars, polars.to_arrow()):
        np.testing.assert_array_equal(clone(clf).fit(table, y).decision_function(pandas), F)


@pytest.mark.sample(5)
@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("sampler", [SMOTENC("auto"), Smote(), DataBoost()], ids=str)
def test_synthetic_rows_have_the_kinds_of_columns_of_the_table(sampler, library):
    pandas, y = mixed(missing=0.0)
    X = {"pandas": lambda t: t, "polars": pl.from_pandas, "arrow": lambda t: pl.from_pandas(t).to_arrow()}[library](
        pandas
    )
    data = data_of(read_table(BaseEstimator(), X, reset=True), y)
    weights = np.where(np.arange(300) % 7 == 0, 3.0, 1.0)
    made = as_sampler(sampler).draw(data, weights, np.random.default_rng(0)).synthetic
    assert made.frame.schema == data.table.frame.schema
    assert made.native.__class__ is X.__class__
    shop = made.column(1)
    assert {shop.categories[c] for c in shop.codes} <= {"food", "fuel", "toys"}
    assert made.frame["shop"].to_list() == [shop.categories[c] for c in shop.codes]
    assert set(made.column(2)) <= set(range(9))
    assert set(made.column(3)) <= {0.0, 1.0}
    np.testing.assert_array_equal(made.frame["amount"].to_numpy(), made.column(0))
    clf = AdaBoostClassifier(sampler=sampler, n_estimators=3, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.7


def test_smote_of_a_single_example_repeats_it_and_of_few_takes_fewer_neighbours():
    X = np.arange(20.0)[:, None]
    for n in (1, 2):
        drawn = Smote().draw(data_of(X, np.arange(20) < n), np.ones(20), np.random.default_rng(0))
        assert len(drawn) - len(drawn.rows) == 20 - 2 * n
        assert drawn.synthetic.matrix.min() >= 0
        assert drawn.synthetic.matrix.max() <= n - 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
def test_synthetic_rows_between_the_largest_integers(dtype):
    """The largest one of 64 bits is no double, and the next double is too large for it."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    cells = rng.choice(np.array([limits.min, limits.max, limits.max - 1], dtype=dtype), (40, 2))
    y = np.arange(40) % 4 == 0
    nullable = pd.DataFrame(cells, columns=["a", "b"]).astype(np.dtype(dtype).name.replace("i", "I").replace("u", "U"))
    for X in (cells, pd.DataFrame(cells, columns=["a", "b"]), pl.DataFrame(cells, schema=["a", "b"]), nullable):
        data = data_of(read_table(BaseEstimator(), X, reset=True), y)
        made = Smote().draw(data, np.ones(40), np.random.default_rng(0)).synthetic
        values = np.array([made.column(0), made.column(1)], dtype=float)
        assert values.min() >= float(limits.min)
        assert values.max() <= float(limits.max)
        assert (values == float(limits.max)).any()


def test_smote_of_categories_alone():
    pandas, y = mixed()
    table = read_table(BaseEstimator(), pandas[["shop"]].assign(other=pandas["shop"]), reset=True)
    made = Smote().draw(data_of(table, y), np.ones(300), np.random.default_rng(0)).synthetic
    assert isinstance(made.column(0), Nominal)
    assert set(made.column(0).codes) <= {-1, 0, 1, 2}


def test_any_classifier_can_be_fitted_to_synthetic_rows_of_a_table():
    pandas, y = mixed(missing=0.0)
    numbers = pandas.drop(columns="shop")
    for table in (numbers, pl.from_pandas(numbers)):
        for sampler in (SMOTE(), Smote(), DataBoost()):
            tree = DecisionTreeClassifier(max_depth=2)
            clf = AdaBoostClassifier(estimator=tree, sampler=sampler, n_estimators=3, random_state=0).fit(table, y)
            assert clf.score(table, y) > 0.7


# ------------------------------------------------------------------------------ many classes


def test_many_classes_in_one_ensemble():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 1)]
    for sampler in ("bootstrap", 0.5, UnderSample(), Smote(), SMOTE(), RandomOverSampler()):
        clf = AdaBoostMHClassifier(n_estimators=20, sampler=sampler, random_state=0).fit(X, y)
        assert clf.score(X, y) > 0.85
    with pytest.raises(ValueError, match="DataBoost balances two classes, but y has more"):
        AdaBoostMHClassifier(sampler=DataBoost()).fit(X, y)
    with pytest.raises(ValueError, match="DataBoost balances two classes, but y has more"):
        AdaC2M1Classifier(sampler=DataBoost()).fit(X, y)
    with pytest.raises(ValueError, match=r"300 training examples, \[\d+, \d+, \d+\] by class"):
        AdaC2M1Classifier(sampler=SMOTE(k_neighbors=299)).fit(X, y)
    many = np.column_stack((X[:, 0] > 0, X[:, 1] > 0)).astype(int)
    assert AdaBoostMHClassifier(n_estimators=5, sampler=0.5, random_state=0).fit(X, many).score(X, many) > 0.5
    with pytest.raises(
        ValueError, match=r"The sampler UnderSample\(\) needs one class per row, but rows of y have several labels"
    ):
        AdaBoostMHClassifier(sampler=UnderSample()).fit(X, many)


@pytest.mark.sample(3)
@pytest.mark.parametrize("sampler", [Smote(), SMOTE(), UnderSample()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("booster", [AdaBoostMHClassifier, AdaC2M1Classifier])
def test_of_many_classes_too_a_weight_of_two_is_the_row_twice(booster, sampler):
    X, y = make_classification(200, 8, n_informative=6, n_classes=4, weights=[0.5, 0.3, 0.12], random_state=0)
    clf = booster(estimator="tree", sampler=sampler, n_estimators=8, random_state=0)
    weights = np.where(np.arange(200) < 60, 2.0, 1.0)
    twice = np.append(np.arange(200), np.arange(60))
    p = clf.fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(clf.fit(X[twice], y[twice]).predict_proba(X), p, atol=1e-7)


# ------------------------------------------------------------------------------ errors and parameters


def test_errors_of_samplers_say_what_to_do():
    X, y = awkward_data(100)
    pandas, labels = mixed(missing=0.0)
    few = (np.arange(100) < 3).astype(int)
    for table, target, sampler, message in [
        (X, y, SMOTE(), "SMOTE could not resample the 100 training examples.*without missing cells"),
        (pandas, labels, SMOTE(), "SMOTE could not.*use SMOTENC"),
        (np.nan_to_num(X), few, SMOTE(), "SMOTE could not.*100 training examples, 3 of them pos.*than neighbours"),
        (np.nan_to_num(X), y, NearMiss(sampling_strategy=0.01), "NearMiss could not.*Change its parameters"),
    ]:
        clf = RealBoostClassifier(sampler=sampler, n_estimators=2)
        with pytest.raises(ValueError, match=message):
            clf.fit(table, target)
        assert not hasattr(clf, "classes_")


@pytest.mark.parametrize("sampler", ["smote", 0.0, 1.0, 1, True, -0.5, SMOTE, UnderSample, {}], ids=str)
def test_what_is_no_sampler_is_refused(sampler):
    X, y = awkward_data(50)
    with pytest.raises(ValueError, match=r"sampler must be None, 'bootstrap', a fraction between 0 and 1, .*; got"):
        AdaBoostClassifier(sampler=sampler).fit(X, y)


def test_parameters_of_samplers_are_checked():
    X, y = awkward_data(50)
    for sampler, message in [
        (Fraction(0.0), "share of Fraction must be a number > 0 and <= 1; got 0.0"),
        (UnderSample(2.0), "ratio of UnderSample must be"),
        (Smote(k_neighbors=0), "k_neighbors of Smote must be an integer >= 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            AdaBoostClassifier(sampler=sampler).fit(X, y)
    with pytest.raises(ValueError, match=r"resample=True means sampler='bootstrap', but sampler=0\.5 was given"):
        AdaBoostClassifier(sampler=0.5, resample=True).fit(X, y)


def test_resample_is_short_for_bootstrap():
    X, y = awkward_data(100)
    short, long, own = (
        RealBoostClassifier(n_estimators=5, random_state=0, **params).fit(X, y).decision_function(X)
        for params in ({"resample": True}, {"sampler": "bootstrap"}, {"sampler": Bootstrap()})
    )
    np.testing.assert_array_equal(short, long)
    np.testing.assert_array_equal(short, own)


def test_a_warm_start_goes_on_with_the_same_draws_and_no_other_sampler():
    X, y = awkward_data(150)
    whole = GentleBoostClassifier(sampler=UnderSample(), n_estimators=8, random_state=0).fit(X, y)
    parts = clone(whole).set_params(n_estimators=3, warm_start=True).fit(X, y).set_params(n_estimators=8).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match=r"sampler=0\.5, but training started with UnderSample\(\)"):
        parts.set_params(n_estimators=9, sampler=0.5).fit(X, y)


def test_searches_reach_into_samplers():
    X, y = awkward_data(200, missing=0.0)
    for sampler, grid in (
        (UnderSample(), {"sampler__ratio": [0.3, 1.0]}),
        (None, {"sampler": [None, 0.5, "bootstrap", UnderSample()]}),
    ):
        search = GridSearchCV(RealBoostClassifier(sampler=sampler, n_estimators=3, random_state=0), grid, cv=2).fit(
            X, y
        )
        assert len(search.cv_results_["params"]) == len(next(iter(grid.values())))


def test_less_than_all_rows_is_nearly_as_good_on_new_ones():
    """Half of the rows in each round: within two points of all of them."""
    X, y = awkward_data(4000)
    scores = []
    for sampler in (None, 0.5):
        clf = RealBoostClassifier(n_estimators=40, sampler=sampler, random_state=0).fit(X[:2000], y[:2000])
        scores.append(clf.score(X[2000:], y[2000:]))
    assert abs(scores[0] - scores[1]) < 0.02


@parametrize_with_checks(
    [
        LogitBoostClassifier(sampler=UnderSample(), n_estimators=3),
    ]
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    """All of them, also that a weight of two is the row twice."""
    check(estimator)
