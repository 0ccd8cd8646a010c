"""What mistakes cost, as the command line says it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skewboost.cli.data.column_types import as_number
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import number
from skewboost.cli.target_column import label_of
from skewboost.names import shown, spell

WAYS = "Give a number (a miss costs so many false alarms), balanced, or label=cost,label=cost"


def read_cost(text: str | None, classes: Sequence[Any]) -> Any:
    """A number, "balanced", ``{label: cost}``, or None where nothing is said."""
    if text is None:
        return None
    told = text.strip()
    if told.lower() == "balanced":
        return "balanced"
    if "=" not in told:
        cost = _number(told, text)
        if len(classes) > 2:
            example = ",".join(f"{spell(c)}={k}" for k, c in enumerate(classes, 1))
            raise CommandError(
                f"--cost {told} prices the misses of one class, but there are {len(classes)}. Price each: {example}"
            )
        return cost
    prices = {}
    for part in told.split(","):
        label, _, price = part.rpartition("=")
        prices[label_of(label, classes, "--cost")] = _number(price, text)
    lacking = [spell(c) for c in classes if c not in prices]
    if lacking:
        raise CommandError(f"--cost {text!r} has no price for class {', '.join(lacking)}. Add it: …,{lacking[0]}=1")
    return prices


def _number(told: str, text: str) -> float:
    try:
        value = as_number(told)
    except ValueError:
        raise CommandError(f"--cost {text!r} cannot be read. {WAYS}.") from None
    if not (0 < value < math.inf):
        raise CommandError(f"--cost {text!r}: a mistake must cost more than 0 and less than infinity. {WAYS}.")
    return value


def in_words(cost: Any, balanced: float | None = None) -> str:
    """What a cost means; `balanced` is what a miss then costs."""
    if cost is None or cost == "balanced":
        return "balanced" + ("" if balanced is None else f": a miss costs {balanced:.3g} false alarms")
    if isinstance(cost, Mapping):
        return "mistakes on " + ", ".join(f"{shown(k)} cost {number(v)}" for k, v in cost.items())
    return f"a miss costs {number(float(cost))} false alarms"
