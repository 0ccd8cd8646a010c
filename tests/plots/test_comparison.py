"""What the drawings of a comparison show."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from skewboost.evaluate import Comparison
from skewboost.plots import ComparisonDisplay


def made(n_methods, n_sets, n_folds, names="method number {}"):
    """The j-th method costs about j units."""
    rng = np.random.default_rng(0)
    methods = [names.format(j + 1) for j in range(n_methods)]
    sets = [f"set {d}" for d in range(n_sets)]
    rows = [
        {"data_set": d, "method": m, "repeat": 0, "fold": f, "n_train": 80, "n_test": 20, "params": {},
         "measures": {"cost": 0.02 * j + rng.normal(0, 0.03)}, "tune_seconds": 0.0, "fit_seconds": 0.1,
         "predict_seconds": 0.1, "failed": None, "made_by": ""}
        for d in sets for f in range(n_folds) for j, m in enumerate(methods)
    ]  # fmt: skip
    return Comparison(rows, methods=methods, data_sets=sets, n_fits=len(rows))


def lines(display, gid):
    return [line for line in display.ax_.lines if line.get_gid() == gid]


@pytest.mark.parametrize("k", [3, 15])
def test_the_critical_difference_diagram(k):
    comparison = made(k, 12, 1)
    display = ComparisonDisplay.from_comparison(comparison, measure="cost")
    test = comparison.test("cost")
    assert display.kind == "ranks"
    tops = {line.get_xdata()[0] for line in lines(display, "method")}
    assert tops == set(test.mean_ranks.values())
    texts = [text.get_text() for text in display.ax_.texts]
    for method, rank in test.mean_ranks.items():
        assert any(method in text and f"{rank:.2f}" in text for text in texts)
    for bar, group in zip(lines(display, "group"), test.groups, strict=True):
        ends = bar.get_xdata()
        assert ends[0] < test.mean_ranks[group[0]] < test.mean_ranks[group[-1]] < ends[1]
        assert bar.get_linewidth() > 3
    (cd,) = lines(display, "cd")
    assert np.ptp(cd.get_xdata()) == pytest.approx(min(test.critical_difference, k - 1))


@pytest.mark.parametrize(("k", "names"), [(2, "{}"), (15, "StandardScaler + LogisticRegression {}")])
def test_names_do_not_overlap(k, names):
    display = ComparisonDisplay.from_comparison(made(k, 12, 1, names))
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    page = display.figure_.bbox
    for i, box in enumerate(boxes):
        assert page.x0 - 1 <= box.x0
        assert box.x1 <= page.x1 + 1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_bars_that_overlap_are_on_lines_of_their_own():
    display = ComparisonDisplay.from_comparison(made(15, 12, 1))
    bars = [(*line.get_xdata(), line.get_ydata()[0]) for line in lines(display, "group")]
    assert len(bars) > 2
    for i, (start, end, y) in enumerate(bars):
        assert not any(y == other and s < end and start < e for s, e, other in bars[i + 1 :])


def test_two_methods_on_several_data_sets():
    display = ComparisonDisplay.from_comparison(made(2, 12, 1))
    assert "Wilcoxon signed-rank test on 12 data sets" in display.note
    assert display.critical_difference is None


def test_a_single_data_set_shows_values():
    comparison = made(5, 1, 10)
    display = ComparisonDisplay.from_comparison(comparison)
    assert display.kind == "values"
    (means,) = lines(display, "mean")
    values = comparison.values("cost")
    assert display.methods == sorted(values, key=lambda m: values[m].mean())  # less is better
    np.testing.assert_allclose(means.get_xdata(), [values[m].mean() for m in display.methods])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.methods
    v = values[display.methods[0]]
    half = stats.t.ppf(0.975, 9) * np.sqrt((1 / 10 + 20 / 80) * v.var(ddof=1))  # Nadeau and Bengio
    np.testing.assert_allclose(display.intervals[0], [v.mean() - half, v.mean() + half])
    assert len(lines(display, "block")) == 5
    assert "lower is better" in display.ax_.get_xlabel()


def test_ranks_of_folds_say_that_folds_overlap():
    display = ComparisonDisplay.from_comparison(made(4, 1, 10), kind="ranks")
    assert "overlap" in display.note
    assert any("overlap" in text.get_text() for text in display.ax_.texts)


def test_on_axes_of_the_user():
    _, ax = plt.subplots()
    display = ComparisonDisplay.from_comparison(made(3, 1, 4), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_bad_kind():
    with pytest.raises(ValueError, match="kind='pie' must be"):
        ComparisonDisplay.from_comparison(made(3, 1, 4), kind="pie")
