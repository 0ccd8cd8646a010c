"""Faces: the cost of errors of cost-sensitive boosters on Haar features (Masnadi-Shirazi and Vasconcelos 2007)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skewboost import (
    AdaBoostClassifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    CSAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
)
from skewboost.datasets import fetch_faces
from skewboost.engine.table import PreparedTable
from skewboost.features import HaarFeatures
from skewboost.metrics import Counts
from skewboost.plots.style import import_pyplot, look
from skewboost_reproductions.estimates import difference, estimate
from skewboost_reproductions.experiment import Experiment, Results, Task
from skewboost_reproductions.page_parts import Cell, Claims, Figure, Part, Table
from skewboost_reproductions.verdicts import Claim, claim_of_order, on_stand_ins

FACTORS = (10, 20, 50, 100)  # what a miss costs in the evaluation, in false alarms
ROUNDS = 100
TRAINED = 6000 / 9832  # of the images of each class, as in the paper
PER = 1000  # test images that costs are given for
COSTS = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)  # of training, C2 = 1
EVERY_ROUND = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)  # of algorithms that apply them in each round
ALGORITHMS: dict[str, tuple[Callable[[float], Any], tuple[float, ...]]] = {
    "CS-Ada": (lambda c: CSAdaBoostClassifier(cost=c), COSTS),
    "AdaBoost": (lambda c: AdaBoostClassifier(), (1.0,)),
    "CSB0": (lambda c: CSB0Classifier(cost=c), EVERY_ROUND),
    "CSB1": (lambda c: CSB1Classifier(cost=c), EVERY_ROUND),
    "CSB2": (lambda c: CSB2Classifier(cost=c), EVERY_ROUND),
    "AdaC2": (lambda c: AdaC2Classifier(cost=c), EVERY_ROUND),
    "AdaC3": (lambda c: AdaC3Classifier(cost=c, as_printed=True), EVERY_ROUND),
    "AdaCost": (lambda c: AdaCostClassifier(cost={1: 0.5, 0: 0.5 / c}), COSTS),
}
OLD = tuple(name for name in ALGORITHMS if name not in ("CS-Ada", "AdaBoost"))
GRIDS: dict[str, dict[str, Any]] = {
    "coarse": {"min_size": 2, "size_step": 2, "step": 2},
    "fine": {"min_size": 2, "step": 2},
}
SHOWN_COSTS, SHOWN_ROUNDS = (1.0, 3.0, 10.0, 100.0), (1, 3, 10, 30, 100)  # of the table by rounds
QUICK = {"CS-Ada": (1.2, 10.0, 200.0), "AdaBoost": (1.0,), "AdaCost": (1.2, 10.0)}
QUICK |= dict.fromkeys(("CSB0", "CSB1", "CSB2", "AdaC2", "AdaC3"), (1.02, 1.2))


def halves_of_the_images(split: int) -> tuple[Any, Any, Any]:
    """Return the numbers of the training images, and those of two halves of the test images; classes are equal."""
    _, y = fetch_faces("train")
    rng = np.random.default_rng(split)
    n = int(np.sum(y == 1))
    train, one, other = [], [], []
    for label in (1, 0):
        chosen = rng.permutation(np.flatnonzero(y == label))[:n]
        cut = round(TRAINED * n)
        train.append(chosen[:cut])
        one.append(chosen[cut::2])
        other.append(chosen[cut + 1 :: 2])
    return np.concatenate(train), np.concatenate(one), np.concatenate(other)


def best_cost(positive: Any, scores: Any, factor: float) -> tuple[float, float]:
    """Return the threshold with the least false positives plus `factor` times misses, and that cost per image."""
    thresholds, counts = Counts.at_thresholds(positive, scores)
    costs = (counts.fp + factor * counts.fn) / len(positive)
    k = int(np.argmin(costs))
    return float(thresholds[k]), float(costs[k])


def cost_at(positive: Any, scores: Any, factor: float, threshold: float) -> float:
    """Return the false positives plus `factor` times misses at a threshold, per image."""
    counts = Counts.of(positive, scores >= threshold)
    return float(counts.fp + factor * counts.fn) / len(positive)


def detect(algorithm: str, split: int, grid: str, quick: bool) -> dict[str, Any]:
    """Train with every cost; return costs per image, by the factor of the evaluation.

    ``plain``: for each training cost, with the detector's own threshold. ``best``: with the best training cost and
    threshold of the test images, as in the paper. ``honest``: with those of the other half of the test images.
    """
    images, y = fetch_faces("train")
    train, *halves = halves_of_the_images(split)
    table = HaarFeatures(**GRIDS[grid]).fit_transform(images.reshape(len(images), -1))
    make, costs = ALGORITHMS[algorithm]
    prepared = PreparedTable(AdaBoostClassifier(), table[train])
    found = []
    for cost in QUICK[algorithm] if quick else costs:
        model = make(cost).set_params(n_estimators=ROUNDS).fit(prepared, y[train])
        found.append([(y[rows] == 1, model.decision_function(table[rows])) for rows in halves])
    whole: list[Any] = [[np.concatenate(parts) for parts in zip(*scored)] for scored in found]
    return {
        "plain": [[cost_at(positive, F, f, 0.0) for f in FACTORS] for positive, F in whole],
        "best": [min(best_cost(positive, F, f)[1] for positive, F in whole) for f in FACTORS],
        "honest": [_cost_of_chosen(found, f) for f in FACTORS],
    }


def errors_by_round(split: int, grid: str) -> list[list[list[float]]]:
    """Return, for some training costs and rounds of CS-AdaBoost, shares in percent by its own threshold.

    These are: errors on training images, misses and false positives on test images.
    """
    images, y = fetch_faces("train")
    train, *halves = halves_of_the_images(split)
    test = np.concatenate(halves)
    table = HaarFeatures(**GRIDS[grid]).fit_transform(images.reshape(len(images), -1))
    prepared = PreparedTable(AdaBoostClassifier(), table[train])
    found = []
    for cost in SHOWN_COSTS:
        model = CSAdaBoostClassifier(cost=cost, n_estimators=ROUNDS).fit(prepared, y[train])
        own, new = (list(model.staged_predict(table[rows])) for rows in (train, test))
        stages = [min(k, len(own)) - 1 for k in SHOWN_ROUNDS]
        wrong = [[own[k] != y[train], new[k][y[test] == 1] == 0, new[k][y[test] == 0] == 1] for k in stages]
        found.append([[100.0 * float(np.mean(share)) for share in one] for one in wrong])
    return found


def _cost_of_chosen(found: list[Any], factor: float) -> float:
    """Return the mean cost on each half, with the training cost and threshold that are best on the other."""
    costs = []
    for chosen, measured in ((0, 1), (1, 0)):
        best = [best_cost(halves[chosen][0], halves[chosen][1], factor) for halves in found]
        k = int(np.argmin([cost for _, cost in best]))
        positive, scores = found[k][measured]
        costs.append(cost_at(positive, scores, factor, best[k][0]))
    return float(np.mean(costs))


def _splits(quick: bool) -> range:
    return range(2 if quick else 5)


def tasks(quick: bool) -> list[Task]:
    """Return a task per algorithm and split."""
    grid = "coarse" if quick else "fine"
    return [
        *(Task(detect, a, s, grid, quick) for s in _splits(quick) for a in ALGORITHMS),
        *(Task(errors_by_round, s, grid) for s in _splits(quick)),
    ]


def report(results: Results, quick: bool) -> list[Part]:
    """Return the parts of the page."""
    grid = "coarse" if quick else "fine"
    found = {a: [results.of(detect, a, s, grid, quick) for s in _splits(quick)] for a in ALGORITHMS}
    plain = PER * np.array([one["plain"] for one in found["CS-Ada"]])  # split, cost, factor
    best = {a: PER * np.array([one["best"] for one in found[a]]) for a in ALGORITHMS}  # split, factor
    honest = {a: PER * np.array([one["honest"] for one in found[a]]) for a in ALGORITHMS}
    costs = QUICK["CS-Ada"] if quick else COSTS
    by_round = np.array([results.of(errors_by_round, s, grid) for s in _splits(quick)])  # split, cost, round, kind
    return [
        Claims([on_stand_ins(claim) for claim in _claims(costs, plain, best)]),
        Figure("figure-4", _CAPTION, lambda: _draw(costs, plain, best)),
        _table(
            "plain",
            "Figure 4a: CS-AdaBoost by training cost",
            {f"C1 = {c:g}": plain[:, k] for k, c in enumerate(costs)},
        ),
        _table_of_rounds(by_round),
        _table("best", "Figure 4b: the best training cost and threshold of the test images", best),
        _table("honest", "The training cost and threshold that are best on other images", honest),
    ]


def _table(name: str, title: str, costs: dict[str, Any]) -> Table:
    cells = {
        (row, f"f = {f}"): Cell(estimate(values[:, k])) for row, values in costs.items() for k, f in enumerate(FACTORS)
    }
    note = f"False positives plus f times misses, per {PER} test images, half of which are faces."
    return Table(name, title, "", cells, digits=1, note=note)


def _table_of_rounds(by_round: Any) -> Table:
    kinds = ("errors on training images, %", "misses, %", "false positives, %")
    cells = {
        (f"C1 = {c:g}, round {m}", kind): Cell(estimate(by_round[:, j, k, i]))
        for j, c in enumerate(SHOWN_COSTS)
        for k, m in enumerate(SHOWN_ROUNDS)
        for i, kind in enumerate(kinds)
    }
    title = "CS-AdaBoost by rounds, with its own threshold"
    return Table("rounds", title, "", cells, digits=1, drawn=False)


def _claims(costs: tuple[float, ...], plain: Any, best: dict[str, Any]) -> list[Claim]:
    chosen = np.log([[costs[k] for k in split.argmin(axis=0)] for split in plain])  # split, factor
    text = "Detectors that were trained with a larger cost are better where misses cost more"
    measured = f" (here: logarithm of the best training cost at f = {FACTORS[-1]}, less that at f = {FACTORS[0]})"
    misses = (plain[:, :, -1] - plain[:, :, 0]) / (FACTORS[-1] - FACTORS[0])  # per PER images; split, cost
    fewer = f"… which takes fewer misses (here: per {PER} test images, C1 = {costs[0]:g} less C1 = {costs[-1]:g})"
    claims = [
        claim_of_order(text + measured, difference(chosen[:, -1], chosen[:, 0]), 2),
        claim_of_order(fewer, difference(misses[:, 0], misses[:, -1]), 1),
    ]
    for k, f in enumerate(FACTORS):
        rival = min(OLD, key=lambda a: best[a][:, k].mean())
        text = f"CS-AdaBoost costs less than all algorithms before it at f = {f} (the best of them: {rival})"
        claims.append(claim_of_order(text, difference(best[rival][:, k], best["CS-Ada"][:, k]), 1, what="saved"))
    for k, f in enumerate(FACTORS[1:], 1):  # "except when the costs are approximately equal (small f)"
        text = f"AdaBoost with a moved threshold does not match CS-AdaBoost at f = {f}"
        claims.append(claim_of_order(text, difference(best["AdaBoost"][:, k], best["CS-Ada"][:, k]), 1, what="saved"))
    poor = (("CSB0", "AdaBoost"), ("CSB1", "AdaBoost"))
    worse = [(name, rival) for name in ("AdaC2", "AdaC3", "AdaCost") for rival in ("AdaBoost", "CSB2")]
    for name, rival in (*poor, *worse):
        extremely = "is extremely poor (here: it costs more than" if (name, rival) in poor else "costs more than"
        end = ")" if (name, rival) in poor else ""
        text = f"{name} {extremely} {rival}{end}, mean of all f"
        apart = difference(best[name].mean(axis=1), best[rival].mean(axis=1))
        claims.append(claim_of_order(text, apart, 1, what="lost"))
    return claims


def _draw(costs: tuple[float, ...], plain: Any, best: dict[str, Any]) -> Any:
    from matplotlib.ticker import LogLocator

    plt = import_pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    shades = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(costs)))
    for k, cost in enumerate(costs):
        left.plot(FACTORS, plain[:, k].mean(axis=0), "o-", color=shades[k], lw=1.4, ms=4, label=f"C1 = {cost:g}")
    left.set_title("CS-AdaBoost by training cost")
    for k, (name, values) in enumerate(best.items()):
        color, line, marker = look(k)
        mean, error = values.mean(axis=0), 2.0 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
        style = {"color": color, "ls": line, "marker": marker, "ms": 5, "lw": 1.4, "capsize": 2}
        right.errorbar(FACTORS, mean, yerr=error, label=name, **style)
    right.set_title("Best training cost and threshold")
    for axis in (left, right):
        axis.set(xlabel="cost of a miss in false alarms, f", xscale="log", yscale="log")
        axis.set_xticks(FACTORS, map(str, FACTORS))
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.yaxis.set_major_formatter("{x:g}")

        axis.minorticks_off()
        axis.legend(frameon=False, fontsize="small", ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    left.set_ylabel(f"cost per {PER} test images")
    return figure


_CAPTION = (
    "Figure 4: left, the cost of the errors of CS-AdaBoost with its own threshold, for several training costs; right, "
    "that of each algorithm with the best training cost and threshold. Means of splits; right, ± two standard errors"
)
PROTOCOL = f"""
Images of faces and of other things, as many of each; 61 % are for training and the rest for testing, as in the paper
(6000 and 3832 of 9832). {ROUNDS} rounds of stumps on Haar features. The cost of errors is ε = false positives + f ×
misses, for f = {", ".join(map(str, FACTORS))}.

- *Left*: CS-AdaBoost trained with C1 from {COSTS[0]:g} to {COSTS[-1]:g} and C2 = 1, with its own threshold.
- *Right*: each algorithm with the training cost and the threshold that have the least ε. For AdaBoost only the
  threshold is searched.

The images of the paper are not public. In their place stand the 2429 faces of the MIT-CBCL training set and as many of
its other images, of 19 × 19 pixels, so costs are given per {PER} test images. There are five random splits (two with
`--quick`), and errors are over splits. The paper does not say, so these are guesses:

- the images that costs and thresholds are searched on, the test images;
- CSB1 with AdaBoost's votes;
- features: rectangles with sides of at least two pixels, at every other position (with `--quick` of every other size),
  and at most 255 cuts of each;
- training costs: {len(COSTS)} from {COSTS[0]:g} to {COSTS[-1]:g} for CS-AdaBoost and AdaCost, and {len(EVERY_ROUND)}
  from {EVERY_ROUND[0]:g} to {EVERY_ROUND[-1]:g} for algorithms that apply them in every round (fewer with `--quick`);
- AdaC3 with costs as they are (`as_printed=True`). AdaCost, which takes costs up to 1, with ½ for a miss and ½/C1 for a
  false alarm: with 1 for a miss it keeps voting with the same few stumps, and cannot be used.

A table that is not in the paper has the errors of CS-AdaBoost after fewer rounds.

The least ε of the test images is optimistic, the more so the more costs are tried. So a last table has the costs on one
half of the test images of what was chosen on the other half.
"""
DISCUSSION = """
## Discussion

**After 100 rounds the costs work backwards.** By its own threshold CS-AdaBoost misses *more* faces the larger the cost
in training is: 1.2 % of them with C1 = 1.2, 2 % with C1 = 2, and 5 % from C1 = 10 on. After one round it is as one
would expect (see the table by rounds). Later next to no training image is wrong. The loss of a face is exp(-C1 F), so a
large C1 then only means that a small F is large enough for faces, but not for other images, and new faces that resemble
none of the training images fall below 0. In the paper larger costs are better where misses cost more; perhaps its
images, which are not public, cannot be separated. On separable data its costs do not do what
they say.

**CS-AdaBoost is not the best here.** With the best training cost and threshold, AdaC2, CSB1 and CSB2 are better at each
f. CSB0 and AdaCost are poor, as printed. AdaBoost with a moved threshold is behind CS-AdaBoost by 10 to 13, at each f,
with p between 0.1 and 0.13 from five splits.

**Most of it is choice.** With training costs and thresholds that are best on one half of the test images, the costs on
the other half are 1.6 to 5 times as high (those of CSB0 and AdaCost less), and CS-AdaBoost and AdaBoost with a moved
threshold cannot be told apart.
"""
EXPERIMENT = Experiment(
    name="masnadi-faces",
    discussion=DISCUSSION,
    title="Faces: what errors of cost-sensitive detectors cost",
    source="masnadi2007",
    shows="figure 4",
    protocol=PROTOCOL,
    tasks=tasks,
    report=report,
)
