"""An ensemble as the native core scores it: made once, when the first rows are scored."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING

import numpy as np

from skewboost.engine.native import Column, Core, address, check, contiguous, padded
from skewboost.engine.table import Nominal, Table
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Feature
    from skewboost.engine.scoring import Scorer

_FLOAT, _DOUBLE, _CODES = range(3)


class NativeModel:
    """The tables and trees of a scorer in the native core."""

    def __init__(self, core: Core, scorer: Scorer) -> None:
        assert scorer.bins is not None, "tables and trees are of binned features"
        self.core = core
        self.features = np.union1d(scorer.table_features, scorer.tree_features).astype(np.int64)
        self.bins = [scorer.bins.features[j] for j in self.features.tolist()]
        cuts, n_cuts = padded([feature.cuts for feature in self.bins])
        in_table = contiguous(scorer.in_table[self.features], np.uint8)
        tables = contiguous(scorer.tables[self.features])
        trees = scorer.packed
        feature = contiguous(np.searchsorted(self.features, trees.feature), np.int64)
        links, sets, values = (
            contiguous(trees.links, np.int64),
            contiguous(trees.sets, np.uint8),
            contiguous(trees.values),
        )
        roots, threshold, which = (contiguous(a, np.int64) for a in (trees.roots, trees.threshold, trees.which))
        made = ctypes.c_void_p()
        check(
            core.new_model(
                ctypes.addressof(made), len(self.bins), address(cuts), address(n_cuts), address(in_table),
                address(tables), len(roots), address(roots), len(feature), address(feature), address(threshold),
                address(which), len(sets), address(sets), address(links), len(values), address(values),
            )
        )  # fmt: skip
        self._owner = core.owner(made, core.free_model)
        self.at = made.value

    @classmethod
    def of(cls, core: Core, scorer: Scorer) -> NativeModel:
        """The model of a scorer, which is made when it is first asked for."""
        known = _MODELS.get(scorer)
        if known is None:
            known = _MODELS[scorer] = cls(core, scorer)
        return known

    def score(self, table: Table, F: Array, n_jobs: int) -> None:
        """Add what tables and trees say of rows."""
        kept: list[Array] = []  # what the core reads must stay until it has
        columns = (Column * len(self.features))()
        X = table.matrix
        if X is not None and X.dtype in (np.float32, np.float64):
            kind, start, across = int(X.dtype == np.float64), address(X), X.strides[1]
            down = X.strides[0] // X.itemsize
            for column, j in zip(columns, self.features.tolist()):
                column.kind, column.data, column.step = kind, start + j * across, down
        else:
            for column, j, feature in zip(columns, self.features.tolist(), self.bins):
                column.kind, values = _values(table.column(j), feature)
                kept.append(values)
                column.data, column.step = address(values), values.strides[0] // values.itemsize
        self.core.score(self.at, ctypes.addressof(columns), table.n_rows, address(F), n_jobs)


_MODELS: weakref.WeakKeyDictionary[Scorer, NativeModel] = weakref.WeakKeyDictionary()


def _values(column: Array | Nominal, feature: Feature) -> tuple[int, Array]:
    """A column as the core reads it: numbers, or the codes of categories."""
    if isinstance(column, Nominal):
        return _CODES, contiguous(feature.translate(column), np.uint8)
    if column.dtype == np.float32:
        return _FLOAT, column
    return _DOUBLE, column if column.dtype == np.float64 else column.astype(np.float64)
