"""The options of `skewboost reproduce`, which the command line finds by an entry point."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from skewboost.cli.options import Command, Json, check_jobs, option


def complete_experiment(incomplete: str) -> list[str]:
    """Names of experiments, and `list` and `all`."""
    from skewboost_reproductions.experiment_runs import names

    return [name for name in ("all", "list", *names()) if name.startswith(incomplete)]


@dataclass(frozen=True, kw_only=True)
class Reproduce(Command):
    """Run a published experiment, and write its tables and figures next to the printed ones.

    NAME is an experiment, `list` or `all`. Writes a page, tables and figures to a folder. A run that is interrupted is
    continued by the next one with the same folder.
    """

    examples = (
        "skewboost reproduce list",
        "skewboost reproduce sun-table1 --quick",
        "skewboost reproduce all --out reproductions",
    )

    name: Annotated[
        str, typer.Argument(help="An experiment, list, or all.", metavar="NAME", autocompletion=complete_experiment)
    ]
    quick: Annotated[bool, option("--quick", "Fewer repetitions of the same protocol.")] = False
    out: Annotated[Path, option("--out", "The folder to write to.")] = Path("skewboost-reproductions")
    again: Annotated[bool, option("--again", "Delete earlier results first.")] = False
    n_jobs: Annotated[int, option("--n-jobs -j", "Processes; -1 for one per core.", "N", callback=check_jobs)] = -1
    as_json: Json = False
