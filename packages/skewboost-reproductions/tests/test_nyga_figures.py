"""The figures of Nyga's thesis: what is drawn, against values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skewboost.plots.style import import_pyplot
from skewboost_reproductions import reproduce
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.page_parts import Figure
from skewboost_reproductions.papers.nyga.figures import PICTURES
from skewboost_reproductions.papers.nyga.pictures import (
    figure_1_1,
    figure_1_5,
    figure_2_1,
    figure_2_2,
    figure_2_3,
    figure_2_4,
    figure_3_2,
    figure_3_3,
    figure_3_5,
    figure_3_8,
    figure_4_1,
)
from skewboost_reproductions.papers.nyga.pictures.panels import as_curve, draw_boundary, draw_measures, thinned
from skewboost_reproductions.papers.nyga.problems import MEASURES, classifier, splits
from skewboost_reproductions.verdicts import BY_CONSTRUCTION, HELD, HELD_ON_STAND_INS, NOT_REPRODUCED
from support import SHARED, load_trace

needs_data = pytest.mark.skipif(not (SHARED / "data").exists(), reason="needs the data sets beside the repository")


def run(picture, quick=True):
    """The results of a picture, as of an experiment."""
    return Results({task.name: task.work(*task.args) for task in picture.tasks(quick)}, 0.0)


def test_every_picture_says_what_it_shows():
    numbers = [picture.number for picture in PICTURES]
    assert numbers[:16] == sorted(numbers[:16])
    assert numbers[16:] == ["B.1-B.5", "B.6-B.10", "B.11"]
    assert len(set(numbers)) == 19
    for picture in PICTURES:
        assert picture.title
        assert picture.caption.endswith(".")
        assert picture.choices.endswith(".")


@pytest.mark.parametrize(
    ("picture", "not_reproduced"),
    [
        (figure_1_5.PICTURE, []),
        (figure_2_2.PICTURE, ["Cross-entropy is -ln(1 + e^(-2yF)), (2.27), and falls"]),
        (
            figure_2_3.PICTURE,
            [
                "AdaBoost solves it after 4 iterations",
                "In round 2, where AdaC1 constantly predicts the negative class, α is negative",
            ],
        ),
    ],
    ids=lambda value: getattr(value, "number", ""),
)
def test_figures_without_chance(picture, not_reproduced):
    solved = "AdaBoost solves the problem with three stumps"
    results = run(picture)
    claims = {claim.text: claim.verdict for claim in picture.claims(results, True)}
    assert {text for text, verdict in claims.items() if verdict == NOT_REPRODUCED} == set(not_reproduced)
    assert set(claims.values()) <= {HELD, BY_CONSTRUCTION, NOT_REPRODUCED}
    if picture.stand_in:
        assert [c.text for c in picture.judged(results, True) if c.verdict == HELD_ON_STAND_INS] == [solved]
    (heading, figure) = picture.parts(results, True)
    assert heading.startswith(f"### Figure {picture.number}: ")
    assert isinstance(figure, Figure)
    assert f"of {len(claims)} claims" in figure.caption
    assert f"{len(not_reproduced)} not reproduced" in figure.caption or not not_reproduced
    assert all(text in figure.caption for text in not_reproduced)
    import_pyplot().close(figure.draw())
    assert all(claim.text.startswith(f"{picture.number}: ") for claim in picture.numbered_claims(results, True))


def test_polynomials_of_the_highest_degree_interpolate():
    y = figure_1_1.sample(3)
    np.testing.assert_allclose(figure_1_1.fitted(figure_1_1.HIGHEST, y)(figure_1_1.X), y, atol=1e-9)
    assert np.abs(figure_1_1.fitted(figure_1_1.HIGHEST - 1, y)(figure_1_1.X) - y).max() > 1e-3


def test_bias_and_variance_of_a_line(monkeypatch):
    """The line of least squares is linear in y: its bias is that of the fit to the cosine, its variance σ² Σ h²."""
    found = np.mean([figure_1_1.bias_and_variance(first)[0] for first in range(0, 1000, 100)], axis=0)
    X, grid = figure_1_1.X, figure_1_1.GRID
    design, at = (np.column_stack((np.ones(len(x)), x)) for x in (X, grid))
    hat = at @ np.linalg.pinv(design)
    bias = ((hat @ np.cos(X) - np.cos(grid)) ** 2).mean()
    variance = figure_1_1.NOISE**2 * (hat**2).sum(axis=1).mean()
    assert found[0] == pytest.approx(bias, rel=0.02)
    assert found[1] == pytest.approx(variance, rel=0.1)
    assert found[2] == pytest.approx(found[0] + found[1])


def test_the_three_rounds_on_ten_points():
    first, second, third = figure_1_5.rounds_on_ten_points()
    assert first["error"] == pytest.approx(0.3)
    assert first["step"] == pytest.approx(0.5 * math.log(7 / 3))
    assert second["error"] == pytest.approx(3 / 14)  # three of seven points that were right
    assert third["error"] == pytest.approx(3 / 22)
    assert np.sum(second["weights"]) == pytest.approx(1.0)
    np.testing.assert_allclose(np.array(second["weights"])[first["wrong"]], 1 / 6)
    assert third["ensemble"] == []
    assert not figure_1_5.separable(figure_1_5.POINTS, figure_1_5.LABELS)


def test_a_line_is_found_if_there_is_one():
    assert figure_1_5.separable(figure_1_5.POINTS, (figure_1_5.POINTS[:, 0] > 5).astype(int))


def test_losses_at_some_margins():
    at = {name: [round(float(loss(m)), 4) for m in (-1.0, 0.0, 1.0, 2.0)] for name, loss in figure_2_2.LOSSES.items()}
    assert at == {
        "misclassification": [1.0, 0.0, 0.0, 0.0],
        "exponential": [2.7183, 1.0, 0.3679, 0.1353],
        "squared error": [4.0, 1.0, 0.0, 1.0],
        "binomial log-likelihood": [3.0685, 1.0, 0.1831, 0.0262],
    }


@pytest.mark.parametrize(("name", "trace"), [("AdaBoost", "doc_toy3_adaboost"), ("AdaC1", "doc_toy3_adac1_thesis")])
def test_three_points_round_by_round(name, trace):
    found, expected = figure_2_3.rounds_on_three_points(name), load_trace(trace)
    np.testing.assert_allclose(found["F"], [r["F_train"] for r in expected["rounds"]], atol=1e-9)
    np.testing.assert_allclose(found["steps"], [r["alpha"] for r in expected["rounds"]], atol=1e-9)
    assert figure_2_3.errors_by_round(found["F"]) == expected["errors"]


def test_no_way_to_break_ties_takes_longer():
    assert figure_2_3.rounds_until_solved() == [3]


def test_settings_of_hard_margins_share_their_points():
    X, y = figure_2_4.training_set(5, "none")
    assert X.shape == (figure_2_4.N_ROWS, 2)
    assert np.abs(X.sum(axis=1)).min() > figure_2_4.GAP
    np.testing.assert_array_equal(y, figure_2_4.truth(X))
    more, labels = figure_2_4.training_set(5, "outlier")
    np.testing.assert_array_equal(more[:-1], X)
    assert labels[-1] == 1 != figure_2_4.truth(more)[-1]
    same, noisy = figure_2_4.training_set(5, "noise")
    np.testing.assert_array_equal(same, X)
    assert (noisy != y).sum() == round(figure_2_4.SHARE * figure_2_4.N_ROWS)


def test_a_short_fit_is_continued_by_its_last_round():
    padded = figure_2_1._padded(np.array([[0.3, 0.2, 0.0]]))
    assert padded.shape == (1, figure_2_1.ROUNDS)
    assert padded[0, [0, 1, 2, 3, -1]].tolist() == [0.3, 0.2, 0.0, 0.0, 0.0]


def test_the_lowest_mean_of_a_round():
    values = np.array([[0.9, 0.5, 0.8], [0.9, 0.7, 0.8]])
    assert figure_3_2.lowest(values).mean == pytest.approx(0.6)


class Squares:
    """Predicts 1 in two squares."""

    def predict(self, X):
        left = (np.abs(X - [0.25, 0.25]) < 0.1).all(axis=1)
        right = (np.abs(X - [0.75, 0.75]) < 0.1).all(axis=1)
        return (left | right).astype(int)


def test_regions_without_a_row_of_their_class():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.25, 0.25], [0.75, 0.75]])

    class Rows:
        def __init__(self, y):
            self.X, self.y = X, np.array(y)

    assert figure_3_3.regions(Squares(), Rows([0, 0, 1, 1])) == [3, 0]
    assert figure_3_3.regions(Squares(), Rows([0, 0, 1, 0])) == [3, 1]  # the row in the second square is of class 0
    assert figure_3_3.regions(Squares(), Rows([1, 1, 0, 0])) == [3, 3]


def test_changes_and_reciprocity():
    np.testing.assert_allclose(figure_3_5.changes(np.array([[0.2, 0.7, np.nan, 0.1]])), [[0.5, 0.0, 0.0]])
    path = np.full((2, 60, len(MEASURES)), np.nan)
    recall, precision = MEASURES.index("R+"), MEASURES.index("P+")
    path[:, :, recall] = 0.5 + 0.4 * (-1.0) ** np.arange(60)
    path[0, :, precision] = 0.5 - 0.1 * (-1.0) ** np.arange(60)  # against each other
    path[1, :, precision] = 0.9  # does not move
    found = figure_3_5.reciprocity(path, 0.0)
    assert (found.mean, found.n) == (pytest.approx(1.0), 1)


def test_the_sum_of_rounds_has_no_costs_to_come():
    """The first round of CSGA as printed is that of GentleBoost, and after the last no costs are to come."""
    (split,) = splits("intrusion", 0)
    costly = classifier("intrusion", "CSGA", 1.0, other_cost=10.0, rounds=20).fit(split.X, split.y)
    plain = classifier("intrusion", "GentleBoost", rounds=1).fit(split.X, split.y)
    sums = figure_3_8.sums_of_rounds(costly, split.X_test, 0.1)
    np.testing.assert_allclose(sums[0], plain.decision_function(split.X_test), atol=1e-12)
    np.testing.assert_allclose(sums[-1], costly.decision_function(split.X_test), atol=1e-12)
    assert len(sums) == 20


def test_costs_in_every_round_are_the_power_of_those_that_are_spread():
    """With M rounds and costs c^M each round multiplies the weights by c: F falls by 1 where there are no positives."""
    (split,) = splits("intrusion", 1)
    model = classifier("intrusion", "CSGA", 1.0, other_cost=10.0**30, rounds=30).fit(split.X, split.y)
    sums = figure_3_8.sums_of_rounds(model, split.X, 10.0**-30)
    negative = split.y == 0
    assert sums[-1][negative].max() < -25.0
    falls = (sums[-1] - sums[-2])[split.y == 1]
    assert (np.abs(falls) > 1 - 1e-6).all()
    assert (falls < 0).any()  # attacks that no stump separates lose what they had


def test_the_clusters_are_those_of_the_code():
    X, Y = figure_4_1.clusters(3)
    assert X.shape == (2 * figure_4_1.N, 2)
    assert Y.tolist() == [1] * figure_4_1.N + [-1] * figure_4_1.N
    np.testing.assert_allclose(X[Y == -1].mean(axis=0) - X[Y == 1].mean(axis=0), 3.0, atol=0.2)
    assert pytest.approx(0.01695, abs=1e-5) == figure_4_1.BAYES


def test_rounds_are_thinned_out():
    assert thinned(12) == list(range(1, 13))
    assert thinned(50)[-5:] == [30, 35, 40, 45, 50]


def test_scores_become_a_curve():
    scores = np.arange(2 * 3 * len(MEASURES), dtype=float).reshape(2, 3, len(MEASURES))
    curve = as_curve("AdaBoost", [1, 2, 5], {"test": scores})
    np.testing.assert_array_equal(curve.values("error", "test"), scores[..., MEASURES.index("error")])
    np.testing.assert_array_equal(curve.values("f1_negative", "test"), scores[..., MEASURES.index("F-")])
    figure, axis = import_pyplot().subplots()
    (line,) = draw_measures(axis, as_curve("AdaBoost", [1, 2, 5], {"test": scores / scores.max()}), "recall")
    assert line.get_xdata().tolist() == [1, 2, 5]
    assert axis.get_legend() is None
    import_pyplot().close(figure)


def test_corners_widen_a_panel_and_are_not_drawn():
    from matplotlib.collections import PathCollection

    figure, axis = import_pyplot().subplots()
    model = figure_1_5.booster(1).fit(figure_1_5.POINTS, figure_1_5.LABELS)
    draw_boundary(axis, model, figure_1_5.POINTS, figure_1_5.LABELS, corners=((-5.0, 0.0), (15.0, 10.0)), area=7.0)
    points = [drawn for drawn in axis.collections if isinstance(drawn, PathCollection)]
    assert sum(len(drawn.get_offsets()) for drawn in points) == len(figure_1_5.POINTS)
    assert {float(area) for drawn in points for area in drawn.get_sizes()} == {7.0}
    assert axis.get_xlim()[0] < -5.0 < 15.0 < axis.get_xlim()[1]
    import_pyplot().close(figure)


NEVER = {  # what the full run does not reproduce
    "2.1: The training error reaches zero after 4 iterations",
    "2.2: Cross-entropy is -ln(1 + e^(-2yF)), (2.27), and falls",
    "2.3: AdaBoost solves it after 4 iterations",
    "3.3: The training error of AdaBoost-Reg stagnates after round 30 (trees of 3 leaves)",
}
ALWAYS = {  # what it finds
    "1.1: Lines have large bias (bias² less variance)",
    "1.1: Polynomials have high variance (less bias²)",
    "3.3: The boundary of AdaBoost-Reg is smoother (regions of RealBoost less its own)",
    "3.5: Cancer: AdaC1 does not converge (change of recall per round in the last 50 of 200, less AdaBoost's)",
    "3.6: With larger costs it gets amplified (precision after 500 rounds, c = 1.01 less c = 2)",
    "3.7: The areas of positive output grow (share of the plane at 95 % less that at 85 %)",
    "4.1: The clusters overlap slightly (here: the training error is above 0)",
}
ON_STAND_INS = {
    "1.3: 40 separate the classes with high accuracy (here: less 0.9)",
    "2.4: SVM: an outlier corrupts the boundary (test error less that without)",
    "2.4: AdaBoost: so does noise",
}


@pytest.mark.slow
@needs_data
def test_the_quick_run_finds_what_the_full_one_did(tmp_path):
    done = reproduce("nyga-figures", tmp_path, quick=True, n_jobs=2)
    verdicts = {claim.text: claim.verdict for claim in done.claims}
    assert {verdicts[text] for text in NEVER} == {NOT_REPRODUCED}
    assert {text: verdicts[text] for text in ALWAYS} == dict.fromkeys(ALWAYS, HELD)
    assert {verdicts[text] for text in ON_STAND_INS} == {HELD_ON_STAND_INS}
    drawn = [file for file in done.files if file.suffix == ".png"]
    assert len(drawn) == len(PICTURES)
    assert max(file.stat().st_size for file in drawn) < 130_000
