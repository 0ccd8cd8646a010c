"""Numbers, fractions and class names as a report writes them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from scipy.special import betaincinv

from skewboost.names import shortened, shown, side_by_side

THIN = "\u202f"  # a narrow no-break space
NONE = "–"
LONGEST_CLASS = 40  # characters


def digits(x: float, n: int = 3) -> str:
    """Format a number with n significant digits and spaces between thousands."""
    if not math.isfinite(x):
        return NONE
    if x == 0:
        return "0"
    decimals = max(0, n - 1 - math.floor(math.log10(abs(x))))
    # ties are rounded up, as in the browser
    text = f"{Decimal(abs(x)).quantize(Decimal(1).scaleb(-min(decimals, 12)), ROUND_HALF_UP):,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    whole, dot, rest = text.partition(".")
    whole = whole.replace(",", "" if len(whole) <= 5 else THIN)
    return ("−" if x < 0 else "") + whole + dot + rest


def count(x: float) -> str:
    """Format a number of rows, which is a fraction for fractional weights."""
    return digits(round(x), 15) if x == round(x) or x >= 1000 else digits(x, 4)


def percent(x: float, n: int = 3) -> str:
    """Format a fraction as a percentage with n significant digits, and one more close to 100 %."""
    if not math.isfinite(x):
        return NONE
    return digits(100.0 * x, n + 1 if 0.99 < abs(x) < 1.0 else n) + THIN + "%"


def class_names(positive: Any, negative: Any) -> tuple[str, str]:
    """Name two classes by their labels if these are words, else by "positive" and "negative"."""
    first, second = side_by_side([positive, negative], LONGEST_CLASS)
    return (
        first if _is_word(positive) else f"positive ({first})",
        second if _is_word(negative) else f"negative ({second})",
    )


def class_name(value: Any) -> str:
    """Name a class in a sentence: "fraud", "class 1"."""
    text = shortened(shown(value), LONGEST_CLASS)
    return text if _is_word(value) else f"class {text}"


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and any(c.isalpha() for c in value)


def interval(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact (conservative) interval of Clopper and Pearson for a rate."""
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if successes <= 0 else float(betaincinv(successes, trials - successes + 1.0, tail))
    high = 1.0 if successes >= trials else float(betaincinv(successes + 1.0, trials - successes, 1.0 - tail))
    return low, high
