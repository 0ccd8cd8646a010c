"""Rows of two classes, as goals are searched on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.errors import InputError, RepeatedRowsWarning, warn_caller
from skewboost.goals.reasons import copies
from skewboost.goals.rows import SearchRows, read_rows
from skewboost.goals.search_parameters import pass_groups
from skewboost.meta.inner_labels import chosen_for
from skewboost.metrics.targets import choose_positive, classes_of
from skewboost.typing import Array


def labelled_rows(
    owner: Any, base: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], relative: bool = True
) -> tuple[SearchRows, Array, Any]:
    """Read what was passed to `fit` of an estimator that trains another one, `base`.

    Returns the rows, the two classes and the positive one. Repeated rows are announced. If weights are `relative`,
    equal ones say nothing and are left out; weights are not if further rows of weight 1 will come.
    """
    rows, n_copies = read_rows(owner, X, y, groups, params)
    weights = rows.params.get("sample_weight")
    if weights is not None and relative and not rows.counted and len(np.unique(np.asarray(weights))) == 1:
        rows = replace(rows, params={name: value for name, value in rows.params.items() if name != "sample_weight"})
    pass_groups(base, rows, groups is not None, n_copies > 0)
    if n_copies:
        message = copies(n_copies, len(y), owner.confidence is not None)
        warn_caller(RepeatedRowsWarning(message, n_copies, len(y)))
    classes = classes_of(owner, rows.y)
    if len(classes) > 2:
        raise InputError(
            "Only binary classification is supported. The type of the target is multiclass. One class is sought "
            f"among the others, but y has the classes {classes.tolist()}.",
            "Pass y == label.",
        )
    stated = chosen_for(owner, base, classes)
    return rows, classes, choose_positive(rows.y, classes, stated, rows.weights)
