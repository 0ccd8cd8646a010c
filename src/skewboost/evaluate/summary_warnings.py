"""The warnings and suggestions of a summary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skewboost.boosting.catalogue import RECOMMENDED
from skewboost.metrics.targets import alike

if TYPE_CHECKING:
    from skewboost.evaluate.summary import ColumnSummary, TargetSummary

MANY_MISSING = 0.5
OWN_CODES = 254  # categories with a code of their own, if there are more than engine.binning.MAX_BINS
MOST_CATEGORIES = 255
FOLDS = 5
FEW_POSITIVES = 50
MANY_CLASSES = 50
MOST_GROUPS = 3  # of labels that are spelled alike
MAYBE_MISSING = ("NA", "N/A", "n/a", "None", "none", "-", ".")  # categories that may mean a missing cell
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d.*)?")

# Suggestions for Python and for the command line; docs/choosing.md has the reasons.
PYTHON = {
    "many": "Begin with {method}; its cost may be {{label: cost}}, or a matrix [true, predicted] (docs/multiclass.md).",
    "balanced": 'With cost="balanced", a miss of {positive!r} costs {ratio:.3g} false alarms. Pass the actual cost if '
    "you know it.",
    "two": "Begin with {method}; `skewboost.evaluate.compare` shows whether another variant does better on these rows.",
    "goal": 'If the goal is a rate, pass goal="recall >= 90%" to it, or use GoalSearchCV for other methods.',
}
COMMANDS = {
    "many": "Begin with `skewboost fit {data} -o model.json` ({method}); --cost label=cost,label=cost sets the cost of "
    "mistakes.",
    "balanced": "Without --cost, a miss of {positive!r} costs {ratio:.3g} false alarms; --cost 20 makes it 20.",
    "two": "Begin with `skewboost fit {data} -o model.json` ({method}); `skewboost compare {data}` shows whether "
    "another method does better on these rows.",
    "goal": 'If the goal is a rate, `skewboost goal {data} "recall>=90%" -o model.json` fits a model that reaches it.',
}


def warnings_about(
    n_rows: int,
    columns: Sequence[ColumnSummary],
    target: TargetSummary | None,
    n_repeats: int | None,
    leaks: Sequence[str],
    ids: Sequence[str],
) -> tuple[str, ...]:
    """Return the warnings, the most important one first."""
    found = [] if target is None else _about_target(target)
    if n_rows >= 20 and target is not None and len(target.classes) <= MANY_CLASSES:
        found += [
            f"{name!r} alone separates the classes without error. Check that it was known before the outcome."
            for name in leaks
            if name not in ids
        ]
    dates = {column.name for column in columns if column.kind == "date"}  # they have a warning of their own
    found += [
        f"{name!r} looks like an identifier, because no two cells are equal. Leave it out."
        for name in ids
        if name not in dates
    ]
    for column in columns:
        found += _about_column(column)
    if n_repeats:
        found.append(
            f"{n_repeats:,} of {n_rows:,} rows repeat an earlier one. In cross-validation, a test row may have a copy "
            "in the training rows."
        )
    return tuple(found)


def _about_column(column: ColumnSummary) -> list[str]:
    name = column.name
    if column.kind == "empty":
        return [f"{name!r} is empty."]
    if column.kind == "constant" and not column.n_missing:
        return [f"{name!r} has only one value."]
    found = []
    if "inf" in (str(column.maximum), str(column.minimum).removeprefix("-")):
        found.append(f"{name!r} has infinite numbers, which estimators refuse. Make them missing, or large numbers.")
    if column.missing_share > MANY_MISSING:
        found.append(f"{name!r} is missing in {percent(column.missing_share)} of the rows.")
    if column.kind == "date":
        found.append(f"{name!r} holds dates. Derive numbers (year, weekday, days since an event), or leave it out.")
    if column.kind == "category" and column.top and all(_DATE.fullmatch(value) for value, _ in column.top):
        found.append(f"{name!r} looks like dates, but is read as categories. Derive numbers, or leave it out.")
    if column.amounts:
        found.append(f"{name!r} has {column.amounts}")
    elif column.kind == "category" and (column.n_distinct or 0) > MOST_CATEGORIES:
        found.append(
            f"{name!r} has {column.n_distinct:,} categories. All but the {OWN_CODES} most frequent share one code."
        )
    elif column.kind == "text" and column.n_distinct is None:
        found.append(f"{name!r} has more than 10,000 categories. All but the {OWN_CODES} most frequent share one code.")
    found += [
        f"{name!r} has {count:,} cells {value!r}, which are read as a category. If they mean missing, make them empty."
        for value, count in column.top
        if value in MAYBE_MISSING
    ]
    return found


def _about_target(target: TargetSummary) -> list[str]:
    found = []
    name, n_classes = target.name, len(target.classes)
    if target.n_missing:
        found.append(f"The target {name!r} is missing in {target.n_missing:,} rows. Drop them, or give them a class.")
    if n_classes < 2:
        return [*found, f"The target {name!r} has {n_classes} class, but a classifier needs at least two."]
    found += [
        f"The labels {', '.join(map(repr, group))} of the target {name!r} differ only in case or in spaces at their "
        "ends. Each is a class of its own, unless they are spelled alike."
        for group in alike(label for label, _, _ in target.classes)[:MOST_GROUPS]
    ]
    label, count, _ = target.classes[-1]  # the rarest, which is the positive one of two
    if n_classes > MANY_CLASSES:
        found.append(f"The target {name!r} has {n_classes:,} values. Is it a number rather than a class?")
    elif count < FOLDS:
        found.append(
            f"Only {count} rows are of class {label!r}: {FOLDS}-fold cross-validation cannot put one into every fold."
        )
    elif count < FEW_POSITIVES:
        low, high = count // FOLDS, -(-count // FOLDS)
        found.append(
            f"Only {count} rows are of class {label!r}: {FOLDS}-fold cross-validation tests on "
            f"{low if low == high else f'{low}–{high}'} of them at a time. Repeat it, and look at the spread."
        )
    return found


def suggestions_for(target: TargetSummary | None, words: Mapping[str, str] = PYTHON, data: str = "") -> tuple[str, ...]:
    """Return what to begin with, for Python or for the command line (`data` and its options)."""
    if target is None or len(target.classes) < 2 or len(target.classes) > MANY_CLASSES:
        return ()
    if len(target.classes) > 2:
        keys = ["many"]
    else:
        keys = [*(["balanced"] if target.imbalance >= 1.5 else []), "two", "goal"]
    values = {"positive": target.positive, "ratio": target.imbalance, "method": RECOMMENDED, "data": data}
    return tuple(words[key].format(**values) for key in keys)


def percent(fraction: float) -> str:
    """Return a fraction in percent with few digits, and 0% or 100% only if it is exact."""
    if 0 < fraction < 0.001:
        return "<0.1%"
    if 0.999 < fraction < 1:
        return ">99.9%"
    return f"{fraction:.1%}" if fraction < 0.1 else f"{fraction:.0%}"
