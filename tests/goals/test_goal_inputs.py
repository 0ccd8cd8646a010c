"""What a goal is decided on: one positive class, finite scores, the same scores twice, and no parameter in vain."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from goals.ruler import Ruler, draw
from skewboost import (
    CascadeClassifier,
    CodeMatrixClassifier,
    CSRAClassifier,
    GoalSearchCV,
    MinimumRiskClassifier,
    SkewBoostClassifier,
)
from skewboost.errors import InputError, SkewBoostError
from skewboost.goals.search import OutOfFoldScores
from skewboost.io import dumps, loads
from skewboost.meta.inner_labels import own_pos_label, with_pos_label
from skewboost.metrics import Counts

WEAK = pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")
FEW = {"cv": 2, "max_points": 4, "random_state": 0}


def nearly_tied(n=300, seed=0):
    """Two classes, the first of which is rarer by one row."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat((0, 1), (n // 2, n // 2 + 1)))
    return rng.normal(size=(len(y), 2)) * (1 + y[:, None]) + y[:, None], y


# ----------------------------------------------------------------------------------------- the positive class


class Renumbering(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Of another package: fits to the numbers of the classes."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y):
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, numbers)
        return self

    def decision_function(self, X):
        return self.estimator_.decision_function(X)


@pytest.mark.parametrize(
    ("estimator", "name", "set_to"),
    [
        (CSRAClassifier(), "pos_label", "a"),
        (make_pipeline(StandardScaler(), CSRAClassifier()), "csraclassifier__pos_label", "a"),
        (BaggingClassifier(CSRAClassifier()), "estimator__pos_label", 0),  # fits to the numbers of the classes
        (MinimumRiskClassifier(CSRAClassifier()), "estimator__pos_label", "a"),
        (CodeMatrixClassifier(CSRAClassifier()), "estimator__pos_label", None),  # whose columns are other classes
        (Renumbering(CSRAClassifier()), "estimator__pos_label", None),
        (CSRAClassifier(pos_label="b"), "pos_label", "b"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_all_parts_get_it_that_see_the_classes(estimator, name, set_to):
    classes = np.array(["a", "b"])
    copy = with_pos_label(estimator, classes, classes[0])
    assert copy.get_params()[name] == set_to
    assert own_pos_label(copy) == (set_to if name == "pos_label" else own_pos_label(copy))
    assert clone(estimator).get_params()[name] in (None, "b")  # the given one is as before
    assert with_pos_label(estimator, np.array(["a", "b", "c"]), None).get_params()[name] in (None, "b")


@WEAK
def test_the_estimator_has_that_of_the_search_in_every_fold():
    X, y = nearly_tied()
    seen = []

    class Spy(CSRAClassifier):
        def fit(self, X, y, *args, **kwargs):
            super().fit(X, y, *args, **kwargs)
            seen.append(self.pos_label_)
            return self

    for tune, cv in (("threshold", 3), ("cost", 2)):
        clf = GoalSearchCV(Spy(n_estimators=3), "recall >= 50%", tune=tune, **{**FEW, "cv": cv}).fit(X, y)
        assert clf.pos_label_ == 0
        assert set(seen) == {0}
        seen.clear()


@WEAK
def test_a_file_with_another_one_of_the_estimator_is_refused():
    X, y = nearly_tied()
    clf = GoalSearchCV(CSRAClassifier(n_estimators=2), "recall >= 50%", tune="threshold", **FEW).fit(X, y)
    file = json.loads(dumps(clf))
    inner = file["model"]["estimator"]
    assert file["model"]["pos_label"] == inner["pos_label"] == inner["model"]["link"]["positive"] == 0
    inner["pos_label"] = inner["model"]["link"]["positive"] = 1
    with pytest.raises(InputError, match=r"model\.pos_label must be that of the estimator"):
        loads(json.dumps(file))


@WEAK
def test_it_is_that_of_the_estimator_if_only_this_has_one():
    X, y = draw(400, 0)
    inner = make_pipeline(StandardScaler(), CSRAClassifier(n_estimators=3, pos_label=0))
    clf = GoalSearchCV(inner, "recall >= 0.5", tune="threshold", **FEW).fit(X, y)
    assert clf.pos_label_ == 0  # although it is the common one
    same = GoalSearchCV(CSRAClassifier(n_estimators=3), "recall >= 0.5", tune="threshold", pos_label=0, **FEW).fit(X, y)
    np.testing.assert_array_equal(same.predict(X), clf.predict(X))
    with pytest.raises(InputError, match=r"csraclassifier__pos_label=0 of the estimator differs from the pos_label of"):
        clone(clf).set_params(pos_label=1).fit(X, y)
    named = np.array(["a", "b"])[y]
    bagged = BaggingClassifier(CSRAClassifier(n_estimators=3, pos_label=0), n_estimators=2, random_state=0)
    assert GoalSearchCV(bagged, "recall >= 0.5", tune="threshold", **FEW).fit(X, named).pos_label_ == "a"


@WEAK
@pytest.mark.parametrize("goal", ["recall >= 60%", "precision >= 40%", "false_alarm_rate <= 40%", "accuracy >= 50%"])
def test_new_names_of_the_classes_change_nothing(goal):
    X, y = nearly_tied()
    clf = GoalSearchCV(LogisticRegression(), goal, tune="threshold", pos_label=1, **FEW).fit(X, y)
    for names in (("no", "yes"), ("yes", "no"), (7, -3)):
        named = clone(clf).set_params(pos_label=names[1]).fit(X, np.array(names)[y])
        assert named.threshold_ == pytest.approx(clf.threshold_, abs=1e-5)  # the regression of -X is not equal to a bit
        np.testing.assert_array_equal(named.predict(X) == names[1], clf.predict(X) == 1)
        assert named.certificate_.counts == clf.certificate_.counts
    # of the other class, recall is specificity
    other = GoalSearchCV(LogisticRegression(), "recall >= 60%", then="precision", pos_label=0, **FEW).fit(X, y)
    turned = GoalSearchCV(LogisticRegression(), "specificity >= 60%", then="precision", pos_label=1, **FEW).fit(X, y)
    assert (other.pos_label_, turned.pos_label_) == (0, 1)
    assert other.certificate_.met
    assert turned.certificate_.met


# -------------------------------------------------------------------------------------------------- scores


class Broken(Ruler):
    """A ruler that cannot measure numbers above 3, or rows that it was not fitted to."""

    def __init__(self, cost=None, value=np.nan, unless_fitted=False):
        self.cost, self.value, self.unless_fitted = cost, value, unless_fitted

    def fit(self, X, y, sample_weight=None):
        self.known_ = np.asarray(X)[:, 0]
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        x = np.asarray(X)[:, 0]
        lost = ~np.isin(x, self.known_) if self.unless_fitted else x > 3
        return np.where(lost, self.value, super().decision_function(X))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("tune", ["threshold", "cost", "both"])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_scores_that_are_not_finite_decide_nothing(value, tune, confidence):
    X, y = draw(400, 0)
    clf = GoalSearchCV(Broken(value=value), "recall >= 0.5", tune=tune, confidence=confidence, **FEW)
    with pytest.raises(InputError, match=rf"scores of \d+ of \d+ rows are not finite \({value}\)"):
        clf.fit(X, y)
    assert not hasattr(clf, "certificate_")
    # none while searching: rows that are held out, and new ones
    low = X[:, 0] < 2.5
    clf.fit(X[low], y[low])
    for method in (clf.predict, clf.decision_function):
        with pytest.raises(InputError, match="scores of 1 of 2 rows are not finite"):
            method([[1.0], [4.0]])


def test_held_out_scores_that_are_not_finite_certify_nothing():
    X, y = draw(400, 0)
    late = np.arange(400) >= 200
    X[~late] -= 3.0 * (X[~late] > 3)
    clf = GoalSearchCV(Broken(), "recall >= 0.3", tune="threshold", holdout=late, **FEW)
    with pytest.raises(InputError, match=rf"scores of {(X[late] > 3).sum()} of 200 rows are not finite"):
        clf.fit(X, y)


def test_the_portfolio_and_the_cascade_refuse_them_too(monkeypatch):
    X, y = draw(400, 0)
    clf = SkewBoostClassifier(goal="recall >= 0.5", effort="quick", random_state=0)
    monkeypatch.setattr(SkewBoostClassifier, "_scores", lambda self, X: np.full((len(X), 1), np.nan))
    with pytest.raises(InputError, match="not finite"):
        clf.fit(X, y)
    cascade = CascadeClassifier(CSRAClassifier(n_estimators=3), n_stages=1, detection_rate=0.8, random_state=0)
    cascade.fit(X, y)
    monkeypatch.setattr(CSRAClassifier, "_decisions_of", lambda self, table: np.full(table.n_rows, np.nan))
    with pytest.raises(InputError, match="scores of 400 of 400 rows are not finite"):
        cascade.predict(X)


def test_thresholds_are_between_scores_however_large():
    positive, scores = np.array([False, True, False, True]), np.array([-1.7e308, 1.7e308, 5e-324, 0.0])
    thresholds, counts = Counts.at_thresholds(positive, scores)
    for k, threshold in enumerate(thresholds):
        assert Counts.of(positive, scores >= threshold) == counts[k].map(float)
    for value in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            Counts.at_thresholds(positive, np.append(scores[:3], value))
        with pytest.raises(InputError, match="not finite"):
            OutOfFoldScores(positive, np.append(scores[:3], value), None, 0.0)


class Moody(Ruler):
    """Its scores are others each time."""

    def decision_function(self, X):
        self.asked_ = getattr(self, "asked_", 0) + 1
        return super().decision_function(X) + np.random.default_rng(self.asked_).normal(size=len(X))


Moody.__init__ = Ruler.__init__


@pytest.mark.parametrize("tune", ["threshold", "cost", "both"])
def test_no_certificate_for_scores_that_change(tune):
    X, y = draw(600, 0)
    clf = GoalSearchCV(Moody(), "recall >= 0.5", tune=tune, **FEW)
    with pytest.raises(InputError, match=r"Of \d+ of the \d+ rows that are held out for the certificate, predict says"):
        clf.fit(X, y)
    assert not hasattr(clf, "estimator_")


@WEAK
def test_a_certificate_has_a_small_p_value():
    X, y = draw(600, 0)
    clf = GoalSearchCV(CSRAClassifier(n_estimators=3), "recall >= 0.5", tune="threshold", **FEW).fit(X, y)
    certificate = clf.certificate_
    assert certificate.met
    for p_value in (0.11, 1.0, np.nan):
        with pytest.raises(InputError, match=r"says that recall >= 0\.5 is met, but its p-value is"):
            dataclasses.replace(certificate, p_value=p_value)
        assert not dataclasses.replace(certificate, p_value=p_value, met=False).met
    text = dumps(clf)
    written = f'"p_value":{certificate.p_value!r}'
    assert text.count(written) == 1
    with pytest.raises(InputError, match=r"certificate.*its p-value is 0\.5"):
        loads(text.replace(written, '"p_value":0.5'))


# -------------------------------------------------------------------------------- weights and parameters


@WEAK
@pytest.mark.parametrize("weight", [1.0, 3.0, 1 / 400])
def test_equal_weights_are_the_same_as_none(weight):
    X, y = draw(400, 1)
    for clf in (
        SkewBoostClassifier(goal="recall >= 0.5", effort="quick", random_state=0),
        GoalSearchCV(CSRAClassifier(n_estimators=3), "recall >= 0.5", **FEW),
    ):
        clf.fit(X, y)
        scores, certificate = clf.decision_function(X), clf.certificate_
        clf.fit(X, y, sample_weight=np.full(400, weight))
        np.testing.assert_array_equal(clf.decision_function(X), scores)
        assert clf.certificate_ == certificate


@WEAK
def test_a_weight_of_zero_is_an_absent_row():
    X, y = draw(500, 1)
    weights = np.where(np.arange(500) % 5 == 0, 0.0, 1.0 + np.arange(500) % 3)
    for clf in (
        SkewBoostClassifier(goal="recall >= 0.5", effort="quick", random_state=0),
        GoalSearchCV(Ruler(), "recall >= 0.5", **FEW),
    ):
        weighted = clone(clf).fit(X, y, sample_weight=weights)
        absent = clone(clf).fit(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
        np.testing.assert_array_equal(weighted.decision_function(X), absent.decision_function(X))
        assert weighted.certificate_ == absent.certificate_


def parts(estimator):
    return [estimator, make_pipeline(StandardScaler(), estimator)]


@pytest.mark.parametrize("estimator", parts(SkewBoostClassifier(cost=5, reject_cost=0.3)), ids=["alone", "pipeline"])
@pytest.mark.parametrize("tune", ["threshold", "both"])
def test_costs_of_referral_have_no_effect_on_a_goal(estimator, tune):
    X, y = draw(300, 0)
    with pytest.raises(InputError, match=r"reject_cost=0\.3 of the estimator has no effect, because GoalSearchCV"):
        GoalSearchCV(estimator, "recall >= 50%", tune=tune).fit(X, y)


@pytest.mark.parametrize("cost", [5, "balanced", {0: 1, 1: 3}])
def test_costs_that_the_threshold_undoes_are_refused(cost):
    X, y = draw(300, 0)
    for tune in ("auto", "both"):
        with pytest.raises(InputError, match=r"of the estimator has no effect: .* Leave it at None.*pass cost to the"):
            GoalSearchCV(SkewBoostClassifier(cost=cost), "recall >= 50%", tune=tune).fit(X, y)


def test_a_goal_within_a_goal_is_refused():
    X, y = draw(300, 0)
    for estimator in parts(SkewBoostClassifier(goal="recall >= 60%")):
        with pytest.raises(InputError, match="goal='recall >= 60%': the estimator has a goal of its own"):
            GoalSearchCV(estimator, "recall >= 50%").fit(X, y)


def test_splitters_that_number_all_rows_are_refused():
    X, y = draw(500, 0)
    split = PredefinedSplit(np.arange(500) % 3)
    for clf in (
        SkewBoostClassifier(goal="recall >= 60%", cv=split),
        GoalSearchCV(SkewBoostClassifier(cv=split), "recall >= 60%"),
        GoalSearchCV(Ruler(), "recall >= 60%", cv=split),
    ):
        with pytest.raises(InputError, match="PredefinedSplit, which numbers the rows of X, but with a certificate"):
            clf.fit(X, y)
        with pytest.raises(InputError, match="PredefinedSplit"):
            clf.fit(X, y, groups=np.arange(500) // 2)
    # without a certificate no row is missing
    uncertified = GoalSearchCV(Ruler(), "recall >= 60%", tune="threshold", cv=split, confidence=None).fit(X, y)
    assert uncertified.counts_.total == 500


def test_row_numbers_are_of_all_rows_or_refused():
    # rows of weight 0 are left out, and the numbers of the others change
    X, y = draw(200, 0)
    weights, folds = np.where(np.arange(200) < 10, 0.0, 1.0), list(StratifiedKFold(2).split(X, y))
    for cv in (folds, PredefinedSplit(np.arange(200) % 2)):
        clf = GoalSearchCV(Ruler(), "recall >= 0.5", confidence=None, cv=cv, random_state=0)
        with pytest.raises(InputError, match="numbers all rows, but those of sample_weight 0 are left out"):
            clf.fit(X, y, sample_weight=weights)
    kept = weights > 0  # the remedies
    clf.set_params(cv=list(StratifiedKFold(2).split(X[kept], y[kept]))).fit(X[kept], y[kept])
    clf.set_params(cv=StratifiedKFold(2)).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "clf",
    [
        SkewBoostClassifier(effort="quick", goal="recall >= 50%"),
        GoalSearchCV(SkewBoostClassifier(effort="quick"), "recall >= 50%", confidence=None),
        GoalSearchCV(CSRAClassifier(n_estimators=2), "recall >= 50%", confidence=None),
    ],
    ids=["portfolio with a goal", "goal of a portfolio", "goal of a booster"],
)
def test_weights_and_positive_classes_of_other_kinds_are_refused_in_words(clf):
    X, y = np.arange(40.0)[:, None], np.arange(40) % 3 == 0
    for weights in ("x", {}, [None] * 40, 1j):
        with pytest.raises(SkewBoostError):
            clone(clf).fit(X, y, sample_weight=weights)
    inner = clone(clf.estimator) if isinstance(clf, GoalSearchCV) else None
    for label in (np.array([0, 1]), [True], {}):
        with pytest.raises(InputError, match=r"pos_label=.* is not among the classes of y"):
            clone(clf).set_params(pos_label=label).fit(X, y)
        if inner is not None:
            with pytest.raises(InputError, match=r"pos_label=.* is not among the classes of y"):
                clone(clf).set_params(estimator=inner.set_params(pos_label=label)).fit(X, y)
