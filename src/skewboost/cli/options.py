"""The options of the commands, and their completion in the shell."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from skewboost.boosting.catalogue import RECOMMENDED

WITH_GOAL = "`skewboost goal` with "  # `fit --goal` lacks some options of `goal`
SHELL = frozenset("$`\"'\\;&|<>(){}[]*?!#~")  # names with these characters are not completed


def complete_method(incomplete: str) -> list[str]:
    """Names of methods."""
    from skewboost.cli.method_options import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the data file on the command line."""
    words = [context.params.get("data"), *context.args]  # an option without a value leaves all words in args
    files = [str(word) for word in words if word and Path(str(word)).is_file()]
    from skewboost.cli.data import open_data

    try:
        columns = list(open_data(files[-1]).columns) if files else []
    except (ValueError, OSError, ImportError):  # completion cannot report errors
        return []
    return [c for c in columns if c.startswith(incomplete) and c.isprintable() and not SHELL.intersection(c)]


def complete_learner(incomplete: str) -> list[str]:
    """Weak learners."""
    from skewboost.cli.method_options import LEARNERS

    return [name for name in LEARNERS if name.startswith(incomplete.lower())]


def complete_form(incomplete: str) -> list[str]:
    """Forms of exported models."""
    from skewboost.cli.export_command import FORMS

    return [form for form in FORMS.values() if form.startswith(incomplete.lower())]


def check_jobs(n_jobs: int) -> int:
    """Check a number of threads."""
    if n_jobs != -1 and n_jobs < 1:
        raise typer.BadParameter(f"{n_jobs} must be -1 (all cores) or a positive number")
    return n_jobs


def check_test(test: float | None) -> float | None:
    """Check a fraction of the rows."""
    if test is not None and not 0 <= test < 1:
        raise typer.BadParameter(f"{test} must be at least 0 and less than 1, such as 0.25")
    return test


def check_threshold(threshold: float | None) -> float | None:
    """Check a probability."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise typer.BadParameter(f"{threshold} must be a probability from 0 to 1, such as 0.05")
    return threshold


def given(context: typer.Context) -> set[str]:
    """The long names of the options that the user gave."""
    options = {p.name: p.opts[0] for p in context.command.params if p.name is not None}
    sources = {name: context.get_parameter_source(name) for name in options}
    return {options[name] for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def split_methods(texts: list[str] | None) -> tuple[str, ...]:
    """Methods separated by commas, in one or more options; their settings may have commas in brackets."""
    split = [name.strip() for text in texts or () for name in re.split(r",(?![^\[{]*[\]}])", text)]
    return tuple(filter(None, split))


def make_folder(out: Path) -> Path:
    """Make a folder, or raise before any work is done."""
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
    """The examples at the end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, **more)


def _column(*names: str, help: str, metavar: str = "COLUMN") -> Any:
    return _option(*names, help=help, metavar=metavar, autocompletion=complete_column)


FORMATS = "CSV, TSV, Parquet, Feather, ARFF or LIBSVM, gzip or not"
Data = Annotated[str, typer.Argument(help=f"{FORMATS}.", metavar="DATA")]
ModelFile = Annotated[str, typer.Argument(help="A model file that `fit` wrote.", metavar="MODEL")]
Target = Annotated[str | None, _column("--target", "-t", help="The column to predict.")]
KnownTarget = Annotated[
    str | None, _column("--target", "-t", help="The column of the labels; by default that of the fit.")
]
Positive = Annotated[
    str | None, _option("--positive", help="The positive class; by default the rarer one.", metavar="LABEL")
]
METHOD_HELP = f"A name from `skewboost list`. [{RECOMMENDED}]"
Method = Annotated[
    str | None, _option("--method", "-m", help=METHOD_HELP, metavar="NAME", autocompletion=complete_method)
]
COST_HELP = "20 (a miss costs 20 false alarms), balanced, or label=cost,label=cost."
Cost = Annotated[str | None, _option("--cost", help=COST_HELP, metavar="COST")]
Drop = Annotated[list[str] | None, _column("--drop", help="Columns to leave out.", metavar="COL,COL")]
Weight = Annotated[str | None, _column("--weight", help="A column with the number of examples that a row stands for.")]
Rounds = Annotated[
    int | None, _option("--rounds", "-r", help="Rounds of boosting; 100 for most methods.", min=1, metavar="N")
]
LEARNER_HELP = "The weak learner: stump, tree, histogram or line."
Learner = Annotated[
    str | None, _option("--learner", help=LEARNER_HELP, metavar="NAME", autocompletion=complete_learner)
]
SET_HELP = "Another parameter, such as --set learning_rate=0.1; may be repeated."
Settings = Annotated[list[str] | None, _option("--set", help=SET_HELP, metavar="NAME=VALUE")]
TEST_HELP = "Fraction of the rows to hold out and measure on; 0 fits to all rows. [0.25; with a goal 0]"
Test = Annotated[float | None, _option("--test", help=TEST_HELP, callback=check_test, metavar="FRACTION")]
Seed = Annotated[int, _option("--seed", help="The seed of random numbers.", min=0, metavar="N")]
Jobs = Annotated[int, _option("--n-jobs", "-j", help="Threads; -1 for all cores.", callback=check_jobs, metavar="N")]
Json = Annotated[bool, _option("--json", help="Print one JSON document.")]
ModelOut = Annotated[str | None, _option("--output", "-o", help="Write the model here, as JSON.", metavar="FILE")]

# Options of one or two commands

NewRows = Annotated[str, typer.Argument(help="New rows; - for standard input.", metavar="DATA")]
PREDICTIONS_HELP = "A .csv, .tsv (or .gz), .parquet or .feather file; by default stdout."
PredictionsOut = Annotated[str | None, _option("--output", "-o", help=PREDICTIONS_HELP, metavar="FILE")]
Keep = Annotated[
    list[str] | None,
    _column("--keep", help="Columns to copy to the output; all for all columns.", metavar="COL,COL"),
]
METHODS_HELP = "Names from `skewboost list`; sound (costs are used as theory asks) or all. [sound]"
Methods = Annotated[
    list[str] | None,
    _option("--methods", "-m", help=METHODS_HELP, metavar="A,B,C", autocompletion=complete_method),
]
THRESHOLD_HELP = "Predict the positive class if its probability is at least this; by default the model decides."
Threshold = Annotated[float | None, _option("--threshold", help=THRESHOLD_HELP, callback=check_threshold, metavar="P")]
KnownWeight = Annotated[
    str | None, _column("--weight", help="The column of weights; by default that of the fit, '' for none.")
]
Folds = Annotated[int, _option("--cv", help="The number of folds.", min=2, metavar="N")]
Repeats = Annotated[int, _option("--repeats", help="How often to repeat with new folds.", min=1, metavar="N")]
RESULTS_HELP = "Save finished fits here, and continue from there next time."
Results = Annotated[str | None, _option("--results", help=RESULTS_HELP, metavar="FILE.jsonl")]
SortBy = Annotated[str, _option("--sort-by", help="The measure to sort and test by.", metavar="MEASURE")]
Plot = Annotated[str | None, _option("--plot", help="Also draw the result, as .png, .svg or .pdf.", metavar="FILE")]
FitsAtOnce = Annotated[
    int, _option("--n-jobs", "-j", help="Fits at the same time; -1 for all cores.", callback=check_jobs)
]
GOAL_HELP = 'The goal, such as "recall>=0.95 and precision>=30%".'
Goal = Annotated[str, typer.Argument(help=GOAL_HELP, metavar="GOAL")]
GoalInstead = Annotated[
    str | None, _option("--goal", help='A goal such as "recall>=0.95"; see `skewboost goal`.', metavar="GOAL")
]
THEN_HELP = "The measure to optimise among models that reach the goal."
Then = Annotated[str | None, _option("--then", help=THEN_HELP, metavar="MEASURE")]
CONFIDENCE_HELP = "Of the certificate; 0 for no certificate."
Confidence = Annotated[float, _option("--confidence", help=CONFIDENCE_HELP, min=0, max=0.9999, metavar="P")]
FRONTIER_HELP = "Draw which goals can be reached, as .png, .svg or .pdf."
FrontierPlot = Annotated[str | None, _option("--plot", help=FRONTIER_HELP, metavar="FILE")]
WeightInGoal = Annotated[str | None, _column("--weight", help="The column of the weights of the rows.")]
Groups = Annotated[str | None, _column("--groups", help="A column with equal values in rows that belong together.")]
COUNTS_HELP = "Equal rows, and a --weight, are independent examples; by default they are copies."
CountsRows = Annotated[bool, _option("--counts", help=COUNTS_HELP)]
CLOSEST_HELP = "If the goal is not reached, give the closest model; exit code 1."
Closest = Annotated[bool, _option("--closest", help=CLOSEST_HELP)]
RowsToExplain = Annotated[str | None, typer.Argument(help="A file with the row to explain.", metavar="[DATA]")]
ROW_HELP = "The number of the row (from 1), first, or worst (the worst prediction)."
Row = Annotated[str | None, _option("--row", help=ROW_HELP, metavar="ROW")]
Top = Annotated[int, _option("--top", help="How many columns to show.", min=1, metavar="N")]
ModelOrData = Annotated[str, typer.Argument(help="A model; or data to fit a model to.", metavar="MODEL|DATA")]
UnseenRows = Annotated[str | None, typer.Argument(help="Rows that the model was not fitted to.", metavar="[DATA]")]
ReportOut = Annotated[str, _option("--output", "-o", help="The file to write.", metavar="FILE")]
Title = Annotated[str | None, _option("--title", help="The title of the page.")]
RIVALS_HELP = "Methods to compare with, if a model is fitted."
Rivals = Annotated[list[str] | None, _option("--methods", help=RIVALS_HELP, metavar="A,B,C")]
FORM_HELP = "python, c, sql or onnx; by default the ending of -o."
Form = Annotated[str | None, _option("--to", help=FORM_HELP, metavar="FORM", autocompletion=complete_form)]
PROGRAM_HELP = "A .py, .c, .sql or .onnx file; by default stdout."
ProgramOut = Annotated[str | None, _option("--output", "-o", help=PROGRAM_HELP, metavar="FILE")]
FunctionName = Annotated[str | None, _option("--name", help="The name of the function or columns.")]
SqlTable = Annotated[str | None, _option("--table", help="SQL: the name of the table.")]
