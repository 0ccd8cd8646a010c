"""The costs of portfolios, which are read when they decide: training does not depend on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skewboost.errors import InputError
from skewboost.fitting import last_step
from skewboost.meta.expected_cost import ExpectedCostMixin
from skewboost.meta.referral import check_refers_no_rows, referral_label
from skewboost.metrics.costs import expected_costs, largest_least_cost
from skewboost.parameters import check_params, number, optional
from skewboost.typing import Array

REJECT_COST = optional(number(0, None, open_low=True))


def check_gives_probabilities(owner: str, estimator: Any) -> None:
    """Raise if an estimator, of which the owner uses probabilities only, was told what to decide."""
    check_refers_no_rows(owner, estimator)
    estimator = last_step(estimator)
    if not isinstance(estimator, PortfolioCosts):
        return
    for name in ("cost", "goal"):
        value = getattr(estimator, name, None)
        if value is not None:
            raise InputError(
                f"{name}={value!r} of {type(estimator).__name__} has no effect, because {owner} uses its probabilities "
                "and not its decisions.",
                "Leave it at None.",
            )


class PortfolioCosts(ExpectedCostMixin):
    """What `cost`, `reject_cost` and `reject_label` of a portfolio say, now or at its fit."""

    reject_cost: float | None
    reject_label: Any
    _class_shares: Array
    _costs_are_means: bool  # whether the costs of the fit are the means of those of its rows

    @property
    def _shares(self) -> Array:
        return self._class_shares

    @property
    def _costs_are_balanced(self) -> bool:
        return super()._costs_are_balanced and (self._cost_was_set or not self._costs_are_means)

    @property
    def _costs_besides_misses(self) -> Array:
        """The costs that rows have in common, each with its own cost of a miss."""
        return self.cost_ if self._costs_are_means and not self._cost_was_set else super()._costs_besides_misses

    def _check_referral(self, has_effect: bool = True) -> None:
        """Raise if rows cannot be referred as `reject_cost` and `reject_label` say.

        `has_effect` says that there are no other costs than `cost_`, by which some rows must be referred.
        """
        if self.reject_cost is None:
            if self.reject_label is not None:
                raise InputError(
                    f"reject_label={self.reject_label!r} has no effect without reject_cost.", "Set reject_cost, too."
                )
            return
        check_params(self, reject_cost=REJECT_COST)
        referral_label(self.reject_label, self.classes_)
        if not has_effect:
            return
        price = self.reject_cost * (1.0 + 1e-9)  # the same number may be rounded otherwise
        undecided = expected_costs(np.full((1, len(self.classes_)), 1 / len(self.classes_)), self.cost_)
        if price >= undecided.min() and price >= (most := largest_least_cost(self.cost_)):
            raise InputError(
                f"reject_cost={self.reject_cost!r} has no effect: no decision has a higher expected cost than "
                f"{most:.4g}.",
                "Lower it, or leave it at None.",
            )

    def _check_decisions(self) -> None:
        """Raise if `predict` would."""
        super()._check_decisions()
        self._check_referral()

    @property
    def _refers(self) -> bool:
        """Whether rows may be referred."""
        return self.reject_cost is not None

    @property
    def reject_label_(self) -> Any:
        """The prediction for referred rows, if rows may be referred."""
        check_is_fitted(self)
        if not self._refers:
            raise AttributeError(f"This {type(self).__name__} refers no rows, so it has no reject_label_.")
        return referral_label(self.reject_label, self.classes_)

    @property
    def _first_is_positive(self) -> bool:
        return len(self.classes_) == 2 and bool(self.classes_[0] == self.pos_label_)

    @property
    def _sign(self) -> float:
        """-1 if the positive class, which scores favour, is the first one."""
        return -1.0 if self._first_is_positive else 1.0

    @property
    def _cost_offset(self) -> float:
        """What the costs add to the log-odds of the second class."""
        C = self.cost_
        return float(np.log(C[1, 0] - C[1, 1]) - np.log(C[0, 1] - C[0, 0]))
