"""What scores mean: the rules of all variants, as far as fitted models need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skewboost.boosting.variants.adaboost import AdaBoost
from skewboost.boosting.variants.adaboost_mh import AdaBoostMH, TwoClasses
from skewboost.boosting.variants.adaboost_reg import AdaBoostReg, SoftMarginBoost
from skewboost.boosting.variants.adac import AdaC1, AdaC2, AdaC3
from skewboost.boosting.variants.adac2_m1 import AdaC2M1
from skewboost.boosting.variants.adacost import AdaCost
from skewboost.boosting.variants.adamec import AdaMEC, CGAda, Isotonic, Sigmoid
from skewboost.boosting.variants.alternating_tree import AlternatingTreeBoost
from skewboost.boosting.variants.arcing import LOGISTIC, Arcing
from skewboost.boosting.variants.asymmetric_adaboost import AsymmetricAdaBoost
from skewboost.boosting.variants.consistent_boost import ConsistentBoost
from skewboost.boosting.variants.cs_adaboost import CSAdaBoost, CSLogitBoost, CSRealBoost
from skewboost.boosting.variants.csb import CSB0, CSB1, CSB2
from skewboost.boosting.variants.csra import CSGA, CSLB, CSRA
from skewboost.boosting.variants.favored_boost import FavoredBoost
from skewboost.boosting.variants.gentleboost import GentleBoost
from skewboost.boosting.variants.logitboost import LogitBoost
from skewboost.boosting.variants.rareboost import RareBoost
from skewboost.boosting.variants.realboost import RealBoost
from skewboost.boosting.variants.weightboost import WeightBoost
from skewboost.io.schema import Field, Flag, Floats, Integer, ListOf, Maybe, Number, OneOf, Record, Text, require
from skewboost.metrics.costs import Costs

_POSITIVE = Number(0.0, above=True)
COSTS = Record(Costs, {"negative": _POSITIVE, "positive": _POSITIVE})


def restored(cls: type, **values: Any) -> Any:
    """An object with these attributes, made without its constructor; what is None is as the class has it."""
    made: Any = object.__new__(cls)
    for name, value in values.items():
        if value is not None or not hasattr(cls, name):
            setattr(made, name, value)
    return made


def _check_isotonic(calibrator: Isotonic) -> None:
    fits = 0 < len(calibrator.scores) == len(calibrator.levels)
    require(fits, "must have a level for each score", "levels")
    require((np.diff(calibrator.scores) > 0).all(), "must rise", "scores")
    rising = (np.diff(calibrator.levels) >= 0).all() and calibrator.levels[-1] <= 1.0
    require(rising, "must rise, up to 1 at most", "levels")


CALIBRATOR = OneOf(
    {
        "sigmoid": Record(
            Sigmoid,
            {"n_rounds": Integer(1), "slope": Number(), "intercept": Number()},
            lambda **values: restored(Sigmoid, **values),
        ),
        "isotonic": Record(
            Isotonic,
            {
                "n_rounds": Integer(1),
                "scores": Floats(),
                "levels": Floats(low=0.0),
                "margin": Number(0.0, 0.5, above=True),
            },
            lambda **values: restored(Isotonic, **values),
            _check_isotonic,
        ),
    },
    "a calibrator",
)


def _rule(cls: type, check: Any = None, **fields: Field) -> Record:
    """A rule with its costs and what else its formulas need."""
    return Record(cls, {"costs": COSTS, **fields}, lambda **values: restored(cls, **values), check)


def _check_alternating(rule: AlternatingTreeBoost) -> None:
    require(rule.init == "prior" or rule.balance is not None, "must be known", "balance")


_SPREAD: dict[str, Field] = {"n_rounds": Integer(1)}
_CALIBRATED: dict[str, Field] = {"calibrators": ListOf(CALIBRATOR, tuple)}
_STEP: dict[str, Field] = {"line_search": Flag()}
_PRIOR: dict[str, Field] = {"prior": Text(("data", "balanced")), "log_prior": Number()}
_CLAMP: dict[str, Field] = {"z_max": Maybe(_POSITIVE)}
_ON: dict[str, Field] = {"cost_on": Text(("all", "errors"))}
_SOFT: dict[str, Field] = {"C": ListOf(Number(0.0), tuple), "p": Number()}

_RULES = (
    _rule(AdaBoost),
    _rule(AdaC1, alpha=Text(("sun", "nyga"))),
    _rule(AdaC2),
    _rule(AdaC3),
    _rule(AdaCost),
    Record(Arcing, {"costs": COSTS}, lambda costs: restored(Arcing, costs=costs, f=LOGISTIC[0], slope=LOGISTIC[1])),
    _rule(AsymmetricAdaBoost, **_SPREAD, **_CALIBRATED),
    _rule(CSGA, **_STEP, **_SPREAD),
    _rule(CSLB, **_CLAMP, **_SPREAD),
    _rule(CSRA, **_STEP, **_SPREAD),
    _rule(AdaMEC, **_CALIBRATED),
    _rule(CGAda, **_CALIBRATED),
    _rule(ConsistentBoost),
    _rule(CSAdaBoost, **_PRIOR),
    _rule(CSRealBoost, **_PRIOR),
    _rule(CSLogitBoost, **_PRIOR, **_CLAMP),
    _rule(CSB0, **_ON),
    _rule(CSB1, **_ON),
    _rule(CSB2, **_ON),
    _rule(FavoredBoost, **_STEP),
    _rule(GentleBoost, **_STEP),
    _rule(LogitBoost, **_CLAMP),
    _rule(RareBoost),
    _rule(RealBoost, **_STEP),
    _rule(AdaBoostReg, **_SOFT),
    _rule(SoftMarginBoost, **_SOFT),
    _rule(WeightBoost, beta=Number()),
    _rule(TwoClasses, **_STEP),
    _rule(
        AlternatingTreeBoost,
        _check_alternating,
        **_STEP,
        init=Text(("prior", "balanced")),
        root=Number(),
        balance=Maybe(Number()),
    ),
)


def _by_name(rules: tuple[Record, ...]) -> Mapping[str, Record]:
    return {rule.cls.__name__: rule for rule in rules}


RULE = OneOf(_by_name(_RULES), "a boosting rule")
JOINT_RULE = OneOf(
    _by_name(
        (
            _rule(AdaBoostMH, of_class=Floats(low=0.0), tilts=Maybe(Floats())),
            _rule(AdaC2M1, of_class=Floats(low=0.0), by_row=Flag()),
        )
    ),
    "a boosting rule",
)
