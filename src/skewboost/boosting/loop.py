"""The loop that all variants share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from skewboost.boosting.model import Round
from skewboost.boosting.retry import hypothesis_and_vote
from skewboost.boosting.rule import Rule
from skewboost.boosting.state import State

# Who looks at the state of every round, between the vote and the move of the weights.
WATCHER: ContextVar[Callable[[State], None] | None] = ContextVar("WATCHER", default=None)


@contextmanager
def watched(look: Callable[[State], None]) -> Iterator[None]:
    """Within it, `look` sees the state of every new round, with the weights that the round was fitted under."""
    token = WATCHER.set(look)
    try:
        yield
    finally:
        WATCHER.reset(token)


def boost(rule: Rule, state: State, done: Iterable[Round] = (), seed: int = 0) -> Iterator[Round]:
    """Start the rule, and return the rounds: first those already `done`, replayed on the state, then new ones.

    Staging, early stopping, progress and interruption live with whoever consumes the rounds. They end by themselves
    when the rule has nothing to add; `state.stop_reason` then says why. The rule has started when this returns, and not
    only with the first round: whoever scores the rounds needs `state.link`.
    """
    state.link = rule.link(state)
    rule.start(state)
    if state.learner.draws:
        state.keep_first_weights()
    return _rounds(rule, state, done, seed)


def _rounds(rule: Rule, state: State, done: Iterable[Round], seed: int) -> Iterator[Round]:
    look = WATCHER.get()
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
        if look is not None:
            look(state)
        term = vote.scaled(state.learning_rate) if state.learning_rate != 1.0 else vote
        rule.update(state, h, term)
        state.learner.added(term)
        record = {"round": state.round, **rule.describe(state, h, vote), "loss": state.loss}
        if state.learner.draws:
            record["resets"] = state.n_resets
        if state.learner.biased:
            record["all_rows"] = float(state.learner.last_try)
        yield Round(term, record, h.importances)
