"""AdaBoost.MH.

References
----------
.. [1] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning
   37 (1999) 297-336, §7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_is_fitted

from skewboost.boosting.estimator import DEFAULT_VALIDATION_FRACTION, BoostingClassifier
from skewboost.boosting.loop import Round
from skewboost.boosting.prediction import Scored
from skewboost.boosting.realboost import RealBoost
from skewboost.boosting.rule import NO_EDGE, Rule, no_edge
from skewboost.boosting.state import MAX_SPREAD, State
from skewboost.boosting.training import Ensemble, train
from skewboost.boosting.validation import Stage, Validation, stratified_split
from skewboost.costs import Costs
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Engine
from skewboost.engine.partition import View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.learners import Stump, Tree, name_of, resolve
from skewboost.learners.base import LABELS, Data, Draw, LabelHypothesis, Learner
from skewboost.tables import Table


@dataclass(frozen=True)
class JointTerm(LeafTerm):
    """A value per leaf and label."""

    def on(self, view: View) -> Array:
        """The values of every row's leaf: ``[row, label]``."""
        return self.values[self.partition.leaves(view)]

    def of_label(self, label: int) -> LeafTerm:
        """The values of one label."""
        return LeafTerm(self.partition, np.ascontiguousarray(self.values[:, label]))


class AdaBoostMH(Rule):
    """RealBoost on all (example, label) pairs, with one partition for all labels."""

    criterion = "z"

    def start(self, state: State) -> None:
        """``D = 1/(N K)``."""
        super().start(state)
        state.F = np.zeros(state.y.shape)
        self.not_in_F: list[Term] = []  # F is brought up to date when somebody needs it
        self.spread = 0.0  # a bound on how far apart the logarithms of weights are

    def ask(self, state: State, rng: Draw) -> Any:
        """The partition of the lowest ``Z = W0 + 2 Σ_leaves Σ_labels √(W+ W-)`` ([1] §7)."""
        return state.learner.joint_labels(rng)

    def vote(self, state: State, h: LabelHypothesis) -> Term | None:
        """``½ ln((W+ + δ) / (W- + δ))`` per leaf and label, with δ = 1/(N K)."""
        negative, positive = np.moveaxis(h.class_weights.reshape(len(h.class_weights), -1, 2), 2, 0)
        delta = 1.0 / (state.n * state.y.shape[1])
        values = 0.5 * np.log((positive + delta) / (negative + delta))
        values[h.abstains] = 0.0
        if no_edge(state, values):
            return None
        term = h.term(values)
        assert isinstance(term, LeafTerm)
        return JointTerm(term.partition, values)

    def update(self, state: State, h: Any, term: Term) -> None:
        """``D ← D exp(-y g) / Z``."""
        assert isinstance(term, JointTerm)
        self.not_in_F.append(term)
        largest = float(np.abs(term.values).max())
        self.spread += 2.0 * largest
        if h is not None and self.spread <= MAX_SPREAD:
            factors = np.exp(np.stack((term.values, -term.values), axis=2)).reshape(len(term.values), -1)
            state.log_loss += math.log(h.reweight(state.learner.sample, factors))
        else:
            while self.not_in_F:
                state.add(self.not_in_F.pop())
            exponents = -state.y * state.F
            top = float(exponents.max())
            weights = np.exp(exponents - top) * state.examples[:, None]
            self.spread = top - float(exponents.min())
            state.log_loss = top + math.log(float(weights.sum()) / (state.n * state.y.shape[1]))
            state.assign(weights)
        state.loss = math.exp(min(state.log_loss, 700.0))


class TwoClasses(RealBoost):
    """What AdaBoost.MH is with two classes, the one the opposite of the other."""

    asks = (LABELS,)


class JointStage(Stage):
    """The ensemble so far on the validation rows: classes by their own names, or labels on and off."""

    def __init__(self, F: Array, p: Array, classes: Array, multilabel: bool) -> None:
        super().__init__(F, p)
        self.classes_ = classes
        self.multilabel = multilabel

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes, or of all labels."""
        return self.p if self.multilabel else self.p / self.p.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """The class of the largest F, or the labels where it is not negative."""
        return (self.F >= 0).astype(np.intp) if self.multilabel else self.classes_[np.argmax(self.F, axis=1)]


class JointValidation(Validation):
    """Scores rounds on held-out rows, by default by the log-loss over all labels."""

    def of(self, classes: Array, truth: Array, multilabel: bool) -> JointValidation:
        """Tell what scorers are to see."""
        self.classes, self.truth, self.multilabel = classes, truth, multilabel
        return self

    def open(self, bins: Bins | None) -> None:
        """Encode the rows with the bins of training."""
        super().open(bins)
        self.F = np.zeros(self.positive.shape)

    def stage(self) -> JointStage:
        """The ensemble so far, as scorers see it."""
        return JointStage(self.F, self.rule.probability(self.F, self.round), self.classes, self.multilabel)


class JointEnsemble(Ensemble):
    """An ensemble of all labels while it is trained; for scoring each label gets its own."""

    @classmethod
    def joined(cls, parts: list[Ensemble]) -> JointEnsemble:
        """The ensemble whose parts these are."""
        first = parts[0]
        rounds = []
        for m, r in enumerate(first.rounds):
            assert isinstance(r.term, LeafTerm)
            values = np.column_stack([e.rounds[m].term.values for e in parts])  # type: ignore[attr-defined]
            rounds.append(Round(JointTerm(r.term.partition, values), r.record, r.importances))
        return cls(rounds, first.n_rounds, first.bins, first.stop_reason, AdaBoostMH(), support=first.support)

    def parts(self, n_labels: int, n_features: int) -> list[Ensemble]:
        """One ensemble per label, ready for scoring."""
        found = []
        for k in range(n_labels):
            rounds = [Round(r.term.of_label(k), r.record, r.importances) for r in self.rounds]  # type: ignore[attr-defined]
            own = Ensemble(rounds, self.n_rounds, self.bins, self.stop_reason, RealBoost(), support=self.support)
            found.append(own)
            found[-1].finish(n_features)
        return found

    def finish(self, n_features: int) -> None:
        """Nothing to compile."""


class AdaBoostMHClassifier(BoostingClassifier):
    r"""AdaBoost.MH: many classes, or many labels per example, in one ensemble.

    Every (example, label) pair has a weight, :math:`1/(NK)` at first. A round finds the one partition for all labels
    that minimises :math:`Z = W_0 + 2 \sum_j \sum_l \sqrt{W^+_{jl} W^-_{jl}}`, adds
    :math:`\frac12 \ln \frac{W^+_{jl} + 1/(NK)}{W^-_{jl} + 1/(NK)}` for label l in leaf j and multiplies the weights by
    :math:`\exp(-y_l g_l)`. With many classes the largest :math:`F_l` wins; with many labels each is on where
    :math:`F_l \ge 0`. With two classes it is RealBoost. Compared to one ensemble per class (what the other variants do
    with more than two classes) all labels share their tests: a smaller model, behind in the first dozens of rounds
    and as good after hundreds.

    {parameters}

    References
    ----------
    .. [1] R. E. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated predictions", Machine
       Learning 37 (1999) 297-336.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skewboost import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> print(round(AdaBoostMHClassifier(n_estimators=20).fit(X, y).score(X, y), 2))
    1.0
    """

    multilabel_: bool

    def _rule(self) -> Rule:
        learner = resolve(self.estimator)
        if not isinstance(learner, Stump | Tree):
            raise ValueError(
                f"AdaBoostMHClassifier divides the input alike for all labels, which {name_of(learner)} cannot. Set "
                "estimator='stump' or 'tree', or use another variant, which has an ensemble for each class."
            )
        if learner.criterion not in (None, "z") or getattr(learner, "constant", False):
            raise ValueError(
                f"AdaBoostMHClassifier splits by Z, so {learner!r} would not be heeded. Leave criterion at None and "
                "constant at False."
            )
        return TwoClasses()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags

    # ------------------------------------------------------------------------ fitting

    def _check_targets(self, table: Table, y: Any, sample_weight: Any) -> tuple[Array, Array | None]:
        kind = None if y is None else type_of_target(y, input_name="y")
        if kind is not None and kind.endswith("multioutput"):
            raise ValueError(
                "y has several columns, but not of 0 and 1 only. Give one column of classes, or a column of 0 and 1 "
                "for each label."
            )
        self.multilabel_ = kind == "multilabel-indicator"
        if not self.multilabel_:
            return super()._check_targets(table, y, sample_weight)
        Y = check_array(y, accept_sparse="csr", input_name="y")
        Y = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
        check_consistent_length(range(table.n_rows), Y)
        _, weights = super()._check_targets(table, np.zeros(table.n_rows, dtype=np.intp), sample_weight)
        return Y.astype(np.bool_), weights

    def _set_classes(self, labels: Array, weights: Array | None, going_on: bool) -> None:
        if not self.multilabel_:
            super()._set_classes(labels, weights, going_on)
            return
        if self.pos_label is not None:
            raise ValueError(
                f"pos_label={self.pos_label!r} has no effect: y has a column per label, each of which is on or off. "
                "Leave it at None."
            )
        classes = np.arange(labels.shape[1])
        if going_on and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has {len(classes)} labels, but training started with {len(self.classes_)}. Set warm_start=False "
                "to start anew."
            )
        self.classes_ = classes
        self._positive_classes = list(classes)

    def _train(
        self,
        learner: Learner,
        engine: Engine,
        table: Table,
        labels: Array,
        weights: Array | None,
        each_cost: Array | None,
    ) -> None:
        if not self._joint:
            super()._train(learner, engine, table, labels, weights, each_cost)
            return
        if self._ensembles[0].stop_reason == NO_EDGE:
            return  # more rounds would change nothing
        has = labels if self.multilabel_ else labels[:, None] == self.classes_
        joint = JointEnsemble.joined(self._ensembles)
        validation = None
        if self.early_stopping:
            inner, outer = self._split(labels)
            held_out = None if weights is None else weights[outer]
            validation = JointValidation(
                joint.rule, engine, table.take(outer), has[outer], held_out, Costs(), self.scoring
            ).of(self.classes_, labels[outer].astype(np.intp) if self.multilabel_ else labels[outer], self.multilabel_)
            table, has = table.take(inner), has[inner]
            weights = None if weights is None else weights[inner]
        try:
            train(learner, Data(table, has, weights, engine, joint.bins), Costs(), self._settings(), validation, joint)
        finally:
            self._ensembles = joint.parts(len(self.classes_), table.n_features)

    def _split(self, labels: Array) -> tuple[Array, Array]:
        """Row numbers to train on and to validate on: a share of each class, or of all rows if labels are many."""
        fraction = self.validation_fraction or DEFAULT_VALIDATION_FRACTION
        rng = np.random.default_rng(self._seed)
        if not self.multilabel_:
            return stratified_split(labels, fraction, rng)
        n = len(labels)
        if n < 2:
            raise ValueError("early_stopping holds out an example, but there is only one. Set early_stopping=False.")
        order = rng.permutation(n)
        n_outer = min(max(1, round(fraction * n)), n - 1)
        return np.sort(order[n_outer:]), np.sort(order[:n_outer])

    # --------------------------------------------------------------------- prediction

    def _decision(self, scores: list[Scored]) -> Array:
        return np.column_stack([s.decision for s in scores]) if self.multilabel_ else super()._decision(scores)

    def _labels(self, scores: list[Scored]) -> Array:
        if self.multilabel_:
            return (self._decision(scores) >= 0).astype(np.intp)
        return super()._labels(scores)

    def _proba(self, scores: list[Scored]) -> Array:
        return np.column_stack([s.probability for s in scores]) if self.multilabel_ else super()._proba(scores)

    # --------------------------------------------------------------------- inspection

    @property
    def estimators_(self) -> list[Any]:
        """What the rounds added: a list per label, all with the same partitions; one list if there are two classes."""
        check_is_fitted(self)
        terms = [e.terms for e in self._ensembles]
        return terms if self._joint else terms[0]

    @property
    def _joint(self) -> bool:
        return self.multilabel_ or len(self.classes_) > 2

    def _per_class(self, values: list[Any]) -> Any:
        check_is_fitted(self)
        return values[0]  # the labels share their rounds

    @property
    def history_(self) -> list[dict[str, Any]]:
        """What happened in each round."""
        check_is_fitted(self)
        return [dict(r.record) for r in self._ensembles[0].rounds]
