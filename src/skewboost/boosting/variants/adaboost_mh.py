"""AdaBoost.MH."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array

from skewboost.boosting.estimator import booster
from skewboost.boosting.link import Labels, Link, ManyClasses, TwoClasses
from skewboost.boosting.many_classes import JointClassifier, JointCosts
from skewboost.boosting.rule import Rule, half_log_ratios, no_edge
from skewboost.boosting.smoothing_choice import SmoothingChoice
from skewboost.boosting.state import MAX_SPREAD, F, State, delta_of
from skewboost.boosting.variants.realboost import RealBoost
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.table import Table
from skewboost.engine.training_set import EXAMPLES, Classes, Y
from skewboost.errors import InputError, checked_by_scikit_learn
from skewboost.learners import Stump, Tree, name_of, resolve
from skewboost.learners.learner import LABELS, LabelHypothesis, RandomSource
from skewboost.metrics.costs import check_cost
from skewboost.typing import Array


class AdaBoostMH(Rule):
    """RealBoost on all (example, label) pairs, with one partition for all labels."""

    criterion = "z"

    def __init__(self, link: Link) -> None:
        self._link = link

    def link(self, state: State) -> Link:  # type: ignore[override]
        """``p_l ∝ q_l / c_l``: where F is at its optimum, ``q_l = 1/(1 + e^(-2 F_l))`` is ``c_l p_l / Σ c_k p_k``."""
        return self._link

    def start(self, state: State) -> None:
        """``D = 1/(N K)``, times the costs."""
        state.rows.put(F, 0.0)
        self.not_in_F: list[Term] = []  # terms that are not in F yet; F is updated when it is needed
        self.spread = 0.0  # a bound on the range of the logarithms of the weights
        self.n_pairs = state.n * state.rows.classes.n_labels  # weighted by the costs
        if state.costs.each is not None:
            self.n_pairs = state.assign(np.multiply, (EXAMPLES, state.cost))

    def ask(self, state: State, rng: RandomSource) -> Any:
        """The partition of the lowest ``Z = W0 + 2 Σ_leaves Σ_labels √(W+ W-)`` ([schapire1999]_ §7)."""
        return state.learner.joint_labels(rng)

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``½ ln((W+ + δ) / (W- + δ))`` per leaf and label, with δ = 1/(N K) unless told otherwise."""
        negative, positive = np.moveaxis(h.class_weights.reshape(len(h.class_weights), -1, 2), 2, 0)
        delta = delta_of(state.smoothing, state.n * state.rows.classes.n_labels)
        values = half_log_ratios(negative, positive, delta)
        values[h.abstains] = 0.0
        if no_edge(state, values):
            return None
        return h.term(values)

    def update(self, state: State, h: Any, term: Term) -> None:
        """``D ← D exp(-y g) / Z``."""
        assert isinstance(term, LeafTerm)
        self.not_in_F.append(term)
        largest = float(np.abs(term.values).max())
        self.spread += 2.0 * largest
        if h is not None and self.spread <= MAX_SPREAD:
            factors = np.exp(np.stack((term.values, -term.values), axis=2)).reshape(len(term.values), -1)
            state.log_loss += math.log(state.learner.reweight(h.partition, factors))
        else:
            self._move_rows(state)
        state.loss = math.exp(min(state.log_loss, 700.0))

    def _move_rows(self, state: State) -> None:
        """``D ∝ exp(-y F)``, times the costs."""
        rows = state.rows
        while self.not_in_F:
            rows.add(self.not_in_F.pop(), F)
        top, low = rows.max(lambda y, F: -y * F, (Y, F)), -rows.max(lambda y, F: y * F, (Y, F))
        self.spread = top - low
        costs = () if state.costs.each is None else (state.cost,)
        total = state.assign(lambda y, F, *each: np.exp(-y * F - top) * math.prod(each), (Y, F, EXAMPLES, *costs))
        state.log_loss = top + math.log(total / self.n_pairs)


class AdaBoostMHOfTwo(RealBoost):
    """AdaBoost.MH with two classes, which is RealBoost."""

    asks = (LABELS,)

    def start(self, state: State) -> None:
        """``w ∝ c``."""
        super().start(state)
        if state.costs.each is not None or state.costs.ratio != 1.0:
            state.assign(np.multiply, (EXAMPLES, state.cost))

    def link(self, state: State) -> TwoClasses:
        """F is half the log-odds plus half of ``ln(C+ / C-)``."""
        return replace(super().link(state), cost_offset=math.log(state.costs.ratio))


@booster
class AdaBoostMHClassifier(SmoothingChoice, JointClassifier):
    r"""AdaBoost.MH: many classes, or many labels per example, in one ensemble.

    Every (example, label) pair has a weight, :math:`1/(NK)` at first. A round finds the one partition for all labels
    that minimises :math:`Z = W_0 + 2 \sum_j \sum_l \sqrt{W^+_{jl} W^-_{jl}}`, adds
    :math:`\frac12 \ln \frac{W^+_{jl} + 1/(NK)}{W^-_{jl} + 1/(NK)}` for label l in leaf j and multiplies the weights by
    :math:`\exp(-y_l g_l)`. With many classes the class of the largest :math:`F_l` is predicted; with several labels per
    example, each label with :math:`F_l \ge 0`. With two classes it is RealBoost. Compared to one ensemble per class
    (scikit-learn's `OneVsRestClassifier`), all classes share their tests. The model is smaller; it is less accurate in
    the first dozens of rounds and equally accurate after hundreds.

    Costs enter once: an example of class y starts with :math:`c_y/(NK)` for *all* of its pairs. Then :math:`F_l =
    \frac12 \ln \frac{c_l p_l}{\sum_{k \ne l} c_k p_k}` minimises the loss, so the largest :math:`F_l` is the largest
    :math:`c_l P(l|x)`, the class of minimum expected cost. (If only the pair of the true label were weighted, it would
    be the largest :math:`c_l p_l / (1 - p_l)`.) `predict_proba` does not depend on the costs.

    With more than two classes, or several labels, `estimators_` is a list of such lists, one per label, `baseline_` has
    an entry per label, and `contributions` and `shape_functions` have one more level.

    {parameters}
    cost : "balanced", dict, number, matrix or None, default=None
        The misclassification costs: ``{label: cost of misclassifying it}``, or ``"balanced"`` (all classes have the
        same total cost). None means equal costs, unless `fit` gets `sample_cost`. With two classes also a number or a 2
        x 2 matrix, as in `CGAdaClassifier`. With several labels per example, ``{label: cost of a miss in false
        alarms}``, where the labels are the column indices of y.
    smoothing : float or None, default=None
        What is added to both weights of a label in a leaf, where the weights of all pairs sum to one. None means
        1/(NK). With 0 no vote changes the odds by more than e^23.

    References
    ----------
    .. [schapire1999] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions",
       Machine Learning 37 (1999) 297-336.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> print(round(AdaBoostMHClassifier(n_estimators=20).fit(X, y).score(X_test, y_test), 2))
    1.0
    """

    def _rule(self) -> Rule:
        learner = resolve(self.estimator)
        if not isinstance(learner, Stump | Tree):
            raise InputError(
                f"AdaBoostMHClassifier needs a learner with one partition for all classes, which {name_of(learner)} is "
                "not. Set estimator='stump' or 'tree', or use AdaC2M1Classifier or CodeMatrixClassifier, which accept "
                "any classifier."
            )
        if learner.criterion not in (None, "z") or getattr(learner, "constant", False):
            raise InputError(
                f"AdaBoostMHClassifier splits by Z, so the parameters of {learner!r} would have no effect. Leave "
                "criterion at None and constant at False."
            )
        return AdaBoostMHOfTwo()

    def _joint_rule(self, costs: JointCosts) -> Rule:
        if self.multilabel_:
            return AdaBoostMH(Labels(tuple(np.log(costs.of_class).tolist())))
        return AdaBoostMH(ManyClasses(tuple(costs.of_class.tolist()), softmax=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    # ------------------------------------------------------------------------ fitting

    def _check_targets(self, table: Table, y: Any, sample_weight: Any) -> tuple[Array, Array | None]:
        with checked_by_scikit_learn():
            kind = None if y is None else type_of_target(y, input_name="y")
        if kind is not None and kind.endswith("multioutput"):
            raise InputError(
                "y has several columns whose values are not 0 and 1. Pass one column of classes, or an indicator "
                "matrix with a column of 0 and 1 for each label."
            )
        self.multilabel_ = kind == "multilabel-indicator"
        if not self.multilabel_:
            return super()._check_targets(table, y, sample_weight)
        with checked_by_scikit_learn():
            Y = check_array(y, accept_sparse="csr", input_name="y")
            Y = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
            check_consistent_length(range(table.n_rows), Y)
        _, weights = super()._check_targets(table, np.zeros(table.n_rows, dtype=np.intp), sample_weight)
        return Y.astype(np.bool_), weights

    def _target(self, labels: Array) -> tuple[Array, Classes]:
        target = labels if self.multilabel_ else labels[:, None] == self.classes_
        return target, Classes(len(self.classes_), 2)

    def _costs_of_rows(self, costs: Array, labels: Array) -> Array:
        """With several labels per row there is a cost of each row and label, whether or not the row has the label."""
        if not self.multilabel_:
            return super()._costs_of_rows(costs, labels)
        if costs.shape != labels.shape:
            raise InputError(
                f"sample_cost has shape {costs.shape}, but y has shape {labels.shape}.",
                "With several labels per row, give the cost of a mistake about each label of each row.",
            )
        if not (costs > 0).all():
            raise InputError(
                f"sample_cost has the entry {costs.min()}, but costs must be greater than 0.",
                "To leave a row out, give it the sample_weight 0.",
            )
        return costs

    def _joint_costs(self, each: Array | None, labels: Array, weights: Array | None) -> JointCosts:
        """Costs of an example apply to all of its pairs; costs of a label apply to the examples that have it."""
        if not self.multilabel_:
            costs = super()._joint_costs(each, labels, weights)
            shape = (len(labels), len(self.classes_))
            of_pairs = None if costs.each is None else np.broadcast_to(costs.each[:, None], shape)
            return JointCosts(costs.of_class, of_pairs)
        w = np.ones(len(labels)) if weights is None else weights
        on, off = w @ labels, w @ ~labels
        if each is not None:
            a, b = w @ (each * labels), w @ (each * ~labels)
            known = (on > 0) & (off > 0)
            ratio = np.divide(a * off, b * on, out=np.ones(len(on)), where=known)
            return JointCosts(ratio, each)
        if self.cost is None:
            return JointCosts(np.ones(len(on)), None)
        if isinstance(self.cost, str) and self.cost == "balanced":
            miss = np.divide(off, on, out=np.ones(len(on)), where=(on > 0) & (off > 0))
        elif isinstance(self.cost, Mapping):
            check_cost(self.cost, self.classes_)
            miss = np.array([float(self.cost[k]) for k in self.classes_.tolist()])
        else:
            raise InputError(
                f"cost={self.cost!r} cannot be used with several labels per example. Pass {{label: cost of a miss in "
                "false alarms}, 'balanced' or None."
            )
        return JointCosts(miss, np.where(labels, miss, 1.0))
