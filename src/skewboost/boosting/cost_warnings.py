"""Reasons to warn that decisions do not follow the costs that a fit was asked for."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace

import numpy as np

from skewboost.boosting.link import Link, TwoClasses
from skewboost.boosting.loop import hypothesis_and_vote
from skewboost.boosting.model import Model
from skewboost.boosting.row_splits import RowSplits
from skewboost.boosting.rule import PERFECT, Rule
from skewboost.boosting.state import State
from skewboost.boosting.training import Problem, Settings, train
from skewboost.engine.boundary import Engine
from skewboost.errors import InputError
from skewboost.learners.learner import Learner
from skewboost.typing import Array

MISSING_CONSTANT = math.log(2.0)  # how far log-odds may be off before a warning
FEW_EXAMPLES = 20  # of a class: too few to tell how frequent it is

# When to check on held-out rows whether a model is overconfident, and when to warn; measured by
# benchmarks/overconfidence.py
FEW_ROWS = 5000
MIN_SPREAD = 1.5
CERTAIN = 0.1  # the expected cost, relative to the better constant decision, below which a model is checked
EXCESS = 0.25  # how much more the decisions may cost on held-out rows


def missing_constant(name: str, rule: Rule, state: State, stop_reason: str, seed: int) -> str | None:
    """Say that a constant would change the predicted odds a lot and another round could not.

    This does not apply to boosting by resampling, which changes the odds as well.
    """
    off = 0.0 if state.learner.draws else abs(rule.missing_constant(state))
    if off < MISSING_CONSTANT or min(state.n_of_class) < FEW_EXAMPLES or stop_reason == PERFECT:
        return None
    state.round += 1
    _, vote = hypothesis_and_vote(rule, state, seed)
    if vote is not None and state.link.scale * abs(state.step) >= 0.5 * off:
        return None
    return (
        f"{name} cannot honour the costs on this table: its rounds cannot express the class frequencies, and the odds "
        f"are off by a factor of about {math.exp(min(off, 700.0)):.2g}. This happens with stumps on columns of few "
        "distinct values. Use trees, Stump(constant=True) or CSRAClassifier."
    )


def overconfidence(
    name: str,
    learner: Learner,
    problem: Problem,
    model: Model,
    splits: RowSplits,
    settings: Settings,
    engine: Engine,
) -> str | None:
    """Say that a model is so sure of its training rows that the costs have no effect, although it errs on others.

    If the model expects its decisions to cost next to nothing on few training rows, a second one with the same number
    of rounds is fitted to half of them and decides about the other half.
    """
    ratio, n_rows = problem.costs.ratio, len(problem.target)
    if max(ratio, 1.0 / ratio) < MIN_SPREAD or n_rows > FEW_ROWS or model.n_rounds == 0:
        return None
    expected = _expected_cost(model.link, model.score(engine, problem.table), problem, model.n_rounds)
    if expected >= CERTAIN:
        return None
    try:
        inner, outer = splits.for_early_stopping(problem.target, problem.weights, 0.5, seed=0)
    except InputError:  # too few rows of a class
        return None
    quiet = replace(settings, callbacks=(lambda n, _: n >= model.n_rounds,), verbose=0)
    half, other = Model(bins=model.bins), problem.take(outer)
    train(replace(problem.take(inner), rule=copy(problem.rule)), learner, engine, quiet, None, half)
    spent = _cost(half.link, half.score(engine, other.table), other, half.n_rounds)
    if spent - expected < EXCESS:
        return None
    return (
        f"{name} is overconfident on these {n_rows} rows, so that the costs have hardly any effect. Relative to the "
        f"better of 'flag all' and 'flag none', it expects its decisions to cost {expected:.2f}, but when it is fitted "
        f"to half of the rows they cost {spent:.2f} on the other half. Use SkewBoostClassifier(cost=...), "
        "early_stopping=True, or CGAdaClassifier(cost=..., calibrate='sigmoid')."
    )


def _weighed(problem: Problem) -> Array:
    """Return the cost of misclassifying every row, times its weight."""
    costs = problem.costs.of_rows(problem.target)
    return np.asarray(costs if problem.weights is None else costs * problem.weights)


def _constant(problem: Problem, each: Array) -> float:
    """Return the cost of the better constant decision."""
    return float(min(each[problem.target].sum(), each[~problem.target].sum()))


def _expected_cost(link: Link, F: Array, problem: Problem, n_rounds: int) -> float:
    """Return the cost that a model expects of its decisions, relative to the better constant decision."""
    assert isinstance(link, TwoClasses)
    p = link.proba(F, n_rounds)[:, link.positive]
    weights = np.ones(len(p)) if problem.weights is None else problem.weights
    spent = weights * np.minimum(problem.costs.positive * p, problem.costs.negative * (1.0 - p))
    return float(spent.sum()) / _constant(problem, _weighed(problem))


def _cost(link: Link, F: Array, problem: Problem, n_rounds: int) -> float:
    """Return the cost of a model's decisions, relative to the better constant decision."""
    assert isinstance(link, TwoClasses)
    each = _weighed(problem)
    wrong = (link.score(F, n_rounds) >= 0) != problem.target
    return float(each[wrong].sum()) / _constant(problem, each)
