"""How costs are passed to any estimator: by a parameter, or by sample weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skewboost.boosting.cost_use import unquestioned_costs
from skewboost.engine.table import take_rows
from skewboost.errors import InputError
from skewboost.learners.adapter import weight_name
from skewboost.meta.inner_labels import hides_classes, plain, renumbers, with_pos_label
from skewboost.metrics.targets import known_labels
from skewboost.typing import Array

PARAMETERS = ("cost", "class_weight")


def cost_param_of(estimator: Any) -> str | None:
    """The parameter for costs per class: that of the estimator, or of its outermost part that has one."""
    params = estimator.get_params(deep=True)
    owners = {name: params.get(name.rpartition("__")[0], estimator) for name in params}
    used = [name for name in params if getattr(owners[name], "_takes_costs", True)]
    names: list[str] = sorted(used, key=lambda name: (name.count("__"), name))
    candidates = (n for own in PARAMETERS for n in names if n == own or n.endswith(f"__{own}"))
    return next((n for n in candidates if not hides_classes(estimator, n)), None)


def cost_for_owner(estimator: Any, name: str, cost: Any) -> Any:
    """``{label: cost}`` with the labels that the owner of the parameter is fitted to."""
    if isinstance(cost, Mapping) and renumbers(estimator, name):
        return {k: cost[label] for k, label in enumerate(sorted(cost))}
    return cost


@dataclass
class CostPassing:
    """Fits clones of an estimator with the same positive class, each with other costs of the two classes."""

    estimator: Any
    classes: Array
    pos_label: Any
    cost_param: str | None = None  # the parameter for {label: cost}
    weight_param: str | None = None  # or the argument of `fit` for weights
    params: dict[str, Any] = field(default_factory=dict)  # further arguments of `fit`, per row

    @classmethod
    def of(
        cls, estimator: Any, classes: Array, pos_label: Any, otherwise: str = "Choose another estimator."
    ) -> CostPassing:
        """Find out how costs can be passed; `otherwise` is what to do if they cannot."""
        found = cost_param_of(estimator)
        if found is not None:
            return cls(estimator, classes, pos_label, found)
        weights = weight_name(estimator)
        if weights is None:
            raise InputError(
                f"{type(estimator).__name__} cannot use costs: it has no parameter 'cost' or 'class_weight', and its "
                "fit does not accept sample_weight.",
                otherwise,
            )
        return cls(estimator, classes, pos_label, None, weights)

    @property
    def passed_by(self) -> str:
        """How costs are passed, in words."""
        return self.cost_param or f"fit({self.weight_param}=...)"

    @property
    def scale_free(self) -> bool:
        """Whether only the ratio of the costs matters."""
        return self.cost_param is None or self.cost_param.endswith("class_weight")

    def fit(self, X: Any, y: Array, costs: tuple[float, float] | None, params: dict[str, Any]) -> Any:
        """Fit a clone with these costs of the positive and the negative class; None: without changing its costs."""
        model = with_pos_label(self.estimator, self.classes, self.pos_label)
        params = dict(params)
        if costs is None:
            with known_labels():
                return model.fit(X, y, **params)
        positive = y == self.pos_label
        if any(name.rpartition("__")[2] == "sample_cost" for name in params):
            raise InputError(
                "sample_cost cannot be passed to a search for costs, which it would replace.", "Set tune='threshold'."
            )
        if self.cost_param is not None:
            other = self.classes[self.classes != self.pos_label][0]
            by_label = {plain(self.pos_label): costs[0], plain(other): costs[1]}
            model.set_params(**{self.cost_param: cost_for_owner(model, self.cost_param, by_label)})
        else:
            assert self.weight_param is not None
            given = params.get(self.weight_param)
            ones = np.ones(len(y)) if given is None else np.asarray(given, dtype=np.float64)
            weights = ones * np.where(positive, *costs)
            params[self.weight_param] = weights * (ones.sum() / weights.sum())  # of the same sum as before
        with unquestioned_costs(), known_labels():
            return model.fit(X, y, **params)


def take_params(params: Mapping[str, Any], rows: Array, n_rows: int) -> dict[str, Any]:
    """Arguments of `fit` for some of the rows: those with an entry per row are split like the rows."""

    def per_row(value: Any) -> bool:
        return isinstance(value, Sized) and not isinstance(value, str | bytes | dict) and len(value) == n_rows

    arrays = {
        name: np.asarray(value) if hasattr(value, "__array__") and not isinstance(value, Sized) else value
        for name, value in params.items()
    }
    return {name: take_rows(value, rows) if per_row(value) else value for name, value in arrays.items()}


def staged_scores_of(model: Any, X: Any, pos_label: Any) -> Iterator[Array]:
    """The scores of the positive class after every round of a booster."""
    for F in model.staged_decision_function(X):
        scores = np.asarray(F, dtype=np.float64).reshape(len(F))
        yield scores if model.classes_[1] == pos_label else np.negative(scores)


def own_threshold(estimator: Any) -> float:
    """The score above which an estimator predicts the positive class."""
    return 0.0 if hasattr(estimator, "decision_function") else 0.5
