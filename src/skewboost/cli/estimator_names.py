"""The variant that a name on the command line stands for, and its parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from skewboost.boosting.catalogue import RECOMMENDED, catalogue
from skewboost.cli.exit_codes import CommandError

LEARNER = "learner"  # what --learner is called behind the name of a method
_PARTS = re.compile(r":(?=\w+=)")
LEARNERS = ("stump", "tree", "histogram", "line")

# Parameters that have an option of their own
OPTIONS = {
    "cost": "--cost",
    "pos_label": "--positive",
    "n_estimators": "--rounds",
    "max_rounds": "--rounds",
    "n_jobs": "--n-jobs",
    "random_state": "--seed",
    "estimator": "--learner",
}
# Parameters that make no sense in a fit of one go
MEANINGLESS = ("callbacks", "warm_start", "verbose")


# Classifiers around another one, which an option has no words for
AROUND_OTHERS = ("CodeMatrix", "MinimumRisk", "PastingVotes")


@dataclass(frozen=True)
class Found:
    """What a name stands for."""

    name: str
    estimator: type
    balances: bool = False  # whether it takes costs as balanced where nothing is said

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters."""
        return dict(self.estimator().get_params())

    @property
    def cost_sensitive(self) -> bool:
        """Whether it can be told what mistakes cost."""
        return "cost" in self.params

    @property
    def rounds(self) -> str:
        """The parameter that says how many rounds, or members, there are."""
        return str(getattr(self.estimator, "_rounds", "n_estimators"))


@dataclass(frozen=True)
class Wanted:
    """A method and what the user says about it."""

    method: str | None = None
    rounds: int | None = None
    learner: str | None = None
    settings: tuple[str, ...] = ()
    seed: int | None = 0
    n_jobs: int | None = None

    @property
    def entry(self) -> Found:
        """What the name stands for."""
        return find(self.method or RECOMMENDED.name)

    @property
    def takes_learner(self) -> bool:
        """Whether it can be told what a round fits."""
        return {"callbacks", "estimator"} <= set(self.entry.params)

    def knows(self, parameter: str) -> bool:
        """Whether the method, with this learner, has a parameter that --set can reach."""
        settings = (f"{parameter}=null",)  # one of the learner makes an object of it
        return parameter in _settable(self.entry.estimator(**replace(self, settings=settings)._told_learner()))

    @property
    def set_to(self) -> dict[str, Any]:
        """The parameters that --set gives, on top of those that the recommended method comes with."""
        return {**(RECOMMENDED.params if self.method is None else {}), **read_settings(self.settings)}

    @property
    def spec(self) -> str:
        """The same in one word, as --methods of `compare` takes it."""
        told = [f"{name}={_written(value)}" for name, value in self.set_to.items()]
        return ":".join([self.entry.name, *told, *([] if self.learner is None else [f"{LEARNER}={self.learner}"])])

    @classmethod
    def of_spec(cls, spec: str, rounds: int | None = None) -> Wanted:
        """A method with its own settings behind it: CGAda:calibrate=sigmoid:learner=tree."""
        name, *told = _PARTS.split(spec)
        if ":" in name:
            raise CommandError(
                f"the method {spec!r}: behind the colon there has to be a setting, as in CGAda:calibrate=sigmoid."
            )
        said = dict(part.split("=", 1) for part in told)
        learner = said.pop(LEARNER, None)
        return cls(name, rounds, learner, tuple(f"{k}={v}" for k, v in said.items()), seed=None)

    def make(self, pos_label: Any = None, **params: Any) -> Any:
        """The estimator, not fitted."""
        entry = self.entry
        told = {"random_state": self.seed, "n_jobs": self.n_jobs, **params}
        if pos_label is not None and "pos_label" in entry.params:
            told["pos_label"] = pos_label
        if self.rounds is not None:
            told[entry.rounds] = self.rounds
        model = entry.estimator(**told, **self._told_learner())
        _check_settings(entry, model, self.set_to)
        return model.set_params(**self.set_to)

    def _told_learner(self) -> dict[str, Any]:
        """What a round fits, if something is said about it."""
        own = any(name.startswith("estimator__") for name in read_settings(self.settings))
        if self.learner is None and not (own and "estimator" in self.entry.params):
            return {}
        if self.learner is not None and not self.takes_learner:
            raise CommandError(f"{self.entry.name} chooses what it fits itself: leave --learner out.")
        return {"estimator": learner_called(self.learner or "stump", as_object=own)}


def names() -> list[str]:
    """All that --method takes."""
    from skewboost.evaluate.methods import known_methods

    return [name for name in known_methods() if name not in AROUND_OTHERS]


def find(name: str) -> Found:
    """The method of this name, however it is spelled."""
    from skewboost.evaluate.methods import UnknownMethodError, class_called

    try:
        found = class_called(name)
    except UnknownMethodError as error:
        hint = f"Did you mean {' or '.join(error.close)}? " if error.close else ""
        raise CommandError(f"there is no method {name!r}. {hint}`skewboost list` shows all of them.") from error
    own = found.__name__.removesuffix("Classifier")
    if own in AROUND_OTHERS:
        raise CommandError(f"{own} is built around another classifier, which takes Python. `skewboost list` has more.")
    listed = {entry.class_name: entry for entry in catalogue()}.get(found.__name__)
    return Found(own, found) if listed is None else Found(listed.name, found, listed.cost_sensitive)


def for_many_classes() -> list[str]:
    """The names of the variants that take more than two classes."""
    return [e.name for e in catalogue() if takes_many(e.estimator)]


def takes_many(estimator: type) -> bool:
    """Whether a class takes more than two classes."""
    from sklearn.utils import get_tags

    return bool(get_tags(estimator()).classifier_tags.multi_class)


def learner_called(name: str, as_object: bool = False) -> Any:
    """What a round fits, by its name."""
    from skewboost import learners

    key = name.lower()
    if key not in LEARNERS:
        raise CommandError(f"--learner {name!r} is none of {', '.join(LEARNERS)}.")
    return getattr(learners, key.capitalize())() if as_object or key in ("histogram", "line") else key


def read_settings(settings: Sequence[str]) -> dict[str, Any]:
    """``name=value`` of --set, the values read as numbers, true, false, null, lists or text."""
    read: dict[str, Any] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise CommandError(f"--set {text!r} is not of the form name=value, as in --set learning_rate=0.1.")
        if name in OPTIONS:
            raise CommandError(f"--set {name} has an option of its own: use {OPTIONS[name]}.")
        read[name] = read_value(value)
    return read


def read_value(text: str) -> Any:
    """A value as JSON or Python writes it, else text."""
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or one of more digits or brackets than Python counts
        return text


def _written(value: Any) -> str:
    """Text that `read_value` reads as this value."""
    return value if isinstance(value, str) and read_value(value) == value else json.dumps(value)


def _settable(model: Any) -> list[str]:
    """The parameters that --set can reach."""
    return [p for p in model.get_params() if p not in OPTIONS and p not in MEANINGLESS]


def _check_settings(entry: Found, model: Any, settings: Mapping[str, Any]) -> None:
    known = _settable(model)
    unknown = [name for name in settings if name not in known]
    if unknown:
        more = ""
        if unknown[0].startswith("estimator__") or "estimator" in model.get_params(deep=False):
            more = "; of the learner " + ", ".join(_of_learner(model)) if _of_learner(model) else ""
        own = ", ".join(p for p in known if "__" not in p)
        raise CommandError(f"{entry.name} has no parameter {unknown[0]!r}. There are {own}{more}.")


def _of_learner(model: Any) -> list[str]:
    return [name for name in model.get_params() if name.startswith("estimator__")]


def close_to(name: str, known: Iterable[str]) -> str:
    """A hint at names like this one, or at all if there are few; ends with a space if there is one."""
    there = list(known)
    lower = {k.lower(): k for k in there}
    close = [lower[k] for k in get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    return f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
