"""Model files as commands use them: the estimator, its columns, and what `fit` recorded about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.cli.exit_codes import FAILED, CommandError
from skewboost.cli.method_options import suggest
from skewboost.cli.output import json_types, list_names, note, source_name
from skewboost.cli.shift import TrainingProfile
from skewboost.names import spell
from skewboost.typing import Array

# What `fit` records for later commands, and the type of each value
RECORDED: dict[str, type | tuple[type, ...]] = {
    "target": str,
    "weight": str,
    "dropped": list,
    "data": str,
    "goal": str,
    "labels": str,
    "cost": (int, float, str, dict),
    "training": dict,
}


@dataclass(frozen=True)
class SavedModel:
    """A fitted estimator from a file."""

    path: str
    estimator: Any
    columns: tuple[str, ...]
    categories: Mapping[str, Sequence[str]]  # of the columns of text
    record: Mapping[str, Any] = field(default_factory=dict)  # what `fit` recorded: target, cost, dropped columns, …
    profile: TrainingProfile | None = None

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return list(self.estimator.classes_.tolist())

    @property
    def positive(self) -> Any:
        """The positive class; None if there are more than two classes."""
        if len(self.classes) > 2:
            return None
        recorded = {spell(c): c for c in self.classes}.get(spell(self.record.get("positive")), self.classes[1])
        return getattr(self.estimator, "pos_label_", recorded)

    @property
    def booster(self) -> Any:
        """The ensemble, without a search around it."""
        return booster_of(self.estimator)

    @property
    def name(self) -> str:
        """The name of the method."""
        own = type(self.estimator).__name__.removesuffix("Classifier")
        inner = type(self.booster).__name__.removesuffix("Classifier")
        return own if self.booster is self.estimator else f"{inner} by {own}"

    def open(self, path: str, *, target: str | None = None) -> Any:
        """Open data that has the columns of the model, with the column types of training.

        `target` is the column of labels, which is read as text if the classes are text.
        """
        from skewboost.cli.data import open_data

        source = open_data(path, columns=self.columns)
        missing = [name for name in self.columns if name not in source.columns]
        if missing:
            spare = [c for c in source.columns if c not in (*self.columns, self.record.get("target"))]
            raise CommandError(
                f"{source_name(path)} lacks the {'column' if len(missing) == 1 else 'columns'} "
                f"{list_names(missing, quotes=True)}, which {self.path} was fitted to.",
                suggest(missing[0], spare) or f"Its columns are {list_names(source.columns, 12)}.",
            )
        source.text = {**self.categories}
        if target in source.columns and isinstance(self.classes[0], str):
            source.text[target] = ()
        return source

    def skip_unused(self, source: Any, used: Sequence[str | None] = (), copied: Sequence[str] = ()) -> list[str]:
        """Skip the columns that are not used. Those that `fit` did not drop are named on stderr and returned.

        Columns that are only `copied` to the output are skipped, but not named.
        """
        others = [c for c in source.columns if c not in {*self.columns, *used}]
        source.leave_out(others)
        known = {self.record.get("target"), self.record.get("weight"), *self.record.get("dropped", ()), *copied}
        ignored = [c for c in others if c not in known]
        if ignored:
            note(f"ignored: {list_names(ignored)} (not used by {self.path})")
        return ignored

    def features(self, frame: Any, path: str) -> Any:
        """The columns of the model, in its order."""
        X = frame[list(self.columns)]
        dates = [name for name in self.columns if X[name].dtype.kind == "M"]
        if dates:
            raise CommandError(
                f"{source_name(path)}: the column {dates[0]!r} holds dates, but did not when {self.path} was fitted.",
                "Convert it in the same way as then.",
            )
        return X

    def check_threshold(self, threshold: float | None) -> None:
        """Raise if --threshold cannot be used with this model."""
        if threshold is None:
            return
        if self.positive is None:
            problem = f"--threshold is for two classes, but {self.path} has {len(self.classes)}."
            raise CommandError(problem, "Leave it out.")
        if not hasattr(self.estimator, "predict_proba"):
            raise CommandError(f"--threshold is a probability, but {self.name} has none.", "Leave it out.")
        if self.record.get("goal"):
            note(f"the goal {self.record['goal']} holds for the threshold of {self.path} itself, not for {threshold:g}")

    def predict(self, X: Any, threshold: float | None = None, probability: Array | None = None) -> Array:
        """Predicted labels, see `predict_labels`."""
        return predict_labels(self.estimator, X, self.positive, threshold, probability)


def booster_of(model: Any) -> Any:
    """The ensemble, without a search around it."""
    return getattr(model, "estimator_", model)


def count_rounds(model: Any) -> int:
    """The number of rounds, or of members."""
    booster = booster_of(model)
    if hasattr(booster, "stages_"):  # of a cascade
        return sum(stage.n_rounds for stage in booster.stages_)
    return int(getattr(booster, "n_estimators_", None) or len(booster.estimators_))


def predict_labels(model: Any, X: Any, positive: Any, threshold: float | None, probability: Array | None) -> Array:
    """Predicted labels; with a threshold, the positive class where its probability is at least the threshold."""
    if threshold is None:
        return np.asarray(model.predict(X))
    p = model.predict_proba(X) if probability is None else probability
    k = model.classes_.tolist().index(positive)
    return np.asarray(model.classes_[np.where(p[:, k] >= threshold, k, 1 - k)])


def read_model(path: str) -> SavedModel:
    """Read and check a model file."""
    from skewboost.cli.data.content import is_pipe
    from skewboost.io import ModelFileError
    from skewboost.io.model_file import load_and_describe

    if is_pipe(path):
        raise CommandError("the model must be a file; only DATA may be a pipe or - (standard input).")
    if not Path(path).exists():
        raise CommandError(f"there is no file {path}.", f"`skewboost fit DATA --target … -o {path}` writes one.")
    try:
        estimator, description = load_and_describe(path)
    except ModelFileError as error:
        raise CommandError(error.problem, "Give a file that `skewboost fit … -o` wrote.") from error
    features = description["features"]
    categories = {f["name"]: f.get("categories", ()) for f in features if f["kind"] == "category"}
    record = _read_record(description["notes"])
    profile = TrainingProfile.from_dict(record.pop("training", None))
    return SavedModel(path, estimator, tuple(f["name"] for f in features), categories, record, profile)


def write_model(estimator: Any, path: str, record: Mapping[str, Any]) -> None:
    """Save a model with a record of its fit."""
    from skewboost import io

    try:
        io.save(estimator, path, notes=json.dumps(json_types(record)))
    except RuntimeError as error:  # the estimator cannot be saved
        raise CommandError(str(error), exit_code=FAILED) from error


def _read_record(notes: str | None) -> dict[str, Any]:
    try:
        record = json.loads(notes or "{}")
    except (ValueError, RecursionError):  # saved from Python, with other notes
        record = None
    if not isinstance(record, dict):
        return {}
    known = {name: record[name] for name, kind in RECORDED.items() if isinstance(record.get(name), kind)}
    known["dropped"] = [name for name in known.get("dropped", ()) if isinstance(name, str)]
    return {**known, "positive": record.get("positive")}
