"""Any scikit-learn classifier as a weak learner: by its labels in every variant, by its probabilities in some."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skewboost import (
    AdaBoostClassifier,
    AdaC2Classifier,
    CSAdaBoostClassifier,
    CSRAClassifier,
    CSRealBoostClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    catalogue,
)
from skewboost.boosting.catalogue import ANY
from skewboost.datasets import load_rare_cancer
from skewboost.engine.partition import View
from skewboost.engine.table import Table
from skewboost.learners import Probabilities, Stump
from skewboost.learners.adapter import Adapter, weight_name
from skewboost.learners.resampling import ResampledLearner
from skewboost.learners.samplers import Sample
from support import awkward_data

CLASSIFIERS = {
    "SVC": SVC(C=0.5),
    "calibrated": CalibratedClassifierCV(GaussianNB(), cv=2),
    "GaussianNB": GaussianNB(),
    "BernoulliNB": BernoulliNB(binarize=0.5),
    "CategoricalNB": make_pipeline(Binarizer(threshold=0.5), CategoricalNB(min_categories=2)),
    "logistic regression": LogisticRegression(solver="liblinear"),
    "tree": DecisionTreeClassifier(max_depth=2),
    "nearest neighbours": KNeighborsClassifier(9),
    "pipeline with weights": make_pipeline(StandardScaler(), GaussianNB()),
    "pipeline without": make_pipeline(StandardScaler(), KNeighborsClassifier(9)),
    "search": GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2),
}
PROBABLE = {name: c for name, c in CLASSIFIERS.items() if hasattr(c, "predict_proba")}
LABELS = [e for e in catalogue() if "labels" in e.needs and e.learners == ANY]
RESPONSES = [e for e in catalogue() if "responses" in e.needs]
PROBABILITIES = [e for e in catalogue() if "probabilities" in e.needs]


def each(entries):
    return pytest.mark.parametrize("entry", entries, ids=[e.name for e in entries])


def each_of(classifiers):
    return pytest.mark.parametrize("learner", classifiers.values(), ids=classifiers)


def small_data(n=120):
    X, y = awkward_data(n, missing=0.0)
    X[:, 6] = np.log(X[:, 6])
    return X, y


def assert_falls(clf, rounding=1e-9):
    """The loss never rises, but where the weights started anew."""
    losses = [1.0] + [r["loss"] for r in clf.history_]
    for (a, b), r in zip(itertools.pairwise(losses), clf.history_, strict=True):
        assert b <= (1.0 if r.get("resets") else a) + rounding


# ------------------------------------------------------------------------------ labels


@pytest.mark.sample(3)
@each_of(CLASSIFIERS)
@pytest.mark.parametrize("booster", [AdaBoostClassifier, RealBoostClassifier])
def test_a_classifier_is_boosted_whatever_it_is(booster, learner):
    """Its loss falls; it survives copies, early stopping and a warm start; two fits are the same."""
    X, y = small_data()
    y = np.where(y == 1, "rare", "usual")
    clf = booster(estimator=learner, n_estimators=4, random_state=0).fit(X, y)
    F = clf.decision_function(X)
    assert clf.score(X, y) > 0.8
    assert_falls(clf)
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).decision_function(X), F)
    np.testing.assert_array_equal(clone(clf).fit(X, y).decision_function(X), F)
    parts = booster(estimator=learner, n_estimators=2, random_state=0, warm_start=True).fit(X, y)
    np.testing.assert_allclose(parts.set_params(n_estimators=4).fit(X, y).decision_function(X), F, atol=1e-6)
    stopped = booster(estimator=learner, n_estimators=4, early_stopping=2, random_state=0).fit(X, y)
    assert stopped.n_estimators_ <= 4


@pytest.mark.sample(10)
@pytest.mark.parametrize("learner", [GaussianNB(), KNeighborsClassifier(5)], ids=str)
@each(LABELS)
def test_every_variant_of_labels_boosts_classifiers(entry, learner):
    X, y = small_data()
    clf = entry.estimator(estimator=learner, n_estimators=5, random_state=0).fit(X, y)
    assert len(clf.estimators_) >= 1
    assert np.isfinite(clf.decision_function(X)).all()
    assert (clf.predict(X)[y == 1] == 1).mean() > 0.3


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    "learner",
    [
        LinearRegression(),
        DecisionTreeRegressor(max_depth=2),
        KNeighborsRegressor(9),
        make_pipeline(StandardScaler(), SVR()),
    ],
    ids=lambda e: type(e).__name__,
)
@each(RESPONSES)
def test_every_variant_of_responses_boosts_regressors(entry, learner):
    X, y = small_data()
    clf = entry.estimator(estimator=learner, n_estimators=5, random_state=0).fit(X, y)
    assert (clf.predict(X)[y == 1] == 1).mean() > 0.5
    assert np.isfinite(clf.predict_proba(X)).all()


@pytest.mark.parametrize("booster", [CSAdaBoostClassifier, CSRealBoostClassifier])
def test_losses_with_costs_pass_them_on_to_a_classifier(booster):
    X, y = load_rare_cancer()
    clf = booster(estimator=GaussianNB(), cost={0: 1, 1: 20}, n_estimators=1).fit(X, y)
    (term,) = clf.estimators_
    expected = GaussianNB().fit(X, y, np.where(y == 1, 20.0, 1.0))
    assert term.estimator.predict(X).tolist() == expected.predict(X).tolist()
    assert expected.predict(X).tolist() != GaussianNB().fit(X, y).predict(X).tolist()


def test_the_criterion_is_the_weighted_error():
    X, y = small_data()
    clf = AdaBoostClassifier(estimator=GaussianNB(), n_estimators=1).fit(X, y)
    wrong = (GaussianNB().fit(X, y).predict(X) != y).mean()
    assert clf.history_[0]["criterion"] == pytest.approx(wrong)
    assert clf.history_[0]["step"] == pytest.approx(0.5 * np.log((1 - wrong) / wrong))


class Named(GaussianNB):
    """Refuses tables without names."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        assert self.feature_names_in_.tolist() == ["first", "second"]
        return self

    def predict(self, X):
        assert list(X.columns) == ["first", "second"]
        return super().predict(X)


@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_classifier_sees_the_names_of_columns(frame, resample):
    """In training, on held-out rows and on new ones; a warning would be an error here."""
    X, y = small_data()
    table = frame({"first": X[:, 0], "second": X[:, 3]})
    clf = AdaBoostClassifier(estimator=Named(), resample=resample, n_estimators=3, early_stopping=2, random_state=0)
    assert clf.fit(table, y).score(table, y) > 0.8


# ------------------------------------------------------------------------------ weights


class Spy(GaussianNB):
    """Notes the weights that it is given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        Spy.seen.append(None if sample_weight is None else np.array(sample_weight))
        return super().fit(X, y, sample_weight)


def test_how_weights_get_where_they_are_used():
    assert weight_name(GaussianNB()) == "sample_weight"
    assert weight_name(KNeighborsClassifier()) is None
    assert weight_name(make_pipeline(StandardScaler(), GaussianNB())) == "gaussiannb__sample_weight"
    assert weight_name(make_pipeline(StandardScaler(), KNeighborsClassifier())) is None
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), SVC()))
    assert weight_name(nested) == "pipeline__svc__sample_weight"
    assert weight_name(GridSearchCV(nested, {})) == "pipeline__svc__sample_weight"
    assert weight_name(GridSearchCV(KNeighborsClassifier(), {})) is None


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("name", ["pipeline", "search", "randomized"])
def test_weights_reach_the_last_step_and_what_is_searched(name, routing):
    pipeline = make_pipeline(StandardScaler(), Spy())
    learner = {
        "pipeline": pipeline,
        "search": GridSearchCV(pipeline, {"spy__var_smoothing": [1e-9, 1e-3]}, cv=2),
        "randomized": RandomizedSearchCV(pipeline, {"spy__var_smoothing": [1e-9, 1e-3]}, n_iter=2, cv=2),
    }[name]
    X, y = small_data()
    Spy.seen.clear()
    with config_context(enable_metadata_routing=routing):
        AdaBoostClassifier(estimator=learner, n_estimators=2, random_state=0).fit(X, y)
    whole = [w for w in Spy.seen if len(w) == len(y)]
    assert len(whole) == 2
    np.testing.assert_allclose(whole[0], 1.0)
    assert np.ptp(whole[1]) > 0.1
    assert whole[1].sum() == pytest.approx(len(y))
    if name != "pipeline":  # the folds of a search get their share of the weights
        folds = [w for w in Spy.seen if len(w) < len(y)]
        assert len(folds) == 2 * 4
        assert np.ptp(folds[-1]) > 0.1


def test_a_pipeline_is_as_good_as_its_last_step():
    """On scaled data the scaler changes nothing, so neither must the pipeline."""
    X, y = small_data()
    X = StandardScaler().fit_transform(X)
    alone, piped = (
        AdaBoostClassifier(estimator=e, n_estimators=5).fit(X, y).decision_function(X)
        for e in (SVC(), make_pipeline(StandardScaler(), SVC()))
    )
    np.testing.assert_allclose(alone, piped, atol=1e-9)


def test_importances_are_those_of_rounds_that_looked():
    """A round whose sample was of one class looked at no feature, and the others count."""

    class OneClassFirst:
        def draw(self, data, weights, rng):
            rows = np.flatnonzero(data.labels) if first.pop() else np.arange(len(weights))
            return Sample(rows)

    X, y = small_data()
    first = [False, True]
    tree = Adapter(DecisionTreeClassifier(max_depth=2, random_state=0), weighted=False)
    balanced = np.where(y == 1, (y == 0).sum() * 1.01, (y == 1).sum())  # so that "all positive" is right on most weight
    clf = RealBoostClassifier(estimator=ResampledLearner(tree, OneClassFirst()), n_estimators=2, pos_label=1)
    clf.fit(X, y, sample_weight=balanced)
    assert clf.n_estimators_ == 2
    assert np.ptp(clf.estimators_[0].on(View(None, Table(*X.shape, matrix=X), None))) == 0
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


# ------------------------------------------------------------------------------ probabilities


def test_the_first_round_says_what_the_classifier_says():
    """Without a line search F is half the log-odds, or 2p - 1; the link then gives p back."""
    X, y = small_data()
    nb = GaussianNB().fit(X, y)
    p = np.clip(nb.predict_proba(X)[:, 1], 1 / 122, 121 / 122)
    real = RealBoostClassifier(estimator=Probabilities(GaussianNB()), n_estimators=1).fit(X, y)
    np.testing.assert_allclose(real.decision_function(X), 0.5 * np.log(p / (1 - p)), rtol=1e-9)
    np.testing.assert_allclose(real.predict_proba(X)[:, 1], p, rtol=1e-9)
    gentle = GentleBoostClassifier(estimator=Probabilities(GaussianNB()), n_estimators=1).fit(X, y)
    np.testing.assert_allclose(gentle.decision_function(X), 2 * p - 1, rtol=1e-9)


@pytest.mark.parametrize("booster", [RealBoostClassifier, GentleBoostClassifier])
def test_the_step_of_a_line_search_is_the_root_of_the_slope(booster):
    """Σ w y h exp(-α y h) = 0: under the next weights, what a round has added says nothing of the labels."""
    X, y = small_data()
    clf = booster(estimator=Probabilities(GaussianNB()), line_search=True, n_estimators=5).fit(X, y)
    signs, before = np.where(y == 1, 1.0, -1.0), np.zeros(len(y))
    for F in clf.staged_decision_function(X):
        weights = np.exp(-signs * F)
        assert (weights * signs * (F - before)).sum() == pytest.approx(0.0, abs=1e-6 * weights.sum())
        before = F


@pytest.mark.sample(7)
@each_of(PROBABLE)
@pytest.mark.parametrize("booster", [RealBoostClassifier, GentleBoostClassifier])
def test_with_a_line_search_the_loss_falls_whatever_a_classifier_says(booster, learner):
    X, y = small_data()
    clf = booster(estimator=Probabilities(learner), line_search=True, n_estimators=5, random_state=0).fit(X, y)
    assert_falls(clf)
    assert clf.score(X, y) > 0.8
    loss = np.exp(-np.where(y == 1, 1.0, -1.0) * clf.decision_function(X)).mean()
    if not any(r.get("resets") for r in clf.history_):
        assert clf.history_[-1]["loss"] == pytest.approx(loss, rel=1e-6)


@each(PROBABILITIES)
def test_every_variant_of_probabilities(entry):
    X, y = small_data()
    y = np.where(y == 1, "rare", "usual")
    new = lambda **kwargs: entry.estimator(  # noqa: E731
        estimator=Probabilities(DecisionTreeClassifier(max_depth=2)), random_state=0, **{"n_estimators": 6, **kwargs}
    )
    clf = new().fit(X, y)
    F = clf.decision_function(X)
    assert clf.score(X, y) > 0.8
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).decision_function(X), F)
    np.testing.assert_allclose(list(clf.staged_decision_function(X))[-1], F, atol=1e-9)
    parts = new(n_estimators=3, warm_start=True).fit(X, y).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), F, atol=1e-9)
    assert new(early_stopping=2).fit(X, y).n_estimators_ <= 6
    drawn = new(resample=True).fit(X, y)
    assert drawn.score(X, y) > 0.8
    assert "resets" in drawn.history_[0]
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def test_costs_work_on_probabilities():
    X, y = small_data(400)
    recall = []
    for cost in (0.2, 1.0, 20.0):
        clf = CSRAClassifier(estimator=Probabilities(GaussianNB()), cost=cost, n_estimators=5).fit(X, y)
        recall.append(clf.predict(X)[y == 1].mean())
    assert recall[0] < recall[1] < recall[2]


def test_a_round_knows_its_error_on_all_rows():
    X, y = small_data()
    for learner in (GaussianNB(), KNeighborsClassifier(9)):
        clf = RealBoostClassifier(estimator=Probabilities(learner), n_estimators=1, random_state=0).fit(X, y)
        assert clf.history_[0]["criterion"] == pytest.approx((clf.predict(X) != y).mean())


def test_parameters_reach_into_the_classifier():
    clf = RealBoostClassifier(estimator=Probabilities(LogisticRegression(C=3.0)))
    assert clf.get_params()["estimator__estimator__C"] == 3.0
    assert clone(clf).set_params(estimator__estimator__C=5.0).estimator.estimator.C == 5.0


@pytest.mark.parametrize("learner", [SVC(), LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())], ids=str)
def test_a_classifier_without_probabilities_is_told_the_remedy(learner):
    name = type(learner).__name__
    with pytest.raises(
        ValueError, match=rf"which {name} does not have.*CalibratedClassifierCV\({name}\(\)\).*={name}\(\)"
    ):
        RealBoostClassifier(estimator=Probabilities(learner)).fit("not even a table", None)


@pytest.mark.parametrize("given", [LinearRegression(), Stump(), "stump", None], ids=str)
def test_probabilities_are_those_of_classifiers(given):
    with pytest.raises(ValueError, match="estimator of Probabilities must be a scikit-learn classifier; got"):
        RealBoostClassifier(estimator=Probabilities(given)).fit(*small_data())
    with pytest.raises(TypeError, match=r"estimator of Probabilities is the class GaussianNB; pass an instance"):
        RealBoostClassifier(estimator=Probabilities(GaussianNB)).fit(*small_data())


@pytest.mark.parametrize("booster", [AdaBoostClassifier, AdaC2Classifier, LogitBoostClassifier])
def test_a_variant_that_cannot_use_probabilities_says_so(booster):
    rule = booster.__name__.removesuffix("Classifier")
    with pytest.raises(ValueError, match=rf"{rule} asks .*, but Probabilities\(GaussianNB\) provides probabilities"):
        booster(estimator=Probabilities(GaussianNB())).fit(*small_data())
