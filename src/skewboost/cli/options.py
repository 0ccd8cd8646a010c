"""Options that several commands share, and what the shell completes them with."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from skewboost.boosting.catalogue import RECOMMENDED

SHELL = frozenset("$`\"'\\;&|<>(){}[]*?!#~")  # what shells would act on, when a name is put into their line


def complete_method(incomplete: str) -> list[str]:
    """Names of methods."""
    from skewboost.cli.estimator_names import names

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
    return [c for c in columns if c.startswith(incomplete) and c.isprintable() and not SHELL.intersection(c)]


def complete_learner(incomplete: str) -> list[str]:
    """Weak learners."""
    from skewboost.cli.estimator_names import LEARNERS

    return [name for name in LEARNERS if name.startswith(incomplete.lower())]


def complete_form(incomplete: str) -> list[str]:
    """What a model can be exported to."""
    from skewboost.cli.export_command import ENDINGS

    return [form for form in ENDINGS.values() if form.startswith(incomplete.lower())]


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


def check_threshold(threshold: float | None) -> float | None:
    """A probability."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise typer.BadParameter(f"{threshold} is no probability: give a number from 0 to 1, such as 0.05")
    return threshold


def given(context: typer.Context) -> set[str]:
    """The options that the user gave, by their long names."""
    told = {p.name: p.opts[0] for p in context.command.params if p.name is not None}
    sources = {name: context.get_parameter_source(name) for name in told}
    return {told[name] for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def methods_in(texts: list[str] | None) -> tuple[str, ...]:
    """Names joined by commas, in one option or in several; what is set behind a name may have commas in brackets."""
    split = [name.strip() for text in texts or () for name in re.split(r",(?![^\[{]*[\]}])", text)]
    return tuple(filter(None, split))


def make_folder(out: Path) -> Path:
    """Before any training, so that nobody waits for pictures that cannot be written."""
    problem = ""
    if out.exists() and not out.is_dir():
        problem = f"{out} is a file, not a folder"
    else:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot make the folder {out}: {error.strerror}"
        else:
            problem = "" if os.access(out, os.W_OK) else f"no permission to write to {out}"
    if problem:
        raise typer.BadParameter(problem, param_hint="--out")
    return out


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
        "--method", "-m", help=f"Any name of `skewboost list`. [{RECOMMENDED}]", metavar="NAME",
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

# ------------------------------------------------- of one or two commands

NewRows = Annotated[str, typer.Argument(help="New rows; - is standard input.", metavar="DATA")]
AnswersOut = Annotated[
    str | None,
    _option("--output", "-o", help=".csv, .tsv (or .gz), .parquet, .feather; else stdout.", metavar="FILE"),
]
Keep = Annotated[
    list[str] | None,
    _option("--keep", help="Columns to carry along; all is all.", metavar="COL,COL", autocompletion=complete_column),
]
Methods = Annotated[
    list[str] | None,
    _option(
        "--methods",
        "-m",
        help="Names of `skewboost list`; sound: those whose costs mean what they say; or all. [sound]",
        metavar="A,B,C",
        autocompletion=complete_method,
    ),
]
Threshold = Annotated[
    float | None,
    _option("--threshold", help="Flag rows from this probability of the positive class on; else the model decides.",
            callback=check_threshold, metavar="P"),
]  # fmt: skip
KnownWeight = Annotated[
    str | None,
    _option("--weight", help="The column that counts examples; as in the fit, '' for none.", metavar="COLUMN",
            autocompletion=complete_column),
]  # fmt: skip
Folds = Annotated[int, _option("--cv", help="Folds.", min=2, metavar="N")]
Repeats = Annotated[int, _option("--repeats", help="How often the folds are drawn anew.", min=1, metavar="N")]
Results = Annotated[
    str | None,
    _option("--results", help="Keep finished fits here, and go on from there next time.", metavar="FILE.jsonl"),
]
SortBy = Annotated[str, _option("--sort-by", help="The measure that decides.", metavar="MEASURE")]
Plot = Annotated[str | None, _option("--plot", help="Draw it too: .png, .svg or .pdf.", metavar="FILE")]
FitsAtOnce = Annotated[
    int, _option("--n-jobs", "-j", help="Fits at the same time; -1 is all cores.", callback=check_jobs)
]
Goal = Annotated[
    str, typer.Argument(help='What decisions have to achieve: "recall>=0.95 and precision>=30%".', metavar="GOAL")
]
Then = Annotated[
    str | None, _option("--then", help="The measure that decides among models that do it.", metavar="MEASURE")
]
Confidence = Annotated[
    float, _option("--confidence", help="Of the certificate; 0 is no promise.", min=0, max=0.9999, metavar="SHARE")
]
FrontierPlot = Annotated[
    str | None, _option("--plot", help="Draw what can be had: .png, .svg or .pdf.", metavar="FILE")
]
WeightInGoal = Annotated[
    str | None,
    _option("--weight", help="The column that says how much a row counts.", metavar="COLUMN",
            autocompletion=complete_column),
]  # fmt: skip
Groups = Annotated[
    str | None,
    _option("--groups", help="The column whose equal values say which rows belong together.", metavar="COLUMN",
            autocompletion=complete_column),
]  # fmt: skip
CountsRows = Annotated[
    bool, _option("--counts", help="Equal rows, and a --weight, count independent examples; else they are copies.")
]
Closest = Annotated[bool, _option("--closest", help="Give the closest model if none reaches it; exit code 1.")]
RowsToExplain = Annotated[str | None, typer.Argument(help="Rows to explain one of.", metavar="[DATA]")]
Row = Annotated[
    str | None,
    _option("--row", help="Which row: its number (from 1), first, or worst: the most wrong.", metavar="ROW"),
]
Top = Annotated[int, _option("--top", help="How many columns to show.", min=1, metavar="N")]
ModelOrData = Annotated[str, typer.Argument(help="A model; or data, and a model is fitted.", metavar="MODEL|DATA")]
UnseenRows = Annotated[str | None, typer.Argument(help="Rows that the model has not seen.", metavar="[DATA]")]
ReportOut = Annotated[str, _option("--output", "-o", help="Where to write it.", metavar="FILE")]
Title = Annotated[str | None, _option("--title", help="Of the page.")]
Rivals = Annotated[
    list[str] | None,
    _option("--methods", help="To compare with, where a model is fitted.", metavar="A,B,C"),
]
Form = Annotated[
    str | None,
    _option("--to", help="python, c, sql or onnx; else as -o ends.", metavar="FORM", autocompletion=complete_form),
]
ProgramOut = Annotated[
    str | None, _option("--output", "-o", help=".py, .c, .sql or .onnx; else stdout.", metavar="FILE")
]
FunctionName = Annotated[str | None, _option("--name", help="What functions or columns are called.")]
SqlTable = Annotated[str | None, _option("--table", help="SQL: the table to read from.")]
GoalInstead = Annotated[
    str | None,
    _option("--goal", help='What to reach instead: "recall>=0.95"; see `skewboost goal`.', metavar="GOAL"),
]
