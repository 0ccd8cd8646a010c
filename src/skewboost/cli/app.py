"""The commands and their options. Each command has a module of its own, which is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skewboost import __version__
from skewboost.cli import options as o
from skewboost.cli.exit_codes import OneLineErrors
from skewboost.cli.output import print_line

EPILOG = """\
\b
Begin with:
  skewboost info claims.csv --target fraud
  skewboost fit claims.csv --target fraud --cost 20 -o model.json
  skewboost predict model.json new.csv -o answers.csv

\b
Exit codes:
  0    success
  1    the goal was not reached, or the command failed
  2    an error in the arguments or the data
  130  interrupted by Ctrl-C

Results go to stdout, all else to stderr. With SKEWBOOST_DEBUG=1 errors come with a traceback.
"""

app = typer.Typer(
    cls=OneLineErrors,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    epilog=EPILOG,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"skewboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def skewboost(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Boosting for imbalanced data: one class is rare, or one kind of mistake costs more than the other."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    short_help="Summarise a table.",
    epilog=o.examples(
        "skewboost info claims.csv",
        "skewboost info claims.csv --target fraud",
    ),
)
def info(
    data: Annotated[str, typer.Argument(help=f"{o.FORMATS}; - for standard input.", metavar="DATA")],
    target: o.Target = None,
    as_json: o.Json = False,
) -> None:
    """Summarise a table: classes, missing values, categories, and columns that look suspicious."""
    from skewboost.cli.info_command import run

    run(data, target, as_json)


@app.command(
    short_help="Fit a model to a table and write it to a file.",
    epilog=o.examples(
        "skewboost fit claims.csv --target fraud --cost 20 -o model.json",
        "skewboost fit claims.csv --target fraud --method AlternatingTree --rounds 10",
        'skewboost fit claims.csv --target fraud --goal "recall>=0.95" -o model.json',
        'skewboost fit kinds.csv --target kind --method AdaBoostMH --cost "a=1,b=5"',
    ),
)
def fit(
    data: o.Data,
    target: o.Target = None,
    method: o.Method = None,
    cost: o.Cost = None,
    goal: o.GoalInstead = None,
    positive: o.Positive = None,
    output: o.ModelOut = None,
    rounds: o.Rounds = None,
    learner: o.Learner = None,
    settings: o.Settings = None,
    drop: o.Drop = None,
    weight: o.Weight = None,
    test: o.Test = None,
    seed: o.Seed = 0,
    n_jobs: o.Jobs = -1,
    as_json: o.Json = False,
) -> None:
    """Fit a model to a table, measure it on held-out rows, and write it to a file.

    The model that is written is the one that was measured. With --test 0 it is fitted to all rows and not measured.
    All columns except the target are features. Text columns are categories, and cells may be empty.
    """
    from skewboost.cli import fit_command, goal_command
    from skewboost.cli.method_options import MethodOptions

    options = MethodOptions(method, rounds, learner, tuple(settings or ()), seed, n_jobs)
    common = (data, target, options, positive, cost, tuple(drop or ()), weight)
    if goal is None:
        test = fit_command.DEFAULT_TEST if test is None else test
        fit_command.run(fit_command.FitRequest(*common, test, output, as_json))
    else:
        goal_command.run(
            goal_command.GoalRequest(*common, test, output, as_json, "a goal", goal, option_prefix=o.WITH_GOAL)
        )


@app.command(
    short_help="Predict the classes of new rows.",
    epilog=o.examples(
        "skewboost predict model.json new.csv -o answers.csv --keep id",
        "skewboost predict model.json new.csv --threshold 0.05",
        "zcat new.csv.gz | skewboost predict model.json - | head",
    ),
)
def predict(
    model: o.ModelFile,
    data: o.NewRows,
    output: o.PredictionsOut = None,
    keep: o.Keep = None,
    threshold: o.Threshold = None,
    as_json: o.Json = False,
) -> None:
    """Write the prediction, the probability and the score of new rows, in their order.

    With two classes, the probability and the score are those of the positive class; with more there is a column of
    each for every class. Columns may be in any order, and the model ignores columns that it does not need. Large files
    are read and written in chunks. A warning says if the rows differ clearly from the training rows.
    """
    from skewboost.cli.predict_command import run

    run(model, data, output, tuple(keep or ()), threshold, as_json)


@app.command(
    epilog=o.examples(
        "skewboost evaluate model.json later.csv --cost 20",
    ),
)
def evaluate(
    model: o.ModelFile,
    data: o.Data,
    target: o.KnownTarget = None,
    cost: o.Cost = None,
    weight: o.KnownWeight = None,
    threshold: o.Threshold = None,
    as_json: o.Json = False,
) -> None:
    """Measure a model on rows whose labels are known.

    Prints the confusion matrix, the measures of each class, all other measures, the cost of the mistakes, and the
    threshold with the lowest cost. A warning says if the rows differ clearly from the training rows.
    """
    from skewboost.cli.evaluate_command import run

    run(model, data, target, cost, weight, threshold, as_json)


@app.command(
    short_help="Compare methods by cross-validation.",
    epilog=o.examples(
        "skewboost compare claims.csv --target fraud --cost 20",
        "skewboost compare claims.csv -t fraud -m sound,CGAda:calibrate=sigmoid",
        "skewboost compare claims.csv -t fraud -m CSRA,AdaC2 --results out.jsonl",
    ),
)
def compare(
    data: o.Data,
    target: o.Target = None,
    methods: o.Methods = None,
    cost: o.Cost = None,
    positive: o.Positive = None,
    cv: o.Folds = 5,
    repeats: o.Repeats = 1,
    results: o.Results = None,
    sort_by: o.SortBy = "cost",
    plot: o.Plot = None,
    rounds: o.Rounds = None,
    learner: o.Learner = None,
    settings: o.Settings = None,
    drop: o.Drop = None,
    weight: o.Weight = None,
    seed: o.Seed = 0,
    n_jobs: o.FitsAtOnce = 1,
    as_json: o.Json = False,
) -> None:
    """Compare methods on the same folds, and test whether they differ significantly.

    --learner and --set apply to all methods that have such a parameter. Settings of one method follow its name, as in
    --methods CSRA,CGAda:calibrate=sigmoid:learner=tree. Ctrl-C prints the results so far; with --results the same
    command continues from there.
    """
    from skewboost.cli.compare_command import ComparisonRequest, run

    run(
        ComparisonRequest(
            data, target, o.split_methods(methods), positive, cost, tuple(drop or ()), weight, rounds, learner,
            tuple(settings or ()), cv, repeats, results, sort_by, plot, seed, n_jobs, as_json,
        )
    )  # fmt: skip


@app.command(
    short_help="Fit a model that reaches a goal, with a certificate.",
    epilog=o.examples(
        'skewboost goal claims.csv "recall>=0.95" --target fraud -o model.json',
        'skewboost goal claims.csv "false_alarm_rate<=1%" -t fraud --plot front.png',
        'skewboost goal claims.csv "recall>=0.9" -t fraud --then cost --cost 20',
        'skewboost goal claims.csv "recall>=0.9" -t fraud --groups customer',
    ),
)
def goal(
    data: o.Data,
    goal: o.Goal,
    target: o.Target = None,
    then: o.Then = None,
    confidence: o.Confidence = 0.9,
    method: o.Method = None,
    cost: o.Cost = None,
    positive: o.Positive = None,
    output: o.ModelOut = None,
    plot: o.FrontierPlot = None,
    closest: o.Closest = False,
    rounds: o.Rounds = None,
    learner: o.Learner = None,
    settings: o.Settings = None,
    drop: o.Drop = None,
    weight: o.WeightInGoal = None,
    counts: o.CountsRows = False,
    groups: o.Groups = None,
    test: o.Test = None,
    seed: o.Seed = 0,
    n_jobs: o.Jobs = -1,
    as_json: o.Json = False,
) -> None:
    """Look for a model that reaches a goal, and certify it on held-out rows.

    Measures: recall, miss_rate, specificity, false_alarm_rate, precision, f1, g_mean, flagged_share, accuracy, and
    expected_cost with --cost. Join conditions by "and". If the goal is not reached, the command says how close it came
    and what limits it, writes nothing, and exits with code 1.
    """
    from skewboost.cli.goal_command import GoalRequest, run
    from skewboost.cli.method_options import MethodOptions

    options = MethodOptions(method, rounds, learner, tuple(settings or ()), seed, n_jobs)
    run(
        GoalRequest(
            data, target, options, positive, cost, tuple(drop or ()), weight, test, output, as_json, "a goal", goal,
            then, confidence or None, closest, plot, counts, groups,
        )
    )  # fmt: skip


@app.command(
    short_help="Explain a model, or one prediction.",
    epilog=o.examples(
        "skewboost explain model.json",
        "skewboost explain model.json claims.csv --row worst",
    ),
)
def explain(
    model: o.ModelFile,
    data: o.RowsToExplain = None,
    row: o.Row = None,
    target: o.KnownTarget = None,
    threshold: o.Threshold = None,
    top: o.Top = 8,
    plot: o.Plot = None,
    as_json: o.Json = False,
) -> None:
    """Explain what a model looks at, or its prediction for one row.

    For a model: the importances of the columns, what their values add to the score, and an alternating tree as text.
    For a row: what each of its cells adds to the score; the contributions add up to the score exactly.
    """
    from skewboost.cli.explain_command import run

    run(model, data, row, target, threshold, top, plot, as_json)


@app.command(
    short_help="Write an HTML report about a model.",
    epilog=o.examples(
        "skewboost report model.json later.csv -o report.html",
        "skewboost report claims.csv --target fraud --cost 20 -o report.html",
    ),
)
def report(
    context: typer.Context,
    model_or_data: o.ModelOrData,
    data: o.UnseenRows = None,
    target: o.KnownTarget = None,
    cost: o.Cost = None,
    threshold: o.Threshold = None,
    output: o.ReportOut = "report.html",
    title: o.Title = None,
    method: o.Method = None,
    methods: o.Rivals = None,
    positive: o.Positive = None,
    rounds: o.Rounds = None,
    learner: o.Learner = None,
    settings: o.Settings = None,
    drop: o.Drop = None,
    weight: o.KnownWeight = None,
    test: o.Test = 0.25,
    seed: o.Seed = 0,
    n_jobs: o.Jobs = -1,
    as_json: o.Json = False,
) -> None:
    """Write one HTML file about a model, with an interactive cost explorer.

    Give a model and rows that it was not fitted to; or data alone. Then a model is fitted, compared with others on the
    training rows, and reported on the held-out rows.
    """
    from skewboost.cli.fit_command import FitRequest
    from skewboost.cli.method_options import MethodOptions
    from skewboost.cli.report_command import PageOptions, run

    options = MethodOptions(method, rounds, learner, tuple(settings or ()), seed, n_jobs)
    request = FitRequest(
        model_or_data, target, options, positive, cost, tuple(drop or ()), weight, test, output, purpose="a report"
    )
    page = PageOptions(title, threshold, o.split_methods(methods), as_json)
    run(model_or_data, data, request, page, o.given(context))


@app.command(
    short_help="Write a model as a program or an ONNX graph.",
    epilog=o.examples(
        "skewboost export model.json -o model.py",
        "skewboost export model.json --to sql --table claims",
    ),
)
def export(
    model: o.ModelFile,
    to: o.Form = None,
    output: o.ProgramOut = None,
    name: o.FunctionName = None,
    table: o.SqlTable = None,
) -> None:
    """Write a model as a program that needs no library, or as an ONNX graph."""
    from skewboost.cli.export_command import run

    run(model, to, output, name, table)


@app.command("list", short_help="List the methods.")
def list_variants(
    text: Annotated[str | None, typer.Argument(help="Part of a name or paper, or how costs enter: once, …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All fields of all variants, as JSON.")] = False,
) -> None:
    """List the variants with their papers and a verdict on each."""
    from skewboost.cli.list_command import run

    run(text, as_json)


@app.command(short_help="Run a demonstration on built-in data.")
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("skewboost-demo"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of boosting.")] = 200,
    n_jobs: o.Jobs = -1,
) -> None:
    """Run a demonstration on built-in data: prints tables, and writes pictures, a model and a report to a folder."""
    folder = o.make_folder(out)
    from skewboost.cli.demo import run
    from skewboost.cli.picture_files import without_screen

    without_screen()
    run(folder, rounds, n_jobs)
