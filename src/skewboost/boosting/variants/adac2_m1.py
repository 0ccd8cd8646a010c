"""AdaC2.M1, and AdaBoost.M1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skewboost.boosting.cost_use import COMPOUND
from skewboost.boosting.estimator import booster
from skewboost.boosting.link import Link, ManyClasses
from skewboost.boosting.many_classes import JointClassifier, JointCosts
from skewboost.boosting.row_splits import RowSplits
from skewboost.boosting.rule import MIN_STEP, NO_EDGE, Rule, bounded_step
from skewboost.boosting.state import State
from skewboost.boosting.training import Problem
from skewboost.boosting.variants.adac import AdaC2
from skewboost.engine.scoring import Term
from skewboost.engine.training_set import Classes, Y
from skewboost.errors import InputError
from skewboost.learners import AlternatingTree, Histogram, Line, Probabilities, Stump, Tree, resolve
from skewboost.learners.learner import LabelHypothesis, Learner, RandomSource, right_weight
from skewboost.learners.resampling import ResampledLearner
from skewboost.typing import Array


class AdaC2M1(Rule):
    """Each round votes for one class; ``w ← c w exp(∓α)``, from ``w = 1/N``."""

    costs = COMPOUND
    criterion = "error"
    has_step = True

    def __init__(self, costs: JointCosts) -> None:
        self.of_class = costs.of_class
        self.by_row = costs.differ

    def ask(self, state: State, rng: RandomSource) -> Any:
        """Ask for a partition whose leaves predict their heaviest class, or for the predictions of a classifier."""
        return state.learner.class_labels(rng)

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``α = ½ ln(Σ_right c w / Σ_wrong c w)`` for the class that h predicts.

        There are no negative steps, because a wrong vote does not tell which other class is correct. Training ends
        instead, as in [sun2006]_ and [freund1997]_.
        """
        sums = self.sums(state, h)
        right = right_weight(h.labels, sums)
        alpha = bounded_step(state, right, float(sums[h.labels >= 0].sum()) - right)
        if alpha < MIN_STEP:
            state.stop_reason = NO_EDGE
            return None
        state.step = alpha
        values = alpha * (h.labels[:, None] == np.arange(len(self.of_class)))
        return h.term(values)

    def sums(self, state: State, h: LabelHypothesis) -> Array:
        """``Σ c w`` per leaf and class."""
        if not self.by_row:
            return np.asarray(h.class_weights * self.of_class)
        return state.rows.sums(h.partition, state.cost)

    def update(self, state: State, h: Any, term: Term) -> None:
        """``w ← c w e^(-α)`` where the vote is correct, ``c w e^α`` where it is wrong, ``c w`` without a vote."""
        values = term.values  # type: ignore[attr-defined]
        if h is not None and not self.by_row:
            logs = np.log(self.of_class) + values.max(axis=1, keepdims=True) - 2.0 * values
            if state.move_leaves(h, logs):
                return
        state.rows.evaluate(term, "g")
        state.move_rows(log_factor_of_rows, (Y, "g", state.cost))

    def link(self, state: State) -> Link:  # type: ignore[override]
        """``p_l ∝ e^(2 F_l)``, which for two classes is the link of AdaC2."""
        return ManyClasses(tuple(self.of_class.tolist()), softmax=True)


def log_factor_of_rows(y: Array, g: Array, c: Array) -> Array:
    """``ln c ∓ α`` per row, given the class numbers and what the round adds to each class."""
    return np.asarray(np.log(c) + g.max(axis=1) - 2.0 * g[np.arange(len(g)), y.astype(np.intp)])


@booster
class AdaC2M1Classifier(JointClassifier):
    r"""AdaC2.M1: each round votes for one of many classes, and costs multiply the weights.

    A round fits a classifier h under weights :math:`w`, adds :math:`\alpha` to the score of the class that it predicts,
    with :math:`\alpha = \frac12 \ln \frac{\sum_{right} c w}{\sum_{wrong} c w}`, and multiplies the weights by
    :math:`c\, e^{-\alpha}` where it is correct and by :math:`c\, e^{\alpha}` where it is wrong. The class of the
    largest :math:`F_l = \sum_m \alpha_m [h_m(x) = l]` is predicted. At equal costs it is AdaBoost.M1 [freund1997]_,
    with two classes it is `AdaC2Classifier`.

    **Weaknesses.** A round must be correct on more than half of the weight, for any number of classes; otherwise
    training ends (`stop_reason_`). With stumps this happens in the first round if the two largest classes have less
    than half of the examples. The default is therefore a tree; use more leaves than classes. The costs enter again in
    every round, so that m rounds apply :math:`c^m`; keep them near 1. The paper finds costs with a genetic algorithm;
    use `GridSearchCV` over ``cost`` instead. No loss is minimised, so `predict_proba` is only :math:`p_l \propto e^{2
    F_l}`. `AdaBoostMHClassifier` has neither weakness. Prefer it, unless you need to boost a classifier of another
    library.

    With more than two classes `estimators_` is a list of such lists, one per class, `baseline_` has an entry
    per class, and `contributions` and `shape_functions` have one more level.

    Parameters
    ----------
    estimator : {"stump", "tree"}, Stump, Tree or classifier, default="tree"
        The weak learner: a stump or tree of `skewboost.learners` with criterion ``"error"`` or ``"gini"``, or any
        scikit-learn classifier. Classifiers that do not accept `sample_weight` are boosted by resampling.
    n_estimators : int, default=100
        The number of rounds.
    {common}
    cost : "balanced", dict, number, matrix or None, default=None
        The misclassification costs: ``{label: cost of misclassifying it}``, or ``"balanced"`` (all classes have the
        same total cost). None means equal costs, unless `fit` gets `sample_cost`. With two classes also a number or a 2
        x 2 matrix.

    References
    ----------
    .. [sun2006] Y. Sun, M. S. Kamel, Y. Wang, "Boosting for learning multiple classes with imbalanced class
       distribution", IEEE International Conference on Data Mining (2006) 592-602.
    .. [freund1997] Y. Freund, R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
       application to boosting", Journal of Computer and System Sciences 55 (1997) 119-139.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from skewboost import AdaC2M1Classifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = AdaC2M1Classifier(cost={0: 1.0, 1: 1.0, 2: 1.1}, n_estimators=20).fit(X, y)
    >>> print(round(clf.score(X_test, y_test), 2))
    0.87
    """

    estimator: Any = "tree"

    def _rule(self) -> Rule:
        learner = resolve(self.estimator)
        learner = learner.learner if isinstance(learner, ResampledLearner) else learner
        if isinstance(learner, Stump | Tree):
            if learner.criterion not in (None, "error", "gini"):
                raise InputError(
                    f"criterion={learner.criterion!r} of {type(learner).__name__} is for two classes only. Leave it at "
                    "None, or set 'error' or 'gini'."
                )
        elif isinstance(self.estimator, AlternatingTree | Histogram | Line | Probabilities):
            raise InputError(
                f"AdaC2M1Classifier needs a weak learner that predicts more than two classes, which "
                f"{type(self.estimator).__name__} does not. Set estimator='tree', 'stump' or a scikit-learn classifier."
            )
        return AdaC2()

    def _joint_rule(self, costs: JointCosts) -> Rule:
        return AdaC2M1(costs)

    def _target(self, labels: Array) -> tuple[Array, Classes]:
        return np.searchsorted(self.classes_, labels), Classes(1, len(self.classes_))

    def _finish(self, learner: Learner, problem: Problem, state: State, splits: RowSplits) -> None:
        super()._finish(learner, problem, state, splits)
        if self._joint and self._model.n_rounds == 0:
            warnings.warn(
                f"No round of AdaC2M1Classifier was correct on more than half of the weight, so it always predicts "
                f"{self.classes_.tolist()[0]!r}. Use a stronger estimator, for example "
                f"Tree(max_leaf_nodes={4 * len(self.classes_)}), or AdaBoostMHClassifier.",
                ConvergenceWarning,
                stacklevel=6,
            )
