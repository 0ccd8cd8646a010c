"""The command `evaluate`: what a model's answers are worth on rows whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.cli import held_out
from skewboost.cli.cost_option import read_cost
from skewboost.cli.estimator_names import close_to
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.model_files import Model, read_model
from skewboost.cli.output import emit, named, note, some
from skewboost.cli.shift import Watch
from skewboost.cli.target_column import Examples, check_columns, label_of, labelled
from skewboost.names import spell


def run(
    model_path: str,
    data: str,
    target: str | None,
    cost: str | None,
    weight: str | None,
    threshold: float | None,
    as_json: bool,
) -> None:
    """Ask the model and compare."""
    model = read_model(model_path)
    model.check_threshold(threshold)
    price = cost_for(model, cost)
    examples = read_known(model, data, target, weight)
    note_if_seen(model, data)
    answers = held_out.Answers.of(model.estimator, model.positive, examples, threshold)
    warnings = warn_of_shift(model, examples, price, None if threshold is not None else answers.predicted)
    if as_json:
        told = {"model": model_path, "method": model.name, "data": data, "threshold": threshold, "warnings": warnings}
        emit({**told, **held_out.document(answers, price)})
    else:
        by = "" if threshold is None else f", flagged from a probability of {threshold:g},"
        heading = f"{model.name} ({model_path}){by} on {held_out.rows_in_words(answers)}"
        held_out.show(answers, price, heading)


def note_if_seen(model: Model, data: str) -> None:
    """Say so where a model is measured on the rows that it was fitted to."""
    noted = model.facts.get("data", "")
    if data == noted or (Path(noted).is_file() and Path(data).is_file() and Path(data).samefile(noted)):
        note(f"{data} has the rows that {model.path} was fitted to, on which it looks better than on new ones")


def read_known(model: Model, data: str, target: str | None, weight: str | None = None) -> Examples:
    """Rows with the model's columns, and their labels as the model spells them.

    The target and the weights are those that `fit` was told, unless something else is said; no weights if it is "".
    """
    name = target or model.facts.get("target")
    if name is None:
        raise CommandError(f"{model.path} does not say which column its target was. Say --target NAME.")
    if name in model.columns:
        raise CommandError(f"--target: {name!r} is one of the columns that {model.path} predicts from.")
    source = model.open(data, truth=name)
    if name not in source.columns:
        hint = close_to(name, [c for c in source.columns if c not in model.columns])
        raise CommandError(
            f"--target: {named(data)} has no column {name!r}, so its rows cannot be measured. {hint}"
            "`skewboost predict` answers for rows without a target."
        )
    if weight:
        check_columns(data, source.columns, [weight], "--weight")
        if weight == name:
            raise CommandError(f"{name!r} is the target, so it cannot be the weight.")
    elif weight is None:
        weight = _noted_weight(model, source.columns)
    model.leave_out_others(source, [name, weight])
    examples = labelled(source.read(), data, name, model.columns, weight)
    return replace(examples, X=model.pick(examples.X, data), y=as_trained(model, examples))


def _noted_weight(model: Model, there: list[str]) -> str | None:
    """The column of weights in training, if it is there."""
    weight: str | None = model.facts.get("weight")
    if weight is None:
        return None
    if weight not in there:
        note(f"there is no column {weight!r}, which weighed the rows in training: each row counts once")
        return None
    note(f"rows are weighed by {weight!r}, as in training; --weight '' counts each once")
    return weight


def warn_of_shift(model: Model, examples: Examples, price: Any, said: Any) -> list[str]:
    """Warn where rows are clearly unlike those of training; `said` are the model's own decisions, if it makes them."""
    watch = Watch(model.profile)
    watch.rows(examples.X)
    watch.truth(examples.y, examples.weights)
    if said is not None:
        watch.said(said)
    warnings = watch.warnings(model.positive, None if said is None else _decide_for_share(model, price))
    for warning in warnings:
        note(f"warning: {warning}")
    return warnings


def _decide_for_share(model: Model, price: Any) -> Callable[[float, float], str]:
    """The threshold that allows for another share of the positive class, if prices are known."""

    def remedy(was: float, now: float) -> str:
        ratio = _ratio(model, price)
        if ratio is None or not (0 < was < 1 and 0 < now < 1):
            return ""
        odds = was / (1 - was) * (1 - now) / now / ratio
        return (
            f"; if that is all that has changed, --threshold {odds / (1 + odds):.3g} allows for it (in Python, "
            f"MinimumRiskClassifier(prior={now:.3g}))"
        )

    return remedy


def _ratio(model: Model, price: Any) -> float | None:
    """How many false alarms a miss costs, in numbers that do not depend on the rows."""
    if isinstance(price, Mapping) and model.positive is not None:
        (other,) = (c for c in model.classes if c != model.positive)
        return float(price[model.positive] / price[other])
    return float(price) if isinstance(price, int | float) else None


def as_trained(model: Model, examples: Examples) -> Any:
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
