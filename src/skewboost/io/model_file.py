"""Models to files and back."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy
import sklearn

import skewboost
from skewboost.errors import InputError, InputTypeError
from skewboost.files import write_whole
from skewboost.io.saved_fields import seeing
from skewboost.io.saved_models import MODEL
from skewboost.io.schema import (
    DefectError,
    Integer,
    MapOf,
    ModelFileError,
    Text,
    UnknownPartError,
    mapping,
    printable,
    record,
    require,
    shown,
)

FORMAT = "skewboost model"
VERSION = 1
MOST_BYTES = 2**29  # of a file, unpacked
MOST_TIMES, FREE_BYTES = 100, 2**23  # how often the size of a packed file it may unpack to, and what is always allowed
MOST_PARTS = 2**24  # lists and objects of a file: each takes far more memory than it has characters
INSTEAD = (
    "Model files hold models of this package only. Boost a learner of skewboost.learners instead (Stump, Tree, "
    "Histogram, Line, AlternatingTree, RuleLearner), or keep the model with skops or pickle, which have other risks."
)

OUR_DEFECT = "This is a defect of skewboost: please report it, and keep the model with pickle meanwhile."


def dumps(model: Any, *, notes: str = "") -> str:
    """A fitted model as text.

    Parameters
    ----------
    model : estimator
        A fitted one of this package, around others of this package if any.
    notes : str, default=""
        Kept in the file, for those who read it.

    Returns
    -------
    str
        JSON; equal models give equal text.

    Examples
    --------
    >>> from skewboost import RealBoostClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.io import dumps, loads
    >>> X, y = load_rare_cancer()
    >>> clf = RealBoostClassifier(n_estimators=5).fit(X, y)
    >>> bool((loads(dumps(clf)).decision_function(X) == clf.decision_function(X)).all())
    True
    """
    if not isinstance(notes, str):
        raise InputTypeError(f"notes must be text; got {notes!r}.")
    try:
        told = MODEL.write(model)
    except UnknownPartError as unknown:
        raise InputTypeError(f"{type(model).__name__} cannot be saved: it has {unknown}. {INSTEAD}") from unknown
    versions = {"skewboost": skewboost.__version__, "scikit-learn": sklearn.__version__, "numpy": numpy.__version__}
    file = {"format": FORMAT, "version": VERSION, "saved_with": versions, "notes": notes, "model": told}
    try:
        return json.dumps(file, allow_nan=False, separators=(",", ":")) + "\n"
    except ValueError as error:
        raise RuntimeError(f"{type(model).__name__} cannot be saved ({error}). {OUR_DEFECT}") from error


def loads(text: str | bytes) -> Any:
    """The model that text tells of.

    Parameters
    ----------
    text : str or bytes
        What `dumps` gave, or the content of a file.

    Returns
    -------
    estimator
        Fitted; it predicts the same to the bit.

    Raises
    ------
    ModelFileError
        If anything is wrong with it.
    """
    if not isinstance(text, str | bytes):
        raise InputTypeError(f"text must be str or bytes; got {type(text).__name__}.")
    return _read(text, "The model file")["model"]


def save(model: Any, path: str | os.PathLike[str], *, notes: str = "") -> Path:
    """Write a fitted model to a file, which is there whole or not at all.

    Everything is kept that predictions, stages, explanations and a warm start need: bins and categories, rounds,
    what scores mean, classes, feature names and kinds, `history_`, `feature_importances_`. Not kept are parameters that
    are no plain data (callbacks, scorers that are functions, `RandomState`, an engine of your own, samplers of
    imbalanced-learn, splitters, a potential of your own; the file says so, and the default takes their place), which
    training rows members of `UnderBaggingClassifier` and `PastingVotesClassifier` saw (the latter cannot be gone on
    with), its `oob_decision_function_`, and the object that calibrates `MinimumRiskClassifier` (an equivalent takes
    its place).

    Parameters
    ----------
    model : estimator
        A fitted one of this package, around others of this package if any. A scikit-learn estimator within is a
        TypeError, and nothing is written.
    path : path
        Of the file, by custom ``.json``; if it ends in ``.gz`` it is compressed.
    notes : str, default=""
        Kept in the file, for those who read it.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewboost import CSRAClassifier
    >>> from skewboost.datasets import load_rare_cancer
    >>> from skewboost.io import describe, load, save
    >>> X, y = load_rare_cancer()
    >>> clf = CSRAClassifier(cost=20, n_estimators=5).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(clf, Path(folder, "model.json"), notes="first try")
    ...     again, known = load(path), describe(path)
    >>> bool((again.predict_proba(X) == clf.predict_proba(X)).all())
    True
    >>> print(known["class"], known["n_rounds"], known["notes"])
    CSRAClassifier 5 first try
    """
    content = dumps(model, notes=notes).encode()
    if len(content) > MOST_BYTES:
        raise InputError(
            f"This {type(model).__name__} takes {len(content)} bytes, and a file {MOST_BYTES} at most, so none is "
            "written. Train a smaller model, or keep this one with pickle."
        )
    if os.fspath(path).endswith(".gz"):
        content = gzip.compress(content, mtime=0)  # so that equal models make equal files
    try:
        _read(content, f"The file of this {type(model).__name__}")  # better now than when the model is needed
    except ModelFileError as error:
        raise RuntimeError(f"{str(error).rstrip('.')}, so none is written. {OUR_DEFECT}") from error
    return write_whole(path, content)


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file. Nothing in the file is executed, and everything in it is checked.

    Parameters
    ----------
    path : path
        Of a file that `save` wrote.

    Returns
    -------
    estimator
        Of the class that was saved, fitted; it predicts the same to the bit.

    Raises
    ------
    ModelFileError
        If the file is not what it has to be; the message says where in it and why.
    OSError
        If it cannot be read.
    """
    return _read(_content(path), f"The model file {os.fspath(path)!r}")["model"]


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a model file, checked as `load` does.

    Parameters
    ----------
    path : path
        Of a file that `save` wrote.

    Returns
    -------
    dict
        "format", "version", "class", "classes", "pos_label" (None if there is none), "features" (a list of {"name",
        "kind": "number" or "category", and "categories" where these are known}), "n_features", "n_examples" (how many
        the model was trained on, if it tells), "n_rounds" (of a booster), "threshold" (of a goal search), "params"
        (as text), "saved_with", "notes".
    """
    return load_with_description(path)[1]


def load_with_description(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """What `load` and `describe` return, from one reading of the file."""
    told = _read(_content(path), f"The model file {os.fspath(path)!r}")
    model = told.pop("model")
    inner = _innermost(model)
    return model, {
        "format": told["format"],
        "version": told["version"],
        "class": type(model).__name__,
        "classes": model.classes_.tolist(),
        "pos_label": _plain(getattr(model, "pos_label_", None)),
        "features": _features(model),
        "n_features": getattr(model, "n_features_in_", None),
        "n_examples": None if inner is None else inner._model.support.n_examples,
        "n_rounds": getattr(inner, "n_estimators_", None) if inner is not None else None,
        "threshold": getattr(model, "threshold_", None),
        "params": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "saved_with": told["saved_with"],
        "notes": told["notes"],
    }


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _innermost(model: Any) -> Any:
    """The booster that a model is, or has as its only one."""
    while model is not None and not hasattr(model, "_model"):
        model = getattr(model, "estimator_", None)
    return model


def _features(model: Any) -> list[dict[str, Any]]:
    n = getattr(model, "n_features_in_", 0)
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(n)])]
    known: Any = next(seeing(model), None)
    nominal = getattr(known, "_nominal", [False] * n)
    bins = known._model.bins if hasattr(known, "_model") else None
    found: list[dict[str, Any]] = []
    for j, (name, is_nominal) in enumerate(zip(names, nominal)):
        found.append({"name": name, "kind": "category" if is_nominal else "number"})
        if is_nominal and bins is not None:
            found[-1]["categories"] = [*bins.features[j].categories, *sorted(bins.features[j].rest)]
    return found


# ------------------------------------------------------------------------------- reading


def _content(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, but for what is beyond all that a model may have."""
    with open(os.fspath(path), "rb") as file:  # a number would be an open file
        return file.read(MOST_BYTES + 1)


def _unpacked(content: bytes) -> bytes:
    """Without compression, if there is some. A little file must not become a huge one."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    most = min(MOST_BYTES, max(FREE_BYTES, MOST_TIMES * len(content)))
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            content = file.read(most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DefectError(f"it cannot be unpacked ({error})") from error
    require(len(content) <= most, f"it unpacks to more than {most} bytes")
    return content


def _read(text: str | bytes, name: str) -> dict[str, Any]:
    """The head of a file, and its model."""
    try:
        return _checked(_parsed(text))
    except DefectError as wrong:
        place = f"{printable(wrong.at.lstrip('.'))} " if wrong.at else ""
        raise ModelFileError(f"{name} is wrong: {place}{wrong.what}.") from wrong
    except RecursionError as error:
        raise ModelFileError(f"{name} is wrong: it is nested too deeply.") from error
    except (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{name} is wrong: its parts do not go together ({type(error).__name__}: {error})."
        ) from error


def _parsed(text: str | bytes) -> Any:
    try:
        text = _unpacked(text).decode() if isinstance(text, bytes) else text
        require(len(text) <= MOST_BYTES, f"it is larger than {MOST_BYTES} bytes")
        require(text.count("[") + text.count("{") <= MOST_PARTS, f"it has more than {MOST_PARTS} lists and objects")
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_distinct)
    except UnicodeDecodeError as error:
        raise DefectError(f"it is no UTF-8 text ({error.reason} at byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise DefectError(f"it is no JSON ({error.msg} in line {error.lineno}, column {error.colno})") from error


def _refuse(constant: str) -> Any:
    raise DefectError(f"it has {constant}, which is no JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise DefectError(f"it has {shown(twice)} twice in one object")
    return found


def _checked(file: Any) -> dict[str, Any]:
    head = mapping(file, "")
    for required in ("format", "version"):
        if required not in head:
            raise DefectError(f"lacks {required!r}")
    Text((FORMAT,)).read(head["format"], "format")
    version = Integer(1).read(head["version"], "version")
    if version > VERSION:
        raise DefectError(f"is {version}, and this skewboost reads up to {VERSION}: install a newer one", "version")
    record(head, ("format", "version", "saved_with", "notes", "model"), "")
    return {
        "format": FORMAT,
        "version": version,
        "saved_with": MapOf(Text()).read(head["saved_with"], "saved_with"),
        "notes": Text().read(head["notes"], "notes"),
        "model": MODEL.read(head["model"], "model"),
    }
