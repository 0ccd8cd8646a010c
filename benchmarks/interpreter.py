"""What the interpreter adds to a round: everything but the engine's own calls.

Every variant is trained once, and what the training set answers is kept. Then it is trained again on these answers, at
no cost, and what is left of the time is that of the rule, the learner, the loop and of compiling what has been learned.
The time of many rounds less that of a tenth of them; the best of several runs.

Run with: python benchmarks/interpreter.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import skewboost as sb
from skewboost.engine.reference import ReferenceEngine
from skewboost.engine.reference_set import ReferenceSet

REPEATS = 7
N_ROUNDS = 1000
BAR = 60  # microseconds
VARIANTS: dict[str, Any] = {
    "AdaBoost": sb.AdaBoostClassifier(),
    "AdaBoost, learning_rate=0.5": sb.AdaBoostClassifier(learning_rate=0.5),
    "RealBoost": sb.RealBoostClassifier(),
    "GentleBoost": sb.GentleBoostClassifier(),
    "CSRA": sb.CSRAClassifier(cost=5),
    "CGAda": sb.CGAdaClassifier(cost=5),
    "AdaC2": sb.AdaC2Classifier(cost=1.01),
    "CSRealBoost": sb.CSRealBoostClassifier(cost=5),
    "RealBoost, trees of 8 leaves": sb.RealBoostClassifier(estimator="tree"),
}


class Kept(ReferenceSet):
    """Keeps its answers."""

    answers: list[Any]

    def grow(self, *asked: Any) -> Any:
        """Grow, and keep what has grown."""
        self.answers.append(super().grow(*asked))
        return self.answers[-1]

    def reweight(self, *asked: Any) -> Any:
        """Reweight, and keep the total."""
        self.answers.append(super().reweight(*asked))
        return self.answers[-1]


class Replayed(ReferenceSet):
    """Gives kept answers, in their order."""

    answers: list[Any]
    at = 0

    def grow(self, *_: Any) -> Any:
        """The next answer."""
        self.at += 1
        return self.answers[self.at - 1]

    reweight = grow


class Engine(ReferenceEngine):
    """Opens sets of a kind, which share their answers."""

    def __init__(self, kind: type[ReferenceSet], answers: list[Any]) -> None:
        self.kind, self.answers = kind, answers

    def training_set(self, *rows: Any) -> Any:
        """A set of that kind."""
        opened: Any = self.kind(*rows)
        opened.answers = self.answers
        return opened


def seconds(clf: Any, n_rounds: int, X: np.ndarray, y: np.ndarray) -> float:
    """The time of a fit."""
    clf.set_params(n_estimators=n_rounds)
    started = time.perf_counter()
    clf.fit(X, y)
    return time.perf_counter() - started


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=500) > 1.5).astype(int)
    print(f"microseconds per round, 500 x 10, {N_ROUNDS} rounds (bar for stumps: {BAR})\n")
    for name, clf in VARIANTS.items():
        answers: list[Any] = []
        clf.set_params(n_estimators=N_ROUNDS, engine=Engine(Kept, answers)).fit(X, y)
        clf.set_params(engine=Engine(Replayed, answers))
        n_rounds = clf.n_estimators_
        few, all_ = (min(seconds(clf, n, X, y) for _ in range(REPEATS)) for n in (n_rounds // 10, n_rounds))
        a_round = (all_ - few) / (n_rounds - n_rounds // 10)
        print(f"{name:<32} {1e6 * a_round:6.1f}", flush=True)


if __name__ == "__main__":
    main()
