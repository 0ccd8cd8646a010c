"""Training one binary ensemble: what happens around the loop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from skewboost.boosting.early_stopping import Validation
from skewboost.boosting.loop import Round, boost
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.engine.binning import Bins
from skewboost.engine.boundary import Array, Engine
from skewboost.engine.explaining import Support
from skewboost.engine.partition import View
from skewboost.engine.scoring import Scorer, Term
from skewboost.engine.table import Table
from skewboost.learners import name_of
from skewboost.learners.learner import Data, Learner
from skewboost.metrics.costs import Costs

Callback = Callable[[int, Mapping[str, float]], bool | None]


@dataclass
class Ensemble:
    """A fitted binary ensemble. `rounds` may go beyond the `n_rounds` that early stopping found best."""

    rounds: list[Round] = field(default_factory=list)
    n_rounds: int = 0
    bins: Bins | None = None
    stop_reason: str = ""
    rule: Rule = field(default_factory=Rule)  # as it was fitted: it knows the link
    support: Support | None = None  # where the training examples are
    n_features: int | None = None  # None: not ready for use
    _scorer: Scorer | None = field(default=None, repr=False, compare=False)

    def copy(self) -> Ensemble:
        """One to go on from, while this one stays as it is."""
        return replace(self, rounds=list(self.rounds))

    def truncated(self, n_rounds: int, n_features: int) -> Ensemble:
        """One of its first rounds, ready for use."""
        made = replace(self, rounds=self.rounds[:n_rounds], n_rounds=min(self.n_rounds, n_rounds))
        made.finish(n_features)
        return made

    @property
    def terms(self) -> list[Term]:
        """What the rounds in use have added."""
        return [r.term for r in self.rounds[: self.n_rounds]]

    def finish(self, n_features: int) -> None:
        """Make it ready for use."""
        self.n_features, self._scorer = n_features, None

    @property
    def scorer(self) -> Scorer:
        """The rounds, compiled for scoring when that is first asked for."""
        if self._scorer is None:
            assert self.n_features is not None, "the ensemble is not finished"
            self._scorer = Scorer(self.terms, self.bins, self.n_features, self.rule.offset())
        return self._scorer

    def score(self, engine: Engine, table: Table) -> Array:
        """F of new rows: compiled where it is a sum, else round by round."""
        if type(self.rule).combine is Rule.combine:
            return engine.score(self.scorer, table)
        *_, F = self.staged(View(engine, table, self.bins))
        return F

    def staged(self, view: View) -> Iterator[Array]:
        """F at the start and after every round in use."""
        F = np.full(view.n_rows, self.rule.offset())
        yield F
        for term in self.terms:
            F = self.rule.combine(F, term.on(view))
            yield F

    def importances(self, n_features: int) -> Array | None:
        """By how much each feature lowered the loss; None if a round's learner does not tell."""
        total = np.zeros(n_features)
        for r in self.rounds[: self.n_rounds]:
            if r.importances is None or len(r.importances) != n_features:
                return None
            total += np.asarray(r.importances)
        return total


@dataclass
class Settings:
    """How to train, whatever the variant."""

    n_rounds: int
    learning_rate: float
    seed: int
    patience: int | None
    callbacks: Sequence[Callback]
    verbose: int


def question_between(rule: Rule, learner: Learner) -> str:
    """The first question of the rule that the learner answers, or an error that names both."""
    for question in rule.asks:
        if question in learner.answers:
            return question
    wanted, given = " or ".join(rule.asks), " and ".join(learner.answers)
    raise ValueError(
        f"{type(rule).__name__} asks its weak learner for {wanted}, but {name_of(learner)} answers with {given}. "
        "Choose another estimator, for example 'stump' or 'tree', which answer both, or another variant."
    )


def train(
    learner: Learner,
    data: Data,
    costs: Costs,
    settings: Settings,
    validation: Validation | None,
    ensemble: Ensemble,
) -> State:
    """Add rounds to an ensemble; those it has already are replayed first, and neither callbacks nor the bar see them.

    Returns the state after the last of them.

    An interruption (Ctrl-C) leaves it with all rounds that were finished, ready for use.
    """
    rule = ensemble.rule
    question = question_between(rule, learner)
    opened = learner.open(data, rule.goal(costs, data.n_examples))
    ensemble.bins, ensemble.support = opened.view.bins, opened.support()
    state = State(opened, settings.n_rounds, question, settings.learning_rate, costs)
    n_done = len(ensemble.rounds)
    rounds = boost(rule, state, list(ensemble.rounds), settings.seed)
    if validation is not None:
        validation.open(ensemble.bins)
    try:
        for r in islice(rounds, n_done):
            if validation is not None:
                validation.score(r.term)
        if not _is_enough(state, validation, settings):
            for r in _with_progress(rounds, n_done, settings.n_rounds, settings.verbose):
                if validation is not None:
                    r.record["validation_score"] = validation.score(r.term)
                ensemble.rounds.append(r)
                if _is_enough(state, validation, settings):
                    break
                if [c for c in settings.callbacks if c(state.round, dict(r.record))]:
                    state.stop_reason = "a callback asked to stop"
                    break
    except KeyboardInterrupt:
        state.stop_reason = "interrupted"
        raise
    finally:
        if state.round >= n_done:  # else the replay was cut short, and nothing has changed
            ensemble.n_rounds = validation.best_round if validation is not None else len(ensemble.rounds)
            ensemble.stop_reason = state.stop_reason or f"all {settings.n_rounds} rounds done"
        rule.costs = replace(rule.costs, each=None)  # a model knows what classes cost, and keeps nothing of rows
        ensemble.finish(data.table.n_features)
    return state


def _is_enough(state: State, validation: Validation | None, settings: Settings) -> bool:
    """Whether early stopping says so; notes the reason."""
    if validation is None or validation.since_best < (settings.patience or 0):
        return False
    state.stop_reason = f"early stopping: no better validation score for {validation.since_best} rounds"
    return True


def _with_progress(rounds: Iterator[Round], n_done: int, n_rounds: int, verbose: int) -> Iterator[Round]:
    """Pass the rounds on, drawing a bar on stderr at most ten times a second."""
    if not verbose:
        yield from rounds
        return
    started = drawn = time.monotonic()
    k = n_done
    try:
        for k, r in enumerate(rounds, n_done + 1):
            yield r
            now = time.monotonic()
            if now - drawn > 0.1 or k == n_rounds:
                _draw(k, n_rounds, now - started, r.record)
                drawn = now
    finally:
        if k < n_rounds:
            _draw(k, n_rounds, time.monotonic() - started, {})
        sys.stderr.write("\n")


def _draw(k: int, n_rounds: int, seconds: float, record: Mapping[str, Any]) -> None:
    filled = "█" * (24 * k // n_rounds)
    loss = f"  loss {record['loss']:.4g}" if "loss" in record else ""
    sys.stderr.write(f"\r{filled:·<24} {k}/{n_rounds} rounds  {seconds:.1f} s{loss}")
    sys.stderr.flush()
