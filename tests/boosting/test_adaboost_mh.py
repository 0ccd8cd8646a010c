"""AdaBoost.MH: many classes or labels, one partition for all of them."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_wine, make_multilabel_classification
from sklearn.metrics import f1_score

from engine.partitioned import PartitionedEngine
from skewboost import AdaBoostClassifier, AdaBoostMHClassifier, RealBoostClassifier
from skewboost.learners import Stump, Tree
from support import awkward_data, each_engine, load_trace, load_trace_data, of_any_class

ENGINES = ["reference", "cpu", PartitionedEngine()]
LEARNERS = ["stump", Tree(max_leaf_nodes=5), Stump(missing="abstain"), Tree(max_leaf_nodes=5, missing="abstain")]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def labelled(n=300, seed=0):
    """A table with missing cells and categories, and three labels of which the last is rare."""
    X, _ = awkward_data(n, seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["shop"] = pd.Categorical(rng.choice(["food", "fuel", "toys", None], n, p=[0.4, 0.3, 0.2, 0.1]))
    filled = np.nan_to_num(X)
    noise = rng.normal(size=(n, 3))
    scores = np.column_stack((filled[:, 0], filled[:, 1] + filled[:, 2], (frame["shop"] == "toys") + filled[:, 0] - 1))
    return frame, (scores + 0.5 * noise > 0.3).astype(int)


@each_engine
def test_every_round_matches_the_trace(engine):
    trace = load_trace("K_adaboost_mh")
    X, y, X_test = load_trace_data("K")
    clf = AdaBoostMHClassifier(n_estimators=len(trace["rounds"]), engine=engine).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), trace["F_train"], atol=1e-9, rtol=0)
    np.testing.assert_allclose(clf.decision_function(X_test), trace["F_test"], atol=1e-9, rtol=0)
    bins = clf._model.bins
    stages = clf.staged_decision_function(X)
    for terms, F, record, expected in zip(zip(*clf.estimators_), stages, clf.history_, trace["rounds"], strict=True):
        split = terms[0].partition.splits[0]
        assert split.feature == expected["feature"]
        assert bins.features[split.feature].cuts[split.threshold] == expected["threshold"]
        values = np.column_stack([term.values for term in terms])
        np.testing.assert_allclose(values, expected["leaf_values"], atol=1e-9)
        np.testing.assert_allclose(F, expected["F_train"], atol=1e-9)
        assert record["criterion"] == pytest.approx(expected["criterion"], abs=1e-9)


@pytest.mark.sample(2)
@each_engine
@each_learner
def test_weights_loss_and_values_are_those_of_the_definition(learner, engine):
    """D ∝ exp(-y F), the loss is their sum, and leaf values are the smoothed log-odds under D."""
    X, Y = labelled()
    clf = AdaBoostMHClassifier(estimator=learner, n_estimators=25, engine=engine).fit(X, Y)
    signs, n, K = 2.0 * Y - 1.0, *Y.shape
    D = np.full((n, K), 1.0 / (n * K))
    before = 1.0
    for terms, F, record in zip(zip(*clf.estimators_), clf.staged_decision_function(X), clf.history_, strict=True):
        leaf = leaves(clf, terms[0], X)
        for k, term in enumerate(terms):
            for j in range(term.partition.n_leaves):
                own = D[:, k] * (leaf == j)
                odds = (own[Y[:, k] == 1].sum() + 1 / (n * K)) / (own[Y[:, k] == 0].sum() + 1 / (n * K))
                assert term.values[j] == pytest.approx(0.5 * np.log(odds), abs=1e-9) or term.values[j] == 0.0
        D = np.exp(-signs * F)
        assert record["loss"] == pytest.approx(D.mean(), rel=1e-9)
        assert record["loss"] < before
        before = record["loss"]
        D /= D.sum()


def leaves(clf, term, X):
    from skewboost.engine.partition import View
    from skewboost.engine.reference import ReferenceEngine
    from skewboost.engine.table import read_table

    return term.partition.leaves(View(ReferenceEngine(), read_table(clone(clf), X, reset=True), clf._model.bins))


@each_engine
@each_learner
def test_two_classes_are_realboost(learner, engine):
    X, y = awkward_data()
    a, b = (
        c(estimator=learner, n_estimators=20, engine=engine).fit(X, y)
        for c in (AdaBoostMHClassifier, RealBoostClassifier)
    )
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@each_engine
@each_learner
def test_a_label_and_its_opposite_are_the_same_as_the_label(learner, engine):
    """Mirrored labels ask for the same partition, and halve weights and smoothing alike."""
    X, y = awkward_data()
    real = RealBoostClassifier(estimator=learner, n_estimators=20, engine=engine, pos_label=1).fit(X, y)
    both = AdaBoostMHClassifier(estimator=learner, n_estimators=20, engine=engine).fit(X, np.column_stack((1 - y, y)))
    F = real.decision_function(X)
    np.testing.assert_allclose(both.decision_function(X), np.column_stack((-F, F)), atol=1e-8)


@pytest.mark.sample(2)
@each_learner
def test_engines_agree_and_the_order_of_rows_and_labels_does_not_matter(learner):
    X, Y = labelled()
    new = lambda **kwargs: AdaBoostMHClassifier(estimator=learner, n_estimators=25, **kwargs)  # noqa: E731
    F = new(engine="reference").fit(X, Y).decision_function(X)
    np.testing.assert_allclose(new(engine="cpu").fit(X, Y).decision_function(X), F, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(Y))
    np.testing.assert_allclose(new(engine="cpu").fit(X.iloc[order], Y[order]).decision_function(X), F, atol=1e-9)
    np.testing.assert_allclose(new().fit(X, Y[:, [2, 0, 1]]).decision_function(X), F[:, [2, 0, 1]], atol=1e-9)


@pytest.mark.slow
def test_categories_that_rounding_left_behind_do_not_count():
    """Whether categories are few enough to try all partitions is decided by those that have rows in the node."""
    rng = np.random.default_rng(0)
    n = 300
    shop, x = rng.integers(0, 14, n), rng.normal(size=n)
    X = pd.DataFrame(
        {"shop": pd.Categorical([f"c{k:02}" for k in shop]), "x": np.where(rng.random(n) < 0.2, np.nan, x)}
    )
    score = shop % 3 - 1.0 + x
    Y = np.column_stack((score + rng.normal(size=n) > 0, score > 1, rng.random(n) < 0.3)).astype(int)
    weights = 10.0 ** rng.uniform(-2, 0, n)
    tree = Tree(max_leaf_nodes=6, missing="abstain")
    first, *others = (
        AdaBoostMHClassifier(estimator=tree, n_estimators=25, engine=e).fit(X, Y, sample_weight=weights)
        for e in ENGINES
    )
    for other in others:
        np.testing.assert_allclose(first.decision_function(X), other.decision_function(X), atol=1e-8)


@each_engine
def test_an_integer_weight_is_a_repetition(engine):
    X, Y = labelled()
    weights = np.random.default_rng(1).integers(0, 4, len(Y))
    new = AdaBoostMHClassifier(n_estimators=20, engine=engine)
    a = clone(new).fit(X, Y, sample_weight=weights)
    b = clone(new).fit(X.iloc[np.repeat(np.arange(len(Y)), weights)], Y.repeat(weights, 0))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 9)).astype(np.float32)
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)), [-1, 1])
    for learner in ("stump", Tree(max_leaf_nodes=4)):
        fits = [
            AdaBoostMHClassifier(estimator=learner, n_estimators=4, engine="cpu", n_jobs=j).fit(X, y) for j in (1, 2, 5)
        ]
        scores = [clf.decision_function(X) for clf in fits]
        assert np.array_equal(scores[0], scores[1])
        assert np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("missing", ["learn", "abstain"])
@pytest.mark.parametrize("m", [3, 6, 8])
def test_categories_are_divided_as_well_as_any_partition_can(m, missing):
    rng = np.random.default_rng(m)
    n = 150
    codes = rng.integers(0, m, n)
    lost = rng.random(n) < 0.1
    column = np.array([f"c{c}" for c in codes], dtype=object)
    column[lost] = None
    Y = np.column_stack([rng.random(n) < rng.random(m)[codes] for _ in range(3)]).astype(int)
    X = pd.DataFrame({"c": pd.Categorical(column)})
    clf = AdaBoostMHClassifier(estimator=Stump(missing=missing), n_estimators=1).fit(X, Y)
    cells = np.where(lost, m, codes)
    values = range(m + 1) if missing == "learn" else range(m)

    def Z(left):
        side = np.where(np.isin(cells, left), 0, 1)
        total = 0.0
        for s, k in itertools.product((0, 1), range(3)):
            own = (side == s) & (np.isin(cells, values))
            total += 2 * np.sqrt((own & (Y[:, k] == 1)).sum() * (own & (Y[:, k] == 0)).sum())
        return (total + 3 * (~np.isin(cells, values)).sum()) / (3 * n)

    partitions = [c for size in range(1, len(values)) for c in itertools.combinations(values, size)]
    assert clf.history_[0]["criterion"] == pytest.approx(min(map(Z, partitions)), abs=1e-12)


@each_learner
def test_warm_start_early_stopping_and_stages(learner):
    X, Y = labelled(400)
    once = AdaBoostMHClassifier(estimator=learner, n_estimators=16).fit(X, Y)
    warm = AdaBoostMHClassifier(estimator=learner, n_estimators=6, warm_start=True).fit(X, Y)
    warm.set_params(n_estimators=16).fit(X, Y)
    np.testing.assert_allclose(warm.decision_function(X), once.decision_function(X), atol=1e-9)
    clf = AdaBoostMHClassifier(estimator=learner, n_estimators=200, early_stopping=4, random_state=0).fit(X, Y)
    assert clf.n_estimators_ < 200
    assert clf.stop_reason_.startswith("early stopping")
    stages = list(clf.staged_decision_function(X))
    assert len(stages) == clf.n_estimators_
    np.testing.assert_allclose(stages[-1], clf.decision_function(X), atol=1e-9)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("scoring", ["f1_macro", "neg_log_loss", "accuracy", None])
def test_early_stopping_shows_scorers_the_classes(scoring):
    X, y = load_wine(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    clf = AdaBoostMHClassifier(n_estimators=100, early_stopping=5, scoring=scoring, random_state=0).fit(X, y)
    assert clf.n_estimators_ < 100
    assert clf.score(X, y) > 0.9
    with pytest.raises(ValueError, match="only 1 'd' example"):
        AdaBoostMHClassifier(early_stopping=True).fit(X, ["d", *y[1:]])


def test_scorers_see_labels_on_and_off():
    X, Y = labelled(400)
    clf = AdaBoostMHClassifier(n_estimators=60, early_stopping=5, scoring="f1_macro", random_state=0).fit(X, Y)
    assert f1_score(Y, clf.predict(X), average="macro") > 0.7


@pytest.mark.slow
def test_many_labels_are_learned():
    X, Y = make_multilabel_classification(2000, 20, n_classes=6, random_state=0)
    clf = AdaBoostMHClassifier(n_estimators=150, estimator="tree", engine="cpu").fit(X[:1000], Y[:1000])
    F, p = clf.decision_function(X), clf.predict_proba(X)
    assert F.shape == p.shape == Y.shape
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-2 * F)), atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), F >= 0)
    alone = [
        RealBoostClassifier(estimator="tree", n_estimators=150, pos_label=1, engine="cpu").fit(X[:1000], y)
        for y in Y[:1000].T
    ]
    separate = np.column_stack([one.predict(X[1000:]) for one in alone])
    found = [f1_score(Y[1000:], said, average="macro") for said in (clf.predict(X[1000:]), separate)]
    assert found[0] > found[1] - 0.03
    assert (clf.predict(X[1000:]) == Y[1000:]).mean() > 0.75
    sparse = clone(clf).fit(X[:1000], csr_matrix(Y[:1000]))
    np.testing.assert_array_equal(sparse.decision_function(X), F)
    assert clf.classes_.tolist() == list(range(6))
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


def test_labels_that_never_change_are_learned_too():
    X, Y = labelled()
    Y = np.column_stack((Y, np.zeros(len(Y)), np.ones(len(Y)))).astype(int)
    clf = AdaBoostMHClassifier(n_estimators=30).fit(X, Y)
    assert not clf.predict(X)[:, 3].any()
    assert clf.predict(X)[:, 4].all()


def test_weights_that_span_hundreds_of_decades_do_no_harm():
    """A label that is always on is right by a margin that grows with every round."""
    X, Y = labelled(120)
    Y = np.column_stack((Y[:, :1], np.ones(len(Y)))).astype(int)
    clf = AdaBoostMHClassifier(n_estimators=1500).fit(X, Y)
    assert np.isfinite(clf.decision_function(X)).all()
    assert clf.predict(X)[:, 1].all()


def test_it_needs_no_more_partitions_than_rounds():
    X, y = load_wine(return_X_y=True)
    clf = AdaBoostMHClassifier(n_estimators=15).fit(X, y)
    assert len({id(term.partition) for terms in clf.estimators_ for term in terms}) == 15
    assert clf.score(X, y) == 1.0


# ---------------------------------------------------------------------------------------- costs


def known_posteriors(n, seed=0):
    """Three classes on a line, P(l | x) ∝ e^(a_l + b_l x), in 12 cells: stumps can represent any function of them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, n)
    p = np.exp(np.array([1.5, 0.0, -1.0]) + np.outer((x - 6) / 3, [-0.8, 0.1, 0.9]))
    p /= p.sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return x[:, None].astype(float), y, p


@pytest.mark.sample(5)
@pytest.mark.parametrize("how", ["classes", "rows"])
@pytest.mark.parametrize("cost", [(1.0, 1.0, 1.0), (1.0, 2.0, 8.0), (1.0, 6.0, 1.0), (0.2, 1.0, 1.0)])
def test_decisions_tend_to_the_least_expected_cost(cost, how):
    """F_l → ½ ln(c_l p_l / Σ_k≠l c_k p_k): the largest is the largest c_l P(l | x); probabilities are those without."""
    X, y, p = known_posteriors(60_000)
    c = np.array(cost)
    if how == "classes":
        clf = AdaBoostMHClassifier(n_estimators=80, cost=dict(enumerate(cost))).fit(X, y)
    else:  # rows of a class differ, with that mean
        spread = np.random.default_rng(1).choice([0.5, 1.5], len(y))
        clf = AdaBoostMHClassifier(n_estimators=80).fit(X, y, sample_cost=of_any_class(c[y] * spread, 3))
    expected = c * p
    q = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.decision_function(X), 0.5 * np.log(q / (1 - q)), atol=0.15)
    top, second = np.sort(q, axis=1)[:, :-3:-1].T
    clear = top - second > 0.05
    assert clear.mean() > 0.6
    np.testing.assert_array_equal(clf.predict(X)[clear], expected.argmax(axis=1)[clear])
    np.testing.assert_allclose(clf.predict_proba(X), p, atol=0.04)


def test_costs_are_weights_that_probabilities_take_out_again():
    """A cost of 2 for a class is each of its rows twice, but for the smoothing and for predict_proba."""
    X, y, _ = known_posteriors(500)
    cost = {0: 1.0, 1: 2.0, 2: 3.0}
    costly = AdaBoostMHClassifier(n_estimators=15, cost=cost).fit(X, y)
    each = np.array([1.0, 2.0, 3.0])[y]
    weighted = AdaBoostMHClassifier(n_estimators=15).fit(X, y, sample_weight=each)
    np.testing.assert_allclose(costly.decision_function(X), weighted.decision_function(X), atol=0.2)
    same = AdaBoostMHClassifier(n_estimators=15).fit(X, y, sample_cost=of_any_class(each, 3))
    np.testing.assert_allclose(same.decision_function(X), costly.decision_function(X), atol=1e-9)
    equal = AdaBoostMHClassifier(n_estimators=15, cost=dict.fromkeys(range(3), 7.0)).fit(X, y)
    plain = AdaBoostMHClassifier(n_estimators=15).fit(X, y)
    np.testing.assert_allclose(equal.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    counts = np.bincount(y)
    balanced = AdaBoostMHClassifier(n_estimators=15, cost="balanced").fit(X, y)
    by_hand = AdaBoostMHClassifier(n_estimators=15, cost=dict(enumerate((5.0 / counts).tolist()))).fit(X, y)
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X), atol=1e-9)


@each_engine
def test_weights_that_are_computed_anew_have_the_costs_in_them(engine, monkeypatch):
    X, y, _ = known_posteriors(300)
    clf = AdaBoostMHClassifier(n_estimators=20, cost={0: 1.0, 1: 2.0, 2: 3.0}, engine=engine)
    F, loss = clf.fit(X, y).decision_function(X), clf.history_[-1]["loss"]
    monkeypatch.setattr("skewboost.boosting.variants.adaboost_mh.MAX_SPREAD", 0.0)
    again = clone(clf).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), F, atol=1e-9)
    assert again.history_[-1]["loss"] == pytest.approx(loss, rel=1e-9)


def test_a_label_may_cost_more_to_miss_than_to_invent():
    """c_l p_l against 1 - p_l, for each label alone; its probability does not know of it."""
    X, Y = labelled(2000)
    on = []
    for c in (0.2, 1.0, 5.0):
        clf = AdaBoostMHClassifier(n_estimators=40, cost={0: 1.0, 1: 1.0, 2: c}).fit(X, Y)
        said, p = clf.predict(X), clf.predict_proba(X)
        np.testing.assert_array_equal(said, clf.decision_function(X) >= 0)
        np.testing.assert_array_equal(said[:, 2], c * p[:, 2] >= 1 - p[:, 2])
        assert p[:, 2].mean() == pytest.approx(Y[:, 2].mean(), abs=0.06)
        on.append(said.mean(axis=0))
    assert on[0][2] < on[1][2] < on[2][2]
    share = Y.mean(axis=0)
    balanced = AdaBoostMHClassifier(n_estimators=10, cost="balanced").fit(X, Y)
    by_hand = AdaBoostMHClassifier(n_estimators=10, cost=dict(enumerate(((1 - share) / share).tolist()))).fit(X, Y)
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X), atol=1e-9)
    rows = AdaBoostMHClassifier(n_estimators=10).fit(X, Y, sample_cost=np.random.default_rng(0).uniform(1, 2, Y.shape))
    assert np.isfinite(rows.predict_proba(X)).all()
    with pytest.raises(ValueError, match="give the cost of a mistake about each label of each row"):
        AdaBoostMHClassifier().fit(X, Y, sample_cost=np.ones(len(Y)))
    with pytest.raises(ValueError, match=r"cost=2\.0 cannot be used with several labels per example"):
        AdaBoostMHClassifier(cost=2.0).fit(X, Y)


def test_early_stopping_minds_costs():
    X, y, _ = known_posteriors(2000)
    clf = AdaBoostMHClassifier(n_estimators=200, early_stopping=4, cost={0: 1.0, 1: 2.0, 2: 8.0}, random_state=0)
    clf.fit(X, y)
    assert clf.n_estimators_ < 200
    assert (clf.predict(X) == 2).mean() > 2 * (y == 2).mean()


def test_mistakes_are_told():
    X, Y = labelled(60)
    numbers = X.drop(columns="shop")
    for params, message in (
        ({"estimator": Stump(criterion="gini")}, "AdaBoostMHClassifier splits by Z, so the parameters of Stump"),
        (
            {"estimator": AdaBoostClassifier()},
            "needs a learner with one partition for all classes, which AdaBoostClassifier is not",
        ),
        ({"pos_label": 1}, "pos_label=1 has no effect, because y has several labels per row"),
    ):
        with pytest.raises(ValueError, match=message):
            AdaBoostMHClassifier(**params).fit(numbers, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AdaBoostMHClassifier().fit(numbers, Y[:50])
    with pytest.raises(ValueError, match="y has several columns whose values are not 0 and 1"):
        AdaBoostMHClassifier().fit(numbers, 2 * Y + np.arange(60)[:, None] % 2)
    clf = AdaBoostMHClassifier(n_estimators=3, warm_start=True).fit(numbers, Y)
    with pytest.raises(ValueError, match=r"y has the classes \[0, 1\], but training started with \[0, 1, 2"):
        clf.set_params(n_estimators=5).fit(numbers, Y[:, :2])
    with pytest.raises(ValueError, match="warm_start=False"):
        clf.fit(numbers, Y[:, 0])
