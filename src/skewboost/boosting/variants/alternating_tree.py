"""The alternating decision tree."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.boosting.estimator import CostChoice, SamplerChoice, booster
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.rule import Rule
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import State
from skewboost.boosting.tree_drawing import draw
from skewboost.boosting.tree_nodes import Explanation, PredictionNode, as_text, explain, read_tree
from skewboost.boosting.variants.realboost import RealBoost
from skewboost.boosting.whole_columns import on_whole_columns
from skewboost.engine.binning import MAX_BINS
from skewboost.engine.partition import View
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.training_set import EXAMPLES, Y
from skewboost.errors import InputError
from skewboost.learners.alternating_round import AlternatingTree
from skewboost.learners.learner import LABELS
from skewboost.names import quoted
from skewboost.parameters import check_params, one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class AlternatingTreeBoost(RealBoost):
    """RealBoost from balanced classes; with ``init="prior"`` the root holds the prior log-odds."""

    asks = (LABELS,)

    def __init__(self, init: str) -> None:
        super().__init__()
        self.init = init

    def link(self, state: State) -> TwoClasses:
        """F starts at the root, ``½ ln(W+ / W-)``; or at 0, with the balance of the classes in the cost offset."""
        log_ratio = math.log(state.costs.ratio)
        if self.init == "prior":
            positive, negative = state.rows.sum(
                lambda n, c, y: (np.where(y > 0, n * c, 0.0), np.where(y > 0, 0.0, n * c)), (EXAMPLES, state.cost, Y)
            )
            return replace(super().link(state), offset=0.5 * math.log(positive / negative), cost_offset=log_ratio)
        n_negative, n_positive = state.n_of_class
        return replace(super().link(state), cost_offset=log_ratio + math.log(n_negative / n_positive))

    def start(self, state: State) -> None:
        """``w ∝ c exp(-y root)``, or balanced classes times c.

        This is [freund1999]_ §4; [cuendet2002]_ §2.3.1 omits the update of the weights after the root.
        """
        super().start(state)
        given, root = (EXAMPLES, state.cost, Y), state.link.offset
        if self.init == "prior":
            state.assign(lambda n, c, y: n * c * np.exp(-y * root), given)
        else:
            n_negative, n_positive = state.n_of_class
            state.assign(lambda n, c, y: n * c * np.where(y > 0, n_negative / n_positive, 1.0), given)


@booster
class AlternatingTreeClassifier(SamplerChoice, SmoothingChoice, CostChoice):
    r"""The alternating decision tree: a readable boosted model.

    Prediction nodes hold numbers, splitter nodes hold tests, and the two alternate. An example follows *all* branches
    whose tests it passes. F is the sum of the numbers on its paths; the sign is the decision, and the size its
    confidence. A round adds a splitter below one of the prediction nodes: the pair of precondition p and test c with
    the lowest

    .. math:: Z(p, c) = 2 \sqrt{W^+ W^-}(p \wedge c) + 2 \sqrt{W^+ W^-}(p \wedge \neg c) + W(\neg p) + W_0,

    with two prediction nodes :math:`\frac12 \ln \frac{W^+ + 1/N}{W^- + 1/N}` below it, and multiplies the weights by
    :math:`e^{-y g}`. :math:`W_0` is the weight of the examples whose value is missing. Ten or twenty rounds give a tree
    that fits on a page and is often as good as a hundred stumps. Many more rounds overfit sooner than stumps do, so use
    `early_stopping`.

    Costs multiply the initial weights, and the root includes them.

    Parameters
    ----------
    max_rounds : int, default=20
        The number of splitter nodes.
    init : {"prior", "balanced"}, default="prior"
        The root is :math:`\frac12 \ln (W^+/W^-)`, or 0, as if both classes were equally frequent. Without costs the
        trees differ only in that constant.
    missing : {"abstain", "learn"}, default="abstain"
        Whether examples with a missing value skip the test and all nodes below it, or follow the better branch.
    max_bins : int or None, default=255
        The number of bins per feature. Features with fewer distinct values are split at every threshold, and with None
        all are.
    binning : {"quantile", "uniform"}, default="quantile"
        As for `skewboost.learners.Stump`.
    cost : number, "balanced", dict, matrix or None, default=None
        The misclassification costs: a number (the cost of a miss of the positive class, in false alarms),
        ``"balanced"`` (both classes have the same total cost), a dict ``{label: cost of misclassifying it}``, or a
        matrix ``cost[true, predicted]`` in the order of `classes_`. None means equal costs, unless `fit` gets
        `sample_cost`.
    {common}
    {smoothing}

    References
    ----------
    .. [freund1999] Y. Freund, L. Mason, "The alternating decision tree learning algorithm", International Conference on
       Machine Learning (1999) 124-133.
    .. [cuendet2002] M. Cuendet, A. Labbi, "Some theoretical and practical perspectives on boosting weak predictors",
       IBM Research Report RZ 3402 (2002).

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
    _equal_by_default = True

    max_rounds: int = 20
    init: str = "prior"
    missing: str = "abstain"
    max_bins: int | None = MAX_BINS
    binning: str = "quantile"
    cost: Any = None

    def _rule(self) -> Rule:
        check_params(self, init=one_of("prior", "balanced"))
        return AlternatingTreeBoost(self.init)

    def _weak_learner(self) -> AlternatingTree:
        return AlternatingTree(missing=self.missing, max_bins=self.max_bins, binning=self.binning)  # type: ignore[arg-type]

    # -------------------------------------------------------------------- reading it

    def tree(self) -> PredictionNode:
        """Return the root of the tree. Positive numbers predict `pos_label_`.

        Returns
        -------
        PredictionNode
            A node with a `value` and `splitters`, each of which has a `name`, a `round` and two `children`.
        """
        check_is_fitted(self)
        model = on_whole_columns(self._model)
        names: Any = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        assert model.bins is not None
        return read_tree(model.terms, model.bins, model.link.offset, names)

    def export_text(self, *, decimals: int = 3) -> str:
        """Return the tree as text: a line per prediction node, with its test and its number.

        Parameters
        ----------
        decimals : int, default=3
            The number of decimals.

        Returns
        -------
        str
            Nodes are indented by depth. The number in brackets is the round of their splitter. F of an example is the
            sum of the numbers of all nodes that it reaches.
        """
        return as_text(self.tree(), decimals)

    def explain(self, x: Any) -> Explanation:
        """Explain the score of one example.

        Parameters
        ----------
        x : table with one row, or array-like of shape (n_features,)
            The example.

        Returns
        -------
        Explanation
            It has a `label`, a `score` and `steps`, the prediction nodes that the example reaches. Each step has a test
            as text and a contribution; the contributions add up to the score. Printing it lists the steps.
        """
        check_is_fitted(self)
        if isinstance(x, list | tuple | np.ndarray) and np.ndim(x) == 1:
            x = [list(x)]
        table = self._new_rows(x)
        if table.n_rows != 1:
            raise InputError(f"explain takes one example, but x has {table.n_rows} rows. Pass one, e.g. X.iloc[[0]].")
        view = View(ReferenceEngine(), table, on_whole_columns(self._model).bins)
        return explain(self.tree(), view, self.pos_label_)

    def plot_tree(self, *, ax: Axes | None = None, decimals: int = 2) -> Axes:
        """Draw the tree, from left to right. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a figure of sufficient size.
        decimals : int, default=2
            The number of decimals.

        Returns
        -------
        matplotlib Axes
            Boxes are tests, with the round that added them. Ellipses are prediction nodes, red where they favour the
            positive class and blue where they do not.
        """
        root = self.tree()
        drawn: Axes = draw(root, ax, decimals, f"Positive numbers predict {quoted(self.pos_label_)}")
        return drawn
