"""What the labels of an estimator are for its parts, and one positive class for all of them.

Every estimator of this library without a `pos_label` takes the rarer class of its own training rows. Where rows are
divided, classes of about the same size, or shares that change in time, lead to another class in each part. So whoever
divides rows chooses the class once, from all of them, and sets it in what is fitted to the parts.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.base import clone

from skewboost.errors import InputError
from skewboost.metrics.targets import choose_positive
from skewboost.typing import Array

# meta-estimators of scikit-learn that fit the inner estimator to the class numbers 0, 1, … instead of the labels
RENUMBERING = frozenset({
    "BaggingClassifier", "VotingClassifier", "StackingClassifier", "OneVsRestClassifier", "OneVsOneClassifier",
})  # fmt: skip
CODING = frozenset({"CodeMatrixClassifier", "OutputCodeClassifier"})
KNOWN = frozenset({"skewboost", "sklearn", "imblearn"})  # packages of which it is known to what labels the others fit


def plain(label: Any) -> Any:
    """A label as a plain Python object."""
    return label.item() if isinstance(label, np.generic) else label


def enclosing(estimator: Any, name: str) -> list[Any]:
    """The meta-estimators around the owner of a parameter."""
    params = estimator.get_params(deep=True)
    path = name.split("__")[:-1]
    return [estimator, *(params.get("__".join(path[:k])) for k in range(1, len(path)))] if path else []


def _enclosing_types(estimator: Any, name: str) -> set[str]:
    """The names of all types, with their bases, of the meta-estimators around the owner of a parameter."""
    return {kind.__name__ for owner in enclosing(estimator, name) for kind in type(owner).__mro__}


def renumbers(estimator: Any, name: str) -> bool:
    """Whether the owner of a nested parameter is fitted to class numbers instead of labels."""
    return not RENUMBERING.isdisjoint(_enclosing_types(estimator, name))


def hides_classes(estimator: Any, name: str) -> bool:
    """Whether the owner of a nested parameter is fitted to the columns of a code instead of classes."""
    return not CODING.isdisjoint(_enclosing_types(estimator, name))


def own_pos_label(estimator: Any) -> Any:
    """Return the `pos_label` of an estimator or of one of its parts; None if it is not set."""
    return next((label for _, label in _stated(estimator) if label is not None), None)


def chosen_for(owner: Any, estimator: Any, classes: Array) -> Any:
    """Return the `pos_label` of an estimator that trains another one: its own, or else that of the other.

    None if neither is set. Raises if they differ.
    """
    said, given = f"pos_label of {type(owner).__name__}", owner.pos_label
    for name, label in _stated(estimator):
        if label is None:
            continue
        for stated in (label, given):
            if not isinstance(stated, Hashable):  # such as a list, which cannot be compared with labels
                choose_positive(classes, classes, stated)  # raises
        if renumbers(estimator, name):
            label = dict(enumerate(classes.tolist())).get(label, label)
        if given is not None and label != given:
            raise InputError(
                f"{name}={label!r} of the estimator differs from the {said}, {given!r}.",
                f"Set pos_label of {type(owner).__name__} only.",
            )
        said, given = f"{name} of the estimator", label
    return given


def with_pos_label(estimator: Any, classes: Array, pos_label: Any) -> Any:
    """Return a copy with the positive class of two set in all parts of skewboost that have none."""
    copy = clone(estimator)
    if len(classes) > 2:
        return copy
    label, number = plain(pos_label), int(np.searchsorted(classes, pos_label))
    for name in [name for name, given in _stated(copy) if given is None]:
        copy.set_params(**{name: number if renumbers(copy, name) else label})
    return copy


def parameters_of_parts(estimator: Any, name: str) -> list[tuple[str, Any]]:
    """Return the full names and the values of a parameter of all parts of skewboost, the outermost first."""
    if not hasattr(estimator, "get_params"):
        return []
    params = estimator.get_params(deep=True)
    own = [full for full in params if full.rpartition("__")[2] == name]
    ours = [full for full in own if _is_ours(params.get(full.rpartition("__")[0], estimator))]
    return [(full, params[full]) for full in sorted(ours, key=lambda full: (full.count("__"), full))]


def _is_ours(owner: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == "skewboost" for kind in type(owner).__mro__)


def _stated(estimator: Any) -> list[tuple[str, Any]]:
    """Return the names and values of `pos_label` of the parts that see classes.

    An unset one within an estimator of another package is left out, because nobody knows which labels it will see.
    """
    parts = [part for part in parameters_of_parts(estimator, "pos_label") if not hides_classes(estimator, part[0])]
    return [(name, label) for name, label in parts if label is not None or _labels_are_known(estimator, name)]


def _labels_are_known(estimator: Any, name: str) -> bool:
    return all(type(owner).__module__.partition(".")[0] in KNOWN for owner in enclosing(estimator, name))
