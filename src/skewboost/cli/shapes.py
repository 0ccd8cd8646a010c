"""Shape functions as text: what a feature adds to the score, by its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.boosting.explanations import ShapeFunction
from skewboost.names import side_by_side

MOST = 8  # lines per feature
LONGEST = 40  # letters of a category
OWN_WORDS = ("missing", "other")  # which no category is taken for


def lines(f: ShapeFunction, sign: float = 1.0) -> list[dict[str, Any]]:
    """What values there are, what they add, and how many training rows have them; few lines, joined where need be."""
    found = _of_line(f) if f.kind == "line" else _of_categories(f) if f.kind == "nominal" else _of_numbers(f)
    if f.missing_support > 0:
        found.append({"values": "missing", "adds": float(f.missing_value), "rows": float(f.missing_support)})
    return [{**row, "adds": sign * row["adds"]} for row in found]


def _of_numbers(f: ShapeFunction) -> list[dict[str, Any]]:
    """Steps; neighbours are joined to groups of about equal support where there are many, by their mean."""
    group = np.arange(len(f.values))
    if len(group) > MOST:
        middle = np.cumsum(f.support) - 0.5 * f.support
        group = np.minimum((MOST * middle / max(f.support.sum(), 1e-300)).astype(int), MOST - 1)
    found, starts = [], np.flatnonzero(np.diff(group, prepend=-1))
    for first, end in zip(starts, [*starts[1:], len(group)]):
        low = None if first == 0 else float(f.edges[first - 1])
        high = None if end == len(group) else float(f.edges[end - 1])
        support = f.support[first:end]
        weights = support if support.any() else None
        adds = float(np.average(f.values[first:end], weights=weights))
        found.append({"values": _interval(low, high), "adds": adds, "rows": float(support.sum())})
    return found


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "any value"
    if low is None:
        return f"up to {high:.6g}"
    return f"above {low:.6g}" if high is None else f"{low:.6g} to {high:.6g}"


def _of_categories(f: ShapeFunction) -> list[dict[str, Any]]:
    """The most frequent categories, the others joined."""
    order = np.argsort(-f.support, kind="stable").tolist()
    shown = order if len(order) <= MOST else order[: MOST - 1]
    names = [*side_by_side(f.categories, LONGEST, OWN_WORDS), *(["other"] if f.rest else [])]
    found: list[dict[str, Any]] = []
    for k in shown:
        category = {"category": f.categories[k]} if k < len(f.categories) else {}
        found.append({"values": names[k], **category, "adds": float(f.values[k]), "rows": float(f.support[k])})
    others = order[len(shown) :]
    if others:
        support = f.support[others]
        adds = float(np.average(f.values[others], weights=support if support.any() else None))
        found.append({"values": f"{len(others)} others", "adds": adds, "rows": float(support.sum())})
    return found


def _of_line(f: ShapeFunction) -> list[dict[str, Any]]:
    """A line by its ends."""
    if f.observed is None:
        return []
    return [{"values": f"at {x:.6g}", "adds": float(f(x)), "rows": float("nan")} for x in f.observed]
