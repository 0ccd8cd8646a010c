"""What a summary warns of and suggests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skewboost.boosting.catalogue import RECOMMENDED

if TYPE_CHECKING:
    from skewboost.evaluate.summary import ColumnSummary, TargetSummary

MANY_MISSING = 0.5
OWN_CODES = 254  # categories with a code of their own, if there are more than engine.binning.MAX_BINS
MOST_CATEGORIES = 255
FOLDS = 5
FEW = 50  # positives
MANY_CLASSES = 50
DOUBTFUL = ("NA", "N/A", "n/a", "None", "none", "-", ".")  # categories that may stand for nothing
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d.*)?")
_BETWEEN = r"[,.' \u00a0\u202f]"  # what people put between thousands
_GROUPED = re.compile(rf"[-+]?\d{{1,3}}({_BETWEEN}\d{{3}})+([.,]\d+)?")
_NUMBER = re.compile(r"[-+]?\d+([.,]\d+)?")

# What to begin with, said in Python and on the command line; docs/choosing.md has the reasons
PYTHON = {
    "many": "Begin with AdaBoostMH (docs/multiclass.md); with a price per kind of mistake, MinimumRisk around it.",
    "balanced": 'cost="balanced" makes a miss of {positive!r} as dear as {ratio:.3g} false alarms; say what mistakes '
    "do cost if you know it.",
    "two": "Begin with {method}; `skewboost.evaluate.compare` shows whether another variant does better on these rows.",
    "goal": 'If the goal is a rate ("recall >= 90%"), GoalSearchCV finds the costs that reach it.',
}
COMMANDS = {
    "many": "Begin with `skewboost fit {data} --method AdaBoostMH -o model.json`; --cost label=price,label=price says "
    "what mistakes cost.",
    "balanced": "Unless --cost says what mistakes cost, a miss of {positive!r} is taken to be as dear as {ratio:.3g} "
    "false alarms; --cost 20 makes it 20.",
    "two": "Begin with `skewboost fit {data} -o model.json` ({method}); `skewboost compare {data}` shows whether "
    "another method does better on these rows.",
    "goal": 'If the goal is a rate, `skewboost goal {data} "recall>=90%" -o model.json` finds the costs that reach it.',
}


def warnings_about(
    n_rows: int,
    columns: Sequence[ColumnSummary],
    target: TargetSummary | None,
    n_repeats: int | None,
    leaks: Sequence[str],
    ids: Sequence[str],
) -> tuple[str, ...]:
    """The sentences, the gravest first."""
    found = [] if target is None else _about_target(target)
    if n_rows >= 20 and target is not None and len(target.classes) <= MANY_CLASSES:
        found += [
            f"{name!r} alone tells the classes apart without a mistake: was it known before the outcome?"
            for name in leaks
            if name not in ids
        ]
    dates = {column.name for column in columns if column.kind == "date"}  # of these there is more to say
    found += [f"{name!r} looks like an id: no two cells are equal. Leave it out." for name in ids if name not in dates]
    for column in columns:
        found += _about(column, n_rows)
    if n_repeats:
        found.append(
            f"{n_repeats:,} of {n_rows:,} rows repeat an earlier one: in cross-validation copies land on both sides."
        )
    return tuple(found)


def _about(column: ColumnSummary, n_rows: int) -> list[str]:
    name = column.name
    if column.kind == "empty":
        return [f"{name!r} is empty."]
    if column.kind == "constant" and not column.n_missing:
        return [f"{name!r} holds one value only."]
    found = []
    if "inf" in (str(column.maximum), str(column.minimum).removeprefix("-")):
        found.append(f"{name!r} holds infinite numbers, which estimators refuse: make them missing, or a large number.")
    if column.missing_share > MANY_MISSING:
        found.append(f"{name!r} is missing in {percent(column.missing_share)} of the rows.")
    if column.kind == "date":
        found.append(f"{name!r} holds dates: derive numbers (year, weekday, days since an event), or leave it out.")
    if column.kind == "category" and column.top and all(_DATE.fullmatch(value) for value, _ in column.top):
        found.append(f"{name!r} looks like dates, and would be read as categories: derive numbers, or leave it out.")
    if column.kind in ("category", "text") and _separated(column.top):
        found.append(
            f"{name!r} holds numbers such as {_separated(column.top)!r}, and would be read as categories: take the "
            "separators of thousands out."
        )
    elif column.kind == "category" and (column.n_distinct or 0) > MOST_CATEGORIES:
        found.append(
            f"{name!r} has {column.n_distinct:,} categories: the {OWN_CODES} most frequent are told apart, the others "
            "share one code."
        )
    if column.kind == "text" and column.n_distinct is None:
        found.append(f"{name!r} has more than 10,000 categories: all but the {OWN_CODES} most frequent share one code.")
    found += [
        f"{name!r} has {count:,} cells {value!r}, taken as a category; if they stand for nothing, make them empty."
        for value, count in column.top
        if value in DOUBTFUL
    ]
    return found


def _separated(top: Sequence[tuple[str, int]]) -> str | None:
    """A number with its thousands apart, if all these categories are numbers and one is such."""
    grouped = [value for value, _ in top if _GROUPED.fullmatch(value)]
    return grouped[0] if grouped and all(_GROUPED.fullmatch(v) or _NUMBER.fullmatch(v) for v, _ in top) else None


def _about_target(target: TargetSummary) -> list[str]:
    found = []
    if target.n_missing:
        found.append(f"the target {target.name!r} is missing in {target.n_missing:,} rows: drop these, or name them.")
    n_classes = len(target.classes)
    if n_classes < 2:
        return [*found, f"the target {target.name!r} has {n_classes} class: there is nothing to tell apart."]
    label, rarest, _ = target.classes[-1] if target.positive is None else _positive(target)
    if n_classes > MANY_CLASSES:
        found.append(f"the target {target.name!r} has {n_classes:,} values: is it a number rather than a class?")
    elif rarest < FEW:
        found.append(f"only {rarest} rows of class {label!r}: {_per_fold(rarest)}")
    return found


def _positive(target: TargetSummary) -> tuple[object, int, float]:
    return next(row for row in target.classes if row[0] == target.positive)


def _per_fold(count: int) -> str:
    if count < FOLDS:
        return f"{FOLDS}-fold cross-validation cannot put one into every fold."
    low, high = count // FOLDS, -(-count // FOLDS)
    each = str(low) if low == high else f"{low}–{high}"
    return f"{FOLDS}-fold cross-validation tests on {each} of them at a time; repeat it, and mind the spread."


def suggestions_for(target: TargetSummary | None, words: Mapping[str, str] = PYTHON, data: str = "") -> tuple[str, ...]:
    """What to begin with, in the words of Python, or in those of the command line for `data` and its options."""
    if target is None or len(target.classes) < 2 or len(target.classes) > MANY_CLASSES:
        return ()
    if len(target.classes) > 2:
        found = ["many"]
    else:
        found = [*(["balanced"] if target.imbalance >= 1.5 else []), "two", "goal"]
    told = {"positive": target.positive, "ratio": target.imbalance, "method": RECOMMENDED, "data": data}
    return tuple(words[what].format(**told) for what in found)


def percent(share: float) -> str:
    """A share in few digits, and never 0% or 100% unless it is."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
