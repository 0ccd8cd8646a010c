"""Figure 2.1: errors and margins of AdaBoost on the Wisconsin cancer data."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewboost.evaluate import StagedCurve, staged_curve
from skewboost.learners import Tree
from skewboost.plots import MarginDisplay
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Results, Task
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.pictures.panels import draw_measures, entitle, legend_of_lines, panels
from skewboost_reproductions.papers.nyga.pictures.picture import Picture
from skewboost_reproductions.papers.nyga.problems import classifier, splits
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_fact, claim_of_order

ROUNDS, EARLY = 100, 4
AT = (10, 50, 100)  # rounds of the margins
REPEATS = 10  # of two folds, per task
LEAVES = (2, 4, 8)  # 2 is the stump of the thesis
NAMES = {leaves: "stumps" if leaves == 2 else f"trees of {leaves} leaves" for leaves in LEAVES}
HALF = 0.005  # differences of the error up to this count as none
QUANTILES = np.linspace(0.0, 1.0, 201)
TWO_FOLDS = 1.0  # test rows per training row


def cancer() -> tuple[Any, Any]:
    """Return all rows."""
    split = splits("cancer", 0)[0]
    return np.concatenate((split.X, split.X_test)), np.concatenate((split.y, split.y_test))


def booster(leaves: int) -> Any:
    """Return AdaBoost on stumps, or on trees of some leaves."""
    model = classifier("cancer", "AdaBoost", rounds=ROUNDS)
    return (
        model
        if leaves == 2
        else model.set_params(estimator=Tree(criterion="gini", max_leaf_nodes=leaves, max_bins=None))
    )


def errors_on_cancer(leaves: int, seed: int) -> dict[str, Any]:
    """Return the errors by fold and round, and quantiles of the training margins at some rounds."""
    X, y = cancer()
    curve = staged_curve(booster(leaves), X, y, cv=2, repeats=REPEATS, random_state=seed)
    return {
        "errors": {part: _padded(curve.values("error", part)).round(5).tolist() for part in ("train", "test")},
        "margins": _padded(curve.margin_quantiles["train"])[:, np.array(AT) - 1].tolist(),  # type: ignore[index]
    }


def _padded(values: Any) -> Any:
    """Repeat the last round up to the last one: a perfect fit ends the training."""
    return values[:, np.minimum(np.arange(ROUNDS), values.shape[1] - 1)]


def margins_on_cancer(seed: int) -> list[list[float]]:
    """Return the distribution of the margins of training rows over folds, at some rounds, as quantiles."""
    X, y = cancer()
    rng, found = np.random.default_rng(seed), []
    for _ in range(REPEATS):
        half = rng.permutation(len(y))[: len(y) // 2]
        for rows in (half, np.setdiff1d(np.arange(len(y)), half)):
            model = booster(2).fit(X[rows], y[rows])
            found.append(margins_of(model, X[rows], 2.0 * y[rows] - 1.0))
    return [np.quantile(np.concatenate(margins), QUANTILES).tolist() for margins in zip(*found)]


def margins_of(model: Any, X: Any, signs: Any) -> list[Any]:
    """Return the margins, in [-1, 1], after the rounds `AT`."""
    F, votes, found = 0.0, 0.0, []
    for m, stage in enumerate(model.staged_decision_function(X), 1):
        F, votes = stage, votes + np.abs(stage - F)
        if m in AT:
            found.append(signs * F / votes)
    return found


def seeds(leaves: int, quick: bool) -> range:
    """Return the seeds: a hundred runs of stumps, twenty of trees."""
    return range(1 if quick else 10 if leaves == 2 else 2)


def tasks(quick: bool) -> list[Task]:
    """Return the runs of stumps, and fewer of trees."""
    of_errors = [Task(errors_on_cancer, leaves, seed) for leaves in LEAVES for seed in seeds(leaves, quick)]
    return [*of_errors, *(Task(margins_on_cancer, seed) for seed in seeds(2, quick))]


def errors(results: Results, quick: bool, leaves: int, part: str) -> Any:
    """Return the errors by fold and round."""
    found = [results.of(errors_on_cancer, leaves, seed)["errors"][part] for seed in seeds(leaves, quick)]
    return np.concatenate(found)


def claims(results: Results, quick: bool) -> list[Claim]:
    """Return what the text says about the figure."""
    train, test = (errors(results, quick, 2, part) for part in ("train", "test"))
    margins = np.concatenate([results.of(errors_on_cancer, 2, seed)["margins"] for seed in seeds(2, quick)])
    zero = f"mean {train[:, EARLY - 1].mean():.1%} after {EARLY} rounds, {train[:, -1].mean():.2%} after {ROUNDS}"
    names, levels = ("smallest", "5 % quantile", "median"), (0, 1, 3)
    halved = []
    for leaves in (2, max(LEAVES)):
        after = errors(results, quick, leaves, "test")
        rest = difference(after[:, -1], 0.5 * after[:, EARLY - 1], TWO_FOLDS)
        text = (
            f"It falls to half (here: test error after {ROUNDS} rounds less half that after {EARLY}, {NAMES[leaves]})"
        )
        halved.append(claim_of_equality(text, rest, HALF))
    return [
        claim_of_fact(f"The training error reaches zero after {EARLY} iterations", not train[:, EARLY - 1].any(), zero),
        claim_of_order(
            f"After {EARLY} iterations the test error keeps decreasing (that after {EARLY} less that after {ROUNDS})",
            difference(test[:, EARLY - 1], test[:, -1], TWO_FOLDS),
        ),
        *halved,
        *(
            claim_of_order(
                f"Margins increase with the iterations (here: the {name} after {AT[-1]} less after {AT[0]})",
                difference(margins[:, -1, level], margins[:, 0, level], TWO_FOLDS),
            )
            for name, level in zip(names, levels)
        ),
    ]  # fmt: skip


def tables(results: Results, quick: bool) -> list[Table]:
    """Return the errors of stumps and trees."""
    cells = {}
    for leaves in LEAVES:
        name = NAMES[leaves]
        train, test = (errors(results, quick, leaves, part) for part in ("train", "test"))
        first = np.where((train == 0).any(axis=1), 1.0 + (train == 0).argmax(axis=1), np.nan)
        cells[name, "share of fits without training errors"] = Cell(estimate((train == 0).any(axis=1)))
        said = leaves == 2  # the thesis has stumps
        cells[name, "first round without them"] = Cell(estimate(first, TWO_FOLDS), EARLY if said else None)
        for m in (EARLY, ROUNDS):
            printed = 0.0 if said and m == EARLY else None
            cells[name, f"training error, round {m}"] = Cell(estimate(train[:, m - 1], TWO_FOLDS), printed)
        for m in (EARLY, ROUNDS):
            cells[name, f"test error, round {m}"] = Cell(estimate(test[:, m - 1], TWO_FOLDS))
    title, note = "Figure 2.1: when the training error is zero", "First rounds are means over the fits that have one."
    return [Table("2.1-errors", title, "AdaBoost on", cells, note=note, drawn=False)]


def draw(results: Results, quick: bool) -> Any:
    """Draw the errors over the rounds, and the cumulative distribution of the margins."""
    figure, axes = panels(1, 3, (12.5, 4.2))
    for axis, leaves in zip(axes, (2, 8)):
        parts = {part: errors(results, quick, leaves, part) for part in ("train", "test")}
        lines = draw_measures(axis, curve_of_errors(parts), "error", ("train", "test"))
        axis.set_ylim(0.0, 0.11)
    quantiles = np.mean([results.of(margins_on_cancer, seed) for seed in seeds(2, quick)], axis=0)
    MarginDisplay(
        margins=dict(zip(AT, quantiles)), group=np.ones(len(QUANTILES), dtype=int), weights=np.ones(len(QUANTILES)),
        labels=("benign", "malignant"),
    ).plot(axes[2], by_class=False)  # fmt: skip
    axes[2].get_legend().remove()
    axes[2].legend(frameon=False, fontsize="small", loc="upper left")
    axes[2].set(xlabel="margin", ylabel="fraction of training rows")
    entitle(axes, ("Error, stumps", "Error, trees of 8 leaves", "Margins, stumps"))
    legend_of_lines(figure, lines)
    return figure


def curve_of_errors(parts: dict[str, Any]) -> StagedCurve:
    """Return errors by fold and round as `staged_curve` does."""
    n_fits, n_rounds = parts["test"].shape
    values = {("error", part): found for part, found in parts.items()}
    folds, lengths = np.zeros((n_fits, 2), dtype=int), np.full(n_fits, n_rounds)
    rounds = np.arange(1, n_rounds + 1)
    return StagedCurve(rounds, lengths, ("error",), folds, 1, "AdaBoost", "", None, None, None, _values=values)


PICTURE = Picture(
    number="2.1",
    title="AdaBoost on the Wisconsin cancer data",
    choices=f"""\
two-fold cross-validation, 100 times (10 with `--quick`), of AdaBoost with {ROUNDS} stumps on the 683 complete rows.
Margins are those of training rows. As the text does not hold for stumps, trees of {LEAVES[1]} and {LEAVES[2]} leaves
are tried as well (20 times); panel (b) is not in the thesis. That the test error "keeps decreasing half as much" is
read as: it falls to half of what it is when the training error is said to be zero; {HALF:g} more or less count as
equal.""",
    caption="""\
AdaBoost on Wisconsin Breast Cancer Benchmark, 2-fold cross validation over 100 runs with decision stumps: training and
test error (a), and cumulative margin distribution (c). The training error reaches zero after 4 iterations, but from
then, the test error keeps decreasing half as much; with increasing number of iterations the margins increase.""",
    tasks=tasks,
    claims=claims,
    draw=draw,
    tables=tables,
)
