"""Checks of labels and weights."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from skewboost.errors import InputError, LabelWarning, SkewBoostWarning, checked_by_scikit_learn, warn_caller
from skewboost.names import in_short
from skewboost.typing import Array

# The mean weight below which a fit warns. On two tables of 300 and 2000 rows the log-loss of SkewBoostClassifier is the
# same with weights of 0.1 as with 1; with 0.02 it is 12 % larger, and with weights that sum to 1 by 50 to 90 %.
FEW_EXAMPLES = 0.02

LABELS_ARE_KNOWN: ContextVar[bool] = ContextVar("LABELS_ARE_KNOWN", default=False)


@contextmanager
def known_labels(workers: bool = False) -> Iterator[None]:
    """Within this context no fit warns of its labels: they are those of an outer fit, which has warned of them.

    With `workers` neither do fits in other threads and processes of scikit-learn, to which it passes warning filters.
    """
    token = LABELS_ARE_KNOWN.set(True)
    try:
        with warnings.catch_warnings() if workers else nullcontext():
            if workers:
                warnings.simplefilter("ignore", LabelWarning)
            yield
    finally:
        LABELS_ARE_KNOWN.reset(token)


@checked_by_scikit_learn()
def check_labels(estimator: Any, y: Any, n_rows: int) -> Array:
    """Return one class label per row."""
    if y is None:
        name = type(estimator).__name__
        raise InputError(f"This {name} estimator requires y to be passed, but the target y is None.")
    labels: Array = column_or_1d(y, warn=True)
    if labels.dtype == object and any(v is None or v != v for v in labels):
        raise InputError("y has missing values.", "Drop those rows, or give them a class of their own.")
    try:
        with np.errstate(invalid="ignore"):  # it casts numbers that are not finite before it rejects them
            check_classification_targets(labels)
    except TypeError as error:
        raise InputError(
            f"The labels in y cannot be sorted: {error}.", "Make them all numbers, or all text."
        ) from error
    check_consistent_length(range(n_rows), labels)
    return labels


def classes_of(estimator: Any, labels: Array) -> Array:
    """Return the sorted classes, of which there must be at least two; warn of labels that may mean the same."""
    classes = np.unique(labels)
    if len(classes) == 0:
        raise InputError("y is empty: found 0 samples, but examples of at least 2 classes are needed.")
    if len(classes) < 2:
        name, only = type(estimator).__name__, classes.tolist()[0]
        raise InputError(f"{name} needs examples of at least 2 classes, but y has only one class: {only!r}.")
    groups = [] if LABELS_ARE_KNOWN.get() else alike(classes.tolist())
    if groups:
        listed = ", ".join(map(repr, groups[0]))
        more = f" (and {len(groups) - 1} more such groups)" if len(groups) > 1 else ""
        warn_caller(
            f"Labels in y differ only in case or in spaces at their ends, and each is a class of its own: "
            f"{listed}{more}. If they mean the same, spell them alike, as [label.strip().lower() for label in y] does.",
            LabelWarning,
        )
    return classes


def folded(label: str) -> str:
    """Return a label without its case and the spaces at its ends."""
    return label.strip().casefold()


def alike(classes: Iterable[Any]) -> list[list[str]]:
    """Return the groups of classes that differ only in case or in spaces at their ends."""
    groups: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            groups.setdefault(folded(label), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def choose_positive(labels: Array, classes: Array, pos_label: Any = None, weights: Array | None = None) -> Any:
    """Return the positive class: `pos_label`, else the rarer of two, and the larger label in a tie."""
    if pos_label is None:
        first = labels == classes[0]
        mass = (first.sum(), (~first).sum()) if weights is None else (weights[first].sum(), weights[~first].sum())
        return classes[0] if mass[0] < mass[1] else classes[1]
    known = classes.tolist()
    if not isinstance(pos_label, Hashable) or pos_label not in known:
        raise InputError(f"pos_label={in_short(pos_label)} is not among the classes of y, which are {known}.")
    return classes[known.index(pos_label)]


@checked_by_scikit_learn()
def check_row_numbers(name: str, given: Any, n_rows: int) -> Array:
    """Return an argument that has one finite number per row."""
    numbers: Array = check_array(given, ensure_2d=False, dtype=np.float64, input_name=name)
    if numbers.shape != (n_rows,):
        raise InputError(f"{name} has shape {numbers.shape}, but X has {n_rows} rows.", "Give one number per row.")
    return numbers


def check_sample_weight(sample_weight: Any, n_rows: int) -> Array:
    """Return the number of examples that each row stands for."""
    weights = check_row_numbers("sample_weight", sample_weight, n_rows)
    if (weights < 0).any():
        raise InputError(
            f"sample_weight has a negative entry ({weights.min()}).", "Weights count examples: give numbers >= 0."
        )
    if not weights.any():
        raise InputError("sample_weight is zero for every row.", "Give some rows a weight above 0.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 1e-9 < total < 1e15:  # above that, sums of doubles do not know single examples
        raise InputError(
            f"sample_weight sums to {total:.3g}, but weights count examples.",
            "Scale them so that they sum to about the number of rows.",
        )
    return weights


def weights_of_fit(sample_weight: Any, n_rows: int) -> Array:
    """Return the number of examples that each row stands for, of a model that is smoothed the more the fewer there are.

    Warns of weights that are relative, such as those that sum to 1: the model would be that of a handful of examples.
    """
    weights = check_sample_weight(sample_weight, n_rows)
    total, n_used = float(weights.sum()), np.count_nonzero(weights)
    if n_used > 1 and (total < FEW_EXAMPLES * n_used or total < 1.0 + 1e-6):
        warn_caller(
            "sample_weight sums to far less than the number of rows. Weights count examples, so the model is smoothed "
            "like one of very few examples. If the weights are relative, pass "
            "sample_weight * len(sample_weight) / sample_weight.sum().",
            SkewBoostWarning,
        )
    return weights
