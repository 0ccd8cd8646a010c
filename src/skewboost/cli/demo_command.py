"""The demonstration that `skewboost demo` runs: three imbalanced data sets, tables, pictures and a report.

It uses the public interface of the library only, so it can also be read as an example.
"""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from skewboost import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    CGAdaClassifier,
    CSRAClassifier,
    GoalSearchCV,
    MinimumRiskClassifier,
    RealBoostClassifier,
    RUSBoostClassifier,
    SkewBoostClassifier,
    evaluate,
    io,
)
from skewboost.cli.commands import Demo
from skewboost.cli.exit_codes import CommandError
from skewboost.cli.output import fraction, print_line, print_table, waiting
from skewboost.cli.output_files import check_output, save_picture
from skewboost.datasets import load_rare_cancer, make_fraud, make_intrusions
from skewboost.goals import GoalNotMetWarning, LittleUseWarning
from skewboost.metrics import Counts, expected_cost
from skewboost.plots import ContributionDisplay, GoalFrontierDisplay, Report

COST = 20  # A missed positive costs as much as 20 false alarms.
GOAL = "recall >= 90%"
EFFORT = "default"  # of the model in the report
INTRUSION_COSTS = np.array([  # [true, predicted] for break-in, dos, normal, probe
    [0.0, 20.0, 100.0, 20.0],
    [5.0, 0.0, 20.0, 5.0],
    [2.0, 2.0, 0.0, 1.0],
    [2.0, 2.0, 5.0, 0.0],
])  # fmt: skip


class Split(NamedTuple):
    """A data set, split into training and test rows; label 1 is the rare class of two."""

    X_train: Any
    X_test: Any
    y_train: Any
    y_test: Any


def split(data: tuple[Any, Any], test_size: float) -> Split:
    """Hold out a fraction of the rows of each class."""
    X, y = data
    return Split(*train_test_split(X, y, test_size=test_size, stratify=y, random_state=0))


def run(request: Demo) -> None:
    """Run the demonstration, and write its files into a folder."""
    folder, rounds, n_jobs = make_folder(request.out), request.rounds, request.n_jobs
    cancer, fraud = split(load_rare_cancer(), 0.5), split(make_fraud(), 0.3)
    model = compare_methods("Card fraud", fraud, rounds, n_jobs)
    files = [explain_clearest_fraud(model, fraud, folder / "one_fraud.png")]
    files += [reach_goal(fraud, n_jobs, folder / "goal_frontier.png")]
    compare_methods("Rare cancer", cancer, rounds, n_jobs)
    print_line("With so few positives, one or two of them decide the order; compare by cross-validation.")
    print_line()
    intrusions(rounds, n_jobs)
    files += [io.save(model, folder / "model.json", notes="Card fraud: the positive class is 1.")]
    files += [write_report(model, fraud, rounds, n_jobs, folder / "report.html")]
    for path in files:
        print_line(f"Written: {path}")
    print_line()
    print_line(f"Open {files[-1]} in a browser and move the sliders to your own costs. Then try:")
    print_line(f"  skewboost explain {shlex.quote(str(files[-2]))}")
    print_line("  skewboost fit YOUR_TABLE.csv --target COLUMN --cost 20 -o model.json")


def make_folder(out: Path) -> Path:
    """Make a folder, or raise before any work is done."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise CommandError(f"--out: {out} is a file, not a folder.") from None
    except OSError as error:
        raise CommandError(f"--out: cannot make the folder {out}: {error.strerror}.") from error
    check_output(str(out / "report.html"), option="--out")
    return out


def compare_methods(name: str, data: Split, rounds: int, n_jobs: int) -> Any:
    """Print what methods with and without costs achieve on the test rows, and return SkewBoost."""
    common: dict[str, Any] = {"n_estimators": rounds, "n_jobs": n_jobs}
    models: dict[str, Any] = {
        f"SkewBoost, cost {COST}": SkewBoostClassifier(cost=COST, effort=EFFORT, random_state=0, n_jobs=n_jobs),
        "CGAda, calibrated": CGAdaClassifier(cost=COST, calibrate="sigmoid", random_state=0, **common),
        f"CSRA, cost {COST}": CSRAClassifier(cost=COST, **common),
        "RUSBoost": RUSBoostClassifier(random_state=0, **common),
        "RealBoost": RealBoostClassifier(**common),
        "AdaBoost": AdaBoostClassifier(**common),
    }
    truth = np.asarray(data.y_test) == 1
    results = {}
    with waiting(f"{name}: fitting {len(models)} methods"):
        for method, model in models.items():
            results[method] = model.fit(data.X_train, data.y_train).predict(data.X_test) == 1
    # The decision of least expected cost flags a row whose probability exceeds 1 / (1 + cost).
    probability = models["RealBoost"].predict_proba(data.X_test)[:, 1]
    results[f"RealBoost, p > 1/{1 + COST}"] = probability > 1 / (1 + COST)
    results["always common"] = np.zeros_like(truth)
    rows = []
    for method, flagged in results.items():
        c = Counts.of(truth, flagged)
        cost = f"{c.fp + COST * c.fn}"
        rows.append([method, f"{c.tp} of {c.positives}", str(c.fp), fraction(c.recall), fraction(c.precision), cost])
    print_table(
        ["method", "found", "false alarms", "recall", "precision", "cost"], rows,
        title=f"{name}: {len(truth)} test rows, {truth.sum()} of them positive. A miss costs {COST} false alarms.",
    )  # fmt: skip
    return models[f"SkewBoost, cost {COST}"]


def explain_clearest_fraud(model: Any, data: Split, path: Path) -> Path:
    """Draw what each cell adds to the score of the fraud that is found with the highest probability."""
    frauds = data.X_test[np.asarray(data.y_test) == 1]
    clearest = frauds.iloc[[int(model.predict_proba(frauds)[:, 1].argmax())]]
    return save_picture(ContributionDisplay.from_estimator(model, clearest).figure_, path)


def reach_goal(data: Split, n_jobs: int, path: Path) -> Path:
    """Search for a model that reaches a goal, print its certificate, and draw what can be reached."""
    model = SkewBoostClassifier(cost=1, effort="quick", random_state=0, n_jobs=n_jobs)
    search = GoalSearchCV(model, GOAL, cv=3, random_state=0, allow_unmet=True)
    with waiting(f"Card fraud: looking for {GOAL}"), warnings.catch_warnings():
        for category in (GoalNotMetWarning, LittleUseWarning):  # The certificate says so.
            warnings.simplefilter("ignore", category)
        search.fit(data.X_train, data.y_train)
    counts = Counts.of(data.y_test == 1, search.predict(data.X_test) == 1)
    print_line(f"Card fraud, goal: {search.certificate_}")
    print_line(f"On the test rows: recall {counts.recall:.1%}, false alarm rate {counts.false_alarm_rate:.1%}.")
    print_line()
    return save_picture(GoalFrontierDisplay.from_estimator(search).figure_, path)


def intrusions(rounds: int, n_jobs: int) -> None:
    """Print what four classes with a cost for every kind of mistake cost, with and without the costs."""
    data = split(make_intrusions(10_000), 0.4)
    booster = AdaBoostMHClassifier(n_estimators=rounds)
    models: dict[str, Any] = {
        "SkewBoost, cost matrix": SkewBoostClassifier(
            cost=INTRUSION_COSTS, effort="quick", random_state=0, n_jobs=n_jobs
        ),
        "AdaBoost.MH at minimum risk": MinimumRiskClassifier(booster, cost=INTRUSION_COSTS),
        "AdaBoost.MH": booster,
    }
    rows = []
    with waiting("Intrusions"):
        for name, model in models.items():
            predicted = model.fit(data.X_train, data.y_train).predict(data.X_test)
            cost = expected_cost(data.y_test, predicted, INTRUSION_COSTS)
            rows.append([name, f"{balanced_accuracy_score(data.y_test, predicted):.3f}", f"{cost:.3f}"])
    print_table(["method", "balanced accuracy", "cost per row"], rows, title="Intrusions: four classes, a cost matrix")


def write_report(model: Any, data: Split, rounds: int, n_jobs: int, path: Path) -> Path:
    """Write the HTML report about a model, with a comparison on the training rows."""
    X, y = data.X_train, data.y_train
    few = min(rounds, 100)
    rivals = {
        "SkewBoost, quick": SkewBoostClassifier(effort="quick", n_jobs=n_jobs),
        "CSRA": CSRAClassifier(n_estimators=few),
        "RealBoost": RealBoostClassifier(n_estimators=few),
    }
    with waiting("Report"):
        comparison = evaluate.compare(rivals, X, y, cost=COST, cv=3, random_state=0)
        report = Report(
            model, data.X_test, data.y_test, cost=COST, comparison=comparison, training=(X, y),
            title="Card fraud: what does a false alarm cost you?",
        )  # fmt: skip
        return report.save(path)
