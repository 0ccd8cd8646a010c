"""Model files as commands see them: the estimator, its columns, and what `fit` noted about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skewboost.cli.estimator_names import close_to
from skewboost.cli.exit_codes import FAILED, CommandError
from skewboost.cli.output import named, note, some
from skewboost.cli.shift import Profile
from skewboost.files import check_place
from skewboost.names import spell
from skewboost.typing import Array

CATEGORY = "category"  # the kind of a column of text


@dataclass(frozen=True)
class Model:
    """A fitted estimator from a file."""

    path: str
    estimator: Any
    columns: tuple[str, ...]
    categories: Mapping[str, Sequence[str]]  # the columns that hold text, and what it is
    facts: Mapping[str, Any] = field(default_factory=dict)  # what `fit` noted: target, cost, dropped columns, …
    profile: Profile | None = None  # of the rows of training, if `fit` noted it

    @property
    def classes(self) -> list[Any]:
        """The labels."""
        return list(self.estimator.classes_.tolist())

    @property
    def positive(self) -> Any:
        """The positive class of two, else None; some models treat both alike, and then `fit` noted it."""
        if len(self.classes) > 2:
            return None
        noted = {spell(c): c for c in self.classes}.get(spell(self.facts.get("positive")), self.classes[1])
        return getattr(self.estimator, "pos_label_", noted)

    @property
    def name(self) -> str:
        """What was fitted."""
        inner = getattr(self.estimator, "estimator_", None)
        own = type(self.estimator).__name__.removesuffix("Classifier")
        return own if inner is None else f"{type(inner).__name__.removesuffix('Classifier')} by {own}"

    def check(self, path: str, there: Sequence[str]) -> None:
        """Raise where data lack a column that the model looks at."""
        lacking = [name for name in self.columns if name not in there]
        if lacking:
            spare = [c for c in there if c not in (*self.columns, self.facts.get("target"))]
            hint = close_to(lacking[0], spare) or f"There are {some(there, 12)}."
            word = "column" if len(lacking) == 1 else "columns"
            raise CommandError(
                f"{named(path)} lacks the {word} {some(lacking, quotes=True)}, which {self.path} was fitted to. "
                f"{hint.strip()}"
            )

    def open(self, path: str, *, truth: str | None = None) -> Any:
        """Data with its columns, the kinds of which are those of training; other columns may be there too.

        `truth` is the column of labels, which is text where the classes are; of a pipe it has to be there.
        """
        from skewboost.cli.data import open_data
        from skewboost.cli.data.content import is_pipe

        text: dict[str, Sequence[str]] = dict(self.categories)
        there = None
        if not is_pipe(path):  # of a pipe there is one look only
            there = open_data(path, columns=self.columns).columns
            self.check(path, there)
        if truth is not None and isinstance(self.classes[0], str) and (there is None or truth in there):
            text[truth] = ()
        source = open_data(path, text=text, columns=self.columns)
        self.check(path, source.columns)
        return source

    def leave_out_others(self, source: Any, used: Sequence[str | None] = ()) -> list[str]:
        """Let a source leave out what is not used; columns that `fit` had not been told to drop are named on stderr."""
        others = [c for c in source.columns if c not in {*self.columns, *used}]
        source.leave_out(others)
        noted = {self.facts.get("target"), self.facts.get("weight"), *self.facts.get("dropped", ())}
        ignored = [c for c in others if c not in noted]
        if ignored:
            note(f"ignored: {some(ignored)} ({self.path} does not use {'it' if len(ignored) == 1 else 'them'})")
        return ignored

    def check_threshold(self, threshold: float | None) -> None:
        """Raise where rows cannot be flagged from a probability on."""
        if threshold is None:
            return
        if self.positive is None:
            raise CommandError(
                f"--threshold is about one class of two, and {self.path} tells {len(self.classes)} apart. Leave it out."
            )
        if not hasattr(self.estimator, "predict_proba"):
            raise CommandError(f"--threshold is a probability, and {self.name} gives none. Leave it out.")
        if self.facts.get("goal"):
            note(f"the goal {self.facts['goal']} is about the threshold of {self.path} itself, not about {threshold:g}")

    def pick(self, frame: Any, path: str) -> Any:
        """Its columns, in its order."""
        X = frame[list(self.columns)]
        dates = [name for name in self.columns if X[name].dtype.kind == "M"]
        if dates:
            raise CommandError(
                f"{named(path)}: the column {dates[0]!r} holds dates, and held none when {self.path} was fitted. "
                "Convert it as then."
            )
        return X


def read_model(path: str) -> Model:
    """A model file, checked."""
    from skewboost import io
    from skewboost.cli.data.content import is_pipe
    from skewboost.io.model_file import load_and_describe

    if is_pipe(path):
        raise CommandError("a model is read from a file; only DATA may be a pipe or - (standard input).")
    if not Path(path).exists():
        raise CommandError(f"there is no file {path}. `skewboost fit DATA --target … -o {path}` writes one.")
    try:
        estimator, told = load_and_describe(path)
    except io.ModelFileError as error:
        if "it is not JSON" not in str(error):
            raise
        raise CommandError(f"{error}. Give a file that `skewboost fit … -o` has written.".replace("..", ".")) from error
    features = told["features"]
    categories = {f["name"]: f.get("categories", ()) for f in features if f["kind"] == CATEGORY}
    facts = _facts(told)
    profile = Profile.read(facts.pop("training", None))
    return Model(path, estimator, tuple(f["name"] for f in features), categories, facts, profile)


def labels_from(threshold: float, probability: Array, classes: Sequence[Any], positive: Any) -> Array:
    """The positive class from a probability of it on, the other class below."""
    at = classes.index(positive)
    flagged = probability[:, at] >= threshold
    return np.asarray(np.array(classes)[np.where(flagged, at, 1 - at)])


def write_model(estimator: Any, path: str, facts: Mapping[str, Any]) -> None:
    """Save a model with what is worth knowing about it."""
    import json

    from skewboost import io
    from skewboost.cli.output import plain

    try:
        io.save(estimator, path, notes=json.dumps(plain(facts)))
    except RuntimeError as error:  # the model cannot be put in a file, which is known only now
        raise CommandError(str(error), FAILED) from error


# What later commands go by, where it is of the type that `fit` notes
FACTS: dict[str, type | tuple[type, ...]] = {
    "target": str,
    "weight": str,
    "dropped": list,
    "data": str,
    "goal": str,
    "cost": (int, float, str, dict),
    "training": dict,
}


def _facts(told: Mapping[str, Any]) -> dict[str, Any]:
    import json

    try:
        facts = json.loads(told.get("notes") or "{}")
    except (ValueError, RecursionError):  # saved from Python, with notes in words
        return {}
    if not isinstance(facts, dict):
        return {}
    found = {name: facts[name] for name, kind in FACTS.items() if isinstance(facts.get(name), kind)}
    found["dropped"] = [name for name in found.get("dropped", ()) if isinstance(name, str)]
    return {**found, "positive": facts.get("positive")}


def check_output(path: str | None, suffixes: Sequence[str], option: str = "-o") -> None:
    """Before any work is done: whether a file can be written there, and its name says what it is to be."""
    if path is None:
        return
    if suffixes and not Path(path).name.lower().endswith(tuple(suffixes)):
        raise CommandError(f"{option} {path}: the name must end in {some(suffixes, 10)}.")
    try:
        check_place(path)
    except OSError as error:
        raise CommandError(f"{option} {path}: {error.strerror}.") from error
