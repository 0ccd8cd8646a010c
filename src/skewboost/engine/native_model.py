"""An ensemble in the native core, made when its first rows are scored."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost.engine.native import Column, Core, address, check, contiguous, padded
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.scoring import Scorer
    from skewboost.engine.table import Table

_FLOAT, _DOUBLE, _CODES = range(3)


class NativeModel:
    """The tables and trees of a scorer in the native core."""

    def __init__(self, core: Core, scorer: Scorer) -> None:
        assert scorer.bins is not None, "tables and trees need bins"
        self.core = core
        self.features = np.union1d(scorer.table_features, scorer.tree_features).astype(np.int64)
        self.bins = scorer.bins
        self.columns = self.bins.column_of_each[self.features]
        cuts, n_cuts = padded([self.bins.features[j].cuts for j in self.features])
        in_table = contiguous(scorer.in_table[self.features], np.uint8)
        tables = contiguous(scorer.tables[self.features])
        trees = scorer.packed
        feature = contiguous(np.searchsorted(self.features, trees.feature), np.int64)
        arrays = trees.roots, trees.threshold, trees.which, trees.links
        roots, threshold, which, links = (contiguous(a, np.int64) for a in arrays)
        sets, values = contiguous(trees.sets, np.uint8), contiguous(trees.values)
        made = ctypes.c_void_p()
        check(
            core.new_model(
                ctypes.addressof(made), len(self.features), address(cuts), address(n_cuts), address(in_table),
                address(tables), len(roots), address(roots), len(feature), address(feature), address(threshold),
                address(which), len(sets), address(sets), address(links), len(values), address(values),
            )
        )  # fmt: skip
        self._owner = core.owner(made, core.free_model)
        self.at = made.value

    @classmethod
    def of(cls, core: Core, scorer: Scorer) -> NativeModel:
        """Return the model of a scorer, which is made on first use."""
        known = _MODELS.get(scorer)
        if known is None:
            known = _MODELS[scorer] = cls(core, scorer)
        return known

    def score(self, table: Table, F: Array, n_jobs: int) -> None:
        """Add the values of tables and trees to F; of columns that are computed, only those that are used."""
        if table.computed is not None:
            for rows, cells in table.computed.parts(self.columns):
                self._score(_of_matrix(cells, range(len(self.features))), F[rows], n_jobs)
            return
        X = table.matrix
        if X is not None and X.dtype in (np.float32, np.float64):
            self._score(_of_matrix(X, self.columns.tolist()), F, n_jobs)
            return
        kept: list[Array] = []  # the columns must stay alive during the call
        columns = (Column * len(self.features))()
        for column, j in zip(columns, self.features.tolist()):
            values = self.bins.numbers(table, j)
            if self.bins.nominal[j]:
                column.kind, values = _CODES, contiguous(values, np.uint8)
            elif values.dtype == np.float32:
                column.kind = _FLOAT
            else:
                column.kind, values = _DOUBLE, values.astype(np.float64, copy=False)
            kept.append(values)
            column.data, column.step = address(values), values.strides[0] // values.itemsize
        self._score(columns, F, n_jobs)

    def _score(self, columns: Any, F: Array, n_jobs: int) -> None:
        self.core.score(self.at, ctypes.addressof(columns), len(F), address(F), n_jobs)


def _of_matrix(X: Array, places: Sequence[int]) -> Any:
    """Return where the columns at some places of a matrix of floats are."""
    columns = (Column * len(places))()
    kind, start, across = int(X.dtype == np.float64), address(X), X.strides[1]
    down = X.strides[0] // X.itemsize
    for column, j in zip(columns, places):
        column.kind, column.data, column.step = kind, start + j * across, down
    return columns


_MODELS: weakref.WeakKeyDictionary[Scorer, NativeModel] = weakref.WeakKeyDictionary()
