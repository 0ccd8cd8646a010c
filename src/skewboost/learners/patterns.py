"""Significant patterns: attribute values that occur together with a class more or less often than by chance.

An *event* is "attribute = value". A *pattern* of order k is a set of k events of different attributes. A *target* is a
class that is compared with the rest. Significance is measured by adjusted residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skewboost.typing import Array

_TOLERANCE = 1e-9  # for rounding, relative to a limit
_MIN_PRIOR = 1e-15  # of a class of almost no weight
_CELLS = 2**22  # the number of attributes times rows that are counted at a time


@dataclass(frozen=True)
class Limits:
    """Limits of the search."""

    max_order: int
    min_expected: float
    max_patterns: int


@dataclass(frozen=True)
class Examples:
    """Training examples: the codes of their values, ``[attribute, example]``, their classes and weights.

    Of two classes only the second is a target: evidence for it is evidence against the other.
    """

    codes: Array
    classes: Array
    n_classes: int
    weights: Array

    def merged(self) -> Examples:
        """Equal rows as one with their total weight; after a discretisation there are few different ones."""
        first, which = distinct(np.vstack((self.codes, self.classes)))
        weights = np.bincount(which, self.weights, minlength=len(first))
        return Examples(self.codes[:, first], self.classes[first], self.n_classes, weights)

    @cached_property
    def total(self) -> float:
        """The total weight."""
        return float(self.weights.sum())

    @property
    def targets(self) -> slice:
        """The classes that are targets."""
        return slice(1, 2) if self.n_classes == 2 else slice(0, self.n_classes)

    @cached_property
    def priors(self) -> Array:
        """The relative frequency of every target."""
        frequency = np.bincount(self.classes, self.weights, minlength=self.n_classes) / self.total
        return np.clip(frequency[self.targets], _MIN_PRIOR, 1 - _MIN_PRIOR)

    @cached_property
    def largest_prior(self) -> float:
        """The largest relative frequency of a target or of its rest."""
        return float(np.maximum(self.priors, 1 - self.priors).max())

    def count(self, cells: Array, n_cells: int, rows: Array | slice = slice(None)) -> Array:
        """The weight in every cell, by class: ``[class, cell]``."""
        k = self.n_classes
        counts = np.bincount(cells * k + self.classes[rows], self.weights[rows], minlength=n_cells * k)
        return counts.reshape(n_cells, k).T


@dataclass(frozen=True)
class Events:
    """Events; those of the same attribute are adjacent."""

    attribute: Array
    value: Array
    probability: Array

    def __len__(self) -> int:
        return len(self.attribute)

    def take(self, chosen: Array) -> Events:
        """A subset."""
        return Events(self.attribute[chosen], self.value[chosen], self.probability[chosen])

    def occur(self, codes: Array, ids: Array | slice = slice(None)) -> Array:
        """Whether each event occurs in each example: ``[event, example]``."""
        return np.asarray(codes[self.attribute[ids]] == self.value[ids, None])


@dataclass(frozen=True)
class Patterns:
    """Patterns of one order, with their statistics for every target."""

    events: Array  # [pattern, position], ascending
    support: Array  # [pattern]: the weight of the examples that meet it
    inside: Array  # [target, pattern]: the weight of those that belong to the target
    residual: Array  # [target, pattern]: of the pattern with the target
    residual_rest: Array  # [target, pattern]: of the pattern with the rest
    strength: Array  # [target, pattern]: the larger |residual| of those that can be tested

    def __len__(self) -> int:
        return len(self.events)

    @property
    def order(self) -> int:
        """The number of events of each pattern."""
        return int(self.events.shape[1])

    def strongest(self, limit: int) -> Array:
        """The positions of the `limit` patterns with the largest strength for any target."""
        by_strength = np.argsort(-self.strength.max(axis=0), kind="stable")
        return np.sort(by_strength[:limit])

    def take(self, chosen: Array) -> Patterns:
        """A subset."""
        of_targets = (self.inside, self.residual, self.residual_rest, self.strength)
        return Patterns(self.events[chosen], self.support[chosen], *(array[:, chosen] for array in of_targets))


def distinct(codes: Array) -> tuple[Array, Array]:
    """The first row of every kind, and the kind of every row, given codes of at least -1, ``[attribute, row]``."""
    key = np.zeros(codes.shape[1], dtype=np.int64)
    n_keys = 1
    for column in codes:
        n_values = int(column.max()) + 2
        if n_keys * n_values > 2**62:
            kinds, key = np.unique(key, return_inverse=True)
            n_keys = len(kinds)
        key = key * n_values + (column + 1)
        n_keys *= n_values
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return first, which


def adjusted_residual(observed: Array, n: float, probabilities: Sequence[Array]) -> Array:
    r"""The difference of a count from its expectation for independent events, in standard deviations.

    .. math:: d = \frac{(o - e)/\sqrt{e}}{\sqrt{v}}, \qquad e = N \prod_i p_i, \qquad
              v = 1 - \prod_i p_i \Big(1 + \sum_i \frac{1 - p_i}{p_i}\Big)

    v is the variance of :math:`(o - e)/\sqrt e` if the probabilities are estimated from the same examples: the
    probability that at least two of the events do not occur. For two events it is (1 - p₁)(1 - p₂).
    """
    none, one, more = np.ones(()), np.zeros(()), np.zeros(())
    for p in probabilities:  # the number of events that do not occur; sums of positive terms, without cancellation
        none, one, more = none * p, one * p + none * (1 - p), more + one * (1 - p)
    expected = n * none
    return np.asarray((observed - expected) / np.sqrt(np.maximum(expected * more, np.finfo(np.float64).tiny)))


def find_patterns(examples: Examples, limits: Limits) -> tuple[Events, list[Patterns]]:
    """The events that may be conditions, and the strongest patterns of order 1, 2, …, significant or not.

    A pattern is tested if its expected count with a target, or with the rest, is at least `min_expected`. The expected
    count can only fall when a condition is added, so patterns below the limit are not extended.
    """
    events, kept = _singles(examples, limits)
    found = [kept]
    while len(kept) and kept.order < limits.max_order:
        possible = _extensions(kept, events, examples, limits)
        parent, single = np.nonzero(possible)
        counts = _counts(kept, events, examples, possible)[:, parent, single]
        joined = np.sort(np.column_stack((kept.events[parent], single)), axis=1)
        if kept.order > 1:  # the same pattern may extend several
            joined, first = np.unique(joined, axis=0, return_index=True)
            counts = counts[:, first]
        kept = _tested(joined, counts, events, examples, limits)
        kept = kept.take(kept.strongest(limits.max_patterns))
        found.append(kept)
    return events, found


def _singles(examples: Examples, limits: Limits) -> tuple[Events, Patterns]:
    """The events with a sufficient expected count, and the patterns of one condition."""
    attributes, values, counts = [np.empty(0, np.intp)], [np.empty(0, np.intp)], [np.empty((examples.n_classes, 0))]
    for attribute, codes in enumerate(examples.codes):
        present = np.flatnonzero(np.bincount(codes))
        if len(present) < 2:
            continue  # a constant
        by_class = examples.count(codes, present[-1] + 1)[:, present]
        likely = _enough(by_class.sum(axis=0) * examples.largest_prior, limits)
        attributes.append(np.full(int(likely.sum()), attribute))
        values.append(present[likely])
        counts.append(by_class[:, likely])
    together = np.concatenate(counts, axis=1)
    events = Events(np.concatenate(attributes), np.concatenate(values), together.sum(axis=0) / examples.total)
    patterns = _tested(np.arange(len(events))[:, None], together, events, examples, limits)
    chosen = patterns.strongest(limits.max_patterns)
    events, patterns = events.take(chosen), patterns.take(chosen)
    patterns.events[:, 0] = np.arange(len(events))
    return events, patterns


def _enough(expected: Array, limits: Limits) -> Array:
    """Whether expected counts are sufficient for a test."""
    return expected >= limits.min_expected * (1 - _TOLERANCE)


def _extensions(kept: Patterns, events: Events, examples: Examples, limits: Limits) -> Array:
    """Which pattern can be extended by which event, ``[pattern, event]``: a sufficient count, another attribute."""
    p = events.probability
    expected = examples.total * examples.largest_prior * np.multiply.outer(p[kept.events].prod(axis=1), p)
    possible = _enough(expected, limits)
    differs = np.less if kept.order == 1 else np.not_equal  # each pair once
    for attributes in events.attribute[kept.events].T:
        possible &= differs.outer(attributes, events.attribute)
    return possible


def _counts(kept: Patterns, events: Events, examples: Examples, possible: Array) -> Array:
    """The weight of the examples that meet a pattern and an event: ``[class, pattern, event]``, 0 if not `possible`.

    One pass over the examples counts all patterns of the same attributes with the events of many other attributes. (The
    product of two boolean matrices would leave the threads of the linear algebra library spinning.)
    """
    k = examples.n_classes
    counts = np.zeros((k, *possible.shape))
    attributes, first = np.unique(events.attribute, return_index=True)
    column = np.arange(len(events)) + np.searchsorted(attributes, events.attribute)
    n_columns = len(events) + len(attributes)  # each attribute has one more, for values that are not events
    cells = np.array([
        column[start] + _positions(events.value[events.attribute == a], examples.codes[a])
        for a, start in zip(attributes.tolist(), first)
    ])  # fmt: skip
    cells = cells * k + examples.classes
    sets, member = np.unique(events.attribute[kept.events], axis=0, return_inverse=True)
    for group in range(len(sets)):
        patterns = np.flatnonzero(member.ravel() == group)
        which = np.full(examples.codes.shape[1], len(patterns))
        for number, ids in enumerate(kept.events[patterns]):
            which[events.occur(examples.codes, ids).all(axis=0)] = number
        rows = np.flatnonzero(which < len(patterns))
        chosen = possible[patterns].any(axis=0)
        others = np.searchsorted(attributes, np.unique(events.attribute[chosen]))
        sums = np.zeros(len(patterns) * n_columns * k)
        for some in np.array_split(others, 1 + len(others) * len(rows) // _CELLS):
            both = which[rows] * (n_columns * k) + cells[np.ix_(some, rows)]
            sums += np.bincount(both.ravel(), np.tile(examples.weights[rows], len(some)), minlength=len(sums))
        counts[:, patterns] = sums.reshape(len(patterns), n_columns, k)[:, column].transpose(2, 0, 1)
    return counts


def _positions(values: Array, codes: Array) -> Array:
    """The position of each code among some values; one past the last if it is not among them."""
    position = np.full(int(codes.max()) + 1, len(values))
    position[values] = np.arange(len(values))
    return position[codes]


def _tested(patterns: Array, counts: Array, events: Events, examples: Examples, limits: Limits) -> Patterns:
    """Patterns with their adjusted residuals."""
    n, prior = examples.total, examples.priors[:, None]
    each = [events.probability[ids] for ids in patterns.T]
    support, inside = counts.sum(axis=0), counts[examples.targets]
    with_target = adjusted_residual(inside, n, [*each, prior])
    with_rest = adjusted_residual(support - inside, n, [*each, 1 - prior])
    strength = np.zeros_like(inside)
    for residual, p in ((with_target, prior), (with_rest, 1 - prior)):
        expected = n * np.multiply.reduce(each) * p
        np.maximum(strength, np.abs(residual), out=strength, where=_enough(expected, limits))
    # Rounded, so that the order of rows does not decide between equal patterns.
    return Patterns(patterns, support, inside, with_target, with_rest, np.round(strength, 9))
