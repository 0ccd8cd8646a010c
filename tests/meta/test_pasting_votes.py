"""Pasting small votes: how rows are drawn, what the out-of-bag vote is worth, and where the rows may come from."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import PastingVotesClassifier, RealBoostClassifier
from skewboost.datasets.chunks import ParquetRows
from skewboost.meta.pasting.bites import RowPools, RowsInMemory, Voters, error_probability
from skewboost.meta.pasting.row_sources import Targets, read_once


@pytest.mark.sample(16)
@parametrize_with_checks(
    [
        PastingVotesClassifier(n_estimators=3),
        PastingVotesClassifier(RealBoostClassifier(n_estimators=2), n_estimators=2, bite_size=20, kind="random"),
    ]
)
@pytest.mark.filterwarnings("ignore:.*only one class:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def blobs(n_rows=6000, seed=0, **kwargs):
    params = {"n_features": 10, "n_informative": 6, "n_clusters_per_class": 4, "flip_y": 0.02, **kwargs}
    return make_classification(n_rows, random_state=seed, **params)


def cells(n_rows, seed):
    """The classes of the nearest of twenty points in five dimensions."""
    points = np.random.default_rng(99).normal(size=(20, 5))
    X = np.random.default_rng(seed).normal(size=(n_rows, 5))
    return X, ((X[:, None] - points) ** 2).sum(axis=2).argmin(axis=1) % 2


def short(**params):
    return PastingVotesClassifier(**{"n_estimators": 30, "bite_size": 200, "random_state": 0, **params})


# ------------------------------------------------------------------------------ drawing


class Answer:
    """A member that says the number in the first column."""

    def predict(self, X):
        return X[:, 0].astype(int)


VOTERS = Voters(np.array([0, 1]), soft=False, n_jobs=1)


def judged(n_rows=1000, wrong=0.1):
    """Rows of which a member gets a tenth wrong, and which know their numbers."""
    codes = np.arange(n_rows) % 2
    says = np.where(np.arange(n_rows) < wrong * n_rows, 1 - codes, codes)
    return np.column_stack((says, np.arange(n_rows))).astype(float), codes


def databases(chances=None, pool_size=400):
    X, codes = judged()
    ones = np.ones(len(codes))
    whole = RowsInMemory(X, codes, ones if chances is None else chances, ones, np.arange(len(codes)), VOTERS)
    pools = RowPools(lambda rows: X[rows], codes, chances, None, pool_size, VOTERS, seed=0)
    return {"whole": whole, "pools": pools}


def counts(database, n_bites, accept, size=50):
    rng = np.random.default_rng(0)
    bites = [database.draw(size, accept, rng) for _ in range(n_bites)]
    for bite in bites:
        np.testing.assert_array_equal(bite.X[:, 1], bite.rows)
        np.testing.assert_array_equal(bite.codes, bite.rows % 2)
    return np.bincount(np.concatenate([b.rows for b in bites]), minlength=1000), bites


def chi2(observed, expected):
    return ((observed - expected) ** 2 / expected).sum()


@pytest.mark.parametrize("name", ["whole", "pools"])
def test_every_row_is_as_likely_to_be_considered(name):
    """A chi-square test with 999 degrees of freedom: mean 999, deviation 45."""
    drawn, _ = counts(databases()[name], 1000, 1.0)
    assert abs(chi2(drawn, 50.0) - 999) < 5 * 45
    chances = np.linspace(0.5, 1.5, 1000)
    drawn, _ = counts(databases(chances)[name], 1000, 1.0)
    assert abs(chi2(drawn, 50.0 * chances) - 999) < 5 * 45


@pytest.mark.parametrize("name", ["whole", "pools"])
def test_wrong_rows_are_always_taken_and_right_ones_by_chance(name):
    """With e = 0.1 and e/(1-e) = 1/9 half a bite is wrong, and 0.2 of the rows considered are taken."""
    database = databases()[name]
    database.add(Answer(), np.zeros(0, dtype=int))
    assert database.error(1000) == pytest.approx(0.1, abs=0.05 if name == "pools" else 1e-12)
    drawn, bites = counts(database, 1000, 1.0 / 9.0)
    expected = np.where(np.arange(1000) < 100, 250.0, 250.0 / 9.0)
    assert abs(chi2(drawn, expected) - 999) < 5 * 45
    assert np.mean([b.hard for b in bites]) == pytest.approx(0.5, abs=0.01)
    assert np.mean([b.considered for b in bites]) == pytest.approx(250, rel=0.02)


def test_rows_of_a_pool_are_independent_draws():
    """Neither are rows spread evenly over pools, nor does one pool hold a row more often than chance has it."""
    X, codes = judged()
    pools = RowPools(lambda rows: X[rows], codes, None, None, 1000, VOTERS, seed=1)
    repeats = [1000 - len(np.unique(pools.draw(1000, 1.0, np.random.default_rng(0)).rows)) for _ in range(30)]
    assert np.mean(repeats) == pytest.approx(1000 / np.e, rel=0.02)


@pytest.mark.parametrize("name", ["whole", "pools"])
def test_members_do_not_vote_on_their_bites(name):
    database = databases()[name]
    database.add(Answer(), np.arange(50))
    if name == "whole":
        assert not database.votes[:50].any()
        assert (database.votes[50:].sum(axis=1) == 1).all()
        assert database.error() == pytest.approx(50 / 950)
    else:
        wrong, voted = database._judge(np.arange(30, 70), judged()[0][30:70])
        np.testing.assert_array_equal(voted, np.arange(30, 70) >= 50)
        np.testing.assert_array_equal(wrong, np.where(voted, 1.0, 0.5))
        assert database.final_error() == pytest.approx(50 / 950, abs=0.04)


def test_ties_are_broken_at_random():
    votes = np.array([[2, 1, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1]])
    np.testing.assert_allclose(error_probability(votes, np.array([0, 0, 0, 0])), [0, 1 / 2, 2 / 3, 1])


def test_class_shares_are_chances():
    targets = Targets(np.array(["a", "b"]), np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 2.0, 1.0]))
    balanced = targets.chances("balanced")
    assert balanced[:3].sum() == pytest.approx(balanced[3])
    assert balanced[2] == 2 * balanced[0]
    shares = targets.chances({"a": 1, "b": 3})
    assert shares[3] / shares.sum() == pytest.approx(0.75)
    assert targets.chances("data") is targets.weights


# ------------------------------------------------------------------------------- learning


def test_the_recursion_of_the_error_and_of_acceptance():
    X, y = blobs()
    clf = short(n_estimators=12).fit(X, y)
    e = float("nan")
    for k, record in enumerate(clf.history_):
        if k:
            accept = e / (1 - e)
            before = clf.history_[k - 1]["oob_error"]
            # rows without a vote (in the only bite so far) are ties
            if k > 3:
                assert record["considered"] == pytest.approx(200 / (before + (1 - before) * accept), rel=0.01)
        e = record["oob_error"] if k == 0 else 0.75 * e + 0.25 * record["oob_error"]
        assert record["smoothed_error"] == pytest.approx(e)
        assert record["bite_size"] == 200
    assert clf.oob_error_ == clf.history_[-1]["oob_error"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("pool_size", [200_000, 2000])
@pytest.mark.parametrize("kind", ["importance", "random"])
def test_out_of_bag_error_is_the_error_on_new_rows(kind, pool_size):
    X, y = blobs(10_000)
    clf = short(kind=kind, pool_size=pool_size).fit(X[:5000], y[:5000])
    error = 1 - clf.score(X[5000:], y[5000:])
    assert clf.oob_error_ == pytest.approx(error, abs=0.035)  # a pool has 2000 rows: a deviation of 0.01
    assert clf.history_[-1]["smoothed_error"] == pytest.approx(error, abs=0.035)
    assert clf.stop_reason_ == "all 30 members fitted"


@pytest.mark.slow
def test_importance_beats_random_bites():
    """Breiman's finding: random bites are not competitive. Pools change nothing but the noise."""
    (X, y), (X_test, y_test) = cells(8000, 0), cells(6000, 1)
    found = {}
    for kind, pool_size in (("random", 200_000), ("importance", 200_000), ("importance", 6000)):
        clf = short(kind=kind, n_estimators=40, pool_size=pool_size).fit(X, y)
        found[kind, pool_size] = 1 - clf.score(X_test, y_test)
    whole, pools = found["importance", 200_000], found["importance", 6000]
    assert whole < 0.8 * found["random", 200_000]
    assert pools == pytest.approx(whole, abs=0.02)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert whole < 1 - tree.score(X_test, y_test)  # which has seen all rows


@pytest.mark.slow
def test_importance_comes_near_boosting_on_all_rows():
    X, y = blobs(60_000, n_features=20, n_informative=12, n_clusters_per_class=6, flip_y=0.0)
    inner, outer = slice(0, 40_000), slice(40_000, None)
    votes = PastingVotesClassifier(n_estimators=500, random_state=0, n_jobs=-1).fit(X[inner], y[inner])
    boosted = RealBoostClassifier(estimator="tree", n_estimators=100).fit(X[inner], y[inner])
    assert votes.score(X[outer], y[outer]) > boosted.score(X[outer], y[outer])


@pytest.mark.slow
def test_rare_classes():
    X, y = blobs(8000, weights=[0.99], flip_y=0.0, class_sep=1.5)
    with pytest.warns(UserWarning, match="have only one class"):
        plain = short(kind="random", bite_size=60).fit(X, y)
    balanced = short(kind="random", bite_size=60, class_shares="balanced").fit(X, y)
    importance = short(bite_size=200).fit(X, y)
    assert min(r["n_classes"] for r in plain.history_) == 1
    recall = [clf.predict(X)[y == 1].mean() for clf in (plain, balanced, importance)]
    assert recall[0] < 0.2 < recall[2]
    assert recall[1] > 0.8
    np.testing.assert_allclose([np.mean(y[rows]) for rows in balanced.estimators_samples_], 0.5, atol=0.3)
    with pytest.raises(ValueError, match="class_shares must name every class"):
        short(class_shares={0: 1.0}).fit(X, y)


def test_a_bite_of_one_class_suits_any_estimator():
    X, y = blobs(3000, weights=[0.98], flip_y=0.0)
    clf = short(estimator=GaussianNB(), kind="random", bite_size=40, voting="soft").fit(X, y)
    assert {r["n_classes"] for r in clf.history_} == {1, 2}
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)


def test_text_labels_many_classes_and_soft_votes():
    X, y = blobs(4000, n_classes=3)
    names = np.array(["x", "yy", "zzz"])[y]
    for voting in ("hard", "soft"):
        clf = short(estimator=DecisionTreeClassifier(max_depth=4), voting=voting).fit(X, names)
        assert clf.classes_.tolist() == ["x", "yy", "zzz"]
        assert clf.score(X, names) > 0.6
        mean = np.mean([m.predict_proba(X) if voting == "soft" else m.predict(X)[:, None] == clf.classes_
                        for m in clf.estimators_], axis=0)  # fmt: skip
        np.testing.assert_allclose(clf.predict_proba(X), mean)
        np.testing.assert_array_equal(clf.predict(X), clf.classes_[mean.argmax(axis=1)])


def test_out_of_bag_votes_are_those_of_members_that_did_not_see_the_row():
    X, y = blobs(500)
    clf = short().fit(X, y)
    votes = np.zeros((500, 2))
    for member, rows in zip(clf.estimators_, clf.estimators_samples_):
        outside = ~np.isin(np.arange(500), rows)
        votes[outside, member.predict(X.astype(np.float32))[outside]] += 1
    np.testing.assert_allclose(clf.oob_decision_function_, votes / votes.sum(axis=1, keepdims=True))


def test_early_stopping():
    X, y = blobs(3000)
    clf = short(n_estimators=300, early_stopping=5, tol=0.002).fit(X, y)
    assert len(clf.estimators_) < 100
    assert clf.stop_reason_ == "early stopping: the smoothed error has not fallen for 5 members"
    smoothed = np.array([r["smoothed_error"] for r in clf.history_])
    assert (smoothed[-5:] >= smoothed[:-5].min() - 0.002).all()
    with pytest.raises(ValueError, match=r"tol=0\.1 has no effect"):
        short(tol=0.1).fit(X, y)


def test_perfect_votes_do_not_take_for_ever():
    X = np.linspace(0, 1, 5000)[:, None]
    for pool_size in (200_000, 1000):
        clf = short(pool_size=pool_size, n_estimators=15).fit(X, X[:, 0] > 0.5)
        assert clf.oob_error_ < 0.01
        assert len(clf.estimators_) == 15


# -------------------------------------------------------------------------------- contract


@pytest.mark.sample(2)
@pytest.mark.parametrize(("kind", "pool_size"), [("importance", 200_000), ("importance", 1000), ("random", 1000)])
def test_results_do_not_depend_on_threads_and_a_warm_start_is_one_run(kind, pool_size):
    X, y = blobs(1500)
    one = short(kind=kind, pool_size=pool_size, n_estimators=12).fit(X, y)
    two = short(kind=kind, pool_size=pool_size, n_jobs=2, n_estimators=8, warm_start=True).fit(X, y)
    assert len(two.estimators_) == 8
    two.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_equal(one.history_, two.history_)
    assert one.oob_error_ == two.oob_error_
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(clone(again).fit(X, y).predict_proba(X), again.predict_proba(X))
    for change in ({"n_estimators": 3}, {"bite_size": 10}, {"estimator": GaussianNB()}):
        with pytest.raises(ValueError, match="warm_start"):
            pickle.loads(pickle.dumps(two)).set_params(**change).fit(X, y)
    with pytest.raises(ValueError, match="the data must be the same"):
        two.fit(X[:-1], y[:-1])


def test_weights_are_repeats_and_order_does_not_matter():
    X, y = blobs(400)
    weights = np.random.default_rng(0).integers(0, 4, 400)
    order = np.random.default_rng(1).permutation(400)
    weighted = short(bite_size=60).fit(X[order], y[order], weights[order])
    repeated = short(bite_size=60).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    assert weighted.oob_error_ == repeated.oob_error_
    # other weights in proportion: rows of weight zero are never drawn, nor do they count
    clf = short(bite_size=60).fit(X, y, weights * 0.5)
    assert weights[np.concatenate(clf.estimators_samples_)].min() > 0
    many = short(kind="random", n_estimators=60).fit(X, y, weights / 2)
    drawn = np.bincount(np.concatenate(many.estimators_samples_), minlength=400)
    assert abs(chi2(drawn[weights > 0], (12_000 * weights / weights.sum())[weights > 0]) - (weights > 0).sum()) < 150


def test_an_interruption_keeps_what_is_finished_and_an_error_leaves_nothing():
    X, y = blobs(2000)

    class Stops(GaussianNB):
        n_left = 5
        kind = KeyboardInterrupt

        def fit(self, X, y):
            Stops.n_left -= 1
            if Stops.n_left == 0:
                raise Stops.kind("enough")
            return super().fit(X, y)

    clf = short(estimator=Stops())
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert len(clf.estimators_) == len(clf.history_) == 4
    assert clf.stop_reason_ == "interrupted"
    assert clf.score(X, y) > 0.6
    before, Stops.n_left, Stops.kind = dict(clf.__dict__), 3, RuntimeError
    with pytest.raises(RuntimeError):
        clf.fit(X, y)
    assert clf.__dict__ == before
    fresh, Stops.n_left = short(estimator=Stops()), 1
    with pytest.raises(RuntimeError):
        fresh.fit(X, y)
    assert set(fresh.__dict__) == set(fresh.get_params(deep=False))


def test_tables_with_categories_and_missing_cells():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"amount": rng.normal(size=2000), "shop": rng.choice(["a", "b", "c"], 2000)})
    frame.loc[rng.random(2000) < 0.2, "amount"] = np.nan
    y = ((frame["shop"] == "b") | (frame["amount"] > 1)).to_numpy()
    inner = RealBoostClassifier(n_estimators=10)
    clf = short(estimator=inner, n_estimators=5).fit(frame, y)
    assert clf.feature_names_in_.tolist() == ["amount", "shop"]
    assert clf.score(frame, y) > 0.95
    order = rng.permutation(2000)
    polars = short(estimator=inner, n_estimators=5).fit(pl.from_pandas(frame.iloc[order]), y[order])
    np.testing.assert_array_equal(polars.predict_proba(frame), clf.predict_proba(frame))
    with pytest.raises(ValueError, match="Column 'shop' of X has categories"):
        short().fit(frame, y)
    numbers = frame[["amount"]]
    plain = short().fit(numbers, y)
    np.testing.assert_array_equal(plain.predict(pl.from_pandas(numbers)), plain.predict(numbers))
    with pytest.raises(ValueError, match="too large for dtype"):
        short().fit(numbers * 1e300, y)


def test_pipelines_and_searches():
    X, y = blobs(1500)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), short(estimator=DecisionTreeClassifier(), n_estimators=5)),
        {
            "pastingvotesclassifier__estimator__max_depth": [1, 5],
            "pastingvotesclassifier__kind": ["random", "importance"],
        },
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.6


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"kind": "both"}, "kind of PastingVotesClassifier must be one of"),
        ({"bite_size": 0}, "bite_size of PastingVotesClassifier must be an integer >= 1"),
        ({"class_shares": "even"}, "class_shares of PastingVotesClassifier must be"),
        ({"class_shares": {0: 0.0, 1: 1.0}}, "class_shares of PastingVotesClassifier must be"),
        ({"smoothing": 1.0}, "smoothing of PastingVotesClassifier must be"),
        ({"pool_size": 300}, "pool_size=300 must be at least twice bite_size=200"),
        ({"estimator": "tree"}, "must be an instance of a classifier"),
        ({"estimator": make_pipeline(StandardScaler())}, "must be an instance of a classifier"),
    ],
)
def test_bad_parameters_are_named(params, words):
    with pytest.raises(ValueError, match=words):
        short(**params).fit(*blobs(100))


# ----------------------------------------------------------------- rows from elsewhere


def chunks_of(X, y, size=170):
    return lambda: ((X[k : k + size], y[k : k + size]) for k in range(0, len(y), size))


@pytest.mark.sample(1)
@pytest.mark.parametrize("pool_size", [200_000, 1000])
def test_parquet_chunks_and_memory_are_one(tmp_path, pool_size):
    """To the bit, whether all rows fit or are fetched in pools."""
    X, y = blobs(1800)
    X = X.astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]).assign(target=np.where(y, "yes", "no"), w=1 + y % 2)
    for k in range(3):
        frame[k * 600 : (k + 1) * 600].to_parquet(tmp_path / f"{k}.parquet", row_group_size=130)
    labels = frame["target"].to_numpy()
    few = {"pool_size": pool_size, "n_estimators": 6}
    memory = short(**few).fit(X, labels)
    features = [f"x{j}" for j in range(10)]
    parquet = short(**few).fit(ParquetRows(tmp_path, "target", columns=features))
    chunked = short(**few).fit(chunks_of(X, labels))
    for other, rows in ((parquet, frame[features]), (chunked, X)):
        np.testing.assert_array_equal(other.predict_proba(rows), memory.predict_proba(X))
        assert other.oob_error_ == memory.oob_error_
        assert other.classes_.tolist() == ["no", "yes"]
    assert parquet.feature_names_in_.tolist() == features
    again = np.concatenate(list(parquet.predict_chunks(tmp_path)))
    np.testing.assert_array_equal(again, memory.predict(X))
    shares = np.concatenate(list(chunked.predict_chunks(chunks_of(X, labels), "predict_proba")))
    np.testing.assert_array_equal(shares, memory.predict_proba(X))
    weighted = short(**few).fit(str(tmp_path / "*.parquet"), "target", "w")
    beside = short(**few).fit(X, labels, frame["w"].to_numpy())
    np.testing.assert_array_equal(weighted.predict_proba(frame[features]), beside.predict_proba(X))
    assert weighted.oob_error_ == beside.oob_error_


def test_categories_from_parquet(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"amount": rng.normal(size=3000), "shop": rng.choice(["a", "b", "c"], 3000)})
    frame["shop"] = frame["shop"].astype("category")
    frame["y"] = (frame["shop"] == "b") | (frame["amount"] > 1)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=400)
    clf = short(estimator=RealBoostClassifier(n_estimators=10), n_estimators=5, pool_size=500)
    clf.fit(tmp_path / "a.parquet", "y")
    assert clf.score(frame[["amount", "shop"]], frame["y"]) > 0.95
    says = np.concatenate(list(clf.predict_chunks(tmp_path / "a.parquet")))
    np.testing.assert_array_equal(says, clf.predict(frame[["amount", "shop"]]))


def test_an_iterator_is_read_once():
    X, y = blobs(4000)
    whole = short().fit(chunks_of(X, y)())
    np.testing.assert_array_equal(whole.predict_proba(X), short().fit(X, y).predict_proba(X))
    sampled = short(kind="random", pool_size=1000).fit(chunks_of(X, y)())
    assert sampled.n_samples_seen_ == 4000
    assert len(sampled.oob_decision_function_) == 1000
    assert sampled.score(X, y) > 0.75
    with pytest.raises(ValueError, match="reads the data more than once, but X is an iterator"):
        short(pool_size=1000).fit(chunks_of(X, y)())


def test_a_sample_of_a_stream_is_fair():
    """Every row of a stream is as likely to be kept: 200 of 1000, in 100 trials."""
    X, y = np.arange(1000.0)[:, None], np.arange(1000)
    kept = np.zeros(1000)
    for seed in range(100):
        rows, labels, _, n_seen = read_once(chunks_of(X, y, 70)(), 200, False, np.random.default_rng(seed))
        assert n_seen == 1000
        np.testing.assert_array_equal(rows[:, 0], labels)
        assert len(np.unique(labels)) == 200
        kept[labels] += 1
    assert abs(chi2(kept, 20.0) / 0.8 - 999) < 5 * 45  # drawn without replacement: less spread


def test_unusable_data_raises(tmp_path):
    X, y = blobs(300)
    path = tmp_path / "a.parquet"
    pd.DataFrame(X).rename(columns=str).assign(y=y, one=1, score=X[:, 0]).to_parquet(path)
    for args, words in [
        ((path,), "y must be the name of a column"),
        ((path, y), "y must be the name of a column"),
        ((path, "y", y), "sample_weight must be the name of a column"),
        ((path, "z"), "no column 'z'"),
        ((path, "one"), "only one class"),
        ((path, "score"), "continuous"),
        ((ParquetRows(path),), "needs the column of the labels"),
        ((ParquetRows(path, "y"), y), "ParquetRows already has labels"),
        ((chunks_of(X, y), y), "leave y and sample_weight at None"),
        ((lambda: iter([]),), "every chunk is empty"),
        ((iter([]),), "the iterator is empty"),
    ]:
        clf = short()
        with pytest.raises(ValueError, match=words):
            clf.fit(*args)
        assert not hasattr(clf, "classes_")
    fitted = short().fit(X, y)
    with pytest.raises(ValueError, match=r"call predict\(X\)"):
        fitted.predict_chunks(X)
    with pytest.raises(ValueError, match="method must be"):
        fitted.predict_chunks(path, "score")


def test_the_index_of_pandas_is_no_feature(tmp_path):
    """It says where a row stood, which in sorted data is its class."""
    rng = np.random.default_rng(0)
    y = np.arange(400) // 200
    frame = pd.DataFrame({"a": rng.normal(size=400), "y": y}, index=pd.Index(np.arange(1000, 1400), name="place"))
    for name, table in (("place", frame), ("__index_level_0__", frame.rename_axis(None))):
        path = tmp_path / "a.parquet"
        table.to_parquet(path)
        for estimator in (None, RealBoostClassifier(n_estimators=2)):
            clf = PastingVotesClassifier(estimator, n_estimators=3, bite_size=50, random_state=0)
            assert clf.fit(path, "y").feature_names_in_.tolist() == ["a"]
            assert clf.score(frame[["a"]], y) < 0.9
            asked = clone(clf).fit(ParquetRows(path, "y", columns=["a", name]))
            assert asked.score(table.reset_index(names=name)[["a", name]], y) > 0.99


def test_files_are_predicted_in_chunks(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": np.arange(40.0), "t": ["no", "yes"] * 20, "y": np.arange(40) % 2}).to_parquet(path)
    rows = ParquetRows(path, "y", columns=["a"])
    clf = PastingVotesClassifier(n_estimators=2, bite_size=10, random_state=0).fit(rows)
    with pytest.raises(ValueError, match=r"X is the path of files.*Call predict_chunks\(X\)"):
        clf.predict(path)
    with pytest.raises(ValueError, match="sample_weight must be numbers: could not convert"):
        clf.fit(path, "y", "t")
    with pytest.raises(ValueError, match="y must be the name of a column; got ndarray"):
        clf.fit(path, np.zeros(40))
    with pytest.raises(ValueError, match="must be an instance of a classifier, or None"):
        PastingVotesClassifier(RealBoostClassifier).fit(np.zeros((4, 1)), [0, 1, 0, 1])
