"""What happens around the loop: early stopping, warm start, callbacks, interruption, the progress bar."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from skewboost import AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier, RealBoostClassifier
from skewboost.boosting.early_stopping import stratified_split
from skewboost.learners import Histogram, Line, Stump
from support import awkward_data

BOOSTERS = [AdaBoostClassifier, RealBoostClassifier, GentleBoostClassifier, LogitBoostClassifier]
each_booster = pytest.mark.parametrize("booster", BOOSTERS)


@pytest.mark.parametrize("n_positive", [2, 3, 50])
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.9])
def test_the_split_keeps_both_classes_on_both_sides(n_positive, fraction):
    positive = np.zeros(500, dtype=bool)
    positive[:n_positive] = True
    train, held_out = stratified_split(positive, fraction, np.random.default_rng(0))
    assert sorted([*train, *held_out]) == list(range(500))
    for rows in (train, held_out):
        assert set(positive[rows]) == {True, False}
    assert abs((~positive[held_out]).mean() * len(held_out) - fraction * (500 - n_positive)) <= 1


@each_booster
def test_early_stopping_keeps_the_best_round(booster):
    X, y = awkward_data(700, seed=7)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, 1 - y, y)
    clf = booster(estimator="tree", n_estimators=200, early_stopping=15, random_state=1).fit(X, y)
    scores = [r["validation_score"] for r in clf.history_]
    assert clf.n_estimators_ == np.argmax(scores) + 1
    assert len(scores) == clf.n_estimators_ + 15
    assert clf.stop_reason_ == "early stopping: no better validation score for 15 rounds"
    assert len(list(clf.staged_predict(X))) == clf.n_estimators_


def test_scoring_chooses_what_early_stopping_watches():
    X, y = awkward_data(700)
    clf = RealBoostClassifier(n_estimators=30, early_stopping=30, scoring="roc_auc", random_state=0).fit(X, y)
    scores = [r["validation_score"] for r in clf.history_]
    assert 0.5 < max(scores) <= 1.0
    seen = []

    def half(estimator, X, y):
        seen.append(estimator.predict_proba(X).shape)
        return 0.5

    custom = RealBoostClassifier(n_estimators=30, early_stopping=4, scoring=half, validation_fraction=0.5).fit(X, y)
    assert custom.n_estimators_ == 1
    assert set(seen) == {(350, 2)}
    assert len(custom.history_) == 5


def test_early_stopping_with_weights_uses_them_on_the_held_out_rows():
    X, y = awkward_data(700)
    a, b = (
        RealBoostClassifier(n_estimators=3, early_stopping=True, random_state=0).fit(X, y, sample_weight=w)
        for w in (np.ones(700) * 2, np.where(y == 1, 5.0, 1.0))
    )
    assert a.history_[0]["validation_score"] != b.history_[0]["validation_score"]


LEARNERS = ["stump", "tree", Histogram(max_bins=8)]
RESPONDING = (
    GentleBoostClassifier,
    LogitBoostClassifier,
)  # ask for responses, which lines have
ON_LEARNERS = [
    *((booster, learner) for booster in BOOSTERS for learner in LEARNERS),
    *((booster, Line()) for booster in RESPONDING),
    *((booster, KNeighborsClassifier(3)) for booster in BOOSTERS if booster is not LogitBoostClassifier),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("booster", "learner"), ON_LEARNERS, ids=str)
@pytest.mark.parametrize("early_stopping", [False, 8])
def test_a_warm_start_arrives_where_one_run_does(booster, learner, early_stopping):
    X, y = awkward_data(missing=0.0)
    settings = {"estimator": learner, "early_stopping": early_stopping, "random_state": 5}
    once = booster(n_estimators=24, **settings).fit(X, y)
    warm = booster(n_estimators=6, warm_start=True, **settings).fit(X, y)
    warm.set_params(n_estimators=15).fit(X, y)
    warm.set_params(n_estimators=24).fit(X, y)
    np.testing.assert_allclose(warm.decision_function(X), once.decision_function(X), atol=1e-9)
    assert warm.n_estimators_ == once.n_estimators_
    assert warm.stop_reason_ == once.stop_reason_
    assert len(warm.history_) == len(once.history_)


def test_a_warm_start_cannot_shrink_or_change_classes():
    X, y = awkward_data()
    clf = RealBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=3 is smaller than the 5 rounds"):
        clf.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match=r"classes \['n', 'y'\], but training started with \[0, 1\]"):
        clf.set_params(n_estimators=9).fit(X, np.where(y == 1, "y", "n"))


def test_a_warm_start_cannot_change_the_learner_or_the_positive_class():
    X, y = awkward_data(missing=0.0)
    clf = RealBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    F = clf.decision_function(X)
    with pytest.raises(ValueError, match=r"estimator=KNeighborsClassifier\(\), but training started with 'stump'"):
        clf.set_params(estimator=KNeighborsClassifier(), n_estimators=9).fit(X, y)
    with pytest.raises(ValueError, match="pos_label=0, but training started with"):
        clf.set_params(estimator="stump", pos_label=0).fit(X, y)
    np.testing.assert_array_equal(clf.decision_function(X), F)


def test_callbacks_and_interruptions_of_a_warm_start_leave_the_old_rounds_alone():
    X, y = awkward_data()
    seen = []

    def log(round, scores):
        seen.append(round)

    clf = RealBoostClassifier(n_estimators=5, warm_start=True, callbacks=[log]).fit(X, y)
    clf.set_params(n_estimators=8).fit(X, y)
    assert seen == [1, 2, 3, 4, 5, 6, 7, 8]
    clf.set_params(n_estimators=20, callbacks=[lambda r, s: True]).fit(X, y)
    assert clf.n_estimators_ == 9
    original = clf._model.rounds[4].term

    class Interrupting(type(original)):
        def on(self, view):
            raise KeyboardInterrupt

    clf._model.rounds[4] = replace(clf._model.rounds[4], term=Interrupting(original.partition, original.values))
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.n_estimators_ == 9


def test_more_patience_goes_on_where_less_stopped():
    X, y = awkward_data(700, seed=7)
    settings = {"n_estimators": 60, "random_state": 0}
    clf = RealBoostClassifier(early_stopping=2, warm_start=True, **settings).fit(X, y)
    n_before = len(clf.history_)
    assert n_before < 60
    clf.set_params(early_stopping=40).fit(X, y)
    once = RealBoostClassifier(early_stopping=40, **settings).fit(X, y)
    assert len(clf.history_) == len(once.history_) > n_before
    np.testing.assert_allclose(clf.decision_function(X), once.decision_function(X), atol=1e-9)
    clf.set_params(early_stopping=False, n_estimators=70).fit(X, y)
    assert clf.n_estimators_ == 70


def test_scorers_see_the_weights_and_the_positive_class_as_one():
    X, y = awkward_data(700)
    labels = np.where(y == 1, "fraud", "honest")
    weights = np.where(np.arange(700) % 2, 100.0, 1.0)
    scores = [
        RealBoostClassifier(n_estimators=1, early_stopping=True, scoring=s, random_state=0)
        .fit(X, labels, sample_weight=weights)
        .history_[0]["validation_score"]
        for s in (None, "neg_log_loss", "f1", "average_precision")
    ]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)
    assert 0 < scores[2] < 1
    assert 0 < scores[3] <= 1


def test_without_warm_start_fit_starts_anew():
    X, y = awkward_data()
    clf = RealBoostClassifier(n_estimators=5).fit(X, y)
    assert clf.set_params(n_estimators=3).fit(X, y).n_estimators_ == 3


def test_callbacks_see_every_round_and_may_stop():
    X, y = awkward_data()
    seen = []

    def stop_at_four(round, scores):
        seen.append((round, scores["loss"]))
        return round == 4

    clf = AdaBoostClassifier(n_estimators=20, callbacks=[stop_at_four]).fit(X, y)
    assert seen == [(r["round"], r["loss"]) for r in clf.history_]
    assert clf.n_estimators_ == 4
    assert clf.stop_reason_ == "stopped by a callback"


def test_an_interruption_keeps_the_finished_rounds():
    X, y = awkward_data()

    def interrupt(round, scores):
        if round == 7:
            raise KeyboardInterrupt

    clf = RealBoostClassifier(n_estimators=20, callbacks=[interrupt], warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.n_estimators_ == 7
    assert clf.stop_reason_ == "interrupted"
    assert clf.predict(X).shape == y.shape
    clf.set_params(callbacks=None).fit(X, y)
    whole = RealBoostClassifier(n_estimators=20).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), whole.decision_function(X), atol=1e-9)


def test_the_progress_bar_ends_full(capsys):
    X, y = awkward_data()
    RealBoostClassifier(n_estimators=5, verbose=1).fit(X, y)
    err = capsys.readouterr().err
    assert "5/5" in err
    assert err.endswith("\n")
    RealBoostClassifier(n_estimators=5).fit(X, y)
    assert capsys.readouterr().err == ""


def test_the_time_of_the_bar_includes_what_precedes_the_first_round(capsys, monkeypatch):
    X, y = awkward_data()
    prepare = Stump.prepare

    def slow(learner, *given):
        monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 100.0)
        return prepare(learner, *given)

    monkeypatch.setattr(Stump, "prepare", slow)
    RealBoostClassifier(n_estimators=5, verbose=1).fit(X, y)
    assert re.search(r"5/5  1:4\d  loss", capsys.readouterr().err)


def test_shrinkage_multiplies_what_a_round_adds():
    X, y = awkward_data()
    full, shrunk = (RealBoostClassifier(n_estimators=1, learning_rate=r).fit(X, y) for r in (1.0, 0.1))
    np.testing.assert_allclose(shrunk.decision_function(X), 0.1 * full.decision_function(X))
    clf = AdaBoostClassifier(estimator=Stump(), n_estimators=50, learning_rate=0.1).fit(X, y)
    assert clf.n_estimators_ == 50
