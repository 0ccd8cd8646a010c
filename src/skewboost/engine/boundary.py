"""The boundary: what everything above the engine may ask of it, and the few shapes that cross.

An engine chooses bins, bins tables (one byte per cell), scores new rows, and takes over the training rows: all that
is asked of these is in `training_set`. Who asks never sees the dtype of a code, a thread or a device: `codes` are
passed back to the engine that made them and to nobody else.

A **histogram** is a float64 array ``[plane, feature, code]``. For class labels there is a plane of summed weights for
every class; for regression they are Σw and Σwz. Everything that decides — which split, which leaf value — reads
histograms and nothing else, so an engine whose rows live on other machines changes only the sums over its parts,
and one on another device changes the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.partition import Partition, View
    from skewboost.engine.scoring import Scorer
    from skewboost.engine.table import Nominal, Table
    from skewboost.engine.training_set import Classes, TrainingSet

Codes = Any  # an engine's own binned table

N_CODES = 256
MISSING = 255  # the code of a missing cell, and of a category that was not seen in training

LEFT, RIGHT, ABSTAIN = 0, 1, 2  # the children of a split

# Two candidates whose criteria differ by less than this share of the node's weight are tied, and ties go to the
# lowest feature, then the lowest threshold. Sums of the same weights in another order differ by about 1e-14, so
# without a tolerance the order of the rows would choose among equals.
TIE = 1e-10

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


@dataclass(slots=True)
class Split:
    """A test on one feature: `child[code]` is `LEFT`, `RIGHT` or, for abstention, `ABSTAIN`.

    `threshold` is the highest code on the left of a numeric feature, -1 for a nominal one. `polarity` is +1 when the
    criterion wants the positives on the right, -1 when on the left, 0 when it does not care. `value` is the criterion
    after the split and `before` without it.
    """

    feature: int
    threshold: int
    child: Array
    polarity: int
    value: float
    before: float


class Engine(Protocol):
    """The calls. `reference` is their specification; every other engine gives the same answers to 1e-12."""

    name: str
    n_jobs: int

    def cuts(self, columns: Sequence[Array], weights: Array | None, max_bins: int) -> list[Array]:
        """Where to cut each of some columns of numbers into bins, at quantiles of the weight of its rows."""
        ...

    def category_weights(self, column: Nominal, weights: Array | None) -> Array:
        """What the rows of each category weigh; how many there are, without weights."""
        ...

    def encode(self, table: Table, bins: Bins) -> Codes:
        """Bin a table."""
        ...

    def take(self, codes: Codes, rows: Array) -> Codes:
        """The codes of a table of these rows, given by number; a row may come more than once."""
        ...

    def column(self, codes: Codes, feature: int) -> Array:
        """The codes of one feature, for all rows, as a NumPy array; for those who score and explain new rows."""
        ...

    def lookup(self, codes: Codes, feature: int, values: Array) -> Array:
        """``values[code]`` of one feature, for all rows."""
        ...

    def leaves(self, codes: Codes, partition: Partition) -> Array:
        """The leaf of every row in a tree."""
        ...

    def open(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> TrainingSet:
        """Take over the training rows: a table seen through bins, or without any where the learner needs none.

        Labels are the numbers of classes, ``[row]`` or ``[row, label]``. Rows count as many `examples`; None: one each,
        and so do their weights at first.
        """
        ...

    def score(self, scorer: Scorer, table: Table) -> Array:
        """F of new rows."""
        ...
