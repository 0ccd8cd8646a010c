"""How boosters use the parameter `cost`: in training, and not after it."""

from __future__ import annotations

from typing import Any

from skewboost.boosting.link import Link
from skewboost.errors import InputError
from skewboost.metrics.costs import Costs, check_cost, costs_of, costs_of_mistakes, plain_cost
from skewboost.typing import Array


class CostMixin:
    """The costs of a fit, which training cannot undo."""

    cost: Any
    classes_: Array
    pos_label_: Any
    _link: Link
    _own: dict[str, str]  # the parameters of the fit, as text

    _equal_by_default = False  # whether costs are equal, not balanced, if none are given

    @property
    def _asks_for_costs(self) -> bool:
        """Whether the parameters have costs as numbers."""
        return not (self.cost is None or isinstance(self.cost, str))

    def _costs_of_rows(self, costs: Array, labels: Array) -> Array:
        """Return what it costs to misclassify each row, from the costs that `fit` got."""
        return costs_of_mistakes(costs, self.cost, labels, self.classes_, getattr(self, "pos_label_", None))

    def _costs(self, each: Array | None, labels: Array, weights: Array | None) -> Costs:
        """Return the costs of two classes."""
        if self._equal_by_default and self.cost is None and each is None:
            return Costs()
        check_cost(self.cost, self.classes_)
        return costs_of(self.cost, each, labels, self.pos_label_, self.classes_, weights)

    def _check_decisions(self) -> None:
        """Raise if costs have been set since `fit` that cannot be honoured."""
        self._deciding_link  # noqa: B018

    @property
    def _deciding_link(self) -> Link:
        """The link, if decisions are by the costs that `cost` says."""
        link, then = self._link, self._own["cost"]
        return link if repr(plain_cost(self.cost)) == then else self._with_other_costs(link)

    def _with_other_costs(self, link: Link) -> Link:
        """Return the link of the same ensemble with the costs that were set after `fit`, or raise."""
        raise InputError(
            f"cost={self.cost!r} was set after fit, but this {type(self).__name__} was trained with "
            f"cost={self._own['cost']}.",
            "Call fit again, or set it back. To decide by other costs without training, put MinimumRiskClassifier "
            "around sklearn.frozen.FrozenEstimator(model).",
        )
