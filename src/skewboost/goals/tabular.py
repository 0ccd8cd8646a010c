"""The points of a search as tables."""

from __future__ import annotations

import numpy as np

from skewboost.goals.measures import MEASURES
from skewboost.goals.search import Aim, Point
from skewboost.typing import Array


def table(aim: Aim, points: list[Point]) -> dict[str, Array]:
    """All points tried, a column per name."""
    measures = [m for m in MEASURES.values() if not m.needs_cost or aim.cost is not None]
    columns: dict[str, list[object]] = {
        "cost_ratio": [p.ratio for p in points],
        "cost_of_miss": [np.nan if p.costs is None else p.costs[0] for p in points],
        "cost_of_false_alarm": [np.nan if p.costs is None else p.costs[1] for p in points],
        "n_rounds": [np.nan if p.n_rounds is None else p.n_rounds for p in points],
        "threshold": [p.threshold for p in points],
        **{m.name: [float(m.value(p.counts, aim.cost)) for p in points] for m in measures},
        "meets_goal": [p.met for p in points],
    }
    return {name: np.array(values) for name, values in columns.items()}


def frontier(aim: Aim, points: list[Point]) -> dict[str, Array]:
    """The costs and thresholds that none beats both by the goal's first measure and by `then`."""
    measure, then = aim.goal.conditions[0].measure, aim.then
    rows: list[tuple[float, ...]] = []
    for p in points:
        thresholds, counts = (np.array([p.threshold]), p.counts) if p.curve is None else p.curve
        first = np.atleast_1d(measure.value(counts, aim.cost))
        second = np.atleast_1d(then.value(counts, aim.cost))
        rows.extend(zip(np.full(len(thresholds), p.ratio), thresholds, first, second))
    found = np.array(rows)
    found = found[~np.isnan(found).any(axis=1)]
    wanted = aim.goal.conditions[0].sense == ">="
    goodness = found[:, 2] if wanted else -found[:, 2]
    order = np.lexsort((-goodness, -np.asarray(then.better(found[:, 3]))))  # the best by `then` first
    best_so_far = np.maximum.accumulate(np.concatenate(([-np.inf], goodness[order][:-1])))
    kept = found[order][goodness[order] > best_so_far]
    names = ["cost_ratio", "threshold", measure.name]
    if then.name != measure.name:
        names.append(then.name)
    return {name: kept[:, k] for k, name in enumerate(names)}
