"""Does the complete cost-sensitive search cure the instability of favoured stumps? (Cuendet and Labbi 2002, §3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skewboost import FavoredBoostClassifier, RealBoostClassifier, SoftMarginBoostClassifier
from skewboost.learners import Stump
from skewboost.plots.style import import_pyplot, look
from skewboost_reproductions.estimates import Estimate
from skewboost_reproductions.experiment import Experiment, Results, Task
from skewboost_reproductions.page_parts import Cell, Claims, Figure, Part, Table
from skewboost_reproductions.papers.cuendet.blocks import BLOCK, Blocks, blocks, errors_of_block
from skewboost_reproductions.papers.cuendet.curve_trials import CUTS, FOLDS, PUBLIC, TEST_TO_TRAIN, TRIALS, K
from skewboost_reproductions.verdicts import Claim, asked, claim_of_equality, claim_of_order

ROUNDS, EARLY = 100, 20
ALL_ROUNDS = range(1, ROUNDS + 1)
PLAIN, FAVOURED, CAPPED = "plain stumps", "favoured stumps", "favoured stumps, largest β = 1"
STEP, COMPLETE = "cost-sensitive steps", "complete search"
SAME = 0.5  # percentage points of the error per round that count as equally stable


def costs(ratio: float) -> dict[int, float]:
    """Return β: the frequency of the other class over that of the own one."""
    return {1: ratio, 0: 1.0 / ratio}


def stump() -> Any:
    """Return a stump of the report."""
    return Stump(missing="abstain", **CUTS[K])


BOOSTERS: dict[str, Callable[[float], Any]] = {
    PLAIN: lambda ratio: RealBoostClassifier(estimator=stump(), n_estimators=ROUNDS),
    FAVOURED: lambda ratio: FavoredBoostClassifier(estimator=stump(), n_estimators=ROUNDS),
    CAPPED: lambda ratio: FavoredBoostClassifier(estimator=stump(), n_estimators=ROUNDS, cost=costs(ratio)),
    STEP: lambda ratio: SoftMarginBoostClassifier(estimator=stump(), n_estimators=ROUNDS, C=0.0, cost=costs(ratio)),
    COMPLETE: lambda ratio: SoftMarginBoostClassifier(
        estimator=stump(), n_estimators=ROUNDS, C=0.0, search="full", cost=costs(ratio)
    ),
}


def stability(data: str, method: str, first: int) -> dict[str, list[Any]]:
    """Return the errors after every round of some trials."""
    return errors_of_block(data, first, ALL_ROUNDS, BOOSTERS[method])


def tasks(quick: bool) -> list[Task]:
    """Return a task per data set, booster and block of trials, the slow ones first."""
    order = (COMPLETE, *(method for method in BOOSTERS if method != COMPLETE))
    return [Task(stability, data, method, first) for method in order for data in PUBLIC for first in blocks(quick)]


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    found = {
        (data, method): Blocks(
            [results.of(stability, data, method, first) for first in blocks(quick)], ALL_ROUNDS, TEST_TO_TRAIN[FOLDS]
        )
        for data in PUBLIC
        for method in BOOSTERS
    }
    return [Claims(claims(found)), table(found), Figure("curves", _CAPTION, lambda: draw(found))]


def claims(found: dict[tuple[str, str], Blocks]) -> list[Claim]:
    """Return the answers, for each data set."""
    made = []
    for data in PUBLIC:
        plain, favoured, complete = (found[data, method] for method in (PLAIN, FAVOURED, COMPLETE))
        for name, ends in (("early", (1, EARLY)), ("later", (EARLY, ROUNDS))):
            less = complete.mean(favoured.changes(*ends) - complete.changes(*ends))
            text = f"{data}: the complete search is more stable in {name} rounds than favoured stumps"
            made.append(claim_of_order(text, less, 2, what="changes saved per round"))
        more = complete.mean(complete.changes(1, ROUNDS) - plain.changes(1, ROUNDS))
        made.append(claim_of_equality(f"{data}: it is as stable as plain stumps", more, SAME, 2))
        for kind, name in (("weighted test", "weighted error"), ("test", "error")):
            for other in (favoured, plain):
                gain = complete.mean(other.at(ROUNDS, kind) - complete.at(ROUNDS, kind))
                rival = FAVOURED if other is favoured else PLAIN
                text = f"{data}: it has a lower {name} on test rows than {rival} (round {ROUNDS})"
                made.append(claim_of_order(text, gain, 2, what="saved"))
    return [asked(claim) for claim in made]


def table(found: dict[tuple[str, str], Blocks]) -> Table:
    """Return changes and errors."""
    cells: dict[tuple[str, str], Cell] = {}
    for (data, method), one in found.items():
        row = f"{data}: {method}"
        columns: dict[str, Estimate] = {
            f"change per round, 1 to {EARLY}": one.mean(one.changes(1, EARLY)),
            f"change per round, {EARLY} to {ROUNDS}": one.mean(one.changes(EARLY, ROUNDS)),
            "training error": one.mean(one.at(ROUNDS, "train")),
            "test error": one.mean(one.at(ROUNDS)),
            "weighted test error": one.mean(one.at(ROUNDS, "weighted test")),
        }
        cells |= {(row, column): Cell(value) for column, value in columns.items()}
    note = "In percent. Changes are those of the training error; errors are those of the last round."
    return Table("stability", "Stability, and errors", "data set and booster", cells, 2, note, drawn=False)


def draw(found: dict[tuple[str, str], Blocks]) -> Any:
    """Draw training errors of the first trial, and weighted errors on test rows, by round."""
    figure, axes = import_pyplot().subplots(2, len(PUBLIC), figsize=(12, 6), layout="constrained", sharex=True)
    for (above, below), data in zip(axes.T, PUBLIC):
        for k, method in enumerate(BOOSTERS):
            color, line, _ = look(k)
            one, style = found[data, method], {"color": color, "ls": line, "lw": 1.3}
            above.plot(ALL_ROUNDS, one.errors["train"][0], label=method, **style)
            below.plot(ALL_ROUNDS, one.errors["weighted test"].mean(axis=0), **style)
        above.set(title=data, ylim=(0.0, np.percentile(found[data, FAVOURED].errors["train"][0], 98) * 1.1))
        below.set(xlabel="round", ylim=(0.0, None))
        for axis in (above, below):
            axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("training error of a trial (%)")
    axes[1, 0].set_ylabel("weighted test error (%)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize="small")
    return figure


_CAPTION = (
    "Above, the training error of the first trial after each round, in which oscillations can be seen; below, the test "
    "error with weights that make the classes equal, mean of all trials."
)
PROTOCOL = f"""
The report tests *favoured stumps*, which multiply the exponent of the weights by a cost β but vote as plain ones do. It
finds them unstable, explains this by votes that do not know β, and closes: "It would be very informative to implement
the complete cost-sensitive algorithm". That algorithm (§2.4.4 with C = 0) chooses the split and the values of its two
sides that minimise Σ w exp(-β y h), so that votes and weights belong together.

- *Boosters*: {", ".join(BOOSTERS)}. {STEP.capitalize()} are what §2.4.4 proposes to save time: the split and the votes
  of plain stumps, times the step that minimises the same sum. β is that of the report, N-/N+ for a positive and N+/N-
  for a negative row, computed from training rows. The loss of the complete search depends on the ratio of the two β
  only, but favoured stumps depend on their size: β of a positive is 20 on hypothyroid. So these are also run with the
  larger β as 1.
- *Data, discretisation and trials* as in [cuendet-curves](cuendet-curves.md): kr-vs-kp, cleve and hypothyroid, at most
  {K} per attribute, {TRIALS} folds ({BLOCK} with `--quick`), {ROUNDS} rounds.
- *Stability* is the mean absolute change of the training error from round to round, in rounds 1 to {EARLY} and {EARLY}
  to {ROUNDS}. Up to {SAME:g} percentage points per round more count as equally stable (a guess made before the run).
- *Weighted error*: rows of a class have half of the weight.
- *Tests*: the corrected resampled t-test over trials, for each data set.
"""
DISCUSSION = """
## Discussion

**It cures most of the instability, where there is any.** On hypothyroid, with 20 negatives for a positive, the training
error of favoured stumps changes by 24 points per round in the first 20 rounds and by 4.1 later, that of the complete
search by 3.0 and 0.26. Plain stumps have 0.6 and 0.03, so that a part of it stays, in the first ten rounds above all:
votes that come a round late are not the only cause. On kr-vs-kp and cleve, whose classes are nearly of the same size,
favoured stumps are as stable as plain ones, and there is nothing to cure.

**It does not lead to lower errors.** The weighted error on hypothyroid is 4.8 % with the complete search, 5.2 % with
favoured and 7.4 % with plain stumps, with errors of 0.7 to 2.0; no difference is significant. Of all rows it has 8 %
wrong instead of 1.5 %. That is what the β of the report ask for: the loss exp(-β y h) is least at h = 0 where the odds
of a positive are β- to β+, here 1 to 400, and not 1 to 20, which would make the classes equal.

**Neither short cut is as good.** Cost-sensitive steps stop on hypothyroid at the decisions of the first stump (12 % of
the rows, 7.8 % of the weight). Favoured stumps with the larger β as 1 are stable from the start, and miss most
positives.
"""
EXPERIMENT = Experiment(
    name="cuendet-complete",
    title="Does the complete cost-sensitive search cure favoured stumps?",
    source="cuendet2002",
    shows="section 3.3",
    asks="Does the complete cost-sensitive search cure the instability of favoured stumps?",
    protocol=PROTOCOL,
    tasks=tasks,
    report=report,
    discussion=DISCUSSION,
)
