"""Bagging, boosting, voting and output codes: the worked examples of lecture slides after Tan, Steinbach and Kumar."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skewboost.evaluate import majority_vote_error
from skewboost_reproductions.estimates import Estimate, difference, estimate
from skewboost_reproductions.experiment import Experiment, Results, Task
from skewboost_reproductions.page_parts import Cell, Claims, Figure, Part, Table
from skewboost_reproductions.papers.slides.drawings import draw_bagging, draw_boosting, draw_codes, draw_majority
from skewboost_reproductions.papers.slides.work import (
    BAGS,
    BLOCK,
    CODE,
    POINTS,
    SIZE,
    STRINGS,
    X,
    Y,
    bagging,
    boosting,
    decoded_with_errors,
    decoding,
    drawn,
    estimates_of_errors,
    random_ensembles,
)
from skewboost_reproductions.printed import printed
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_fact, claim_of_order

COLUMNS = [f"x = {x:.1f}" for x in X]
OTHER = "sum, AdaBoost's error"


def blocks(quick: bool) -> range:
    """Return the first seeds of the tasks with random samples."""
    return range(0, BLOCK * (2 if quick else 20), BLOCK)


def tasks(quick: bool) -> list[Task]:
    """Return the printed examples, and random samples beside them."""
    examples = [Task(bagging), Task(boosting, True), Task(boosting, False), Task(decoding)]
    return [
        *examples,
        *(Task(work, first) for work in (random_ensembles, estimates_of_errors) for first in blocks(quick)),
    ]


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    bags, codes = results.of(bagging), results.of(decoding)
    readings = {"The error divided by N": results.of(boosting, True), "AdaBoost's error": results.of(boosting, False)}
    slipped, usual = readings.values()
    ensembles, errors = (
        np.array([row for first in blocks(quick) for row in results.of(work, first)])
        for work in (random_ensembles, estimates_of_errors)
    )
    return [
        Claims(
            [
                *_claims_of_probabilities(ensembles),
                *_claims_of_bagging(bags, ensembles, errors),
                *_claims_of_boosting(slipped, usual),
                _claim_of_codes(codes),
            ]
        ),
        _table_of_probabilities(),
        Figure("majority", _CAPTION_MAJORITY, lambda: draw_majority(*ensembles.T[1:3])),
        _table_of_stumps("5.35", "Figure 5.35: the stumps of bagging", bags, _NOTE_5_35),
        _table_of_rows("5.36", "Figure 5.36: what they say", _votes(bags), 0),
        Figure("bagging", _CAPTION_BAGGING, lambda: draw_bagging(X, Y, bags, drawn(5.35))),
        _table_of_random_samples(ensembles),
        _table_of_estimates(errors),
        _table_of_stumps("5.39", "Figure 5.39(a): the stumps of boosting", slipped["rounds"], _NOTE_5_39),
        _table_of_steps(readings),
        _table_of_rows("5.38", "Figure 5.38(b): the weights of the rows", _weights(slipped, usual), 3, _NOTE_5_38),
        _table_of_rows("5.39", "Figure 5.39(b): the sums", {"sum": slipped["F"], OTHER: usual["F"]}, 3),
        Figure("boosting", _CAPTION_BOOSTING, lambda: draw_boosting(X, Y, readings)),
        _table_of_codes(codes),
        Figure("codes", _CAPTION_CODES, lambda: draw_codes(STRINGS, codes["distances"], CODE)),
    ]


def _claims_of_probabilities(ensembles: Any) -> list[Claim]:
    p, apart = majority_vote_error(25, 0.35), estimate(ensembles[:, 0] - (1.0 - 0.9**10))
    text = "The majority of 25 independent classifiers that err with probability 0.35 errs with 0.06"
    powers = f"{0.9**10:.3f} for n = 10, {0.999**1000:.4f} for n = 1000, {math.exp(-1.0):.4f} in the limit"
    return [
        claim_of_fact(text, round(p, 2) == 0.06, f"{p:.4f}"),
        claim_of_fact("(1 - 1/n)^n is about 0.368", round(math.exp(-1.0), 3) == 0.368, powers),
        claim_of_equality("A row is in a bootstrap sample with probability 1 - (1 - 1/n)^n, n = 10", apart, 0.005),
    ]


def _claims_of_bagging(bags: list[Any], ensembles: Any, errors: Any) -> list[Claim]:
    cuts = [_has_the_cut(bag, row) for bag, row in zip(bags, _stumps(5.35))]
    none = [str(k) for k, bag in enumerate(bags, 1) if math.isnan(bag["cut"])]
    votes, paper = _votes(bags), _rows(5.36)
    same = sum(votes[name] == row for name, row in paper.items())
    return [
        claim_of_fact(
            "Figure 5.35: the cuts of the ten stumps, and their classes",
            all(cuts),
            f"{sum(cuts)} of {SIZE} equal; rounds {' and '.join(none)} have no cut here, because a constant is best",
        ),
        claim_of_fact("Figure 5.36: what they say, and the sums", same == len(paper), f"{same} of {len(paper)} rows"),
        claim_of_fact("Figure 5.36: the accuracy of the ensemble is 100 %", votes["sign"] == Y.tolist(), "10 of 10"),
        claim_of_order(
            "Bagging increases accuracy (here: error of the members less that of ten of them, for random samples)",
            difference(ensembles[:, 1], ensembles[:, 2]),
        ),
        claim_of_equality(
            "The error out of bag estimates the generalisation error", difference(errors[:, 0], errors[:, 2]), 0.03
        ),
    ]


def _claims_of_boosting(slipped: dict[str, Any], usual: dict[str, Any]) -> list[Claim]:
    stumps, paper = _stumps(5.39), _weights_of_slides()
    labels = {f"round {k}": r["labels"] for k, r in enumerate(slipped["rounds"], 1)}
    equal = sum(_rows(5.39)[name] == said for name, said in labels.items())
    steps = [", ".join(f"{r['alpha']:.4f}" for r in b["rounds"]) for b in (slipped, usual)]
    as_printed = [
        all(abs(r["alpha"] - row["alpha"]) < 1e-3 for r, row in zip(b["rounds"], stumps)) for b in (slipped, usual)
    ]
    weights = np.array([r["weights"] for r in slipped["rounds"]])
    n_equal = int((np.abs(weights - paper) < 6e-4).sum())
    off = f"{n_equal} of 30 equal; three are {weights[2, 9]:.4f}, printed as 0.009"
    apart = np.abs(np.array(slipped["F"]) - _rows(5.39)["sum"]).max()
    correct = all((np.sign(b["F"]) == Y).all() for b in (slipped, usual))
    return [
        claim_of_fact("Figure 5.39: what the three stumps say about the ten rows", equal == 3, f"{equal} of 3 equal"),
        claim_of_fact(
            "Figure 5.39: the cuts of the three stumps, and their classes",
            all(_has_the_cut(r, row) for r, row in zip(slipped["rounds"], stumps)),
            "; ".join(f"{_in_words(r['cut'])}, printed {row['cut']:.2f}" for r, row in zip(slipped["rounds"], stumps)),
        ),
        claim_of_fact(
            "Figure 5.39: the steps, by the second definition of the error, (1/N) Σ w", as_printed[0], steps[0]
        ),
        claim_of_fact("Figure 5.39: the steps, by the first definition of the error, Σ w", as_printed[1], steps[1]),
        claim_of_fact("Figure 5.38: the weights, with the error divided by N", n_equal == 30, off),
        claim_of_fact("Figure 5.39: the sums, with the error divided by N", apart < 6e-3, f"at most {apart:.4f} apart"),
        claim_of_fact("Three rounds classify all rows, with either error", correct, "10 of 10"),
    ]


def _claim_of_codes(codes: dict[str, Any]) -> Claim:
    right = decoded_with_errors(codes["distances"])[1][0]
    text = "The nearest codeword is that of the true class, if one of the seven classifiers errs"
    return claim_of_fact(text, right == 28, f"{right} of 28 strings; codewords differ in {codes['smallest']:g} bits")


def _stumps(figure: float) -> list[dict[str, Any]]:
    return [row for row in printed("slides", "stumps") if row["figure"] == figure]


def _rows(figure: float) -> dict[str, list[float]]:
    rows = [row for row in printed("slides", "rows") if row["figure"] == figure]
    return {_name(row["row"]): [row[column] for column in COLUMNS] for row in rows}


def _name(row: Any) -> str:
    return row if isinstance(row, str) else f"round {row:g}"


def _weights_of_slides() -> Any:
    return np.array(list(_rows(5.38).values()))


def _has_the_cut(ours: dict[str, Any], paper: dict[str, Any]) -> bool:
    """Whether two stumps have the same cut and classes; a constant, whose cut is NaN, has no cut."""
    return bool((ours["cut"], ours["left"], ours["right"]) == (paper["cut"], paper["left"], paper["right"]))


def _in_words(cut: float) -> str:
    return "no cut" if math.isnan(cut) else f"{cut:.2f}"


def _votes(bags: list[Any]) -> dict[str, list[float]]:
    """Return the rows of figure 5.36."""
    votes = np.array([bag["labels"] for bag in bags])
    rows = {f"round {k}": labels for k, labels in enumerate(votes.tolist(), 1)}
    total = votes.sum(axis=0)
    return {**rows, "sum": total.tolist(), "sign": np.sign(total).tolist(), "true class": Y.tolist()}


def _weights(slipped: dict[str, Any], usual: dict[str, Any]) -> dict[str, list[float]]:
    """Return the rows of figure 5.38(b), and those without the slip."""
    rows = {f"round {k}": r["weights"] for k, r in enumerate(slipped["rounds"], 1)}
    return rows | {f"round {k}, AdaBoost's error": r["weights"] for k, r in enumerate(usual["rounds"][1:], 2)}


def _table_of_probabilities() -> Table:
    both = {
        "majority of 25 wrong, each with 0.35": (majority_vote_error(25, 0.35), 0.06),
        "not in a bootstrap sample of 10": (0.9**10, None),
        "not in a bootstrap sample, limit": (math.exp(-1.0), 0.368),
        "in a bootstrap sample, limit": (1.0 - math.exp(-1.0), 0.632),
    }
    cells = {(name, "probability"): Cell(Estimate(p), paper) for name, (p, paper) in both.items()}
    return Table("probabilities", "Majority votes and bootstrap samples", "event", cells, 4, drawn=False)


def _table_of_random_samples(ensembles: Any) -> Table:
    names = ("a stump", f"majority of {SIZE} stumps", f"{SIZE} rounds of boosting by resampling")
    cells = {}
    for name, errors in zip(names, ensembles.T[1:]):
        cells[name, "error on the ten rows"] = Cell(estimate(errors))
        cells[name, "share without an error"] = (
            Cell(estimate(errors == 0.0)) if name != names[0] else Cell(estimate([]))
        )
    return Table("random", "Random samples instead of the printed ones", "", cells, drawn=False)


def _table_of_estimates(errors: Any) -> Table:
    cells = {}
    for k, name in enumerate((f"{BAGS} bagged stumps, out of bag", "one stump, 0.632 bootstrap")):
        cells[name, "estimated error"] = Cell(estimate(errors[:, k]))
        cells[name, "error on the whole line"] = Cell(estimate(errors[:, 2 + k]))
        cells[name, "difference"] = Cell(difference(errors[:, k], errors[:, 2 + k]))
    return Table("estimates", f"Estimates of errors on {POINTS} random points", "", cells, drawn=False)


def _table_of_stumps(figure: str, title: str, found: list[Any], note: str) -> Table:
    cells = {}
    for k, (ours, paper) in enumerate(zip(found, _stumps(float(figure))), 1):
        left = math.nan if math.isnan(ours["cut"]) else ours["left"]
        cells[f"round {k}", "cut"] = Cell(Estimate(ours["cut"]), paper["cut"])
        cells[f"round {k}", "class on its left"] = Cell(Estimate(left), paper["left"])
        cells[f"round {k}", "class on its right"] = Cell(Estimate(ours["right"]), paper["right"])
    return Table(f"{figure}-stumps", title, "", cells, 2, note, drawn=False)


def _table_of_steps(readings: dict[str, dict[str, Any]]) -> Table:
    cells = {
        (f"round {k}", name): Cell(Estimate(r["alpha"]), paper["alpha"])
        for name, found in readings.items()
        for k, (r, paper) in enumerate(zip(found["rounds"], _stumps(5.39)), 1)
    }
    return Table("5.39-steps", "Figure 5.39(a): the steps", "", cells, 4, drawn=False)


def _table_of_rows(figure: str, title: str, rows: dict[str, list[float]], digits: int, note: str = "") -> Table:
    paper = _rows(float(figure))
    cells = {
        (name, column): Cell(Estimate(value), paper[name][k] if name in paper else None)
        for name, values in rows.items()
        for k, (column, value) in enumerate(zip(COLUMNS, values))
    }
    return Table(f"{figure}-rows", title, "", cells, digits, note, drawn=False)


def _table_of_codes(codes: dict[str, Any]) -> Table:
    columns = ("right class", "tie with it", "another class")
    cells = {
        (f"{n_wrong} bits wrong", column): Cell(Estimate(count))
        for n_wrong, counts in enumerate(decoded_with_errors(codes["distances"]))
        for column, count in zip(columns, counts)
    }
    return Table("codes", "The code of seven bits: strings by their nearest codeword", "", cells, 0, drawn=False)


_NOTE_5_35 = """\
Ours has no cut where a constant is best. The slides print one that has the same class on both sides or no row on its
left."""
_NOTE_5_38 = "The printed 0.009 of round 3 is a slip for 0.0009: printed so, the weights of the round sum to 1.026."
_NOTE_5_39 = """\
The second sample has rows of one class only, so ours has no cut; no row is on the left of the printed one."""
_CAPTION_MAJORITY = """\
The error of the majority over the error of one classifier. Members of a bagged ensemble are not independent: the star
is the mean of random ensembles of ten stumps on the ten rows."""
_CAPTION_BAGGING = """\
Figure 5.35 and 5.36: points are rows that were drawn, larger if drawn more often; the colour is what the stump says."""
_CAPTION_BOOSTING = """\
Figures 5.38 and 5.39, with the error as printed and with AdaBoost's: larger points have larger weights in the round."""
_CAPTION_CODES = "All strings that seven classifiers may return; d is the distance to the nearest codeword."
N_ENSEMBLES, N_QUICK = (BLOCK * len(blocks(quick)) for quick in (False, True))
PROTOCOL = f"""
Lecture slides on ensemble learning, class imbalance and multi-class problems. They do not name their source; figures
5.35 to 5.39 and algorithm 5.7 are numbered as in the book cited above. Ten rows, x = 0.1, 0.2, …, 1, with class +1 up
to 0.3 and from 0.8, and -1 between.

- *Bagging*: a stump of least error is fitted to each of the ten printed samples. Constants compete. Of equal cuts the
  lowest is taken (round 5 is a tie).
- *Boosting*: three rounds of AdaBoost on the printed samples, with the error of each stump measured on all ten rows.
  The slides have two definitions of the weighted error, Σ w and (1/N) Σ w over the rows that are wrong. As the weights
  sum to 1, the second one, which is that of algorithm 5.7, is a slip. Both are run.
- *Codes*: four classes with codewords of seven bits. Seven classifiers that read one bit each are combined by
  `CodeMatrixClassifier`, for all 128 strings.

The slides have one draw of each example. To see how typical it is, bagging and boosting by resampling, with {SIZE}
stumps, are repeated with {N_ENSEMBLES} random sets of samples ({N_QUICK} with `--quick`), where a tie of votes is half
an error. The error out of bag of {BAGS} stumps, and that of one stump by the 0.632 bootstrap with as many draws, are
compared with the error on the whole line, for {POINTS} points drawn from the interval from 0.05 to 1.05,
{N_ENSEMBLES // 5} times ({N_QUICK // 5} with `--quick`). A difference of up to 0.03 counts as equal.
"""
DISCUSSION = """
## Discussion

*What is exact.* All predictions and votes of figures 5.36 and 5.39, and the steps and sums of figure 5.39 to the
printed digits. Where a constant is best, the slides print a cut that separates nothing: in rounds 2 and 10 of bagging,
and in round 2 of boosting. All other cuts are the printed ones, but for round 3 of boosting, where every place between
the drawn rows at 0.2 and 0.4 separates them: the slides print 0.3, and the library cuts between the rows of the
training set, drawn or not. Two numbers are slips of the slides. The steps follow from an error that is divided by N
although the weights sum to 1; AdaBoost's own steps are 0.42, 0.46 and 0.87 instead of 1.74, 2.78 and 4.12. The slip
changes how fast the weights move: after the first round the three rows that are wrong have 93 % of the weight instead
of one half. And the last three weights of round 3 are 0.0009, not 0.009.

*The samples of bagging are lucky.* Every stump is wrong on at least three of the ten rows. The majority of ten bagged
ones has no error for one random set of samples in twenty, and errs on 24 % of the rows on average, where a single stump
errs on 34 %. Bagging reduces variance, but most of the error here is bias. Ten rounds of boosting, which also are on
random samples, have no error in 98 of 100 cases.

*Independence.* If ten classifiers that err with probability 0.335 were independent, their majority would err with
probability 0.15. The formula for 25 classifiers is about such a case; bagged stumps make the same mistakes.

*Estimates of errors.* The error out of bag is right on average. The 0.632 bootstrap of a single stump is too low by
0.02, as it counts the training rows with 0.368.
"""
EXPERIMENT = Experiment(
    name="slides-examples",
    title="Bagging, boosting and output codes on the examples of lecture slides",
    source="tan2005",
    shows="figures 5.35 to 5.39, the majority of 25 classifiers, bootstrap samples, and a code of seven bits",
    protocol=PROTOCOL,
    tasks=tasks,
    report=report,
    discussion=DISCUSSION,
)
