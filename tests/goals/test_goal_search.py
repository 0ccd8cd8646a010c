"""GoalSearchCV: the search, the certificate, what it says when a goal is out of reach, scikit-learn's contract."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.stats import binom
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from goals.ruler import Ruler, draw
from skewboost import (
    AdaBoostClassifier,
    AdaCostClassifier,
    AlternatingTreeClassifier,
    CSB2Classifier,
    CSRAClassifier,
    GoalSearchCV,
    RealBoostClassifier,
)
from skewboost.datasets import make_fraud
from skewboost.engine.table import PreparedTable
from skewboost.goals import (
    GoalNotMetWarning,
    GoalNotReachableError,
    LittleUseWarning,
    RepeatedRowsWarning,
    false_alarm_rate,
    recall,
)
from skewboost.goals.certificate import in_words, of_little_use
from skewboost.metrics import Counts
from support import awkward_data

FEW = {"cv": 2, "max_points": 5, "random_state": 0}
WEAK = pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")


@pytest.mark.sample(9)
@parametrize_with_checks(
    [
        GoalSearchCV(RidgeClassifier(), "recall >= 0.6", tune="threshold", confidence=None, allow_unmet=True, **FEW),
        GoalSearchCV(CSRAClassifier(n_estimators=5), "recall >= 0.6", allow_unmet=True, **FEW),
    ]
)
@pytest.mark.filterwarnings("ignore::skewboost.goals.GoalNotMetWarning")
@WEAK
@pytest.mark.filterwarnings("ignore::skewboost.goals.RepeatedRowsWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class Steps(Ruler):
    """A ruler with few distinct scores, so that some are at the threshold."""

    def decision_function(self, X):
        return np.round(super().decision_function(X))


Steps.__init__ = Ruler.__init__


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("tune", ["cost", "threshold", "both"])
@pytest.mark.parametrize("confidence", [None, 0.8])
def test_the_sign_of_the_decision_function_is_the_prediction(positive, tune, confidence):
    X, y = draw(500, 0)
    clf = GoalSearchCV(Steps(), "recall >= 0.5", tune=tune, confidence=confidence, pos_label=positive, **FEW).fit(X, y)
    decision = clf.decision_function(X)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[(decision > 0).astype(int)])
    np.testing.assert_array_equal(clf.predict(X) == positive, clf._decision.decisions(X)[0])
    # the score is the threshold itself, which is flagged, and the next number below it, which is not
    clf.threshold_ = clf._decision.scores(X)[0]
    assert clf.predict(X[:1]) == positive
    clf.threshold_ = np.nextafter(clf.threshold_, np.inf)
    assert clf.predict(X[:1]) != positive


# ------------------------------------------------------------------------- the search


@pytest.mark.parametrize("tune", ["cost", "threshold", "both"])
@pytest.mark.parametrize(
    ("goal", "then"),
    [("recall >= 0.8", "false_alarm_rate"), ("precision >= 0.5", "recall"), ("flagged_share <= 0.3", "recall")],
)
def test_the_best_of_those_that_meet_it_is_chosen(tune, goal, then):
    X, y = draw(1500, 0)
    clf = GoalSearchCV(Ruler(), goal, tune=tune, confidence=None, random_state=0).fit(X, y)
    assert clf.goal_.met(clf.counts_)
    meets = clf.search_["meets_goal"]
    values = clf.search_[then][meets]
    best = values.min() if then == "false_alarm_rate" else values.max()
    assert getattr(clf.counts_, then) == best


def test_bisection_ends_next_to_the_goal():
    # one step of the threshold further the goal would be lost: the search has not stopped before
    X, y = draw(3000, 0)
    clf = GoalSearchCV(Ruler(), "recall >= 0.8", tune="cost", confidence=None, random_state=0, max_points=40).fit(X, y)
    assert 0.8 <= clf.counts_.recall < 0.81
    lower = clf.search_["cost_ratio"] < clf.cost_[1] / clf.cost_[0]
    assert (clf.search_["recall"][lower] < 0.8).all()


def test_then_decides():
    X, y = draw(1500, 1)
    by_default = GoalSearchCV(Ruler(), "recall >= 0.5", confidence=None, random_state=0).fit(X, y)
    by_f1 = GoalSearchCV(Ruler(), "recall >= 0.5", then="f1", confidence=None, random_state=0).fit(X, y)
    assert by_default.counts_.false_alarm_rate < by_f1.counts_.false_alarm_rate
    assert by_default.counts_.f1 < by_f1.counts_.f1


@pytest.mark.parametrize("confidence", [None, 0.8])
@pytest.mark.parametrize(
    "goal", ["false_alarm_rate <= 0.3", "precision >= 0.3", "recall >= 0.5", "flagged_share <= 0.4"]
)
@pytest.mark.parametrize("tune", ["threshold", "both"])
def test_ties_of_then_are_broken_by_the_goal(goal, tune, confidence):
    # the classes are apart, so that recall is 1, or the false-alarm rate 0, at many thresholds
    X, y = draw(600, 0)
    X[y == 1] += 10
    clf = GoalSearchCV(Ruler(), goal, tune=tune, confidence=confidence, **FEW).fit(X, y)
    counts = clf.counts_ if confidence is None else clf.certificate_.counts
    assert (counts.fp, counts.fn) == (0, 0)


def test_the_frontier_has_nothing_better_above_it():
    X, y = draw(1000, 2)
    clf = GoalSearchCV(Ruler(), "recall >= 0.8", confidence=None, random_state=0).fit(X, y)
    order = np.argsort(clf.frontier_["false_alarm_rate"])
    assert (np.diff(clf.frontier_["recall"][order]) > 0).all()
    for r, f in zip(clf.search_["recall"], clf.search_["false_alarm_rate"]):
        better = (clf.frontier_["recall"] > r) & (clf.frontier_["false_alarm_rate"] <= f)
        at_least_as_good = (clf.frontier_["recall"] >= r) & (clf.frontier_["false_alarm_rate"] <= f)
        assert at_least_as_good.any()
        assert not (better & ~at_least_as_good).any()


def test_costs_are_tried_on_both_scales_only_where_the_scale_matters():
    X, y = awkward_data(300)
    plain = GoalSearchCV(CSRAClassifier(n_estimators=5), "recall >= 0.7", confidence=None, tune="cost", **FEW).fit(X, y)
    assert (plain.search_["cost_of_false_alarm"] == 1.0).all()  # CSRA minds the ratio only
    for booster in (CSB2Classifier(cost_on="errors", n_estimators=5), AdaCostClassifier(n_estimators=5)):
        clf = GoalSearchCV(booster, "recall >= 0.7", confidence=None, tune="cost", allow_unmet=True, **FEW)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GoalNotMetWarning)
            clf.fit(X, y)
        falling = clf.search_["cost_of_false_alarm"] != 1.0
        assert falling.any() == isinstance(booster, CSB2Classifier)  # AdaCost divides costs by the largest


def test_rounds_are_found_by_staging():
    X, y = awkward_data(600)
    model = RealBoostClassifier(n_estimators=40)
    clf = GoalSearchCV(model, "recall >= 0.6", tune="threshold", tune_rounds=True, confidence=None, random_state=0)
    clf.fit(X, y)
    assert clf.n_rounds_ < 40  # this many overfit 600 rows
    assert clf.estimator_.n_estimators_ == clf.n_rounds_
    stages = list(clone(model).fit(X, y).staged_decision_function(X))
    np.testing.assert_allclose(clf.decision_function(X) + clf.threshold_, stages[clf.n_rounds_ - 1], atol=1e-12)


def test_rounds_of_other_libraries_are_found_too():
    X, y = draw(400, 0)
    gb = GradientBoostingClassifier(n_estimators=20, max_depth=1, random_state=0)
    clf = GoalSearchCV(gb, "recall >= 0.6", tune="threshold", tune_rounds=True, confidence=None, random_state=0).fit(
        X, y
    )
    stages = [F.ravel() for F in clf.estimator_.staged_decision_function(X)]
    np.testing.assert_array_equal(clf.decision_function(X) + clf.threshold_, stages[clf.n_rounds_ - 1])
    with pytest.raises(ValueError, match="tune_rounds=True needs"):
        GoalSearchCV(LogisticRegression(), tune_rounds=True).fit(X, y)


def test_fits_to_prepared_rows_are_the_same():
    X, y = make_fraud(1500)
    for engine in ("reference", "cpu"):
        ready = PreparedTable(CSRAClassifier(), X)
        for cost in (3.0, 30.0):
            model = CSRAClassifier(n_estimators=8, cost=cost, engine=engine)
            F = clone(model).fit(X, y).decision_function(X)
            np.testing.assert_array_equal(clone(model).fit(ready, y).decision_function(ready), F)
            weights = np.arange(len(y)) % 3
            F = clone(model).fit(X, y, sample_weight=weights).decision_function(X)
            np.testing.assert_array_equal(clone(model).fit(ready, y, sample_weight=weights).decision_function(X), F)


def test_the_same_for_any_n_jobs():
    X, y = make_fraud(1500)
    searches = [
        GoalSearchCV(CSRAClassifier(n_estimators=5), "recall >= 0.5", n_jobs=n, **FEW).fit(X, y) for n in (1, 2)
    ]
    pd.testing.assert_frame_equal(pd.DataFrame(searches[0].search_), pd.DataFrame(searches[1].search_))
    np.testing.assert_array_equal(searches[0].decision_function(X), searches[1].decision_function(X))


# --------------------------------------------------------------------- the certificate


@WEAK
def test_recall_is_certified_by_the_order_statistic():
    X, y = draw(2000, 3)
    clf = GoalSearchCV(Ruler(), "recall >= 0.9", tune="threshold", random_state=0).fit(X, y)
    n, missed = clf.certificate_.counts.positives, clf.certificate_.counts.fn
    # Tong, Feng & Li: the k-th lowest score of the positives, k the largest with P(Bin(n, 0.1) <= k - 1) <= 0.1
    k = max(k for k in range(1, int(n)) if binom.cdf(k - 1, n, 0.1) <= 0.1)
    assert missed <= k - 1  # fewer only where that costs no false alarm
    held_out_positives = np.sort(clf._decision.scores(X[y == 1]))
    assert clf.threshold_ > held_out_positives[0]
    assert clf.certificate_.met


@WEAK
@pytest.mark.parametrize("tune", ["cost", "threshold", "both"])
@pytest.mark.parametrize("goal", ["recall >= 0.7", "precision >= 0.4", "recall >= 0.6 and precision >= 0.3"])
def test_the_certificate_is_about_rows_that_nothing_else_has_seen(tune, goal):
    X, y = draw(1500, 4)
    seen: list[np.ndarray] = []

    class Watched(Ruler):
        def fit(self, X, y):
            seen.append(np.asarray(X)[:, 0])
            return super().fit(X, y)

    Watched.__init__ = Ruler.__init__
    clf = GoalSearchCV(Watched(), goal, tune=tune, random_state=0).fit(X, y)
    trained = np.unique(np.concatenate(seen))
    held_out = ~np.isin(X[:, 0], trained)
    assert clf.certificate_.counts == Counts.of(y[held_out] == 1, clf.predict(X[held_out]) == 1)
    assert clf.certificate_.p_value <= 0.1
    for condition in clf.goal_.conditions:
        assert clf.certificate_.shown[f"{condition.name} {condition.sense}"] >= condition.bound - 1e-9
    assert "certified with 90% confidence" in str(clf.certificate_)


@pytest.mark.slow
def test_expected_cost_speaks_the_users_prices():
    X, y = draw(900, 5)
    named = np.array(["fine", "broken"])[y]
    clf = GoalSearchCV(LogisticRegression(), "expected_cost <= 0.8", cost={"broken": 5, "fine": 1}, **FEW)
    clf.fit(X, named)
    assert clf.pos_label_ == "broken"
    counts = clf.certificate_.counts
    assert (counts.fp + 5 * counts.fn) / counts.total <= 0.8
    matrix = [[0, 5], [1, 0]]  # sorted: broken, fine
    same = clone(clf).set_params(cost=matrix).fit(X, named)
    assert same.threshold_ == clf.threshold_
    assert clf.search_["cost"].min() > 0


def test_too_few_positives_are_told_with_the_number_needed():
    X, y = draw(300, 0)
    with pytest.raises(GoalNotReachableError, match=r"needs 45 held-out positives .* about 9\d in all"):
        GoalSearchCV(Ruler(), "recall >= 0.95", random_state=0).fit(X[:200], y[:200])
    with pytest.raises(GoalNotReachableError, match="no number of examples can show recall >= 1"):
        GoalSearchCV(Ruler(), "recall >= 1", random_state=0).fit(X, y)
    clf = GoalSearchCV(Ruler(), "recall >= 0.95", random_state=0, allow_unmet=True)
    with pytest.warns(GoalNotMetWarning, match="not certified"):
        clf.fit(X[:200], y[:200])
    assert not clf.certificate_.met
    assert "NOT shown" in str(clf.certificate_)
    assert clf.certificate_.shown["recall >="] < 0.95


@pytest.mark.parametrize(
    "told", [GoalNotReachableError("far", search={"recall": [0.1]}), RepeatedRowsWarning("two", 2, 9)]
)
def test_what_is_raised_comes_back_from_other_processes(told):
    again = pickle.loads(pickle.dumps(told))
    assert str(again) == str(told)
    assert again.__dict__ == told.__dict__


@pytest.mark.parametrize("tune", ["cost", "both"])
def test_out_of_reach_says_how_close_it_came(tune):
    X, y = draw(1200, 0)
    clf = GoalSearchCV(Ruler(), "recall >= 0.9 and precision >= 0.6", tune=tune, confidence=None, random_state=0)
    with pytest.raises(
        GoalNotReachableError, match=r"closest in cross-validation: recall 0\.\d+, precision 0\.\d+"
    ) as e:
        clf.fit(X, y)
    assert "met alone, but not together" in str(e.value)
    assert len(e.value.search_["recall"]) > 3
    assert not e.value.search_["meets_goal"].any()
    assert not hasattr(clf, "classes_")  # nothing half-fitted
    with pytest.warns(GoalNotMetWarning, match="not together"):
        clf.set_params(allow_unmet=True).fit(X, y)
    assert clf.predict(X).shape == y.shape


def test_a_goal_on_noise_is_out_of_reach():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(800, 3)), (rng.random(800) < 0.2).astype(int)
    with pytest.raises(GoalNotReachableError, match="do not separate the classes"):
        GoalSearchCV(CSRAClassifier(n_estimators=5), "precision >= 0.9", tune="cost", confidence=None, **FEW).fit(X, y)


# ------------------------------------------------------------------- costs are told


def test_costs_reach_pipelines_weights_and_class_weights():
    X, y = draw(600, 0)
    pipeline = make_pipeline(StandardScaler(), CSRAClassifier(n_estimators=5))
    clf = GoalSearchCV(pipeline, "recall >= 0.7", tune="cost", confidence=None, **FEW).fit(X, y)
    assert clf.estimator_[-1].cost == clf.cost_
    clf = GoalSearchCV(LogisticRegression(), "recall >= 0.7", tune="cost", confidence=None, **FEW).fit(X, y)
    assert clf.estimator_.class_weight == clf.cost_
    clf = GoalSearchCV(AdaBoostClassifier(n_estimators=5), "recall >= 0.7", tune="cost", confidence=None, **FEW)
    clf.fit(X, y)
    weights = np.where(y == 1, clf.cost_[1], clf.cost_[0])
    again = AdaBoostClassifier(n_estimators=5).fit(X, y, sample_weight=weights * len(y) / weights.sum())
    np.testing.assert_allclose(again.decision_function(X), clf.decision_function(X))
    # its fit takes weights as well, so that costs multiply them
    clf.fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(again.decision_function(X), clf.decision_function(X))


@pytest.mark.slow
def test_tables_of_all_kinds():
    X, y = make_fraud(1500)
    model = GoalSearchCV(CSRAClassifier(n_estimators=5), "recall >= 0.5", **FEW)
    by_pandas = clone(model).fit(X, y)
    by_polars = clone(model).fit(pl.from_pandas(X), pl.Series(y.to_numpy()))
    np.testing.assert_array_equal(by_polars.predict(pl.from_pandas(X)), by_pandas.predict(X))
    assert list(by_pandas.feature_names_in_) == list(X.columns)
    assert by_pandas.predict_proba(X).shape == (1500, 2)
    tree = GoalSearchCV(AlternatingTreeClassifier(max_rounds=5), "recall >= 0.5", **FEW).fit(X, y)
    assert tree.certificate_.met


@pytest.mark.slow
@WEAK
def test_it_is_an_estimator_among_others():
    X, y = draw(500, 0)
    grid = GridSearchCV(
        GoalSearchCV(Ruler(), confidence=None), {"goal": ["recall >= 0.6", recall >= 0.9]}, scoring="recall", cv=3
    )
    grid.fit(X, y)
    assert str(grid.best_params_["goal"]) == "recall >= 0.9"
    with sklearn.config_context(enable_metadata_routing=True):
        inner = CSRAClassifier(n_estimators=3).set_fit_request(sample_weight=True)
        clf = GoalSearchCV(inner, "recall >= 0.6", confidence=None, **FEW)
        weights = np.arange(500) % 2 + 1.0
        clf.fit(X, y, sample_weight=weights)
        assert clf.counts_.total == weights.sum()
        groups = np.arange(500) // 5
        clf.set_score_request(sample_weight=True)
        scores = cross_validate(
            clf, X, y, cv=2, params={"groups": groups, "sample_weight": weights}, error_score="raise"
        )
        assert (scores["test_score"] > 0.3).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"goal": "recall >= 0.9", "then": "beauty"}, "then=.beauty. is not a measure"),
        ({"tune": "everything"}, "tune of GoalSearchCV must be one of"),
        ({"confidence": 1.5}, "confidence of GoalSearchCV must be"),
        ({"confidence": None, "holdout": 0.2}, "has no effect without a certificate"),
        ({"cost": 3}, "neither the goal nor then is about expected_cost"),
        ({"then": 3}, "then=3 is not a measure"),
        ({"goal": "expected_cost <= 1"}, "cost=None cannot be used for a goal on expected_cost"),
        ({"goal": "expected_cost <= 1", "cost": "balanced"}, "cost='balanced' cannot be used"),
        ({"cv": 1}, "cv=1 must be an integer >= 2"),
        ({"cv": [(np.arange(40), np.arange(40, 80))]}, "cv is an iterable of splits"),
        ({"cv": GroupKFold(2)}, r"needs groups. Pass them to fit"),
        ({"weights": "frequency"}, "weights of GoalSearchCV must be one of"),
        ({"estimator": OneClassSVM()}, "must be an instance of a classifier"),
        ({"estimator": Perceptron}, "must be an instance of a classifier, or None; got .*Perceptron"),
        ({"pos_label": 7}, "pos_label=7"),
        ({"cost_param": "prices"}, "cost_param='prices' is not a parameter of Ruler"),
        ({"cost_param": "cost", "tune": "threshold"}, "has no effect with tune='threshold'"),
        ({"estimator": Ruler(cost={0: 1, 1: 2})}, "would have no effect"),
        ({"estimator": KNeighborsClassifier()}, "cannot use costs"),
    ],
)
def test_bad_parameters_are_told(params, message):
    X, y = draw(200, 0)
    with pytest.raises((ValueError, TypeError), match=message):
        GoalSearchCV(**{"estimator": Ruler(), "goal": "recall >= 0.7", **params}).fit(X, y)


@pytest.mark.parametrize("then", ["fpr", "false_alarm_rate", false_alarm_rate])
def test_then_is_spelled_like_goals(then):
    X, y = draw(400, 0)
    assert GoalSearchCV(Ruler(), "recall >= 0.7", then=then, **FEW).fit(X, y).then_ == "false_alarm_rate"


@WEAK
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_splitters_get_the_groups(confidence):
    X, y = draw(300, 0)
    groups = np.arange(300) // 3
    clf = GoalSearchCV(Ruler(), "recall >= 0.7", cv=GroupKFold(2), confidence=confidence, max_points=3, random_state=0)
    clf.fit(X, y, groups=groups)
    assert clf.counts_.total == (300 if confidence is None else 201)
    if confidence is None:
        splits = list(GroupKFold(2).split(X, y, groups))
        assert clone(clf).set_params(cv=splits).fit(X, y).threshold_ == clf.threshold_


def test_a_warning_does_not_advise_what_was_done():
    X, y = draw(60, 0)
    clf = GoalSearchCV(Ruler(), "recall >= 0.99", tune="threshold", **FEW)
    with pytest.raises(GoalNotReachableError, match="Set allow_unmet=True"):
        clf.fit(X, y)
    with pytest.warns(GoalNotMetWarning, match="not certified") as told:
        clf.set_params(allow_unmet=True).fit(X, y)
    assert "allow_unmet" not in str(told[0].message)


@WEAK
def test_probabilities_are_of_the_rounds_in_use():
    X, y = draw(600, 0)
    clf = GoalSearchCV(GradientBoostingClassifier(n_estimators=8), "recall >= 0.6", tune_rounds=True, **FEW).fit(X, y)
    assert clf.n_rounds_ < 8
    stages = list(clf.estimator_.staged_predict_proba(X))
    np.testing.assert_array_equal(clf.predict_proba(X), stages[clf.n_rounds_ - 1])


def test_two_classes_only():
    X, _ = draw(300, 0)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        GoalSearchCV(CSRAClassifier(n_estimators=3), "recall >= 0.6", **FEW).fit(X, np.arange(300) % 3)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_decisions_hardly_better_than_chance_are_called_that(confidence):
    X, y = draw(2000, 3)
    clf = GoalSearchCV(Ruler(), "recall >= 0.98", tune="threshold", confidence=confidence, random_state=0)
    with pytest.warns(LittleUseWarning, match=r"of little use: \d+% of the negatives are flagged with \d+% of the"):
        clf.fit(X, y)
    counts = clf.counts_ if confidence is None else clf.certificate_.counts
    assert counts.recall < 2 * counts.false_alarm_rate
    if confidence is not None:
        assert clf.certificate_.met
        assert "Of little use" in str(clf.certificate_)
    # no words are lost on decisions that are, and silence is one
    assert "use" not in str(clf.set_params(goal="recall >= 0.7", confidence=0.9).fit(X, y).certificate_)


def test_a_flag_that_doubles_the_odds_is_of_use():
    # Jaeschke, Guyatt and Sackett: a likelihood ratio from 1 to 2 is small and rarely important
    assert of_little_use(Counts(73, 329, 3, 173))
    assert of_little_use(Counts(50, 51, 50, 49))
    assert not of_little_use(Counts(100, 50, 0, 50))
    assert not of_little_use(Counts(10, 0, 90, 100))
    assert of_little_use(Counts(0, 0, 10, 10))
    assert in_words(Counts(0, 0, 10, 10)) == "nothing is flagged"


def test_an_interrupted_search_keeps_the_points_tried():
    X, y = draw(300, 0)
    calls = iter(range(100))

    class Impatient(Ruler):
        def fit(self, X, y):
            if next(calls) > 7:
                raise KeyboardInterrupt
            return super().fit(X, y)

    Impatient.__init__ = Ruler.__init__
    clf = GoalSearchCV(Impatient(), "recall >= 0.6", tune="cost", cv=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert len(clf.search_["recall"]) == 4
    assert not hasattr(clf, "estimator_")


def test_it_tells_what_it_tries(capsys):
    X, y = draw(300, 0)
    GoalSearchCV(Ruler(), "recall >= 0.6", confidence=None, verbose=1, **FEW).fit(X, y)
    told = capsys.readouterr().err
    assert told.count("cost ratio") == 5
    assert "recall 0." in told


def test_the_user_may_say_which_rows_to_hold_out():
    X, y = draw(1200, 0)
    late = np.arange(1200) >= 800
    clf = GoalSearchCV(Ruler(), "recall >= 0.7", holdout=late, random_state=0).fit(X, y)
    assert clf.certificate_.counts == Counts.of(y[late] == 1, clf.predict(X[late]) == 1)
    assert clone(clf).fit(X, y).threshold_ == clf.threshold_
    with pytest.raises(ValueError, match="holdout is an array of type float64"):
        clf.set_params(holdout=np.ones(1200)).fit(X, y)
    with pytest.raises(ValueError, match=r"shape \(7,\), but X has 1200 rows"):
        clf.set_params(holdout=np.ones(7, dtype=bool)).fit(X, y)
    with pytest.raises(ValueError, match="holdout leaves 0 positives and 0 negatives to search on"):
        clf.set_params(holdout=np.ones(1200, dtype=bool)).fit(X, y)


def test_the_goal_is_sought_where_it_is_lost_although_a_better_point_of_a_plateau_is_far_away():
    """As with AdaC2 on 500 rounds: all decisions change between costs of 1 and 1.05, and a few between 2 and 8."""

    class Compound(Ruler):
        def fit(self, X, y):
            super().fit(X, y)
            ratio = (self.cost or {0: 1.0, 1: 1.0})[1] / (self.cost or {0: 1.0, 1: 1.0})[0]
            self.bias_ += min(100.0 * np.log(ratio), 5.0) - min(0.5 * np.log(ratio), 1.0)
            return self

    Compound.__init__ = Ruler.__init__
    X, y = draw(4000, 0)
    clf = GoalSearchCV(Compound(), "recall >= 0.8", tune="cost", confidence=None, random_state=0).fit(X, y)
    plain = GoalSearchCV(Ruler(), "recall >= 0.8", tune="cost", confidence=None, random_state=0).fit(X, y)
    assert clf.counts_.recall >= 0.8
    assert 1.0 < clf.cost_[1] / clf.cost_[0] < 1.05
    assert clf.counts_.false_alarm_rate < plain.counts_.false_alarm_rate + 0.01
