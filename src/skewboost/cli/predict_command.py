"""The command `predict`: answers for new rows, chunk by chunk, in the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.model_files import Model, check_output, labels_from, read_model
from skewboost.cli.output import count, emit, named, note, number, progress
from skewboost.cli.prediction_files import SUFFIXES, writer_to
from skewboost.cli.shift import Watch
from skewboost.cli.target_column import check_columns, columns_named
from skewboost.names import shown, spell

CHUNK = 100_000
ALL = "all"


def run(
    model_path: str, data: str, output: str | None, keep: Sequence[str], threshold: float | None, as_json: bool
) -> None:
    """Read, ask, write."""
    check_output(output, SUFFIXES)
    model = read_model(model_path)
    model.check_threshold(threshold)
    source = model.open(data)
    columns = list(source.columns)
    kept = _kept(model, data, columns, keep)
    ignored = model.leave_out_others(source, kept)
    watch = Watch(model.profile)
    tally: dict[str, int] = {}
    n_rows = 0
    with ExitStack() as stack:
        writer = stack.enter_context(writer_to(output, as_json))
        bar = stack.enter_context(progress(counted=False, hidden=output is None))
        task = bar.add_task("Rows", total=None)
        for chunk in source.chunks(CHUNK):
            X = model.pick(chunk, data)
            said = answers(model, X, threshold)
            writer.write(_beside(chunk, kept, said))
            n_rows += len(chunk)
            bar.update(task, description=f"{number(n_rows)} rows")
            watch.rows(X)
            if threshold is None:
                watch.said(said["prediction"].to_numpy())
            labels, n = np.unique(said["prediction"], return_counts=True)
            for label, k in zip(labels.tolist(), n.tolist()):
                tally[spell(label)] = tally.get(spell(label), 0) + k
    warnings = watch.warnings(model.positive)
    for warning in warnings:
        note(f"warning: {warning}")
    told = {"model": model_path, "data": data, "threshold": threshold, "rows": n_rows, "predicted": tally}
    if output is not None and as_json:
        emit({**told, "output": output, "columns_ignored": ignored, "warnings": warnings})
    elif output is not None:
        classes = ", ".join(f"{number(k)} are {shown(label)}" for label, k in sorted(tally.items()))
        note(f"{count(n_rows, 'row')}: {classes}")
        note(f"Written: {output}")


def answers(model: Model, X: Any, threshold: float | None = None) -> Any:
    """A frame of predictions, probabilities and scores.

    With two classes the probability is that of the positive class, and the score is 0 or more where the model says so
    by itself; with more there is a column of each kind for every class.
    """
    import pandas as pd

    estimator = model.estimator
    two = model.positive is not None
    p = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
    decided = None if threshold is None or p is None else labels_from(threshold, p, model.classes, model.positive)
    found: dict[str, Any] = {"prediction": estimator.predict(X) if decided is None else decided}
    if p is not None and two:
        found["probability"] = p[:, model.classes.index(model.positive)]
    elif p is not None:
        found |= {f"probability_{spell(c)}": p[:, k] for k, c in enumerate(model.classes)}
    if hasattr(estimator, "decision_function"):
        F = estimator.decision_function(X)
        if two:
            found["score"] = F if model.positive == model.classes[1] else -F
        else:
            found |= {f"score_{spell(c)}": F[:, k] for k, c in enumerate(model.classes)}
    return pd.DataFrame(found)


def _kept(model: Model, data: str, columns: Sequence[str], keep: Sequence[str]) -> list[str]:
    """The columns to carry along, none of which may be called like an answer."""
    if [k.lower() for k in keep] == [ALL] and ALL not in columns:
        kept = list(columns)
    else:
        kept = list(columns_named(keep, columns))
        check_columns(data, columns, kept, "--keep")
    clash = [c for c in kept if c in ("prediction", "probability", "score")]
    if clash:
        raise CommandError(f"{named(data)} has a column {clash[0]!r} itself. Rename it, or leave it out of --keep.")
    return kept


def _beside(chunk: Any, kept: list[str], said: Any) -> Any:
    import pandas as pd

    if not kept:
        return said
    return pd.concat([chunk[kept].reset_index(drop=True), said], axis=1)
