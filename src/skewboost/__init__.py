"""Boosting for lopsided data: one class is rare, or one kind of mistake costs more than the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skewboost._lazy import lazy

if TYPE_CHECKING:
    from skewboost import chunks as chunks
    from skewboost import costs as costs
    from skewboost import datasets as datasets
    from skewboost import decisions as decisions
    from skewboost import evaluate as evaluate
    from skewboost import export as export
    from skewboost import goals as goals
    from skewboost import io as io
    from skewboost import learners as learners
    from skewboost import metrics as metrics
    from skewboost import plots as plots
    from skewboost import report as report
    from skewboost import samplers as samplers
    from skewboost import summary as summary
    from skewboost import toolbox as toolbox
    from skewboost import variants as variants
    from skewboost import votes as votes
    from skewboost.boosting.adaboost import AdaBoostClassifier
    from skewboost.boosting.adac import AdaC1Classifier, AdaC2Classifier, AdaC3Classifier
    from skewboost.boosting.adacost import AdaCostClassifier
    from skewboost.boosting.arcing import ArcingClassifier
    from skewboost.boosting.asymmetric import AsymmetricAdaBoostClassifier
    from skewboost.boosting.asymmetric_logistic import CSGAClassifier, CSLBClassifier, CSRAClassifier
    from skewboost.boosting.calibrated import AdaMECClassifier, CGAdaClassifier
    from skewboost.boosting.consistent import ConsistentBoostClassifier
    from skewboost.boosting.cost_losses import CSAdaBoostClassifier, CSLogitBoostClassifier, CSRealBoostClassifier
    from skewboost.boosting.csb import CSB0Classifier, CSB1Classifier, CSB2Classifier
    from skewboost.boosting.favored import FavoredBoostClassifier
    from skewboost.boosting.gentleboost import GentleBoostClassifier
    from skewboost.boosting.logitboost import LogitBoostClassifier
    from skewboost.boosting.rareboost import RareBoostClassifier
    from skewboost.boosting.realboost import RealBoostClassifier
    from skewboost.boosting.soft_margin import AdaBoostRegClassifier, SoftMarginBoostClassifier
    from skewboost.boosting.weightboost import WeightBoostClassifier
    from skewboost.decisions.minimum_risk import MinimumRiskClassifier
    from skewboost.goals.goal_search import GoalSearchCV
    from skewboost.multiclass.code_matrix import CodeMatrixClassifier
    from skewboost.multiclass.m1 import AdaC2M1Classifier
    from skewboost.multiclass.mh import AdaBoostMHClassifier
    from skewboost.resampling.bagging import UnderBaggingClassifier
    from skewboost.resampling.presets import DataBoostIMClassifier, RUSBoostClassifier, SMOTEBoostClassifier
    from skewboost.trees.alternating import AlternatingTreeClassifier
    from skewboost.variants import catalogue
    from skewboost.votes.estimator import PastingVotesClassifier

__version__ = "0.1.0"

_HOME = {  # where each name is, so that importing the package imports none of them
    "AdaBoostClassifier": "boosting.adaboost",
    "AdaBoostMHClassifier": "multiclass.mh",
    "AdaBoostRegClassifier": "boosting.soft_margin",
    "AdaC1Classifier": "boosting.adac",
    "AdaC2Classifier": "boosting.adac",
    "AdaC2M1Classifier": "multiclass.m1",
    "AdaC3Classifier": "boosting.adac",
    "AdaCostClassifier": "boosting.adacost",
    "AdaMECClassifier": "boosting.calibrated",
    "AlternatingTreeClassifier": "trees.alternating",
    "ArcingClassifier": "boosting.arcing",
    "AsymmetricAdaBoostClassifier": "boosting.asymmetric",
    "CGAdaClassifier": "boosting.calibrated",
    "CSAdaBoostClassifier": "boosting.cost_losses",
    "CSB0Classifier": "boosting.csb",
    "CSB1Classifier": "boosting.csb",
    "CSB2Classifier": "boosting.csb",
    "CSGAClassifier": "boosting.asymmetric_logistic",
    "CSLBClassifier": "boosting.asymmetric_logistic",
    "CSLogitBoostClassifier": "boosting.cost_losses",
    "CSRAClassifier": "boosting.asymmetric_logistic",
    "CSRealBoostClassifier": "boosting.cost_losses",
    "CodeMatrixClassifier": "multiclass.code_matrix",
    "ConsistentBoostClassifier": "boosting.consistent",
    "DataBoostIMClassifier": "resampling.presets",
    "FavoredBoostClassifier": "boosting.favored",
    "GentleBoostClassifier": "boosting.gentleboost",
    "GoalSearchCV": "goals.goal_search",
    "LogitBoostClassifier": "boosting.logitboost",
    "MinimumRiskClassifier": "decisions.minimum_risk",
    "RUSBoostClassifier": "resampling.presets",
    "PastingVotesClassifier": "votes.estimator",
    "RareBoostClassifier": "boosting.rareboost",
    "RealBoostClassifier": "boosting.realboost",
    "SMOTEBoostClassifier": "resampling.presets",
    "SoftMarginBoostClassifier": "boosting.soft_margin",
    "UnderBaggingClassifier": "resampling.bagging",
    "WeightBoostClassifier": "boosting.weightboost",
    "catalogue": "variants",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostRegClassifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC2M1Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "AdaMECClassifier",
    "AlternatingTreeClassifier",
    "ArcingClassifier",
    "AsymmetricAdaBoostClassifier",
    "CGAdaClassifier",
    "CSAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CSGAClassifier",
    "CSLBClassifier",
    "CSLogitBoostClassifier",
    "CSRAClassifier",
    "CSRealBoostClassifier",
    "CodeMatrixClassifier",
    "ConsistentBoostClassifier",
    "DataBoostIMClassifier",
    "FavoredBoostClassifier",
    "GentleBoostClassifier",
    "GoalSearchCV",
    "LogitBoostClassifier",
    "MinimumRiskClassifier",
    "PastingVotesClassifier",
    "RUSBoostClassifier",
    "RareBoostClassifier",
    "RealBoostClassifier",
    "SMOTEBoostClassifier",
    "SoftMarginBoostClassifier",
    "UnderBaggingClassifier",
    "WeightBoostClassifier",
    "catalogue",
]

_PARTS = (  # which are there after `import skewboost`, and imported when asked for
    *("chunks", "costs", "datasets", "decisions", "evaluate", "export", "goals", "io", "learners", "metrics", "plots"),
    *("report", "samplers", "summary", "toolbox", "variants", "votes"),
)

__getattr__, __dir__ = lazy(__name__, _HOME, _PARTS)
