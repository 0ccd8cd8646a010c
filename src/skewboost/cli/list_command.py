"""The catalogue on the screen, or as JSON."""

from __future__ import annotations

from rich.table import Table

from skewboost.boosting.catalogue import Entry, catalogue
from skewboost.cli.estimator_names import names
from skewboost.cli.output import out


def records() -> list[dict[str, object]]:
    """All that the catalogue says, for machines."""
    return [_record(entry) for entry in catalogue()]


def _record(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "class": f"skewboost.{entry.class_name}",
        "paper": entry.paper,
        "equations": entry.equations,
        "needs": entry.needs,
        "costs": entry.costs,
        "regularised": entry.regularised,
        "probabilistic": entry.probabilistic,
        "verdict": entry.verdict,
    }


def show(wanted: str | None) -> None:
    """A table of the variants whose name, paper or costs contain what is wanted, and their verdicts."""
    found = [e for e in catalogue() if wanted is None or wanted.lower() in f"{e.name} {e.paper} {e.costs}".lower()]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Name", "Paper", "Costs", "Verdict"):
        table.add_column(heading, overflow="fold")
    for entry in found:
        table.add_row(entry.name, entry.paper, entry.costs if entry.cost_sensitive else "", entry.verdict)
    console = out()
    console.print(table)
    plural = "" if len(found) == 1 else "s"
    console.print(f"\n{len(found)} variant{plural}; in Python, skewboost.<Name>Classifier. See docs/choosing.md.")
    if wanted is None:
        others = [name for name in names() if name not in {e.name for e in found}]
        console.print(f"`skewboost fit --method` also takes {', '.join(others)}: see docs/resampling.md.")
