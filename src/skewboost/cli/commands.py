"""The commands: a dataclass each, whose fields are the arguments and options, and whose docstring is the help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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


def complete_experiment(incomplete: str) -> list[str]:
    """Names of experiments, and `list` and `all`."""
    from skewboost.reproduce.experiment_runs import names

    return [name for name in ("all", "list", *names()) if name.startswith(incomplete)]


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

    @property
    def module(self) -> str:
        """The module that runs the command."""
        return f"{type(self).__name__.lower()}_command"

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
class Info(Command):
    """Summarise a table.

    Prints its classes, missing values and categories, and columns that look suspicious.
    """

    examples = ("skewboost info claims.csv", "skewboost info claims.csv --target fraud")

    data: Annotated[str, typer.Argument(help=f"{FORMATS}; - for standard input.", metavar="DATA")]
    target: Target = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Learning(Command):
    """What `fit`, `goal`, `report` and `compare` have in common."""

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
class Fitting(Learning):
    """What `fit`, `goal` and `report` have in common."""

    method: Annotated[
        Text,
        option(
            "--method -m",
            f"Another method, from `skewboost list`. [{RECOMMENDED}]",
            "NAME",
            autocompletion=complete_method,
        ),
    ] = None
    output: Annotated[Text, option("--output -o", "Write the model here, as JSON.", "FILE")] = None
    test: Annotated[
        float | None,
        option(
            "--test", "Fraction of the rows to hold out and measure on; 0 fits to all rows. [0.25; with a goal 0]",
            "FRACTION", callback=check_test,
        ),
    ] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Fit(Fitting):
    """Fit a model to a table and write it to a file.

    The model that is written is the one that was measured on held-out rows. With --test 0 it is fitted to all rows and
    not measured. All columns except the target are features, and those that options name. Text columns are
    categories, and cells may be empty.
    """

    examples = (
        "skewboost fit claims.csv --target fraud --cost 20 -o model.json",
        "skewboost fit claims.csv --target fraud --time date -o model.json",
        'skewboost fit claims.csv --target fraud --goal "recall>=0.95" -o model.json',
        'skewboost fit kinds.csv --target kind --cost "a=1,b=5" --set effort=quick',
    )

    goal: Annotated[Text, option("--goal", 'A goal such as "recall>=0.95"; see `skewboost goal`.', "GOAL")] = None

    @property
    def module(self) -> str:
        """The module that runs the command."""
        return "fit_command" if self.goal is None else "goal_command"


@dataclass(frozen=True, kw_only=True)
class Predict(Command):
    """Predict the classes of new rows.

    Writes the prediction, the probability and the score of the rows, in their order. With two classes, the probability
    and the score are those of the positive class; with more there is a column of each for every class. Columns may be
    in any order, and the model ignores columns that it does not need. Large files are read and written in chunks. A
    warning says if the rows differ clearly from the training rows.
    """

    examples = (
        "skewboost predict model.json new.csv -o answers.csv --keep id",
        "skewboost predict model.json new.csv --cost-column amount",
        "zcat new.csv.gz | skewboost predict model.json - | head",
    )

    model: ModelFile
    data: Annotated[str, typer.Argument(help="New rows; - for standard input.", metavar="DATA")]
    output: Annotated[
        Text,
        option("--output -o", "A .csv, .tsv (or .gz), .parquet or .feather file; by default stdout.", "FILE"),
    ] = None
    keep: Annotated[Words, column("--keep", "Columns to copy to the output; all for all columns.", "COL,COL")] = None
    threshold: Threshold = None
    cost_column: Annotated[
        Text,
        column(
            "--cost-column",
            "A column with the cost of a miss in each row. A false alarm costs what `fit --cost a=1,b=5` said, else 1. "
            f"{RECOMMENDED} only.",
        ),
    ] = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Evaluate(Command):
    """Measure a model on rows whose labels are known.

    Prints the confusion matrix, the measures of each class, all other measures, the cost of the mistakes, and the
    threshold with the lowest cost. A warning says if the rows differ clearly from the training rows.
    """

    examples = ("skewboost evaluate model.json later.csv --cost 20",)

    model: ModelFile
    data: Data
    target: KnownTarget = None
    cost: Cost = None
    weight: KnownWeight = None
    threshold: Threshold = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Compare(Learning):
    """Compare methods by cross-validation.

    All methods get the same folds, and a test says whether they differ significantly. --rounds, --learner and --set
    apply to all methods that have such a parameter. Settings of one method follow its name, as in
    --methods CSRA,CGAda:calibrate=sigmoid:learner=tree. Ctrl-C prints the results so far; with --results the same
    command continues from there.
    """

    examples = (
        "skewboost compare claims.csv --target fraud --cost 20",
        "skewboost compare claims.csv -t fraud -m sound,CGAda:calibrate=sigmoid",
        "skewboost compare claims.csv -t fraud -m CSRA,AdaC2 --results out.jsonl",
    )

    methods: Annotated[
        Words,
        option(
            "--methods -m", f"{RECOMMENDED}, names from `skewboost list`, sound (costs are used as theory asks) or "
            "all. [sound]", "A,B,C", autocompletion=complete_method,
        ),
    ] = None  # fmt: skip
    cv: Annotated[int, option("--cv", "The number of folds.", "N", min=2)] = 5
    repeats: Annotated[int, option("--repeats", "How often to repeat with new folds.", "N", min=1)] = 1
    results: Annotated[
        Text, option("--results", "Save finished fits here, and continue from there next time.", "FILE.jsonl")
    ] = None
    sort_by: Annotated[str, option("--sort-by", "The measure to sort and test by.", "MEASURE")] = "cost"
    plot: Plot = None
    n_jobs: Annotated[int, option("--n-jobs -j", "Fits at the same time; -1 for all cores.", callback=check_jobs)] = 1


@dataclass(frozen=True, kw_only=True)
class Goal(Fit):
    """Fit a model that reaches a goal, with a certificate.

    The model is certified on held-out rows. Measures: recall, miss_rate, specificity, false_alarm_rate, precision, f1,
    g_mean, flagged_share, accuracy, and expected_cost with --cost. Join conditions by "and". If the goal is not
    reached, the command says how close it came and what limits it, writes nothing, and exits with code 1.
    """

    examples = (
        'skewboost goal claims.csv "recall>=0.95" --target fraud -o model.json',
        'skewboost goal claims.csv "false_alarm_rate<=1%" -t fraud --plot front.png',
        'skewboost goal claims.csv "recall>=0.9" -t fraud --then cost --cost 20',
        'skewboost goal claims.csv "recall>=0.9" -t fraud --group customer',
    )

    goal: Annotated[
        str, typer.Argument(help='The goal, such as "recall>=0.95 and precision>=30%".', metavar="GOAL")
    ] = field()  # `fit` has a default
    then: Annotated[Text, option("--then", "The measure to optimise among models that reach the goal.", "MEASURE")] = (
        None
    )
    confidence: Annotated[
        float, option("--confidence", "Of the certificate; 0 for no certificate.", "P", min=0, max=0.9999)
    ] = 0.9
    plot: Annotated[Text, option("--plot", "Draw which goals can be reached, as .png, .svg or .pdf.", "FILE")] = None
    closest: Annotated[
        bool, option("--closest", "If the goal is not reached, give the closest model; exit code 1.")
    ] = False
    weight: Annotated[Text, column("--weight", "The column of the weights of the rows.")] = None
    counts: Annotated[
        bool, option("--counts", "Equal rows, and a --weight, are independent examples; by default they are copies.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Explain(Command):
    """Explain a model, or one prediction.

    For a model: the importances of the columns, what their values add to the score, and an alternating tree as text.
    For a row: what each of its cells adds to the score; the contributions add up to the score exactly.
    """

    examples = ("skewboost explain model.json", "skewboost explain model.json claims.csv --row worst")

    model: ModelFile
    data: Annotated[Text, typer.Argument(help="A file with the row to explain.", metavar="[DATA]")] = None
    row: Annotated[
        Text, option("--row", "The number of the row (from 1), first, or worst (the worst prediction).", "ROW")
    ] = None
    target: KnownTarget = None
    threshold: Threshold = None
    top: Annotated[int, option("--top", "How many columns to show.", "N", min=1)] = 8
    plot: Plot = None
    as_json: Json = False


@dataclass(frozen=True, kw_only=True)
class Report(Fitting):
    """Write an HTML report about a model.

    It is one file, with an interactive cost explorer. Give a model and rows that it was not fitted to; or data alone.
    Then a model is fitted, compared with others on the training rows, and reported on the held-out rows.
    """

    examples = (
        "skewboost report model.json later.csv -o report.html",
        "skewboost report claims.csv --target fraud --cost 20 -o report.html",
    )

    context: typer.Context  # says which options are given
    data: Annotated[str, typer.Argument(help="A model; or data to fit a model to.", metavar="MODEL|DATA")]
    rows: Annotated[Text, typer.Argument(help="Rows that the model was not fitted to.", metavar="[DATA]")] = None
    target: KnownTarget = None
    weight: KnownWeight = None
    threshold: Threshold = None
    output: Annotated[str, option("--output -o", "The file to write.", "FILE")] = "report.html"
    title: Annotated[Text, option("--title", "The title of the page.")] = None
    methods: Annotated[Words, option("--methods", "Methods to compare with, if a model is fitted.", "A,B,C")] = None


@dataclass(frozen=True, kw_only=True)
class Export(Command):
    """Write a model as a program or an ONNX graph.

    Neither needs this library.
    """

    examples = ("skewboost export model.json -o model.py", "skewboost export model.json --to sql --table claims")

    model: ModelFile
    to: Annotated[
        Text,
        option(
            "--to", "python, c, sql or onnx; by default the ending of -o.", "FORM",
            autocompletion=complete_from(tuple(FORMS.values())),
        ),
    ] = None  # fmt: skip
    output: Annotated[Text, option("--output -o", "A .py, .c, .sql or .onnx file; by default stdout.", "FILE")] = None
    name: Annotated[Text, option("--name", "The name of the function or columns.")] = None
    table: Annotated[Text, option("--table", "SQL: the name of the table.")] = None


@dataclass(frozen=True, kw_only=True)
class List(Command):
    """List the variants with their papers and a verdict on each."""

    text: Annotated[Text, typer.Argument(help="Part of a name or paper, or how costs enter: once, …")] = None
    as_json: Annotated[bool, option("--json", "All fields of all variants, as JSON.")] = False


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


@dataclass(frozen=True, kw_only=True)
class Demo(Command):
    """Run a demonstration on built-in data.

    Prints tables, and writes pictures, a model and a report to a folder.
    """

    out: Annotated[Path, option("--out", "The folder to write to.")] = Path("skewboost-demo")
    rounds: Annotated[int, option("--rounds", "Rounds of boosting.", min=1)] = 200
    n_jobs: Jobs = -1


COMMANDS = (Info, Fit, Predict, Evaluate, Compare, Goal, Explain, Report, Export, List, Reproduce, Demo)
