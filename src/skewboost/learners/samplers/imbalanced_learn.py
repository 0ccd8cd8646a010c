"""The samplers of imbalanced-learn, or any other object with `fit_resample`, inside the boosting loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skewboost.engine.table import Nominal, Table
from skewboost.errors import InputError
from skewboost.fitting import seeded
from skewboost.learners.samplers.example_order import places_of, row_keys
from skewboost.learners.samplers.sampler import Drawn, classes_of_rows
from skewboost.learners.samplers.synthetic_rows import read_like
from skewboost.typing import Array

if TYPE_CHECKING:
    from skewboost.learners.learner import Data

BLIND = ("RandomUnderSampler", "RandomOverSampler")  # they never look at the cells


class Imbalanced:
    """A sampler that knows nothing of weights, and how weights enter.

    A row that comes out of the sampler and went into it keeps its current weight, every copy of it if there are
    several. Any other row is synthetic: it weighs as much as the rows of its class do on average, and where responses
    are fitted, it has their mean response. In every round the sampler is a fresh clone with seeds of its own, whatever
    seeds it was given.
    """

    resets = False

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def draw(self, data: Data, weights: Array, rng: np.random.Generator) -> Drawn:
        """The sampler sees the examples in their order, and 1 for the positive class."""
        classes = classes_of_rows(data, type(self.sampler).__name__)
        y = classes[data.in_order]
        sampler = seeded(self.sampler, lambda: int(rng.integers(2**31)), anew=True)
        shrinkage = getattr(sampler, "shrinkage", None)
        if type(sampler).__name__ in BLIND and shrinkage is None:
            resample(sampler, np.arange(len(y))[:, None], y, data.table)
            return self._drawn(data, weights, sampler.sample_indices_)
        table = data.table.take(data.in_order)
        X_out, y_out = resample(sampler, _native(table), y, data.table)
        out = read_like(table, X_out)
        y_out = np.asarray(y_out).astype(np.intp)
        if hasattr(sampler, "sample_indices_") and shrinkage is None:
            return self._drawn(data, weights, sampler.sample_indices_)
        places = places_of(row_keys(out, y_out), row_keys(table, y))
        return self._drawn(data, weights, places, out, y_out)

    @staticmethod
    def _drawn(
        data: Data, weights: Array, places: Array, out: Table | None = None, classes: Array | None = None
    ) -> Drawn:
        """Rows by the places of their examples; those without a place are synthetic."""
        of_example = data.weight_of_examples(weights)
        real, made = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        rows, own = data.in_order[places[real]], of_example[places[real]]
        if out is None or classes is None or not len(made):
            return Drawn(rows, own)
        return Drawn(rows, np.append(own, mean_weights(data, weights)[classes[made]]), out.take(made), classes[made])


def mean_weights(data: Data, weights: Array) -> Array:
    """What an example of each class weighs on average."""
    classes = classes_of_rows(data, "this")[data.in_order]
    return np.bincount(classes, data.weight_of_examples(weights)) / np.maximum(np.bincount(classes), 1)


def resample(sampler: Any, X: Any, y: Array, table: Table) -> tuple[Any, Any]:
    """`fit_resample`, with errors that say what to do about the table."""
    try:
        X_out, y_out = sampler.fit_resample(X, y)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"{type(sampler).__name__} could not resample the {len(y)} training examples, {_counted(y)}: {reason}. "
            f"{_remedy(table, type(sampler).__name__, reason)}"
        ) from error
    return X_out, y_out


def _counted(y: Array) -> str:
    """How many there are of each class, in words."""
    counts = np.bincount(y, minlength=2)
    return f"{counts[1]} of them positive" if len(counts) == 2 else f"{counts.tolist()} of the classes in their order"


def _remedy(table: Table, name: str, error: str) -> str:
    columns = [table.column(j) for j in range(table.n_features)]
    nominal = [table.name(j) for j, column in enumerate(columns) if isinstance(column, Nominal)]
    if nominal and name not in ("SMOTENC", "SMOTEN"):
        return (
            f"X has columns of categories ({', '.join(map(repr, nominal[:3]))}). Use "
            "SMOTENC(categorical_features='auto') on a pandas table, a sampler that only picks rows, such as "
            "skewboost.learners.UnderSample(), or skewboost.learners.Smote(), which takes any table."
        )
    for column in columns:
        if np.any(column.codes < 0) if isinstance(column, Nominal) else np.any(column != column):
            return (
                "X has missing cells. Impute them, use a sampler that only picks rows, such as "
                "skewboost.learners.UnderSample(), or skewboost.learners.Smote(), which takes any table."
            )
    if "neighbors" in error:
        return (
            "There are too few examples of a class to have so many neighbours: lower k_neighbors (or n_neighbors) of "
            f"{name}, or use skewboost.learners.Smote(), which does that by itself."
        )
    return "Change the sampler's parameters, or use another sampler."


def _native(table: Table) -> Any:
    """What the sampler is given: an array, or a pandas table, as it knows no others."""
    if table.matrix is not None or table.frame.implementation.is_pandas():
        return table.native
    if not any(isinstance(column, Nominal) for column in table.columns):
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in table.columns])
    return table.frame.to_pandas()
