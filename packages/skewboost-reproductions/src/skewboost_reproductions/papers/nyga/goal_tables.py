"""Tables, claims and figures about classification goals, from the results of `nyga_goal_tasks`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skewboost.plots.style import BLUE, GREEN, GREY, INK, ORANGE, import_pyplot, look
from skewboost_reproductions.estimates import Estimate, difference, estimate
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.page_parts import Cell, Table
from skewboost_reproductions.papers.nyga.goal_tasks import (
    AIMS,
    AIRBAG,
    ALGORITHMS,
    BANANA,
    BY_COST,
    CANCER_95,
    CANCER_100,
    CERTIFIED,
    COMPOUND,
    CONFIDENCE,
    FIRE,
    INTRUSION,
    NUMBERS,
    PUBLIC_AIMS,
    RAISED,
    STAND_INS,
    TOLERANCE,
    TOO_FEW,
    Aim,
    at_equal_costs,
    match_arguments,
    matched,
    runs_of,
    search_arguments,
    searched,
    searches_of,
    ways,
)
from skewboost_reproductions.papers.nyga.problems import PROBLEMS, column
from skewboost_reproductions.papers.nyga.trials import on_sets, printed_row
from skewboost_reproductions.verdicts import (
    HELD,
    NOT_REPRODUCED,
    UNDECIDED,
    Claim,
    asked,
    claim_of_all,
    claim_of_equality,
    claim_of_fact,
    claim_of_order,
    on_stand_ins,
)

MARGIN = 0.01  # of F or the error, up to which algorithms count as equal
POWERS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)  # of ten, along an axis
AS_PRINTED = "chosen on test rows"
HOW = {AS_PRINTED: (ORANGE, "s"), BY_COST: (BLUE, "o"), CERTIFIED: (GREEN, "^")}


class Goals:
    """The results by goal and algorithm."""

    def __init__(self, results: Results, quick: bool) -> None:
        self.results, self.quick = results, quick

    def match(self, aim: Aim, algorithm: str, way: str) -> dict[str, Any]:
        """Return the result of `matched`."""
        found: dict[str, Any] = self.results.of(matched, *match_arguments(aim, algorithm, way, self.quick))
        return found

    def best_way(self, aim: Aim, algorithm: str) -> str:
        """Return the way that meets the goal, of two that do the one with the smaller error; else the closest one."""

        def rank(way: str) -> tuple[bool, float]:
            found = self.match(aim, algorithm, way)
            off = abs(self.mean(found, aim) - aim.rate)
            return not found["met"], float(np.mean(numbers(found, "error"))) if found["met"] else off

        return min(ways(algorithm), key=rank)

    @staticmethod
    def mean(found: Mapping[str, Any], aim: Aim) -> float:
        """Return the mean that was to be the rate."""
        return float(np.nanmean(numbers(found, aim.letter)))

    def best(self, aim: Aim, algorithm: str) -> dict[str, Any]:
        """Return the result of `matched` by the best way."""
        return self.match(aim, algorithm, self.best_way(aim, algorithm))

    def values(self, aim: Aim, algorithm: str, name: str) -> Any:
        """Return P, R, F or error by split."""
        return numbers(self.best(aim, algorithm), name)

    def equal(self, data: str, algorithm: str, measure: str) -> Any:
        """Return a measure with equal costs by split."""
        return column(self.results.of(at_equal_costs, data, algorithm, runs_of(data, self.quick)), measure)

    def searches(self, aim: Aim, algorithm: str, how: str) -> list[dict[str, Any]]:
        """Return the results of `searched` on all splits."""
        of_runs = search_arguments(aim, algorithm, how, self.quick)
        return [one for args in of_runs for one in self.results.of(searched, *args)]

    def searched_scores(self, aim: Aim, algorithm: str, how: str, letter: str) -> Any:
        """Return a measure on the test rows of the splits that have a model."""
        found = [one["scores"] for one in self.searches(aim, algorithm, how) if one["scores"] is not None]
        return column(found, f"{letter}+") if found else np.zeros(0)

    def reached(self, aim: Aim, algorithm: str, how: str) -> Any:
        """Return on which splits the test rows reach the goal. Where nothing is flagged, precision does not."""
        on_test = (
            self.values(aim, algorithm, aim.letter)
            if how == AS_PRINTED
            else self.searched_scores(aim, algorithm, how, aim.letter)
        )
        return np.asarray(on_test >= aim.rate - 1e-12)

    def falls_short(self, aim: Aim, algorithm: str, way: str) -> bool:
        """Whether no cost that was tried brings the mean up to the goal."""
        highest = max(mean for _, mean in self.match(aim, algorithm, way)["tried"] if mean is not None)
        return bool(highest < aim.rate - TOLERANCE - 1e-12)


def numbers(found: Mapping[str, Any], name: str) -> Any:
    """Return P, R, F or error by split, of a result of `matched`."""
    return np.asarray(found["each"], dtype=np.float64)[:, list(NUMBERS).index(name)]


def _over(aim: Aim, values: Any) -> Estimate:
    return estimate(values, PROBLEMS[aim.data].test_to_train)


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


# ------------------------------------------------------------------------ claims


def claims(goals: Goals) -> list[Claim]:
    """Return what the thesis says about the goals, and what it does not say."""
    return [*_claims_of_reaching(goals), *_claims_of_order(goals), *_claims_of_new_rows(goals)]


def _claims_of_reaching(goals: Goals) -> list[Claim]:
    either = [(aim, a) for aim in PUBLIC_AIMS for a in ALGORITHMS if not goals.best(aim, a)["met"]]
    n = len(PUBLIC_AIMS) * len(ALGORITHMS)
    by_intrusion = {(aim, a): goals.best(aim, a) for aim in INTRUSION for a in ALGORITHMS}
    reached = [f"{a} ({aim.label})" for (aim, a), found in by_intrusion.items() if found["met"]]
    others = {(aim, a): goals.best(aim, a) for aim in (FIRE, AIRBAG) for a in ALGORITHMS}
    missed = [(aim, a) for (aim, a), found in others.items() if not found["met"]]
    also = f"{len(others) - len(missed)} of {len(others)}{_nearest(goals, missed)}"
    none = f"reached by {', '.join(reached)}" if reached else "none"
    return [
        claim_of_fact(
            "Each algorithm succeeds in achieving each goal ± 10⁻³ (banana and cancer)",
            not either,
            f"{n - len(either)} of {n}{_nearest(goals, either)}",
        ),
        on_stand_ins(claim_of_fact("… also on fire and airbag (stand-ins)", not missed, also)),
        on_stand_ins(claim_of_fact("… but none on IDS (stand-in)", not reached, none)),
        *_claims_of_scaling(goals, PUBLIC_AIMS, "banana and cancer"),
        *map(on_stand_ins, _claims_of_scaling(goals, STAND_INS, "stand-ins")),
    ]


def _claims_of_scaling(goals: Goals, aims: Sequence[Aim], where: str) -> list[Claim]:
    """Return the claims that goals may be out of reach of the costs of one class, but not of those of the other."""
    all_ = [(aim, a) for aim in aims for a in ALGORITHMS]
    short = [(aim, a) for aim, a in all_ if goals.falls_short(aim, a, RAISED)]
    still = [(aim, a) for aim, a in short if all(goals.falls_short(aim, a, way) for way in ways(a))]
    text = "Each algorithm succeeds in a second run, with the costs of the less important class scaled down"
    second = f"{len(short) - len(still)} of these {len(short)}; only AdaC3 depends on more than the ratio of the costs"
    run = claim_of_fact(f"{text} ({where})", not still, second)
    return [
        claim_of_fact(
            f"A goal is not guaranteed to be reachable by scaling up the costs of the important class ({where})",
            bool(short),
            f"{len(short)} of {len(all_)} stay below at all costs{_nearest(goals, short)}",
        ),
        run if short else replace(run, verdict=UNDECIDED),  # of none it says nothing
    ]


def _nearest(goals: Goals, missed: Sequence[tuple[Aim, str]]) -> str:
    if not missed:
        return ""
    texts = [f"{a}, {aim.title}: {goals.mean(goals.best(aim, a), aim):.3f}" for aim, a in missed]
    return f"; nearest: {'; '.join(texts)}"


def _claims_of_order(goals: Goals) -> list[Claim]:
    groups = {"banana": BANANA, "cancer, R = 95 %": (CANCER_95,), "cancer, R = 100 %": (CANCER_100,)}
    discrete = np.mean([goals.values(CANCER_95, a, "P") for a in COMPOUND], axis=0)
    others = np.mean([goals.values(CANCER_95, a, "P") for a in ALGORITHMS if a not in COMPOUND], axis=0)
    of_banana = {a: _mean_of(goals, BANANA, a, "F") for a in ALGORITHMS}
    rest = np.mean([f for a, f in of_banana.items() if a != "AdaC3"], axis=0)
    return [
        *(_claim_of_no_winner(goals, name, aims, by) for name, aims in groups.items() for by in ("error", "F")),
        claim_of_order(
            "Cancer at R = 95 %: CSRA, CSGA and CSLB are more precise than AdaC2 and AdaC3 (by 0.028 in table 3.5)",
            difference(others, discrete, PROBLEMS["cancer"].test_to_train),
        ),
        claim_of_order(
            "Banana: AdaC3 has a lower F than the others (by 0.031 in table 3.5)", difference(rest, of_banana["AdaC3"])
        ),
        claim_of_all(
            "Recall is paid for by precision: banana, P at R = 85 % less P at R = 95 %",
            {a: difference(goals.values(BANANA[0], a, "P"), goals.values(BANANA[-1], a, "P")) for a in ALGORITHMS},
        ),
        claim_of_all(
            "… cancer, P at R = 95 % less P at R = 100 %",
            {
                a: difference(
                    goals.values(CANCER_95, a, "P"), goals.values(CANCER_100, a, "P"), PROBLEMS["cancer"].test_to_train
                )
                for a in ALGORITHMS
            },
        ),
        *(_claim_of_suffering(goals, aim) for aim in (FIRE, AIRBAG)),
    ]


def _mean_of(goals: Goals, aims: Sequence[Aim], algorithm: str, name: str) -> Any:
    return np.mean([goals.values(aim, algorithm, name) for aim in aims], axis=0)


def _claim_of_no_winner(goals: Goals, name: str, aims: Sequence[Aim], by: str) -> Claim:
    """Return the claim that of those that reach the goals the best is hardly better than the next one."""
    met = [a for a in ALGORITHMS if all(goals.best(aim, a)["met"] for aim in aims)]
    text = f"No algorithm clearly outperforms the others (here: {by} of the best two; {name})"
    if len(met) < 2:
        return Claim(text, UNDECIDED, "fewer than two algorithms reach the goals")
    found = {a: _mean_of(goals, aims, a, by) for a in met}
    first, second = sorted(found, key=lambda a: float(found[a].mean()) * (1 if by == "error" else -1))[:2]
    apart = difference(found[first], found[second], PROBLEMS[aims[0].data].test_to_train)
    claim = claim_of_equality(text, apart, MARGIN)
    return Claim(claim.text, claim.verdict, f"{first}, {second}: {claim.evidence}")


def _claim_of_suffering(goals: Goals, aim: Aim) -> Claim:
    """Return the claim that recall falls far below that with equal costs."""
    ratio = PROBLEMS[aim.data].test_to_train
    lost = {a: difference(goals.equal(aim.data, a, "R+"), goals.values(aim, a, "R"), ratio) for a in ALGORITHMS}
    text = (
        f"{PROBLEMS[aim.data].label}: recall suffers from the goal P = 100 % (recall at equal costs less at the goal)"
    )
    return on_sets(claim_of_all(text, lost), [aim.data])


def _claims_of_new_rows(goals: Goals) -> list[Claim]:
    by_cost, certified = (_share_by_pair(goals, how) for how in (BY_COST, CERTIFIED))
    text = "Not in the thesis: without a certificate, goals on banana hold in about half of the cases (30 to 70 %)"
    half = claim_of_equality(text, Estimate(by_cost.mean - 0.5, by_cost.error, by_cost.n), 0.2)
    text = f"Not in the thesis: certified goals on banana hold in at least {_percent(CONFIDENCE)}"
    return [asked(replace(half, evidence=_in_searches(by_cost))), asked(claim_of_promise(text, certified))]


def _in_searches(share: Estimate) -> str:
    return f"in {share.text(2)} of the searches that returned a model, by pair of training and test rows"


def _share_by_pair(goals: Goals, how: str) -> Estimate:
    """Return in how many of the searches on a pair of banana that returned a model the test rows reach the goal."""
    shares = []
    for run in range(searches_of("banana", goals.quick)[0]):
        found = [(aim, goals.searches(aim, a, how)[run]["scores"]) for aim in BANANA for a in ALGORITHMS]
        hits = [float(column(s, "R+")) >= aim.rate for aim, s in found if s is not None]
        shares.append(np.mean(hits) if hits else math.nan)
    return estimate(shares)


def claim_of_promise(text: str, share: Estimate) -> Claim:
    """Return the claim that a share is at least the confidence, by its 95 % confidence interval."""
    low, high = share.interval()
    verdict = HELD if low >= CONFIDENCE else NOT_REPRODUCED if high < CONFIDENCE else UNDECIDED
    return Claim(text, verdict, _in_searches(share))


# ------------------------------------------------------------------------ tables


def table_of(goals: Goals, name: str, title: str, aims: Sequence[Aim], public: bool) -> Table:
    """Return P, R and F at the goals, next to the printed ones if the data are those of the thesis."""
    cells = {}
    for aim in aims:
        for a in ALGORITHMS:
            row = f"{aim.label if public else aim.title}, {a}"
            paper = printed_row("goals", data=aim.data, goal=aim.label, algorithm=a) if public else {}
            for letter in NUMBERS:
                cells[row, letter] = Cell(_over(aim, goals.values(aim, a, letter)), paper.get(letter))
            if not public:
                flagging = float(np.isfinite(goals.values(aim, a, "P")).mean())
                cells[row, "parts with flags"] = Cell(Estimate(flagging))
    note = (_spreads(goals, aims) if public else _FLAGS) + _note_on_unmet(goals, aims)
    return Table(name, title, "goal", cells, note=note, drawn=public)


def _spreads(goals: Goals, aims: Sequence[Aim]) -> str:
    spreads = {a: [float(np.std(goals.values(aim, a, "R"), ddof=1)) for aim in aims] for a in ALGORITHMS}
    texts = [f"{a} {', '.join(f'{spread:.3f}' for spread in of_aims)}" for a, of_aims in spreads.items()]
    labels = ", ".join(aim.label for aim in aims)
    return f"Standard deviations of R over test parts, at {labels}: {'; '.join(texts)}."


def _note_on_unmet(goals: Goals, aims: Sequence[Aim]) -> str:
    unmet = [f"{a} ({aim.title})" for aim in aims for a in ALGORITHMS if not goals.best(aim, a)["met"]]
    return f" No cost reaches the goal, and the nearest one is shown, for {', '.join(unmet)}." if unmet else ""


def text_on_costs(goals: Goals) -> str:
    """Return a table of the costs that were found, as Markdown."""
    lines = [
        "### Costs that were found",
        "",
        "| goal | algorithm | cost of a miss / of a false alarm | mean | costs tried |",
    ]
    lines.append("| --- | --- | --- | --- | --- |")
    for aim in AIMS:
        for a in ALGORITHMS:
            for way in ways(a):
                found = goals.match(aim, a, way)
                name = a if len(ways(a)) == 1 else f"{a}, {way}"
                met = f"{goals.mean(found, aim):.4f}{'' if found['met'] else ' (not reached)'}"
                lines.append(f"| {aim.title} | {name} | {found['cost']:.6g} | {met} | {len(found['tried'])} |")
    return "\n".join(lines) + "\n\n" + _ABOUT_COSTS


def table_of_searches(goals: Goals, aims: Sequence[Aim]) -> Table:
    """Return what `GoalSearchCV` reaches on test rows, with and without a certificate."""
    cells = {}
    for aim in aims:
        for a in ALGORITHMS:
            row = f"{aim.title}, {a}"
            cells[row, f"reached, {AS_PRINTED}"] = Cell(_over(aim, goals.reached(aim, a, AS_PRINTED).astype(float)))
            for how in (BY_COST, CERTIFIED):
                found = goals.searches(aim, a, how)
                given = [float(one["refused"] is None) for one in found]
                cells[row, f"model, {how}"] = Cell(Estimate(float(np.mean(given))))
                for letter in "PR":
                    own = goals.searched_scores(aim, a, how, letter)
                    cells[row, f"{letter}, {how}"] = Cell(_over(aim, own))
                cells[row, f"reached, {how}"] = Cell(_over(aim, goals.reached(aim, a, how).astype(float)))
    few = sum(
        one["refused"] == TOO_FEW for aim in aims for a in ALGORITHMS for one in goals.searches(aim, a, CERTIFIED)
    )
    all_ = sum(len(goals.searches(aim, a, CERTIFIED)) for aim in aims for a in ALGORITHMS)
    note = f"{_ABOUT_SEARCHES} Of {all_} certificates {few} are impossible because there are too few rows"
    note += ", or because no number of rows shows 100 %."
    return Table("searches", "Goals on new rows: GoalSearchCV", "goal", cells, digits=2, note=note, drawn=False)


_FLAGS = (
    "*parts with flags*: the share of test parts in which a row is predicted to be positive. The others are left "
    "out of the mean of P, and have F = 0."
)
_ABOUT_COSTS = (
    "With *raised* the cost of the important class is varied, with *lowered* that of the other one. All algorithms but "
    "AdaC3 depend on the ratio only, so both give the same models, and one is shown."
)
_ABOUT_SEARCHES = (
    "*model*: the share of the searches that returned a model; *P*, *R*: its means on test rows; *reached*: the share "
    "of these models whose test rows reach the goal, for costs chosen on test rows the share of test parts."
)


# ------------------------------------------------------------------------ figures


def draw_costs(goals: Goals) -> Any:
    """Draw mean recall by the cost that a row has gathered after all rounds."""
    plt = import_pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    for axis, aims in zip(axes, (BANANA, (CANCER_95, CANCER_100))):
        rounds = PROBLEMS[aims[0].data].rounds
        for k, a in enumerate(ALGORITHMS):
            color, line, marker = look(k)
            points = {c: r for aim in aims for c, r in goals.match(aim, a, RAISED)["tried"] if c >= 1.0}
            costs = np.array(sorted(points))
            gathered = np.log10(costs) * (rounds if a in COMPOUND else 1.0)
            axis.plot(gathered, [points[c] for c in costs], color=color, ls=line, marker=marker, ms=3, lw=1, label=a)
        for aim in aims:
            axis.axhline(aim.rate, color=GREY, lw=0.8, zorder=0)
        axis.set_xscale("symlog", linthresh=1.0)
        axis.set_xlim(left=-0.05)
        ticks = [power for power in POWERS if power <= axis.get_xlim()[1]]
        axis.set_xticks(ticks, [f"{power:g}" for power in ticks])
        axis.set_xticks([], minor=True)
        axis.set(xlabel="log10 of the cost of a miss, over all rounds", title=PROBLEMS[aims[0].data].label)
    axes[0].set_ylabel("mean recall on test rows")
    axes[1].legend(frameon=False, fontsize="small", loc="lower right")
    return figure


def draw_reached(goals: Goals) -> Any:
    """Draw recall on the test rows of each split: chosen there, cross-validated, and certified."""
    plt = import_pyplot()
    aims = (*BANANA, CANCER_95)
    figure, axes = plt.subplots(1, len(aims), figsize=(12, 4.2), sharey=True, layout="constrained")
    for axis, aim in zip(axes, aims):
        for j, (how, (color, marker)) in enumerate(HOW.items()):
            for k, a in enumerate(ALGORITHMS):
                recalls = goals.values(aim, a, "R") if how == AS_PRINTED else goals.searched_scores(aim, a, how, "R")
                place = np.full(len(recalls), k + 0.25 * (j - 1))
                axis.plot(
                    recalls, place, marker, color=color, ms=4, mfc="none", alpha=0.6, label=how if k == 0 else None
                )
                if len(recalls):
                    axis.plot([recalls.mean()] * 2, place[:1] + np.array([-0.1, 0.1]), color=color, lw=2.5)
        axis.axvline(aim.rate, color=INK, lw=1)
        axis.set(xlabel="recall on test rows", title=aim.title)
        axis.set_yticks(range(len(ALGORITHMS)), ALGORITHMS)
        axis.set_ylim(len(ALGORITHMS) - 0.5, -0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure
