"""The hypothesis and the vote of a round, with further attempts where the learner is fitted to sampled rows.

References
----------
.. [tan2005] P.-N. Tan, M. Steinbach, V. Kumar, "Introduction to data mining", Addison-Wesley (2005), algorithm 5.7.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from skewboost.boosting.rule import NO_EDGE, Rule
from skewboost.boosting.state import State
from skewboost.engine.scoring import Term
from skewboost.learners.resampling import MAX_DRAWS

NO_LUCK = f"no edge left: no weak learner was better than chance on all rows in {MAX_DRAWS} samples in a row"


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
        of_the_opposite = learner.biased and state.step < 0 and not learner.last_try
        if vote is not None and not of_the_opposite:
            return h, vote
        if not learner.last_try:
            state.stop_reason = ""
    state.stop_reason = NO_LUCK if learner.draws and not learner.biased else state.stop_reason or NO_EDGE
    return None, None
