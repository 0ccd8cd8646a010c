"""A fitted portfolio as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from skewboost.engine.binning import Bins
from skewboost.engine.boundary import N_CODES, Engine
from skewboost.engine.explaining import Support
from skewboost.engine.newton import Trees
from skewboost.engine.partition import View
from skewboost.engine.scoring import Scorer
from skewboost.engine.table import Table
from skewboost.fitting import KeepsNoCaches
from skewboost.meta.portfolio.components import Components
from skewboost.typing import Array

REGRESSION = "logistic regression"  # the name of the part that is one; it has a tree per column


@dataclass(frozen=True, eq=False)
class Part:
    """The trees of a family, and the weight of their score.

    The sum of the trees is `start` plus the values of the leaves. It is the score itself, or with `floor` the shares of
    the classes, whose log-odds are the score; shares below the floor are raised to it.
    """

    name: str
    weight: float
    trees: Trees
    start: Array  # per output
    floor: Array | None = None  # per output

    def score(self, sums: Array) -> Array:
        """Return the score ``[row, output]``, given the sums of the trees."""
        return sums if self.floor is None else log_odds_of_shares(sums, self.floor)

    def score_of(self, sums: Array, output: int) -> Array:
        """Return the score of one output."""
        if self.floor is None:
            return sums
        several = len(self.floor) > 1
        own = self.floor[output]
        log_shares = np.log(np.maximum(sums, own))
        return np.asarray(log_shares if several else log_shares - np.log(np.maximum(1.0 - sums, own)))

    def slope(self, sums: Array, mean: float, output: int) -> Array:
        """Return the slope of the score between the sums and their mean; 0 where both are equal."""
        if self.floor is None:
            return np.ones_like(sums)
        rise = self.score_of(sums, output) - self.score_of(np.array([mean]), output)
        return np.asarray(np.divide(rise, sums - mean, out=np.zeros_like(sums), where=sums != mean))


@dataclass(frozen=True, eq=False)
class PortfolioModel(KeepsNoCaches):
    """The score is `offset` plus the weighted scores of the parts: log-odds, or softmax scores of several classes."""

    parts: tuple[Part, ...]
    offset: Array
    bins: Bins
    support: Support
    n_features: int
    components: Components | None = None  # columns that trees test, behind the features

    @property
    def n_outputs(self) -> int:
        """The number of outputs: one for two classes."""
        return len(self.offset)

    @property
    def n_columns(self) -> int:
        """The number of features and components."""
        return len(self.bins.features)

    @property
    def n_trees(self) -> int:
        """The number of trees of boosters and forests."""
        return sum(part.trees.n_trees for part in self.parts if part.name != REGRESSION)

    @property
    def title(self) -> str:
        """What the model consists of."""
        names = [part.name for part in self.parts]
        n_families = len(names) - (REGRESSION in names)
        found = [f"{self.n_trees} trees of {n_families} famil{'ies' if n_families != 1 else 'y'}"] if n_families else []
        return " and ".join(found + [f"a {REGRESSION}"] * (REGRESSION in names))

    @cached_property
    def scorers(self) -> list[list[Scorer]]:
        """The scorers of each part, one per output."""
        return [
            [
                Scorer.of_trees(part.trees, k, self.bins, self.n_columns, float(part.start[k]))
                for k in range(self.n_outputs)
            ]
            for part in self.parts
        ]

    def score(self, engine: Engine, table: Table) -> Array:
        """Return the scores of new rows, ``[row, output]``."""
        table = table if self.components is None else self.components.extend(table)
        S = np.tile(self.offset, (table.n_rows, 1))
        for part, scorers in zip(self.parts, self.scorers):
            sums = np.column_stack([engine.score(scorer, table) for scorer in scorers])
            S += part.weight * part.score(sums)
        return S

    def baseline(self, engine: Engine) -> Array:
        """Return the scores of the mean predictions of the parts, per output."""
        found = self.offset.copy()
        for part in self.parts:
            for k in range(self.n_outputs):
                mean = part.trees.mean(k) + float(part.start[k])
                found[k] += part.weight * float(part.score_of(np.array(mean), k))
        return found

    def contributions(self, engine: Engine, table: Table) -> Array:
        """Return what each feature adds to the scores, relative to `baseline`: ``[row, feature, output]``.

        Within a part these are the Shapley values of its trees. Where the score is the log-odds of a share, they are
        multiplied by the slope between the share of the row and the mean share. So they always add up to the score.
        """
        whole = table if self.components is None else self.components.extend(table)
        view = View(engine, whole, self.bins)
        found = np.zeros((table.n_rows, self.n_columns, self.n_outputs))
        for part in self.parts:
            for k in range(self.n_outputs):
                phi = engine.contributions(part.trees, k, view)
                mean = part.trees.mean(k) + float(part.start[k])
                sums = mean + phi.sum(axis=1)
                found[:, :, k] += part.weight * part.slope(sums, mean, k)[:, None] * phi
        own = found[:, : self.n_features]
        if self.components is not None:
            for k, shares in enumerate(self.components.shares(table), self.n_features):
                own[:, self.components.features] += shares.T[:, :, None] * found[:, k, None]
        return own

    def main_effects(self, engine: Engine) -> Array:
        """Return the score given one feature less the baseline, ``[output, feature, code]``; its mean is zero.

        A component is the term of the feature, with the other features at their means.
        """
        found = np.zeros((self.n_outputs, self.n_features, N_CODES))
        for part in self.parts:
            for k in range(self.n_outputs):
                effects = engine.main_effects(part.trees, k, self.n_columns)
                mean = part.trees.mean(k) + float(part.start[k])
                effects = effects[: self.n_features] + self._effects_of_components(effects)
                found[k] += part.weight * (part.score_of(mean + effects, k) - part.score_of(np.array(mean), k))
        assert self.support.per_code is not None
        counts = self.support.per_code[: self.n_features]
        return np.asarray(found - (found * counts).sum(axis=2, keepdims=True) / counts.sum(axis=1)[None, :, None])

    def _effects_of_components(self, effects: Array) -> Array:
        """Return the effects ``[feature, code]`` of features by the components that they have a part in."""
        found = np.zeros((self.n_features, N_CODES))
        if self.components is None:
            return found
        own = self.components
        for i, j in enumerate(own.features.tolist()):
            cuts = self.bins.features[j].cuts
            if len(cuts):
                x = np.concatenate((cuts[:1], (cuts[:-1] + cuts[1:]) / 2, cuts[-1:]))
                x = np.clip(x, own.low[i], own.high[i]) - own.centre[i]
                for k, factor in enumerate(own.loadings[:, i]):
                    codes = np.searchsorted(self.bins.features[self.n_features + k].cuts, factor * x)
                    found[j, : len(x)] += effects[self.n_features + k][codes]
        return found

    @property
    def is_additive(self) -> bool:
        """Whether the scores are sums of functions of one feature: no tree tests two, and no part takes log-odds."""
        return all(part.floor is None and part.trees.feature_of is not None for part in self.parts)

    def importances(self) -> Array:
        """Return the decrease of the loss due to each feature, summing to one in each part and weighted by parts."""
        total = np.zeros(self.n_columns)
        for part in self.parts:
            gains = part.trees.importances
            if gains.sum() > 0:
                total[: len(gains)] += part.weight * gains / gains.sum()
        found = total[: self.n_features]
        if self.components is not None:
            found[self.components.features] += total[self.n_features :] @ self.components.squares
        return found


def log_odds_of_shares(shares: Array, floor: Array) -> Array:
    """Return the log-odds of the share of the positive class, or the logarithm of the share of each of several."""
    log_shares = np.log(np.maximum(shares, floor))
    return np.asarray(log_shares if len(floor) > 1 else log_shares - np.log(np.maximum(1.0 - shares, floor)))


def probabilities(scores: Array) -> Array:
    """Return the probabilities of the classes; of two classes, the positive one is the second column."""
    if scores.shape[1] == 1:
        return np.asarray(expit(np.column_stack((-scores[:, 0], scores[:, 0]))))
    return np.asarray(softmax(scores, axis=1))


def log_probabilities(scores: Array) -> Array:
    """Return the logarithms of `probabilities`."""
    if scores.shape[1] == 1:
        return np.asarray(log_expit(np.column_stack((-scores[:, 0], scores[:, 0]))))
    return np.asarray(log_softmax(scores, axis=1))
