"""A model that was saved and loaded is the same model, to the bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import skewboost as sb
from skewboost.io import describe, dumps, loads, save
from skewboost.learners import AlternatingTree, Histogram, Line, Probabilities, RuleLearner, Stump, Tree
from skewboost.learners.samplers import UnderSample
from support import awkward_data, make, usable

X, y = awkward_data(150)
THREE = np.digitize(np.nan_to_num(X[:, 0]), [-0.5, 0.5])
LEARNERS = [
    Stump(),
    Tree(max_leaf_nodes=4, missing="abstain"),
    Histogram(),
    Line(),
    AlternatingTree(),
    RuleLearner(max_order=1),
]


def mixed(n: int = 150, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "colour": pd.Series(rng.choice(["red", "gren", "blü\N{SNOWMAN}", None], n), dtype=object),
            "grade": pd.Categorical(rng.choice([1, 2, 3], n)),
            "count": rng.integers(0, 5, n),
            "nothing": [None] * n,
        }
    )


def answers(model, rows):
    """All predictions and explanations of a model."""
    found = {}
    for name in ("predict", "predict_proba", "decision_function", "contributions"):
        if hasattr(model, name):
            try:
                found[name] = getattr(model, name)(rows)
            except ValueError as error:  # of a variant without contributions
                found[name] = np.array(str(error))
    for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        if hasattr(model, name):
            found[name] = np.array(list(getattr(model, name)(rows)))
    for name in ("feature_importances_", "baseline_"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name))
    if "contributions" in found and found["contributions"].ndim:
        shapes = np.ravel(np.array(model.shape_functions(), dtype=object))
        found["shapes"] = np.concatenate([np.append(f.values, (f.slope, f.missing_value)) for f in shapes])
    return found


def assert_same(model, rows):
    text = dumps(model)
    again = loads(text)
    assert type(again) is type(model)
    before, after = answers(model, rows), answers(again, rows)
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], err_msg=name, strict=True)
    if hasattr(model, "history_"):
        np.testing.assert_equal(again.history_, model.history_)
        assert again.stop_reason_ == model.stop_reason_
    np.testing.assert_array_equal(again.classes_, model.classes_, strict=True)
    assert repr(getattr(again, "pos_label_", None)) == repr(getattr(model, "pos_label_", None))
    assert dumps(again) == text, "saving again gives another file"
    assert repr(clone(again)) == repr(clone(model))
    return again


@pytest.mark.parametrize("entry", sb.catalogue(), ids=lambda entry: entry.name)
def test_every_variant(entry):
    assert_same(make(entry.estimator, 3, usable(entry, LEARNERS)[0], engine="reference").fit(X, y), X)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner(learner):
    booster = sb.LogitBoostClassifier if isinstance(learner, Line) else sb.RealBoostClassifier
    assert_same(make(booster, 3, learner, engine="reference").fit(X, y), X)


@pytest.mark.parametrize(
    ("booster", "kind"),
    [
        (sb.CSRAClassifier, pd.DataFrame),
        (sb.LogitBoostClassifier, pl.from_pandas),
        (sb.ConsistentBoostClassifier, pd.DataFrame),
    ],
)
def test_tables_with_categories_and_missing_cells(booster, kind):
    table = kind(mixed())
    model = booster(n_estimators=6).fit(table, y)
    again = assert_same(model, table)
    np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_, strict=True)
    fresh = kind(mixed(seed=9).replace({"red": "unheard of"}))
    np.testing.assert_array_equal(again.decision_function(fresh), model.decision_function(fresh))
    with pytest.raises(ValueError, match="held categories in training"):
        again.predict(mixed().assign(colour=1.0))


@pytest.mark.parametrize("learner", [Tree(), RuleLearner(), Probabilities(RuleLearner())], ids=str)
def test_trees_and_rules_on_categories(learner):
    assert_same(sb.RealBoostClassifier(estimator=learner, n_estimators=4).fit(mixed(), y), mixed())


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1.0, 2.0]),
        np.array([3, 7], dtype=np.uint8),
        np.array(["n", "ü\ud800"]),
    ],
    ids=["text", "objects", "booleans", "floats", "bytes", "half a character"],
)
def test_labels_of_any_type(labels):
    again = assert_same(sb.RealBoostClassifier(n_estimators=2, pos_label=labels.tolist()[0]).fit(X, labels[y]), X)
    assert again.pos_label == labels.tolist()[0]


@pytest.mark.parametrize("first", [2**53, -(2**63), 2**64 - 150])
def test_integers_that_coincide_as_doubles(first):
    numbers = np.array([[first + k] for k in range(150)])
    model = sb.RealBoostClassifier(n_estimators=4).fit(numbers, y)
    assert_same(model, numbers)
    np.testing.assert_array_equal(model.decision_function(numbers), model.decision_function(numbers.astype(float)))


@pytest.mark.parametrize("unit", [5e-324, 1.0, 1e300])
def test_lines_on_drawn_rows(unit):
    numbers = unit * np.round(9 * np.nan_to_num(X))
    assert_same(sb.LogitBoostClassifier(estimator=Line(), n_estimators=4, sampler="bootstrap").fit(numbers, y), numbers)


def test_rare_categories_share_a_code():
    names = [f"c{k:03d}" for k in range(400)]
    table = pd.DataFrame({"c": pd.Categorical(np.random.default_rng(0).permutation(names * 2))})
    with pytest.warns(UserWarning, match="most frequent"):
        model = sb.RealBoostClassifier(n_estimators=2).fit(table, np.arange(800) % 2)
    assert_same(model, table)


def portfolio(**params):
    return sb.SkewBoostClassifier(effort="quick", random_state=0, **params)


AROUND = {
    "calibrated by a sigmoid": lambda: sb.CGAdaClassifier(n_estimators=4, calibrate="sigmoid").fit(X, y),
    "calibrated by steps": lambda: sb.AdaMECClassifier(n_estimators=4, calibrate="isotonic", cost=3).fit(X, y),
    "stopped early": lambda: sb.CSRAClassifier(n_estimators=9, early_stopping=2, random_state=0).fit(X, y),
    "sampled trees": lambda: sb.RUSBoostClassifier(estimator=Tree(), n_estimators=4, random_state=0).fit(X, y),
    "made up": lambda: sb.DataBoostIMClassifier(n_estimators=3, random_state=0).fit(X, y),
    "a booster boosted": lambda: sb.AdaBoostClassifier(
        estimator=sb.RealBoostClassifier(n_estimators=2), n_estimators=2
    ).fit(X, y),
    "many classes": lambda: sb.AdaBoostMHClassifier(n_estimators=4, cost={0: 1, 1: 2.5, 2: 1}).fit(X, THREE),
    "many labels": lambda: sb.AdaBoostMHClassifier(n_estimators=4, cost="balanced").fit(
        X, np.column_stack((y, THREE > 1, THREE > 0))
    ),
    "trees of many classes": lambda: sb.AdaBoostMHClassifier(estimator=Tree(), n_estimators=3).fit(X, THREE),
    "M1": lambda: sb.AdaC2M1Classifier(n_estimators=3).fit(X, THREE),
    "M1 on rules": lambda: sb.AdaC2M1Classifier(estimator=RuleLearner(), n_estimators=2).fit(X, THREE),
    "rules": lambda: RuleLearner(prior=False).fit(X, THREE),
    "a code": lambda: sb.CodeMatrixClassifier(sb.LogitBoostClassifier(n_estimators=2), random_state=0).fit(
        X, np.array(["a", "b", "c"])[THREE]
    ),
    "least risk": lambda: sb.MinimumRiskClassifier(
        sb.RealBoostClassifier(n_estimators=3), cost=[[0, 1.5], [7, 0]], prior=0.1
    ).fit(X, y),
    "least risk, sigmoid": lambda: sb.MinimumRiskClassifier(
        sb.RealBoostClassifier(n_estimators=3), calibrate="sigmoid", cv=3
    ).fit(X, y),
    "least risk, steps, three classes": lambda: sb.MinimumRiskClassifier(
        sb.AdaBoostMHClassifier(n_estimators=3), calibrate="isotonic", ensemble=False, cv=3
    ).fit(X, THREE),
    "least risk of bags": lambda: sb.MinimumRiskClassifier(
        sb.UnderBaggingClassifier(sb.RealBoostClassifier(n_estimators=2), n_estimators=2, random_state=0),
        calibrate="sigmoid",
        cv=2,
    ).fit(X, y),
    "bags": lambda: sb.UnderBaggingClassifier(
        sb.RealBoostClassifier(n_estimators=2), n_estimators=3, random_state=0
    ).fit(X, y),
    "votes": lambda: sb.PastingVotesClassifier(
        sb.RealBoostClassifier(n_estimators=2), n_estimators=3, bite_size=40, random_state=0
    ).fit(X, THREE > 1),
    "soft votes": lambda: sb.PastingVotesClassifier(
        sb.RealBoostClassifier(n_estimators=2), n_estimators=3, bite_size=40, voting="soft", random_state=0
    ).fit(X, y),
    "an alternating tree": lambda: sb.AlternatingTreeClassifier(max_rounds=5, init="balanced").fit(X, y),
    "a cascade": lambda: sb.CascadeClassifier(
        sb.RealBoostClassifier(estimator=Tree(max_leaf_nodes=3), n_estimators=9), n_stages=2, detection_rate=0.8,
        random_state=0,
    ).fit(X, y),
    "a cascade of lines": lambda: sb.CascadeClassifier(
        sb.LogitBoostClassifier(estimator=Line(), n_estimators=4), n_stages=2, confidence=None, random_state=0
    ).fit(X, y),
    "a portfolio": lambda: portfolio().fit(X, y),
    "a portfolio of three classes": lambda: portfolio(cost=[[0, 1, 2], [5, 0, 1], [9, 3, 0]], reject_cost=0.4).fit(
        X, np.array(["a", "b", "c"])[THREE]
    ),
    "a portfolio without interactions": lambda: portfolio(interaction_cst="no_interactions").fit(X, y),
    "a portfolio with a goal": lambda: portfolio(goal="recall >= 50%", confidence=0.5).fit(X, y),
    "a goal of a portfolio": lambda: sb.GoalSearchCV(
        portfolio(cost=1), "recall >= 30% and referred_share <= 60%", cv=2, confidence=None, random_state=0
    ).fit(X, y),
    "bags of portfolios": lambda: sb.UnderBaggingClassifier(portfolio(), n_estimators=2, random_state=0).fit(X, THREE),
    "a code of portfolios": lambda: sb.CodeMatrixClassifier(portfolio(), code="one_vs_rest").fit(X, THREE),
    "least risk of a portfolio": lambda: sb.MinimumRiskClassifier(portfolio(), cost=5, calibrate="sigmoid", cv=2).fit(
        X, y
    ),
    "the threshold of a cascade": lambda: sb.GoalSearchCV(
        sb.CascadeClassifier(n_stages=2, confidence=None, random_state=0), "recall >= 0.3", tune="threshold", cv=2,
        confidence=None, random_state=0,
    ).fit(X, y),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.sample(18)
@pytest.mark.parametrize("name", AROUND)
def test_models_around_models(name):
    assert_same(AROUND[name](), X)


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize(
    "model",
    [
        sb.MinimumRiskClassifier(sb.RealBoostClassifier(n_estimators=2), calibrate="sigmoid", cv=2),
        sb.MinimumRiskClassifier(
            sb.UnderBaggingClassifier(sb.RealBoostClassifier(n_estimators=1), n_estimators=2, random_state=0)
        ),
        sb.PastingVotesClassifier(sb.CSRAClassifier(n_estimators=1), n_estimators=2, bite_size=40, random_state=0),
        sb.CodeMatrixClassifier(sb.RealBoostClassifier(n_estimators=1), random_state=0),
        sb.CascadeClassifier(sb.CSRAClassifier(n_estimators=8), weights="counts", n_stages=2, random_state=0),
        sb.GoalSearchCV(
            sb.CSRAClassifier(n_estimators=2), "recall >= 0.5", confidence=None, weights="counts", cv=2, random_state=0
        ),
        portfolio(cost=3),
        portfolio(goal="recall >= 0.5", confidence=0.5),
        sb.GoalSearchCV(portfolio(), "recall >= 0.5", confidence=None, weights="counts", cv=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_around_models_of_tables(model):
    several = isinstance(model, sb.CodeMatrixClassifier)
    assert_same(model.fit(mixed(), THREE if several else y), mixed(seed=9))


@pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
@pytest.mark.parametrize(
    ("inner", "params", "weight"),
    [
        (sb.CSRAClassifier(n_estimators=4), {}, 0.3),
        (sb.CSRAClassifier(n_estimators=4), {"tune_rounds": True}, None),
        (sb.CSRAClassifier(n_estimators=4), {"tune": "threshold", "confidence": None}, 0.3),
        (portfolio(), {}, None),
        (portfolio(), {"tune": "threshold", "confidence": None}, 0.3),
    ],
    ids=lambda value: None,
)
def test_goals(inner, params, weight):
    clf = sb.GoalSearchCV(
        inner,
        "recall >= 60%",
        max_points=3,
        cv=2,
        random_state=0,
        allow_unmet=True,
        **params,
    )
    model = clf.fit(X, y, sample_weight=None if weight is None else weight * (1 + np.arange(len(y)) % 3))
    again = assert_same(model, X)
    for name in ("threshold_", "cost_", "n_rounds_", "goal_", "then_", "counts_", "certificate_"):
        assert getattr(again, name) == getattr(model, name)
    for name in ("search_", "frontier_"):
        np.testing.assert_equal(getattr(again, name), getattr(model, name))
    assert str(again.certificate_) == str(model.certificate_)


def test_cascades(tmp_path):
    clf = sb.CascadeClassifier(n_stages=3, detection_rate=0.8, weights="counts", random_state=0).fit(mixed(), y)
    again = loads(dumps(clf))
    assert again.certificate_ == clf.certificate_
    assert again.stop_reason_ == clf.stop_reason_
    np.testing.assert_equal(again.history_, clf.history_)
    np.testing.assert_array_equal(again.stages_used(mixed(seed=9)), clf.stages_used(mixed(seed=9)))
    kinds = {column["name"]: column["kind"] for column in describe(save(clf, tmp_path / "cascade.json"))["features"]}
    for stage in clf.stages_:
        for name, nominal in zip(stage.model.feature_names_in_, stage.model._nominal):
            assert kinds[name] == ("category" if nominal else "number")
    assert "category" in kinds.values()


def test_trees_can_be_read():
    model = sb.AlternatingTreeClassifier(max_rounds=6).fit(mixed(), y)
    again = loads(dumps(model))
    assert again.export_text() == model.export_text()
    row = mixed().iloc[[5]]
    assert str(again.explain(row)) == str(model.explain(row))
    rules = RuleLearner().fit(mixed(), y)
    assert loads(dumps(rules)).export_text() == rules.export_text()


@pytest.mark.parametrize("learner", ["stump", Tree(), AlternatingTree()], ids=str)
def test_training_goes_on_where_it_ended(learner):
    params = {"estimator": learner, "warm_start": True, "engine": "reference"}
    begun = sb.RealBoostClassifier(n_estimators=4, **params).fit(X, y)
    again = loads(dumps(begun)).set_params(n_estimators=8).fit(X, y)
    begun.set_params(n_estimators=8).fit(X, y)
    assert again.n_estimators_ == 8
    np.testing.assert_array_equal(again.decision_function(X), begun.decision_function(X))


def test_training_does_not_go_on_with_a_parameter_that_was_changed():
    model = sb.CSRAClassifier(n_estimators=3, cost=2.0, warm_start=True).fit(X, y)
    again = loads(dumps(model.set_params(estimator="tree", n_estimators=5)))
    assert again.estimator == "tree"
    with pytest.raises(ValueError, match=r"estimator='tree', but training started with another value"):
        again.set_params(warm_start=True).fit(X, y)


def test_parameters_are_kept_as_far_as_they_are_plain():
    params = {
        "cost": {0: 1.0, 1: 4.0},
        "estimator": Stump(criterion="gini", max_bins=7),
        "sampler": UnderSample(0.5),
        "n_jobs": 2,
        "pos_label": 1,
    }
    model = sb.CSRAClassifier(n_estimators=np.int64(3), random_state=np.random.RandomState(0), **params)
    model.set_params(callbacks=[lambda k, record: None]).fit(X, y)
    kept = loads(dumps(model)).get_params(deep=False)
    assert repr({name: kept[name] for name in params}) == repr(params)
    assert kept["n_estimators"] == 3
    assert kept["random_state"] is None
    assert kept["callbacks"] is None
    matrix = np.array([[0.0, 1.0], [3.0, 0.0]])
    risk = sb.MinimumRiskClassifier(sb.RealBoostClassifier(n_estimators=1), cost=matrix, prior=(0.9, 0.1)).fit(X, y)
    again = loads(dumps(risk))
    np.testing.assert_array_equal(again.cost, matrix, strict=True)
    assert again.prior == (0.9, 0.1)


def test_predictions_do_not_depend_on_the_engine_that_reads_them():
    model = sb.CSRAClassifier(estimator=Tree(), n_estimators=10, engine="cpu").fit(X, y)
    again = loads(dumps(model))
    assert again.engine == "cpu"
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
