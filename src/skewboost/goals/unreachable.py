"""The error of goals that are not reached."""

from __future__ import annotations

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
        remedy: str = CLOSEST,
        *,
        search: dict[str, Array] | None = None,
        parameter: str = "allow_unmet",
    ) -> None:
        super().__init__(problem, remedy)
        self.search_ = search or {}
        self.parameter = parameter
