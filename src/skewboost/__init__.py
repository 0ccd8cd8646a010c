"""Boosting for lopsided data: one class is rare, or one kind of mistake costs more than the other."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skewboost.boosting.adaboost import AdaBoostClassifier
    from skewboost.boosting.gentleboost import GentleBoostClassifier
    from skewboost.boosting.logitboost import LogitBoostClassifier
    from skewboost.boosting.realboost import RealBoostClassifier

__version__ = "0.1.0"

__all__ = ["AdaBoostClassifier", "GentleBoostClassifier", "LogitBoostClassifier", "RealBoostClassifier"]

_HOME = {
    "AdaBoostClassifier": "skewboost.boosting.adaboost",
    "GentleBoostClassifier": "skewboost.boosting.gentleboost",
    "LogitBoostClassifier": "skewboost.boosting.logitboost",
    "RealBoostClassifier": "skewboost.boosting.realboost",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
