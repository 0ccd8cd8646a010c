"""A fitted booster on the columns that its terms test, for models that are to read nothing else."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.boosting.model import Round
from skewboost.boosting.whole_columns import on_whole_columns
from skewboost.engine.binning import Bins
from skewboost.engine.explaining import Spread, Support
from skewboost.engine.scoring import LeafTerm, LineTerm, Term
from skewboost.learners.learner import Importances
from skewboost.typing import Array


def used_columns(booster: Any) -> Array:
    """Return the columns that a fitted booster tests; all of them if estimators of other libraries read them.

    There is at least one, since a table without columns cannot be read.
    """
    found: set[int] = set()
    for term in on_whole_columns(booster._model).terms:
        if isinstance(term, LineTerm):
            found.add(term.feature)
        elif isinstance(term, LeafTerm):
            found.update(split.feature for split in term.partition.splits)
        else:
            return np.arange(booster.n_features_in_)
    return np.array(sorted(found) or [0])


def on_columns(booster: Any, columns: Array) -> Any:
    """Return a copy of a fitted booster for tables of these columns only; `used_columns` are among them."""
    if len(columns) == booster.n_features_in_:
        return booster
    made, place = copy(booster), {int(j): k for k, j in enumerate(columns)}
    model = on_whole_columns(booster._model)
    rounds = [_moved(r, place) for r in model.rounds[: model.n_rounds]]
    bins = None if model.bins is None else Bins(tuple(model.bins.features[j] for j in columns))
    made._model = replace(model, rounds=rounds, bins=bins, support=_support(model.support, columns))
    made._model.finish(len(columns))
    made._nominal = [booster._nominal[j] for j in columns]
    made._empty_columns = frozenset(place[j] for j in booster._empty_columns if j in place)
    made.n_features_in_ = len(columns)
    if hasattr(booster, "feature_names_in_"):
        made.feature_names_in_ = booster.feature_names_in_[columns]
    return made


def _support(support: Support | None, columns: Array) -> Support | None:
    if support is None:
        return None
    per_code = None if support.per_code is None else support.per_code[columns]
    spread = support.spread and Spread(*(values[columns] for values in vars(support.spread).values()))
    return replace(support, per_code=per_code, spread=spread)


def _moved(r: Round, place: dict[int, int]) -> Round:
    importances = r.importances
    if isinstance(importances, Importances):
        pairs = [(place[j], decrease) for j, decrease in importances.pairs if j in place]
        importances = Importances(len(place), pairs)
    elif importances is not None and len(importances) > max(place):
        importances = np.asarray(importances)[list(place)]
    return replace(r, term=_moved_term(r.term, place), importances=importances)


def _moved_term(term: Term, place: dict[int, int]) -> Term:
    if isinstance(term, LineTerm):
        return replace(term, feature=place[term.feature])
    assert isinstance(term, LeafTerm)
    splits = tuple(replace(split, feature=place[split.feature]) for split in term.partition.splits)
    return replace(term, partition=replace(term.partition, splits=splits))
