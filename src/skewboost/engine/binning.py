"""Binning: where to cut a numeric column, and which categories get a code of their own.

Numbers are compared as doubles, so integers from 2**53 up that round to the same double are one value. The code of a
number is the number of cuts strictly below it; ``x <= cut`` is to the left of a cut. If there are at most `max_bins`
distinct values, the cuts are the midpoints between neighbours and no information is lost. Otherwise the cuts are
weighted quantiles, and a value that holds more weight than an average bin gets a bin of its own. Values of zero weight
are ignored. Cuts depend only on the multiset of (value, weight) pairs, not on the order of the rows or the engine.

Without a limit on the bins every midpoint is a cut. A code has one byte, so a column with more than 254 cuts becomes
several features, each with a part of the cuts. Any threshold belongs to one of them, and they follow one another, so
that the first of equally good thresholds is the lowest. Nothing that searches, counts or scores has to know.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from skewboost.engine.boundary import MISSING, N_CODES, Engine
from skewboost.engine.table import Nominal, Table
from skewboost.errors import InputError
from skewboost.fitting import KeepsNoCaches
from skewboost.typing import Array

MAX_BINS = N_CODES - 1
MOST_CODES = 2**31  # bytes of the codes of all rows, if every midpoint is a cut


@dataclass(frozen=True)
class Feature(KeepsNoCaches):
    """How the cells of a column become codes: by `cuts` if it is numeric, by `categories` if it is nominal."""

    cuts: Array = field(default_factory=lambda: np.empty(0))
    categories: tuple[str, ...] | None = None
    rest: frozenset[str] = frozenset()  # rare categories that share the last code
    n_bins: int = 1
    ordered: bool = False  # whether the categories have an order, in which they are split by thresholds
    shared: tuple[int, ...] = ()  # the code of each category, if it is not its place: several may have the same

    @property
    def nominal(self) -> bool:
        """Whether the feature holds categories. The order of their codes has a meaning only if it is `ordered`."""
        return self.categories is not None

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each category."""
        assert self.categories is not None
        if self.shared:
            return dict(zip(self.categories, self.shared, strict=True))
        codes = {c: k for k, c in enumerate(self.categories)}
        codes.update(dict.fromkeys(self.rest, self.n_bins - 1))
        return codes


@dataclass(frozen=True)
class Bins(KeepsNoCaches):
    """The bins of a table's features, which are its columns unless some have too many cuts for one."""

    features: tuple[Feature, ...]
    columns: tuple[int, ...] = ()  # the column of each feature, if a column is several features

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.features)

    @cached_property
    def n_bins(self) -> Array:
        """The number of codes in use, per feature."""
        return np.array([f.n_bins for f in self.features], dtype=np.int64)

    @cached_property
    def nominal(self) -> Array:
        """Whether each feature is nominal."""
        return np.array([f.nominal for f in self.features], dtype=np.bool_)

    @cached_property
    def ordered(self) -> Array:
        """Whether each feature holds categories that are split by thresholds."""
        return np.array([f.ordered for f in self.features], dtype=np.bool_)

    @property
    def kinds(self) -> Array:
        """What each feature holds, as the native core knows it: 0 numbers, 1 categories, 2 ordered categories."""
        return self.nominal.astype(np.uint8) + self.ordered

    def column_of(self, feature: int) -> int:
        """Return the column of a feature."""
        return self.columns[feature] if self.columns else feature

    @cached_property
    def column_of_each(self) -> Array:
        """The column of each feature."""
        return np.array(self.columns or range(self.n_features), dtype=np.int64)

    def only(self, feature: int) -> Bins:
        """Return the bins of one feature."""
        return Bins((self.features[feature],))

    def numbers(self, table: Table, feature: int) -> Array:
        """Return the column of a feature as an engine reads it: numbers as they are, categories as codes.

        The code of a category that did not occur in training is `MISSING`.
        """
        column = table.column(self.column_of(feature))
        if not isinstance(column, Nominal):
            return column
        code_of = self.features[feature].code_of
        lookup = np.array([code_of.get(c, MISSING) for c in column.categories] + [MISSING], dtype=np.uint8)
        return lookup[column.codes]  # -1 reads the last entry


def fit_bins(
    engine: Engine,
    table: Table,
    weights: Array | None = None,
    max_bins: int | None = MAX_BINS,
    edges: list[Array] | None = None,
    ordered: frozenset[int] = frozenset(),
    uniform: bool = False,
) -> Bins:
    """Choose the bins of every column, or use `edges` as the cuts of numeric columns; None: every midpoint is a cut.

    With `uniform` the range of every column is divided into intervals of equal length.
    The categories of the `ordered` columns keep their declared order, also those that do not occur. A table with a memo
    keeps its bins for the next fit.
    """
    if table.memo is None or edges is not None:
        return _fit_bins(engine, table, weights, max_bins, edges, ordered, uniform)
    key = ("bins", max_bins, None if weights is None else weights.tobytes(), ordered, uniform)
    if key not in table.memo:
        table.memo[key] = _fit_bins(engine, table, weights, max_bins, None, ordered, uniform)
    bins: Bins = table.memo[key]
    return bins


def _fit_bins(
    engine: Engine,
    table: Table,
    weights: Array | None,
    max_bins: int | None,
    edges: list[Array] | None,
    ordered: frozenset[int],
    uniform: bool,
) -> Bins:
    most = MAX_BINS if max_bins is None else max_bins
    numeric = [j for j, nominal in enumerate(table.nominal) if not nominal]
    if edges is not None:
        cuts = [np.unique(np.asarray(edges[j], dtype=np.float64)) for j in numeric]
    elif max_bins is None:
        cuts = _every_cut(table, weights)
    elif uniform:
        cuts = [_equal_intervals(column, weights, most) for column in _numbers_of(table)]
    else:
        cuts = _cuts(engine, table, weights, max_bins)
    features = {j: Feature(cuts=own, n_bins=len(own) + 1) for j, own in zip(numeric, cuts, strict=True)}
    for j in range(table.n_features if len(numeric) < table.n_features else 0):
        column = table.column(j)
        if isinstance(column, Nominal) and j in ordered:
            features[j] = _ordered_feature(column, most, partial(table.name, j))
        elif isinstance(column, Nominal):
            features[j] = _nominal_feature(column, weights, most, partial(table.name, j))
    return _in_parts(tuple(features[j] for j in range(table.n_features)), table.n_rows)


def _in_parts(features: tuple[Feature, ...], n_rows: int) -> Bins:
    """Return the bins of columns, of which those with too many cuts become several features."""
    if all(len(feature.cuts) < MAX_BINS for feature in features):
        return Bins(features)
    n, found, columns = MAX_BINS - 1, [], []
    for j, feature in enumerate(features):
        starts = range(0, max(1, len(feature.cuts)), n)
        parts = [feature.cuts[k : k + n] for k in starts]
        found += [feature] if len(parts) == 1 else [Feature(cuts=own, n_bins=len(own) + 1) for own in parts]
        columns += [j] * len(parts)
    if len(found) * n_rows > MOST_CODES:
        raise InputError(
            f"max_bins=None makes {sum(len(feature.cuts) for feature in features)} thresholds for {n_rows} rows, "
            f"whose codes would take {len(found) * n_rows / 2**30:.0f} GiB.",
            f"Set max_bins to a number up to {MAX_BINS}: thresholds are then quantiles.",
        )
    return Bins(tuple(found), tuple(columns))


def _every_cut(table: Table, weights: Array | None) -> list[Array]:
    """Return all midpoints between neighbouring values of the numeric columns."""
    if table.computed is not None:
        raise InputError(
            "max_bins=None needs a table of numbers, but the columns of X are computed when they are read.",
            f"Set max_bins to a number up to {MAX_BINS}, or pass np.asarray(X).",
        )
    values = [summary(column, weights)[0] for _, column in table.numeric_columns()]
    return [midpoints(own[:-1], own[1:]) for own in values]


def _numbers_of(table: Table) -> Iterator[Array]:
    """Yield the numeric columns; those that are computed are in memory a block at a time."""
    if table.computed is None:
        yield from (column for _, column in table.numeric_columns())
    else:
        yield from (column for _, cells in table.computed.blocks() for column in cells.T)


def _equal_intervals(column: Array, weights: Array | None, n: int) -> Array:
    """Return the cuts that divide the range of a column into n intervals of equal length."""
    present = column == column
    if weights is not None:
        present &= weights > 0
    known = column[present].astype(np.float64)
    if not len(known):
        return np.empty(0)
    low, high = known.min(), known.max()
    share = np.arange(1, n) / n
    cuts = np.unique(low * (1.0 - share) + high * share)  # the range itself may overflow
    return np.asarray(cuts[(cuts >= low) & (cuts < high)])


def _cuts(engine: Engine, table: Table, weights: Array | None, max_bins: int) -> list[Array]:
    """Return the cuts of the numeric columns; those that are computed are in memory a block at a time."""
    if table.computed is None:
        return engine.cuts([column for _, column in table.numeric_columns()], weights, max_bins)
    return [own for _, cells in table.computed.blocks() for own in engine.cuts(list(cells.T), weights, max_bins)]


def _nominal_feature(column: Nominal, weights: Array | None, max_bins: int, name: Callable[[], Any]) -> Feature:
    """Return the bins of a nominal column: the heaviest categories have their own."""
    seen = column.codes >= 0
    mass = np.bincount(column.codes[seen], None if weights is None else weights[seen], minlength=len(column.categories))
    present = np.flatnonzero(mass > 0)
    rest: frozenset[str] = frozenset()
    if len(present) > max_bins:
        # Ties go to the name (categories are sorted). Sums of the same weights in another order count as ties.
        size = np.floor(np.log(mass[present]) * 1e11 + 0.5)
        by_mass = present[np.argsort(-size, kind="stable")]
        rest = frozenset(column.categories[k] for k in by_mass[max_bins - 1 :])
        warnings.warn(
            f"Column {name()!r} of X has {len(present)} categories; the {max_bins - 1} most frequent keep a code of "
            f"their own and the other {len(rest)} share one. Group rare categories yourself to choose which, or "
            "turn the column into a number, as sklearn.preprocessing.TargetEncoder does.",
            UserWarning,
            stacklevel=2,
        )
        present = np.sort(by_mass[: max_bins - 1])
    categories = tuple(column.categories[k] for k in present)
    return Feature(categories=categories, rest=rest, n_bins=max(1, len(categories) + bool(rest)))


def _ordered_feature(column: Nominal, max_bins: int, name: Callable[[], Any]) -> Feature:
    """Return the bins of a column whose categories have an order: one for each of them."""
    if len(column.order) > max_bins:
        raise InputError(
            f"Column {name()!r} of X has {len(column.order)} ordered categories, of which at most {max_bins} can be "
            "split in their order.",
            "Merge some of them, or replace them by numbers in their order.",
        )
    return Feature(categories=column.order, n_bins=max(1, len(column.order)), ordered=True)


def summary(column: Array, weights: Array | None) -> tuple[Array, Array]:
    """Return the sorted distinct numbers of a column, as doubles, and the weight of each; NaN is left out."""
    column = column.astype(np.float64)
    present = column == column
    if weights is None:
        values, counts = np.unique(column[present], return_counts=True)
        return values, counts.astype(np.float64)
    present &= weights > 0
    values, inverse = np.unique(column[present], return_inverse=True)
    return values, np.bincount(inverse, weights[present], minlength=len(values))


def cuts_of(values: Array, mass: Array, max_bins: int) -> Array:
    """Return the cuts of sorted distinct values, given the weight of each."""
    if len(values) <= max_bins:
        return midpoints(values[:-1], values[1:])
    after = _cut_positions(mass, max_bins)
    return midpoints(values[after], values[after + 1])


def _cut_positions(mass: Array, max_bins: int) -> Array:
    """Return after which values to cut: around every heavy one, and at quantiles of the weight of the others."""
    heavy = np.zeros(len(mass), dtype=np.bool_)
    while True:
        n_heavy = int(heavy.sum())
        # each run of light values between heavy ones may add one incomplete bin
        n_runs = int((~heavy[1:] & heavy[:-1]).sum() + (not heavy[0]))
        n_light = max_bins - n_heavy - (n_runs if n_heavy else 0)
        if n_light < 1:
            heavy[:] = False
            n_light = max_bins
            break
        mean = np.cumsum(np.where(heavy, 0.0, mass))[-1] / n_light
        more = ~heavy & (mass > mean)
        if not more.any():
            break
        heavy |= more
    light = np.cumsum(np.where(heavy, 0.0, mass))
    # Cut after the value at which the light weight reaches k/n of its total. For integer weights the target is rounded
    # up; for others it is lowered by a tolerance for the rounding of the sums.
    target = np.arange(1, n_light) * light[-1] / n_light
    whole = bool((mass == np.floor(mass)).all())
    reached = np.searchsorted(light, np.ceil(target) if whole else target * (1 - 1e-12))
    cut = np.zeros(len(mass), dtype=np.bool_)
    cut[reached] = True
    cut |= heavy
    cut[:-1] |= heavy[1:]
    return np.flatnonzero(cut[:-1])


def midpoints(below: Array, above: Array) -> Array:
    """Return the midpoints of neighbours, rounded so that ``below <= cut < above`` holds."""
    with np.errstate(over="ignore"):
        middle = (below + above) / 2
    middle = np.where(np.isfinite(middle), middle, below / 2 + above / 2)
    return np.where((middle >= below) & (middle < above), middle, below)
