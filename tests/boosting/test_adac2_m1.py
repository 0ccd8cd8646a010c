"""AdaC2.M1: the traces, the definition, AdaBoost.M1 at equal costs, other libraries' classifiers."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from engine.partitioned import PartitionedEngine
from skewboost import AdaC2Classifier, AdaC2M1Classifier
from skewboost.learners import AlternatingTree, Histogram, Line, Probabilities, RuleLearner, Stump, Tree
from support import awkward_data, each_engine, load_trace, load_trace_data, of_any_class

ENGINES = ["reference", "cpu", PartitionedEngine()]
LEARNERS = ["stump", Tree(max_leaf_nodes=5), Stump(missing="abstain"), Tree(max_leaf_nodes=6, criterion="error")]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def four_classes(n=300, seed=0):
    """A table with missing cells and many categories, and four classes, one of which has half of the rows."""
    X, _ = awkward_data(n, seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    letter = rng.integers(0, 14, n)
    frame["letter"] = pd.Categorical([None if rng.random() < 0.05 else f"c{k:02}" for k in letter])
    frame["shop"] = pd.Categorical(rng.choice(["food", "fuel", "toys"], n))
    filled = np.nan_to_num(X)
    score = filled[:, 0] + 0.3 * (letter % 4) + 0.6 * (frame["shop"] == "toys") + 0.4 * rng.normal(size=n)
    return frame, np.digitize(score, [0.5, 1.1, 1.7])


@each_engine
@pytest.mark.parametrize(
    ("name", "cost"), [("K_adac2_m1", {0: 1.0, 1: 1.2, 2: 1.5}), ("K_adac2_m1_equal", None)], ids=["costs", "equal"]
)
def test_every_round_matches_the_trace(name, cost, engine):
    trace = load_trace(name)
    X, y, X_test = load_trace_data("K")
    n = len(trace["rounds"])
    clf = AdaC2M1Classifier(estimator="stump", cost=cost, n_estimators=n, engine=engine).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), trace["F_train"], atol=1e-9, rtol=0)
    np.testing.assert_allclose(clf.decision_function(X_test), trace["F_test"], atol=1e-9, rtol=0)
    bins = clf._model.bins
    stages = clf.staged_decision_function(X)
    for terms, F, record, expected in zip(zip(*clf.estimators_), stages, clf.history_, trace["rounds"], strict=True):
        split = terms[0].partition.splits[0]
        assert split.feature == expected["feature"]
        assert bins.features[split.feature].cuts[split.threshold] == expected["threshold"]
        votes = np.column_stack([term.values for term in terms])
        assert votes.argmax(axis=1).tolist() == expected["leaf_labels"]
        assert record["step"] == pytest.approx(expected["alpha"], abs=1e-9)
        assert record["criterion"] == pytest.approx(expected["criterion"], abs=1e-9)
        np.testing.assert_allclose(F, expected["F_train"], atol=1e-9)
    by_row = clone(clf).set_params(cost=None)
    costs = np.array([1.0, 1.0, 1.0] if cost is None else list(cost.values()))[y]
    nearly = costs * (1 + 1e-14 * np.random.default_rng(0).normal(size=len(y)))
    for sample_cost in (costs, nearly):  # the class's, and each row's own: another path
        F = by_row.fit(X, y, sample_cost=of_any_class(sample_cost, 3)).decision_function(X)
        np.testing.assert_allclose(F, trace["F_train"], atol=1e-9, rtol=0)


@each_engine
@each_learner
def test_weights_steps_and_votes_are_those_of_the_definition(learner, engine):
    """Leaves say the heaviest class of w; α = ½ ln(Σ_right c w / Σ_wrong c w); w ← c w e^(∓α)."""
    X, y = four_classes()
    y = np.minimum(y, 2) if "Stump" in str(learner) or learner == "stump" else y  # stumps end soon with more classes
    K, cost = y.max() + 1, np.array([1.0, 1.05, 1.1, 1.2])
    costs = dict(enumerate(cost[:K].tolist()))
    clf = AdaC2M1Classifier(estimator=learner, n_estimators=12, engine=engine, cost=costs).fit(X, y)
    assert clf.n_estimators_ >= 3
    w, before = np.full(len(y), 1.0 / len(y)), np.zeros((len(y), K))
    for F, record in zip(clf.staged_decision_function(X), clf.history_, strict=True):
        g, before = F - before, F
        says = np.where(g.max(axis=1) > 0, g.argmax(axis=1), -1)
        right, wrong = says == y, (says != y) & (says >= 0)
        c = cost[y]
        alpha = 0.5 * np.log((c * w)[right].sum() / (c * w)[wrong].sum())
        assert record["step"] == pytest.approx(alpha, abs=1e-9)
        np.testing.assert_allclose(g.max(axis=1), np.where(says >= 0, alpha, 0.0), atol=1e-9)
        w = c * w * np.exp(np.where(right, -alpha, np.where(wrong, alpha, 0.0)))
        w /= w.sum()
    np.testing.assert_array_equal(clf.predict(X), F.argmax(axis=1))
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p, np.exp(2 * F) / np.exp(2 * F).sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.sample(2)
@each_learner
def test_engines_agree_and_the_order_of_rows_does_not_matter(learner):
    X, y = four_classes()
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    new = lambda **kwargs: AdaC2M1Classifier(estimator=learner, n_estimators=12, **kwargs)  # noqa: E731
    F = new(engine="reference").fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_allclose(new(engine="cpu").fit(X, y, sample_weight=weights).decision_function(X), F, atol=1e-9)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(y)), weights))
    for engine in ENGINES:
        other = new(engine=engine, n_jobs=2).fit(X.iloc[rows], y[rows])
        np.testing.assert_allclose(other.decision_function(X), F, atol=1e-9)


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("m", [3, 7])
def test_categories_are_divided_as_well_as_any_partition_can(m, missing):
    rng = np.random.default_rng(m)
    n = 150
    codes, lost = rng.integers(0, m, n), rng.random(n) < 0.1
    y = np.array([rng.choice(3, p=p) for p in rng.dirichlet((0.5, 0.5, 0.5), m)[codes]])
    column = np.array([f"c{c}" for c in codes], dtype=object)
    column[lost] = None
    X = pd.DataFrame({"c": pd.Categorical(column)})
    cells = np.where(lost, m, codes)
    known = range(m + 1) if missing == "learn" else range(m)

    def error(left):
        sides = [np.isin(cells, left), np.isin(cells, known) & ~np.isin(cells, left)]
        wrong = sum(side.sum() - np.bincount(y[side], minlength=3).max() for side in sides)
        return (wrong + 0.5 * (~np.isin(cells, known)).sum()) / n

    partitions = [c for size in range(1, len(known)) for c in itertools.combinations(known, size)]
    for engine in ENGINES:
        clf = AdaC2M1Classifier(estimator=Stump(missing=missing), n_estimators=1, engine=engine).fit(X, y)
        assert clf.history_[0]["criterion"] == pytest.approx(min(map(error, partitions)), abs=1e-12)


@pytest.mark.parametrize("learner", ["stump", "tree", GaussianNB()], ids=str)
def test_two_classes_are_adac2(learner):
    X, y = awkward_data(missing=0.0)
    a, b = (
        c(estimator=learner, n_estimators=15, cost={0: 1.0, 1: 1.1}).fit(X, y)
        for c in (AdaC2M1Classifier, AdaC2Classifier)
    )
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize(
    "learner",
    [GaussianNB(), DecisionTreeClassifier(max_depth=2), KNeighborsClassifier(30), RuleLearner(max_order=1)],
    ids=str,
)
def test_any_classifier_of_many_classes_will_do(learner):
    X, y = load_wine(return_X_y=True)
    X = X[:, :4]
    clf = AdaC2M1Classifier(estimator=learner, n_estimators=6, random_state=0).fit(X, y)
    assert clf.score(X, y) >= clone(learner).fit(X, y).score(X, y) - 0.02
    assert clf.decision_function(X).shape == (len(y), 3)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    if not isinstance(learner, KNeighborsClassifier):
        warm = clone(clf).set_params(n_estimators=2, warm_start=True).fit(X, y)
        warm.set_params(n_estimators=6).fit(X, y)
        np.testing.assert_allclose(warm.decision_function(X), clf.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("learner", ["stump", "tree", GaussianNB()], ids=str)
def test_resampling_draws_the_classes(learner):
    X, y = load_wine(return_X_y=True)
    clf = AdaC2M1Classifier(estimator=learner, resample=True, n_estimators=10, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert "resets" in clf.history_[0]
    assert clf.history_[0]["criterion"] < 0.5


@pytest.mark.sample(2)
@each_learner
def test_warm_start_early_stopping_and_stages(learner):
    X, y = four_classes(400)
    once = AdaC2M1Classifier(estimator=learner, n_estimators=10).fit(X, y)
    warm = AdaC2M1Classifier(estimator=learner, n_estimators=3, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(warm.decision_function(X), once.decision_function(X), atol=1e-9)
    for scoring in (None, "balanced_accuracy", "neg_log_loss"):
        clf = AdaC2M1Classifier(
            estimator=learner, n_estimators=30, early_stopping=3, scoring=scoring, random_state=0
        ).fit(X, y)
        stages = list(clf.staged_predict_proba(X))
        assert len(stages) == clf.n_estimators_ <= 30
        np.testing.assert_allclose(stages[-1], clf.predict_proba(X), atol=1e-9)


def test_it_ends_where_rounds_are_wrong_on_half_the_weight():
    """Its known weakness: a stump says two of ten classes, which have a fifth of the rows."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    new = lambda e: AdaC2M1Classifier(estimator=e, n_estimators=10)  # noqa: E731
    with pytest.warns(ConvergenceWarning, match=r"so it always predicts 0\. Use a stronger estimator"):
        stump = new("stump").fit(X, y)
    tree = new(Tree(max_leaf_nodes=24)).fit(X, y)
    assert stump.n_estimators_ == 0
    assert stump.stop_reason_.startswith("no edge left")
    assert np.isfinite(stump.predict_proba(X)).all()
    assert tree.n_estimators_ == 10
    assert tree.score(X, y) > 0.9


def test_large_costs_stay_finite_and_compound():
    X, y = four_classes()
    for c in (1e-4, 1e4):
        clf = AdaC2M1Classifier(cost={0: 1.0, 1: 1.0, 2: 1.0, 3: c}, n_estimators=40).fit(X, y)
        assert np.isfinite(clf.decision_function(X)).all()
    share = [
        (AdaC2M1Classifier(cost={0: 1.0, 1: 1.0, 2: 1.0, 3: c}, n_estimators=15).fit(X, y).predict(X) == 3).mean()
        for c in (0.8, 1.0, 1.3)
    ]
    assert share[0] < share[1] < share[2]


def test_costs_are_found_by_a_search():
    X, y = four_classes()
    costs = [{0: 1.0, 1: 1.0, 2: 1.0, 3: c} for c in (1.0, 1.1, 1.2)]
    search = GridSearchCV(AdaC2M1Classifier(n_estimators=5), {"cost": costs}, scoring="balanced_accuracy", cv=2)
    assert search.fit(X, y).best_params_["cost"] in costs
    balanced = AdaC2M1Classifier(n_estimators=3, cost="balanced").fit(X, y)
    counts = np.bincount(y)
    by_hand = AdaC2M1Classifier(n_estimators=3, cost=dict(enumerate((counts.max() / counts).tolist()))).fit(X, y)
    np.testing.assert_array_equal(balanced.decision_function(X), by_hand.decision_function(X))


def test_mistakes_are_told():
    X, y = four_classes(80)
    for learner in (Histogram(), Line(), AlternatingTree(), Probabilities(GaussianNB())):
        with pytest.raises(ValueError, match=f"which {type(learner).__name__} does not. Set estimator='tree'"):
            AdaC2M1Classifier(estimator=learner).fit(X, y)
    with pytest.raises(ValueError, match="criterion='z' of Stump is for two classes only"):
        AdaC2M1Classifier(estimator=Stump(criterion="z")).fit(X, y)
    with pytest.raises(ValueError, match="constant=True of Stump has no effect"):
        AdaC2M1Classifier(estimator=Stump(constant=True)).fit(X, y)
    with pytest.raises(ValueError, match=r"lacks \[2, 3\]"):
        AdaC2M1Classifier(cost={0: 1.0, 1: 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="cost='balanced' has no effect with sample_cost"):
        AdaC2M1Classifier(cost="balanced").fit(X, y, sample_cost=np.ones(80))
