"""Rows to learn from or to be measured on: which column is the target, which are features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewboost.cli.errors import CommandError
from skewboost.cli.methods import close_to
from skewboost.cli.tell import count, named, note, some
from skewboost.tables import spell

Array = NDArray[Any]
MOST_CLASSES = 100  # more are numbers or names, not classes


@dataclass(frozen=True)
class Examples:
    """Features, labels and weights."""

    X: Any  # a pandas frame
    y: Array
    weights: Array | None
    target: str
    path: str

    def take(self, rows: Array) -> Examples:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Examples(self.X.iloc[rows], self.y[rows], weights, self.target, self.path)

    @property
    def classes(self) -> list[Any]:
        """The labels, sorted."""
        return list(np.unique(self.y).tolist())

    def split(self, share: float, seed: int | None) -> tuple[Examples, Examples]:
        """Rows to fit to, and a share of each class to be held out."""
        from sklearn.model_selection import train_test_split

        labels, n = np.unique(self.y, return_counts=True)
        if n.min() < 2 or share * len(self.y) < len(labels) or (1 - share) * len(self.y) < len(labels):
            rare = spell(labels[n.argmin()])
            raise CommandError(
                f"{count(len(self.y), 'row')} with {count(int(n.min()), 'row')} of class {rare} are too few to hold "
                f"{share:.0%} of them out. Use --test 0 to fit to all of them."
            )
        inner, outer = train_test_split(np.arange(len(self.y)), test_size=share, stratify=self.y, random_state=seed)
        return self.take(np.sort(inner)), self.take(np.sort(outer))


def read_examples(
    path: str, target: str | None, *, drop: Sequence[str] = (), weight: str | None = None, source: Any = None
) -> Examples:
    """All rows of a file; those without a target are left out."""
    from skewboost.cli.data import open_data

    source = source or open_data(path)
    path = named(path)
    columns = list(source.columns)
    if target is None:
        raise CommandError(f"which column is the target? Say --target NAME; {path} has {some(columns, 30)}.")
    check_columns(path, columns, [target], "--target")
    check_columns(path, columns, drop, "--drop")
    check_columns(path, columns, [weight] if weight else [], "--weight")
    if target in drop or target == weight:
        raise CommandError(f"{target!r} is the target, so it can be neither dropped nor the weight.")
    frame = source.read()
    missing = frame[target].isna().to_numpy()
    if missing.any():
        note(f"{count(int(missing.sum()), 'row')} without a value of {target!r} left out")
        frame = frame.iloc[np.flatnonzero(~missing)]
    if len(frame) == 0:
        raise CommandError(f"{path}: there is no row with a value of {target!r}.")
    apart = {target, *drop, *([weight] if weight else [])}
    features = [c for c in columns if c not in apart]
    if not features:
        raise CommandError(f"{path} has no column besides {some(sorted(apart))}, so there is nothing to learn from.")
    weights = None if weight is None else _weights(frame[weight], path)
    _check_dates(frame[features], path)
    return Examples(frame[features], labels_of(frame[target]), weights, target, path)


def _check_dates(X: Any, path: str) -> None:
    """Raise where columns hold dates, which are no features as they are."""
    dates = [str(name) for name in X.columns if X[name].dtype.kind == "M"]
    if dates:
        raise CommandError(
            f"{path}: {some(map(repr, dates))} {'holds' if len(dates) == 1 else 'hold'} dates, which no method takes. "
            f"Put numbers in their place (the year, the weekday, days since an event), or --drop {','.join(dates)}."
        )


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
        raise CommandError(f"{name} is {spell(classes[0])} in all rows, so there is nothing to tell apart.")
    fractions = examples.y.dtype.kind == "f" and len(classes) > 2
    if fractions or len(classes) > MOST_CLASSES:
        raise CommandError(
            f"{name} has {len(classes)} values ({some(map(spell, classes), 3)}), which are no classes. Choose another "
            "--target, or make a column of classes from it."
        )


def positive_label(text: str | None, classes: Sequence[Any]) -> Any:
    """The class that --positive names; None where the rarer one is meant."""
    return None if text is None else label_of(text, classes, "--positive")


def label_of(text: str, classes: Sequence[Any], option: str) -> Any:
    """The class that is spelled like this."""
    exact = [c for c in classes if spell(c) == text.strip()]
    alike = [c for c in classes if spell(c).lower() == text.strip().lower()]
    found = exact or alike
    if len(found) != 1:
        raise CommandError(f"{option}: {text.strip()!r} is none of the classes, which are {some(map(spell, classes))}.")
    return found[0]


def _weights(column: Any, path: str) -> Array:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers).any():
        bad = column[np.isnan(numbers)].iloc[0]
        raise CommandError(f"--weight: {path} has {bad!r} in column {column.name!r}, which is no number of examples.")
    return np.asarray(numbers)
