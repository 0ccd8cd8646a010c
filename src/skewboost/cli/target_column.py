"""Reading labelled rows: the target column, the features, the weights, and the costs of classes."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.cli.data.column_types import as_number
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.group_and_time import cut_in_time, read_groups, read_times
from skewboost.cli.labels import FOLD, check_classes, check_labels_option, fold
from skewboost.cli.method_options import suggest
from skewboost.cli.output import count, list_names, note, number, source_name, warn
from skewboost.engine.table import CLEARLY_TEXT
from skewboost.evaluate.amounts import Amounts
from skewboost.fold_rows import whole_units
from skewboost.names import shown, spell
from skewboost.typing import Array

COST_REMEDY = "Give a number (the cost of a miss in false alarms), balanced, or label=cost,label=cost."


@dataclass(frozen=True)
class Examples:
    """Features, labels and weights."""

    X: Any  # a pandas frame
    y: Array
    weights: Array | None
    target: str
    path: str
    dropped: tuple[str, ...] = ()  # columns that are no features
    groups: Array | None = None  # the number of the group of each row
    times: Array | None = None  # sorted

    def take(self, rows: Array) -> Examples:
        """Some of the rows."""
        weights, groups, times = (
            None if each is None else each[rows] for each in (self.weights, self.groups, self.times)
        )
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], weights=weights, groups=groups, times=times)

    @property
    def classes(self) -> list[Any]:
        """The labels, sorted."""
        return list(np.unique(self.y).tolist())

    @property
    def fit_params(self) -> dict[str, Any]:
        """The weights as `fit` takes them."""
        return {} if self.weights is None else {"sample_weight": self.weights}

    def split(self, test_size: float | None, seed: int | None) -> tuple[Examples, Examples | None]:
        """Training rows and a fraction to hold out, None if that is 0.

        The rows to hold out are those of a fraction of each class, whole groups, or the latest rows.
        """
        if not test_size:
            return self, None
        if self.groups is None and self.times is None:
            return self._split_by_class(test_size, seed)
        if self.groups is not None:
            numbers = np.unique(self.y, return_inverse=True)[1]
            held_out = whole_units(numbers, self.groups, test_size, np.random.default_rng(seed))
            what, remedy = "whole groups", "Use other groups, or fit to all rows with --test 0."
        else:
            assert self.times is not None
            held_out = np.arange(len(self.y)) >= cut_in_time(self.times, (1 - test_size) * len(self.y))
            what, remedy = "the latest rows", "Use another --test, or fit to all rows with --test 0."
        train, test = self.take(np.flatnonzero(~held_out)), self.take(np.flatnonzero(held_out))
        for part, where in ((train, "among the others"), (test, "among them")):
            lacking = [c for c in self.classes if c not in part.classes]
            if lacking and (part is train or len(self.classes) == 2):  # one of many classes need not be measured
                raise CommandError(
                    f"{what} are held out ({number(len(test.y))} of {number(len(self.y))}), and {where} there is no "
                    f"row of class {shown(lacking[0])}.", remedy,
                )  # fmt: skip
        return train, test

    def _split_by_class(self, test_size: float, seed: int | None) -> tuple[Examples, Examples]:
        from sklearn.model_selection import train_test_split

        labels, n = np.unique(self.y, return_counts=True)
        if n.min() < 2 or min(test_size, 1 - test_size) * len(self.y) < len(labels):
            rare = shown(labels[n.argmin()])
            raise CommandError(
                f"{count(len(self.y), 'row')} with {count(int(n.min()), 'row')} of class {rare} are too few to hold "
                f"out {test_size:.0%} of them.", "`skewboost fit --test 0` fits to all rows.",
            )  # fmt: skip
        train, test = train_test_split(np.arange(len(self.y)), test_size=test_size, stratify=self.y, random_state=seed)
        return self.take(np.sort(train)), self.take(np.sort(test))


def read_examples(
    path: str,
    target: str | None,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    labels: str | None = None,
) -> Examples:
    """The rows of a file that have a label, with all other columns as features; sorted by time, if that is given.

    `labels` says which labels are the same (see `check_classes`).
    """
    from skewboost.cli.data import open_data

    check_labels_option(labels)
    source = open_data(path)
    columns = list(source.columns)
    if target is None:
        raise CommandError(
            "the target column is not given.",
            f"Name it with --target. The columns of {source_name(path)} are {list_names(columns, 30)}.",
        )
    check_columns(path, columns, [target], "--target")
    drop = split_names(drop, columns)
    check_columns(path, columns, drop, "--drop")
    if target in drop or target == weight:
        raise CommandError(f"{target!r} is the target, so it can be neither dropped nor the weight.")
    roles = {"--weight": weight, "--group": group, "--time": time}
    named = {option: name for option, name in roles.items() if name}
    for option, name in named.items():
        check_columns(path, columns, [name], option)
        if name == target:
            raise CommandError(f"{option}: {name!r} is the target.", "Name another column.")
    if group and time:
        raise CommandError(
            "--group and --time cannot be combined: later rows of a group would have to be held out and not held out.",
            "Choose --group if rows of new groups are to be predicted, and --time if later rows of the same ones are.",
        )
    others = {target, *drop, *named.values()}
    features = [c for c in columns if c not in others]
    if not features:
        raise CommandError(f"{source_name(path)} has no column besides {list_names(sorted(others))} to learn from.")
    source.leave_out([name for name in drop if name not in named.values()])
    frame = source.read()
    examples = labelled_rows(frame, path, target, features, weight)
    _check_features(examples.X, examples.path)
    if labels == FOLD:
        examples = replace(examples, y=fold(examples.y))
    check_classes(examples.y, f"{examples.path}: the target {target!r}", labels)
    apart = [name for name in (group, time) if name and name not in drop]
    examples = replace(examples, dropped=(*drop, *apart))
    if group:
        examples = replace(examples, groups=read_groups(frame.loc[examples.X.index, group], examples.path))
    if time:
        times = read_times(frame.loc[examples.X.index, time], examples.path)
        examples = replace(examples, times=times).take(np.argsort(times, kind="stable"))
    return examples


def labelled_rows(frame: Any, path: str, target: str, features: Sequence[str], weight: str | None) -> Examples:
    """The rows of a frame that have a label."""
    path = source_name(path)
    missing = frame[target].isna().to_numpy()
    if missing.any():
        note(f"{count(int(missing.sum()), 'row')} without a value of {target!r} left out")
        frame = frame.iloc[np.flatnonzero(~missing)]
    if len(frame) == 0:
        raise CommandError(f"{path}: no row has a value of {target!r}.")
    weights = _read_weights(frame[weight], path) if weight else None
    return Examples(frame[list(features)], read_labels(frame[target]), weights, target, path)


def _check_features(X: Any, path: str) -> None:
    """Raise if columns hold dates, or text that never repeats; warn if text is numbers."""
    dates, text, amounts = [], [], dict[str, Amounts]()
    for name in X.columns:
        kind, n = X[name].dtype.kind, X[name].count()
        if kind == "M":
            dates.append(str(name))
        elif kind not in "iufb":
            counts = X[name].value_counts()
            if n >= CLEARLY_TEXT and len(counts) == n:
                text.append(str(name))
            found = Amounts()
            found.add(map(spell, counts.index), counts.tolist())
            if found:
                amounts[str(name)] = found
    if dates:
        order = f"; {shlex.join(['--time', dates[0]])} lets later rows be held out" if len(dates) == 1 else ""
        raise CommandError(
            f"{path}: {list_names(dates, quotes=True)} {'holds' if len(dates) == 1 else 'hold'} dates, which no method "
            "takes.",
            f"Derive numbers (the year, the weekday, days since an event) from it, or leave it out: "
            f"{drop_options(dates)}{order}.",
        )
    numbers = [name for name in text if name in amounts]
    if numbers:
        raise CommandError(
            f"{path}: {numbers[0]!r} has {amounts[numbers[0]].described}, which are read as text that is different in "
            "every row.",
            f"Write them as {amounts[numbers[0]].plain}, or leave it out: {drop_options(numbers[:1])}.",
        )
    if text:
        raise CommandError(
            f"{path}: {list_names(text, quotes=True)} {'holds' if len(text) == 1 else 'hold'} text that is different "
            "in every row, so nothing can be learned from it.",
            f"Derive categories or numbers from it, or leave it out: {drop_options(text)}.",
        )
    warn(f"{path}: {name!r} has {found}" for name, found in amounts.items())


def drop_options(names: Sequence[str]) -> str:
    """The options that leave columns out, quoted for the shell."""
    return shlex.join([word for name in names for word in ("--drop", name)])


def split_names(texts: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that options name, separated by commas; a text that is a column itself is not split."""
    split = [[text] if text in columns else [n.strip() for n in text.split(",") if n.strip()] for text in texts]
    return tuple(dict.fromkeys(name for names in split for name in names))


def check_columns(path: str, columns: Sequence[str], names: Sequence[str], option: str) -> None:
    """Raise if a column that an option names does not exist."""
    for name in names:
        if name not in columns:
            remedy = suggest(name, columns) or f"The columns are {list_names(columns, 30)}."
            raise CommandError(f"{option}: {source_name(path)} has no column {name!r}.", remedy)


def read_labels(column: Any) -> Array:
    """Labels as numbers, booleans or text; whole numbers are integers, although pandas may hold them as floats."""
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


def find_positive(text: str | None, classes: Sequence[Any]) -> Any:
    """The class that --positive names; None if the option is not given."""
    if text is not None and len(classes) > 2:
        raise CommandError(f"--positive {text} is for two classes, but there are {len(classes)}.", "Leave it out.")
    return None if text is None else find_label(text, classes, "--positive")


def find_label(text: str, classes: Sequence[Any], option: str) -> Any:
    """The class that is spelled like this; surrounding spaces and capitals may differ."""
    same: tuple[Callable[[Any], bool], ...] = (
        lambda c: spell(c) == text,
        lambda c: text.strip() in (spell(c), shown(c)),
        lambda c: spell(c).lower() == text.strip().lower(),
    )
    found = next(filter(None, ([c for c in classes if test(c)] for test in same)), [])
    if len(found) != 1:
        raise CommandError(f"{option}: {text.strip()!r} is not a class.", f"The classes are {list_names(classes)}.")
    return found[0]


def _read_weights(column: Any, path: str) -> Array:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers).any():
        bad = column[np.isnan(numbers)].iloc[0]
        cell = f"'{bad}'" if isinstance(bad, str) else "an empty cell"
        raise CommandError(f"--weight: {path} has {cell} in column {column.name!r}, which is not a number.")
    return np.asarray(numbers)


def read_cost(text: str | None, classes: Sequence[Any]) -> Any:
    """The cost as a number, "balanced" or ``{label: cost}``; None if the option is not given."""
    if text is None:
        return None
    if text.strip().lower() == "balanced":
        return "balanced"
    if "=" not in text:
        cost = _positive_number(text, text)
        if len(classes) > 2:
            example = ",".join(f"{spell(c)}={k}" for k, c in enumerate(classes, 1))
            raise CommandError(
                f"--cost {text.strip()} is the cost of missing one class of two, but there are {len(classes)} classes.",
                f"Give a cost for each class: {example}",
            )
        return cost
    costs = {}
    for part in text.strip().split(","):
        label, _, value = part.rpartition("=")
        costs[find_label(label, classes, "--cost")] = _positive_number(value, text)
    missing = [spell(c) for c in classes if c not in costs]
    if missing:
        raise CommandError(f"--cost {text!r} has no cost for class {', '.join(missing)}.", f"Add …,{missing[0]}=1")
    return costs


def _positive_number(part: str, text: str) -> float:
    try:
        value = as_number(part.strip())
    except ValueError:
        raise CommandError(f"--cost {text!r} is not a cost.", COST_REMEDY) from None
    if not (0 < value < math.inf):
        raise CommandError(f"--cost {text!r}: a cost must be greater than 0 and finite.", COST_REMEDY)
    return value


def describe_cost(cost: Any, balanced_ratio: float | None = None) -> str:
    """What a cost means; `balanced_ratio` is the cost of a miss if costs are balanced."""
    if cost is None or cost == "balanced":
        return "balanced" + ("" if balanced_ratio is None else f": a miss costs {balanced_ratio:.3g} false alarms")
    if isinstance(cost, Mapping):
        return "mistakes on " + ", ".join(f"{shown(k)} cost {number(v)}" for k, v in cost.items())
    if np.ndim(cost):
        return f"cost[true, predicted] = {cost}"
    return f"a miss costs {number(float(cost))} false alarms"
