"""The command `report`: one HTML file about a model, for those who decide whether to use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skewboost.cli import fit as fitting
from skewboost.cli.compare import Contest, compare
from skewboost.cli.drawing import without_screen
from skewboost.cli.errors import CommandError
from skewboost.cli.evaluate import cost_for, read_known
from skewboost.cli.fit import Task
from skewboost.cli.models import check_output, read_model
from skewboost.cli.tell import count, emit, note, say, waiting
from skewboost.names import shown

ENDINGS = (".html", ".htm")
RIVALS = ("RealBoost", "CSRA", "CGAda")  # a plain booster, and two that mind costs


def of_model(model_path: str, data: str, target: str | None, cost: str | None, title: str | None) -> Any:
    """The report of a model that there is."""
    from skewboost.report import Report

    model = read_model(model_path)
    _only_two(len(model.classes))
    if data == model.facts.get("data"):
        note(f"{data} has the rows that {model_path} was fitted to, on which it looks better than on new ones")
    rows = read_known(model, data, target)
    return Report(model.estimator, rows.X, rows.y, cost=cost_for(model, cost), title=title, pos_label=model.positive)


def of_data(task: Task, methods: tuple[str, ...], title: str | None) -> Any:
    """Fit a model, compare it with others on the rows of training, and report on the held-out ones."""
    from skewboost.evaluate import learning_curve
    from skewboost.report import Report

    fitted = fitting.fit(task)
    train, test = fitted.train, fitted.test
    assert test is not None
    rivals = tuple(dict.fromkeys((task.wanted.entry.name, *(methods or RIVALS))))
    contest = Contest(task.data, task.target, rivals, task.positive, task.cost, rounds=task.wanted.rounds, cv=3, seed=0)
    comparison = compare(contest, train)
    if not comparison.complete:
        raise KeyboardInterrupt
    curve = None
    if hasattr(fitted.model, "staged_predict"):  # a bag has no rounds to look at
        with waiting("Learning curve"):
            unfitted, _ = fitting.prepare(task, train)
            curve = learning_curve(
                unfitted, train.X, train.y, cv=3, cost=fitted.cost, sample_weight=train.weights, random_state=0
            )
    return Report(
        fitted.model, test.X, test.y, cost=fitted.cost, comparison=comparison, learning_curve=curve,
        training=(train.X, train.y), title=title, sample_weight=test.weights, pos_label=fitted.positive,
    )  # fmt: skip


def run(first: str, data: str | None, task: Task, methods: tuple[str, ...], title: str | None, as_json: bool) -> None:
    """Make the report and write it."""
    output = task.output or "report.html"
    check_output(output, ENDINGS)
    without_screen()
    if data is None:
        if task.target is None:
            raise CommandError(f"a report of {first} needs --target, or give a model and data: report MODEL DATA.")
        if task.test == 0:
            raise CommandError("a report is about held-out rows: --test must be more than 0.")
        made = of_data(task, methods, title or f"{task.wanted.entry.name} on {shown(Path(first).name)}")
    else:
        _check_model_only(task, methods)
        made = of_model(first, data, task.target, task.cost, title)
    with waiting("Drawing"):
        made.save(output)
    if as_json:
        emit({"report": output, "rows": len(made.y)})
    else:
        say(f"Written: {output}, about {count(len(made.y), 'row')}; open it in a browser.")


def _check_model_only(task: Task, methods: tuple[str, ...]) -> None:
    """Raise where an option has no effect, because the model is there already."""
    given = {
        "--method": task.wanted.method,
        "--methods": methods,
        "--rounds": task.wanted.rounds,
        "--drop": task.drop,
        "--positive": task.positive,
    }
    without_effect = [option for option, value in given.items() if value]
    if without_effect:
        raise CommandError(f"{without_effect[0]} has no effect on a model that is there already. Leave it out.")


def _only_two(n_classes: int) -> None:
    if n_classes > 2:
        raise CommandError(
            f"a report is about two classes, and there are {n_classes}. `evaluate` measures all of them."
        )
