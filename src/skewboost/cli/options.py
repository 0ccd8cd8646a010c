"""Options that several commands share, and what the shell completes them with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def complete_method(incomplete: str) -> list[str]:
    """Names of the catalogue."""
    from skewboost.cli.methods import names

    return [name for name in names() if name.startswith(incomplete)]


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the data that the command line names already."""
    words = [context.params.get("data"), *context.args]  # an option without its value leaves all words unread
    files = [str(word) for word in words if word and Path(str(word)).is_file()]
    from skewboost.cli.data import open_data

    try:
        columns = list(open_data(files[-1]).columns) if files else []
    except (ValueError, OSError, ImportError):  # completion has nobody to complain to
        return []
    return [c for c in columns if c.startswith(incomplete)]


def complete_learner(incomplete: str) -> list[str]:
    """Weak learners."""
    from skewboost.cli.methods import LEARNERS

    return [name for name in LEARNERS if name.startswith(incomplete.lower())]


def check_jobs(n_jobs: int) -> int:
    """All cores, or so many threads."""
    if n_jobs != -1 and n_jobs < 1:
        raise typer.BadParameter(f"{n_jobs} is neither -1 (all cores) nor a number of threads")
    return n_jobs


def check_test(test: float | None) -> float | None:
    """A share."""
    if test is not None and not 0 <= test < 1:
        raise typer.BadParameter(f"{test} is no share: give a number from 0 to below 1, such as 0.25")
    return test


def columns_in(texts: list[str] | None) -> tuple[str, ...]:
    """Names joined by commas, in one option or in several."""
    return tuple(name.strip() for text in texts or () for name in text.split(",") if name.strip())


def examples(*commands: str) -> str:
    """The end of a help text, a line for each command."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, **more)


FORMATS = "CSV, TSV, Parquet, Feather, ARFF or LIBSVM, gzip or not"
Data = Annotated[str, typer.Argument(help=f"{FORMATS}.", metavar="DATA")]
ModelFile = Annotated[str, typer.Argument(help="A file that `fit` has written.", metavar="MODEL")]
Target = Annotated[
    str | None,
    _option("--target", "-t", help="The column to predict.", metavar="COLUMN", autocompletion=complete_column),
]
KnownTarget = Annotated[
    str | None,
    _option(
        "--target", "-t", help="The column of the truth; the model knows its own.", metavar="COLUMN",
        autocompletion=complete_column,
    ),
]  # fmt: skip
Positive = Annotated[str | None, _option("--positive", help="The class to find; else the rarer one.", metavar="LABEL")]
Method = Annotated[
    str | None,
    _option(
        "--method", "-m", help="Any name of `skewboost list`; CSRA if nothing is said.", metavar="NAME",
        autocompletion=complete_method,
    ),
]  # fmt: skip
Cost = Annotated[
    str | None,
    _option("--cost", help="20: a miss costs 20 false alarms; or balanced; or label=cost,label=cost.", metavar="COST"),
]
Drop = Annotated[
    list[str] | None,
    _option("--drop", help="Columns to leave out.", metavar="COL,COL", autocompletion=complete_column),
]
Weight = Annotated[
    str | None,
    _option("--weight", help="The column that says how many examples a row stands for.", metavar="COLUMN",
            autocompletion=complete_column),
]  # fmt: skip
Rounds = Annotated[int | None, _option("--rounds", "-r", help="Rounds of boosting; 100 for most.", min=1, metavar="N")]
Learner = Annotated[
    str | None,
    _option("--learner", help="What a round fits: stump, tree, histogram or line.", metavar="NAME",
            autocompletion=complete_learner),
]  # fmt: skip
Settings = Annotated[
    list[str] | None,
    _option(
        "--set", help="Any other parameter, as in --set learning_rate=0.1; repeat it for more.", metavar="NAME=VALUE"
    ),
]
Test = Annotated[
    float | None,
    _option("--test", help="Share of the rows to hold out and measure on; 0 fits to all rows. [0.25; with a goal 0]",
            callback=check_test, metavar="SHARE"),
]  # fmt: skip
Seed = Annotated[int, _option("--seed", help="For everything that is drawn at random.", min=0, metavar="N")]
Jobs = Annotated[int, _option("--n-jobs", "-j", help="Threads; -1 is all cores.", callback=check_jobs, metavar="N")]
Json = Annotated[bool, _option("--json", help="One JSON document on stdout, and nothing else.")]
ModelOut = Annotated[str | None, _option("--output", "-o", help="Write the model here, as JSON.", metavar="FILE")]
