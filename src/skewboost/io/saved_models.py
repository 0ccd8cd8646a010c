"""Fitted models: which attributes are kept of each class, and what must hold between them."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skewboost.io.saved_boosters import Booster
from skewboost.io.saved_fields import Fitted
from skewboost.io.saved_goal_search import GoalSearch
from skewboost.io.saved_meta import CONSTANT, Bagging, Code, Constant, Risk, Votes
from skewboost.io.saved_params import MODELS, AbsentError, class_named, constructed, known_name, unknown, write_params
from skewboost.io.saved_rule_learner import Rules
from skewboost.io.schema import DefectError, Text, UnknownPartError, mapping, name_of

_FAMILIES: dict[str, Fitted] = {
    "CodeMatrixClassifier": Code(),
    "GoalSearchCV": GoalSearch(),
    "MinimumRiskClassifier": Risk(),
    "PastingVotesClassifier": Votes(),
    "RuleLearner": Rules(),
    "UnderBaggingClassifier": Bagging(),
}
_BOOSTER = Booster()


class Model:
    """A fitted model: its class, its parameters, and what it has learned."""

    def write(self, value: Any) -> Any:
        """A model of this package, all of whose parts are."""
        if CONSTANT.fits(value):
            return {"class": Constant.name, **CONSTANT.write(value)}
        name = known_name(value)
        if name not in MODELS:
            raise UnknownPartError(f"an estimator of type {name_of(value)}")
        try:
            check_is_fitted(value)
        except NotFittedError as error:
            raise NotFittedError(f"{name} is not fitted, so there is no model to save. Call fit first.") from error
        family = _FAMILIES.get(name, _BOOSTER)
        family.check_params(value)
        learned = family.write(value)
        try:
            params = write_params(value)
        except AbsentError as absent:
            raise unknown(absent, value) from absent
        return {"class": name, "params": params, **learned}

    def read(self, data: Any, at: str) -> Any:
        """A model, ready for use."""
        fields = dict(mapping(data, at))
        name = Text((*MODELS, Constant.name)).read(fields.pop("class", None), f"{at}.class")
        if name == Constant.name:
            return CONSTANT.read(fields, at)
        if "params" not in fields:
            raise DefectError("lacks 'params'", at)
        model = constructed(class_named(name), fields.pop("params"), f"{at}.params")
        family = _FAMILIES.get(name, _BOOSTER)
        try:
            family.check_params(model)
        except (TypeError, ValueError) as error:
            raise DefectError(str(error), f"{at}.params") from error
        family.read(model, fields, at)
        return model


MODEL = Model()
