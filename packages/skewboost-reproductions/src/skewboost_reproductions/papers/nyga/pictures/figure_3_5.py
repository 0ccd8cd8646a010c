"""Figure 3.5: oscillations of AdaC1 on the banana and the cancer data."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.plots.style import look
from skewboost_reproductions.estimates import Estimate, difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.pictures.panels import (
    POSITIVE_CLASS,
    as_curve,
    draw_measures,
    entitle,
    legend_of_lines,
    panels,
)
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, classifier, column, splits, staged_scores
from skewboost_reproductions.verdicts import Claim, claim_of_order

DATA = ("banana", "cancer")
ROUNDS, LATE = 200, 50  # the last rounds, in which predictions should have converged
ZOOMED = 40  # rounds in which single oscillations can be seen
COST = 3.0
COSTS = (1.5, 2.0, COST, 5.0, 10.0)


def rounds_of_adac1(data: str, cost: float | None, run: int) -> list[Any]:
    """Return the measures of AdaC1, or without a cost of AdaBoost, by fold and round."""
    name = "AdaBoost" if cost is None else "AdaC1"
    found = []
    for split in splits(data, run):
        model = classifier(data, name, cost, rounds=ROUNDS).fit(split.X, split.y)
        found.append(np.round(staged_scores(model, split), 4).tolist())
    return found


def runs(data: str, quick: bool) -> range:
    """Return the runs."""
    return range(2 if quick else PROBLEMS[data].runs)


def tasks(quick: bool) -> list[Task]:
    """Return a task per data set, cost and run."""
    return [
        Task(rounds_of_adac1, data, cost, run) for data in DATA for cost in (None, *COSTS) for run in runs(data, quick)
    ]


def paths(results: Results, quick: bool, data: str, cost: float | None) -> Any:
    """Return the measures by fold and round."""
    found = [results.of(rounds_of_adac1, data, cost, run) for run in runs(data, quick)]
    return np.concatenate(found).astype(np.float64)


def changes(values: Any) -> Any:
    """Return the absolute changes from round to round; where there is no precision, there is no change of it."""
    return np.nan_to_num(np.abs(np.diff(values, axis=-1)))


def late_changes(results: Results, quick: bool, data: str, cost: float | None, measure: str) -> Any:
    """Return the mean change of a measure in the last rounds, by fold."""
    return changes(column(paths(results, quick, data, cost), measure))[:, -LATE:].mean(axis=1)


def reciprocity(paths_of_data: Any, overlap: float) -> Estimate:
    """Return minus the correlation of precision and recall over the last rounds, of folds where it is defined."""
    found = []
    for path in paths_of_data[:, -LATE:]:
        precision, recall = column(path, "P+"), column(path, "R+")
        known = np.isfinite(precision)
        if known.sum() > 2 and np.ptp(precision[known]) > 1e-9 and np.ptp(recall[known]) > 1e-9:
            found.append(-float(np.corrcoef(precision[known], recall[known])[0, 1]))
    return estimate(found, overlap)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    late = f"(change of recall per round in the last {LATE} of {ROUNDS}, less AdaBoost's)"
    found = []
    for data in DATA:
        name, overlap = PROBLEMS[data].label, PROBLEMS[data].test_to_train
        own, plain = (late_changes(results, quick, data, cost, "R+") for cost in (COST, None))
        opposite = reciprocity(paths(results, quick, data, COST), overlap)
        found += [
            claim_of_order(f"{name}: AdaC1 does not converge {late}", difference(own, plain, overlap)),
            claim_of_order(f"{name}: precision and recall oscillate reciprocally (minus their correlation)", opposite),
        ]
    return found


def tables(results: Results, quick: bool) -> list[Table]:
    """Return the changes by cost."""
    cells = {}
    for cost in (None, *COSTS):
        for data in DATA:
            for word, measure in (("precision", "P+"), ("recall", "R+")):
                values = late_changes(results, quick, data, cost, measure)
                of = estimate(values, PROBLEMS[data].test_to_train)
                cells[label(cost), f"{PROBLEMS[data].label}, {word}"] = Cell(of)
    title = f"Figure 3.5: mean change per round in the last {LATE} of {ROUNDS} rounds"
    return [Table("3.5-changes", title, "", cells, drawn=False)]


def label(cost: float | None) -> str:
    """Return the name of a row."""
    return "AdaBoost" if cost is None else f"AdaC1, c = {cost:g}"


def draw(results: Results, quick: bool) -> Any:
    """Draw precision, recall and F1 on one test set, and the mean change of recall over all of them."""
    figure, axes = panels(2, 2, (10, 6.2))
    lines: list[Any] = []
    for above, below, data in zip(axes[:2], axes[2:], DATA):
        first = paths(results, quick, data, COST)[:1, :ZOOMED]
        lines = draw_measures(above, as_curve("AdaC1", range(1, ZOOMED + 1), {"test": first}), POSITIVE_CLASS)
        above.set(ylim=(0.0, 1.03))
        for k, cost in enumerate((None, 2.0, COST, 10.0)):
            mean = changes(column(paths(results, quick, data, cost), "R+")).mean(axis=0)
            color, style, _ = look(k)
            below.plot(range(2, ROUNDS + 1), mean, color=color, ls=style, lw=1.3, label=label(cost))
        below.set(ylim=(0.0, 1.03), xlabel="rounds")
    axes[2].legend(frameon=False, fontsize="small", ncols=2, loc="upper right")
    names = [PROBLEMS[data].label for data in DATA]
    of_means = [f"{name}: change of recall per round, mean of all sets" for name in names]
    entitle(axes, [*(f"{name}: one test set, c = {COST:g}" for name in names), *of_means])
    legend_of_lines(figure, lines, ("precision", "recall", "F1"))
    return figure


PICTURE = Picture(
    number="3.5",
    title="AdaC1 on the banana and the cancer data",
    choices=f"""\
the cost is not printed; c = {COST:g} as in figure 2.3, with the step (2.58), and other costs in the table. {ROUNDS}
rounds on the learners of table 3.2, all runs (two with `--quick`). Panels (a) and (b) show the first {ZOOMED} rounds,
as all {ROUNDS} would be a solid band; (c) and (d) are not in the thesis.""",
    caption="""\
oscillating predictions of the AdaC1 algorithm on the banana and the cancer data: precision and recall oscillate
reciprocally against each other and do not converge within 200 iterations.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    tables=tables,
)
