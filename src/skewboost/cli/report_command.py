"""The command `report`: one HTML file about a model, for those who decide whether to use it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skewboost.cli import fit_command
from skewboost.cli.compare_command import Contest, compare
from skewboost.cli.estimator_names import Wanted
from skewboost.cli.evaluate_command import cost_for, note_if_seen, read_known, warn_of_shift
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.fit_command import Task
from skewboost.cli.model_files import check_output, read_model
from skewboost.cli.output import count, emit, say, waiting
from skewboost.cli.picture_files import without_screen
from skewboost.names import shown

ENDINGS = (".html", ".htm")
RIVALS = ("RealBoost", "CGAda")  # a plain booster, and one that minds costs; the recommended method comes with them
OF_A_FIT = (
    "--method", "--methods", "--positive", "--rounds", "--learner", "--set", "--drop", "--test", "--seed", "--n-jobs",
)  # fmt: skip


@dataclass(frozen=True)
class Page:
    """What is said about the report itself."""

    title: str | None = None
    threshold: float | None = None
    methods: tuple[str, ...] = ()
    as_json: bool = False


def of_model(model_path: str, data: str, task: Task, page: Page) -> tuple[Any, list[str]]:
    """The report of a model that there is, and what is warned of."""
    from skewboost.plots import Report

    model = read_model(model_path)
    _only_two(len(model.classes))
    model.check_threshold(page.threshold)
    cost = cost_for(model, task.cost)
    rows = read_known(model, data, task.target, task.weight)
    note_if_seen(model, data)
    warnings = warn_of_shift(model, rows, cost, None if page.threshold is not None else model.estimator.predict(rows.X))
    made = Report(
        model.estimator, rows.X, rows.y, cost=cost, title=page.title, sample_weight=rows.weights,
        pos_label=model.positive, threshold=page.threshold,
    )  # fmt: skip
    return made, warnings


def of_data(task: Task, page: Page) -> Any:
    """Fit a model, compare it with others on the rows of training, and report on the held-out ones."""
    from skewboost.evaluate import staged_curve
    from skewboost.plots import Report

    fitted, wanted = fit_command.fit(task), task.wanted
    train, test = fitted.train, fitted.test
    assert test is not None
    others = [m for m in (*RIVALS, Wanted().spec) if Wanted.of_spec(m).entry.name != wanted.entry.name]
    rivals = tuple(dict.fromkeys((wanted.spec, *(page.methods or others))))
    contest = Contest(
        task.data, task.target, rivals, task.positive, task.cost, rounds=wanted.rounds, cv=3, seed=wanted.seed or 0
    )
    comparison = compare(contest, train)
    if not comparison.complete:
        raise KeyboardInterrupt
    curve = None
    if hasattr(fitted.model, "staged_predict"):  # a bag has no rounds to look at
        with waiting("Learning curve"):
            unfitted, _ = fit_command.prepare(task, train)
            curve = staged_curve(
                unfitted, train.X, train.y, cv=3, cost=fitted.cost, sample_weight=train.weights,
                random_state=wanted.seed or 0,
            )  # fmt: skip
    return Report(
        fitted.model, test.X, test.y, cost=fitted.cost, comparison=comparison, staged_curve=curve,
        training=(train.X, train.y), title=page.title, sample_weight=test.weights, pos_label=fitted.positive,
        threshold=page.threshold,
    )  # fmt: skip


def run(first: str, data: str | None, task: Task, page: Page, given: Collection[str]) -> None:
    """Make the report and write it; `given` are the options that the user gave."""
    output = task.output or "report.html"
    check_output(output, ENDINGS)
    without_screen()
    warnings: list[str] = []
    if data is None:
        if first.endswith(fit_command.MODEL_SUFFIXES):
            raise CommandError(f"{first} is reported on which rows? Give the file after the model.")
        if task.target is None:
            raise CommandError(f"a report of {first} needs --target, or give a model and data: report MODEL DATA.")
        if task.test == 0:
            raise CommandError("a report is about held-out rows: --test must be more than 0.")
        title = page.title or f"{task.wanted.entry.name} on {shown(Path(first).name)}"
        made = of_data(task, replace(page, title=title))
    else:
        without_effect = [option for option in OF_A_FIT if option in given]
        if without_effect:
            raise CommandError(f"{without_effect[0]} has no effect on a model that is there already. Leave it out.")
        made, warnings = of_model(first, data, task, page)
    with waiting("Drawing"):
        made.save(output)
    if page.as_json:
        emit({"report": output, "rows": len(made.y), "warnings": warnings})
    else:
        say(f"Written: {output}, about {count(len(made.y), 'row')}; open it in a browser.")


def _only_two(n_classes: int) -> None:
    if n_classes > 2:
        raise CommandError(
            f"a report is about two classes, and there are {n_classes}. `evaluate` measures all of them."
        )
