"""The estimator that --method, --rounds, --learner and --set ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from sklearn.base import clone

from skewboost.boosting.catalogue import RECOMMENDED, RECOMMENDED_VARIANT, catalogue, related_methods
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.options import LEARNERS, OneMethod

SETTING = re.compile(r":(?=\w+=)")  # separates settings in CGAda:calibrate=sigmoid

# Parameters that have an option of their own
OPTIONS = {
    "cost": "--cost",
    "pos_label": "--positive",
    "n_estimators": "--rounds",
    "max_rounds": "--rounds",
    "n_jobs": "--n-jobs",
    "random_state": "--seed",
    "estimator": "--learner",
    "goal": "`skewboost goal`",
    "confidence": "`skewboost goal --confidence`",
}
# … but not for these methods, and what their default is in a command, which measures the model on rows of its own
OWN_DEFAULTS: dict[str, dict[str, Any]] = {"Cascade": {"confidence": None}}
# Parameters that have no use in a command
WITHOUT_USE = ("callbacks", "warm_start", "verbose")
# Classifiers that are built around another classifier, which has no option
WRAPPERS = ("CodeMatrix", "MinimumRisk", "PastingVotes")


@dataclass(frozen=True)
class NamedMethod:
    """A class of estimators and its name on the command line."""

    name: str
    estimator: type
    balanced: bool = False  # whether costs are balanced by default

    @property
    def params(self) -> dict[str, Any]:
        """The parameters and their default values."""
        return dict(self.estimator().get_params())

    @property
    def cost_sensitive(self) -> bool:
        """Whether there is a parameter `cost`."""
        return "cost" in self.params

    @property
    def rounds(self) -> str | None:
        """The parameter of --rounds; None if the method finds the number itself."""
        name = getattr(self.estimator, "_rounds", "n_estimators")
        return name if name in self.params else None

    @property
    def takes_learner(self) -> bool:
        """Whether the weak learner can be chosen."""
        return {"callbacks", "estimator"} <= set(self.params)

    @property
    def multiclass(self) -> bool:
        """Whether there may be more than two classes."""
        from sklearn.utils import get_tags

        return bool(get_tags(self.estimator()).classifier_tags.multi_class)


@dataclass(frozen=True)
class MethodOptions:
    """The options that choose and configure a method."""

    method: str | None = None  # None: the recommended method
    rounds: int | None = None
    learner: str | None = None
    settings: tuple[str, ...] = ()  # name=value
    seed: int | None = 0
    n_jobs: int | None = None

    @property
    def named(self) -> NamedMethod:
        """The method."""
        return find_method(self.method or RECOMMENDED)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that --set gives."""
        return read_settings(self.settings, OWN_DEFAULTS.get(self.named.name, {}))

    @property
    def spec(self) -> str:
        """The method in one word, such as CGAda:calibrate=sigmoid, as --methods of `compare` takes it."""
        parameters = [f"{name}={format_value(value)}" for name, value in self.parameters.items()]
        learner = [] if self.learner is None else [f"learner={self.learner}"]
        return ":".join([self.named.name, *parameters, *learner])

    @classmethod
    def of(cls, request: OneMethod) -> MethodOptions:
        """The options of a command that fits one method."""
        settings = tuple(request.settings or ())
        return cls(request.method, request.rounds, request.learner, settings, request.seed, request.n_jobs)

    @classmethod
    def from_spec(cls, spec: str, rounds: int | None = None) -> MethodOptions:
        """A method with its settings, such as CGAda:calibrate=sigmoid:learner=tree."""
        name, *parts = SETTING.split(spec)
        if ":" in name:
            raise CommandError(
                f"the method {spec!r} has no setting after the colon.", "Write CGAda:calibrate=sigmoid, for example."
            )
        settings = dict(part.split("=", 1) for part in parts)
        learner = settings.pop("learner", None)
        return cls(name, rounds, learner, tuple(f"{k}={v}" for k, v in settings.items()), seed=None)

    def make(self, pos_label: Any = None, **params: Any) -> Any:
        """The unfitted estimator."""
        method = self.named
        params |= OWN_DEFAULTS.get(method.name, {}) | {"random_state": self.seed, "n_jobs": self.n_jobs}
        if pos_label is not None and "pos_label" in method.params:
            params["pos_label"] = pos_label
        if self.rounds is not None:
            if method.rounds is None:
                less = " (--set effort=quick trains less)" if "effort" in method.params else ""
                raise CommandError(
                    f"{method.name} finds the number of rounds by itself, so --rounds has no effect.",
                    f"Leave it out{less}, or use --method {RECOMMENDED_VARIANT}.",
                )
            params[method.rounds] = self.rounds
        model = method.estimator(**params, **self._learner())
        known = settable(model, OWN_DEFAULTS.get(method.name, {}))
        for name in self.parameters:
            if name not in known:
                own = ", ".join(p for p in known if "__" not in p)
                nested = ", ".join(p for p in known if p.startswith("estimator__"))
                inner = "learner" if method.takes_learner else "estimator"
                learner = f"; those of the {inner} are {nested}" if nested else ""
                raise CommandError(f"{method.name} has no parameter {name!r}. Its parameters are {own}{learner}.")
        return model.set_params(**self.parameters)

    def has_parameter(self, name: str) -> bool:
        """Whether --set can set this parameter of the method or its learner."""
        with_learner = replace(self, settings=(f"{name}=null",))
        return name in settable(self.named.estimator(**with_learner._learner()))

    def _learner(self) -> dict[str, Any]:
        """The parameter `estimator`, if --learner or a setting of the learner is given."""
        as_object = any(name.startswith("estimator__") for name in self.parameters)
        if self.learner is None and not (as_object and "estimator" in self.named.params):
            return {}
        if self.learner is None and not self.named.takes_learner:
            return {"estimator": clone(self.named.estimator()._base)}
        if self.learner is not None and not self.named.takes_learner:
            raise CommandError(
                f"{self.named.name} has weak learners of its own.",
                f"Leave --learner out, or choose another method, such as {RECOMMENDED_VARIANT}.",
            )
        return {"estimator": find_learner(self.learner or "stump", as_object=as_object)}


def method_names() -> list[str]:
    """The names that --method takes."""
    from skewboost.evaluate.methods import known_methods

    return [name for name in known_methods() if name not in WRAPPERS]


def split_methods(texts: Sequence[str] | None) -> tuple[str, ...]:
    """Methods separated by commas, in one or more options; their settings may have commas in brackets."""
    split = [name.strip() for text in texts or () for name in re.split(r",(?![^\[{]*[\]}])", text)]
    return tuple(filter(None, split))


def find_method(name: str) -> NamedMethod:
    """The method of this name; capitals and punctuation do not matter."""
    from skewboost.evaluate.methods import UnknownMethodError, class_called

    try:
        found = class_called(name)
    except UnknownMethodError as error:
        same = [m for m in related_methods() if _letters(m.name) == _letters(name)]
        if same:
            use = " or ".join(same[0].use)
            raise CommandError(f"{same[0].name} is no method of a command.", f"Use {use} in Python.") from error
        hint = f"Did you mean {' or '.join(error.close)}? " if error.close else ""
        raise CommandError(f"there is no method {name!r}.", f"{hint}`skewboost list` shows all methods.") from error
    own_name = found.__name__.removesuffix("Classifier")
    if own_name in WRAPPERS:
        raise CommandError(
            f"{own_name} needs another classifier, so it is for Python only.",
            "`skewboost list` shows all methods.",
        )
    entry = {entry.class_name: entry for entry in catalogue()}.get(found.__name__)
    if entry is None:
        return NamedMethod(own_name, found, balanced=own_name == RECOMMENDED)
    return NamedMethod(entry.name, found, entry.cost_sensitive)


def _letters(name: str) -> str:
    return "".join(c for c in name.lower().removesuffix("classifier") if c.isalpha())


def multiclass_methods() -> list[str]:
    """The names of the recommended method and the variants that take more than two classes."""
    return [RECOMMENDED, *(e.name for e in catalogue() if NamedMethod(e.name, e.estimator).multiclass)]


def find_learner(name: str, as_object: bool = False) -> Any:
    """The weak learner of this name, as the estimators take it."""
    from skewboost import learners

    key = name.lower()
    if key not in LEARNERS:
        raise CommandError(f"--learner {name!r} is unknown.", f"Choose one of {', '.join(LEARNERS)}.")
    return getattr(learners, key.capitalize())() if as_object or key in ("histogram", "line") else key


def read_settings(settings: Sequence[str], free: Container[str] = ()) -> dict[str, Any]:
    """The parameters of --set name=value; those that are `free` have no option of their own here."""
    parameters: dict[str, Any] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise CommandError(
                f"--set {text!r} is not of the form name=value.", "Write --set learning_rate=0.1, for example."
            )
        if name in OPTIONS and name not in free:
            raise CommandError(f"--set cannot set {name!r}.", f"Use {OPTIONS[name]}.")
        parameters[name] = read_value(value)
    return parameters


def read_value(text: str) -> Any:
    """A value of JSON or Python, else the text itself."""
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # not JSON, or more digits or brackets than Python reads
        return text


def format_value(value: Any) -> str:
    """Text that `read_value` reads as this value."""
    return value if isinstance(value, str) and read_value(value) == value else json.dumps(value)


def settable(model: Any, free: Container[str] = ()) -> list[str]:
    """The parameters of an estimator that --set can set; those that are `free` have no option of their own here."""
    return [p for p in model.get_params() if (p not in OPTIONS or p in free) and p.split("__")[-1] not in WITHOUT_USE]


def suggest(name: str, known: Iterable[str]) -> str:
    """A question that names similar names, or "" if there are none."""
    lower = {k.lower(): k for k in known}
    close = [lower[k] for k in get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else ""
