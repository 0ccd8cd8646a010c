"""Claims of papers, and verdicts on them from tests of our numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy import stats

from skewboost_reproductions.estimates import Estimate, estimate

HELD, HELD_ON_STAND_INS = "held", "held on stand-ins"
COMPATIBLE, BY_CONSTRUCTION = "compatible", "by construction"
UNDECIDED = "undecided"
NOT_ON_STAND_INS, NOT_REPRODUCED = "not on stand-ins", "not reproduced"
MEANINGS = {
    HELD: "significant at 5 %, or true of numbers without chance, by a protocol that was fixed before the run",
    HELD_ON_STAND_INS: "the same, but some of the data stand in for those of the paper, which are not at hand: "
    "generated tables, points in place of a sketch, or other data sets of the kind",
    COMPATIBLE: "our numbers agree, which shows little: a printed number of one draw lies where the next of our draws "
    "does with 95 % confidence, a number of data sets is at least the printed one, or the reading of the paper was "
    "chosen after the run",
    BY_CONSTRUCTION: "true whatever is run: an identity, or a property that our data were made to have",
    UNDECIDED: "our numbers show neither the claim nor its opposite",
    NOT_ON_STAND_INS: "the opposite is significant at 5 %, or true of numbers without chance, on stand-ins",
    NOT_REPRODUCED: "the same on the data of the paper",
}
VERDICTS = tuple(MEANINGS)
FEWEST_DRAWS = 5


@dataclass(frozen=True)
class Claim:
    """What the paper says, whether our numbers say it too, and the numbers.

    Attributes
    ----------
    text : str
        The claim.
    verdict : str
        One of `VERDICTS`.
    evidence : str
        Our numbers.
    of_paper : bool, default=True
        Whether the paper says it; else it is a question of ours, or one that the paper leaves open.
    """

    text: str
    verdict: str
    evidence: str
    of_paper: bool = True


def on_stand_ins(claim: Claim) -> Claim:
    """Return a claim that was tested on other data than those of the paper."""
    verdicts = {HELD: HELD_ON_STAND_INS, NOT_REPRODUCED: NOT_ON_STAND_INS}
    return replace(claim, verdict=verdicts.get(claim.verdict, claim.verdict))


def by_construction(claim: Claim) -> Claim:
    """Return a claim that cannot fail; should it do so, that is shown."""
    return replace(claim, verdict=BY_CONSTRUCTION) if claim.verdict in (HELD, COMPATIBLE) else claim


def of_chosen_reading(claim: Claim) -> Claim:
    """Return a claim under a reading that was chosen after the run, because its numbers are the closest."""
    return replace(claim, verdict=COMPATIBLE) if claim.verdict == HELD else claim


def asked(claim: Claim) -> Claim:
    """Return a statement that the paper does not make."""
    return replace(claim, of_paper=False)


def counted(claims: Sequence[Claim]) -> dict[str, int]:
    """Return how many claims of the paper have each verdict; if the paper makes none, how many answers."""
    own = [claim for claim in claims if claim.of_paper] or claims
    return {verdict: sum(claim.verdict == verdict for claim in own) for verdict in VERDICTS}


def claim_of_order(text: str, difference: Estimate, digits: int = 3, *, what: str = "difference") -> Claim:
    """Return a claim that a mean is above 0: held or not reproduced if that is significant at 5 %, else undecided."""
    p = difference.p_value
    if math.isnan(p) or p >= 0.05:
        verdict = UNDECIDED
    else:
        verdict = HELD if difference.mean > 0.0 else NOT_REPRODUCED
    chance = f", p = {p:.2g}" if math.isfinite(p) else ""
    return Claim(text, verdict, f"{what} {difference.mean:+.{digits}f} ± {difference.error:.{digits}f}{chance}")


def claim_of_equality(text: str, difference: Estimate, margin: float, digits: int = 3) -> Claim:
    """Return a claim that a mean is within a margin of 0, by its 95 % confidence interval."""
    low, high = difference.interval()
    if max(abs(low), abs(high)) <= margin:
        verdict = HELD
    elif low > margin or high < -margin:
        verdict = NOT_REPRODUCED
    else:
        verdict = UNDECIDED
    interval = f"difference from {low:+.{digits}f} to {high:+.{digits}f} with 95 % confidence"
    return Claim(text, verdict, f"{interval}; at most {margin:g} counts as equal")


def claim_of_all(text: str, differences: Mapping[str, Estimate], digits: int = 3) -> Claim:
    """Return a claim that several means are above 0.

    It held if each is, significantly at 5 %; it is not reproduced if one is below 0, significantly at 5 % after
    Bonferroni's correction; else it is undecided.
    """
    evidence = "; ".join(
        f"{name} {found.mean:+.{digits}f} ± {found.error:.{digits}f}" for name, found in differences.items()
    )
    if all(found.mean > 0.0 and found.p_value < 0.05 for found in differences.values()):
        verdict = HELD
    elif any(found.mean < 0.0 and found.p_value * len(differences) < 0.05 for found in differences.values()):
        verdict = NOT_REPRODUCED
    else:
        verdict = UNDECIDED
    return Claim(text, verdict, evidence)


def claim_of_equal_means(text: str, differences: Mapping[str, Estimate], margin: float) -> Claim:
    """Return a claim that several mean differences are within a margin of 0.

    It held if the 95 % confidence intervals, with Bonferroni's correction, are all within the margin; it is not
    reproduced if one of them lies outside; else it is undecided.
    """
    ends = [found.interval(1.0 - 0.05 / len(differences)) for found in differences.values()]
    if all(max(abs(low), abs(high)) <= margin for low, high in ends):
        verdict = HELD
    elif any(low > margin or high < -margin for low, high in ends):
        verdict = NOT_REPRODUCED
    else:
        verdict = UNDECIDED
    name, found = max(differences.items(), key=lambda item: abs(item[1].mean))
    what = f"largest difference {name} {found.text()}" if name else f"difference {found.mean:+.3f} ± {found.error:.3f}"
    return Claim(text, verdict, f"{what}; up to {margin:g} counts as equal")


def claim_of_draw(text: str, values: Sequence[float] | Any, printed: float, digits: int = 3) -> Claim:
    """Return a claim that a printed number, which comes from one draw, is another draw like ours.

    It is compatible if the number is in the interval that has the next draw with 95 % confidence, by Student's t
    distribution, and not reproduced if it is outside. The interval of few draws is so wide that it decides nothing.
    """
    mean, n = estimate(values), len(values)
    deviation = mean.error * math.sqrt(n)
    half = float(stats.t.ppf(0.975, n - 1)) * deviation * math.sqrt(1.0 + 1.0 / n)
    ends = f"{mean.mean - half:.{digits}f} to {mean.mean + half:.{digits}f}"
    evidence = f"{mean.mean:.{digits}f} is the mean of {n} draws; the next one is in {ends} with 95 % confidence"
    inside = UNDECIDED if n < FEWEST_DRAWS else COMPATIBLE
    return Claim(text, inside if abs(printed - mean.mean) <= half else NOT_REPRODUCED, evidence)


def claim_of_fact(text: str, holds: bool, evidence: str) -> Claim:
    """Return a claim that is true or false of numbers without chance."""
    return Claim(text, HELD if holds else NOT_REPRODUCED, evidence)
