"""Sections that are mostly drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skewboost.report.blocks import Figures, Pre, Section, Text

if TYPE_CHECKING:
    from skewboost.report.sections import Subject


def learning(subject: Subject) -> Section | None:
    """How it got better with the rounds."""
    return None


def curves(subject: Subject) -> Section | None:
    """ROC and precision-recall curve."""
    return None


def calibration(subject: Subject) -> Section | None:
    """Whether probabilities are what they say."""
    return None


def explained(model: Any) -> Any:
    """The model that decides: of a search for a goal the one it chose."""
    return getattr(model, "estimator_", model) if hasattr(model, "certificate_") else model


def explanation(subject: Subject) -> Section | None:
    """What the features do, or the tree."""
    model = explained(subject.model)
    title = "Why it decides as it does"
    if hasattr(model, "export_text") and hasattr(model, "tree"):
        text = "A row follows every branch whose test it passes; the sum of the numbers on its way is its score."
        drawing = subject.album.draw(model.plot_tree, large=True)
        return Section("why", title, [Text(text), Figures([drawing], wide=True), Pre(model.export_text())])
    return Section("why", title, [Text(f"{type(model).__name__} offers no explanation that could be shown here.")])


def certificate(subject: Subject) -> Section | None:
    """What was promised, and what could be had."""
    model = subject.model
    if not hasattr(model, "frontier_") or not hasattr(model, "goal_"):
        return None
    shown = model.certificate_
    text = "The goal was reached in cross-validation only; nothing was certified." if shown is None else f"{shown}."
    drawing = subject.album.draw(model.plot_frontier)
    return Section("goal", f"The goal: {model.goal_}", [Text(text), Figures([drawing])])
