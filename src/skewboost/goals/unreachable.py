"""The error of goals that are not reached."""

from __future__ import annotations

from typing import Any

from skewboost.errors import InputError
from skewboost.typing import Array

CLOSEST = "Set allow_unmet=True to get the closest model."

BOTH = "tune='both' may do better."

MORE_EXAMPLES = f"Get more examples, lower the confidence, or set confidence=None for no promise. {CLOSEST}"


class GoalNotReachableError(InputError):
    """No model was found that meets the goal; `search_` has all that were tried.

    `parameter` is the parameter of the search that the remedy would change: "confidence" if there are too few rows to
    certify the goal, else "allow_unmet".
    """

    def __init__(
        self,
        problem: str,
        remedy: str = "",
        *,
        search: dict[str, Array] | None = None,
        parameter: str = "allow_unmet",
    ) -> None:
        super().__init__(problem, remedy)
        self.search_ = search or {}
        self.parameter = parameter


def way_out(search: Any) -> str:
    """Return what to do if the goal of a `GoalSearchCV` is not reached."""
    trains_with_costs = getattr(search._base, "_costs_in_training", True)
    return f"{BOTH} {CLOSEST}" if search.tune == "threshold" and trains_with_costs else CLOSEST
