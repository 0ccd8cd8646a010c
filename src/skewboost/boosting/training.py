"""Training one ensemble: what happens around the loop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from skewboost.boosting.early_stopping import HeldOut, Validation
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.loop import boost
from skewboost.boosting.model import Model, Round
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State
from skewboost.engine.boundary import Engine
from skewboost.engine.table import Table
from skewboost.engine.training_set import TWO, Classes
from skewboost.errors import InputError
from skewboost.learners import name_of
from skewboost.learners.learner import Learner
from skewboost.learners.training_data import TrainingData
from skewboost.metrics.costs import Costs
from skewboost.typing import Array

Callback = Callable[[int, Mapping[str, float]], bool | None]


@dataclass(frozen=True)
class Problem:
    """What is to be learned, and by which rule: rows with labels, weights and costs, as the rule sees them."""

    rule: Rule
    table: Table
    target: Array  # which rows are positive; the number of each row's class; or which labels it has, [row, label]
    weights: Array | None
    costs: Costs
    truth: Array  # the labels as scorers see them
    classes: Array  # those of the truth
    structure: Classes = TWO
    positive: int = 1  # the place of the positive class of two

    def take(self, rows: Array) -> Problem:
        """Some of the rows."""
        return replace(
            self,
            table=self.table.take(rows),
            target=self.target[rows],
            weights=None if self.weights is None else self.weights[rows],
            costs=self.costs.take(rows),
            truth=self.truth[rows],
        )

    def data(self, engine: Engine, model: Model) -> TrainingData:
        """The training data, in the bins of a model if it has some already."""
        return TrainingData(self.table, self.target, self.weights, engine, model.bins, classes=self.structure)

    def held_out(self) -> HeldOut:
        """The rows as early stopping sees them."""
        return HeldOut(self.table, self.target, self.truth, self.classes, self.weights, self.costs)


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
    raise InputError(
        f"{type(rule).__name__} asks its weak learner for {wanted}, but {name_of(learner)} answers with {given}. "
        "Choose another estimator, for example 'stump' or 'tree', which answer both, or another variant."
    )


def train(
    problem: Problem,
    learner: Learner,
    engine: Engine,
    settings: Settings,
    validation: Validation | None,
    model: Model,
) -> State:
    """Add rounds to a model; those it has already are replayed first, and neither callbacks nor the bar see them.

    Returns the state after the last of them.

    An interruption (Ctrl-C) leaves it with all rounds that were finished, ready for use.
    """
    rule, costs, data = problem.rule, problem.costs, problem.data(engine, model)
    question = question_between(rule, learner)
    opened = learner.prepare(data, rule.goal(costs, data.n_examples))
    model.bins, model.support = opened.view.bins, opened.support()
    state = State(opened, settings.n_rounds, question, settings.learning_rate, costs)
    n_done = len(model.rounds)
    rounds = boost(rule, state, list(model.rounds), settings.seed)
    model.link = state.link
    if isinstance(model.link, TwoClasses):  # to the rule, and to scorers, the positive class is the second
        model.link = replace(model.link, positive=problem.positive)
    if validation is not None:
        validation.start(model.bins, state.link)
    try:
        for r in islice(rounds, n_done):
            if validation is not None:
                validation.score(r.term)
        if not _is_enough(state, validation, settings):
            for r in _with_progress(rounds, n_done, settings.n_rounds, settings.verbose):
                if validation is not None:
                    r.record["validation_score"] = validation.score(r.term)
                model.rounds.append(r)
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
            model.n_rounds = validation.best_round if validation is not None else len(model.rounds)
            model.stop_reason = state.stop_reason or f"all {settings.n_rounds} rounds done"
        model.finish(data.table.n_features)
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
