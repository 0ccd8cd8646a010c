"""Model files as commands see them: the estimator, its columns, and what `fit` noted about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skewboost.cli.errors import FAILED, CommandError
from skewboost.cli.methods import close_to
from skewboost.cli.tell import named, some
from skewboost.files import check_place
from skewboost.tables import spell

CATEGORY = "category"  # the kind of a column of text


@dataclass(frozen=True)
class Model:
    """A fitted estimator from a file."""

    path: str
    estimator: Any
    columns: tuple[str, ...]
    categories: Mapping[str, Sequence[str]]  # the columns that hold text, and what it is
    facts: Mapping[str, Any] = field(default_factory=dict)  # what `fit` noted: target, cost, …

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
            spare = [c for c in there if c not in self.columns]
            hint = close_to(lacking[0], spare) or f"There are {some(there, 12)}."
            word = "column" if len(lacking) == 1 else "columns"
            raise CommandError(
                f"{named(path)} lacks the {word} {some(map(repr, lacking))}, which {self.path} was fitted to. "
                f"{hint.strip()}"
            )

    def open(self, path: str, also_text: Sequence[str] = ()) -> Any:
        """Data with its columns, the kinds of which are those of training."""
        from skewboost.cli.data import open_data
        from skewboost.cli.data.content import is_pipe

        if not is_pipe(path):  # there is one look only
            self.check(path, open_data(path, columns=self.columns).columns)
        text = {**self.categories, **dict.fromkeys(also_text, ())}
        source = open_data(path, text=text, columns=self.columns)
        self.check(path, source.columns)
        return source

    def pick(self, frame: Any) -> Any:
        """Its columns, in its order."""
        return frame[list(self.columns)]


def read_model(path: str) -> Model:
    """A model file, checked."""
    from skewboost import io
    from skewboost.cli.data.content import is_pipe

    if is_pipe(path):
        raise CommandError("a model is read from a file; only DATA may be a pipe or - (standard input).")
    if not Path(path).exists():
        raise CommandError(f"there is no file {path}. `skewboost fit DATA --target … -o {path}` writes one.")
    try:
        told = io.describe(path)
    except io.ModelFileError as error:
        if "it is no JSON" not in str(error):
            raise
        raise CommandError(f"{error}. Give a file that `skewboost fit … -o` has written.".replace("..", ".")) from error
    features = told["features"]
    categories = {f["name"]: f.get("categories", ()) for f in features if f["kind"] == CATEGORY}
    return Model(path, io.load(path), tuple(f["name"] for f in features), categories, _facts(told))


def write_model(estimator: Any, path: str, facts: Mapping[str, Any]) -> None:
    """Save a model with what is worth knowing about it."""
    import json

    from skewboost import io
    from skewboost.cli.tell import plain

    try:
        io.save(estimator, path, notes=json.dumps(plain(facts)))
    except RuntimeError as error:  # the model cannot be put in a file, which is known only now
        raise CommandError(str(error), FAILED) from error


def _facts(told: Mapping[str, Any]) -> dict[str, Any]:
    import json

    try:
        facts = json.loads(told.get("notes") or "{}")
    except json.JSONDecodeError:  # saved from Python, with notes in words
        return {}
    return facts if isinstance(facts, dict) else {}


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
