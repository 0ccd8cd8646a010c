"""A round's hypothesis and vote; where the learner draws its rows, bad luck gets further tries.

References
----------
.. [1] P.-N. Tan, M. Steinbach, V. Kumar, "Introduction to data mining", Addison-Wesley (2005), algorithm 5.7.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from skewboost.boosting.rule import NO_EDGE, Rule
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.resampling import MAX_DRAWS

NO_LUCK = f"no edge left: {MAX_DRAWS} samples in a row, and no weak learner did better than chance on all rows"


def hypothesis_and_vote(rule: Rule, state: State, seed: int) -> tuple[Any, Term | None]:
    """What the learner finds and what the rule makes of it; no vote, with a `stop_reason`, if that is nothing.

    If a hypothesis from rows that were drawn by weight is wrong on more weight than it is right on, the weights go back
    to where they started, and the rows are drawn again ([1] steps 8 to 10). If it has no edge at all, which happens as
    soon as the last one comes up again, they are drawn again by the weights as they are. A sampler that does not draw
    by weight has a bias of its own, which may leave no edge, or that of the opposite, in draw after draw: then the
    round is fitted to all rows.
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
        of_the_opposite = learner.biased and state.step < 0 and not learner.last_try
        if vote is not None and not of_the_opposite:
            return h, vote
        if not learner.last_try:
            state.stop_reason = ""
    state.stop_reason = NO_LUCK if learner.draws and not learner.biased else state.stop_reason or NO_EDGE
    return None, None
