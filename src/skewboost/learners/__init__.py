"""Weak learners: what a round of boosting fits; and samplers: which rows it is fitted to."""

from __future__ import annotations

from typing import Any

from skewboost.errors import InputError, InputTypeError
from skewboost.learners.adapter import Adapter
from skewboost.learners.alternating_round import AlternatingTree
from skewboost.learners.histogram import Histogram
from skewboost.learners.learner import Learner, describe
from skewboost.learners.line import Line
from skewboost.learners.probabilities import Probabilities
from skewboost.learners.resampling import ResampledLearner
from skewboost.learners.rule_learner import EvidenceRule, RuleLearner
from skewboost.learners.samplers import Bootstrap, DataBoost, Fraction, Smote, UnderSample, as_sampler
from skewboost.learners.stump_tree import Stump, Tree

__all__ = [
    "AlternatingTree",
    "Bootstrap",
    "DataBoost",
    "EvidenceRule",
    "Fraction",
    "Histogram",
    "Line",
    "Probabilities",
    "RuleLearner",
    "Smote",
    "Stump",
    "Tree",
    "UnderSample",
    "resolve",
]

NAMES = {"stump": Stump, "tree": Tree}


def resolve(estimator: Any, sampler: Any = None) -> Learner:
    """The learner that the `estimator` parameter stands for, fitted to drawn rows if asked to or if it must be."""
    if isinstance(estimator, ResampledLearner):
        return estimator
    drawing = as_sampler(sampler)
    learner = _weighted(estimator)
    if isinstance(learner, Adapter):
        if drawing is None and learner.weight_name is None:
            drawing = Bootstrap()
        if isinstance(drawing, Bootstrap):
            learner = Adapter(estimator, weighted=False)
    return learner if drawing is None else ResampledLearner(learner, drawing)


def _weighted(estimator: Any) -> Learner:
    """The learner that minds weights, if it can."""
    if isinstance(estimator, str) and estimator in NAMES:
        learner: Learner = NAMES[estimator]()
        return learner
    if isinstance(estimator, Stump | Tree | Histogram | Line | AlternatingTree):
        return estimator
    if isinstance(estimator, Probabilities):
        estimator.check()
        return Adapter(estimator)
    if isinstance(estimator, type):
        raise InputTypeError(
            f"estimator is the class {estimator.__name__}; pass an instance: estimator={estimator.__name__}()."
        )
    adapter = Adapter(estimator)
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and adapter.answers):
        raise InputError(
            "estimator must be 'stump', 'tree', a learner from skewboost.learners, or a scikit-learn classifier or "
            f"regressor; got {estimator!r}."
        )
    return adapter


def name_of(learner: Learner) -> str:
    """How messages call a learner."""
    if isinstance(learner, ResampledLearner):
        return name_of(learner.learner)
    return learner.name if isinstance(learner, Adapter) else describe(learner)
