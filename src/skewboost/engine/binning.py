"""From columns to bins: where to cut a number, which categories get a code of their own.

A number is the double that it is rounded to: integers from 2**53 up that coincide as doubles are one value. Its code is
how many cuts lie strictly below it, so ``x <= cut`` is left of a cut. With at most `max_bins`
distinct values the cuts are the midpoints between consecutive ones and nothing is lost; otherwise they are weighted
quantiles, and a value that alone holds more than a bin's share gets a bin of its own. A value of zero weight is as
good as absent. Cuts depend on the multiset of (value, weight) only: not on the order of rows, nor on the engine.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skewboost.engine.boundary import MISSING, N_CODES, Engine
from skewboost.engine.table import Nominal, Table
from skewboost.typing import Array

MAX_BINS = N_CODES - 1


@dataclass(frozen=True)
class Feature:
    """How one column becomes codes: by `cuts` when numeric, by the position of its value in `categories` when not."""

    cuts: Array = field(default_factory=lambda: np.empty(0))
    categories: tuple[str, ...] | None = None
    rest: frozenset[str] = frozenset()  # rare categories that share the last code
    n_bins: int = 1

    @property
    def nominal(self) -> bool:
        """Whether the codes are names rather than ranks."""
        return self.categories is not None

    @cached_property
    def code_of(self) -> dict[str, int]:
        """Category → code."""
        assert self.categories is not None
        codes = {c: k for k, c in enumerate(self.categories)}
        codes.update(dict.fromkeys(self.rest, self.n_bins - 1))
        return codes

    def translate(self, column: Nominal) -> Array:
        """The codes of a nominal column; what was not seen in training is `MISSING`."""
        lookup = np.array([self.code_of.get(c, MISSING) for c in column.categories] + [MISSING], dtype=np.uint8)
        return lookup[column.codes]  # -1 reads the last entry


@dataclass(frozen=True)
class Bins:
    """The bins of a table's features."""

    features: tuple[Feature, ...]

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.features)

    @cached_property
    def n_bins(self) -> Array:
        """The number of codes in use, per feature."""
        return np.array([f.n_bins for f in self.features], dtype=np.int64)

    @cached_property
    def nominal(self) -> Array:
        """Which features are nominal."""
        return np.array([f.nominal for f in self.features], dtype=np.bool_)


def fit_bins(
    engine: Engine,
    table: Table,
    weights: Array | None = None,
    max_bins: int = MAX_BINS,
    edges: list[Array] | None = None,
) -> Bins:
    """Choose the bins of every column; `edges` gives the cuts of numeric columns instead.

    A table with a memory remembers them.
    """
    key = ("bins", max_bins, None if weights is None else weights.tobytes())
    if table.memo is not None and edges is None and key in table.memo:
        known: Bins = table.memo[key]
        return known

    columns = [table.column(j) for j in range(table.n_features)]
    numbers = {j: column for j, column in enumerate(columns) if not isinstance(column, Nominal)}
    if edges is not None:
        cuts = [np.unique(np.asarray(edges[j], dtype=np.float64)) for j in numbers]
    else:
        cuts = engine.cuts(list(numbers.values()), weights, max_bins)
    numeric = {j: Feature(cuts=own, n_bins=len(own) + 1) for j, own in zip(numbers, cuts, strict=True)}

    def fit(feature: int, column: Array | Nominal) -> Feature:
        if not isinstance(column, Nominal):
            return numeric[feature]
        mass = engine.category_weights(column, weights)
        return _nominal(mass, column, max_bins, table.name(feature))

    bins = Bins(tuple(fit(j, column) for j, column in enumerate(columns)))
    if table.memo is not None and edges is None:
        table.memo[key] = bins
    return bins


def _nominal(mass: Array, column: Nominal, max_bins: int, name: object) -> Feature:
    """Bins of categories, given what the rows of each weigh."""
    present = np.flatnonzero(mass > 0)
    rest: frozenset[str] = frozenset()
    if len(present) > max_bins:
        # Ties go to the name (categories are sorted), and sums of the same weights in another order are ties.
        size = np.floor(np.log(mass[present]) * 1e11 + 0.5)
        by_mass = present[np.argsort(-size, kind="stable")]
        rest = frozenset(column.categories[k] for k in by_mass[max_bins - 1 :])
        warnings.warn(
            f"Column {name!r} of X has {len(present)} categories; the {max_bins - 1} most frequent keep a code of "
            f"their own and the other {len(rest)} share one. Group rare categories yourself to choose which, or "
            "turn the column into a number, as sklearn.preprocessing.TargetEncoder does.",
            UserWarning,
            stacklevel=2,
        )
        present = np.sort(by_mass[: max_bins - 1])
    categories = tuple(column.categories[k] for k in present)
    return Feature(categories=categories, rest=rest, n_bins=max(1, len(categories) + bool(rest)))


def summary(column: Array, weights: Array | None) -> tuple[Array, Array]:
    """The distinct numbers of a column as doubles, in order, and what the rows of each weigh; NaN is none."""
    column = column.astype(np.float64)
    present = column == column
    if weights is None:
        values, counts = np.unique(column[present], return_counts=True)
        return values, counts.astype(np.float64)
    present &= weights > 0
    values, inverse = np.unique(column[present], return_inverse=True)
    return values, np.bincount(inverse, weights[present], minlength=len(values))


def cuts_of(values: Array, mass: Array, max_bins: int) -> Array:
    """Where to cut distinct values, given how much of each there is."""
    if len(values) <= max_bins:
        return _midpoints(values[:-1], values[1:])
    after = _cut_positions(mass, max_bins)
    return _midpoints(values[after], values[after + 1])


def _cut_positions(mass: Array, max_bins: int) -> Array:
    """After which of the distinct values to cut: around every heavy one, and at quantiles of the others' weight."""
    heavy = np.zeros(len(mass), dtype=np.bool_)
    while True:
        n_heavy = int(heavy.sum())
        # the runs of light values between heavy ones may each add one incomplete bin
        n_runs = int((~heavy[1:] & heavy[:-1]).sum() + (not heavy[0]))
        n_light = max_bins - n_heavy - (n_runs if n_heavy else 0)
        if n_light < 1:
            heavy[:] = False
            n_light = max_bins
            break
        share = np.cumsum(np.where(heavy, 0.0, mass))[-1] / n_light
        more = ~heavy & (mass > share)
        if not more.any():
            break
        heavy |= more
    light = np.cumsum(np.where(heavy, 0.0, mass))
    # Cut after the value at which the light weight reaches k/n of its total. Whole weights round the target up; for
    # others it yields to the rounding of the sums.
    target = np.arange(1, n_light) * light[-1] / n_light
    whole = bool((mass == np.floor(mass)).all())
    reached = np.searchsorted(light, np.ceil(target) if whole else target * (1 - 1e-12))
    cut = np.zeros(len(mass), dtype=np.bool_)
    cut[reached] = True
    cut |= heavy
    cut[:-1] |= heavy[1:]
    return np.flatnonzero(cut[:-1])


def _midpoints(below: Array, above: Array) -> Array:
    """Halfway between neighbours, but never the upper one: ``below <= cut < above`` must survive rounding."""
    with np.errstate(over="ignore"):
        middle = (below + above) / 2
    middle = np.where(np.isfinite(middle), middle, below / 2 + above / 2)
    return np.where((middle >= below) & (middle < above), middle, below)
