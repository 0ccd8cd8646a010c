"""The stages of a cascade: a booster with a threshold each, grown until it meets the goals of a stage.

References
----------
.. [viola2004] P. Viola, M. J. Jones, "Robust real-time face detection", International Journal of Computer Vision 57
   (2004) 137-154, table 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skewboost.boosting.cost_use import unquestioned_costs
from skewboost.boosting.used_columns import on_columns, used_columns
from skewboost.datasets.chunks import count_rows
from skewboost.engine.computed import ComputedTable
from skewboost.engine.table import Table, take_cells
from skewboost.goals.goal import Condition, Goal
from skewboost.goals.goal_measures import goal_measure
from skewboost.goals.rows import SearchRows
from skewboost.goals.search import Aim, OutOfFoldScores
from skewboost.meta.cost_passing import staged_scores_of
from skewboost.metrics.counts import Counts, check_scores
from skewboost.metrics.ranking import scores_of
from skewboost.metrics.targets import known_labels
from skewboost.typing import Array

RECALL, FALSE_ALARMS = "recall", "false_alarm_rate"


@dataclass(frozen=True)
class StageGoal:
    """What a stage has to reach on the validation rows that reach it."""

    detection_rate: float
    false_alarm_rate: float

    @property
    def aim(self) -> Aim:
        """The fewest false alarms at the detection rate; it is what the threshold of a stage is chosen by."""
        return Aim(Goal((Condition(RECALL, ">=", self.detection_rate),)), goal_measure(FALSE_ALARMS, "goal"))

    def of_stages(self, n: int, overall: float | None = None) -> Goal:
        """Return what so many stages have to reach together; `overall` replaces their false-alarm rate."""
        most = self.false_alarm_rate**n if overall is None else overall
        return Goal((Condition(RECALL, ">=", self.detection_rate**n), Condition(FALSE_ALARMS, "<=", most)))


@dataclass(frozen=True)
class Stage:
    """A stage of a cascade.

    Attributes
    ----------
    model : classifier
        The fitted booster, for tables of the columns that it tests.
    columns : ndarray
        These columns.
    threshold : float
        Rows with at least this score pass.
    n_positives, n_negatives : int
        The numbers of training rows.
    counts : Counts
        The validation rows that reached the stage, by whether they passed it: `recall` and `false_alarm_rate` are its
        own.
    met : bool
        Whether its goals were met.
    """

    model: Any
    columns: Array
    threshold: float
    n_positives: int
    n_negatives: int
    counts: Counts
    met: bool

    @property
    def n_rounds(self) -> int:
        """The number of rounds in use."""
        return int(self.model.n_estimators_)

    def scores(self, X: Any, rows: Array | None, pos_label: Any) -> Array:
        """Return the scores of some rows of a table (None: all), larger where the positive class is more likely."""
        if (
            rows is None and isinstance(X, np.ndarray) and not any(self.model._nominal)
        ):  # columns are read where they are
            table = Table(len(X), len(self.columns), columns=tuple(X[:, j] for j in self.columns))
        else:
            cells = take_cells(X, rows, self.columns)
            if not isinstance(cells, np.ndarray) or any(self.model._nominal):
                return scores_of(self.model, cells, pos_label)
            table = Table(len(cells), len(self.columns), matrix=cells)  # of numbers that were checked before
        scores: Array = self.model._decisions_of(table)
        return scores if self.model.classes_[1] == pos_label else np.negative(scores)


@dataclass(frozen=True)
class Reached:
    """Which stage rows come to, and what they score there."""

    n_stages: Array  # the number of stages that looked at each row
    passed: Array  # whether it passed the last of these
    margins: Array  # its score there less the threshold

    @classmethod
    def joined(cls, parts: Iterable[Reached]) -> Reached:
        """Return the rows of all parts, one after the other."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts))))


@dataclass(frozen=True)
class Cascade:
    """Stages that a row passes one after the other, until one rejects it."""

    stages: tuple[Stage, ...]
    pos_label: Any

    def reached(self, X: Any) -> Reached:
        """Show rows to the stages: each stage sees those that passed all stages before it."""
        n_rows = count_rows(X)
        if not isinstance(X, ComputedTable) or n_rows <= X.part:
            return self._reached(X, n_rows)
        # what the columns are computed from is kept for a part of the rows, and shared by the stages
        parts = np.array_split(np.arange(n_rows), -(-n_rows // X.part))
        return Reached.joined(self._reached(X.take(rows), len(rows)) for rows in parts)

    def _reached(self, X: Any, n_rows: int) -> Reached:
        n_stages, margins = np.zeros(n_rows, dtype=np.intp), np.zeros(n_rows)
        passed, left = np.ones(n_rows, dtype=np.bool_), np.arange(n_rows)
        for stage in self.stages:
            if not len(left):
                break
            scores = check_scores(stage.scores(X, None if len(left) == n_rows else left, self.pos_label))
            n_stages[left] += 1
            margins[left] = scores - stage.threshold
            passed[left] = scores >= stage.threshold
            left = left[scores >= stage.threshold]
        return Reached(n_stages, passed, margins)

    def passing(self, rows: SearchRows) -> SearchRows:
        """Return the rows that pass all stages."""
        return rows.take(np.flatnonzero(self.reached(rows.X).passed))


def grown_stage(booster: Any, training: SearchRows, validation: SearchRows, pos_label: Any, goal: StageGoal) -> Stage:
    """Train rounds until a threshold meets the goals on the validation rows, or the limit of the booster is reached.

    In the latter case the number of rounds with the fewest false alarms is used.
    """
    positive, weights = validation.y == pos_label, validation.weights
    both, best = goal.of_stages(1), None
    for n_rounds, scores in _rounds(booster, training, validation, pos_label):
        _, counts = _operating_point(goal, OutOfFoldScores(positive, scores, weights, 0.0))
        if best is None or counts.false_alarm_rate < best[1]:
            best = n_rounds, counts.false_alarm_rate
        if both.met(counts):
            break
    assert best is not None
    booster.set_params(warm_start=False)
    model = booster.truncated(best[0])
    columns = used_columns(model)
    model = on_columns(model, columns)
    n_positives = int((training.y == pos_label).sum())
    stage = Stage(model, columns, -np.inf, n_positives, len(training.y) - n_positives, Counts(0, 0, 0, 0), False)
    scores = stage.scores(validation.X, None, pos_label)
    threshold, counts = _operating_point(goal, OutOfFoldScores(positive, scores, weights, 0.0))
    return replace(stage, threshold=threshold, counts=counts, met=bool(both.met(counts)))


def _operating_point(goal: StageGoal, scores: OutOfFoldScores) -> tuple[float, Counts]:
    """Return the threshold with the fewest false alarms at the detection rate, and its counts."""
    aim = goal.aim
    thresholds, counts = scores.curve(aim.n_thresholds)
    k = aim.best(counts)
    return float(thresholds[k]), counts[k].map(float)


def _rounds(booster: Any, training: SearchRows, validation: SearchRows, pos_label: Any) -> Iterator[tuple[int, Array]]:
    """Yield the scores of the validation rows after each round; rounds are trained when they are needed, by doubling.

    A booster without rounds has one stage, its initial score.
    """
    name, most, done = type(booster)._rounds, booster._n_rounds, 0
    training, validation = training.prepared(booster), validation.prepared(booster)
    while done < most:
        n = min(max(1, 2 * done), most)
        booster.set_params(warm_start=True, **{name: n})
        with unquestioned_costs(), known_labels():
            booster.fit(training.X, training.y, **training.params)
        stages = enumerate(staged_scores_of(booster, validation.X, pos_label), start=1)
        yield from ((k, scores) for k, scores in stages if k > done)
        if booster.n_estimators_ < n:  # more rounds would change nothing
            return
        done = n
