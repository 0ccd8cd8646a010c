"""What 1000 rounds and more do to boosted stumps and alternating trees (Cuendet and Labbi 2002, §3.2.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skewboost import AlternatingTreeClassifier, ConsistentBoostClassifier, RealBoostClassifier
from skewboost.learners import Stump
from skewboost.plots.style import import_pyplot, look
from skewboost_reproductions.experiment import Experiment, Results, Task
from skewboost_reproductions.page_parts import Cell, Claims, Figure, Part, Table
from skewboost_reproductions.papers.cuendet.blocks import BLOCK, Blocks, blocks, errors_of_block, rounds_kept
from skewboost_reproductions.papers.cuendet.curve_trials import (
    CHESS,
    CUTS,
    EVERY,
    FOLDS,
    HEART,
    SIZE,
    TEST_TO_TRAIN,
    THYROID,
    TRIALS,
    K,
    gaussians,
)
from skewboost_reproductions.papers.cuendet.error_curves import Whole
from skewboost_reproductions.printed import printed
from skewboost_reproductions.verdicts import Claim, asked, claim_of_order

GAUSSIANS = gaussians(SIZE, 0)
DATA = (CHESS, HEART, THYROID, GAUSSIANS)
PLAIN, CONSISTENT, TREE = "plain stumps", "consistent stumps", "alternating tree"
ROUNDS = {PLAIN: 5000, CONSISTENT: 5000, TREE: 500}
REPORTED = {PLAIN: 200, CONSISTENT: 200, TREE: 50}  # rounds of the report
SHOWN = {PLAIN: (60, 200, 1000, 5000), CONSISTENT: (60, 200, 1000, 5000), TREE: (7, 50, 200, 500)}
COARSE_AND_EXACT = (K, EVERY)
CLOSE = 0.2  # percentage points above an error that count as having reached it
RISE = 0.5  # percentage points that count as no overfitting


def booster(method: str, cuts: str) -> Callable[[float], Any]:
    """Return a function that makes a booster of the report."""
    given = {"max_bins": 255} if method == CONSISTENT and cuts == EVERY else CUTS[cuts]  # a table of bins
    if method == TREE:
        return lambda ratio: AlternatingTreeClassifier(max_rounds=ROUNDS[TREE], **given)
    made = RealBoostClassifier if method == PLAIN else ConsistentBoostClassifier
    return lambda ratio: made(estimator=Stump(missing="abstain", **given), n_estimators=ROUNDS[method])


def kept(method: str) -> list[int]:
    """Return the rounds whose errors are kept."""
    return sorted({*rounds_kept(ROUNDS[method]), *SHOWN[method]})


def long_curves(data: str, method: str, cuts: str, first: int) -> dict[str, list[Any]]:
    """Return errors of some trials after the rounds that are `kept`."""
    return errors_of_block(data, first, kept(method), booster(method, cuts))


def settings(quick: bool) -> list[tuple[str, str, str]]:
    """Return data sets, boosters and cuts, the slow ones first."""
    sets = (THYROID,) if quick else DATA
    return [(data, method, cuts) for method in (TREE, CONSISTENT, PLAIN) for data in sets for cuts in cuts_of(data)]


def cuts_of(data: str) -> tuple[str, ...]:
    """Return the numbers of cuts: one for chess, which has categories only, so that both are the same."""
    return COARSE_AND_EXACT[:1] if data == CHESS else COARSE_AND_EXACT


def tasks(quick: bool) -> list[Task]:
    """Return a task per data set, booster, number of cuts and block of trials."""
    return [Task(long_curves, *setting, first) for setting in settings(quick) for first in blocks(quick)]


Found = dict[tuple[str, str, str], Blocks]


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    found = {
        setting: Blocks(
            [results.of(long_curves, *setting, first) for first in blocks(quick)],
            kept(setting[1]),
            TEST_TO_TRAIN[FOLDS],
        )
        for setting in settings(quick)
    }
    return [
        Claims([asked(claim) for claim in (*claims_of_thyroid(found), *claims_of_rounds(found))]),
        *(table(found, method) for method in ROUNDS),
        *(figure(found, method) for method in ROUNDS),
    ]


def figure(found: Found, method: str) -> Figure:
    """Return the figure of a booster."""
    return Figure(method.replace(" ", "-"), _CAPTION.format(method), lambda: draw(found, method))


def claims_of_thyroid(found: Found) -> list[Claim]:
    """Return whether errors on hypothyroid become as good as those of Freund and Mason."""
    said = {(row["data"], row["method"]): row for row in printed("cuendet", "curves") if "Freund" in row["what"]}
    claims = []
    for method in (PLAIN, TREE):
        goal = said[THYROID, method]["value"]
        for cuts in COARSE_AND_EXACT:
            one = found[THYROID, method, cuts]
            numbers = [m for m in SHOWN[method] if m > REPORTED[method]]
            for m in numbers:
                text = (
                    f"hypothyroid, {cuts}: {goal:g} % with {method} by round {m} (here: up to {CLOSE:g} points above)"
                )
                claims.append(claim_of_order(text, one.mean(goal + CLOSE - one.at(m)), 2, what="below it by"))
    return claims


def claims_of_rounds(found: Found) -> list[Claim]:
    """Return whether errors fall after the rounds of the report, and whether they rise in the end."""
    claims = []
    for (data, method, cuts), one in found.items():
        before = REPORTED[method]
        fall = one.mean(one.at(before) - one.at(one.last))
        where = f"{data.removesuffix(' 1000 0')}, {cuts}, {method}"
        claims.append(claim_of_order(f"{where}: better after round {before} (until {one.last})", fall, 2, what="fall"))
        text = f"{where}: no overfitting (here: a rise of at most {RISE:g} points from round {before} to {one.last})"
        claims.append(claim_of_order(text, one.mean(RISE + one.at(before) - one.at(one.last)), 2, what="below it by"))
    return claims


def table(found: Found, method: str) -> Table:
    """Return the errors after some rounds."""
    cells: dict[tuple[str, str], Cell] = {}
    for (data, name, cuts), one in found.items():
        if name != method:
            continue
        row = f"{data.removesuffix(' 1000 0')}, {cuts}"
        for m in SHOWN[method]:
            cells[row, f"test error, round {m}"] = Cell(one.mean(one.at(m)))
        cells[row, "training error, last round"] = Cell(one.mean(one.at(one.last, "train")))
        best = one.best_round()
        cells[row, "lowest test error"] = Cell(one.mean(one.at(best)))
        cells[row, "in round"] = Cell(Whole(best))
    name = method.replace(" ", "-")
    note = "In percent. *Lowest* is the minimum of the mean curve, of the rounds that were kept."
    return Table(f"{name}-errors", method.capitalize(), "data set and cuts", cells, 2, note, drawn=False)


def draw(found: Found, method: str) -> Any:
    """Draw the errors by round, a panel per data set."""
    sets = list(dict.fromkeys(data for data, *_ in found))
    figure, axes = import_pyplot().subplots(
        1, len(sets), figsize=(1.0 + 3.0 * len(sets), 3.8), layout="constrained", squeeze=False
    )
    for axis, data in zip(axes[0], sets):
        for k, cuts in enumerate(cuts_of(data)):
            one, (color, _, _) = found[data, method, cuts], look(k)
            axis.plot(one.rounds, one.errors["test"].mean(axis=0), color=color, lw=1.5, label=f"test rows, {cuts}")
            axis.plot(
                one.rounds,
                one.errors["train"].mean(axis=0),
                color=color,
                lw=1.2,
                ls="--",
                label=f"training rows, {cuts}",
            )
        axis.axvline(REPORTED[method], color="#8c8c8c", lw=0.8, ls=":")
        axis.set(xscale="log", xlabel="round", title=data.removesuffix(" 1000 0"), ylim=(0.0, None))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("error (%)")
    handles, labels = axes[0, -1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure


_CAPTION = "Mean errors by round, {}. The dotted line is where the report ends."
PROTOCOL = f"""
On hypothyroid the report does not reach the errors of Freund and Mason, 1.1 % after 60 stumps and 0.8 % after 7 rounds
of an alternating tree, and suspects its discretisation: "It would be interesting to let the algorithms run for 1000
iterations or more, to see if they converge to errors as good …. This would show that for datasets of this type, one can
avoid overfitting, and still get accurate predictions".

- *Boosters*: {PLAIN} and {CONSISTENT} of {ROUNDS[PLAIN]} rounds, and an {TREE} of {ROUNDS[TREE]} rounds, with at most
  {K} per attribute and with every cut (of consistent stumps at most 254). On kr-vs-kp, which has categories only, both
  are the same.
- *Data and trials* as in [cuendet-curves](cuendet-curves.md): kr-vs-kp, cleve, hypothyroid and a sample of {SIZE} rows
  of the 8 Gaussians, {TRIALS} folds (hypothyroid only, and {BLOCK} folds, with `--quick`).
- *As good as*: at most {CLOSE:g} percentage points above. *No overfitting*: the error rises by at most {RISE:g}
  percentage points from the last round of the report to the last one here. Both margins are guesses made before the
  run.
- *Tests*: the corrected resampled t-test over trials, for each data set.
"""
DISCUSSION = """
## Discussion

**More rounds do not make up for coarse cuts.** With ten tests per attribute, stumps have an error on hypothyroid of
1.55 % after 200 rounds, 1.74 % after 1000 and 1.77 % after 5000; with every cut 1.11, 1.08 and 1.20 %. The training
error with ten tests stays near 1.1 %: what the cuts do not separate, no number of rounds does. The tree leaves hardly
an error in training with either, and ends at 1.39 and 1.23 %; its lowest errors are in rounds 4 and 8. So with every
cut the errors of Freund and Mason, 1.1 and 0.8 %, are reached before the report ends, and not by more rounds. That they
are reached in the end is not significant for any of the eight comparisons, nor is the opposite. No booster gets
significantly better after the last round of the report, on any data set.

**Whether one can avoid overfitting depends on the data**, as the report suspects. On kr-vs-kp and hypothyroid errors
rise by less than half a point in 25 times as many rounds (ten in the case of the tree); for plain stumps with ten tests
on hypothyroid this is not significant. On cleve those of stumps rise by 3 to 5 points (p from 0.06 to 0.17), and on the
8 Gaussians with every cut by 2 to 2.5 points (p about 0.1), with training errors of 0: it can be seen in the figures,
but 20 folds do not prove it. With coarse cuts stumps, which then leave training errors, rise by less than a point.
"""
EXPERIMENT = Experiment(
    name="cuendet-rounds",
    title="What 1000 rounds and more do to stumps and alternating trees",
    source="cuendet2002",
    shows="section 3.2.5",
    asks="Do stumps with coarse cuts become as good as those with every cut if they run for 1000 rounds or more?",
    protocol=PROTOCOL,
    tasks=tasks,
    report=report,
    discussion=DISCUSSION,
)
