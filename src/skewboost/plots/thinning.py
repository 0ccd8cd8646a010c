"""Curves with as many points as can be seen: a picture of a million points is no better, only slower."""

from __future__ import annotations

import numpy as np

from skewboost.typing import Array


def thin(x: Array, y: Array, *, tolerance: float = 1e-3) -> Array:
    """Which points of a curve to draw: none of the others is farther than the tolerance from the line through them.

    Distances are in shares of the range of each axis, so that 0.001 is half a pixel of a picture of 500. Take
    logarithms first where an axis is logarithmic. Points are first merged in the cells of a fine grid, then left out by
    Douglas and Peucker's method.

    Parameters
    ----------
    x, y : ndarray of shape (n_points,)
        The curve, in the order in which it is drawn; finite.
    tolerance : float, default=1e-3
        The largest distance.

    Returns
    -------
    ndarray of int
        Indices of the points to keep, rising; always the first and the last.

    Examples
    --------
    >>> import numpy as np
    >>> from skewboost.plots.thinning import thin
    >>> x = np.linspace(0, 1, 100_000)
    >>> len(thin(x, 2 * x)), len(thin(x, x**2)) < 60
    (2, True)
    """
    if len(x) <= 2:
        return np.arange(len(x))
    points = np.column_stack([_to_unit(np.asarray(values, dtype=np.float64)) for values in (x, y)])
    # half a diagonal of a cell and half the tolerance are together less than the tolerance
    cells = np.floor(points * (4.0 / tolerance)).astype(np.int64)
    changes = (cells[1:] != cells[:-1]).any(axis=1)
    first, last = np.append(True, changes), np.append(changes, True)  # of those in a row that share a cell
    rows = np.flatnonzero(first | last)
    return np.asarray(rows[_douglas_peucker(points[rows], 0.5 * tolerance)])


def _to_unit(values: Array) -> Array:
    span = float(np.ptp(values))
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)


def _douglas_peucker(points: Array, tolerance: float) -> Array:
    """Keep the point farthest from the straight line between two that are kept, as long as it is too far."""
    keep = np.zeros(len(points), dtype=np.bool_)
    keep[[0, -1]] = True
    todo = [(0, len(points) - 1)]
    while todo:
        a, b = todo.pop()
        if b - a < 2:
            continue
        distance = _distances(points[a + 1 : b], points[a], points[b])
        k = int(distance.argmax())
        if distance[k] > tolerance:
            middle = a + 1 + k
            keep[middle] = True
            todo += [(a, middle), (middle, b)]
    return np.flatnonzero(keep)


def _distances(points: Array, start: Array, end: Array) -> Array:
    """Of points from a straight piece."""
    along = end - start
    length = float(along @ along)
    if length > 0:
        t = np.clip((points - start) @ along / length, 0.0, 1.0)
        start = start + t[:, None] * along
    return np.asarray(np.hypot(*(points - start).T))
