"""Figure 3.3: boundaries and errors of RealBoost and AdaBoost-Reg on the banana data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import ndimage

from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.pictures.panels import (
    as_curve,
    draw_boundary,
    draw_measures,
    entitle,
    legend_of_classes,
    panels,
)
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import (
    LEAVES,
    PROBLEMS,
    Split,
    classifier,
    column,
    splits,
    staged_scores,
)
from skewboost_reproductions.papers.nyga.trials import SOME, parameters
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_order

ROUNDS = PROBLEMS["banana"].rounds
SIZES = (LEAVES, 8)  # of trees
STAGNANT = 0.01  # smaller changes of the error count as none
Setting = tuple[str, float | None, int]  # algorithm, parameter and size of trees
GRID = 200  # cells along each axis


def regions(model: Any, split: Split) -> list[int]:
    """Return the number of connected regions of equal predictions, and of those without a training row of the class."""
    low, high = split.X.min(axis=0), split.X.max(axis=0)
    axes = [np.linspace(a, b, GRID) for a, b in zip(low, high)]
    mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    predicted = np.asarray(model.predict(mesh.reshape(-1, 2))).reshape(GRID, GRID)
    cells = tuple(np.rint((split.X - low) / (high - low) * (GRID - 1)).astype(int).T)
    total = empty = 0
    for label in (0, 1):
        numbers, n = ndimage.label(predicted == label)
        occupied = set(numbers[cells][split.y == label].tolist()) - {0}
        total, empty = total + n, empty + n - len(occupied)
    return [int(total), int(empty)]


def rounds_on_banana(algorithm: str, parameter: float | None, leaves: int, run: int) -> dict[str, Any]:
    """Return the measures by round on training and on test rows, and the numbers of `regions`."""
    (split,) = splits("banana", run)
    model = classifier("banana", algorithm, parameter, leaves=leaves).fit(split.X, split.y)
    found: dict[str, Any] = {"regions": regions(model, split)}
    for part in ("train", "test"):
        path = np.array(staged_scores(model, split, on_train=part == "train"))
        found[part] = path.round(4).tolist()
    return found


def runs(quick: bool) -> range:
    """Return the pairs of training and test rows."""
    return range(3 if quick else PROBLEMS["banana"].runs)


def settings(leaves: int, quick: bool) -> list[Setting]:
    """Return RealBoost, and AdaBoost-Reg with each C."""
    values = parameters("banana", "AdaBoost-Reg", SOME if quick else 10)
    return [("RealBoost", None, leaves), *(("AdaBoost-Reg", C, leaves) for C in values)]


def tasks(quick: bool) -> list[Task]:
    """Return a task per size of trees, algorithm, parameter and run."""
    return [
        Task(rounds_on_banana, *one, run) for leaves in SIZES for one in settings(leaves, quick) for run in runs(quick)
    ]


def found(results: Results, quick: bool, one: Setting, what: str) -> Any:
    """Return a result by run."""
    values = [results.of(rounds_on_banana, *one, run)[what] for run in runs(quick)]
    return np.array(values, dtype=np.float64)


def errors(results: Results, quick: bool, one: Setting) -> tuple[Any, Any]:
    """Return the errors on training and on test rows by run and round."""
    train, test = (column(found(results, quick, one, part), "error") for part in ("train", "test"))
    return train, test


def best(results: Results, quick: bool, leaves: int) -> Setting:
    """Return AdaBoost-Reg with the C of the largest mean F1 on the test rows."""
    return max(
        settings(leaves, quick)[1:],
        key=lambda one: float(column(found(results, quick, one, "test")[:, -1], "F+").mean()),
    )


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    real, reg = settings(LEAVES, quick)[0], best(results, quick, LEAVES)
    (train, test), (train_reg, test_reg) = (errors(results, quick, one) for one in (real, reg))
    islands, islands_reg = (found(results, quick, one, "regions") for one in (real, reg))
    F_reg, F = (column(found(results, quick, one, "test")[:, -1], "F+") for one in (reg, real))
    zero = train.mean(axis=0)
    numbers = f"mean {zero[49]:.4f} after 50 rounds, {zero[99]:.4f} after 100, {zero[-1]:.4f} after {ROUNDS}"
    empty = "RealBoost has insular regions without a training pattern of their class (how many)"
    smoother = "The boundary of AdaBoost-Reg is smoother (regions of RealBoost less its own)"
    found_claims = [
        claim_of_order(empty, estimate(islands[:, 1])),
        claim_of_order(smoother, difference(islands[:, 0], islands_reg[:, 0])),
        replace(
            claim_of_order(
                "RealBoost's training error is zero after 100 rounds (here: below 0.001)", estimate(1e-3 - train[:, 99])
            ),
            evidence=numbers,
        ),
        claim_of_order(
            "Its test error increases from round 50 on (last less that)", difference(test[:, -1], test[:, 49])
        ),
        claim_of_order("The training error of AdaBoost-Reg stays above 0 (last round)", estimate(train_reg[:, -1])),
    ]
    for leaves in SIZES:
        both = errors(results, quick, best(results, quick, leaves))
        for name, values in zip(("training", "test"), both):
            text = f"The {name} error of AdaBoost-Reg stagnates after round 30 (trees of {leaves} leaves)"
            found_claims.append(claim_of_equality(text, difference(values[:, -1], values[:, 29]), STAGNANT))
    return [
        *found_claims,
        claim_of_order("AdaBoost-Reg has the larger F1", difference(F_reg, F)),
        claim_of_order("AdaBoost-Reg has the larger misclassification", difference(test_reg[:, -1], test[:, -1])),
    ]


def tables(results: Results, quick: bool) -> list[Table]:
    """Return the effect of C, and of the size of trees."""
    cells = {}
    for leaves in SIZES:
        for one in settings(leaves, quick):
            row = f"{leaves} leaves, {'RealBoost' if one[1] is None else f'C = {one[1]:.3g}'}"
            train, test = errors(results, quick, one)
            islands = found(results, quick, one, "regions")
            for part, values in (("training", train), ("test", test)):
                cells[row, f"{part} error, round 30"] = Cell(estimate(values[:, 29]))
                cells[row, f"{part} error, round {ROUNDS}"] = Cell(estimate(values[:, -1]))
            cells[row, "F1"] = Cell(estimate(column(found(results, quick, one, "test")[:, -1], "F+")))
            cells[row, "regions"] = Cell(estimate(islands[:, 0]))
            cells[row, "without a row of their class"] = Cell(estimate(islands[:, 1]))
    title = "Figure 3.3: RealBoost, and AdaBoost-Reg by C, on trees of two sizes"
    return [Table("3.3-regions", title, "", cells, drawn=False)]


def draw(results: Results, quick: bool) -> Any:
    """Draw both boundaries, and the errors over the rounds."""
    both = (settings(LEAVES, quick)[0], best(results, quick, LEAVES))
    (split,) = splits("banana", 0)
    figure, axes = panels(2, 2, (9.2, 7.6), height_ratios=(1.25, 1.0))
    lines: list[Any] = []
    for above, below, one in zip(axes[:2], axes[2:], both):
        algorithm, C, leaves = one
        model = classifier("banana", algorithm, C, leaves=leaves).fit(split.X, split.y)
        draw_boundary(above, model, split.X, split.y)
        parts = {part: found(results, quick, one, part) for part in ("train", "test")}
        lines = draw_measures(below, as_curve(algorithm, range(1, ROUNDS + 1), parts), "error", ("train", "test"))
        below.set_ylim(0.0, 0.4)
    entitle(axes, ("RealBoost", f"AdaBoost-Reg, C = {both[1][1]:.3g}", "RealBoost: error", "AdaBoost-Reg: error"))
    legend_of_classes(figure, lines=lines)
    return figure


PICTURE = Picture(
    number="3.3",
    title="RealBoost and AdaBoost-Reg on the banana data",
    choices=f"""\
{ROUNDS} trees of {LEAVES} leaves (see table 3.2) and, as the size is not printed, of {SIZES[1]};
{len(runs(False))} pairs of training and test rows ({len(runs(True))} with `--quick`). The thesis does not print C; of
ten values the one of largest F1 on the test rows is shown (a guess, as for table 3.3). A region is a connected set of
equal predictions on a grid of {GRID} by {GRID} cells over the range of the training rows. Changes of the error of up to
{STAGNANT:g} count as none. Boundaries are those of the first pair, with {LEAVES} leaves.""",
    caption="""\
decision boundaries and progress of error of RealBoost and AdaBoost-Reg. RealBoost has several "insular" regions where
not even one training pattern of the particular class is located; its training error reaches zero after 100 iterations,
whilst the generalization error increases from iteration 50 on. The boundary of AdaBoost-Reg is smoother; its training
error stagnates significantly above 0 after 30 iterations and so does the generalization performance.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    tables=tables,
)
