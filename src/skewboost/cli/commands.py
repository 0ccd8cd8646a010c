"""The commands: a dataclass each, whose fields are the arguments and options, and whose docstring is the help."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from skewboost.boosting.catalogue import RECOMMENDED, RECOMMENDED_VARIANT
from skewboost.cli.options import (
    FORMATS,
    FORMS,
    Command,
    Cost,
    Data,
    Fits,
    Fitting,
    Folds,
    Jobs,
    Json,
    KnownTarget,
    KnownWeight,
    Learning,
    ModelFile,
    OneMethod,
    Plot,
    Repeats,
    Target,
    Text,
    Threshold,
    Words,
    column,
    complete_from,
    complete_method,
    option,
)

OVER = ("rows", "rounds", "cost", "noise", "imbalance")  # what a curve can be drawn over, besides parameters
LOSSES = ("error", "cost", "squared_error")
DECOMPOSITIONS = ("domingos", "kohavi_wolpert")
SCHEMES = ("bootstrap", "subsample", "cv")
MISTAKES = ("miss", "false_alarm")


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
    cv: Folds = 5
    repeats: Repeats = 1
    results: Annotated[
        Text, option("--results", "Save finished fits here, and continue from there next time.", "FILE.jsonl")
    ] = None
    sort_by: Annotated[str, option("--sort-by", "The measure to sort and test by.", "MEASURE")] = "cost"
    plot: Plot = None
    n_jobs: Fits = 1


@dataclass(frozen=True, kw_only=True)
class Curve(OneMethod):
    """Measure a method over rows, rounds, costs or a parameter.

    By cross-validation. --over rows fits to a part of the training rows: would more rows help? rounds measures after
    each round, on training and on test rows. cost varies the cost of a miss in training; --cost is then for the
    measure only. noise flips a fraction of the training labels. imbalance removes positives from the training rows.
    Any numeric parameter of the method can be varied, too. Ctrl-C prints the means of the fits that are finished.
    """

    examples = (
        "skewboost curve claims.csv --target fraud --plot rows.png",
        "skewboost curve claims.csv -t fraud --over rounds -m CSRA --rounds 200",
        "skewboost curve claims.csv -t fraud --over cost=1,5,20 -m CSRA",
        "skewboost curve claims.csv -t fraud --over learning_rate=0.1,0.3,1 -m CSRA",
    )

    over: Annotated[
        str,
        option(
            "--over", "rows, rounds, cost, noise, imbalance, or a parameter; with values, such as cost=1,5,20.",
            "NAME=A,B,C", autocompletion=complete_from(OVER),
        ),
    ] = "rows"  # fmt: skip
    measures: Annotated[
        Words, option("--measures", "What to print; --plot draws the first. [cost,recall,precision,f1]", "A,B,C")
    ] = None
    cv: Folds = 5
    repeats: Repeats = 1
    plot: Plot = None
    n_jobs: Fits = 1


@dataclass(frozen=True, kw_only=True)
class BiasVariance(OneMethod):
    """Split the loss of a method into bias and variance.

    Fits to many training sets that are drawn from the table, and predicts the same held-out rows with each. Bias is
    the loss of the main prediction, which is the most frequent one; variance is what a single model loses in addition.
    Ctrl-C prints the parts for the training sets that are finished, if there are two.
    """

    examples = (
        "skewboost bias-variance claims.csv --target fraud",
        "skewboost bias-variance claims.csv -t fraud -m CSRA --staged --plot parts.png",
        "skewboost bias-variance claims.csv -t fraud --of cost --cost 20",
    )

    of: Annotated[
        str,
        option("--of", "The loss: error, cost or squared_error (of probabilities).", "LOSS",
               autocompletion=complete_from(LOSSES)),
    ] = "error"  # fmt: skip
    decomposition: Annotated[
        str,
        option("--decomposition", "domingos, or for the error also kohavi_wolpert.", "NAME",
               autocompletion=complete_from(DECOMPOSITIONS)),
    ] = "domingos"  # fmt: skip
    draws: Annotated[int, option("--draws", "The number of training sets.", "N", min=2)] = 25
    scheme: Annotated[
        str,
        option("--scheme", "How they are drawn: bootstrap, subsample (halves), or cv (repeated cross-validation).",
               "NAME", autocompletion=complete_from(SCHEMES)),
    ] = "bootstrap"  # fmt: skip
    cv: Annotated[int | None, option("--cv", "The number of folds of --scheme cv. [5]", "N", min=2)] = None
    staged: Annotated[bool, option("--staged", "After every round.")] = False
    plot: Plot = None
    n_jobs: Fits = 1


@dataclass(frozen=True, kw_only=True)
class MatchRate(Learning):
    """Compare methods at the same recall, or another rate.

    Finds the cost at which the rate of each method is as given, on average over the test parts of cross-validation.
    The cost is chosen on these rows, so this is no promise about new rows; `skewboost goal` makes one. Exits with code
    1 if a method does not come close enough. Ctrl-C prints what was found so far.
    """

    examples = (
        'skewboost match-rate claims.csv "recall=90%" --target fraud --methods CSRA,AdaC2,CGAda',
        'skewboost match-rate claims.csv "recall=0.95" -t fraud --repeats 10 --tolerance 0.001',
    )

    rate: Annotated[str, typer.Argument(help='A measure and its value, such as "recall=90%".', metavar="RATE")]
    methods: Annotated[
        Words,
        option(
            "--methods -m", f"Names from `skewboost list`, sound, or all. [{RECOMMENDED_VARIANT}]", "A,B,C",
            autocompletion=complete_method,
        ),
    ] = None  # fmt: skip
    tolerance: Annotated[float, option("--tolerance", "How far off the mean may be.", "T", min=0)] = 0.01
    vary: Annotated[
        str,
        option("--vary", "The cost to vary: miss or false_alarm.", "MISTAKE", autocompletion=complete_from(MISTAKES)),
    ] = "miss"
    max_points: Annotated[int, option("--max-points", "The most costs to try per method.", "N", min=1)] = 40
    max_cost: Annotated[float, option("--max-cost", "The largest cost to try.", "COST")] = 1e6
    cv: Folds = 5
    repeats: Repeats = 1
    n_jobs: Fits = 1


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
class Demo(Command):
    """Run a demonstration on built-in data.

    Prints tables, and writes pictures, a model and a report to a folder.
    """

    out: Annotated[Path, option("--out", "The folder to write to.")] = Path("skewboost-demo")
    rounds: Annotated[int, option("--rounds", "Rounds of boosting.", min=1)] = 200
    n_jobs: Jobs = -1


COMMANDS = (
    *(Info, Fit, Predict, Evaluate, Compare, Curve, BiasVariance, MatchRate, Goal),
    *(Explain, Report, Export, List, Demo),
)
