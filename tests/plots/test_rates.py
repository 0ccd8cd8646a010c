"""ROC, precision-recall and cost curves show the model's own counts and the costs that were asked about."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from plots.conftest import legend
from skewboost import RealBoostClassifier
from skewboost.metrics import Counts, cost_curve
from skewboost.plots import CalibrationDisplay, CostCurveDisplay, OperatingPointDisplay, PosteriorDisplay
from skewboost.plots.calibration_display import wilson_interval

DISPLAYS = (OperatingPointDisplay, CostCurveDisplay, CalibrationDisplay, PosteriorDisplay)


def markers(ax, marker):
    return [tuple(map(float, line.get_xydata()[0])) for line in ax.lines if line.get_marker() == marker]


def iso_costs(ax):
    return [line for line in ax.lines if (line.get_gid() or "").startswith("iso-cost")]


def test_the_points_are_those_of_the_models_own_decisions(booster, rare):
    X, y = rare
    weights = np.arange(len(y)) % 5  # rows of weight 0 are no rows
    display = OperatingPointDisplay.from_estimator(booster, X, y, cost=5, sample_weight=weights)
    counts = Counts.of(y == "bad", booster.predict(X) == "bad", weights)
    roc, pr = display.axes_
    assert markers(roc, "o") == [pytest.approx((counts.false_alarm_rate, counts.recall))]
    assert markers(pr, "o") == [pytest.approx((counts.recall, counts.precision))]
    F = -booster.decision_function(X)  # towards "bad", which is classes_[0]
    assert display.roc_auc == pytest.approx(roc_auc_score(y == "bad", F, sample_weight=weights))
    assert display.average_precision == pytest.approx(average_precision_score(y == "bad", F, sample_weight=weights))
    assert f"ROC curve, AUC {display.roc_auc:.3f}" in legend(roc)


def test_iso_cost_lines_have_the_slope_of_costs_and_prevalence(booster, rare):
    display = OperatingPointDisplay.from_estimator(booster, *rare, cost={"bad": 6.0, "good": 2.0}, prevalence=0.1)
    roc, pr = display.axes_
    expected = 2.0 * 0.9 / (6.0 * 0.1)
    for line in iso_costs(roc):
        (x0, y0), (x1, y1) = line.get_xydata()
        assert (y1 - y0) / (x1 - x0) == pytest.approx(expected)
    for line in iso_costs(pr):  # the same cost all along
        recall, precision = line.get_xydata().T
        cost = 0.1 * (6.0 * (1 - recall) + 2.0 * recall * (1 / precision - 1))
        np.testing.assert_allclose(cost, float(line.get_gid().split()[1]) * display.trivial_cost)


def test_all_levels_are_named_where_positives_are_rare(booster, rare):
    for prevalence in (0.001, 0.5):
        display = OperatingPointDisplay.from_estimator(booster, *rare, cost=5, prevalence=prevalence, kind="pr")
        assert [t.get_text() for t in display.ax_.texts] == ["25%", "50%", "75%", "100%"]


def test_the_cheapest_point_is_the_cheapest_of_all(booster, rare):
    X, y = rare
    display = OperatingPointDisplay.from_estimator(booster, X, y, cost=7, kind="roc")
    F = -booster.decision_function(X)
    bills = [Counts.of(y == "bad", t <= F).average_cost([[0, 1], [7, 0]]) for t in (*F, np.inf)]
    assert display.best_cost == pytest.approx(min(bills))
    flagged = display.best_threshold <= F
    assert Counts.of(y == "bad", flagged).average_cost([[0, 1], [7, 0]]) == pytest.approx(display.best_cost)
    assert markers(display.ax_, "*") == [pytest.approx(display.best)]


def test_the_cost_curve_is_that_of_the_metrics_with_the_line_of_the_decisions(booster, rare):
    X, y = rare
    display = CostCurveDisplay.from_estimator(booster, X, y, cost=3)
    expected = cost_curve(y, -booster.decision_function(X))
    triangle, envelope, decided = display.ax_.lines[:3]
    np.testing.assert_array_equal(triangle.get_ydata(), [0, 0.5, 0])
    x, height = envelope.get_xydata().T
    np.testing.assert_allclose(height, expected.at(x), atol=1e-12)
    counts = Counts.of(y == "bad", booster.predict(X) == "bad")
    np.testing.assert_allclose(decided.get_ydata(), [counts.false_alarm_rate, counts.miss_rate])
    assert display.probability_cost == pytest.approx(3 / (3 + 5))  # one in six is bad
    assert display.best_cost <= display.current_cost


@pytest.mark.sample(3)
@pytest.mark.parametrize("display", DISPLAYS)
def test_any_classifier_and_any_table(display, table):
    frame, y = table
    X = frame[["width", "height"]]
    tables = [X, X.to_numpy()]
    try:
        import polars

        tables.append(polars.from_pandas(X))
    except ImportError:
        pass
    for rows in tables:
        drawn = display.from_estimator(LogisticRegression().fit(rows, y), rows, y)
        assert drawn.figure_ is drawn.ax_.figure
    display.from_estimator(DummyClassifier().fit(X, y), X, y)  # who knows nothing
    with pytest.raises(NotFittedError, match="RealBoostClassifier"):
        display.from_estimator(RealBoostClassifier(), X, y)
    with pytest.raises(ValueError, match=r"only one class.*both classes"):
        display.from_estimator(LogisticRegression().fit(X, y), X[y == "good"], y[y == "good"])


@pytest.mark.parametrize("display", DISPLAYS)
def test_the_perfect_and_one_of_many_classes(display):
    y = np.arange(60) % 3
    display.from_predictions(y == 0, (y == 0) * 1.0)
    with pytest.raises(ValueError, match="Set pos_label"):
        display.from_predictions(y, np.eye(3)[y])
    drawn = display.from_predictions(y, np.eye(3)[y], pos_label=2)
    if display is not CalibrationDisplay:
        with pytest.raises(ValueError, match="compares one class with the rest"):
            display.from_predictions(y, np.eye(3)[y], pos_label=2, cost={0: 1, 1: 1, 2: 2})
    assert drawn.figure_ is not None


def test_errors_name_the_argument_and_the_remedy(booster, rare):
    with pytest.raises(ValueError, match="kind='area' must be one of 'roc', 'pr', 'both'"):
        OperatingPointDisplay.from_estimator(booster, *rare, kind="area")
    with pytest.raises(ValueError, match="has a mistake that costs no more than the right decision"):
        OperatingPointDisplay.from_estimator(booster, *rare, cost=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"prevalence=2 must be a number between"):
        CostCurveDisplay.from_estimator(booster, *rare, prevalence=2)
    with pytest.raises(ValueError, match="pos_label='ugly' is not among the classes"):
        OperatingPointDisplay.from_estimator(booster, *rare, pos_label="ugly")
    import matplotlib.pyplot as plt

    with pytest.raises(ValueError, match="ax has 1 Axes, but kind='both' needs 2"):
        OperatingPointDisplay.from_estimator(booster, *rare, ax=plt.figure().subplots())


# -------------------------------------------------------------------------------------------------------- calibration


def test_bins_hold_equally_many_and_their_shares():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = rng.random(1000) < p
    display = CalibrationDisplay.from_predictions(y, p, n_bins=5, pos_label=True)
    np.testing.assert_array_equal(display.n_examples, 200)
    rows = np.argsort(p)[:200]
    assert display.prob_pred[0] == pytest.approx(p[rows].mean())
    assert display.prob_true[0] == pytest.approx(y[rows].mean())
    assert ((display.lower <= display.prob_true) & (display.prob_true <= display.upper)).all()
    assert sum(display.histogram[1] + display.histogram[2]) == 1000


def test_where_positives_are_rare_bins_hold_equal_shares_of_them_and_axes_are_logarithmic():
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 60, size=20_000)
    y = rng.random(20_000) < p
    display = CalibrationDisplay.from_predictions(y, p, n_bins=5)
    expected = display.n_examples * display.prob_pred
    np.testing.assert_allclose(expected, p.sum() / 5, rtol=0.02)
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    inside = (display.lower <= display.prob_pred) & (display.prob_pred <= display.upper)
    assert inside.sum() >= 4  # the predictions are right


def test_wilsons_interval():
    lower, upper = wilson_interval(np.array([0.0, 0.1]), np.array([10.0, 10.0]), 0.95)
    np.testing.assert_allclose(lower, [0.0, 0.0179], atol=1e-4)  # as tables of the interval have it
    np.testing.assert_allclose(upper, [0.2775, 0.4042], atol=1e-4)


def test_intervals_depend_on_relative_weights_only():
    """Weights of 100 are no more evidence than weights of 1, and a row that outweighs all others is about one row."""
    y, p = np.arange(40) % 4 == 0, np.full(40, 0.25)
    alike = CalibrationDisplay.from_predictions(y, p, pos_label=True)
    for factor in (0.01, 100.0):
        scaled = CalibrationDisplay.from_predictions(y, p, pos_label=True, sample_weight=np.full(40, factor))
        assert scaled.n_examples == pytest.approx(40 * factor)
        np.testing.assert_allclose([scaled.lower, scaled.upper], [alike.lower, alike.upper])
    weights = np.where(np.arange(40) == 0, 1e6, 1.0)
    one = CalibrationDisplay.from_predictions(y, p, pos_label=True, sample_weight=weights)
    np.testing.assert_allclose(one.lower, wilson_interval(np.ones(1), np.ones(1), 0.95)[0], atol=1e-3)


def test_scores_are_no_probabilities():
    with pytest.raises(ValueError, match=r"from -1 to 2, which are not probabilities"):
        CalibrationDisplay.from_predictions([0, 1], [-1, 2])


# ---------------------------------------------------------------------------------------------------------- posterior


def test_the_decision_should_change_where_the_posterior_meets_the_costs():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.normal(2 * y - 1)[:, None]  # so that P(+|x) = 1 / (1 + exp(-2x)), [004] eq. 58
    clf = LogisticRegression().fit(X, y)
    display = PosteriorDisplay.from_estimator(clf, X, y, along=0, cost=5, posterior=lambda x: 1 / (1 + np.exp(-2 * x)))
    assert display.target == pytest.approx(1 / 6)  # eq. 57
    assert display.wanted == pytest.approx([-0.5 * np.log(5)], abs=1e-3)  # x* = -T / 2
    assert display.decided == pytest.approx(-clf.intercept_ / clf.coef_[0], abs=0.02)
    np.testing.assert_allclose(display.claimed[1], clf.predict_proba(display.claimed[0][:, None])[:, 1])


def test_a_small_target_is_not_on_the_floor():
    p = np.linspace(0.0, 0.2, 2000)
    y = np.random.default_rng(0).random(2000) < p
    display = PosteriorDisplay.from_predictions(y, p, cost=300)
    heights = display.ax_.transAxes.inverted().transform(
        display.ax_.transData.transform([(0.0, 0.0), (0.0, display.target), (0.0, 1.0)])
    )[:, 1]
    assert 0.0 <= heights[0] < 0.1 < heights[1] < 0.6 < heights[2] <= 1.0
    assert PosteriorDisplay.from_predictions(y, p, cost=3).ax_.get_yscale() == "linear"


def test_along_the_score_the_isotonic_fit_says_where(booster, rare):
    display = PosteriorDisplay.from_estimator(booster, *rare, cost=5)
    x, share = display.observed
    assert (np.diff(share) >= 0).all()
    assert display.decided == [0.0]
    cheapest = OperatingPointDisplay.from_estimator(booster, *rare, cost=5).best_threshold
    between = x[np.searchsorted(x, display.wanted[0]) - 1], x[np.searchsorted(x, display.wanted[0])]
    assert between[0] <= cheapest <= between[1]


def test_a_column_of_categories_has_no_order(table):
    frame, y = table
    clf = RealBoostClassifier(n_estimators=3).fit(frame, y)
    with pytest.raises(ValueError, match="along='town' is a column of categories"):
        PosteriorDisplay.from_estimator(clf, frame, y, along="town")
    with pytest.raises(ValueError, match="along='hat' is not a column of X"):
        PosteriorDisplay.from_estimator(clf, frame, y, along="hat")
    assert "others" not in PosteriorDisplay.from_estimator(clf, frame, y, along="width").note
