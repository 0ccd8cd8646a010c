"""The commands and their options. What a command does lives in a module of its own, imported when it runs."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Annotated

import typer

from skewboost import __version__
from skewboost.cli import options as o
from skewboost.cli.exit_codes import OneLineErrors
from skewboost.cli.output import emit, note, say

EPILOG = """\
\b
Begin with:
  skewboost info claims.csv --target fraud
  skewboost fit claims.csv --target fraud --cost 20 -o model.json
  skewboost predict model.json new.csv -o answers.csv

\b
Exit codes:
  0    all went well
  1    the goal was not reached, or something failed on the way
  2    the arguments or the data are wrong; one line says what, and the remedy
  130  interrupted by Ctrl-C; no file is left half written

Results go to stdout, all else to stderr. With SKEWBOOST_DEBUG=1 errors show where they come from.
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
        say(f"skewboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def skewboost(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Boosting for lopsided data: one class is rare, or one kind of mistake costs more than the other."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    short_help="Say what is in a table.",
    epilog=o.examples(
        "skewboost info claims.csv",
        "skewboost info claims.csv --target fraud",
    ),
)
def info(
    data: Annotated[str, typer.Argument(help=f"{o.FORMATS}; - is standard input.", metavar="DATA")],
    target: o.Target = None,
    as_json: o.Json = False,
) -> None:
    """Say what is in a table: what is rare, missing, categorical or suspicious."""
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

    The model that is written is the one that was measured; with --test 0 it is fitted to all rows, and nothing is
    measured. All columns but the target are features: numbers, and text as categories; cells may be empty.
    """
    from skewboost.cli.estimator_names import Wanted
    from skewboost.cli.fit_command import Task, run

    wanted = Wanted(method, rounds, learner, tuple(settings or ()), seed, n_jobs)
    run(Task(data, target, wanted, positive, cost, goal, tuple(drop or ()), weight, test, output, as_json))


@app.command(
    short_help="Answer for new rows.",
    epilog=o.examples(
        "skewboost predict model.json new.csv -o answers.csv --keep id",
        "skewboost predict model.json new.csv --threshold 0.05",
        "zcat new.csv.gz | skewboost predict model.json - | head",
    ),
)
def predict(
    model: o.ModelFile,
    data: o.NewRows,
    output: o.AnswersOut = None,
    keep: o.Keep = None,
    threshold: o.Threshold = None,
    as_json: o.Json = False,
) -> None:
    """Answer for new rows: prediction, probability and score, in the order of the rows.

    With two classes the probability is that of the positive class, and the score is 0 or more where the model predicts
    it (unless --threshold decides); with more there is a column of each kind for every class. Columns may come in any
    order; those that the model does not look at are left alone. Large files are read and written in chunks. Rows that
    are clearly unlike those of training are warned of.
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
    """Measure a model on rows whose truth is known.

    All measures, the confusion matrix, each class by itself, what the mistakes cost, and the threshold at which they
    would have cost least. Rows that are clearly unlike those of training are warned of.
    """
    from skewboost.cli.evaluate_command import run

    run(model, data, target, cost, weight, threshold, as_json)


@app.command(
    short_help="Methods side by side on the same folds.",
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
    """Compare methods on the same folds, and say whether they differ by more than chance.

    --learner and --set are for all methods that have such a parameter; for one method they stand behind its name, as
    in --methods CSRA,CGAda:calibrate=sigmoid:learner=tree. Ctrl-C prints what is finished; with --results the same
    command goes on from there.
    """
    from skewboost.cli.compare_command import Contest, run

    run(
        Contest(
            data, target, o.methods_in(methods), positive, cost, tuple(drop or ()), weight, rounds, learner,
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
    expected_cost with --cost. Conditions are joined by "and". Where the goal is not reached, it says how close it came
    and what stands in the way, writes nothing, and leaves with exit code 1.
    """
    from skewboost.cli.estimator_names import Wanted
    from skewboost.cli.fit_command import Task, run

    wanted = Wanted(method, rounds, learner, tuple(settings or ()), seed, n_jobs)
    run(
        Task(
            data, target, wanted, positive, cost, goal, tuple(drop or ()), weight, test, output, as_json,
            then=then, confidence=confidence or None, closest=closest, plot=plot, counts=counts, groups=groups,
            own_options=True,
        )
    )  # fmt: skip


@app.command(
    short_help="Say what a model looks at, or why it says what it says.",
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
    """Say what a model looks at, or why it says what it says of one row.

    Of a model: the importances of the columns, what each value of them adds to the score, and an alternating tree as
    text. Of a row: what each of its cells adds; the parts add up to the score exactly.
    """
    from skewboost.cli.explain_command import run

    run(model, data, row, target, threshold, top, plot, as_json)


@app.command(
    short_help="One HTML file about a model.",
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
    """Write one HTML file about a model, for those who decide whether to use it: with a cost explorer to play with.

    Of a model and rows that it has not seen; or of data alone, and then a model is fitted, compared with others on the
    rows of training, and reported on the held-out rest.
    """
    from skewboost.cli.estimator_names import Wanted
    from skewboost.cli.fit_command import Task
    from skewboost.cli.report_command import Page, run

    wanted = Wanted(method, rounds, learner, tuple(settings or ()), seed, n_jobs)
    task = Task(
        model_or_data, target, wanted, positive, cost, drop=tuple(drop or ()), weight=weight, test=test, output=output,
        reported=True,
    )  # fmt: skip
    run(model_or_data, data, task, Page(title, threshold, o.methods_in(methods), as_json), o.given(context))


@app.command(
    short_help="Write a model as a program or a graph of its own.",
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
    """Write a model as a program that needs neither this library nor any other, or as an ONNX graph."""
    from skewboost.cli.export_command import run

    run(model, to, output, name, table)


@app.command("list", short_help="List the methods, with a verdict on each.")
def list_variants(
    wanted: Annotated[str | None, typer.Argument(help="Part of a name or paper, or how costs enter: once, …")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All fields of all variants, as JSON.")] = False,
) -> None:
    """List the variants with their papers and a verdict on each."""
    from skewboost.cli import list_command

    if as_json and wanted is not None:
        raise typer.BadParameter("--json lists all variants; leave the argument out, or filter the JSON")
    if as_json:
        emit(list_command.records())
    else:
        list_command.show(wanted)


@app.command(short_help="See what there is on lopsided data that comes along.")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for what is written; made if need be.")] = Path("skewboost-demo"),
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of boosting.")] = 200,
    n_jobs: Annotated[int, typer.Option("--n-jobs", callback=o.check_jobs, help="Threads; -1 is all cores.")] = -1,
) -> None:
    """See what there is on lopsided data that comes along: tables here; pictures, a model and a report in a folder."""
    folder = o.make_folder(out)
    from skewboost.cli.demo_command import run

    try:
        run(folder, rounds, n_jobs)
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of the tables went away
            raise
        note(f"error: cannot write to {out}: {error.strerror}")
        raise typer.Exit(1) from error
