"""What rounds, imbalance, label noise, costs and regularisation do to boosting: the numbers of docs/evaluating.md.

The questions are those of D. Nyga, "Ensemble learning for classification of imbalanced data", Master's thesis,
Technische Universität München (2010), section 3.3, asked of the breast cancer data that comes with
scikit-learn. 100 stumps, 5 folds drawn twice; a table has means over the ten test parts.

Run with: python benchmarks/sweeps.py
"""

from __future__ import annotations

import numpy as np

from skewboost import (
    AdaBoostClassifier,
    AdaBoostRegClassifier,
    AdaC2Classifier,
    CSRAClassifier,
    RealBoostClassifier,
    WeightBoostClassifier,
)
from skewboost.datasets import load_rare_cancer
from skewboost.evaluate import bias_variance, cost_sweep, imbalance_sweep, noise_sweep, staged_curve
from skewboost.evaluate.sweeps import CostSweep, Sweep

COMMON = {"n_estimators": 100, "engine": "cpu"}
HOW = {"cv": 5, "repeats": 2, "random_state": 0, "verbose": 1}


def methods() -> dict:
    return {
        "AdaBoost": AdaBoostClassifier(**COMMON),
        "RealBoost": RealBoostClassifier(**COMMON),
        "AdaBoostReg, C=10": AdaBoostRegClassifier(C=10.0, **COMMON),
        "WeightBoost, β=0.5": WeightBoostClassifier(**COMMON),
        "CSRA, balanced": CSRAClassifier(cost="balanced", **COMMON),
    }


def short() -> dict:
    """Stopped before the training rows are separated."""
    few = {**COMMON, "n_estimators": 5}
    return {
        "RealBoost, 5 rounds": RealBoostClassifier(**few),
        "CSRA, balanced, 5 rounds": CSRAClassifier(cost="balanced", **few),
    }


def show(title: str, sweep: Sweep, measures: tuple[str, ...]) -> None:
    """A table per measure: estimators against levels, mean ± standard deviation."""
    for measure in measures:
        print(f"\n{title}: {measure}\n\n| | " + " | ".join(f"{level:.3g}" for level in sweep.levels) + " |")
        print("|---" * (1 + len(sweep.levels)) + "|")
        for name in sweep.estimators:
            cells = zip(sweep.mean(measure, name), sweep.spread(measure, name))
            print(f"| {name} | " + " | ".join(f"{m:.2f} ± {s:.2f}" for m, s in cells) + " |")


def show_pooled(title: str, sweep: CostSweep) -> None:
    """Precision, recall and F1 of all folds together."""
    print(f"\n{title}\n\n| {sweep.param} | " + " | ".join(f"{level:.3g}" for level in sweep.levels) + " |")
    print("|---" * (1 + len(sweep.levels)) + "|")
    for measure in ("precision", "recall", "f1"):
        print(f"| {measure} | " + " | ".join(f"{v:.2f}" for v in sweep.pooled(measure)) + " |")


def show_rounds() -> None:
    """Weights after 100 rounds, the parts of the error, and when nothing is left to learn."""
    rare = load_rare_cancer()
    for booster in (AdaBoostClassifier(**COMMON), WeightBoostClassifier(**COMMON)):
        curve = staged_curve(booster, *rare, **HOW)
        largest, median = (curve.weight_quantiles[:, -1, curve.weight_levels.index(q)].mean() for q in (1.0, 0.5))
        first, last = curve.weight_of_positives.mean(axis=0)[[0, -1]]
        print(
            f"{curve.name}: largest weight {largest:.0f}, median {median:.1g}, on positives {first:.0%} to {last:.0%}"
        )
    parts = bias_variance(AdaBoostClassifier(**COMMON), *rare, draws=25, staged=True, random_state=0)
    for k in (0, -1):
        numbers = f"error {parts.loss[k]:.1%} = bias {parts.bias[k]:.1%} + variance {parts.variance[k]:.1%}"
        print(f"AdaBoost, round {parts.rounds[k]}: {numbers}")
    csra = CSRAClassifier(cost="balanced", **COMMON)
    error = staged_curve(csra, *rare, **HOW).values("error", "train")
    print(f"CSRA: no training error left after {[int(np.argmin(e > 0)) + 1 for e in error]} rounds")


def main() -> None:
    show_rounds()
    whole, rare = load_rare_cancer(n_positive=212), load_rare_cancer()
    ratios = [1.7, 5, 10, 20, 35]
    show(
        "Negatives per positive",
        imbalance_sweep(methods(), *whole, ratios=ratios, **HOW),
        ("precision", "recall", "f1"),
    )
    show("Negatives per positive", imbalance_sweep(short(), *whole, ratios=ratios, **HOW), ("precision", "recall"))
    show("Labels flipped", noise_sweep(methods(), *whole, **HOW), ("error", "f1"))
    for n, (X, y) in ((212, whole), (40, rare)):
        regularised = AdaBoostRegClassifier(**COMMON)
        sweep = cost_sweep(regularised, X, y, param="C", costs=[0, 0.1, 1, 10, 100, 1000], **HOW)
        show_pooled(f"AdaBoostReg, {n} positives", sweep)
    show_pooled("AdaC2, 40 positives", cost_sweep(AdaC2Classifier(**COMMON), *rare, **HOW))


if __name__ == "__main__":
    main()
