"""The loop that all variants share.

References
----------
.. [tan2005] P.-N. Tan, M. Steinbach, V. Kumar, "Introduction to data mining", Addison-Wesley (2005), algorithm 5.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from skewboost.boosting.model import Round
from skewboost.boosting.rule import NO_EDGE, Rule
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.resampling import MAX_DRAWS

# Called with the state of every new round, between the vote and the update of the weights.
OBSERVER: ContextVar[Callable[[State], None] | None] = ContextVar("OBSERVER", default=None)

NO_LUCK = f"no edge left: no weak learner was better than chance on all rows in {MAX_DRAWS} samples in a row"


@contextmanager
def observed(observer: Callable[[State], None]) -> Iterator[None]:
    """Within this context `observer` is called with the state of every new round, before its weights are updated."""
    token = OBSERVER.set(observer)
    try:
        yield
    finally:
        OBSERVER.reset(token)


def boost(rule: Rule, state: State, done: Iterable[Round] = (), seed: int = 0) -> Iterator[Round]:
    """Start the rule, and return an iterator over the rounds.

    Rounds that are already `done` come first and are replayed on the state; new rounds follow. The caller is
    responsible for staging, early stopping, progress and interruption. The iterator ends when the rule has nothing to
    add, and `state.stop_reason` then says why. The rule starts before this function returns, because the caller needs
    `state.link` to score the rounds.
    """
    state.link = rule.link(state)
    rule.start(state)
    if state.learner.draws:
        state.keep_first_weights()
    return _rounds(rule, state, done, seed)


def _rounds(rule: Rule, state: State, done: Iterable[Round], seed: int) -> Iterator[Round]:
    observer = OBSERVER.get()
    for old in done:
        state.round += 1
        if old.record.get("resets"):
            state.reset()
        state.step = old.record.get("step", 1.0)
        rule.update(state, None, old.term)
        state.learner.added(old.term)
        yield old
    while state.round < state.n_rounds and not state.stop_reason:
        state.round += 1
        h, vote = hypothesis_and_vote(rule, state, seed)
        if vote is None:
            return
        if observer is not None:
            observer(state)
        term = vote.scaled(state.learning_rate) if state.learning_rate != 1.0 else vote
        rule.update(state, h, term)
        state.learner.added(term)
        record = {"round": state.round, "criterion": h.criterion}
        if rule.has_step:
            record["step"] = state.step
        record["loss"] = state.loss
        if state.learner.draws:
            record["resets"] = state.n_resets
        if state.learner.biased:
            record["all_rows"] = float(state.learner.last_try)
        yield Round(term, record, h.importances)


def hypothesis_and_vote(rule: Rule, state: State, seed: int) -> tuple[Any, Term | None]:
    """Return the hypothesis of the learner and the vote of the rule, or no vote and a `stop_reason`.

    Rows may be sampled in proportion to the weights. If a hypothesis is then wrong on more than half of the weight, the
    weights are reset to the initial ones and the rows are sampled again ([tan2005]_ steps 8 to 10). If the hypothesis
    has no edge, as when the previous one is found again, the rows are sampled again with the present weights. A sampler
    that ignores the weights is biased, and its hypotheses may have no edge, or a negative one, in every sample. The
    last attempt is therefore fitted to all rows.
    """
    learner = state.learner
    state.n_resets = 0
    for k in range(learner.tries):
        learner.last_try = k == learner.tries - 1
        h = rule.ask(state, partial(np.random.default_rng, [seed, state.round] + [k] * (k > 0)))
        if learner.rejects(h):
            state.reset()
            continue
        vote = None if h is None else rule.vote(state, h)
        if vote is not None:
            vote = learner.constrained(vote)
        of_the_opposite = learner.biased and state.step < 0 and not learner.last_try
        if vote is not None and not of_the_opposite:
            return h, vote
        if not learner.last_try:
            state.stop_reason = ""
    state.stop_reason = NO_LUCK if learner.draws and not learner.biased else state.stop_reason or NO_EDGE
    return None, None
