"""What the demonstration shows beyond boosters side by side: goals, prices, resampling, votes, many classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from skewboost import (
    AdaBoostMHClassifier,
    AdaC2M1Classifier,
    CodeMatrixClassifier,
    CSRAClassifier,
    DataBoostIMClassifier,
    GoalSearchCV,
    LogitBoostClassifier,
    MinimumRiskClassifier,
    PastingVotesClassifier,
    RealBoostClassifier,
    RUSBoostClassifier,
    SMOTEBoostClassifier,
    UnderBaggingClassifier,
)
from skewboost.cli.demo_comparison import SEED, Problem
from skewboost.datasets import make_intrusions
from skewboost.goals import GoalNotMetWarning, LittleUseWarning
from skewboost.metrics import Counts, expected_cost, pr_auc
from skewboost.metrics.ranking import scores_of

GOAL = "recall >= 90%"
CALL = 5.0  # what it costs to call a customer
PRICES = np.array([  # of connections: [true, predicted], break-in, dos, normal, probe
    [0.0, 20.0, 100.0, 20.0],
    [5.0, 0.0, 20.0, 5.0],
    [2.0, 2.0, 0.0, 1.0],
    [2.0, 2.0, 5.0, 0.0],
])  # fmt: skip
CHUNK = 2000


class Shown(NamedTuple):
    """A table: a title, headings and rows, and a sentence below."""

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]]
    caption: str


def goal(problem: Problem, rounds: int) -> tuple[Any, Shown]:
    """The search, and how its promise turned out."""
    clf = GoalSearchCV(CSRAClassifier(n_estimators=rounds), GOAL, random_state=SEED, max_points=12, allow_unmet=True)
    with warnings.catch_warnings():
        for category in (GoalNotMetWarning, LittleUseWarning):  # the table says it
            warnings.simplefilter("ignore", category)
        clf.fit(problem.X_train, problem.y_train)
    found, costs = clf.certificate_, clf.cost_
    assert found is not None
    assert costs is not None
    new = Counts.of(problem.y_test == 1, clf.predict(problem.X_test) == 1)
    rows: list[tuple[str, ...]] = [
        (name, f"{c.tp:g} of {c.positives:g}", f"{c.recall:.3f}", f"{c.false_alarm_rate:.3f}")
        for name, c in (("held-out rows", found.counts), ("test set", new))
    ]
    shown = ", ".join(f"{name} {bound:.3f}" for name, bound in found.shown.items())
    caption = (
        f"{'Certified' if found.met else 'Not certified'} with {found.confidence:.0%} confidence: the held-out rows "
        f"show {shown}. Found: a miss costs "
        f"{costs[1] / costs[0]:.3g} false alarms in training, threshold {clf.threshold_:.3g}; "
        f"{len(clf.search_['recall'])} costs tried."
    )
    return clf, Shown(f"{problem.name}: the goal {GOAL}", ("found", "recall", "false alarms"), rows, caption)


def prices(problem: Problem, rounds: int) -> Shown:
    """What payments cost if every miss costs its amount and every call the same."""
    amount = problem.X_test["amount"].fillna(problem.X_test["amount"].median()).to_numpy()
    bills = np.zeros((len(amount), 2, 2))
    bills[:, :, 1], bills[:, 1, 0] = CALL, amount
    typical = float(np.median(problem.X_train["amount"].dropna()[problem.y_train == 1]))
    clf = MinimumRiskClassifier(
        LogitBoostClassifier(n_estimators=rounds), cost=[[0.0, CALL], [typical, CALL]], calibrate="sigmoid"
    ).fit(problem.X_train, problem.y_train)
    nobody = np.zeros(len(amount), dtype=np.int64)
    answers: dict[str, NDArray[Any]] = {
        "call nobody": nobody,
        "call if fraud is likelier": clf.predict_proba(problem.X_test).argmax(axis=1),
        "one price for all": clf.predict(problem.X_test),
        "each its own price": clf.predict(problem.X_test, sample_cost=bills),
    }
    rows: list[tuple[str, ...]] = [
        (name, f"{said.mean():.1%}", f"{bills[np.arange(len(said)), problem.y_test, said].sum():,.0f}")
        for name, said in answers.items()
    ]
    caption = (
        f"A call costs {CALL:g}, a fraud that goes through costs what was paid. MinimumRiskClassifier, calibrated."
    )
    return Shown(f"{problem.name}: what does a false alarm cost you?", ("called", "paid in all"), rows, caption)


def resampling(problem: Problem, rounds: int) -> Shown:
    """Samples inside the loop, and votes over bites that are read one by one."""
    few = max(1, rounds // 10)
    models: dict[str, Any] = {
        "RealBoost": RealBoostClassifier(n_estimators=rounds),
        "RealBoost, half of the rows": RealBoostClassifier(n_estimators=rounds, sampler=0.5, random_state=SEED),
        "RUSBoost": RUSBoostClassifier(n_estimators=rounds, random_state=SEED),
        "RUSBoost of CSRA": RUSBoostClassifier(variant="CSRA", n_estimators=rounds, random_state=SEED),
        "SMOTEBoost of trees": SMOTEBoostClassifier(estimator="tree", n_estimators=few, random_state=SEED),
        "DataBoost-IM of trees": DataBoostIMClassifier(estimator="tree", n_estimators=few, random_state=SEED),
        "bagged under-samples": UnderBaggingClassifier(
            RealBoostClassifier(n_estimators=few), n_estimators=10, random_state=SEED
        ),
    }
    rows = []
    for name, model in models.items():
        model.fit(problem.X_train, problem.y_train)
        rows.append(_ranked(name, problem, model))
    votes = PastingVotesClassifier(
        RealBoostClassifier(n_estimators=few),
        n_estimators=20,
        class_shares="balanced",
        voting="soft",
        random_state=SEED,
    )
    votes.fit(lambda: _chunks(problem))
    rows.append(_ranked("pasted small votes", problem, votes))
    caption = (
        f"Votes are over bites of {votes.bite_size} rows that come in chunks, never all at once; their out-of-bag "
        f"error is {votes.oob_error_:.3f}."
    )
    return Shown(f"{problem.name}: resampling", ("area under PR", "G-mean"), rows, caption)


def _chunks(problem: Problem) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(problem.y_train), CHUNK):
        yield problem.X_train.iloc[start : start + CHUNK], problem.y_train.iloc[start : start + CHUNK]


def _ranked(name: str, problem: Problem, model: Any) -> tuple[str, ...]:
    counts = Counts.of(problem.y_test == 1, model.predict(problem.X_test) == 1)
    area = pr_auc(problem.y_test, scores_of(model, problem.X_test, 1))
    return name, f"{area:.3f}", f"{counts.g_mean:.3f}"


def intrusions(rounds: int) -> Shown:
    """Four classes, and a price for every kind of mistake."""
    X, y = make_intrusions(10_000)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=SEED)
    models: dict[str, Any] = {
        "AdaBoost.MH": AdaBoostMHClassifier(n_estimators=rounds),
        "AdaC2.M1 of trees": AdaC2M1Classifier(n_estimators=min(rounds, 30)),
        "RealBoost, one against one": CodeMatrixClassifier(RealBoostClassifier(n_estimators=rounds), code="one_vs_one"),
        "AdaBoost.MH at minimum risk": MinimumRiskClassifier(AdaBoostMHClassifier(n_estimators=rounds), cost=PRICES),
    }
    rows: list[tuple[str, ...]] = []
    for name, model in models.items():
        said = model.fit(X_train, y_train).predict(X_test)
        paid = float(expected_cost(y_test, said, PRICES))
        rows.append((name, f"{balanced_accuracy_score(y_test, said):.3f}", f"{paid:.3f}"))
    caption = (
        "Normal traffic and three kinds of intrusion, the rarest half a percent; every kind of mistake has a price."
    )
    return Shown("Intrusions: many classes", ("balanced accuracy", "cost per connection"), rows, caption)
