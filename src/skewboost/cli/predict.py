"""The command `predict`: answers for new rows, chunk by chunk, in the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from skewboost.cli.errors import CommandError
from skewboost.cli.examples import check_columns
from skewboost.cli.models import Model, check_output, read_model
from skewboost.cli.tell import count, emit, named, note, number, progress, some
from skewboost.cli.writing import SUFFIXES, writer_to
from skewboost.tables import spell

CHUNK = 100_000
ALL = "all"


def run(model_path: str, data: str, output: str | None, keep: Sequence[str], as_json: bool) -> None:
    """Read, ask, write."""
    check_output(output, SUFFIXES)
    model = read_model(model_path)
    source = model.open(data)
    columns = list(source.columns)
    kept = _kept(model, data, columns, keep)
    expected = {*model.columns, *kept, model.facts.get("target")}
    ignored = [c for c in columns if c not in expected]
    tally: dict[str, int] = {}
    n_rows = 0
    with ExitStack() as stack:
        writer = stack.enter_context(writer_to(output, as_json))
        bar = stack.enter_context(progress(counted=False, hidden=output is None))
        task = bar.add_task("Rows", total=None)
        for chunk in source.chunks(CHUNK):
            said = answers(model, chunk)
            writer.write(_beside(chunk, kept, said))
            n_rows += len(chunk)
            bar.update(task, description=f"{number(n_rows)} rows")
            labels, n = np.unique(said["prediction"], return_counts=True)
            for label, k in zip(labels.tolist(), n.tolist()):
                tally[spell(label)] = tally.get(spell(label), 0) + k
    if ignored:
        note(f"{count(len(ignored), 'column')} not used: {some(ignored)}")
    told = {"model": model_path, "data": data, "rows": n_rows, "predicted": tally, "output": output}
    if output is not None and as_json:
        emit({**told, "columns_not_used": ignored})
    elif output is not None:
        note(f"{count(n_rows, 'row')}: {', '.join(f'{number(k)} are {label}' for label, k in sorted(tally.items()))}")
        note(f"Written: {output}")


def answers(model: Model, frame: Any) -> Any:
    """A frame of predictions, probabilities and scores.

    With two classes the probability is that of the positive class, and the score is above 0 where it is predicted;
    with more there is a column of each kind for every class.
    """
    import pandas as pd

    X, estimator = model.pick(frame), model.estimator
    found: dict[str, Any] = {"prediction": estimator.predict(X)}
    two = model.positive is not None
    if hasattr(estimator, "predict_proba"):
        p = estimator.predict_proba(X)
        if two:
            found["probability"] = p[:, model.classes.index(model.positive)]
        else:
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
        check_columns(data, columns, keep, "--keep")
        kept = list(keep)
    clash = [c for c in kept if c in ("prediction", "probability", "score")]
    if clash:
        raise CommandError(f"{named(data)} has a column {clash[0]!r} itself. Rename it, or leave it out of --keep.")
    return kept


def _beside(chunk: Any, kept: list[str], said: Any) -> Any:
    import pandas as pd

    if not kept:
        return said
    return pd.concat([chunk[kept].reset_index(drop=True), said], axis=1)
