"""Weak learners, which are fitted in each round of boosting, and samplers, which choose the rows of a round."""

from __future__ import annotations

from typing import Any

from skewboost.errors import InputError, InputTypeError
from skewboost.learners.adapter import Adapter
from skewboost.learners.alternating_round import AlternatingTree
from skewboost.learners.histogram import Histogram
from skewboost.learners.learner import Learner
from skewboost.learners.line import Line
from skewboost.learners.mdl_discretizer import MDLDiscretizer
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
    "MDLDiscretizer",
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
    """The learner for the `estimator` parameter of a booster, resampled if there is a sampler or if it needs one."""
    if isinstance(estimator, ResampledLearner):
        return estimator
    chosen = as_sampler(sampler)
    learner = _learner(estimator)
    if isinstance(learner, Adapter):
        if chosen is None and learner.weight_name is None:
            chosen = Bootstrap()
        if isinstance(chosen, Bootstrap):
            learner = Adapter(estimator, weighted=False)
    return learner if chosen is None else ResampledLearner(learner, chosen)


def _learner(estimator: Any) -> Learner:
    """The learner, without a sampler."""
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
    """The name of a learner in messages."""
    if isinstance(learner, ResampledLearner):
        return name_of(learner.learner)
    return learner.name if isinstance(learner, Adapter) else type(learner).__name__
