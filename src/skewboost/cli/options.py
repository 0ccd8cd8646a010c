"""How arguments and options are declared, and those that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from skewboost.boosting.catalogue import RECOMMENDED

SHELL = frozenset("$`\"'\\;&|<>(){}[]*?!#~")  # names with these characters are not completed
FORMATS = "CSV, TSV, Parquet, Feather, ARFF or LIBSVM, gzip or not"
LEARNERS = ("stump", "tree", "histogram", "line")
FORMS = {".py": "python", ".c": "c", ".sql": "sql", ".onnx": "onnx"}


def option(names: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    """An option, by its names separated by spaces."""
    return typer.Option(*names.split(), help=help, metavar=metavar, **more)


def column(names: str, help: str, metavar: str = "COLUMN") -> Any:
    """An option whose value is completed to a column of the data."""
    return option(names, help, metavar, autocompletion=complete_column)


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the data file on the command line."""
    # an option without a value leaves all words in args
    words = [context.params.get("data"), context.params.get("rows"), *context.args]
    files = [str(word) for word in words if word and Path(str(word)).is_file()]
    from skewboost.cli.data import open_data

    try:
        columns = list(open_data(files[-1]).columns) if files else []
    except (ValueError, OSError, ImportError):  # completion cannot report errors
        return []
    return [c for c in columns if c.startswith(incomplete) and c.isprintable() and not SHELL.intersection(c)]


def complete_method(incomplete: str) -> list[str]:
    """Names of methods."""
    from skewboost.cli.method_options import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def complete_from(words: Sequence[str]) -> Callable[[str], list[str]]:
    """A completion to one of some words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete.lower())]

    return complete


def check(passes: Callable[[Any], bool], allowed: str) -> Callable[[Any], Any]:
    """A callback that refuses values; None passes, as an option that is not given."""

    def checked(value: Any) -> Any:
        if value is not None and not passes(value):
            raise typer.BadParameter(f"{value} must be {allowed}")
        return value

    return checked


check_jobs = check(lambda n: n == -1 or n >= 1, "-1 (all cores) or a positive number")
check_test = check(lambda part: 0 <= part < 1, "at least 0 and less than 1, such as 0.25")
check_threshold = check(lambda p: 0 <= p <= 1, "a probability from 0 to 1, such as 0.05")


Text = str | None
Words = list[str] | None
Data = Annotated[str, typer.Argument(help=f"{FORMATS}.", metavar="DATA")]
ModelFile = Annotated[str, typer.Argument(help="A model file that `fit` wrote.", metavar="MODEL")]
Target = Annotated[Text, column("--target -t", "The column to predict.")]
KnownTarget = Annotated[Text, column("--target -t", "The column of the labels; by default that of the fit.")]
COST_HELP = "20 (a miss costs 20 false alarms), balanced, or label=cost,label=cost."
Cost = Annotated[Text, option("--cost", COST_HELP, "COST")]
KnownWeight = Annotated[Text, column("--weight", "The column of weights; by default that of the fit, '' for none.")]
THRESHOLD_HELP = "Predict the positive class if its probability is at least this; by default the model decides."
Threshold = Annotated[float | None, option("--threshold", THRESHOLD_HELP, "P", callback=check_threshold)]
Plot = Annotated[Text, option("--plot", "Also draw the result, as .png, .svg or .pdf.", "FILE")]
Jobs = Annotated[int, option("--n-jobs -j", "Threads; -1 for all cores.", "N", callback=check_jobs)]
Fits = Annotated[int, option("--n-jobs -j", "Fits at the same time; -1 for all cores.", "N", callback=check_jobs)]
Folds = Annotated[int, option("--cv", "The number of folds.", "N", min=2)]
Repeats = Annotated[int, option("--repeats", "How often to repeat with new folds.", "N", min=1)]
Json = Annotated[bool, option("--json", "Print one JSON document.")]


class Command:
    """What the commands have in common."""

    examples: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = (
        "model",
        "data",
        "rows",
    )  # fields that are paths of files to read, if it has them
    writes: ClassVar[dict[str, str]] = {"output": "-o", "plot": "--plot", "results": "--results"}  # and to write

    @classmethod
    def command_name(cls) -> str:
        """What the user types: bias-variance for BiasVariance."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    @property
    def module(self) -> str:
        """The module that runs the command, beside that of the class."""
        return f"{self.command_name().replace('-', '_')}_command"

    @property
    def inputs(self) -> list[str]:
        """The files to read."""
        return [path for name in self.reads if (path := getattr(self, name, None)) is not None]

    @property
    def outputs(self) -> dict[str, str]:
        """The files to write, by option."""
        given = {option: getattr(self, name, None) for name, option in self.writes.items()}
        return {option: path for option, path in given.items() if path is not None}


@dataclass(frozen=True, kw_only=True)
class Learning(Command):
    """What the commands that fit models have in common."""

    data: Data
    target: Target = None
    cost: Cost = None
    positive: Annotated[Text, option("--positive", "The positive class; by default the rarer one.", "LABEL")] = None
    rounds: Annotated[
        int | None, option("--rounds -r", f"Rounds of boosting, for other methods than {RECOMMENDED}.", "N", min=1)
    ] = None
    learner: Annotated[
        Text,
        option(
            "--learner", "The weak learner of other methods: stump, tree, histogram or line.", "NAME",
            autocompletion=complete_from(LEARNERS),
        ),
    ] = None  # fmt: skip
    settings: Annotated[
        Words,
        option("--set", "Another parameter, such as --set effort=quick; may be repeated.", "NAME=VALUE"),
    ] = None
    drop: Annotated[Words, column("--drop", "Columns to leave out.", "COL,COL")] = None
    group: Annotated[
        Text, column("--group", "A column with equal values in rows that belong together; no split divides them.")
    ] = None
    time: Annotated[
        Text,
        column("--time", "A column of dates or numbers; models are measured on later rows than they are fitted to."),
    ] = None
    weight: Annotated[Text, column("--weight", "A column with the number of examples that a row stands for.")] = None
    labels: Annotated[
        Text,
        option(
            "--labels",
            "fold: labels that differ only in case or in spaces at their ends are one class; exact: each value is one.",
            "RULE", autocompletion=complete_from(("fold", "exact")),
        ),
    ] = None  # fmt: skip
    seed: Annotated[int, option("--seed", "The seed of random numbers.", "N", min=0)] = 0
    n_jobs: Jobs = -1
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class OneMethod(Learning):
    """What the commands about one method have in common."""

    method: Annotated[
        Text,
        option(
            "--method -m",
            f"Another method, from `skewboost list`. [{RECOMMENDED}]",
            "NAME",
            autocompletion=complete_method,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Fitting(OneMethod):
    """What `fit`, `goal` and `report` have in common."""

    output: Annotated[Text, option("--output -o", "Write the model here, as JSON.", "FILE")] = None
    test: Annotated[
        float | None,
        option(
            "--test", "Fraction of the rows to hold out and measure on; 0 fits to all rows. [0.25; with a goal 0]",
            "FRACTION", callback=check_test,
        ),
    ] = None  # fmt: skip
