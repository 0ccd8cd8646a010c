"""The experiment masnadi-faces: how images are divided, what errors cost, and the parts of its page."""

from __future__ import annotations

import numpy as np
import pytest

from skewboost.datasets import fetch_faces
from skewboost.plots.style import import_pyplot
from skewboost_reproductions.experiment_runs import run_tasks
from skewboost_reproductions.papers.masnadi import faces as masnadi_faces
from skewboost_reproductions.papers.masnadi.faces import (
    ALGORITHMS,
    EXPERIMENT,
    FACTORS,
    GRIDS,
    TRAINED,
    best_cost,
    cost_at,
    detect,
    halves_of_the_images,
)
from support import SHARED

needs_data = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs the images of the faces")


@needs_data
def test_images_are_divided_into_balanced_and_disjoint_parts():
    _, y = fetch_faces("train")
    parts = halves_of_the_images(0)
    everything = np.concatenate(parts)
    assert len(np.unique(everything)) == len(everything) == 2 * np.sum(y == 1)
    assert len(parts[0]) / len(everything) == pytest.approx(TRAINED, abs=1e-3)
    for rows in parts:
        assert y[rows].mean() == 0.5
    assert not np.array_equal(parts[0], halves_of_the_images(1)[0])


def test_the_best_threshold_is_the_best_of_all():
    rng = np.random.default_rng(0)
    positive = rng.random(60) < 0.3
    scores = np.round(rng.normal(size=60) + positive, 1)  # with ties
    for factor in (1.0, 10.0, 100.0):
        threshold, cost = best_cost(positive, scores, factor)
        candidates = [*np.unique(scores), np.inf]
        assert cost == pytest.approx(min(cost_at(positive, scores, factor, t) for t in candidates))
        assert cost == pytest.approx(cost_at(positive, scores, factor, threshold))


def test_costs_are_false_alarms_and_misses_per_image():
    positive, scores = np.array([True, True, False, False]), np.array([1.0, -1.0, 2.0, -2.0])
    assert cost_at(positive, scores, 10.0, 0.0) == (1 + 10) / 4


@needs_data
def test_a_small_run_makes_all_parts_of_the_page(monkeypatch):
    monkeypatch.setattr(masnadi_faces, "ROUNDS", 3)
    monkeypatch.setitem(GRIDS, "coarse", {"min_size": 6, "size_step": 6, "step": 6})
    results = run_tasks(EXPERIMENT, True, None)
    claims, figure, plain, rounds, best, honest = EXPERIMENT.report(results, True)
    assert len(claims.claims) == 2 + (2 * len(FACTORS) - 1) + 2 + 6
    assert len(plain.rows) == len(masnadi_faces.QUICK["CS-Ada"])
    assert set(best.rows) == set(honest.rows) == set(ALGORITHMS)
    assert len(rounds.rows) == len(masnadi_faces.SHOWN_COSTS) * len(masnadi_faces.SHOWN_ROUNDS)
    import_pyplot().close(figure.draw())


@pytest.mark.slow
@needs_data
def test_costs_of_training_matter_less_than_the_threshold():
    """With moved thresholds AdaBoost is about as cheap as the cost-sensitive variants before CS-AdaBoost."""
    found = {a: [detect(a, s, "coarse", True)["best"] for s in range(3)] for a in ("AdaBoost", "AdaCost", "AdaC2")}
    mean = {a: np.mean(costs) for a, costs in found.items()}
    assert mean["AdaBoost"] < mean["AdaCost"]


@pytest.mark.slow
@needs_data
def test_costs_in_the_exponent_reverse_once_training_images_are_learned():
    """More misses with a larger training cost after 100 rounds, and fewer after one."""
    found = np.mean([masnadi_faces.errors_by_round(s, "coarse") for s in range(2)], axis=0)  # cost, round, kind
    first, last = (found[:, masnadi_faces.SHOWN_ROUNDS.index(m)] for m in (1, 100))
    plain, costly = (masnadi_faces.SHOWN_COSTS.index(c) for c in (1.0, 10.0))
    assert first[costly, 1] < 0.3 * first[plain, 1]
    assert last[costly, 1] > 2.0 * last[plain, 1]
    assert last[plain, 0] < 0.5
