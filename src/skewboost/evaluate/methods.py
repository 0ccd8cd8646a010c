"""The methods of a comparison: from names, classes and estimators to named estimators with costs."""

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
from skewboost.evaluate.running import is_classifier_object
from skewboost.meta.cost_passing import cost_for_owner, cost_param_of

NOT_IN_NAMES = {"random_state", "n_jobs", "verbose", "engine"}
LONGEST_NAME = 48  # characters


@dataclass(frozen=True)
class Method:
    """An estimator of a comparison, and the grid over which it is tuned, if any."""

    name: str
    estimator: Any
    grid: Any = None
    tune_for: Any = None
    inner_cv: int = 3

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The parameter combinations to try, in order."""
        return [{}] if self.grid is None else list(ParameterGrid(self.grid))

    @property
    def fingerprint(self) -> str:
        """A hash of the parameters, the same in other processes."""
        tuned = None if self.grid is None else (self.candidates, self.tune_for, self.inner_cv)
        return hashlib.sha256(repr(_describe((self.estimator, tuned))).encode()).hexdigest()[:16]


def methods_of(estimators: Any, grids: Mapping[str, Any] | None, tune_for: Any, inner_cv: int) -> list[Method]:
    """Return the methods, checked: each grid must belong to a method and have its parameters."""
    estimators_by_name = named_estimators(estimators)
    names = list(estimators_by_name)
    if grids is not None and not isinstance(grids, Mapping):
        raise InputError(f"grids={grids!r} must be a dict {{name of a method: {{parameter: [values]}}}}, or None.")
    grids = {} if grids is None else dict(grids)
    unknown = [name for name in grids if name not in names]
    if unknown:
        raise InputError(f"grids has an entry for {unknown[0]!r}, but the methods are {', '.join(map(repr, names))}.")
    methods = [Method(name, e, grids.get(name), tune_for, inner_cv) for name, e in estimators_by_name.items()]
    for method in methods:
        _check_grid(method)
    return methods


def named_estimators(estimators: Any) -> dict[str, Any]:
    """Return classifiers by name, from estimators, classes and names of the catalogue. Names must differ."""
    if isinstance(estimators, Mapping):
        pairs = [(str(name), make_estimator(given)) for name, given in estimators.items()]
    elif isinstance(estimators, str) or hasattr(estimators, "get_params") or not isinstance(estimators, Iterable):
        pairs = [_with_name(estimators)]
    else:
        pairs = [_with_name(given) for given in estimators]
    if not pairs:
        raise InputError("estimators is empty.", "Pass an estimator, a list of them, or a dict {name: estimator}.")
    names = [name for name, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"Two estimators are called {twice[0]!r}.", "Name them: pass a dict {name: estimator}.")
    return dict(pairs)


def _with_name(given: Any) -> tuple[str, Any]:
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return given[0], make_estimator(given[1])
    estimator = make_estimator(given)
    return short_name(estimator), estimator


def make_estimator(given: Any) -> Any:
    """Return the estimator itself, or a new one from a class or from a name such as "CSRA"."""
    if isinstance(given, str):
        given = class_called(given)
    if inspect.isclass(given):
        try:
            given = given()
        except TypeError as error:
            raise InputError(f"{given.__name__} needs parameters ({error}).", "Pass an instance.") from error
    if not is_classifier_object(given):
        raise InputError(
            f"estimators has {given!r}, which is not a classifier.",
            "Give names of the catalogue such as 'CSRA', or classifiers with scikit-learn's interface.",
        )
    return given


def class_called(name: str) -> type:
    """Return the classifier of the package with this name, ignoring case and punctuation."""
    known = known_methods()
    spelled = {_key(n): n for n in known}
    wanted = _key(name).removesuffix("classifier")
    same = spelled.get(wanted)
    if same is None:
        raise UnknownMethodError(name, [spelled[k] for k in difflib.get_close_matches(wanted, spelled, n=3)])
    return getattr(skewboost, known[same])  # type: ignore[no-any-return]


def known_methods() -> dict[str, str]:
    """Return {name: class}: the catalogue in its order, then the other classifiers of the package."""
    known = {entry.name: entry.class_name for entry in catalogue()}
    return known | {n.removesuffix("Classifier"): n for n in skewboost.__all__ if n.endswith("Classifier")}


class UnknownMethodError(InputError):
    """There is no method of this name; `close` has similar names."""

    def __init__(self, name: str, close: list[str]) -> None:
        hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else "skewboost.catalogue() lists the names."
        super().__init__(f"There is no method {name!r}.", hint)
        self.close = close


def _key(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def short_name(estimator: Any) -> str:
    """Return the name of an estimator in tables: its class, and parameters that differ from their defaults."""
    name = type(estimator).__name__.removesuffix("Classifier")
    if hasattr(estimator, "steps"):
        return " + ".join(short_name(step) for _, step in estimator.steps)
    inner = estimator.get_params(deep=False).get("estimator")
    if hasattr(inner, "get_params"):
        return f"{name}({short_name(inner)})"
    defaults = {k: p.default for k, p in inspect.signature(type(estimator)).parameters.items()}
    set_ = {k: v for k, v in estimator.get_params(deep=False).items() if k not in NOT_IN_NAMES and k in defaults}
    changed = {k: v for k, v in set_.items() if isinstance(v, str | Number | dict) and v != defaults[k]}
    full = f"{name}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
    return full if changed and len(full) <= LONGEST_NAME else name


def _check_grid(method: Method) -> None:
    if method.grid is None:
        return
    try:
        tried = {name for candidate in method.candidates for name in candidate}
    except (TypeError, ValueError) as error:
        raise InputError(
            f"grids[{method.name!r}]={method.grid!r} is not a grid ({error}).",
            "Give {parameter: [values]}, or a list of such dicts.",
        ) from error
    known = method.estimator.get_params(deep=True)
    unknown = sorted(tried - set(known))
    if unknown:
        raise InputError(
            f"grids[{method.name!r}] has {unknown[0]!r}, which is not a parameter of it.",
            f"Choose from {', '.join(sorted(known))}.",
        )


def with_costs(estimator: Any, cost: Any, params: Mapping[str, Any]) -> Any:
    """Return a copy with these parameters, and with the costs if its parameter `cost` is None.

    The outermost `cost` is set: that of the estimator, else of a step of a pipeline or of the estimator of a search.
    """
    ready = clone(estimator)
    ready.set_params(**dict.fromkeys(_unset_n_jobs(ready), 1))  # folds already run in parallel
    ready.set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    name = cost_param(ready)
    if cost is not None and name is not None and ready.get_params()[name] is None:
        ready.set_params(**{name: cost_for_owner(ready, name, cost)})
    return ready


def _unset_n_jobs(estimator: Any) -> list[str]:
    """Return the parameters `n_jobs` that are None, except scikit-learn's, where None means 1."""
    params = estimator.get_params(deep=True)
    unset = [name for name, value in params.items() if name.rpartition("__")[2] == "n_jobs" and value is None]
    owners = {name: params.get(name.rpartition("__")[0], estimator) for name in unset}
    return [name for name in unset if not type(owners[name]).__module__.startswith("sklearn.")]


def cost_param(estimator: Any) -> str | None:
    """Return the parameter that takes costs, if it is called `cost`."""
    name = cost_param_of(estimator)
    return name if name is not None and name.rpartition("__")[2] == "cost" else None


def _describe(value: Any) -> Any:
    """Return a description for the fingerprint, without addresses in memory."""
    if hasattr(value, "get_params") and not inspect.isclass(value):
        return _name_of(type(value)), _describe(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return [(repr(k), _describe(v)) for k, v in sorted(value.items(), key=lambda item: repr(item[0]))]
    if isinstance(value, list | tuple):
        return [_describe(v) for v in value]
    if isinstance(value, np.generic):
        return _describe(value.item())
    if inspect.isclass(value) or inspect.isroutine(value):
        return _name_of(value)
    if value is None or isinstance(value, str | Number):
        return repr(value)
    try:
        return _name_of(type(value)), joblib.hash(value)
    except Exception:  # cannot be pickled
        return _name_of(type(value))


def _name_of(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"
