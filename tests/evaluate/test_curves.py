"""Learning curves are what the model of each round does, and the weights are those that rounds were fitted under."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as sk
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    AdaMECClassifier,
    LogitBoostClassifier,
    RealBoostClassifier,
    RUSBoostClassifier,
    WeightBoostClassifier,
    catalogue,
)
from skewboost.evaluate import staged_curve
from skewboost.evaluate.staged_curves import exponential_loss
from skewboost.evaluate.stages import largest_margins, margins_of_classes
from skewboost.metrics import expected_cost
from support import awkward_data

TWO_CLASSES = [e.estimator for e in catalogue() if hasattr(e.estimator, "staged_predict")]
X, Y = awkward_data(160)
HALVES = [(np.arange(0, 160, 2), np.arange(1, 160, 2)), (np.arange(1, 160, 2), np.arange(0, 160, 2))]


def everything(curve):
    return curve.as_frame()["value"].to_numpy()


def test_every_round_is_measured_as_if_it_were_the_last():
    curve = staged_curve(RealBoostClassifier(n_estimators=6), X, Y, cv=HALVES, cost=7)
    for k, (train, test) in enumerate(HALVES):
        whole = RealBoostClassifier(n_estimators=6).fit(X[train], Y[train])
        for part, rows in (("train", train), ("test", test)):
            for m in (1, 4, 6):
                said, truth = whole.truncated(m).predict(X[rows]), Y[rows]
                expected = {
                    "error": 1 - metrics.accuracy_score(truth, said),
                    "precision": metrics.precision_score(truth, said, zero_division=np.nan),
                    "recall": metrics.recall_score(truth, said),
                    "f1": metrics.f1_score(truth, said),
                    "f1_negative": metrics.f1_score(truth, said, pos_label=0),
                    "negative_predictive_value": metrics.precision_score(
                        truth, said, pos_label=0, zero_division=np.nan
                    ),
                    "cost": expected_cost(truth, said, 7),
                }
                for name, value in expected.items():
                    assert curve.values(name, part)[k, m - 1] == pytest.approx(value, abs=1e-12, nan_ok=True)


def test_the_exponential_loss_of_training_is_the_one_that_adaboost_notes():
    curve = staged_curve(AdaBoostClassifier(n_estimators=15), X, Y, cv=HALVES)
    for k, (train, _) in enumerate(HALVES):
        noted = [r["loss"] for r in AdaBoostClassifier(n_estimators=15).fit(X[train], Y[train]).history_]
        np.testing.assert_allclose(curve.values("exponential_loss", "train")[k], noted, rtol=1e-9)


def test_weights_are_those_of_the_formula():
    """exp(-yF) of the rounds before for AdaBoost; P (1 - P) for LogitBoost."""
    formulas = {
        AdaBoostClassifier: lambda yF: np.exp(-yF),
        LogitBoostClassifier: lambda yF: 1 / (1 + np.exp(2 * yF)) / (1 + np.exp(-2 * yF)),
    }
    for booster, formula in formulas.items():
        clf = booster(n_estimators=8)
        curve = staged_curve(clf, X, Y, cv=HALVES)
        train = HALVES[0][0]
        y = np.where(Y[train] == 1, 1, -1)
        before = [np.zeros(len(train)), *clf.fit(X[train], Y[train]).staged_decision_function(X[train])][:-1]
        for m, F in enumerate(before):
            weights = formula(y * F)
            weights *= len(y) / weights.sum()
            expected = np.quantile(weights, curve.weight_levels, method="inverted_cdf")
            np.testing.assert_allclose(curve.weight_quantiles[0, m], expected, rtol=1e-8)
            share = weights[y > 0].sum() / len(y)
            assert curve.weight_of_positives[0, m] == pytest.approx(share, rel=1e-8)
        np.testing.assert_allclose(curve.weight_quantiles[:, 0], 1.0)


@pytest.mark.sample(12)
@pytest.mark.parametrize("booster", TWO_CLASSES)
def test_all_boosters_of_two_classes_have_curves_margins_and_weights(booster):
    clf = booster(n_estimators=4) if "n_estimators" in booster().get_params() else booster()
    curve = staged_curve(clf, X, Y, cv=3, random_state=0)
    assert set(curve.margin_quantiles) == {"train", "test"}
    if curve.margins == "votes":
        assert np.abs(curve.margin_quantiles["test"]).max() <= 1.0
    least, half = curve.margin_quantiles["train"][:, :, 0], curve.margin_quantiles["train"][:, :, 3]
    assert (least <= half).all()
    assert curve.weight_quantiles.shape == (3, len(curve.rounds), 5)
    assert np.nanmin(curve.weight_quantiles[:, :, -1]) >= 1.0 - 1e-12  # the largest is at least the mean
    # a margin is negative where the answer is wrong, unless costs move the decision
    assert ((curve.values("exponential_loss") > 0) & np.isfinite(curve.values("exponential_loss"))).all()


def test_the_curves_of_cuendet_and_labbi():
    """Figures 3-1 and 3-2: training error falls, easy examples lose attention, the largest weight climbs from one."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 100)
    Z = rng.normal(size=(200, 8)) + np.outer(y == -1, [1, 1, 1, 1, 1, 0.5, 0.5, 0.2])
    curve = staged_curve(RealBoostClassifier(n_estimators=60), Z, y, cv=4, random_state=0)
    assert curve.mean("error", "train")[-1] < 0.02 < curve.mean("error", "test")[-1] < 0.3
    quantiles = curve.weight_quantiles.mean(axis=0)
    np.testing.assert_allclose(quantiles[0], 1.0)
    assert (quantiles[[20, 40, 59], 0] < quantiles[[10, 20, 40], 0]).all()
    assert (quantiles[[20, 40, 59], 1] < quantiles[[10, 20, 40], 1]).all()
    assert quantiles[10:, -1].min() > 3


def test_the_exponential_loss_ends_before_it_overflows():
    assert exponential_loss(np.array([0.0, np.log(2.0)]), np.array([1.0, 2.0])) == pytest.approx(2 / 3)
    assert exponential_loss(np.array([-1e5, 3.0]), None) == pytest.approx(np.exp(700.0))
    assert exponential_loss(np.array([1e5, 2e5]), None) == 0.0


def test_a_margin_is_the_balance_of_votes():
    train = HALVES[0][0]
    curve = staged_curve(AdaBoostClassifier(n_estimators=7), X, Y, cv=HALVES)
    clf = AdaBoostClassifier(n_estimators=7).fit(X[train], Y[train])
    steps = np.array([r["step"] for r in clf.history_])
    m = np.where(Y[train] == 1, 1, -1) * clf.decision_function(X[train]) / np.abs(steps).sum()
    expected = np.quantile(m, curve.margin_levels, method="inverted_cdf")
    np.testing.assert_allclose(curve.margin_quantiles["train"][0, -1], expected, atol=1e-9)
    assert curve.margins == "votes"
    assert staged_curve(WeightBoostClassifier(n_estimators=3), X, Y, cv=HALVES).margins == "raw"


def test_models_that_stop_early_stay_what_they_are_and_have_no_more_weights():
    clf = RealBoostClassifier(n_estimators=60, early_stopping=2, random_state=1)
    curve = staged_curve(clf, X, Y, cv=4, random_state=0)
    assert len(set(curve.n_rounds.tolist())) > 1
    short = int(np.argmin(curve.n_rounds))
    n = curve.n_rounds[short]
    assert (curve.values("error")[short, n:] == curve.values("error")[short, n - 1]).all()
    assert np.isnan(curve.weight_quantiles[short, n:]).all()
    assert np.isfinite(curve.weight_quantiles[short, :n]).all()


def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row():
    weights = np.ones(160)
    weights[:40], weights[40:60] = 2.0, 0.0
    copies = np.repeat(np.arange(160), weights.astype(int))
    doubled = [tuple(np.flatnonzero(np.isin(copies, rows)) for rows in split) for split in HALVES]
    clf = LogitBoostClassifier(n_estimators=5)
    one = staged_curve(clf, X, Y, cv=HALVES, sample_weight=weights, cost=3)
    other = staged_curve(clf, X[copies], Y[copies], cv=doubled, cost=3)
    np.testing.assert_allclose(everything(one), everything(other), rtol=1e-9, atol=1e-12)


def test_jobs_do_not_matter_and_seeds_do():
    clf = RUSBoostClassifier(n_estimators=4)
    one, two, other = (
        everything(staged_curve(clf, X, Y, cv=3, repeats=2, n_jobs=n, random_state=s))
        for n, s in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_calibration_inside_a_fit_is_not_taken_for_its_rounds():
    plain, calibrated = (
        staged_curve(AdaMECClassifier(n_estimators=5, calibrate=c), X, Y, cv=HALVES) for c in (None, "sigmoid")
    )
    np.testing.assert_array_equal(plain.weight_quantiles, calibrated.weight_quantiles)


@pytest.mark.parametrize(
    "clf",
    [
        sk.AdaBoostClassifier(n_estimators=3, random_state=0),
        sk.GradientBoostingClassifier(n_estimators=3, random_state=0),
        sk.HistGradientBoostingClassifier(max_iter=3, random_state=0),
        make_pipeline(StandardScaler(), sk.GradientBoostingClassifier(n_estimators=3, random_state=0)),
    ],
)
def test_boosters_of_scikit_learn_have_curves_but_no_weights(clf):
    Z = np.nan_to_num(X)
    curve = staged_curve(clf, Z, Y, cv=HALVES)
    assert curve.weight_quantiles is None
    assert curve.margins == "raw"
    train, test = HALVES[1]
    assert curve.values("error")[1, -1] == pytest.approx(1 - clf.fit(Z[train], Y[train]).score(Z[test], Y[test]))
    assert len(curve.rounds) == 3
    assert not [m for m in curve.as_frame()["measure"].unique() if m.startswith("weight")]


def test_a_pipeline_hands_weights_to_its_booster_and_weights_are_seen_through_it():
    plain = staged_curve(AdaBoostClassifier(n_estimators=4), X, Y, cv=HALVES, sample_weight=1 + Y)
    piped = make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=4))
    piped = staged_curve(piped, X, Y, cv=HALVES, sample_weight=1 + Y)
    np.testing.assert_allclose(plain.weight_quantiles, piped.weight_quantiles, rtol=1e-9)


def test_many_classes_have_error_and_cost():
    three = Y + (X[:, 1] > 0.5)
    matrix = np.array([[0, 1, 2], [3, 0, 4], [9, 5, 0]])
    curve = staged_curve(AdaBoostMHClassifier(n_estimators=4), X, three, cv=HALVES, cost=matrix)
    train, test = HALVES[0]
    said = AdaBoostMHClassifier(n_estimators=4).fit(X[train], three[train]).predict(X[test])
    assert curve.values("cost")[0, -1] == pytest.approx(matrix[three[test], said].mean())
    assert curve.values("error")[0, -1] == pytest.approx((three[test] != said).mean())
    assert "precision" not in curve.measures


@pytest.mark.parametrize("booster", [AdaBoostMHClassifier, AdaC2M1Classifier])
def test_margins_of_many_classes_are_the_balance_of_their_votes(booster):
    """[cuendet2002] §1.3: the votes for the class of a row minus the most votes for any other, over all votes."""
    three = Y + (X[:, 1] > 0.5)
    clf = booster(estimator="tree", n_estimators=6)
    curve = staged_curve(clf, X, three, cv=HALVES)
    assert curve.margins == "votes"
    train, test = HALVES[0]
    votes = np.zeros((len(test), 3))
    most, stages = np.zeros(len(test)), clf.fit(X[train], three[train]).staged_decision_function(X[test])
    for m, F in enumerate(stages):
        most += np.ptp(F - votes, axis=1)
        votes = F
        others = [max(row[k] for k in range(3) if k != y) for row, y in zip(votes, three[test])]
        margins = (votes[range(len(test)), three[test]] - others) / most
        assert np.abs(margins).max() <= 1 + 1e-12
        expected = np.quantile(margins, curve.margin_levels, method="inverted_cdf")
        np.testing.assert_allclose(curve.margin_quantiles["test"][0, m], expected, atol=1e-12)
    if booster is AdaC2M1Classifier:  # then all votes of a round are α
        np.testing.assert_allclose(most, sum(r["step"] for r in clf.history_))


def test_margins_of_many_classes_of_other_libraries_are_raw():
    three, Z = Y + (X[:, 1] > 0.5), np.nan_to_num(X)
    clf = sk.GradientBoostingClassifier(n_estimators=3, random_state=0)
    curve = staged_curve(clf, Z, three, cv=HALVES)
    assert curve.margins == "raw"
    train, test = HALVES[0]
    F = clf.fit(Z[train], three[train]).decision_function(Z[test])
    expected = min(row[y] - max(np.delete(row, y)) for row, y in zip(F, three[test]))
    assert curve.margin_quantiles["test"][0, -1, 0] == pytest.approx(expected)


def test_two_votes_of_opposite_sign_have_the_margin_of_one():
    rng = np.random.default_rng(0)
    g, y = rng.normal(size=(5, 40)), rng.integers(0, 2, 40)
    F = np.stack((-g / 2, g / 2), axis=2)
    margins = margins_of_classes(F.sum(axis=0), y) / sum(map(largest_margins, F))
    np.testing.assert_allclose(margins, np.where(y == 1, 1, -1) * g.sum(axis=0) / np.abs(g).sum(axis=0))


def test_the_positive_class_is_the_one_the_estimator_was_told():
    rare = staged_curve(AdaBoostClassifier(n_estimators=3), X, Y, cv=HALVES)
    other = staged_curve(AdaBoostClassifier(n_estimators=3, pos_label=0), X, Y, cv=HALVES)
    assert (rare.pos_label, other.pos_label) == (1, 0)
    np.testing.assert_allclose(rare.values("recall"), other.values("specificity"))


def test_best_round_is_the_first_best_and_knows_what_is_better():
    curve = staged_curve(RealBoostClassifier(n_estimators=12), X, Y, cv=4, random_state=0)
    assert curve.best_round("error") == 1 + np.argmin(curve.mean("error"))
    assert curve.best_round("f1") == 1 + np.nanargmax(curve.mean("f1"))


def test_one_fit_per_fold():
    class Counting(AdaBoostClassifier):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            type(self).fits += 1
            return super().fit(X, y, sample_weight)

    staged_curve(Counting(n_estimators=5), X, Y, cv=3, repeats=2)
    assert Counting.fits == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": LogisticRegression()}, "has no method staged_predict.*Pass a booster"),
        ({"estimator": GridSearchCV(AdaBoostClassifier(), {})}, "Or pass its estimator, AdaBoost.*, on its own"),
        ({"estimator": AdaBoostClassifier}, r"is a class. Pass an instance: AdaBoostClassifier\(\)"),
        ({"estimator": 3}, "estimator=3 is not a classifier"),
        ({"cv": 1}, "cv=1 must be 2 folds or more"),
        ({"cv": 60}, "cv=60 folds need 60 rows of each class, but 1 has only"),
        ({"cv": KFold(3), "repeats": 2}, "repeats=2 has no effect"),
        ({"cv": [(range(500), [0])]}, "row numbers from 0 to 159"),
        ({"repeats": 0}, "repeats=0 must be"),
        ({"cost": -1}, "cost=-1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"verbose": -1}, "verbose=-1"),
        ({"y": np.zeros(160)}, "only one class"),
        ({"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\)"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(change, message):
    given = {"estimator": AdaBoostClassifier(n_estimators=2), "X": X, "y": Y, "cv": 3, **change}
    with pytest.raises(ValueError, match=message):
        staged_curve(**given)


def test_asking_for_what_was_not_measured_names_what_was():
    curve = staged_curve(AdaBoostClassifier(n_estimators=2), X, Y, cv=HALVES)
    with pytest.raises(ValueError, match=r"measure='roc' is not a measure\. Choose one of error"):
        curve.mean("roc")
    with pytest.raises(ValueError, match="part='valid' must be 'train' or 'test'"):
        curve.mean("error", "valid")


def test_verbose_tells_of_every_fit(capsys):
    staged_curve(AdaBoostClassifier(n_estimators=2), X, Y, cv=3, verbose=2)
    assert "3/3" in capsys.readouterr().err
