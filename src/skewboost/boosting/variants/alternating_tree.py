"""The alternating decision tree.

References
----------
.. [1] Y. Freund, L. Mason, "The alternating decision tree learning algorithm", International Conference on Machine
   Learning (1999) 124-133.
.. [2] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM Research
   Report RZ 3402 (2002), §2.3.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.estimator import CostChoice, SamplerChoice, booster
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.boosting.tree_drawing import draw
from skewboost.boosting.tree_nodes import Explanation, PredictionNode, as_text, explain, read_tree
from skewboost.boosting.variants.realboost import RealBoost
from skewboost.engine.binning import MAX_BINS
from skewboost.engine.partition import View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.training_set import EXAMPLES, Y
from skewboost.errors import InputError
from skewboost.learners.alternating_round import AlternatingTree
from skewboost.learners.learner import LABELS
from skewboost.metrics.costs import Costs
from skewboost.names import quoted
from skewboost.parameters import check_params, one_of
from skewboost.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class AlternatingTreeBoost(RealBoost):
    """RealBoost from classes of equal weight; the root makes up for that, or does not."""

    asks = (LABELS,)

    def __init__(self, init: str) -> None:
        super().__init__()
        self.init = init

    def link(self, state: State) -> TwoClasses:
        """F starts from the root, ``½ ln(W+ / W-)``; or from 0, where balancing the classes adds to the log-odds."""
        log_ratio = math.log(state.costs.ratio)
        if self.init == "prior":
            positive, negative = state.rows.sum(
                lambda n, c, y: (np.where(y > 0, n * c, 0.0), np.where(y > 0, 0.0, n * c)), (EXAMPLES, state.cost, Y)
            )
            return replace(super().link(state), offset=0.5 * math.log(positive / negative), cost_offset=log_ratio)
        n_negative, n_positive = state.n_of_class
        return replace(super().link(state), cost_offset=log_ratio + math.log(n_negative / n_positive))

    def start(self, state: State) -> None:
        """``w ∝ c exp(-y root)``, or classes of equal weight times c.

        [1] §4; [2] §2.3.1 forgets to move the weights after the root.
        """
        super().start(state)
        given, root = (EXAMPLES, state.cost, Y), state.link.offset
        if self.init == "prior":
            state.assign(lambda n, c, y: n * c * np.exp(-y * root), given)
        else:
            n_negative, n_positive = state.n_of_class
            state.assign(lambda n, c, y: n * c * np.where(y > 0, n_negative / n_positive, 1.0), given)


@booster
class AlternatingTreeClassifier(SamplerChoice, CostChoice):
    r"""The alternating decision tree: boosting that can be read.

    Prediction nodes carry numbers, splitter nodes carry tests, and they alternate. An example follows *all* branches
    that it satisfies, and F is the sum of the numbers on its way: the sign decides, the size says how sure. A round
    adds a splitter under one of the prediction nodes there are, the pair of precondition p and test c of the lowest

    .. math:: Z(p, c) = 2 \sqrt{W^+ W^-}(p \wedge c) + 2 \sqrt{W^+ W^-}(p \wedge \neg c) + W(\neg p) + W_0,

    with two prediction nodes :math:`\frac12 \ln \frac{W^+ + 1/N}{W^- + 1/N}` below it, and multiplies the weights by
    :math:`e^{-y g}`. :math:`W_0` is the weight of the examples that cannot take the test. Ten or twenty rounds give a
    tree that fits on a page and is often as good as a hundred stumps; many more overfit sooner than stumps do, so
    watch it with `early_stopping`.

    Costs multiply the weights that training starts from, and the root carries them.

    Parameters
    ----------
    max_rounds : int, default=20
        The number of splitter nodes.
    init : {"prior", "balanced"}, default="prior"
        The root is :math:`\frac12 \ln (W^+/W^-)`, or 0: as if both classes were as frequent. Without costs both grow
        the same tree but for that constant.
    missing : {"abstain", "learn"}, default="abstain"
        Examples that cannot take a test skip it with all that is below; or they go to the side where they do better.
    max_bins : int, default=255
        Bins per feature. With no more distinct values than that, every threshold is tried.
    cost : number, "balanced", dict, matrix or None, default=None
        What mistakes cost: a number says how many false alarms a miss of the positive class costs; ``"balanced"`` makes
        the classes cost the same in total; ``{label: cost of getting it wrong}``; or a matrix
        ``cost[true, predicted]`` in the order of `classes_`. None: all mistakes cost the same, unless `fit` is given
        `sample_cost`.
    {common}

    References
    ----------
    .. [1] Y. Freund, L. Mason, "The alternating decision tree learning algorithm", International Conference on Machine
       Learning (1999) 124-133.
    .. [2] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors", IBM
       Research Report RZ 3402 (2002).

    Examples
    --------
    >>> from skewboost import AlternatingTreeClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> X, y = load_rare_cancer()
    >>> print(AlternatingTreeClassifier(max_rounds=3).fit(X, y).export_text())
    F = -1.094
    |  (1) worst perimeter ≤ 102.05: -2.579
    |  (1) worst perimeter > 102.05: +1.008
    |  (2) worst concave points ≤ 0.1604: -0.805
    |  |  (3) perimeter error ≤ 2.8365: -2.524
    |  |  (3) perimeter error > 2.8365: +0.880
    |  (2) worst concave points > 0.1604: +2.388
    """

    _rounds = "max_rounds"

    max_rounds: int = 20
    init: str = "prior"
    missing: str = "abstain"
    max_bins: int = MAX_BINS
    cost: Any = None

    def _rule(self) -> Rule:
        check_params(self, init=one_of("prior", "balanced"))
        return AlternatingTreeBoost(self.init)

    def _weak_learner(self) -> AlternatingTree:
        return AlternatingTree(missing=self.missing, max_bins=self.max_bins)  # type: ignore[arg-type]

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        if self.cost is None and each is None:
            return Costs()
        return super()._costs(each, labels, weights)

    # -------------------------------------------------------------------- reading it

    def tree(self) -> PredictionNode:
        """The root of the tree; its numbers speak for `pos_label_`.

        Returns
        -------
        PredictionNode
            With its `value`, and its `splitters`, each of which has a `name`, a `round` and two `children`.
        """
        check_is_fitted(self)
        model = self._model
        names: Any = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        assert model.bins is not None
        return read_tree(model.terms, model.bins, model.link.offset, names)

    def export_text(self, *, decimals: int = 3) -> str:
        """The tree as text: a line per prediction node, with its test and its number.

        Parameters
        ----------
        decimals : int, default=3
            Digits behind the point.

        Returns
        -------
        str
            Nodes are indented by their depth; the number in brackets is the round of their splitter. F of an example
            is the sum of all numbers whose tests it passes on the way.
        """
        return as_text(self.tree(), decimals)

    def explain(self, x: Any) -> Explanation:
        """Why one example gets its score.

        Parameters
        ----------
        x : table with one row, or array-like of shape (n_features,)
            The example.

        Returns
        -------
        Explanation
            With `label`, `score` and `steps`, the prediction nodes that the example reaches: each has its test in words
            and a contribution, and these add up to the score. Printed, it is a list of them.
        """
        check_is_fitted(self)
        if isinstance(x, list | tuple | np.ndarray) and np.ndim(x) == 1:
            x = [list(x)]
        table = self._new_rows(x)
        if table.n_rows != 1:
            raise InputError(f"explain takes one example, but x has {table.n_rows} rows. Pass one, e.g. X.iloc[[0]].")
        return explain(self.tree(), View(ReferenceEngine(), table, self._model.bins), self.pos_label_)

    def plot_tree(self, *, ax: Axes | None = None, decimals: int = 2) -> Axes:
        """Draw the tree, from left to right. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure that is large enough.
        decimals : int, default=2
            Digits behind the point.

        Returns
        -------
        matplotlib Axes
            Boxes are tests, with the round in which they came; ellipses are prediction nodes, red where they speak
            for the class and blue where against it.
        """
        root = self.tree()
        drawn: Axes = draw(root, ax, decimals, f"Positive numbers speak for {quoted(self.pos_label_)}")
        return drawn
