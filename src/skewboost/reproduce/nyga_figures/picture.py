"""A figure of the thesis: what is computed for it, how it is drawn, and what the thesis says about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skewboost.boosting.cost_use import unquestioned_costs
from skewboost.reproduce.experiment import Results, Task
from skewboost.reproduce.report import Claim, Figure, Part, Table


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
    """

    number: str
    title: str
    choices: str
    caption: str
    tasks: Callable[[bool], Sequence[Task]]
    claims: Callable[[Results, bool], Sequence[Claim]]
    draw: Callable[[Results, bool], Any]
    tables: Callable[[Results, bool], Sequence[Table]] = no_tables

    def numbered_claims(self, results: Results, quick: bool) -> list[Claim]:
        """Return the claims, with the number of the figure."""
        return [replace(claim, text=f"{self.number}: {claim.text}") for claim in self.claims(results, quick)]

    def parts(self, results: Results, quick: bool) -> list[Part]:
        """Return a heading, the figure and the tables."""

        def draw() -> Any:
            with unquestioned_costs():  # models are fitted again to be drawn
                return self.draw(results, quick)

        heading = f"### Figure {self.number}: {self.title}"
        return [heading, Figure(self.number, f"Thesis: {self.caption}", draw), *self.tables(results, quick)]
