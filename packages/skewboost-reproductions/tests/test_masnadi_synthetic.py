"""The experiment masnadi-synthetic: boundaries, their optimum, and what held."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from skewboost.plots.style import import_pyplot
from skewboost_reproductions.experiment_runs import run_tasks
from skewboost_reproductions.papers.masnadi import synthetic as masnadi_synthetic
from skewboost_reproductions.papers.masnadi.synthetic import (
    COSTS,
    EXPERIMENT,
    FIVE_ROUNDS,
    LINE,
    NEVER,
    PRINTED_LOGIT,
    ROUNDS,
    after_five_rounds,
    boundary,
    by_round,
    first_stumps_of_adac1,
    optimum,
)
from skewboost_reproductions.printed import printed


@pytest.mark.parametrize("cost", [0.01, 1.0, 5.0, 20.0])
def test_the_optimum_has_the_least_expected_cost(cost):
    def slope(x):
        """The change of the expected cost, of misses at the left and false alarms at the right of x."""
        return cost * norm.pdf(x, 1.0) - norm.pdf(x, -1.0)

    assert optimum(cost) == pytest.approx(brentq(slope, -10, 10))


def test_the_printed_optima():
    """The lines of figure 3."""
    assert [row["cost"] for row in printed("masnadi", "synthetic")] == [5.0, 20.0]
    assert optimum(5.0) == pytest.approx(-0.805, abs=5e-4)
    assert optimum(20.0) == pytest.approx(-1.498, abs=5e-4)


def test_the_boundary_leaves_as_much_of_the_line_positive():
    x = LINE[:, 0]
    assert boundary(x > -0.5) == pytest.approx(-0.5, abs=1e-3)
    assert boundary(np.zeros(len(x), bool)) == NEVER
    assert boundary(np.ones(len(x), bool)) == pytest.approx(-NEVER)
    assert boundary((x > 1.0) | ((x > -2.0) & (x < -1.0))) == pytest.approx(0.0, abs=2e-3)


def test_equal_costs_put_the_boundary_in_the_middle():
    for algorithm in FIVE_ROUNDS:
        assert abs(after_five_rounds(algorithm, 0)[COSTS.index(1.0)]) < 0.1


def test_a_small_run_makes_all_parts_of_the_page(monkeypatch):
    monkeypatch.setattr(masnadi_synthetic, "ROUNDS", 6)
    monkeypatch.setattr(masnadi_synthetic, "MORE", 12)
    monkeypatch.setattr(masnadi_synthetic, "SEARCH", (1.1, 2.0, 4.5))
    monkeypatch.setattr(masnadi_synthetic, "make_two_gaussians", _few)
    results = run_tasks(EXPERIMENT, True, None)
    claims, figure_2, drawn_2, *tables, drawn_3 = EXPERIMENT.report(results, True)
    assert len(claims.claims) == 21
    assert set(figure_2.columns) == {*FIVE_ROUNDS, "optimum"}
    assert [table.cells["CS-Ada", "best cost"].printed for table in tables] == [
        row["best_estimate"] for row in printed("masnadi", "synthetic")
    ]
    for figure in (drawn_2, drawn_3):
        import_pyplot().close(figure.draw())


def _few(random_state):
    from skewboost.datasets import make_two_gaussians

    return make_two_gaussians(300, random_state=random_state)


@pytest.mark.slow
def test_what_held_of_figure_2():
    draws = range(4)
    off = {}
    for algorithm in FIVE_ROUNDS:
        found = np.mean([after_five_rounds(algorithm, d) for d in draws], axis=0)
        off[algorithm] = np.abs(found - [optimum(c) for c in COSTS])
    usual = [0.05 <= c <= 20.0 for c in COSTS]
    assert off["CS-Real"][usual].mean() < 0.05
    assert off["CS-Logit"][usual].mean() < 0.05
    assert off["CS-Ada"][usual].mean() > 2 * off["CS-Real"][usual].mean()


@pytest.mark.slow
def test_what_held_of_figure_3():
    """No algorithm before CS-AdaBoost stays where the decision of least expected cost is."""
    for algorithm in ("CSB0", "AdaC2", "AdaC3"):
        paths = np.mean([by_round(algorithm, d) for d in range(2)], axis=0)
        for true in (5.0, 20.0):
            best = paths[np.abs(paths[:, ROUNDS - 1] - optimum(true)).argmin()]
            assert np.abs(best[ROUNDS:] - optimum(true)).max() > 0.1, (algorithm, true)


@pytest.mark.slow
def test_the_printed_stumps_of_adac1_are_found_with_a_cost_of_1_1():
    stumps = np.array([first_stumps_of_adac1(d) for d in range(4)])
    for row, found in zip(printed("masnadi", "synthetic_adac1"), stumps.mean(axis=0)[:, 1]):
        assert found == pytest.approx(row["step"], abs=0.03)
    assert np.abs(stumps[:, 0, 0]).max() < 0.1
    assert np.median(stumps[:, 1, 0]) == pytest.approx(-0.9186, abs=0.1)


@pytest.mark.slow
def test_printed_weights_of_logitboost_miss_very_unequal_costs():
    at = [COSTS.index(c) for c in (0.01, 0.1, 10.0, 100.0)]
    off = {}
    for algorithm in ("CS-Logit", PRINTED_LOGIT):
        found = np.mean([after_five_rounds(algorithm, d) for d in range(3)], axis=0)[at]
        off[algorithm] = np.abs(found - [optimum(COSTS[k]) for k in at])
    assert (off["CS-Logit"] < 0.05).all()
    assert (off[PRINTED_LOGIT][1:3] < 0.05).all()
    assert off[PRINTED_LOGIT][[0, 3]].mean() > 0.2
