"""The training set: the one owner of everything that has a value per training row.

Codes, class labels, weights and whatever else a boosting rule keeps of every row live in one object, which an engine
makes. Rules and learners pass functions, names and numbers, and get numbers, partitions and histograms back. None of
them holds an array of rows, so the rows may be in several parts, on other machines or on another device: who
implements the calls adds up sums over the parts, and nothing above them changes.

**Vectors** have a name and one float64 per row, in the order of the table; ``[row, label]`` where rows have several
labels, and any further columns as long as a row keeps to itself. Three are always there:

============ ===========================================================================================
``y``        -1 and +1 (per label, where there are several); the number of the class, where there are many
``examples`` how many examples a row stands for: its `sample_weight`
``w``        the current weights, which sum to one; they are changed by `assign` and `reweight` only
============ ===========================================================================================

**Functions** of vectors are applied row by row: they are called with arrays of some of the rows, as often as the
owner likes and on any thread, and must not look from one row to another. Where rows have several labels, a vector of
one number per row comes as ``[row, 1]``, so that it broadcasts against those of one per label.

**Sums per leaf** are ``[leaf, plane]``, with a plane for every class of every label (`Classes`).
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

Y, EXAMPLES, W = "y", "examples", "w"  # the vectors that are always there

RowFunction = Callable[..., Any]  # arrays of rows → an array of as many rows, or a tuple of such
Node = Any  # a set of rows, as its owner knows it


def itself(values: Array) -> Array:
    """The function that leaves a vector as it is."""
    return values


def squares(z: Array, w: Array) -> Array:
    """``w z²``, to be added up."""
    return w * z * z


class Classes(NamedTuple):
    """What labels look like: every row has `n_labels` of them, each of which is one of `n_classes`.

    Two classes are (1, 2), K classes are (1, K), and L labels that are on or off are (L, 2).
    """

    n_labels: int = 1
    n_classes: int = 2

    @property
    def n_planes(self) -> int:
        """How many planes a histogram has; that of a class of a label is ``label * n_classes + class``."""
        return self.n_labels * self.n_classes

    @property
    def two(self) -> bool:
        """Whether there are two classes and one label."""
        return self == TWO

    def as_y(self, numbers: Array) -> Array:
        """The vector ``y`` of the numbers of classes: -1 and +1 where there are two."""
        return 2.0 * numbers - 1.0 if self.n_classes == 2 else np.asarray(numbers, dtype=np.float64)

    def numbers(self, y: Array) -> Array:
        """The numbers of the classes, from the vector ``y``."""
        return (y > 0).astype(np.intp) if self.n_classes == 2 else y.astype(np.intp)


TWO = Classes()


class Limits(NamedTuple):
    """How far a tree may grow: level by level, or best first once `max_leaf_nodes` is given."""

    max_depth: int | None = 1
    max_leaf_nodes: int | None = None

    @property
    def one_split(self) -> bool:
        """Whether the tree can only be a stump."""
        return self.max_leaf_nodes == 2 or self.max_depth == 1


@dataclass(slots=True)
class Growth:
    """A grown partition, as data.

    `sums` are the totals of the leaves, ``[leaf, plane]``. `abstains` are the leaves of rows that have no vote.
    `importances` are pairs of a feature and how much a split on it lowered the loss. Of responses, `squares` is Σwz².
    """

    partition: Partition
    sums: Array
    abstains: Array
    importances: Sequence[tuple[int, float]]
    squares: float = 0.0


@dataclass(frozen=True, slots=True)
class Leaves:
    """A partition that the engine cannot evaluate: the leaf of every row is in a vector of that name."""

    name: str
    n_leaves: int


class TrainingSet(Protocol):
    """The verbs. `reference` is their specification; every other engine gives the same answers to 1e-12."""

    classes: Classes
    bins: Bins | None  # None: the table was not binned, and there are neither histograms nor partitions
    n_rows: int
    n_assigned: int  # how often all weights were replaced

    # -------------------------------------------------------------------- vectors

    def put(self, name: str, values: Array | float) -> None:
        """Make a vector of given values, in the order of the table; a single number is that of every row."""
        ...

    def get(self, name: str) -> Array:
        """A vector as an array, in the order of the table.

        The one way by which rows leave the set. It is for those who need the rows themselves: estimators of other
        libraries, samplers, lines.
        """
        ...

    def map(self, function: RowFunction, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        """Make vectors by a function of others; it returns one array, or a tuple if there are several outputs.

        An output may be among the inputs. Who is not there yet comes into being. What the function returns beyond the
        outputs is added up over all rows: one pass instead of two for who wants to know a sum as well.
        """
        ...

    def sum(self, function: RowFunction, inputs: Sequence[str]) -> Any:
        """Add up a function of vectors over all rows: a float, or a tuple of them if it returns several arrays."""
        ...

    def max(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """The largest value of a function of vectors."""
        ...

    # -------------------------------------------------------------------- weights

    def assign(self, function: RowFunction, inputs: Sequence[str]) -> float:
        """Make a function of vectors the weights, normalised; returns their sum before that."""
        ...

    def reweight(self, partition: Partition | Leaves, factors: Array) -> float:
        """Multiply the weights of each (leaf, plane) by its factor and normalise; returns their sum before that.

        Where the partition is the very object that was grown last, or its last split the one by which a node was split
        last, an owner knows the leaves already.
        """
        ...

    # ----------------------------------------------------------------- partitions

    def grow(self, request: Request, limits: Limits) -> Growth:
        """Grow the best partition under the current weights; a single leaf where nothing can be split.

        `grow.grow` says what that is. The leaves of a stump are its sides: left, right, and who abstains.
        """
        ...

    def grow_responses(self, z: str, w: str, request: Request, limits: Limits) -> Growth:
        """The same for a weighted least-squares fit of a vector; ``sums[leaf]`` are Σw and Σwz."""
        ...

    def sums(self, partition: Partition | Leaves, times: str | None = None) -> Array:
        """The weights of the leaves of any partition, ``[leaf, plane]``; each weight times that of a vector."""
        ...

    def count(self, partition: Partition) -> Array:
        """How many examples come to each split, by their code there: ``[split, code]``."""
        ...

    # ---------------------------------------------------------------------- terms

    def evaluate(self, term: Term, name: str) -> None:
        """Make a vector of what a term says of every row."""
        ...

    def add(self, term: Term, name: str) -> None:
        """Add what a term says to a vector."""
        ...

    # ------------------------------------------------------- histograms and nodes

    def histogram(self, *names: str) -> Array:
        """Sums of vectors over all rows, ``[name, feature, code]``; without names the weights, ``[plane, …]``."""
        ...

    def root(self) -> Node:
        """The node of all rows."""
        ...

    def search(self, node: Node, request: Request) -> Split | None:
        """The best split of a node under the current weights."""
        ...

    def split(self, node: Node, split: Split) -> list[Node]:
        """The children of a node: left, right, and who abstains where the split lets any code do so."""
        ...

    def totals(self, node: Node) -> Array:
        """The weights of a node, ``[plane]``."""
        ...

    def examples(self, node: Node) -> float:
        """How many examples there are in a node."""
        ...

    def forget(self, node: Node) -> None:
        """Say that weights of a node have moved otherwise than by a common factor per plane.

        A node may keep its histogram until then, or until all weights are assigned anew.
        """
        ...

    # --------------------------------------------------------------- further sets

    def take(self, rows: Array) -> Codes:
        """The codes of these rows, given by number, to open another set with; a row may come more than once."""
        ...
