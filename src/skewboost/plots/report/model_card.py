"""What the model is: for those who have to make it again."""

from __future__ import annotations

import inspect
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from skewboost import __version__
from skewboost.names import shortened, side_by_side
from skewboost.plots.report.blocks import Section, Table, Text
from skewboost.plots.report.words import digits, label

if TYPE_CHECKING:
    from skewboost.plots.report.sections import Subject

LONGEST = 300  # letters of a parameter
MOST_NAMES = 100
LONGEST_NAME = 60


def card(subject: Subject) -> Section:
    """Class, parameters, features, costs and versions."""
    model, e = subject.model, subject.evidence
    kind = type(model)
    rows = [
        ("Class", f"{kind.__module__.split('.')[0]}.{kind.__name__}"),
        ("Classes", f"{label(e.pos_label)} (positive), {label(e.neg_label)}"),
        (
            "Costs",
            f"a miss {digits(e.costs.positive, 4)}, a false alarm {digits(e.costs.negative, 4)} ({e.costs_from})",
        ),
    ]
    if e.threshold is not None:
        rows.append(("Threshold", f"flagged from a {e.kind} of {e.threshold:.6g} on"))
    rounds = getattr(model, "n_rounds_", None) or getattr(model, "n_estimators_", None)
    if isinstance(rounds, int):
        rows.append(("Rounds", str(rounds)))
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if names:
        rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        rows.append((f"Features ({len(names)})", ", ".join(side_by_side(names, LONGEST_NAME)[:MOST_NAMES]) + rest))
    elif hasattr(model, "n_features_in_"):
        rows.append(("Features", str(model.n_features_in_)))
    rows.append(("Versions", ", ".join(_versions())))
    changed, default = _parameters(model)
    blocks: list[Any] = [Table(rows, numeric=(False, False))]
    if changed:
        blocks.append(Table(changed, numeric=(False, False), title="Parameters that were set"))
    if default:
        said = ", ".join(f"{name}={text}" for name, text in default)
        blocks.append(Text(f"Parameters at their defaults: {said}.", soft=True))
    return Section("card", "The model", blocks)


def _parameters(model: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Those that somebody has set, and the others."""
    changed: list[tuple[str, str]] = []
    default: list[tuple[str, str]] = []
    known = inspect.signature(type(model)).parameters
    for name, value in sorted(model.get_params(deep=False).items()):
        said = (name, shortened(" ".join(repr(value).split()), LONGEST))
        as_is = name in known and repr(known[name].default) == repr(value)
        (default if as_is else changed).append(said)
    return changed, default


def _versions() -> list[str]:
    found = [f"skewboost {__version__}"]
    for name in ("scikit-learn", "numpy"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
