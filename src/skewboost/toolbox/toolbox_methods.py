"""Which estimator, weak learner and parameter a name of the toolbox stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.svm import SVC

from skewboost import (
    AdaBoostClassifier,
    AdaBoostRegClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    CSGAClassifier,
    CSLBClassifier,
    CSRAClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    RareBoostClassifier,
    RealBoostClassifier,
    WeightBoostClassifier,
)
from skewboost.errors import InputError
from skewboost.learners import Stump, Tree
from skewboost.parameters import number
from skewboost.typing import Array

COST, SOFTNESS, DAMPING = "cost", "C", "beta"


@dataclass(frozen=True)
class Method:
    """An estimator, its parameters, and which of them `c` is (None: there is none)."""

    booster: Any
    c: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    fits_responses: bool = False  # by least squares; the others fit labels


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "ada_boost": Method(AdaBoostClassifier),
        "real_boost": Method(RealBoostClassifier),
        "gentle_boost": Method(GentleBoostClassifier),
        "logit_boost": Method(LogitBoostClassifier, fits_responses=True),
        "ada_c1": Method(AdaC1Classifier, COST, {"alpha": "nyga"}),  # equation (2.58), which oscillates
        "ada_c2": Method(AdaC2Classifier, COST),
        "ada_c3": Method(AdaC3Classifier, COST),
        "ada_cost": Method(AdaCostClassifier, COST),
        "cs_realboost": Method(CSRAClassifier, COST),
        "cs_gentleboost": Method(CSGAClassifier, COST),
        "cs_logitboost": Method(CSLBClassifier, COST, fits_responses=True),
        "rare_boost": Method(RareBoostClassifier),
        "adaboost_reg": Method(AdaBoostRegClassifier, SOFTNESS, {"p": 1.0}),  # mistrust as in (2.80), linear
        "weight_boost": Method(WeightBoostClassifier, DAMPING),
    }
)
ALIASES = {"adaboost": "ada_boost"}  # the list in the thesis has one name, its example the other
BASE_LEARNERS = ("stump", "cart", "svm")

MEANING = {
    COST: "what a miss of a positive example costs (a false alarm costs 1), or one cost per row",
    SOFTNESS: "how much mistrust of hard examples forgives, a number >= 0",
    DAMPING: "how strongly being sure dampens later rounds, a number >= 0",
}


def check_method(method: Any) -> str:
    """The name of a method as `METHODS` has it."""
    name = ALIASES.get(method, method) if isinstance(method, str) else method
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"method={method!r} is none of the toolbox. Choose one of {', '.join(map(repr, METHODS))}.")
    return name


def base_learner(name: Any, method: str) -> Any:
    """A weak learner as the thesis has it."""
    responses = METHODS[method].fits_responses
    if name == "stump":
        # Its stump minimises the weighted error and labels either side by majority, so that "always -1" is one of them.
        return Stump() if responses else Stump(criterion="error", constant=True)
    if name == "cart":
        # The thesis does not say how large. Of 3, 4, 6 and 8 leaves, four come closest to what it reports of RealBoost
        # on the banana data: no training error after 100 rounds (here next to none), a test error rising from 50 on.
        return Tree(max_leaf_nodes=4) if responses else Tree(max_leaf_nodes=4, criterion="gini")
    if name == "svm":
        if responses:
            raise InputError(
                f"baselearner='svm' answers with labels, but method={method!r} fits numbers. Choose 'stump' or 'cart', "
                "or another method."
            )
        return SVC(kernel="rbf", gamma="auto")  # what lib-SVM does unless told otherwise
    raise InputError(
        f"baselearner={name!r} is none of the toolbox. Choose one of {', '.join(map(repr, BASE_LEARNERS))}; the "
        "estimators of skewboost take any other as `estimator`."
    )


def check_c(c: Any, method: str, n_rows: int) -> float | Array | None:
    """`c` as a number, as a cost per row, or None where a method has no parameter."""
    meaning = METHODS[method].c
    if meaning is None:
        if c is not None:
            with_c = ", ".join(repr(name) for name, m in METHODS.items() if m.c)
            raise InputError(
                f"c={c!r} has no effect: method={method!r} has no parameter. Leave c out, or choose one of {with_c}."
            )
        return None
    if c is None:
        raise InputError(f"method={method!r} needs c: {MEANING[meaning]}.")
    if meaning == COST and hasattr(c, "__len__") and not isinstance(c, str):
        return _costs_of_rows(c, method, n_rows)
    if not number(0, None, open_low=meaning == COST).passes(c):
        above = ">" if meaning == COST else ">="
        raise InputError(f"c={c!r} must be a number {above} 0 with method={method!r}: {MEANING[meaning]}.")
    return float(c)


def _costs_of_rows(c: Any, method: str, n_rows: int) -> Array:
    try:
        costs = np.asarray(c, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"c={c!r} must be a number, or one number per row.") from None
    if costs.shape not in ((n_rows,), (n_rows, 1)):
        raise InputError(
            f"c has the shape {costs.shape}, but X has {n_rows} rows. Give one cost per row, or one number: "
            f"{MEANING[COST]}."
        )
    costs = costs.ravel()
    if not (np.isfinite(costs) & (costs > 0)).all():
        bad = costs[~(np.isfinite(costs) & (costs > 0))][0]
        raise InputError(
            f"c has the entry {bad}, but method={method!r} needs costs that are greater than 0. To make a row matter "
            "little give it a small cost; to leave it out, take it out of X."
        )
    return costs


def make(method: str, learner: Any, M: int, c: float | Array | None, verbose: bool) -> Any:
    """The estimator, to be fitted; costs per row are given to its `fit`."""
    chosen = METHODS[method]
    own = {} if chosen.c is None or isinstance(c, np.ndarray) else {chosen.c: c}
    common = {"estimator": learner, "n_estimators": M, "pos_label": 1, "verbose": int(verbose)}
    return chosen.booster(**common, **chosen.parameters, **own)
