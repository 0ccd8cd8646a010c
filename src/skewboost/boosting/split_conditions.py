"""The conditions of splits as text."""

from __future__ import annotations

from skewboost.engine.binning import Feature
from skewboost.engine.boundary import ABSTAIN, LEFT, MISSING, Split
from skewboost.names import quoted, side_by_side

OTHER, OR_MISSING = "other", "or missing"
LONGEST = 40  # characters of a category
MAX_LISTED = 4  # a condition with more categories lists the excluded ones, if these are fewer


def condition(split: Split, side: int, feature: Feature) -> str:
    """Return the condition for one side of a split, such as "≤ 2.5" or "in {a, b}"."""
    text = _of_categories(split, side, feature) if feature.nominal else _of_numbers(split, side, feature)
    takes_missing = split.child[MISSING] == side
    if text and takes_missing:
        return f"{text} {OR_MISSING}"
    return text or ("is missing" if takes_missing else "is nothing")


def _of_numbers(split: Split, side: int, feature: Feature) -> str:
    if split.threshold >= len(feature.cuts):  # all numbers on one side, missing values on the other
        return "is known" if side == LEFT else ""
    sign = "≤" if side == LEFT else ">"
    return f"{sign} {feature.cuts[split.threshold]:.6g}"


def _of_categories(split: Split, side: int, feature: Feature) -> str:
    names = _names(feature)
    own = [name for code, name in enumerate(names) if split.child[code] == side]
    others = [name for code, name in enumerate(names) if split.child[code] not in (side, ABSTAIN)]
    if own and not others:
        return "is known"
    if len(own) > MAX_LISTED and len(others) < len(own):
        return f"≠ {others[0]}" if len(others) == 1 else f"not in {{{', '.join(others)}}}"
    if len(own) == 1:
        return f"= {own[0]}"
    return f"in {{{', '.join(own)}}}" if own else ""


def _names(feature: Feature) -> list[str]:
    """Return the names of the categories, quoted where they would be ambiguous in the condition."""
    assert feature.categories is not None
    rest = [OTHER] if feature.rest else []
    names = side_by_side(feature.categories, LONGEST, rest)
    return [*(quoted(n) if any(mark in n for mark in (", ", "{", "}", OR_MISSING)) else n for n in names), *rest]
