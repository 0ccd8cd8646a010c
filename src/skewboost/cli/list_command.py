"""The command `list`: the catalogue of variants, and related methods."""

from __future__ import annotations

from skewboost.boosting.catalogue import Entry, catalogue, related_methods
from skewboost.cli.commands import List
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.method_options import method_names
from skewboost.cli.output import count, print_json, print_line, print_table


def run(request: List) -> None:
    """Print the variants whose name, paper or costs contain a text, with a verdict on each, and related methods."""
    text = request.text
    if request.as_json and text is not None:
        raise CommandError("--json lists all variants.", "Leave the argument out, or filter the JSON.")
    if request.as_json:
        print_json(list(map(_as_dict, catalogue())))
        return
    entries = [e for e in catalogue() if text is None or text.lower() in f"{e.name} {e.paper} {e.costs}".lower()]
    related = [m for m in related_methods() if text is None or text.lower() in f"{m.name} {m.paper}".lower()]
    if entries or not related:
        rows = [[e.name, e.paper, e.costs if e.cost_sensitive else "", e.verdict] for e in entries]
        print_table(["Name", "Paper", "Costs", "Verdict"], rows, left=range(4))
    print_line(f"{count(len(entries), 'variant')}; in Python, skewboost.<Name>Classifier. See docs/choosing.md.")
    if related:
        rows = [[m.name, m.paper, f"{m.advice} In Python, {' or '.join(m.use)}."] for m in related]
        print_line("")
        print_table(["Related method", "Paper", "What it is, and what to use"], rows, left=range(3))
    if text is None:
        others = [name for name in method_names() if name not in {e.name for e in entries}]
        print_line(f"`skewboost fit --method` also takes {', '.join(others)}: see docs/resampling.md.")


def _as_dict(entry: Entry) -> dict[str, object]:
    shown = ("paper", "equations", "needs", "costs", "regularised", "probabilistic", "verdict")
    named = {"name": entry.name, "class": f"skewboost.{entry.class_name}"}
    return named | {name: getattr(entry, name) for name in shown}
