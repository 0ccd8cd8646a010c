"""How often is a promise with confidence 0.9 broken? Simulated where the truth is known.

600 repetitions of 400 rows, a fifth of them positive, for every goal and everything that can be tuned; then 300 of 600
independent rows or groups with weights, copies and groups of several kinds, with the threshold tuned (where rows weigh
something or are repeated, by a classifier that knows the rows it was fitted to by heart); then 300 of 800 rows or
groups for goals with referral; then 100 of 500 rows, of which more than a third is positive, with
`SkewBoostClassifier`, whose promises are compared with its predictions of 20 000 new rows. Printed: the share of all
repetitions in which a goal was certified but is not met by the returned decisions (at most 0.1 is allowed), and in
brackets the share in which one was certified at all. Every repetition is kept in a file, and a run goes on where it
stopped.

    python benchmarks/promises.py            half an hour
    python benchmarks/promises.py 50         so many repetitions
    python benchmarks/promises.py --referral only the table of goals with referral
    python benchmarks/promises.py --portfolio only the last table
    python benchmarks/promises.py --jobs 16  on so many cores; 2 unless told
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from goals import promises, ruler
from goals.promises import (
    CASES,
    GOALS,
    PORTFOLIO_CASES,
    PORTFOLIO_GOALS,
    REFERRAL_GOALS,
    promise,
    promise_on_new_rows,
)
from repetitions import RESULTS, repeated

TUNE = ("threshold", "cost", "both")
REFERRAL_CASES = ("plain", "weights 1 to 5, the harder the heavier", "groups of 10 of both classes")
COMPUTED_BY = [Path(module.__file__) for module in (promises, ruler)]


def by_what_is_tuned(n: int, run: Any) -> None:
    jobs = [(goal, tune, 400, "plain", params) for goal, params in GOALS for tune in TUNE]
    show(f"goal, {n} repetitions", code(map(repr, TUNE)), code(goal for goal, _ in GOALS), run(promise, jobs, n))


def by_what_rows_mean(n: int, run: Any) -> None:
    jobs = [(goal, "threshold", 600, case, params) for case in CASES for goal, params in GOALS]
    show(f"rows, {n} repetitions", code(goal for goal, _ in GOALS), CASES, run(promise, jobs, n))


def with_referral(n: int, run: Any) -> None:
    jobs = [(goal, "threshold", 800, case, params) for goal, params in REFERRAL_GOALS for case in REFERRAL_CASES]
    rows = [f"`{goal}`{', `then={!r}`'.format(*p.values()) if p else ''}" for goal, p in REFERRAL_GOALS]
    show(f"goal, {n} repetitions", REFERRAL_CASES, rows, run(promise, jobs, n))


def of_the_portfolio(n: int, run: Any) -> None:
    jobs = [(case, goal, 500, 0.9) for case in PORTFOLIO_CASES for goal in PORTFOLIO_GOALS]
    show(f"rows, {n} repetitions", code(PORTFOLIO_GOALS), PORTFOLIO_CASES, run(promise_on_new_rows, jobs, n))


def code(words: Any) -> list[str]:
    return [f"`{word}`" for word in words]


def show(corner: str, columns: Sequence[str], rows: Any, found: list[list[Any]]) -> None:
    print(f"| {corner} | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for k, row in enumerate(rows):
        print(f"| {row} | " + " | ".join(map(cell, found[len(columns) * k :][: len(columns)])) + " |")
    print(flush=True)


def cell(found: list[Any]) -> str:
    """Return the share of broken promises, and of promises; a kept one is True, or begins with it."""
    made = [own[0] if isinstance(own, Sequence) else own for own in found if own is not None]
    return f"{sum(not kept for kept in made) / len(found):.3f} ({len(made) / len(found):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repetitions", nargs="?", type=int)
    parser.add_argument("--referral", action="store_true")
    parser.add_argument("--portfolio", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS / "promises.jsonl")
    asked = parser.parse_args()
    run = partial(repeated, asked.results, computed_by=COMPUTED_BY, n_jobs=asked.jobs)
    every = not (asked.referral or asked.portfolio)
    if every:
        by_what_is_tuned(asked.repetitions or 600, run)
        by_what_rows_mean(asked.repetitions or 300, run)
    if every or asked.referral:
        with_referral(asked.repetitions or 300, run)
    if every or asked.portfolio:
        of_the_portfolio(asked.repetitions or 100, run)


if __name__ == "__main__":
    main()
