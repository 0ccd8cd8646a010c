"""The command `evaluate`: what a model's answers are worth on rows whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.cli import measuring
from skewboost.cli.data import open_data
from skewboost.cli.data.content import is_pipe
from skewboost.cli.errors import CommandError
from skewboost.cli.examples import Examples, check_columns, label_of, read_examples
from skewboost.cli.models import Model, read_model
from skewboost.cli.prices import read_cost
from skewboost.cli.tell import emit, note, some
from skewboost.tables import spell


def run(model_path: str, data: str, target: str | None, cost: str | None, weight: str | None, as_json: bool) -> None:
    """Ask the model and compare."""
    model = read_model(model_path)
    examples = read_known(model, data, target, weight)
    answers = measuring.Answers.of(model.estimator, model.positive, examples)
    price = cost_for(model, cost)
    if data == model.facts.get("data"):
        note(f"{data} has the rows that {model_path} was fitted to, on which it looks better than on new ones")
    if as_json:
        emit({"model": model_path, "method": model.name, "data": data, **measuring.document(answers, price)})
    else:
        heading = f"{model.name} ({model_path}) on {measuring.rows_in_words(answers)}"
        measuring.show(answers, price, heading)


def read_known(model: Model, data: str, target: str | None, weight: str | None = None) -> Examples:
    """Rows with the model's columns, and their labels as the model spells them."""
    name = target or model.facts.get("target")
    if name is None:
        raise CommandError(f"{model.path} does not say which column its target was. Say --target NAME.")
    if name in model.columns:
        raise CommandError(f"--target: {name!r} is one of the columns that {model.path} predicts from.")
    columns = [name] if is_pipe(data) else list(open_data(data, columns=model.columns).columns)
    check_columns(data, columns, [name], "--target")
    text = [name] if isinstance(model.classes[0], str) else []
    examples = read_examples(data, name, weight=weight, source=model.open(data, text))
    return Examples(model.pick(examples.X), _as_trained(model, examples), examples.weights, name, data)


def _as_trained(model: Model, examples: Examples) -> Any:
    """The labels, each the class of the model that is spelled like it."""
    known = {spell(c): c for c in model.classes}
    unknown = sorted({spell(v) for v in examples.classes} - set(known))
    if unknown:
        raise CommandError(
            f"{examples.path}: the target {examples.target!r} has {some(unknown, 3)}, and {model.path} knows "
            f"{some(known)} only. Choose another --target, or other rows."
        )
    return np.array([known[spell(v)] for v in examples.y.tolist()], dtype=model.estimator.classes_.dtype)


def cost_for(model: Model, cost: str | None) -> Any:
    """What the user says, else what the model was fitted for."""
    if cost is not None:
        return read_cost(cost, model.classes)
    told = model.facts.get("cost")
    if isinstance(told, dict):
        return {label_of(label, model.classes, "cost"): price for label, price in told.items()}
    return told
