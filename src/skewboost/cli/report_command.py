"""The command `report`: one HTML file about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skewboost.boosting.catalogue import RECOMMENDED_VARIANT
from skewboost.cli.commands import Compare, Report
from skewboost.cli.compare_command import compare
from skewboost.cli.cross_validation import Fits, folds_of
from skewboost.cli.evaluate_command import costs_for, note_if_training_data, read_labelled, warn_of_shift
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.fit_command import MODEL_SUFFIXES, fit, prepare
from skewboost.cli.method_options import MethodOptions, split_methods
from skewboost.cli.model_files import read_model
from skewboost.cli.output import count, print_json, print_line, waiting
from skewboost.cli.output_files import check_output
from skewboost.names import shown

SUFFIXES = (".html", ".htm")
RIVALS = ("RealBoost", RECOMMENDED_VARIANT)  # a plain booster and a cost-sensitive one; the recommended method is added
FOLDS = 3
REFERS = "Fit without --set reject_cost."
# Options of a fit, which have no effect on a model
FIT_OPTIONS = (
    *("method", "methods", "positive", "rounds", "learner", "settings", "drop", "group", "time", "test", "seed"),
    *("labels", "n_jobs"),
)


def run(request: Report) -> None:
    """Write the report."""
    check_output(request.output, SUFFIXES)
    warnings: list[str] = []
    if request.rows is None:
        if request.data.endswith(MODEL_SUFFIXES):
            raise CommandError(f"a report on {request.data} needs rows.", "Give a data file after the model.")
        if request.target is None:
            raise CommandError(f"a report on {request.data} needs --target.", "For a fitted model, give MODEL DATA.")
        if request.test == 0:
            raise CommandError("a report is about held-out rows, so --test must be greater than 0.")
        report = report_on_data(request)
    else:
        for option in request.context.command.params:
            source = request.context.get_parameter_source(option.name or "")
            if option.name in FIT_OPTIONS and source is not None and source.name == "COMMANDLINE":
                problem = f"{option.opts[0]} has no effect on a model that is already fitted."
                raise CommandError(problem, "Leave it out.")
        report, warnings = report_on_model(request, request.rows)
    with waiting("Drawing"):
        report.save(request.output)
    if request.as_json:
        print_json({"report": request.output, "rows": len(report.y), "warnings": warnings})
    else:
        print_line(f"Written: {request.output}, about {count(len(report.y), 'row')}; open it in a browser.")


def report_on_model(request: Report, data: str) -> tuple[Any, list[str]]:
    """The report on a fitted model, and the warnings of shift."""
    from skewboost import plots

    model = read_model(request.data)
    if len(model.classes) > 2:
        raise CommandError(
            f"a report needs two classes, but {model.path} has {len(model.classes)}.",
            "`skewboost evaluate` measures all of them.",
        )
    model.check_threshold(request.threshold)
    if hasattr(model.estimator, "reject_label_") and request.threshold is None:
        raise CommandError(f"a report is about decisions on all rows, but {model.path} refers some.", REFERS)
    cost = costs_for(model, request.cost)
    rows = read_labelled(model, data, request.target, request.weight)
    note_if_training_data(model, data)
    predicted = None if request.threshold is not None else model.predict(rows.X)
    warnings = warn_of_shift(model, rows, cost, predicted)
    report = plots.Report(
        model.estimator, rows.X, rows.y, cost=cost, title=request.title, sample_weight=rows.weights,
        pos_label=model.positive, threshold=request.threshold,
    )  # fmt: skip
    return report, warnings


def report_on_data(request: Report) -> Any:
    """Fit a model, compare it with others on the training rows, and report on the held-out rows."""
    from skewboost import plots
    from skewboost.evaluate import staged_curve

    if MethodOptions.of(request).parameters.get("reject_cost") is not None:
        raise CommandError("a report is about decisions on all rows, but reject_cost refers some.", REFERS)
    result = fit(request, "a report")
    method, train, test = result.method, result.train, result.test
    assert test is not None
    rivals = [r for r in (*RIVALS, MethodOptions().spec) if MethodOptions.from_spec(r).named != method.named]
    methods = [method.spec, *(split_methods(request.methods) or rivals)]
    same = {name: getattr(request, name) for name in ("data", "target", "positive", "cost", "rounds", "seed")}
    comparison = compare(Compare(methods=methods, cv=FOLDS, **same), train)
    if not comparison.complete:
        raise KeyboardInterrupt
    curve = None
    if hasattr(result.model, "staged_predict"):  # bagging has no rounds
        fits = Fits()
        with fits.shown("Learning curve") as update:
            unfitted, _ = prepare(request, train)
            curve = staged_curve(
                unfitted, train.X, train.y, cv=folds_of(FOLDS, train), cost=result.cost, sample_weight=train.weights,
                groups=train.groups, random_state=request.seed, verbose=update,
            )  # fmt: skip
        fits.check_all_done()
    return plots.Report(
        result.model, test.X, test.y, cost=result.cost, comparison=comparison, staged_curve=curve,
        training=(train.X, train.y), title=request.title or f"{method.named.name} on {shown(Path(request.data).name)}",
        sample_weight=test.weights, pos_label=result.positive, threshold=request.threshold,
    )  # fmt: skip
