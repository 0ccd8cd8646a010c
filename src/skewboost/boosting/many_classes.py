"""What the variants for many classes share: one ensemble of terms that say something of every class.

It is trained as one and kept as one per class, so that scoring and explanations see what they always see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.special import log_softmax

from skewboost.boosting.cost_sensitive import CostSensitiveClassifier
from skewboost.boosting.early_stopping import Stage, Validation, stratified_split
from skewboost.boosting.estimator import DEFAULT_VALIDATION_FRACTION
from skewboost.boosting.loop import Round
from skewboost.boosting.prediction import Scored
from skewboost.boosting.rule import NO_EDGE, PERFECT, Rule
from skewboost.boosting.training import Ensemble, train
from skewboost.engine import choose
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Engine
from skewboost.engine.partition import View
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.engine.table import Table
from skewboost.engine.training_set import Classes
from skewboost.learners.learner import Data, Learner
from skewboost.metrics.costs import Costs, check_cost, class_costs
from skewboost.metrics.targets import classes_of


@dataclass(slots=True)
class JointTerm(LeafTerm):
    """A value per leaf and label."""

    def on(self, view: View) -> Array:
        """The values of every row's leaf: ``[row, label]``."""
        return self.values[self.partition.leaves(view)]


def joint_term(term: Any, values: Array) -> Any:
    """A term of leaves or of a classifier's parts with other values, ``[leaf, label]``."""
    return JointTerm(term.partition, values) if isinstance(term, LeafTerm) else replace(term, values=values)


def of_label(term: Any, label: int) -> Any:
    """What such a term says of one label."""
    values = np.ascontiguousarray(term.values[:, label])
    return LeafTerm(term.partition, values) if isinstance(term, JointTerm) else replace(term, values=values)


def together(terms: Sequence[Any]) -> Any:
    """The term that says of each label what these do."""
    return joint_term(terms[0], np.column_stack([term.values for term in terms]))


@dataclass(frozen=True)
class JointCosts:
    """What it costs to get a class wrong (the mean where rows differ), and each row, or each (row, label)."""

    of_class: Array
    each: Array | None  # None: all the same
    differ: bool = False  # whether rows of a class do


class JointRule(Rule):
    """A variant for many classes."""

    def tilt_of(self, label: int) -> float:
        """What costs have added to the log-odds of a label that is on or off."""
        return 0.0

    def log_shares(self, F: Array) -> Array:
        """Logarithms of what the probabilities of the classes are in proportion to, ``[row, class]``."""
        raise NotImplementedError

    def log_class_probabilities(self, F: Array) -> Array:
        """Logarithms of the probabilities of all classes: finite, however sure the ensemble is."""
        return np.asarray(log_softmax(self.log_shares(F), axis=1))

    def log_likelihood(self, F: Array, target: Array) -> Array:
        """What early stopping watches: how likely the truth of each row is, or of each (row, label)."""
        raise NotImplementedError


class OfLabel(Rule):
    """One label of a variant for many, as scoring and explanations see it."""

    def __init__(self, tilt: float) -> None:
        self.own_tilt = tilt

    def tilt(self) -> float:
        """What costs have added to the log-odds."""
        return self.own_tilt


class JointStage(Stage):
    """The ensemble so far on the validation rows: classes by their own names, or labels on and off."""

    def __init__(self, F: Array, p: Array, classes: Array, multilabel: bool) -> None:
        super().__init__(F, p)
        self.classes_ = classes
        self.multilabel = multilabel

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes, or of all labels."""
        return self.p

    def predict(self, X: Any) -> Array:
        """The class of the largest F, or the labels where it is not negative."""
        return (self.F >= 0).astype(np.intp) if self.multilabel else self.classes_[np.argmax(self.F, axis=1)]


class JointValidation(Validation):
    """Scores rounds on held-out rows, by default by the variant's own likelihood."""

    rule: JointRule

    def of(self, classes: Array, truth: Array, multilabel: bool) -> JointValidation:
        """Tell what scorers are to see."""
        self.classes, self.truth, self.multilabel = classes, truth, multilabel
        return self

    def open(self, bins: Bins | None) -> None:
        """Encode the rows with the bins of training."""
        super().open(bins)
        self.F = np.zeros((self.table.n_rows, len(self.classes)))

    def log_likelihood(self) -> Array:
        """That of the variant."""
        return self.rule.log_likelihood(self.F, self.positive)

    def stage(self) -> JointStage:
        """The ensemble so far, as scorers see it."""
        if self.multilabel:
            tilts = [self.rule.tilt_of(k) for k in range(len(self.classes))]
            p = np.column_stack([OfLabel(t).probability(F, self.round) for t, F in zip(tilts, self.F.T)])
        else:
            p = np.exp(self.rule.log_class_probabilities(self.F))
        return JointStage(self.F, p, self.classes, self.multilabel)


class JointEnsemble(Ensemble):
    """An ensemble of all labels while it is trained; for scoring each label gets its own."""

    @classmethod
    def joined(cls, parts: list[Ensemble], rule: Rule) -> JointEnsemble:
        """The ensemble whose parts these are."""
        first = parts[0]
        rounds = [replace(r, term=together([e.rounds[m].term for e in parts])) for m, r in enumerate(first.rounds)]
        return cls(rounds, first.n_rounds, first.bins, first.stop_reason, rule, support=first.support)

    def parts(self, n_labels: int, n_features: int) -> list[Ensemble]:
        """One ensemble per label, ready for scoring."""
        assert isinstance(self.rule, JointRule)
        found = []
        for k in range(n_labels):
            rounds = [Round(of_label(r.term, k), r.record, r.importances) for r in self.rounds]
            rule = OfLabel(self.rule.tilt_of(k))
            found.append(Ensemble(rounds, self.n_rounds, self.bins, self.stop_reason, rule, support=self.support))
            found[-1].finish(n_features)
        return found

    def finish(self, n_features: int) -> None:
        """Nothing to compile."""


class JointClassifier(CostSensitiveClassifier):
    """A booster for many classes; a subclass names its `JointRule`, and what it is with two classes."""

    multilabel_ = False
    _joint_rule_: JointRule  # as it was fitted: it knows what F means

    def _joint_rule(self, costs: JointCosts) -> JointRule:
        """The variant for more than two classes."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    @property
    def _joint(self) -> bool:
        return self.multilabel_ or len(self.classes_) > 2

    @property
    def _n_ensembles(self) -> int:
        return len(self.classes_) if self._joint else 1

    # ------------------------------------------------------------------------ fitting

    def _set_classes(self, labels: Array, weights: Array | None, going_on: bool) -> None:
        classes = classes_of(self, labels)
        if len(classes) == 2:
            super()._set_classes(labels, weights, going_on)
            return
        if self.pos_label is not None:
            raise ValueError(
                f"pos_label={self.pos_label!r} has no effect: y has {len(classes)} classes, none of which is the "
                "positive one. Leave it at None."
            )
        self._keep_classes(classes, going_on, "classes")

    def _keep_classes(self, classes: Array, going_on: bool, what: str) -> None:
        if going_on and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has {len(classes)} {what}, but training started with {len(self.classes_)}, or with others. Set "
                "warm_start=False to start anew."
            )
        self.classes_ = classes

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """All the same, unless somebody says otherwise."""
        if self.cost is None and each is None:
            return Costs()
        return super()._costs(each, labels, weights)

    def _joint_costs(self, each: Array | None, labels: Array, weights: Array | None) -> JointCosts:
        """What it costs to get rows of more than two classes wrong."""
        check_cost(self.cost, self.classes_)
        if self.cost is None and each is None:
            return JointCosts(np.ones(len(self.classes_)), None)
        number = np.searchsorted(self.classes_, labels)
        if each is None:
            of_class = class_costs(self.cost, labels, self.classes_, weights)
            return JointCosts(of_class, of_class[number])
        w = np.ones(len(each)) if weights is None else weights
        means = np.bincount(number, w * each) / np.bincount(number, w)
        differ = any(np.ptp(each[number == k]) > 0 for k in range(len(means)))
        return JointCosts(means, each, differ)

    def _target(self, labels: Array) -> Array:
        """The classes as training sees them."""
        raise NotImplementedError

    def _structure(self) -> Classes:
        """How many labels a row has in training, and of how many classes each is."""
        raise NotImplementedError

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
        joint_costs = self._joint_costs(each_cost, labels, weights)
        costs = Costs() if joint_costs.each is None else Costs(each=joint_costs.each)
        if self._ensembles[0].stop_reason in (NO_EDGE, PERFECT):
            return  # more rounds would change nothing
        self._joint_rule_ = self._joint_rule(joint_costs)
        joint = JointEnsemble.joined(self._ensembles, self._joint_rule_)
        target, validation, n_classes = self._target(labels), None, len(self.classes_)
        if self.early_stopping:
            inner, outer = self._split(labels)
            held_out = None if weights is None else weights[outer]
            validation = JointValidation(
                joint.rule, engine, table.take(outer), target[outer], held_out, costs.take(outer), self.scoring
            ).of(self.classes_, labels[outer].astype(np.intp) if self.multilabel_ else labels[outer], self.multilabel_)
            table, target, costs = table.take(inner), target[inner], costs.take(inner)
            weights = None if weights is None else weights[inner]
        data = Data(table, target, weights, engine, joint.bins, classes=self._structure())
        try:
            train(learner, data, costs, self._settings(), validation, joint)
        finally:
            self._ensembles = joint.parts(n_classes, table.n_features)

    def _split(self, labels: Array) -> tuple[Array, Array]:
        """Row numbers to train on and to validate on: a share of each class."""
        fraction = self.validation_fraction or DEFAULT_VALIDATION_FRACTION
        return stratified_split(labels, fraction, np.random.default_rng(self._seed))

    # --------------------------------------------------------------------- prediction

    def _scores(self, X: Any) -> list[Scored]:
        ensemble = self._ensemble
        if not self._joint or ensemble.n_features is None or not ensemble.scorer.others:
            return super()._scores(X)
        *_, last = self._staged_scores(X)  # a classifier of another library need not be asked for each class
        return last

    def _staged_scores(self, X: Any) -> Iterator[list[Scored]]:
        if not self._joint:
            yield from super()._staged_scores(X)
            return
        table = self._new_rows(X)
        engine = choose(self.engine, effective_n_jobs(self.n_jobs))
        view = View(engine, table, self._ensembles[0].bins)
        F = np.zeros((table.n_rows, len(self._ensembles)))
        rounds = list(zip(*(e.terms for e in self._ensembles)))
        for k, terms in enumerate(rounds, 1):
            F = F + together(terms).on(view)
            yield [Scored(own, e.rule, k) for own, e in zip(F.T, self._ensembles)]
        if not rounds:
            yield [Scored(own, e.rule, 0) for own, e in zip(F.T, self._ensembles)]

    @staticmethod
    def _rounded(scores: list[Scored]) -> Array:
        """F without the digits that depend on the order of the rows: classes that tie must do so whatever that is."""
        return np.round(np.column_stack([s.F for s in scores]), 10)

    def _decision(self, scores: list[Scored]) -> Array:
        return self._rounded(scores) if self._joint else super()._decision(scores)

    def _labels(self, scores: list[Scored]) -> Array:
        if not self._joint:
            return super()._labels(scores)
        return np.asarray(self.classes_[np.argmax(self._rounded(scores), axis=1)])

    def _proba(self, scores: list[Scored]) -> Array:
        if not self._joint:
            return super()._proba(scores)
        return np.exp(self._log_proba(scores))

    def _log_proba(self, scores: list[Scored]) -> Array:
        if not self._joint:
            return super()._log_proba(scores)
        return self._joint_rule_.log_class_probabilities(self._rounded(scores))

    # --------------------------------------------------------------------- inspection

    @property
    def estimators_(self) -> list[Any]:
        """What the rounds added: a list per class, all with the same partitions; one list if there are two classes."""
        terms: list[list[Term]] = [e.terms for e in self._ensembles] if self._ensemble else []
        return terms if self._joint else list(terms[0])
