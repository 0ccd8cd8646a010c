"""One fit of a comparison: tuned within its training rows, fitted to them, measured on its test rows."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold

from skewboost.boosting.estimator import BaseBooster
from skewboost.errors import InputError
from skewboost.evaluate.methods import Method, told
from skewboost.evaluate.problem import Problem
from skewboost.evaluate.results_file import Row, settled
from skewboost.evaluate.running import Rows, fitted, measured
from skewboost.evaluate.splitting import Split
from skewboost.evaluate.stages import told_pos_label
from skewboost.meta.cost_passing import plain
from skewboost.metrics.measures import MEASURES
from skewboost.typing import Array


@dataclass(frozen=True)
class DataSet:
    """Rows with labels and weights, what is to be told apart, and the folds."""

    name: str
    rows: Rows
    problem: Problem
    cost: Any  # as estimators are told it; None: they are not
    splits: tuple[Split, ...]
    n_folds: int  # of a repeat
    seed: int

    def place(self, k: int) -> tuple[int, int]:
        """Which repeat and which fold the k-th split is."""
        return divmod(k, self.n_folds)


def seed_of(seed: int, *parts: str | int) -> int:
    """A seed that depends on these, and on nothing else."""
    words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts]
    return int(np.random.SeedSequence([seed, *words]).generate_state(1)[0] >> 1)


def run_fit(data: DataSet, method: Method, k: int, raising: bool) -> Row:
    """The k-th split of a data set for one method, as a row of the results; one that says so if it fails."""
    repeat, fold = data.place(k)
    train, test = data.splits[k]
    row: Row = {
        "data_set": data.name, "method": method.name, "repeat": repeat, "fold": fold, "n_train": len(train),
        "n_test": len(test), "params": {}, "measures": {}, "tune_seconds": None, "fit_seconds": None,
        "predict_seconds": None, "failed": None, "made_by": method.fingerprint,
    }  # fmt: skip
    try:
        row.update(_fitted_and_measured(data, method, data.rows.part(train), data.rows.part(test), (repeat, fold)))
    except Exception as error:
        if raising:
            raise
        row["failed"] = f"{type(error).__name__}: {error}"
    return settled(row)


def _fitted_and_measured(data: DataSet, method: Method, train: Rows, test: Rows, place: tuple[int, int]) -> Row:
    seed = seed_of(data.seed, data.name, *place)
    started = time.perf_counter()
    params = tuned(data, method, train, seed) if method.grid is not None else {}
    fitting = time.perf_counter()
    model = fit(method, data, params, train, seed)
    predicting = time.perf_counter()
    said = model.predict(test.X)
    done = time.perf_counter()
    return {
        "params": {name: plain(value) for name, value in params.items()},
        "measures": measured(data.problem, model, test, said),
        "tune_seconds": fitting - started if method.grid is not None else 0.0,
        "fit_seconds": predicting - fitting,
        "predict_seconds": done - predicting,
    }


def fit(method: Method, data: DataSet, params: dict[str, Any], rows: Rows, seed: int) -> Any:
    """A copy of the estimator, told the costs and the positive class, with seeds wherever it has none, and fitted."""
    with config_context(enable_metadata_routing=False):  # weights are passed by name, nobody need ask for them
        return fitted(told_pos_label(told(method.estimator, data.cost, params), data.problem), rows, seed)


def tuned(data: DataSet, method: Method, train: Rows, seed: int) -> dict[str, Any]:
    """The parameters of the grid that are best on inner folds of the training rows, the first of equals."""
    candidates = method.candidates
    if len(candidates) == 1:
        return candidates[0]
    fewest = int(np.unique(train.y, return_counts=True)[1].min())
    if fewest < 2:
        raise InputError("A class has one training row, but to tune within the training rows takes two at least.")
    inner = StratifiedKFold(min(method.inner_cv, fewest), shuffle=True, random_state=seed_of(seed, 1))
    totals, failure = np.zeros(len(candidates)), None
    for fold, (inside, outside) in enumerate(inner.split(train.y, train.y)):
        here, there = train.part(inside), train.part(outside)
        for wanted, rounds_name in _shared_fits(data, method, candidates):
            try:
                totals[wanted] += _scores(data, method, [candidates[i] for i in wanted], rounds_name, here, there,
                                          seed_of(seed, 2, fold))  # fmt: skip
            except Exception as error:
                totals[wanted], failure = -np.inf, error
    totals = np.where(np.isnan(totals), -np.inf, totals)
    if np.isneginf(totals).all() and failure is not None:
        raise failure
    return candidates[int(totals.argmax())]


def _scores(
    data: DataSet,
    method: Method,
    candidates: list[dict[str, Any]],
    rounds: str | None,
    here: Rows,
    there: Rows,
    seed: int,
) -> Array:
    """What one fit says of candidates that differ in the number of rounds only; larger is better."""
    most = candidates[0] if rounds is None else max(candidates, key=lambda c: c[rounds])
    model = fit(method, data, most, here, seed)
    stages = [model if rounds is None or c is most else model.truncated(c[rounds]) for c in candidates]
    return np.array([_score(data.problem, method.tune_for, stage, there) for stage in stages])


def _score(problem: Problem, tune_for: Any, model: Any, rows: Rows) -> float:
    if callable(tune_for):
        return float(tune_for(model, rows.X, rows.y))
    found = measured(problem, model, rows)
    if tune_for not in found:
        raise InputError(f"tune_for={tune_for!r} cannot be had of {type(model).__name__}: it gives {', '.join(found)}.")
    return MEASURES[tune_for].sign * found[tune_for]


def _shared_fits(data: DataSet, method: Method, candidates: list[dict[str, Any]]) -> list[tuple[list[int], str | None]]:
    """Candidates by the fit that serves them: a booster's first rounds are those of one with fewer."""
    estimator = method.estimator
    name = getattr(estimator, "_rounds", None)
    if not isinstance(estimator, BaseBooster) or name is None or not all(name in c for c in candidates):
        return [([i], None) for i in range(len(candidates))]
    fits: dict[str, list[int]] = {}
    alone: list[tuple[list[int], str | None]] = []
    for i, candidate in enumerate(candidates):
        if not _rounds_are_first_rounds(told(estimator, data.cost, candidate)):
            alone.append(([i], None))
            continue
        rest = repr(sorted((k, repr(v)) for k, v in candidate.items() if k != name))
        fits.setdefault(rest, []).append(i)
    return [*alone, *((group, name) for group in fits.values())]


def _rounds_are_first_rounds(booster: Any) -> bool:
    """Whether more rounds are the same rounds and more: not where costs are spread over them, or rows are held out."""
    params = booster.get_params(deep=False)
    if params.get("early_stopping") or params.get("calibrate") is not None:
        return False
    try:
        return not booster._rule().whole_schedule
    except ValueError:  # the fit will say what is wrong
        return False
