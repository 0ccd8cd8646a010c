"""What models predict, stored as numbers, and the public names with their signatures.

A change that should change no prediction shows it here, and one that should is seen in the difference. Numbers hold to
1e-12 on any machine; `--digests` compares two commits on one machine to the bit.

    python tests/stored.py --write     write tests/stored/predictions.json and public_names.txt anew
    python tests/stored.py --digests   a digest of all that each model answers
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import skewboost as sb
from estimators import ANSWERS, CONFIGURED, Configured, portfolio, real, search, three
from skewboost.errors import InputError
from skewboost.learners import Line, RuleLearner, Tree

FOLDER = Path(__file__).parent / "stored"
PREDICTIONS, NAMES = FOLDER / "predictions.json", FOLDER / "public_names.txt"
N_TRAINED, N_STORED = 240, 12
TOLERANCE = 1e-12


def rows(n: int = N_TRAINED + N_STORED) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows that are the same on every machine and with every version of NumPy: uniform numbers of the frozen generator.

    There are numbers of many and of few values, categories, text, and missing cells.
    """
    uniform = np.random.RandomState(7).random_sample((n, 8))
    a, b, c = (4.0 * uniform[:, k] - 2.0 for k in range(3))
    y = a + b * (c > 0.0) + 2.0 * uniform[:, 3] - 1.0 > 1.0
    X = pd.DataFrame({"a": a, "b": np.where(uniform[:, 4] < 0.1, np.nan, b), "c": np.floor(4.0 * c) / 4.0})
    X["kind"] = pd.Categorical(np.array(["low", "mid", "high"])[np.digitize(c, [-0.5, 0.5])])
    text = np.where(a + uniform[:, 5] > 0.5, "x", np.where(uniform[:, 5] < 0.5, "y", "z")).astype(object)
    X["text"] = np.where(uniform[:, 6] < 0.1, None, text)
    return X, y.astype(int)


def variants() -> list[Configured]:
    """Return every variant of the catalogue, with a cost where it takes one."""
    found = []
    for entry in sb.catalogue():
        params: dict[str, Any] = {"cost": 4.0} if entry.cost_sensitive else {}
        if "random_state" in inspect.signature(entry.estimator).parameters:
            params["random_state"] = 0
        found.append(
            Configured(
                f"variant {entry.name}",
                lambda entry=entry, params=params, **p: entry.make(6, **params, **p),
                many=False,
            )
        )
    return found


def wide(n: int = N_TRAINED + N_STORED, p: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Many columns of numbers."""
    X = np.random.RandomState(8).random_sample((n, p))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 1.0).astype(int)


def kinds(n: int = N_TRAINED + N_STORED) -> tuple[pd.DataFrame, np.ndarray]:
    """A column of more categories than a set can have, beside numbers."""
    X, y = rows(n)
    return X[["a", "b"]].assign(town=pd.Categorical([f"t{int(90 * u * u)}" for u in np.linspace(0, 1, n) ** 0.7])), y


# Options of the portfolio and of boosters that the laws do not configure, each with its rows
MORE: list[tuple[Configured, Callable[[], tuple[Any, Any]]]] = [
    (Configured("portfolio, many categories", lambda **p: portfolio(**p)), kinds),
    (Configured("portfolio, wide", lambda **p: portfolio(**p)), wide),
    (Configured("portfolio, pairs", lambda **p: portfolio(interaction_cst="pairwise", **p)), rows),
    (Configured("portfolio, default, wide", lambda **p: portfolio(effort="default", **p), slow=True), wide),
    (Configured("search of stumps", lambda **p: search(real(), "precision >= 30%", **p)), rows),
    (Configured("LogitBoost of lines", lambda: sb.LogitBoostClassifier(estimator=Line(), n_estimators=4)), wide),
    (
        Configured(
            "AdaBoost of rules", lambda: sb.AdaBoostClassifier(estimator=RuleLearner(max_order=2), n_estimators=3)
        ),
        rows,
    ),
    (
        Configured(
            "GentleBoost of random trees",
            lambda: sb.GentleBoostClassifier(
                estimator=Tree(max_leaf_nodes=5, splitter="random", max_features=0.5), n_estimators=5, random_state=0
            ),
        ),
        rows,
    ),
    (
        Configured(
            "RealBoost, monotonic",
            lambda: sb.RealBoostClassifier(estimator=Tree(monotonic_cst={"a": 1}), n_estimators=5),
        ),
        rows,
    ),
]
# Their numbers come from another library, or from its processes
ELSEWHERE = ("least risk, calibrated", "CGAda, calibrated")


def cases() -> list[tuple[str, Configured, Callable[[], tuple[Any, Any]], bool]]:
    """Return (name, estimator, rows, whether there are three classes) of every stored model."""
    kept = [c for c in [*variants(), *CONFIGURED] if not c.foreign and c.name not in ELSEWHERE]
    found = [(c.name, c, rows, False) for c in kept]
    found += [(f"{c.name}, three classes", c, rows, True) for c in CONFIGURED if c in kept and c.many and not c.slow]
    return [*found, *((c.name, c, make, False) for c, make in MORE)]


def predicted(configured: Configured, make: Callable[[], tuple[Any, Any]], many: bool) -> dict[str, np.ndarray]:
    """Fit, and return all that the model answers for the rows that it was not fitted to."""
    X, y = make()
    if many:
        y = three(X, y)
    if make is rows and not configured.table:
        X = X[["a", "b", "c"]].fillna(0.0).assign(d=X["a"] * X["c"]).to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = configured.make().fit(X[:N_TRAINED], y[:N_TRAINED])
        return answered(clf, X[N_TRAINED:])


def answered(clf: Any, X: Any) -> dict[str, np.ndarray]:
    """Return all that a model answers, less what it says that it cannot."""
    found = {}
    for name in ANSWERS:
        if hasattr(clf, name):
            with contextlib.suppress(InputError):
                found[name] = np.asarray(getattr(clf, name)(X))
    return found


def public_names() -> list[str]:
    """Return a line for each public name of each public module: its signature, if it has one."""
    found = []
    rooms = sorted(path.parent.name for path in Path(sb.__file__).parent.glob("*/__init__.py"))
    modules = [import_module(f"{sb.__name__}.{name}") for name in [*rooms, "toolbox"]]
    for module in [sb, *(module for module in modules if hasattr(module, "__all__"))]:
        for name in sorted(module.__all__):
            own = getattr(module, name)
            if inspect.ismodule(own):
                continue
            found.append(f"{module.__name__}.{name}{_signature(own)}")
            if inspect.isclass(own):
                members = {n: m for n, m in inspect.getmembers(own) if not n.startswith("_")}
                found += [f"    {n}{_signature(m)}" for n, m in members.items() if _is_ours(own, n)]
    return found


def _is_ours(owner: type, name: str) -> bool:
    """Whether this package defines a member, and not scikit-learn, whose signatures depend on its version."""
    definer = next((base for base in owner.__mro__ if name in base.__dict__), owner)
    return definer.__module__.startswith("skewboost") and not name.endswith("_request")


def _signature(thing: Any) -> str:
    """Return the parameters and their defaults, without types."""
    try:
        own = inspect.signature(thing) if callable(thing) else None
    except (TypeError, ValueError):
        return ""
    if own is None:
        return ""
    plain = [p.replace(annotation=p.empty) for p in own.parameters.values()]
    return str(own.replace(parameters=plain, return_annotation=own.empty))


def main() -> None:
    digests = "--digests" in sys.argv
    stored = {}
    for name, configured, make, many in cases():
        found = predicted(configured, make, many)
        if digests:
            own = hashlib.sha256()
            for key in sorted(found):
                own.update(np.ascontiguousarray(found[key]).tobytes())
            print(f"{own.hexdigest()[:16]}  {name}", flush=True)
        stored[name] = {key: values.tolist() for key, values in found.items() if key != "contributions"}
    if "--write" in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        lines = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in stored.items()]
        PREDICTIONS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        NAMES.write_text("\n".join(public_names()) + "\n")


if __name__ == "__main__":
    main()
