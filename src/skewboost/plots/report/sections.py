"""What a report says, section by section; those with nothing to say are left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from skewboost.plots.report.blocks import Section, Table, Text, Warnings
from skewboost.plots.report.drawn_sections import calibration, certificate, curves, explanation, learning
from skewboost.plots.report.evidence import PROBABILITY, Evidence
from skewboost.plots.report.explorer import ScoreTable
from skewboost.plots.report.model_card import card
from skewboost.plots.report.svg_figures import Album
from skewboost.plots.report.table_sections import comparison, data
from skewboost.plots.report.words import NONE, class_names, count, digits, interval, label, one_in, percent

FEW = 50  # positives, below which rates are vague


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about."""

    model: Any
    X: Any
    evidence: Evidence
    table: ScoreTable
    comparison: Any = None
    learning_curve: Any = None
    training: Any = None
    album: Album = field(default_factory=Album)


def headline(e: Evidence) -> str:
    """The most important, in words."""
    c = e.counts
    found = f"On {count(c.total)} held-out rows the model finds {percent(c.recall, 2)} of the {count(c.positives)} "
    found += f"positives ({label(e.pos_label)})"
    if c.flagged == 0:
        return f"{found}: it flags nothing at {e.whose}."
    alarms = f"; {one_in(c.precision)} alarms {'is' if one_in(c.precision).startswith('1 of') else 'are'} right"
    cost, none, every = e.costs.positive * c.fn + e.costs.negative * c.fp, e.costs.positive, e.costs.negative
    without = min(none * c.positives, every * c.negatives)
    other = "flagging none" if none * c.positives <= every * c.negatives else "flagging all"
    saved = 1.0 - cost / without
    change = f"saves {percent(saved, 2)} of what {other} would cost"
    if saved < 0:
        change = f"costs {percent(-saved, 2)} more than {other}"
    return f"{found}{alarms}. Where a miss costs {price(e)}, it {change}."


def price(e: Evidence) -> str:
    """The ratio of costs, in words."""
    ratio = e.costs.ratio
    if ratio == 1:
        return "as much as a false alarm"
    return f"{digits(ratio, 3)} false alarms" if ratio > 1 else f"{digits(ratio, 3)} of a false alarm"


def explorer_words(e: Evidence, table: ScoreTable) -> dict[str, Any]:
    """What is written around the sliders."""
    start = {
        "as given": "The sliders start at the costs that were given",
        "as the model was told": "The sliders start at the costs that the model was told",
        "as balanced": (
            "No costs were given, so the sliders start where a miss costs as many false alarms as there are negatives "
            "for each positive"
        ),
    }[e.costs_from]
    at = f" and at {e.whose}" if e.threshold is not None else " and at the best threshold"
    if table.lossless:
        bins = f"All {count(table.n_bins)} distinct scores are in this file, so every number is exact"
    else:
        P, N = table.positives.max() / table.total[0], table.negatives.max() / table.total[1]
        bins = (
            f"Scores are in {count(table.n_bins)} bins. Numbers at each threshold that can be set are exact, and the "
            f"best threshold is the best of all; between two of them lie at most {percent(P, 2)} of the positives and "
            f"{percent(N, 2)} of the negatives"
        )
    own = "" if e.threshold is not None else " The model's own decisions are no threshold on this score."
    positive, negative = class_names(e.pos_label, e.neg_label)
    return {
        "positive_name": positive,
        "negative_name": negative,
        "score_kind": e.kind,
        "n_bins": table.n_bins,
        "has_own": table.own is not None,
        "whose": e.whose,
        "explorer_intro": f"Say what mistakes cost where you are; everything below follows at once. {start}{at}.",
        "explorer_note": (
            f"{bins}. The best threshold is chosen on these same rows, so what it promises is a little too good, the "
            f"more so the fewer positives there are.{own}"
        ),
    }


def all_sections(subject: Subject) -> list[Section]:
    """Those that have something to say."""
    makers: list[Callable[[Subject], Section | None]] = [
        performance, certificate, explore, data, comparison, learning, curves, calibration, explanation, caveats, card,
    ]  # fmt: skip
    return [section for make in makers if (section := make(subject)) is not None]


def explore(_: Subject) -> Section:
    """The explorer, which has a place of its own in the template."""
    return Section("explore", "What do mistakes cost you?")


def performance(subject: Subject) -> Section:
    """Rates as rows are flagged, with intervals."""
    e = subject.evidence
    c = e.counts
    whole = e.weights is None or bool((e.weights == e.weights.round()).all())
    rows = []
    for name, part, all_of, meaning in (
        ("Recall", c.tp, c.positives, "of the positives are found"),
        ("Precision", c.tp, c.flagged, "of the flagged are positive"),
        ("False-alarm rate", c.fp, c.negatives, "of the negatives are flagged"),
        ("Flagged", c.flagged, c.total, "of all rows are flagged"),
    ):
        rate = part / all_of if all_of else float("nan")
        low, high = interval(part, all_of) if whole and all_of else (float("nan"),) * 2
        between = f"{percent(low)} to {percent(high)}" if low == low else NONE
        rows.append((name, percent(rate), between, f"{count(part)} of {count(all_of)}", meaning))
    head = ("", "here", "95 % interval", "rows", "")
    at = "by its own rule" if e.threshold is None else f"from a {e.kind} of {digits(e.threshold, 4)} on"
    how = "Here rows are flagged" if e.given else "As it is, the model flags rows"
    text = f"{how} {at}. Intervals are Clopper and Pearson's: where the rate may be on new rows."
    return Section("performance", "What it finds", [Text(text), Table(rows, head, (False, True, True, True, False))])


def caveats(subject: Subject) -> Section | None:
    """What to mind before these numbers are believed."""
    e = subject.evidence
    c = e.counts
    found = []
    if c.positives < FEW:
        low, high = interval(c.tp, c.positives)
        found.append(
            f"There are only {count(c.positives)} positives among the held-out rows. Recall may be anywhere from "
            f"{percent(low, 2)} to {percent(high, 2)}; differences between models are mostly chance."
        )
    if e.kind != PROBABILITY:
        found.append("The model's decisions are not a threshold on probabilities: scores have no unit here.")
    if e.threshold is None:
        found.append("The model's decisions are no threshold on its score, so its point lies beside the curves.")
    if e.costs_from == "as balanced":
        found.append("Nobody said what mistakes cost. Every cost in this report follows from a balance of the classes.")
    if subject.training is not None:
        found.extend(_shifted(subject))
    found.append(
        "All numbers hold for rows like these. Where classes look different, or labels were found in another way, "
        "measure again."
    )
    return Section("caveats", "What to mind", [Warnings(found)])


def _shifted(subject: Subject) -> list[str]:
    """Whether positives are as frequent among held-out rows as in training, as far as chance can explain."""
    import numpy as np

    labels = np.asarray(subject.training[1])
    share = float(np.mean(labels == subject.evidence.pos_label))
    c = subject.evidence.counts
    low, high = interval(c.positives, c.total, 0.999)
    if low <= share <= high:
        return []
    return [
        f"{percent(share)} of the rows of training are positive, but {percent(c.positives / c.total)} of the held-out "
        "ones: more than chance explains."
    ]
