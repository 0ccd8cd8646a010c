"""Numbers as words and digits, as a report says them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from scipy.special import betaincinv

from skewboost.names import shortened, shown, side_by_side

THIN = "\u202f"  # a narrow space that does not break
NONE = "–"
LONGEST_CLASS = 40  # letters


def digits(x: float, n: int = 3) -> str:
    r"""With so many significant digits, thousands apart.

    Examples
    --------
    >>> from skewboost.plots.report.words import digits
    >>> digits(0.012345), digits(30000.0, 5)
    ('0.0123', '30\u202f000')
    """
    if not math.isfinite(x):
        return NONE
    if x == 0:
        return "0"
    decimals = max(0, n - 1 - math.floor(math.log10(abs(x))))
    # a tie goes up, as in the browser
    text = f"{Decimal(abs(x)).quantize(Decimal(1).scaleb(-min(decimals, 12)), ROUND_HALF_UP):,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    whole, dot, rest = text.partition(".")
    whole = whole.replace(",", "" if len(whole) <= 5 else THIN)
    return ("−" if x < 0 else "") + whole + dot + rest


def count(x: float) -> str:
    """A number of rows; weights may make it a fraction."""
    return digits(round(x), 15) if x == round(x) or x >= 1000 else digits(x, 4)


def percent(x: float, n: int = 3) -> str:
    """A share."""
    if not math.isfinite(x):
        return NONE
    near = 0.99 < abs(x) < 1.0
    return digits(100.0 * x, n + 1 if near else n) + THIN + "%"


def one_in(share: float) -> str:
    """A share as "1 of 3", or as per cent where that would be far off.

    Examples
    --------
    >>> from skewboost.plots.report.words import one_in
    >>> one_in(0.34)
    '1 of 3'
    """
    if not math.isfinite(share) or share <= 0:
        return "none"
    if share == 1:
        return "all"
    n = 1.0 / share
    if n < 1.05:
        return "nearly all"
    if abs(n - round(n)) / n < 0.04 or n > 10:
        return f"1 of {digits(float(round(n)), 2 if n > 100 else 3)}"
    tenth = round(10 * share)
    return f"{tenth} of 10" if tenth not in (0, 10) else percent(share)


def class_names(positive: Any, negative: Any) -> tuple[str, str]:
    """What cases of two classes are called: by their names if these are words, else by their roles.

    Examples
    --------
    >>> from skewboost.plots.report.words import class_names
    >>> class_names(1, 0), class_names("fraud", "honest")
    (('positive (1)', 'negative (0)'), ('fraud', 'honest'))
    """
    first, second = side_by_side([positive, negative], LONGEST_CLASS)
    return (
        first if _is_word(positive) else f"positive ({first})",
        second if _is_word(negative) else f"negative ({second})",
    )


def class_name(value: Any) -> str:
    """One of them in a sentence: "fraud", "class 1"."""
    text = shortened(label(value), LONGEST_CLASS)
    return text if _is_word(value) else f"class {text}"


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and any(c.isalpha() for c in value)


def label(value: Any) -> str:
    """A class label, so that it is seen as it is."""
    return shown(value)


def interval(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Where a rate may lie, by Clopper and Pearson: exact, and if anything too wide.

    Examples
    --------
    >>> from skewboost.plots.report.words import interval
    >>> print("{:.3f} {:.3f}".format(*interval(8, 10)))
    0.444 0.975
    """
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if successes <= 0 else float(betaincinv(successes, trials - successes + 1.0, tail))
    high = 1.0 if successes >= trials else float(betaincinv(successes + 1.0, trials - successes, 1.0 - tail))
    return low, high
