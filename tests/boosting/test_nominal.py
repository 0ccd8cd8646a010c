"""Tables as they come, with categories and missing cells, in every estimator and without preprocessing."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import skewboost as sb
from skewboost.datasets import make_fraud
from skewboost.learners import Histogram, Stump, Tree
from support import attacks, load_real, make, pairs, usable

CATALOGUE = sb.catalogue()
every_variant = pytest.mark.parametrize("entry", CATALOGUE, ids=[e.name for e in CATALOGUE])
N = 240
ABSTAINING_TREE = Tree(missing="abstain", max_leaf_nodes=4)


def cells():
    """Every kind of column, as plain Python lists."""
    rng = np.random.default_rng(0)

    def gaps(values, share=0.15):
        return [None if hole else v for v, hole in zip(values, rng.random(N) < share)]

    shop, grade, flag = rng.integers(0, 4, N), rng.integers(1, 4, N), rng.random(N) < 0.4
    amount, owner = rng.lognormal(size=N), rng.integers(0, 70, N)
    y = 1.5 * (shop == 2) + flag + 0.7 * (grade == 3) + np.sin(owner) + 0.2 * amount + 0.5 * rng.normal(size=N) > 2.0
    columns = {
        "amount": gaps(amount.tolist()),
        "shop": gaps([["food", "fuel", "toys", "books"][k] for k in shop]),
        "owner": gaps([f"owner {k}" for k in owner], 0.05),
        "grade": gaps(grade.tolist()),
        "flag": gaps(flag.tolist()),
        "member": gaps(flag.tolist(), 0.5),
        "nothing": [None] * N,
        "one": gaps(["only"] * N),
    }
    return columns, y


def tables():
    columns, y = cells()
    pandas = pd.DataFrame(
        {
            "amount": pd.Series(columns["amount"], dtype=float),
            "shop": pd.Categorical(columns["shop"], categories=["toys", "food", "fuel", "books", "unused"]),
            "owner": columns["owner"],
            "grade": pd.Series(columns["grade"], dtype=float).astype("category"),
            "flag": pd.Series(columns["flag"], dtype=object),
            "member": pd.Series(columns["member"], dtype="boolean"),
            "nothing": pd.Series(columns["nothing"], dtype=object),
            "one": pd.Categorical(columns["one"]),
        }
    )
    polars = pl.DataFrame(
        {
            **columns,
            "shop": pl.Series(columns["shop"], dtype=pl.Enum(["books", "toys", "fuel", "food"])),
            "grade": pl.Series([None if g is None else str(g) for g in columns["grade"]], dtype=pl.Categorical),
            "one": pl.Series(columns["one"], dtype=pl.Categorical),
        }
    )
    arrow = pa.table(
        {
            **{name: pa.array(values) for name, values in columns.items()},
            "shop": pa.array(columns["shop"]).dictionary_encode(),
            "grade": pa.array(columns["grade"]).dictionary_encode(),
        }
    )
    return {"pandas": pandas, "polars": polars, "arrow": arrow}, y


TABLES, Y = tables()
X = TABLES["pandas"]


def strange_rows():
    """Ten rows each: unseen categories, and nothing at all."""
    unseen = X[:10].assign(shop="weapons", owner="nobody", grade=pd.Categorical([9] * 10), one="other", nothing="text")
    gone = X[:10].assign(shop=pd.Categorical([None] * 10), owner=None, grade=pd.Categorical([None] * 10), one=None)
    return unseen, gone.assign(nothing=np.nan)


def same(a, b, rows=X):
    np.testing.assert_allclose(a.decision_function(rows), b.decision_function(rows), atol=1e-9)
    np.testing.assert_allclose(a.predict_proba(rows), b.predict_proba(rows), atol=1e-9)
    np.testing.assert_array_equal(a.predict(rows), b.predict(rows))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("booster", "learner"),
    [
        *pairs(["stump"]),
        pytest.param(sb.CSRAClassifier, ABSTAINING_TREE, id="CSRA-tree"),
        *(pytest.param(*pair.values, marks=pytest.mark.slow) for pair in pairs([ABSTAINING_TREE])),
    ],
)
def test_a_mixed_table_goes_through_everything(booster, learner):
    rounds = booster._rounds
    clf = make(booster, 5, learner).fit(X, Y)
    F, p = clf.decision_function(X), clf.predict_proba(X)
    assert np.isfinite(F).all()
    assert np.isfinite(p).all()
    assert roc_auc_score(Y, F) > 0.6
    assert clf.feature_importances_[list(X).index("nothing")] == 0
    for table in (TABLES["polars"], TABLES["arrow"]):
        np.testing.assert_array_equal(clf.decision_function(table), F)
        np.testing.assert_array_equal(clone(clf).fit(table, Y).decision_function(X), F)
    same(pickle.loads(pickle.dumps(clf)), clf)
    np.testing.assert_allclose(list(clf.staged_decision_function(X))[-1], F, atol=1e-9)
    np.testing.assert_allclose(list(clf.staged_predict_proba(X))[-1], p, atol=1e-9)
    parts = clone(clf).set_params(warm_start=True, **{rounds: 2}).fit(X, Y).set_params(**{rounds: 5})
    same(parts.fit(TABLES["polars"], Y), clf)
    unseen, gone = strange_rows()
    np.testing.assert_array_equal(clf.decision_function(unseen), clf.decision_function(gone))
    # a column without gaps has another type in pandas, and the same meaning
    full = X.assign(flag=True, member=False, grade=pd.Categorical([2] * N))
    holes = full.assign(flag=pd.Series([True] * N, dtype=object), grade=pd.Categorical([2.0] * N))
    np.testing.assert_array_equal(clf.decision_function(full), clf.decision_function(holes))
    early = clone(clf).set_params(early_stopping=2, random_state=0).fit(X, Y)
    assert np.isfinite(early.predict_proba(unseen)).all()


@pytest.mark.sample(5)
@every_variant
def test_engines_agree_on_a_mixed_table(entry):
    weights = 10.0 ** np.random.default_rng(1).uniform(-2, 1, N)
    for learner in usable(entry, [Stump(missing="abstain"), Tree(max_leaf_nodes=4), Histogram(max_bins=100)]):
        a, b = (
            make(entry.estimator, 3, learner, engine=e).fit(X, Y, sample_weight=weights) for e in ("reference", "cpu")
        )
        np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-7, atol=1e-7)


def test_a_category_whose_weight_is_lost_in_a_subtraction_is_still_seen():
    """The first split leaves the larger child nothing but dust of some categories, less than its parent's rounding."""
    rng = np.random.default_rng(2)
    n = 3000
    a, b = rng.integers(0, 12, n), rng.integers(0, 6, n)
    frame = pd.DataFrame({"a": pd.Categorical(a), "b": pd.Categorical(b)})
    y = rng.random(n) < np.where(b == 0, 0.8, np.where(a % 3 == 1, 0.1, 0.3))
    weights = np.where((a % 3 == 0) & (b > 0), 1e-17 * rng.random(n), 1.0)
    for missing in ("learn", "abstain"):
        tree = Tree(max_leaf_nodes=None, max_depth=3, missing=missing)
        slow, fast = (
            sb.RealBoostClassifier(estimator=tree, n_estimators=3, engine=e).fit(frame, y, sample_weight=weights)
            for e in ("reference", "cpu")
        )
        for a, b in zip(slow.estimators_, fast.estimators_):
            for s, t in zip(a.partition.splits, b.partition.splits, strict=True):
                np.testing.assert_array_equal(s.child, t.child)


def test_the_order_in_which_categories_are_declared_means_nothing():
    """All are mostly negative, and six tie for the one that the first stump calls positive: the name decides."""
    frame = pd.DataFrame({"a": np.repeat(list("abcdefghijkl"), 20)})
    y = np.concatenate([np.arange(20) < (8 if k % 2 else 5) for k in range(12)])
    F = [
        sb.AdaBoostClassifier(n_estimators=1)
        .fit(frame.astype(pd.CategoricalDtype(list(order))), y)
        .decision_function(frame)
        for order in ("abcdefghijkl", "lkjihgfedcba", "hgfedcbaijkl")
    ]
    assert len(np.unique(F[0])) == 2
    np.testing.assert_array_equal(F[0], F[1])
    np.testing.assert_array_equal(F[0], F[2])


def test_many_categories_warn_and_the_frequent_ones_keep_their_say():
    rng = np.random.default_rng(0)
    ids = np.minimum((rng.exponential(size=6000) * 80).astype(int), 599)
    frame = pd.DataFrame({"id": [f"id {k:03}" for k in ids], "x": rng.normal(size=6000)})
    y = rng.random(6000) < np.where(ids % 3 == 0, 0.7, 0.1)
    with pytest.warns(UserWarning, match=r"Column 'id' of X has \d+ categories; the 254 most .*TargetEncoder"):
        clf = sb.RealBoostClassifier(n_estimators=20).fit(frame[:5000], y[:5000])
    assert roc_auc_score(y[5000:], clf.decision_function(frame[5000:])) > 0.75
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.predict(frame)


# ------------------------------------------------------------------------------------- whole tables


TABLES_TO_LEARN = {  # the least area under the curve on the other half
    "payments": (lambda: make_fraud(4000), 0.85),
    "connections": (lambda: attacks(3000), 0.88),
    "hypothyroid": (lambda: load_real("hypothyroid"), 0.96),
    "kr_vs_kp": (lambda: load_real("kr_vs_kp"), 0.97),
    "tic_tac_toe": (lambda: load_real("tic_tac_toe"), 0.80),
    "breast_cancer_ljubljana": (lambda: load_real("breast_cancer_ljubljana"), 0.55),
    "fars_injury": (lambda: tuple(part[::40] for part in load_real("fars_injury")), 0.85),
}
SHIPPED = ("payments", "connections")
each_table = pytest.mark.parametrize(
    "name", [name if name in SHIPPED else pytest.param(name, marks=pytest.mark.slow) for name in TABLES_TO_LEARN]
)


@each_table
@pytest.mark.parametrize("booster", [sb.RealBoostClassifier, sb.LogitBoostClassifier, sb.CSRAClassifier])
def test_tables_are_learned_as_they_are(name, booster):
    make_table, least = TABLES_TO_LEARN[name]
    frame, y = make_table()
    y = np.asarray(y)
    train = np.random.default_rng(0).random(len(y)) < 0.5
    for missing in ("learn", "abstain"):
        clf = booster(estimator=Stump(missing=missing), n_estimators=40).fit(frame[train], y[train])
        F = clf.decision_function(frame[~train])
        assert roc_auc_score(y[~train], F if clf.classes_[1] == 1 else -F) > least
        np.testing.assert_array_equal(clf.decision_function(pl.from_pandas(frame[~train])), F)


@pytest.fixture(scope="module")
def payments():
    return make_fraud(1500)


@pytest.mark.sample(15)
@every_variant
def test_payments_go_through_every_variant(entry, payments):
    """Text instead of categories makes no difference."""
    frame, y = payments
    nominal = frame.columns[frame.dtypes == "category"]
    assert len(nominal) > 0
    assert frame.isna().any(axis=None)
    clf = entry.make(4).fit(frame, y)
    F = clf.decision_function(frame)
    assert np.isfinite(F).all()
    assert np.ptp(F) > 0
    text = frame.astype(dict.fromkeys(nominal, object))
    np.testing.assert_array_equal(clf.predict(text), clf.predict(frame))


@pytest.mark.slow  # on data of the papers
@every_variant
def test_hypothyroid_goes_through_every_variant(entry):
    """18 nominal columns and 5329 missing cells in 3163 rows; text instead of categories makes no difference."""
    frame, y = load_real("hypothyroid")
    assert int(frame.isna().sum().sum()) == 5329
    assert sum(isinstance(t, pd.CategoricalDtype) for t in frame.dtypes) == 18
    clf = entry.make(4).fit(frame, y)
    assert roc_auc_score(y, clf.decision_function(frame)) > 0.8
    text = frame.astype(dict.fromkeys(frame.columns[frame.dtypes == "category"], object))
    np.testing.assert_array_equal(clf.predict(text), clf.predict(frame))
