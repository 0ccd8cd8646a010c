"""Training a portfolio: folds, rounds, weights, and the final members on all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from skewboost.engine.draws import mix
from skewboost.engine.newton import Trees
from skewboost.engine.portfolio import Portfolio
from skewboost.engine.units import units_per_class
from skewboost.fold_rows import Fold
from skewboost.meta.portfolio.logistic import Regression, fit_regression
from skewboost.meta.portfolio.portfolio_model import REGRESSION, Part, log_odds_of_shares
from skewboost.meta.portfolio.recipe import (
    MAX_ROUNDS,
    PATIENCE,
    PATIENCE_SHARE,
    ROUNDS_AT_A_TIME,
    SLOW_DECREASE,
    SLOW_ROUNDS,
    Family,
    Recipe,
)
from skewboost.meta.portfolio.stacking import belief, bet, fit_weights, log_loss
from skewboost.typing import Array

LEAST_WEIGHT = 0.02  # families of a lower share of the weight are left out
FIRST_TREES = 64  # after which a forest is first judged; …
LEAST_TO_GROW = 0.05  # … with a lower share of the weight than this it gets no more of them
MOST_CERTAIN = 1.0 / 600.0  # shares of a forest closer to 0 or 1 are not distinguished
RARE_SHARE = 0.25  # … nor those below this multiple of the frequency of the class
FOLD_TREES = 64  # at least, of a forest that is fitted to a fold

# Which share of a fit its stages take, roughly: boosters on folds, forests, boosters on all rows
ON_FOLDS, FORESTS, LAST = 0.6, 0.2, 0.2
USUAL_ROUNDS = 300  # of a booster, before anything is known

NO_FOLDS = "a class is too rare to be held out"

Report = Callable[[float, str], None]


def no_report(share: float, note: str) -> None:
    """Say nothing about the progress: the share that is done, and what is being done."""


@dataclass(frozen=True)
class Candidate:
    """A family with the evidence for its weight."""

    name: str
    n_rounds: int  # or trees
    scores: Array  # out of fold, [row, output]; NaN where a row was never held out
    log_loss: float = float("nan")
    weight: float = 0.0
    why_not: str = ""  # why it was not tried
    belief: float = 1.0  # in the scores of all families together: a part of its weight is taken away


@dataclass(frozen=True)
class Trained:
    """The parts of the model, and what was tried."""

    parts: tuple[Part, ...]
    offset: Array
    candidates: tuple[Candidate, ...]
    scores: Array  # out-of-fold scores of the weighted sum, [row, output]


class Interrupted(KeyboardInterrupt):
    """Training was interrupted; `trained` is what was finished."""

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        self.trained = trained


@dataclass
class Trainer:
    """The rows, and how they are divided. Without folds the model is constant, since none can be judged."""

    portfolio: Portfolio
    weights: Array
    recipe: Recipe
    folds: list[Fold] | None
    bags_are_held_out: bool  # whether rows out of a bag are as good as held out: not if rows follow each other in time
    seed: int
    report: Report
    extended: Portfolio | None = None  # of the table with principal components
    _on_folds: dict[int, list[int]] = field(default_factory=dict)  # the boosters of each family, one per fold
    _forests: dict[int, list[int]] = field(default_factory=dict)  # the members of each forest
    _regression: Regression | str | None = None  # a text says why there is none

    def train(self) -> Trained:
        """Train everything. If that is interrupted, `Interrupted` has the model of what was finished."""
        try:
            return self._train()
        except KeyboardInterrupt:
            trained = self._finished()
            if trained is None:
                raise
            raise Interrupted(trained) from None

    def _train(self) -> Trained:
        families = self.recipe.families
        candidates = self._boosters()
        if self.recipe.regression:
            self._regression = NO_FOLDS if self.folds is None else self._fitted_regression()
        self._grow_forests(candidates)
        return self._trained({k: candidates[k] for k in range(len(families))}, self._booster_part)

    def _finished(self) -> Trained | None:
        """Return the model of what is trained: the boosters of the folds, and the finished forests."""
        candidates: dict[int, Candidate] = {}
        for k, members in self._on_folds.items():
            n_rounds = min(len(self.portfolio.losses(member)) for member in members)
            if n_rounds:
                losses = np.sum([self.portfolio.losses(member)[:n_rounds] for member in members], axis=0)
                best = 1 + int(losses.argmin())
                candidates[k] = Candidate(self.recipe.families[k].name, best, self._out_of_fold(members, best))
        for k, members in self._forests.items():
            if self.bags_are_held_out:
                candidates[k] = self._judged_forest(self.recipe.families[k], k, members)
        if not candidates:
            return None
        return self._trained(candidates, lambda candidate, k: self._mean_part(candidate, self._on_folds[k]))

    def _trained(self, candidates: dict[int, Candidate], booster_part: Callable[[Candidate, int], Part]) -> Trained:
        """Weight the families, by number, and the regression, and return the model of those that help."""
        every, offset, scores = self._weighted(self._with_regression(candidates))
        if isinstance(self._regression, str):
            every.append(Candidate(REGRESSION, 0, self._unknown(), why_not=self._regression))
        every, offset, scores = self._believed(every, offset, scores)
        parts = []
        for n, (k, candidate) in enumerate(zip_longest(candidates, every)):
            if candidate.weight == 0.0:
                continue
            self.report(1.0 - LAST * (1.0 - n / len(every)), f"{candidate.name} on all rows")
            if k is None:
                parts.append(self._regression_part(candidate))
            elif k in self._forests:
                parts.append(self._forest_part(candidate, k))
            else:
                parts.append(booster_part(candidate, k))
        return Trained(tuple(parts), offset, tuple(every), scores)

    def _believed(self, every: list[Candidate], offset: Array, scores: Array) -> tuple[list[Candidate], Array, Array]:
        """Return weights, offset and scores, drawn towards the class frequencies as far as the evidence is thin."""
        known = np.flatnonzero(np.isfinite(scores).all(axis=1))
        constant, own = self._log_frequencies(), self.portfolio
        classes, units, weights = own.classes[known], own.units[known], self.weights[known]
        t = 0.0
        if self.folds is not None and len(np.unique(classes)) == own.n_classes:
            t = belief(scores[known], constant, classes, weights, units)
        if len(known) and not t:
            t = bet(scores[known], constant, weights, int(units_per_class(classes, units, own.n_classes).min()))
        if t == 1.0:
            return every, offset, scores
        every = [replace(c, weight=t * c.weight, belief=t) for c in every]
        return every, t * offset + (1.0 - t) * constant, t * scores + (1.0 - t) * constant

    def _unknown(self) -> Array:
        """Return scores that are not known of any row."""
        return np.full((self.portfolio.n_rows, self.portfolio.n_outputs), np.nan)

    def _log_frequencies(self) -> Array:
        """Return the scores of a model that predicts the class frequencies for all rows."""
        logs = np.log(np.bincount(self.portfolio.classes, self.weights, minlength=self.portfolio.n_classes))
        return logs[1:] - logs[:1] if self.portfolio.n_outputs == 1 else logs - logs.mean()

    def _with_regression(self, candidates: dict[int, Candidate]) -> list[Candidate]:
        """Return the families, and the regression behind them if there is one."""
        own = self._regression
        return [*candidates.values(), *([Candidate(REGRESSION, 1, own.scores)] if isinstance(own, Regression) else [])]

    def _seed(self, *numbers: int) -> int:
        found = self.seed
        for number in numbers:
            found = mix(found ^ mix(number))
        return found

    def _of(self, family: Family) -> Portfolio:
        """Return the portfolio that has the members of a family."""
        if not family.components:
            return self.portfolio
        assert self.extended is not None
        return self.extended

    def _add(self, family: Family, rows: Array | None, held_out: Array | None, *seeds: int) -> int:
        """Add a member that is trained on some rows, with validation on others."""
        weights, validation = self.weights, None
        if rows is not None:
            weights = np.zeros_like(self.weights)
            weights[rows] = self.weights[rows]
        if held_out is not None:
            validation = np.zeros_like(self.weights)
            validation[held_out] = self.weights[held_out]
        return self._of(family).add(replace(family.settings, seed=self._seed(*seeds)), weights, validation)

    # ---------------------------------------------------------------------------------------------- boosters

    def _boosters(self) -> dict[int, Candidate]:
        """Train boosters on all folds, each family for as long as the loss over all folds decreases."""
        families = {k: f for k, f in enumerate(self.recipe.families) if not f.is_forest}
        if self.folds is None:
            return {k: Candidate(f.name, 0, self._unknown(), why_not=NO_FOLDS) for k, f in families.items()}
        members = {k: [self._add(f, *fold, k, j) for j, fold in enumerate(self.folds)] for k, f in families.items()}
        self._on_folds = members
        best = dict.fromkeys(families, 0)
        active, done = list(families), 0
        while active and done < MAX_ROUNDS:
            every = [member for k in active for member in members[k]]
            self.portfolio.train(every, [ROUNDS_AT_A_TIME] * len(every))
            done += ROUNDS_AT_A_TIME
            for k in list(active):
                losses = np.sum([self.portfolio.losses(member) for member in members[k]], axis=0)
                best[k] = 1 + int(losses.argmin())
                if _enough(losses, best[k]):
                    active.remove(k)
            share = min((done / _expected_rounds(done, best[k]) for k in active), default=1.0)
            self.report(ON_FOLDS * share, f"{done} rounds on {len(self.folds)} folds")
        return {k: Candidate(f.name, best[k], self._out_of_fold(members[k], best[k])) for k, f in families.items()}

    def _out_of_fold(self, members: list[int], n_rounds: int) -> Array:
        """Return the mean score of every row over the members that it was held out of."""
        assert self.folds is not None
        sums = np.zeros((self.portfolio.n_rows, self.portfolio.n_outputs))
        counts = np.zeros(self.portfolio.n_rows)
        for member, (_, held_out) in zip(members, self.folds):
            values = self.portfolio.trees(member).values
            F, _ = self.portfolio.scores(member, n_rounds, values, held_out)
            sums[held_out] += F + self.portfolio.start(member)
            counts[held_out] += 1.0
        return _mean(sums, counts)

    def _booster_part(self, candidate: Candidate, k: int) -> Part:
        """Fit the members of a family to all rows; their mean is the part."""
        family, n_rounds = self.recipe.families[k], candidate.n_rounds
        members = [self._add(family, None, None, k, 10_000 + j) for j in range(family.n_members)]
        self.portfolio.train(members, [n_rounds] * len(members))
        return self._mean_part(candidate, members)

    def _mean_part(self, candidate: Candidate, members: list[int]) -> Part:
        """Return the mean of boosters after the rounds of the candidate."""
        trees = _joined(self.portfolio, members, candidate.n_rounds)
        start = np.mean([self.portfolio.start(member) for member in members], axis=0)
        return Part(candidate.name, candidate.weight, replace(trees, values=trees.values / len(members)), start)

    # ----------------------------------------------------------------------------------------------- forests

    def _grow_forests(self, candidates: dict[int, Candidate]) -> None:
        """Add the forests to the candidates. One that does not help after its first trees gets no more of them."""
        forests = {k: family for k, family in enumerate(self.recipe.families) if family.is_forest}
        in_stages = self.bags_are_held_out
        for n, (k, family) in enumerate(forests.items()):
            self.report(ON_FOLDS + FORESTS * n / len(forests), f"{family.name}: {family.n_trees} trees")
            members = [self._add(family, None, None, k, j) for j in range(family.n_members)]
            candidates[k] = self._grown(family, k, members, FIRST_TREES if in_stages else family.n_trees)
        if in_stages:
            every, _, _ = self._weighted(self._with_regression(candidates))
            total = sum(c.weight for c in every)
            for k, candidate in zip(candidates, every):
                if k in forests and candidate.weight > LEAST_TO_GROW * total:
                    more = forests[k].n_trees - candidate.n_rounds
                    candidates[k] = self._grown(forests[k], k, self._forests[k], more)

    def _grown(self, family: Family, k: int, members: list[int], n_trees: int) -> Candidate:
        """Grow trees of a forest on all rows, in several members that are trained side by side."""
        self._of(family).train(members, [n_trees // len(members)] * len(members))
        self._forests[k] = members
        return self._judged_forest(family, k, members)

    def _judged_forest(self, family: Family, k: int, members: list[int]) -> Candidate:
        """Return the scores of rows by the trees that were not grown on them."""
        portfolio = self._of(family)
        sums, counts = np.zeros((portfolio.n_rows, portfolio.n_outputs)), np.zeros(portfolio.n_rows)
        n_grown = sum(portfolio.trees(member).n_trees for member in members)
        if self.bags_are_held_out:
            for member in members:
                trees = portfolio.trees(member)
                own, n = portfolio.scores(member, trees.n_trees, trees.values, out_of_bag=True)
                sums, counts = sums + own, counts + n
        elif self.folds is not None:
            n_trees = max(FOLD_TREES, family.n_trees // len(self.folds))
            fitted = [self._add(family, rows, None, k, 20_000 + j) for j, (rows, _) in enumerate(self.folds)]
            portfolio.train(fitted, [n_trees] * len(fitted))
            for member, (_, held_out) in zip(fitted, self.folds):
                own, n = portfolio.scores(member, n_trees, portfolio.trees(member).values, held_out)
                sums[held_out] += own
                counts[held_out] += n
        return Candidate(family.name, n_grown, log_odds_of_shares(_mean(sums, counts), self._floor()))

    def _forest_part(self, candidate: Candidate, k: int) -> Part:
        trees = _joined(self._of(self.recipe.families[k]), self._forests[k])
        trees = replace(trees, values=trees.values / trees.n_trees)
        return Part(candidate.name, candidate.weight, trees, np.zeros(self.portfolio.n_outputs), self._floor())

    def _floor(self) -> Array:
        """Return the smallest share of each class that is told from zero."""
        mass = np.bincount(self.portfolio.classes, self.weights, minlength=self.portfolio.n_classes)
        rarest = RARE_SHARE * mass / mass.sum()
        if self.portfolio.n_outputs == 1:
            rarest = np.array([rarest.min()])
        return np.asarray(np.minimum(MOST_CERTAIN, rarest))

    # -------------------------------------------------------------------------------------------- regression

    def _fitted_regression(self) -> Regression | str:
        """Return the regression, unless it contradicts a monotonic constraint, or why there is none."""
        assert self.folds is not None
        own = self.portfolio
        found = fit_regression(own.view, own.classes, own.n_outputs, self.weights, self.folds, self._seed(30_000))
        monotonic = self.recipe.families[0].settings.tree.monotonic
        if isinstance(found, Regression) and not found.directions_hold(monotonic):
            return "a slope contradicts monotonic_cst"
        return found

    def _regression_part(self, candidate: Candidate) -> Part:
        assert isinstance(self._regression, Regression)
        trees = self._regression.trees(self.portfolio.view, self.weights).in_order_of_walk()
        return Part(candidate.name, candidate.weight, trees, self._regression.constant)

    # ----------------------------------------------------------------------------------------------- weights

    def _weighted(self, candidates: list[Candidate]) -> tuple[list[Candidate], Array, Array]:
        """Return the families with their weights, what is added to the scores, and the weighted scores."""
        scores = np.array([c.scores for c in candidates])
        tried = np.isfinite(scores).any(axis=(1, 2))
        known = np.flatnonzero(np.isfinite(scores[tried]).all(axis=(0, 2))) if tried.any() else np.empty(0, np.intp)
        classes, weights = self.portfolio.classes[known], self.weights[known]
        found, offset = np.zeros(len(candidates)), np.zeros(self.portfolio.n_outputs)
        losses = np.full(len(candidates), np.nan)
        if self.folds is None or len(np.unique(classes)) < self.portfolio.n_classes:
            found[tried] = 1.0 / max(1, tried.sum())
        else:
            found[tried], offset = fit_weights(scores[tried][:, known], classes, weights)
            used = found > LEAST_WEIGHT * found.sum()
            found[~used] = 0.0
            if used.any() and (used != tried).any():
                found[used], offset = fit_weights(scores[used][:, known], classes, weights)
            losses[:] = [np.average(log_loss(own[known], classes), weights=weights) for own in scores]
        combined = self._unknown()
        if len(known):
            combined[known] = np.tensordot(found, np.nan_to_num(scores[:, known]), axes=1) + offset
        every = zip(candidates, found.tolist(), losses.tolist(), strict=True)
        return [replace(c, weight=w, log_loss=loss) for c, w, loss in every], offset, combined


def _joined(portfolio: Portfolio, members: list[int], n_trees: int | None = None) -> Trees:
    """Return the (first) trees of members, with the numbers of all training rows in their leaves."""
    every = [replace(portfolio.trees(member), covers=portfolio.covers(member)) for member in members]
    return Trees.joined(every if n_trees is None else [trees.first(n_trees) for trees in every]).in_order_of_walk()


def _enough(losses: Array, best: int) -> bool:
    """Whether more rounds are not worth their time, given the losses so far and the best number of rounds."""
    done = len(losses)
    if done - best >= _patience(best):
        return True
    slow = done > SLOW_ROUNDS and losses[-1 - SLOW_ROUNDS] - losses[-1] < SLOW_DECREASE * losses[0]
    return bool(slow and best == done)


def _patience(best: int) -> float:
    """Return how many rounds without a decrease of the loss are enough, after the best one."""
    return max(PATIENCE, PATIENCE_SHARE * best)


def _expected_rounds(done: int, best: int) -> float:
    """Return a guess of how many rounds a family will be trained for."""
    more = _patience(best)
    return best + more if best < done else min(MAX_ROUNDS, max(USUAL_ROUNDS, done + more))


def _mean(sums: Array, counts: Array) -> Array:
    """Return sums divided by counts; NaN where the count is zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / np.where(counts > 0, counts, np.nan)[:, None])


def search_table(trained: Trained) -> dict[str, Any]:
    """Return what was tried, and what became of it, as the columns of a table."""
    every = trained.candidates
    total = sum(c.weight for c in every)
    return {
        "family": [c.name for c in every],
        "rounds": [c.n_rounds for c in every],
        "log_loss": [c.log_loss for c in every],
        "weight": [c.weight for c in every],
        "verdict": [_verdict(c, every, total) for c in every],
    }


def _verdict(candidate: Candidate, every: Sequence[Candidate], total: float) -> str:
    """Say in words why a family has its weight."""
    if candidate.why_not:
        return f"left out: {candidate.why_not}"
    if candidate.weight and candidate.belief < 1.0:
        scaled = f"there is little evidence, so the log-odds are scaled by {candidate.belief:.2g}"
        return f"{candidate.weight / total:.0%} of the weight: {scaled}"
    if candidate.log_loss != candidate.log_loss:
        return "equal weights: rows of a class were never held out"
    if not candidate.weight:
        return "left out: it adds nothing to what the others predict on held-out rows"
    best = candidate.log_loss <= min(c.log_loss for c in every if not c.why_not)
    place = "the best single family on held-out rows" if best else "it corrects what the others get wrong"
    return f"{candidate.weight / total:.0%} of the weight: {place}"
