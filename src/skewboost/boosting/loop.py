"""The loop that all variants share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from skewboost.boosting.model import Round
from skewboost.boosting.retry import hypothesis_and_vote
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State

# Called with the state of every new round, between the vote and the update of the weights.
OBSERVER: ContextVar[Callable[[State], None] | None] = ContextVar("OBSERVER", default=None)


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
        record = {"round": state.round, **rule.describe(state, h, vote), "loss": state.loss}
        if state.learner.draws:
            record["resets"] = state.n_resets
        if state.learner.biased:
            record["all_rows"] = float(state.learner.last_try)
        yield Round(term, record, h.importances)
