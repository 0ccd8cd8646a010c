"""Predictions of classifiers that refer some rows to somebody else."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from skewboost.errors import InputError
from skewboost.typing import Array


def referral_label(label: Any, classes: Array) -> Any:
    """Return the prediction for referred rows; if None is given, -1 where labels are numbers, else "refer"."""
    if label is None:
        label = -1 if classes.dtype.kind in "iuf" else "refer"
    if not isinstance(label, str | Number | np.generic) or label != label:
        raise InputError(f"reject_label={label!r} is no label.", "Set it to a text or a number, or leave it at None.")
    if label in classes.tolist():
        raise InputError(
            f"The label {label!r} of referred rows is a class of y.", "Set reject_label to something else."
        )
    return label


def check_refers_no_rows(owner: str, estimator: Any) -> None:
    """Raise if an estimator, or a part of it, refers rows by a price, which the owner would ignore."""
    for name, value in estimator.get_params(deep=True).items():
        if name.rpartition("__")[2] == "reject_cost" and value is not None:
            raise InputError(
                f"{name}={value!r} of the estimator has no effect, because {owner} does not use its decisions.",
                "Leave it at None.",
            )


def with_referred(decided: Array, referred: Array, label: Any) -> Array:
    """Return predictions, in which referred rows have the label."""
    own: Array = np.array(label)
    if decided.dtype.kind == own.dtype.kind:  # else text would be cut, and numbers become text
        decided = decided.astype(np.promote_types(decided.dtype, own.dtype))
    else:
        decided = decided.astype(object)
    decided[referred] = label
    return decided
