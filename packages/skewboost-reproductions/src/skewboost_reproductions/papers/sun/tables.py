"""What Sun, Wong and Wang (2005) say about their table 1, tests of it, and the tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skewboost.plots.style import GREY, import_pyplot, look
from skewboost_reproductions.estimates import Estimate, average, difference, estimate
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.sun.folds import (
    COSTLY,
    DATA,
    HONEST,
    MAIN,
    NO_PRIOR,
    OTHERS,
    PLAIN,
    PRINTED,
    ROUNDS,
    STAGES,
    TEST_TO_TRAIN,
    f_measure,
    grid,
    in_folds,
    main_reading,
    repeats,
    validated,
)
from skewboost_reproductions.verdicts import Claim, claim_of_order


class Scores:
    """F of the test rows of all folds, by data set, algorithm and reading."""

    def __init__(self, results: Results, quick: bool) -> None:
        self.results, self.quick = results, quick
        self.last = STAGES.index(ROUNDS)

    def counts(self, data: str, algorithm: str, reading: Any) -> Any:
        """Return TP, FP and FN, ``[repeat, cost, fold, stage, 3]``."""
        found = [self.results.of(in_folds, data, algorithm, *reading, r, self.quick) for r in repeats(self.quick)]
        return np.array(found)

    def f(self, data: str, algorithm: str, reading: Any, stage: int, pooled: bool = False) -> Any:
        """Return F, ``[repeat, cost, fold]``; pooled counts of all folds make one F."""
        counts = self.counts(data, algorithm, reading)[:, :, :, stage]
        return f_measure(counts.sum(axis=2, keepdims=True) if pooled else counts)

    def hindsight(self, data: str, algorithm: str, reading: Any, stage: int, pooled: bool = False) -> Any:
        """Return F with the cost that is best on the test rows, as the paper has it: one F per repeat."""
        return self.f(data, algorithm, reading, stage, pooled).mean(axis=2).max(axis=1)

    def best_costs(self, data: str, algorithm: str) -> Any:
        """Return that cost of each repeat."""
        found = self.f(data, algorithm, main_reading(self.quick), self.last).mean(axis=2)
        return np.array(grid(algorithm, self.quick))[found.argmax(axis=1)]

    def in_all_folds(self, data: str, algorithm: str) -> Any:
        """Return F of all folds at the cost that is best on average over all repeats."""
        found = self.f(data, algorithm, main_reading(self.quick), self.last)
        return found[:, found.mean(axis=(0, 2)).argmax()].ravel()

    def honest(self, data: str, algorithm: str) -> Any:
        """Return F of all folds at costs chosen by the inner cross-validation, with cuts by training rows."""
        found = self.f(data, algorithm, HONEST, self.last)
        if algorithm in PLAIN:
            return found[:, 0].ravel()
        chosen = np.array([self.results.of(validated, data, algorithm, r, self.quick) for r in repeats(self.quick)])
        return np.take_along_axis(found, chosen[:, None], axis=1).ravel()


Of = Callable[[str, str], Any]  # F of all folds, by data set and algorithm
WINNERS = {"Cancer": "AdaC3", "Hypothyroid": "AdaC2", "Pima": "AdaC3", "Sick-euthyroid": "AdaCost"}


def apart(of: Of, first: str, second: str, data_sets: Sequence[str] = tuple(DATA)) -> Estimate:
    """Return the difference of two algorithms, averaged over data sets."""
    return average([difference(of(data, first), of(data, second), TEST_TO_TRAIN) for data in data_sets])


def is_best(text: str, of: Of, winner: str, data_sets: Sequence[str]) -> Claim:
    """Return a claim that an algorithm is the best one of the table, on average over data sets."""
    means = {a: float(np.mean([of(data, a).mean() for data in data_sets])) for a in PRINTED if a != winner}
    rival = max(means, key=lambda a: means[a])
    return claim_of_order(text, apart(of, winner, rival, data_sets), 1, what=f"less {rival}, the best other,")


def claims(of: Of, how: str) -> list[Claim]:
    """Return the claims of the paper; `how` the costs were chosen is added to their texts."""
    better = "By table 1, {} is better than AdaBoost, on average" + how
    worse = "{} is not satisfactory: worse than AdaC3, on average" + how
    return [
        *(is_best(f"{winner} is best on {data}{how}", of, winner, [data]) for data, winner in WINNERS.items()),
        is_best(f"AdaC3 has the highest average{how}", of, "AdaC3", tuple(DATA)),
        *(
            claim_of_order(better.format(a), apart(of, a, "AdaBoost"), 1)
            for a in ("AdaC1", "AdaC2", "AdaC3", "AdaCost")
        ),
        *(claim_of_order(worse.format(a), apart(of, "AdaC3", a), 1, what="AdaC3 less it") for a in ("CSB1", "CSB2")),
    ]


def _with_average(cells: dict[tuple[str, str], Cell], columns: Sequence[str], paper: Any) -> dict[Any, Cell]:
    for a in columns:
        ours = average([cells[data, a].ours for data in DATA])
        known = any(cells[data, a].printed is not None for data in DATA)
        cells["Average", a] = Cell(ours, paper["Average", a]["f"] if known else None)
    return cells


def table_1(scores: Scores, paper: Any) -> Table:
    """Return F with the cost that is best in hindsight."""
    reading = main_reading(scores.quick)
    values = {(d, a): scores.hindsight(d, a, reading, scores.last) for d in DATA for a in PRINTED}
    cells = {(d, a): Cell(estimate(v), paper[d, a]["f"]) for (d, a), v in values.items()}
    note = ""
    if not scores.quick:
        n = len(repeats(False))
        near = sum(
            abs(paper[key]["f"] - v.mean()) <= 2.0 * v.std(ddof=1) * math.sqrt(1.0 + 1.0 / n)
            for key, v in values.items()
        )
        note = (
            f"The errors are those of the mean of {n} divisions into folds. A printed number comes from a single one: "
            f"{near} of {len(values)} are within two standard deviations of what single divisions give here."
        )
    title = f"Table 1: F of the positive class in percent, {ROUNDS} rounds, the best cost in hindsight"
    return Table("f", title, "data set", _with_average(cells, PRINTED, paper), 1, note)


def table_of_costs(scores: Scores, paper: Any) -> Table:
    """Return these costs."""
    cells = {(d, a): Cell(estimate(scores.best_costs(d, a)), paper[d, a]["cost"]) for d in DATA for a in PRINTED[2:]}
    note = "The cost of a negative; that of a positive is 1. Ours is the mean of the best costs of the divisions."
    return Table("costs", "Table 1: the best costs in hindsight", "data set", cells, 2, note)


def table_of_others(scores: Scores, paper: Any) -> Table:
    """Return the same for other readings of three algorithms."""
    reading = main_reading(scores.quick)
    cells = {
        (d, other): Cell(estimate(scores.hindsight(d, other, reading, scores.last)), paper[d, a]["f"])
        for d in DATA
        for a, other in OTHERS.items()
    }
    for a, other in OTHERS.items():
        cells["Average", other] = Cell(average([cells[d, other].ours for d in DATA]), paper["Average", a]["f"])
    title = "Other readings of three algorithms"
    return Table("algorithms", title, "data set", cells, 1, "Next to the numbers printed for AdaCost, CSB1 and CSB2.")


def table_of_cuts(scores: Scores) -> Table:
    """Return how much F rises if the attributes are cut by all labels."""
    cells = {}
    for d in DATA:
        for a in PRINTED:
            leaking, honest = (scores.f(d, a, r, scores.last) for r in (main_reading(scores.quick), HONEST))
            best = honest.mean(axis=(0, 2)).argmax()
            cells[d, a] = Cell(difference(leaking[:, best].ravel(), honest[:, best].ravel(), TEST_TO_TRAIN))
    note = "At the cost that is best with cuts by training rows. Cancer has no numbers, so nothing is cut."
    title = "Cuts by the labels of all rows: F gained over cuts by training rows"
    return Table("cuts", title, "data set", _with_average(cells, PRINTED, {}), 1, note)


def table_of_validation(scores: Scores, paper: Any) -> Table:
    """Return F with the cost that the training rows choose."""
    cells = {
        (d, a): Cell(estimate(scores.honest(d, a), TEST_TO_TRAIN), paper[d, a]["f"]) for d in DATA for a in PRINTED
    }
    title = f"The same with cuts by training rows and costs chosen by an inner cross-validation, {ROUNDS} rounds"
    return Table("validated", title, "data set", _with_average(cells, PRINTED, paper), 1)


def table_of_readings(scores: Scores, paper: Any) -> Table:
    """Return averages over the data sets under several readings of the protocol."""
    readings: dict[str, tuple[Any, int, bool]] = {
        f"{rounds} rounds": (MAIN, k, False) for k, rounds in enumerate(STAGES)
    }
    readings |= {
        "10 rounds, counts of the folds added": (MAIN, 1, True),
        "10 rounds, cuts by training rows": (HONEST, 1, False),
        "10 rounds, HPWR without the prior": (NO_PRIOR, 1, False),
    }
    cells = {}
    for name, (reading, stage, pooled) in readings.items():
        ours = {
            (d, a): scores.hindsight(d, a, reading, stage, pooled) for d in DATA for a in (*PLAIN[:2], *PRINTED[1:])
        }
        for a in ("HPWR", "HPWR, three conditions", *PRINTED[1:]):
            known = paper["Average", a]["f"] if a in PRINTED else None
            cells[name, a] = Cell(average([estimate(ours[d, a]) for d in DATA]), known)
        apart = [abs(ours[d, a].mean() - paper[d, a]["f"]) for d in DATA for a in PRINTED]
        cells[name, "mean distance to the 32 printed numbers"] = Cell(Estimate(float(np.mean(apart))))
    return Table("readings", "Averages over the data sets, by reading of the protocol", "reading", cells, 1)


def draw_costs(scores: Scores) -> Any:
    """Draw F by cost, a panel per data set."""
    plt = import_pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.6), sharex=True, layout="constrained")
    for axis, data in zip(axes.ravel(), DATA):
        plain = scores.f(data, "AdaBoost", main_reading(scores.quick), scores.last).mean()
        axis.axhline(plain, color=GREY, lw=2.5, alpha=0.6, label="AdaBoost")
        for k, a in enumerate(list(COSTLY)[:8]):
            color, line, marker = look(k)
            mean = scores.f(data, a, main_reading(scores.quick), scores.last).mean(axis=(0, 2))
            axis.plot(grid(a, scores.quick), mean, color=color, ls=line, marker=marker, ms=4, lw=1.3, label=a)
        axis.set(title=data, ylabel="F (%)", ylim=(0, None))
    for axis in axes[-1]:
        axis.set_xlabel("cost of a negative; that of a positive is 1")
    axes[0, 0].invert_xaxis()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    return figure
