"""A model whose columns with many cuts are several features, as one whose features are its columns.

A model tests few of the cuts of a column. With these alone each column is one feature again, and the model says the
same of every row. Explanations and exported programs read such a model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skewboost.boosting.model import Model
from skewboost.engine.binning import MAX_BINS, Bins, Feature
from skewboost.engine.boundary import MISSING, N_CODES, Split
from skewboost.engine.explaining import Support
from skewboost.engine.scoring import LeafTerm, Term
from skewboost.errors import InputError
from skewboost.typing import Array


def on_whole_columns(model: Model) -> Model:
    """Return an equal model with a feature for each column; the model itself if it is one."""
    bins = model.bins
    if bins is None or not bins.columns:
        return model
    whole = WholeColumns(bins, _used_cuts(bins, _splits_of(model)))
    rounds = [replace(r, term=whole.term(r.term)) for r in model.rounds[: model.n_rounds]]
    support = None if model.support is None else whole.support(model.support)
    return replace(model, rounds=rounds, bins=whole.bins, support=support)


def _splits_of(model: Model) -> list[Split]:
    terms = (r.term for r in model.rounds[: model.n_rounds])
    return [split for term in terms if isinstance(term, LeafTerm) for split in term.partition.splits]


def _used_cuts(bins: Bins, splits: list[Split]) -> dict[int, Array]:
    """Return, for each feature that is tested, the numbers of the cuts at which some split changes sides."""
    changes: dict[int, Array] = {}
    for split in splits:
        own = split.child[1 : bins.features[split.feature].n_bins] != split.child[: bins.n_bins[split.feature] - 1]
        changes[split.feature] = changes.get(split.feature, False) | own
    return {feature: np.flatnonzero(own) for feature, own in changes.items()}


class WholeColumns:
    """Columns as features, with the cuts that are used of those that were several features."""

    def __init__(self, bins: Bins, used: dict[int, Array]) -> None:
        self.old = bins
        self.used = used
        self.parts: dict[int, list[int]] = {}  # the features of each column
        for feature, j in enumerate(bins.columns):
            self.parts.setdefault(j, []).append(feature)
        self.bins = Bins(tuple(self._feature(j, own) for j, own in self.parts.items()))

    def _feature(self, column: int, parts: list[int]) -> Feature:
        if len(parts) == 1:
            return self.old.features[parts[0]]
        own = [self.old.features[k].cuts[self.used[k]] for k in parts if k in self.used]
        cuts = np.concatenate([*own, np.empty(0)])
        if len(cuts) >= MAX_BINS:
            raise InputError(
                f"The model tests {len(cuts)} thresholds of column {column}, and only up to {MAX_BINS - 1} can be "
                "explained, drawn or exported.",
                "Fit it with max_bins=255 of its stumps or trees, or with fewer rounds.",
            )
        return Feature(cuts=cuts, n_bins=len(cuts) + 1)

    def _codes(self, feature: int) -> Array:
        """Return the code in a feature of each code of its column."""
        old, new = self.old.features[feature], self.bins.features[self.old.columns[feature]]
        codes = np.full(N_CODES, MISSING)
        codes[: new.n_bins] = np.append(np.searchsorted(old.cuts, new.cuts), old.n_bins - 1)
        codes[new.n_bins : MISSING] = old.n_bins - 1
        return codes

    def split(self, split: Split) -> Split:
        """Return a split of a column instead of one of its features."""
        column = self.old.columns[split.feature]
        if len(self.parts[column]) == 1:
            return replace(split, feature=column)
        threshold, cuts = split.threshold, self.old.features[split.feature].cuts
        if threshold >= 0:  # after the last cut only missing cells are on the right
            new = self.bins.features[column].cuts
            threshold = int(np.searchsorted(new, cuts[threshold])) if threshold < len(cuts) else len(new)
        return replace(split, feature=column, threshold=threshold, child=split.child[self._codes(split.feature)])

    def term(self, term: Term) -> Term:
        """Return a term that tests columns."""
        if not isinstance(term, LeafTerm):
            return term
        splits = tuple(self.split(split) for split in term.partition.splits)
        return replace(term, partition=replace(term.partition, splits=splits))

    def support(self, support: Support) -> Support:
        """Return the number of training examples for each code of the columns."""
        if support.per_code is None:
            return support
        counts = np.zeros((len(self.parts), N_CODES))
        for j, parts in self.parts.items():
            if len(parts) == 1:
                counts[j] = support.per_code[parts[0]]
                continue
            below = [np.cumsum(support.per_code[k])[self.used[k]] for k in parts if k in self.used]
            known = support.per_code[parts[0], :MISSING].sum()
            up_to = np.concatenate([[0.0], *below, [known]])  # each cut, in order
            counts[j, : len(up_to) - 1], counts[j, MISSING] = np.diff(up_to), support.per_code[parts[0], MISSING]
        return replace(support, per_code=counts)
