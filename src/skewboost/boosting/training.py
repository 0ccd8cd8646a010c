"""Training one ensemble: replayed rounds, early stopping, callbacks, progress and interruption around the loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from skewboost.boosting.early_stopping import Validation
from skewboost.boosting.link import TwoClasses
from skewboost.boosting.loop import boost
from skewboost.boosting.model import Model
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State, delta_of
from skewboost.engine.boundary import N_CODES, Engine
from skewboost.engine.table import Table
from skewboost.engine.training_set import TWO, Classes
from skewboost.errors import InputError
from skewboost.learners import name_of
from skewboost.learners.learner import VALUES, Learner
from skewboost.learners.training_data import TrainingData
from skewboost.learners.tree_restrictions import given_penalties
from skewboost.memory import warn_of_memory
from skewboost.metrics.costs import Costs
from skewboost.parameters import integer
from skewboost.progress import track
from skewboost.typing import Array

ROWS_OF_A_HISTOGRAM = 32  # at least, of a node that has one
ARRAYS_OF_ROWS = 4  # for every class or label
REMEDY = "Pass fewer rows or columns, or set max_leaf_nodes of a tree to a smaller number."

Callback = Callable[[int, Mapping[str, float]], bool | None]


@dataclass(frozen=True)
class Problem:
    """A learning problem: a rule, and rows with labels, weights and costs as the rule sees them."""

    rule: Rule
    table: Table
    target: Array  # whether each row is positive; the index of its class; or which labels it has, [row, label]
    weights: Array | None
    costs: Costs
    truth: Array  # the labels as scorers see them: 1 for the positive class of two and 0 for the other, or as given
    classes: Array  # the classes of `truth`
    structure: Classes = TWO
    positive: int = 1  # the index of the positive class of two
    costs_asked: bool = False  # whether the costs were given as numbers

    def take(self, rows: Array) -> Problem:
        """Return the problem on a subset of the rows."""
        return replace(
            self,
            table=self.table.take(rows),
            target=self.target[rows],
            weights=None if self.weights is None else self.weights[rows],
            costs=self.costs.take(rows),
            truth=self.truth[rows],
        )


@dataclass
class Settings:
    """Training parameters that do not depend on the variant."""

    n_rounds: int
    learning_rate: float
    seed: int
    patience: int | None
    callbacks: Sequence[Callback]
    verbose: int
    smoothing: float | None = None


def question_between(rule: Rule, learner: Learner) -> str:
    """Return the first question of the rule that the learner can answer, or raise an error that names both."""
    constraints = getattr(getattr(learner, "learner", learner), "monotonic_cst", None)
    if constraints is not None and not rule.additive:
        raise InputError(
            f"monotonic_cst={constraints!r} of the estimator cannot be guaranteed by {type(rule).__name__}, whose "
            "score is not a sum of the votes of its rounds.",
            "Leave it at None, or use another variant, such as RealBoostClassifier.",
        )
    for question in rule.asks:
        if question in learner.answers:
            return question
    penalties = given_penalties(getattr(learner, "learner", learner))
    if penalties:
        raise InputError(
            f"{' and '.join(penalties)} of {name_of(learner)} has no effect, because {type(rule).__name__} asks for "
            "class labels and not for responses, whose Hessian the parameter refers to.",
            "Leave it at 0, or use a variant that fits responses, such as LogitBoostClassifier.",
        )
    wanted, given = " or ".join(rule.asks), " and ".join(q for q in learner.answers if q != VALUES)
    raise InputError(
        f"{type(rule).__name__} asks its weak learner for {wanted}, but {name_of(learner)} provides {given}.",
        "Choose another estimator, such as 'stump' or 'tree', which provide both, or another variant.",
    )


def train(
    problem: Problem,
    learner: Learner,
    engine: Engine,
    settings: Settings,
    validation: Validation | None,
    model: Model,
) -> State:
    """Add rounds to a model, and return the state after the last one.

    Rounds that the model already has are replayed first; callbacks and the progress bar do not see them. After an
    interruption (Ctrl-C) the model has all rounds that were finished, and can be used.
    """
    started = time.monotonic()
    rule, costs = problem.rule, problem.costs
    warn_of_memory(memory_use(problem, learner), REMEDY)
    data = TrainingData(
        problem.table, problem.target, problem.weights, engine, model.bins, None, problem.structure, problem.positive
    )
    question = question_between(rule, learner)
    opened = learner.prepare(data, rule.goal(costs, delta_of(settings.smoothing, data.n_examples)))
    model.bins, model.support = opened.view.bins, opened.support()
    state = State(opened, settings.n_rounds, question, settings.learning_rate, settings.smoothing, costs)
    n_done = len(model.rounds)
    rounds = boost(rule, state, list(model.rounds), settings.seed)
    model.link = state.link
    if isinstance(model.link, TwoClasses):  # rules and scorers take the second class for the positive one
        model.link = replace(model.link, positive=problem.positive)
    if validation is not None:
        validation.start(model.bins, state.link)
    try:
        for r in islice(rounds, n_done):
            if validation is not None:
                validation.score(r.term)
        if not _should_stop(state, validation, settings):
            if settings.verbose:
                rounds = track(rounds, settings.n_rounds, n_done, lambda r: f"loss {r.record['loss']:.4g}", started)
            for r in rounds:
                if validation is not None:
                    r.record["validation_score"] = validation.score(r.term)
                model.rounds.append(r)
                if _should_stop(state, validation, settings):
                    break
                if [c for c in settings.callbacks if c(state.round, dict(r.record))]:
                    state.stop_reason = "stopped by a callback"
                    break
    except KeyboardInterrupt:
        state.stop_reason = "interrupted"
        raise
    finally:
        if state.round >= n_done:  # otherwise the replay was interrupted, and nothing has changed
            model.n_rounds = validation.best_round if validation is not None else len(model.rounds)
            model.stop_reason = state.stop_reason or f"all {settings.n_rounds} rounds done"
        model.finish(data.table.n_features)
    return state


def memory_use(problem: Problem, learner: Learner) -> dict[str, float]:
    """Return the bytes of the large arrays of a fit, roughly, by what they hold."""
    n, p, own = problem.table.n_rows, problem.table.n_features, getattr(learner, "learner", learner)
    leaves: Any = getattr(own, "max_leaf_nodes", None)
    depth: Any = getattr(own, "max_depth", None)
    if not integer(1).passes(leaves):  # of values that are no numbers, the learner says so
        leaves = 2**depth if integer(0, 40).passes(depth) else 2**40 if depth is not None else 1
    n_histograms = max(1.0, min(leaves, n / ROWS_OF_A_HISTOGRAM))
    planes = problem.structure.n_classes * problem.structure.n_labels
    return {
        "codes": float(n * p),
        "histograms": 8.0 * planes * n_histograms * p * min(N_CODES, n),
        "scores and weights": 8.0 * ARRAYS_OF_ROWS * planes * n,
    }


def _should_stop(state: State, validation: Validation | None, settings: Settings) -> bool:
    """Whether early stopping ends the training; sets the `stop_reason`."""
    if validation is None or validation.since_best < (settings.patience or 0):
        return False
    state.stop_reason = f"early stopping: no better validation score for {validation.since_best} rounds"
    return True
