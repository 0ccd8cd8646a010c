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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from skewboost.engine.boundary import Codes, Request, Split
from skewboost.engine.partition import Partition
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Term

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


class TrainingSet(Protocol):
    """The interface of a training set. `reference_set` specifies it; all engines agree with it to 1e-12."""

    classes: Classes
    bins: Bins | None  # None: the table was not binned, so there are no histograms or partitions
    n_rows: int
    n_assigned: int  # the number of times that all weights were replaced

    # -------------------------------------------------------------------- vectors

    def put(self, name: str, values: Array | float) -> None:
        """Store a vector in the order of the table; a single number is the value of every row."""
        ...

    def get(self, name: str) -> Array:
        """Return a vector as an array, in the order of the table.

        This is the only call that returns rows. It is for callers that need the rows themselves: estimators of other
        libraries, samplers, lines.
        """
        ...

    def map(self, function: RowFunction, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        """Compute vectors by a function of others, which returns one array, or a tuple of arrays.

        An output may also be an input. Arrays that the function returns beyond the outputs are summed over all rows,
        and these sums are returned. That saves a second pass over the rows.
        """
        ...

    def sum(self, function: RowFunction, inputs: Sequence[str]) -> Any:
        """Return the sum of a function of vectors over all rows; a tuple of sums if it returns several arrays."""
        ...

    def max(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Return the largest value of a function of vectors."""
        ...

    # -------------------------------------------------------------------- weights

    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Replace the weights by a function of vectors, normalised; return their sum before normalisation."""
        ...

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Multiply the weights of each (leaf, plane) by its factor and normalise; return the sum before that.

        If the partition is the object that was returned by the last `grow`, or if its last split is the one of the last
        `split`, an engine need not look up the leaves of the rows.
        """
        ...

    # ----------------------------------------------------------------- partitions

    def grow(self, request: Request, limits: Limits) -> Growth:
        """Grow a partition under the current weights; a single leaf if no split is allowed.

        `growing.grow` specifies it. The leaves of a stump are its sides: left, right and, if any code does, abstaining.
        """
        ...

    def grow_responses(self, z: str, w: str, request: Request, limits: Limits) -> Growth:
        """Grow a partition that fits the vector z by least squares with weights w; ``sums[leaf]`` are Σw, Σwz."""
        ...

    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        """Return the weights of the leaves, ``[leaf, plane]``; with `times`, weights are multiplied by that vector."""
        ...

    def count(self, partition: Partition) -> Array:
        """Return the number of examples that reach each split, by their code there: ``[split, code]``."""
        ...

    # ---------------------------------------------------------------------- terms

    def evaluate(self, term: Term, name: str) -> None:
        """Store the values of a term as a vector."""
        ...

    def add(self, term: Term, name: str) -> None:
        """Add the values of a term to a vector."""
        ...

    # ------------------------------------------------------- histograms and nodes

    def histogram(self, *names: str) -> Array:
        """Return the histograms of vectors, ``[name, feature, code]``; without names that of the weights."""
        ...

    def root(self) -> Node:
        """Return the node of all rows."""
        ...

    def search(self, node: Node, request: Request) -> Split | None:
        """Return the best split of a node under the current weights; None if no split is allowed."""
        ...

    def split(self, node: Node, split: Split) -> list[Node]:
        """Return the children of a node: left, right and, if any code does, abstaining."""
        ...

    def totals(self, node: Node) -> Array:
        """Return the weights of a node, ``[plane]``."""
        ...

    def examples(self, node: Node) -> float:
        """Return the number of examples in a node."""
        ...

    def forget(self, node: Node) -> None:
        """Discard the histogram of a node, because its weights changed by more than a common factor per plane.

        A node may keep its histogram until this call, or until all weights are replaced.
        """
        ...

    # --------------------------------------------------------------- further sets

    def take(self, rows: Array) -> Codes:
        """Return the codes of the given row numbers, which may repeat, to make another training set."""
        ...
