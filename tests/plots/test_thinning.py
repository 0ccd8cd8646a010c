"""What is left out of a curve cannot be seen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from skewboost.plots.thinning import thin


def distance(points, line):
    """Of each point from a polyline."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(line):
        along = b - a
        t = np.clip((points - a) @ along / max(along @ along, 1e-300), 0, 1)
        best = np.minimum(best, np.hypot(*(points - a - t[:, None] * along).T))
    return best


def curves():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 3000)
    yield "smooth", x, x**0.1
    yield "steps", np.repeat(np.linspace(0, 1, 50), 60), np.repeat(np.linspace(0, 1, 75), 40)
    yield "noise", x, np.cumsum(rng.normal(size=3000))
    yield "there and back", np.append(x, x[::-1]), np.append(x, 2 * x[::-1])
    yield "flat", x, np.zeros(3000)


@pytest.mark.parametrize("curve", list(curves()), ids=lambda curve: curve[0])
def test_no_point_is_farther_than_the_tolerance_from_what_is_drawn(curve):
    _, x, y = curve
    rows = thin(x, y, tolerance=0.002)
    assert rows[0] == 0
    assert rows[-1] == len(x) - 1
    assert (np.diff(rows) > 0).all()
    points = np.column_stack([x / np.ptp(x), y / (np.ptp(y) or 1.0)])
    assert distance(points, points[rows]).max() <= 0.002


def test_a_million_points_become_few():
    x = np.linspace(0, 1, 1_000_000)
    assert len(thin(x, np.sqrt(x))) < 100


@pytest.mark.parametrize("n", [0, 1, 2])
def test_short_curves_stay_whole(n):
    assert thin(np.arange(n), np.arange(n)).tolist() == list(range(n))
