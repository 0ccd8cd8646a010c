"""The command `skewboost demo`: fits, prints a table per data set, draws two pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from skewboost.cli import showcase, tell
from skewboost.cli.comparison import (
    BOOSTERS,
    MISS_COST,
    N_FITS,
    PRICES,
    Announcer,
    Problem,
    Row,
    compare,
    problems,
    staged_counts,
)
from skewboost.cli.pictures import BOUNDARY_ROUNDS, draw_boundaries, draw_curves, save
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
NEXT = """\
Next, in Python:
  from skewboost import CSRAClassifier, GoalSearchCV
  from skewboost.datasets import make_fraud
  X, y = make_fraud()
  print(GoalSearchCV(CSRAClassifier(n_estimators=100), "recall >= 90%").fit(X, y).certificate_)"""


def run(folder: Path, rounds: int, n_jobs: int) -> None:
    """Fit everything, print the tables and write the pictures into `folder`, which exists."""
    console = Console(highlight=False)
    solved: list[tuple[Problem, dict[str, list[Counts]]]] = []
    with tell.progress() as progress:
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
        written.append(_show_more(console, progress, solved[1][0], min(rounds, MORE_ROUNDS), folder))
    for path in written:
        console.print(f"Written: {path}", markup=False, soft_wrap=True)
    console.print(NEXT, markup=False, soft_wrap=True)


def _show_more(console: Console, progress: Progress, problem: Problem, rounds: int, folder: Path) -> Path:
    """Goals, prices, resampling and many classes: a table each, and the picture of the goal."""
    task = progress.add_task("Goal", total=4)
    clf, first = showcase.goal(problem, rounds)
    console.print(small_table(first), "")
    progress.update(task, advance=1, description="Prices")
    console.print(small_table(showcase.prices(problem, rounds)), "")
    progress.update(task, advance=1, description="Resampling")
    console.print(small_table(showcase.resampling(problem, rounds)), "")
    progress.update(task, advance=1, description="Many classes")
    console.print(small_table(showcase.intrusions(rounds)), "")
    return save(clf.plot_frontier().figure_, folder / "goal_frontier.png")


def small_table(shown: showcase.Shown) -> Table:
    """A table of the showcase."""
    return tell.table(["", *shown.headings], shown.rows, title=shown.title, caption=shown.caption, first=27)


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
        cost = f"[bold]*{paid:.0f}[/bold]" if paid == min(costs) else f"{paid:.0f}"
        rounds = "-" if row.rounds is None else str(row.rounds)
        seconds = "-" if row.seconds is None else f"{row.seconds:.1f}"
        table.add_row(row.method, rounds, seconds, *map(_share, shares), cost)
    return table


def _share(value: float) -> str:
    """A share of 1; a dash where it is 0/0, as the precision of a method that never says "rare"."""
    return "-" if value != value else f"{value:.3f}"
