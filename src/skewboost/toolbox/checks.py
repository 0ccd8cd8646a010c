"""Arguments of the toolbox: clean from here on, or an error that names the argument, the value and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from skewboost.errors import InputError
from skewboost.parameters import Check, integer
from skewboost.typing import Array


def check_matrix(name: str, X: Any) -> Array:
    """A matrix of numbers, some of which may be missing."""
    try:
        return np.asarray(check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name=name))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} must be a matrix of numbers, one row per example: {error} (Tables with categories are for the "
            "estimators of skewboost.)"
        ) from error


def check_labels(name: str, Y: Any, n_rows: int) -> Array:
    """Labels -1 and +1; 0 is -1."""
    labels = np.asarray(Y)
    if labels.shape not in ((n_rows,), (n_rows, 1)):
        raise InputError(
            f"{name} has the shape {labels.shape}, but there are {n_rows} rows. Give one label per row, as a vector or "
            "a column."
        )
    labels = labels.ravel()
    found = _distinct(labels)
    if not any(set(found) <= coding for coding in ({-1, 1}, {0, 1})):
        shown = ", ".join(map(repr, found[:5])) + (", …" if len(found) > 5 else "")
        raise InputError(
            f"{name} has the labels {shown}, but must have -1 and +1, or 0 and 1. Recode the labels; for more than two "
            "classes use AdaBoostMHClassifier, AdaC2M1Classifier or CodeMatrixClassifier of skewboost."
        )
    return np.where(labels == 1, 1, -1)


def _distinct(labels: Array) -> list[Any]:
    values = set(labels.tolist())  # of any type: labels may be text, numbers and None all at once
    return sorted(values, key=lambda v: (str(type(v)), v if v == v else 0)) if None not in values else list(values)


def check_both_classes(name: str, Y: Array) -> None:
    """Whether there is anything to tell apart."""
    for label in (-1, 1):
        if label not in Y:
            raise InputError(f"{name} has no row of class {label:+d}. Give examples of both classes.")


def check_rows(name: str, X: Any, Y: Any) -> tuple[Array, Array]:
    """A matrix and its labels."""
    matrix = check_matrix(f"X{name}", X)
    return matrix, check_labels(f"Y{name}", Y, len(matrix))


def check_testdata(testdata: Any, n_features: int) -> tuple[Array, Array]:
    """A pair of a matrix and its labels, like those of training."""
    if not (isinstance(testdata, tuple | list) and len(testdata) == 2):
        raise InputError(f"testdata must be a pair (X, Y); got {_kind(testdata)}.")
    X, Y = check_rows(" of testdata", *testdata)
    if X.shape[1] != n_features:
        raise InputError(
            f"X of testdata has {X.shape[1]} features, but X has {n_features}. Give the same columns in the same order."
        )
    return X, Y


def _kind(value: Any) -> str:
    length = f" of length {len(value)}" if hasattr(value, "__len__") else ""
    return f"{type(value).__name__}{length}"


def check_rounds(M: Any) -> int:
    """How many rounds."""
    return int(_checked("M", M, integer(1), "the number of rounds"))


def check_cv(cv: Any, Y: Array) -> int:
    """How many folds; 1 for no cross-validation."""
    folds = int(_checked("cv", cv, integer(1), "the number of folds; 1 for no cross-validation"))
    rarest = int(min((Y == 1).sum(), (Y == -1).sum()))
    if folds > max(rarest, 1):
        raise InputError(
            f"cv={folds} folds need as many rows of each class, but the rarer has {rarest}. Give cv={rarest} or less."
        )
    return folds


def check_switch(name: str, value: Any) -> bool:
    """On or off, in Python's words or in Matlab's."""
    known = {True: True, False: False, "yes": True, "no": False}
    if not isinstance(value, bool | np.bool_ | str) or value not in known:
        raise InputError(f"{name} must be True or False, or 'yes' or 'no'; got {value!r}.")
    return known[value]


def _checked(name: str, value: Any, check: Check, meaning: str) -> Any:
    if not check.passes(value):
        raise InputError(f"{name} must be {check.wanted}, {meaning}; got {value!r}.")
    return value
