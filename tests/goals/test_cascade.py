"""CascadeClassifier: which rows its stages see, what they reach, what the certificate says, scikit-learn's contract."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from scipy.stats import binom
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from skewboost import (
    AdaBoostClassifier,
    AlternatingTreeClassifier,
    CascadeClassifier,
    CSRAClassifier,
    GoalSearchCV,
    LogitBoostClassifier,
    MinimumRiskClassifier,
    RealBoostClassifier,
    catalogue,
)
from skewboost.boosting.used_columns import on_columns, used_columns
from skewboost.datasets import make_skewed
from skewboost.errors import InputError, InputTypeError
from skewboost.evaluate import compare
from skewboost.features import HaarFeatures
from skewboost.features.haar_table import HaarTable
from skewboost.goals import RepeatedRowsWarning, cascade, cascade_stages
from skewboost.goals.cascade_stages import Stage
from skewboost.io import dumps, to_source
from skewboost.learners import Histogram, Line, Tree
from skewboost.learners.adapter import weight_name
from skewboost.metrics import Counts
from support import awkward_data, make, sized, usable

STUMPS = RealBoostClassifier(n_estimators=40)


@pytest.mark.sample(9)
@parametrize_with_checks(
    [
        CascadeClassifier(),
        CascadeClassifier(
            RealBoostClassifier(n_estimators=5), n_stages=3, detection_rate=0.8, confidence=None, weights="counts"
        ),
    ]
)
@pytest.mark.filterwarnings("ignore::skewboost.goals.RepeatedRowsWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def draw(n, seed, share=0.1):
    """Positives in two clusters among negatives; eight columns, of which four say something."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, 8))
    X[y == 1, :2] += 2.2
    X[(y == 1) & (rng.random(n) < 0.5), 2:4] += 2.0
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = draw(6000, 0)
    return CascadeClassifier(STUMPS, n_stages=4, detection_rate=0.95, random_state=0).fit(X, y)


# --------------------------------------------------------------------- rows and stages


def test_a_decision_is_the_conjunction_of_the_stages(fitted):
    X, _ = draw(3000, 1)
    passes = np.array([stage.scores(X, None, 1) >= stage.threshold for stage in fitted.stages_])
    assert 0.02 < passes.all(axis=0).mean() < 0.4
    np.testing.assert_array_equal(fitted.predict(X) == 1, passes.all(axis=0))
    for k, predicted in enumerate(fitted.staged_predict(X), start=1):
        np.testing.assert_array_equal(predicted == 1, passes[:k].all(axis=0))
    looked_at = 1 + np.cumprod(passes[:-1], axis=0).sum(axis=0)
    np.testing.assert_array_equal(fitted.stages_used(X), looked_at)
    assert len(set(looked_at.tolist())) == len(fitted.stages_) == 4


def test_no_stage_sees_a_row_that_was_rejected(fitted, monkeypatch):
    X, _ = draw(2000, 2)
    seen, scores = [], Stage.scores

    def recorded(self, X, rows, pos_label):
        seen.append(np.arange(len(X)) if rows is None else rows)
        return scores(self, X, rows, pos_label)

    left = np.arange(len(X))
    expected = []
    for stage in fitted.stages_:
        expected.append(left)
        left = left[scores(stage, X, left, 1) >= stage.threshold]
    monkeypatch.setattr(Stage, "scores", recorded)
    fitted.predict(X)
    assert len(seen) == len(expected)
    for rows, own in zip(seen, expected):
        np.testing.assert_array_equal(rows, own)


def test_stages_are_trained_on_what_passed(monkeypatch):
    X, y = draw(4000, 0)
    calls, grown = [], cascade.grown_stage

    def recorded(booster, training, validation, *args):
        calls.append((training, validation))
        return grown(booster, training, validation, *args)

    monkeypatch.setattr(cascade, "grown_stage", recorded)
    held_out = np.arange(len(y)) % 5 == 0
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.9, holdout=held_out, random_state=0).fit(X, y)
    assert len(calls) == len(clf.stages_) == 3
    never = {row.tobytes() for row in X[held_out]}
    whole = {row.tobytes() for row in X[~held_out]}
    first = [{row.tobytes() for row in rows.X} for rows in calls[0]]
    assert first[0] | first[1] == whole
    assert not first[0] & first[1]
    for k, (training, validation) in enumerate(calls):
        for rows, start in ((training, calls[0][0]), (validation, calls[0][1])):
            assert not never & {row.tobytes() for row in rows.X}
            passed = np.ones(len(start.y), dtype=bool)
            for stage in clf.stages_[:k]:
                passed &= stage.scores(start.X, None, 1) >= stage.threshold
            np.testing.assert_array_equal(rows.X, start.X[passed])
            np.testing.assert_array_equal(rows.y, start.y[passed])
        assert clf.stages_[k].n_positives == training.y.sum()
        assert clf.stages_[k].n_negatives == len(training.y) - training.y.sum()


def test_stages_reach_their_goals_on_validation_rows(fitted, monkeypatch):
    for stage in fitted.stages_:
        assert stage.met
        assert stage.counts.recall >= 0.95
        assert stage.counts.false_alarm_rate <= 0.5
    history = fitted.history_
    np.testing.assert_allclose(history["overall_recall"], np.cumprod([s.counts.recall for s in fitted.stages_]))
    np.testing.assert_array_equal(history["n_rounds"], [s.n_rounds for s in fitted.stages_])
    assert pd.DataFrame(history).shape == (4, 9)
    assert fitted.stop_reason_ == "all 4 stages done"


def test_a_stage_has_no_more_rounds_than_it_needs(monkeypatch):
    """With one round less the goals would not be met, at any threshold."""
    X, y = draw(6000, 0)
    calls, grown = [], cascade.grown_stage

    def recorded(booster, training, validation, *args):
        calls.append((clone(booster), training, validation))
        return grown(booster, training, validation, *args)

    monkeypatch.setattr(cascade, "grown_stage", recorded)
    clf = CascadeClassifier(STUMPS, n_stages=4, detection_rate=0.95, false_alarm_rate=0.3, random_state=0).fit(X, y)
    assert max(stage.n_rounds for stage in clf.stages_) > 4
    for (booster, training, validation), stage in zip(calls, clf.stages_):
        booster.set_params(n_estimators=stage.n_rounds).fit(training.X, training.y)
        for k, F in enumerate(booster.staged_decision_function(validation.X), start=1):
            _, curve = Counts.at_thresholds(validation.y == 1, F)
            assert ((curve.recall >= 0.95) & (curve.false_alarm_rate <= 0.3)).any() == (
                stage.met and k == stage.n_rounds
            )
        np.testing.assert_allclose(F, stage.scores(validation.X, None, 1), atol=1e-12)


def test_reasons_to_stop():
    X, y = draw(3000, 0)
    new = {"n_stages": 30, "detection_rate": 0.9, "random_state": 0}
    clf = CascadeClassifier(STUMPS, overall_false_alarm_rate=0.02, **new).fit(X, y)
    assert clf.stop_reason_ == "the overall false-alarm rate is reached on the validation rows"
    assert clf.history_["overall_false_alarm_rate"][-1] <= 0.02 < clf.history_["overall_false_alarm_rate"][-2]
    assert str(clf.certificate_.goal).endswith("false_alarm_rate <= 0.02")
    clf = CascadeClassifier(RealBoostClassifier(n_estimators=2), false_alarm_rate=0.01, **new).fit(X, y)
    assert clf.stop_reason_.startswith("stage 1 lets 0.")
    assert len(clf.stages_) == 1
    assert not clf.stages_[0].met
    easy = X + 4 * y[:, None]
    clf = CascadeClassifier(STUMPS, **new).fit(easy, y)
    assert clf.stop_reason_.startswith("fewer than 30 negatives are left to train on")
    noise = np.random.default_rng(0).normal(size=(60, 1))
    clf = CascadeClassifier(RealBoostClassifier(n_estimators=1), **{**new, "detection_rate": 1.0}).fit(
        noise, np.arange(60) % 2
    )
    assert len(clf.stages_) == 1  # there is a cascade, however poor
    assert clf.predict(noise).shape == (60,)


def test_no_more_negatives_than_asked_for():
    X, y = draw(6000, 0)
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.95, max_negatives=150, random_state=0).fit(X, y)
    assert [stage.n_negatives for stage in clf.stages_] == [150, 150, 150]
    assert clf.stages_[0].counts.negatives > 500  # of the validation rows all are used


# ------------------------------------------------------------------ a source of negatives


class Tables:
    """Tables of negatives, which are counted when they are read."""

    def __init__(self, n_tables=50, kind=np.asarray):
        self.n_tables, self.kind, self.n_read = n_tables, kind, 0

    def __iter__(self):
        for k in range(self.n_tables):
            self.n_read += 1
            X, y = draw(2000, 100 + k)
            yield self.kind(X[y == 0])


@pytest.mark.parametrize("kind", [np.asarray, lambda X: X.tolist()], ids=["arrays", "lists"])
def test_new_negatives_that_pass_take_the_place_of_those_that_do_not(kind):
    X, y = draw(3000, 0)
    new = {"n_stages": 6, "detection_rate": 0.95, "random_state": 0}
    alone = CascadeClassifier(STUMPS, **new).fit(X, y)
    tables = Tables(kind=kind)
    clf = CascadeClassifier(STUMPS, **new).fit(X, y, negatives=tables)
    assert [s.n_negatives for s in clf.stages_] == [clf.stages_[0].n_negatives] * len(clf.stages_)
    assert [s.counts.negatives for s in clf.stages_] == [clf.stages_[0].counts.negatives] * len(clf.stages_)
    assert alone.stages_[-1].n_negatives < 0.2 * clf.stages_[-1].n_negatives
    assert 0 < tables.n_read < 50  # no more than necessary
    few = Tables(3)
    short = CascadeClassifier(STUMPS, **new).fit(X, y, negatives=lambda: few)
    assert few.n_read == 3
    assert short.stages_[-1].n_negatives < short.stages_[0].n_negatives


def test_new_negatives_have_passed_all_stages(monkeypatch):
    X, y = draw(2000, 0)
    calls, grown = [], cascade.grown_stage

    def recorded(booster, training, validation, *args):
        calls.append((training, validation))
        return grown(booster, training, validation, *args)

    monkeypatch.setattr(cascade, "grown_stage", recorded)
    weights = np.full(len(y), 2.0)
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.95, random_state=0)
    clf.fit(X, y, negatives=Tables(), sample_weight=weights)
    known = {row.tobytes() for row in X}
    for k, (training, validation) in enumerate(calls):
        for rows in (training, validation):
            new = np.array([row.tobytes() not in known for row in rows.X])
            assert new.any() == (k > 0)
            assert (rows.y[new] == 0).all()
            np.testing.assert_array_equal(rows.weights, np.where(new, 1.0, 2.0))
            assert len(set(rows.units.tolist())) == len(rows.units)
            for stage in clf.stages_[:k]:
                assert (stage.scores(rows.X, None, 1) >= stage.threshold).all()


def test_a_source_that_cannot_be_read():
    X, y = draw(2000, 0)
    clf = CascadeClassifier(STUMPS, n_stages=2, detection_rate=0.9, random_state=0)
    with pytest.raises(InputError, match="negatives is of type int"):
        clf.fit(X, y, negatives=3)
    with pytest.raises(InputError, match="has 2 features, but CascadeClassifier is expecting 8"):
        clf.fit(X, y, negatives=[np.zeros((5, 2))])
    with pytest.raises(InputError, match="Table 2 of negatives is None"):
        clf.fit(X, y, negatives=[X[:0], None, X])
    with pytest.raises(InputError, match=r"Table 1 of negatives is a tuple.*windows\(picture\)\[0\]"):
        clf.fit(X, y, negatives=[(X, np.arange(len(X)))])
    with pytest.raises(InputError, match="negatives is a function that needs arguments"):
        clf.fit(X, y, negatives=lambda n: [X])
    with pytest.raises(InputError, match=r"fit was given foo, which RealBoostClassifier\.fit does not take"):
        clf.fit(X, y, foo=1)
    costs = CascadeClassifier(CSRAClassifier(n_estimators=9), n_stages=2, random_state=0)
    with pytest.raises(InputError, match="sample_cost cannot be passed with negatives"):
        costs.fit(X, y, negatives=[], sample_cost=np.ones(len(y)))
    assert not hasattr(clf, "stages_")


def test_tables_of_negatives_without_rows_change_nothing():
    X, y = draw(2000, 0)
    new = {"n_stages": 3, "detection_rate": 0.95, "random_state": 0}
    tables = list(Tables(5))
    full = CascadeClassifier(STUMPS, **new).fit(X, y, negatives=tables)
    holes = CascadeClassifier(STUMPS, **new).fit(X, y, negatives=[X[:0], *(t for own in tables for t in (own, X[:0]))])
    np.testing.assert_array_equal(holes.decision_function(X), full.decision_function(X))
    alone = CascadeClassifier(STUMPS, **new).fit(X, y)
    for nothing in ([], iter(()), lambda: None, [X[:0]]):
        none = CascadeClassifier(STUMPS, **new).fit(X, y, negatives=nothing)
        assert none.stages_[0].n_negatives == alone.stages_[0].n_negatives
        np.testing.assert_array_equal(none.decision_function(X), alone.decision_function(X))


def test_one_table_is_not_taken_for_several():
    X, y = draw(500, 0)
    frame = pd.DataFrame(X)
    haar = HaarFeatures((2, 4)).fit(X)
    for one in (X, frame, pl.from_pandas(frame.rename(columns=str)), csr_array(X), haar.transform(X), "a.csv"):
        with pytest.raises(InputError, match=r"negatives is one table, of type .* negatives=\[table\]"):
            CascadeClassifier(STUMPS, confidence=None).fit(X, y, negatives=one)


@pytest.mark.parametrize(
    ("kind", "of_negatives", "problem"),
    [
        (pd.DataFrame, np.asarray, "it is of type numpy.ndarray, and X of type pandas.DataFrame"),
        (np.asarray, pd.DataFrame, "it is of type pandas.DataFrame, and X of type numpy.ndarray"),
        (pd.DataFrame, pl.from_pandas, "it is of type polars.DataFrame, and X of type pandas.DataFrame"),
        (pd.DataFrame, lambda t: t[list("hgfedcba")], "feature names should match"),
        (np.asarray, lambda t: t.to_numpy()[:, :2], "X has 2 features"),
        (np.asarray, lambda t: t.to_numpy()[0], "Expected 2D array"),
    ],
    ids=["array", "frame", "library", "order", "width", "row"],
)
def test_a_table_of_negatives_that_does_not_fit_is_named(kind, of_negatives, problem):
    X, y = draw(1000, 0)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    clf = CascadeClassifier(STUMPS, n_stages=2, detection_rate=0.95, random_state=0)
    with pytest.raises(InputError, match=f"Table 2 of negatives: .*{problem}"):
        clf.fit(kind(frame), y, negatives=[kind(frame[y == 0][:9]), of_negatives(frame[y == 0])])


# -------------------------------------------------------------------------- certificate


def test_the_certificate_is_about_rows_held_out_of_everything():
    X, y = draw(6000, 0)
    held_out = np.arange(len(y)) % 3 == 0
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.95, holdout=held_out, random_state=0).fit(X, y)
    found, counts = clf.certificate_, Counts.of(y[held_out] == 1, clf.predict(X[held_out]) == 1)
    assert found.counts == found.evidence == counts
    assert str(found.goal) == f"recall >= {0.95**3:g} and false_alarm_rate <= 0.125"
    p_values = (
        binom.sf(counts.tp - 1, counts.positives, 0.95**3),
        binom.cdf(counts.fp, counts.negatives, 0.125),
    )
    assert found.p_value == pytest.approx(max(p_values))
    assert found.met == (found.p_value <= 0.1)
    changed = np.where(held_out[:, None], -X, X)
    again = clone(clf).fit(changed, np.where(held_out, 1 - y, y))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    alone = CascadeClassifier(STUMPS, n_stages=3, confidence=None, random_state=0).fit(X, y)
    assert alone.certificate_ is None


@sized("n", 30, 400)
def test_certificates_are_hardly_ever_wrong(n):
    X_new, y_new = draw(40_000, 10**6, 0.5)
    wrong = n_met = 0
    for seed in range(n):
        X, y = draw(1500, seed, 0.3)
        clf = CascadeClassifier(
            RealBoostClassifier(n_estimators=6), n_stages=2, detection_rate=0.9, confidence=0.8, random_state=seed
        ).fit(X, y)
        true = Counts.of(y_new == 1, clf.predict(X_new) == 1)
        n_met += clf.certificate_.met
        wrong += clf.certificate_.met and not clf.certificate_.goal.met(true)
    assert wrong <= binom.ppf(0.999, n, 0.2)
    assert 0 < n_met < n


def test_a_goal_search_promises_a_rate_of_the_whole_cascade():
    X, y = draw(4000, 0)
    inner = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.97, confidence=None, random_state=0)
    clf = GoalSearchCV(inner, "recall >= 0.85", tune="threshold", cv=2, random_state=0).fit(X, y)
    assert clf.certificate_.met
    X_new, y_new = draw(20_000, 1)
    counts = Counts.of(y_new == 1, clf.predict(X_new) == 1)
    assert counts.recall >= 0.83
    assert counts.false_alarm_rate < 0.2


# ---------------------------------------------------------------------------- decisions


@pytest.mark.parametrize("positive", [0, 1])
def test_scores_say_where_a_row_was_rejected(positive):
    X, y = draw(4000, 0)
    labels = y if positive else 1 - y
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.95, pos_label=positive, random_state=0).fit(X, labels)
    K, used = len(clf.stages_), clf.stages_used(X)
    found = clf.predict(X) == positive
    F = clf.decision_function(X) if positive else -clf.decision_function(X)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[(clf.decision_function(X) > 0).astype(int)])
    np.testing.assert_array_equal(F > 0, found)
    np.testing.assert_array_equal(np.ceil(F[~found]) - (F[~found] == 0), (used - K)[~found])
    for k, stage in enumerate(clf.stages_, start=1):
        own = used == k
        margins = stage.scores(X[own], None, positive) - stage.threshold
        assert (np.diff(F[own][np.argsort(margins)]) >= 0).all()
        if k == K:
            np.testing.assert_allclose(F[own & found], margins[found[own]])
    # a threshold within the scores of a stage is a cascade up to that stage, with another threshold there
    for k in (1, 2):
        levels = np.unique(F[(used == k) & ~found])
        t = levels[len(levels) // 2 :][:2].mean()
        margin = (t + K - k) / (1 - abs(t + K - k))
        passed = np.all([stage.scores(X, None, positive) >= stage.threshold for stage in clf.stages_[: k - 1]], axis=0)
        last = clf.stages_[k - 1]
        np.testing.assert_array_equal(
            t <= F, (used >= k if k == 1 else passed) & (last.scores(X, None, positive) - last.threshold >= margin)
        )


def test_a_score_at_the_threshold_passes(fitted):
    X, _ = draw(50, 3)
    stage = fitted.stages_[0]
    score = stage.scores(X, None, 1)[0]
    for threshold, passes in ((score, True), (np.nextafter(score, np.inf), False)):
        clf = clone(fitted)
        vars(clf).update(vars(fitted))
        clf.stages_ = [cascade_stages.replace(stage, threshold=threshold)]
        assert (clf.predict(X[:1])[0] == 1) == passes
        assert (clf.decision_function(X[:1])[0] > 0) == passes


def test_rows_do_not_depend_on_each_other(fitted):
    X, _ = draw(500, 4)
    F, order = fitted.decision_function(X), np.random.default_rng(0).permutation(500)
    np.testing.assert_array_equal(fitted.decision_function(X[order]), F[order])
    np.testing.assert_array_equal([fitted.decision_function(X[[k]])[0] for k in range(20)], F[:20])


def test_neither_the_order_of_rows_nor_threads_change_a_cascade():
    X, y = draw(3000, 0)
    order = np.random.default_rng(1).permutation(len(y))
    new = {"n_stages": 3, "detection_rate": 0.95, "max_negatives": 900, "random_state": 0}
    clf = CascadeClassifier(STUMPS, **new).fit(X, y)
    shuffled = CascadeClassifier(STUMPS, **new).fit(X[order], y[order])
    threads = CascadeClassifier(STUMPS, n_jobs=2, **new).fit(X, y)
    assert threads.stages_[0].model.n_jobs == 2
    np.testing.assert_array_equal(threads.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(shuffled.predict(X), clf.predict(X))
    assert shuffled.certificate_.counts == clf.certificate_.counts
    other = CascadeClassifier(STUMPS, **{**new, "random_state": 1}).fit(X, y)
    assert not np.array_equal(other.decision_function(X), clf.decision_function(X))


def test_neither_the_order_of_rows_nor_the_type_of_the_table_change_a_cascade():
    """Where cells are missing or categories, and where whole numbers are integers or doubles."""
    X, y = make_skewed(1500, positive_share=0.15, overlap=0.05, n_categories=1, missing=0.02, random_state=0)
    numbers = X.select_dtypes("number").fillna(0).mul(3).round()
    order = np.random.default_rng(1).permutation(len(y))
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.95, random_state=0)
    straight, shuffled = clone(clf).fit(X, y), clone(clf).fit(X.iloc[order], y.iloc[order])
    np.testing.assert_array_equal(straight.predict(X), shuffled.predict(X))
    as_doubles = clone(clf).fit(numbers, y).predict(numbers)
    for other in (numbers.astype(int), pl.from_pandas(numbers), numbers.to_numpy()):
        np.testing.assert_array_equal(clone(clf).fit(other, y).predict(other), as_doubles)


# ------------------------------------------------------------------ boosters and tables


@pytest.mark.sample(8)
@pytest.mark.parametrize("entry", catalogue(), ids=lambda e: e.name)
def test_every_variant_can_be_a_stage(entry):
    X, y = awkward_data(600)
    booster = make(entry.estimator, 6, usable(entry, ["stump", Line()])[0])
    clf = CascadeClassifier(booster, n_stages=2, detection_rate=0.8, random_state=0).fit(X, y)
    F = clf.decision_function(X)
    assert np.isfinite(F).all()
    assert Counts.of(y == 1, F > 0).recall > 0.5
    np.testing.assert_array_equal(clf.predict(X) == 1, F > 0)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_stages_read_the_columns_that_they_test(kind, monkeypatch):
    X, y = awkward_data(900)
    table = pd.DataFrame(X, columns=list("abcdefghi"))
    table["a"] = table["i"]  # what it says, the colour says
    table["colour"] = pd.Series(np.where(X[:, 0] > 0.3, "red", np.where(X[:, 1] > 0, "blue", None)), dtype=object)
    clf = CascadeClassifier(RealBoostClassifier(n_estimators=7), n_stages=3, detection_rate=0.8, random_state=0)
    clf.fit(kind(table), y)
    plain = clone(clf).fit(table.assign(colour=table["colour"].astype("category")), y)
    new = table.sample(frac=1.0, random_state=0)
    read, take = [], cascade_stages.take_cells

    def recorded(X, rows, columns):
        read.append(set(columns.tolist()))
        return take(X, rows, columns)

    monkeypatch.setattr(cascade_stages, "take_cells", recorded)
    F = clf.decision_function(kind(new.reset_index(drop=True)))
    np.testing.assert_array_equal(F, plain.decision_function(new.assign(colour=new["colour"].astype("category"))))
    tested = [
        {
            clf.stages_[k].model.feature_names_in_[s.feature]
            for t in clf.stages_[k].model.estimators_
            for s in t.partition.splits
        }
        for k in range(len(clf.stages_))
    ]
    names = np.array(table.columns)
    assert [set(names[list(columns)]) for columns in read[: len(tested)]] == tested
    assert any("colour" in own for own in tested)
    assert clf.n_features_in_ == 10
    assert list(clf.feature_names_in_) == list(names)


@pytest.mark.parametrize(
    "booster",
    [
        RealBoostClassifier(n_estimators=3),
        RealBoostClassifier(n_estimators=3, estimator=Tree(max_leaf_nodes=5)),
        RealBoostClassifier(n_estimators=3, estimator=Histogram(max_bins=4)),
        LogitBoostClassifier(n_estimators=3, estimator=Line()),
        AlternatingTreeClassifier(max_rounds=4),
        AdaBoostClassifier(n_estimators=2, estimator=sklearn.tree.DecisionTreeClassifier(max_depth=2)),
    ],
    ids=lambda b: str(getattr(b, "estimator", "alternating")),
)
def test_a_booster_on_the_columns_that_it_tests(booster):
    X, y = awkward_data(300, missing=0.0)
    clf = booster.fit(X, y)
    columns = used_columns(clf)
    moved = on_columns(clf, columns)
    assert moved.n_features_in_ == len(columns)
    assert clf.n_features_in_ == 9  # is unchanged
    np.testing.assert_array_equal(moved.decision_function(X[:, columns]), clf.decision_function(X))
    stages = zip(moved.staged_decision_function(X[:, columns]), clf.staged_decision_function(X))
    for own, expected in stages:
        np.testing.assert_array_equal(own, expected)
    if len(columns) < 9:
        expected = clf.contributions(X)
        np.testing.assert_array_equal(moved.contributions(X[:, columns]), expected[:, columns])
        assert not np.delete(expected, columns, axis=1).any()
        np.testing.assert_allclose(moved.feature_importances_, clf.feature_importances_[columns])
        assert dumps(moved) == dumps(on_columns(moved, np.arange(len(columns))))


def test_a_model_without_splits_reads_one_column():
    clf = RealBoostClassifier(n_estimators=2).fit(np.ones((6, 3)), [0, 1, 0, 1, 1, 0])
    assert used_columns(clf).tolist() == [0]
    assert len(on_columns(clf, used_columns(clf)).decision_function(np.ones((2, 1)))) == 2


# ------------------------------------------------------------------------------- images


def patches(n, seed):
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 160, size=(n, 8, 8))
    y = (rng.random(n) < 0.1).astype(int)
    for row in np.flatnonzero(y):
        made[row, :, rng.integers(1, 4)] += 90
    return made.reshape(n, -1), y


def test_a_cascade_of_image_features(monkeypatch):
    X, y = patches(3000, 0)
    haar = HaarFeatures(min_size=2).fit(X)
    new = {"n_stages": 3, "detection_rate": 0.95, "random_state": 0}
    groups = np.arange(len(y))  # else the splits follow from the pixels of the one, and from the features of the other
    clf = CascadeClassifier(STUMPS, **new).fit(haar.transform(X), y, groups)
    eager = CascadeClassifier(STUMPS, **new).fit(np.asarray(haar.transform(X)), y, groups)
    X_new, y_new = patches(5000, 1)
    F = clf.decision_function(haar.transform(X_new))
    np.testing.assert_array_equal(F, eager.decision_function(np.asarray(haar.transform(X_new))))
    assert Counts.of(y_new == 1, F > 0).recall > 0.75
    assert len(pickle.dumps(clf)) < 200_000  # only the features that are used are in the model
    calls, compute = [], HaarTable.compute

    def recorded(self, features):
        calls.append((len(self), tuple(features.tolist())))
        return compute(self, features)

    monkeypatch.setattr(HaarTable, "compute", recorded)
    used = clf.stages_used(haar.transform(X_new))
    for k, stage in enumerate(clf.stages_, start=1):
        rows = sum(n for n, features in calls if features == tuple(stage.columns.tolist()))
        assert rows == (used >= k).sum()
    assert sum(n * len(features) for n, features in calls) < 0.5 * len(X_new) * sum(
        len(stage.columns) for stage in clf.stages_
    )


def test_image_features_are_not_kept_when_new_negatives_are_added(monkeypatch):
    X, y = patches(1500, 0)
    haar = HaarFeatures(min_size=2).fit(X)
    pictures = np.random.default_rng(5).integers(0, 160, size=(40, 30, 30))
    eager = [np.asarray(haar.windows(picture)[0]) for picture in pictures]
    groups, new = np.arange(len(y)), {"n_stages": 4, "detection_rate": 0.95, "random_state": 0}
    expected = CascadeClassifier(STUMPS, **new).fit(np.asarray(haar.transform(X)), y, groups, negatives=eager)
    calls, grown = [], cascade.grown_stage

    def recorded(booster, training, validation, *args):
        calls.append((training, validation))
        return grown(booster, training, validation, *args)

    monkeypatch.setattr(cascade, "grown_stage", recorded)
    windows = (haar.windows(picture)[0] for picture in pictures)
    clf = CascadeClassifier(STUMPS, **new).fit(haar.transform(X), y, groups, negatives=windows)
    assert len(calls) > 2
    assert all(isinstance(rows.X, HaarTable) for call in calls for rows in call)
    F = clf.decision_function(haar.transform(X))
    np.testing.assert_array_equal(F, expected.decision_function(np.asarray(haar.transform(X))))


def test_windows_of_pictures_as_new_negatives():
    X, y = patches(1500, 0)
    haar = HaarFeatures(min_size=2).fit(X)
    pictures = np.random.default_rng(5).integers(0, 160, size=(40, 30, 30))
    clf = CascadeClassifier(STUMPS, n_stages=4, detection_rate=0.95, random_state=0)
    clf.fit(haar.transform(X), y, negatives=(haar.windows(picture)[0] for picture in pictures))
    assert clf.stages_[1].n_negatives == clf.stages_[0].n_negatives
    table, places = haar.windows(pictures[0])
    cut = np.array([pictures[0][t : t + 8, q : q + 8].ravel() for t, q in places])
    np.testing.assert_array_equal(clf.predict(table), clf.predict(haar.transform(cut)))


def test_a_window_has_the_score_that_it_has_alone():
    """However many windows a picture has, of which large parts are scored together."""
    X, y = patches(1500, 0)
    haar = HaarFeatures(min_size=2).fit(X)
    clf = CascadeClassifier(STUMPS, n_stages=3, detection_rate=0.95, random_state=0).fit(haar.transform(X), y)
    picture = np.random.default_rng(5).integers(0, 160, size=(190, 200))
    table, places = haar.windows(picture)
    assert len(table) > table.part
    F, some = clf.decision_function(table), np.r_[0 : len(table) : 97, len(table) - 1]
    np.testing.assert_array_equal(clf.decision_function(table[some]), F[some])
    cut = np.array([picture[t : t + 8, q : q + 8].ravel() for t, q in places[some]])
    np.testing.assert_array_equal(clf.decision_function(haar.transform(cut)), F[some])
    np.testing.assert_array_equal(clf.stages_used(table)[some], clf.stages_used(haar.transform(cut)))


def test_the_columns_of_an_array_are_read_where_they_are(fitted):
    """Whatever the order of its cells in memory, and their type if it has all numbers of the other."""
    X, _ = draw(3000, 6)
    X = X.astype(np.float32).astype(np.float64)
    F = fitted.decision_function(X)
    for same in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X[::-1][::-1],
        X.astype(np.float32),
        X.tolist(),
    ):
        np.testing.assert_array_equal(fitted.decision_function(same), F)


def test_pipelines_and_searches():
    X, y = patches(1500, 0)
    clf = make_pipeline(HaarFeatures(min_size=3), CascadeClassifier(STUMPS, n_stages=2, random_state=0))
    found = cross_val_predict(clf, X, y, cv=3)
    assert Counts.of(y == 1, found == 1).g_mean > 0.6
    grid = {"cascadeclassifier__detection_rate": [0.5, 0.95], "cascadeclassifier__estimator__n_estimators": [5]}
    search = GridSearchCV(clf, grid, scoring="recall", cv=2).fit(X, y)
    assert search.best_params_["cascadeclassifier__detection_rate"] == 0.95
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


# ----------------------------------------------------------------------- weights, groups


def test_weights_and_groups():
    X, y = draw(2000, 0)
    new = {"n_stages": 2, "detection_rate": 0.9, "random_state": 0}
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0)
    weighted = CascadeClassifier(STUMPS, **new).fit(X, y, sample_weight=weights)
    dropped = CascadeClassifier(STUMPS, **new).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(weighted.predict(X), dropped.predict(X))
    groups = np.arange(len(y)) // 5
    grouped = CascadeClassifier(STUMPS, **new).fit(X, y, groups)
    assert "groups" in grouped.certificate_.assumes
    with pytest.warns(RepeatedRowsWarning, match="2000 of the 4000 rows"):
        copies = CascadeClassifier(STUMPS, **new).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert copies.certificate_.evidence.total < 1000


def test_image_features_that_are_computed_otherwise_are_refused():
    X, y = patches(600, 0)
    haar, other = (HaarFeatures(min_size=3, normalize=normalize).fit(X) for normalize in (True, False))
    clf = CascadeClassifier(STUMPS, n_stages=2, detection_rate=0.9, random_state=0)
    with pytest.raises(InputError, match="its columns are not computed as those of X are"):
        clf.fit(haar.transform(X), y, negatives=[other.transform(X[y == 0])])


def test_a_comparison_and_a_search_pass_weights_and_tune_the_threshold():
    X, y = draw(2000, 0)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    clf = CascadeClassifier(STUMPS, n_stages=2, detection_rate=0.95, confidence=None)
    assert weight_name(clf) == weight_name(GoalSearchCV(clf)) == weight_name(MinimumRiskClassifier(STUMPS))
    assert weight_name(clf) == "sample_weight"
    result = compare({"cascade": clf}, X, y, cv=2, sample_weight=weights, random_state=0)
    assert [row["failed"] for row in result.folds] == [None, None]
    found = GoalSearchCV(clf, "recall >= 0.8", random_state=0).fit(X, y)
    assert found.cost_ is None
    assert found.certificate_.met


def test_importances_are_those_of_the_stages(fitted):
    total = np.zeros(fitted.n_features_in_)
    for stage in fitted.stages_:
        total[stage.columns] += stage.n_rounds * stage.model.feature_importances_
    np.testing.assert_allclose(fitted.feature_importances_, total / total.sum())
    assert total.argmax() < 2  # the informative columns come first


def test_few_rows():
    X, y = draw(200, 0)
    y[:] = 0
    y[:1] = 1
    with pytest.raises(InputError, match=r"1 positives.*to train on the others\. Add examples\.$"):
        CascadeClassifier(STUMPS, confidence=None).fit(X, y)
    with pytest.raises(InputError, match=r"Set confidence=None, or add examples\.$"):
        CascadeClassifier(STUMPS).fit(X, y)


def test_groups_stay_together(monkeypatch):
    X, y = draw(2000, 0)
    X[:, 7] = groups = np.arange(len(y)) // 10
    calls, grown = [], cascade.grown_stage

    def recorded(booster, training, validation, *args):
        calls.append((set(training.X[:, 7]), set(validation.X[:, 7])))
        return grown(booster, training, validation, *args)

    monkeypatch.setattr(cascade, "grown_stage", recorded)
    CascadeClassifier(STUMPS, n_stages=1, detection_rate=0.9, random_state=0).fit(X, y, groups)
    ((training, validation),) = calls
    assert not training & validation
    assert len(training | validation) < 150  # the others are held out


def test_metadata_routing():
    X, y = draw(1000, 0)
    with sklearn.config_context(enable_metadata_routing=True):
        booster = RealBoostClassifier(n_estimators=5).set_fit_request(sample_weight=True)
        clf = CascadeClassifier(booster, n_stages=1, detection_rate=0.9, random_state=0)
        clf.fit(X, y, groups=np.arange(1000), sample_weight=np.ones(1000))
    assert clf.predict(X).shape == (1000,)


# ------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"estimator": GradientBoostingClassifier()}, "is no booster of this library"),
        ({"estimator": make_pipeline(HaarFeatures(), STUMPS)}, "Transformers come before the cascade"),
        ({"estimator": RealBoostClassifier}, "is no booster of this library"),
        ({"estimator": RealBoostClassifier(early_stopping=True)}, "early_stopping=True of the estimator has no effect"),
        ({"estimator": RealBoostClassifier(warm_start=True)}, "warm_start=True of the estimator has no effect"),
        ({"estimator": RealBoostClassifier(pos_label=0)}, "pos_label=0 of the estimator is not that of the cascade"),
        ({"n_stages": 0}, "n_stages of CascadeClassifier must be"),
        ({"detection_rate": 0.0}, "detection_rate of CascadeClassifier must be"),
        ({"false_alarm_rate": 1.0}, "false_alarm_rate of CascadeClassifier must be"),
        ({"max_negatives": 0}, "max_negatives of CascadeClassifier must be"),
        ({"holdout": 0.3, "confidence": None}, "holdout=0.3 has no effect without a certificate"),
        ({"weights": "votes"}, "weights of CascadeClassifier must be"),
        ({"verbose": "yes"}, "verbose of CascadeClassifier must be"),
        ({"pos_label": 7}, "pos_label=7 is not among the classes"),
    ],
)
def test_bad_parameters(params, problem):
    X, y = draw(300, 0)
    with pytest.raises(InputError, match=problem):
        CascadeClassifier(**params).fit(X, y)


def test_bad_tables(fitted):
    X, y = draw(300, 0)
    with pytest.raises(InputError, match="One class is sought among the others"):
        CascadeClassifier().fit(X, y + (X[:, 0] > 1))
    with pytest.raises(InputError, match="too few to hold some out and to train on the others"):
        CascadeClassifier(confidence=None).fit(X[:5], [0, 0, 0, 0, 1])
    with pytest.raises(InputTypeError, match="Sparse data"):
        fitted.predict(csr_array(X))
    with pytest.raises(InputError, match="infinity"):
        fitted.predict(np.where(np.arange(8) == 5, np.inf, X))
    with pytest.raises(InputError, match="has 7 features"):
        fitted.predict(X[:, 1:])
    with pytest.raises(InputTypeError, match="Export the model of each stage"):
        to_source(fitted, "c")
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    clf = CascadeClassifier(STUMPS, n_stages=1, detection_rate=0.9, confidence=None).fit(frame, y)
    with pytest.raises(InputError, match="feature names should match"):
        clf.predict(frame[list("hgfedcba")])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_numbers_are_not_taken_for_categories():
    X, y = draw(1000, 0)
    frame = pd.DataFrame(X[:, 2:], columns=list("cdefgh")).assign(colour=np.where(X[:, 0] > 1, "red", "blue"))
    clf = CascadeClassifier(STUMPS, n_stages=1, detection_rate=0.9, confidence=None, random_state=0).fit(frame, y)
    assert 6 in clf.stages_[0].columns
    with pytest.raises(InputError, match="column 'colour' held categories in training and holds numbers now"):
        clf.predict(X[:, :7])


def test_exported_stages_make_the_same_decisions(fitted):
    """What the message of an export recommends."""
    X, _ = draw(200, 5)
    passed = np.ones(len(X), dtype=bool)
    for stage in fitted.stages_:
        made = {}
        exec(to_source(stage.model, "python"), made)
        scores = [made["predict_score"](row) for row in X[:, stage.columns].tolist()]
        passed &= np.array(scores) >= stage.threshold
    np.testing.assert_array_equal(passed, fitted.predict(X) == 1)


def test_a_failed_fit_changes_nothing(fitted):
    X, y = draw(1000, 0)
    clf = CascadeClassifier(STUMPS, n_stages=2, detection_rate=0.9, random_state=0).fit(X, y)
    F = clf.decision_function(X)
    with pytest.raises(InputError):
        clf.set_params(n_stages=-1).fit(X, y)
    np.testing.assert_array_equal(clf.decision_function(X), F)
    assert len(list(clf.staged_predict(X))) == len(clf.stages_)


def test_progress_is_shown(capsys):
    X, y = draw(1000, 0)
    CascadeClassifier(STUMPS, n_stages=2, detection_rate=0.9, random_state=0, verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("stage 1: ")
