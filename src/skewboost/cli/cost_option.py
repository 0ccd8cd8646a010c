"""The option --cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skewboost.cli.data.column_types import as_number
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import number
from skewboost.cli.target_column import find_label
from skewboost.names import shown, spell

REMEDY = "Give a number (the cost of a miss in false alarms), balanced, or label=cost,label=cost."


def read_cost(text: str | None, classes: Sequence[Any]) -> Any:
    """The cost as a number, "balanced" or ``{label: cost}``; None if the option is not given."""
    if text is None:
        return None
    if text.strip().lower() == "balanced":
        return "balanced"
    if "=" not in text:
        cost = _positive_number(text, text)
        if len(classes) > 2:
            example = ",".join(f"{spell(c)}={k}" for k, c in enumerate(classes, 1))
            raise CommandError(
                f"--cost {text.strip()} is the cost of missing one class of two, but there are {len(classes)} classes.",
                f"Give a cost for each class: {example}",
            )
        return cost
    costs = {}
    for part in text.strip().split(","):
        label, _, value = part.rpartition("=")
        costs[find_label(label, classes, "--cost")] = _positive_number(value, text)
    missing = [spell(c) for c in classes if c not in costs]
    if missing:
        raise CommandError(f"--cost {text!r} has no cost for class {', '.join(missing)}.", f"Add …,{missing[0]}=1")
    return costs


def _positive_number(part: str, text: str) -> float:
    try:
        value = as_number(part.strip())
    except ValueError:
        raise CommandError(f"--cost {text!r} is not a cost.", REMEDY) from None
    if not (0 < value < math.inf):
        raise CommandError(f"--cost {text!r}: a cost must be greater than 0 and finite.", REMEDY)
    return value


def describe_cost(cost: Any, balanced_ratio: float | None = None) -> str:
    """What a cost means; `balanced_ratio` is the cost of a miss if costs are balanced."""
    if cost is None or cost == "balanced":
        return "balanced" + ("" if balanced_ratio is None else f": a miss costs {balanced_ratio:.3g} false alarms")
    if isinstance(cost, Mapping):
        return "mistakes on " + ", ".join(f"{shown(k)} cost {number(v)}" for k, v in cost.items())
    return f"a miss costs {number(float(cost))} false alarms"
