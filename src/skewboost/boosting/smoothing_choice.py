"""The parameter for the smoothing of votes."""

from __future__ import annotations

from dataclasses import replace

from skewboost.boosting.estimator import BaseBooster, booster
from skewboost.boosting.training import Settings
from skewboost.errors import InputError
from skewboost.learners import name_of, resolve
from skewboost.learners.learner import LABELS, PROBABILITIES
from skewboost.parameters import check_params, number, optional


@booster
class SmoothingChoice(BaseBooster):
    """Base class of boosters that add the smoothed log-odds of leaves."""

    smoothing: float | None = None

    def _check_params(self) -> None:
        super()._check_params()
        check_params(self, smoothing=optional(number(0, None)))
        if self.smoothing is None:
            return
        learner = resolve(self._weak_learner(), self._sampler())
        if PROBABILITIES in learner.answers and LABELS not in learner.answers:
            raise InputError(
                f"smoothing={self.smoothing!r} has no effect, because {name_of(learner)} provides probabilities, and "
                "no weights of leaves are counted.",
                "Leave it at None, or pass the classifier itself as estimator.",
            )

    def _settings(self) -> Settings:
        return replace(super()._settings(), smoothing=None if self.smoothing is None else float(self.smoothing))
