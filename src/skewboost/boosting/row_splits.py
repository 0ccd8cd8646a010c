"""How the rows of a fit are split for early stopping and calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from skewboost.boosting.early_stopping import stratified_split
from skewboost.errors import InputError
from skewboost.fold_rows import Fold, check_groups, folds_of_examples, given_folds, own_folds, stratified_units
from skewboost.typing import Array

N_FOLDS = 5


@dataclass(frozen=True)
class RowSplits:
    """The groups of the rows, and the folds of the user's splitter; neither if the splits are random."""

    units: Array | None = None
    folds: tuple[Fold, ...] | None = None
    n_folds: int = N_FOLDS

    @classmethod
    def read(cls, splits: Any, groups: Any, labels: Array) -> RowSplits:
        """Return the splits that were asked for, or raise if `splits` or `groups` cannot be used."""
        units = None if groups is None else check_groups(groups, len(labels))
        if splits is None or isinstance(splits, int | np.integer):
            return cls(units, None, N_FOLDS if splits is None else int(splits))
        return cls(units, tuple(given_folds(splits, labels, units, "splits")))

    def take(self, rows: Array) -> RowSplits:
        """Return the splits of some of the rows; the others have no weight."""
        units = None if self.units is None else np.unique(self.units[rows], return_inverse=True)[1]
        if self.folds is None:
            return RowSplits(units, None, self.n_folds)
        place = np.full(1 + max(int(side.max(initial=-1)) for fold in self.folds for side in (*fold, rows)), -1)
        place[rows] = np.arange(len(rows))
        taken = [tuple(place[side][place[side] >= 0] for side in fold) for fold in self.folds]
        return RowSplits(units, tuple((training, validation) for training, validation in taken))

    def for_early_stopping(self, labels: Array, weights: Array | None, fraction: float, seed: int) -> Fold:
        """Return the rows to train on and those to validate on: the last split of the splitter, or a random one.

        `labels` are booleans or classes, or which labels each row has; a random split is stratified in the former case.
        """
        rng = np.random.default_rng(seed)
        numbers = _numbers(labels)
        if self.folds is not None:
            inner, outer = self.folds[-1]
            n_classes = len(np.unique(numbers))
            if any(len(np.unique(numbers[side])) < n_classes for side in (inner, outer)):
                raise InputError(
                    "early_stopping uses the last split, which must have examples of all classes on both sides.",
                    "Use another splitter, or leave splits at None.",
                )
            return inner, outer
        if self.units is None:
            return stratified_split(labels, fraction, rng)
        found = stratified_units(numbers, self.units, fraction, rng, weights)
        if found is None:
            raise InputError(
                "early_stopping needs examples of each class in at least two of the groups, one to train on and one to "
                f"validate on, which the {int(self.units.max()) + 1} groups do not have.",
                "Set early_stopping=False, or provide more groups.",
            )
        return found

    def for_calibration(self, positive: Array, weights: Array | None, seed: int) -> list[Fold]:
        """Return the folds: those of the splitter that have both classes to train on, or random ones."""
        numbers, everything = positive.astype(np.intp), np.arange(len(positive))
        if self.folds is not None:
            folds = list(self.folds)
        elif self.units is None:
            rarer = min(int(positive.sum()), int((~positive).sum()))
            splitter = StratifiedKFold(min(self.n_folds, rarer), shuffle=True, random_state=seed)
            return list(splitter.split(np.zeros(len(positive)), positive))
        else:
            n_units = min(len(np.unique(self.units[numbers == k])) for k in (0, 1))
            folds = own_folds(numbers, self.units, min(self.n_folds, max(2, n_units)), 1, seed, weights) or []
        if folds:
            folds = folds_of_examples(folds, everything, numbers)
        held_out = np.concatenate([outer for _, outer in folds]) if folds else everything[:0]
        if len(np.unique(numbers[held_out])) < 2:
            raise InputError(
                "calibrate needs held-out examples of both classes, which the folds do not have.",
                "Provide more groups, use other splits, or set calibrate=None.",
            )
        return folds


def _numbers(labels: Array) -> Array:
    """Return the class of every row as a number; the same for all rows if they have several labels."""
    if labels.ndim == 2:
        return np.zeros(len(labels), dtype=np.intp)
    return np.asarray(np.unique(labels, return_inverse=True)[1])
