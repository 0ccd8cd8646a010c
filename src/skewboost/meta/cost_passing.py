"""How an estimator is told what mistakes cost, whatever it calls that, and how its scores are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from skewboost.errors import InputError
from skewboost.learners.adapter import weight_name
from skewboost.typing import Array

DICTS = ("cost", "class_weight")
# of scikit-learn: what is inside is fitted to the numbers 0, 1, … of the classes in sorted order
RENUMBERING = frozenset({
    "BaggingClassifier", "VotingClassifier", "StackingClassifier", "OneVsRestClassifier", "OneVsOneClassifier",
})  # fmt: skip
CODING = frozenset({"CodeMatrixClassifier", "OutputCodeClassifier"})


def cost_param_of(estimator: Any) -> str | None:
    """The parameter that takes a cost per class: its own, or that of the outermost part that has one."""
    params = estimator.get_params(deep=True)
    owners = {name: params.get(name.rpartition("__")[0], estimator) for name in params}
    heard = [name for name in params if getattr(owners[name], "_takes_costs", True)]
    names: list[str] = sorted(heard, key=lambda name: (name.count("__"), name))
    meant = (n for wanted in DICTS for n in names if n == wanted or n.endswith(f"__{wanted}"))
    found = (n for n in meant if not hides_classes(estimator, n))
    return next(found, None)


def _around(estimator: Any, name: str) -> set[str]:
    """The names of the classes, and of those they are made from, of all that the owner of a parameter is inside of."""
    params = estimator.get_params(deep=True)
    path = name.split("__")[:-1]
    owners = [estimator, *(params.get("__".join(path[:k])) for k in range(1, len(path)))] if path else []
    return {kind.__name__ for owner in owners for kind in type(owner).__mro__}


def renumbers(estimator: Any, name: str) -> bool:
    """Whether the owner of a nested parameter sees the numbers of the classes instead of their labels."""
    return not RENUMBERING.isdisjoint(_around(estimator, name))


def hides_classes(estimator: Any, name: str) -> bool:
    """Whether the owner of a nested parameter sees no classes at all, but columns of a code."""
    return not CODING.isdisjoint(_around(estimator, name))


def as_heard(estimator: Any, name: str, cost: Any) -> Any:
    """``{label: cost}`` with the labels that the owner of the parameter sees."""
    if isinstance(cost, Mapping) and renumbers(estimator, name):
        return {k: cost[label] for k, label in enumerate(sorted(cost))}
    return cost


@dataclass
class Weighing:
    """Fits copies of an estimator, each told other costs of the two classes."""

    estimator: Any
    classes: Array
    pos_label: Any
    cost_param: str | None = None  # the parameter that takes {label: cost}
    weight_param: str | None = None  # else the argument of `fit` that takes weights
    params: dict[str, Any] = field(default_factory=dict)  # what `fit` is given besides X and y, per row

    @classmethod
    def of(cls, estimator: Any, classes: Array, pos_label: Any, cost_param: str | None) -> Weighing:
        """Find out how costs are told."""
        if cost_param is not None:
            known = estimator.get_params(deep=True)
            if cost_param not in known:
                raise InputError(
                    f"cost_param={cost_param!r} is no parameter of {type(estimator).__name__}. It has "
                    f"{', '.join(sorted(known))}."
                )
            return cls(estimator, classes, pos_label, cost_param)
        found = cost_param_of(estimator)
        if found is not None:
            return cls(estimator, classes, pos_label, found)
        weights = weight_name(estimator)
        if weights is None:
            raise InputError(
                f"{type(estimator).__name__} can be told no costs: it has no parameter 'cost' or 'class_weight', and "
                "its fit takes no sample_weight. Set tune='threshold', or choose another estimator."
            )
        return cls(estimator, classes, pos_label, None, weights)

    @property
    def told_by(self) -> str:
        """In words."""
        return self.cost_param or f"fit({self.weight_param}=...)"

    @property
    def scale_free(self) -> bool:
        """Whether only the ratio of the costs can matter."""
        return self.cost_param is None or self.cost_param.endswith("class_weight")

    def check_unset(self) -> None:
        """An estimator that has costs of its own would lose them."""
        if self.cost_param is None:
            return
        value = self.estimator.get_params(deep=True)[self.cost_param]
        if value is not None:
            raise InputError(
                f"{self.cost_param}={value!r} of the estimator would have no effect, as the search sets it. Leave it "
                "at None, or set tune='threshold' to keep it."
            )

    def fit(self, X: Any, y: Array, costs: tuple[float, float] | None, params: dict[str, Any]) -> Any:
        """A copy fitted with these costs of the positive and the negative class; None: as it is."""
        model = clone(self.estimator)
        params = dict(params)
        if costs is None:
            return model.fit(X, y, **params)
        positive = y == self.pos_label
        if self.cost_param is not None:
            other = self.classes[self.classes != self.pos_label][0]
            told = {plain(self.pos_label): costs[0], plain(other): costs[1]}
            model.set_params(**{self.cost_param: as_heard(model, self.cost_param, told)})
        else:
            assert self.weight_param is not None
            given = params.get(self.weight_param)
            ones = np.ones(len(y)) if given is None else np.asarray(given, dtype=np.float64)
            weights = ones * np.where(positive, *costs)
            params[self.weight_param] = weights * (ones.sum() / weights.sum())  # as many examples as there are
        return model.fit(X, y, **params)


def plain(label: Any) -> Any:
    """A label as Python's own type, which is what a user would write."""
    return label.item() if isinstance(label, np.generic) else label


def staged_scores_of(model: Any, X: Any, pos_label: Any) -> Iterator[Array]:
    """The same after every round."""
    for F in model.staged_decision_function(X):
        yield _towards(np.asarray(F, dtype=np.float64).reshape(len(F)), model, pos_label)


def own_threshold(estimator: Any) -> float:
    """From which score on an estimator says "positive" itself."""
    return 0.0 if hasattr(estimator, "decision_function") else 0.5


def _towards(F: Array, model: Any, pos_label: Any) -> Array:
    return F if model.classes_[1] == pos_label else np.negative(F)
