"""The command `predict`: predictions for new rows, chunk by chunk, in the order of the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from inspect import signature
from typing import Any

import numpy as np

from skewboost.boosting.catalogue import RECOMMENDED
from skewboost.cli.commands import Predict
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.model_files import SavedModel, read_model
from skewboost.cli.output import count, note, number, print_json, source_name, warn
from skewboost.cli.output_files import SUFFIXES, check_output, write_frames
from skewboost.cli.shift import ShiftDetector
from skewboost.cli.target_column import check_columns, split_names
from skewboost.names import shown, spell
from skewboost.progress import ProgressBar
from skewboost.typing import Array

CHUNK = 100_000
ALL = "all"


def run(request: Predict) -> None:
    """Predict, and write predictions, probabilities and scores."""
    data, output, threshold = request.data, request.output, request.threshold
    check_output(output, SUFFIXES)
    model = read_model(request.model)
    model.check_threshold(threshold)
    source = model.open(data)
    kept = _columns_to_keep(data, source.columns, request.keep or (), model)
    cost_column = _check_cost_column(request, model, source.columns)
    ignored = model.skip_unused(source, [cost_column], kept)
    detector = ShiftDetector(model.profile)
    predicted: Counter[str] = Counter()
    bar = ProgressBar(None, "Rows", transient=True)

    def answers() -> Iterator[tuple[Any, Any]]:
        for chunk, cells in source.chunks_and_cells(CHUNK, kept):
            X = model.features(chunk, data)
            costs = None if cost_column is None else _costs_of_misses(chunk[cost_column], data)
            table = predictions(model, X, threshold, costs)
            detector.add_rows(X)
            if threshold is None and costs is None:
                detector.add_predictions(table["prediction"].to_numpy())
            predicted.update({spell(c): n for c, n in table["prediction"].value_counts().to_dict().items()})
            yield cells, table
            if output is not None:
                bar.update(predicted.total(), number(predicted.total()))

    with nullcontext() if output is None else bar:
        write_frames(answers(), output, request.as_json)
    if cost_column is not None:
        miss = model.classes.index(model.positive)
        alarm = number(model.estimator._costs_besides_misses[1 - miss, miss])
        note(f"a miss of {shown(model.positive)} costs what {cost_column!r} says, and a false alarm {alarm}")
    warnings = detector.warnings(model.positive)
    warn(warnings)
    if output is not None and request.as_json:
        print_json({
            "model": model.path, "data": data, "threshold": threshold, "cost_column": cost_column,
            "rows": predicted.total(), "predicted": predicted, "output": output, "columns_ignored": ignored,
            "warnings": warnings,
        })  # fmt: skip
    elif output is not None:
        classes = ", ".join(f"{number(k)} are {shown(label)}" for label, k in sorted(predicted.items()))
        note(f"{count(predicted.total(), 'row')}: {classes}")
        note(f"Written: {output}")


def predictions(model: SavedModel, X: Any, threshold: float | None = None, costs: Array | None = None) -> Any:
    """A frame of predictions, probabilities and scores; `costs` are those of a miss on each row.

    With two classes, the probability and the score are those of the positive class; with more there is a column of
    each for every class.
    """
    import pandas as pd

    estimator, positive = model.estimator, model.positive
    p = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
    decided = model.predict(X, threshold, p) if costs is None else estimator.predict(X, sample_cost=costs)
    columns: dict[str, Any] = {"prediction": decided}
    if p is not None and positive is not None:
        columns["probability"] = p[:, model.classes.index(positive)]
    elif p is not None:
        columns |= {f"probability_{spell(c)}": p[:, k] for k, c in enumerate(model.classes)}
    if hasattr(estimator, "decision_function"):
        F = estimator.decision_function(X)
        if positive is not None:
            columns["score"] = F if positive == model.classes[1] else -F
        else:
            columns |= {f"score_{spell(c)}": F[:, k] for k, c in enumerate(model.classes)}
    return pd.DataFrame(columns)


def _check_cost_column(request: Predict, model: SavedModel, columns: Sequence[str]) -> str | None:
    """The column of costs, if there is one and the model can use it."""
    name = request.cost_column
    if name is None:
        return None
    check_columns(request.data, columns, [name], "--cost-column")
    if request.threshold is not None:
        raise CommandError("--threshold and --cost-column both decide what is predicted.", "Leave one of them out.")
    if model.positive is None:
        raise CommandError(
            f"--cost-column is for two classes, but {model.path} has {len(model.classes)}.", "Leave it out."
        )
    if model.record.get("goal"):
        raise CommandError(f"{model.path} was fitted to a goal, which costs cannot change.", "Fit without a goal.")
    if "sample_cost" not in signature(model.estimator.predict).parameters:
        raise CommandError(
            f"--cost-column: the decisions of {model.name} have no costs of single rows.",
            f"`skewboost fit --method {RECOMMENDED}` fits a model that has.",
        )
    return name


def _costs_of_misses(column: Any, data: str) -> Array:
    """What a miss on each row costs: the numbers of the column."""
    import pandas as pd

    costs = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(costs) & (costs >= 0)))
    if len(bad):
        cell = "an empty cell" if column.isna().iloc[bad[0]] else f"'{column.iloc[bad[0]]}'"
        raise CommandError(
            f"--cost-column: {source_name(data)} has {cell} in column {column.name!r}, which is not a cost.",
            "Costs are numbers of at least 0.",
        )
    return np.asarray(costs)


def _columns_to_keep(data: str, columns: Sequence[str], keep: Sequence[str], model: SavedModel) -> list[str]:
    """The columns of the data that --keep names; none of them may have the name of a column of predictions."""
    if [k.lower() for k in keep] == [ALL] and ALL not in columns:
        kept = list(columns)
    else:
        kept = list(split_names(keep, columns))
        check_columns(data, columns, kept, "--keep")
    own = {"prediction", "probability", "score"}
    own |= {f"{name}_{spell(c)}" for name in ("probability", "score") for c in model.classes if model.positive is None}
    clash = [c for c in kept if c in own]
    if clash:
        raise CommandError(
            f"{source_name(data)} has a column {clash[0]!r}, like the output.", "Rename it, or leave it out of --keep."
        )
    return kept
