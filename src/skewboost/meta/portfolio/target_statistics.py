"""Columns of many categories as codes in the order of their share of positives.

Trees memorise which sets of many categories are positive, and an engine knows 255 codes per column only. So the
categories of a column that has many are coded by their *target statistic*, the share of positives among their examples,
shrunk towards the share in all rows:

    s = (Σ y + a · share) / (n + a).

An example would know its own label through the statistic of its category. So in training the statistic of an example is
that of the examples before it in a random order [prokhorenkova2018]_, and it is missing for the first example of a
category. New rows get the statistic of all training examples, and categories without any are missing values: what the
model learned about first examples applies to them.

References
----------
.. [prokhorenkova2018] L. Prokhorenkova, G. Gusev, A. Vorobev, A. V. Dorogush, A. Gulin, "CatBoost: unbiased boosting
   with categorical features", Advances in Neural Information Processing Systems 31 (2018) 6638-6648.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skewboost.engine.binning import Bins, Feature, fit_bins
from skewboost.engine.boundary import Engine
from skewboost.engine.table import Nominal, Table
from skewboost.typing import Array

MANY = 64  # categories: with more of them, statistics were better than sets (docs/nominal.md)
SMOOTHING = 10.0  # a, in examples


@dataclass(frozen=True)
class Examples:
    """The labels and weights of examples, and their place in the random order; examples of a group have one place."""

    positive: Array
    weights: Array
    place: Array

    @property
    def share(self) -> float:
        """The share of positives."""
        return float(np.average(self.positive, weights=self.weights))


def random_places(units: Array, seed: int) -> Array:
    """Return a place in a random order for each example, the same for examples of a unit."""
    return np.asarray(np.random.default_rng([seed, len(units)]).permutation(int(units.max()) + 1)[units])


def many_categories(table: Table, ordered: frozenset[int] = frozenset()) -> list[int]:
    """Return the columns that have many categories, except those with an order."""
    columns = ((j, table.column(j)) for j in range(table.n_features) if j not in ordered)
    return [j for j, c in columns if isinstance(c, Nominal) and len(np.unique(c.codes[c.codes >= 0])) > MANY]


def statistics_before(column: Nominal, examples: Examples) -> Array:
    """Return the statistic of the category of each example, from the examples before it; NaN if there are none."""
    order = np.lexsort((examples.place, column.codes))
    category, place = column.codes[order], examples.place[order]
    first = np.append(True, category[1:] != category[:-1])  # of a category
    new = first | np.append(True, place[1:] != place[:-1])  # a place
    n, positives = (
        np.concatenate(([0.0], np.cumsum(values[order])))
        for values in (examples.weights, examples.weights * examples.positive)
    )
    at = np.arange(len(order))
    start, end = (np.maximum.accumulate(np.where(flags, at, 0)) for flags in (first, new))
    before = n[end] - n[start]
    shrunk = (positives[end] - positives[start] + SMOOTHING * examples.share) / (before + SMOOTHING)
    found = np.empty(len(order))
    found[order] = np.where((before > 0) & (category >= 0), shrunk, np.nan)
    return found


def statistics(column: Nominal, examples: Examples) -> Array:
    """Return the statistic of each category, from all examples; NaN if it has none."""
    present = column.codes >= 0
    codes, weights = column.codes[present], examples.weights[present]
    n = np.bincount(codes, weights, minlength=len(column.categories))
    positives = np.bincount(codes, weights * examples.positive[present], minlength=len(column.categories))
    return np.where(n > 0, (positives + SMOOTHING * examples.share) / (n + SMOOTHING), np.nan)


def binned(
    engine: Engine, table: Table, columns: list[int], examples: Examples, ordered: frozenset[int]
) -> tuple[Bins, Array]:
    """Return the bins of a table and its codes, with some columns coded by their target statistics."""
    own = [table.column(j) for j in range(table.n_features)]
    nominal = {j: c for j, c in enumerate(own) if isinstance(c, Nominal) and j in columns}
    for j, column in nominal.items():
        own[j] = statistics_before(column, examples)
    weights = None if (examples.weights == 1.0).all() else examples.weights
    coded = replace(table, columns=tuple(own), memo=None)
    bins = fit_bins(engine, coded, weights, ordered=ordered)
    features = list(bins.features)
    for j, column in nominal.items():
        found = statistics(column, examples)
        known = np.flatnonzero(np.isfinite(found))
        codes = np.searchsorted(features[j].cuts, found[known], side="left")
        categories = tuple(column.categories[k] for k in known.tolist())
        features[j] = Feature(
            categories=categories, n_bins=features[j].n_bins, ordered=True, shared=tuple(codes.tolist())
        )
    return Bins(tuple(features)), engine.encode(coded, bins)
