"""Constraints on trees, from what users give to what engines take."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from numbers import Real
from typing import Any

import numpy as np

from skewboost.engine.restrictions import ANY, Interactions
from skewboost.engine.table import Nominal, Table
from skewboost.errors import InputError
from skewboost.names import in_short

RULES = {"no_interactions": 1, "pairwise": 2}  # how many distinct columns may be tested on one path


def read_monotonic(given: Any, table: Table) -> tuple[int, ...] | None:
    """Return -1, 0 or +1 per column; None if no column is constrained.

    As in scikit-learn: one number per column, or a dict by name (or number) of the columns that are constrained. These
    hold numbers, or categories whose type declares an order.
    """
    if given is None:
        return None
    directions = [0] * table.n_features
    if isinstance(given, Mapping):
        places = _places(table)
        for name, direction in given.items():
            directions[_place(name, table, places, "monotonic_cst")] = direction
    else:
        if isinstance(given, Set) or not _has_entries(given):
            raise InputError(
                f"monotonic_cst={in_short(given)} is not a constraint.",
                "Give one number for each column, or a dict of those that are constrained.",
            )
        directions = list(given)
        if len(directions) != table.n_features:
            raise InputError(
                f"monotonic_cst has {len(directions)} entries, but X has {table.n_features} columns.",
                "Give one for each column, or a dict of those that are constrained.",
            )
    for j, direction in enumerate(directions):
        if not isinstance(direction, Real) or direction not in (-1, 0, 1):
            raise InputError(
                f"monotonic_cst has {in_short(direction)} for column {table.name(j)!r}.",
                "Use 1 for rising, -1 for falling and 0 for no constraint.",
            )
        column = table.column(j)
        if direction and isinstance(column, Nominal) and not column.order:
            raise InputError(
                f"monotonic_cst constrains column {table.name(j)!r}, which holds categories without an order.",
                "Give it an ordered type (pandas: CategoricalDtype(categories, ordered=True), polars: Enum), or "
                "replace the categories by numbers in their order.",
            )
    return tuple(int(d) for d in directions) if any(directions) else None


def ordered_columns(directions: Sequence[int] | None, table: Table) -> frozenset[int]:
    """Return the constrained columns that hold categories, which are therefore split in their order."""
    if directions is None:
        return frozenset()
    return frozenset(j for j, d in enumerate(directions) if d and isinstance(table.column(j), Nominal))


def read_interactions(given: Any, table: Table) -> Interactions:
    """Return which columns may be tested together.

    As in scikit-learn: "pairwise", "no_interactions", or a sequence of sets. Columns that are in no set form another.
    """
    if given is None:
        return ANY
    if isinstance(given, str) and given in RULES:
        return Interactions(most=RULES[given])
    if not _has_entries(given) or not all(map(_has_entries, given)):
        raise InputError(
            f"interaction_cst={in_short(given)} is not a constraint.",
            "Use 'pairwise', 'no_interactions', or a list of sets of columns that may interact, such as [{0, 1}, {2}].",
        )
    places = _places(table)
    groups = [frozenset(_place(name, table, places, "interaction_cst") for name in group) for group in given]
    rest = frozenset(range(table.n_features)) - frozenset().union(*groups)
    return Interactions((*groups, rest) if rest else tuple(groups))


def _has_entries(given: Any) -> bool:
    """Whether something is a list, set or array, and no text."""
    return isinstance(given, Collection) and not isinstance(given, str | bytes) and getattr(given, "ndim", 1) > 0


def _places(table: Table) -> dict[Any, int]:
    """Return the number of each column by its name; the first one, if two have the same."""
    names = [] if table.frame is None else list(table.frame.columns)
    return {name: j for j, name in reversed(list(enumerate(names)))}


def _place(name: Any, table: Table, places: Mapping[Any, int], argument: str) -> int:
    """Return the number of a column, given that or its name."""
    if isinstance(name, Hashable) and name in places:
        return places[name]
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < table.n_features:
        return int(name)
    raise InputError(f"{argument} names the column {in_short(name)}, which X does not have.")
