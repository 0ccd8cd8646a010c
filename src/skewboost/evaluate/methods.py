"""Who takes part in a comparison: names, classes and estimators, and how they are told what mistakes cost."""

from __future__ import annotations

import difflib
import hashlib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import skewboost
from skewboost.boosting.catalogue import catalogue
from skewboost.errors import InputError
from skewboost.evaluate.running import is_one
from skewboost.meta.cost_passing import as_heard, cost_param_of

SILENT = {"random_state", "n_jobs", "verbose", "engine"}  # parameters that are not worth a name
LONG = 48  # characters; a longer name is no help


@dataclass(frozen=True)
class Method:
    """An estimator that takes part, and the grid it is tuned over, if any."""

    name: str
    estimator: Any
    grid: Any = None
    tune_for: Any = None
    inner_cv: int = 3

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The parameters to try, in order."""
        return [{}] if self.grid is None else list(ParameterGrid(self.grid))

    @property
    def fingerprint(self) -> str:
        """The same for the same parameters, in another process too."""
        tuned = None if self.grid is None else (self.candidates, self.tune_for, self.inner_cv)
        return hashlib.sha256(repr(_described((self.estimator, tuned))).encode()).hexdigest()[:16]


def methods_of(estimators: Any, grids: Mapping[str, Any] | None, tune_for: Any, inner_cv: int) -> list[Method]:
    """Everyone by name; an error if a grid is nobody's or has unknown parameters."""
    several = named(estimators)
    names = list(several)
    if grids is not None and not isinstance(grids, Mapping):
        raise InputError(f"grids={grids!r} must be a dict {{name of a method: {{parameter: [values]}}}}, or None.")
    grids = {} if grids is None else dict(grids)
    strangers = [name for name in grids if name not in names]
    if strangers:
        raise InputError(f"grids has an entry for {strangers[0]!r}, but the methods are {', '.join(map(repr, names))}.")
    methods = [Method(name, made, grids.get(name), tune_for, inner_cv) for name, made in several.items()]
    for method in methods:
        _check_grid(method)
    return methods


def named(estimators: Any) -> dict[str, Any]:
    """Classifiers by name; a name of the catalogue and a class stand for a new one. No two may be called the same."""
    if isinstance(estimators, Mapping):
        found = [(str(name), made(given)) for name, given in estimators.items()]
    elif isinstance(estimators, str) or hasattr(estimators, "get_params") or not isinstance(estimators, Iterable):
        found = [_with_name(estimators)]
    else:
        found = [_with_name(given) for given in estimators]
    if not found:
        raise InputError("estimators is empty. Pass an estimator, a list of them, or a dict {name: estimator}.")
    names = [name for name, _ in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"Two estimators are called {twice[0]!r}. Name them: pass a dict {{name: estimator}}.")
    return dict(found)


def _with_name(given: Any) -> tuple[str, Any]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return given[0], made(given[1])
    estimator = made(given)
    return short_name(estimator), estimator


def made(given: Any) -> Any:
    """An estimator: the one given, or a new one of a class or of a name such as "CSRA"."""
    if isinstance(given, str):
        given = class_called(given)
    if inspect.isclass(given):
        try:
            given = given()
        except TypeError as error:
            message = f"{given.__name__} cannot be made without parameters ({error}). Pass an instance."
            raise InputError(message) from error
    if not is_one(given):
        raise InputError(
            f"estimators has {given!r}, which is no classifier. Give names of the catalogue such as 'CSRA', or "
            "classifiers with scikit-learn's interface."
        )
    return given


def class_called(name: str) -> type:
    """The class of this name, however it is spelled: of the catalogue, or any other classifier of the package."""
    known = known_methods()
    spelled = {_key(n): n for n in known}
    wanted = _key(name).removesuffix("classifier")
    same = spelled.get(wanted)
    if same is None:
        raise UnknownMethodError(name, [spelled[k] for k in difflib.get_close_matches(wanted, spelled, n=3)])
    return getattr(skewboost, known[same])  # type: ignore[no-any-return]


def known_methods() -> dict[str, str]:
    """Name → class: the catalogue in its order, then the other classifiers of the package."""
    known = {entry.name: entry.class_name for entry in catalogue()}
    return known | {n.removesuffix("Classifier"): n for n in skewboost.__all__ if n.endswith("Classifier")}


class UnknownMethodError(InputError):
    """There is no method of this name; `close` are names like it."""

    def __init__(self, name: str, close: list[str]) -> None:
        hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else "skewboost.catalogue() lists the names."
        super().__init__(f"There is no method {name!r}. {hint}")
        self.close = close


def _key(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def short_name(estimator: Any) -> str:
    """What a table calls an estimator: its class, and the parameters that somebody has set."""
    name = type(estimator).__name__.removesuffix("Classifier")
    if hasattr(estimator, "steps"):
        return " + ".join(short_name(step) for _, step in estimator.steps)
    inner = estimator.get_params(deep=False).get("estimator")
    if hasattr(inner, "get_params"):
        return f"{name}({short_name(inner)})"
    defaults = {k: p.default for k, p in inspect.signature(type(estimator)).parameters.items()}
    set_ = {k: v for k, v in estimator.get_params(deep=False).items() if k not in SILENT and k in defaults}
    changed = {k: v for k, v in set_.items() if isinstance(v, str | Number | dict) and v != defaults[k]}
    full = f"{name}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
    return full if changed and len(full) <= LONG else name


def _check_grid(method: Method) -> None:
    if method.grid is None:
        return
    try:
        tried = {name for candidate in method.candidates for name in candidate}
    except (TypeError, ValueError) as error:
        raise InputError(
            f"grids[{method.name!r}] is {method.grid!r}, which is no grid ({error}). Give {{parameter: [values]}}, or "
            "a list of such."
        ) from error
    known = method.estimator.get_params(deep=True)
    unknown = sorted(tried - set(known))
    if unknown:
        raise InputError(
            f"grids[{method.name!r}] has {unknown[0]!r}, which is no parameter of it. It has "
            f"{', '.join(sorted(known))}."
        )


def told(estimator: Any, cost: Any, params: Mapping[str, Any]) -> Any:
    """A copy that knows the costs, if it has a parameter `cost` that nobody has set, and these parameters.

    The outermost one counts: its own, else that of a step of a pipeline or of what a search searches over. An
    estimator that would not hear it (`_takes_costs`) is not told, nor one whose `cost` is among `params`.
    """
    ready = clone(estimator)
    ready.set_params(**dict.fromkeys(_greedy(ready), 1))  # the folds run side by side already
    ready.set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    name = cost_param(ready)
    if cost is not None and name is not None and ready.get_params()[name] is None:
        ready.set_params(**{name: as_heard(ready, name, cost)})
    return ready


def _greedy(estimator: Any) -> list[str]:
    """Parameters `n_jobs` that nobody has set; scikit-learn's own None is 1, and a few of its classes object to a 1."""
    params = estimator.get_params(deep=True)
    unset = [name for name, value in params.items() if name.rpartition("__")[2] == "n_jobs" and value is None]
    owners = {name: params.get(name.rpartition("__")[0], estimator) for name in unset}
    return [name for name in unset if not type(owners[name]).__module__.startswith("sklearn.")]


def cost_param(estimator: Any) -> str | None:
    """The parameter by which an estimator is told costs, if it has one that is called `cost`."""
    name = cost_param_of(estimator)
    return name if name is not None and name.rpartition("__")[2] == "cost" else None


def _described(value: Any) -> Any:
    """Something to take a fingerprint of: no addresses in memory, no more than counts."""
    if hasattr(value, "get_params") and not inspect.isclass(value):
        return _name_of(type(value)), _described(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return [(repr(k), _described(v)) for k, v in sorted(value.items(), key=lambda item: repr(item[0]))]
    if isinstance(value, list | tuple):
        return [_described(v) for v in value]
    if isinstance(value, np.generic):
        return _described(value.item())
    if inspect.isclass(value) or inspect.isroutine(value):
        return _name_of(value)
    if value is None or isinstance(value, str | Number):
        return repr(value)
    try:
        return _name_of(type(value)), joblib.hash(value)
    except Exception:  # what cannot be pickled is known by its type only
        return _name_of(type(value))


def _name_of(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"
