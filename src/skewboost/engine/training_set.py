"""The training set: the owner of all data that has a value per training row.

An engine keeps the codes, class labels and weights of the training rows in one object, together with any other vectors
that a boosting rule needs. Rules and learners pass functions, names and numbers to it, and get numbers, partitions and
histograms back. They never hold an array of rows. The rows may therefore be in several parts, on other machines or on
another device: the implementation sums over the parts, and no caller changes.

**Vectors** have a name and hold one float64 per row, in the order of the table. They are ``[row, label]`` if rows have
several labels, and may have other columns as well. Three vectors always exist:

============ =========================================================================================
``y``        -1 or +1 (per label, if there are several); the class number if there are more than two
``examples`` the number of examples that a row stands for: its `sample_weight`
``w``        the current weights, which sum to one; only `assign` and `reweight` change them
============ =========================================================================================

**Functions** of vectors are applied row by row. They are called with arrays of some of the rows, any number of times
and on any thread, so the value of a row must not depend on other rows. If rows have several labels, a vector of one
number per row is passed as ``[row, 1]``, so that it broadcasts against vectors of one number per label.

**Sums per leaf** are ``[leaf, plane]``. A plane is a (label, class) pair: see `boundary` and `Classes.n_planes`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from skewboost.engine.boundary import N_CODES, Codes, Request, Split
from skewboost.engine.partition import Partition, View
from skewboost.engine.restrictions import Candidates, Restrictions
from skewboost.engine.threads import parallel
from skewboost.errors import InputError
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.scoring import Term

T = TypeVar("T")

Y, EXAMPLES, W = "y", "examples", "w"  # the vectors that always exist

RowFunction = Callable[..., Any]  # arrays of rows → an array of as many rows, or a tuple of such arrays
Node = Any  # a set of rows, in the representation of its training set


def itself(values: Array) -> Array:
    """Return a vector unchanged: the identity as a `RowFunction`."""
    return values


def squares(z: Array, w: Array) -> Array:
    """Return ``w z²`` per row."""
    return w * z * z


class Classes(NamedTuple):
    """The shape of the labels: every row has `n_labels` labels, each of which is one of `n_classes`.

    Two classes are (1, 2), K classes are (1, K), and L labels that are on or off are (L, 2).
    """

    n_labels: int = 1
    n_classes: int = 2

    @property
    def n_planes(self) -> int:
        """The number of planes of a histogram: the plane of a (label, class) is ``label * n_classes + class``."""
        return self.n_labels * self.n_classes

    @property
    def two(self) -> bool:
        """Whether there is one label of two classes."""
        return self == TWO

    def as_y(self, numbers: Array) -> Array:
        """Return the vector ``y`` for class numbers: -1 and +1 if there are two classes."""
        return 2.0 * numbers - 1.0 if self.n_classes == 2 else np.asarray(numbers, dtype=np.float64)

    def numbers(self, y: Array) -> Array:
        """Return the class numbers for the vector ``y``."""
        return (y > 0).astype(np.intp) if self.n_classes == 2 else y.astype(np.intp)


TWO = Classes()


class Limits(NamedTuple):
    """The size limits of a tree, which grows level by level, or best first if `max_leaf_nodes` is given."""

    max_depth: int | None = 1
    max_leaf_nodes: int | None = None

    @property
    def one_split(self) -> bool:
        """Whether the tree can only be a stump."""
        return self.max_leaf_nodes == 2 or self.max_depth == 1


@dataclass(slots=True)
class Growth:
    """A grown partition with the sums of its leaves.

    `sums` are the weights of the leaves, ``[leaf, plane]``. `abstains` marks the leaves of rows that get no vote.
    `importances` are pairs (feature, decrease in the loss), one per split. For responses, `squares` is Σwz².
    """

    partition: Partition
    sums: Array
    abstains: Array
    importances: Sequence[tuple[int, float]]
    squares: float = 0.0


@dataclass(frozen=True, slots=True)
class Leaves:
    """A partition that was not grown by the engine: the leaf of every row is in the vector of this name."""

    name: str
    n_leaves: int


class TrainingSet(ABC):
    """The interface of a training set, with its vectors in NumPy arrays; subclasses keep the weights.

    `reference_set` specifies it, and all engines agree with it to 1e-12. Functions are applied to blocks of `block`
    rows on `n_jobs` threads. Sums are added in the order of the blocks, so the number of threads changes no result. If
    `block` is None, all rows are one block.
    """

    block: int | None = None
    n_jobs = 1

    def __init__(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> None:
        self.view = view
        self.bins = view.bins  # None: the table was not binned, so there are no histograms or partitions
        self.classes = classes
        self.n_rows = view.n_rows
        self.numbers = labels  # class numbers: [row] or [row, label]
        self.n_assigned = 0  # the number of times that all weights were replaced
        every = np.broadcast_to(1.0, self.n_rows) if examples is None else np.asarray(examples, dtype=np.float64)
        self._vectors: dict[str, Array] = {EXAMPLES: every}
        self._allocating = threading.Lock()

    @abstractmethod
    def _weights(self, rows: slice) -> Array:
        """Return the current weights of some rows."""

    # -------------------------------------------------------------------- vectors

    def put(self, name: str, values: Array | float) -> None:
        """Store a vector in the order of the table; a single number is the value of every row."""
        self._refuse(name)
        given = np.array(values, dtype=np.float64)
        if given.ndim and len(given) != self.n_rows:
            raise InputError(
                f"The vector {name!r} has {len(given)} numbers, but there are {self.n_rows} rows.",
                "Pass one number per row, or a single number.",
            )
        self._vectors[name] = given if given.ndim else np.broadcast_to(given, self.n_rows)

    def get(self, name: str) -> Array:
        """Return a vector as an array, in the order of the table.

        This is the only call that returns rows. It is for callers that need the rows themselves: estimators of other
        libraries, samplers, lines, searches by losses of rows.
        """
        if name == W:
            return self._weights(slice(None))
        if name == Y and Y not in self._vectors:
            self._vectors[Y] = self.classes.as_y(self.numbers)
        if name not in self._vectors:
            known = ", ".join(map(repr, sorted({*self._vectors, Y, W})))
            raise KeyError(f"The training set has no vector {name!r}; it has {known}.")
        return self._vectors[name]

    def map(self, function: RowFunction, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        """Compute vectors by a function of others, which returns one array, or a tuple of arrays.

        An output may also be an input. Arrays that the function returns beyond the outputs are summed over all rows,
        and these sums are returned. That saves a second pass over the rows.
        """
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
        """Return the sum of a function of vectors over all rows; a tuple of sums if it returns several arrays."""
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

    def take(self, rows: Array) -> Codes:
        """Return the codes of the given row numbers, which may repeat, to make another training set."""
        return self.view.engine.take(self.view.codes, rows)

    # -------------------------------------------------------------------- weights

    @abstractmethod
    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Replace the weights by a function of vectors, normalised; return their sum before normalisation."""

    @abstractmethod
    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Multiply the weights of each (leaf, plane) by its factor and normalise; return the sum before that.

        If the partition is the object that was returned by the last `grow`, or if its last split is the one of the last
        `split`, an engine need not look up the leaves of the rows.
        """

    # ----------------------------------------------------------------- partitions

    @abstractmethod
    def grow(self, request: Request, limits: Limits, restrictions: Restrictions | None = None, key: int = 0) -> Growth:
        """Grow a partition under the current weights; a single leaf if no split is allowed.

        `growing.grow` specifies it. The leaves of a stump are its sides: left, right and, if any code does, abstaining.
        """

    @abstractmethod
    def grow_responses(
        self, z: str, w: str, request: Request, limits: Limits, restrictions: Restrictions | None = None, key: int = 0
    ) -> Growth:
        """Grow a partition that fits the vector z by least squares with weights w; ``sums[leaf]`` are Σw, Σwz."""

    @abstractmethod
    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        """Return the weights of the leaves, ``[leaf, plane]``; with `times`, weights are multiplied by that vector."""

    def count(self, partition: Partition) -> Array:
        """Return the number of examples that reach each split, by their code there: ``[split, code]``."""
        examples = self.get(EXAMPLES)
        counts = np.zeros((len(partition.splits), N_CODES))
        for k, here in enumerate(partition.rows_at_splits(self.view)):
            codes = self.view.column(partition.splits[k].feature)[here]
            counts[k] = np.bincount(codes, examples[here], minlength=N_CODES)
        return counts

    # ------------------------------------------------------- histograms and nodes

    @abstractmethod
    def histogram(self, *names: str) -> Array:
        """Return the histograms of vectors, ``[name, feature, code]``; without names that of the weights."""

    @abstractmethod
    def root(self) -> Node:
        """Return the node of all rows."""

    @abstractmethod
    def search(self, node: Node, request: Request, within: Candidates | None = None) -> Split | None:
        """Return the best split of a node under the current weights; None if no split is allowed.

        `within` restricts the candidates. Only engines that grow trees node by node need it.
        """

    @abstractmethod
    def split(self, node: Node, split: Split) -> list[Node]:
        """Return the children of a node: left, right and, if any code does, abstaining."""

    @abstractmethod
    def totals(self, node: Node) -> Array:
        """Return the weights of a node, ``[plane]``."""

    @abstractmethod
    def examples(self, node: Node) -> float:
        """Return the number of examples in a node."""

    @abstractmethod
    def forget(self, node: Node) -> None:
        """Discard the histogram of a node, because its weights changed by more than a common factor per plane.

        A node may keep its histogram until this call, or until all weights are replaced.
        """

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


def _is_fresh(values: Array) -> bool:
    """Whether an array owns its memory; the arguments of functions are views and do not."""
    return values.base is None and values.dtype == np.float64 and values.flags.c_contiguous
