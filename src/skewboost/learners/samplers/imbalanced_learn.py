"""The samplers of imbalanced-learn, or any other object with `fit_resample`, inside the boosting loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.engine.row_hash import places_of, row_keys
from skewboost.engine.table import Nominal, Table
from skewboost.errors import InputError
from skewboost.fitting import seeded
from skewboost.learners.samplers.sampler import Sample, classes_of_rows, mean_weights
from skewboost.learners.samplers.synthetic_rows import read_like
from skewboost.learners.training_data import TrainingData
from skewboost.typing import Array

BLIND = ("RandomUnderSampler", "RandomOverSampler")  # they do not read X


class ImbalancedLearnSampler:
    """A sampler of imbalanced-learn, which knows nothing of weights.

    An output row that was in the input keeps its current weight; so does every copy of it. Any other row is synthetic:
    its weight is the mean weight of its class, and where responses are fitted, its response is the mean response of its
    class. Every round uses a clone of the sampler with new seeds.
    """

    resets = False

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def draw(self, data: TrainingData, weights: Array, rng: np.random.Generator) -> Sample:
        """Resample the examples, in the order of `TrainingData.ordered_examples`, with 1 for the positive class."""
        name = type(self.sampler).__name__
        y = classes_of_rows(data, name)[data.ordered_examples]
        sampler = seeded(self.sampler, lambda: int(rng.integers(2**31)), anew=True)
        picks_rows = getattr(sampler, "shrinkage", None) is None
        if name in BLIND and picks_rows:
            resample(sampler, np.arange(len(y))[:, None], y)
            return self._sample(data, weights, sampler.sample_indices_)
        table = data.table.take(data.ordered_examples)
        X_out, y_out = resample(sampler, _native(table), y)
        out = read_like(table, X_out)
        y_out = np.asarray(y_out).astype(np.intp)
        if hasattr(sampler, "sample_indices_") and picks_rows:
            return self._sample(data, weights, sampler.sample_indices_)
        return self._sample(data, weights, places_of(row_keys(out, y_out), row_keys(table, y)), out, y_out)

    @staticmethod
    def _sample(
        data: TrainingData, weights: Array, places: Array, out: Table | None = None, classes: Array | None = None
    ) -> Sample:
        """Output rows by the positions of their examples; those at -1 are synthetic."""
        real, new = places[places >= 0], np.flatnonzero(places < 0)
        rows, own = data.ordered_examples[real], data.weight_of_examples(weights)[real]
        if out is None or classes is None or not len(new):
            return Sample(rows, own)
        return Sample(rows, np.append(own, mean_weights(data, weights)[classes[new]]), out.take(new), classes[new])


def resample(sampler: Any, X: Any, y: Array) -> tuple[Any, Any]:
    """Call `fit_resample`; an error says what such samplers need."""
    try:
        X_out, y_out = sampler.fit_resample(X, y)
    except Exception as error:
        name, counts = type(sampler).__name__, np.bincount(y, minlength=2)
        by_class = f"{counts[1]} of them positive" if len(counts) == 2 else f"{counts.tolist()} by class"
        reason = (str(error).splitlines() or [name])[0].rstrip(".")
        raise InputError(
            f"{name} could not resample the {len(y)} training examples, {by_class}: {reason}.",
            "Most samplers of imbalanced-learn need numbers without missing cells, and more examples of each class "
            "than neighbours. Change its parameters, use SMOTENC(categorical_features='auto') for categories in a "
            "pandas table, or use UnderSample() or Smote() of skewboost.learners, which accept any table.",
        ) from error
    return X_out, y_out


def _native(table: Table) -> Any:
    """The table as an array or a pandas DataFrame, the only kinds that imbalanced-learn reads."""
    if table.frame is None or table.frame.implementation.is_pandas():
        return table.native
    if not any(isinstance(column, Nominal) for column in table.columns):
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in table.columns])
    return table.frame.to_pandas()
