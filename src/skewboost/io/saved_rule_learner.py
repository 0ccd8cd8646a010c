"""The rule learner: values of attributes, events, and the patterns that vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from skewboost.io.saved_fields import KINDS, TABLE, Fitted, check_table
from skewboost.io.saved_labels import IntegerRows, Labels
from skewboost.io.schema import Field, Flag, Floats, Integers, ListOf, Number, OneOf, Record, Text, require
from skewboost.learners.discretise import Categories, Intervals
from skewboost.learners.patterns import Events, Patterns
from skewboost.learners.rule_learner import RankedRules


def _check_intervals(values: Intervals) -> None:
    require((np.diff(values.cuts) > 0).all(), "must rise", "cuts")


VALUES = OneOf(
    {
        "number": Record(Intervals, {"cuts": Floats(), "missing": Flag()}, check=_check_intervals),
        "category": Record(Categories, {"categories": ListOf(Text(), tuple, distinct=True), "missing": Flag()}),
    },
    "values",
)
EVENTS = Record(Events, {"attribute": Integers(), "value": Integers(), "probability": Floats(low=0.0)})
PATTERNS = Record(
    Patterns,
    {
        "events": IntegerRows(0, 2**31),
        "support": Floats(low=0.0),
        "inside": Floats(2),
        "residual": Floats(2),
        "residual_rest": Floats(2),
        "strength": Floats(2),
    },
)
RANKED = Record(RankedRules, {"log_odds": Number(), "patterns": ListOf(PATTERNS), "evidence": ListOf(Floats())})


class Rules(Fitted):
    """Rules by weight of evidence."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        **KINDS,
        "classes": Labels(),
        "prior": Flag(),
        "values": ListOf(VALUES),
        "events": EVENTS,
        "ranked": ListOf(RANKED),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        "prior": "_prior",
        "values": "_values",
        "events": "_events",
        "ranked": "_ranked",
    }

    def check(self, model: Any) -> None:
        """Events are values of attributes, patterns are of events, and there is a list of them per target."""
        check_table(model)
        n, values, events = model.n_features_in_, model._values, model._events
        require(len(model.classes_) > 1, "must be two at least", "classes")
        require(len(values) == n, "must have an entry per feature", "values")
        kinds = [isinstance(v, Categories) for v in values]
        require(kinds == list(model._nominal), "must be of the kinds in nominal", "values")
        fits = len(events.attribute) == len(events.value) == len(events.probability)
        require(fits and (events.attribute < n).all(), "must be values of attributes", "events")
        sizes = [len(v.categories) + 1 if isinstance(v, Categories) else len(v.cuts) + 2 for v in values]
        within = all(v < sizes[a] for a, v in zip(events.attribute.tolist(), events.value.tolist()))
        require(within, "must be values of attributes", "events.value")
        n_targets = 1 if len(model.classes_) == 2 else len(model.classes_)
        require(len(model._ranked) == n_targets, f"must have {n_targets} entries", "ranked")
        for k, ranked in enumerate(model._ranked):
            _check_ranked(ranked, len(events), n_targets, f"ranked[{k}]")


def _check_ranked(ranked: RankedRules, n_events: int, n_targets: int, at: str) -> None:
    require(len(ranked.patterns) == len(ranked.evidence), "must have an entry for each of patterns", f"{at}.evidence")
    for patterns, evidence in zip(ranked.patterns, ranked.evidence):
        n, order = patterns.events.shape
        require(order > 0 and (patterns.events < n_events).all(), "must be of events", f"{at}.patterns")
        of_targets = (patterns.inside, patterns.residual, patterns.residual_rest, patterns.strength)
        fits = len(evidence) == len(patterns.support) == n and all(a.shape == (n_targets, n) for a in of_targets)
        require(fits, "must have an entry per pattern, and rows per target", f"{at}.patterns")
