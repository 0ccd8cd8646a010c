"""Save fitted models to files, and load them."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections import Counter
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import sklearn

import skewboost
from skewboost.errors import InputError, InputTypeError
from skewboost.files import write_whole
from skewboost.io.saved_attributes import table_readers
from skewboost.io.saved_estimators import ESTIMATOR
from skewboost.io.structure import (
    OBJECT,
    FieldError,
    ModelFileError,
    UnsupportedPartError,
    integer,
    map_of,
    read_entries,
    require,
    shorten,
    text,
)
from skewboost.meta.inner_labels import plain

FORMAT = "skewboost model"
VERSION = 2
MOST_BYTES = 2**29  # of a file, unpacked
MOST_TIMES, FREE_BYTES = 100, 2**23  # a packed file may unpack to this many times its size, or to this many bytes
MOST_PARTS = 2**24  # lists and objects of a file: each takes far more memory than it has characters
REMEDY = (
    "Model files hold models of skewboost only. Boost a learner of skewboost.learners instead (Stump, Tree, "
    "Histogram, Line, AlternatingTree, RuleLearner), or save the model with skops or pickle, which have other risks."
)
TRANSFORMER = (
    "HaarFeatures depends only on its parameters and the size of the images, so fit it again to any image. Save other "
    "transformers with skops or pickle, which have other risks."
)
LAST_STEP = (
    "Save the last step of the pipeline, and apply the steps before it yourself (HaarFeatures only depends on its "
    "parameters and the size of the images), or save all with skops or pickle, which have other risks."
)
BUG = "This is a bug in skewboost. Please report it, and save the model with pickle in the meantime."
_HEAD = {
    "format": text(FORMAT),
    "version": integer(1),
    "saved_with": map_of(text()),
    "notes": text(),
    "model": ESTIMATOR,
}


def dumps(model: Any, *, notes: str = "") -> str:
    """Write a fitted model as text.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package. Estimators within it must be of this package too.
    notes : str, default=""
        A text that is kept in the file.

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
        raise InputTypeError(f"notes must be a text; got {notes!r}.")
    try:
        content = ESTIMATOR.write(model)
    except UnsupportedPartError as error:
        why, remedy = f"it has {error}", LAST_STEP if hasattr(model, "steps") else REMEDY
        if hasattr(model, "transform") and not hasattr(model, "predict"):
            why, remedy = "it is a transformer, and model files hold classifiers", TRANSFORMER
        raise InputTypeError(f"{type(model).__name__} cannot be saved: {why}.", remedy) from error
    versions = {"skewboost": skewboost.__version__, "scikit-learn": sklearn.__version__, "numpy": numpy.__version__}
    file = {"format": FORMAT, "version": VERSION, "saved_with": versions, "notes": notes, "model": content}
    try:
        return json.dumps(file, allow_nan=False, separators=(",", ":")) + "\n"
    except ValueError as error:
        raise RuntimeError(f"{type(model).__name__} cannot be saved ({error}). {BUG}") from error


def loads(text: str | bytes) -> Any:
    """Read a fitted model from text.

    Parameters
    ----------
    text : str or bytes
        The result of `dumps`, or the content of a file.

    Returns
    -------
    estimator
        A fitted estimator whose predictions are bit-equal to those of the saved one.

    Raises
    ------
    ModelFileError
        If the text is not a valid model.
    """
    if not isinstance(text, str | bytes):
        raise InputTypeError(f"text must be str or bytes; got {type(text).__name__}.")
    return _read(text, "The model file")["model"]


def save(model: Any, path: str | os.PathLike[str], *, notes: str = "") -> Path:
    """Save a fitted model to a file. A file is written completely or not at all.

    The file keeps everything that predictions, stages, explanations and a warm start need: bins and categories, rounds,
    the link from scores to probabilities, classes, feature names and kinds, `history_` and `feature_importances_`. It
    does not keep parameters that are not plain data: callbacks, scorers that are functions, `RandomState`, an engine
    object, samplers of imbalanced-learn, splitters, a potential that is a function. The file says so, and the default
    takes their place. It does not keep the training rows of the members of `UnderBaggingClassifier` and
    `PastingVotesClassifier` (training of the latter cannot be continued), nor `oob_decision_function_`. The calibrator
    of `MinimumRiskClassifier` is replaced by an equivalent one.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package. Estimators within it must be of this package too: for a scikit-learn
        estimator a TypeError is raised, and nothing is written.
    path : path
        Where to write the file, usually ``.json``. A file whose name ends in ``.gz`` is compressed.
    notes : str, default=""
        A text that is kept in the file.

    Returns
    -------
    Path
        The path of the file.

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
    name = type(model).__name__
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{name} cannot be saved: its file would have {len(content)} bytes, but the limit is {MOST_BYTES}.",
            "Train a smaller model, or save this one with pickle.",
        )
    if os.fspath(path).endswith(".gz"):
        content = gzip.compress(content, mtime=0)  # so that equal models make equal files
    try:
        _read(content, f"The file of {name}")  # better now than when the model is needed
    except ModelFileError as error:
        raise RuntimeError(f"{name} cannot be saved. {error} {BUG}") from error
    return write_whole(path, content)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a fitted model from a file. Nothing in the file is executed, and everything in it is checked.

    Parameters
    ----------
    path : path
        A file that `save` has written.

    Returns
    -------
    estimator
        A fitted estimator of the saved class, whose predictions are bit-equal to those of the saved one.

    Raises
    ------
    ModelFileError
        If the file is not valid; the message says where in the file and why.
    OSError
        If the file cannot be read.
    """
    return _read(_content(path), f"The model file {os.fspath(path)!r}")["model"]


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe the content of a model file, which is checked as `load` does.

    Parameters
    ----------
    path : path
        A file that `save` has written.

    Returns
    -------
    dict
        "format", "version", "class", "classes", "pos_label" (None if there is none), "features" (a list of {"name",
        "kind": "number" or "category", and "categories" where these are known}), "n_features", "n_examples" (the
        number of training examples of a booster), "n_rounds" (of a booster), "threshold" (of a goal search), "params"
        (as text), "saved_with", "notes".
    """
    return load_and_describe(path)[1]


def load_and_describe(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The results of `load` and of `describe`, from reading the file once."""
    file = _read(_content(path), f"The model file {os.fspath(path)!r}")
    model = file["model"]
    inner = _innermost(model)
    return model, {
        "format": file["format"],
        "version": file["version"],
        "class": type(model).__name__,
        "classes": model.classes_.tolist(),
        "pos_label": plain(getattr(model, "pos_label_", None)),
        "features": _features(model),
        "n_features": getattr(model, "n_features_in_", None),
        "n_examples": None if inner is None else inner._model.support.n_examples,
        "n_rounds": getattr(inner, "n_estimators_", None),
        "threshold": getattr(model, "threshold_", None),
        "params": {name: repr(value) for name, value in model.get_params(deep=False).items()},
        "saved_with": file["saved_with"],
        "notes": file["notes"],
    }


def _innermost(model: Any) -> Any:
    """The booster that a model is or contains; None if it contains several."""
    while model is not None and not hasattr(model, "_model"):
        model = getattr(model, "estimator_", None)
    return model


def _features(model: Any) -> list[dict[str, Any]]:
    n = getattr(model, "n_features_in_", 0)
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(n)])]
    found: list[dict[str, Any]] = [{"name": name, "kind": "number"} for name in names]
    for reader, columns in _readers(model, n):
        bins = reader._model.bins if hasattr(reader, "_model") else None
        feature_of = {} if bins is None else {bins.column_of(k): f for k, f in enumerate(bins.features)}
        for j, own, is_nominal in zip(columns, range(n), reader._nominal):
            if is_nominal:
                found[j]["kind"] = "category"
            if is_nominal and bins is not None:
                found[j]["categories"] = [*feature_of[own].categories, *sorted(feature_of[own].rest)]
    return found


def _readers(model: Any, n: int) -> list[tuple[Any, list[int]]]:
    """The estimators that know the kinds of columns, the last one best, and the columns that each of them reads."""
    cascade = getattr(model, "estimator_", model)
    if hasattr(cascade, "stages_"):
        return [(stage.model, stage.columns.tolist()) for stage in reversed(cascade.stages_)]
    return [(reader, list(range(n))) for reader in islice(table_readers(model), 1)]


# ------------------------------------------------------------------------------- reading


def _content(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file, up to one more than a model may have."""
    with open(os.fspath(path), "rb") as file:  # os.fspath refuses the number of an open file
        return file.read(MOST_BYTES + 1)


def _unpacked(content: bytes) -> bytes:
    """The content without compression, if it is compressed. A small file must not become a huge one."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    most = min(MOST_BYTES, max(FREE_BYTES, MOST_TIMES * len(content)))
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as file:
            content = file.read(most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FieldError(f"it cannot be unpacked ({error})") from error
    require(len(content) <= most, f"it unpacks to more than {most} bytes")
    return content


def _read(content: str | bytes, name: str) -> dict[str, Any]:
    """The entries of a file, with its model."""
    try:
        return _checked(_parsed(content))
    except FieldError as error:
        place = f"{_printable(error.place)} " if error.place else ""
        raise ModelFileError(f"{name} is not valid: {place}{error.problem}.") from error
    except RecursionError as error:
        raise ModelFileError(f"{name} is not valid: it is nested too deeply.") from error
    except (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{name} is not valid: its parts do not match each other ({reason}).") from error


def _printable(place: str) -> str:
    """A place in a file on one line of a message, whatever the names in it are."""
    place = place if len(place) <= 300 else place[:297] + "..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in place)


def _parsed(content: str | bytes) -> Any:
    try:
        content = _unpacked(content).decode() if isinstance(content, bytes) else content
        require(len(content) <= MOST_BYTES, f"it is larger than {MOST_BYTES} bytes")
        n_parts = content.count("[") + content.count("{")
        require(n_parts <= MOST_PARTS, f"it has more than {MOST_PARTS} lists and objects")
        return json.loads(content, parse_constant=_refuse, object_pairs_hook=_distinct)
    except UnicodeDecodeError as error:
        raise FieldError(f"it is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise FieldError(f"it is not JSON ({error.msg} in line {error.lineno}, column {error.colno})") from error


def _refuse(constant: str) -> Any:
    raise FieldError(f"it has {constant}, which is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise FieldError(f"it has {shorten(twice)} twice in one object")
    return found


def _checked(file: Any) -> dict[str, Any]:
    for name in ("format", "version"):
        require(name in OBJECT.read(file), f"{name!r} is missing")
    version = read_entries({"version": file["version"]}, {"version": _HEAD["version"]})["version"]
    remedy = "install a newer release" if version > VERSION else "fit the model again, and save it"
    require(
        version == VERSION, f"is {version}, but this skewboost reads files of version {VERSION}: {remedy}", "version"
    )
    return read_entries(file, _HEAD)
