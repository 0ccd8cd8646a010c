"""The command `report`: one HTML file about a model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skewboost.cli.compare_command import ComparisonRequest, compare
from skewboost.cli.evaluate_command import costs_for, note_if_training_data, read_labelled, warn_of_shift
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.fit_command import MODEL_SUFFIXES, FitRequest, fit, prepare
from skewboost.cli.method_options import MethodOptions
from skewboost.cli.model_files import check_output, read_model
from skewboost.cli.output import count, print_json, print_line, waiting
from skewboost.cli.picture_files import without_screen
from skewboost.names import shown

SUFFIXES = (".html", ".htm")
RIVALS = ("RealBoost", "CGAda")  # a plain booster and a cost-sensitive one; the recommended method is added
FIT_OPTIONS = (
    "--method", "--methods", "--positive", "--rounds", "--learner", "--set", "--drop", "--test", "--seed", "--n-jobs",
)  # fmt: skip


@dataclass(frozen=True)
class PageOptions:
    """The options of the report itself."""

    title: str | None = None
    threshold: float | None = None
    methods: tuple[str, ...] = ()
    as_json: bool = False


def run(first: str, data: str | None, request: FitRequest, page: PageOptions, given: Collection[str]) -> None:
    """Write the report; `given` are the options that the user gave."""
    output = request.output or "report.html"
    check_output(output, SUFFIXES)
    without_screen()
    warnings: list[str] = []
    if data is None:
        if first.endswith(MODEL_SUFFIXES):
            raise CommandError(f"a report on {first} needs rows.", "Give a data file after the model.")
        if request.target is None:
            raise CommandError(f"a report on {first} needs --target.", "For a fitted model, give MODEL DATA.")
        if request.test == 0:
            raise CommandError("a report is about held-out rows, so --test must be greater than 0.")
        title = page.title or f"{request.method.named.name} on {shown(Path(first).name)}"
        report = report_on_data(request, replace(page, title=title))
    else:
        unused = [option for option in FIT_OPTIONS if option in given]
        if unused:
            raise CommandError(f"{unused[0]} has no effect on a model that is already fitted.", "Leave it out.")
        report, warnings = report_on_model(first, data, request, page)
    with waiting("Drawing"):
        report.save(output)
    if page.as_json:
        print_json({"report": output, "rows": len(report.y), "warnings": warnings})
    else:
        print_line(f"Written: {output}, about {count(len(report.y), 'row')}; open it in a browser.")


def report_on_model(model_path: str, data: str, request: FitRequest, page: PageOptions) -> tuple[Any, list[str]]:
    """The report on a fitted model, and the warnings of shift."""
    from skewboost.plots import Report

    model = read_model(model_path)
    if len(model.classes) > 2:
        raise CommandError(
            f"a report needs two classes, but {model_path} has {len(model.classes)}.",
            "`skewboost evaluate` measures all of them.",
        )
    model.check_threshold(page.threshold)
    cost = costs_for(model, request.cost)
    rows = read_labelled(model, data, request.target, request.weight)
    note_if_training_data(model, data)
    predicted = None if page.threshold is not None else model.predict(rows.X)
    warnings = warn_of_shift(model, rows, cost, predicted)
    report = Report(
        model.estimator, rows.X, rows.y, cost=cost, title=page.title, sample_weight=rows.weights,
        pos_label=model.positive, threshold=page.threshold,
    )  # fmt: skip
    return report, warnings


def report_on_data(request: FitRequest, page: PageOptions) -> Any:
    """Fit a model, compare it with others on the training rows, and report on the held-out rows."""
    from skewboost.evaluate import staged_curve
    from skewboost.plots import Report

    result, method = fit(request), request.method
    train, test = result.train, result.test
    assert test is not None
    rivals = [r for r in (*RIVALS, MethodOptions().spec) if MethodOptions.from_spec(r).named != method.named]
    methods = tuple(dict.fromkeys((method.spec, *(page.methods or rivals))))
    seed = method.seed or 0
    comparison = compare(
        ComparisonRequest(
            request.data, request.target, methods, request.positive, request.cost, rounds=method.rounds, cv=3, seed=seed
        ),
        train,
    )
    if not comparison.complete:
        raise KeyboardInterrupt
    curve = None
    if hasattr(result.model, "staged_predict"):  # bagging has no rounds
        with waiting("Learning curve"):
            unfitted, _ = prepare(request, train)
            curve = staged_curve(
                unfitted, train.X, train.y, cv=3, cost=result.cost, sample_weight=train.weights, random_state=seed
            )
    return Report(
        result.model, test.X, test.y, cost=result.cost, comparison=comparison, staged_curve=curve,
        training=(train.X, train.y), title=page.title, sample_weight=test.weights, pos_label=result.positive,
        threshold=page.threshold,
    )  # fmt: skip
