"""Vectors with names: what the sets of all engines that keep their rows in NumPy arrays share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost.engine.boundary import N_CODES, Array
from skewboost.engine.partition import Partition, View
from skewboost.engine.threads import parallel
from skewboost.engine.training_set import EXAMPLES, Classes, RowFunction, W, Y

if TYPE_CHECKING:
    from skewboost.engine.scoring import Term


class Vectors:
    """The vectors of a training set; a subclass has the weights.

    Functions are applied to blocks of `block` rows, on `n_jobs` threads, and their sums added in the order of the
    blocks, so that the number of threads changes nothing. Without a block all rows are one.
    """

    block: int | None = None
    n_jobs = 1

    def __init__(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> None:
        self.view = view
        self.bins = view.bins
        self.classes = classes
        self.n_rows = view.n_rows
        self.numbers = labels  # of the classes: [row] or [row, label]
        every = np.broadcast_to(1.0, self.n_rows) if examples is None else np.asarray(examples, dtype=np.float64)
        self._vectors: dict[str, Array] = {EXAMPLES: every}

    def _weights(self, rows: slice) -> Array:
        """The current weights of some rows."""
        raise NotImplementedError

    # --------------------------------------------------------------------- verbs

    def put(self, name: str, values: Array | float) -> None:
        """Make a vector of given values; a single number is that of every row."""
        self._refuse(name)
        given = np.full(self.n_rows, values) if np.ndim(values) == 0 else values
        self._vectors[name] = np.array(given, dtype=np.float64)

    def get(self, name: str) -> Array:
        """A vector as an array."""
        if name == W:
            return self._weights(slice(None))
        if name == Y and Y not in self._vectors:
            self._vectors[Y] = self.classes.as_y(self.numbers)
        if name not in self._vectors:
            known = ", ".join(map(repr, sorted({*self._vectors, Y, W})))
            raise KeyError(f"There is no vector {name!r} in the training set; there are {known}.")
        return self._vectors[name]

    def map(self, function: RowFunction, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Make vectors by a function of others."""
        for name in outputs:
            self._refuse(name)
        made = self._applied(function, inputs)
        for k, name in enumerate(outputs):
            self._vectors[name] = self._joined([m[k] for m in made])

    def sum(self, function: RowFunction, inputs: Sequence[str]) -> Any:
        """Add up a function of vectors."""
        parts = self._applied(function, inputs, np.sum)
        totals = tuple(float(sum(values)) for values in zip(*parts))
        return totals[0] if len(totals) == 1 else totals

    def max(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """The largest value of a function of vectors."""
        return float(max(values[0] for values in self._applied(function, inputs, np.max)))

    def evaluate(self, term: Term, name: str) -> None:
        """Make a vector of what a term says."""
        self.put(name, term.on(self.view))

    def add(self, term: Term, name: str) -> None:
        """Add what a term says to a vector."""
        self._refuse(name)
        self._vectors[name] = self._joined([self._shown(self.get(name)) + self._shown(term.on(self.view))])

    def take(self, rows: Array) -> Any:
        """The codes of these rows."""
        return self.view.engine.take(self.view.codes, rows)

    def count(self, partition: Partition) -> Array:
        """Follow the rows from split to split."""
        examples = self.get(EXAMPLES)
        counts = np.zeros((len(partition.splits), N_CODES))
        for k, here in enumerate(partition.rows_at_splits(self.view)):
            codes = self.view.column(partition.splits[k].feature)[here]
            counts[k] = np.bincount(codes, examples[here], minlength=N_CODES)
        return counts

    # -------------------------------------------------------------------- blocks

    @staticmethod
    def _refuse(name: str) -> None:
        if name in (W, Y, EXAMPLES):
            remedy = "Change the weights by assign or reweight." if name == W else "Take another name."
            raise ValueError(f"The vector {name!r} belongs to the training set. {remedy}")

    def _blocks(self) -> list[slice]:
        step = self.block or max(self.n_rows, 1)
        return [slice(start, start + step) for start in range(0, max(self.n_rows, 1), step)]

    def _applied(self, function: RowFunction, inputs: Sequence[str], then: Any = None) -> list[tuple[Any, ...]]:
        """What a function makes of each block, as a tuple of arrays, or of their reductions."""
        vectors = [None if name == W else self._shown(self.get(name)) for name in inputs]

        def apply(rows: slice) -> tuple[Any, ...]:
            given = [self._shown(self._weights(rows)) if v is None else v[rows] for v in vectors]
            made = function(*given)
            several = made if isinstance(made, tuple) else (made,)
            return tuple(map(then, several)) if then is not None else several

        blocks = self._blocks()
        if len(blocks) == 1:
            return [apply(slice(None))]
        return parallel(lambda k: apply(blocks[k]), len(blocks), self.n_jobs)

    def _shown(self, vector: Array) -> Array:
        """A vector as functions see it."""
        return vector[:, None] if self.classes.n_labels > 1 and vector.ndim == 1 else vector

    def _joined(self, parts: list[Array]) -> Array:
        """What was made of the blocks, as a vector."""
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self.classes.n_labels > 1 and whole.shape[1] == 1:
            whole = whole[:, 0]
        return np.asarray(whole, dtype=np.float64)

    # -------------------------------------------------------------------- labels

    def _per_label(self, values: Array) -> Array:
        """Labels or weights as ``[row, label]``, also where there is one."""
        return values.reshape(self.n_rows, -1)

    def _planes(self) -> Iterator[tuple[int, int]]:
        """The label and the class of every plane."""
        for label in range(self.classes.n_labels):
            for k in range(self.classes.n_classes):
                yield label, k
