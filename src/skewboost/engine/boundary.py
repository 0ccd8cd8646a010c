"""The boundary: what everything above the engine may ask of it, and the few shapes that cross.

An engine holds a binned table (one byte per cell) and answers five questions about it: sum weights into
histograms, find the best split in a histogram, route rows to the children of a split, read or scale the weights of
rows, and score new rows. Who asks never sees the dtype of a code, a thread or a device: `codes`, row sets and
weight vectors are passed back to the engine that made them and to nobody else.

A **histogram** is a float64 array ``[plane, feature, code]``. For class labels the two planes are the summed
weights of the negatives and of the positives; for regression they are Σw and Σwz. Everything that decides —
which split, which leaf value — reads histograms and nothing else, so an engine whose rows live on other machines
changes only the sums over its parts (`Engine.histogram`, `Engine.split_off`, `Engine.total`), and one on another
device changes the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from numpy.typing import NDArray

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.scoring import Scorer
    from skewboost.tables import Table

Array = NDArray[Any]
Rows = Any  # an engine's own set of rows; `len()` of it is the number of rows
Codes = Any  # an engine's own binned table

N_CODES = 256
MISSING = 255  # the code of a missing cell, and of a category that was not seen in training

LEFT, RIGHT, ABSTAIN = 0, 1, 2  # the children of a split

# Two candidates whose criteria differ by less than this share of the node's weight are tied, and ties go to the
# lowest feature, then the lowest threshold. Sums of the same weights in another order differ by about 1e-14, so
# without a tolerance the order of the rows would choose among equals.
TIE = 1e-10

# A derived histogram whose error bound exceeds this share of the node's weight is summed directly.
MAX_NODE_ERROR = 1e-10

# A node of so few rows is summed as fast as it is subtracted, and without the error.
FEW_ROWS = 128

# A split of `cost_step` takes a step of at most this over the larger cost. Without mistakes on one side the step would
# have no end; at this one the right votes weigh 1e-5 of what they did, and exponentials are far from overflowing.
LONGEST_STEP = 11.5

# Criteria on (W-, W+) of the children; `majority` is `error` without the opposite labels that stumps must carry.
# `cost_loss` and `cost_step` are the exponential loss with costs, after every leaf's own step and after one for both.
CRITERIA = ("error", "majority", "gini", "entropy", "z", "zbar", "squares", "cost_loss", "cost_step")
FORCED = ("error", "zbar", "cost_step")  # the two sides of a split must carry opposite signs
# Of more than two classes, with one plane for each: the weight outside a leaf's heaviest class, and Σ W_l (1 - W_l/W).
OF_CLASSES = ("class_error", "class_gini")
Criterion = Literal[
    "error",
    "majority",
    "gini",
    "entropy",
    "z",
    "zbar",
    "squares",
    "cost_loss",
    "cost_step",
    "class_error",
    "class_gini",
]


@dataclass(frozen=True)
class Request:
    """What a split must minimise, and what it must not do."""

    criterion: Criterion
    missing: Literal["abstain", "learn"] = "learn"
    min_count: float = 0.0  # of examples (sums of `sample_weight`) on each side
    min_weight: float = 0.0  # of current weight on each side
    costs: tuple[float, float] = (1.0, 1.0)  # of mistakes on the negatives and on the positives
    delta: float = 0.0  # added to both class weights of a leaf by `cost_loss`, where it takes their ratio


@dataclass(frozen=True)
class Split:
    """A test on one feature: `child[code]` is `LEFT`, `RIGHT` or, for abstention, `ABSTAIN`.

    `threshold` is the highest code on the left of a numeric feature, -1 for a nominal one. `polarity` is +1 when the
    criterion wants the positives on the right, -1 when on the left, 0 when it does not care. `value` is the criterion
    after the split and `before` without it. `doubtful` says that the rounding error of a derived histogram could have
    changed the choice, so the histogram should be summed directly.
    """

    feature: int
    threshold: int
    child: Array
    polarity: int
    value: float
    before: float
    doubtful: bool = False


@dataclass
class Child:
    """A child as `Engine.expand` makes it: its rows per group, its histogram, the bound on its error, its split."""

    rows: list[Rows]
    planes: list[Array]
    error: Array
    derived: bool
    split: Split | None


class Engine(Protocol):
    """The calls. `reference` is their specification; every other engine gives the same answers to 1e-12."""

    name: str
    derives: bool  # whether histograms may be derived (by subtraction, by factors) instead of summed
    n_jobs: int

    def sort(self, values: Array) -> Array:
        """Sort the numbers of a column, leaving out NaN."""
        ...

    def encode(self, table: Table, bins: Bins) -> Codes:
        """Bin a table."""
        ...

    def take(self, codes: Codes, rows: Array) -> Codes:
        """The codes of a table of these rows, given by number; a row may come more than once."""
        ...

    def column(self, codes: Codes, feature: int) -> Array:
        """The codes of one feature, for all rows, as a NumPy array."""
        ...

    def array(self, values: Array) -> Array:
        """A copy of one float64 number per row, where the engine keeps them. Rules apply ufuncs to it and no more."""
        ...

    def lookup(self, codes: Codes, feature: int, values: Array) -> Array:
        """``values[code]`` of one feature, for all rows, as such an array."""
        ...

    def rows(self, mask: Array) -> Rows:
        """The set of rows where `mask` holds, in order."""
        ...

    def histogram(self, codes: Codes, rows: Rows, *values: Array | None) -> Array:
        """``[plane, feature, code]`` sums of each of `values` (one entry per row *of the table*; None counts)."""
        ...

    def search(
        self, planes: Sequence[Array], counts: Array | None, error: Array, bins: Bins, request: Request
    ) -> Split | None:
        """The best split of a node, or None. `error` bounds the rounding error of sums in each plane."""
        ...

    def route(self, codes: Codes, rows: Rows, split: Split, wanted: Sequence[int]) -> list[Rows]:
        """The rows that go to each of the `wanted` children."""
        ...

    def split_off(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        split: Split,
        wanted: Sequence[tuple[int, int]],
        values: Sequence[Array],
        scale: Array,
    ) -> list[tuple[Rows, Array]]:
        """`route` and `histogram` in one go, for each wanted (group, child).

        Rows, values and a scale of the values are given per group.
        """
        ...

    def move(
        self, codes: Codes, rows: Rows, feature: int, factors: Array, values: Array, scale: float
    ) -> tuple[int, Array]:
        """Multiply the values of rows by ``factors[code]`` of a feature, in place.

        Returns how many have moved, and the histogram of scale times the differences.
        """
        ...

    def reweighted(self, whole: Array, parts: Sequence[Array], factors: Sequence[float]) -> Array:
        """A node's histogram after its weights were multiplied by one factor per part; the last is for all other rows.

        ``Σ factors[k]·parts[k] + factors[-1]·(whole - Σ parts)``; the whole may be used up.
        """
        ...

    def expand(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        split: Split,
        values: Sequence[Array],
        scale: Array,
        planes: Sequence[Array],
        error: Array,
        bins: Bins,
        request: Request,
    ) -> list[Child] | None:
        """`route`, `histogram` (the larger child by subtraction) and `search` in one go, for an engine that `derives`.

        The parent's histogram may be used up.
        None where it has no shortcut, and the calls above will do.
        """
        ...

    def stump(
        self,
        codes: Codes,
        rows: Sequence[Rows],
        rows_per_code: Array,
        planes: Sequence[Array],
        counts: Array | None,
        error: Array,
        values: Sequence[Array],
        scale: Array,
        bins: Bins,
        request: Request,
    ) -> tuple[Split | None, list[list[int]], list[tuple[int, Rows, Array]]]:
        """`search` and `split_off` of the smaller child of each of two groups, for an engine that `derives`.

        Returns the split, the numbers of rows ``[child][group]``, and per group that child, its rows and histogram;
        nothing of the latter where the split is doubtful, abstains or has an empty side, and the calls above will do.
        """
        ...

    def total(self, weights: Array, rows: Rows) -> float:
        """Σ weights over the rows."""
        ...

    def scale(self, weights: Array, rows: Rows, factor: float) -> None:
        """Multiply the weights of the rows, in place."""
        ...

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows."""
        ...
