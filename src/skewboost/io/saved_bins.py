"""How cells become codes, and where the training examples are."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.engine.binning import MAX_BINS, Bins, Feature
from skewboost.engine.boundary import MISSING, N_CODES
from skewboost.engine.explaining import Spread, Support
from skewboost.io.schema import Floats, ListOf, Maybe, Number, OneOf, Record, Text, require
from skewboost.typing import Array

MOST_CELLS = 2**19  # features times ensembles: each has 256 entries of a table once a model is loaded


def _feature(
    cuts: Any = None, categories: tuple[str, ...] | None = None, rest: frozenset[str] = frozenset()
) -> Feature:
    if categories is None:
        return Feature(cuts=cuts, n_bins=len(cuts) + 1)
    return Feature(categories=categories, rest=rest, n_bins=max(1, len(categories) + bool(rest)))


def _check_feature(feature: Feature) -> None:
    require(feature.n_bins <= MAX_BINS, f"has {feature.n_bins} bins, and {MAX_BINS} are the most")
    require((np.diff(feature.cuts) > 0).all(), "must rise", "cuts")
    require(feature.rest.isdisjoint(feature.categories or ()), "must not name categories with a code", "rest")


class FeatureField:
    """A feature: `cuts` of numbers, or `categories` and the `rest`, which share a code."""

    _number = Record(Feature, {"cuts": Floats()}, _feature, _check_feature)
    _category = Record(
        Feature,
        {"categories": ListOf(Text(), tuple, distinct=True), "rest": ListOf(Text(), frozenset, distinct=True)},
        _feature,
        _check_feature,
    )
    _kinds = OneOf({"number": _number, "category": _category}, "a feature")

    def write(self, value: Feature) -> Any:
        """By its kind."""
        kind, own = ("category", self._category) if value.nominal else ("number", self._number)
        return {"kind": kind, **own.write(value)}

    def read(self, data: Any, at: str) -> Any:
        """By its kind."""
        return self._kinds.read(data, at)


BINS = Record(Bins, {"features": ListOf(FeatureField(), tuple)})


class PerCode:
    """Numbers per feature and code, without the zeros behind the last code in use; that of missing cells is first."""

    _rows = ListOf(Floats(low=0.0))

    def write(self, value: Array) -> Any:
        """A list per feature."""
        return self._rows.write([np.append(row[MISSING], np.trim_zeros(row[:MISSING], "b")) for row in value])

    def read(self, data: Any, at: str) -> Array:
        """With the zeros."""
        rows = self._rows.read(data, at)
        require(len(rows) <= MOST_CELLS, f"must not have more than {MOST_CELLS} rows", at)
        found = np.zeros((len(rows), N_CODES))
        for row, own in zip(found, rows):
            require(1 <= len(own) <= N_CODES, f"must have 1 to {N_CODES} numbers in each row", at)
            row[MISSING], row[: len(own) - 1] = own[0], own[1:]
        return found


def _check_support(support: Support) -> None:
    require(support.per_code is None or support.spread is None, "must not have both per_code and spread")
    spread = support.spread
    require(
        spread is None or len({len(getattr(spread, name)) for name in _SPREAD}) == 1,
        f"must have {len(_SPREAD)} arrays of one length",
        "spread",
    )


_SPREAD = {"known": Floats(low=0.0), "mean": Floats(), "rest": Floats(), "low": Floats(), "high": Floats()}
SPREAD = Record(Spread, _SPREAD)
SUPPORT = Record(
    Support,
    {"n_examples": Number(0.0, above=True), "per_code": Maybe(PerCode()), "spread": Maybe(SPREAD)},
    check=_check_support,
)
