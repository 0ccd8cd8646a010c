"""Rows to learn from or to be measured on: which column is the target, which are features."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.cli.estimator_names import close_to
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import count, named, note, some
from skewboost.engine.table import CLEARLY_TEXT
from skewboost.names import shown, spell
from skewboost.typing import Array

MOST_CLASSES = 100  # more are numbers or names, not classes


@dataclass(frozen=True)
class Examples:
    """Features, labels and weights."""

    X: Any  # a pandas frame
    y: Array
    weights: Array | None
    target: str
    path: str
    dropped: tuple[str, ...] = ()  # columns that the user left out

    def take(self, rows: Array) -> Examples:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], weights=weights)

    @property
    def classes(self) -> list[Any]:
        """The labels, sorted."""
        return list(np.unique(self.y).tolist())

    def split(self, share: float, seed: int | None) -> tuple[Examples, Examples]:
        """Rows to fit to, and a share of each class to be held out."""
        from sklearn.model_selection import train_test_split

        labels, n = np.unique(self.y, return_counts=True)
        if n.min() < 2 or share * len(self.y) < len(labels) or (1 - share) * len(self.y) < len(labels):
            rare = shown(labels[n.argmin()])
            raise CommandError(
                f"{count(len(self.y), 'row')} with {count(int(n.min()), 'row')} of class {rare} are too few to hold "
                f"{share:.0%} of them out. `skewboost fit --test 0` fits to all of them."
            )
        inner, outer = train_test_split(np.arange(len(self.y)), test_size=share, stratify=self.y, random_state=seed)
        return self.take(np.sort(inner)), self.take(np.sort(outer))


def read_examples(path: str, target: str | None, *, drop: Sequence[str] = (), weight: str | None = None) -> Examples:
    """All rows of a file to learn from; those without a target are left out."""
    from skewboost.cli.data import open_data

    source = open_data(path)
    columns = list(source.columns)
    if target is None:
        raise CommandError(f"which column is the target? Say --target NAME; {named(path)} has {some(columns, 30)}.")
    check_columns(path, columns, [target], "--target")
    drop = columns_named(drop, columns)
    check_columns(path, columns, drop, "--drop")
    check_columns(path, columns, [weight] if weight else [], "--weight")
    if target in drop or target == weight:
        raise CommandError(f"{target!r} is the target, so it can be neither dropped nor the weight.")
    apart = {target, *drop, *([weight] if weight else [])}
    features = [c for c in columns if c not in apart]
    if not features:
        told = some(sorted(apart))
        raise CommandError(f"{named(path)} has no column besides {told}, so there is nothing to learn from.")
    source.leave_out(drop)
    examples = labelled(source.read(), path, target, features, weight)
    _check_features(examples.X, examples.path)
    return replace(examples, dropped=drop)


def labelled(frame: Any, path: str, target: str, features: Sequence[str], weight: str | None) -> Examples:
    """The rows that have a label, with these columns."""
    path = named(path)
    missing = frame[target].isna().to_numpy()
    if missing.any():
        note(f"{count(int(missing.sum()), 'row')} without a value of {target!r} left out")
        frame = frame.iloc[np.flatnonzero(~missing)]
    if len(frame) == 0:
        raise CommandError(f"{path}: there is no row with a value of {target!r}.")
    weights = _weights(frame[weight], path) if weight else None
    return Examples(frame[list(features)], labels_of(frame[target]), weights, target, path)


def _check_features(X: Any, path: str) -> None:
    """Raise where columns hold dates, or text that does not repeat: these are no features as they are."""
    dates = [str(name) for name in X.columns if X[name].dtype.kind == "M"]
    if dates:
        raise CommandError(
            f"{path}: {some(dates, quotes=True)} {'holds' if len(dates) == 1 else 'hold'} dates, which no method "
            "takes. Put numbers in their place (the year, the weekday, days since an event), or "
            f"{dropping(dates)}."
        )
    text = [str(name) for name in X.columns if X[name].dtype.kind not in "iufb" and _never_repeats(X[name])]
    if text:
        raise CommandError(
            f"{path}: {some(text, quotes=True)} {'holds' if len(text) == 1 else 'hold'} text of which no two cells are "
            f"equal, so there is nothing to learn from it. Derive categories or numbers, or {dropping(text)}."
        )


def _never_repeats(column: Any) -> bool:
    cells = column.dropna()
    return len(cells) >= CLEARLY_TEXT and cells.nunique() == len(cells)


def dropping(names: Sequence[str]) -> str:
    """The options that leave columns out, as the shell takes them."""
    return shlex.join([word for name in names for word in ("--drop", name)])


def columns_named(texts: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
    """The columns that options name, several of them joined by commas; a name may have commas itself."""
    split = [[text] if text in there else [n.strip() for n in text.split(",") if n.strip()] for text in texts]
    return tuple(dict.fromkeys(name for names in split for name in names))


def check_columns(path: str, there: Sequence[str], wanted: Sequence[str], option: str) -> None:
    """Raise where a column that an option names is not there."""
    for name in wanted:
        if name not in there:
            hint = close_to(name, there) or f"There are {some(there, 30)}."
            raise CommandError(f"{option}: {named(path)} has no column {name!r}. {hint.strip()}")


def labels_of(column: Any) -> Array:
    """Labels as plain numbers, booleans or text; a whole number is no fraction, though pandas may hold it as one."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(column.dtype):
        return np.asarray(column.to_numpy(dtype=np.bool_))
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy()
        numbers = np.asarray(numbers if numbers.dtype != object else column.to_numpy(dtype=np.float64))
        whole = numbers.dtype.kind == "f" and np.all(np.abs(numbers) < 2.0**63) and np.all(numbers == np.round(numbers))
        return numbers.astype(np.int64) if whole else numbers
    return np.array([spell(v) for v in column.tolist()])


def check_classes(examples: Examples) -> None:
    """Raise where a target has no classes, but one value only or numbers."""
    classes = examples.classes
    name = f"{examples.path}: the target {examples.target!r}"
    if len(classes) == 1:
        raise CommandError(f"{name} is {shown(classes[0])} in all rows, so there is nothing to tell apart.")
    fractions = examples.y.dtype.kind == "f" and len(classes) > 2
    if fractions or len(classes) > MOST_CLASSES:
        raise CommandError(
            f"{name} has {len(classes)} values ({some(classes, 3)}), which are no classes. Choose another "
            "--target, or make a column of classes from it."
        )


def positive_label(text: str | None, classes: Sequence[Any]) -> Any:
    """The class that --positive names; None where the rarer one is meant."""
    if text is not None and len(classes) > 2:
        raise CommandError(f"--positive {text} is for two classes, and there are {len(classes)}. Leave it out.")
    return None if text is None else label_of(text, classes, "--positive")


def label_of(text: str, classes: Sequence[Any], option: str) -> Any:
    """The class that is spelled like this, or shown like this; spaces around it and capitals may differ."""
    same: tuple[Callable[[Any], bool], ...] = (
        lambda c: spell(c) == text,
        lambda c: text.strip() in (spell(c), shown(c)),
        lambda c: spell(c).lower() == text.strip().lower(),
    )
    found = next(filter(None, ([c for c in classes if test(c)] for test in same)), [])
    if len(found) != 1:
        raise CommandError(f"{option}: {text.strip()!r} is none of the classes, which are {some(classes)}.")
    return found[0]


def _weights(column: Any, path: str) -> Array:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers).any():
        bad = column[np.isnan(numbers)].iloc[0]
        cell = f"'{bad}'" if isinstance(bad, str) else "an empty cell"
        raise CommandError(f"--weight: {path} has {cell} in column {column.name!r}, which is no number of examples.")
    return np.asarray(numbers)
