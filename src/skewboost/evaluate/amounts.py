"""Numbers that are read as text: with a decimal comma, separators of thousands, a currency or a percent sign."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

ENOUGH = 0.95  # of the cells of a column are such numbers, or plain ones
COMMA, THOUSANDS, CURRENCY, PERCENT = "decimal commas", "thousands separators", "currency signs", "percent signs"

_PERCENT = "[%‰]"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|MXN|ZAR|AUD|CAD|NZD|Fr\\.?|kr\\.?|zł|Rs\\.?"
_UNIT = rf"(?:{_PERCENT}|[$€£¥₹₽₩₪₫₴₺₦฿]|[A-Z]{{1,3}}\$|{_CODES})"
_GAP = "[ \u00a0\u202f]"
_GROUP = f"[.,'\u2019]|{_GAP}"
_NUMBER = rf"[1-9]\d{{0,2}}(?:(?:{_GROUP})\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_AMOUNT = re.compile(rf"\s*([-+\u2212]?){_GAP}*({_UNIT})?{_GAP}*([-+\u2212]?)({_NUMBER}){_GAP}*({_UNIT})?\s*")
_PLAIN = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_GROUPED = re.compile(rf"[1-9]\d{{0,2}}(?P<by>{_GROUP})\d{{3}}(?:(?P=by)\d{{3}})*(?P<rest>[.,]\d+)?")


@dataclass
class Amounts:
    """Counts of the cells of a column of text; they do not depend on the order of the rows.

    Examples
    --------
    >>> from skewboost.evaluate.amounts import Amounts
    >>> found = Amounts()
    >>> found.add(["16508,93", "12"], [1, 3])
    >>> str(found)
    "numbers with decimal commas, such as '16508,93', which are read as categories. Write them as 16508.93."
    """

    n_cells: int = 0
    n_numbers: int = 0  # spelled in one of these ways, or plain
    spelled: set[str] = field(default_factory=set)  # in which ways
    example: str = ""
    maybe_grouped: str = ""  # a plain number whose point may divide its thousands
    has_points: bool = False  # whether the point of a plain number is a decimal point

    def add(self, categories: Iterable[str], counts: Iterable[int]) -> None:
        """Count cells, given by category."""
        for text, n in zip(categories, counts):
            self.n_cells += n
            if _PLAIN.fullmatch(text):
                self.n_numbers += n
                if _GROUPED.fullmatch(text.strip()):
                    self.maybe_grouped = _longer(self.maybe_grouped, text)
                else:
                    self.has_points |= "." in text
            elif ways := ways_of(text):
                self.n_numbers += n
                self.spelled |= ways
                self.example = _longer(self.example, text)

    @property
    def ways(self) -> set[str]:
        """The ways in which numbers are spelled."""
        return self.spelled | ({THOUSANDS} if self.maybe_grouped and not self.has_points else set())

    def __bool__(self) -> bool:
        """Whether the cells are numbers, and some are not spelled plainly."""
        return bool(self.ways) and self.n_numbers >= ENOUGH * self.n_cells

    def __str__(self) -> str:
        """What they are, and how to write them."""
        return f"{self.described}, which are read as categories. Write them as {self.plain}."

    @property
    def described(self) -> str:
        """What they are, with an example."""
        ways = [way for way in (COMMA, THOUSANDS, CURRENCY, PERCENT) if way in self.ways]
        return f"numbers with {' and '.join(ways)}, such as {self.example or self.maybe_grouped!r}"

    @property
    def plain(self) -> str:
        """The example, spelled such that it is read as a number."""
        found = _AMOUNT.fullmatch(self.example or self.maybe_grouped)
        assert found is not None
        number = found[4]
        grouped = _GROUPED.fullmatch(number)
        if grouped is not None and not (COMMA in self.ways and grouped["by"] == "," and not grouped["rest"]):
            number = number.replace(grouped["by"], "")
        sign = "-" if {"-", "\u2212"} & {found[1], found[3]} else ""
        return sign + number.replace(",", ".")


def ways_of(text: str) -> set[str]:
    """What keeps a number from being read as one; nothing if it is no number, or a plain one."""
    found = _AMOUNT.fullmatch(text)
    if found is None or _PLAIN.fullmatch(text):
        return set()
    ways = {PERCENT if re.fullmatch(_PERCENT, unit) else CURRENCY for unit in (found[2], found[5]) if unit}
    grouped = _GROUPED.fullmatch(found[4])
    if grouped is not None:
        ways.add(THOUSANDS)
    if "," in (found[4] if grouped is None else grouped["rest"] or ""):
        ways.add(COMMA)
    return ways


def _longer(first: str, second: str) -> str:
    """The longer text, or the smaller one of two that are equally long, whatever their order."""
    return min(first or second, second, key=lambda text: (-len(text), text))
