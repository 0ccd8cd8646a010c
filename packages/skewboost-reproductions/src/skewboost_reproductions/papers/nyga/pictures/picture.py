"""A figure of the thesis: what is computed for it, how it is drawn, and what the thesis says about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skewboost.boosting.cost_use import unquestioned_costs
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Figure, Part, Table
from skewboost_reproductions.verdicts import NOT_ON_STAND_INS, NOT_REPRODUCED, UNDECIDED, Claim, counted, on_stand_ins


def no_tables(results: Results, quick: bool) -> list[Table]:
    """Return no tables."""
    return []


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure.

    Attributes
    ----------
    number : str
        Its number in the thesis.
    title : str
        What it shows.
    choices : str
        What is done, and what the thesis leaves open, for the protocol.
    caption : str
        What the thesis says that one sees.
    tasks : callable
        ``tasks(quick)`` returns the tasks.
    claims : callable
        ``claims(results, quick)`` returns the claims of the thesis about the figure.
    draw : callable
        ``draw(results, quick)`` returns a figure of Matplotlib.
    tables : callable
        ``tables(results, quick)`` returns tables that are shown below the figure.
    stand_in : bool, default=False
        Whether the data of the thesis are not public, or not printed, and others are made in their place.
    """

    number: str
    title: str
    choices: str
    caption: str
    tasks: Callable[[bool], Sequence[Task]]
    claims: Callable[[Results, bool], Sequence[Claim]]
    draw: Callable[[Results, bool], Any]
    tables: Callable[[Results, bool], Sequence[Table]] = no_tables
    stand_in: bool = False

    def judged(self, results: Results, quick: bool) -> list[Claim]:
        """Return the claims, with the verdicts that they have on stand-ins if the data are some."""
        claims = self.claims(results, quick)
        return [on_stand_ins(claim) for claim in claims] if self.stand_in else list(claims)

    def numbered_claims(self, results: Results, quick: bool) -> list[Claim]:
        """Return the claims, with the number of the figure; a group of figures has it in their texts."""
        number = "" if "-" in self.number else f"{self.number}: "
        return [replace(claim, text=f"{number}{claim.text}") for claim in self.judged(results, quick)]

    def parts(self, results: Results, quick: bool) -> list[Part]:
        """Return a heading, the figure and the tables."""

        def draw() -> Any:
            with unquestioned_costs():  # models are fitted again to be drawn
                return self.draw(results, quick)

        heading = f"### Figure {self.number}: {self.title}{' (stand-in)' if self.stand_in else ''}"
        data = ", on a stand-in" if self.stand_in else ""
        caption = f"Thesis: {self.caption} Here{data}: {summary(self.judged(results, quick))}"
        return [heading, Figure(self.number, caption, draw), *self.tables(results, quick)]


def summary(claims: Sequence[Claim]) -> str:
    """Return how many claims have each verdict, and which did not hold."""
    if not claims:
        return "it shows the data, and nothing is claimed."
    counts = [f"{n} {verdict}" for verdict, n in counted(claims).items() if n]
    texts = [f"of {len(claims)} claims {', '.join(counts)}."]
    for verdict in (NOT_REPRODUCED, NOT_ON_STAND_INS, UNDECIDED):
        others = [claim.text for claim in claims if claim.verdict == verdict]
        if others:
            texts.append(f"{verdict.capitalize()}: {'; '.join(others)}.")
    return " ".join(texts)
