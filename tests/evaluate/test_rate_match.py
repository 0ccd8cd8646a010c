"""A rate is matched on the mean over the folds, at a cost that is found, and the result says what it is."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from skewboost import AdaC2Classifier, AdaC3Classifier, AdaCostClassifier, CSRAClassifier
from skewboost.datasets import make_fraud
from skewboost.evaluate import match_rate
from skewboost.metrics import confusion_counts
from support import awkward_data

X = np.arange(400.0)[:, None]
Y = (np.arange(400) % 4 == 0).astype(int)
FIRST_FOUR = np.arange(400) % 8 < 4
HALVES = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (FIRST_FOUR, ~FIRST_FOUR)]


class Share(ClassifierMixin, BaseEstimator):
    """Flags a share of the rows that depends on the costs, so that recall is about this share."""

    def __init__(self, cost=None, jumps=False, scale=False):
        self.cost, self.jumps, self.scale = cost, jumps, scale

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        miss, alarm = (self.cost[1], self.cost[0]) if isinstance(self.cost, dict) else (1.0, 1.0)
        self.share_ = 1.0 - 0.5 * math.exp(-(miss / alarm - 1.0)) if miss >= alarm else 0.5 * miss / alarm
        if self.jumps:
            self.share_ = 0.6 if miss < 3.0 * alarm else 0.9
        if self.scale and alarm == 1.0:
            self.share_ = min(self.share_, 0.7)
        return self

    def predict(self, X):
        return (X[:, 0] < 400 * self.share_).astype(int)


@pytest.mark.parametrize("rate", [0.3, 0.62, 0.8, 0.95])
def test_the_mean_is_within_the_tolerance(rate):
    found = match_rate(Share(), X, Y, rate=rate, tolerance=0.01, cv=HALVES, repeats=1)
    assert found.met
    assert abs(found.mean() - rate) <= 0.01 + 1e-12
    own = [
        confusion_counts(Y[test], found.estimator.fit(X[train], Y[train]).predict(X[test]), pos_label=1).recall
        for train, test in HALVES
    ]
    np.testing.assert_allclose(found.values(), own)
    assert found.estimator.cost == {1: found.cost, 0: 1.0}
    assert found.tried[0][0] == 1.0
    assert (found.cost, found.mean()) in found.tried
    assert len(found.tried) <= 40
    assert found.as_frame().shape == (len(found.tried), 2)
    assert "met at a cost of" in str(found)
    assert "on which the cost was chosen" in str(found)


def test_folds_are_those_of_repeated_stratified_cross_validation():
    """What one would compute by hand: the mean over all folds and runs."""
    table, labels = awkward_data(300)
    found = match_rate(
        CSRAClassifier(n_estimators=5), table, labels, rate=0.8, tolerance=0.02, cv=3, repeats=2, random_state=3
    )
    assert found.met
    assert found.n_fits == 6
    rng = np.random.RandomState(np.random.RandomState(3).randint(2**31 - 1, size=1)[0])
    recalls = []
    for _ in range(2):
        for train, test in StratifiedKFold(3, shuffle=True, random_state=rng.randint(2**31 - 1)).split(table, labels):
            model = CSRAClassifier(n_estimators=5, cost=found.cost, pos_label=1).fit(table[train], labels[train])
            recalls.append(confusion_counts(labels[test], model.predict(table[test]), pos_label=1).recall)
    np.testing.assert_allclose(found.values("recall"), recalls)
    assert found.mean("recall") == pytest.approx(np.mean(recalls))
    assert found.spread("recall") == pytest.approx(np.std(recalls, ddof=1))


def test_a_rate_that_is_jumped_over_is_not_met_and_the_closest_cost_is_returned():
    found = match_rate(Share(jumps=True), X, Y, rate=0.7, tolerance=0.01, cv=HALVES, repeats=1, max_points=25)
    assert not found.met
    assert len(found.tried) == 25
    assert found.mean() == pytest.approx(0.6)
    assert found.cost < 3.0
    assert min(abs(cost - 3.0) for cost, _ in found.tried) < 0.01
    assert "not met" in str(found)


def test_of_costs_that_reach_the_end_of_the_range_the_one_closest_to_equal_costs_is_found():
    """Where recall saturates, more cost only costs precision."""
    found = match_rate(Share(jumps=True), X, Y, rate=0.9, tolerance=0.1, cv=HALVES, repeats=1)
    assert found.met
    assert found.mean() == pytest.approx(0.9)
    assert found.cost == pytest.approx(3.0, rel=1e-3)


def test_some_rates_are_reached_by_cheaper_false_alarms_only():
    """[nyga2010] §3.3: every variant succeeded in the second run, "when costs of the less important class have been
    scaled down".
    """
    first, second = (
        match_rate(Share(scale=True), X, Y, rate=0.9, tolerance=0.01, vary=vary, cv=HALVES, repeats=1)
        for vary in ("miss", "false_alarm")
    )
    assert not first.met
    assert first.mean() == pytest.approx(0.7)
    assert second.met
    assert second.estimator.cost == {1: 1.0, 0: 1.0 / second.cost}


def test_costs_between_the_steps_are_tried_if_no_step_reaches_the_rate():
    """The share peaks at a cost of 60, between the steps at exp(3.2) = 24.5 and exp(6.4)."""

    class Peak(Share):
        def fit(self, X, y):
            super().fit(X, y)
            self.share_ = 1.0 - 0.05 * abs(math.log(self.cost[1] / self.cost[0] / 60.0))
            return self

    Peak.__init__ = Share.__init__
    found = match_rate(Peak(), X, Y, rate=1.0, tolerance=0.01, cv=HALVES, repeats=1)
    assert found.met
    assert 45.0 < found.cost < 80.0


@pytest.mark.parametrize(("low", "high"), [(0.0012, 0.0014), (0.00124, 0.00126)])
def test_costs_beside_a_jump_are_close_where_costs_compound(low, high):
    """The rate is met just above the jump at 1.001 only: costs that enter in each of many rounds matter so early."""

    class Compounds(Share):
        def fit(self, X, y):
            super().fit(X, y)
            excess = math.log(self.cost[1] / self.cost[0])
            self.share_ = 0.5 if excess < 0.001 else 0.53 if low < excess < high else 0.6
            return self

    Compounds.__init__ = Share.__init__
    found = match_rate(Compounds(), X, Y, rate=0.53, tolerance=0.01, cv=HALVES, repeats=1, max_points=60)
    assert found.met
    assert low < math.log(found.cost) < high


class Slow(Share):
    """Its share grows with the logarithm of the ratio of the costs."""

    def __init__(self, cost=None, slope=0.02):
        super().__init__(cost)
        self.slope = slope

    def fit(self, X, y):
        super().fit(X, y)
        self.share_ = 0.5 + self.slope * math.log(self.cost[1] / self.cost[0])
        return self


@pytest.mark.parametrize(
    ("slope", "max_cost"), [(0.1, 20.0), (0.1, 1.0 / 20.0), (5.0, 1.04), (0.03, 1e6), (0.03, 1e-6)]
)
def test_the_ends_of_the_range_are_tried(slope, max_cost):
    """Steps double from 0.05, and stop at 1.6, 0 and 12.8, short of log 20, log 1.04 and log 1e6."""
    at_end = 0.5 + slope * math.log(max_cost)
    largest = max(max_cost, 1.0 / max_cost)
    found = match_rate(Slow(slope=slope), X, Y, rate=at_end, tolerance=0.01, cv=HALVES, repeats=1, max_cost=largest)
    assert found.met
    costs = [cost for cost, _ in found.tried]
    assert max_cost in costs
    assert 1.0 / largest <= min(costs) < max(costs) <= largest
    assert len(costs) <= 40


def test_a_rate_between_the_last_step_and_the_end_is_met_there():
    found = match_rate(Slow(slope=0.1), X, Y, rate=0.74, tolerance=0.005, cv=HALVES, repeats=1, max_cost=20.0)
    assert found.met
    assert found.cost == pytest.approx(math.exp(2.4), rel=0.06)
    assert [cost for cost, _ in found.tried].count(20.0) == 1


def test_the_ends_are_tried_only_if_nothing_else_meets_the_rate():
    """So a search that succeeds among the steps is the same, whatever lies beyond them."""
    for rate in (0.42, 0.55, 0.65):
        narrow, wide = (
            match_rate(Slow(slope=0.1), X, Y, rate=rate, tolerance=0.01, cv=HALVES, repeats=1, max_cost=most)
            for most in (20.0, 40.0)
        )
        assert narrow.met
        assert narrow.tried == wide.tried
        assert max(cost for cost, _ in narrow.tried) < 5.0


def test_no_cost_beside_a_jump_is_out_of_the_range():
    """The jump at 3 is so close to the end that costs on its other side are out of the range."""
    found = match_rate(
        Share(jumps=True), X, Y, rate=0.7, tolerance=0.01, cv=HALVES, repeats=1, max_points=60, max_cost=3.003
    )
    assert not found.met
    assert 3.0 < max(cost for cost, _ in found.tried) <= 3.003


def test_the_largest_cost_is_that_of_the_user():
    near, far = (
        match_rate(Slow(), X, Y, rate=0.95, tolerance=0.01, cv=HALVES, repeats=1, max_cost=most) for most in (1e6, 1e12)
    )
    assert not near.met
    assert max(cost for cost, _ in near.tried) <= 1e6
    assert far.met
    assert far.cost == pytest.approx(math.exp(22.5), rel=1.0)


def test_precision_is_raised_by_dearer_false_alarms():
    table, labels = awkward_data(300)
    clf = CSRAClassifier(n_estimators=10)
    found = match_rate(clf, table, labels, measure="ppv", rate=0.75, tolerance=0.03, cv=3, repeats=1, random_state=0)
    assert found.measure == "precision"
    assert found.met
    assert found.tried[0][1] < 0.72
    assert found.cost < 1.0


def test_a_function_makes_estimators_with_bounded_costs():
    """[nyga2010] §3.3: AdaCost with negatives at cost 0, and positives at up to 1."""
    table, labels = awkward_data(300)

    def adacost(cost):
        return AdaCostClassifier(cost={0: 0.0, 1: min(0.2 * cost, 1.0)}, initial="equal", n_estimators=10)

    found = match_rate(adacost, table, labels, rate=0.69, tolerance=0.01, cv=3, repeats=1, random_state=0)
    assert found.met
    assert found.estimator.cost[0] == 0.0
    assert found.estimator.cost[1] == min(0.2 * found.cost, 1.0)
    assert found.estimator.pos_label == 1


def test_any_callable_of_a_cost_makes_estimators():
    class Maker:
        def __call__(self, cost):
            return Share({1: cost, 0: 1.0})

    found = [
        match_rate(make, X, Y, rate=0.8, tolerance=0.01, cv=HALVES, repeats=1)
        for make in (lambda cost: Share({1: cost, 0: 1.0}), Maker(), partial(_share, {0: 1.0}))
    ]
    assert found[0].met
    assert found[0].tried == found[1].tried == found[2].tried


def _share(others, cost):
    return Share({1: cost, **others})


def test_measures_that_are_no_shares_may_be_above_1():
    found = match_rate(Proba(), X, Y, measure="log_loss", rate=1.2, tolerance=0.01, cv=HALVES, repeats=1)
    assert found.met
    assert found.mean() == pytest.approx(1.2, abs=0.01)


class Proba(Share):
    """Its probability of a positive is a constant that grows with the cost."""

    def predict_proba(self, X):
        return np.tile([1.0 - self.share_, self.share_], (len(X), 1))


def test_costs_can_be_weights():
    table, labels = awkward_data(300)
    found = match_rate(
        GaussianNB(), np.nan_to_num(table), labels, rate=0.7, tolerance=0.03, cv=3, repeats=1, random_state=0
    )
    assert found.met
    assert repr(found.estimator) == "GaussianNB()"


def test_jobs_do_not_matter():
    table, labels = awkward_data(200)
    one, two = (
        match_rate(AdaC2Classifier(n_estimators=8), table, labels, rate=0.8, cv=3, repeats=1, random_state=0, n_jobs=n)
        for n in (1, 2)
    )
    assert one.tried == two.tried
    assert one.cost == two.cost


def test_variants_whose_costs_compound_are_matched_too():
    table, labels = make_fraud(3000)
    for booster in (AdaC2Classifier, AdaC3Classifier):
        clf = booster(n_estimators=20)
        found = match_rate(clf, table, labels, rate=0.85, tolerance=0.01, cv=3, repeats=2, random_state=0)
        assert found.met


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": -0.1}, "rate=-0.1 must be a number >= 0 and <= 1"),
        ({"rate": 95}, "rate=95 must be a number >= 0 and <= 1"),
        ({"rate": 1.5, "measure": "ppv"}, "rate=1.5 must be a number >= 0 and <= 1"),
        ({"rate": -0.1, "measure": "log_loss"}, "rate=-0.1 must be a number >= 0"),
        ({"tolerance": "small"}, "tolerance='small' must be a number >= 0"),
        ({"vary": "both"}, "vary='both' must be one of 'miss', 'false_alarm'"),
        ({"max_points": 0}, "max_points=0 must be an integer >= 1"),
        ({"measure": "fit_seconds"}, "fit_seconds"),
        ({"measure": "accurcy"}, "accurcy"),
        (
            {"estimator": GaussianNB(), "vary": "false_alarm"},
            r"has no effect if costs are passed by fit\(sample_weight",
        ),
        ({"estimator": lambda cost: Share(), "vary": "false_alarm"}, "has no effect if a function makes"),
        ({"estimator": [Share()], "repeats": 1}, "must be one estimator"),
        ({"estimator": 5}, "^estimator=5 is not a classifier"),
        (
            {"estimator": partial(CSRAClassifier, n_estimators=5)},  # whose parameters have to be named
            r"^estimator=functools.partial.* cannot be called with a cost as its only argument .*lambda cost:",
        ),
        ({"estimator": lambda: Share()}, "^estimator=.* cannot be called with a cost"),
        ({"estimator": lambda cost: cost}, r"^estimator=.* returned 1\.0 for a cost of 1, which is not a classifier"),
        ({"estimator": lambda cost: Share}, r"^estimator=.* returned .*Share.*, which is not a classifier"),
        ({"y": Y + (X[:, 0] > 380)}, "y has 3 classes"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(change, message):
    given = {"estimator": Share(), "X": X, "y": Y, "cv": 2, "repeats": 1, **change}
    with pytest.raises(ValueError, match=message):
        match_rate(**given)
