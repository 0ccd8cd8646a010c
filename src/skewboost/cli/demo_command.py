"""The command `skewboost demo`: fits, prints tables, draws pictures, and ends with a report."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from skewboost import CSRAClassifier, io
from skewboost.cli import demo_showcase, output
from skewboost.cli.demo_comparison import (
    BOOSTERS,
    MISS_COST,
    N_FITS,
    PRICES,
    REPORTED,
    SEED,
    Announcer,
    Problem,
    Row,
    compare,
    problems,
    staged_counts,
)
from skewboost.cli.demo_pictures import BOUNDARY_ROUNDS, draw_boundaries, draw_curves, save
from skewboost.evaluate.methods import make_estimator
from skewboost.metrics import Counts

CAPTION = (
    f"A miss costs {MISS_COST} false alarms: cost = false alarms + {MISS_COST} * misses, on the test set; * is the "
    f"lowest. The threshold is the RealBoost model above, saying rare where its probability exceeds 1/{1 + MISS_COST}."
)
MORE_ROUNDS = 100
HEADINGS = [
    *("\nrounds", "fit\nsec."),
    *("rare:\nprec.", "\nrecall", "\nF1"),
    *("common:\nprec.", "\nrecall", "\nF1"),
    "\ncost",
]
RIVALS = ("AdaBoost", "RealBoost", "LogitBoost", "CSRA", "CGAda", "AdaC2")
NEXT = (
    "fit YOUR_TABLE.csv --target COLUMN --cost 20 -o model.json",
    'goal YOUR_TABLE.csv "recall>=0.9" --target COLUMN',
)


def run(folder: Path, rounds: int, n_jobs: int) -> None:
    """Fit everything, print the tables, and write pictures, a model and the report into `folder`, which exists."""
    console = output.out()
    solved: list[tuple[Problem, dict[str, list[Counts]]]] = []
    with output.progress() as progress:
        for problem in problems():
            rows, models = compare(problem, rounds, n_jobs, _announcer(progress, problem, rounds))
            console.print(results_table(problem, rows))
            console.print()
            solved.append((problem, staged_counts(problem, models)))
        task = progress.add_task("Pictures", total=2)
        written = [save(draw_curves(solved), folder / "learning_curves.png")]
        progress.advance(task)
        few = min(rounds, BOUNDARY_ROUNDS)
        boosters = {name: booster(n_estimators=few, n_jobs=n_jobs) for name, booster in BOOSTERS.items()}
        written.append(save(draw_boundaries(solved[0][0], boosters), folder / "decision_boundary.png"))
        progress.advance(task)
        problem = solved[1][0]
        written.append(_show_more(console, progress, problem, min(rounds, MORE_ROUNDS), folder))
        model = io.save(models[REPORTED], folder / "model.json", notes=f"{problem.name}: the target is {problem.rare}")
        report = _write_report(progress, problem, models[REPORTED], min(rounds, MORE_ROUNDS), folder)
        written += [model, report]
    for path in written:
        output.say(f"Written: {path}")
    output.say(f"Open {report} in a browser, and set its sliders to what mistakes cost you. Next:")
    for command in (f"explain {shlex.quote(str(model))}", *NEXT):
        output.say(f"  skewboost {command}")


def _write_report(progress: Progress, problem: Problem, model: Any, rounds: int, folder: Path) -> Path:
    """What the model is worth on the test set, beside others and round by round on the training set."""
    from skewboost import evaluate
    from skewboost.plots import Report

    task = progress.add_task("Report: comparison", total=3)
    X, y = problem.X_train, problem.y_train
    rivals = {name: make_estimator(name).set_params(n_estimators=rounds) for name in RIVALS}
    comparison = evaluate.compare(rivals, X, y, cost=MISS_COST, cv=3, random_state=SEED)
    progress.update(task, advance=1, description="Report: learning curve")
    again = CSRAClassifier(cost=MISS_COST, n_estimators=rounds)
    curve = evaluate.staged_curve(again, X, y, cost=MISS_COST, cv=3, random_state=SEED)
    progress.update(task, advance=1, description="Report")
    report = Report(
        model, problem.X_test, problem.y_test, cost=MISS_COST, comparison=comparison, staged_curve=curve,
        training=(X, y), title=f"{problem.name}: what does a false alarm cost you?",
    )  # fmt: skip
    return report.save(folder / "report.html")


def _show_more(console: Console, progress: Progress, problem: Problem, rounds: int, folder: Path) -> Path:
    """Goals, prices, resampling and many classes: a table each, and the picture of the goal."""
    task = progress.add_task("Goal", total=4)
    clf, first = demo_showcase.goal(problem, rounds)
    console.print(small_table(first), "")
    progress.update(task, advance=1, description="Prices")
    console.print(small_table(demo_showcase.prices(problem, rounds)), "")
    progress.update(task, advance=1, description="Resampling")
    console.print(small_table(demo_showcase.resampling(problem, rounds)), "")
    progress.update(task, advance=1, description="Many classes")
    console.print(small_table(demo_showcase.intrusions(rounds)), "")
    from skewboost.plots import GoalFrontierDisplay

    return save(GoalFrontierDisplay.from_estimator(clf).figure_, folder / "goal_frontier.png")


def small_table(shown: demo_showcase.Shown) -> Table:
    """A table of the showcase."""
    return output.table(["", *shown.headings], shown.rows, title=shown.title, caption=shown.caption, first=27)


def _announcer(progress: Progress, problem: Problem, rounds: int) -> Announcer:
    """One bar for the data set; it names the method that is being fitted."""
    task = progress.add_task(problem.name, total=N_FITS * rounds)
    begun = -rounds

    def announce(method: str) -> Callable[[int, Any], None]:
        nonlocal begun
        begun += rounds  # a fit that ended early counts as whole
        progress.update(task, description=f"{problem.name}: {method}", completed=begun)
        return lambda done, _: progress.update(task, completed=begun + done)

    return announce


def results_table(problem: Problem, rows: list[Row]) -> Table:
    """What each method achieves on the test set."""
    n, n_rare = len(problem.y_test), int(problem.y_test.sum())
    title = f"{problem.name}: {n} test cases, {n_rare} of them {problem.rare} (rare), the others {problem.common}"
    grain = f"All this is one split, in which a single {problem.rare} case is {1 / n_rare:.3f} of recall."
    table = Table(
        title=title,
        caption=f"{CAPTION} {grain}",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("\nMethod", min_width=18)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    costs = [row.counts.cost(PRICES) for row in rows]
    for row, paid in zip(rows, costs):
        rare, common = row.counts, row.counts.swapped
        shares = [rare.precision, rare.recall, rare.f1, common.precision, common.recall, common.f1]
        cost = Text(f"*{paid:.0f}", style="bold") if paid == min(costs) else f"{paid:.0f}"
        rounds = "-" if row.rounds is None else str(row.rounds)
        seconds = "-" if row.seconds is None else f"{row.seconds:.1f}"
        table.add_row(row.method, rounds, seconds, *map(_share, shares), cost)
    return table


def _share(value: float) -> str:
    """A share of 1; a dash where it is 0/0, as the precision of a method that never says "rare"."""
    return "-" if value != value else f"{value:.3f}"
