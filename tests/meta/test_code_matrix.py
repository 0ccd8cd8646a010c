"""CodeMatrixClassifier: the trace, laws of decoding, scikit-learn's contract, tables, costs, errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import skewboost as sb
from skewboost import CodeMatrixClassifier, RealBoostClassifier, catalogue
from support import load_trace, load_trace_data, of_any_class

REAL = RealBoostClassifier(n_estimators=10)
DECODINGS = ["loss", "exponential", "logistic", "probability", "hamming"]
CODES = ["dense", "sparse", "exhaustive", "one_vs_rest", "one_vs_one"]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def five_shops(n=400):
    """A table with categories and missing cells, and five classes."""
    rng = np.random.default_rng(0)
    shop = np.array(["food", "fuel", "toys", "pets", None], dtype=object)[
        rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    ]
    amount = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    y = np.array(["a", "b", "c", "d", "e"])[
        np.clip((shop == "toys") * 2 + np.digitize(np.nan_to_num(amount), [-0.8, 0.2, 1.0]), 0, 4)
    ]
    frame = pd.DataFrame({"shop": pd.Categorical(shop), "amount": amount})
    return frame, y


def test_columns_votes_and_distances_match_the_trace():
    trace = load_trace("K_ecoc_adaboost")
    X, y, X_test = load_trace_data("K")
    clf = CodeMatrixClassifier(
        sb.AdaBoostClassifier(n_estimators=trace["params"]["M"]), code=trace["params"]["code"], decoding="hamming"
    ).fit(X, y)
    for part, rows in (("train", X), ("test", X_test)):
        F = np.column_stack([e.decision_function(rows) for e in clf.estimators_])
        np.testing.assert_allclose(F, trace[f"F_{part}"], atol=1e-9, rtol=0)
        np.testing.assert_array_equal(clf.predict(rows), trace[f"pred_{part}"])
    np.testing.assert_array_equal(-clf.decision_function(X_test), trace["distances_test"])


@pytest.mark.sample(12)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [
        CodeMatrixClassifier(RealBoostClassifier(n_estimators=2)),
        CodeMatrixClassifier(DecisionTreeClassifier(), code="one_vs_one", decoding="probability", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.sample(12)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("decoding", DECODINGS)
def test_probabilities_sum_to_one_and_agree_with_predictions(wine, code, decoding):
    X, y = wine
    clf = CodeMatrixClassifier(REAL, code=code, decoding=decoding, random_state=0).fit(X, y)
    p, scores = clf.predict_proba(X), clf.decision_function(X)
    assert scores.shape == p.shape == (len(y), 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.classes_[p.argmax(axis=1)], clf.predict(X))
    np.testing.assert_array_equal(clf.classes_[scores.argmax(axis=1)], clf.predict(X))
    assert clf.score(X, y) > 0.97


def test_one_against_the_rest_with_losses_is_the_largest_score(wine):
    """Σ_s ℓ(M f) = C + ℓ(f_k) - ℓ(-f_k), which falls with f_k; and OneVsRestClassifier has the same columns."""
    X, y = wine
    rest = OneVsRestClassifier(REAL).fit(X, y)
    for decoding in ("exponential", "logistic", "probability"):
        clf = CodeMatrixClassifier(REAL, code="one_vs_rest", decoding=decoding).fit(X, y)
        F = np.column_stack([e.decision_function(X) for e in clf.estimators_])
        np.testing.assert_allclose(F, rest.decision_function(X), atol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), F.argmax(axis=1))


def test_the_order_of_columns_and_the_names_of_classes_mean_nothing(wine):
    X, y = wine
    code = np.array([[1, 1, 0, 1], [-1, 1, 1, 0], [-1, -1, -1, -1]])
    for decoding in ("loss", "probability", "hamming"):
        new = lambda c: CodeMatrixClassifier(REAL, code=c, decoding=decoding)  # noqa: B023, E731
        scores = new(code).fit(X, y).decision_function(X)
        np.testing.assert_allclose(new(code[:, ::-1]).fit(X, y).decision_function(X), scores, atol=1e-9)
        renamed = np.array([2, 0, 1])[y]  # class k is called renamed[k]
        moved = new(code[[1, 2, 0]]).fit(X, renamed).decision_function(X)
        np.testing.assert_allclose(moved[:, [2, 0, 1]], scores, atol=1e-9)
        named = new(dict(zip("xyz", code.tolist()))).fit(X, np.array(list("xyz"))[y])
        np.testing.assert_allclose(named.decision_function(X), scores, atol=1e-9)


def test_jobs_seeds_and_weights(wine):
    X, y = wine
    forest = CodeMatrixClassifier(DecisionTreeClassifier(max_features=2), code="sparse", random_state=3)
    with parallel_config("threading"):
        a, b = (clone(forest).set_params(n_jobs=j).fit(X, y) for j in (1, 3))
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    assert len({e.random_state for e in a.estimators_}) == a.code_.shape[1]
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    for code in ("exhaustive", "one_vs_one"):
        weighted = CodeMatrixClassifier(REAL, code=code).fit(X, y, sample_weight=weights)
        repeated = CodeMatrixClassifier(REAL, code=code).fit(X.repeat(weights, 0), y.repeat(weights))
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


def test_two_classes_are_the_estimator_itself(wine):
    X, y = wine
    y = y == 1
    F = clone(REAL).fit(X, y).decision_function(X)
    for code in CODES:
        clf = CodeMatrixClassifier(REAL, code=code, decoding="logistic").fit(X, y)
        assert clf.code_.tolist() == [[-1], [1]]
        np.testing.assert_allclose(clf.decision_function(X), 2 * F, atol=1e-9)
        np.testing.assert_allclose(clf.predict_proba(X), clf.estimators_[0].predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("code", ["one_vs_one", "exhaustive"])
def test_tables_reach_the_columns_as_they_are(code):
    frame, y = five_shops()
    clf = CodeMatrixClassifier(RealBoostClassifier(n_estimators=10), code=code, random_state=0)
    a = clone(clf).fit(frame, y)
    b = clone(clf).fit(pl.from_pandas(frame), y)
    np.testing.assert_array_equal(a.decision_function(frame), b.decision_function(pl.from_pandas(frame)))
    assert a.feature_names_in_.tolist() == ["shop", "amount"]
    assert a.estimators_[0].feature_names_in_.tolist() == ["shop", "amount"]
    assert a.score(frame, y) > 0.9
    if code == "one_vs_one":
        with pytest.raises(ValueError, match="could not convert string to float"):  # it makes arrays of tables
            OneVsOneClassifier(RealBoostClassifier(n_estimators=2)).fit(frame, y)


def test_searches_and_pipelines(wine):
    X, y = wine
    grid = {"code": ["exhaustive", "one_vs_one"], "decoding": ["hamming", "loss"], "estimator__n_estimators": [10]}
    search = GridSearchCV(CodeMatrixClassifier(REAL), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    weights = np.random.default_rng(0).random(len(y)) * 5
    inner = CodeMatrixClassifier(pipeline, code="one_vs_one").fit(X, y, sample_weight=weights)  # to its last step
    assert not np.allclose(inner.decision_function(X), clone(inner).fit(X, y).decision_function(X))


def test_costs_of_rows_reach_the_columns(wine):
    """With costs in each row the dear class is predicted more often, with routing on or off; class costs do not fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] > 0.8, 2, np.where(X[:, 1] > 0, 1, 0))
    y = np.where(rng.random(600) < 0.3, rng.integers(0, 3, 600), y)
    base = CodeMatrixClassifier(sb.CGAdaClassifier(n_estimators=20), code="one_vs_one", decoding="hamming")
    share = [
        (clone(base).fit(X, y, sample_cost=of_any_class(np.where(y == 2, c, 1.0), 3)).predict(X) == 2).mean()
        for c in (0.2, 1.0, 5.0)
    ]
    assert share[0] < share[1] < share[2]
    costs = of_any_class(np.where(y == 2, 5.0, 1.0), 3)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = sb.CGAdaClassifier(n_estimators=20).set_fit_request(sample_cost=True, sample_weight=True)
        routed = clone(base).set_params(estimator=inner).fit(X, y, sample_cost=costs, sample_weight=np.ones(len(y)))
        folds = cross_validate(
            clone(base).set_params(estimator=inner), X, y, params={"sample_cost": costs}, cv=2, return_estimator=True
        )
    assert (routed.predict(X) == 2).mean() == share[2]
    assert (folds["estimator"][0].predict(X) == 2).mean() > share[1]
    for cost in ({0: 1.0, 1: 1.0, 2: 5.0}, 5.0):
        with pytest.raises(ValueError, match=r"does not fit the columns of a code.*fit\(sample_cost=\.\.\.\)"):
            CodeMatrixClassifier(sb.CGAdaClassifier(cost=cost)).fit(X, y)


@pytest.mark.sample(14)
@pytest.mark.parametrize("entry", catalogue(), ids=lambda e: e.name)
@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, CodeMatrixClassifier])
def test_every_variant_takes_many_classes_within_a_wrapper(wrapper, entry, wine):
    X, y = wine
    clf = wrapper(entry.make(8)).fit(X, y)
    hits = confusion_matrix(y, clf.predict(X), normalize="true").diagonal()
    assert hits.mean() > (0.6 if entry.costs in ("in every round", "in the exponent") else 0.9)


@pytest.mark.parametrize("estimator", [GaussianNB(), RidgeClassifier(), KNeighborsClassifier()], ids=str)
def test_any_classifier_will_do(estimator, wine):
    X, y = wine
    clf = CodeMatrixClassifier(estimator, code="one_vs_one").fit(X, y)
    assert clf.score(X, y) > 0.75
    if isinstance(estimator, RidgeClassifier):
        with pytest.raises(
            ValueError, match="decoding='probability' needs predict_proba, but RidgeClassifier does not have it"
        ):
            clf.set_params(decoding="probability").fit(X, y)
    if isinstance(estimator, KNeighborsClassifier):
        with pytest.raises(ValueError, match="KNeighborsClassifier does not accept sample_weight"):
            clf.fit(X, y, sample_weight=np.ones(len(y)))


def test_mistakes_are_told_and_leave_the_model_as_it_was(wine):
    X, y = wine
    clf = CodeMatrixClassifier(REAL, code="one_vs_one").fit(X, y)
    said = clf.predict_proba(X)
    for params, message in (
        (
            {"code": "hadamard"},
            "code must be one of 'dense', 'sparse', 'bch', 'exhaustive', 'one_vs_rest', 'one_vs_one'",
        ),
        ({"code_size": 4}, "code_size=4 only has an effect with the codes 'dense', 'sparse' and 'bch'"),
        ({"decoding": "nearest"}, "decoding of CodeMatrixClassifier must be one of"),
        ({"estimator": "stump"}, "estimator of CodeMatrixClassifier must be an instance of a classifier; got 'stump'"),
        ({"code": np.ones((2, 2))}, "code has 2 rows, but y has 3 classes"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(clf).set_params(**params).fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        clf.fit(np.where(X > 1000, np.inf, X)[:, 1:], np.arange(len(y)) % 3)
    np.testing.assert_array_equal(clf.predict_proba(X), said)
    with pytest.raises(ValueError, match="features"):
        clf.predict(X[:, :3])


def test_costs_inside_other_estimators_are_refused_too(wine):
    X, y = wine[:2]
    for estimator in (
        make_pipeline(StandardScaler(), sb.CSRAClassifier(cost=5)),
        sb.UnderBaggingClassifier(sb.CSRAClassifier(cost=5)),
        sb.MinimumRiskClassifier(RealBoostClassifier(), cost=[[0, 1], [5, 0]]),
    ):
        with pytest.raises(ValueError, match="does not fit the columns of a code"):
            CodeMatrixClassifier(estimator).fit(X, y)


def test_the_loss_is_that_of_the_variant_inside(wine):
    X, y = wine[:2]
    logit = sb.LogitBoostClassifier(n_estimators=2)
    for estimator, loss in [
        (make_pipeline(StandardScaler(), logit), "logistic"),
        (sb.RUSBoostClassifier(variant="LogitBoost", n_estimators=2, random_state=0), "logistic"),
        (sb.RUSBoostClassifier(variant="RealBoost", n_estimators=2, random_state=0), "exponential"),
        (sb.RUSBoostClassifier(n_estimators=2, random_state=0), "exponential"),
    ]:
        clf = CodeMatrixClassifier(estimator, code="one_vs_rest").fit(X, y)
        same = CodeMatrixClassifier(estimator, code="one_vs_rest", decoding=loss).fit(X, y)
        np.testing.assert_array_equal(clf.predict_proba(X), same.predict_proba(X))
