"""Which values of the target are classes, and which are the same one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import list_names
from skewboost.evaluate.amounts import Amounts
from skewboost.evaluate.summary_warnings import MANY_CLASSES
from skewboost.metrics.targets import alike, folded
from skewboost.names import shown, spell
from skewboost.typing import Array

FOLD, EXACT = "fold", "exact"  # values of --labels
MOST_CLASSES = 100
FEW_CLASSES = 10  # so few are classes, however few rows they have
INSTEAD = "Choose another --target, or make a column of classes from it"


def check_labels_option(rule: str | None) -> None:
    """Raise if --labels has another value."""
    if rule not in (None, FOLD, EXACT):
        raise CommandError(
            f"--labels {rule} is unknown.",
            f"Use {FOLD} (case and spaces at the ends make no other class) or {EXACT} (each spelling is a class).",
        )


def fold(labels: Array) -> Array:
    """Give labels that differ only in case or in spaces at their ends the most frequent spelling of them."""
    if labels.dtype.kind not in "UO":
        return labels
    counts = Counter(labels.tolist())
    spelling: dict[str, str] = {}
    for label, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        spelling.setdefault(folded(label), label.strip())
    return np.array([spelling[folded(label)] for label in labels.tolist()])


def known_spellings(classes: Sequence[Any], spelled: Sequence[str], rule: str | None) -> Mapping[str, Any]:
    """The classes of a model by the spellings that labels of other rows have; those of no class are left out."""
    known = {spell(c): c for c in classes}
    if rule != FOLD:
        return known
    by_fold = {folded(name): c for name, c in known.items()}
    return known | {name: by_fold[folded(name)] for name in spelled if folded(name) in by_fold}


def check_classes(y: Array, target: str, rule: str | None) -> None:
    """Raise if the values of a target are not classes, or if it is not clear which are the same.

    Parameters
    ----------
    y : array
        The labels.
    target : str
        What to call the target in messages.
    rule : {"fold", "exact"} or None
        The option --labels. With "exact" each value is a class, if there are not too many of them.
    """
    classes, n = np.unique(y, return_counts=True)
    if len(classes) == 1:
        raise CommandError(f"{target} is {shown(classes.tolist()[0])} in all rows, so there is only one class.")
    values = f"{target} has {len(classes):,} different values ({list_names(classes.tolist(), 3)})"
    found = Amounts()
    if y.dtype.kind in "UO" and len(classes) > 2:
        found.add(map(spell, classes.tolist()), n.tolist())
    if found:
        raise CommandError(f"{target} has {found.described}, which are not classes.", f"{INSTEAD}.")
    if (y.dtype.kind == "f" and len(classes) > 2) or len(classes) > MOST_CLASSES:
        raise CommandError(f"{values}, which are not classes.", f"{INSTEAD}.")
    if rule == EXACT:
        return
    groups = alike(classes.tolist())
    if groups:
        listed = "; ".join(list_names(group, quotes=True) for group in groups[:3])
        raise CommandError(
            f"{target} has labels that differ only in case or in spaces at their ends: {listed}.",
            f"--labels {FOLD} makes one class of those that differ in nothing else, and --labels {EXACT} keeps them "
            "apart.",
        )
    only_once = int((n == 1).sum())
    why = ""
    if len(classes) > FEW_CLASSES and 2 * only_once > len(classes):
        why = f", {only_once} of them in one row only"
    elif y.dtype.kind in "iu" and len(classes) > MANY_CLASSES:
        why = ", all of them numbers"
    if why:
        raise CommandError(
            f"{values}{why}, which do not look like classes.", f"{INSTEAD}. If they are classes, use --labels {EXACT}."
        )
