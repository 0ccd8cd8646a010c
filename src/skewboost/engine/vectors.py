"""Named vectors in NumPy arrays: the common part of the training sets of all engines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from skewboost.engine.boundary import N_CODES
from skewboost.engine.partition import Partition, View
from skewboost.engine.threads import parallel
from skewboost.engine.training_set import EXAMPLES, Classes, Leaves, RowFunction, W, Y
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.scoring import Term

T = TypeVar("T")


class NamedVectors:
    """The vectors of a training set; subclasses keep the weights.

    Functions are applied to blocks of `block` rows on `n_jobs` threads. Sums are added in the order of the blocks, so
    the number of threads changes no result. If `block` is None, all rows are one block.
    """

    block: int | None = None
    n_jobs = 1

    def __init__(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> None:
        self.view = view
        self.bins = view.bins
        self.classes = classes
        self.n_rows = view.n_rows
        self.numbers = labels  # class numbers: [row] or [row, label]
        self.n_assigned = 0
        every = np.broadcast_to(1.0, self.n_rows) if examples is None else np.asarray(examples, dtype=np.float64)
        self._vectors: dict[str, Array] = {EXAMPLES: every}
        self._allocating = threading.Lock()

    def _weights(self, rows: slice) -> Array:
        """Return the current weights of some rows."""
        raise NotImplementedError

    # --------------------------------------------------------------------- verbs

    def put(self, name: str, values: Array | float) -> None:
        """Store a vector; a single number is the value of every row."""
        self._refuse(name)
        given = np.array(values, dtype=np.float64)
        if given.ndim and len(given) != self.n_rows:
            raise InputError(
                f"The vector {name!r} has {len(given)} numbers, but there are {self.n_rows} rows.",
                "Pass one number per row, or a single number.",
            )
        self._vectors[name] = given if given.ndim else np.broadcast_to(given, self.n_rows)

    def get(self, name: str) -> Array:
        """Return a vector as an array."""
        if name == W:
            return self._weights(slice(None))
        if name == Y and Y not in self._vectors:
            self._vectors[Y] = self.classes.as_y(self.numbers)
        if name not in self._vectors:
            known = ", ".join(map(repr, sorted({*self._vectors, Y, W})))
            raise KeyError(f"The training set has no vector {name!r}; it has {known}.")
        return self._vectors[name]

    def map(self, function: RowFunction, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        """Compute vectors by a function of others, and return the sums of its further results."""
        for name in outputs:
            self._refuse(name)

        def keep(rows: slice, made: tuple[Array, ...]) -> list[float]:
            # a block reads only its own rows, so an output may also be an input
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
        """Return the sum of a function of vectors."""
        parts = self._applied(function, inputs, lambda _, made: [float(np.add.reduce(v, axis=None)) for v in made])
        totals = tuple(sum(values) for values in zip(*parts))
        return totals[0] if len(totals) == 1 else totals

    def max(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Return the largest value of a function of vectors."""
        parts = self._applied(function, inputs, lambda _, made: float(np.max(made[0])))
        return parts[0] if len(parts) == 1 else float(np.max(parts))

    def evaluate(self, term: Term, name: str) -> None:
        """Store the values of a term as a vector."""
        self._refuse(name)
        self._vectors[name] = np.asarray(term.on(self.view), dtype=np.float64)

    def add(self, term: Term, name: str) -> None:
        """Add the values of a term to a vector."""
        self._refuse(name)
        added = self._shown(self.get(name)) + self._shown(term.on(self.view))
        self._vectors[name] = np.asarray(self._as_stored(added), dtype=np.float64)

    def take(self, rows: Array) -> Any:
        """Return the codes of the given rows."""
        return self.view.engine.take(self.view.codes, rows)

    def count(self, partition: Partition) -> Array:
        """Return the number of examples at each (split, code)."""
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
            remedy = "Change the weights by assign or reweight." if name == W else "Use another name."
            raise InputError(f"The vector {name!r} belongs to the training set and cannot be replaced.", remedy)

    def _applied(
        self, function: RowFunction, inputs: Sequence[str], then: Callable[[slice, tuple[Array, ...]], T]
    ) -> list[T]:
        """Apply a function to each block, and then another to the rows of the block and the tuple of results."""
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
        """Return a writable vector of this name, whose rows have the shape `each`."""
        shape = (self.n_rows, *each)
        known = self._vectors.get(name)
        if known is None or known.shape != shape or not known.flags.writeable:
            with self._allocating:  # the blocks of several threads must share one array
                known = self._vectors.get(name)
                if known is None or known.shape != shape or not known.flags.writeable:
                    known = self._vectors[name] = np.empty(shape)
        return known

    def _shown(self, vector: Array) -> Array:
        """Return a vector in the shape that functions get."""
        return vector[:, None] if self.classes.n_labels > 1 and vector.ndim == 1 else vector

    def _as_stored(self, made: Array) -> Array:
        """Return the result of a function in the shape of a vector."""
        return made[:, 0] if self.classes.n_labels > 1 and made.shape[1] == 1 else made

    # -------------------------------------------------------- leaves and labels

    def _leaves(self, partition: Partition | Leaves) -> Array:
        """Return the leaf of every row."""
        if isinstance(partition, Leaves):
            return self.get(partition.name).astype(np.int64)
        return partition.leaves(self.view)

    def _per_label(self, values: Array) -> Array:
        """Return labels or weights as ``[row, label]``, also if there is one label."""
        return values.reshape(self.n_rows, -1)

    def _planes(self) -> Iterator[tuple[int, int]]:
        """Yield the (label, class) of every plane."""
        for label in range(self.classes.n_labels):
            for k in range(self.classes.n_classes):
                yield label, k


def _is_fresh(values: Array) -> bool:
    """Whether an array owns its memory; the arguments of functions are views and do not."""
    return values.base is None and values.dtype == np.float64 and values.flags.c_contiguous
