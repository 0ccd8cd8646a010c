"""Displays that look into a model, or at its plane, show what the model computes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    AlternatingTreeClassifier,
    GentleBoostClassifier,
    RealBoostClassifier,
)
from skewboost.learners import Line
from skewboost.plots import (
    AlternatingTreeDisplay,
    ContributionDisplay,
    DecisionBoundaryDisplay,
    MarginDisplay,
    ShapeFunctionDisplay,
)

# ----------------------------------------------------------------------------------------------------------- boundary


def test_the_plane_is_the_models_with_all_other_features_at_their_medians(booster, rare):
    X, y = rare
    display = DecisionBoundaryDisplay.from_estimator(booster, X, y, features=(1, 0), grid=7)
    rows = np.array([[x, v] for v in display.vertical for x in display.horizontal])
    middle = np.sort(X[~np.isnan(X[:, 2]), 2])
    asked = np.column_stack([rows[:, 1], rows[:, 0], np.full(len(rows), middle[(len(middle) - 1) // 2])])
    np.testing.assert_array_equal(display.response.ravel(), -booster.decision_function(asked))
    np.testing.assert_array_equal(display.decision.ravel(), booster.predict(asked) == "bad")
    assert "x2 at its median" in display.ax_.get_title(loc="left")
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x1", "x0")


def test_points_grow_with_their_weight(booster, rare):
    X, y = rare
    display = DecisionBoundaryDisplay.from_estimator(booster, X, y, grid=5)
    logs = np.where(y == "bad", -1, 1) * -booster.decision_function(X)
    assert (np.diff(display.sizes[np.argsort(logs)]) >= 0).all()
    weights = np.arange(len(y)) % 4
    given = DecisionBoundaryDisplay.from_estimator(booster, X, y, grid=5, sample_weight=weights)
    assert len(given.points) == (weights > 0).sum()
    assert len(np.unique(given.sizes)) == 3


def test_examples_without_a_category_are_not_drawn(table):
    frame, y = table
    frame = frame.assign(town=frame["town"].where(np.arange(len(y)) % 5 > 0))
    clf = RealBoostClassifier(n_estimators=5).fit(frame, y)
    display = DecisionBoundaryDisplay.from_estimator(clf, frame, y, features=("width", "town"), grid=5)
    assert np.isnan(display.points[:, 1]).sum() == frame["town"].isna().sum()
    assert np.nanmin(display.points[:, 1]) == 0


def test_frames_and_categories(table):
    frame, y = table
    clf = RealBoostClassifier(n_estimators=5).fit(frame, y)
    display = DecisionBoundaryDisplay.from_estimator(clf, frame, y, features=("town", "width"), grid=6)
    assert len(display.horizontal) == frame["town"].nunique()
    assert [t.get_text() for t in display.ax_.get_xticklabels()][:2] == ["town 0", "town 1"]
    few = DecisionBoundaryDisplay.from_estimator(clf, frame, y, grid=6, max_points=5)
    assert len(few.points) == 10
    polars = pytest.importorskip("polars")
    other = polars.from_pandas(frame)
    same = DecisionBoundaryDisplay.from_estimator(clf, other, y, features=("town", "width"), grid=6)
    np.testing.assert_array_equal(same.response, display.response)


def test_probabilities_are_shaded_where_there_is_no_score(rare):
    X, y = np.nan_to_num(rare[0]), rare[1]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    display = DecisionBoundaryDisplay.from_estimator(tree, X, y, grid=5)
    assert display.level == 0.5
    assert display.response.min() >= 0
    assert display.colorbar_.ax.get_ylabel() == "P('bad')"


def test_errors_of_planes(booster, rare):
    X, y = rare
    with pytest.raises(ValueError, match=r"features=\(0, 9\)|features=9 is not a column of X"):
        DecisionBoundaryDisplay.from_estimator(booster, X, y, features=(0, 9))
    with pytest.raises(ValueError, match="contains the same column twice"):
        DecisionBoundaryDisplay.from_estimator(booster, X, y, features=(1, 1))
    with pytest.raises(ValueError, match="must be two columns"):
        DecisionBoundaryDisplay.from_estimator(booster, X, y, features="x0")
    empty = np.where([True, True, False], X, np.nan)
    with pytest.raises(ValueError, match="features: column 'x2' of X has no values"):
        DecisionBoundaryDisplay.from_estimator(booster, empty, y, features=(0, 2))
    one = LogisticRegression().fit(X[:, :1], y)
    with pytest.raises(ValueError, match="X has 1 feature, but this display needs two"):
        DecisionBoundaryDisplay.from_estimator(one, X[:, :1], y)


# ------------------------------------------------------------------------------------------------------------ margins


def test_margins_of_adaboost_are_votes_over_weights(rare):
    X, y = rare
    clf = AdaBoostClassifier(n_estimators=9).fit(X, y)
    display = MarginDisplay.from_estimator(clf, X, y, rounds=(1, 9), by_class=False)
    assert list(display.margins) == [1, 9]
    assert set(np.unique(display.margins[1])) == {-1.0, 1.0}
    signs = np.where(y == clf.classes_[1], 1, -1)
    stages = list(clf.staged_decision_function(X))
    alphas = [np.abs(b - a).max() for a, b in zip([0 * stages[0], *stages], stages)]
    np.testing.assert_allclose(display.margins[9], signs * stages[-1] / sum(alphas))
    drawn = display.ax_.lines[-1].get_xydata()
    for level in (-0.5, 0.0, 0.3):
        at = drawn[drawn[:, 0] <= level, 1].max()
        assert at == pytest.approx(np.mean(display.margins[9] <= level), abs=0.01)
    assert f"{np.mean(clf.predict(X) != y):.2%} after 9 rounds" in display.ax_.get_title(loc="left")


def test_margins_by_class_count_examples(booster, rare):
    X, y = rare
    display = MarginDisplay.from_estimator(booster, X, y, rounds=[12], sample_weight=np.where(y == "bad", 2, 1))
    assert len(display.ax_.lines) == 3  # zero, and a curve for each class
    assert display.weights.sum() == 240 + 40
    assert display.labels == ("'good'", "'bad'")


@pytest.mark.parametrize("other", [TheirAdaBoost(n_estimators=5), GradientBoostingClassifier(n_estimators=5)])
def test_boosters_of_scikit_learn_have_margins_too(other, rare):
    X, y = np.nan_to_num(rare[0]), rare[1]
    display = MarginDisplay.from_estimator(other.fit(X, y), X, y)
    last = display.margins[max(display.margins)]
    assert np.abs(last).max() <= 1 + 1e-12
    np.testing.assert_array_equal(last > 0, other.predict(X) == y)


class Votes(ClassifierMixin, BaseEstimator):
    """Three rounds that vote with 2, 1 and 1 for the classes that the row itself names."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def staged_decision_function(self, X):
        F = np.zeros((len(X), 3))
        for step, h in zip((2.0, 1.0, 1.0), np.asarray(X, dtype=int).T):
            F = F + step * (h[:, None] == np.arange(3))
            yield F

    def predict(self, X):
        *_, F = self.staged_decision_function(X)
        return self.classes_[F.argmax(axis=1)]


def test_margins_of_three_classes_by_hand():
    """[cuendet2002] §1.3: Σ α [h = y] - max Σ α [h = y'] over the other classes, divided by Σ α = 4."""
    said = np.array([[0, 0, 0], [0, 1, 2], [0, 1, 1], [1, 0, 2], [1, 1, 0], [2, 1, 1], [2, 2, 2]])
    truth = np.array(["a", "a", "a", "a", "a", "b", "c"])
    expected = [4, 2 - 1, 2 - 2, 1 - 2, 1 - 3, 2 - 2, 4]
    display = MarginDisplay.from_estimator(Votes().fit(said, truth), said, truth, rounds=(1, 3))
    np.testing.assert_allclose(display.margins[3], np.array(expected) / 4)
    np.testing.assert_array_equal(display.margins[1], [1, 1, 1, -1, -1, -1, 1])
    assert display.labels == ("'a'", "'b'", "'c'")
    assert display.group.tolist() == [0, 0, 0, 0, 0, 1, 2]
    assert [line.get_label() for line in display.ax_.lines[1:]] == [
        f"{n}, '{c}'" for c in "abc" for n in ("1 round", "3 rounds")
    ]
    of_a = display.ax_.lines[2].get_xydata()  # after three rounds: -2/4, -1/4, 0, 1/4, 1
    for level, fraction in ((-0.6, 0.0), (-0.5, 0.2), (-0.2, 0.4), (0.0, 0.6), (0.25, 0.8), (0.9, 0.8), (1.0, 1.0)):
        assert of_a[of_a[:, 0] <= level, 1].max() == pytest.approx(fraction)
    assert f"{2 / 7:.2%} after 3 rounds" in display.ax_.get_title(loc="left")


def three_classes(rare):
    X, y = np.nan_to_num(rare[0]), rare[1]
    return X, np.where((y == "good") & (X[:, 1] > 0.8), "fair", y)


@pytest.mark.parametrize(
    "clf",
    [
        AdaBoostMHClassifier(n_estimators=8),
        AdaBoostMHClassifier(n_estimators=8, cost="balanced"),
        AdaC2M1Classifier(n_estimators=8, cost={"bad": 1.3, "fair": 1.1, "good": 1.0}),
        TheirAdaBoost(n_estimators=8),
        GradientBoostingClassifier(n_estimators=8),
        HistGradientBoostingClassifier(max_iter=8),
    ],
    ids=str,
)
def test_margins_of_many_classes_are_positive_where_the_decision_is_right(clf, rare):
    X, y = three_classes(rare)
    clf.fit(X, y)
    rounds = range(1, 1 + sum(1 for _ in clf.staged_predict(X)))
    display = MarginDisplay.from_estimator(clf, X, y, rounds=rounds)
    for m, said in zip(rounds, clf.staged_predict(X), strict=True):
        margins = display.margins[m]
        clear = np.abs(margins) > 1e-9  # no tie
        assert clear.mean() > 0.5
        np.testing.assert_array_equal(margins[clear] > 0, (said == y)[clear])
        assert np.abs(margins).max() <= 1 + 1e-12
    assert list(MarginDisplay.from_estimator(clf, X, y).margins) == [rounds[-1]]  # one curve for each class


def test_a_class_can_be_drawn_against_the_rest(rare):
    X, y = three_classes(rare)
    clf = AdaBoostMHClassifier(n_estimators=20).fit(X, y)
    display = MarginDisplay.from_estimator(clf, X, y, pos_label="fair")
    assert display.labels == ("the rest", "'fair'")
    assert list(display.margins) == [1, 2, 20]
    np.testing.assert_array_equal(display.group, y == "fair")
    assert len(MarginDisplay.from_estimator(clf, X, y, by_class=False).ax_.lines) == 1 + 3
    two = y != "fair"  # a class without rows has no curve
    assert MarginDisplay.from_estimator(clf, X[two], y[two]).labels == ("'bad'", "'good'")
    with pytest.raises(ValueError, match=r"y has 'odd', which is not among the classes of the model"):
        MarginDisplay.from_estimator(clf, X, np.where(two, y, "odd"))


def test_margins_need_stages_and_rounds_that_there_are(booster, rare):
    X, y = rare
    with pytest.raises(ValueError, match=r"rounds=\[50\] exceeds the 12 rounds"):
        MarginDisplay.from_estimator(booster, X, y, rounds=[50])
    with pytest.raises(ValueError, match=r"rounds=\[0\] must be integers of at least 1"):
        MarginDisplay.from_estimator(booster, X, y, rounds=[0])
    with pytest.raises(ValueError, match="none of the methods staged_decision_function"):
        MarginDisplay.from_estimator(LogisticRegression().fit(np.nan_to_num(X), y), X, y)


# ------------------------------------------------------------------------------------------- shapes and contributions


def test_shapes_are_drawn_as_they_are_most_important_first(booster, rare):
    X, _ = rare
    display = ShapeFunctionDisplay.from_estimator(booster, X)
    means = [np.abs(f(X[:, f.feature])).mean() for f in display.functions]
    assert means == sorted(means, reverse=True)
    for ax, f in zip(display.axes_, display.functions):
        assert ax.get_title(loc="left") == f.name
        x, drawn = ax.lines[0].get_xydata().T
        inside = 0.5 * (x[1:] + x[:-1])[np.diff(x) > 0]
        np.testing.assert_allclose(np.interp(inside, x, drawn), f(inside))
        diamonds = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "D"]
        assert diamonds == ([f.missing_value] if f.missing_support > 0 else [])
    # "bad" is classes_[0], and what is drawn speaks for it
    theirs = {f.name: f for f in booster.shape_functions()}
    np.testing.assert_array_equal(display.functions[0].values, -theirs[display.functions[0].name].values)


def test_thirty_categories_are_bars_of_which_some_are_pooled(table):
    frame, y = table
    clf = RealBoostClassifier(n_estimators=10).fit(frame, y)
    display = ShapeFunctionDisplay.from_estimator(clf, features=["town", 0])
    names = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert len(names) == 13
    assert names[0].startswith("18 others")
    bars = {n: p.get_width() for n, p in zip(names, display.ax_.patches)}
    (seven,) = (n for n in names if n.startswith("town 7 "))
    assert bars[seven] == display.functions[0](["town 7"])[0]
    with pytest.raises(ValueError, match="features contains 'hat'"):
        ShapeFunctionDisplay.from_estimator(clf, features=["hat"])


def test_lines_and_many_classes(rare):
    X, y = np.nan_to_num(rare[0]), rare[1]
    line = GentleBoostClassifier(estimator=Line(), n_estimators=4).fit(X, y)
    display = ShapeFunctionDisplay.from_estimator(line, X)
    assert {f.kind for f in display.functions} == {"line"}
    three = np.arange(len(X)) % 3
    many = AdaBoostMHClassifier(n_estimators=4).fit(X, three)
    with pytest.raises(ValueError, match=r"label=None must be one of the classes \[0, 1, 2\]"):
        ShapeFunctionDisplay.from_estimator(many)
    assert ShapeFunctionDisplay.from_estimator(many, label=2).label == 2
    shown = ContributionDisplay.from_estimator(many, X[0], label=1)
    assert shown.score == pytest.approx(many.decision_function(X[:1])[0, 1])


@pytest.mark.parametrize("max_bars", [1, 10])
def test_contributions_add_up_to_the_score(table, max_bars):
    frame, y = table
    clf = RealBoostClassifier(n_estimators=10).fit(frame, y)
    display = ContributionDisplay.from_estimator(clf, frame.iloc[[17]], max_bars=max_bars)
    F = -clf.decision_function(frame.iloc[[17]])[0]
    assert display.score == pytest.approx(F)
    lengths = [bar.get_width() for bar in display.ax_.patches]
    assert display.baseline + sum(lengths) == pytest.approx(F)
    starts = [bar.get_x() for bar in display.ax_.patches]
    np.testing.assert_allclose(starts, display.baseline + np.cumsum([0, *lengths[:-1]]))
    names = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert names[-1] == f"F = {F:+.2f}"
    labels = [name for name, _ in display.bars(10)]
    assert "depth = missing" in labels or display.contributions[2] == 0
    assert any(name.startswith("town = town ") for name in labels)


def test_numbers_and_points_of_small_scores_can_be_told_apart(rare):
    phi = np.array([0.0012, -0.0004])
    shown = ContributionDisplay(contributions=phi, baseline=-0.003, names=["a", "b"], cells=["1", "2"], label=1).plot()
    assert [t.get_text() for t in shown.ax_.texts] == ["+0.00120", "-0.00040"]
    assert shown.ax_.get_yticklabels()[-1].get_text() == "F = -0.00220"

    X, y = rare
    X = np.nan_to_num(X)
    faint = LinearSVC(C=1e-7).fit(X, y)
    assert np.ptp(faint.decision_function(X)) < 0.01
    sizes = DecisionBoundaryDisplay.from_estimator(faint, X, y, grid=5).sizes
    assert sizes.min() == 9.0
    assert sizes.max() == 90.0


def test_contributions_are_of_one_example_and_of_models_that_have_them(booster, rare):
    X, _ = rare
    with pytest.raises(ValueError, match=r"x has shape \(2, 3\), but must be one example"):
        ContributionDisplay.from_estimator(booster, X[:2])
    with pytest.raises(ValueError, match="LogisticRegression, which has no method contributions"):
        ContributionDisplay.from_estimator(LogisticRegression(), X[0])
    with pytest.raises(ValueError, match="label='ugly' must be one of the classes"):
        ContributionDisplay.from_estimator(booster, X[0], label="ugly")
    assert ContributionDisplay.from_estimator(booster, X[0], label="good").score == pytest.approx(
        booster.decision_function(X[:1])[0]
    )


def test_the_alternating_tree_is_drawn_node_by_node(rare):
    clf = AlternatingTreeClassifier(max_rounds=3).fit(*rare)
    display = AlternatingTreeDisplay.from_estimator(clf, decimals=3)
    texts = {t.get_text() for t in display.ax_.texts}
    assert {f"{node.value:+.3f}" for _, node, _ in display.root.walk()} <= texts
    with pytest.raises(ValueError, match="LogisticRegression, not an alternating tree"):
        AlternatingTreeDisplay.from_estimator(LogisticRegression())
    with pytest.raises(NotFittedError):
        AlternatingTreeDisplay.from_estimator(AlternatingTreeClassifier())
