"""The search for a goal: the model it has found, its threshold, and what held-out rows show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from skewboost.goals.certificate import Certificate
from skewboost.goals.decision import Decision
from skewboost.goals.goal_measures import GOAL_MEASURES
from skewboost.goals.search import Point
from skewboost.io.saved_fields import ANY_MODEL, LABELS, TABLE, Fitted, check_binary, check_member, check_table
from skewboost.io.saved_labels import Column
from skewboost.io.saved_params import GoalField
from skewboost.io.schema import Field, Flag, Floats, Integer, ListOf, MapOf, Maybe, Number, Record, Text, require
from skewboost.metrics.counts import Counts

_COUNT = Number(0.0, whole=True)
COUNTS = Record(Counts, {"tp": _COUNT, "fp": _COUNT, "fn": _COUNT, "tn": _COUNT})
CERTIFICATE = Record(
    Certificate,
    {
        "goal": GoalField(),
        "confidence": Number(0.0, 1.0),
        "met": Flag(),
        "counts": COUNTS,
        "evidence": COUNTS,
        "p_value": Number(0.0, finite=False),
        "shown": MapOf(Number(finite=False)),
    },
)
POINT = Record(
    Point,
    {
        "ratio": Number(finite=False),
        "scale": Text(),
        "costs": Maybe(ListOf(Number(0.0, above=True), tuple)),
        "n_rounds": Maybe(Integer(1)),
        "threshold": Number(finite=False),
        "counts": COUNTS,
        "rank": ListOf(Number(finite=False, whole=True), tuple),
    },
)


class GoalSearch(Fitted):
    """A model with a threshold that reaches a goal, and what the search for it has found."""

    fields: ClassVar[Mapping[str, Field]] = {
        **TABLE,
        **LABELS,
        "goal": GoalField(),
        "then": Text(tuple(GOAL_MEASURES)),
        "cost_matrix": Maybe(Floats(2)),
        "threshold": Number(finite=False),
        "point": POINT,
        "certificate": Maybe(CERTIFICATE),
        "search": MapOf(Column()),
        "frontier": MapOf(Column()),
        "model": ANY_MODEL,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        "goal": "goal_",
        "then": "then_",
        "cost_matrix": "cost_matrix_",
        "threshold": "threshold_",
        "certificate": "certificate_",
        "search": "search_",
        "frontier": "frontier_",
        "model": "estimator_",
    }

    def value(self, model: Any, name: str) -> Any:
        """The point is that of the decision; the thresholds and counts of its curve are in the frontier."""
        return model._decision.point if name == "point" else super().value(model, name)

    def put(self, model: Any, name: str, value: Any) -> None:
        """The point until the decision is made of it."""
        super().put(model, "_point" if name == "point" else name, value)

    def check(self, model: Any) -> None:
        """The model knows the classes, and the decision is made of it."""
        check_table(model, kinds=False)
        check_binary(model)
        point = model.__dict__.pop("_point")
        for name in ("certificate_", "cost_matrix_"):
            model.__dict__.setdefault(name, None)
        inner = model.estimator_
        check_member(inner, model, "model", model.classes_)
        require(model.cost_matrix_ is None or model.cost_matrix_.shape == (2, 2), "must be 2 by 2", "cost_matrix")
        require(point.costs is None or len(point.costs) == 2, "must be two", "point.costs")
        require(not math.isnan(model.threshold_), "must be a number", "threshold")
        require(point.rank, "must not be empty", "point.rank")
        for name in ("search", "frontier"):
            same = len({len(column) for column in getattr(model, f"{name}_").values()}) <= 1
            require(same, "must have columns of one length", name)
        staged = point.n_rounds is None or hasattr(inner, "truncated")
        require(staged, "must be null for such a model", "point.n_rounds")
        model._decision = Decision(inner, model.threshold_, point, model.pos_label_)
        model.counts_, model.n_rounds_ = point.counts, point.n_rounds
        labels = [v.item() if hasattr(v, "item") else v for v in (model.pos_label_, model._other)]
        model.cost_ = None if point.costs is None else dict(zip(labels, point.costs))
