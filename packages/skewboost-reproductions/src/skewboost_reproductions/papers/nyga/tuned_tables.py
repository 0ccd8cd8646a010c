"""Tables of Nyga's thesis: the best and the validated parameter, stand-ins, and other sizes of trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from skewboost_reproductions.estimates import estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.problems import (
    LEAVES,
    PLAIN,
    PROBLEMS,
    PUBLIC,
    classifier,
    column,
    splits,
    trained_scores,
)
from skewboost_reproductions.papers.nyga.trials import Tried, cells, estimated, n_parameters, parameters, runs

CORNER = "data set and algorithm"
FULL = 400  # leaves: one for each training row of banana
SIZES = (LEAVES, 4, 8, 16, FULL)  # of trees, in leaves
STAND_IN_NOTE = (
    "Generated data of the same sizes and imbalances. The numbers say nothing about those of the thesis, which are "
    "not shown beside them."
)


def tables_of_tuned(
    number: str,
    title: str,
    tuned: Mapping[tuple[str, str], Tried],
    paper: Callable[[str, str], dict[str, Any] | None],
    reference: Mapping[tuple[str, str], Any],
    note: str,
) -> list[Table]:
    """Return precision, recall and F1 of the positive class on public data, and on stand-ins.

    Parameters
    ----------
    number, title : str
        The number of the table, and what it is about.
    tuned : mapping of (str, str) to Tried
        The results by data set and algorithm.
    paper : callable
        ``paper(data, algorithm)`` returns the printed row, or None.
    reference : mapping of (str, str) to array
        The measures of the plain variant, whose F1 is a column.
    note : str
        Which one the plain variant is.
    """
    public: dict[tuple[str, str], Cell] = {}
    others: dict[tuple[str, str], Cell] = {}
    for (data, algorithm), one in tuned.items():
        row = f"{PROBLEMS[data].label}: {algorithm}"
        plain = {(row, "F, plain"): Cell(estimated(reference[data, algorithm], data, "F+"))}
        if data not in PUBLIC:
            others |= cells(row, one.best, data) | plain
            continue
        best = cells(row, one.best, data, "+", paper(data, algorithm))
        public |= {(row, f"{m}, best"): cell for (_, m), cell in best.items()}
        if one.chosen is not None:
            public |= {(row, f"{m}, validated"): cell for (_, m), cell in cells(row, one.validated, data).items()}
        public |= plain
    how = (
        "*Best*: the parameter with the largest mean F1 on the test rows. *Validated*: the one that "
        "cross-validation on the training rows of each split chooses."
    )
    return [
        Table(f"table-{number}", f"Table {number}: {title}", CORNER, public, note=f"{how} {note}"),
        Table(
            f"stand-ins-{number}", f"Table {number} on generated stand-ins, best parameter", CORNER, others,
            note=f"{STAND_IN_NOTE} {chosen_parameters(tuned)}",
        ),
    ]  # fmt: skip


def chosen_parameters(tuned: Mapping[tuple[str, str], Tried]) -> str:
    """Return a sentence with the best parameters, and those that validation chose."""
    texts = []
    for (data, algorithm), one in tuned.items():
        text = f"{PROBLEMS[data].label}, {algorithm}: {one.parameters[one.best_parameter]:g}"
        if one.chosen is not None:
            low, high = (one.parameters[k] for k in np.percentile(one.chosen, (10, 90), method="nearest").astype(int))
            text += f" ({low:g} to {high:g})"
        texts.append(text)
    return f"Best parameters, and the range of four in five of the validated ones: {'; '.join(texts)}."


def scores_by_leaves(algorithm: str, run: int, leaves: int, n: int) -> list[list[float]]:
    """Return the measures on banana with trees of some size, with each of `n` parameters if there is one."""
    values = parameters("banana", algorithm, n) if algorithm not in PLAIN else (None,)
    (split,) = splits("banana", run)
    return [trained_scores(classifier("banana", algorithm, value, leaves=leaves), split) for value in values]


def tasks_by_leaves(algorithms: Iterable[str], quick: bool) -> list[Task]:
    """Return the tasks of `table_by_leaves`."""
    n = n_parameters(quick)
    return [Task(scores_by_leaves, a, run, k, n) for a in algorithms for k in SIZES for run in runs("banana", quick)]


def table_by_leaves(results: Results, paper: Mapping[str, Any], quick: bool) -> Table:
    """Return F1 of the positive class on banana by the size of the trees, with the best parameter for each.

    `paper` has the printed row of each algorithm.
    """
    n, found = n_parameters(quick), {}
    for algorithm, row in paper.items():
        for leaves in SIZES:
            each = [results.of(scores_by_leaves, algorithm, run, leaves, n) for run in runs("banana", quick)]
            of_runs = column(each, "F+")  # by run and parameter
            best = of_runs[:, of_runs.mean(axis=0).argmax()]
            found[algorithm, "fully grown" if leaves == FULL else f"{leaves} leaves"] = Cell(estimate(best), row["F"])
    return Table(
        "leaves",
        "Banana: F1 of the positive class by the size of the trees",
        "algorithm",
        found,
        note=f"The other tables have {LEAVES} leaves.",
    )
