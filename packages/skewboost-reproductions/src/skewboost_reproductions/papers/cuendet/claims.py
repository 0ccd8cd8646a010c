"""What Cuendet and Labbi (2002) say about their error curves, and tests of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skewboost_reproductions.estimates import Estimate, average, estimate
from skewboost_reproductions.experiment import Results
from skewboost_reproductions.papers.cuendet.curve_trials import (
    BALANCED,
    CHESS,
    CONSISTENT,
    EVERY,
    FAVOURED,
    FOLDS,
    HEART,
    NEW_Z,
    PLAIN,
    PUBLIC,
    ROUNDS,
    SIZE,
    STAND_IN,
    TEST_TO_TRAIN,
    THIRDS,
    THYROID,
    TREE,
    TREE_ROUNDS,
    UNIFORM,
    K,
    draws,
    errors,
    gaussians,
    weights,
)
from skewboost_reproductions.papers.cuendet.error_curves import LAST, ErrorCurves
from skewboost_reproductions.printed import printed
from skewboost_reproductions.verdicts import Claim, claim_of_equality, claim_of_order, on_stand_ins

Get = Callable[..., ErrorCurves]  # the curves of a data set, and of a booster and cuts other than the usual ones


class Curves:
    """All error curves, and claims about them."""

    def __init__(self, results: Results, quick: bool) -> None:
        self.results, self.quick = results, quick
        self.limits = {(row["data"], row["method"], row["what"]): row["value"] for row in printed("cuendet", "curves")}

    def of(self, data: str, method: str = PLAIN, cuts: str = K, split: str = FOLDS) -> ErrorCurves:
        """Return the curves of a booster."""
        found = self.results.of(errors, data, method, cuts, split)
        return ErrorCurves(np.array(found["train"]), np.array(found["test"]), TEST_TO_TRAIN[split])

    def of_draws(self, n_rows: int = SIZE, cuts: str = K) -> list[ErrorCurves]:
        """Return the curves of plain stumps on the samples of the synthetic data."""
        return [self.of(gaussians(n_rows, draw), PLAIN, cuts) for draw in draws(self.quick)]

    def over_draws(self, value: Callable[[ErrorCurves], Any]) -> Estimate:
        """Return the mean over samples of what is computed from the curves of each."""
        return estimate([float(np.mean(value(c))) for c in self.of_draws()])

    def ordered(self, text: str, value: Callable[..., Estimate], digits: int = 2) -> Claim:
        """Return a claim that a value is above 0; it is a function of a function that returns curves."""
        claim = claim_of_order(text, value(self.of), digits)
        return replace(claim, evidence=claim.evidence + self._other_trials(value))

    def equal(self, text: str, value: Callable[..., Estimate], margin: float) -> Claim:
        """Return a claim that a value is about 0."""
        claim = claim_of_equality(text, value(self.of), margin, 2)
        return replace(claim, evidence=claim.evidence + self._other_trials(value))

    def _other_trials(self, value: Callable[..., Estimate]) -> str:
        return "" if self.quick else f"; with {THIRDS}: {value(partial(self.of, split=THIRDS)).text(2)}"


def claims_of_gaussians(curves: Curves) -> list[Claim]:
    """Return the claims about figure 3-1."""
    falls = curves.over_draws(lambda c: c.at(50, "train") - c.at(ROUNDS, "train"))
    drops = curves.over_draws(lambda c: c.at(1) - c.at(50))
    rises = curves.over_draws(lambda c: c.overfitting)
    quantiles = np.array(curves.results.of(weights, gaussians(SIZE, 0), K)["last"])[:, 1]
    return [
        claim_of_order(
            "8 Gaussians: the training error decreases steadily (here: still from round 50 to 200)", falls, 2
        ),
        claim_of_order("8 Gaussians: the test error drops at first (here: from round 1 to 50)", drops, 2),
        claim_of_equality("8 Gaussians: no or very little overfitting (here: until round 200)", rises, 1.0, 2),
        claim_of_order(
            "8 Gaussians: the 25 % and 50 % quantiles of the weights fall (here: the median, from 1 to round 200)",
            estimate(1.0 - quantiles, TEST_TO_TRAIN[FOLDS]),
        ),
    ]


def claims_of_chess(curves: Curves) -> list[Claim]:
    """Return the claims about figure 3-4."""
    limit = curves.limits[CHESS, PLAIN, "training error"]

    def varies(get: Get) -> Estimate:
        c = get(CHESS)
        own, other = (np.abs(e - e.mean(axis=0))[:, -LAST:].mean(axis=1) for e in (c.test, c.train))
        return c.mean(own - other)

    def below(get: Get) -> Estimate:
        c = get(CHESS)
        return c.mean(limit - c.at(ROUNDS, "train"))

    def apart(get: Get) -> Estimate:
        c = get(CHESS)
        return c.mean((c.test - c.train).mean(axis=1))

    def better(get: Get) -> Estimate:
        c = get(CHESS)
        return c.mean(c.at(TREE_ROUNDS) - get(CHESS, TREE).at(TREE_ROUNDS))

    def near_zero(get: Get) -> Estimate:
        c = get(CHESS, TREE)
        return c.mean(1.0 - c.at(30))

    return [
        curves.ordered(f"kr-vs-kp: the training error of stumps is below {limit:g} % after 200 rounds", below),
        curves.equal(
            "kr-vs-kp: the test error has exactly the same behaviour (here: mean over all rounds)", apart, 1.0
        ),
        curves.ordered("kr-vs-kp: with higher variations (here: distance of a trial from the mean)", varies),
        curves.ordered("kr-vs-kp: the alternating tree is better than stumps (here: after 50 rounds)", better),
        curves.ordered("kr-vs-kp: its test error is almost zero after 30 rounds (here: below 1 %)", near_zero),
    ]


def claims_of_heart(curves: Curves) -> list[Claim]:
    """Return the claims about figure 3-5."""
    three = (PLAIN, CONSISTENT, TREE)

    def falls(get: Get) -> Estimate:
        steps = [c.mean(c.at(4, "train") - c.train[:, -1]) for c in (get(HEART, m) for m in three)]
        return min(steps, key=lambda e: e.mean)

    def early(get: Get) -> Estimate:
        found = [get(HEART, m) for m in three]
        return found[0].mean(np.mean([c.test[:, -1] - c.at(4) for c in found], axis=0))

    def tree_rises(get: Get) -> Estimate:
        plain, tree = get(HEART), get(HEART, TREE)
        return plain.mean(tree.overfitting - plain.overfitting)

    def lower(get: Get) -> Estimate:
        coarse, exact = get(HEART), get(HEART, PLAIN, EVERY)
        return coarse.mean(coarse.lowest - exact.lowest)

    def rises(get: Get) -> Estimate:
        coarse, exact = get(HEART), get(HEART, PLAIN, EVERY)
        return coarse.mean(exact.overfitting - coarse.overfitting)

    return [
        curves.ordered("cleve: the training error decreases with all boosters (here: from round 4 to the last)", falls),
        curves.ordered("cleve: overfitting appears as early as the fourth round (here: rise until the last)", early),
        curves.ordered("cleve: consistent stumps reach the lowest test error", partial(best_other, HEART, three)),
        curves.ordered("cleve: overfitting of the alternating tree is much more severe", tree_rises),
        curves.ordered("cleve: without discretisation the test error reaches a lower value", lower),
        curves.ordered("cleve: without discretisation overfitting is stronger", rises),
    ]


def best_other(data: str, methods: tuple[str, ...], get: Get) -> Estimate:
    """Return the lowest test error of the best other booster less that of consistent stumps."""
    own = get(data, CONSISTENT)
    others = (get(data, method) for method in methods if method != CONSISTENT)
    return min((own.mean(c.lowest - own.lowest) for c in others), key=lambda e: e.mean)


def claims_of_thyroid(curves: Curves) -> list[Claim]:
    """Return the claims about figure 3-6."""
    stumps, tree = (curves.limits[THYROID, m, "test error of Freund and Mason"] for m in (PLAIN, TREE))
    methods = (PLAIN, NEW_Z, CONSISTENT, BALANCED)

    def faster(get: Get) -> Estimate:
        plain, own = get(THYROID), get(THYROID, CONSISTENT)
        return plain.mean((plain.test - own.test)[:, :20].mean(axis=1))

    def zero(get: Get) -> Estimate:
        c = get(THYROID, BALANCED)
        return c.mean(0.1 - c.at(TREE_ROUNDS, "train"))

    def not_lower(get: Get) -> Estimate:
        plain = get(THYROID)
        return plain.mean(plain.at(TREE_ROUNDS) - get(THYROID, BALANCED).at(TREE_ROUNDS))

    def worse(get: Get) -> Estimate:
        plain, adt = get(THYROID), get(THYROID, BALANCED)
        return plain.mean((plain.at(60) - stumps + adt.at(7) - tree) / 2.0)

    def cause(get: Get) -> Estimate:
        coarse, exact = get(THYROID), get(THYROID, PLAIN, EVERY)
        return coarse.mean(coarse.at(60) - exact.at(60))

    def percentiles(get: Get) -> Estimate:
        own, uniform = get(THYROID), get(THYROID, PLAIN, UNIFORM)
        return own.mean(uniform.at(60) - own.at(60))

    return [
        curves.equal("hypothyroid: plain stumps and new Z are almost identical", partial(two_z, THYROID), 0.3),
        curves.ordered("hypothyroid: consistent stumps converge faster (here: mean of rounds 1 to 20)", faster),
        curves.ordered("hypothyroid: … and to the lowest test error", partial(best_other, THYROID, methods)),
        curves.ordered("hypothyroid: 50 rounds bring the training error of the tree to zero (here: below 0.1 %)", zero),
        curves.equal("hypothyroid: … where its test error is not much lower than that of stumps", not_lower, 0.5),
        curves.ordered(
            f"hypothyroid: the errors are above those of Freund and Mason ({stumps:g} %, {tree:g} %)", worse
        ),
        curves.ordered("hypothyroid: … because of the discretisation (here: error of stumps in round 60)", cause),
        curves.ordered(
            f"Percentiles are preferred to equal distances (here: errors on hypothyroid in round 60, {K})", percentiles
        ),
    ]


def two_z(data: str, get: Get) -> Estimate:
    """Return the mean difference of the test errors with the two criteria, from round 10."""
    plain = get(data)
    return plain.mean((plain.test - get(data, NEW_Z).test)[:, 9:].mean(axis=1))


def claims_in_general(curves: Curves) -> list[Claim]:
    """Return the conclusions of §3.3."""
    noisy = (HEART, STAND_IN)

    def both_z(get: Get) -> Estimate:
        return average([two_z(data, get) for data in PUBLIC])

    def consistent(get: Get) -> Estimate:
        compared = (HEART, THYROID)  # the report shows no consistent stumps on kr-vs-kp
        return average([best_other(data, (PLAIN, NEW_Z, CONSISTENT, TREE), get) for data in compared])

    def as_well(get: Get) -> Estimate:
        pairs = [(get(data), get(data, TREE)) for data in noisy]
        return average([plain.mean(plain.lowest - tree.lowest) for plain, tree in pairs])

    def train_faster(get: Get) -> Estimate:
        pairs = [(get(data), get(data, TREE)) for data in PUBLIC]
        return average([p.mean(p.at(TREE_ROUNDS, "train") - t.at(TREE_ROUNDS, "train")) for p, t in pairs])

    def overfit_earlier(get: Get) -> Estimate:
        pairs = [(get(data), get(data, TREE)) for data in noisy]
        return average([p.mean(t.overfitting - (p.at(TREE_ROUNDS) - p.lowest)) for p, t in pairs])

    def unstable(get: Get) -> Estimate:
        pairs = [(get(data), get(data, FAVOURED)) for data in PUBLIC]
        return average([p.mean(changes(f) - changes(p)) for p, f in pairs])

    return [
        curves.equal("The two criteria Z yield very similar results (mean of the data sets)", both_z, 0.3),
        curves.ordered("Consistent boosting slightly outperforms all other methods (cleve, hypothyroid)", consistent),
        on_stand_ins(
            curves.equal("On noisy data stumps perform as well as trees in their lowest test error", as_well, 2.0)
        ),
        curves.ordered("The training error of trees decreases much faster (after 50 rounds)", train_faster),
        on_stand_ins(
            curves.ordered(
                "… and they overfit earlier (here: the test error rises more until round 50, noisy data)",
                overfit_earlier,
            )
        ),
        curves.ordered("Favoured stumps are unstable (here: changes of the training error, first rounds)", unstable),
    ]


def changes(curves: ErrorCurves) -> Any:
    """Return the mean absolute change of the training error from round to round, up to round 20."""
    return np.abs(np.diff(curves.train[:, :20], axis=1)).mean(axis=1)


def all_claims(curves: Curves) -> list[Claim]:
    """Return all claims, in the order of the figures."""
    of_data = (claims_of_gaussians, claims_of_chess, claims_of_heart, claims_of_thyroid, claims_in_general)
    return [claim for claims in of_data for claim in claims(curves)]
