"""A figure of the thesis: what is computed for it, how it is drawn, and what the thesis says about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skewboost.boosting.cost_use import unquestioned_costs
from skewboost.reproduce.experiment import Results, Task
from skewboost.reproduce.page_parts import HELD, NOT_REPRODUCED, UNDECIDED, Claim, Figure, Part, Table


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
        Whether the data of the thesis are not public, and others are generated in their place.
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

    def numbered_claims(self, results: Results, quick: bool) -> list[Claim]:
        """Return the claims, with the number of the figure."""
        return [replace(claim, text=f"{self.number}: {claim.text}") for claim in self.claims(results, quick)]

    def parts(self, results: Results, quick: bool) -> list[Part]:
        """Return a heading, the figure and the tables."""

        def draw() -> Any:
            with unquestioned_costs():  # models are fitted again to be drawn
                return self.draw(results, quick)

        heading = f"### Figure {self.number}: {self.title}{' (generated data)' if self.stand_in else ''}"
        data = ", on generated data" if self.stand_in else ""
        caption = f"Thesis: {self.caption} Here{data}: {summary(self.claims(results, quick))}"
        return [heading, Figure(self.number, caption, draw), *self.tables(results, quick)]


def summary(claims: Sequence[Claim]) -> str:
    """Return how many claims held, and which did not."""
    held = sum(claim.verdict == HELD for claim in claims)
    texts = [f"{held} of {len(claims)} claims held."]
    for verdict in (NOT_REPRODUCED, UNDECIDED):
        others = [claim.text for claim in claims if claim.verdict == verdict]
        if others:
            texts.append(f"{verdict.capitalize()}: {'; '.join(others)}.")
    return " ".join(texts)
