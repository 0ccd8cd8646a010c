"""Vectors with names: what the sets of all engines that keep their rows in NumPy arrays share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from skewboost.engine.boundary import N_CODES
from skewboost.engine.partition import Partition, View
from skewboost.engine.threads import parallel
from skewboost.engine.training_set import EXAMPLES, Classes, RowFunction, W, Y
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.scoring import Term

T = TypeVar("T")


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
        self._making = threading.Lock()

    def _weights(self, rows: slice) -> Array:
        """The current weights of some rows."""
        raise NotImplementedError

    # --------------------------------------------------------------------- verbs

    def put(self, name: str, values: Array | float) -> None:
        """Make a vector of given values; a single number is that of every row."""
        self._refuse(name)
        given = np.array(values, dtype=np.float64)
        if given.ndim and len(given) != self.n_rows:
            raise InputError(f"The vector {name!r} has {len(given)} numbers, but there are {self.n_rows} rows.")
        self._vectors[name] = given if given.ndim else np.broadcast_to(given, self.n_rows)  # of one number's memory

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

    def map(self, function: RowFunction, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        """Make vectors by a function of others, and add up what else it returns."""
        for name in outputs:
            self._refuse(name)

        def keep(rows: slice, made: tuple[Array, ...]) -> list[float]:
            # a block only reads its own rows, so that an output may be among the inputs
            kept: list[Array] = []
            for name, values in zip(outputs, made[: len(outputs)], strict=True):
                stored = self._as_stored(values)
                if len(stored) == self.n_rows and _is_fresh(stored) and not any(stored is v for v in kept):
                    self._vectors[name] = stored
                    kept.append(stored)
                else:
                    self._own(name, stored.shape[1:])[rows] = stored
            return [float(np.add.reduce(values, axis=None)) for values in made[len(outputs) :]]

        return [sum(values) for values in zip(*self._applied(function, inputs, keep))]

    def sum(self, function: RowFunction, inputs: Sequence[str]) -> Any:
        """Add up a function of vectors."""
        parts = self._applied(function, inputs, lambda _, made: [float(np.add.reduce(v, axis=None)) for v in made])
        totals = tuple(sum(values) for values in zip(*parts))
        return totals[0] if len(totals) == 1 else totals

    def max(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """The largest value of a function of vectors."""
        parts = self._applied(function, inputs, lambda _, made: float(np.max(made[0])))
        return parts[0] if len(parts) == 1 else float(np.max(parts))

    def evaluate(self, term: Term, name: str) -> None:
        """Make a vector of what a term says."""
        self._refuse(name)
        self._vectors[name] = np.asarray(term.on(self.view), dtype=np.float64)

    def add(self, term: Term, name: str) -> None:
        """Add what a term says to a vector."""
        self._refuse(name)
        added = self._shown(self.get(name)) + self._shown(term.on(self.view))
        self._vectors[name] = np.asarray(self._as_stored(added), dtype=np.float64)

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
            raise InputError(f"The vector {name!r} belongs to the training set. {remedy}")

    def _applied(
        self, function: RowFunction, inputs: Sequence[str], then: Callable[[slice, tuple[Array, ...]], T]
    ) -> list[T]:
        """Apply a function to each block, and then another to the block and the tuple of arrays that it makes."""
        vectors = [None if name == W else self._shown(self.get(name)) for name in inputs]

        def apply(rows: slice) -> T:
            given = [self._shown(self._weights(rows)) if v is None else v[rows] for v in vectors]
            made = function(*given)
            return then(rows, made if isinstance(made, tuple) else (made,))

        if self.block is None or self.n_rows <= self.block:
            return [apply(slice(None))]
        n_blocks = -(-self.n_rows // self.block)
        ends = [k * self.n_rows // n_blocks for k in range(n_blocks + 1)]
        return parallel(lambda k: apply(slice(ends[k], ends[k + 1])), n_blocks, self.n_jobs)

    def _own(self, name: str, each: tuple[int, ...] = ()) -> Array:
        """The vector of a name, to be written to; a row of it has this shape."""
        shape = (self.n_rows, *each)
        known = self._vectors.get(name)
        if known is None or known.shape != shape or not known.flags.writeable:
            with self._making:  # blocks come on several threads, and all must write to the same
                known = self._vectors.get(name)
                if known is None or known.shape != shape or not known.flags.writeable:
                    known = self._vectors[name] = np.empty(shape)
        return known

    def _shown(self, vector: Array) -> Array:
        """A vector as functions see it."""
        return vector[:, None] if self.classes.n_labels > 1 and vector.ndim == 1 else vector

    def _as_stored(self, made: Array) -> Array:
        """What a function has made of rows, in the shape of a vector."""
        return made[:, 0] if self.classes.n_labels > 1 and made.shape[1] == 1 else made

    # -------------------------------------------------------------------- labels

    def _per_label(self, values: Array) -> Array:
        """Labels or weights as ``[row, label]``, also where there is one."""
        return values.reshape(self.n_rows, -1)

    def _planes(self) -> Iterator[tuple[int, int]]:
        """The label and the class of every plane."""
        for label in range(self.classes.n_labels):
            for k in range(self.classes.n_classes):
                yield label, k


def _is_fresh(values: Array) -> bool:
    """Whether a function has made an array of its own; what it was given are views."""
    return values.base is None and values.dtype == np.float64 and values.flags.c_contiguous
