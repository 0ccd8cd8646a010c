"""A certificate counts what `predict` answers on the held-out rows, whatever is composed with whatever."""

from __future__ import annotations

from itertools import product
from zlib import crc32

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import skewboost.goals.cascade
import skewboost.goals.goal_search
from program_runners import run_python
from skewboost import CascadeClassifier, CSRAClassifier, GoalSearchCV, SkewBoostClassifier, UnderBaggingClassifier
from skewboost.goals.holdout import hold_out
from skewboost.goals.rows import Units
from skewboost.io import dumps, loads
from skewboost.metrics import Counts
from skewboost.metrics.counts import ReferralCounts

pytestmark = [
    pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning"),
    pytest.mark.filterwarnings("ignore::skewboost.goals.GoalNotMetWarning"),
    pytest.mark.filterwarnings("ignore::skewboost.goals.RepeatedRowsWarning"),
]

FEW = {"confidence": 0.6, "allow_unmet": True, "max_points": 4, "random_state": 0}


def flagship(goal, **params):
    if params.get("cv") is None:
        params.pop("cv", None)
    return SkewBoostClassifier(goal=goal, confidence=0.6, effort="quick", random_state=0, **params)


def searching(estimator, tune):
    return lambda goal, **params: GoalSearchCV(estimator, goal, tune=tune, **{"cv": 2, **FEW, **params})


def cascade(goal, **params):
    params.pop("cv", None)  # it has no folds, and its goals are those of its stages
    return CascadeClassifier(CSRAClassifier(n_estimators=5), n_stages=2, detection_rate=0.8, random_state=0, **params)


ESTIMATORS = {
    "SkewBoost with a goal": flagship,
    "search around SkewBoost": searching(SkewBoostClassifier(effort="quick", random_state=0), "threshold"),
    "search around CSRA": searching(CSRAClassifier(n_estimators=5), "both"),
    "search around a pipeline": searching(make_pipeline(StandardScaler(), CSRAClassifier(n_estimators=5)), "threshold"),
    "search around under-bagging": searching(UnderBaggingClassifier(n_estimators=2, random_state=0), "threshold"),
    "search around a regression": searching(LogisticRegression(), "threshold"),
    "search for the cost of a regression": searching(LogisticRegression(), "cost"),
    "cascade": cascade,
}
GOALS = [
    "recall >= 50%",
    "precision >= 35%",
    "accuracy >= 40%",
    "false_alarm_rate <= 70%",
    "precision >= 35% and referred_share <= 80%",
]
BALANCES = [(1000, 1001), (199, 200), (100, 101), (50, 50), (40, 160), "drift"]
SPLITS = ["folds", "in time", "stratified", "groups", "few groups", "repeated rows"]
WEIGHTS = ["none", "ones", "by chance"]
LABELS = [(0, 1), ("yes", "no")]

PRODUCT = [
    case
    for case in product(ESTIMATORS, GOALS, BALANCES, SPLITS, WEIGHTS, LABELS, [None, 0, 1])
    if not (case[0] == "search around a pipeline" and case[4] == "by chance")  # its fit takes no weights
    and not (case[0] == "search for the cost of a regression" and "referred" in case[1])  # which needs two thresholds
]


def drawn(n):
    """So many cases of all, each value of each factor among them."""
    rng = np.random.default_rng(1)
    return [PRODUCT[k] for k in rng.choice(len(PRODUCT), n, replace=False)]


def rows_of(balance, split, weights, labels, seed):
    """Rows of two classes that overlap, of which one varies more than the other."""
    rng = np.random.default_rng(seed)
    if balance == "drift":  # 45 % of the earlier rows are positive, and 66 % of the later ones
        y = np.concatenate([rng.permutation(np.repeat((0, 1), counts)) for counts in ((143, 117), (48, 92))])
    else:
        y = rng.permutation(np.repeat((0, 1), balance))
    X = rng.normal(size=(len(y), 2)) * np.where(y, 2.0, 1.0)[:, None] + 1.5 * y[:, None]
    told = {}
    if split == "repeated rows":
        often = np.where(rng.random(len(y)) < 0.1, 3, 1)
        X, y = np.repeat(X, often, axis=0), np.repeat(y, often)
    if split in ("groups", "few groups"):
        told["groups"] = rng.integers(0, 12 if split == "few groups" else len(y) // 2, len(y))
    if weights != "none":
        told["sample_weight"] = np.ones(len(y)) if weights == "ones" else rng.integers(1, 4, len(y)).astype(float)
    return X, np.array(labels)[y], told


def counted(y, answers, positive, referred, weights):
    """Count rows by what they are and what `predict` says of them."""

    def total(is_positive, answer):
        return float(weights[((y == positive) == is_positive) & answer].sum())

    flagged = answers == positive
    decided = np.ones(len(y), dtype=bool) if referred is None else answers != referred
    cells = [
        total(True, flagged), total(False, flagged), total(True, decided & ~flagged), total(False, decided & ~flagged)
    ]  # fmt: skip
    return Counts(*cells) if referred is None else ReferralCounts(*cells, total(True, ~decided), total(False, ~decided))


@pytest.fixture
def held(monkeypatch):
    """The rows that are held out, as searches and cascades get them."""
    found = []

    def spy(*args):
        found.append(hold_out(*args))
        return found[-1]

    for module in (skewboost.goals.goal_search, skewboost.goals.cascade):
        monkeypatch.setattr(module, "hold_out", spy)
    return found


def check(clf, held, X):
    searched, held_out, _, _ = held[-1]
    certificate, positive, referred = clf.certificate_, clf.pos_label_, getattr(clf, "reject_label_", None)
    rows = held_out.rows
    answers = clf.predict(rows.X)
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    counts = counted(rows.y, answers, positive, referred, weights)
    assert list(vars(certificate.counts).values()) == pytest.approx(list(vars(counts).values()))
    evidence = counted(rows.y, answers, positive, referred, held_out.examples.astype(float))
    assert certificate.evidence.map(float) == evidence
    np.testing.assert_array_equal(held_out.positive, rows.y == positive)
    assert not set(searched.units) & set(rows.units)
    assert Units.of(rows, held_out.positive).total_weight(held_out.examples, held_out.positive).max() <= 1
    # what is certified is shown by these counts
    p_value = float(certificate.goal.p_value(evidence, getattr(clf, "cost_matrix_", None)))
    assert certificate.p_value == p_value
    assert not certificate.met or p_value <= 1 - certificate.confidence + 1e-12
    # the sign of the score, the file and the program say the same
    answers = clf.predict(X)
    scores = clf.decision_function(X)
    decided = slice(None) if referred is None else answers != referred
    np.testing.assert_array_equal(scores[decided] > 0, answers[decided] == clf.classes_[1])
    inner = getattr(clf, "estimator_", clf)
    if isinstance(inner, LogisticRegression | Pipeline):
        return
    again = loads(dumps(clf))
    assert again.pos_label_ == positive
    np.testing.assert_array_equal(again.predict(X), answers)
    np.testing.assert_array_equal(again.decision_function(X), scores)
    if not isinstance(inner, UnderBaggingClassifier | CascadeClassifier):
        assert inner.pos_label_ == positive
        assert run_python(clf, X[:40]).label == answers[:40].tolist()


# Classes that a part of the rows has in another order of frequency than all rows
TIES = [
    ("recall >= 50%", (1000, 1001), "folds", 0),
    ("false_alarm_rate <= 70%", (199, 200), "folds", 0),
    ("precision >= 35%", (100, 101), "folds", 0),
    ("accuracy >= 40%", (50, 50), "folds", 1),
    ("recall >= 50%", "drift", "in time", 0),
]


@pytest.mark.parametrize("name", ["SkewBoost with a goal", "search around CSRA"])
@pytest.mark.parametrize(("goal", "balance", "split", "positive"), TIES, ids=lambda value: str(value))
def test_the_positive_class_is_that_of_all_rows(name, goal, balance, split, positive, held):
    X, y, _ = rows_of(balance, split, "none", (0, 1), 0)
    clf = ESTIMATORS[name](goal, **({"cv": TimeSeriesSplit(3)} if split == "in time" else {})).fit(X, y)
    if balance == "drift":
        assert y.mean() > 0.5 > y[:260].mean()
    assert clf.pos_label_ == positive
    check(clf, held, X)


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("name", "goal", "balance", "split", "weights", "labels", "place"), drawn(300), ids=lambda value: str(value)
)
def test_a_certificate_counts_what_predict_answers(name, goal, balance, split, weights, labels, place, held):
    X, y, told = rows_of(balance, split, weights, labels, crc32(f"{name} {goal}".encode()))
    cv = {"in time": TimeSeriesSplit(3), "stratified": StratifiedKFold(2)}.get(split)
    params = {"pos_label": None if place is None else labels[place], **({} if cv is None else {"cv": cv})}
    clf = ESTIMATORS[name](goal, **params)
    try:
        clf.fit(X, y, **told)
    except ValueError as error:
        said = str(error)
        assert any(words in said for words in ("allow_unmet=True", "too few", "independent example", "Add examples"))
        assert not hasattr(clf, "certificate_")
        return
    check(clf, held, X)
