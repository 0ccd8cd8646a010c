"""The command `evaluate`: measure a model on rows whose labels are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.cli.commands import Evaluate
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.held_out import Predictions, print_results
from skewboost.cli.method_options import suggest
from skewboost.cli.model_files import SavedModel, read_model
from skewboost.cli.output import list_names, note, print_json, source_name, warn
from skewboost.cli.shift import ShiftDetector
from skewboost.cli.target_column import Examples, check_columns, find_label, labelled_rows, read_cost
from skewboost.names import spell


def run(request: Evaluate) -> None:
    """Predict, and compare with the labels."""
    data, threshold = request.data, request.threshold
    model = read_model(request.model)
    model.check_threshold(threshold)
    costs = costs_for(model, request.cost)
    examples = read_labelled(model, data, request.target, request.weight)
    note_if_training_data(model, data)
    predictions = Predictions.of(model.estimator, model.positive, examples, threshold)
    warnings = warn_of_shift(model, examples, costs, None if threshold is not None else predictions.predicted)
    if request.as_json:
        head = {"model": model.path, "method": model.name, "data": data, "threshold": threshold, "warnings": warnings}
        print_json({**head, **predictions.as_dict(costs)})
    else:
        by = "" if threshold is None else f", with a threshold of {threshold:g} on the probability,"
        print_results(predictions, costs, f"{model.name} ({model.path}){by} on {predictions.describe_rows()}")


def note_if_training_data(model: SavedModel, data: str) -> None:
    """Print a note if a model is measured on the file that it was fitted to."""
    training = model.record.get("data", "")
    if data == training or (Path(training).is_file() and Path(data).is_file() and Path(data).samefile(training)):
        note(f"{model.path} was fitted to rows of {data}, so the results are better than on new rows")


def read_labelled(model: SavedModel, data: str, target: str | None, weight: str | None = None) -> Examples:
    """Rows with the columns of the model, and their labels as the model spells them.

    The target and the weights are those of `fit`, unless others are given; "" means no weights.
    """
    name = target or model.record.get("target")
    if name is None:
        raise CommandError(f"{model.path} does not record its target column.", "Name it with --target.")
    if name in model.columns:
        raise CommandError(f"--target: {name!r} is one of the features of {model.path}.")
    source = model.open(data, target=name)
    if name not in source.columns:
        hint = suggest(name, [c for c in source.columns if c not in model.columns])
        raise CommandError(
            f"--target: {source_name(data)} has no column {name!r}, so its rows cannot be measured.",
            f"{hint} `skewboost predict` predicts for rows without a target.".lstrip(),
        )
    if weight:
        check_columns(data, source.columns, [weight], "--weight")
        if weight == name:
            raise CommandError(f"{name!r} is the target, so it cannot be the weight.")
    elif weight is None:
        weight = _recorded_weight(model, source.columns)
    model.skip_unused(source, [name, weight])
    examples = labelled_rows(source.read(), data, name, model.columns, weight)
    return replace(examples, X=model.features(examples.X, data), y=_labels_of_model(model, examples))


def _recorded_weight(model: SavedModel, columns: list[str]) -> str | None:
    """The column of weights in training, if the data have it."""
    weight: str | None = model.record.get("weight")
    if weight is None:
        return None
    if weight not in columns:
        note(f"there is no column {weight!r}, which weighted the rows in training: all rows have weight 1")
        return None
    note(f"rows are weighted by {weight!r}, as in training; --weight '' gives all rows weight 1")
    return weight


def _labels_of_model(model: SavedModel, examples: Examples) -> Any:
    """The labels, each as the class of the model that is spelled like it."""
    known = {spell(c): c for c in model.classes}
    unknown = sorted({spell(v) for v in examples.classes} - set(known))
    if unknown:
        raise CommandError(
            f"{examples.path}: the target {examples.target!r} has the classes {list_names(unknown, 3)}, but "
            f"{model.path} knows only {list_names(known)}.", "Choose another --target, or other rows.",
        )  # fmt: skip
    return np.array([known[spell(v)] for v in examples.y.tolist()], dtype=model.estimator.classes_.dtype)


def costs_for(model: SavedModel, cost: str | None) -> Any:
    """The costs that the user gives, else those that the model was fitted with."""
    if cost is not None:
        return read_cost(cost, model.classes)
    recorded = model.record.get("cost")
    if isinstance(recorded, dict):
        return {find_label(label, model.classes, "cost"): value for label, value in recorded.items()}
    return recorded


def warn_of_shift(model: SavedModel, examples: Examples, costs: Any, predicted: Any) -> list[str]:
    """Warn if rows differ clearly from the training rows; `predicted` are the model's own decisions, or None."""
    detector = ShiftDetector(model.profile)
    detector.add_rows(examples.X)
    detector.add_labels(examples.y, examples.weights)
    if predicted is not None:
        detector.add_predictions(predicted)
    warnings = detector.warnings(model.positive, None if predicted is None else _cost_ratio(model, costs))
    warn(warnings)
    return warnings


def _cost_ratio(model: SavedModel, costs: Any) -> float | None:
    """The cost of a miss in false alarms; None if it is not known, or depends on the rows."""
    if isinstance(costs, Mapping) and model.positive is not None:
        (other,) = (c for c in model.classes if c != model.positive)
        return float(costs[model.positive] / costs[other])
    return float(costs) if isinstance(costs, int | float) else None
