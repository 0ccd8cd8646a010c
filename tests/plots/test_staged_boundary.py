"""The boundary after every round is where the decisions of that round change."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from plots.conftest import legend
from skewboost import AdaBoostClassifier, AdaBoostMHClassifier, CSB2Classifier, CSLogitBoostClassifier
from skewboost.datasets import make_two_gaussians
from skewboost.learners import Line
from skewboost.plots import StagedBoundaryDisplay

X, Y = make_two_gaussians(300)


class Bands(ClassifierMixin, BaseEstimator):
    """Rounds that predict the class of the band in which the first column is."""

    def __init__(self, rounds=()):
        self.rounds = rounds  # of each round: cuts, and the class left of each and right of the last

    def fit(self, X=None, y=None):
        self.classes_ = np.array(["a", "b", "c"])
        return self

    def staged_predict(self, X):
        for cuts, classes in self.rounds:
            yield np.array(classes)[np.searchsorted(cuts, np.asarray(X)[:, 0])]

    def predict(self, X):
        *_, last = self.staged_predict(X)
        return last


def draw(*rounds, X=X, **options):
    return StagedBoundaryDisplay.from_estimator(Bands(rounds).fit(), X, **options)


def test_it_is_where_staged_predictions_change():
    clf = AdaBoostClassifier(estimator="tree", n_estimators=25).fit(X, Y)
    display = StagedBoundaryDisplay.from_estimator(clf, X)
    assert len(display.boundaries["AdaBoost"]) == 25
    cuts = np.asarray(clf._model.bins.features[0].cuts)  # all changes are at one of these
    between = np.concatenate((cuts[:1] - 1, 0.5 * (cuts[1:] + cuts[:-1]), cuts[-1:] + 1))[:, None]
    stages = list(clf.staged_predict(between))
    for found, main, said in zip(display.changes["AdaBoost"], display.boundaries["AdaBoost"], stages, strict=True):
        np.testing.assert_allclose(found, cuts[said[1:] != said[:-1]], atol=1e-5)
        assert main in found
    assert max(map(len, display.changes["AdaBoost"])) > 1


def test_what_is_drawn_is_what_was_computed():
    boosters = {n: CSB2Classifier(cost=c, n_estimators=9).fit(X, Y) for n, c in (("two", 2), ("nine", 9))}
    display = StagedBoundaryDisplay.from_estimator(boosters, X, optimum=-0.35, log=True)
    assert list(display.lines_) == ["two", "nine"]
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 1 + len(display.boundaries[name])))
        np.testing.assert_array_equal(line.get_ydata(), display.boundaries[name])
    assert legend(display.ax_) == ["optimum, -0.35", "two", "nine"]
    assert display.ax_.lines[0].get_ydata()[0] == -0.35
    assert display.ax_.get_xscale() == "log"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("rounds", "boundary: x0")
    looks = {(str(line.get_linestyle()), line.get_marker()) for line in display.lines_.values()}
    assert len(looks) == 2
    ax = Figure().subplots()
    assert StagedBoundaryDisplay.from_estimator(boosters["two"], X, ax=ax).ax_ is ax


def test_of_several_changes_the_one_is_drawn_that_leaves_most_examples_as_they_are():
    rows = np.array([[-2.0]] * 5 + [[0.0]] * 2 + [[2.0]] * 4)
    island = ([-1.0, 1.0], ["a", "b", "a"])
    display = draw(island, island, X=rows)
    at, _ = display.changes["Bands"]
    np.testing.assert_allclose(at, [-1.0, 1.0], atol=1e-5)
    # without the right change, 4 examples would change their class; without the left one, 5
    assert display.boundaries["Bands"].tolist() == [at[0], at[0]]
    moved = draw(island, X=rows, sample_weight=[1] * 5 + [1] * 2 + [9] * 4)
    assert moved.boundaries["Bands"][0] == pytest.approx(1.0, abs=1e-5)
    equal = draw(island, X=rows, sample_weight=[4] * 5 + [1] * 2 + [5] * 4)
    assert equal.boundaries["Bands"][0] == pytest.approx(-1.0, abs=1e-5)  # the lowest in a tie
    dots = [line for line in display.ax_.lines if line.get_marker() == "."]
    np.testing.assert_allclose(np.array(dots[0].get_xydata()), [[1, at[1]], [2, at[1]]])
    assert "dots: further changes" in display.ax_.get_title(loc="left")


def test_three_classes_have_boundaries_between_any_two():
    display = draw(([0.0, 1.5], ["a", "b", "c"]))
    np.testing.assert_allclose(display.changes["Bands"][0], [0.0, 1.5], atol=1e-5)
    assert display.boundaries["Bands"][0] == pytest.approx(0.0, abs=1e-5)
    three = Y + (X[:, 0] > 1.5)
    clf = AdaBoostMHClassifier(n_estimators=10).fit(X, three)
    found = StagedBoundaryDisplay.from_estimator(clf, X).changes["AdaBoostMH"][-1]
    assert np.abs(found - 1.5).min() < 0.1


def test_rounds_without_a_change_leave_a_gap():
    nothing, change = ([], ["a"]), ([0.5], ["a", "b"])
    display = draw(nothing, change, nothing, change, change)
    np.testing.assert_allclose(display.boundaries["Bands"], [np.nan, 0.5, np.nan, 0.5, 0.5], atol=1e-5)
    assert "gap: one class everywhere" in display.ax_.get_title(loc="left")
    (dots,) = [line for line in display.ax_.lines if line.get_marker() == "."]
    assert dots.get_xdata().tolist() == [2]  # no line leads there
    for log in (False, True):
        low, high = draw(nothing, change, nothing, nothing, log=log).ax_.get_xlim()
        assert 0.5 < low < 1
        assert 4 < high < 5
    assert not draw(nothing).ax_.get_yticks().size
    never = StagedBoundaryDisplay.from_estimator({"x": Bands((nothing,)).fit(), "y": Bands((change,)).fit()}, X)
    assert legend(never.ax_) == ["x, nowhere", "y"]


@pytest.mark.parametrize("grid", [2, 30, 500])
def test_the_grid_does_not_move_a_single_boundary(grid):
    display = draw(([0.123456], ["b", "a"]), ([-3.0], ["a", "b"]), grid=grid)
    np.testing.assert_allclose(display.boundaries["Bands"], [0.123456, -3.0], atol=1e-3 if grid == 2 else 1e-4)


def test_features_of_a_few_extreme_values_are_searched_where_the_examples_are():
    rows = np.concatenate((np.linspace(0, 1, 200), [1e6]))[:, None]
    display = draw(([0.31, 0.33], ["a", "b", "a"]), X=rows)
    np.testing.assert_allclose(display.changes["Bands"][0], [0.31, 0.33], atol=1e-4)


def test_two_gaussians_have_their_optimum_where_the_costs_want_it():
    rows, y = make_two_gaussians(5000)
    for cost in (1.0, 5.0):
        clf = CSLogitBoostClassifier(estimator=Line(), cost=cost, pos_label=1, n_estimators=15).fit(rows, y)
        best = -0.5 * np.log(cost)
        display = StagedBoundaryDisplay.from_estimator(clf, rows, optimum=best)
        assert display.boundaries["CSLogitBoost"][-1] == pytest.approx(best, abs=0.07)
        slope = display.boundaries["CSLogitBoost"]
        for m, F in enumerate(clf.staged_decision_function(slope[:, None])):
            assert abs(F[m]) < 1e-3  # the zero of F


def test_other_features_stay_at_their_medians(table):
    frame, y = table
    clf = AdaBoostClassifier(n_estimators=8).fit(frame, y)
    display = StagedBoundaryDisplay.from_estimator(clf, frame, feature="height")
    assert (display.feature, display.note) == ("height", "the 3 other features at their medians")
    best = frame.columns[int(np.argmax(clf.feature_importances_))]
    if best == "town":
        with pytest.raises(ValueError, match="is a column of categories"):
            StagedBoundaryDisplay.from_estimator(clf, frame)
    else:
        assert StagedBoundaryDisplay.from_estimator(clf, frame).feature == best
    position = display.boundaries["AdaBoost"][np.flatnonzero(~np.isnan(display.boundaries["AdaBoost"]))]
    low, high = frame["height"].min(), frame["height"].max()
    assert ((position > low - 1) & (position < high + 1)).all()


def test_boosters_of_scikit_learn_have_boundaries_too():
    clf = GradientBoostingClassifier(n_estimators=4).fit(X, Y)
    display = StagedBoundaryDisplay.from_estimator([clf, AdaBoostClassifier(n_estimators=3).fit(X, Y)], X)
    assert list(display.boundaries) == ["GradientBoosting", "AdaBoost"]
    at = display.boundaries["GradientBoosting"][-1]
    left, right = clf.predict([[at - 1e-4], [at + 1e-4]])
    assert left != right


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"estimators": []}, "estimators is empty"),
        ({"estimators": LogisticRegression().fit(X, Y)}, "none of the methods staged_predict"),
        ({"estimators": [Bands().fit(), Bands().fit()]}, "two are called 'Bands'"),
        ({"feature": 3}, "feature=3 is not a column of X"),
        ({"optimum": np.nan}, "optimum=nan must be a finite number, or None"),
        ({"grid": 1}, "grid=1 must be an integer >= 2"),
        ({"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\)"),
    ],
)
def test_bad_input_gets_an_error_that_says_what_to_do(given, message):
    with pytest.raises(ValueError, match=message):
        StagedBoundaryDisplay.from_estimator(**{"estimators": Bands().fit(), "X": X, **given})
