"""The portfolio in a goal search: by default, fitted once, with the groups and the order of time of the search."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import TimeSeriesSplit

from goals.ruler import Ruler, draw
from skewboost import CSRAClassifier, GoalSearchCV, SkewBoostClassifier
from skewboost.goals.holdout import split_by_time
from skewboost.goals.rows import SearchRows
from skewboost.meta.portfolio.portfolio_classifier import PortfolioClassifier
from skewboost.metrics import Counts
from skewboost.metrics.ranking import scores_of

WEAK = pytest.mark.filterwarnings("ignore::skewboost.goals.LittleUseWarning")


def quick(**params):
    return PortfolioClassifier(effort="quick", random_state=0, cost=1, **params)


@pytest.fixture
def fits(monkeypatch):
    """What the portfolio is fitted with."""
    seen = []
    original = PortfolioClassifier._fit

    def spy(self, X, y, sample_weight, groups, sample_cost):
        seen.append((np.asarray(X)[:, 0], groups))
        original(self, X, y, sample_weight, groups, sample_cost)

    monkeypatch.setattr(PortfolioClassifier, "_fit", spy)
    return seen


def test_out_of_fold_scores_belong_to_their_rows():
    X, y = draw(300, 0)
    own = quick().fit(X, y)._held_out_decisions()
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_array_equal(quick().fit(X[order], y[order])._held_out_decisions(), own[order])
    named = np.where(y == 1, "a", "b")  # the sign is that of classes_[1], as in decision_function
    np.testing.assert_allclose(quick().fit(X, named)._held_out_decisions(), -own)
    costly = quick().set_params(cost=20).fit(X, y)
    np.testing.assert_allclose(costly._held_out_decisions(), own + np.log(20))
    weights = np.where(np.arange(300) < 20, 0.0, 1.0)
    absent = quick().fit(X, y, sample_weight=weights)._held_out_decisions()
    np.testing.assert_array_equal(np.isnan(absent), weights == 0)
    in_time = quick(cv=TimeSeriesSplit(2)).fit(X, y)._held_out_decisions()
    np.testing.assert_array_equal(np.isnan(in_time), np.arange(300) < 100)
    # rows are scored by trees that have not seen them: on noise no better than by chance
    noise = np.random.default_rng(1).permutation(y)
    model = quick().fit(X, noise)
    flagged = model._held_out_decisions() >= np.median(model._held_out_decisions())
    assert abs(flagged[noise == 1].mean() - flagged[noise == 0].mean()) < 0.2


@WEAK
def test_the_portfolio_is_fitted_once(fits):
    X, y = draw(600, 0)
    late = np.arange(600) >= 300
    clf = GoalSearchCV(quick(), "recall >= 0.7", holdout=late, random_state=0).fit(X, y)
    assert len(fits) == 1
    np.testing.assert_array_equal(fits[0][0], X[~late, 0])
    assert clf.certificate_.counts == Counts.of(y[late] == 1, clf.predict(X[late]) == 1)
    # the search counts out-of-fold scores at its threshold
    threshold = float(clf.search_["threshold"][0])
    own = scores_of(clf.estimator_, X[~late], 1)
    assert clf.counts_ == Counts.of(y[~late] == 1, clf.estimator_._held_out_decisions() >= threshold).map(float)
    assert clf.counts_ != Counts.of(y[~late] == 1, own >= threshold).map(float)
    del fits[:]
    GoalSearchCV(quick(), "recall >= 0.7", holdout=late, cv=2, random_state=0).fit(X, y)
    GoalSearchCV(quick(), "recall >= 0.7", confidence=None, cv=2, random_state=0).fit(X, y)
    assert len(fits) == 6  # if the user asks for folds, or if there is nothing but folds


@WEAK
def test_the_flagship_is_the_default():
    X, y = draw(500, 1)
    clf = GoalSearchCV(goal="recall >= 0.6", random_state=0).fit(X, y)
    assert type(clf.estimator_) is SkewBoostClassifier
    assert clf.estimator is None
    np.testing.assert_array_equal(clf.predict(X) == 1, clf.estimator_.decision_function(X) >= clf.threshold_)
    with pytest.raises(ValueError, match=r"pass it by name: GoalSearchCV\(goal='recall >= 0.6'\)"):
        GoalSearchCV("recall >= 0.6").fit(X, y)
    with pytest.raises(ValueError, match="a goal of its own"):
        GoalSearchCV(SkewBoostClassifier(goal="recall >= 0.6")).fit(X, y)
    with pytest.raises(ValueError, match="iterable of splits, which number the rows of X"):
        SkewBoostClassifier(goal="recall >= 0.6", cv=[(np.arange(250), np.arange(250, 500))]).fit(X, y)


@WEAK
@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_folds_of_the_portfolio(fits, routing):
    X, y = draw(600, 0)
    groups = np.arange(600) // 2
    with sklearn.config_context(enable_metadata_routing=routing):
        clf = SkewBoostClassifier(effort="quick", goal="recall >= 0.6", random_state=0)
        clf.fit(X, y, groups=groups, sample_weight=np.ones(600))
    ((rows, got),) = fits
    of_row = dict(zip(X[:, 0], groups))
    np.testing.assert_array_equal(np.unique(got, return_inverse=True)[1], np.unique(
        [of_row[x] for x in rows], return_inverse=True
    )[1])  # fmt: skip
    assert "groups are independent draws" in clf.certificate_.assumes
    assert "one row of each counts" in str(clf.certificate_)


@WEAK
@pytest.mark.parametrize("early_stopping", [False, True])
def test_groups_reach_the_splits_of_boosters_that_make_any(early_stopping, monkeypatch):
    X, y = draw(400, 0)
    groups, seen = np.arange(400) // 4, []
    original = CSRAClassifier.fit

    def spy(self, X, y, sample_weight=None, sample_cost=None, *, groups=None):
        seen.append(groups)
        return original(self, X, y, sample_weight, sample_cost, groups=groups)

    monkeypatch.setattr(CSRAClassifier, "fit", spy)
    booster = CSRAClassifier(n_estimators=3, early_stopping=early_stopping, random_state=0)
    GoalSearchCV(booster, "recall >= 0.6", tune="threshold", cv=2, random_state=0).fit(X, y, groups=groups)
    assert [found is not None for found in seen] == [early_stopping] * 3


@WEAK
def test_copies_stay_together_in_the_folds_of_the_portfolio(fits):
    X, y = draw(300, 0)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    with pytest.warns(UserWarning, match="repeat another row"):
        clf = GoalSearchCV(quick(), "recall >= 0.6", random_state=0).fit(X, y)
    assert len(np.unique(fits[0][1])) == len(np.unique(fits[0][0])) < len(fits[0][0])
    assert "distinct rows" in clf.certificate_.assumes
    GoalSearchCV(quick(), "recall >= 0.6", weights="counts", random_state=0).fit(X, y)
    assert fits[1][1] is None


@WEAK
def test_in_the_order_of_time_the_latest_rows_are_held_out(fits):
    X, y = draw(700, 0)
    clf = SkewBoostClassifier(effort="quick", goal="recall >= 0.6", cv=TimeSeriesSplit(3, gap=10), random_state=0)
    clf.fit(X, y)
    n_held = int(clf.certificate_.counts.total)
    np.testing.assert_array_equal(fits[0][0], X[: 700 - n_held - 10, 0])
    held = slice(700 - n_held, None)
    assert clf.certificate_.counts == Counts.of(y[held] == 1, clf.predict(X[held]) == 1)
    assert "the future is like the held-out rows" in str(clf.certificate_)
    other = GoalSearchCV(Ruler(), "recall >= 0.6", tune="threshold", cv=TimeSeriesSplit(3), holdout=0.3).fit(X, y)
    assert other.certificate_.counts == Counts.of(y[490:] == 1, other.predict(X[490:]) == 1)
    assert other.certificate_.assumes == clf.certificate_.assumes
    chosen = GoalSearchCV(Ruler(), "recall >= 0.6", tune="threshold", holdout=np.arange(700) >= 400).fit(X, y)
    assert "which the user chose" in chosen.certificate_.assumes


def test_earlier_rows_of_held_out_units_are_used_for_nothing():
    y = np.arange(40) % 2
    units = np.arange(40)
    units[3], units[7] = units[39], units[12]
    rows = SearchRows(np.zeros((40, 1)), y, units)
    inner, outer = split_by_time(rows, y == 1, 0.25, 2)
    np.testing.assert_array_equal(np.flatnonzero(outer), np.arange(30, 40))
    np.testing.assert_array_equal(np.flatnonzero(inner), np.setdiff1d(np.arange(28), [3]))
    with pytest.raises(ValueError, match="Holding out the latest 36 rows leaves 1 positives"):
        split_by_time(rows, y == 1, 0.9, 0)
