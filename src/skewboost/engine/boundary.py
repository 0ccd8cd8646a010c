"""The interface of an engine: the calls that the rest of the package may make, and the types that they exchange.

An engine chooses bins, encodes tables (one byte per cell), scores new rows and makes training sets, which own the
training rows (`training_set`). Callers never see the dtype of a code, a thread or a device: they pass `codes` back to
the engine that made them.

A **code** is the number of a cell's bin. A **plane** is one (label, class) pair: rows of two classes have the planes
negative and positive, rows of K classes have K planes, and rows of L labels that are on or off have 2L planes. A
**histogram** is a float64 array ``[plane, feature, code]`` of summed weights. For regression its two planes are Σw and
Σwz. Splits and leaf values are computed from histograms only. An engine whose rows are on several machines therefore
only adds up the histograms of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.engine.binning import Bins
    from skewboost.engine.newton import Trees
    from skewboost.engine.partition import Partition, View
    from skewboost.engine.portfolio import Portfolio
    from skewboost.engine.scoring import Scorer
    from skewboost.engine.table import Table
    from skewboost.engine.training_set import Classes, TrainingSet

Codes = Any  # an engine's own representation of a binned table

N_CODES = 256
MISSING = 255  # the code of a missing cell, and of a category that did not occur in training

LEFT, RIGHT, ABSTAIN = 0, 1, 2  # the children of a split

# Two candidate splits whose criteria differ by less than this fraction of the node's weight are tied. Ties go to the
# lowest feature, then to the lowest threshold. The same weights summed in another order differ by about 1e-14, so
# without a tolerance the order of the rows would decide between equal candidates.
TIE = 1e-10

# The criterion `cost_step` takes a step of at most this number divided by the larger cost. If one side has no errors,
# the best step is infinite. At this limit, correctly classified rows keep 1e-5 of their weight.
LONGEST_STEP = 11.5

# Criteria computed from the class weights (W-, W+) of the two children. `majority` is `error` without the constraint
# that the two sides predict opposite labels. `cost_loss` and `cost_step` are the exponential loss with costs: after a
# step of each leaf's own, and after one step that both leaves share.
CRITERIA = ("error", "majority", "gini", "entropy", "z", "zbar", "squares", "cost_loss", "cost_step")
# Z̄ as Cuendet and Labbi print it. No engine searches for it: the bounds of rounding errors need criteria whose slope is
# bounded. `growing.grow_by_histogram` does.
ZBAR_PRINTED = "zbar_printed"
FORCED = ("error", "zbar", ZBAR_PRINTED, "cost_step")  # criteria that force opposite signs on the two sides of a split
# Criteria for more than two classes: the weight outside a leaf's heaviest class, and Σ W_l (1 - W_l/W).
OF_CLASSES = ("class_error", "class_gini")


@dataclass(frozen=True)
class Request:
    """The criterion that a split must minimise, and the constraints that it must satisfy."""

    criterion: str  # one of `CRITERIA` or `OF_CLASSES`
    missing: str = "learn"  # or "abstain"
    min_count: float = 0.0  # the smallest number of examples (sum of `sample_weight`) on each side
    min_weight: float = 0.0  # the smallest current weight on each side
    costs: tuple[float, float] = (1.0, 1.0)  # the costs of errors on negatives and on positives
    # added to both class weights of a leaf by `cost_loss`, and to Σw by `squares` (the L2 penalty)
    delta: float = 0.0


@dataclass
class Split:
    """A test on one feature: `child[code]` is `LEFT`, `RIGHT` or `ABSTAIN`.

    `threshold` is the highest code on the left for a numeric feature, and -1 for categories. `polarity` is +1 if the
    criterion asks for positives on the right, -1 for positives on the left, and 0 for criteria without signs. `value`
    is the criterion after the split and `before` the criterion without it.
    """

    feature: int
    threshold: int
    child: Array
    polarity: int
    value: float
    before: float


class Engine(Protocol):
    """The calls of an engine. `reference` specifies them; all engines agree with it to 1e-12."""

    name: str
    n_jobs: int

    def cuts(self, columns: Sequence[Array], weights: Array | None, max_bins: int) -> list[Array]:
        """Return the cut points of numeric columns, at quantiles of the row weights."""

    def encode(self, table: Table, bins: Bins) -> Codes:
        """Return the codes of a table."""

    def take(self, codes: Codes, rows: Array) -> Codes:
        """Return the codes of the given row numbers, which may repeat."""

    def joined(self, codes: Codes, others: Codes) -> Codes:
        """Return the codes of two tables of the same rows, one behind the other."""

    def column(self, codes: Codes, feature: int) -> Array:
        """Return the codes of one feature as a NumPy array, for scoring and explaining new rows."""

    def lookup(self, codes: Codes, feature: int, values: Array) -> Array:
        """Return ``values[code]`` of one feature for all rows."""

    def leaves(self, codes: Codes, partition: Partition) -> Array:
        """Return the leaf of every row in a tree."""

    def training_set(self, view: View, labels: Array, classes: Classes, examples: Array | None) -> TrainingSet:
        """Make a training set of the rows of a view; the view has no bins if the learner needs none.

        Labels are class numbers, ``[row]`` or ``[row, label]``. `examples` is the number of examples that each row
        stands for (None: one each), which is also its initial weight.
        """

    def portfolio(self, view: View, classes: Array, n_classes: int, units: Array | None = None) -> Portfolio:
        """Make a portfolio of members to train on the rows of a view, given their class numbers.

        Rows of equal `units` are in a bootstrap sample together; None: every row is a unit.
        """

    def score(self, scorer: Scorer, table: Table) -> Array:
        """Return F for new rows."""

    def contributions(self, trees: Trees, output: int, view: View) -> Array:
        """Return the Shapley values of the features in a sum of trees, ``[row, feature]``."""

    def main_effects(self, trees: Trees, output: int, n_features: int) -> Array:
        """Return the expectation of a sum of trees given one feature, less its mean: ``[feature, code]``."""
