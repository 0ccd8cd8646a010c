"""Drawings of curves, weights, sweeps and decompositions show what was computed, in words and in black and white."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.ensemble import GradientBoostingClassifier

from plots.conftest import legend
from skewboost import AdaBoostClassifier, AdaC2Classifier, WeightBoostClassifier
from skewboost.evaluate import bias_variance, cost_sweep, imbalance_sweep, noise_sweep, size_sweep, staged_curve
from skewboost.plots import (
    BiasVarianceDisplay,
    CostSweepDisplay,
    StagedCurveDisplay,
    SweepDisplay,
    WeightQuantileDisplay,
)
from support import awkward_data

X, Y = awkward_data(150)
CLF = AdaBoostClassifier(n_estimators=12)


@pytest.fixture(scope="module")
def curve():
    return staged_curve(CLF, X, Y, cv=3, random_state=0)


def looks_without_colour(lines):
    return {(str(line.get_linestyle()), line.get_marker(), line.get_markerfacecolor() == "white") for line in lines}


def test_a_learning_curve_shows_means_and_bands(curve):
    display = StagedCurveDisplay(curve, measures="error").plot()
    ax = display.ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rounds", "error")
    assert ax.get_title(loc="left") == "AdaBoost: error by round"
    assert legend(display.ax_) == ["training rows, mean ± 2s", "test rows, mean ± 2s"]
    for part, band in zip(("train", "test"), ax.collections):
        line = display.lines_["error", part]
        np.testing.assert_array_equal(line.get_xdata(), curve.rounds)
        np.testing.assert_array_equal(line.get_ydata(), curve.mean("error", part))
        corners = band.get_paths()[0].vertices
        widest = curve.mean("error", part) + 2 * curve.spread("error", part)
        assert corners[:, 1].max() == pytest.approx(widest.max())
    assert ax.get_ylim()[0] < 0.001
    assert len(looks_without_colour(display.lines_.values())) == 2


def test_several_measures_are_told_apart_without_colour(curve):
    display = StagedCurveDisplay(curve, measures=["precision", "recall", "f1_negative"], log=True).plot()
    assert len(looks_without_colour(display.lines_.values())) == 6
    assert display.ax_.get_xscale() == "log"
    assert "F1 of negatives, test rows" in legend(display.ax_)
    assert not display.ax_.collections  # bands of six curves would hide each other
    assert StagedCurveDisplay(curve, measures="exponential_loss").plot().ax_.get_yscale() == "log"


def test_weights_are_drawn_as_their_quantiles(curve):
    display = WeightQuantileDisplay(curve).plot()
    ax = display.ax_
    assert (ax.get_yscale(), ax.get_ylabel()) == ("log", "weight × number of examples")
    assert legend(display.ax_) == ["largest", "95% quantile", "75% quantile", "median", "25% quantile"]
    drawn = np.array([line.get_ydata() for line in display.lines_]).T
    np.testing.assert_allclose(drawn, curve.weight_quantiles.mean(axis=0))
    assert len(looks_without_colour(display.lines_)) == 5


def test_weights_that_are_not_known_are_not_drawn():
    other = staged_curve(GradientBoostingClassifier(n_estimators=2), np.nan_to_num(X), Y, cv=2)
    with pytest.raises(ValueError, match=r"the weights of .* are not known"):
        WeightQuantileDisplay(other).plot()
    with pytest.raises(ValueError, match="measure='auc' is not a measure"):
        StagedCurveDisplay(other, measures="auc").plot()


def test_one_fit_has_no_band():
    halves = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    display = StagedCurveDisplay.from_estimator(CLF, X, Y, cv=halves)
    assert not display.ax_.collections
    assert legend(display.ax_) == ["training rows", "test rows"]


def test_measures_are_names(curve):
    with pytest.raises(ValueError, match="measures=5 must be the name of a measure"):
        StagedCurveDisplay(curve, measures=5).plot()


@pytest.mark.parametrize(
    ("sweep", "what"), [(noise_sweep, "label noise"), (imbalance_sweep, "rarer positives"), (size_sweep, "fewer rows")]
)
def test_sweeps_are_drawn_per_estimator(sweep, what):
    both = {"AdaBoost": AdaBoostClassifier(n_estimators=2), "WeightBoost": WeightBoostClassifier(n_estimators=2)}
    result = sweep(both, X, Y, cv=2, random_state=0)
    display = SweepDisplay(result, measure="recall").plot()
    ax = display.ax_
    assert what in ax.get_title(loc="left")
    assert (ax.get_xlabel(), ax.get_ylabel()) == (result.what, "recall")
    assert legend(display.ax_) == ["AdaBoost", "WeightBoost"]
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_ydata(), result.mean("recall", name))
        shift = np.abs(line.get_xdata() - result.levels).max() / np.ptp(result.levels)
        assert shift < 0.02  # bars lie side by side
    assert len(looks_without_colour(display.lines_.values())) == 2


@pytest.mark.parametrize("pooled", [True, False])
def test_a_cost_sweep_shows_precision_recall_and_f1(pooled):
    result = cost_sweep(AdaC2Classifier(n_estimators=3), X, Y, costs=[1, 5, 50], cv=2, random_state=0)
    display = CostSweepDisplay(result, pooled=pooled).plot()
    ax = display.ax_
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "cost of a miss / cost of a false alarm"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "5", "50"]
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_ydata(), result.pooled(name) if pooled else result.mean(name))
    assert legend(display.ax_)[:3] == ["precision", "recall", "F1"]
    assert len(looks_without_colour(display.lines_.values())) == 3
    with pytest.raises(ValueError, match=r"measures=\[\] must be the name"):
        CostSweepDisplay(result, measures=[]).plot()


def test_a_decomposition_is_curves_over_rounds_or_bars():
    staged = bias_variance(CLF, X, Y, draws=3, staged=True, random_state=0)
    display = BiasVarianceDisplay(staged).plot()
    np.testing.assert_array_equal(display.lines_["bias"].get_ydata(), staged.bias)
    np.testing.assert_array_equal(display.lines_["variance that helps"].get_ydata(), staged.variance_biased)
    assert display.ax_.get_ylabel() == "error rate"
    assert len(looks_without_colour(display.lines_.values())) == 5
    whole = bias_variance(CLF, X, Y, draws=3, of="cost", cost=4, random_state=0)
    bars = BiasVarianceDisplay(whole).plot()
    heights = [bar.get_height() for bar in bars.ax_.patches]
    assert heights[:3] == [whole.loss[0], whole.bias[0], whole.variance[0]]
    assert bars.ax_.get_ylabel() == "mean cost"
    assert "3 training sets" in bars.ax_.get_title(loc="left")
    squared = BiasVarianceDisplay(bias_variance(CLF, X, Y, draws=3, of="squared_error", random_state=0)).plot()
    assert squared.ax_.get_ylabel() == "mean squared error"
    assert "squared error = bias + variance" in squared.ax_.get_title(loc="left")
    assert list(squared.bars_) == ["loss", "bias", "variance"]


def test_they_draw_into_given_axes_and_in_colours_that_the_colour_blind_tell_apart(curve):
    _, axes = plt.subplots(2)
    assert StagedCurveDisplay(curve, measures=["recall", "f1"]).plot(ax=axes[0]).ax_ is axes[0]
    assert WeightQuantileDisplay(curve).plot(ax=axes[1]).ax_ is axes[1]
    colours = {to_rgb(line.get_color()) for line in axes[1].lines}
    assert len(colours) == 6
