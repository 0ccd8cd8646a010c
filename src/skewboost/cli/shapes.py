"""Shape functions as text: what the values of a feature add to the score."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.boosting.explanations import ShapeFunction
from skewboost.names import side_by_side

MOST_LINES = 8  # per feature
LONGEST = 40  # characters of a category
OWN_WORDS = ("missing", "other")  # categories with these names are quoted


def describe_shape(f: ShapeFunction, sign: float = 1.0) -> list[dict[str, Any]]:
    """Values, what they add to the score, and how many training rows have them; a few lines, joined if necessary."""
    kinds = {"line": _line, "nominal": _categories}
    rows = kinds.get(f.kind, _intervals)(f)
    if f.missing_support > 0:
        rows.append({"values": "missing", "adds": float(f.missing_value), "rows": float(f.missing_support)})
    return [{**row, "adds": sign * row["adds"]} for row in rows]


def _intervals(f: ShapeFunction) -> list[dict[str, Any]]:
    """The steps of a number. If there are many, neighbours are joined to groups of about the same size."""
    group = np.arange(len(f.values))
    if len(group) > MOST_LINES:
        middle = np.cumsum(f.support) - 0.5 * f.support
        group = np.minimum((MOST_LINES * middle / max(f.support.sum(), 1e-300)).astype(int), MOST_LINES - 1)
    rows, starts = [], np.flatnonzero(np.diff(group, prepend=-1))
    for first, end in zip(starts, [*starts[1:], len(group)]):
        low = None if first == 0 else float(f.edges[first - 1])
        high = None if end == len(group) else float(f.edges[end - 1])
        support = f.support[first:end]
        weights = support if support.any() else None
        adds = float(np.average(f.values[first:end], weights=weights))
        rows.append({"values": _interval(low, high), "adds": adds, "rows": float(support.sum())})
    return rows


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "any value"
    if low is None:
        return f"up to {high:.6g}"
    return f"above {low:.6g}" if high is None else f"{low:.6g} to {high:.6g}"


def _categories(f: ShapeFunction) -> list[dict[str, Any]]:
    """The most frequent categories; the others are joined."""
    order = np.argsort(-f.support, kind="stable").tolist()
    listed = order if len(order) <= MOST_LINES else order[: MOST_LINES - 1]
    names = [*side_by_side(f.categories, LONGEST, OWN_WORDS), *(["other"] if f.rest else [])]
    rows: list[dict[str, Any]] = []
    for k in listed:
        category = {"category": f.categories[k]} if k < len(f.categories) else {}
        rows.append({"values": names[k], **category, "adds": float(f.values[k]), "rows": float(f.support[k])})
    others = order[len(listed) :]
    if others:
        support = f.support[others]
        adds = float(np.average(f.values[others], weights=support if support.any() else None))
        rows.append({"values": f"{len(others)} others", "adds": adds, "rows": float(support.sum())})
    return rows


def _line(f: ShapeFunction) -> list[dict[str, Any]]:
    """The two ends of a line."""
    if f.observed is None:
        return []
    return [{"values": f"at {x:.6g}", "adds": float(f(x)), "rows": float("nan")} for x in f.observed]
